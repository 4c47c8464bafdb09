/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - why a step was slow: what took more time than usual, and its share.
 *
 * The time of an operator (or of the wait for data) in a step is, on the host, the sum over
 * its calls that start in the step of their duration minus that of their child nodes in the
 * tree of operators (derive/optree.h); their calls of the device runtime are included. On the
 * device it is the work that its own calls launched. It grew by the excess over its median
 * over the kept steps, where steps without it count as 0. Operators without a name are left
 * out. Of what the program marked, and of functions of Python, on the thread of the step, it is
 * their self time. Time in which nothing was recorded can grow, too. Growth below a tenth of
 * what the step took longer than the median explains nothing.
 *
 * Threading: pure functions of a trace that is only read.
 */
#pragma once

#include "derive/breakdown.h"

/* What grew most in a step. Of equals, the host comes first, then the first in the file, then
 * the time in which nothing was recorded. */
struct osc_growth {
    osc_sid name;       /* none, unless is_other: nothing grew, or the step was not slow */
    int64_t half_ns;    /* growth in half nanoseconds, since a median may end in a half */
    int64_t of_half_ns; /* what the step took longer than the median, likewise */
    bool is_device;
    bool is_in_other; /* the class other has all its time */
    bool is_other;    /* nothing was recorded in that time */
};

/* The name of what grew in T, as users see it; missing if nothing did. */
struct osc_str osc_growth_name(const struct osc_trace *t, const struct osc_growth *g);

/*
 * Fill GROWTH (zeroed, one for each step of B) for the outliers longer than the median. T has
 * STEPS. Fails only with OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_growth_find(const struct osc_trace *t,
                                        const struct osc_breakdown *b,
                                        struct osc_growth *growth);
