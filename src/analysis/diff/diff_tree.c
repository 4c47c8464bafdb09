/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `diff_tree`: what changed where, by the modules, annotations and operators around it.
 */
#include "analysis/table_registry.h"

#include <math.h>
#include <string.h>

#include "analysis/diff/align.h"
#include "analysis/diff/plugin_tree.h"
#include "analysis/diff/samples.h"
#include "analysis/diff/side_tree.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "model/kind.h"

enum {
    PATH,
    DEPTH,
    BASE_NAME,
    NEW_NAME,
    BASE_CALLS,
    NEW_CALLS,
    BASE,
    NEW,
    DELTA,
    MEAN_BASE,
    MEAN_NEW,
    MEAN_DELTA,
    BASE_DEVICE,
    NEW_DEVICE,
    DELTA_DEVICE,
    MEAN_BASE_DEVICE,
    MEAN_NEW_DEVICE,
    MEAN_DELTA_DEVICE,
    ORDER,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(
        PATH, "path", STRING, NULL, KEY, 0, OSC_RULE_DIFF_TREE,
        "Names from the outermost node to this one, as the new run has them, or the base "
        "run if only that one has it. The second node of a path ends in [2], and so on; the "
        "middle of a long path is left out."),
    OSC_COLUMN(DEPTH, "depth", INTEGER, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Number of nodes around it."),
    OSC_COLUMN(BASE_NAME, "base_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Name in the base run; missing if only the new run has it."),
    OSC_COLUMN(NEW_NAME, "new_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Name in the new run; missing if only the base run has it."),
    OSC_COLUMN(BASE_CALLS, "base_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of calls in the base run."),
    OSC_COLUMN(NEW_CALLS, "new_calls", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of calls in the new run."),
    OSC_COLUMN(BASE, "base_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Host time over all of the base run."),
    OSC_COLUMN(NEW, "new_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "Host time over all of the new run."),
    OSC_COLUMN(DELTA, "delta_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
               "new_ns - base_ns."),
    OSC_COLUMN(
        MEAN_BASE, "mean_base_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_DIFF_TREE,
        "base_ns / steps of all processes of the base run. Missing unless both runs have "
        "steps."),
    OSC_COLUMN(MEAN_NEW, "mean_new_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "The same of the new run."),
    OSC_COLUMN(MEAN_DELTA, "mean_delta_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "mean_new_ns - mean_base_ns."),
    OSC_COLUMN(BASE_DEVICE, "base_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE | OSC_RULE_LINKS,
               "Sum of the device work that was launched in it, in the base run."),
    OSC_COLUMN(NEW_DEVICE, "new_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE | OSC_RULE_LINKS, "The same in the new run."),
    OSC_COLUMN(DELTA_DEVICE, "delta_device_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "new_device_ns - base_device_ns."),
    OSC_COLUMN(MEAN_BASE_DEVICE, "mean_base_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE,
               "base_device_ns / steps of all processes of the base run. Missing unless both "
               "runs have steps."),
    OSC_COLUMN(MEAN_NEW_DEVICE, "mean_new_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "The same of the new run."),
    OSC_COLUMN(MEAN_DELTA_DEVICE, "mean_delta_device_ns", NUMBER, "ns", FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_DIFF_TREE, "mean_new_device_ns - mean_base_device_ns."),
    OSC_COLUMN(ORDER, "order", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "The change of host time without its sign."),
};

#define SEED       UINT64_C(0x616c69676e)
#define NONE       UINT32_MAX
#define NAME_BYTES 200u /* of a name in a path */
#define PATH_BYTES 1000u

/* --- one side ------------------------------------------------------------------------ */

struct node {
    uint32_t row;                     /* of the digest */
    uint32_t first_child, n_children; /* in struct tree.children */
    uint64_t name;    /* hash of kind and name; without the number of a module */
    uint64_t content; /* of the children with all that is in them */
    uint64_t whole;   /* of name and content */
    int64_t calls, host_ns, device_ns;
    int64_t step_ns, step_device_ns; /* host_ns and device_ns of the steps that are compared */
};

/* Node 0 is around all others. */
struct tree {
    const struct osc_result *rows;
    struct node *nodes; /* owned */
    uint32_t *children; /* owned; nodes, grouped by parent */
    uint32_t *parents;  /* owned; by node */
    uint32_t n;
    struct osc_run_steps steps;
    int64_t n_steps; /* that are compared, of all processes */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint64_t both[] = {a, b};

    return osc_hash(both, sizeof both, SEED);
}

static struct osc_str name_at(const struct tree *t, uint32_t node)
{
    return osc_result_get_str(t->rows, t->nodes[node].row, OSC_TREE_NAME);
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
static bool is_compared(const struct tree *t, uint64_t row)
{
    const int64_t step = osc_result_get_int(t->rows, row, OSC_TREE_STEP);

    if (step < 0)
        return step == OSC_TREE_LATER;
    const uint32_t number =
        osc_run_steps_find(&t->steps, osc_result_get_int(t->rows, row, OSC_TREE_SPAN), step);
    return number != 0 && !t->steps.all[number - 1].is_left_out;
}

static void add_values(struct tree *t, struct node *node, uint64_t row)
{
    const int64_t host_ns = osc_result_get_int(t->rows, row, OSC_TREE_HOST);
    const int64_t device_ns = osc_result_get_int(t->rows, row, OSC_TREE_DEVICE);

    node->calls += osc_result_get_int(t->rows, row, OSC_TREE_CALLS);
    node->host_ns += host_ns;
    node->device_ns += device_ns;
    if (is_compared(t, row)) {
        node->step_ns += host_ns;
        node->step_device_ns += device_ns;
    }
}

/* Make a node of each place. Its parent must stand before it. */
static osc_status make_nodes(struct tree *t)
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
        struct node *const node = &t->nodes[k];
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
static void list_children(struct tree *t)
{
    uint32_t at = 0;

    for (uint32_t k = 0; k < t->n; k++) {
        t->nodes[k].first_child = at;
        at += t->nodes[k].n_children;
        t->nodes[k].n_children = 0;
    }
    for (uint32_t k = 1; k < t->n; k++) {
        struct node *const parent = &t->nodes[t->parents[k]];

        t->children[parent->first_child + parent->n_children++] = k;
    }
    for (uint32_t k = t->n; k-- > 0;) {
        struct node *const node = &t->nodes[k];

        for (uint32_t c = 0; c < node->n_children; c++)
            node->content =
                mix(node->content, t->nodes[t->children[node->first_child + c]].whole);
        node->whole = mix(node->name, node->content);
    }
}

static osc_status make_tree(const struct osc_result *steps, const struct osc_result *rows,
                            struct tree *t)
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

static void free_tree(struct tree *t)
{
    osc_free(t->nodes);
    osc_free(t->children);
    osc_free(t->parents);
    osc_run_steps_fini(&t->steps);
}

/* --- alignment ----------------------------------------------------------------------- */

/* A pair of nodes; NONE: the other side has it alone. */
struct pair {
    uint32_t base, new_;
    uint32_t depth;
    osc_sid path; /* among the strings of the result */
};

struct comparing {
    struct tree trees[OSC_BOTH];
    struct osc_result *out;
    struct pair *stack; /* owned */
    size_t n, cap;
    uint32_t *to;               /* owned; by child of the base: the child of new */
    uint64_t *values[OSC_BOTH]; /* owned */
    uint32_t *gap_to;           /* owned */
    struct osc_strbuf path;     /* scratch */
    struct osc_idmap n_of_path; /* by path without a number: nodes that have it */
};

enum by { BY_WHOLE, BY_NAME, BY_CONTENT };

/* By what NODE goes with others; nodes without content go with none by it. */
static uint64_t value_of(const struct node *node, enum by by, uint64_t unlike)
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

static const struct node *child(const struct tree *t, const struct node *parent, uint32_t k)
{
    return &t->nodes[t->children[parent->first_child + k]];
}

/* Align children [A0, A1) of BASE with [B0, B1) of NEW, none of which have partners. */
static osc_status align_gap(struct comparing *c, const struct node *base,
                            const struct node *new_, const uint32_t *ends, enum by by)
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
static void pair_single(struct comparing *c, const struct node *base, const struct node *new_,
                        const uint32_t *ends)
{
    if (ends[1] - ends[0] != 1 || ends[3] - ends[2] != 1)
        return;
    const struct node *const a = child(&c->trees[OSC_BASE], base, ends[0]);
    const struct node *const b = child(&c->trees[OSC_NEW], new_, ends[2]);
    if (osc_result_get_int(c->trees[OSC_BASE].rows, a->row, OSC_TREE_KIND) ==
        osc_result_get_int(c->trees[OSC_NEW].rows, b->row, OSC_TREE_KIND))
        c->to[ends[0]] = ends[2];
}

/* Align the children of BASE and NEW that have no partner yet, gap by gap. */
static osc_status align_gaps(struct comparing *c, const struct node *base,
                             const struct node *new_, int by)
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
static osc_status align_children(struct comparing *c, const struct node *base,
                                 const struct node *new_)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < base->n_children; k++)
        c->to[k] = OSC_ALIGN_NONE;
    for (int by = BY_WHOLE; by <= BY_CONTENT && st == OSC_OK; by++)
        st = align_gaps(c, base, new_, by);
    return st == OSC_OK ? align_gaps(c, base, new_, -1) : st;
}

/* --- rows ---------------------------------------------------------------------------- */

/* The path of NAME below ABOVE. */
static osc_sid add_path(struct comparing *c, osc_sid above, struct osc_str name)
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

static osc_status push(struct comparing *c, uint32_t base, uint32_t new_,
                       const struct pair *above)
{
    if (osc_grow(&c->stack, &c->cap, c->n + 1, sizeof *c->stack) != OSC_OK)
        return OSC_ENOMEM;
    const struct osc_str name =
        new_ != NONE ? name_at(&c->trees[OSC_NEW], new_) : name_at(&c->trees[OSC_BASE], base);
    c->stack[c->n++] = (struct pair){base, new_, above ? above->depth + 1 : 0,
                                     add_path(c, above ? above->path : (osc_sid){0}, name)};
    return c->out->status;
}

static bool has_steps(const struct comparing *c)
{
    return c->trees[OSC_BASE].n_steps > 0 && c->trees[OSC_NEW].n_steps > 0;
}

/* Set the columns from COLUMN on: BASE, NEW and their difference, which is returned. */
static double add_means(struct osc_result *out, uint32_t column, double base, double new_)
{
    osc_result_num(out, column, base);
    osc_result_num(out, column + 1, new_);
    osc_result_num(out, column + 2, new_ - base);
    return new_ - base;
}

static void add_row(struct comparing *c, const struct pair *p)
{
    static const struct node none;
    const struct tree *const base = &c->trees[OSC_BASE], *const new_ = &c->trees[OSC_NEW];
    const struct node *const a = p->base == NONE ? &none : &base->nodes[p->base];
    const struct node *const b = p->new_ == NONE ? &none : &new_->nodes[p->new_];
    struct osc_result *const out = c->out;
    double change = (double)b->host_ns - (double)a->host_ns;

    osc_result_row(out);
    osc_result_sid(out, PATH, p->path);
    osc_result_int(out, DEPTH, p->depth);
    if (p->base != NONE)
        osc_result_str(out, BASE_NAME, name_at(base, p->base));
    if (p->new_ != NONE)
        osc_result_str(out, NEW_NAME, name_at(new_, p->new_));
    osc_result_int(out, BASE_CALLS, a->calls);
    osc_result_int(out, NEW_CALLS, b->calls);
    osc_result_int(out, BASE, a->host_ns);
    osc_result_int(out, NEW, b->host_ns);
    osc_result_int(out, DELTA, b->host_ns - a->host_ns);
    osc_result_int(out, BASE_DEVICE, a->device_ns);
    osc_result_int(out, NEW_DEVICE, b->device_ns);
    osc_result_int(out, DELTA_DEVICE, b->device_ns - a->device_ns);
    if (has_steps(c)) {
        const double n_base = (double)base->n_steps, n_new = (double)new_->n_steps;

        change = 1000 * add_means(out, MEAN_BASE, (double)a->step_ns / n_base,
                                  (double)b->step_ns / n_new);
        (void)add_means(out, MEAN_BASE_DEVICE, (double)a->step_device_ns / n_base,
                        (double)b->step_device_ns / n_new);
    }
    osc_result_int(out, ORDER, fabs(change) < 9e18 ? (int64_t)fabs(change) : INT64_MAX);
}

/* Put the children of P on the stack, so that the first one is on top. */
static osc_status push_children(struct comparing *c, const struct pair *p,
                                const struct pair *above)
{
    const struct tree *const base = &c->trees[OSC_BASE], *const new_ = &c->trees[OSC_NEW];
    const struct node *const a = &base->nodes[p->base], *const b = &new_->nodes[p->new_];
    osc_status st = align_children(c, a, b);
    const size_t from = c->n;
    uint32_t at = 0;

    for (uint32_t k = 0; k <= a->n_children && st == OSC_OK; k++) {
        const bool is_end = k == a->n_children;
        const uint32_t partner = is_end ? b->n_children : c->to[k];

        if (partner == OSC_ALIGN_NONE) {
            st = push(c, base->children[a->first_child + k], NONE, above);
            continue;
        }
        for (; at < partner && st == OSC_OK; at++)
            st = push(c, NONE, new_->children[b->first_child + at], above);
        if (!is_end && st == OSC_OK)
            st = push(c, base->children[a->first_child + k],
                      new_->children[b->first_child + at++], above);
    }
    for (size_t i = from, k = c->n; i + 1 < k; i++) {
        const struct pair last = c->stack[--k];

        c->stack[k] = c->stack[i];
        c->stack[i] = last;
    }
    return st;
}

static osc_status compare_trees(struct comparing *c)
{
    const uint32_t most =
        c->trees[OSC_BASE].n > c->trees[OSC_NEW].n ? c->trees[OSC_BASE].n : c->trees[OSC_NEW].n;

    c->to = osc_calloc(most, sizeof *c->to);
    c->gap_to = osc_calloc(most, sizeof *c->gap_to);
    for (int s = 0; s < OSC_BOTH; s++)
        c->values[s] = osc_calloc(most, sizeof *c->values[s]);
    if (!c->to || !c->gap_to || !c->values[OSC_BASE] || !c->values[OSC_NEW])
        return OSC_ENOMEM;
    osc_status st = push_children(c, &(struct pair){.base = 0, .new_ = 0}, NULL);
    while (c->n > 0 && st == OSC_OK) {
        const struct pair p = c->stack[--c->n];

        add_row(c, &p);
        /* What one side has alone has nothing inside to compare. */
        if (p.base != NONE && p.new_ != NONE)
            st = push_children(c, &p, &p);
    }
    return st == OSC_OK ? c->out->status : st;
}

/* Add a pair of the plugin. */
static void add_pair(void *ctx, struct osc_str path, uint32_t depth,
                     const struct osc_plugin_side *base, const struct osc_plugin_side *new_)
{
    struct osc_result *const out = ctx;

    osc_result_row(out);
    osc_result_str(out, PATH, path);
    osc_result_int(out, DEPTH, depth);
    osc_result_str(out, BASE_NAME, base->name);
    osc_result_str(out, NEW_NAME, new_->name);
    osc_result_int(out, BASE_CALLS, base->calls);
    osc_result_int(out, NEW_CALLS, new_->calls);
    osc_result_int(out, BASE, base->host_ns);
    osc_result_int(out, NEW, new_->host_ns);
    osc_result_int(out, DELTA, new_->host_ns - base->host_ns);
    osc_result_int(out, BASE_DEVICE, base->device_ns);
    osc_result_int(out, NEW_DEVICE, new_->device_ns);
    osc_result_int(out, DELTA_DEVICE, new_->device_ns - base->device_ns);
    osc_result_int(out, ORDER, -(int64_t)out->n_rows); /* the plugin's order */
}

/* --compat tb: as the plugin compares. */
static osc_status compare_plugin(const struct osc_result *base, const struct osc_result *new_,
                                 struct osc_result *out, struct osc_err *err)
{
    const struct osc_plugin_pairs pairs = {add_pair, out};
    const osc_status st = osc_plugin_tree_compare(base, new_, &pairs);

    for (uint32_t c = BASE_NAME; c <= DELTA_DEVICE; c++) {
        if (c < MEAN_BASE || c > MEAN_DELTA)
            osc_result_show(out, c);
    }
    if (st == OSC_EINVAL)
        return osc_fail(
            err, st, "--compat tb compares single files: choose them with --rank and --span");
    if (out->n_rows == 0)
        osc_result_why_empty(out, "the first threads have no operators, modules or steps");
    return st == OSC_OK && out->status == OSC_OK
               ? OSC_OK
               : osc_fail(err, st == OSC_OK ? out->status : st, "comparing: %s",
                          osc_status_text(st == OSC_OK ? out->status : st));
}

static osc_status compare(const struct osc_result *const *base,
                          const struct osc_result *const *new_, const struct osc_options *o,
                          struct osc_result *out, struct osc_err *err)
{
    struct comparing c = {.out = out};

    if (o->compat_tb)
        return compare_plugin(base[1], new_[1], out, err);
    osc_status st = make_tree(base[0], base[1], &c.trees[OSC_BASE]);

    if (st == OSC_OK)
        st = make_tree(new_[0], new_[1], &c.trees[OSC_NEW]);
    if (st == OSC_OK)
        st = compare_trees(&c);
    if (st == OSC_OK) {
        for (uint32_t k = 0; k < 3; k++)
            osc_result_show(out, (has_steps(&c) ? MEAN_BASE : BASE) + k);
        for (uint64_t i = 0; i < out->n_rows; i++) {
            if (osc_result_get_int(out, i, BASE_DEVICE) != 0 ||
                osc_result_get_int(out, i, NEW_DEVICE) != 0) {
                osc_result_show(out, has_steps(&c) ? MEAN_DELTA_DEVICE : DELTA_DEVICE);
                break;
            }
        }
        if (out->n_rows == 0)
            osc_result_why_empty(out, "neither run has ranges of the host that enclose others: "
                                      "steps, modules, annotations or operators");
    }
    for (int s = 0; s < OSC_BOTH; s++) {
        free_tree(&c.trees[s]);
        osc_free(c.values[s]);
    }
    osc_free(c.stack);
    osc_free(c.to);
    osc_free(c.gap_to);
    osc_strbuf_fini(&c.path);
    osc_idmap_fini(&c.n_of_path);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const uint32_t sides[] = {OSC_SIDE_STEPS, OSC_SIDE_TREE, OSC_SIDES};
static const struct osc_comparison comparison = {sides, compare};

const struct osc_table_def osc_table_diff_tree = {
    .name = "diff_tree",
    .help =
        "What changed where: pairs of modules, annotations and operators that have the same "
        "place in two runs, and what only one of them has. Sorted by the change of host time "
        "without its sign, per step if both runs have steps.",
    .source = "host ranges of both runs.",
    .rules = OSC_RULE_DIFF_TREE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = ORDER + 1,
    .takes = OSC_TAKES_COMPAT,
    .comparison = &comparison,
};
