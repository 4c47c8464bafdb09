/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_tree.h - the trees of two runs (side_tree.h), with the places of one paired with those
 * of the other.
 *
 * Children of a pair are aligned by all that is in them, then by name, then by what is inside;
 * one that is left on each side between the same neighbours was renamed. What one side has
 * alone has nothing inside to compare.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/diff/samples.h"
#include "analysis/diff/side_tree.h"
#include "base/idmap.h"
#include "base/strbuf.h"

#define OSC_NO_NODE UINT32_MAX

/* A place of one side. */
struct osc_side_node {
    uint32_t row;                     /* of the digest */
    uint32_t first_child, n_children; /* in struct osc_side_nodes.children */
    uint64_t name;    /* hash of kind and name; without the number of a module */
    uint64_t content; /* of the children with all that is in them */
    uint64_t whole;   /* of name and content */
    int64_t calls, host_ns, device_ns;
    int64_t step_calls, step_ns, step_device_ns; /* of the steps that are compared */
};

/* Node 0 is around all others. */
struct osc_side_nodes {
    const struct osc_result *rows;
    struct osc_side_node *nodes; /* owned */
    uint32_t *children;          /* owned; nodes, grouped by parent */
    uint32_t *parents;           /* owned; by node */
    uint32_t n;
    struct osc_run_steps steps;
    int64_t n_steps; /* that are compared, of all processes */
};

/* A pair of nodes; OSC_NO_NODE: the other side has it alone. */
struct osc_node_pair {
    uint32_t base, new_;
    uint32_t depth;
    osc_sid path; /* among the strings of the result */
};

struct osc_pair_tree {
    struct osc_side_nodes trees[OSC_BOTH];
    struct osc_result *out;
    struct osc_node_pair *stack; /* owned */
    size_t n, cap;
    uint32_t *to;               /* owned; by child of the base: the child of new */
    uint64_t *values[OSC_BOTH]; /* owned */
    uint32_t *gap_to;           /* owned */
    struct osc_strbuf path;     /* scratch */
    struct osc_idmap n_of_path; /* by path without a number: nodes that have it */
};

/* Make C of the digests OSC_SIDE_STEPS and OSC_SIDE_TREE of both sides, which stay as long as
 * it does. After a failure it is empty. */
OSC_MUST_USE osc_status osc_pair_tree_make(struct osc_pair_tree *c,
                                           const struct osc_result *const *base,
                                           const struct osc_result *const *new_);
void osc_pair_tree_fini(struct osc_pair_tree *c);

/* Whether both runs have steps that are compared. */
bool osc_pair_tree_has_steps(const struct osc_pair_tree *c);

/* Call EMIT for each pair, parents first, until it returns false. Once for each C. Paths are
 * words of OUT. */
OSC_MUST_USE osc_status osc_pair_tree_walk(struct osc_pair_tree *c, struct osc_result *out,
                                           bool (*emit)(void *ctx,
                                                        const struct osc_node_pair *pair),
                                           void *ctx);

static inline struct osc_str osc_side_node_name(const struct osc_side_nodes *t, uint32_t node)
{
    return osc_result_get_str(t->rows, t->nodes[node].row, OSC_TREE_NAME);
}
