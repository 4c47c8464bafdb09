/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_trees.h - modules as TensorBoard's plugin lists them.
 *
 * Trees of calls with equal name, module id and, in order, equal children are one tree. Each
 * row has the sums over all modules with its name and id, wherever they were called.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/modules/modules.h"

struct osc_module_row {
    uint32_t place; /* in osc_modules, + 1 */
    uint32_t sums;  /* index in sums */
};

/* Zeroed, it is empty. */
struct osc_module_trees {
    struct osc_module_row *rows; /* owned; a holder before what it contains */
    size_t n_rows;
    struct osc_module_place *sums; /* owned; by name and id */
    size_t n_sums;
};

OSC_MUST_USE osc_status osc_module_trees_make(const struct osc_trace *t,
                                              const struct osc_modules *m,
                                              struct osc_module_trees *trees);
void osc_module_trees_fini(struct osc_module_trees *trees);
