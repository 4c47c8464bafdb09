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

/*
 * Fold the events of T below the stack ROOT (0: none) of TREE, each below its frames;
 * *HAS_ANY becomes true if one has a stack. With LINE, pass a line of torch for each event
 * instead, and add their number to *N_LINES.
 */
struct osc_python_folding {
    const struct osc_trace *t; /* borrowed, as the rest; with links */
    enum osc_python_value value;
    struct osc_stack_tree *tree;
    uint32_t root;
    osc_status (*line)(void *ctx, const char *s, size_t len); /* or NULL */
    void *ctx;
    uint64_t n_lines;
    bool has_any;
};

OSC_MUST_USE osc_status osc_python_stacks_fold(struct osc_python_folding *f,
                                               struct osc_err *err);
