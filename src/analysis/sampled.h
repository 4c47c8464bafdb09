/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled.h - for how many calls a range stands whose name is sampled: osc_sample() records one
 * in N of them.
 *
 * Threading: pure.
 */
#pragma once

#include "derive/args.h"

/* More is none that a recorder wrote. */
#define OSC_SAMPLED_CALLS_MAX 131072

/* Whether T may have such ranges. */
static inline bool osc_sampled_any(const struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_forms; i++)
        if (t->forms[i].known[OSC_ARG_KEY_SAMPLED_CALLS] >= 0)
            return true;
    return false;
}

/* The number of calls of row I of C, itself included; 1 for all that are not sampled. */
static inline uint32_t osc_sampled_calls(const struct osc_trace *t, const struct osc_chunk *c,
                                         uint32_t i)
{
    int64_t n;

    return osc_args_int(t, c, i, OSC_ARG_KEY_SAMPLED_CALLS, &n) && n > 1 &&
                   n <= OSC_SAMPLED_CALLS_MAX
               ? (uint32_t)n
               : 1;
}
