/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/own_time.h"

#include "base/mem.h"

/* A range that runs, and since when nothing runs in it. */
struct running {
    uint32_t row;
    int64_t alone_ns;
};

/* The walk over one track after the other. */
struct walk {
    const struct osc_trace *t;
    const struct osc_facts *f;
    int64_t least_ns;
    struct running *stack; /* owned; parents before children */
    size_t n, cap;
    struct osc_stretches *found;
};

/* Add the time until END_NS in which the innermost range ran alone, if it is an operator's. */
static osc_status end_stretch(struct walk *w, int64_t end_ns)
{
    const struct running *const r = &w->stack[w->n - 1];
    const osc_row row = {r->row};
    const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
    const uint32_t i = osc_row_place(row);
    struct osc_stretches *const s = w->found;

    if (end_ns - r->alone_ns < w->least_ns ||
        (c->kind[i] != OSC_KIND_OPERATOR && c->kind[i] != OSC_KIND_COMMUNICATION) ||
        osc_is_on_device(&w->f->classes, c, i))
        return OSC_OK;
    if (osc_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v) != OSC_OK)
        return OSC_ENOMEM;
    s->v[s->n++] = (struct osc_stretch){r->row, r->alone_ns, end_ns};
    return OSC_OK;
}

/* End the ranges within the range in row PARENT; 0: all. */
static osc_status leave(struct walk *w, uint32_t parent)
{
    osc_status st = OSC_OK;

    for (; w->n > 0 && w->stack[w->n - 1].row != parent && st == OSC_OK; w->n--) {
        const osc_row row = {w->stack[w->n - 1].row};

        st = end_stretch(w, osc_row_end(osc_chunk_of(&w->t->events, row), osc_row_place(row)));
    }
    return st;
}

static osc_status walk_track(struct walk *w, uint32_t track)
{
    const struct osc_order *const o = &w->f->order;
    osc_status st = OSC_OK;

    for (uint32_t at = o->first[track]; at < o->first[track + 1] && st == OSC_OK; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);

        st = leave(w, c->parent[i]);
        if (st == OSC_OK && w->n > 0) {
            struct running *const parent = &w->stack[w->n - 1];
            const int64_t end_ns = osc_row_end(c, i);

            st = end_stretch(w, c->ts_ns[i]);
            parent->alone_ns = end_ns > parent->alone_ns ? end_ns : parent->alone_ns;
        }
        if (st == OSC_OK)
            st = osc_grow(&w->stack, &w->cap, w->n + 1, sizeof *w->stack);
        if (st == OSC_OK)
            w->stack[w->n++] = (struct running){row.v, c->ts_ns[i]};
    }
    return st == OSC_OK ? leave(w, 0) : st;
}

osc_status osc_stretches_find(const struct osc_trace *t, const bool *counts, int64_t least_ns,
                              struct osc_stretches *s)
{
    struct walk w = {.t = t, .f = osc_trace_facts(t), .least_ns = least_ns, .found = s};
    osc_status st = OSC_OK;

    *s = (struct osc_stretches){0};
    for (uint32_t k = 0; k < w.f->order.n_tracks && st == OSC_OK; k++) {
        if (counts[w.f->order.tracks[k]])
            st = walk_track(&w, w.f->order.tracks[k]);
    }
    osc_free(w.stack);
    return st;
}

void osc_stretches_fini(struct osc_stretches *s)
{
    osc_free(s->v);
    *s = (struct osc_stretches){0};
}
