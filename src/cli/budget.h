/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - how much memory a command may take, and what reading leaves of it.
 *
 * Reading stops while there is room for what is made of the trace afterwards. How
 * much that is depends on the table and is known in advance by figures that were
 * measured (docs/decisions/memory.md). Where they are not enough, because a file is
 * made to be expensive, allocations fail at the limit and the command says so.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_BUDGET_H
#define OSC_CLI_BUDGET_H

#include "cli/options.h"

/* From here on no more memory is taken than ARGS allow. */
void osc_budget_start(const struct osc_args *args);

/* What to leave for DEF, or (NULL) for any tables. */
struct osc_import_reserve osc_budget_for_table(const struct osc_args *args,
                                               const struct osc_table_def *def);

/* What to leave for a program that takes any tables in columns. */
struct osc_import_reserve osc_budget_for_frames(const struct osc_args *args);

/* What to leave for writing the trace as text, of which facts are needed or not. */
struct osc_import_reserve osc_budget_for_export(const struct osc_args *args, bool has_facts);

/* Behind a message of status ST: what the user can do about it, or "". */
const char *osc_budget_way_out(osc_status st);

#endif
