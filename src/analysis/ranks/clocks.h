/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - how the clocks of ranks differ, by the collectives themselves.
 *
 * No rank leaves an all_reduce before all have come, and then all leave at about the same time.
 * So the ends of such collectives are readings of all clocks at one moment. The offset of each
 * clock is found by alternating medians (least absolute deviations): the moment of a match is
 * the median of its ends, corrected by the offsets; the offset of a clock is the median of its
 * ends minus these moments. A first estimate goes from rank to rank over their matches.
 *
 *   - A clock is that of a file. Corrected times are those of the median clock.
 *   - The error of an offset is the median distance of its ends from their moments.
 *   - A drift is the median slope through the residues (Theil-Sen), if the readings last ten
 *     seconds or it exceeds the noise; its unit is 10^-9 (nanoseconds in a second).
 *   - An offset is applied only if it exceeds three times its error.
 *   - Ranks that share no such collective, directly or by way of others, are in different
 *     components, whose clocks cannot be compared.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/ranks/rank_run.h"

struct osc_rank_clock {
    int64_t offset_ns;  /* what the clock shows - what the median clock shows, at zero_ns */
    int64_t drift_ppb;  /* by how much it gains */
    int64_t zero_ns;    /* what it shows, from the origin, when offset_ns holds */
    int64_t error_ns;   /* of the offset */
    uint32_t n_anchors; /* matches by which it is known */
    uint32_t component; /* number, from 0, of the ranks that can be compared; if it has no
                         * anchors, it is alone in its component */
    bool is_applied;    /* the offset exceeds its error */
};

/* Fill CLOCKS, one for each file of RUN. Returns the number of components in *N_COMPONENTS. */
OSC_MUST_USE osc_status osc_rank_clocks_fit(const struct osc_rank_run *run,
                                            struct osc_rank_clock *clocks,
                                            uint32_t *n_components);

/* How much later AT_NS, a time from the origin on clock C, is than on the median clock. */
int64_t osc_rank_clock_ahead(const struct osc_rank_clock *c, int64_t at_ns);

/* AT_NS on the common clock. */
static inline int64_t osc_rank_clock_time(const struct osc_rank_clock *c, int64_t at_ns)
{
    return c->is_applied ? at_ns - osc_rank_clock_ahead(c, at_ns) : at_ns;
}
