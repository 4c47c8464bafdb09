/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - two digests, joined by name, with a sample of steps on each side.
 *
 * A step of a run is one value: the sum over the processes that have the step, divided by their
 * number. So ranks that work at the same time are not added up, and runs of different size and
 * length compare. A step in which a name does not occur counts as 0.
 *
 * Slow first steps are no part of a sample: at the begin of each span, steps are left out as
 * long as their length exceeds the median of the run by more than 3 times the median difference
 * (MAD) and by more than a tenth of the median, but not more than half of all, nor more than
 * OSC_SLOW_STEPS_MAX of a span.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/diff/sides.h"
#include "analysis/diff/welch.h"
#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"

enum { OSC_BASE, OSC_NEW, OSC_BOTH };

struct osc_run_step {
    uint64_t key; /* span and ordinal */
    uint32_t row; /* of the digest */
    int64_t parts, total_ns;
    bool is_left_out;
};

/* The steps of one side. */
struct osc_run_steps {
    struct osc_run_step *all; /* owned; sorted by key */
    size_t n_all;
    uint32_t n, n_left_out;   /* in samples, and slow first ones */
    struct osc_idmap numbers; /* by key: index in all + 1 */
};

/* A name on both sides. */
struct osc_pair {
    struct osc_str name, shape;
    bool is_on[OSC_BOTH];
    int64_t calls[OSC_BOTH], times_ns[OSC_BOTH][OSC_WORK_TIMES];
    double calls_a_step[OSC_BOTH];
    struct osc_sample samples[OSC_BOTH][OSC_WORK_TIMES];
    /* Of the logarithms of these samples, which have no values unless all are positive; and of
     * those of the calls in these steps. */
    struct osc_sample step_logs[OSC_BOTH][OSC_LOG_TIMES], call_logs[OSC_BOTH][OSC_LOG_TIMES];
};

/* Zeroed, it is empty. */
struct osc_joined_sides {
    struct osc_run_steps steps[OSC_BOTH];
    struct osc_pair *pairs; /* owned; in order of first appearance */
    size_t n, cap;
    struct osc_arena arena;
    struct osc_intern keys;
};

/* Fill S from the digest STEPS. */
OSC_MUST_USE osc_status osc_run_steps_make(const struct osc_result *steps,
                                           struct osc_run_steps *s);
/* The number (+ 1) of the step of SPAN with the ordinal STEP; 0: there is none. */
uint32_t osc_run_steps_find(const struct osc_run_steps *s, int64_t span, int64_t step);
void osc_run_steps_fini(struct osc_run_steps *s);

/* Join the digests at WORK, of operators or kernels, with the digests at STEPS. */
OSC_MUST_USE osc_status osc_join_sides(const struct osc_result *const *steps,
                                       const struct osc_result *const *work,
                                       struct osc_joined_sides *j);
void osc_joined_sides_fini(struct osc_joined_sides *j);

/* Whether both sides have steps, so that everything is told per step. */
static inline bool osc_steps_are_known(const struct osc_run_steps *s)
{
    return s[OSC_BASE].n > 0 && s[OSC_NEW].n > 0;
}

/* Whether both sides have enough steps for a test. */
static inline bool osc_steps_suffice(const struct osc_run_steps *s)
{
    return s[OSC_BASE].n >= OSC_WELCH_STEPS_MIN && s[OSC_NEW].n >= OSC_WELCH_STEPS_MIN;
}

/* The median of the N values at V, which are sorted by this; N is not 0. */
double osc_median_of(double *v, size_t n);

/* The sample of N integers with this SUM and this sum of SQUARES; of no more than 2^32 - 1. */
struct osc_sample osc_sample_of_sums(int64_t n, int64_t sum, int64_t squares);

/* The sample of N values, of which those that are not among the N_VALUES at V are 0. */
struct osc_sample osc_sample_of(const double *v, size_t n_values, uint32_t n);
