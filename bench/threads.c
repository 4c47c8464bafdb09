/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - what a second core brings to loading plain JSON.
 *
 *   threads FILE [REPETITIONS]
 *
 * Limit: twice the speed of one thread. Wall time, because two threads work; where
 * neighbours are busy, the best of all repetitions and the processor time that both
 * threads took say more than the median, so all are shown.
 */
#include "bench.h"
#include "import/import.h"

/* Wall seconds; *CPU gets the processor time of all threads. */
static double load(const char *path, unsigned n_threads, struct bench_times *cpu)
{
    const struct osc_import_options o = {.n_threads = n_threads};
    struct osc_trace t = {0};
    struct osc_err err = {0};
    const double start = bench_wall_s(), cpu_start = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);

    if (osc_import_path(&t, path, &o, &err) != OSC_OK) {
        fprintf(stderr, "threads: %s\n", err.message);
        exit(1);
    }
    const double seconds = bench_wall_s() - start;
    bench_add(cpu, bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
    osc_trace_fini(&t);
    return seconds;
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 2, 7);
    struct bench_times one = {0}, two = {0}, one_cpu = {0}, two_cpu = {0};

    if (argc < 2) {
        fputs("usage: threads FILE [REPETITIONS]\n", stderr);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        bench_add(&one, load(argv[1], 1, &one_cpu));
        bench_add(&two, load(argv[1], 2, &two_cpu));
    }
    bench_report("load/threads", bench_steady(&one) / bench_steady(&two), ">=1.80",
                 "wall time of one thread by that of two, medians: %.3f by %.3f s",
                 bench_steady(&one), bench_steady(&two));
    bench_report("load/threads-best", bench_best(&one) / bench_best(&two), "-",
                 "the same, shortest of %d: %.3f by %.3f s", n, bench_best(&one),
                 bench_best(&two));
    bench_report("load/threads-processor", 2 * bench_steady(&one_cpu) / bench_steady(&two_cpu),
                 "-", "what it would be on idle cores: processor time %.3f and %.3f s",
                 bench_steady(&one_cpu), bench_steady(&two_cpu));
    return 0;
}
