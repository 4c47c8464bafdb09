/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.c - the table of operators against the cheapest sweep.
 *
 *   operators FILE [REPETITIONS]
 *
 * Limit: one pass over slices in columns, by thread and start, with a stack of the
 * open ones: calls, own and total time by name, recursion counted once. It runs on
 * 10 million made slices, and on the slices of FILE copied into the same columns.
 * Ours does more: it follows launches to device work, and finds medians. Costs are
 * per slice: per synchronous range of a host thread.
 */
#include <string.h>

#include "analysis/table_registry.h"
#include "bench.h"
#include "derive/facts.h"
#include "import/import.h"
#include "sweep.h"
#include "table/query.h"

#define MADE_SLICES 10000000u

static void copy_slices(struct bench_slices *s, const struct osc_trace *t)
{
    const struct osc_order *const order = &osc_trace_facts(t)->order;

    bench_slices_init(s, order->n_rows, t->n_tracks, osc_strings_bound(&t->strings));
    memcpy(s->first, order->first, sizeof *s->first * ((size_t)t->n_tracks + 1));
    for (; s->n < order->n_rows; s->n++) {
        const osc_row row = {order->rows[s->n]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        s->name[s->n] = c->name[i];
        s->ts_ns[s->n] = c->ts_ns[i];
        s->dur_ns[s->n] = c->dur_ns[i];
    }
}

static osc_status run_table(const struct osc_trace *t)
{
    const struct osc_options options = {.n_threads = 1};
    const struct osc_query q = {.def = &osc_table_operators,
                                .traces = &t,
                                .n_traces = 1,
                                .options = &options,
                                .is_machine = true};
    struct osc_answer a = {0};
    const osc_status st = osc_query_run(&q, &a, NULL);

    osc_answer_fini(&a);
    return st;
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 2, 7);
    const struct osc_import_options o = {.n_threads = 1};
    struct bench_times made_ns = {0}, copied_ns = {0}, derive = {0}, table = {0};
    struct bench_slices made, copied;
    struct osc_trace t = {0};
    struct osc_err err = {0};
    osc_status st = OSC_EINVAL;

    bench_pin();
    if (argc > 1)
        st = osc_import_path(&t, argv[1], &o, &err);
    for (int i = 0; i < n && st == OSC_OK; i++) {
        double start = bench_cpu_s();

        osc_derive_forget(&t);
        st = osc_derive(&t, osc_table_operators.facts, 1, &err);
        bench_add(&derive, bench_cpu_s() - start);
        start = bench_cpu_s();
        if (st == OSC_OK)
            st = run_table(&t);
        bench_add(&table, bench_cpu_s() - start);
        if (i == 0) {
            bench_slices_make(&made, MADE_SLICES);
            copy_slices(&copied, &t);
        }
        bench_add(&made_ns, bench_sweep_ns(&made));
        bench_add(&copied_ns, bench_sweep_ns(&copied));
    }
    if (st != OSC_OK) {
        fprintf(stderr, "operators: %s\n",
                argc > 1 ? err.message : "usage: operators FILE [N]");
        return 1;
    }

    const double table_ns = bench_steady(&table) * 1e9 / copied.n;
    const double all_ns = table_ns + bench_steady(&derive) * 1e9 / copied.n;
    const double made_median_ns = bench_steady(&made_ns);
    const double copied_median_ns = bench_steady(&copied_ns);
    bench_report("operators/made", table_ns / made_median_ns, "<=1.40",
                 "table per slice by a sweep of 10 M made slices: %.1f by %.1f ns, %u slices",
                 table_ns, made_median_ns, copied.n);
    bench_report("operators/same", table_ns / copied_median_ns, "-",
                 "table per slice by a sweep of the same slices: %.1f by %.1f ns", table_ns,
                 copied_median_ns);
    bench_report("operators/derive-made", all_ns / made_median_ns, "-",
                 "facts and table per slice: %.1f by %.1f ns", all_ns, made_median_ns);
    bench_report("operators/derive-same", all_ns / copied_median_ns, "-",
                 "facts and table per slice: %.1f by %.1f ns", all_ns, copied_median_ns);
    osc_trace_fini(&t);
    return 0;
}
