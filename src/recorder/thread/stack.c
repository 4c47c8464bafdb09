/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/stack.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "opscope/record.h"
#include "recorder/api/put.h"
#include "recorder/host/maps.h"
#include "wire/chunk.h"

/* How a frame begins where we know it. */
struct frame {
    uintptr_t caller, address;
};

enum { PAGE_SHIFT = 12, COUNT_BITS = 28 };

/*
 * The stack that this thread was last seen on: number of its first page, and how many
 * pages; 0: none. One word, so that a handler on another stack sees and leaves it whole.
 */
static _Thread_local uint64_t bounds __attribute__((tls_model("initial-exec")));

/* A stack was recorded, and the flusher has not heard of it yet. */
static uint32_t was_used;

/* --- bounds ------------------------------------------------------------------------- */

static uint64_t pack_bounds(uintptr_t low, uintptr_t high)
{
    const uint64_t first = (uint64_t)low >> PAGE_SHIFT;
    const uint64_t n = ((uint64_t)high >> PAGE_SHIFT) - first;

    if (first >> (64 - COUNT_BITS) != 0 || n >> COUNT_BITS != 0)
        return 0;
    return first << COUNT_BITS | n;
}

/* Where the stack ends that AT lies on, by BOUNDS; 0: it does not lie there. */
static inline uintptr_t high_of(uint64_t b, uintptr_t at)
{
    const uintptr_t low = (uintptr_t)(b >> COUNT_BITS) << PAGE_SHIFT;
    const uintptr_t size = (uintptr_t)(b & ((UINT64_C(1) << COUNT_BITS) - 1)) << PAGE_SHIFT;

    return at - low < size ? low + size : 0;
}

/* Look up and remember the stack that AT lies on; where it ends, or 0. */
__attribute__((noinline, cold)) static uintptr_t learn(uintptr_t at)
{
    /* The library keeps what it knows of a thread at the end of its stack. What is mapped
     * behind may be another's, and go. */
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
            high = ((self >> PAGE_SHIFT) + 1) << PAGE_SHIFT;
        found = pack_bounds((uintptr_t)map.start, high);
    }
    osc_maps_close(&maps);
    __atomic_store_n(&bounds, found, __ATOMIC_RELAXED); /* see last_frame() */
    return high_of(found, at);
}

uintptr_t osc_stack_end(uintptr_t at)
{
    return learn(at);
}

/* --- frames ------------------------------------------------------------------------- */

/* Where a frame may begin at most, for who begins at FRAME: that one itself is there,
 * whatever is known. */
static inline uintptr_t last_frame(uintptr_t frame)
{
    /* relaxed: of this thread alone. */
    uintptr_t high = high_of(__atomic_load_n(&bounds, __ATOMIC_RELAXED), frame);

    if (__builtin_expect(high == 0, 0))
        high = learn(frame);
    return high == 0 ? frame : high - sizeof(struct frame);
}

static inline const struct frame *frame_at(uintptr_t at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): within the bounds of the stack */
    return (const struct frame *)at;
}

/*
 * Follow FRAME up to LAST at most; the addresses go to the OSC_STACK_SLOTS slots from S on,
 * two each. How many they are; every frame costs, so the loop has no more than it needs.
 */
OSC_STACK_READER static inline uint32_t follow(uintptr_t frame, uintptr_t last,
                                               struct osc_record_slot *s,
                                               enum osc_stack_end *end)
{
    const struct osc_record_slot *const first = s, *const full = s + OSC_STACK_SLOTS;
    uint32_t is_odd = 0;
    uintptr_t caller;

    for (;;) {
        caller = frame_at(frame)->caller;
        s->value = frame_at(frame)->address;
        if (caller <= frame || caller > last) {
            is_odd = 1;
            /* relaxed, here and below: as osc_put_slot() */
            __atomic_store_n(&s->word, 0, __ATOMIC_RELAXED);
            break;
        }
        frame = caller;
        caller = frame_at(frame)->caller;
        __atomic_store_n(&s->word, frame_at(frame)->address, __ATOMIC_RELAXED);
        s++;
        if (caller <= frame || caller > last)
            break;
        frame = caller;
        if (s == full) {
            *end = OSC_STACK_CUT;
            return OSC_RECORD_FRAMES_MAX;
        }
    }
    *end = caller == 0 ? OSC_STACK_WHOLE : OSC_STACK_BROKEN;
    return 2 * (uint32_t)(s - first) + is_odd;
}

uint32_t osc_stack_walk(uintptr_t frame, struct osc_record_slot *slots, enum osc_stack_end *end)
{
    return follow(frame, last_frame(frame), slots, end);
}

/* --- records ------------------------------------------------------------------------ */

/* Record the stack from FRAME to LAST without having reserved too much. */
__attribute__((noinline, cold)) static void put_slowly(uintptr_t frame, uintptr_t last)
{
    struct osc_record_slot found[OSC_STACK_SLOTS];
    enum osc_stack_end end;
    const uint32_t n = follow(frame, last, found, &end), n_slots = 1 + (n + 1) / 2;
    struct osc_record_slot *s = osc_writer_reserve(n_slots, OSC_ROLE_ARG, 0);

    if (!s)
        return;
    s->value = n;
    for (uint32_t i = 1; i < n_slots; i++)
        osc_put_slot(&s[i], found[i - 1].value, found[i - 1].word);
    osc_writer_finish(s, end, OSC_RECORD_ARG_STACK, n_slots);
}

/* A handler came and recorded behind the stack of N frames at S: what was reserved too much
 * becomes frames that are none. */
__attribute__((noinline, cold)) static void pad(struct osc_record_slot *s, uint32_t n)
{
    for (uint32_t i = 1 + (n + 1) / 2; i <= OSC_STACK_SLOTS; i++)
        osc_put_slot(&s[i], 0, 0);
}

/* Reserve for the deepest stack, follow it right into the slots, and give back the others. */
static inline void put_stack(uintptr_t frame)
{
    const uintptr_t last = last_frame(frame);
    struct osc_writer *w = osc_writer_self;
    struct osc_record_slot *s = NULL;
    enum osc_stack_end end;

    /* relaxed: as in osc_writer_reserve() */
    if (__builtin_expect(w->epoch == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED), 1))
        s = osc_writer_try(w, 1 + OSC_STACK_SLOTS);
    if (__builtin_expect(!s, 0)) {
        put_slowly(frame, last);
        return;
    }
    uint32_t n = follow(frame, last, s + 1, &end), n_slots = 1 + (n + 1) / 2;
    uintptr_t pos = (uintptr_t)(s + 1 + OSC_STACK_SLOTS);

    if (__builtin_expect(!osc_local_swap(&w->pos, &pos, (uintptr_t)(s + n_slots)), 0)) {
        pad(s, n);
        n = OSC_RECORD_FRAMES_MAX;
        n_slots = 1 + OSC_STACK_SLOTS;
    }
    s->value = n;
    osc_writer_finish(s, end, OSC_RECORD_ARG_STACK, n_slots);
}

void osc_arg_stack(void)
{
    if (!osc_is_on())
        return;
    put_stack((uintptr_t)__builtin_frame_address(0));
    /* relaxed: if the flusher looks too early for this one, it does so again. */
    if (__builtin_expect(__atomic_load_n(&was_used, __ATOMIC_RELAXED) == 0, 0))
        __atomic_store_n(&was_used, 1, __ATOMIC_RELAXED);
}

bool osc_stack_was_used(void)
{
    /* relaxed: see osc_arg_stack() */
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
