/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/idle_gaps.h"

#include "analysis/advice/split_names.h"
#include "analysis/advice/who.h"
#include "analysis/median.h"
#include "base/mem.h"

/* --- gaps ------------------------------------------------------------------ */

/* What ends the gaps of a cause. */
struct enders {
    struct osc_name_sums sums;
    int64_t last_ns; /* of gaps that no work ends */
    osc_sid subject; /* the name with most time */
    bool is_last;    /* no name has as much as these gaps */
    int64_t subject_ns;
};

static osc_status sum_gaps(const struct osc_idle_view *v, struct osc_advice_item *item,
                           struct enders *e)
{
    osc_status st = OSC_OK;

    for (size_t g = 0; g < v->a->n_gaps && st == OSC_OK; g++) {
        const struct osc_gap *const gap = &v->a->gaps[g];
        const int64_t ns = osc_ruler_length(&v->ruler, gap->start_ns, gap->end_ns);

        if (ns == 0)
            continue;
        item->count++;
        if (gap->work == 0)
            e->last_ns += ns;
        else
            st = osc_name_sums_add(&e->sums, osc_who_launched(v->a, gap->work), ns);
    }
    const struct osc_name_sum top = osc_name_sums_top(&e->sums);
    e->subject = top.name;
    e->is_last = e->last_ns > top.ns;
    e->subject_ns = e->is_last ? e->last_ns : top.ns;
    return st;
}

/* Whether GAP is one of those that the subject of E ends. */
static bool is_of_subject(const struct osc_idle_view *v, const struct enders *e,
                          const struct osc_gap *gap)
{
    if (gap->work == 0 || e->is_last)
        return gap->work == 0 && e->is_last;
    return osc_who_launched(v->a, gap->work).v == e->subject.v;
}

/* Take the gap of the subject with most of the cause as the evidence. */
static void find_longest(const struct osc_idle_view *v, const struct enders *e,
                         struct osc_advice_item *item)
{
    int64_t longest_ns = 0;

    for (size_t g = 0; g < v->a->n_gaps; g++) {
        const struct osc_gap *const gap = &v->a->gaps[g];
        const int64_t ns = osc_ruler_length(&v->ruler, gap->start_ns, gap->end_ns);

        if (ns <= longest_ns || !is_of_subject(v, e, gap))
            continue;
        longest_ns = ns;
        item->from_ns = gap->start_ns;
        item->to_ns = gap->end_ns;
        item->is_work = gap->work != 0 && !osc_who_has_operator(v->a, gap->work);
    }
}

static osc_status name_gaps(const struct osc_idle_view *v, struct osc_advice_item *item,
                            struct enders *e)
{
    const osc_status st = sum_gaps(v, item, e);

    find_longest(v, e, item);
    item->subject = e->is_last ? OSC_STR("") : osc_trace_str(v->a->t, e->subject);
    item->facts.most_ns = e->subject_ns;
    item->facts.is_after_last = e->is_last;
    return st;
}

osc_status osc_idle_name_gaps(const struct osc_idle_view *v, enum osc_idle cause,
                              struct osc_advice_item *item)
{
    struct enders e = {0};
    const osc_status st = name_gaps(v, item, &e);

    (void)cause;
    osc_name_sums_fini(&e.sums);
    return st;
}

/* --- launches -------------------------------------------------------------- */

/* Name the range in which more than half of what lies before the subject was launched. */
static osc_status name_around(const struct osc_idle_view *v, const struct enders *e,
                              struct osc_advice_item *item)
{
    struct osc_pairs pairs = {0};
    osc_status st = OSC_OK;

    for (size_t g = 0; g < v->a->n_gaps && st == OSC_OK; g++) {
        const struct osc_gap *const gap = &v->a->gaps[g];
        const int64_t ns = osc_ruler_length(&v->ruler, gap->start_ns, gap->end_ns);

        if (ns > 0 && is_of_subject(v, e, gap))
            st = osc_pairs_add(&pairs, e->subject, osc_who_launched_in(v->a, gap->work), ns);
    }
    const struct osc_pair top = osc_pairs_top(&pairs);
    if (top.ns > e->subject_ns - top.ns)
        item->grew = osc_split_without_address(osc_trace_str(v->a->t, top.around));
    osc_pairs_fini(&pairs);
    return st;
}

/* Collect the calls that wait, by name, and run in the gap of ITEM: its evidence is what
 * launches. */
static osc_status name_waits(const struct osc_idle_view *v, struct osc_advice_item *item)
{
    const struct osc_links *const links = &v->a->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_calls && st == OSC_OK; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&v->a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if ((v->a->f->classes.names[c->name[i]] & OSC_NAME_SYNC) &&
            c->ts_ns[i] <= item->to_ns && osc_row_end(c, i) >= item->from_ns)
            st = osc_name_sums_add(&item->names, (osc_sid){c->name[i]}, c->dur_ns[i]);
    }
    return st;
}

/* The lower median of V, which is reordered; 0: none. */
static int64_t lower_median(int64_t *v, size_t n)
{
    return n > 0 ? osc_select_kth(v, n, (n - 1) / 2) : 0;
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

/* Measure the median kernel and the median launch. */
static osc_status measure_launches(const struct osc_idle_view *v, struct osc_advice_item *item)
{
    const size_t n_works = v->a->f->links.n_works;
    int64_t *kernels = osc_malloc((n_works + 1) * sizeof *kernels);
    int64_t *calls = osc_malloc((n_works + 1) * sizeof *calls);

    if (kernels && calls) {
        const size_t n = collect_launches(v->a, kernels, calls);

        item->facts.kernel_ns = lower_median(kernels, n);
        item->facts.call_ns = lower_median(calls, n);
    }
    const osc_status st = kernels && calls ? OSC_OK : OSC_ENOMEM;
    osc_free(kernels);
    osc_free(calls);
    return st;
}

osc_status osc_idle_name_launches(const struct osc_idle_view *v, enum osc_idle cause,
                                  struct osc_advice_item *item)
{
    struct enders e = {0};
    osc_status st = name_gaps(v, item, &e);

    (void)cause;
    if (st == OSC_OK && !e.is_last)
        st = name_around(v, &e, item);
    if (st == OSC_OK)
        st = name_waits(v, item);
    osc_name_sums_fini(&e.sums);
    return st == OSC_OK ? measure_launches(v, item) : st;
}

/* --- what nobody recorded -------------------------------------------------- */

/* Whether row I of C is a range that the program marked on a thread that counts. */
static bool is_mark(const struct osc_idle_view *v, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_classes *const classes = &v->a->f->classes;

    return osc_who_is_mark(v->a, c, i) && c->dur_ns[i] > 0 && v->s->counts[c->track[i]] &&
           osc_is_range(classes, c, i) && !osc_is_on_device(classes, c, i);
}

/* Sum the time of the cause in which a mark is the innermost one, by name, in SUMS; and list
 * the times of all in WHEN. */
static osc_status sum_marks(const struct osc_idle_view *v, struct osc_name_sums *sums,
                            struct osc_intervals *when)
{
    const struct osc_store *const events = &v->a->t->events;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            if (!is_mark(v, c, i))
                continue;
            const int64_t ns = osc_ruler_length(&v->ruler, c->ts_ns[i], osc_row_end(c, i));
            const osc_row around = osc_who_around(v->a, c, i, osc_who_is_mark);
            if (ns == 0)
                continue;
            osc_intervals_add(when, c->ts_ns[i], osc_row_end(c, i));
            st = osc_name_sums_add(sums, (osc_sid){c->name[i]}, ns);
            if (st == OSC_OK && around.v != 0)
                st = osc_name_sums_add(
                    sums, (osc_sid){osc_chunk_of(events, around)->name[osc_row_place(around)]},
                    -ns);
        }
    }
    return st == OSC_OK ? osc_intervals_merge(when) : st;
}

osc_status osc_idle_name_unrecorded(const struct osc_idle_view *v, enum osc_idle cause,
                                    struct osc_advice_item *item)
{
    struct osc_name_sums sums = {0};
    struct osc_intervals when = {0}, marked = {0};
    osc_status st = osc_idle_name_gaps(v, cause, item);

    if (st == OSC_OK)
        st = sum_marks(v, &sums, &when);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&when, &v->s->of[cause], &marked);
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    item->facts.marked_ns = osc_intervals_length(&marked);
    if (top.ns >= item->impact_ns / OSC_IDLE_WORTH) {
        item->grew = osc_split_without_address(osc_trace_str(v->a->t, top.name));
        item->facts.mark_ns = top.ns < item->impact_ns ? top.ns : item->impact_ns;
    }
    osc_name_sums_fini(&sums);
    osc_intervals_fini(&when);
    osc_intervals_fini(&marked);
    return st;
}
