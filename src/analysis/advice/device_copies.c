/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"
#include "analysis/advice/split_names.h"
#include "analysis/advice/who.h"
#include "model/known_names.h"

/* The rule applies above 1 / SHARE of the kept steps. */
enum { SHARE = 20 };

/* Whether row I of C is a copy that this rule is about: those from pageable memory have one of
 * their own. */
static bool is_copy(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    return c->kind[i] == OSC_KIND_MEMCPY && !osc_advice_is_pageable(a, c, i);
}

/* Set EXPOSED to the time of the kept steps in which such copies run, but neither others nor
 * kernels that compute. */
static osc_status find_exposed(const struct osc_advice_base *a, struct osc_intervals *exposed)
{
    const struct osc_links *const links = &a->f->links;
    struct osc_intervals other = {0}, free = {0};

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] == OSC_KIND_MEMCPY && osc_advice_is_pageable(a, c, i))
            osc_intervals_add(&other, c->ts_ns[i], osc_row_end(c, i));
    }
    osc_intervals_concat(&other, &a->f->unions.of[OSC_CLASS_KERNEL]);
    osc_status st = osc_intervals_merge(&other);
    if (st == OSC_OK)
        st = osc_intervals_subtract(&a->f->unions.of[OSC_CLASS_MEMCPY], &other, &free);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&free, &a->kept, exposed);
    osc_intervals_fini(&other);
    osc_intervals_fini(&free);
    return st;
}

/* The copies of one way. */
struct way {
    int64_t ns;
    struct osc_pairs operators;
};

/* Sum the copies by way and by the operator that launched them, as far as EXPOSED has them. */
static osc_status sum_copies(const struct osc_advice_base *a,
                             const struct osc_intervals *exposed, struct way *ways,
                             struct osc_advice_item *item)
{
    const struct osc_links *const links = &a->f->links;
    struct osc_ruler ruler = {0};
    osc_status st = osc_ruler_init(&ruler, exposed);

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (!is_copy(a, c, i))
            continue;
        const int64_t ns = osc_ruler_length(&ruler, c->ts_ns[i], osc_row_end(c, i));
        struct way *const way = &ways[osc_known_copy_way(osc_row_name(a->t, c, i))];
        item->count += osc_advice_is_kept(a, c, i);
        way->ns += ns;
        if (ns > 0)
            st = osc_pairs_add(&way->operators, osc_advice_operator_of(a, links->works[n].call),
                               osc_who_launched_in(a, (uint32_t)n + 1), ns);
    }
    osc_ruler_fini(&ruler);
    return st;
}

/* NS, but at most MOST_NS: copies may run at the same time. */
static int64_t at_most(int64_t ns, int64_t most_ns)
{
    return ns < most_ns ? ns : most_ns;
}

osc_status osc_advice_device_copies(const struct osc_advice_base *a,
                                    struct osc_advice_item *item)
{
    struct osc_intervals exposed = {0};
    struct way ways[OSC_COPY_WAYS] = {0};
    unsigned most = 0;
    osc_status st = find_exposed(a, &exposed);

    item->impact_ns = item->part = osc_intervals_length(&exposed);
    item->whole = a->kept_ns;
    if (st == OSC_OK)
        st = sum_copies(a, &exposed, ways, item);
    for (unsigned k = 1; k < OSC_COPY_WAYS; k++)
        most = ways[k].ns > ways[most].ns ? k : most;
    const struct osc_pair top = osc_pairs_top(&ways[most].operators);
    item->subject = osc_trace_str(a->t, top.name);
    item->grew = osc_split_without_address(osc_trace_str(a->t, top.around));
    item->facts.way_ns = at_most(ways[most].ns, item->impact_ns);
    item->facts.most_ns = at_most(top.ns, item->impact_ns);
    item->facts.copy_way = most;
    item->applies = item->count > 0 && item->impact_ns > a->kept_ns / SHARE && !a->is_thinned;
    for (unsigned k = 0; k < OSC_COPY_WAYS; k++)
        osc_pairs_fini(&ways[k].operators);
    osc_intervals_fini(&exposed);
    return st;
}
