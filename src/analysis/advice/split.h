/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - what the threads of steps did, by cause, in a trace of the host alone.
 *
 * Such a trace has neither device work nor calls of a device's runtime. The breakdown
 * (derive/breakdown.h) says when steps communicated or waited for data. All other time of a
 * kept step goes to exactly one cause, so that rules which take their stake from here never
 * sell a moment twice. The thread of a step is that of its annotation; for a trace without
 * steps, the one with the most time in operators.
 *
 *   - A moment goes to the first cause, in the order of enum osc_cause, of which some range
 *     runs on the thread: so what an operator does within another one, or within a step of an
 *     optimizer, counts for the more special of both.
 *   - Outermost operators are those that no other one contains, outside of optimizers and of
 *     waits for data. A loop is a sequence of at least OSC_LOOP_CALLS of them in a step, whose
 *     names are those of a turn of at most OSC_LOOP_TURN, at least OSC_LOOP_TURNS times over.
 *   - An operator of a loop is tiny if it takes less than OSC_TINY_NS. Its own moments are
 *     TINY, unless an earlier cause has them, and so are those between two of them in a row,
 *     up to OSC_TINY_GAP_NS.
 *   - A new copy is chained if the outermost operator before it that is no view makes one,
 *     too.
 *   - Of steps that overlap on a thread, the first one has the time.
 *   - Of a slow step (an outlier longer than the median), what it takes longer goes to SLOW, as
 *     far as the causes before OPTIMIZER leave it; the others share the rest in proportion.
 *
 * The sums of all causes of a step are at most its length.
 *
 * Threading: not locked; a split belongs to one thread.
 */
#pragma once

#include "base/name_sums.h"
#include "derive/breakdown.h"
#include "model/trace.h"

enum osc_cause {
    OSC_CAUSE_COMMUNICATION, /* this one and the next by the breakdown */
    OSC_CAUSE_DATALOADER,
    OSC_CAUSE_OPTIMIZER, /* a step of an optimizer */
    OSC_CAUSE_SYNC,      /* an operator that reads values of tensors for the program */
    OSC_CAUSE_COPY,
    OSC_CAUSE_DOUBLE,    /* an operator on a tensor in double precision */
    OSC_CAUSE_SLOW_CONV, /* a convolution that no library of the device computes */
    OSC_CAUSE_TINY,
    OSC_CAUSE_OPERATOR,
    OSC_CAUSE_PYTHON, /* a Python function */
    OSC_CAUSE_NOTED,  /* a range that the program marked */
    OSC_CAUSE_OTHER,  /* nothing of these */
    OSC_CAUSE_SLOW,
    OSC_CAUSE_COUNT
};

#define OSC_TINY_NS     INT64_C(50000)
#define OSC_TINY_GAP_NS INT64_C(50000)
#define OSC_LOOP_CALLS  32u
#define OSC_LOOP_TURN   12u
#define OSC_LOOP_TURNS  8u

struct osc_split_step {
    int64_t ns[OSC_CAUSE_COUNT];
    uint32_t n_operators; /* outermost ones */
    uint32_t n_tiny, n_chained;
    uint32_t n_syncs;    /* not inside another one, an optimizer or a wait for data */
    uint32_t n_in_loops; /* of these */
    uint32_t n_copies, n_doubles, n_slow_convs; /* likewise */
    uint32_t n_in_optimizer;                    /* operators */
    uint32_t n_frames;                          /* Python functions that began */
    int64_t longest_ns; /* largest own time of a function outside the backward pass */
    bool has_single;    /* an optimizer updates one tensor at a time, */
    bool has_default;   /* because it found that this is the default, */
    bool has_foreach;   /* or updates several at a time */
};

/* Zeroed, it has no steps. Names borrow from the trace or from the split. */
struct osc_split {
    struct osc_split_step *steps; /* owned; by step of the trace */
    uint32_t n_steps;
    struct osc_name_sums optimizers, copies, doubles, slow_convs; /* time of outermost ranges */
    struct osc_name_sums syncs, tiny; /* number of calls; tiny: without
                                       * those of the backward pass */
    struct osc_name_sums functions;   /* own time by id in function_names */
    struct osc_intern function_names; /* without the addresses of objects */
    struct osc_arena arena;
};

/* Split the kept steps of B, the breakdown of T, which has UNIONS and STEPS. */
OSC_MUST_USE osc_status osc_split_make(const struct osc_trace *t, const struct osc_breakdown *b,
                                       struct osc_split *s);
void osc_split_fini(struct osc_split *s);
