/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/pattern_match.h"

#include "analysis/torch/pattern_tree.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "derive/facts.h"

/* What the kernels of a product of matrices are. */
enum osc_product { OSC_PRODUCT_FP32 = 1, OSC_PRODUCT_TENSOR_CORES = 2 };

/* A loop that indexes a tensor does so at least this often. */
#define INDEXING_MIN 10u
/* Sizes of matrices shall be multiples of this. */
#define ALIGNED 8
/* The first operator in a function is looked for among this many ranges, the caller in so many
 * bytes of its stack, and inputs in so many bytes of a list: a hostile file has endless ones.
 */
#define RANGES_MAX 1024u
#define STACK_MAX  (64u << 10)
#define LIST_MAX   4096u

/* An event as a row. */
struct event {
    const struct osc_chunk *c;
    uint32_t i;
};

static struct event event_of(const struct osc_trace *t, uint32_t row)
{
    return (struct event){osc_chunk_of(&t->events, (osc_row){row}),
                          osc_row_place((osc_row){row})};
}

static struct osc_str first_of(struct osc_str text, uint32_t max)
{
    return (struct osc_str){text.s, text.len < max ? text.len : max};
}

/* --- inputs of operators ------------------------------------------------------------------ */

/* The list or object in argument KEY of the event, as JSON text. */
static bool list_of(const struct osc_trace *t, struct event e, enum osc_arg_key key,
                    struct osc_str *list)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, e.c, e.i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return false;
    *list = first_of(osc_trace_str(t, arg.sid), LIST_MAX);
    return true;
}

/* Type INDEX of the inputs of the event, without quotation marks; "": it is no tensor. */
static struct osc_str type_of(const struct osc_trace *t, struct event e, uint32_t index)
{
    struct osc_str types, type = {0};

    if (!list_of(t, e, OSC_ARG_KEY_INPUT_TYPE, &types))
        return OSC_STR("");
    for (uint32_t k = 0; k <= index; k++) {
        if (!osc_json_next(&types, &type))
            return OSC_STR("");
    }
    if (type.len < 2 || type.s[0] != '"')
        return OSC_STR("");
    type = (struct osc_str){type.s + 1, type.len - 2};
    return osc_str_eq(type, OSC_STR("Scalar")) || osc_str_ends(type, OSC_STR("List"))
               ? OSC_STR("")
               : type;
}

/* Whether the last two of the sizes LIST are multiples of ALIGNED. */
static bool is_aligned(struct osc_str list)
{
    struct osc_str size;
    int64_t last[2] = {0}, n = 0;

    while (osc_json_next(&list, &size)) {
        if (!osc_json_int(size, &n))
            return true; /* no tensor but a list of them, or unknown */
        last[0] = last[1];
        last[1] = n;
    }
    return last[0] % ALIGNED == 0 && last[1] % ALIGNED == 0;
}

static bool are_aligned(const struct osc_trace *t, struct event e)
{
    struct osc_str shapes, shape;

    if (!list_of(t, e, OSC_ARG_KEY_INPUT_DIMS, &shapes) &&
        !list_of(t, e, OSC_ARG_KEY_INPUT_DIMS_OLD, &shapes))
        return true;
    while (osc_json_next(&shapes, &shape)) {
        if (!is_aligned(shape))
            return false;
    }
    return true;
}

/* --- what kernels tell -------------------------------------------------------------------- */

/* Whether the device of TRACK has TF32. */
static bool has_tf32(const struct osc_trace *t, const struct osc_track *track)
{
    struct osc_str family = osc_trace_str(t, track->device);
    const int64_t index = osc_device_split(family, &family);
    const struct osc_device *const device =
        osc_trace_device(t, osc_trace_str(t, track->device), index);

    return device && osc_str_eq(family, OSC_STR("cuda")) && device->limits.major >= 8;
}

/* Note for each operator that launched kernels of products on such a device what they are. */
static osc_status note_products(const struct osc_trace *t, struct osc_patterns *p)
{
    const struct osc_facts *const f = osc_trace_facts(t);

    for (size_t k = 0; k < f->links.n_works; k++) {
        const struct event e = event_of(t, f->links.works[k].row);
        const uint32_t launch = e.c->link[e.i];

        if (e.c->kind[e.i] != OSC_KIND_KERNEL || launch == 0 ||
            !has_tf32(t, &t->tracks[e.c->track[e.i]]))
            continue;
        const struct event call = event_of(t, launch);
        const uint32_t op = osc_kind_is_launch((enum osc_kind)call.c->kind[call.i])
                                ? call.c->link[call.i]
                                : launch;
        const enum osc_tensor_cores uses =
            osc_name_tensor_cores(f->classes.names[e.c->name[e.i]], false);

        if (op == 0 || uses == OSC_TENSOR_CORES_UNKNOWN)
            continue;
        uint32_t *const product = osc_idmap_put(&p->of_products, op);
        if (!product)
            return OSC_ENOMEM;
        *product |= uses == OSC_TENSOR_CORES_YES ? OSC_PRODUCT_TENSOR_CORES : OSC_PRODUCT_FP32;
    }
    return OSC_OK;
}

/* --- patterns ----------------------------------------------------------------------------- */

static const struct osc_pattern_node *at(const struct osc_pattern_tree *tree, uint32_t number)
{
    return number > 0 ? &tree->nodes[number - 1] : NULL;
}

/* The first child of NODE, if its name has BITS; else NULL. */
static const struct osc_pattern_node *first_child(const struct osc_pattern_node *node,
                                                  uint32_t bits)
{
    return node->last > 0 && (node[1].bits & bits) ? node + 1 : NULL;
}

/* The last child of NODE, if its name has BITS; else NULL. */
static const struct osc_pattern_node *last_child(const struct osc_pattern_tree *tree,
                                                 const struct osc_pattern_node *node,
                                                 uint32_t bits)
{
    const struct osc_pattern_node *const last = node ? at(tree, node->last) : NULL;

    return last && (last->bits & bits) ? last : NULL;
}

static bool is_extra_copy(const struct osc_pattern_tree *tree,
                          const struct osc_pattern_node *node)
{
    const struct osc_pattern_node *const parent = at(tree, node->parent);
    const struct osc_pattern_node *const copy = last_child(
        tree, last_child(tree, node, OSC_PATTERN_NAME_TO_COPY), OSC_PATTERN_NAME_COPY);

    if (!copy || !parent || !(parent->flags & OSC_PATTERN_AFTER_FILL))
        return false;
    const struct event e = event_of(tree->t, copy->row);
    const struct osc_str to = type_of(tree->t, e, 0);
    return to.len > 0 && osc_str_eq(to, type_of(tree->t, e, 1));
}

static bool is_synchronous(const struct osc_pattern_node *node)
{
    const struct osc_pattern_node *const get = first_child(node, OSC_PATTERN_NAME_GET);

    return get && get->last > 0 && !first_child(get, OSC_PATTERN_NAME_CHECK);
}

static bool is_conv_bias(const struct osc_pattern_tree *tree,
                         const struct osc_pattern_node *node)
{
    const struct osc_pattern_node *const next = at(tree, tree->nodes[node->module - 1].next);

    return next && (next->bits & OSC_PATTERN_NAME_NORM) &&
           type_of(tree->t, event_of(tree->t, node->row), 2).len > 0;
}

static bool is_unaligned(const struct osc_pattern_tree *tree,
                         const struct osc_pattern_node *node)
{
    const struct event e = event_of(tree->t, node->row);
    const struct osc_str type = type_of(tree->t, e, 0);

    return (osc_str_eq(type, OSC_STR("c10::Half")) ||
            osc_str_eq(type, OSC_STR("c10::BFloat16"))) &&
           !are_aligned(tree->t, e);
}

static bool is_fp32(const struct osc_pattern_tree *tree, const struct osc_pattern_node *node,
                    const struct osc_patterns *p)
{
    return osc_idmap_get(&p->of_products, node->row) == OSC_PRODUCT_FP32 &&
           osc_str_eq(type_of(tree->t, event_of(tree->t, node->row), 0), OSC_STR("float"));
}

/* Whether the N siblings from node A on have the names of those from B on. */
static bool are_same(const struct osc_pattern_tree *tree, uint32_t a, uint32_t b, uint32_t n)
{
    for (; n > 0 && b > 0; n--) {
        const struct event x = event_of(tree->t, tree->nodes[a - 1].row),
                           y = event_of(tree->t, tree->nodes[b - 1].row);

        if (x.c->name[x.i] != y.c->name[y.i])
            return false;
        a = tree->nodes[a - 1].next;
        b = tree->nodes[b - 1].next;
    }
    return n == 0;
}

/*
 * Whether the index NODE begins a loop: it and what follows it up to the next one come again
 * and again. Those that were counted begin none, so each sibling is compared twice at most.
 */
static bool is_indexing(struct osc_pattern_tree *tree, const struct osc_pattern_node *node)
{
    const uint32_t self = (uint32_t)(node - tree->nodes) + 1;
    uint32_t again = node->next, n = 1, n_repeats = 1;

    if (node->flags & OSC_PATTERN_VISITED)
        return false;
    while (again > 0 && !(tree->nodes[again - 1].bits & OSC_PATTERN_NAME_SELECT)) {
        again = tree->nodes[again - 1].next;
        n++;
    }
    while (again > 0 && are_same(tree, self, again, n)) {
        tree->nodes[again - 1].flags |= OSC_PATTERN_VISITED;
        n_repeats++;
        for (uint32_t k = 0; k < n; k++)
            again = tree->nodes[again - 1].next;
    }
    return n_repeats >= INDEXING_MIN;
}

/* The patterns that NODE matches, a bit for each. */
static uint32_t patterns_of(struct osc_pattern_tree *tree, const struct osc_pattern_node *node,
                            const struct osc_patterns *p)
{
    const uint32_t bits = node->bits;
    uint32_t found = 0;

    if ((bits & OSC_PATTERN_NAME_TO) && is_extra_copy(tree, node))
        found |= 1u << OSC_PATTERN_EXTRA_COPY;
    if ((bits & OSC_PATTERN_NAME_MM) && is_fp32(tree, node, p))
        found |= 1u << OSC_PATTERN_FP32_MATMUL;
    if (bits & OSC_PATTERN_NAME_SINGLE)
        found |= 1u << OSC_PATTERN_SINGLE_TENSOR;
    if ((bits & OSC_PATTERN_NAME_ITER) && is_synchronous(node))
        found |= 1u << OSC_PATTERN_DATALOADER;
    if ((bits & OSC_PATTERN_NAME_CLEAR) && (node->flags & OSC_PATTERN_HAS_ZERO))
        found |= 1u << OSC_PATTERN_ZERO_GRAD;
    if ((bits & OSC_PATTERN_NAME_CONV) && is_conv_bias(tree, node))
        found |= 1u << OSC_PATTERN_CONV_BIAS;
    if ((bits & OSC_PATTERN_NAME_MATMUL) && is_unaligned(tree, node))
        found |= 1u << OSC_PATTERN_UNALIGNED;
    if ((bits & OSC_PATTERN_NAME_SELECT) && is_indexing(tree, node))
        found |= 1u << OSC_PATTERN_INDEXING;
    return found;
}

/* --- who caused it ------------------------------------------------------------------------ */

static osc_status add_source(struct osc_patterns *p, const struct osc_python_frame *frame,
                             osc_sid *source)
{
    char *const text = osc_malloc((size_t)frame->file.len + frame->line.len + 1);

    if (!text)
        return OSC_ENOMEM;
    memcpy(text, frame->file.s, frame->file.len);
    text[frame->file.len] = ':';
    memcpy(text + frame->file.len + 1, frame->line.s, frame->line.len);
    const osc_status st = osc_intern_add(
        &p->sources, (struct osc_str){text, frame->file.len + frame->line.len + 1}, source);
    osc_free(text);
    return st;
}

/*
 * The innermost function in STACK, outside of the function NAME, that is not torch's. NAME is
 * "" for an operator, whose stack has only what is around it.
 */
static bool find_in_stack(struct osc_str stack, struct osc_str name,
                          struct osc_python_frame *found)
{
    struct osc_python_frame of_name, frame;
    bool is_outside = !osc_python_frame_split(name, &of_name);

    stack = first_of(stack, STACK_MAX);
    while (stack.len > 0) {
        const char *const end = memchr(stack.s, ';', stack.len);
        const uint32_t len = end ? (uint32_t)(end - stack.s) : stack.len;
        const struct osc_str text = {stack.s, len};

        stack =
            (struct osc_str){stack.s + len + (end != NULL), stack.len - len - (end != NULL)};
        if (!osc_python_frame_split(text, &frame))
            continue;
        if (is_outside && osc_python_frame_is_outside(&frame)) {
            *found = frame;
            return true;
        }
        is_outside = is_outside || (osc_str_eq(frame.file, of_name.file) &&
                                    osc_str_eq(frame.function, of_name.function));
    }
    return false;
}

/* The first operator with a stack that NODE is or that lies in it; NULL: none. */
static const struct osc_pattern_node *first_with_stack(const struct osc_pattern_tree *tree,
                                                       const struct osc_pattern_node *node)
{
    const struct osc_pattern_node *const first = node;

    for (uint32_t k = 0; k < RANGES_MAX && node < tree->nodes + tree->n; k++, node++) {
        const struct event e = event_of(tree->t, node->row);

        /* Of what follows, only what is in it has a parent that is not before it. */
        if (k > 0 && node->parent <= (uint32_t)(first - tree->nodes))
            return NULL;
        if (e.c->kind[e.i] == OSC_KIND_OPERATOR &&
            tree->t->forms[e.c->form[e.i]].known[OSC_ARG_KEY_CALL_STACK] >= 0)
            return node;
    }
    return NULL;
}

/* Find file and line of who caused NODE, in the stack of an operator. */
static osc_status find_line(const struct osc_pattern_tree *tree,
                            const struct osc_pattern_node *node, struct osc_patterns *p,
                            osc_sid *source)
{
    const struct osc_pattern_node *const with = first_with_stack(tree, node);
    struct osc_python_frame frame;
    struct osc_arg stack;

    if (!with)
        return OSC_OK;
    const struct event e = event_of(tree->t, with->row), self = event_of(tree->t, node->row);
    if (!osc_row_arg(tree->t, e.c, e.i, OSC_ARG_KEY_CALL_STACK, &stack) ||
        stack.type != OSC_ARG_STRING)
        return OSC_OK;
    const osc_sid name = {with == node ? 0 : self.c->name[self.i]};
    uint32_t *const known = osc_idmap_put(&p->of_stack, (uint64_t)stack.sid.v << 32 | name.v);
    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        osc_sid id = {0};

        if (find_in_stack(osc_trace_str(tree->t, stack.sid), osc_trace_str(tree->t, name),
                          &frame)) {
            const osc_status st = add_source(p, &frame, &id);
            if (st != OSC_OK)
                return st;
        }
        *known = id.v + 1;
    }
    source->v = *known - 1;
    return OSC_OK;
}

/* Find who caused NODE. */
static osc_status find_source(const struct osc_pattern_tree *tree,
                              const struct osc_pattern_node *node, struct osc_patterns *p,
                              struct osc_pattern_match *m)
{
    const struct osc_pattern_node *const caller = at(tree, node->caller);
    struct osc_python_frame frame;

    if (caller) {
        const struct event e = event_of(tree->t, caller->row);

        m->function.v = e.c->name[e.i];
    }
    const osc_status st = find_line(tree, node, p, &m->source);
    if (st != OSC_OK || m->source.v != 0 || !caller ||
        !osc_python_frame_split(first_of(osc_trace_str(tree->t, m->function), LIST_MAX),
                                &frame))
        return st;
    return add_source(p, &frame, &m->source);
}

/* --- all tracks --------------------------------------------------------------------------- */

static osc_status add_match(struct osc_patterns *p, const struct osc_pattern_match *m)
{
    if (osc_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v) != OSC_OK)
        return OSC_ENOMEM;
    p->v[p->n++] = *m;
    return OSC_OK;
}

/* Add what NODE matches. */
static osc_status match_node(struct osc_pattern_tree *tree, const struct osc_pattern_node *node,
                             struct osc_patterns *p)
{
    const uint32_t found = patterns_of(tree, node, p);
    struct osc_pattern_match m = {.row = {node->row}};
    osc_status st = found != 0 ? find_source(tree, node, p, &m) : OSC_OK;

    for (unsigned k = 0; k < OSC_PATTERN_COUNT && st == OSC_OK; k++) {
        m.pattern = (enum osc_pattern)k;
        if (found & 1u << k)
            st = add_match(p, &m);
    }
    return st;
}

static osc_status match_track(struct osc_pattern_tree *tree, uint32_t track,
                              struct osc_patterns *p)
{
    osc_status st = osc_pattern_tree_make(tree, track);

    for (uint32_t k = 0; k < tree->n && st == OSC_OK; k++) {
        const struct event e = event_of(tree->t, tree->nodes[k].row);

        p->has_python = p->has_python || e.c->kind[e.i] == OSC_KIND_PYTHON;
        p->has_types =
            p->has_types || tree->t->forms[e.c->form[e.i]].known[OSC_ARG_KEY_INPUT_TYPE] >= 0;
        if (tree->nodes[k].bits != OSC_PATTERN_NAME_SEEN)
            st = match_node(tree, &tree->nodes[k], p);
    }
    return st;
}

static int by_pattern(const void *x, const void *y, void *ctx)
{
    const struct osc_pattern_match *const a = x, *const b = y;
    const struct osc_pattern_tree *const tree = ctx;
    const struct event e = event_of(tree->t, a->row.v), f = event_of(tree->t, b->row.v);

    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (e.c->ts_ns[e.i] != f.c->ts_ns[f.i])
        return e.c->ts_ns[e.i] < f.c->ts_ns[f.i] ? -1 : 1;
    return (a->row.v > b->row.v) - (a->row.v < b->row.v);
}

osc_status osc_patterns_find(const struct osc_trace *t, struct osc_patterns *p)
{
    struct osc_pattern_tree tree = {0};
    size_t n = 0;

    p->sources.arena = &p->arena;
    p->sources.seed = osc_hash_seed();
    osc_status st = note_products(t, p);
    if (st == OSC_OK)
        st = osc_pattern_tree_init(&tree, t);
    for (uint32_t k = 1; k < t->n_tracks && st == OSC_OK; k++) {
        if (!t->tracks[k].is_queue && !t->tracks[k].is_summary)
            st = match_track(&tree, k, p);
    }
    /* Without calls of Python all operators of a thread are siblings. */
    for (size_t k = 0; k < p->n && st == OSC_OK; k++) {
        if (p->has_python || p->v[k].pattern != OSC_PATTERN_EXTRA_COPY)
            p->v[n++] = p->v[k];
    }
    p->n = n;
    osc_sort_with(p->v, p->n, sizeof *p->v, by_pattern, &tree);
    osc_pattern_tree_fini(&tree);
    return st;
}

void osc_patterns_fini(struct osc_patterns *p)
{
    osc_free(p->v);
    osc_intern_fini(&p->sources);
    osc_arena_fini(&p->arena);
    osc_idmap_fini(&p->of_stack);
    osc_idmap_fini(&p->of_products);
    *p = (struct osc_patterns){0};
}
