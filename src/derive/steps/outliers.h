/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outliers.h - which steps of a loop took much longer, or much less, than the others.
 *
 * A length is far if it differs from the median by more than 8 times the median difference
 * (MAD), and by more than a tenth of the median: a fifth where there are fewer than 20 steps, a
 * quarter where there are fewer than 8, because the noise of few steps is hardly known. Fewer
 * than 3 are never far. Of random runs of 3 to 200 steps, whose lengths vary by up to 8 %, less
 * than one in a hundred has such a step; the test measures it.
 *
 * A loop may have two kinds of step, such as those with an update of the weights and those
 * without: a gap between the lengths that leaves at least a third of 8 or more steps on both
 * sides, is wider than a quarter of the longest below it, and at least half of what the medians
 * of both sides differ by. A step is then compared with those of its kind.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The two kinds of step, the shorter first. Zeroed: there are no steps. */
struct osc_step_kinds {
    size_t n[2]; /* 0: all are of one kind */
    int64_t median_twice_ns[2];
    int64_t all_median_twice_ns; /* of both kinds together */
};

/*
 * Set IS_FAR of each of the N lengths LENGTH_NS, none of which is negative, and *KINDS. Either
 * may be NULL, if it is not wanted.
 */
OSC_MUST_USE osc_status osc_outliers_find(const int64_t *length_ns, size_t n, bool *is_far,
                                          struct osc_step_kinds *kinds);
