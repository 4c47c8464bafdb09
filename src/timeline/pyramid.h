/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid.h - sums over the ranges of each lane, so that a window of any width costs a few
 * steps per pixel.
 *
 * Sixteen ranges of a lane have a node, sixteen nodes have a node of the next level, and so on.
 * A node has the sum of the durations, the longest duration and which range has it first. With
 * the starts of every sixteenth range, which make bisection cheap, that is 2 bytes a range. The
 * durations beside, in the order of the lane, are 4 more: at both ends of a sum ranges are
 * added one by one, and those of a column would each be far from the next.
 *
 * Threading: made in parallel over lanes; read-only afterwards.
 */
#pragma once

#include "timeline/lanes.h"

#define OSC_PYRAMID_SHIFT  4u
#define OSC_PYRAMID_FAN    (1u << OSC_PYRAMID_SHIFT)
#define OSC_PYRAMID_LEVELS 8u

/* Sums over ranges that are next to each other in a lane. Zeroed, there are none. */
struct osc_pyramid_sum {
    int64_t sum_ns, longest_ns;
    uint32_t longest; /* place in osc_lanes.rows */
    uint32_t n;
};

struct osc_pyramid_lane {
    uint32_t starts;                    /* place of its first entry in osc_pyramid.starts_ns */
    uint32_t nodes[OSC_PYRAMID_LEVELS]; /* place of the first node of each level */
    uint32_t n_nodes[OSC_PYRAMID_LEVELS];
};

/* Zeroed, it is empty. */
struct osc_pyramid {
    const struct osc_trace *t; /* borrowed, as is the next one */
    const struct osc_lanes *lanes;
    struct osc_pyramid_lane *v;    /* owned; by lane */
    int64_t *starts_ns;            /* owned; start of every sixteenth range */
    int64_t *sums_ns, *longest_ns; /* owned; by node */
    uint32_t *longest;             /* owned; by node: place in osc_lanes.rows */
    uint32_t *durs_ns;             /* owned; by place in osc_lanes.rows; OSC_PYRAMID_LONG: see
                                      the columns of T */
};

#define OSC_PYRAMID_LONG UINT32_MAX

/* Make the pyramid of LANES, which are those of T, on at most N_THREADS threads. After a
 * failure P is empty. */
OSC_MUST_USE osc_status osc_pyramid_make(const struct osc_trace *t,
                                         const struct osc_lanes *lanes, unsigned n_threads,
                                         struct osc_pyramid *p);
void osc_pyramid_fini(struct osc_pyramid *p);

/* Of the places [LOW, HIGH) in LANE, counted from 0, the first whose range starts at AT_NS or
 * later; HIGH if there is none. It is looked for from LOW + GUESS on, and takes the logarithm
 * of the distance from there. */
uint32_t osc_pyramid_find(const struct osc_pyramid *p, uint32_t lane, uint32_t low,
                          uint32_t high, uint32_t guess, int64_t at_ns);

/* The duration of the range at PLACE in osc_lanes.rows. */
static inline int64_t osc_pyramid_dur(const struct osc_pyramid *p, uint32_t place)
{
    if (p->durs_ns[place] != OSC_PYRAMID_LONG)
        return p->durs_ns[place];
    const uint32_t row = p->lanes->rows[place];
    return osc_lane_end(p->t, row) - osc_lane_start(p->t, row);
}

/* The sum over the ranges at places [FROM, TO) of LANE. */
struct osc_pyramid_sum osc_pyramid_sum(const struct osc_pyramid *p, uint32_t lane,
                                       uint32_t from, uint32_t to);
