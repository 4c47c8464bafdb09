/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_groups.h - nodes with equal keys become rows.
 *
 * The key is name, device type and whether it is a user annotation; on request also the texts
 * of the input shapes and dtypes, and the first frames of the stack. Rows are in the order of
 * their first nodes.
 *
 *   - The plain key is found through an array, longer ones through maps of small numbers;
 *     no text is made twice.
 *   - What torch sums as doubles is summed in the order of nodes. Integers are added
 *     directly to their row: the time of a child is subtracted from the row of its parent,
 *     and device work moves up the tree after all nodes have rows.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/list_text.h"
#include "analysis/torch/averages_stacks.h"
#include "analysis/torch/averages_tree.h"

struct osc_avg_group {
    int64_t calls, self_cpu_ns, cpu_ns, self_device_ns, device_ns;
    osc_wide self_cpu_bytes, cpu_bytes, self_device_bytes, device_bytes;
    uint64_t flops;
    double self_cpu_us, cpu_us;           /* as torch sums them */
    int64_t first_start_ns, first_dur_ns; /* of its first node, which determines */
    uint32_t first_row;                   /* the order of rows */
    uint32_t name;                        /* index in the names of the tree */
    uint32_t flags;                       /* of its first node */
    uint32_t shapes;                      /* id in osc_avg_groups.shapes, or 0 */
    uint32_t dtypes;                      /* elements in osc_avg_groups.types, or 0 */
    uint32_t stack;                       /* id in osc_avg_groups.stacks, or 0 */
    bool is_top_level;                    /* its first node has no parent */
};

/* Zeroed, it is empty. */
struct osc_avg_groups {
    struct osc_avg_group *all; /* owned; in order of first appearance */
    size_t n, cap;
    bool by_shape, by_dtype, by_stack, with_flops;

    struct osc_intern shapes; /* owned; texts such as "[[4, 3], []]" */
    struct osc_arena arena;   /* owned; their bytes */
    struct osc_strbuf scratch;
    struct osc_idmap shapes_by_sid; /* `Input Dims` of the file -> id */
    struct osc_idmap by_family;     /* rows of second device families */
    struct osc_idmap by_plain;      /* (plain group, shapes) -> number */
    struct osc_idmap by_typed;      /* (number, dtypes) -> number, with by_dtype */
    struct osc_idmap by_shaped;     /* (number, stack) -> group + 1 */
    uint32_t n_shaped, n_typed, n_plain;
    struct osc_lists types;                          /* owned; texts such as "float, Scalar" */
    struct osc_idmap flops_by_sids[OSC_FLOPS_RULES]; /* dims, inputs -> index + 1 in flops */
    uint64_t *flops;                                 /* owned */
    size_t n_flops, cap_flops;
    struct osc_avg_stacks stacks; /* owned; built if by_stack */
    uint32_t *of_node; /* pages, owned: group + 1 of each node, unless the key is plain */
    size_t of_node_size;
};

/* How to group. Zeroed: by the plain key. */
struct osc_avg_grouping {
    bool by_shape;
    bool by_dtype;
    bool by_stack;
    uint32_t stack_depth;
    bool with_flops;
};

/*
 * Group the nodes of TREE, whose parents and sums of children are overwritten. Call
 * osc_avg_groups_fini() even after a failure.
 */
OSC_MUST_USE osc_status osc_avg_groups_build(struct osc_avg_groups *g,
                                             struct osc_avg_tree *tree,
                                             const struct osc_avg_grouping *how);
void osc_avg_groups_fini(struct osc_avg_groups *g);

/* The text of the shapes of GROUP. */
struct osc_str osc_avg_group_shapes(const struct osc_avg_groups *g,
                                    const struct osc_avg_group *group);
