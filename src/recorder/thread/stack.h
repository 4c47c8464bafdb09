/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - call stacks by frame pointers, and the modules that contain their addresses.
 *
 *     frame of f       frame of its caller      ...         outermost frame
 *     caller, return --> caller, return         -->         0, return
 *
 *   - Only memory from the frame of the call up to the end of its stack's mapping is read,
 *     which exists as long as the thread does. The mapping is looked up at the first call on a
 *     stack, and remembered.
 *   - Code without frame pointers leaves an arbitrary number in their place. If it does not
 *     lead upwards within these bounds, the stack ends there and is marked as broken; if it
 *     does, some frames are wrong.
 *
 * Threading: see each function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/record.h"

/* Slots that the deepest stack needs after slot 0. */
#define OSC_STACK_SLOTS (OSC_RECORD_FRAMES_MAX / 2)

/* For functions that read other functions' frames, which sanitizers would report. */
#if defined __clang__
#define OSC_STACK_READER __attribute__((no_sanitize("address", "memory", "thread")))
#else
#define OSC_STACK_READER __attribute__((no_sanitize_address, no_sanitize_thread))
#endif

/* The start of a frame. */
struct osc_stack_frame {
    uintptr_t caller, address;
};

enum { OSC_STACK_PAGE_SHIFT = 12, OSC_STACK_COUNT_BITS = 28 };

/*
 * The last stack on which this thread was seen: the number of its first page and its number of
 * pages; 0: none. A single word, so that a handler on another stack reads and replaces it as a
 * whole.
 */
extern __attribute__((visibility("hidden"))) _Thread_local uint64_t osc_stack_bounds
    __attribute__((tls_model("initial-exec")));

/* The end of the stack that contains AT, if that is the one of B; else 0. */
static inline uintptr_t osc_stack_high(uint64_t b, uintptr_t at)
{
    const uintptr_t low = (uintptr_t)(b >> OSC_STACK_COUNT_BITS) << OSC_STACK_PAGE_SHIFT;
    const uintptr_t size = (uintptr_t)(b & ((UINT64_C(1) << OSC_STACK_COUNT_BITS) - 1))
                           << OSC_STACK_PAGE_SHIFT;

    return at - low < size ? low + size : 0;
}

/* Look up and remember the stack that contains AT; returns its end, or 0. Leaves errno
 * unchanged. */
__attribute__((cold)) uintptr_t osc_stack_learn(uintptr_t at);

/* The highest address at which the outermost frame may begin, seen from FRAME, which exists. */
static inline uintptr_t osc_stack_last(uintptr_t frame)
{
    /* X */
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
 * Follow the frames from FRAME up to LAST at most, and store their addresses in the
 * OSC_STACK_SLOTS slots at S, two per slot. Returns their number. The loop is minimal, because
 * every frame costs time.
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
            /* relaxed, here and below: as in osc_writer_fill() */
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

/* Store that a stack was recorded. Any thread and handler. */
void osc_stack_set_used(void);

/* Whether a stack was recorded since the last call. The flusher. */
bool osc_stack_was_used(void);

/*
 * Write the payload of a MODULES chunk, the current code mappings, to OUT, as far as they fit
 * in ROOM bytes. Returns its length; *N is the number of modules. The flusher.
 */
size_t osc_stack_modules(unsigned char *out, size_t room, uint64_t *n);
