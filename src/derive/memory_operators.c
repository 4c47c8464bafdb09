/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/memory_operators.h"

#include "base/mem.h"

struct walk {
    const struct osc_trace *t;
    const struct osc_order *order;
    const struct osc_optree *tree;
    uint32_t at, end; /* the next node to open, and the end of the track */
    uint32_t *stack;  /* owned; nodes, the deepest last */
    size_t n, cap;
};

static int64_t end_of(const struct walk *w, uint32_t node)
{
    const osc_row row = {w->order->rows[node - 1]};

    return osc_row_end(osc_chunk_of(&w->t->events, row), osc_row_place(row));
}

/* Open all nodes that start at AT_NS or earlier, and close those that have ended. */
static osc_status go_to(struct walk *w, int64_t at_ns)
{
    for (; w->at < w->end; w->at++) {
        const osc_row row = {w->order->rows[w->at]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->ts_ns[i] > at_ns)
            break;
        if (!(w->tree->flags[w->at] & OSC_NODE))
            continue;
        while (w->n > 0 && (end_of(w, w->stack[w->n - 1]) <= c->ts_ns[i] ||
                            end_of(w, w->stack[w->n - 1]) < osc_row_end(c, i)))
            w->n--;
        if (osc_grow(&w->stack, &w->cap, w->n + 1, sizeof *w->stack) != OSC_OK)
            return OSC_ENOMEM;
        w->stack[w->n++] = w->at + 1;
    }
    while (w->n > 0 && end_of(w, w->stack[w->n - 1]) <= at_ns)
        w->n--;
    return OSC_OK;
}

/* The node of a record at AT_NS; a merged node is replaced by its parent. */
static uint32_t deepest(const struct walk *w)
{
    const uint32_t node = w->n == 0 ? 0 : w->stack[w->n - 1];

    if (node != 0 && (w->tree->flags[node - 1] & OSC_NODE_MERGED))
        return w->tree->parent[node - 1];
    return node;
}

static osc_status walk_track(struct walk *w, const uint32_t *rows, uint32_t n,
                             struct osc_memory_record *out)
{
    for (uint32_t k = 0; k < n; k++) {
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, (osc_row){rows[k]});
        const uint32_t i = rows[k] & OSC_CHUNK_MASK;

        if (go_to(w, c->ts_ns[i]) != OSC_OK)
            return OSC_ENOMEM;
        out[k] = (struct osc_memory_record){rows[k], deepest(w)};
        if (out[k].node != 0 && (w->tree->flags[out[k].node - 1] & OSC_NODE_ROW))
            c->link[i] = w->order->rows[out[k].node - 1];
    }
    return OSC_OK;
}

osc_status osc_memory_make(const struct osc_trace *t, const struct osc_classes *c,
                           const struct osc_order *order, const struct osc_optree *tree,
                           unsigned n_threads, struct osc_memory *m)
{
    struct osc_order records = {0};
    struct walk w = {.t = t, .order = order, .tree = tree};

    *m = (struct osc_memory){0};
    osc_status st = osc_order_make(t, c, OSC_ORDER_MEMORY, n_threads, &records);
    if (st != OSC_OK)
        return st;
    m->records = osc_malloc(((size_t)records.n_rows + 1) * sizeof *m->records);
    if (!m->records)
        st = OSC_ENOMEM;
    for (uint32_t k = 0; k < t->n_tracks && st == OSC_OK; k++) {
        const uint32_t first = records.first[k];

        w.at = order->first[k];
        w.end = order->first[k + 1];
        w.n = 0;
        if (records.first[k + 1] > first)
            st = walk_track(&w, records.rows + first, records.first[k + 1] - first,
                            m->records + first);
    }
    m->n_records = records.n_rows;
    osc_free(w.stack);
    osc_order_fini(&records);
    if (st != OSC_OK)
        osc_memory_fini(m);
    return st;
}

void osc_memory_fini(struct osc_memory *m)
{
    osc_free(m->records);
    *m = (struct osc_memory){0};
}
