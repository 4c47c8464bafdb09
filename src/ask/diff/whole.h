/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.h - all that there is to say about two runs: sentences, then every table that compares.
 *
 *   init -> run -> write       what `opscope diff` prints without --table
 *                  rows        what a gate is evaluated over
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/compare.h"
#include "ask/diff/gate.h"

enum osc_whole_table {
    OSC_WHOLE_STEPS,
    OSC_WHOLE_OPERATORS,
    OSC_WHOLE_KERNELS,
    OSC_WHOLE_TREE,
    OSC_WHOLE_TABLES,
};

/* Zeroed, it is empty. It points into itself: never copy it. */
struct osc_whole {
    struct osc_asked asked[OSC_WHOLE_TABLES];
    struct osc_strbuf sentences; /* lines, what changed most first */
};

/* The digests that it compares: bits of enum osc_side. */
uint32_t osc_whole_sides(void);

/*
 * Prepare W for the request R, whose text says how it will be written. OSC_EINVAL: R asks for
 * what only one table can have, such as a sort. Call osc_whole_fini() in any case.
 */
OSC_MUST_USE osc_status osc_whole_init(struct osc_whole *w, const struct osc_request *r,
                                       struct osc_err *err);
void osc_whole_fini(struct osc_whole *w);

/* Make the rows and the sentences from C, which W borrows. */
OSC_MUST_USE osc_status osc_whole_run(struct osc_whole *w, struct osc_compared *c,
                                      struct osc_err *err);

/* Write the sentences and the tables that have rows; as JSON all tables, in an array. */
OSC_MUST_USE osc_status osc_whole_write(struct osc_whole *w, struct osc_err *err);

/* Point TABLES to the rows over which a gate is evaluated; W owns them. */
void osc_whole_rows(const struct osc_whole *w,
                    const struct osc_result *tables[OSC_GATE_TABLES]);
