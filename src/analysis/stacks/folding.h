/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folding.h - the stacks of traces, each with its value: for files of folded stacks and for
 * flame graphs.
 *
 *   op      operators and those that called them; sums by the last frame are the rows of the
 *           table operators, and of the table memory for self_alloc_bytes
 *   module  modules by their place in the hierarchy: rows of the table modules
 *   python  Python frames, then the event itself; sums by the last frame are the rows of the
 *           table averages, except for device work
 *   sample  samples of call stacks that stand beside the events (call_samples.h)
 *
 * With one of torch's metrics there is a line for each event that has a stack, as in torch's
 * export_stacks(): without the event's name, in whole microseconds, truncated.
 *
 * Threading: one call at a time for each trace.
 */
#pragma once

#include "analysis/stacks/stack_tree.h"
#include "base/status.h"
#include "model/trace.h"

/* What is asked for; all of it is borrowed. */
struct osc_folding {
    struct osc_trace *const *traces; /* with osc_folding_facts() */
    uint32_t n_traces;
    const char *stack, *metric; /* words of --stack and --metric; NULL: the first, the usual */
    bool is_redacted;           /* stacks that the events say they have are gone */
    /* Gets the lines of torch's metrics; NULL: these are refused. */
    osc_status (*line)(void *ctx, const char *s, size_t len);
    /* May be NULL; false: stop. DONE of N_TRACES are folded. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t n_traces);
    void *ctx;
};

/* Set *FACTS to the facts (OSC_FACT_...) that its traces need. OSC_EINVAL: the wish is wrong.
 */
OSC_MUST_USE osc_status osc_folding_facts(const struct osc_folding *q, uint32_t *facts,
                                          struct osc_err *err);

/*
 * Fold the traces of Q into TREE, which is initialised; *N_LINES is how many lines of torch
 * were passed on. Stacks have numbers in the order in which they occur. OSC_EINVAL: the wish is
 * wrong; OSC_EFORMAT: there are no such stacks.
 */
OSC_MUST_USE osc_status osc_folding_make(const struct osc_folding *q,
                                         struct osc_stack_tree *tree, uint64_t *n_lines,
                                         struct osc_err *err);

/* Say in ERR that all stacks are 0 by the metric. Returns OSC_EFORMAT. */
osc_status osc_folding_fail_zero(struct osc_err *err);
