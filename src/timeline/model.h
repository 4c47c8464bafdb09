/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - several traces as one drawing: tracks, lanes, names and numbers of events.
 *
 *   part    what a trace adds: its lanes, and where its tracks, names and events begin
 *   track   a group of lanes (lanes.h) of a thread or queue of one trace
 *   series  values over time (series.h) of one trace
 *   arrow   from event to event, as the file draws it, and neither a launch nor from forward
 *           to backward: these are links of the rows
 *   name    a text that events have, once for all traces
 *   event   a row of a trace, counted over all traces in their order
 *
 * Numbers of tracks, series, names and events depend on the files alone: not on threads, and
 * not on when they were read. Times are from the origin of all traces, which each trace knows.
 *
 * Threading: made by one thread; read-only afterwards.
 */
#pragma once

#include "base/intern.h"
#include "timeline/cells.h"
#include "timeline/series.h"

/* The name of events without a name. */
#define OSC_TIMELINE_NO_NAME "(no name)"

struct osc_timeline_arrow {
    uint32_t from, to; /* osc_row */
};

struct osc_timeline_part {
    const struct osc_trace *t; /* borrowed */
    struct osc_lanes lanes;
    struct osc_pyramid pyramid;
    struct osc_all_series series;
    struct osc_timeline_arrow *arrows; /* owned; in the order of the file */
    uint32_t n_arrows;
    uint32_t *name_of;     /* owned; by osc_sid: number of the name + 1, or 0 */
    uint32_t first_track;  /* number of its first track */
    uint32_t first_series; /* number of its first series */
    uint32_t first_event;  /* number of its first row */
};

struct osc_timeline_track {
    uint32_t part;
    uint32_t track;               /* osc_track_id */
    uint8_t group;                /* enum osc_lane_group */
    osc_sid domain;               /* of OSC_LANE_DOMAIN: its name */
    uint32_t first_lane, n_lanes; /* in the lanes of the part */
    uint64_t n_ranges;
};

/* Zeroed, it is empty. */
struct osc_timeline {
    struct osc_timeline_part *parts; /* owned */
    uint32_t n_parts;
    struct osc_timeline_track
        *tracks; /* owned; by part, then by first event, group and domain */
    uint32_t n_tracks, n_series;
    size_t cap_tracks;
    struct osc_arena texts;
    struct osc_intern names; /* the name with number i has id i + 1 */
    int64_t from_ns, to_ns;  /* from the first start to the last end */
};

/*
 * Make TL of the N TRACES, which have ORDER and ALLOCATIONS, and LOADS for the use of devices,
 * and stay as long as TL does, on at most N_THREADS threads. OSC_ELIMIT also: they have 2^32
 * events or more. After a failure TL is empty.
 */
OSC_MUST_USE osc_status osc_timeline_make(struct osc_timeline *tl,
                                          const struct osc_trace *const *traces, uint32_t n,
                                          unsigned n_threads);
void osc_timeline_fini(struct osc_timeline *tl);

/* The part of series NUMBER, which is less than n_series. */
const struct osc_timeline_part *osc_timeline_series(const struct osc_timeline *tl,
                                                    uint32_t number);

/* The number of names, and the text of name I. */
uint32_t osc_timeline_names(const struct osc_timeline *tl);
struct osc_str osc_timeline_name(const struct osc_timeline *tl, uint32_t i);

/* The trace and row of event NUMBER; false: there is none. */
bool osc_timeline_find(const struct osc_timeline *tl, uint32_t number, uint32_t *part,
                       osc_row *row);

/* The time AT_NS of the clock of T, from the origin. */
static inline int64_t osc_timeline_time(const struct osc_trace *t, int64_t at_ns)
{
    return at_ns - t->origin_ns;
}
