/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/part/bystanders.h"

#include <string.h>

#include "base/mem.h"
#include "derive/facts.h"

enum { N_RULES = 2 };

static const uint8_t rules[N_RULES] = {OSC_BYSTANDER_USUAL, OSC_BYSTANDER_TB};

/* A search for bystanders. */
struct search {
    const struct osc_trace *t;
    struct osc_filter rest;                              /* owned */
    struct osc_classing classings[N_RULES];              /* owned */
    struct osc_intervals windows;                        /* owned; merged: when steps run */
    struct osc_intervals sets[N_RULES][OSC_CLASS_COUNT]; /* owned; also outside of windows */
    struct osc_bystander *found;                         /* owned */
    size_t n, cap;
};

static bool wants(const void *ctx, const struct osc_chunk *c, uint32_t i)
{
    return osc_filter_wants(ctx, c, i);
}

bool osc_bystanders_has_comm_kernels(const struct osc_trace *t, const struct osc_filter *rest)
{
    const struct osc_classes *const classes = &osc_trace_facts(t)->classes;

    if (t->has_comm_kernels || !classes->has_device_comm || osc_selection_is_all(rest->s))
        return t->has_comm_kernels || classes->has_device_comm;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows && !osc_filter_skips(rest, c); i++) {
            if (c->kind[i] == OSC_KIND_KERNEL && osc_is_range(classes, c, i) &&
                osc_is_comm_kernel(classes, c, i) && osc_filter_wants(rest, c, i))
                return true;
        }
    }
    return false;
}

/* Set the windows: from the begin of each annotation, which can be before that of its step. */
static osc_status find_windows(struct search *f, const struct osc_trace *view)
{
    for (uint32_t i = 0; i < view->n_step_bounds; i++) {
        const struct osc_step_bound *const b = &view->step_bounds[i];

        if (b->host_ns < b->end_ns)
            osc_intervals_add(&f->windows, b->host_ns, b->end_ns);
    }
    return osc_intervals_merge(&f->windows);
}

/* Add row I of C to the sets of its classes. */
static void add_row(struct search *f, const struct osc_chunk *c, uint32_t i)
{
    for (unsigned r = 0; r < N_RULES; r++) {
        const enum osc_class class = osc_class_of(&f->classings[r], c, i);

        if (class != OSC_CLASS_COUNT)
            osc_intervals_add(&f->sets[r][class], c->ts_ns[i], osc_row_end(c, i));
    }
}

/* Collect the rows that are not in the view. */
static void collect(struct search *f, const uint8_t *wanted, uint8_t in_view)
{
    const int64_t first_ns = f->windows.v[0].start_ns;
    const int64_t last_ns = f->windows.v[f->windows.n - 1].end_ns;

    for (uint32_t k = 1; k < f->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = f->t->events.chunks[k];

        if (c->min_ts_ns >= last_ns || c->max_end_ns <= first_ns)
            continue;
        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->ts_ns[i] < last_ns && osc_row_end(c, i) > first_ns &&
                !(wanted[c->first_row + i] & in_view) && osc_filter_wants(&f->rest, c, i))
                add_row(f, c, i);
        }
    }
}

/* Collect what the trace itself carries. Nobody knows of which thread or device that is, so it
 * counts only if nothing but steps is selected. */
static void collect_carried(struct search *f)
{
    if (!osc_selection_is_all(f->rest.s))
        return;
    for (uint32_t n = 0; n < f->t->n_bystanders; n++) {
        const struct osc_bystander *const b = &f->t->bystanders[n];

        for (unsigned r = 0; r < N_RULES && b->class < OSC_CLASS_COUNT; r++) {
            if (b->rules & rules[r])
                osc_intervals_add(&f->sets[r][b->class], b->start_ns, b->end_ns);
        }
    }
}

static osc_status append(struct search *f, const struct osc_intervals *set, unsigned class,
                         unsigned by)
{
    const osc_status st = osc_grow(&f->found, &f->cap, f->n + set->n, sizeof *f->found);

    for (size_t k = 0; st == OSC_OK && k < set->n; k++)
        f->found[f->n++] = (struct osc_bystander){.start_ns = set->v[k].start_ns,
                                                  .end_ns = set->v[k].end_ns,
                                                  .class = (uint8_t) class,
                                                  .rules = (uint8_t)by};
    return st;
}

static bool are_equal(const struct osc_intervals *a, const struct osc_intervals *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}

/* Append what was collected of CLASS and lies in the windows; what is the same by all rules,
 * once. */
static osc_status append_class(struct search *f, unsigned class)
{
    struct osc_intervals in[N_RULES] = {{0}};
    osc_status st = OSC_OK;

    for (unsigned r = 0; r < N_RULES && st == OSC_OK; r++) {
        st = osc_intervals_merge(&f->sets[r][class]);
        if (st == OSC_OK)
            st = osc_intervals_intersect(&f->sets[r][class], &f->windows, &in[r]);
    }
    if (st == OSC_OK && are_equal(&in[0], &in[1])) {
        st = append(f, &in[0], class, OSC_BYSTANDER_USUAL | OSC_BYSTANDER_TB);
    } else {
        for (unsigned r = 0; r < N_RULES && st == OSC_OK; r++)
            st = append(f, &in[r], class, rules[r]);
    }
    for (unsigned r = 0; r < N_RULES; r++)
        osc_intervals_fini(&in[r]);
    return st;
}

static osc_status make_classings(struct search *f, bool has_comm_kernels)
{
    const struct osc_facts *const facts = osc_trace_facts(f->t);
    osc_wants_row *const of_rest = osc_selection_is_all(f->rest.s) ? NULL : wants;
    osc_status st = OSC_OK;

    for (unsigned r = 0; r < N_RULES && st == OSC_OK; r++) {
        f->classings[r] = (struct osc_classing){.t = f->t,
                                                .c = &facts->classes,
                                                .order = &facts->order,
                                                .compat_tb = rules[r] == OSC_BYSTANDER_TB,
                                                .has_comm_kernels = has_comm_kernels,
                                                .wants = of_rest,
                                                .ctx = &f->rest};
        st = osc_classing_make(&f->classings[r]);
    }
    return st;
}

static void search_fini(struct search *f)
{
    for (unsigned r = 0; r < N_RULES; r++) {
        osc_classing_fini(&f->classings[r]);
        for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
            osc_intervals_fini(&f->sets[r][k]);
    }
    osc_intervals_fini(&f->windows);
    osc_filter_fini(&f->rest);
}

osc_status osc_bystanders_find(const struct osc_trace *base, const struct osc_selection *s,
                               const uint8_t *wanted, uint8_t in_view, struct osc_trace *view)
{
    struct osc_selection rest = *s;
    struct search f = {.t = base};
    struct osc_err err; /* the selection was checked before */

    rest.steps = NULL;
    if (view->n_step_bounds == 0)
        return OSC_OK;
    osc_status st = osc_filter_make(&f.rest, base, &rest, &err);
    if (st == OSC_OK) {
        view->has_comm_kernels = osc_bystanders_has_comm_kernels(base, &f.rest);
        st = make_classings(&f, view->has_comm_kernels);
    }
    if (st == OSC_OK)
        st = find_windows(&f, view);
    if (st == OSC_OK && f.windows.n > 0) {
        collect(&f, wanted, in_view);
        collect_carried(&f);
    }
    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++)
        st = append_class(&f, k);
    search_fini(&f);
    if (st != OSC_OK) {
        osc_free(f.found);
        return st;
    }
    view->bystanders = f.found;
    view->n_bystanders = (uint32_t)f.n;
    return OSC_OK;
}
