/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wild_times.h - events whose time cannot be right, because all others are far away.
 *
 * Some profilers write 0, or what was in memory, as the time of an event. One such event would
 * make a trace of milliseconds 56 years long. The rule (TIME in table/rules.md) goes by days:
 * runs of days with starts are groups, and the group that matters is kept with all that are
 * near it. Most traces last less than a week; they cost one look at the times of the chunks.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "model/trace.h"

/* The starts of events in one day. */
struct osc_day {
    int64_t day; /* since time 0 of the clock; may be negative */
    int64_t first_ns, last_ns;
    uint64_t n;
    bool is_wild; /* known after osc_wild_times_leave_out() */
};

/* Days with starts. Zeroed: none. */
struct osc_days {
    struct osc_day *v; /* owned; in order of appearance */
    size_t n, cap;
    struct osc_idmap of_day; /* day -> index + 1 */
    size_t latest;           /* index of the day that was used last */
};

void osc_days_fini(struct osc_days *d);

/* Count a start at AT_NS. */
OSC_MUST_USE osc_status osc_days_add(struct osc_days *d, int64_t at_ns);

/* Count the starts that FROM has counted. */
OSC_MUST_USE osc_status osc_days_join(struct osc_days *d, const struct osc_days *from);

/*
 * Remove events and records of arrows from T, whose ends are matched, if their time is wild,
 * and the durations of ranges whose end is; all are counted. DAYS has the starts of the whole
 * file if rows of T were left out; *MIN_NS becomes the first that is not wild. Else DAYS is
 * NULL.
 */
OSC_MUST_USE osc_status osc_wild_times_leave_out(struct osc_trace *t, struct osc_days *days,
                                                 int64_t *min_ns);
