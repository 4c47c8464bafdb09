/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for traces of the host alone. What they measure is in the split (split.h), so that no
 * two of them have the same time. Most ask what more than half of the steps do: one step that
 * the system disturbed says nothing about the program.
 */
#include "analysis/advice/advice_list.h"

#include <stddef.h>

#include "base/wide.h"
#include "model/producer.h"

/* From so many operators on, a step is one of a model. */
enum { OPERATORS_ENOUGH = 8, SYNCS_MANY = 8, CHAINED_MANY = 4, UPDATES_MANY = 32 };

/* Whether NS is more than PERCENT of LENGTH_NS. */
static bool is_above(int64_t ns, int64_t percent, int64_t length_ns)
{
    return (osc_wide)ns * 100 > (osc_wide)length_ns * percent;
}

/* One kept step. */
struct one {
    const struct osc_split_step *s;
    int64_t length_ns;
};

static bool has_syncs(const struct one *o)
{
    return o->s->n_in_loops >= SYNCS_MANY ||
           is_above(o->s->ns[OSC_CAUSE_SYNC], 5, o->length_ns);
}

static bool has_copies(const struct one *o)
{
    const int64_t ns = o->s->ns[OSC_CAUSE_COPY];

    return is_above(ns, 20, o->length_ns) ||
           (o->s->n_chained >= CHAINED_MANY && is_above(ns, 2, o->length_ns));
}

static bool has_doubles(const struct one *o)
{
    return is_above(o->s->ns[OSC_CAUSE_DOUBLE], 10, o->length_ns);
}

static bool has_slow_convs(const struct one *o)
{
    return is_above(o->s->ns[OSC_CAUSE_SLOW_CONV], 10, o->length_ns);
}

static bool has_tiny(const struct one *o)
{
    return is_above(o->s->ns[OSC_CAUSE_TINY], 5, o->length_ns);
}

/* If the program chose one tensor at a time, that can be changed; by default it is what torch
 * does for such tensors, and only worth a word where it takes much of the time. */
static bool has_single_tensor(const struct one *o)
{
    const int64_t ns = o->s->ns[OSC_CAUSE_OPTIMIZER];

    if (o->s->has_single && !o->s->has_default)
        return is_above(ns, 5, o->length_ns);
    return !o->s->has_foreach && o->s->n_in_optimizer >= UPDATES_MANY &&
           is_above(ns, 20, o->length_ns);
}

static bool has_python(const struct one *o)
{
    const int64_t ns =
        o->s->ns[OSC_CAUSE_PYTHON] + o->s->ns[OSC_CAUSE_NOTED] + o->s->ns[OSC_CAUSE_OTHER];

    return o->s->n_operators >= OPERATORS_ENOUGH && o->s->n_frames > 0 &&
           (is_above(ns, 30, o->length_ns) ||
            (is_above(ns, 15, o->length_ns) && is_above(o->s->longest_ns, 8, o->length_ns)));
}

static bool has_unrecorded(const struct one *o)
{
    return o->s->n_operators >= OPERATORS_ENOUGH && o->s->n_frames == 0 &&
           is_above(o->s->ns[OSC_CAUSE_OTHER], 20, o->length_ns);
}

/* A rule about causes. */
static const struct rule {
    enum osc_advice_code code;
    bool (*has)(const struct one *o); /* a step has what the rule is about */
    unsigned causes;                  /* bits: whose time is at stake */
    size_t sums;                      /* member of osc_split with the names; 0: none */
    size_t count;                     /* member of osc_split_step that is counted; 0: steps */
} rules[] = {
#define STEP_MEMBER(m) offsetof(struct osc_split_step, m)
#define SUMS(m)        offsetof(struct osc_split, m)
    {OSC_ADVICE_HOST_SYNC, has_syncs, 1u << OSC_CAUSE_SYNC, SUMS(syncs), STEP_MEMBER(n_syncs)},
    {OSC_ADVICE_COPIES, has_copies, 1u << OSC_CAUSE_COPY, SUMS(copies), STEP_MEMBER(n_copies)},
    {OSC_ADVICE_FLOAT64, has_doubles, 1u << OSC_CAUSE_DOUBLE, SUMS(doubles),
     STEP_MEMBER(n_doubles)},
    {OSC_ADVICE_SLOW_CONVOLUTION, has_slow_convs, 1u << OSC_CAUSE_SLOW_CONV, SUMS(slow_convs),
     STEP_MEMBER(n_slow_convs)},
    {OSC_ADVICE_TINY_OPERATORS, has_tiny, 1u << OSC_CAUSE_TINY, SUMS(tiny),
     STEP_MEMBER(n_tiny)},
    {OSC_ADVICE_SINGLE_TENSOR, has_single_tensor, 1u << OSC_CAUSE_OPTIMIZER, SUMS(optimizers),
     0},
    {OSC_ADVICE_PYTHON, has_python,
     1u << OSC_CAUSE_PYTHON | 1u << OSC_CAUSE_NOTED | 1u << OSC_CAUSE_OTHER, SUMS(functions),
     0},
    {OSC_ADVICE_UNRECORDED, has_unrecorded, 1u << OSC_CAUSE_OTHER, 0, 0},
};

static const struct osc_name_sums *sums_of(const struct osc_split *s, const struct rule *r)
{
    return (const struct osc_name_sums *)(const void *)((const char *)s + r->sums);
}

static int64_t count_of(const struct osc_split_step *s, const struct rule *r)
{
    return *(const uint32_t *)(const void *)((const char *)s + r->count);
}

static osc_status check(const struct osc_advice_base *a, const struct rule *r,
                        struct osc_advice_item *item)
{
    /* Others draw pools, not threads. */
    const bool has_threads = a->t->is_torch || a->t->producer == OSC_PRODUCER_OPSCOPE;
    int64_t n_steps = 0;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < a->b->n_steps; i++) {
        const struct one o = {&a->split.steps[i],
                              a->b->steps[i].end_ns - a->b->steps[i].start_ns};

        if (!a->b->steps[i].is_kept || (r->code == OSC_ADVICE_UNRECORDED && !has_threads))
            continue;
        n_steps += r->has(&o);
        for (unsigned k = 0; k < OSC_CAUSE_COUNT; k++)
            item->impact_ns += r->causes & 1u << k ? o.s->ns[k] : 0;
        item->count += r->count ? count_of(o.s, r) : 0;
        item->facts.n_chained += o.s->n_chained;
        item->facts.n_asked += o.s->has_single && !o.s->has_default;
    }
    item->facts.n_steps = a->b->n_kept;
    item->count = r->count ? item->count : n_steps;
    item->part = item->impact_ns;
    item->whole = a->total_ns;
    item->applies = 2 * n_steps > (int64_t)a->b->n_kept;
    if (!item->applies || r->sums == 0)
        return OSC_OK;
    const struct osc_name_sums *const sums = sums_of(&a->split, r);
    const struct osc_name_sum top = osc_name_sums_top(sums);
    item->applies =
        sums->n > 0 || r->code == OSC_ADVICE_PYTHON || r->code == OSC_ADVICE_TINY_OPERATORS;
    if (r->code == OSC_ADVICE_PYTHON) {
        item->subject = osc_intern_str(&a->split.function_names, top.name);
        item->facts.most_ns = top.ns;
        return OSC_OK;
    }
    item->subject = osc_trace_str(a->t, top.name);
    for (size_t k = 0; k < sums->n && st == OSC_OK; k++)
        st = osc_name_sums_add(&item->names, sums->v[k].name, sums->v[k].ns);
    return st;
}

osc_status osc_advice_host_rules(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    osc_status st = OSC_OK;

    for (size_t k = 0; k < sizeof rules / sizeof *rules && st == OSC_OK; k++)
        st = check(a, &rules[k], &l->of[rules[k].code]);
    return st == OSC_OK ? osc_advice_memory_growth(a, &l->of[OSC_ADVICE_MEMORY_GROWTH]) : st;
}
