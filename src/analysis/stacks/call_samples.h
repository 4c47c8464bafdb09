/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_samples.h - folded stacks of a sampled profile, which some programs write beside the
 * events of a Chrome trace:
 *
 *   "samples": [{"sf": 2, "weight": 1, ...}, ...]
 *   "stackFrames": {"1": {"name": "main"}, "2": {"name": "f", "parent": 1}, ...}
 *
 *   - A sample counts as many times as its weight says, if that is an integer above 0 (or a
 *     string of one); else once.
 *   - A frame whose parent is not listed is the outermost one. So is a frame whose parent is
 *     on the same stack already.
 *   - A frame without a name, and the stack of a sample without a listed frame, is
 *     "[unknown]".
 *
 * Time and memory are linear in the text.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/stacks/stack_tree.h"
#include "model/trace.h"

/* Add the samples of T below the stack ROOT (0: none) of TREE; *HAS_ANY becomes true if there
 * is one. */
OSC_MUST_USE osc_status osc_call_samples_fold(const struct osc_trace *t, uint32_t root,
                                              struct osc_stack_tree *tree, bool *has_any);
