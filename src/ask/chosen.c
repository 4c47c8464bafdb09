/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/chosen.h"

#include <inttypes.h>

#include "ask/files/held.h"
#include "ask/request.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "derive/part/view.h"

/* Check that T has what S selects, except the device: a device may have memory events and no
 * queue. */
static osc_status check_selection(struct osc_trace *t, const struct osc_selection *s,
                                  unsigned n_threads, struct osc_err *err)
{
    struct osc_selection on_any_device = *s;
    struct osc_filter filter = {0};
    osc_status st =
        osc_derive(t, OSC_FACT_LINKS | OSC_FACT_STEPS | osc_select_facts(s), n_threads, err);

    on_any_device.device = NULL;
    if (st == OSC_OK)
        st = osc_filter_make(&filter, t, &on_any_device, err);
    osc_filter_fini(&filter);
    return st;
}

/* Make VIEW the view of BASE that S selects. */
static osc_status make_view(struct osc_trace *view, struct osc_trace *base,
                            const struct osc_selection *s, const struct osc_choice *how,
                            struct osc_err *err)
{
    osc_status st = osc_derive(base, OSC_FACT_VIEWS, how->n_threads, err);

    if (st == OSC_OK)
        st = osc_view_make(view, base, s, how->n_threads, err);
    if (st == OSC_OK && how->forgets_facts)
        osc_derive_forget(base);
    return st;
}

/* Replace trace I of C, which is of L, by what S selects of it. If the table selects late,
 * only check that the trace has it. */
static osc_status select_one(struct osc_chosen *c, uint32_t i, const struct osc_loaded *l,
                             const struct osc_selection *s, const struct osc_choice *how,
                             struct osc_err *err)
{
    struct osc_trace *const base = c->traces[i], *const view = &c->views[c->n_views];
    struct osc_mem_account *const here = osc_mem_account_here();

    (void)osc_mem_enter(how->asker ? how->asker : here);
    osc_status st = how->is_late ? check_selection(base, s, how->n_threads, err)
                                 : make_view(view, base, s, how, err);
    st = osc_loaded_fail(l, base, st, "selecting", err); /* in the account with the limit */
    (void)osc_mem_enter(here);
    return st;
}

/* Replace the traces of C, which are of L, by what the view of HOW selects. */
static osc_status select_rows(struct osc_chosen *c, const struct osc_loaded *l,
                              const struct osc_choice *how, struct osc_err *err)
{
    struct osc_selection s = osc_request_selection(how->view);
    uint32_t n = 0;

    if (osc_selection_is_all(&s))
        return OSC_OK;
    s.with_callers = how->with_callers;
    s.n_steps_before = l->n_steps_before;
    for (uint32_t i = 0; i < c->n_traces; i++) {
        struct osc_trace *const base = c->traces[i], *const view = &c->views[c->n_views];
        const osc_status st = select_one(c, i, l, &s, how, err);

        if (st == OSC_OK) {
            c->traces[n++] = how->is_late ? base : view;
            c->n_views += !how->is_late;
        } else if (st != OSC_EINVAL || (n == 0 && i + 1 == c->n_traces)) {
            return st;
        }
    }
    c->n_traces = n;
    return OSC_OK;
}

/* Give C the traces of L that the ranks and spans of VIEW name. */
static osc_status choose_traces(struct osc_chosen *c, const struct osc_loaded *l,
                                const struct osc_view *view, struct osc_err *err)
{
    const size_t n = l->n_traces ? l->n_traces : 1;
    bool *const keep = osc_calloc(n, sizeof *keep);
    osc_status st = OSC_ENOMEM;

    c->traces = osc_calloc(n, sizeof(struct osc_trace *));
    c->views = osc_calloc(n, sizeof *c->views);
    c->parts = osc_calloc(n, sizeof *c->parts);
    c->order = osc_calloc(n, sizeof(void *));
    if (keep && c->traces && c->views && c->parts && c->order)
        st = osc_loaded_ranks(keep, l->traces, l->n_traces, view, err);
    for (uint32_t i = 0; i < l->n_traces && st == OSC_OK; i++) {
        if (keep[i])
            c->traces[c->n_traces++] = l->traces[i];
    }
    osc_free(keep);
    return osc_loaded_fail(l, NULL, st, "selecting", err);
}

osc_status osc_chosen_make(struct osc_chosen *c, const struct osc_loaded *l,
                           const struct osc_choice *how, struct osc_err *err)
{
    *c = (struct osc_chosen){0};
    osc_status st = choose_traces(c, l, how->view, err);

    if (st == OSC_OK)
        st = select_rows(c, l, how, err);
    for (uint32_t i = 0; i < c->n_traces && st == OSC_OK; i++) {
        osc_partial_keep(&c->parts[i], c->traces[i]);
        c->order[i] = &c->parts[i];
    }
    return st;
}

void osc_chosen_fini(struct osc_chosen *c)
{
    for (uint32_t i = 0; i < c->n_views; i++)
        osc_trace_fini(&c->views[i]);
    osc_free(c->views);
    osc_free(c->traces);
    osc_free(c->parts);
    osc_free(c->order);
    *c = (struct osc_chosen){0};
}

osc_status osc_chosen_derive(const struct osc_chosen *c, const struct osc_loaded *l,
                             uint32_t facts, unsigned n_threads, struct osc_err *err)
{
    for (uint32_t i = 0; i < c->n_traces; i++) {
        const osc_status st = osc_derive(c->traces[i], facts, n_threads, err);

        if (st != OSC_OK)
            return osc_loaded_fail(l, c->traces[i], st, "deriving facts", err);
    }
    return OSC_OK;
}

/* Append D in hexadecimal. */
static void add_digest(struct osc_strbuf *out, const struct osc_digest *d)
{
    osc_strbuf_addf(out, "%016" PRIx64 "%016" PRIx64 " ", d->high, d->low);
}

struct osc_rest osc_rest_of(const struct osc_trace *t)
{
    const struct osc_held *const h = (const struct osc_held *)(t->base ? t->base : t);

    return (struct osc_rest){.files = h->files,
                             .part = h->part,
                             .n_events = h->trace.events.n_rows,
                             .n_others = h->trace.others.n_rows,
                             .is_torn = h->is_torn,
                             .is_partial = h->trace.is_partial};
}

void osc_rest_add(struct osc_strbuf *out, const struct osc_rest *r, const struct osc_placing *p)
{
    add_digest(out, &r->files);
    osc_strbuf_addf(out, "%u %d %u %u %d %d %d %" PRId64 " %" PRId64 " %d %d %d %u\n", r->part,
                    r->is_torn, r->n_events, r->n_others, r->is_partial, p->rank, p->span,
                    p->origin_ns, p->base_ns, p->is_unaligned, p->is_beside_steps,
                    p->shares_steps, p->piece);
}

/* Append the source and extent of T, a view or a whole trace. */
static void add_trace(struct osc_strbuf *out, const struct osc_trace *t)
{
    const struct osc_held *const h = (const struct osc_held *)(t->base ? t->base : t);
    const struct osc_rest r = osc_rest_of(t);

    osc_rest_add(out, &r, &h->place);
}

osc_status osc_chosen_digest(const struct osc_chosen *c, const struct osc_loaded *l,
                             struct osc_digest *d)
{
    struct osc_strbuf all = {0};

    for (uint32_t i = 0; i < c->n_traces; i++)
        add_trace(&all, c->traces[i]);
    for (uint32_t i = 0; i < l->n_units && c->n_traces == 0; i++)
        add_digest(&all, &l->units[i]);
    const osc_status st = all.status;
    if (st == OSC_OK)
        *d = osc_digest_of(all.s, all.len);
    osc_strbuf_fini(&all);
    return st;
}

struct osc_view osc_view_join(const struct osc_view *only, const struct osc_view *v)
{
    struct osc_view j = *v;

    j.ranks = v->ranks ? v->ranks : only->ranks;
    j.spans = v->spans ? v->spans : only->spans;
    j.process = v->process ? v->process : only->process;
    j.thread = v->thread ? v->thread : only->thread;
    j.device = v->device ? v->device : only->device;
    j.steps = v->steps ? v->steps : only->steps;
    if (!v->has_from && only->has_from) {
        j.has_from = 1;
        j.from_ns = only->from_ns;
    }
    if (!v->has_to && only->has_to) {
        j.has_to = 1;
        j.to_ns = only->to_ns;
    }
    return j;
}

bool osc_view_is_all(const struct osc_view *v)
{
    return !v->ranks && !v->spans && !v->process && !v->thread && !v->device && !v->steps &&
           !v->has_from && !v->has_to;
}
