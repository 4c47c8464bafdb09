/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - how fast plain JSON is loaded on one core.
 *
 *   load FILE NAME LIMIT [REPETITIONS [KERNEL]]
 *
 * Limit: simdjson On-Demand putting the same text, which lies in memory already,
 * into columns with every argument typed and interned; its parser is reused. We
 * read the file from the page cache and begin with no memory at all, each time.
 * The first repetition is reported apart: there, both pay for fresh memory.
 */
#include <string.h>

#include "bench.h"
#include "import/import.h"
#include "peer.h"

/* Arguments of the events, as the peer counts them. */
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
    const int n = bench_repetitions(argc, argv, 4, 7);
    const struct osc_import_options o = {.n_threads = 1, .kernel = argc > 5 ? argv[5] : NULL};
    struct bench_times ours = {0}, theirs = {0};
    struct bench_peer_sums sums = {0};
    uint64_t n_events = 0, n_args = 0;
    char name[64];
    size_t n_bytes;

    if (argc < 4) {
        fputs("usage: load FILE NAME LIMIT [REPETITIONS [KERNEL]]\n", stderr);
        return 2;
    }
    bench_pin();
    struct bench_peer *peer = bench_peer_open(argv[1], &n_bytes);
    for (int i = 0; i < n; i++) {
        struct osc_trace t = {0};
        struct osc_err err = {0};
        double start = bench_cpu_s();

        if (!peer || !bench_peer_load(peer, &sums)) {
            fprintf(stderr, "load: %s: the peer cannot read it\n", argv[1]);
            return 1;
        }
        bench_add(&theirs, bench_cpu_s() - start);
        start = bench_cpu_s();
        const osc_status st = osc_import_path(&t, argv[1], &o, &err);
        bench_add(&ours, bench_cpu_s() - start);
        if (st != OSC_OK) {
            fprintf(stderr, "load: %s\n", err.message);
            return 1;
        }
        if (i == 0) {
            n_events = (uint64_t)t.events.n_rows + t.others.n_rows;
            n_args = count_args(&t);
        }
        osc_trace_fini(&t);
    }
    bench_peer_close(peer);

    const double mb = (double)n_bytes / 1e6, us = bench_steady(&ours);
    bench_report(argv[2], bench_steady(&theirs) / us, argv[3],
                 "our speed by that of simdjson On-Demand (%s), %.0f MB: %.0f by %.0f MB/s, "
                 "%.2f M events/s",
                 bench_peer_kernel(), mb, mb / us, mb / bench_steady(&theirs),
                 (double)n_events / us / 1e6);
    snprintf(name, sizeof name, "%s/best", argv[2]);
    bench_report(name, bench_best(&theirs) / bench_best(&ours), "-",
                 "the same, shortest of %d: %.0f by %.0f MB/s", n, mb / bench_best(&ours),
                 mb / bench_best(&theirs));
    snprintf(name, sizeof name, "%s/first", argv[2]);
    bench_report(name, theirs.at[0] / ours.at[0], "-",
                 "the same, first time in the process: %.0f by %.0f MB/s", mb / ours.at[0],
                 mb / theirs.at[0]);
    if (n_events != sums.n_events || n_args != sums.n_args)
        printf("# %s: we read %llu records with %llu arguments, the peer %llu with %llu\n",
               argv[2], (unsigned long long)n_events, (unsigned long long)n_args,
               (unsigned long long)sums.n_events, (unsigned long long)sums.n_args);
    return 0;
}
