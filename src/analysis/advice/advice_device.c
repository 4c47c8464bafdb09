/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

#include "analysis/advice/idle.h"

#include <stdio.h>

#include "analysis/growth.h"
#include "analysis/median.h"
#include "base/mem.h"

/* Whether PART is more than 1 / N of the kept steps. */
static bool is_much(const struct osc_advice_base *a, int64_t part, int64_t n)
{
    return part > a->kept_ns / n;
}

static struct osc_str name_of(const struct osc_advice_base *a, osc_sid name)
{
    return osc_trace_str(a->t, name);
}

static osc_status check_pageable(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    const struct osc_links *const links = &a->f->links;
    const struct osc_intervals *const of = a->f->unions.of;
    struct osc_intervals copies = {0}, kernels = {0};
    osc_status st;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] != OSC_KIND_MEMCPY || !osc_advice_is_pageable(a, c, i))
            continue;
        item->count += osc_advice_is_kept(a, c, i);
        osc_intervals_add(&copies, c->ts_ns[i], osc_row_end(c, i));
    }
    osc_intervals_concat(&kernels, &of[OSC_CLASS_KERNEL]);
    if (a->f->classes.has_device_comm || a->t->has_comm_kernels)
        osc_intervals_concat(&kernels, &of[OSC_CLASS_COMMUNICATION]);
    st = osc_intervals_merge(&kernels);
    if (st == OSC_OK)
        st = osc_advice_stake(a, &copies, &kernels, &item->impact_ns);
    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->applies = item->count > 0 && is_much(a, item->impact_ns, 100);
    osc_intervals_fini(&copies);
    osc_intervals_fini(&kernels);
    return st;
}

/* The lower median of V, which is reordered. N is not 0. */
static int64_t lower_median(int64_t *v, size_t n)
{
    return osc_select_kth(v, n, (n - 1) / 2);
}

static osc_status check_allocator(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    const struct osc_links *const links = &a->f->links;
    struct osc_intervals calls = {0};
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_calls && st == OSC_OK; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        /* A call that takes so long sets up a library. */
        if (!(a->f->classes.names[c->name[i]] & OSC_NAME_ALLOCATOR) ||
            c->dur_ns[i] >= OSC_SET_UP_NS || !osc_advice_is_kept(a, c, i))
            continue;
        item->count++;
        osc_intervals_add(&calls, c->ts_ns[i], osc_row_end(c, i));
        st = osc_name_sums_add(&item->names, (osc_sid){c->name[i]}, c->dur_ns[i]);
    }
    if (st == OSC_OK)
        st = osc_advice_stake(a, &calls, NULL, &item->impact_ns);
    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->subject = name_of(a, osc_name_sums_top(&item->names).name);
    item->applies = item->count > 0 && is_much(a, item->impact_ns, 100);
    osc_intervals_fini(&calls);
    return st;
}

/* The median length of the kept steps, rounded down. */
static int64_t median_of_steps(const struct osc_breakdown *b, int64_t *lengths)
{
    size_t n = 0;

    for (uint32_t i = 0; i < b->n_steps; i++) {
        if (b->steps[i].is_kept)
            lengths[n++] = b->steps[i].end_ns - b->steps[i].start_ns;
    }
    const int64_t low = lower_median(lengths, n), high = osc_select_kth(lengths, n, n / 2);

    return low + (high - low) / 2;
}

/* The name of step I for --steps: its label, or its ordinal if several steps have the
 * label. */
static struct osc_str step_name(const struct osc_advice_base *a, uint32_t i,
                                struct osc_arena *arena)
{
    const struct osc_trace *const t = a->t;
    uint32_t n_same = 0;
    char text[16];

    for (uint32_t k = 0; k < t->n_steps; k++)
        n_same += t->steps[k].label.v == t->steps[i].label.v;
    if (n_same < 2)
        return name_of(a, t->steps[i].label);
    const int len = snprintf(text, sizeof text, "@%u", t->steps[i].ordinal);
    const char *const copy = osc_arena_dup(arena, text, (size_t)len);
    return copy ? (struct osc_str){copy, (uint32_t)len} : (struct osc_str){0};
}

/* The time at stake of step I, which is longer by EXCESS_NS: what no cause of its own has. */
static int64_t stake_of(const struct osc_advice_base *a, uint32_t i, int64_t excess_ns)
{
    const int64_t *const cost_ns = a->b->steps[i].cost_ns;
    const int64_t work_ns = cost_ns[OSC_CLASS_KERNEL] + cost_ns[OSC_CLASS_MEMSET];

    if (a->split.steps)
        return a->split.steps[i].ns[OSC_CAUSE_SLOW];
    return a->has_works && work_ns < excess_ns ? work_ns : excess_ns;
}

static osc_status check_slow_steps(const struct osc_advice_base *a, struct osc_arena *arena,
                                   struct osc_advice_item *item)
{
    const struct osc_breakdown *const b = a->b;
    struct osc_growth *growth = osc_calloc((size_t)b->n_steps + 1, sizeof *growth);
    int64_t *lengths = osc_malloc(((size_t)b->n_steps + 1) * sizeof *lengths);
    osc_status st = growth && lengths ? osc_growth_find(a->t, b, growth) : OSC_ENOMEM;
    uint32_t slowest = 0;

    if (st == OSC_OK)
        item->facts.median_ns = median_of_steps(b, lengths);
    for (uint32_t i = 0; i < b->n_steps && st == OSC_OK; i++) {
        const int64_t length_ns = b->steps[i].end_ns - b->steps[i].start_ns;
        const int64_t excess_ns = length_ns - item->facts.median_ns;

        if (!b->steps[i].is_outlier || excess_ns <= 0)
            continue;
        item->count++;
        item->part += a->split.steps ? a->split.steps[i].ns[OSC_CAUSE_SLOW] : excess_ns;
        item->impact_ns += stake_of(a, i, excess_ns);
        if (excess_ns <= item->facts.excess_ns)
            continue;
        slowest = i;
        item->grew = osc_growth_name(a->t, &growth[i]);
        item->facts.excess_ns = excess_ns;
        item->facts.grew_ns = growth[i].half_ns / 2;
        item->facts.is_on_device = growth[i].is_device;
    }
    item->whole = a->kept_ns;
    item->applies = item->count > 0 && is_much(a, item->part, 20);
    if (item->applies) {
        item->subject = step_name(a, slowest, arena);
        st = item->subject.s ? st : OSC_ENOMEM;
    }
    osc_free(growth);
    osc_free(lengths);
    return st;
}

osc_status osc_advice_device_rules(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    osc_status st = OSC_OK;

    if (a->has_works)
        st = check_pageable(a, &l->of[OSC_ADVICE_PAGEABLE_COPIES]);
    if (st == OSC_OK && a->has_works)
        st = osc_advice_device_copies(a, &l->of[OSC_ADVICE_DEVICE_COPIES]);
    if (!a->has_works)
        st = check_allocator(a, &l->of[OSC_ADVICE_ALLOCATOR]);
    if (st == OSC_OK)
        st = check_slow_steps(a, &l->arena, &l->of[OSC_ADVICE_SLOW_STEPS]);
    return st;
}

void osc_advice_list_fini(struct osc_advice_list *l)
{
    for (unsigned k = 0; k < OSC_ADVICE_COUNT; k++)
        osc_name_sums_fini(&l->of[k].names);
    osc_arena_fini(&l->arena);
}
