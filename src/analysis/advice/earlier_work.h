/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earlier_work.h - when devices were busy with work from before the recording.
 *
 * A queue runs its work in order. If its first work in the trace starts long after the call
 * that launched it returned, and nothing in the trace ran on that device meanwhile, it waited
 * for work that was launched before the recording began, and that has no record. That time is
 * not idle, and nothing recorded says what it was; nor is what the device has as long before
 * the call, since its last work: who still has so much to do did not begin with it just then.
 *
 * Threading: not locked.
 */
#pragma once

#include "derive/facts.h"

/* What devices take at most between a launch, or the end of work, and the next work. */
#define OSC_HANDOVER_NS INT64_C(100000)

/* The first work of a queue, and the time in which it waited. */
struct osc_earlier {
    int64_t from_ns, to_ns;
    uint32_t work;   /* index in osc_links.works + 1 */
    uint32_t device; /* index in osc_loads.devices */
};

/* In order of queues. Zeroed, it is empty. */
struct osc_earlier_work {
    struct osc_earlier *v; /* owned */
    size_t n, cap;
};

/* Find that time of each queue of T, which has LOADS. Call osc_earlier_work_fini() even after a
 * failure. */
OSC_MUST_USE osc_status osc_earlier_work_find(const struct osc_trace *t,
                                              struct osc_earlier_work *e);
void osc_earlier_work_fini(struct osc_earlier_work *e);
