/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

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

/* The name of the operator that launched the work that ended GAP, or of the work itself. */
static osc_sid who_ended(const struct osc_advice_base *a, const struct osc_gap *gap)
{
    if (gap->work == 0)
        return (osc_sid){0};
    const struct osc_work *const work = &a->f->links.works[gap->work - 1];
    const osc_sid caller = osc_advice_operator_of(a, work->call);
    const osc_row row = {work->row};

    if (caller.v != 0)
        return caller;
    return (osc_sid){osc_chunk_of(&a->t->events, row)->name[osc_row_place(row)]};
}

/* What the host did in the gaps, by cost class; host classes come after those of devices. */
static void share_gaps(const struct osc_advice_base *a, int64_t *more)
{
    more[0] = a->cost_ns[OSC_CLASS_DATALOADER];
    more[1] = a->cost_ns[OSC_CLASS_RUNTIME];
    more[2] = a->cost_ns[OSC_CLASS_CPU_EXEC];
    more[3] = a->cost_ns[OSC_COST_OTHER];
    if (!a->f->classes.has_device_comm)
        more[2] += a->cost_ns[OSC_CLASS_COMMUNICATION];
}

static osc_status check_gaps(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    struct osc_name_sums enders = {0};
    osc_status st = OSC_OK;

    for (size_t g = 0; g < a->n_gaps && st == OSC_OK; g++) {
        const struct osc_gap *const gap = &a->gaps[g];
        const osc_sid ender = who_ended(a, gap);
        const int64_t ns = gap->end_ns - gap->start_ns;

        if (ns > item->to_ns - item->from_ns) {
            item->from_ns = gap->start_ns;
            item->to_ns = gap->end_ns;
        }
        st = osc_name_sums_add(&enders, ender, ns);
    }
    item->impact_ns = item->part = a->gaps_ns;
    item->whole = a->kept_ns;
    item->count = (int64_t)a->n_gaps;
    item->subject = name_of(a, osc_name_sums_top(&enders).name);
    share_gaps(a, item->more);
    /* Devices that did nothing in any step were not waiting. */
    item->applies = is_much(a, a->gaps_ns, 10) && a->gaps_ns < a->kept_ns;
    osc_name_sums_fini(&enders);
    return st;
}

/* Whether row I of C copies from memory that the device cannot read directly. */
static bool is_copy(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i,
                    struct osc_str way)
{
    return c->kind[i] == OSC_KIND_MEMCPY && osc_str_has(osc_row_name(a->t, c, i), way);
}

/* Gaps that began while the host waited, so that it could not launch ahead of the device. */
static osc_status check_syncs(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    const struct osc_links *const links = &a->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_calls && st == OSC_OK; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (!a->is_sync[n] || !osc_advice_is_kept(a, c, i))
            continue;
        item->count++;
        item->more[0] += c->dur_ns[i];
        if (a->f->classes.names[c->name[i]] & OSC_NAME_SYNC)
            st = osc_name_sums_add(&item->names, (osc_sid){c->name[i]}, c->dur_ns[i]);
        else
            item->has_copies = true;
    }
    for (size_t g = 0; g < a->n_gaps; g++)
        item->impact_ns += a->gaps[g].is_sync ? a->gaps[g].end_ns - a->gaps[g].start_ns : 0;
    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->subject = name_of(a, osc_name_sums_top(&item->names).name);
    item->applies = item->count > 0 && is_much(a, item->impact_ns, 20);
    return st;
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

        if (!is_copy(a, c, i, OSC_STR("(Pageable -> Device)")))
            continue;
        item->count += osc_advice_is_kept(a, c, i);
        osc_intervals_add(&copies, c->ts_ns[i], osc_row_end(c, i));
    }
    osc_intervals_concat(&kernels, &of[OSC_CLASS_KERNEL]);
    if (a->f->classes.has_device_comm)
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

/*
 * Collect the durations of the kernels of the kept steps and of their launches. Communication
 * is left out because it waits for others, graphs because one launch starts many kernels.
 */
static size_t collect_launches(const struct osc_advice_base *a, int64_t *kernels,
                               int64_t *calls)
{
    const struct osc_links *const links = &a->f->links;
    size_t n_kernels = 0;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] != OSC_KIND_KERNEL || links->works[n].call == 0 ||
            osc_is_comm_kernel(&a->f->classes, c, i) || !osc_advice_is_kept(a, c, i))
            continue;
        const osc_row call = {links->calls[links->works[n].call - 1].row};
        const struct osc_chunk *const k = osc_chunk_of(&a->t->events, call);
        if (a->f->classes.names[k->name[osc_row_place(call)]] & OSC_NAME_GRAPH)
            continue;
        kernels[n_kernels] = c->dur_ns[i];
        calls[n_kernels++] = k->dur_ns[osc_row_place(call)];
    }
    return n_kernels;
}

/* Sum the gaps ended by a kernel while the host was not waiting: it was launched too late. */
static osc_status sum_launch_gaps(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    struct osc_name_sums enders = {0};
    osc_status st = OSC_OK;

    for (size_t g = 0; g < a->n_gaps && st == OSC_OK; g++) {
        const struct osc_gap *const gap = &a->gaps[g];
        if (gap->work == 0 || gap->is_sync)
            continue;
        const osc_row row = {a->f->links.works[gap->work - 1].row};
        if (osc_chunk_of(&a->t->events, row)->kind[osc_row_place(row)] != OSC_KIND_KERNEL)
            continue;
        item->impact_ns += gap->end_ns - gap->start_ns;
        st = osc_name_sums_add(&enders, who_ended(a, gap), gap->end_ns - gap->start_ns);
    }
    item->subject = name_of(a, osc_name_sums_top(&enders).name);
    osc_name_sums_fini(&enders);
    return st;
}

static osc_status check_launches(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    const size_t n_works = a->f->links.n_works;
    int64_t *kernels = osc_malloc((n_works + 1) * sizeof *kernels);
    int64_t *calls = osc_malloc((n_works + 1) * sizeof *calls);
    osc_status st = kernels && calls ? OSC_OK : OSC_ENOMEM;
    const size_t n = st == OSC_OK ? collect_launches(a, kernels, calls) : 0;

    if (n > 0)
        st = sum_launch_gaps(a, item);
    if (n > 0 && st == OSC_OK) {
        item->more[0] = lower_median(kernels, n);
        item->more[1] = lower_median(calls, n);
        item->part = item->impact_ns;
        item->whole = a->kept_ns;
        item->count = (int64_t)n;
        item->applies = item->more[0] < item->more[1] && is_much(a, item->impact_ns, 20);
    }
    osc_free(kernels);
    osc_free(calls);
    return st;
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

        if (!(a->f->classes.names[c->name[i]] & OSC_NAME_ALLOCATOR) ||
            !osc_advice_is_kept(a, c, i))
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

static osc_status check_slow_steps(const struct osc_advice_base *a, struct osc_arena *arena,
                                   struct osc_advice_item *item)
{
    const struct osc_breakdown *const b = a->b;
    struct osc_growth *growth = osc_calloc((size_t)b->n_steps + 1, sizeof *growth);
    int64_t *lengths = osc_malloc(((size_t)b->n_steps + 1) * sizeof *lengths);
    osc_status st = growth && lengths ? osc_growth_find(a->t, b, growth) : OSC_ENOMEM;
    uint32_t slowest = 0;

    if (st == OSC_OK)
        item->more[3] = median_of_steps(b, lengths);
    for (uint32_t i = 0; i < b->n_steps && st == OSC_OK; i++) {
        const int64_t length_ns = b->steps[i].end_ns - b->steps[i].start_ns;
        const int64_t excess_ns = length_ns - item->more[3];

        if (!b->steps[i].is_outlier || excess_ns <= 0)
            continue;
        item->count++;
        item->impact_ns += a->split.steps ? a->split.steps[i].ns[OSC_CAUSE_SLOW] : excess_ns;
        if (excess_ns <= item->more[0])
            continue;
        slowest = i;
        item->grew = osc_growth_name(a->t, &growth[i]);
        item->more[0] = excess_ns;
        item->more[1] = growth[i].half_ns / 2;
        item->more[2] = growth[i].is_device;
    }
    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->applies = item->count > 0 && is_much(a, item->impact_ns, 20);
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

    if (a->has_works) {
        st = check_gaps(a, &l->of[OSC_ADVICE_IDLE_DEVICE]);
        if (st == OSC_OK)
            st = check_syncs(a, &l->of[OSC_ADVICE_SYNCHRONIZATION]);
        if (st == OSC_OK)
            st = check_pageable(a, &l->of[OSC_ADVICE_PAGEABLE_COPIES]);
        if (st == OSC_OK)
            st = check_launches(a, &l->of[OSC_ADVICE_LAUNCH_BOUND]);
    }
    if (st == OSC_OK)
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
