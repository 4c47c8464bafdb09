/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - what identifies a trace among others, without the trace itself.
 *
 * Ranks, spans and the origin of time follow from all files of a run together (import/run.h).
 * An identity is what one file contributes to them, so that they can be computed after the
 * traces were freed, or on another machine.
 *
 * Threading: plain data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What all files together determine for one of them. */
struct osc_placing {
    int32_t rank, span;
    int64_t origin_ns, base_ns; /* as in osc_trace */
    bool is_unaligned;          /* recorded on another host than the first */
    bool is_beside_steps;       /* it has no steps, but another file of its span has some */
    bool shares_steps;          /* it has steps, and so has another file of its span */
    uint32_t piece; /* of a process in its span, from 1 in order of time; 0: a whole */
};

/* Strings are borrowed; s is NULL for a missing one. */
struct osc_identity {
    struct osc_str path;   /* as it was opened; "-" is standard input */
    struct osc_str source; /* as shown to users */
    struct osc_str boot_id, host, run_id, torch_version;
    uint32_t number; /* place among all opened traces, for sorting */
    bool has_rank;   /* the file gives a rank */
    uint64_t n_events;
    int64_t min_ts_ns, max_end_ns; /* on the clock of the file */
    int64_t from_ns, to_ns;        /* what the file covers, likewise; at least its events */
    int64_t pid, parent_pid;       /* of the recorded process on its host; 0: not known */
    bool has_steps;                /* the program announced steps */
    bool is_piece;            /* profiles of the program divide the recording of its process */
    struct osc_placing alone; /* as the trace alone suggests */
    struct osc_placing among; /* as all traces together determine: osc_run_place() */
};
