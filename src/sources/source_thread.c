/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sources/source_counter.h"
#include "sources/source_text.h"

_Thread_local struct osc_source_thread osc_source_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static _Atomic uint32_t last_owner = OSC_SOURCE_OWNER_NVTX;

void osc_source_count(enum osc_source_count what)
{
    static struct osc_source_counter counters[] = OSC_SOURCE_COUNTERS(OSC_SOURCE_COUNT_LIST);

    osc_source_counter_add(&counters[what], 1);
}

uint16_t osc_source_owner_number(void)
{
    /* Relaxed: the numbers need only differ. */
    const uint32_t number = atomic_fetch_add_explicit(&last_owner, 1, memory_order_relaxed) + 1;

    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

static char main_name[17]; /* of the main thread, which new threads inherit */

static void read_main_name(void)
{
    const int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, main_name, sizeof main_name - 1) : 0;

    if (fd >= 0)
        close(fd);
    main_name[n > 0 && main_name[n - 1] == '\n' ? n - 1 : 0] = '\0';
}

/* Record the system's name of this thread, if it has one of its own. */
static void record_name(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int error = errno;
    char name[17] = "";

    pthread_once(&once, read_main_name);
    if ((pid_t)syscall(SYS_gettid) != getpid() && prctl(PR_GET_NAME, name) == 0 && name[0] &&
        strcmp(name, main_name) != 0)
        osc_thread_name(name);
    errno = error;
}

void osc_source_heed_slow(struct osc_source_thread *self)
{
    const uint32_t closed = self->closed;

    self->closed = OSC_SOURCE_INSIDE;
    if (closed == 0 && osc_is_on())
        record_name();
    /* Relaxed: a thread may see a change late. */
    if (atomic_load_explicit(&osc_source_state_, memory_order_relaxed) & OSC_SOURCE_REPORT_DUE)
        osc_source_report_all();
    self->closed = closed == 0 && osc_is_on() ? (uint32_t)OSC_SOURCE_OPEN : closed;
}

bool osc_source_enter_slow(struct osc_source_thread *self, uint32_t stops)
{
    if (self->closed & OSC_SOURCE_INSIDE)
        osc_source_count(OSC_SOURCE_COUNT_NESTED);
    /* Relaxed: a thread that sees a stop late records one more event. */
    const uint32_t state = atomic_load_explicit(&osc_source_state_, memory_order_relaxed);
    if (self->closed & (OSC_SOURCE_INSIDE | OSC_SOURCE_IGNORED) || state & stops)
        return false;
    osc_source_heed_slow(self);
    return true;
}

/* The depth of the innermost scope of OWNER, from 1; 0 if it has none on this thread. */
static uint32_t find_level(const struct osc_source_thread *self, uint16_t owner)
{
    uint32_t level = self->depth;

    while (level > 0 && level <= OSC_SOURCE_LEVELS && self->owners[level - 1] != owner)
        level--;
    return level;
}

bool osc_source_unwind(struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t level = find_level(self, owner);

    while (level > 0 && self->depth > level) {
        osc_source_count(OSC_SOURCE_COUNT_UNBALANCED);
        if (osc_is_on())
            osc_arg_bool(osc_text_name(osc_text_find_c("unbalanced")), 1);
        osc_source_end_scope(self);
        osc_source_pop(self);
    }
    return level > 0;
}

uint32_t osc_source_depth_of(const struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t n = self->depth < OSC_SOURCE_LEVELS ? self->depth : OSC_SOURCE_LEVELS;
    uint32_t depth = self->depth - n;

    for (uint32_t i = 0; i < n; i++)
        depth += self->owners[i] == owner;
    return depth;
}
