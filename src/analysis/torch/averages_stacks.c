/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages_stacks.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"

/* The end of a fwdbwd flow. */
struct flow_end {
    int64_t ts_ns;
    uint32_t track;
    uint32_t order; /* place in the file */
    uint64_t id;
};

struct flows {
    struct osc_idmap start_track; /* flow id -> track + 1 */
    struct flow_end *ends;        /* owned; by track, then time, then order */
    size_t n_ends, cap_ends;
    struct osc_idmap thread; /* logical thread number -> track + 1 */
};

/* Frames that torch itself adds. */
static bool is_own_frame(struct osc_str frame)
{
    static const char *const pairs[][2] = {
        {"autograd/__init__", "_make_grads"},
        {"autograd/__init__", "backward"},
        {"torch/tensor", "backward"},
        {"_internal/common_utils", "prof_callable"},
        {"_internal/common_utils", "prof_func_call"},
        {"_internal/common_utils", "prof_meth_call"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (osc_str_has(frame, osc_str_c(pairs[i][0])) &&
            osc_str_has(frame, osc_str_c(pairs[i][1])))
            return true;
    }
    return false;
}

/* Write the first DEPTH frames of TEXT as a JSON list. Every frame ends in a semicolon. */
static void list_frames(struct osc_str text, uint32_t depth, struct osc_strbuf *out)
{
    uint32_t n = 0;

    osc_strbuf_clear(out);
    osc_strbuf_addc(out, '[');
    while (text.len > 0 && n < depth) {
        const char *const semicolon = memchr(text.s, ';', text.len);
        const struct osc_str frame = {text.s,
                                      semicolon ? (uint32_t)(semicolon - text.s) : text.len};
        const uint32_t used = frame.len + (semicolon != NULL);

        text = (struct osc_str){text.s + used, text.len - used};
        if (is_own_frame(frame))
            continue;
        if (n++ > 0)
            osc_strbuf_adds(out, ", ");
        osc_json_quote(out, frame);
    }
    osc_strbuf_addc(out, ']');
}

static bool has_stack(const struct osc_avg_tree *tree, osc_row row, struct osc_arg *arg)
{
    return row.v != 0 &&
           osc_row_arg(tree->trace, osc_chunk_of(&tree->trace->events, row), osc_row_place(row),
                       OSC_ARG_KEY_CALL_STACK, arg) &&
           arg->type == OSC_ARG_STRING;
}

/* Find the stack of the event itself. A call of the runtime and work of a device without one
 * have that of the operator that launched it. */
static osc_status own_stack(struct osc_avg_stacks *s, const struct osc_avg_tree *tree,
                            const struct osc_avg_node *n, uint32_t *id)
{
    const osc_row row = {n->row};
    struct osc_arg arg;
    osc_sid text = {0};
    osc_status st = OSC_OK;

    *id = 0;
    if (!has_stack(tree, row, &arg) && (!(n->flags & (OSC_AVG_CALL | OSC_AVG_DEVICE)) ||
                                        !has_stack(tree, osc_avg_launcher_of(tree, n), &arg)))
        return OSC_OK;

    uint32_t *const known = osc_idmap_put(&s->by_sid, arg.sid.v);
    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        list_frames(osc_trace_str(tree->trace, arg.sid), s->depth, &s->scratch);
        st = s->scratch.status;
        if (st == OSC_OK && s->scratch.len > 2)
            st = osc_intern_add(
                &s->texts, (struct osc_str){s->scratch.s, (uint32_t)s->scratch.len}, &text);
        if (st != OSC_OK)
            return st;
        *known = text.v + 1;
    }
    *id = *known - 1;
    return OSC_OK;
}

/* Whether it is a backward function: its parent is the wrapper with its name. */
static bool is_backward(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    const struct osc_str wrapper = OSC_STR("autograd::engine::evaluate_function: ");

    if (n->parent == 0)
        return false;

    const struct osc_avg_name *above = &tree->names[tree->nodes[n->parent - 1].name];
    return above->is_wrapper && osc_str_eq((struct osc_str){above->text.s + wrapper.len,
                                                            above->text.len - wrapper.len},
                                           tree->names[n->name].text);
}

static int compare_ends(const void *pa, const void *pb)
{
    const struct flow_end *a = pa, *b = pb;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The id of a flow as a number; the highest bit distinguishes texts from numbers. */
static bool flow_id(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                    uint64_t *id)
{
    struct osc_arg arg;
    int64_t number = 0;

    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_FLOW_ID, &number)) {
        *id = (uint64_t)number & INT64_MAX;
        return true;
    }
    if (!osc_row_arg(t, c, i, OSC_ARG_KEY_FLOW_ID, &arg) || arg.type != OSC_ARG_STRING)
        return false;
    *id = (uint64_t)arg.sid.v | UINT64_C(1) << 63;
    return true;
}

static osc_status add_flow(struct flows *f, const struct osc_trace *t,
                           const struct osc_chunk *c, uint32_t i)
{
    const uint8_t shape = osc_row_form(t, c, i)->shape;
    osc_status st = OSC_OK;
    uint64_t id = 0;

    if ((shape != OSC_SHAPE_ARROW_FROM && shape != OSC_SHAPE_ARROW_TO) ||
        !flow_id(t, c, i, &id))
        return OSC_OK;
    if (shape == OSC_SHAPE_ARROW_FROM) {
        uint32_t *const track = osc_idmap_put(&f->start_track, id);

        if (!track)
            return OSC_ENOMEM;
        if (*track == 0)
            *track = c->track[i] + 1;
        return OSC_OK;
    }
    st = osc_grow(&f->ends, &f->cap_ends, f->n_ends + 1, sizeof *f->ends);
    if (st == OSC_OK) {
        f->ends[f->n_ends] =
            (struct flow_end){c->ts_ns[i], c->track[i], (uint32_t)f->n_ends, id};
        f->n_ends++;
    }
    return st;
}

/* Whether torch reads rows of F: it does not know the older word. */
static bool is_forward(const struct osc_trace *t, const struct osc_form *f)
{
    return f->arrow == OSC_ARROW_FORWARD &&
           !osc_str_eq(osc_trace_str(t, f->category), OSC_STR("forward_backward"));
}

static osc_status gather_flows(struct flows *f, const struct osc_trace *t)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < t->others.n_chunks && st == OSC_OK; k++) {
        const struct osc_chunk *c = t->others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++) {
            if (is_forward(t, osc_row_form(t, c, i)))
                st = add_flow(f, t, c, i);
        }
    }
    if (f->n_ends > 0)
        osc_sort(f->ends, f->n_ends, sizeof *f->ends, compare_ends);
    return st;
}

/* The thread (index + 1, or 0) on which the flow that ends at (TRACK, TS_NS) starts. */
static uint32_t start_of_flow(const struct flows *f, uint32_t track, int64_t ts_ns)
{
    size_t low = 0, high = f->n_ends;

    OSC_BISECT(low, high, i,
               f->ends[i].track < track ||
                   (f->ends[i].track == track && f->ends[i].ts_ns < ts_ns));
    if (low == f->n_ends || f->ends[low].track != track || f->ends[low].ts_ns != ts_ns)
        return 0;
    return osc_idmap_get(&f->start_track, f->ends[low].id);
}

static bool arg_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n,
                   enum osc_arg_key key, int64_t *value)
{
    return osc_row_arg_int(tree->trace, osc_avg_chunk(tree, n),
                           osc_row_place((osc_row){n->row}), key, value);
}

static uint32_t track_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n)
{
    return osc_avg_chunk(tree, n)->track[osc_row_place((osc_row){n->row})];
}

/* Find the thread of each logical number: the first flow that shows it counts. */
static osc_status resolve_threads(struct flows *f, const struct osc_avg_tree *tree)
{
    for (uint32_t i = 0; f->n_ends > 0 && i < tree->n_host; i++) {
        const struct osc_avg_node *n = &tree->nodes[i];
        int64_t logical = 0;

        if (!(n->flags & OSC_AVG_OPERATOR) ||
            !arg_of(tree, n, OSC_ARG_KEY_FWD_THREAD, &logical))
            continue;

        const uint32_t track = start_of_flow(f, track_of(tree, n), osc_avg_start_ns(tree, n));
        uint32_t *const known = track ? osc_idmap_put(&f->thread, (uint64_t)logical) : NULL;
        if (track != 0 && !known)
            return OSC_ENOMEM;
        if (known && *known == 0)
            *known = track;
    }
    return OSC_OK;
}

/*
 * (Sequence number, thread) as one key. Numbers count the nodes of a graph and there are few
 * tracks, so both fit; others are left without a stack.
 */
static bool forward_key(int64_t sequence, uint32_t track, uint64_t *key)
{
    if (sequence < 0 || sequence >= INT64_C(1) << 40 || track >= 1u << 24)
        return false;
    *key = (uint64_t)sequence << 24 | track;
    return true;
}

/*
 * Find the own stacks of all nodes that are not below a backward function. Also find which
 * node supplies the stack for each forward operator, and in ABOVE the backward function (node
 * + 1) that each node is or lies below.
 */
static osc_status stack_forward(struct osc_avg_stacks *s, const struct osc_avg_tree *tree,
                                uint32_t *above, struct osc_idmap *forward)
{
    for (uint32_t i = 0; i < tree->n_host; i++) {
        const struct osc_avg_node *n = &tree->nodes[i];
        int64_t sequence = -1;
        uint64_t key = 0;

        if (is_backward(tree, n))
            above[i] = i + 1;
        else if (n->parent != 0)
            above[i] = above[n->parent - 1];
        if (above[i] != 0 || (n->flags & (OSC_AVG_FOLDED | OSC_AVG_RECORD)))
            continue;

        const osc_status st = own_stack(s, tree, n, &s->of_node[i]);
        if (st != OSC_OK)
            return st;
        if (!arg_of(tree, n, OSC_ARG_KEY_SEQUENCE_NUMBER, &sequence) ||
            !forward_key(sequence, track_of(tree, n), &key))
            continue;

        uint32_t *const supplier = osc_idmap_put(forward, key);
        if (!supplier)
            return OSC_ENOMEM;
        if (*supplier == 0)
            *supplier = s->of_node[i] + 1;
    }
    return OSC_OK;
}

static void stack_backward(struct osc_avg_stacks *s, const struct osc_avg_tree *tree,
                           const uint32_t *above, const struct flows *f,
                           const struct osc_idmap *forward)
{
    for (uint32_t i = 0; i < tree->n_host; i++) {
        int64_t sequence = -1, logical = 0;
        uint64_t key = 0;

        if (above[i] == 0)
            continue;
        if (above[i] != i + 1) {
            s->of_node[i] = s->of_node[above[i] - 1]; /* which stands before this one */
            continue;
        }

        const struct osc_avg_node *n = &tree->nodes[i];
        if (!arg_of(tree, n, OSC_ARG_KEY_SEQUENCE_NUMBER, &sequence) ||
            !arg_of(tree, n, OSC_ARG_KEY_FWD_THREAD, &logical))
            continue;

        const uint32_t track = osc_idmap_get(&f->thread, (uint64_t)logical);
        if (track == 0 || !forward_key(sequence, track - 1, &key))
            continue;

        const uint32_t stack = osc_idmap_get(forward, key);
        s->of_node[i] = stack == 0 ? 0 : stack - 1;
    }
}

osc_status osc_avg_stacks_build(struct osc_avg_stacks *s, const struct osc_avg_tree *tree,
                                uint32_t depth)
{
    const size_t size = ((size_t)tree->n_nodes + 1) * sizeof(uint32_t);
    struct osc_idmap forward = {0};
    struct flows f = {0};
    uint32_t *above = NULL;
    osc_status st = OSC_OK;

    *s = (struct osc_avg_stacks){.depth = depth, .of_node_size = size};
    s->texts.arena = &s->arena;
    s->texts.seed = osc_hash_seed();
    s->of_node = osc_pages_alloc(size);
    above = osc_pages_alloc(size);
    st = s->of_node && above ? gather_flows(&f, tree->trace) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = resolve_threads(&f, tree);
    if (st == OSC_OK)
        st = stack_forward(s, tree, above, &forward);
    if (st == OSC_OK)
        stack_backward(s, tree, above, &f, &forward);
    for (uint32_t i = tree->n_host; st == OSC_OK && i < tree->n_nodes; i++)
        st = own_stack(s, tree, &tree->nodes[i], &s->of_node[i]);
    osc_pages_free(above, size);
    osc_idmap_fini(&forward);
    osc_idmap_fini(&f.start_track);
    osc_idmap_fini(&f.thread);
    osc_free(f.ends);
    return st;
}

void osc_avg_stacks_fini(struct osc_avg_stacks *s)
{
    osc_pages_free(s->of_node, s->of_node_size);
    osc_intern_fini(&s->texts);
    osc_arena_fini(&s->arena);
    osc_idmap_fini(&s->by_sid);
    osc_strbuf_fini(&s->scratch);
    *s = (struct osc_avg_stacks){0};
}

struct osc_str osc_avg_stack_text(const struct osc_avg_stacks *s, uint32_t id)
{
    return id == 0 ? OSC_STR("[]") : osc_intern_str(&s->texts, (osc_sid){id});
}
