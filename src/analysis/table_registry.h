/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_registry.h - all tables, in the order in which users see them listed.
 *
 * A new table is one file that ends in `const struct osc_table_def osc_table_NAME`, and one
 * line in tables.list, from which the build makes OSC_TABLE_LIST.
 *
 * Threading: constants.
 */
#pragma once

#include "analysis/table_list.h"
#include "table/table.h"

#define OSC_TABLE_DECLARE(name) extern const struct osc_table_def osc_table_##name;
OSC_TABLE_LIST(OSC_TABLE_DECLARE)
#undef OSC_TABLE_DECLARE

/* The last one is NULL. */
extern const struct osc_table_def *const osc_tables[];

/*
 * Check what no compiler checks of the definitions; called when the command starts. A column in
 * _ns or _bytes is a whole number, but for means and spreads, whose names have a part avg,
 * mean, median or std; a column that a grouping asks for names a word of the table's groupings;
 * options of one name are of one kind. If not, ERR names the table and the column or option.
 */
OSC_MUST_USE osc_status osc_tables_check(struct osc_err *err);

/* The option NAME as the first table declares it that has one; NULL: none has. */
const struct osc_table_option *osc_tables_option(const char *name);

/* Option I of all, each name once, in the order of the tables; NULL beyond the last. */
const struct osc_table_option *osc_tables_option_at(size_t i);

/* The table NAME, or NULL. */
const struct osc_table_def *osc_table_find(const char *name);
