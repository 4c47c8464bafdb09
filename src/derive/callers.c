/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/callers.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"

struct work {
    const struct osc_trace *t;
    const struct osc_order *order;
    const struct osc_optree *tree;
    struct osc_callers *c;
    size_t cap_chains, cap_names;
    uint32_t *known;         /* owned; by node - 1: its chain + 1, or 0 */
    uint32_t *name_of;       /* owned; by osc_sid: index in names + 1 */
    struct osc_idmap chains; /* (above, name) -> chain */
    uint32_t *climbed;       /* owned; nodes whose chain is not known yet, the innermost
                              * first */
    size_t cap_climbed;
};

static osc_sid sid_of(const struct work *w, uint32_t node)
{
    const osc_row row = {w->order->rows[node - 1]};

    return (osc_sid){osc_chunk_of(&w->t->events, row)->name[osc_row_place(row)]};
}

/* Set *INDEX to the index of NAME. */
static osc_status find_name(struct work *w, osc_sid name, uint32_t *index)
{
    struct osc_callers *const c = w->c;

    if (w->name_of[name.v] == 0) {
        if (osc_grow(&c->names, &w->cap_names, (size_t)c->n_names + 1, sizeof *c->names) !=
            OSC_OK)
            return OSC_ENOMEM;
        c->names[c->n_names++] = (struct osc_caller_name){.name = name};
        w->name_of[name.v] = c->n_names;
    }
    *index = w->name_of[name.v] - 1;
    return OSC_OK;
}

/* Replace *CHAIN by the chain of operator NAME under it. */
static osc_status go_down(struct work *w, osc_sid name, uint32_t *chain)
{
    struct osc_callers *const c = w->c;
    uint32_t *const place = osc_idmap_put(&w->chains, (uint64_t)*chain << 32 | name.v);
    uint32_t index;

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (find_name(w, name, &index) != OSC_OK ||
            osc_grow(&c->chains, &w->cap_chains, (size_t)c->n_chains + 1, sizeof *c->chains) !=
                OSC_OK)
            return OSC_ENOMEM;
        c->chains[c->n_chains++] =
            (struct osc_chain){.above = *chain,
                               .name = index,
                               .depth = *chain == 0 ? 1 : c->chains[*chain - 1].depth + 1};
        *place = c->n_chains;
    }
    *chain = *place;
    return OSC_OK;
}

/* Set *CHAIN to the chain of NODE. Each node is visited only once. */
static osc_status find_chain(struct work *w, uint32_t node, uint32_t *chain)
{
    size_t n = 0;

    for (; node != 0 && w->known[node - 1] == 0; node = w->tree->parent[node - 1]) {
        if (osc_grow(&w->climbed, &w->cap_climbed, n + 1, sizeof *w->climbed) != OSC_OK)
            return OSC_ENOMEM;
        w->climbed[n++] = node;
    }
    *chain = node == 0 ? 0 : w->known[node - 1] - 1;
    while (n > 0) {
        const uint32_t at = w->climbed[--n];

        if ((w->tree->flags[at - 1] & OSC_NODE_ROW) &&
            go_down(w, sid_of(w, at), chain) != OSC_OK)
            return OSC_ENOMEM;
        w->known[at - 1] = *chain + 1;
    }
    return OSC_OK;
}

/* The index in names + 1 of the operator at PLACE of the order; 0: not in names. */
static uint32_t name_at(const struct work *w, uint32_t place)
{
    return w->tree->flags[place] & OSC_NODE_ROW ? w->name_of[sid_of(w, place + 1).v] : 0;
}

/* List the calls of all names, including those around no memory record. */
static osc_status list_calls(struct work *w)
{
    struct osc_callers *const c = w->c;

    for (uint32_t place = 0; place < w->order->n_rows; place++) {
        const uint32_t name = name_at(w, place);

        if (name != 0)
            c->names[name - 1].n++;
    }
    for (uint32_t i = 0; i < c->n_names; i++) {
        c->names[i].first = c->n_calls;
        c->n_calls += c->names[i].n;
        c->names[i].n = 0;
    }
    c->calls = osc_malloc(((size_t)c->n_calls + 1) * sizeof *c->calls);
    if (!c->calls)
        return OSC_ENOMEM;
    for (uint32_t place = 0; place < w->order->n_rows; place++) {
        const uint32_t name = name_at(w, place);

        if (name != 0) {
            struct osc_caller_name *const to = &c->names[name - 1];

            c->calls[to->first + to->n++] = place;
        }
    }
    return OSC_OK;
}

osc_status osc_callers_make(const struct osc_trace *t, const struct osc_allocations *a,
                            const struct osc_order *order, const struct osc_optree *tree,
                            struct osc_callers *c)
{
    struct work w = {.t = t, .order = order, .tree = tree, .c = c};
    osc_status st = OSC_OK;

    *c = (struct osc_callers){0};
    if (a->n_records == 0)
        return OSC_OK;
    c->chain_of = osc_calloc(a->n_records, sizeof *c->chain_of);
    w.known = osc_calloc((size_t)order->n_rows + 1, sizeof *w.known);
    w.name_of = osc_calloc(osc_strings_bound(&t->strings) + (size_t)1, sizeof *w.name_of);
    if (!c->chain_of || !w.known || !w.name_of)
        st = OSC_ENOMEM;
    for (uint32_t k = 0; k < a->n_records && st == OSC_OK; k++) {
        const uint32_t node = a->records[k].node;

        if (node != 0 && (tree->flags[node - 1] & OSC_NODE_ROW))
            st = find_chain(&w, node, &c->chain_of[k]);
    }
    if (st == OSC_OK)
        st = list_calls(&w);
    osc_free(w.known);
    osc_free(w.name_of);
    osc_free(w.climbed);
    osc_idmap_fini(&w.chains);
    if (st != OSC_OK)
        osc_callers_fini(c);
    return st;
}

void osc_callers_fini(struct osc_callers *c)
{
    osc_free(c->chains);
    osc_free(c->chain_of);
    osc_free(c->names);
    osc_free(c->calls);
    *c = (struct osc_callers){0};
}

/* Number of the N places at CALLS before PLACE. */
static uint32_t count_before(const uint32_t *calls, uint32_t n, uint32_t place)
{
    uint32_t low = 0, high = n;

    OSC_BISECT(low, high, i, calls[i] < place);
    return low;
}

uint32_t osc_callers_count(const struct osc_callers *c, const struct osc_caller_name *name,
                           uint32_t begin, uint32_t end)
{
    const uint32_t *const calls = c->calls + name->first;

    return begin >= end
               ? 0
               : count_before(calls, name->n, end) - count_before(calls, name->n, begin);
}
