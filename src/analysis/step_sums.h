/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_sums.h - the time of each name in each step.
 *
 * Of operators and data loaders the host time without that of operators inside; of what the
 * program marked and of functions of Python, on the thread of the step, the self time; and the
 * device work that operators launched by their own calls.
 *
 * Threading: pure functions of a trace that is only read.
 */
#pragma once

#include "base/idmap.h"
#include "base/status.h"
#include "derive/facts.h"
#include "model/trace.h"

enum osc_step_side { OSC_STEP_HOST, OSC_STEP_DEVICE, OSC_STEP_SIDES };

/* One name in one step. */
struct osc_step_sum {
    uint32_t name, step; /* step: index + 1 */
    uint32_t first_row;  /* of this name in this step */
    bool is_in_other;    /* the class other has all its time */
    int64_t ns[OSC_STEP_SIDES];
    int64_t n_calls[OSC_STEP_SIDES];
};

/* Zeroed but for t and f, it is empty. */
struct osc_step_sums {
    const struct osc_trace *t;
    const struct osc_facts *f;
    struct osc_step_sum *all; /* owned; in no particular order */
    size_t n, cap;
    struct osc_idmap places; /* name and step -> place in all, + 1 */
};

/* Add NS to the sum of row I of C, which is in a step, on SIDE. */
OSC_MUST_USE osc_status osc_step_sums_add(struct osc_step_sums *s, const struct osc_chunk *c,
                                          uint32_t i, enum osc_step_side side, int64_t ns);
/* Add what the host did. */
OSC_MUST_USE osc_status osc_step_sums_host(struct osc_step_sums *s);
/* Add device work to the operators whose calls launched it. */
OSC_MUST_USE osc_status osc_step_sums_device(struct osc_step_sums *s);
void osc_step_sums_fini(struct osc_step_sums *s);
