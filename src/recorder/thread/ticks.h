/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticks.h - the clock of records, and how it relates to other clocks.
 *
 * The processor's counter costs half as much as the kernel's clock, but may stop, change its
 * rate or differ between processors. It is used if the processor guarantees that it does not
 * and the kernel uses it too; otherwise ticks are nanoseconds of CLOCK_MONOTONIC. The rate is
 * not measured here: it follows from anchors, which are read from time to time.
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

/* An enum osc_ticks_source, set by osc_ticks_init() or the first osc_ticks(). */
extern int osc_ticks_source;

/* Choose the clock. May be called repeatedly. */
void osc_ticks_init(void);

/* The time if the counter is not used, or the clock is not chosen yet. */
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
    /* relaxed: a thread that sees the old value takes the slow path, which checks again. */
    if (__builtin_expect(
            __atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) == OSC_TICKS_COUNTER, 1))
        return osc_ticks_counter();
    return osc_ticks_slow();
}

/* "tsc", "cntvct" or "monotonic", static. */
const char *osc_ticks_name(void);

/* Ticks per second as stated by the hardware; 0: known only from anchors. */
uint64_t osc_ticks_hz(void);

/* Read all clocks at once; keeps the try that took the least time. */
void osc_ticks_anchor(struct osc_clock_anchor *anchor);
