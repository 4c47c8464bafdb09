/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h - the arrows that a file draws, from event to event.
 *
 * Records of one kind, word and id form a chain, sorted by time. An arrow leads to each step
 * and end from the latest start or step before it; several ends (one launch, many kernels)
 * have one each. If clocks disagree and an end comes before all starts, the first start leads
 * to it. A record stands for the range that starts at its time or, if there is none, for the
 * range around it, or else for the one that ends at its time, as viewers draw it. A record of a
 * forward-backward arrow stands for the operator that starts there, as in `fwd_id` of `events`.
 *
 * Threading: pure functions over a trace that has ORDER.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

struct osc_chain_arrow {
    enum osc_arrow_kind kind;
    osc_sid category;  /* of the file, or none */
    uint32_t from, to; /* osc_row of the events; one of them may be 0: there is none */
};

struct osc_chains_count {
    uint64_t n_records;   /* of the arrows that were asked for */
    uint64_t n_nothing;   /* arrows with neither end at an event */
    uint64_t n_anonymous; /* records without an id */
};

#define OSC_CHAINS_ALL ((1u << OSC_ARROW_KINDS) - 1)

/* Call EMIT for each arrow of T whose kind is in KINDS, bits of enum osc_arrow_kind, in the
 * order of the file. COUNT has what is left out. */
OSC_MUST_USE osc_status
osc_chains_each(const struct osc_trace *t, unsigned kinds, struct osc_chains_count *count,
                void (*emit)(void *ctx, const struct osc_chain_arrow *arrow), void *ctx);
