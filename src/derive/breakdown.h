/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.h - how long each step took, and what it spent its time on.
 *
 * A step lasts until the device has done what was launched in it, and begins no sooner than
 * the one before it of its process ended; trailing steps whose device work was probably not
 * all recorded are not kept. Its time goes to the first class, in order of priority, that
 * runs anywhere; what is left is `other`: the costs of a step add up to its length. Far
 * from the median is beyond 3 times the median distance from it (MAD), or a tenth of the
 * median if MAD is 0.
 *
 * Threading: not locked; a breakdown belongs to one thread.
 */
#pragma once

#include "base/status.h"
#include "derive/unions.h"
#include "model/trace.h"

/* Costs are by enum osc_class, then what nothing covers. */
#define OSC_COST_OTHER OSC_CLASS_COUNT
#define OSC_COST_COUNT (OSC_CLASS_COUNT + 1)

struct osc_step_cost {
    int64_t start_ns, end_ns; /* device work included; clock of the file */
    int64_t cost_ns[OSC_COST_COUNT];
    uint32_t n_works;      /* device work that its calls launched */
    bool is_behind_device; /* it began late: the device was busy with earlier work */
    bool is_kept;          /* not dropped by the tail rule */
    bool is_outlier;       /* kept, and its length is far from the median */
};

/* One cost per step of the trace, in the same order. Zeroed, it is empty. */
struct osc_breakdown {
    struct osc_step_cost *steps; /* owned */
    uint32_t n_steps, n_kept;
    int64_t median_twice_ns; /* 2 * the median length of kept steps; 0: there is none */
    int64_t window_start_ns,
        window_end_ns; /* from the first start of kept steps to the last end */
};

/* T has STEPS and UNIONS. Tables want osc_breakdown_get(). */
OSC_MUST_USE osc_status osc_breakdown_make(const struct osc_trace *t, bool compat_tb,
                                           unsigned n_threads, struct osc_breakdown *b);
void osc_breakdown_fini(struct osc_breakdown *b);

/*
 * Let *B be the breakdown that derive/ has made, or with COMPAT_TB one that is made
 * in OWN, zeroed before, which the caller finishes in either case.
 */
OSC_MUST_USE osc_status osc_breakdown_get(const struct osc_trace *t, bool compat_tb,
                                          unsigned n_threads, struct osc_breakdown *own,
                                          const struct osc_breakdown **b);
