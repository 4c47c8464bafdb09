/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/flight.h"

#define IDLE_NS UINT64_C(10000000000) /* without a new step */

/* TICKS minus NS, but not below 0. */
static uint64_t ticks_before(const struct osc_flight *f, uint64_t ticks, uint64_t ns)
{
    const double back = (double)ns * f->ticks_per_ns;

    return back < (double)ticks ? ticks - (uint64_t)back : 0;
}

uint64_t osc_flight_begin(const struct osc_flight *f, uint64_t ticks)
{
    const uint64_t step = osc_windows_whole(ticks, 0);
    uint64_t from = step;

    if (f->flight_steps && osc_windows_step() < 0)
        return 0;
    if (f->flight_ns)
        from = osc_windows_whole(ticks_before(f, step, f->flight_ns), 0);
    if (f->flight_steps) {
        const uint64_t by_steps = osc_windows_whole(step, f->flight_steps);
        from = by_steps < from ? by_steps : from;
    }
    return from;
}

struct osc_wire_dump osc_flight_plan(const struct osc_flight *f, uint64_t ticks, uint64_t until)
{
    const uint64_t evicted = f->backlog->evicted_ticks;
    struct osc_wire_dump dump = {.asked_ns = f->flight_ns,
                                 .asked_steps = f->flight_steps,
                                 .from_ticks = osc_flight_begin(f, ticks),
                                 .until_ticks = until};
    uint64_t first_step = dump.from_ticks;

    dump.is_cut = evicted > dump.from_ticks;
    if (dump.is_cut) {
        first_step = dump.from_ticks = osc_windows_next_whole(evicted);
        if (dump.from_ticks > osc_windows_whole(ticks, 0) ||
            osc_backlog_is_small_part(f->backlog, dump.from_ticks)) {
            first_step = osc_windows_whole(evicted, 0);
            dump.from_ticks = 0;
        }
    }
    dump.n_steps = osc_windows_count(first_step, until);
    return dump;
}

bool osc_flight_next(const struct osc_flight *f, uint64_t now, struct osc_flight_group *group)
{
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    const uint32_t n = osc_windows_slow(slow);
    const uint64_t idle_since = ticks_before(f, now, IDLE_NS);
    uint32_t i = 1;

    if (n == 0)
        return false;
    group->slow = slow[0];
    /* Compared with the first one: steps that share one by one would make an endless dump. */
    for (; i < n && osc_flight_begin(f, slow[i].begin) <= slow[0].end; i++)
        group->slow.end = slow[i].end;
    group->is_closed = i < n || osc_flight_begin(f, now) > slow[0].end ||
                       (group->slow.end < idle_since && osc_windows_whole(now, 0) < idle_since);
    return true;
}
