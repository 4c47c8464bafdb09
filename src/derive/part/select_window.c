/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/part/select_window.h"

#include "base/mem.h"
#include "base/wide.h"
#include "derive/facts.h"
#include "derive/part/bystanders.h"
#include "derive/part/selected_steps.h"

/*
 * Narrow W to all selected steps, and to steps that are running when the first of them begins:
 * rows that both contain belong to the earlier one.
 */
static void narrow_to_steps(const struct osc_filter *f, struct osc_select_window *w)
{
    const struct osc_trace *const t = f->t;
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;

    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (!f->has_step[i])
            continue;
        from_ns = t->steps[i].start_ns < from_ns ? t->steps[i].start_ns : from_ns;
        to_ns = t->steps[i].end_ns > to_ns ? t->steps[i].end_ns : to_ns;
    }
    w->from_ns = from_ns;
    for (uint32_t i = 0; i < t->n_steps && t->steps[i].start_ns < from_ns; i++) {
        if (t->steps[i].end_ns > from_ns && t->steps[i].start_ns < w->from_ns)
            w->from_ns = t->steps[i].start_ns;
    }
    w->host_to_ns = to_ns;
}

/*
 * Whether the call of all device work of T, which lacks operators, is known. Work without an id
 * may be that of an operator from which an arrow leads to it.
 */
static bool has_all_calls(const struct osc_trace *t)
{
    const struct osc_links *const l = &osc_trace_facts(t)->links;
    int64_t id;

    for (size_t n = 0; n < l->n_works && t->others.n_rows > 0; n++) {
        const osc_row row = {l->works[n].row};

        if (l->works[n].call == 0 &&
            !osc_row_arg_int(t, osc_chunk_of(&t->events, row), osc_row_place(row),
                             OSC_ARG_KEY_CORRELATION, &id))
            return false;
    }
    return true;
}

/* Whether ends are records of their own: they end any of the ranges that T lacks. */
static bool has_ends(const struct osc_trace *t)
{
    for (uint32_t k = 1; k < t->others.n_chunks; k++) {
        const struct osc_chunk *const c = t->others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (t->forms[c->form[i]].shape == OSC_SHAPE_END)
                return true;
        }
    }
    return false;
}

/* Store in W whether T has communication on devices in S without its steps. */
static osc_status find_comm_kernels(const struct osc_trace *t, const struct osc_selection *s,
                                    struct osc_select_window *w, struct osc_err *err)
{
    struct osc_selection rest = *s;
    struct osc_filter f;

    rest.steps = NULL;
    const osc_status st = osc_filter_make(&f, t, &rest, err);
    if (st == OSC_OK)
        w->has_comm_kernels = osc_bystanders_has_comm_kernels(t, &f);
    osc_filter_fini(&f);
    return st;
}

/* Store the bounds of all steps in W, the window of the steps that F selects, and widen it up
 * to the last end of these. */
static osc_status keep_bounds(const struct osc_filter *f, struct osc_select_window *w,
                              struct osc_err *err)
{
    const struct osc_trace *const t = f->t;
    osc_status st = osc_selected_steps_bounds(t, f->s, &w->bounds, err);

    if (st == OSC_OK)
        st = find_comm_kernels(t, f->s, w, err);
    if (st != OSC_OK)
        return st;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (f->has_step[i] && w->bounds[i].end_ns > w->host_to_ns)
            w->host_to_ns = w->bounds[i].end_ns;
    }
    w->n_bounds = t->n_steps;
    return OSC_OK;
}

/* Whether loading leaves out step I of T, which starts before W. It keeps ranges whose end is a
 * record of its own (osc_keep_wants()). */
static bool is_left_out(const struct osc_trace *t, uint32_t i,
                        const struct osc_select_window *w)
{
    const struct osc_step *const s = &t->steps[i];

    if (s->row.v == 0 || s->start_ns >= w->from_ns)
        return false;
    return osc_row_form(t, osc_chunk_of(&t->events, s->row), osc_row_place(s->row))->shape ==
           OSC_SHAPE_RANGE;
}

/* Whether a step of T, which lacks operators, may be empty that F selects. */
static bool may_be_empty(const struct osc_filter *f)
{
    const struct osc_facts *const facts = osc_trace_facts(f->t);

    return osc_step_bounds_need_operators(&facts->step_map, facts->bounds.n_works, f->has_step);
}

osc_status osc_select_find_window(struct osc_trace *t, const struct osc_selection *s,
                                  struct osc_select_window *w, bool *is_sure,
                                  struct osc_err *err)
{
    struct osc_filter f = {.t = t, .s = s};

    *w = (struct osc_select_window){.from_ns = INT64_MIN,
                                    .host_to_ns = INT64_MAX,
                                    .device_to_ns = INT64_MAX,
                                    .has_steps = t->has_steps};
    *is_sure = true;
    if (s->has_from)
        w->from_ns = osc_wide_nearest((osc_wide)t->origin_ns + s->from_ns);
    if (s->has_to)
        w->host_to_ns = w->device_to_ns = osc_wide_nearest((osc_wide)t->origin_ns + s->to_ns);
    osc_status st = osc_derive(t, OSC_FACT_STEPS | (s->steps ? OSC_FACT_SELECTION : 0), 1, err);
    /* Without steps the whole trace is one step, unless it is empty. */
    if (st == OSC_OK && t->n_steps > 0)
        st = osc_filter_choose_steps(&f, err);
    if (st == OSC_OK && f.has_step)
        narrow_to_steps(&f, w);
    for (uint32_t i = 0; st == OSC_OK && i < t->n_steps; i++)
        w->n_steps_before += is_left_out(t, i, w);
    /* Threads without calls are not in T. */
    if (st == OSC_OK && f.has_step)
        *is_sure =
            !s->process && !s->thread && !has_ends(t) && has_all_calls(t) && !may_be_empty(&f);
    if (st == OSC_OK && f.has_step && *is_sure)
        st = keep_bounds(&f, w, err);
    if (st == OSC_EINVAL && *is_sure && f.has_step) {
        /* T may lack what is asked for, such as a device that has only memory. */
        *is_sure = false;
        st = OSC_OK;
    }
    osc_free(f.has_step);
    if (st != OSC_OK)
        osc_select_window_fini(w);
    return st;
}

void osc_select_window_fini(struct osc_select_window *w)
{
    osc_free(w->bounds);
    w->bounds = NULL;
    w->n_bounds = 0;
}
