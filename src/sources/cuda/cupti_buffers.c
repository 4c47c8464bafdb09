/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_buffers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sources/cuda/cupti_records.h"

#define BUFFER_BYTES ((size_t)4 << 20) /* NVIDIA's advice is 1 to 10 MB */
#define KEPT_MAX     8u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *kept[KEPT_MAX];
static uint32_t n_kept;
static pid_t owner;

void osc_cupti_buffers_begin(void)
{
    owner = getpid();
}

/* errno is the program's: CUPTI calls this in calls of its own. */
static uint8_t *map_buffer(void)
{
    const int saved = errno;
    void *const p =
        mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

void osc_cupti_request_buffer(uint8_t **buffer, size_t *bytes, size_t *n_records)
{
    uint8_t *found = NULL;

    pthread_mutex_lock(&lock);
    if (n_kept > 0)
        found = kept[--n_kept];
    pthread_mutex_unlock(&lock);
    if (!found)
        found = map_buffer();
    *buffer = found;
    *bytes = found ? BUFFER_BYTES : 0;
    *n_records = 0; /* as many as fit */
}

static void give_back(uint8_t *buffer)
{
    pthread_mutex_lock(&lock);
    const bool has_place = n_kept < KEPT_MAX;
    if (has_place)
        kept[n_kept++] = buffer;
    pthread_mutex_unlock(&lock);
    if (!has_place)
        (void)munmap(buffer, BUFFER_BYTES);
}

void osc_cupti_complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)bytes;
    if (!buffer)
        return;
    if (valid_bytes > 0 && getpid() == owner)
        osc_cupti_read_buffer(buffer, valid_bytes);
    give_back(buffer);
}
