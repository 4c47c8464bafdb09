/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the cheapest way to own and total times by name (L-sweep).
 *
 * One pass over slices that lie in columns by thread and start, with a stack of
 * the open ones; time of a name within itself counts once. What any table of
 * operators has to do at the least.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_SWEEP_H
#define OSC_BENCH_SWEEP_H

#include <stddef.h>
#include <stdint.h>

/* Slices by thread and start. The program ends if there is no memory. */
struct bench_slices {
    uint32_t *name;
    int64_t *ts_ns, *dur_ns;
    uint32_t n;
    uint32_t *first; /* of every thread, and the end of the last */
    uint32_t n_threads, n_names;
};

void bench_slices_init(struct bench_slices *s, uint32_t n, uint32_t n_threads,
                       uint32_t n_names);

/* Fill S with N slices of nested calls on 16 threads, of 500 names. */
void bench_slices_make(struct bench_slices *s, uint32_t n);

/* Sweep S; nanoseconds of processor time a slice. */
double bench_sweep_ns(const struct bench_slices *s);

#endif
