/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows of a table as a virtual table of SQLite, read in place, cell by cell.
 *
 * The virtual table has all columns that users may name, including optional ones and those of
 * machine forms, and rank and span if the definition has none. Its rowid counts rows from 0.
 * Integers and booleans are INTEGER (0, 1), numbers REAL, strings TEXT; missing cells and NaN
 * are NULL.
 *
 * Threading: a table belongs to the thread of its connection.
 */
#pragma once

#include "sql/engine.h"
#include "table/sheet.h"

/* Zeroed, it is empty. Neither it nor ROWS may move while statements use it. */
struct osc_sql_rows {
    const struct osc_table_def *def;
    struct osc_sql *sql;              /* borrowed */
    const struct osc_rows *rows;      /* borrowed; NULL: none; may change between steps 0 */
    struct osc_sheet_column *columns; /* owned */
    int n_columns;
};

/* Make S the table def->name of SQL, without rows yet. Fails only with OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_sql_rows_add(struct osc_sql_rows *s, struct osc_sql *sql,
                                         const struct osc_table_def *def);

/* Call it after the connection was closed. */
void osc_sql_rows_fini(struct osc_sql_rows *s);
