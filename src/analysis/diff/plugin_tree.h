/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_tree.h - the diff view of TensorBoard's plugin, for --compat tb.
 *
 *   - A side is the operator tree of one thread of one file, that of its earliest node. If it
 *     has steps, what is directly in them, one step after the other; all else is left out.
 *   - Of two lists, only data loaders, modules, `Optimizer.step` and steps can match: each, in
 *     order, the first one behind the last match that has the same class and name. What is
 *     between two matches is a pair of groups. Without any match there are no children.
 *   - A pair has children if both sides are nodes, or both are groups: those of the nodes, or
 *     of all nodes of the groups.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

/* Append the nodes of T as a digest (tree_columns.h): hash is the number of a node from 1 on,
 * in order, and 0 in a row that stands for the file. */
OSC_MUST_USE osc_status osc_plugin_tree_map(const struct osc_trace *t, struct osc_result *out);

/* One side of a pair. */
struct osc_plugin_side {
    struct osc_str name; /* CompositeNodes for a group, Blank for nothing */
    int64_t calls, host_ns, device_ns;
};

/* Receives the pairs; PATH is 0, 0-0, 0-1 and so on. */
struct osc_plugin_pairs {
    void (*add)(void *ctx, struct osc_str path, uint32_t depth,
                const struct osc_plugin_side *base, const struct osc_plugin_side *new_);
    void *ctx;
};

/* Compare the digests BASE and NEW. OSC_EINVAL: one is of several files. */
OSC_MUST_USE osc_status osc_plugin_tree_compare(const struct osc_result *base,
                                                const struct osc_result *new_,
                                                const struct osc_plugin_pairs *pairs);
