/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - who a trace is among others, without the trace.
 *
 * Ranks, spans and the origin of time follow from all files of a run together
 * (import/run.h). An identity is what a file contributes to that, so that it can be found
 * out when the traces themselves are gone, or on another machine.
 *
 * Threading: plain data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What all files together decide about one. */
struct osc_placing {
    int32_t rank, span;
    int64_t origin_ns, base_ns; /* as osc_trace has them */
    bool is_unaligned;          /* of another host than the first */
};

/* Texts are borrowed; one whose s is NULL is not there. */
struct osc_identity {
    struct osc_str path;   /* as it was opened: "-" is standard input */
    struct osc_str source; /* as users see it */
    struct osc_str boot_id, host, torch_version;
    uint32_t number; /* place among all that was opened, for who orders them */
    bool has_rank;   /* the file says so */
    uint64_t n_events;
    int64_t min_ts_ns, max_end_ns; /* on the clock of the file */
    struct osc_placing alone;      /* as far as the trace knew */
    struct osc_placing among;      /* as all decide: osc_run_place() */
};
