/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_tree.h - torch's list of function events, as an overlay of a trace.
 *
 * torch's tree is not the containment forest of derive/: ranges of a process group are
 * outside of it, calls of the device runtime move to the thread of the operator that made
 * them, and a range whose parent has the same name and no other child is folded into the
 * parent.
 *
 *   - Nodes of the host stand in torch's order: start, longer first, order of the
 *     file, over all threads. So a parent stands before its children. Behind them,
 *     from n_host on, those of devices, queue by queue.
 *   - Nothing is clamped: self times and bytes may be negative.
 *   - torch's own doubles of microseconds, with their rounding errors, make the last digit
 *     of printed numbers. The sum over children is kept, since torch adds them up before it
 *     adds up nodes; whatever is a whole number can be added up in any order, and is where
 *     nodes become rows (averages_groups.h).
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
    OSC_AVG_CALL = 8, /* of the device runtime or driver */
    OSC_AVG_OPERATOR = 16,
    OSC_AVG_ASYNC = 32,     /* outside the tree */
    OSC_AVG_FOLDED = 64,    /* merged into its parent: counts nowhere */
    OSC_AVG_RECORD = 128,   /* made of a [memory] or [OutOfMemory] record */
    OSC_AVG_CHILD = 256,    /* it has a child */
    OSC_AVG_CHILDREN = 512, /* it has more than one */
    OSC_AVG_FOLDS = 1024,   /* its only child is folded into it */
};
#define OSC_AVG_VARIANTS 4u

struct osc_avg_name {
    struct osc_str text;               /* borrowed; as torch shows it */
    uint32_t groups[OSC_AVG_VARIANTS]; /* for averages_groups.c: group + 1 */
    uint8_t flops_rule;                /* enum osc_flops_rule */
    bool is_filtered;                  /* torch leaves it out */
    bool is_collective;                /* as an annotation it is async */
    bool is_wrapper;                   /* of a backward function */
};

/* There is one for every range, so each byte counts: what the row says is not repeated. */
struct osc_avg_node {
    int64_t end_ns;
    union {
        double child_us;   /* durations of its children together, as torch summed them */
        int64_t device_ns; /* for averages_groups.c, which has read the other by then */
    };
    uint32_t row;    /* osc_row */
    uint32_t name;   /* index in names */
    uint32_t parent; /* node + 1, or 0; may be a folded one until N is lifted */
    uint32_t flags;  /* bits of enum osc_avg_flag, then the family from bit 16 on */
};
#define OSC_AVG_FAMILY_SHIFT 16

struct osc_avg_bytes {
    osc_wide cpu, device;             /* of all records in the closed interval */
    osc_wide child_cpu, child_device; /* of its children together */
};

/* Zeroed, it is empty. */
struct osc_avg_tree {
    const struct osc_trace *trace;
    struct osc_avg_node *nodes;  /* pages, owned */
    struct osc_avg_bytes *bytes; /* pages, owned; NULL: no memory was recorded */
    uint32_t *node_of_row;       /* pages, owned: operators, + 1; NULL: no device worked */
    uint32_t n_nodes, n_host;
    size_t nodes_size, bytes_size, node_of_row_size; /* of the pages */
    struct osc_avg_name *names;                      /* owned */
    size_t n_names, cap_names;
    uint32_t *name_of_sid; /* pages, owned: name + 1 */
    size_t name_of_sid_size;
    struct osc_str families[64]; /* "cuda", "xpu", …; borrowed */
    uint32_t n_families;
    int64_t zero_ns; /* torch's start of the trace */
    bool has_memory; /* the file has records of memory, or says so */
    bool has_queue;  /* the file has a device */
};

/*
 * Build the tree of T, for which OSC_FACT_LINKS was derived. On failure TREE is empty or
 * partial; fini() is allowed and needed in any case.
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

/* How long N took; a record takes no time. */
static inline int64_t osc_avg_dur_ns(const struct osc_avg_tree *tree,
                                     const struct osc_avg_node *n)
{
    return n->flags & OSC_AVG_RECORD
               ? 0
               : osc_avg_chunk(tree, n)->dur_ns[osc_row_place((osc_row){n->row})];
}

/* The same as torch has it: it rounds both ends before it takes the difference. */
static inline double osc_avg_elapsed_us(const struct osc_avg_tree *tree, int64_t start_ns,
                                        int64_t end_ns)
{
    return (double)(end_ns - tree->zero_ns) / 1000.0 -
           (double)(start_ns - tree->zero_ns) / 1000.0;
}

/*
 * Let N, whose parent is folded, be a child of what that one was folded into. For all
 * nodes of the host in their order, so that the parent has been lifted before.
 */
static inline void osc_avg_lift(const struct osc_avg_tree *tree, struct osc_avg_node *n)
{
    if (n->parent != 0 && (tree->nodes[n->parent - 1].flags & OSC_AVG_FOLDED))
        n->parent = tree->nodes[n->parent - 1].parent;
}

/*
 * The operator (node + 1) that torch hands the device work of N to; 0: none, or torch
 * leaves that operator out. All nodes have been lifted.
 */
uint32_t osc_avg_operator_of(const struct osc_avg_tree *tree, const struct osc_avg_node *n);

/* The family of a device row, such as "cuda". */
static inline struct osc_str osc_avg_family(const struct osc_avg_tree *tree, uint32_t flags)
{
    return tree->families[flags >> OSC_AVG_FAMILY_SHIFT];
}
