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

#include "analysis/diff/tree_columns.h"
#include "table/table.h"

extern const struct osc_table_def osc_side_tree;
