/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"
#include "analysis/advice/who.h"

/* The rule applies if kernels do not compute in less than 1 / REST of the kept steps. */
enum { REST = 10 };

/* How long WORK (index + 1) runs in kept steps, which RULER measures, if it is a kernel that
 * computes. */
static int64_t computing_ns(const struct osc_advice_base *a, const struct osc_ruler *ruler,
                            uint32_t work)
{
    const osc_row row = {a->f->links.works[work - 1].row};
    const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
    const uint32_t i = osc_row_place(row);

    if (c->kind[i] != OSC_KIND_KERNEL || osc_is_comm_kernel(&a->f->classes, c, i))
        return 0;
    return osc_ruler_length(ruler, c->ts_ns[i], osc_row_end(c, i));
}

/* Sum kernels in SUMS by what launched them, or without an operator by their own names. */
static osc_status sum_kernels(const struct osc_advice_base *a, const struct osc_ruler *ruler,
                              struct osc_name_sums *sums)
{
    osc_status st = OSC_OK;

    for (uint32_t work = 1; work <= a->f->links.n_works && st == OSC_OK; work++) {
        const int64_t ns = computing_ns(a, ruler, work);

        if (ns > 0)
            st = osc_name_sums_add(sums, osc_who_launched(a, work), ns);
    }
    return st;
}

static osc_status find_most(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    struct osc_ruler ruler = {0};
    struct osc_name_sums sums = {0};
    osc_status st = osc_ruler_init(&ruler, &a->kept);

    if (st == OSC_OK)
        st = sum_kernels(a, &ruler, &sums);
    const struct osc_name_sum top = osc_name_sums_top(&sums);
    item->applies = top.ns > 0;
    item->subject = osc_trace_str(a->t, top.name);
    /* Kernels may run at the same time. */
    item->impact_ns = item->facts.most_ns = top.ns < item->part ? top.ns : item->part;
    for (uint32_t work = 1; work <= a->f->links.n_works; work++) {
        if (computing_ns(a, &ruler, work) == 0 || osc_who_launched(a, work).v != top.name.v)
            continue;
        item->count++;
        item->is_work = !osc_who_has_operator(a, work);
    }
    osc_name_sums_fini(&sums);
    osc_ruler_fini(&ruler);
    return st;
}

osc_status osc_advice_device_kernels(const struct osc_advice_base *a,
                                     struct osc_advice_item *item)
{
    struct osc_intervals kernels = {0};
    const osc_status st =
        osc_intervals_intersect(&a->f->unions.of[OSC_CLASS_KERNEL], &a->kept, &kernels);

    item->part = osc_intervals_length(&kernels);
    item->whole = a->kept_ns;
    osc_intervals_fini(&kernels);
    if (st != OSC_OK || a->is_thinned || item->part <= a->kept_ns - a->kept_ns / REST)
        return st;
    return find_most(a, item);
}
