/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose.h - tables that are made of the answers to others (struct osc_composition).
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/asked.h"

/* Who has the answers. */
struct osc_composing {
    /* Make TO, which is empty, of the rows of DEF, merged, of all that K selects. */
    osc_status (*digest)(void *ctx, const struct osc_asked *k, const struct osc_table_def *def,
                         struct osc_result *to, struct osc_err *err);
    void *ctx;
};

/* Make the rows of K, whose table is made of others, about the traces OF. */
OSC_MUST_USE osc_status osc_compose_run(struct osc_asked *k, const struct osc_asked_of *of,
                                        const struct osc_composing *with, struct osc_err *err);
