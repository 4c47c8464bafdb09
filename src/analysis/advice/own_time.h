/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_time.h - stretches of time in which an operator ran and nothing that it called.
 *
 * A long one is no matter of launching: the operator computes, waits or sets something up
 * there. Its own time as a whole does not tell: that of a long operator is the sum of many
 * short stretches between what it calls, or one long one beside calls that took longer still.
 *
 * Threading: not locked.
 */
#pragma once

#include "derive/facts.h"

struct osc_stretch {
    uint32_t row; /* of the operator or collective */
    int64_t start_ns, end_ns;
};

/* Zeroed, it is empty. */
struct osc_stretches {
    struct osc_stretch *v; /* owned */
    size_t n, cap;
};

/* Find the stretches of LEAST_NS or longer on the tracks K of T with COUNTS[K]. T has ORDER and
 * FOREST. Call osc_stretches_fini() even after a failure. */
OSC_MUST_USE osc_status osc_stretches_find(const struct osc_trace *t, const bool *counts,
                                           int64_t least_ns, struct osc_stretches *s);
void osc_stretches_fini(struct osc_stretches *s);
