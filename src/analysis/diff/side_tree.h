/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_tree.h - what a comparison keeps of one run as a tree: who did what inside of what.
 *
 * Nodes are ranges of the host: steps, modules, annotations, scopes, data loaders, optimizers,
 * collectives and operators. A range belongs to the innermost of them around it on its thread,
 * or else to the step in which it starts; so the backward pass, on its own thread, is in its
 * step. What is in the same place is one node: the k-th child of one name of a node. So steps
 * are one node, and ranks are merged.
 *
 * Threading: constants.
 */
#pragma once

#include "table/table.h"

/* Columns. Rows stand behind those of their parents. */
enum {
    OSC_TREE_HASH, /* of the place */
    OSC_TREE_SPAN,
    OSC_TREE_STEP,   /* ordinal, or one of those below */
    OSC_TREE_PARENT, /* the hash of the place around it; 0: none */
    OSC_TREE_NAME,
    OSC_TREE_KIND, /* enum osc_kind */
    OSC_TREE_CALLS,
    OSC_TREE_HOST,
    OSC_TREE_DEVICE, /* of what was launched in it */
    OSC_TREE_COLUMNS
};

/* Slow first steps are known only when all ranks are there. So many of each span may be, and
 * have rows of their own. */
#define OSC_SLOW_STEPS_MAX 8u
#define OSC_TREE_LATER     (-1) /* any later step */
#define OSC_TREE_OUTSIDE   (-2) /* no step, or one that is not kept */

extern const struct osc_table_def osc_side_tree;
