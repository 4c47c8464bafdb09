/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/part/selected_steps.h"

#include <string.h>

#include "base/mem.h"
#include "derive/facts.h"

/* The steps and the work that a filter leaves. */
struct rest {
    struct osc_trace t;         /* a copy, whose steps are owned */
    struct osc_links links;     /* its works are owned */
    struct osc_step_map map;    /* owned */
    struct osc_step_bound *all; /* owned; by step of the rest */
    uint32_t *n_works;          /* owned; by step of the rest */
    uint32_t *number;           /* owned; by step of the rest: its index in the trace */
};

static bool wants_row(const struct osc_filter *f, osc_row row)
{
    return osc_filter_wants(f, osc_chunk_of(&f->t->events, row), osc_row_place(row));
}

/* Fill R with what F leaves of T, whose facts are ALL. */
static osc_status leave(struct rest *r, const struct osc_trace *t, const struct osc_facts *all,
                        const struct osc_filter *f)
{
    r->t = *t;
    r->t.n_steps = 0;
    r->t.steps = osc_calloc((size_t)t->n_steps + 1, sizeof *r->t.steps);
    r->all = osc_calloc((size_t)t->n_steps + 1, sizeof *r->all);
    r->n_works = osc_calloc((size_t)t->n_steps + 1, sizeof *r->n_works);
    r->number = osc_calloc((size_t)t->n_steps + 1, sizeof *r->number);
    r->links = all->links;
    r->links.n_works = 0;
    r->links.works = osc_calloc(all->links.n_works + 1, sizeof *r->links.works);
    if (!r->t.steps || !r->all || !r->n_works || !r->number || !r->links.works)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->steps[i].row.v == 0 || !wants_row(f, t->steps[i].row))
            continue;
        r->number[r->t.n_steps] = i;
        r->t.steps[r->t.n_steps++] = t->steps[i];
    }
    for (size_t n = 0; n < all->links.n_works; n++) {
        struct osc_work work = all->links.works[n];

        if (!wants_row(f, (osc_row){work.row}))
            continue;
        if (work.call != 0 && !wants_row(f, (osc_row){all->links.calls[work.call - 1].row}))
            work.call = 0;
        r->links.works[r->links.n_works++] = work;
    }
    r->map.are_of_device = all->step_map.are_of_device;
    return osc_step_map_make(&r->t, &r->map);
}

static void rest_fini(struct rest *r)
{
    osc_free(r->t.steps);
    osc_free(r->links.works);
    osc_free(r->all);
    osc_free(r->n_works);
    osc_free(r->number);
    osc_step_map_fini(&r->map);
}

static bool wants_operator(const void *filter, const struct osc_chunk *c, uint32_t i)
{
    return osc_filter_wants(filter, c, i);
}

static osc_status measure_rest(const struct osc_trace *t, const struct osc_selection *rest,
                               struct osc_step_bound *bounds, struct osc_err *err)
{
    struct osc_filter filter;
    struct rest r = {0};
    osc_status st = osc_filter_make(&filter, t, rest, err);

    if (st == OSC_OK)
        st = leave(&r, t, osc_trace_facts(t), &filter);
    if (st == OSC_OK)
        st = osc_step_bounds_measure(&r.t, &r.links, &r.map, r.all, r.n_works);
    if (st == OSC_OK)
        st = osc_step_bounds_mark_empty(
            &r.t,
            &(struct osc_step_operators){&osc_trace_facts(t)->classes, wants_operator, &filter},
            &r.map, r.n_works, r.all);
    for (uint32_t i = 0; i < r.t.n_steps && st == OSC_OK; i++)
        bounds[r.number[i]] = r.all[i];
    rest_fini(&r);
    osc_filter_fini(&filter);
    return st;
}

osc_status osc_selected_steps_bounds(const struct osc_trace *t, const struct osc_selection *s,
                                     struct osc_step_bound **bounds, struct osc_err *err)
{
    const struct osc_step_bounds *const all = &osc_trace_facts(t)->bounds;
    struct osc_selection rest = *s;
    osc_status st = OSC_OK;

    rest.steps = NULL;
    *bounds = osc_calloc((size_t)t->n_steps + 1, sizeof **bounds);
    if (!*bounds)
        return OSC_ENOMEM;
    /* What T carries was found in more than T has. */
    if (osc_selection_is_all(&rest) || t->n_step_bounds > 0)
        memcpy(*bounds, all->of, t->n_steps * sizeof **bounds);
    else
        st = measure_rest(t, &rest, *bounds, err);
    if (st != OSC_OK) {
        osc_free(*bounds);
        *bounds = NULL;
    }
    return st;
}
