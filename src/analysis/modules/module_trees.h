/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_trees.h - modules as TensorBoard's plugin lists them.
 *
 * Trees of calls that are equal in name, module id and, in order, children are one; each
 * row has the sums over all modules of its name and id, wherever they were called.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/modules/modules.h"

struct osc_module_row {
    uint32_t place; /* of osc_modules, + 1 */
    uint32_t sums;  /* index in sums */
};

/* Zeroed, it is empty. */
struct osc_module_trees {
    struct osc_module_row *rows; /* owned; what holds a module first */
    size_t n_rows;
    struct osc_module_place *sums; /* owned; by name and id */
    size_t n_sums;
};

OSC_MUST_USE osc_status osc_module_trees_make(const struct osc_trace *t,
                                              const struct osc_modules *m,
                                              struct osc_module_trees *trees);
void osc_module_trees_fini(struct osc_module_trees *trees);
