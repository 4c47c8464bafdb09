/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded.h - the stacks of a file of folded stacks, for those who draw them.
 *
 * Threading: one call at a time for each trace.
 */
#pragma once

#include "export/export.h"
#include "export/stack_tree.h"

/*
 * Fold the traces of X by its stack and metric into TREE, which is initialised; nothing is
 * written. Stacks have numbers in the order in which they occur. OSC_EINVAL: the wish is wrong;
 * OSC_EFORMAT: there are no such stacks.
 */
OSC_MUST_USE osc_status osc_folded_make(const struct osc_export *x, struct osc_stack_tree *tree,
                                        struct osc_err *err);
