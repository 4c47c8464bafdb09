/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_stacks.h - stacks of Python frames, as the events of a trace state them or as the
 * ranges of frames show them.
 *
 * Threading: one call at a time for each trace.
 */
#pragma once

#include "analysis/stacks/stack_tree.h"
#include "model/trace.h"

/* Which value an event has. */
enum osc_python_value {
    OSC_PYTHON_HOST,   /* its time without that of events in it, ns */
    OSC_PYTHON_DEVICE, /* that of the work that it launched itself, ns */
    OSC_PYTHON_CALLS,
};

/* What is folded, and what came of it; all of it is borrowed. */
struct osc_python_folding {
    const struct osc_trace *t; /* with links */
    enum osc_python_value value;
    struct osc_stack_tree *tree;
    uint32_t root;
    osc_status (*line)(void *ctx, const char *s, size_t len); /* or NULL */
    void *ctx;
    uint64_t n_lines; /* passed to LINE */
    bool has_any;     /* an event has a stack */
};

/* Fold the events of F->t below the stack F->root (0: none) of F->tree, each below its frames;
 * with F->line, pass a line of torch for each event instead. */
OSC_MUST_USE osc_status osc_python_stacks_fold(struct osc_python_folding *f,
                                               struct osc_err *err);
