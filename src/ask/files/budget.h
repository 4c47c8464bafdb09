/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - how much memory a command may use, and how much of it reading leaves free.
 *
 * Reading stops early enough to leave memory for the tables that are made of the trace. How
 * much they need depends on the table and is estimated from measured figures
 * (docs/decisions/memory.md). If a file needs more, because it was made to be expensive,
 * allocations fail at the limit and the command says so.
 *
 * Threading: one thread.
 */
#pragma once

#include "import/import.h"
#include "table/query.h"

/* The limit in bytes for the option MAX_BYTES; if that is 0, the default limit. */
size_t osc_budget_limit(uint64_t max_bytes);

/* What to leave for the table DEF: sorted or not, of a whole trace or of a selection. */
struct osc_import_reserve osc_budget_for_table(const struct osc_table_def *def, bool is_sorted,
                                               bool is_all);

/* What to leave for any tables that are printed. */
struct osc_import_reserve osc_budget_for_tables(void);

/* What to leave for a program that reads any tables as columns. */
struct osc_import_reserve osc_budget_for_frames(void);

/* What to leave for an exporter, which needs facts or not. */
struct osc_import_reserve osc_budget_for_export(bool has_facts);

/* Text to append to an error message of status ST: what the user can do about it, or "". */
const char *osc_budget_way_out(osc_status st);
