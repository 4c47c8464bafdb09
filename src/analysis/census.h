/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census.h - what a trace contains, counted in one pass over its rows.
 *
 * `info` and `quality` tell users what is present and what is missing, from these counts. Rows
 * that a selection removed do not count.
 *
 * Threading: pure function over a sealed trace.
 */
#pragma once

#include "model/trace.h"

struct osc_census {
    uint64_t by_kind[OSC_KIND_COUNT]; /* rows */
    uint64_t n_steps;                 /* finished ranges of kind step */
    bool has_shapes, has_stacks, has_modules;
    /* Findings for `quality`. Zero times that are near the others do not count. */
    struct osc_tally no_duration, clock_step, outside_span;
};

/* Whether TRACK is a host thread with events, but no pseudo thread of Kineto. */
static inline bool osc_census_has_thread(const struct osc_track *track)
{
    return track->n_events > 0 && !track->is_queue && !track->is_of_trace && !track->is_summary;
}

OSC_MUST_USE osc_status osc_census_add(const struct osc_trace *t, struct osc_census *c);

/*
 * The value of a profiler switch, such as "record_shapes", if the file gives it, else
 * DEFAULT_VALUE.
 */
bool osc_trace_flag(const struct osc_trace *t, const char *name, bool default_value);
