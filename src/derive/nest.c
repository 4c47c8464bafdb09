/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/nest.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"

/* A range that may contain later ones. The lowest on a stack is a sentinel that never ends. */
struct open_range {
    int64_t end_ns;
    int64_t *self_ns; /* self time of its row; for the forest */
    uint32_t row;
    uint32_t node;     /* the innermost node that contains what lies here; 0: none */
    uint32_t operator; /* the innermost launcher among those nodes; 0: none */
    uint32_t name;     /* of NODE */
};

struct findings {
    struct osc_tally overlaps, crossed, of_queues, negative;
};

struct work {
    const struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    struct osc_optree *tree; /* or NULL */
    const uint8_t *actions;  /* by form; enum osc_optree_action */
    bool has_forest;
    struct findings *findings; /* by item */
    osc_status *statuses;      /* by item */
};

/* One track. */
struct walk {
    const struct work *work;
    struct open_range *stack; /* owned */
    size_t n, cap;            /* N includes the lowest */
    struct findings found;
    int64_t call_start_ns, call_end_ns; /* of the last host call */
    bool has_twins;                     /* an operator is directly inside one of the same
                                         * name */
    bool is_queue;                      /* of a device */
    bool is_ambiguous;                  /* one stack is not enough for the tree */
};

/* Whether a call in a Python program begins and ends the range ROW, as record_function() does.
 * Names of operators that torch calls by itself have a namespace. */
static bool is_begun_by_call(const struct osc_trace *t, osc_row row)
{
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
    const uint32_t i = osc_row_place(row);
    const uint8_t kind = c->kind[i];

    if (kind == OSC_KIND_OPERATOR) {
        const struct osc_str name = osc_row_name(t, c, i);

        return !memmem(name.s, name.len, "::", 2);
    }
    return kind == OSC_KIND_ANNOTATION || kind == OSC_KIND_STEP ||
           kind == OSC_KIND_DATALOADER || kind == OSC_KIND_OPTIMIZER ||
           kind == OSC_KIND_COMMUNICATION;
}

static bool is_call(const struct osc_trace *t, osc_row row)
{
    const uint8_t kind = osc_chunk_of(&t->events, row)->kind[osc_row_place(row)];

    return kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE;
}

/* Whether X and Y, which overlap in part, are a call of Python and a range that begins or ends
 * in it because the call does that. */
static bool is_crossed_call(const struct osc_trace *t, osc_row x, osc_row y)
{
    return (is_call(t, x) && is_begun_by_call(t, y)) ||
           (is_call(t, y) && is_begun_by_call(t, x));
}

/* Pop all ranges that do not contain ROW, which is [START_NS, END_NS). */
static inline void close_before(struct walk *w, uint32_t row, int64_t start_ns, int64_t end_ns)
{
    bool is_overlapping = false, is_broken = false;

    for (;;) {
        const int64_t top_ns = w->stack[w->n - 1].end_ns;

        if (top_ns > start_ns) {
            if (end_ns <= top_ns)
                break;
            is_overlapping = true;
            is_broken = is_broken || !is_crossed_call(w->work->t, (osc_row){row},
                                                      (osc_row){w->stack[w->n - 1].row});
        }
        w->n--;
    }
    if (is_overlapping) {
        osc_tally_add(w->is_queue ? &w->found.of_queues
                      : is_broken ? &w->found.overlaps
                                  : &w->found.crossed,
                      start_ns);
        w->is_ambiguous = true;
    }
}

/* Make row I of C, DUR_NS long, a child of PARENT. */
static inline void nest_in(struct walk *w, const struct open_range *parent,
                           const struct osc_chunk *c, uint32_t i, int64_t dur_ns)
{
    const size_t depth = w->n - 1;
    const int64_t before_ns = *parent->self_ns;
    const int64_t after_ns = before_ns - dur_ns;

    c->parent[i] = parent->row;
    c->depth[i] = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
    *parent->self_ns = after_ns;
    /* It only decreases, so it passes zero once. */
    if (after_ns < 0 && before_ns >= 0) {
        const osc_row row = {parent->row};

        osc_tally_add(&w->found.negative,
                      osc_chunk_of(&w->work->t->events, row)->ts_ns[osc_row_place(row)]);
    }
}

/* Make the range at PLACE a node with FLAGS, a child of the node in ABOVE. */
static inline void add_node(struct walk *w, struct open_range *r, uint32_t place, uint8_t flags,
                            uint32_t name)
{
    struct osc_optree *const tree = w->work->tree;

    tree->flags[place] = flags;
    if (r->node != 0) {
        uint8_t *const above = &tree->flags[r->node - 1];

        tree->parent[place] = r->node;
        *above |= *above & OSC_NODE_CHILD ? OSC_NODE_CHILDREN : OSC_NODE_CHILD;
        w->has_twins |= r->name == name && (flags & *above & OSC_NODE_OPERATOR);
    }
    r->node = place + 1;
    r->name = name;
    if (flags & OSC_NODE_LAUNCHER)
        r->operator= place + 1;
}

/* Handle row I of C, at PLACE and described by R: a node, a host call, or neither. */
static inline void add_to_tree(struct walk *w, struct open_range *r, uint32_t place,
                               const struct osc_chunk *c, uint32_t i)
{
    const uint8_t action = w->work->actions[c->form[i]];
    const int64_t start_ns = c->ts_ns[i];

    if (action == OSC_OPTREE_NOTHING)
        return;
    if (action == OSC_OPTREE_CALL) {
        c->link[i] = r->operator;
        w->call_start_ns = start_ns;
        w->call_end_ns = r->end_ns;
        return;
    }
    const uint8_t flags = osc_optree_flags(w->work->c, action, c, i);
    if (flags == 0)
        return;
    /* An operator with exactly the extent of an earlier call would contain that call. */
    if (start_ns == w->call_start_ns && r->end_ns == w->call_end_ns)
        w->is_ambiguous = true;
    add_node(w, r, place, flags, c->name[i]);
}

/* HAS_FOREST and HAS_TREE are constants at each call, so that the compiler specialises it. */
static inline osc_status walk_rows(struct walk *w, uint32_t begin, uint32_t end,
                                   bool has_forest, bool has_tree)
{
    const struct osc_store *const s = &w->work->t->events;
    const uint32_t *const rows = w->work->order->rows;

    for (uint32_t at = begin; at < end; at++) {
        const uint32_t row = rows[at];
        const struct osc_chunk *const c = s->chunks[row >> OSC_CHUNK_SHIFT];
        const uint32_t i = row & OSC_CHUNK_MASK;
        const int64_t start_ns = c->ts_ns[i], dur_ns = c->dur_ns[i];

        close_before(w, row, start_ns, start_ns + dur_ns);
        if (w->n == w->cap) {
            const osc_status st = osc_grow(&w->stack, &w->cap, w->n + 1, sizeof *w->stack);
            if (st != OSC_OK)
                return st;
        }
        const struct open_range *const parent = &w->stack[w->n - 1];
        struct open_range *const r = &w->stack[w->n];
        *r = *parent;
        r->end_ns = start_ns + dur_ns;
        r->row = row;
        if (has_forest) {
            r->self_ns = &c->self_ns[i];
            c->self_ns[i] = dur_ns;
            if (w->n > 1)
                nest_in(w, parent, c, i, dur_ns);
        }
        if (has_tree)
            add_to_tree(w, r, at, c, i);
        w->n++;
    }
    return OSC_OK;
}

static osc_status walk_ranges(struct walk *w, uint32_t begin, uint32_t end)
{
    if (!w->work->tree)
        return walk_rows(w, begin, end, true, false);
    return w->work->has_forest ? walk_rows(w, begin, end, true, true)
                               : walk_rows(w, begin, end, false, true);
}

static void walk_track(void *ctx, uint32_t item)
{
    const struct work *const work = ctx;
    const struct osc_order *const o = work->order;
    const uint32_t track = o->tracks[item], begin = o->first[track], end = o->first[track + 1];
    struct walk w = {.work = work,
                     .call_start_ns = INT64_MIN,
                     .call_end_ns = INT64_MIN,
                     .is_queue = work->t->tracks[track].is_queue};
    osc_status st = osc_grow(&w.stack, &w.cap, 1, sizeof *w.stack);

    if (st == OSC_OK) {
        w.stack[w.n++] = (struct open_range){.end_ns = INT64_MAX};
        st = walk_ranges(&w, begin, end);
    }
    osc_free(w.stack);
    if (st == OSC_OK && work->tree && w.is_ambiguous)
        st = osc_optree_walk(work->tree, work->t, work->c, o, track, &w.has_twins);
    if (st == OSC_OK && w.has_twins)
        osc_optree_merge(work->tree, work->t, o, track);
    work->findings[item] = w.found;
    work->statuses[item] = st;
}

static void join_findings(struct osc_trace *t, const struct findings *of, uint32_t n_items)
{
    struct findings all = {0};

    for (uint32_t i = 0; i < n_items; i++) {
        osc_tally_join(&all.overlaps, &of[i].overlaps);
        osc_tally_join(&all.crossed, &of[i].crossed);
        osc_tally_join(&all.of_queues, &of[i].of_queues);
        osc_tally_join(&all.negative, &of[i].negative);
    }
    osc_findings_add_tally(&t->findings, OSC_FINDING_partial_overlap, &all.overlaps);
    osc_findings_add_tally(&t->findings, OSC_FINDING_crossed_call, &all.crossed);
    osc_findings_add_tally(&t->findings, OSC_FINDING_queue_overlap, &all.of_queues);
    osc_findings_add_tally(&t->findings, OSC_FINDING_negative_self, &all.negative);
}

osc_status osc_nest_make(struct osc_trace *t, const struct osc_classes *c,
                         const struct osc_order *order, bool has_forest,
                         struct osc_optree *tree, unsigned n_threads)
{
    struct work w = {.t = t, .c = c, .order = order, .tree = tree, .has_forest = has_forest};
    uint8_t *actions = osc_malloc((size_t)t->n_forms + 1);
    osc_status st = OSC_ENOMEM;

    w.findings = osc_calloc((size_t)order->n_tracks + 1, sizeof *w.findings);
    w.statuses = osc_calloc((size_t)order->n_tracks + 1, sizeof *w.statuses);
    if (!actions || !w.findings || !w.statuses)
        goto out;
    for (uint32_t f = 0; f < t->n_forms; f++)
        actions[f] = (uint8_t)osc_optree_action_of(&t->forms[f], c->forms[f]);
    w.actions = actions;
    osc_parallel(n_threads, order->n_tracks, walk_track, &w);
    st = OSC_OK;
    for (uint32_t i = 0; i < order->n_tracks; i++) {
        if (w.statuses[i] != OSC_OK)
            st = w.statuses[i];
    }
    if (st == OSC_OK && has_forest)
        join_findings(t, w.findings, order->n_tracks);
out:
    osc_free(actions);
    osc_free(w.findings);
    osc_free(w.statuses);
    return st;
}
