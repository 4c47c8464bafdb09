/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.h - a pair of ours beside what another recorder takes for one, in one process.
 *
 * Threading: not locked.
 */
#ifndef OSC_BENCH_BESIDE_H
#define OSC_BENCH_BESIDE_H

#include <stdint.h>

#include <opscope/record.h>

#include "bench.h"

enum { BESIDE_N = 200000, BESIDE_REPETITIONS = 9 };

/* An empty function, in a file of its own. */
void bench_seen(void);

/* Our pair, N times, in seconds. */
static inline double beside_ours(osc_name name)
{
    const double start = bench_cpu_s();

    for (uint32_t i = 0; i < BESIDE_N; i++) {
        osc_begin(OSC_SCOPE_OPERATOR, name);
        osc_end();
        __asm__ volatile("" ::: "memory");
    }
    return bench_cpu_s() - start;
}

/*
 * Record to OUT; print as measure NAME how our pair compares with THEIRS, which does theirs
 * BESIDE_N times and returns the seconds. 0, or 1 if nothing could be recorded.
 */
static inline int beside_compare(const char *name, const char *out, double (*theirs)(void))
{
    struct bench_times a = {0}, b = {0};

    if (osc_start(&(struct osc_start_options){.size = sizeof(struct osc_start_options),
                                              .out = out}) != OSC_OK) {
        fputs("cannot record\n", stderr);
        return 1;
    }
    const osc_name conv = osc_name_c("conv2d");

    bench_pin();
    for (int i = 0; i < BESIDE_REPETITIONS; i++) {
        (void)osc_dump(); /* let the disk catch up */
        bench_add(&a, beside_ours(conv) * 1e9 / BESIDE_N);
        bench_add(&b, theirs() * 1e9 / BESIDE_N);
    }
    (void)osc_stop();
    bench_report(name, bench_steady(&a) / bench_steady(&b), "-",
                 "our begin and end %.2f ns, theirs %.2f ns", bench_steady(&a),
                 bench_steady(&b));
    return 0;
}

#endif
