/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_steps.h - steps of which less than half was measured.
 *
 * A step begins when devices are done with earlier work. Where most of that was launched before
 * the recording, or by calls that are not in it, what is left tells nothing of how long a step
 * takes.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"
#include "base/wide.h"
#include "table/table.h"

/* Sums over kept steps that have a range. Zeroed, of none. */
struct osc_cut_steps {
    osc_wide measured_ns, ranges_ns;
};

/* Add the rows of STEPS, a table `steps`. */
void osc_cut_steps_add(struct osc_cut_steps *c, const struct osc_result *steps);

bool osc_cut_steps_is(const struct osc_cut_steps *c);

/* Append "of the ranges of WHOSE, 100 ms, only 135 us remained after earlier steps and work of
 * the device". */
void osc_cut_steps_say(const struct osc_cut_steps *c, const char *whose,
                       struct osc_strbuf *out);
