/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - why a step was slow: the operator that took more than it usually does.
 *
 * The time of an operator (or of the wait for data) in a step is, on the host, the sum
 * over its calls that start in the step of their duration less that of the nodes right
 * below them in the tree of operators (derive/optree.h), their calls of the device
 * runtime included; on the device, that of the work which its own calls launched. It grew
 * by what exceeds its median over the kept steps, those without it counting 0. What has no
 * name is left out.
 *
 * Threading: pure functions of a trace that is only read.
 */
#pragma once

#include "derive/breakdown.h"

/* What grew the most in a step; the first in the file of equals, the host first. */
struct osc_growth {
    osc_sid name;    /* none: nothing did, or the step was not slow */
    int64_t half_ns; /* by how many halves of a nanosecond: medians have them */
    bool is_device;
};

/*
 * Fill GROWTH, zeroed, one for each step of B: of the outliers that took longer than the
 * median. T has STEPS.
 * OSC_ENOMEM or OSC_OK.
 */
OSC_MUST_USE osc_status osc_growth_find(const struct osc_trace *t,
                                        const struct osc_breakdown *b,
                                        struct osc_growth *growth);
