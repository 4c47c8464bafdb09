/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - what to draw of a lane in a window of time.
 *
 * The window is cut into buckets of equal width, usually pixels. A range that is at least as
 * long as a bucket, or alone among those that start in its bucket, has a cell of its own. All
 * other ranges that start in one bucket share a cell:
 *
 *   - it reaches from the start of its first range to the end of its last one
 *   - it stands for its longest range; of several equally long ones for the first
 *   - it has their number and the sum of their durations
 *
 * So a lane has at most two cells per bucket, plus one for a range that starts before the
 * window and ends in it, and drawing the cells is drawing every range, to the pixel. In a lane
 * whose ranges overlap (lanes.h) the ranges that start before the window may be missing.
 *
 * Bucket i of n begins at FROM + ceil(i * (TO - FROM) / n).
 *
 * Threading: pure functions over what is read-only.
 */
#pragma once

#include "timeline/pyramid.h"

struct osc_lane_cell {
    int64_t start_ns, end_ns; /* on the clock of the file */
    int64_t busy_ns;          /* sum of the durations */
    uint32_t row;             /* osc_row: the range, or the longest */
    uint32_t n;               /* ranges in it */
};

/* A window of time, on the clock of the file: [from_ns, to_ns), not empty and at most
 * 2 * OSC_TIME_MAX_NS long. */
struct osc_cell_window {
    int64_t from_ns, to_ns;
    uint32_t n_buckets; /* at least 1 */
};

/* Where the bucket begins, and where it ends, that AT_NS, a time in W, is in. */
int64_t osc_cell_bucket_start(const struct osc_cell_window *w, int64_t at_ns);
int64_t osc_cell_bucket_end(const struct osc_cell_window *w, int64_t at_ns);

/* Call EMIT for each cell of LANE in W, in order of start. False from it ends the search. */
void osc_cells_find(const struct osc_pyramid *p, uint32_t lane, const struct osc_cell_window *w,
                    bool (*emit)(void *ctx, const struct osc_lane_cell *cell), void *ctx);
