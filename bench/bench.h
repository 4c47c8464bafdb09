/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - common code of the benches: clocks, a pinned core, one line per sample.
 *
 * A program prints "NAME NUMBER" for each sample of NAME; run.py divides medians. A measure is
 * the ratio of two figures that are sampled alternately in the same minute, because times by
 * themselves vary with the machine and its load. Work on one core is timed with the clock of
 * the thread, on a pinned core.
 *
 * Threading: not locked.
 */
#pragma once

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Processor time of the calling thread. */
static inline double bench_cpu_s(void)
{
    return bench_clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static inline double bench_wall_s(void)
{
    return bench_clock_s(CLOCK_MONOTONIC);
}

/* Pin the thread to the last allowed processor, because interrupts prefer the first; if not
 * IS_PINNED, allow again all processors that the program started with. */
static inline void bench_pin(int is_pinned)
{
    static cpu_set_t all;
    cpu_set_t one;
    int last = CPU_SETSIZE - 1;

    if (CPU_COUNT(&all) == 0)
        (void)sched_getaffinity(0, sizeof all, &all);
    while (last > 0 && !CPU_ISSET((size_t)last, &all))
        last--;
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    (void)sched_setaffinity(0, sizeof one, is_pinned ? &one : &all);
}

static inline void bench_sample(const char *name, double value)
{
    printf("%s %.9g\n", name, value);
}

/* Whether the benches only have to run: `run.py --smoke`. */
static inline int bench_is_smoke(void)
{
    return getenv("BENCH_SMOKE") != NULL;
}

/* Argument I as a number, or N if it is missing. */
static inline int bench_number(int argc, char **argv, int i, int n)
{
    return i < argc ? atoi(argv[i]) : n;
}

/* The same as a number of samples: 1 where the benches only have to run. */
static inline int bench_rounds(int argc, char **argv, int i, int n)
{
    return bench_is_smoke() ? 1 : bench_number(argc, argv, i, n);
}
