/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - all tables together against loading the trace.
 *
 *   tables FILE NAME LIMIT [REPETITIONS]
 *
 * Limit: whoever has waited for a trace to load should not notice the tables. Every
 * table of the registry is made, and all facts that they rest on are made anew each
 * time. Events are only counted: as a table they are as long as the file. One
 * thread, processor time.
 */
#include "analysis/table_registry.h"
#include "bench.h"
#include "derive/derive.h"
#include "import/import.h"
#include "table/query.h"

#define PLACE_OF(name) PLACE_##name,
enum { OSC_TABLE_LIST(PLACE_OF) N_TABLES };
#undef PLACE_OF

static void report(const char *name, const char *what, double s, double load_s)
{
    char whole[64];

    snprintf(whole, sizeof whole, "%s/%s", name, what);
    bench_report(whole, s / load_s, "-", "%.1f ms", s * 1e3);
}

/* Make the table DEF of T and add its time to TIMES. */
static osc_status run_table(const struct osc_table_def *def, const struct osc_trace *t,
                            struct bench_times *times, struct osc_err *err)
{
    const struct osc_options options = {.n_threads = 1};
    const struct osc_query q = {
        .def = def, .traces = &t, .n_traces = 1, .options = &options, .is_machine = true};
    const double start = bench_cpu_s();
    struct osc_answer a = {0};
    uint64_t shown = 0;
    osc_status st = OSC_OK;

    if (def->rows)
        (void)def->rows(t, &options, &shown);
    else
        st = osc_query_run(&q, &a, err);
    osc_answer_fini(&a);
    bench_add(times, bench_cpu_s() - start);
    return st;
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 4, 5);
    const struct osc_import_options o = {.n_threads = 1};
    struct bench_times load = {0}, derive = {0}, all = {0}, table[N_TABLES] = {{.n = 0}};
    struct osc_err err = {0};
    osc_status st = argc < 4 ? OSC_EINVAL : OSC_OK;

    bench_pin();
    for (int i = 0; i < n && st == OSC_OK; i++) {
        struct osc_trace t = {0};
        uint32_t facts = 0;
        double start = bench_cpu_s();

        st = osc_import_path(&t, argv[1], &o, &err);
        bench_add(&load, bench_cpu_s() - start);
        for (int k = 0; osc_tables[k]; k++)
            facts |= osc_tables[k]->facts;
        start = bench_cpu_s();
        if (st == OSC_OK)
            st = osc_derive(&t, facts, 1, &err);
        bench_add(&derive, bench_cpu_s() - start);
        for (int k = 0; osc_tables[k] && st == OSC_OK; k++)
            st = run_table(osc_tables[k], &t, &table[k], &err);
        bench_add(&all, bench_cpu_s() - start);
        osc_trace_fini(&t);
    }
    if (st != OSC_OK) {
        fprintf(stderr, "tables: %s\n",
                argc > 3 ? err.message : "usage: tables FILE NAME LIMIT [N]");
        return 1;
    }
    const double load_s = bench_steady(&load);
    char whole[64];
    snprintf(whole, sizeof whole, "%s/load", argv[2]);
    bench_report(whole, bench_steady(&all) / load_s, argv[3],
                 "facts and all tables by loading: %.3f by %.3f s", bench_steady(&all), load_s);
    report(argv[2], "derive", bench_steady(&derive), load_s);
    for (int k = 0; osc_tables[k]; k++)
        report(argv[2], osc_tables[k]->name, bench_steady(&table[k]), load_s);
    return 0;
}
