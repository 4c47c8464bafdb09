/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the collectives of one trace.
 *
 * A collective is what derive/classify.h recognises, once each, however many ranges wrap it:
 *
 *   - In a trace with device communication: its kernels. Those that one host range launched
 *     are one call, named by the range: by the innermost label BACKEND:OPERATION around the
 *     launch, or else the innermost other range of a collective. A kernel without such a range
 *     is a call of its own, named by its argument or by its own name.
 *   - In other traces: the host ranges. If there are labels BACKEND:OPERATION, these alone;
 *     of ranges within each other the outermost.
 *   - With COMPAT_TB: the host ranges of the plugin's collectives. The first range of a call
 *     is that of the host, the others are the kernels with its external id.
 *
 * Threading: pure functions; the trace is only read.
 */
#pragma once

#include "analysis/ranks/rank_part.h"
#include "base/status.h"
#include "model/trace.h"

/* Facts that T must have. */
#define OSC_CALLS_FACTS (OSC_FACT_FOREST | OSC_FACT_STEPS | OSC_FACT_LINKS | OSC_FACT_UNIONS)

/* Which host range and which launch belong to a call: for what is asked about its lateness. */
struct osc_call_rows {
    uint32_t host;   /* row of the host range that names it; 0: none */
    uint32_t kernel; /* row of its first kernel; 0: none */
};

/*
 * Fill P, which is empty, with what T has: the steps of B (NULL: none), collectives, and what
 * the file is. *ROWS, an owned array with an entry per call, may be NULL.
 */
OSC_MUST_USE osc_status osc_calls_find(const struct osc_trace *t, bool compat_tb,
                                       const struct osc_breakdown *b,
                                       struct osc_rank_words *words, struct osc_rank_part *p,
                                       struct osc_call_rows **rows);
