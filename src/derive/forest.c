/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/forest.h"

#include "base/mem.h"
#include "base/thread.h"

struct open_range {
    int64_t end_ns, self_ns; /* self time so far */
    uint32_t row;
};

/* One track's stack, and what is counted on the way. */
struct walk {
    struct open_range *stack; /* owned */
    size_t n, cap;
    uint64_t n_overlaps, n_negative;
    int64_t overlap_ns, negative_ns; /* the first of each */
    osc_status status;
};

struct work {
    const struct osc_trace *t;
    const struct osc_order *order;
    struct walk *walks;
};

static void count_first(uint64_t *n, int64_t *first_ns, int64_t at_ns)
{
    if (*n == 0 || at_ns < *first_ns)
        *first_ns = at_ns;
    (*n)++;
}

/* Take the top range off the stack. Nothing is added to its self time any more. */
static inline void close_top(struct walk *w, const struct osc_store *s)
{
    const struct open_range *const top = &w->stack[--w->n];
    const struct osc_chunk *const c = s->chunks[top->row >> OSC_CHUNK_SHIFT];
    const uint32_t i = top->row & OSC_CHUNK_MASK;

    c->self_ns[i] = top->self_ns;
    if (top->self_ns < 0)
        count_first(&w->n_negative, &w->negative_ns, c->ts_ns[i]);
}

/* Close what does not hold [START_NS, END_NS); what overlaps it in part ends here too. */
static inline void close_before(struct walk *w, const struct osc_store *s, int64_t start_ns,
                                int64_t end_ns)
{
    bool is_overlapping = false;

    while (w->n > 0) {
        const int64_t top_ns = w->stack[w->n - 1].end_ns;

        if (top_ns > start_ns) {
            if (end_ns <= top_ns)
                break;
            is_overlapping = true;
        }
        close_top(w, s);
    }
    if (is_overlapping)
        count_first(&w->n_overlaps, &w->overlap_ns, start_ns);
}

static void walk_track(void *ctx, uint32_t item)
{
    const struct work *const work = ctx;
    const struct osc_store *const s = &work->t->events;
    const struct osc_order *const o = work->order;
    const uint32_t track = o->tracks[item];
    struct walk *const w = &work->walks[item];

    for (uint32_t at = o->first[track]; at < o->first[track + 1]; at++) {
        const uint32_t row = o->rows[at];
        const struct osc_chunk *const c = s->chunks[row >> OSC_CHUNK_SHIFT];
        const uint32_t i = row & OSC_CHUNK_MASK;
        const int64_t start_ns = c->ts_ns[i], dur_ns = c->dur_ns[i];

        close_before(w, s, start_ns, start_ns + dur_ns);
        if (w->n > 0) {
            struct open_range *const parent = &w->stack[w->n - 1];

            c->parent[i] = parent->row;
            c->depth[i] = (uint16_t)(w->n < UINT16_MAX ? w->n : UINT16_MAX);
            parent->self_ns -= dur_ns;
        }
        if (w->n == w->cap) {
            w->status = osc_grow(&w->stack, &w->cap, w->n + 1, sizeof *w->stack);
            if (w->status != OSC_OK)
                break;
        }
        w->stack[w->n++] = (struct open_range){start_ns + dur_ns, dur_ns, row};
    }
    while (w->n > 0)
        close_top(w, s);
    osc_free(w->stack);
}

static void tell(struct osc_trace *t, enum osc_finding_code code, uint64_t n, int64_t first_ns)
{
    if (n == 0)
        return;
    osc_findings_add(&t->findings, code, OSC_NO_OFFSET, first_ns);
    t->findings.by_code[code].count += n - 1;
}

osc_status osc_forest_make(struct osc_trace *t, const struct osc_order *order,
                           unsigned n_threads)
{
    struct work w = {t, order, osc_calloc((size_t)order->n_tracks + 1, sizeof *w.walks)};
    struct walk all = {0};
    osc_status st = OSC_OK;

    if (!w.walks)
        return OSC_ENOMEM;
    osc_parallel(n_threads, order->n_tracks, walk_track, &w);
    for (uint32_t i = 0; i < order->n_tracks; i++) {
        const struct walk *const one = &w.walks[i];

        if (one->status != OSC_OK)
            st = one->status;
        if (one->n_overlaps > 0 && (all.n_overlaps == 0 || one->overlap_ns < all.overlap_ns))
            all.overlap_ns = one->overlap_ns;
        if (one->n_negative > 0 && (all.n_negative == 0 || one->negative_ns < all.negative_ns))
            all.negative_ns = one->negative_ns;
        all.n_overlaps += one->n_overlaps;
        all.n_negative += one->n_negative;
    }
    if (st == OSC_OK) {
        tell(t, OSC_FINDING_partial_overlap, all.n_overlaps, all.overlap_ns);
        tell(t, OSC_FINDING_negative_self, all.n_negative, all.negative_ns);
    }
    osc_free(w.walks);
    return st;
}
