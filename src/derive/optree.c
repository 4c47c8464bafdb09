/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/optree.h"

#include "base/mem.h"
#include "base/thread.h"

struct open_node {
    int64_t end_ns;
    uint32_t node;
};

/* Zeroed, it is empty. */
struct stack {
    struct open_node *v; /* owned */
    size_t n, cap;
};

struct work {
    const struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    struct osc_optree *tree;
    osc_status *statuses;
};

/*
 * Nodes alone nest among nodes, operators alone among operators: a module whose
 * clock disagrees with theirs does not hide an operator from its calls.
 */
struct walk {
    struct stack nodes, operators;
    const struct work *work;
    uint32_t *calls; /* owned; places of host calls that wait for an operator */
    size_t n_calls, cap_calls;
    int64_t calls_ns; /* when they start, all of them */
};

/* The flags of row I of chunk K, a finished range; 0 if it is no node. */
static uint8_t flags_of(const struct work *w, const struct osc_chunk *k, uint32_t i)
{
    const uint8_t form = w->c->forms[k->form[i]];
    const enum osc_kind kind = (enum osc_kind)k->kind[i];

    if (form & OSC_FORM_OPERATOR) {
        const uint16_t name = w->c->names[k->name[i]];
        const bool is_row = kind == OSC_KIND_OPERATOR && !(name & OSC_NAME_WRAPPER);

        return (uint8_t)(OSC_NODE | OSC_NODE_OPERATOR | (is_row ? OSC_NODE_ROW : 0));
    }
    if (form & OSC_FORM_ON_DEVICE)
        return 0;
    if (form & OSC_FORM_FUNCTION)
        return kind == OSC_KIND_MODULE ? OSC_NODE : 0;
    if (w->t->forms[k->form[i]].kind == OSC_KIND_PYTHON)
        return OSC_NODE;
    if (w->t->forms[k->form[i]].kind == OSC_KIND_ANNOTATION) {
        const uint16_t name = w->c->names[k->name[i]];
        const bool is_node = kind == OSC_KIND_STEP || kind == OSC_KIND_DATALOADER ||
                             (name & (OSC_NAME_OPTIMIZER | OSC_NAME_COMM_TB));

        return is_node ? OSC_NODE : 0;
    }
    return 0;
}

/* Close what does not hold [START_NS, END_NS), then open it. */
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

/* The innermost of S that holds [START_NS, END_NS): ends grow towards the bottom. */
static uint32_t find_holder(const struct stack *s, int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = s->n; /* below LOW all hold it */

    /* Most often the innermost does. */
    if (high > 0 && s->v[high - 1].end_ns > start_ns && s->v[high - 1].end_ns >= end_ns)
        return s->v[high - 1].node;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (s->v[middle].end_ns > start_ns && s->v[middle].end_ns >= end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : s->v[low - 1].node;
}

/* Give the waiting calls their operators: all that start no later have been opened. */
static void settle_calls(struct walk *w)
{
    const struct osc_store *const s = &w->work->t->events;

    for (size_t k = 0; k < w->n_calls; k++) {
        const osc_row row = {w->work->order->rows[w->calls[k]]};
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
    struct osc_optree *const tree = w->work->tree;
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

/* Take the range at PLACE: a node, a host call, or nothing. */
static osc_status take_range(struct walk *w, uint32_t place)
{
    const osc_row row = {w->work->order->rows[place]};
    const struct osc_chunk *const c = osc_chunk_of(&w->work->t->events, row);
    const uint32_t i = osc_row_place(row);
    const bool is_call = (w->work->c->forms[c->form[i]] & OSC_FORM_CALL) != 0;
    uint8_t flags = is_call ? 0 : flags_of(w->work, c, i);
    const int64_t start_ns = c->ts_ns[i];

    if (!is_call && flags == 0)
        return OSC_OK;
    if (w->n_calls > 0 && start_ns > w->calls_ns)
        settle_calls(w);
    if (is_call)
        return add_call(w, place, start_ns);
    /* A step is of type Operator in old files, but launches are never its own. */
    if ((flags & OSC_NODE_OPERATOR) && c->kind[i] != OSC_KIND_STEP) {
        const osc_status st = push(&w->operators, start_ns, start_ns + c->dur_ns[i], place + 1);
        if (st != OSC_OK)
            return st;
        flags |= OSC_NODE_LAUNCHER;
    }
    return add_node(w, place, flags, start_ns, start_ns + c->dur_ns[i]);
}

static bool is_same_name(const struct work *w, uint32_t a, uint32_t b)
{
    const osc_row x = {w->order->rows[a]}, y = {w->order->rows[b]};

    return osc_chunk_of(&w->t->events, x)->name[osc_row_place(x)] ==
           osc_chunk_of(&w->t->events, y)->name[osc_row_place(y)];
}

/* Merge only children of the name of their parent; parents have been through this. */
static void merge_equal(const struct work *w, uint32_t begin, uint32_t end)
{
    struct osc_optree *const tree = w->tree;

    for (uint32_t at = begin; at < end; at++) {
        if (tree->parent[at] == 0)
            continue;
        const uint32_t parent = tree->parent[at] - 1;
        const uint8_t above = tree->flags[parent];

        /* A merged parent's children go with it. */
        if (above & OSC_NODE_MERGED)
            tree->parent[at] = tree->parent[parent];
        if ((tree->flags[at] & OSC_NODE_OPERATOR) && (above & OSC_NODE_OPERATOR) &&
            !(above & OSC_NODE_CHILDREN) && is_same_name(w, at, parent)) {
            tree->flags[at] = (uint8_t)((tree->flags[at] | OSC_NODE_MERGED) & ~OSC_NODE_ROW);
            tree->flags[parent] |= OSC_NODE_MUTE;
        }
    }
}

static void walk_track(void *ctx, uint32_t item)
{
    const struct work *const work = ctx;
    const struct osc_order *const o = work->order;
    const uint32_t track = o->tracks[item], begin = o->first[track], end = o->first[track + 1];
    struct walk w = {.work = work};
    osc_status st = OSC_OK;

    for (uint32_t at = begin; at < end && st == OSC_OK; at++)
        st = take_range(&w, at);
    settle_calls(&w);
    merge_equal(work, begin, end);
    work->statuses[item] = st;
    osc_free(w.nodes.v);
    osc_free(w.operators.v);
    osc_free(w.calls);
}

osc_status osc_optree_make(const struct osc_trace *t, const struct osc_classes *c,
                           const struct osc_order *order, unsigned n_threads,
                           struct osc_optree *tree)
{
    struct work w = {t, c, order, tree, NULL};
    osc_status st = OSC_ENOMEM;

    *tree = (struct osc_optree){0};
    tree->parent_bytes = ((size_t)order->n_rows + 1) * sizeof *tree->parent;
    tree->flags_bytes = ((size_t)order->n_rows + 1) * sizeof *tree->flags;
    tree->parent = osc_pages_alloc(tree->parent_bytes);
    tree->flags = osc_pages_alloc(tree->flags_bytes);
    w.statuses = osc_calloc((size_t)order->n_tracks + 1, sizeof *w.statuses);
    if (!tree->parent || !tree->flags || !w.statuses)
        goto out;
    osc_parallel(n_threads, order->n_tracks, walk_track, &w);
    st = OSC_OK;
    for (uint32_t i = 0; i < order->n_tracks; i++) {
        if (w.statuses[i] != OSC_OK)
            st = w.statuses[i];
    }
out:
    osc_free(w.statuses);
    if (st != OSC_OK)
        osc_optree_fini(tree);
    return st;
}

void osc_optree_fini(struct osc_optree *tree)
{
    osc_pages_free(tree->parent, tree->parent_bytes);
    osc_pages_free(tree->flags, tree->flags_bytes);
    *tree = (struct osc_optree){0};
}
