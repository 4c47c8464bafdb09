/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

/* The rule applies if kernels do not compute in less than 1 / REST of the kept steps. */
enum { REST = 10 };

/* Times of kernels by operator, and of those that none launched by their own name. */
struct by_name {
    struct osc_name_sums operators, others; /* owned */
    int64_t others_ns;
};

/* How long row I of C runs in kept steps, which RULER measures, if it is a kernel that
 * computes. */
static int64_t computing_ns(const struct osc_advice_base *a, const struct osc_ruler *ruler,
                            const struct osc_chunk *c, uint32_t i)
{
    if (c->kind[i] != OSC_KIND_KERNEL || osc_is_comm_kernel(&a->f->classes, c, i))
        return 0;
    return osc_ruler_length(ruler, c->ts_ns[i], osc_row_end(c, i));
}

static osc_status sum_kernels(const struct osc_advice_base *a, const struct osc_ruler *ruler,
                              struct by_name *sums)
{
    const struct osc_links *const links = &a->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        const osc_sid operator= osc_advice_operator_of(a, links->works[n].call);
        const int64_t ns = computing_ns(a, ruler, c, i);

        if (ns > 0)
            st = operator.v != 0 ? osc_name_sums_add(&sums->operators, operator, ns)
                                 : osc_name_sums_add(&sums->others, (osc_sid){c->name[i]}, ns);
        sums->others_ns += operator.v == 0 ? ns : 0;
    }
    return st;
}

/* The number of kernels that TOP has: of its operator, or of its name if IS_WORK. */
static int64_t count_kernels(const struct osc_advice_base *a, const struct osc_ruler *ruler,
                             osc_sid top, bool is_work)
{
    const struct osc_links *const links = &a->f->links;
    int64_t count = 0;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        const osc_sid operator= osc_advice_operator_of(a, links->works[n].call);
        const bool is_its =
            is_work ? operator.v == 0 && c->name[i] == top.v : operator.v == top.v;

        count += is_its && computing_ns(a, ruler, c, i) > 0;
    }
    return count;
}

static osc_status find_most(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    struct osc_ruler ruler = {0};
    struct by_name sums = {0};
    osc_status st = osc_ruler_init(&ruler, &a->kept);

    if (st == OSC_OK)
        st = sum_kernels(a, &ruler, &sums);
    struct osc_name_sum top = osc_name_sums_top(&sums.operators);
    item->is_work = sums.others_ns > top.ns;
    if (item->is_work)
        top = osc_name_sums_top(&sums.others);
    item->applies = top.ns > 0;
    item->subject = osc_trace_str(a->t, top.name);
    /* Kernels may run at the same time. */
    item->impact_ns = item->more[0] = top.ns < item->part ? top.ns : item->part;
    item->count = count_kernels(a, &ruler, top.name, item->is_work);
    osc_name_sums_fini(&sums.operators);
    osc_name_sums_fini(&sums.others);
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
