/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - the clock that records carry, and how it relates to the others.
 *
 * The processor's counter costs half as much as the kernel's clock, but may stop, change
 * its rate or differ between processors. It is used where the processor says that it does
 * not, and the kernel uses it too; else ticks are nanoseconds of CLOCK_MONOTONIC. The rate is
 * not measured here: it follows from anchors, which are read now and then.
 *
 * Threading: thread-safe, and may be called from signal handlers.
 */
#pragma once

#include <stdint.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "wire/live.h"

enum osc_ticks_source { OSC_TICKS_UNKNOWN, OSC_TICKS_COUNTER, OSC_TICKS_MONOTONIC };

/* enum osc_ticks_source, once osc_ticks_init() or a first osc_ticks() has looked. */
extern int osc_ticks_source;

/* Look which clock is good. Doing so twice does no harm. */
void osc_ticks_init(void);

/* The time where the counter is not used, or its choice is still to be made. */
uint64_t osc_ticks_slow(void);

static inline uint64_t osc_ticks_counter(void)
{
#if defined __x86_64__
    return __rdtsc();
#elif defined __aarch64__
    uint64_t t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t)::"memory");
    return t;
#else
    return 0;
#endif
}

static inline uint64_t osc_ticks(void)
{
    /* relaxed: a thread that sees the old value looks again. */
    if (__builtin_expect(
            __atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) == OSC_TICKS_COUNTER, 1))
        return osc_ticks_counter();
    return osc_ticks_slow();
}

/* "tsc", "cntvct" or "monotonic", static. */
const char *osc_ticks_name(void);

/* Ticks a second as the hardware says; 0: only anchors tell. */
uint64_t osc_ticks_hz(void);

/* Read all clocks at once: the closest of a few tries. */
void osc_ticks_anchor(struct osc_clock_anchor *anchor);
