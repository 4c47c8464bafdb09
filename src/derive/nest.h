/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.h - what lies in what: one walk over every track.
 *
 * The forest: parent, depth and self_ns of every finished synchronous range, by the rule of
 * docs/numbers.md#nesting-and-self-time: a range ends before another starts when its end is
 * not after the other's start; ranges that overlap in part are siblings, both whole; self
 * time is the duration less that of the children, and may be negative.
 *
 * The operator tree (optree.h) nests by the same rule, but knows only some of the
 * ranges. Where a track has no partial overlaps, what holds a node is the innermost
 * node among the ranges that hold it, so that one stack serves both. A track with
 * partial overlaps is walked once more, for the tree alone.
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
 * Walk T in ORDER. Derived columns are there and zeroed. With HAS_FOREST, make the
 * forest; findings go to T. TREE: make the operator tree there (see
 * osc_optree_init()), and leave in osc_chunk.link of each host call the innermost
 * operator (as a node) of its own thread that holds it, which derive/links.c starts
 * from; NULL: do not.
 */
OSC_MUST_USE osc_status osc_nest_make(struct osc_trace *t, const struct osc_classes *c,
                                      const struct osc_order *order, bool has_forest,
                                      struct osc_optree *tree, unsigned n_threads);
