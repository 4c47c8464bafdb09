/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forest.h - which range lies in which, per thread and per device queue.
 *
 * Fills parent, depth and self_ns of every finished synchronous range, by the rule
 * of product.md, section 2: a range ends before another starts when its end is not
 * after the other's start; ranges that overlap in part are siblings, both whole;
 * self time is the duration less that of the children, and may be negative.
 *
 * Threading: made in parallel over tracks.
 */
#ifndef OSC_DERIVE_FOREST_H
#define OSC_DERIVE_FOREST_H

#include "base/status.h"
#include "derive/order.h"
#include "model/trace.h"

/* Walk T in ORDER. Derived columns are there and zeroed. Findings go to T. */
OSC_MUST_USE osc_status osc_forest_make(struct osc_trace *t, const struct osc_order *order,
                                        unsigned n_threads);

#endif
