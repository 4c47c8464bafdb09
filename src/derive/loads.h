/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.h - how much of each device its kernels used, and when.
 *
 * Only kernels count, not copies:
 *
 *   busy   when any kernel ran on the device, on any queue
 *   fills  between two end points of kernels that state `blocks per SM`: the sum of that
 *          over the running kernels, at most 1. It estimates the share of multiprocessors
 *          that have work. Fills touch where a kernel starts or ends while another runs;
 *          time without such kernels has no fill.
 *
 * Fills are integers in units of 2^-62, so their sums are exact: a sweep leaves no rounding
 * error, and the order of kernels does not matter.
 *
 * Time is divided into buckets of the smallest power of ten of microseconds that gives at most
 * 100 buckets. The last one extends to the end of the recording. The counter tracks of an
 * exported trace are busy per bucket, and fills.
 *
 *     const struct osc_loads *const loads = &osc_trace_facts(t)->loads;   // T has LOADS
 *     for (uint32_t d = 0; d < loads->n_devices; d++)
 *         for (uint32_t b = 0; b < loads->n_buckets; b++)
 *             osc_loads_bucket(loads, d, b) ...
 *
 * Threading: not locked; one thread makes loads, then any number of readers.
 */
#pragma once

#include "derive/classify.h"
#include "derive/intervals.h"
#include "derive/links.h"
#include "derive/order.h"
#include "model/trace.h"

#define OSC_FILL_ONE (UINT64_C(1) << 62)

/* A time in which the share FILL / OSC_FILL_ONE, above 0, of the multiprocessors had work. */
struct osc_fill {
    int64_t start_ns, end_ns; /* clock of the file; never empty */
    uint64_t fill;            /* at most OSC_FILL_ONE */
};

/* A device that did any work: kernels, copies or memsets. */
struct osc_device_load {
    osc_sid name;   /* FAMILY:N */
    int64_t number; /* N of its name; -1 if it has none */
    bool has_kernels;
    struct osc_intervals busy; /* merged */
    struct osc_fill *fills;    /* owned; in order of time */
    size_t n_fills;
};

/* Zeroed, there are none. */
struct osc_loads {
    struct osc_device_load *devices; /* owned; sorted by number, those without one last */
    uint32_t n_devices;
    uint32_t *of_track; /* owned; by track: index in devices + 1, or 0 */
    /* Buckets cover the span of the recording (the last event `PyTorch Profiler (0)`), or
     * without one the time from the first start to the last end of all events. */
    int64_t start_ns, end_ns; /* clock of the file */
    int64_t bucket_ns;
    uint32_t n_buckets; /* at most 100; 0: the trace has no duration */
};

/* After a failure L is empty. */
OSC_MUST_USE osc_status osc_loads_make(const struct osc_trace *t,
                                       const struct osc_classes *classes,
                                       const struct osc_order *order,
                                       const struct osc_links *links, struct osc_loads *l);
void osc_loads_fini(struct osc_loads *l);

/* What a device did in some time. */
struct osc_load {
    int64_t start_ns, end_ns; /* clock of the file */
    int64_t busy_ns;          /* time in which some kernel ran */
    double fill_ns;           /* integral of the fills over time: mean fill x length */
};

/* The load of device D from START_NS to END_NS, in O(log n + fills inside). */
struct osc_load osc_loads_between(const struct osc_loads *l, uint32_t d, int64_t start_ns,
                                  int64_t end_ns);

/* The load of device D in bucket B. */
struct osc_load osc_loads_bucket(const struct osc_loads *l, uint32_t d, uint32_t b);
