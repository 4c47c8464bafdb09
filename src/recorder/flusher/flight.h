/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - what a dump of a flight recorder has.
 *
 *     ...| asked before |  step  | ...        a dump about a step, such as a slow one
 *        ^ begin                 ^ until
 *
 *   - It begins so many steps, and so much time, before its step begins; with a whole step.
 *   - If memory held less, it begins with the first whole step of what is kept. If that would
 *     leave out the step, or half of what memory can hold, it has all that is kept, after
 *     copies of what was open before it (part_state.h).
 *   - Slow steps share a dump if what leads to the later one begins before the first of them
 *     ends. So a dump is about twice as long as asked at most, and what leads to the first slow
 *     step behind it is in both dumps.
 *
 * Threading: the flusher.
 */
#pragma once

#include "recorder/flusher/backlog.h"
#include "recorder/flusher/windows.h"

struct osc_flight {
    uint64_t flight_ns, flight_steps; /* as in struct osc_start_options */
    double ticks_per_ns;
    const struct osc_backlog *backlog; /* borrowed */
};

/* Where a dump should begin that is about the step at TICKS. */
uint64_t osc_flight_begin(const struct osc_flight *f, uint64_t ticks);

/* A dump now that is about the step at TICKS and ends at UNTIL. Its from_ticks is 0 if it has
 * all that is kept, after copies from F->backlog->evicted. */
struct osc_wire_dump osc_flight_plan(const struct osc_flight *f, uint64_t ticks,
                                     uint64_t until);

/* What the next dump of slow steps is about. */
struct osc_flight_group {
    struct osc_windows_slow slow; /* from the begin of the first to the end of the last */
    bool is_closed; /* no later step can share its dump, or none has begun for ten seconds */
};

/* Get the next group of slow steps that are in no dump; false: there are none. */
bool osc_flight_next(const struct osc_flight *f, uint64_t now, struct osc_flight_group *group);
