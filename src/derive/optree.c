/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/optree.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

struct open_node {
    int64_t end_ns;
    uint32_t node;
};

/* Zeroed, it is empty. */
struct stack {
    struct open_node *v; /* owned */
    size_t n, cap;
};

/*
 * Nodes nest only among nodes, operators only among operators.
 */
struct walk {
    struct osc_optree *tree;
    const struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    struct stack nodes, operators;
    uint32_t *calls; /* owned; places of host calls whose operator is not known yet */
    size_t n_calls, cap_calls;
    int64_t calls_ns; /* the start that all of these calls have */
};

enum osc_optree_action osc_optree_action_of(const struct osc_form *form, uint8_t flags)
{
    if (flags & OSC_FORM_CALL)
        return OSC_OPTREE_CALL;
    if (flags & OSC_FORM_OPERATOR)
        return OSC_OPTREE_OPERATOR;
    if (flags & OSC_FORM_ON_DEVICE)
        return OSC_OPTREE_NOTHING;
    if (flags & OSC_FORM_FUNCTION)
        return OSC_OPTREE_MODULE;
    if (form->kind == OSC_KIND_PYTHON)
        return OSC_OPTREE_PYTHON;
    return osc_kind_is_label((enum osc_kind)form->kind) ? OSC_OPTREE_ANNOTATION
                                                        : OSC_OPTREE_NOTHING;
}

/* Close the ranges that do not contain [START_NS, END_NS), then open it. */
static inline osc_status push(struct stack *s, int64_t start_ns, int64_t end_ns, uint32_t node)
{
    while (s->n > 0 && (s->v[s->n - 1].end_ns <= start_ns || s->v[s->n - 1].end_ns < end_ns))
        s->n--;
    if (s->n == s->cap) {
        const osc_status st = osc_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v);
        if (st != OSC_OK)
            return st;
    }
    s->v[s->n++] = (struct open_node){end_ns, node};
    return OSC_OK;
}

/* The innermost range of S that contains [START_NS, END_NS): ends grow towards the bottom. */
static uint32_t find_holder(const struct stack *s, int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = s->n; /* all below LOW contain it */

    /* Usually the innermost one does. */
    if (high > 0 && s->v[high - 1].end_ns > start_ns && s->v[high - 1].end_ns >= end_ns)
        return s->v[high - 1].node;
    OSC_BISECT(low, high, i, s->v[i].end_ns > start_ns && s->v[i].end_ns >= end_ns);
    return low == 0 ? 0 : s->v[low - 1].node;
}

/* Assign operators to the waiting calls: all ranges that start no later are open now. */
static void assign_calls(struct walk *w)
{
    const struct osc_store *const s = &w->t->events;

    for (size_t k = 0; k < w->n_calls; k++) {
        const osc_row row = {w->order->rows[w->calls[k]]};
        const struct osc_chunk *const c = osc_chunk_of(s, row);
        const uint32_t i = osc_row_place(row);

        c->link[i] = find_holder(&w->operators, c->ts_ns[i], osc_row_end(c, i));
    }
    w->n_calls = 0;
}

static osc_status add_call(struct walk *w, uint32_t place, int64_t start_ns)
{
    if (w->n_calls == w->cap_calls) {
        const osc_status st =
            osc_grow(&w->calls, &w->cap_calls, w->n_calls + 1, sizeof *w->calls);
        if (st != OSC_OK)
            return st;
    }
    w->calls[w->n_calls++] = place;
    w->calls_ns = start_ns;
    return OSC_OK;
}

static osc_status add_node(struct walk *w, uint32_t place, uint8_t flags, int64_t start_ns,
                           int64_t end_ns)
{
    struct osc_optree *const tree = w->tree;
    const osc_status st = push(&w->nodes, start_ns, end_ns, place + 1);

    tree->flags[place] = flags;
    if (st == OSC_OK && w->nodes.n > 1) {
        const uint32_t parent = w->nodes.v[w->nodes.n - 2].node;
        uint8_t *const above = &tree->flags[parent - 1];

        tree->parent[place] = parent;
        *above |= *above & OSC_NODE_CHILD ? OSC_NODE_CHILDREN : OSC_NODE_CHILD;
    }
    return st;
}

/* Handle the range at PLACE: a node, a host call, or neither. */
static osc_status add_range(struct walk *w, uint32_t place)
{
    const osc_row row = {w->order->rows[place]};
    const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
    const uint32_t i = osc_row_place(row);
    const enum osc_optree_action action =
        osc_optree_action_of(&w->t->forms[c->form[i]], w->c->forms[c->form[i]]);
    const bool is_call = action == OSC_OPTREE_CALL;
    const uint8_t flags = is_call ? 0 : osc_optree_flags(w->c, action, c, i);
    const int64_t start_ns = c->ts_ns[i];

    if (!is_call && flags == 0)
        return OSC_OK;
    if (w->n_calls > 0 && start_ns > w->calls_ns)
        assign_calls(w);
    if (is_call)
        return add_call(w, place, start_ns);
    if (flags & OSC_NODE_LAUNCHER) {
        const osc_status st = push(&w->operators, start_ns, start_ns + c->dur_ns[i], place + 1);
        if (st != OSC_OK)
            return st;
    }
    return add_node(w, place, flags, start_ns, start_ns + c->dur_ns[i]);
}

static bool is_same_name(const struct osc_trace *t, const struct osc_order *o, uint32_t a,
                         uint32_t b)
{
    const osc_row x = {o->rows[a]}, y = {o->rows[b]};

    return osc_chunk_of(&t->events, x)->name[osc_row_place(x)] ==
           osc_chunk_of(&t->events, y)->name[osc_row_place(y)];
}

/* Parents stand before their children, so they have been handled already. */
void osc_optree_merge(struct osc_optree *tree, const struct osc_trace *t,
                      const struct osc_order *order, uint32_t track)
{
    for (uint32_t at = order->first[track]; at < order->first[track + 1]; at++) {
        if (tree->parent[at] == 0)
            continue;
        const uint32_t parent = tree->parent[at] - 1;
        const uint8_t above = tree->flags[parent];

        /* The children of a merged parent move to the node it was merged into. */
        if (above & OSC_NODE_MERGED)
            tree->parent[at] = tree->parent[parent];
        if ((tree->flags[at] & OSC_NODE_OPERATOR) && (above & OSC_NODE_OPERATOR) &&
            !(above & OSC_NODE_CHILDREN) && is_same_name(t, order, at, parent)) {
            tree->flags[at] = (uint8_t)((tree->flags[at] | OSC_NODE_MERGED) & ~OSC_NODE_ROW);
            tree->flags[parent] |= OSC_NODE_MUTE;
        }
    }
}

osc_status osc_optree_walk(struct osc_optree *tree, const struct osc_trace *t,
                           const struct osc_classes *c, const struct osc_order *order,
                           uint32_t track, bool *has_twins)
{
    const uint32_t begin = order->first[track], end = order->first[track + 1];
    struct walk w = {.tree = tree, .t = t, .c = c, .order = order};
    osc_status st = OSC_OK;

    memset(tree->parent + begin, 0, (end - begin) * sizeof *tree->parent);
    memset(tree->flags + begin, 0, (end - begin) * sizeof *tree->flags);
    for (uint32_t at = begin; at < end && st == OSC_OK; at++)
        st = add_range(&w, at);
    assign_calls(&w);
    *has_twins = true; /* not checked here: osc_optree_merge() decides */
    osc_free(w.nodes.v);
    osc_free(w.operators.v);
    osc_free(w.calls);
    return st;
}

osc_status osc_optree_init(struct osc_optree *tree, const struct osc_order *order)
{
    *tree = (struct osc_optree){0};
    tree->parent_bytes = ((size_t)order->n_rows + 1) * sizeof *tree->parent;
    tree->flags_bytes = ((size_t)order->n_rows + 1) * sizeof *tree->flags;
    tree->parent = osc_pages_alloc(tree->parent_bytes);
    tree->flags = osc_pages_alloc(tree->flags_bytes);
    if (tree->parent && tree->flags)
        return OSC_OK;
    osc_optree_fini(tree);
    return OSC_ENOMEM;
}

void osc_optree_fini(struct osc_optree *tree)
{
    osc_pages_free(tree->parent, tree->parent_bytes);
    osc_pages_free(tree->flags, tree->flags_bytes);
    *tree = (struct osc_optree){0};
}
