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

#include "base/wide.h"
#include "prose/phrase.h"
#include "table/table.h"

/* Sums over kept steps that have a range. Zeroed, of none. */
struct osc_cut_steps {
    osc_wide measured_ns, ranges_ns;
};

/* Add the rows of STEPS, a table `steps`. */
void osc_cut_steps_add(struct osc_cut_steps *c, const struct osc_result *steps);

bool osc_cut_steps_is(const struct osc_cut_steps *c);

/* What others say of such steps, and its facts (prose/phrase.h). */
#define OSC_CUT_STEPS_LIST(X)                                                                 \
    X(ranges, NS, 0)                                                                          \
    X(measured, NS, 0)                                                                        \
    X(side, TEXT, 0) /* of a comparison */                                                    \
    X(cut, PHRASE,                                                                            \
      "of the ranges of the kept steps{side? of {side}}, {ranges}, only {measured} remained " \
      "after earlier steps and work of the device")

/* Set the facts RANGES and MEASURED, if C is such. */
void osc_cut_steps_set(struct osc_prose_facts *f, unsigned ranges, unsigned measured,
                       const struct osc_cut_steps *c);
