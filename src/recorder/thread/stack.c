/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/stack.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "recorder/host/maps.h"
#include "wire/chunk.h"

_Thread_local uint64_t osc_stack_bounds;

/* A stack was recorded since the flusher last checked. */
static uint32_t was_used;

/* --- bounds ------------------------------------------------------------------------- */

static uint64_t pack_bounds(uintptr_t low, uintptr_t high)
{
    const uint64_t first = (uint64_t)low >> OSC_STACK_PAGE_SHIFT;
    const uint64_t n = ((uint64_t)high >> OSC_STACK_PAGE_SHIFT) - first;

    if (first >> (64 - OSC_STACK_COUNT_BITS) != 0 || n >> OSC_STACK_COUNT_BITS != 0)
        return 0;
    return first << OSC_STACK_COUNT_BITS | n;
}

uintptr_t osc_stack_learn(uintptr_t at)
{
    /* libc keeps a thread's control block at the end of its stack. Memory mapped after that may
     * belong to something else and be unmapped. */
    const uintptr_t self = (uintptr_t)pthread_self();
    struct osc_maps maps;
    struct osc_map map;
    uint64_t found = 0;

    if (!osc_maps_open(&maps))
        return 0;
    while (found == 0 && osc_maps_next(&maps, &map, NULL, 0)) {
        uintptr_t high = (uintptr_t)map.end;

        if (at < map.start || at >= map.end)
            continue;
        if (self > at && self < high)
            high = ((self >> OSC_STACK_PAGE_SHIFT) + 1) << OSC_STACK_PAGE_SHIFT;
        found = pack_bounds((uintptr_t)map.start, high);
    }
    osc_maps_close(&maps);
    /* relaxed: used by this thread only. */
    __atomic_store_n(&osc_stack_bounds, found, __ATOMIC_RELAXED);
    return osc_stack_high(found, at);
}

void osc_stack_set_used(void)
{
    /* relaxed: if the flusher checks too early for this stack, it checks again later. */
    if (__builtin_expect(__atomic_load_n(&was_used, __ATOMIC_RELAXED) == 0, 0))
        __atomic_store_n(&was_used, 1, __ATOMIC_RELAXED);
}

bool osc_stack_was_used(void)
{
    /* relaxed: see osc_stack_set_used() */
    return __atomic_exchange_n(&was_used, 0, __ATOMIC_RELAXED) != 0;
}

/* --- modules ------------------------------------------------------------------------ */

size_t osc_stack_modules(unsigned char *out, size_t room, uint64_t *n)
{
    const int kept = errno;
    char path[PATH_MAX];
    struct osc_maps maps;
    struct osc_map map;
    struct stat st;
    size_t len = 0;

    *n = 0;
    if (!osc_maps_open(&maps))
        return 0;
    while (osc_maps_next(&maps, &map, path, sizeof path - 1)) {
        struct osc_wire_module m = {.start = map.start,
                                    .end = map.end,
                                    .file_offset = map.file_offset,
                                    .path_bytes = (uint32_t)map.path_bytes};
        const size_t padded = (map.path_bytes + 7) & ~(size_t)7;

        if (!map.is_executable || map.path_bytes == 0 || room - len < sizeof m + padded)
            continue;
        path[map.path_bytes] = '\0';
        if (path[0] == '/' && stat(path, &st) == 0) {
            m.file_bytes = (uint64_t)st.st_size;
            m.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        }
        memset(out + len + sizeof m, 0, padded);
        memcpy(out + len, &m, sizeof m);
        memcpy(out + len + sizeof m, path, map.path_bytes);
        len += sizeof m + padded;
        ++*n;
    }
    osc_maps_close(&maps);
    errno = kept;
    return len;
}
