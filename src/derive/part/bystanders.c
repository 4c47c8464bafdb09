/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/part/bystanders.h"

#include <string.h>

#include "base/mem.h"
#include "derive/args.h"
#include "derive/facts.h"

enum { USUAL, TB, N_RULES };

static const uint8_t rules[N_RULES] = {[USUAL] = OSC_BYSTANDER_USUAL, [TB] = OSC_BYSTANDER_TB};

/* A search for bystanders. */
struct search {
    const struct osc_trace *t;
    struct osc_filter rest;                              /* owned */
    struct osc_classing classings[N_RULES];              /* owned */
    struct osc_intervals windows;                        /* owned; merged: when steps run */
    struct osc_intervals sets[N_RULES][OSC_CLASS_COUNT]; /* owned; also outside of windows */
    struct osc_bystander *found;                         /* owned */
    size_t n, cap;
    struct osc_idmap named; /* owned; external ids in the list below */
    int64_t *collectives; /* owned; of kernels in the view that belong to one of the plugin's */
    size_t n_collectives, cap_collectives;
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

/* List the external id of row I of C, which is in the view, if that is a kernel of one of the
 * plugin's collectives: the call of that may be in another step. */
static osc_status list_collective(struct search *f, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_classing *const k = &f->classings[TB];
    const int64_t id =
        c->kind[i] == OSC_KIND_KERNEL && osc_class_of(k, c, i) == OSC_CLASS_COMMUNICATION
            ? osc_args_external_id(f->t, c, i)
            : 0;

    if (id == 0 || osc_idmap_get(&f->named, (uint64_t)id) != 0)
        return OSC_OK;
    uint32_t *const place = osc_idmap_put(&f->named, (uint64_t)id);
    if (!place || osc_grow(&f->collectives, &f->cap_collectives, f->n_collectives + 1,
                           sizeof *f->collectives) != OSC_OK)
        return OSC_ENOMEM;
    *place = 1;
    f->collectives[f->n_collectives++] = id;
    return OSC_OK;
}

/* Collect the rows that are not in the view, and the collectives of those that are. */
static osc_status collect(struct search *f, const uint8_t *wanted, uint8_t in_view)
{
    osc_status st = OSC_OK;
    const int64_t first_ns = f->windows.v[0].start_ns;
    const int64_t last_ns = f->windows.v[f->windows.n - 1].end_ns;

    for (uint32_t k = 1; k < f->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = f->t->events.chunks[k];

        if (c->min_ts_ns >= last_ns || c->max_end_ns <= first_ns)
            continue;
        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            if (c->ts_ns[i] >= last_ns || osc_row_end(c, i) <= first_ns)
                continue;
            if (wanted[c->first_row + i] & in_view)
                st = list_collective(f, c, i);
            else if (osc_filter_wants(&f->rest, c, i))
                add_row(f, c, i);
        }
    }
    return st;
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
    osc_idmap_fini(&f->named);
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
        st = collect(&f, wanted, in_view);
        collect_carried(&f);
    }
    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++)
        st = append_class(&f, k);
    search_fini(&f);
    if (st != OSC_OK) {
        osc_free(f.found);
        osc_free(f.collectives);
        return st;
    }
    view->collectives = f.collectives;
    view->n_collectives = (uint32_t)f.n_collectives;
    view->bystanders = f.found;
    view->n_bystanders = (uint32_t)f.n;
    return OSC_OK;
}
