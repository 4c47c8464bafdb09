/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optree.h - the tree of operators as TensorBoard's plugin sees it.
 *
 * An overlay of the forest. Of the ranges of a host thread only operators, steps, modules,
 * data loaders, optimizers, the plugin's collectives and `python` ranges are nodes. Python
 * frames and other annotations are left out, so they neither own nor split anything.
 *
 *   - A node is a place in osc_order.rows, plus 1; 0 is none. Places of ranges that are
 *     not nodes have no flags.
 *   - Parents stand before their children. A node that partly overlaps others is a child
 *     of the lowest node that contains it.
 *   - An operator that is the only child of an operator with the same name is merged into
 *     it: the parent keeps its times and takes over children and host calls in exchange
 *     for its own calls. The parent of a merged node is the one that it was merged into;
 *     a merged node is never a parent.
 *
 * Threading: made in parallel over tracks; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/order.h"
#include "model/trace.h"

enum osc_node_flag {
    OSC_NODE = 1,           /* it is a node */
    OSC_NODE_OPERATOR = 2,  /* has the plugin's type Operator, by category */
    OSC_NODE_ROW = 4,       /* counts as an operator in tables */
    OSC_NODE_MERGED = 8,    /* merged into its parent */
    OSC_NODE_MUTE = 16,     /* its own host calls do not count: those of its child do */
    OSC_NODE_CHILD = 32,    /* during construction: has one child */
    OSC_NODE_CHILDREN = 64, /* during construction: has several children */
    OSC_NODE_LAUNCHER = 128 /* an operator that host calls can belong to */
};

/* Zeroed, it is empty. Arrays are as long as osc_order.rows; the index is node - 1. */
struct osc_optree {
    uint32_t *parent; /* owned */
    uint8_t *flags;   /* owned; bits of enum osc_node_flag */
    size_t parent_bytes, flags_bytes;
};

/* What a form implies for its rows, in addition to the flags of nodes. */
enum osc_optree_action {
    OSC_OPTREE_NOTHING,
    OSC_OPTREE_CALL,       /* a host call: not a node, belongs to an operator */
    OSC_OPTREE_OPERATOR,   /* a node */
    OSC_OPTREE_MODULE,     /* a node if it is a module */
    OSC_OPTREE_PYTHON,     /* a node */
    OSC_OPTREE_ANNOTATION, /* a node if its name is that of a step, data loader ... */
};

enum osc_optree_action osc_optree_action_of(const struct osc_form *form, uint8_t flags);

/* The flags of row I of chunk K, a finished range with ACTION; 0 if it is not a node. */
static inline uint8_t osc_optree_flags(const struct osc_classes *c, unsigned action,
                                       const struct osc_chunk *k, uint32_t i)
{
    const enum osc_kind kind = (enum osc_kind)k->kind[i];

    if (action == OSC_OPTREE_OPERATOR) {
        if (kind == OSC_KIND_ANNOTATION) /* by its name, whatever its category */
            return 0;
        const uint16_t name = c->names[k->name[i]];
        const bool is_row = kind == OSC_KIND_OPERATOR && !(name & OSC_NAME_WRAPPER);
        /* Steps have type Operator in old files, but launches never belong to them. */
        const bool is_launcher = kind != OSC_KIND_STEP;

        return (uint8_t)(OSC_NODE | OSC_NODE_OPERATOR | (is_row ? OSC_NODE_ROW : 0) |
                         (is_launcher ? OSC_NODE_LAUNCHER : 0));
    }
    if (action == OSC_OPTREE_MODULE)
        return kind == OSC_KIND_MODULE ? OSC_NODE : 0;
    if (action == OSC_OPTREE_ANNOTATION) {
        const uint16_t name = c->names[k->name[i]];
        const bool is_node = kind == OSC_KIND_STEP || kind == OSC_KIND_DATALOADER ||
                             (name & (OSC_NAME_OPTIMIZER | OSC_NAME_COMM_TB));

        return is_node ? OSC_NODE : 0;
    }
    return action == OSC_OPTREE_PYTHON ? OSC_NODE : 0;
}

/* Allocate a tree over ORDER, for derive/nest.c to fill. */
OSC_MUST_USE osc_status osc_optree_init(struct osc_optree *tree, const struct osc_order *order);

/*
 * Rebuild the part for TRACK, whatever overlaps its ranges have: nodes nest only among nodes,
 * and operators only among operators, so that a module with a deviating clock does not
 * separate an operator from its calls. *HAS_TWINS: an operator is directly inside one of the
 * same name.
 */
OSC_MUST_USE osc_status osc_optree_walk(struct osc_optree *tree, const struct osc_trace *t,
                                        const struct osc_classes *c,
                                        const struct osc_order *order, uint32_t track,
                                        bool *has_twins);

/* Merge operators of TRACK into their parents, after the parents of its nodes are known. */
void osc_optree_merge(struct osc_optree *tree, const struct osc_trace *t,
                      const struct osc_order *order, uint32_t track);
void osc_optree_fini(struct osc_optree *tree);

/* The node to whose table row the host calls of NODE count; 0: none. */
static inline uint32_t osc_optree_owner(const struct osc_optree *tree, uint32_t node)
{
    const uint8_t flags = node == 0 ? OSC_NODE_MUTE : tree->flags[node - 1];

    if (flags & OSC_NODE_MUTE)
        return 0;
    return flags & OSC_NODE_MERGED ? tree->parent[node - 1] : node;
}
