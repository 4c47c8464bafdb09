/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_logs.h - how long single calls take, as sums from which mean and variance follow.
 *
 * Durations of calls are compared by their logarithms, since noise multiplies them. These are
 * kept in fixed point: sums of integers are the same in whichever order they are added.
 *
 * Threading: pure functions.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#define OSC_CALL_LOGS_ONE 1024 /* the fixed point of 1: of a tenth of a percent */

/* Sums of the logarithms of durations and of their squares, both in fixed point. Those of all
 * calls of a trace, which are less than 2^32, do not overflow. */
struct osc_call_logs {
    int64_t sum, squares;
};

/* Add a call of NS; what is not positive counts as 1 ns. */
static inline void osc_call_logs_add(struct osc_call_logs *l, int64_t ns)
{
    if (ns <= 1)
        return;
    const int64_t log_ns = llround(log((double)ns) * OSC_CALL_LOGS_ONE);

    l->sum += log_ns;
    l->squares += log_ns * log_ns;
}
