/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - what tables and columns mean, printed from their definitions.
 *
 * The build writes what osc_reference_page() prints into numbers.md, which is installed.
 *
 * Threading: one thread.
 */
#pragma once

#include "table/table.h"

/* All functions return an exit code. */

/* Print all tables with their columns, or only ONLY. */
int osc_reference_list(const struct osc_table_def *only);

/* Print the help of column NAME of DEF and the text of the rules that it follows. */
int osc_reference_explain(const struct osc_table_def *def, const char *name);

/* Print all rules, tables, columns and findings in Markdown. */
int osc_reference_page(void);

/* Print the same as JSON: api/tables_json.h. */
int osc_reference_json(void);
