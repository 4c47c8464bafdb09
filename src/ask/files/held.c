/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/held.h"

#include "base/mem.h"

struct osc_held *osc_held_new(void)
{
    struct osc_held *const h = osc_calloc(1, sizeof *h);

    if (h) /* nobody else has it yet */
        atomic_store_explicit(&h->n_holders, 1, memory_order_relaxed);
    return h;
}

struct osc_held *osc_held_of(struct osc_trace *t)
{
    return (struct osc_held *)t;
}

struct osc_held *osc_held_hold(struct osc_held *h)
{
    /* relaxed: the caller already has access through its own reference */
    atomic_fetch_add_explicit(&h->n_holders, 1, memory_order_relaxed);
    return h;
}

void osc_held_release(struct osc_held *h)
{
    /* Pairs with itself: all reads by other holders happen before the last one frees it. */
    while (h && atomic_fetch_sub_explicit(&h->n_holders, 1, memory_order_acq_rel) == 1) {
        struct osc_held *const original = h->original;

        osc_trace_fini(&h->trace);
        osc_free(h);
        h = original;
    }
}

void osc_held_remember(struct osc_held *h)
{
    osc_run_identity(&h->alone, &h->trace, "");
    h->unaligned = h->trace.findings.by_code[OSC_FINDING_unaligned];
}

static bool is_same_place(const struct osc_placing *a, const struct osc_placing *b)
{
    return a->rank == b->rank && a->span == b->span && a->origin_ns == b->origin_ns &&
           a->base_ns == b->base_ns && a->is_unaligned == b->is_unaligned &&
           a->is_beside_steps == b->is_beside_steps && a->shares_steps == b->shares_steps &&
           a->piece == b->piece;
}

/* Make a mirror of H, which was read from files, with the place that ID names. NULL: out of
 * memory. */
static struct osc_held *mirror(struct osc_held *h, const struct osc_identity *id)
{
    struct osc_held *const m = osc_held_new();

    if (!m)
        return NULL;
    osc_trace_mirror(&m->trace, &h->trace);
    m->original = osc_held_hold(h);
    m->files = h->files;
    m->part = h->part;
    m->file = h->file;
    m->is_torn = h->is_torn;
    m->alone = h->alone;
    m->unaligned = h->unaligned;
    m->is_placed = true;
    m->place = id->among;
    m->trace.has_rank = id->has_rank;
    m->trace.rank = id->among.rank;
    m->trace.span = id->among.span;
    m->trace.piece = id->among.piece;
    m->trace.is_beside_steps = id->among.is_beside_steps;
    m->trace.shares_steps = id->among.shares_steps;
    m->trace.base_ns = id->among.base_ns;
    m->trace.origin_ns = id->among.origin_ns;
    m->trace.findings.by_code[OSC_FINDING_unaligned] = h->unaligned;
    if (id->among.is_unaligned)
        osc_findings_add(&m->trace.findings, OSC_FINDING_unaligned, OSC_NO_OFFSET, OSC_NO_TIME);
    return m;
}

/* Give *T the place that ID names, or replace it by a mirror that has it. */
static osc_status apply(struct osc_trace **t, const struct osc_identity *id)
{
    struct osc_held *const h = osc_held_of(*t), *first = h->original ? h->original : h;
    struct osc_held *now = NULL;

    if (!h->is_placed) {
        h->is_placed = true;
        h->place = id->among;
        return osc_run_apply(*t, id);
    }
    if (is_same_place(&h->place, &id->among))
        return OSC_OK;
    now = is_same_place(&first->place, &id->among) ? osc_held_hold(first) : mirror(first, id);
    if (!now)
        return OSC_ENOMEM;
    *t = &now->trace;
    osc_held_release(h);
    return OSC_OK;
}

osc_status osc_held_place(struct osc_trace **traces, const char *const *paths, uint32_t n)
{
    struct osc_identity *const ids = osc_calloc((size_t)n + 1, sizeof *ids);
    struct osc_identity **const all = osc_calloc((size_t)n + 1, sizeof(struct osc_identity *));
    osc_status st = ids && all ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        ids[i] = osc_held_of(traces[i])->alone;
        ids[i].path = osc_str_c(paths[i]);
        all[i] = &ids[i];
    }
    if (st == OSC_OK)
        st = osc_run_place(all, n);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = apply(&traces[i], &ids[i]);
    osc_free(ids);
    osc_free(all);
    return st;
}
