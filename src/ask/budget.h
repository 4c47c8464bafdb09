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
#pragma once

#include "import/import.h"
#include "table/query.h"

/* How much memory MAX_BYTES allow; 0: as much as is allowed unasked. */
size_t osc_budget_limit(uint64_t max_bytes);

/* What to leave for DEF, sorted or not, of all of a trace or of what is selected. */
struct osc_import_reserve osc_budget_for_table(const struct osc_table_def *def, bool is_sorted,
                                               bool is_all);

/* What to leave for any tables that are printed. */
struct osc_import_reserve osc_budget_for_tables(void);

/* What to leave for a program that takes any tables in columns. */
struct osc_import_reserve osc_budget_for_frames(void);

/* What to leave for writing the trace as text, of which facts are needed or not. */
struct osc_import_reserve osc_budget_for_export(bool has_facts);

/* Behind a message of status ST: what the user can do about it, or "". */
const char *osc_budget_way_out(osc_status st);
