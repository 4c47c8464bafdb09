/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.h - find what contains what, in one walk over every track.
 *
 * The forest: parent, depth and self_ns of every finished synchronous range, by the rule FOREST
 * of table/rules.md: a range ends before another starts if its end is not after the other's
 * start; ranges that partly overlap are siblings, both whole; self time is the duration minus
 * that of the children, and may be negative.
 *
 * The operator tree (optree.h) nests by the same rule, but contains only some of the ranges.
 * On a track without partial overlaps, the parent of a node is the innermost node among the
 * ranges that contain it, so that one stack serves both trees. A track with partial overlaps
 * is walked a second time for the operator tree.
 *
 * Threading: made in parallel over tracks.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "model/trace.h"

/*
 * Walk T in ORDER. Derived columns are allocated and zeroed. With HAS_FOREST, make the forest;
 * findings go to T. TREE (may be NULL): make the operator tree in it (see osc_optree_init()),
 * and store in osc_chunk.link of each host call the innermost operator (as a node) of its own
 * thread that contains it, as input for derive/links.c.
 */
OSC_MUST_USE osc_status osc_nest_make(struct osc_trace *t, const struct osc_classes *c,
                                      const struct osc_order *order, bool has_forest,
                                      struct osc_optree *tree, unsigned n_threads);
