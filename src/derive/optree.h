/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optree.h - the tree of operators as TensorBoard's plugin sees it.
 *
 * An overlay of the forest (tensorboard-views.md, 2.5 and 2.6): of all ranges of a
 * host thread only operators, steps, modules, data loaders, optimizers, the
 * plugin's collectives and `python` ranges are nodes; Python frames and other
 * annotations are not there, so they neither own nor split anything.
 *
 *   - A node is a place in osc_order.rows, plus 1; 0 is none. Places of ranges
 *     that are no nodes have no flags.
 *   - Parents stand before their children. What overlaps in part hangs below the
 *     lowest node that holds it.
 *   - An operator that is the only child of an operator of the same name is merged
 *     into it: the parent keeps its times and takes over children and host calls,
 *     in exchange for its own calls. The parent of a merged node is the one that it
 *     was merged into; nobody's parent is a merged node.
 *
 * Threading: made in parallel over tracks; read-only afterwards.
 */
#ifndef OSC_DERIVE_OPTREE_H
#define OSC_DERIVE_OPTREE_H

#include "base/status.h"
#include "derive/classify.h"
#include "derive/order.h"
#include "model/trace.h"

enum osc_node_flag {
    OSC_NODE = 1,           /* it is a node */
    OSC_NODE_OPERATOR = 2,  /* of the plugin's type Operator: by category */
    OSC_NODE_ROW = 4,       /* counts as an operator in tables */
    OSC_NODE_MERGED = 8,    /* gone into its parent */
    OSC_NODE_MUTE = 16,     /* its own host calls count for nothing: its child's do */
    OSC_NODE_CHILD = 32,    /* while it is made: has one child */
    OSC_NODE_CHILDREN = 64, /* while it is made: has several */
    OSC_NODE_LAUNCHER = 128 /* an operator that host calls can belong to */
};

/* Zeroed, it is empty. Arrays are as long as osc_order.rows; index is node - 1. */
struct osc_optree {
    uint32_t *parent; /* owned */
    uint8_t *flags;   /* owned; bits of enum osc_node_flag */
    size_t parent_bytes, flags_bytes;
};

/*
 * Make the tree. Afterwards osc_chunk.link of a host call holds the innermost
 * operator (as a node) of its own thread that holds it: what derive/links.c starts
 * from.
 */
OSC_MUST_USE osc_status osc_optree_make(const struct osc_trace *t, const struct osc_classes *c,
                                        const struct osc_order *order, unsigned n_threads,
                                        struct osc_optree *tree);
void osc_optree_fini(struct osc_optree *tree);

/* The node whose row in tables gets what the host calls of NODE did; 0: none does. */
static inline uint32_t osc_optree_owner(const struct osc_optree *tree, uint32_t node)
{
    const uint8_t flags = node == 0 ? OSC_NODE_MUTE : tree->flags[node - 1];

    if (flags & OSC_NODE_MUTE)
        return 0;
    return flags & OSC_NODE_MERGED ? tree->parent[node - 1] : node;
}

#endif
