/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - what the benches share: clocks, medians, one line per measure.
 *
 * A measure is a ratio of two figures taken in the same minute, alternating; times
 * by themselves move with the machine and its neighbours. Work on one core is
 * timed by the thread's own clock, on a pinned core.
 *
 *   NAME RATIO LIMIT # what was measured, in words
 *
 * LIMIT is ">=1.70" or "<=0.15", or "-" where nothing is demanded.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_BENCH_H
#define OSC_BENCH_BENCH_H

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_REPETITIONS_MAX 64

/* Times of one contender in seconds; at[0] is the first, which pays for fresh memory. */
struct bench_times {
    double at[BENCH_REPETITIONS_MAX];
    int n;
};

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

/* Stay on the last processor that we may use: interrupts prefer the first. */
static inline void bench_pin(void)
{
    cpu_set_t all, one;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (int i = CPU_SETSIZE - 1; i >= 0; i--) {
        if (!CPU_ISSET((size_t)i, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)i, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static inline int bench_by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* Median of the N values at V, without changing their order; N is at least 1. */
static inline double bench_median(const double *v, int n)
{
    double sorted[BENCH_REPETITIONS_MAX];

    for (int i = 0; i < n; i++)
        sorted[i] = v[i];
    qsort(sorted, (size_t)n, sizeof *sorted, bench_by_value);
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static inline void bench_add(struct bench_times *t, double seconds)
{
    if (t->n < BENCH_REPETITIONS_MAX)
        t->at[t->n++] = seconds;
}

/* Median of all but the first repetition; of the first, if it is the only one. */
static inline double bench_steady(const struct bench_times *t)
{
    return t->n > 1 ? bench_median(t->at + 1, t->n - 1) : t->at[0];
}

/* The shortest: where neighbours are busy, it says more than the median. */
static inline double bench_best(const struct bench_times *t)
{
    double best = t->at[0];

    for (int i = 1; i < t->n; i++)
        best = t->at[i] < best ? t->at[i] : best;
    return best;
}

/* Print a line. LIMIT as it is to be shown; WORDS are a format. */
__attribute__((format(printf, 4, 5))) static inline void bench_report(const char *name,
                                                                      double ratio,
                                                                      const char *limit,
                                                                      const char *words, ...)
{
    va_list args;

    printf("%-24s %8.3f %-7s # ", name, ratio, limit);
    va_start(args, words);
    vprintf(words, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

/* How often to repeat: argument I, or else N. At most BENCH_REPETITIONS_MAX. */
static inline int bench_repetitions(int argc, char **argv, int i, int n)
{
    const int given = i < argc ? atoi(argv[i]) : n;

    return given < 1 ? 1 : given > BENCH_REPETITIONS_MAX ? BENCH_REPETITIONS_MAX : given;
}

#endif
