/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_tree.h - torch's list of function events, as an overlay of a trace.
 *
 * torch's tree is not the containment forest of derive/: ranges of a process group are outside
 * it, calls of the device runtime move to the thread of their operator, and a range that is
 * the only child of a parent with the same name is folded into the parent.
 *
 *   - Host nodes are in torch's order: start, longer first, order of the file, over all
 *     threads. So a parent stands before its children. Device nodes follow from n_host on,
 *     queue by queue.
 *   - Nothing is clamped: self times and bytes may be negative.
 *   - The last digit of printed numbers depends on torch's doubles of microseconds and
 *     their rounding errors. torch adds up children before nodes, so their sum is kept.
 *     Integers can be added in any order, and are added when nodes become rows
 *     (averages_groups.h).
 *
 * Threading: not locked; one thread builds, then any number of readers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/torch/flops.h"
#include "base/idmap.h"
#include "base/status.h"
#include "base/wide.h"
#include "model/trace.h"

enum osc_avg_flag {
    OSC_AVG_ANNOTATION = 1, /* with OSC_AVG_DEVICE: the variant, part of the key */
    OSC_AVG_DEVICE = 2,
    OSC_AVG_PYTHON = 4,
    OSC_AVG_CALL = 8, /* a call of the device runtime or driver */
    OSC_AVG_OPERATOR = 16,
    OSC_AVG_ASYNC = 32,     /* outside the tree */
    OSC_AVG_FOLDED = 64,    /* merged into its parent; not counted */
    OSC_AVG_RECORD = 128,   /* made from a memory or out-of-memory record */
    OSC_AVG_CHILD = 256,    /* has a child */
    OSC_AVG_CHILDREN = 512, /* has more than one child */
    OSC_AVG_FOLDS = 1024,   /* its only child is folded into it */
};
#define OSC_AVG_VARIANTS 4u

struct osc_avg_name {
    struct osc_str text;               /* borrowed; as shown by torch */
    uint32_t groups[OSC_AVG_VARIANTS]; /* for averages_groups.c: group + 1 */
    uint8_t flops_rule;                /* enum osc_flops_rule */
    bool is_filtered;                  /* torch leaves it out */
    bool is_collective;                /* an annotation with this name is async */
    bool is_wrapper;                   /* wraps a backward function */
};

/* There is one for every range, so every byte counts: data in the row is not repeated. */
struct osc_avg_node {
    int64_t end_ns;
    union {
        double child_us;   /* sum of the durations of its children, as torch computes it */
        int64_t device_ns; /* for averages_groups.c, which no longer needs the other member
                            * then */
    };
    uint32_t row;    /* osc_row */
    uint32_t name;   /* index in names */
    uint32_t parent; /* node + 1, or 0; until osc_avg_lift() it may be a folded node */
    uint32_t flags;  /* bits of enum osc_avg_flag, then the family from bit 16 on */
};
#define OSC_AVG_FAMILY_SHIFT 16

struct osc_avg_bytes {
    osc_wide cpu, device;             /* of all records in its closed interval */
    osc_wide child_cpu, child_device; /* sums over its children */
};

/* Zeroed, it is empty. */
struct osc_avg_tree {
    const struct osc_trace *trace;
    struct osc_avg_node *nodes;  /* pages, owned */
    struct osc_avg_bytes *bytes; /* pages, owned; NULL: no memory records */
    uint32_t *node_of_row;       /* pages, owned; of operators, node + 1; NULL: no device
                                  * work */
    uint32_t n_nodes, n_host;
    size_t nodes_size, bytes_size, node_of_row_size; /* of the pages */
    struct osc_avg_name *names;                      /* owned */
    size_t n_names, cap_names;
    uint32_t *name_of_sid; /* pages, owned: name + 1 */
    size_t name_of_sid_size;
    struct osc_str families[64]; /* "cuda", "xpu", …; borrowed */
    uint32_t n_families;
    int64_t zero_ns; /* torch's start of the trace */
    bool has_memory; /* the file has memory records, or states that memory was profiled */
    bool has_queue;  /* the file has a device */
};

/*
 * Build the tree of T, which has LINKS. After a failure TREE is empty or partial. Call
 * osc_avg_tree_fini() even after a failure.
 */
OSC_MUST_USE osc_status osc_avg_tree_build(struct osc_avg_tree *tree, const struct osc_trace *t,
                                           struct osc_err *err);
void osc_avg_tree_fini(struct osc_avg_tree *tree);

static inline const struct osc_chunk *osc_avg_chunk(const struct osc_avg_tree *tree,
                                                    const struct osc_avg_node *n)
{
    return osc_chunk_of(&tree->trace->events, (osc_row){n->row});
}

static inline int64_t osc_avg_start_ns(const struct osc_avg_tree *tree,
                                       const struct osc_avg_node *n)
{
    return osc_avg_chunk(tree, n)->ts_ns[osc_row_place((osc_row){n->row})];
}

/* Duration of N; 0 for a record. */
static inline int64_t osc_avg_dur_ns(const struct osc_avg_tree *tree,
                                     const struct osc_avg_node *n)
{
    return n->flags & OSC_AVG_RECORD
               ? 0
               : osc_avg_chunk(tree, n)->dur_ns[osc_row_place((osc_row){n->row})];
}

/* Duration as in torch, which rounds both ends before it subtracts. */
static inline double osc_avg_elapsed_us(const struct osc_avg_tree *tree, int64_t start_ns,
                                        int64_t end_ns)
{
    return (double)(end_ns - tree->zero_ns) / 1000.0 -
           (double)(start_ns - tree->zero_ns) / 1000.0;
}

/*
 * Make N, whose parent is folded, a child of the node that absorbed its parent. Call it for
 * all host nodes in order, so that the parent has been lifted before.
 */
static inline void osc_avg_lift(const struct osc_avg_tree *tree, struct osc_avg_node *n)
{
    if (n->parent != 0 && (tree->nodes[n->parent - 1].flags & OSC_AVG_FOLDED))
        n->parent = tree->nodes[n->parent - 1].parent;
}

/* The row of the operator that launched N, which is a call of the runtime or work of a device;
 * else of the call, or 0. */
osc_row osc_avg_launcher_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n);

/*
 * The operator (node + 1) to which torch attributes the device work of N; 0: none, or torch
 * leaves that operator out. Call it after all nodes were lifted.
 */
uint32_t osc_avg_operator_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n);

/* The family of a device row. */
static inline struct osc_str osc_avg_family(const struct osc_avg_tree *tree, uint32_t flags)
{
    return tree->families[flags >> OSC_AVG_FAMILY_SHIFT];
}
