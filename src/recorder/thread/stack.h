/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - call stacks by frame pointers, and the modules that their addresses lie in.
 *
 *     frame of f       frame of its caller      ...         outermost frame
 *     caller, return --> caller, return         -->         0, return
 *
 *   - Only memory between the frame of the call and the end of the mapping that its stack
 *     lies in is read, upwards: that is there as long as the thread is. The mapping is
 *     looked up at the first call on it, and known from then on.
 *   - Code without frame pointers keeps any number in their place. One that does not lead
 *     upwards within those bounds ends the stack, which says so; one that does gives some
 *     wrong frames.
 *
 * Threading: as said at each function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/record.h"

/* Slots that the deepest stack takes behind slot 0. */
#define OSC_STACK_SLOTS (OSC_RECORD_FRAMES_MAX / 2)

/* Of functions that read other functions' frames, of which sanitizers know better. */
#if defined __clang__
#define OSC_STACK_READER __attribute__((no_sanitize("address", "memory", "thread")))
#else
#define OSC_STACK_READER __attribute__((no_sanitize_address, no_sanitize_thread))
#endif

/* How a frame begins where we know it. */
struct osc_stack_frame {
    uintptr_t caller, address;
};

enum { OSC_STACK_PAGE_SHIFT = 12, OSC_STACK_COUNT_BITS = 28 };

/*
 * The stack that this thread was last seen on: number of its first page, and how many
 * pages; 0: none. One word, so that a handler on another stack sees and leaves it whole.
 */
extern __attribute__((visibility("hidden"))) _Thread_local uint64_t osc_stack_bounds
    __attribute__((tls_model("initial-exec")));

/* Where the stack ends that AT lies on, by BOUNDS; 0: it does not lie there. */
static inline uintptr_t osc_stack_high(uint64_t b, uintptr_t at)
{
    const uintptr_t low = (uintptr_t)(b >> OSC_STACK_COUNT_BITS) << OSC_STACK_PAGE_SHIFT;
    const uintptr_t size = (uintptr_t)(b & ((UINT64_C(1) << OSC_STACK_COUNT_BITS) - 1))
                           << OSC_STACK_PAGE_SHIFT;

    return at - low < size ? low + size : 0;
}

/* Look up and remember the stack that AT lies on; where it ends, or 0. errno is kept. */
__attribute__((cold)) uintptr_t osc_stack_learn(uintptr_t at);

/* Where the outermost frame may begin at most, seen from FRAME, which exists in any case. */
static inline uintptr_t osc_stack_last(uintptr_t frame)
{
    /* relaxed: of this thread alone. */
    uintptr_t high =
        osc_stack_high(__atomic_load_n(&osc_stack_bounds, __ATOMIC_RELAXED), frame);

    if (__builtin_expect(high == 0, 0))
        high = osc_stack_learn(frame);
    return high == 0 ? frame : high - sizeof(struct osc_stack_frame);
}

static inline const struct osc_stack_frame *osc_stack_frame_at(uintptr_t at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): within the bounds of the stack */
    return (const struct osc_stack_frame *)at;
}

/*
 * Follow FRAME up to LAST at most; the addresses go to the OSC_STACK_SLOTS slots from S on,
 * two each. How many they are; every frame costs, so the loop has no more than it needs.
 */
OSC_STACK_READER static inline uint32_t osc_stack_follow(uintptr_t frame, uintptr_t last,
                                                         struct osc_record_slot *s,
                                                         enum osc_stack_end *end)
{
    const struct osc_record_slot *const first = s, *const full = s + OSC_STACK_SLOTS;
    uint32_t is_odd = 0;
    uintptr_t caller;

    for (;;) {
        caller = osc_stack_frame_at(frame)->caller;
        s->value = osc_stack_frame_at(frame)->address;
        if (caller <= frame || caller > last) {
            is_odd = 1;
            /* relaxed, here and below: as osc_writer_fill() */
            __atomic_store_n(&s->word, 0, __ATOMIC_RELAXED);
            break;
        }
        frame = caller;
        caller = osc_stack_frame_at(frame)->caller;
        __atomic_store_n(&s->word, osc_stack_frame_at(frame)->address, __ATOMIC_RELAXED);
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

/* A stack was recorded. Any thread and handler. */
void osc_stack_set_used(void);

/* Whether a stack was recorded since the last call. The flusher. */
bool osc_stack_was_used(void);

/*
 * Payload of a MODULES chunk: what code is mapped now, as much of it as has ROOM at OUT.
 * Returns its length; *N is how many. The flusher.
 */
size_t osc_stack_modules(unsigned char *out, size_t room, uint64_t *n);
