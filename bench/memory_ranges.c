/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_ranges.c - what a range of time of the tables of memory takes once a trace is loaded.
 *
 *   memory_ranges FILE [REPETITIONS]
 *
 * Limit: a range that somebody drags over a curve is there within 5 ms (the TensorBoard
 * plugin takes 5.8 s with as many records). The ranges are a third and a hundredth of the
 * time that has records, and all of it, which is the first look and not judged. The facts
 * are made before; rows are made and sorted but not written. One thread, processor time, in
 * milliseconds: not a ratio, so it moves with the machine.
 */
#include "analysis/table_registry.h"
#include "bench.h"
#include "derive/derive.h"
#include "derive/facts.h"
#include "derive/select.h"
#include "import/import.h"
#include "table/query.h"

#define N_RANGES 3
#define N_TABLES 4

static const struct osc_table_def *const defs[N_TABLES] = {
    &osc_table_memory, &osc_table_memory_events, &osc_table_memory_curve,
    &osc_table_memory_peaks};

struct range {
    const char *name, *limit;
    struct osc_selection selection;
    struct bench_times times[N_TABLES];
    uint64_t n_rows[N_TABLES];
};

/* R is part number PART of COUNT of the time that has records. */
static void set_range(struct range *r, const struct osc_trace *t, int part, int count)
{
    const struct osc_allocations *const a = &osc_trace_facts(t)->allocations;
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

    for (uint32_t d = 0; d < a->n_devices; d++) {
        const int64_t first_ns = a->records[a->devices[d].first].time_ns;
        const int64_t last_ns = a->records[a->devices[d].first + a->devices[d].n - 1].time_ns;

        from_ns = first_ns < from_ns ? first_ns : from_ns;
        to_ns = last_ns > to_ns ? last_ns : to_ns;
    }
    const int64_t part_ns = (to_ns - from_ns) / count;

    r->selection = (struct osc_selection){
        .has_from = true, .from_ns = from_ns + part * part_ns - t->origin_ns, .has_to = true};
    r->selection.to_ns = r->selection.from_ns + part_ns + 1;
}

static osc_status run(struct range *r, const struct osc_trace *t, struct osc_err *err)
{
    const struct osc_options options = {.n_threads = 1, .selection = &r->selection};
    osc_status st = OSC_OK;

    for (int k = 0; k < N_TABLES && st == OSC_OK; k++) {
        const struct osc_query q = {.def = defs[k],
                                    .traces = &t,
                                    .n_traces = 1,
                                    .options = &options,
                                    .is_machine = true};
        struct osc_answer a = {0};
        const double start = bench_cpu_s();

        st = osc_query_run(&q, &a, err);
        r->n_rows[k] = a.n_blocks > 0 ? a.blocks[0].result.n_rows : 0;
        osc_answer_fini(&a);
        bench_add(&r->times[k], bench_cpu_s() - start);
    }
    return st;
}

int main(int argc, char **argv)
{
    const int n = bench_repetitions(argc, argv, 2, 9);
    const struct osc_import_options o = {.n_threads = 1};
    struct range ranges[N_RANGES] = {{.name = "third", .limit = "<=5"},
                                     {.name = "hundredth", .limit = "<=5"},
                                     {.name = "all", .limit = "-"}};
    struct osc_trace t = {0};
    struct osc_err err = {0};
    osc_status st = argc < 2 ? OSC_EINVAL : osc_import_path(&t, argv[1], &o, &err);

    bench_pin();
    for (int k = 0; k < N_TABLES && st == OSC_OK; k++)
        st = osc_derive(&t, defs[k]->facts, 1, &err);
    if (st == OSC_OK) {
        set_range(&ranges[0], &t, 1, 3);
        set_range(&ranges[1], &t, 50, 100);
        set_range(&ranges[2], &t, 0, 1);
    }
    for (int i = 0; i < n && st == OSC_OK; i++) {
        for (int r = 0; r < N_RANGES && st == OSC_OK; r++)
            st = run(&ranges[r], &t, &err);
    }
    if (st != OSC_OK) {
        fprintf(stderr, "ranges: %s\n", argc > 1 ? err.message : "usage: ranges FILE [N]");
        osc_trace_fini(&t);
        return 1;
    }
    for (int r = 0; r < N_RANGES; r++) {
        for (int k = 0; k < N_TABLES; k++) {
            char name[64];

            snprintf(name, sizeof name, "%s/%s", defs[k]->name, ranges[r].name);
            bench_report(name, bench_steady(&ranges[r].times[k]) * 1e3, ranges[r].limit,
                         "ms, %llu rows", (unsigned long long)ranges[r].n_rows[k]);
        }
    }
    osc_trace_fini(&t);
    return 0;
}
