/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wild_times.h - events whose time cannot be right, because all others are far away.
 *
 * Some profilers write 0, or what was in memory, as the time of an event. One such event would
 * make a trace of milliseconds 56 years long. The rules (TIME in table/rules.md) find the
 * group that matters and keep it with all that are near it: the first by days, the second by
 * pauses that are out of proportion. Most traces last a few minutes; they cost one look at the
 * times of the chunks.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "model/trace.h"

/* The events that start in one minute. */
struct osc_minute {
    int64_t minute;            /* since time 0 of the clock; may be negative */
    int64_t first_ns, last_ns; /* starts */
    int64_t end_ns;            /* the last of all ends that are known */
    uint64_t n;
    bool is_wild; /* known after osc_wild_times_leave_out() */
};

/* Minutes with starts. Zeroed: none. */
struct osc_minutes {
    struct osc_minute *v; /* owned; in order of appearance */
    size_t n, cap;
    struct osc_idmap of_minute; /* minute -> index + 1 */
    size_t latest;              /* index of the minute that was used last */
};

void osc_minutes_fini(struct osc_minutes *all);

/* Count an event at AT_NS that lasts DUR_NS, or OSC_NO_DUR. */
OSC_MUST_USE osc_status osc_minutes_add(struct osc_minutes *all, int64_t at_ns, int64_t dur_ns);

/* Count what FROM has counted. */
OSC_MUST_USE osc_status osc_minutes_join(struct osc_minutes *all,
                                         const struct osc_minutes *from);

/*
 * Remove events and records of arrows from T, whose ends are matched, if their time is wild,
 * and the durations of ranges whose end is; all are counted. MINUTES has the events of the
 * whole file if rows of T were left out; *MIN_NS becomes the first start that is not wild. Else
 * MINUTES is NULL.
 */
OSC_MUST_USE osc_status osc_wild_times_leave_out(struct osc_trace *t,
                                                 struct osc_minutes *minutes, int64_t *min_ns);
