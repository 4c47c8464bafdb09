/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census.h - what a trace holds, in one look over its rows.
 *
 * `info` and `quality` tell users what is there and what is missing; both count
 * here. Rows that a selection removed do not count.
 *
 * Threading: pure function over a sealed trace.
 */
#pragma once

#include "model/trace.h"

struct osc_census {
    uint64_t by_kind[OSC_KIND_COUNT]; /* rows */
    uint64_t n_steps;                 /* finished ranges of kind step */
    uint32_t n_threads, n_processes;  /* host threads with events, and their processes;
                                         without the pseudo processes of Kineto */
    bool has_shapes, has_stacks, has_modules;
    /* Findings of `quality`. Zero times that are not far from the others do not count. */
    struct osc_tally no_duration, clock_step, outside_span;
};

OSC_MUST_USE osc_status osc_census_take(const struct osc_trace *t, struct osc_census *c);

/*
 * A switch of the profiler, such as "record_shapes": what the file says itself,
 * else DEFAULT_VALUE.
 */
bool osc_trace_flag(const struct osc_trace *t, const char *name, bool default_value);
