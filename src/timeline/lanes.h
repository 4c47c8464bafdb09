/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - the ranges of a trace as rows of a drawing.
 *
 * A lane is a row in which no two ranges overlap, so that a picture of it needs at most a cell
 * per pixel. Each track has a group of lanes for its synchronous ranges, in the order in which
 * they nest, one for its asynchronous ranges, and one for its instants. In a group, a range
 * lies in the lowest lane that is free below every lane whose open range contains it: where
 * ranges nest properly, the number of the lane is the depth.
 *
 * Some groups have ranges that are in another one, too:
 *
 *   - A track with Python frames has one of its synchronous ranges without them.
 *   - Queues that are packed (packing.h) have one for all of their synchronous ranges, under
 *     the first of them. There a range lies in the lowest free lane of its kind; the lanes of
 *     a kind stand below those of the kinds before it.
 *   - An ITT domain of a process (domains.h) has one, under the track of its first task.
 *
 *   - Allocations, releases and samples of counters are in no lane: they are series.
 *   - A group has at most OSC_LANES_MAX lanes. What finds none of them free lies in the last
 *     one, which is marked: its ranges may overlap.
 *   - Within a lane, ranges are in order of start, then longer first, then by the file.
 *   - Summary tracks (osc_track.is_summary) have lanes, too; they are marked.
 *
 * Threading: made in parallel over tracks; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"
#include "timeline/packing.h"

#define OSC_LANES_MAX 256u

enum osc_lane_group {
    OSC_LANE_RANGES,
    OSC_LANE_ASYNC,
    OSC_LANE_INSTANTS,
    OSC_LANE_NO_FRAMES, /* ranges but for Python frames */
    OSC_LANE_PACKED,    /* ranges of packed queues */
    OSC_LANE_DOMAIN,    /* tasks of an ITT domain */
};

struct osc_lane {
    uint32_t track; /* osc_track_id */
    uint16_t depth; /* in its group */
    uint8_t group;  /* enum osc_lane_group */
    osc_sid domain; /* of OSC_LANE_DOMAIN: its name */
    bool overlaps;  /* its ranges may overlap */
    uint32_t first; /* place in osc_lanes.rows */
    uint32_t n;     /* at least 1 */
};

/* Zeroed, it is empty. */
struct osc_lanes {
    struct osc_lane *v; /* owned; grouped by track, then group and domain, then depth */
    uint32_t n;
    uint32_t *rows; /* owned; osc_row; those of a lane are together */
    uint32_t n_rows;
    size_t rows_bytes; /* size of the pages that hold rows */
    struct osc_packing packing;
};

/* Make the lanes of T, which has ORDER, on at most N_THREADS threads. After a failure L is
 * empty. */
OSC_MUST_USE osc_status osc_lanes_make(const struct osc_trace *t, unsigned n_threads,
                                       struct osc_lanes *l);
void osc_lanes_fini(struct osc_lanes *l);

struct osc_classes;

/* The group of row I of C, one of the first three; -1: it is in no lane. */
int osc_lane_group_of(const struct osc_classes *classes, const struct osc_chunk *c, uint32_t i);

/* Start and end of row ROW of T; an instant ends when it starts. */
static inline int64_t osc_lane_start(const struct osc_trace *t, uint32_t row)
{
    return osc_chunk_of(&t->events, (osc_row){row})->ts_ns[row & OSC_CHUNK_MASK];
}

static inline int64_t osc_lane_end(const struct osc_trace *t, uint32_t row)
{
    return osc_row_end(osc_chunk_of(&t->events, (osc_row){row}), row & OSC_CHUNK_MASK);
}
