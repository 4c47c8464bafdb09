/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enclosing_ranges.h - rows of a line of operations that repeat the time of others on the same
 * line.
 *
 * XLA draws a loop, a conditional and a call over the operations inside. A queue's time counts
 * once, so that either the operation or those directly in it are work:
 *
 *   - where these cover at least half of it, it is a range drawn over them: a repeat;
 *   - where they cover less, everything in it is part of it: those are the repeats.
 *
 * An operation is in another one if it takes time and neither begins before nor ends after it;
 * of two with the same begin and end, the later in the file is in the earlier.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

struct osc_enclosing_ranges {
    uint32_t *rows; /* owned; numbers of rows (osc_chunk.first_row plus index), ascending */
    size_t n;
};

/*
 * Find the repeats among the ranges of T on the tracks I of which IS_LINE[I] holds. R is
 * overwritten, empty if there are none, and ended with osc_enclosing_ranges_fini(), whatever is
 * returned.
 */
OSC_MUST_USE osc_status osc_enclosing_ranges_find(const struct osc_trace *t,
                                                  const bool *is_line,
                                                  struct osc_enclosing_ranges *r);
void osc_enclosing_ranges_fini(struct osc_enclosing_ranges *r);
