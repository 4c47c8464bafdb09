/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/pair_tree.h"

#include "analysis/diff/align.h"
#include "base/hash.h"
#include "base/mem.h"
#include "model/kind.h"

#define SEED       UINT64_C(0x616c69676e)
#define NAME_BYTES 200u /* of a name in a path */
#define PATH_BYTES 1000u

/* --- one side ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint64_t both[] = {a, b};

    return osc_hash(both, sizeof both, SEED);
}

/* The hash by which nodes are alike. PyTorch numbers modules of a class, so that one more moves
 * the numbers of all behind it. */
static uint64_t hash_name(struct osc_str name, enum osc_kind kind)
{
    uint32_t len = name.len;

    if (kind == OSC_KIND_MODULE) {
        while (len > 0 && name.s[len - 1] >= '0' && name.s[len - 1] <= '9')
            len--;
    }
    return mix(osc_hash(name.s, len, SEED), (uint64_t)kind);
}

/* Whether row ROW of T is of a step that is compared. */
static bool is_compared(const struct osc_side_nodes *t, uint64_t row)
{
    const int64_t step = osc_result_get_int(t->rows, row, OSC_TREE_STEP);

    if (step < 0)
        return step == OSC_TREE_LATER;
    const uint32_t number =
        osc_run_steps_find(&t->steps, osc_result_get_int(t->rows, row, OSC_TREE_SPAN), step);
    return number != 0 && !t->steps.all[number - 1].is_left_out;
}

static void add_values(struct osc_side_nodes *t, struct osc_side_node *node, uint64_t row)
{
    const int64_t host_ns = osc_result_get_int(t->rows, row, OSC_TREE_HOST);
    const int64_t device_ns = osc_result_get_int(t->rows, row, OSC_TREE_DEVICE);

    node->calls += osc_result_get_int(t->rows, row, OSC_TREE_CALLS);
    node->host_ns += host_ns;
    node->device_ns += device_ns;
    if (is_compared(t, row)) {
        node->step_calls += osc_result_get_int(t->rows, row, OSC_TREE_CALLS);
        node->step_ns += host_ns;
        node->step_device_ns += device_ns;
    }
}

/* Make a node of each place. Its parent must stand before it. */
static osc_status make_nodes(struct osc_side_nodes *t)
{
    struct osc_idmap nodes = {0};
    osc_status st = OSC_OK;

    t->n = 1;
    for (uint64_t row = 0; row < t->rows->n_rows && st == OSC_OK; row++) {
        const int64_t parent = osc_result_get_int(t->rows, row, OSC_TREE_PARENT);
        uint32_t *const own =
            osc_idmap_put(&nodes, (uint64_t)osc_result_get_int(t->rows, row, OSC_TREE_HASH));

        if (!own) {
            st = OSC_ENOMEM;
            break;
        }
        const uint32_t k = *own != 0 ? *own : t->n;
        struct osc_side_node *const node = &t->nodes[k];
        if (*own == 0) {
            *own = t->n++;
            node->row = (uint32_t)row;
            node->name =
                hash_name(osc_result_get_str(t->rows, row, OSC_TREE_NAME),
                          (enum osc_kind)osc_result_get_int(t->rows, row, OSC_TREE_KIND));
            t->parents[k] = parent == 0 ? 0 : osc_idmap_get(&nodes, (uint64_t)parent);
            t->parents[k] = t->parents[k] < k ? t->parents[k] : 0;
            t->nodes[t->parents[k]].n_children++;
        }
        add_values(t, node, row);
    }
    osc_idmap_fini(&nodes);
    return st;
}

/* List the children of each node, and hash what is in it. */
static void list_children(struct osc_side_nodes *t)
{
    uint32_t at = 0;

    for (uint32_t k = 0; k < t->n; k++) {
        t->nodes[k].first_child = at;
        at += t->nodes[k].n_children;
        t->nodes[k].n_children = 0;
    }
    for (uint32_t k = 1; k < t->n; k++) {
        struct osc_side_node *const parent = &t->nodes[t->parents[k]];

        t->children[parent->first_child + parent->n_children++] = k;
    }
    for (uint32_t k = t->n; k-- > 0;) {
        struct osc_side_node *const node = &t->nodes[k];

        for (uint32_t c = 0; c < node->n_children; c++)
            node->content =
                mix(node->content, t->nodes[t->children[node->first_child + c]].whole);
        node->whole = mix(node->name, node->content);
    }
}

static osc_status make_tree(const struct osc_result *steps, const struct osc_result *rows,
                            struct osc_side_nodes *t)
{
    const size_t most = (size_t)rows->n_rows + 1;

    t->rows = rows;
    t->nodes = osc_calloc(most, sizeof *t->nodes);
    t->children = osc_calloc(most, sizeof *t->children);
    t->parents = osc_calloc(most, sizeof *t->parents);
    osc_status st = osc_run_steps_make(steps, &t->steps);
    if (st == OSC_OK && (!t->nodes || !t->children || !t->parents))
        st = OSC_ENOMEM;
    for (size_t i = 0; i < t->steps.n_all && st == OSC_OK; i++)
        t->n_steps += t->steps.all[i].is_left_out ? 0 : t->steps.all[i].parts;
    if (st == OSC_OK)
        st = make_nodes(t);
    if (st == OSC_OK)
        list_children(t);
    return st;
}

static void free_tree(struct osc_side_nodes *t)
{
    osc_free(t->nodes);
    osc_free(t->children);
    osc_free(t->parents);
    osc_run_steps_fini(&t->steps);
}

/* --- alignment ----------------------------------------------------------------------- */

enum by { BY_WHOLE, BY_NAME, BY_CONTENT };

/* By what NODE goes with others; nodes without content go with none by it. */
static uint64_t value_of(const struct osc_side_node *node, enum by by, uint64_t unlike)
{
    switch (by) {
    case BY_WHOLE:
        return node->whole;
    case BY_NAME:
        return node->name;
    case BY_CONTENT:
        return node->n_children > 0 ? node->content : unlike;
    }
    return unlike;
}

static const struct osc_side_node *child(const struct osc_side_nodes *t,
                                         const struct osc_side_node *parent, uint32_t k)
{
    return &t->nodes[t->children[parent->first_child + k]];
}

/* Align children [A0, A1) of BASE with [B0, B1) of NEW, none of which have partners. */
static osc_status align_gap(struct osc_pair_tree *c, const struct osc_side_node *base,
                            const struct osc_side_node *new_, const uint32_t *ends, enum by by)
{
    const uint32_t a0 = ends[0], a1 = ends[1], b0 = ends[2], b1 = ends[3];

    if (a0 == a1 || b0 == b1)
        return OSC_OK;
    for (uint32_t k = a0; k < a1; k++)
        c->values[OSC_BASE][k - a0] =
            value_of(child(&c->trees[OSC_BASE], base, k), by, (uint64_t)2 * k);
    for (uint32_t k = b0; k < b1; k++)
        c->values[OSC_NEW][k - b0] =
            value_of(child(&c->trees[OSC_NEW], new_, k), by, (uint64_t)2 * k + 1);
    const struct osc_sequence a = {c->values[OSC_BASE], a1 - a0},
                              b = {c->values[OSC_NEW], b1 - b0};
    const osc_status st = osc_align(&a, &b, c->gap_to);
    for (uint32_t k = 0; k < a.n && st == OSC_OK; k++) {
        if (c->gap_to[k] != OSC_ALIGN_NONE)
            c->to[a0 + k] = b0 + c->gap_to[k];
    }
    return st;
}

/* One node that is left on each side, between the same neighbours, is one that was renamed, if
 * both are of one kind. */
static void pair_single(struct osc_pair_tree *c, const struct osc_side_node *base,
                        const struct osc_side_node *new_, const uint32_t *ends)
{
    if (ends[1] - ends[0] != 1 || ends[3] - ends[2] != 1)
        return;
    const struct osc_side_node *const a = child(&c->trees[OSC_BASE], base, ends[0]);
    const struct osc_side_node *const b = child(&c->trees[OSC_NEW], new_, ends[2]);
    if (osc_result_get_int(c->trees[OSC_BASE].rows, a->row, OSC_TREE_KIND) ==
        osc_result_get_int(c->trees[OSC_NEW].rows, b->row, OSC_TREE_KIND))
        c->to[ends[0]] = ends[2];
}

/* Align the children of BASE and NEW that have no partner yet, gap by gap. */
static osc_status align_gaps(struct osc_pair_tree *c, const struct osc_side_node *base,
                             const struct osc_side_node *new_, int by)
{
    uint32_t ends[4] = {0};
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k <= base->n_children && st == OSC_OK; k++) {
        const uint32_t partner = k < base->n_children ? c->to[k] : new_->n_children;

        if (partner == OSC_ALIGN_NONE)
            continue;
        ends[1] = k;
        ends[3] = partner;
        if (by < 0)
            pair_single(c, base, new_, ends);
        else
            st = align_gap(c, base, new_, ends, (enum by)by);
        ends[0] = k + 1;
        ends[2] = partner + 1;
    }
    return st;
}

/* Align the children of BASE and NEW in c->to. */
static osc_status align_children(struct osc_pair_tree *c, const struct osc_side_node *base,
                                 const struct osc_side_node *new_)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < base->n_children; k++)
        c->to[k] = OSC_ALIGN_NONE;
    for (int by = BY_WHOLE; by <= BY_CONTENT && st == OSC_OK; by++)
        st = align_gaps(c, base, new_, by);
    return st == OSC_OK ? align_gaps(c, base, new_, -1) : st;
}

/* --- pairs --------------------------------------------------------------------------- */

/* The path of NAME below ABOVE. */
static osc_sid add_path(struct osc_pair_tree *c, osc_sid above, struct osc_str name)
{
    static const char gap[] = "/.../";
    const struct osc_str all =
        above.v == 0 ? OSC_STR("") : osc_intern_str(&c->out->dict, above);

    osc_strbuf_clear(&c->path);
    if (all.len > PATH_BYTES) { /* again and again the same: the begin, and the last name */
        osc_strbuf_add(&c->path, all.s, PATH_BYTES / 2);
        osc_strbuf_adds(&c->path, gap);
    } else if (all.len > 0) {
        osc_strbuf_addstr(&c->path, all);
        osc_strbuf_addc(&c->path, '/');
    }
    osc_strbuf_add(&c->path, name.s, name.len < NAME_BYTES ? name.len : NAME_BYTES);
    const osc_sid plain =
        osc_result_word(c->out, (struct osc_str){c->path.s, (uint32_t)c->path.len});
    uint32_t *const n = osc_idmap_put(&c->n_of_path, plain.v);
    if (!n)
        c->out->status = OSC_ENOMEM;
    if (!n || ++*n == 1)
        return plain;
    osc_strbuf_addf(&c->path, "[%u]", *n);
    if (c->path.status != OSC_OK)
        c->out->status = c->path.status;
    return osc_result_word(c->out, (struct osc_str){c->path.s, (uint32_t)c->path.len});
}

static osc_status push(struct osc_pair_tree *c, uint32_t base, uint32_t new_,
                       const struct osc_node_pair *above)
{
    if (osc_grow(&c->stack, &c->cap, c->n + 1, sizeof *c->stack) != OSC_OK)
        return OSC_ENOMEM;
    const struct osc_str name = new_ != OSC_NO_NODE
                                    ? osc_side_node_name(&c->trees[OSC_NEW], new_)
                                    : osc_side_node_name(&c->trees[OSC_BASE], base);
    c->stack[c->n++] =
        (struct osc_node_pair){base, new_, above ? above->depth + 1 : 0,
                               add_path(c, above ? above->path : (osc_sid){0}, name)};
    return c->out->status;
}

/* Put the children of P on the stack, so that the first one is on top. */
static osc_status push_children(struct osc_pair_tree *c, const struct osc_node_pair *p,
                                const struct osc_node_pair *above)
{
    const struct osc_side_nodes *const base = &c->trees[OSC_BASE], *const new_ =
                                                                       &c->trees[OSC_NEW];
    const struct osc_side_node *const a = &base->nodes[p->base], *const b =
                                                                     &new_->nodes[p->new_];
    osc_status st = align_children(c, a, b);
    const size_t from = c->n;
    uint32_t at = 0;

    for (uint32_t k = 0; k <= a->n_children && st == OSC_OK; k++) {
        const bool is_end = k == a->n_children;
        const uint32_t partner = is_end ? b->n_children : c->to[k];

        if (partner == OSC_ALIGN_NONE) {
            st = push(c, base->children[a->first_child + k], OSC_NO_NODE, above);
            continue;
        }
        for (; at < partner && st == OSC_OK; at++)
            st = push(c, OSC_NO_NODE, new_->children[b->first_child + at], above);
        if (!is_end && st == OSC_OK)
            st = push(c, base->children[a->first_child + k],
                      new_->children[b->first_child + at++], above);
    }
    for (size_t i = from, k = c->n; i + 1 < k; i++) {
        const struct osc_node_pair last = c->stack[--k];

        c->stack[k] = c->stack[i];
        c->stack[i] = last;
    }
    return st;
}

osc_status osc_pair_tree_make(struct osc_pair_tree *c, const struct osc_result *const *base,
                              const struct osc_result *const *new_)
{
    const struct osc_result *const *const sides[] = {base, new_};
    osc_status st = OSC_OK;
    uint32_t most = 0;

    *c = (struct osc_pair_tree){0};
    for (int s = 0; s < OSC_BOTH && st == OSC_OK; s++) {
        st = make_tree(sides[s][0], sides[s][1], &c->trees[s]);
        most = c->trees[s].n > most ? c->trees[s].n : most;
    }
    if (st == OSC_OK) {
        c->to = osc_calloc(most, sizeof *c->to);
        c->gap_to = osc_calloc(most, sizeof *c->gap_to);
        for (int s = 0; s < OSC_BOTH; s++)
            c->values[s] = osc_calloc(most, sizeof *c->values[s]);
        if (!c->to || !c->gap_to || !c->values[OSC_BASE] || !c->values[OSC_NEW])
            st = OSC_ENOMEM;
    }
    if (st != OSC_OK)
        osc_pair_tree_fini(c);
    return st;
}

void osc_pair_tree_fini(struct osc_pair_tree *c)
{
    for (int s = 0; s < OSC_BOTH; s++) {
        free_tree(&c->trees[s]);
        osc_free(c->values[s]);
    }
    osc_free(c->stack);
    osc_free(c->to);
    osc_free(c->gap_to);
    osc_strbuf_fini(&c->path);
    osc_idmap_fini(&c->n_of_path);
    *c = (struct osc_pair_tree){0};
}

bool osc_pair_tree_has_steps(const struct osc_pair_tree *c)
{
    return c->trees[OSC_BASE].n_steps > 0 && c->trees[OSC_NEW].n_steps > 0;
}

osc_status osc_pair_tree_walk(struct osc_pair_tree *c, struct osc_result *out,
                              bool (*emit)(void *ctx, const struct osc_node_pair *pair),
                              void *ctx)
{
    c->out = out;
    osc_status st = push_children(c, &(struct osc_node_pair){.base = 0, .new_ = 0}, NULL);
    while (c->n > 0 && st == OSC_OK) {
        const struct osc_node_pair p = c->stack[--c->n];

        if (!emit(ctx, &p))
            break;
        /* What one side has alone has nothing inside to compare. */
        if (p.base != OSC_NO_NODE && p.new_ != OSC_NO_NODE)
            st = push_children(c, &p, &p);
    }
    return st == OSC_OK ? out->status : st;
}
