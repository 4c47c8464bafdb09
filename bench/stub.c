/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub.c - measure what a recording call costs a program with opscope/stub.h where there is no
 * library, beside a load and a branch.
 *
 *   stub [N]
 *
 * Figures are nanoseconds of the thread's clock, sampled alternately.
 */
#include <opscope/stub.h>

#include "bench.h"

enum { CALLS = 1000000 };

static volatile int off;

static double stub(void)
{
    const double before = bench_cpu_s();

    for (int i = 0; i < CALLS; i++) {
        osc_begin(OSC_SCOPE_PLAIN, 1);
        osc_end();
    }
    return (bench_cpu_s() - before) * 1e9 / (2.0 * CALLS);
}

static double load_and_branch(void)
{
    const double before = bench_cpu_s();

    for (int i = 0; i < 2 * CALLS; i++) {
        if (__builtin_expect(off != 0, 0))
            exit(1);
    }
    return (bench_cpu_s() - before) * 1e9 / (2.0 * CALLS);
}

int main(int argc, char **argv)
{
    const int n = bench_rounds(argc, argv, 1, 15);

    bench_pin(1);
    for (int i = 0; i < n; i++) {
        bench_sample("stub", stub());
        bench_sample("stub/limit", load_and_branch());
    }
    return 0;
}
