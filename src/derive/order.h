/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the rows of every track in the order in which ranges nest.
 *
 * Sorted by (start, longer first, order of the file): a parent stands before its children, so
 * that one walk with a stack sees the forest. Kineto writes a track as a few ascending runs,
 * old files in order of end. A natural merge sort that does not touch what is in place already
 * is fast for both, and O(n log n) for any input.
 *
 * Places in osc_order.rows are what osc_optree calls nodes.
 *
 * Threading: made in parallel over tracks; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

enum osc_order_of {
    OSC_ORDER_RANGES, /* finished synchronous ranges */
    OSC_ORDER_MEMORY, /* allocations and releases */
};

/* Zeroed, it is empty. */
struct osc_order {
    uint32_t *rows; /* owned; osc_row, grouped by track */
    uint32_t n_rows;
    uint32_t *first;  /* owned; track k has rows [first[k], first[k + 1]) */
    uint32_t *tracks; /* owned; tracks with rows, the longest first */
    uint32_t n_tracks;
    size_t rows_bytes; /* size of the pages that hold rows */
};

OSC_MUST_USE osc_status osc_order_make(const struct osc_trace *t, const struct osc_classes *c,
                                       enum osc_order_of of, unsigned n_threads,
                                       struct osc_order *o);
void osc_order_fini(struct osc_order *o);

/*
 * The place of the first row of TRACK that starts at AT_NS or later, or the end of the track.
 * *HINT, initially 0, is the last result: times in nearly ascending order are found in a few
 * steps from there.
 */
uint32_t osc_order_find(const struct osc_trace *t, const struct osc_order *o, uint32_t track,
                        int64_t at_ns, uint32_t *hint);

/* Sort N rows of one track, given in the order of the file, in place. */
OSC_MUST_USE osc_status osc_order_sort(const struct osc_trace *t, uint32_t *rows, uint32_t n);
