/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside_lttng.c - what a pair costs with LTTng-UST and with us.
 *
 *   beside_lttng OUT.osc
 *
 * Run by recorders.py, which has made a session that records its tracepoints.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"

#include "beside.h"

static double pairs(void)
{
    const double start = bench_cpu_s();

    for (int i = 0; i < BESIDE_N; i++) {
        lttng_ust_tracepoint(opscope_bench, begin, i);
        lttng_ust_tracepoint(opscope_bench, end, i, i);
    }
    return bench_cpu_s() - start;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!lttng_ust_tracepoint_enabled(opscope_bench, begin)) {
        fputs("recorders: LTTng-UST does not record here\n", stderr);
        return 1;
    }
    return beside_compare("record/beside-lttng", argv[1], pairs);
}
