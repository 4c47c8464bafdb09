/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - measure loading plain JSON on one core.
 *
 *   load FILE [REPETITIONS [KERNEL]]
 *
 * Limit: simdjson On-Demand reads the same text, which is already in memory, into columns, with
 * every argument typed and interned; it keeps its parser between repetitions. opscope reads the
 * file from the page cache and starts without memory each time. Both count what they read, so
 * that neither wins by reading less.
 */
#include "bench.h"
#include "import/import.h"

/* peer.cpp */
uint64_t bench_peer_load(const char *path, uint64_t *n_args);

/* The number of arguments of events, as the peer counts them. */
static uint64_t count_args(const struct osc_trace *t)
{
    const struct osc_store *const stores[] = {&t->events, &t->others};
    uint64_t n = 0;

    for (int s = 0; s < 2; s++) {
        for (uint32_t c = 1; c < stores[s]->n_chunks; c++) {
            const struct osc_chunk *k = stores[s]->chunks[c];

            for (uint32_t i = 0; i < k->n_rows; i++) {
                const struct osc_form *f = osc_row_form(t, k, i);

                for (uint32_t slot = 0; slot < f->n_slots; slot++)
                    n += !f->slots[slot].is_member;
            }
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    const struct osc_import_options o = {.n_threads = 1, .kernel = argc > 3 ? argv[3] : NULL};
    const int n = bench_rounds(argc, argv, 2, 7);
    uint64_t n_args;

    bench_pin(1);
    for (int i = 0; i < n && argc > 1; i++) {
        struct osc_trace t = {0};
        struct osc_err err;
        const uint64_t n_events = bench_peer_load(argv[1], &n_args);
        const double start = bench_cpu_s();

        if (n_events == 0 || osc_import_path(&t, argv[1], &o, &err) != OSC_OK) {
            fprintf(stderr, "load: cannot read %s\n", argv[1]);
            return 1;
        }
        bench_sample("ours", bench_cpu_s() - start);
        if (i == 0) {
            bench_sample("events-missed",
                         (double)t.events.n_rows + t.others.n_rows - (double)n_events);
            bench_sample("args-missed", (double)count_args(&t) - (double)n_args);
        }
        osc_trace_fini(&t);
    }
    return 0;
}
