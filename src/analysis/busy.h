/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - how long each thread, queue and device worked.
 *
 * Time in which several ranges run counts once. Of a thread the steps and the ranges that the
 * program marked count only if it has no others, and asynchronous ranges only if it has
 * nothing else: they say what was waited for, not who worked. Ray's worker_idle never counts.
 * Of a queue and a device kernels, copies and memsets count.
 *
 * Threading: pure function over a sealed trace with ORDER.
 */
#pragma once

#include "model/trace.h"

#define OSC_NEVER_BUSY (-1) /* no range that counts, or a track that repeats others' time */

/* Zeroed, it is empty. */
struct osc_busy {
    int64_t end_ns;    /* on the clock of the file: what runs later does not count */
    int64_t *track_ns; /* owned; by osc_track_id */
    /* Owned; by osc_track_id: of the device of the queue, at the first queue of each device;
     * elsewhere OSC_NEVER_BUSY and 0. */
    int64_t *device_ns;
    uint64_t *device_events;
};

/* Sum up T until END_NS; INT64_MAX: all. After a failure B is empty. */
OSC_MUST_USE osc_status osc_busy_make(const struct osc_trace *t, int64_t end_ns,
                                      struct osc_busy *b);
void osc_busy_fini(struct osc_busy *b);
