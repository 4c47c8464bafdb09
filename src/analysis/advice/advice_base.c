/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_base.h"

#include "base/mem.h"
#include "model/known_names.h"
#include "model/producer.h"

/* So many operators tell whether their numbers are those of one run; twice as many numbers
 * whether events have them. */
#define OPERATORS_ENOUGH 100

bool osc_advice_is_kept(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    if (a->first_step <= a->last_step)
        return c->step && c->step[i] != 0 && a->b->steps[c->step[i] - 1].is_kept;
    return a->b->n_kept > 0 && c->ts_ns[i] >= a->b->steps[0].start_ns &&
           c->ts_ns[i] < a->b->steps[0].end_ns;
}

bool osc_advice_is_pageable(const struct osc_advice_base *a, const struct osc_chunk *c,
                            uint32_t i)
{
    return osc_str_has(osc_row_name(a->t, c, i), OSC_STR("(Pageable -> Device)"));
}

osc_status osc_advice_stake(const struct osc_advice_base *a, struct osc_intervals *s,
                            const struct osc_intervals *without, int64_t *stake_ns)
{
    struct osc_intervals inside = {0}, rest = {0};
    osc_status st = osc_intervals_merge(s);

    *stake_ns = 0;
    if (st == OSC_OK)
        st = osc_intervals_intersect(s, &a->kept, &inside);
    if (st == OSC_OK && without)
        st = osc_intervals_subtract(&inside, without, &rest);
    if (st == OSC_OK)
        *stake_ns = osc_intervals_length(without ? &rest : &inside);
    osc_intervals_fini(&inside);
    osc_intervals_fini(&rest);
    return st;
}

/* Find the call of the runtime or driver that was there for the most of the time INSIDE. */
static osc_status find_waiter(const struct osc_advice_base *a,
                              const struct osc_intervals *inside, struct osc_earlier_sum *sum)
{
    const struct osc_store *const events = &a->t->events;
    struct osc_ruler ruler = {0};
    const osc_status st = osc_ruler_init(&ruler, inside);

    for (uint32_t k = 1; k < events->n_chunks && st == OSC_OK; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!(a->f->classes.forms[c->form[i]] & OSC_FORM_CALL) ||
                c->dur_ns[i] == OSC_NO_DUR || c->dur_ns[i] <= sum->call_ns)
                continue;
            const int64_t ns = osc_ruler_length(&ruler, c->ts_ns[i], osc_row_end(c, i));
            if (ns > sum->call_ns) {
                sum->call = (osc_sid){c->name[i]};
                sum->call_ns = ns;
            }
        }
    }
    osc_ruler_fini(&ruler);
    return st;
}

osc_status osc_advice_earlier(const struct osc_advice_base *a, uint32_t d,
                              struct osc_earlier_sum *sum)
{
    struct osc_intervals own = {0}, inside = {0};

    for (size_t i = 0; i < a->earlier.n; i++) {
        if (a->earlier.v[i].device == d)
            osc_intervals_add(&own, a->earlier.v[i].from_ns, a->earlier.v[i].to_ns);
    }
    osc_status st = osc_intervals_merge(&own);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&own, &a->left_out, &inside);
    *sum = (struct osc_earlier_sum){.ns = osc_intervals_length(&inside)};
    if (st == OSC_OK && sum->ns > 0)
        st = find_waiter(a, &inside, sum);
    osc_intervals_fini(&own);
    osc_intervals_fini(&inside);
    return st;
}

osc_row osc_advice_operator_row(const struct osc_advice_base *a, uint32_t call)
{
    const uint32_t node = call == 0 ? 0 : a->f->links.calls[call - 1].node;

    return (osc_row){node == 0 ? 0 : a->f->order.rows[node - 1]};
}

osc_sid osc_advice_operator_of(const struct osc_advice_base *a, uint32_t call)
{
    const osc_row row = osc_advice_operator_row(a, call);

    if (row.v == 0)
        return (osc_sid){0};
    return (osc_sid){osc_chunk_of(&a->t->events, row)->name[osc_row_place(row)]};
}

/* The sum of two durations, at most the total: steps may overlap. */
static int64_t sum_of(int64_t a_ns, int64_t b_ns)
{
    int64_t sum_ns;

    return __builtin_add_overflow(a_ns, b_ns, &sum_ns) ? INT64_MAX : sum_ns;
}

/*
 * When the recording ended, as the recorder says, or else INT64_MAX. What a step that began
 * before lasts longer was not looked at.
 */
static int64_t end_of_recording(const struct osc_trace *t)
{
    const struct osc_store *const events = &t->events;
    int64_t end_ns = INT64_MIN;

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (t->forms[c->form[i]].is_profiler && c->dur_ns[i] != OSC_NO_DUR &&
                osc_row_end(c, i) > end_ns)
                end_ns = osc_row_end(c, i);
        }
    }
    return end_ns == INT64_MIN ? INT64_MAX : end_ns;
}

static osc_status sum_steps(struct osc_advice_base *a)
{
    const int64_t last_ns = a->is_compat ? INT64_MAX : end_of_recording(a->t);

    a->first_step = 1;
    for (uint32_t i = 0; i < a->b->n_steps; i++) {
        const struct osc_step_cost *const s = &a->b->steps[i];

        if (!s->is_kept)
            continue;
        if (!a->b->is_whole && a->t->steps[i].row.v != 0) {
            if (a->first_step > a->last_step)
                a->first_step = a->t->steps[i].ordinal;
            a->last_step = a->t->steps[i].ordinal;
        }
        osc_intervals_add(&a->kept, s->start_ns,
                          s->start_ns < last_ns && s->end_ns > last_ns ? last_ns : s->end_ns);
        a->total_ns = sum_of(a->total_ns, s->end_ns - s->start_ns);
        for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
            a->cost_ns[k] = sum_of(a->cost_ns[k], s->cost_ns[k]);
    }
    const osc_status st = osc_intervals_merge(&a->kept);
    a->kept_ns = osc_intervals_length(&a->kept);
    return st;
}

static osc_status find_busy(struct osc_advice_base *a)
{
    const struct osc_intervals *const of = a->f->unions.of;

    a->has_works = a->f->links.n_works > 0;
    osc_intervals_concat(&a->busy, &of[OSC_CLASS_KERNEL]);
    osc_intervals_concat(&a->busy, &of[OSC_CLASS_MEMCPY]);
    osc_intervals_concat(&a->busy, &of[OSC_CLASS_MEMSET]);
    if (a->f->classes.has_device_comm || a->t->has_comm_kernels)
        osc_intervals_concat(&a->busy, &of[OSC_CLASS_COMMUNICATION]);
    return osc_intervals_merge(&a->busy);
}

/* Find the time of the kept steps in which earlier work and nothing else ran, and take it from
 * them. */
static osc_status leave_out_earlier(struct osc_advice_base *a)
{
    struct osc_intervals all = {0}, idle = {0}, kept = {0};
    osc_status st = osc_earlier_work_find(a->t, &a->earlier);

    for (size_t i = 0; i < a->earlier.n && st == OSC_OK; i++)
        osc_intervals_add(&all, a->earlier.v[i].from_ns, a->earlier.v[i].to_ns);
    if (st == OSC_OK)
        st = osc_intervals_merge(&all);
    if (st == OSC_OK)
        st = osc_intervals_subtract(&all, &a->busy, &idle);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&idle, &a->kept, &a->left_out);
    if (st == OSC_OK)
        st = osc_intervals_subtract(&a->kept, &a->left_out, &kept);
    osc_intervals_fini(&all);
    osc_intervals_fini(&idle);
    osc_intervals_fini(&a->kept);
    a->kept = kept;
    a->kept_ns = osc_intervals_length(&a->kept);
    return st;
}

/* Whether a process that has events is a device. */
static bool has_device_process(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_process *const p = &t->processes[t->tracks[i].process];

        if (t->tracks[i].n_events > 0 &&
            osc_known_is_device_process(osc_trace_str(t, p->name), osc_trace_str(t, p->labels)))
            return true;
    }
    return false;
}

/* Find the calls that wait for the device: by name, or as a copy to memory that is not
 * pinned. */
static osc_status find_syncs(struct osc_advice_base *a)
{
    const struct osc_links *const links = &a->f->links;
    const struct osc_store *const events = &a->t->events;

    a->is_sync = osc_calloc(links->n_calls + 1, sizeof *a->is_sync);
    if (!a->is_sync)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(events, row);
        const uint32_t i = osc_row_place(row);

        if (links->works[n].call != 0 && c->kind[i] == OSC_KIND_MEMCPY &&
            osc_str_has(osc_row_name(a->t, c, i), OSC_STR("(Device -> Pageable)")))
            a->is_sync[links->works[n].call - 1] = true;
    }
    for (size_t n = 0; n < links->n_calls; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(events, row);

        if (a->f->classes.names[c->name[osc_row_place(row)]] & OSC_NAME_SYNC)
            a->is_sync[n] = true;
    }
    return OSC_OK;
}

/* Give the gap that ends at AT_NS the work WORK, index + 1, unless it has one. NEAR is a hint.
 */
static void end_gap(struct osc_advice_base *a, const struct osc_intervals *gaps, int64_t at_ns,
                    uint32_t work, size_t *near)
{
    const size_t g = osc_intervals_find(gaps, at_ns, near);

    if (g < gaps->n && gaps->v[g].end_ns == at_ns && a->gaps[g].work == 0)
        a->gaps[g].work = work;
}

static osc_status list_gaps(struct osc_advice_base *a)
{
    const struct osc_links *const links = &a->f->links;
    struct osc_intervals gaps = {0};
    size_t near = 0;
    osc_status st = osc_intervals_subtract(&a->kept, &a->busy, &gaps);

    a->gaps = osc_calloc(gaps.n + 1, sizeof *a->gaps);
    if (st == OSC_OK && !a->gaps)
        st = OSC_ENOMEM;
    for (size_t i = 0; i < gaps.n && st == OSC_OK; i++)
        a->gaps[a->n_gaps++] = (struct osc_gap){gaps.v[i].start_ns, gaps.v[i].end_ns, 0};
    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};

        end_gap(a, &gaps, osc_chunk_of(&a->t->events, row)->ts_ns[osc_row_place(row)],
                (uint32_t)n + 1, &near);
    }
    for (size_t i = 0; i < a->earlier.n && st == OSC_OK; i++)
        end_gap(a, &gaps, a->earlier.v[i].from_ns, a->earlier.v[i].work, &near);
    a->gaps_ns = osc_intervals_length(&gaps);
    osc_intervals_fini(&gaps);
    return st;
}

/* Numbers that Kineto gave. Zeroed, there are none. */
struct numbers {
    int64_t first, last, n;
};

static void add_number(struct numbers *s, int64_t number)
{
    if (number < 0)
        return;
    s->first = s->n == 0 || number < s->first ? number : s->first;
    s->last = s->n == 0 || number > s->last ? number : s->last;
    s->n++;
}

/* Whether most numbers from the first to the last are missing. */
static bool are_thin(const struct numbers *s)
{
    return s->n <= (s->last - s->first) / 2;
}

/* Whether so many numbers are there, and dense, that nothing between them was taken out. */
static bool are_dense(const struct numbers *s)
{
    return s->n >= OPERATORS_ENOUGH && !are_thin(s);
}

/* Where a device ran work. */
struct place_of_work {
    int64_t ts_ns;
    uint32_t track;
    bool is_asked; /* not a copy: devices copy of their own accord, too */
};

static struct place_of_work place_of_work(const struct osc_advice_base *a,
                                          const struct osc_work *work)
{
    const osc_row row = {work->row};
    const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
    const uint32_t at = osc_row_place(row);

    return (struct place_of_work){c->ts_ns[at], c->track[at], c->kind[at] != OSC_KIND_MEMCPY};
}

/*
 * Set *LACKS_CALLS: calls are missing that launched work. A queue runs its work in order, so
 * what it runs behind work whose call is there was launched after that; if for most of what is
 * behind such work no call is there, those were taken out.
 */
static osc_status look_for_calls(const struct osc_advice_base *a, bool *lacks_calls)
{
    const struct osc_links *const l = &a->f->links;
    /* By track: the first start of those whose call is there. */
    int64_t *const launched = osc_malloc((a->t->n_tracks + 1) * sizeof *launched);
    size_t n = 0, n_missing = 0;

    if (!launched)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k <= a->t->n_tracks; k++)
        launched[k] = INT64_MAX;
    for (size_t i = 0; i < l->n_works; i++) {
        const struct place_of_work w = place_of_work(a, &l->works[i]);

        if (w.is_asked && l->works[i].call != 0 && w.ts_ns < launched[w.track])
            launched[w.track] = w.ts_ns;
    }
    for (size_t i = 0; i < l->n_works; i++) {
        const struct place_of_work w = place_of_work(a, &l->works[i]);

        if (!w.is_asked || w.ts_ns <= launched[w.track])
            continue;
        n++;
        n_missing += l->works[i].call == 0;
    }
    osc_free(launched);
    *lacks_calls = n_missing > n - n_missing;
    return OSC_OK;
}

/*
 * See what there is of the host. Kineto numbers them one after the other, and all events, too,
 * also functions of Python that it does not write: if most of the numbers are missing, somebody
 * has taken events out of the file. Operators that ran before or beside the profile have
 * numbers of operators, but none of events; and of a recording that was cut off a few events
 * are from long before: so whichever numbers are dense decide.
 */
static osc_status look_at_host(struct osc_advice_base *a)
{
    const struct osc_store *const events = &a->t->events;
    struct numbers operators = {0}, all = {0};
    int64_t n_silent = 0; /* have numbers that are not written */
    bool has_calls_of_python = false;

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const enum osc_kind kind = (enum osc_kind)c->kind[i];
            int64_t number;

            a->has_host |= c->dur_ns[i] > 0 && osc_is_range(&a->f->classes, c, i) &&
                           !osc_is_on_device(&a->f->classes, c, i);
            has_calls_of_python |= kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE;
            a->has_functions |= kind == OSC_KIND_PYTHON || kind == OSC_KIND_FRAME;
            if (kind == OSC_KIND_ALLOC || kind == OSC_KIND_FREE)
                n_silent++;
            else if (osc_row_arg_int(a->t, c, i, OSC_ARG_KEY_EV_IDX, &number))
                add_number(&all, number);
            if (kind != OSC_KIND_OPERATOR)
                continue;
            a->has_operators = true;
            if (osc_row_arg_int(a->t, c, i, OSC_ARG_KEY_EXTERNAL_ID, &number))
                add_number(&operators, number);
        }
    }
    const bool is_dense = are_dense(&all) || are_dense(&operators);
    all.n += n_silent;
    a->is_thinned = (!is_dense && operators.n >= OPERATORS_ENOUGH) ||
                    (!is_dense && !has_calls_of_python &&
                     all.last - all.first >= 2 * OPERATORS_ENOUGH - 1 && are_thin(&all));
    bool lacks_calls = false;
    const osc_status st = look_for_calls(a, &lacks_calls);

    a->is_thinned |= lacks_calls;
    return st;
}

osc_status osc_advice_base_make(const struct osc_trace *t, bool compat_tb, unsigned n_threads,
                                struct osc_advice_base *a)
{
    *a = (struct osc_advice_base){.t = t, .f = osc_trace_facts(t), .is_compat = compat_tb};
    a->has_native = osc_producer_dialect((enum osc_producer)t->producer) == OSC_DIALECT_XLA;
    osc_status st = osc_breakdown_get(t, &(struct osc_step_rules){.compat_tb = compat_tb},
                                      n_threads, &a->own, &a->b);
    if (st == OSC_OK)
        st = sum_steps(a);
    if (st == OSC_OK)
        st = find_busy(a);
    if (st == OSC_OK && !compat_tb)
        st = look_at_host(a);
    /* Work that somebody took out of the file may have run then. */
    if (st == OSC_OK && !compat_tb && !a->is_thinned)
        st = leave_out_earlier(a);
    a->has_foreign = !a->has_works && has_device_process(t);
    if (st == OSC_OK)
        st = find_syncs(a);
    if (st == OSC_OK)
        st = list_gaps(a);
    if (st == OSC_OK && a->f->links.n_calls == 0 && !a->has_works && !a->has_foreign &&
        !compat_tb && !a->is_thinned && a->b->n_kept > 0)
        st = osc_split_make(t, a->b, &a->split);
    return st;
}

void osc_advice_base_fini(struct osc_advice_base *a)
{
    osc_breakdown_fini(&a->own);
    osc_intervals_fini(&a->kept);
    osc_intervals_fini(&a->busy);
    osc_free(a->gaps);
    osc_earlier_work_fini(&a->earlier);
    osc_intervals_fini(&a->left_out);
    osc_free(a->is_sync);
    osc_split_fini(&a->split);
    *a = (struct osc_advice_base){0};
}
