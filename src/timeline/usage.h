/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - which share of a device works, over time, and its mean in each bucket of a window.
 *
 *   utilization     1 while any kernel runs on the device, else 0
 *   SM efficiency   min(sum of `blocks per SM` over the kernels that run, 1)
 *
 * as derive/loads.h finds them, whose lists are read in place: copies do not count. Sixteen
 * entries of a list have a node with their sums, sixteen nodes one of the next level, so that a
 * bucket of any width costs a few steps. Sums are integers: a mean is rounded once, and does
 * not depend on the window of which its bucket is a part.
 *
 * Threading: made by one thread; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "base/wide.h"
#include "timeline/cells.h"

#define OSC_USAGE_LEVELS 8u

struct osc_device_load; /* derive/loads.h */
struct osc_fill;
struct osc_interval;

/* Entries of a list, summed. */
struct osc_usage_sum {
    osc_wide area;        /* of share / OSC_FILL_ONE over time, in ns */
    int64_t covered_ns;   /* sum of their lengths */
    uint64_t least, most; /* of their shares */
};

struct osc_usage {
    const struct osc_interval *busy; /* borrowed; NULL: it is the fills */
    const struct osc_fill *fills;    /* borrowed */
    size_t n;                        /* entries of the list */
    struct osc_usage_sum *nodes;     /* owned */
    size_t first_node[OSC_USAGE_LEVELS], n_nodes[OSC_USAGE_LEVELS];
};

/* What holds from AT_NS on, until the next one: the mean of a bucket, or a share that does not
 * change in one or more buckets. */
struct osc_usage_cell {
    int64_t at_ns;            /* where a bucket begins */
    double least, most, mean; /* from 0 to 1 */
};

/* Make S of the time in which D had kernels, or of its fills. After a failure S is empty. */
OSC_MUST_USE osc_status osc_usage_of_busy(const struct osc_device_load *d, struct osc_usage *s);
OSC_MUST_USE osc_status osc_usage_of_fills(const struct osc_device_load *d,
                                           struct osc_usage *s);
void osc_usage_fini(struct osc_usage *s);

/*
 * Call EMIT for the first bucket of W, for each in which the share changes, and for each that
 * begins a time without changes, in order of time. False from it ends the search. Outside of
 * the list the share is 0.
 */
void osc_usage_find(const struct osc_usage *s, const struct osc_cell_window *w,
                    bool (*emit)(void *ctx, const struct osc_usage_cell *cell), void *ctx);
