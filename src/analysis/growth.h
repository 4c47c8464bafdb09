/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - why a step was slow: the operator that took more time than usual.
 *
 * The time of an operator (or of the wait for data) in a step is, on the host, the sum over
 * its calls that start in the step of their duration minus that of their child nodes in the
 * tree of operators (derive/optree.h); their calls of the device runtime are included. On the
 * device it is the work that its own calls launched. It grew by the excess over its median
 * over the kept steps, where steps without it count as 0. Operators without a name are left
 * out.
 *
 * Threading: pure functions of a trace that is only read.
 */
#pragma once

#include "derive/breakdown.h"

/* The operator that grew most in a step. Of equals, the host comes first, then the first in
 * the file. */
struct osc_growth {
    osc_sid name;    /* none: nothing grew, or the step was not slow */
    int64_t half_ns; /* growth in half nanoseconds, since a median may end in a half */
    bool is_device;
};

/*
 * Fill GROWTH (zeroed, one for each step of B) for the outliers longer than the median. T has
 * STEPS. Fails only with OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_growth_find(const struct osc_trace *t,
                                        const struct osc_breakdown *b,
                                        struct osc_growth *growth);
