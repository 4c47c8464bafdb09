/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_work.h - what a rank did before each of its collectives.
 *
 * For each collective, the self times of the ranges of the host that began since the launch of
 * the collective before it (in order of launch), and the kernels that began since the start of
 * the one before it, are summed by name. Steps, collectives and calls that wait for a device
 * are left out: they wait for others. The largest sums are kept.
 *
 * Threading: pure function; the trace is only read.
 */
#pragma once

#include "analysis/ranks/calls.h"

#define OSC_RANK_WORK_MAX 8u /* names that are kept for a collective */

/* Add to P the work before its calls, of which ROWS has the rows. */
OSC_MUST_USE osc_status osc_rank_work_find(const struct osc_trace *t,
                                           const struct osc_call_rows *rows,
                                           struct osc_rank_words *words,
                                           struct osc_rank_part *p);
