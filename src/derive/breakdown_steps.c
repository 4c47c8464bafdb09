/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "derive/facts.h"
#include "derive/steps/outliers.h"

/*
 * Set the steps of B by RULES: when each begins and ends from BOUNDS, or if RULES say so from
 * ANNOTATED, and its number of works from N_WORKS.
 */
static void apply_rules(const struct osc_step *annotated, const struct osc_step_bound *bounds,
                        const uint32_t *n_works, const struct osc_step_rules *rules,
                        struct osc_breakdown *b)
{
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct osc_step_bound *const s = &bounds[i];

        b->steps[i] = (struct osc_step_cost){.start_ns = s->start_ns,
                                             .end_ns = s->end_ns,
                                             .n_works = n_works[i],
                                             .is_behind_device = s->is_behind_device,
                                             .is_tail = s->is_tail,
                                             .is_empty = s->is_empty && !rules->compat_tb};
        b->steps[i].is_kept =
            rules->keeps_all || !(b->steps[i].is_tail || b->steps[i].is_empty);
        if (!rules->is_annotation)
            continue;
        b->steps[i].start_ns = annotated[i].start_ns;
        b->steps[i].end_ns = annotated[i].end_ns;
        b->steps[i].is_behind_device = false;
    }
}

bool osc_priority_parse(const char *text, uint8_t order[OSC_CLASS_COUNT])
{
    static const char *const names[OSC_CLASS_COUNT] = {
#define CLASS_NAME(name, text) text,
        OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
    };
    unsigned n = 0, seen = 0, k;

    while (*text) {
        const size_t len = strcspn(text, ",");

        for (k = 0; k < OSC_CLASS_COUNT; k++) {
            if (strlen(names[k]) == len && memcmp(names[k], text, len) == 0)
                break;
        }
        if (k == OSC_CLASS_COUNT || (seen >> k & 1))
            return false;
        seen |= 1u << k;
        order[n++] = (uint8_t)k;
        text += len;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    for (k = 0; k < OSC_CLASS_COUNT; k++) {
        if (!(seen >> k & 1))
            order[n++] = (uint8_t)k;
    }
    return true;
}

/* Store as cost KIND of each step how much of it lies in SET. */
static osc_status measure(struct osc_breakdown *b, unsigned kind,
                          const struct osc_intervals *set)
{
    struct osc_ruler ruler = {0};
    const osc_status st = osc_ruler_init(&ruler, set);

    for (uint32_t i = 0; st == OSC_OK && i < b->n_steps; i++)
        b->steps[i].cost_ns[kind] =
            osc_ruler_length(&ruler, b->steps[i].start_ns, b->steps[i].end_ns);
    osc_ruler_fini(&ruler);
    return st;
}

/* The costs of S are the free time before each class in ORDER, and after the last one. Make
 * them the differences, which belong to these classes. */
static void make_costs(struct osc_step_cost *s, const uint8_t *order)
{
    int64_t free_ns[OSC_COST_COUNT];

    memcpy(free_ns, s->cost_ns, sizeof free_ns);
    for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
        s->cost_ns[order[k]] = free_ns[k] - free_ns[k + 1];
    s->cost_ns[OSC_COST_OTHER] = free_ns[OSC_CLASS_COUNT];
}

/* Each class, in turn as ORDER has them, gets the free time that it covers. */
static osc_status share_out(struct osc_breakdown *b, const struct osc_unions *u,
                            const uint8_t *order)
{
    struct osc_intervals free_time = {0}, rest = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].start_ns < b->steps[i].end_ns)
            osc_intervals_add(&free_time, b->steps[i].start_ns, b->steps[i].end_ns);
    }
    st = osc_intervals_merge(&free_time);
    if (st == OSC_OK)
        st = measure(b, 0, &free_time);
    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++) {
        const struct osc_intervals *const of = &u->of[order[k]];

        if (of->n == 0) {
            for (uint32_t i = 0; i < b->n_steps; i++)
                b->steps[i].cost_ns[k + 1] = b->steps[i].cost_ns[k];
            continue;
        }
        st = osc_intervals_subtract(&free_time, of, &rest);
        const struct osc_intervals swap = free_time;
        free_time = rest;
        rest = swap; /* to reuse its memory */
        if (st == OSC_OK)
            st = measure(b, k + 1, &free_time);
    }
    osc_intervals_fini(&free_time);
    osc_intervals_fini(&rest);
    for (uint32_t i = 0; i < b->n_steps; i++)
        make_costs(&b->steps[i], order);
    return st;
}

/* Find how much of the kept steps each class covers, for itself. */
static osc_status measure_gross(struct osc_breakdown *b, const struct osc_unions *u)
{
    osc_status st = OSC_OK;

    for (unsigned k = 0; k < OSC_CLASS_COUNT && st == OSC_OK; k++) {
        struct osc_ruler ruler = {0};

        st = osc_ruler_init(&ruler, &u->of[k]);
        for (uint32_t i = 0; st == OSC_OK && i < b->n_steps; i++) {
            if (b->steps[i].is_kept)
                b->gross_ns[k] +=
                    osc_ruler_length(&ruler, b->steps[i].start_ns, b->steps[i].end_ns);
        }
        osc_ruler_fini(&ruler);
    }
    return st;
}

/* Mark kept steps that are far from the others. */
static osc_status mark_outliers(struct osc_breakdown *b)
{
    int64_t *const v = osc_malloc(((size_t)b->n_steps + 1) * sizeof *v);
    bool *const is_far = osc_malloc((size_t)b->n_steps + 1);
    osc_status st = v && is_far ? OSC_OK : OSC_ENOMEM;
    struct osc_step_kinds kinds;
    size_t n = 0;

    if (st != OSC_OK)
        goto out;
    for (uint32_t i = 0; i < b->n_steps; i++)
        if (b->steps[i].is_kept)
            v[n++] = b->steps[i].end_ns - b->steps[i].start_ns;
    b->n_kept = (uint32_t)n;
    st = osc_outliers_find(v, n, is_far, &kinds);
    if (st != OSC_OK)
        goto out;
    for (uint32_t i = 0, kept = 0; i < b->n_steps; i++)
        b->steps[i].is_outlier = b->steps[i].is_kept && is_far[kept++];
    b->median_twice_ns = kinds.all_median_twice_ns;
out:
    osc_free(v);
    osc_free(is_far);
    return st;
}

static void find_window(struct osc_breakdown *b)
{
    bool is_first = true;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (!b->steps[i].is_kept)
            continue;
        if (is_first || b->steps[i].start_ns < b->window_start_ns)
            b->window_start_ns = b->steps[i].start_ns;
        if (is_first || b->steps[i].end_ns > b->window_end_ns)
            b->window_end_ns = b->steps[i].end_ns;
        is_first = false;
    }
}

/* The plugin knows no iterations, and no steps without operators: all operators of T count as
 * one step. */
static osc_status extend_whole(const struct osc_trace *t, const struct osc_facts *f,
                               const struct osc_step_rules *rules, struct osc_breakdown *b)
{
    struct osc_trace one = *t;
    struct osc_step_bound bound;
    uint32_t first = 0, n_works = 0;

    b->is_whole = true;
    b->n_steps = osc_steps_whole(t, &f->classes, &b->whole);
    one.steps = &b->whole;
    one.n_steps = b->n_steps;
    const struct osc_step_map map = {
        .steps = &first, .latest_ns = &b->whole.end_ns, .n = b->n_steps};
    if (b->n_steps == 0)
        return OSC_OK;
    const osc_status st = osc_step_bounds_measure(&one, &f->links, &map, &bound, &n_works);
    if (st == OSC_OK)
        apply_rules(&b->whole, &bound, &n_works, rules, b);
    return st;
}

osc_status osc_breakdown_make(const struct osc_trace *t, const struct osc_step_rules *rules,
                              unsigned n_threads, struct osc_breakdown *b)
{
    const struct osc_facts *const f = osc_trace_facts(t);
    const bool is_one = rules->compat_tb && (t->has_iterations || f->step_map.is_of_work);
    struct osc_unions compat = {0};
    const struct osc_unions *const unions = rules->compat_tb ? &compat : &f->unions;
    uint8_t order[OSC_CLASS_COUNT];
    osc_status st = OSC_EINVAL;

    *b = (struct osc_breakdown){.n_steps = t->n_steps};
    if (osc_priority_parse(rules->priority ? rules->priority : "", order)) {
        b->steps = osc_calloc((size_t)t->n_steps + 1, sizeof *b->steps);
        st = b->steps ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK && is_one)
        st = extend_whole(t, f, rules, b);
    else if (st == OSC_OK)
        apply_rules(t->steps, f->bounds.of, f->bounds.n_works, rules, b);
    if (st == OSC_OK && rules->compat_tb)
        st = osc_unions_make(t, &f->classes, &f->order, true, n_threads, &compat);
    if (st == OSC_OK)
        st = share_out(b, unions, order);
    if (st == OSC_OK)
        st = measure_gross(b, unions);
    if (st == OSC_OK)
        st = mark_outliers(b);
    if (st == OSC_OK)
        find_window(b);
    osc_unions_fini(&compat);
    if (st != OSC_OK)
        osc_breakdown_fini(b);
    return st;
}

const char *osc_breakdown_why_none(bool has_steps)
{
    return has_steps
               ? "no selected step is kept: they are the last ones, whose device work may not "
                 "all have been recorded, or which hold no operator; the table steps has them, "
                 "and overview, "
                 "devices and ranks count them with --all-steps"
               : "no steps, and no operators or device work that could count as one";
}

const char *osc_breakdown_what_counts(bool is_of_work)
{
    return is_of_work ? "from the first to the last operator, `python` range, device work or "
                        "call of a runtime"
                      : "from the first to the last operator or `python` range";
}

void osc_breakdown_fini(struct osc_breakdown *b)
{
    osc_free(b->steps);
    *b = (struct osc_breakdown){0};
}

osc_status osc_breakdown_get(const struct osc_trace *t, const struct osc_step_rules *rules,
                             unsigned n_threads, struct osc_breakdown *own,
                             const struct osc_breakdown **b)
{
    const bool is_own =
        rules->compat_tb || rules->is_annotation || rules->keeps_all || rules->priority;

    *b = is_own ? own : &osc_trace_facts(t)->breakdown;
    return is_own ? osc_breakdown_make(t, rules, n_threads, own) : OSC_OK;
}
