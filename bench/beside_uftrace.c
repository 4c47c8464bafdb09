/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside_uftrace.c - what a function costs that uftrace records, and a pair with us.
 *
 *   uftrace record --no-libcall --no-event -d DIR beside_uftrace OUT.osc
 */
#include "beside.h"

static double calls(void)
{
    const double start = bench_cpu_s();

    for (int i = 0; i < BESIDE_N; i++)
        bench_seen();
    return bench_cpu_s() - start;
}

int main(int argc, char **argv)
{
    return argc == 2 ? beside_compare("record/beside-uftrace", argv[1], calls) : 2;
}
