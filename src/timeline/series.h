/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - values over time: counters of the program, memory as its allocators report it, and
 * how much of each device its kernels use.
 *
 *   counter    one for each name, thread and value of counter events
 *   allocated, reserved   for each device of memory records: the totals that records carry
 *   utilization, SM efficiency   for each device that ran a kernel (usage.h); the second one
 *              only if its kernels say how many blocks they have
 *
 * Shares have no samples, and their buckets are those of usage.h. Of all others a value holds
 * until the next sample. Samples are in order of time, those of one time in the order of the
 * file; values that are no numbers are left out. Sixteen samples have a node with the least and
 * the greatest of them, sixteen nodes one of the next level, so that a window of any width
 * costs a few steps per pixel.
 *
 * Threading: made by one thread; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"
#include "timeline/usage.h"

enum osc_series_sort {
    OSC_SERIES_COUNTER,
    OSC_SERIES_ALLOCATED,
    OSC_SERIES_RESERVED,
    OSC_SERIES_UTILIZATION,
    OSC_SERIES_SM_EFFICIENCY,
};

struct osc_sample {
    int64_t at_ns; /* on the clock of the file */
    double value;
};

struct osc_span_of_values {
    double least, most;
};

#define OSC_SERIES_LEVELS 8u

struct osc_series {
    uint8_t sort;               /* enum osc_series_sort */
    uint32_t track;             /* osc_track_id: of the first sample, or the first queue */
    osc_sid name;               /* of the counter; none for all others */
    osc_sid key;                /* of its value; may be none */
    struct osc_str device;      /* borrowed; of memory and shares: FAMILY:N */
    struct osc_sample *samples; /* owned; NULL for shares */
    uint32_t n;
    struct osc_span_of_values *nodes; /* owned */
    uint32_t first_node[OSC_SERIES_LEVELS];
    uint32_t n_nodes[OSC_SERIES_LEVELS];
    struct osc_usage usage;
};

/* Zeroed, there are none. */
struct osc_all_series {
    /* Owned; counters in order of their first sample, then memory, then shares by device. */
    struct osc_series *v;
    uint32_t n;
    size_t cap;
};

/* Make the series of T, which has ALLOCATIONS; without LOADS it has no shares. After a failure
 * S is empty. */
OSC_MUST_USE osc_status osc_series_make(const struct osc_trace *t, struct osc_all_series *s);
void osc_series_fini(struct osc_all_series *s);

static inline bool osc_series_is_usage(const struct osc_series *s)
{
    return s->sort >= OSC_SERIES_UTILIZATION;
}

/* The samples in one bucket of a window, or what usage.h has of it. */
struct osc_series_cell {
    int64_t at_ns; /* of the first of them */
    double least, most;
    double value; /* the last of them; of a share the mean */
};

/*
 * Call EMIT for each bucket of W that has samples, in order of time, after the last sample
 * before the window, if there is one. False from it ends the search.
 */
void osc_series_find(const struct osc_series *s, const struct osc_cell_window *w,
                     bool (*emit)(void *ctx, const struct osc_series_cell *cell), void *ctx);
