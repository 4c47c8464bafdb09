/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.h - `--where EXPR`: a row filter.
 *
 * EXPR is one expression of SQLite's dialect over the columns of a table (rows.h) in one row,
 * with the functions of engine.h. A row is kept if EXPR is true, as in WHERE: neither 0 nor
 * NULL. Queries, aggregates and parameters are not allowed.
 *
 * Threading: a filter belongs to one thread.
 */
#pragma once

#include "table/query.h"

struct osc_where;

/*
 * Compile EXPR for DEF. OSC_EINVAL: it is wrong, and ERR says where, with the nearest column
 * or function. IS_CANCELED (may be NULL) is called while it runs. EXPR and DEF are borrowed.
 * The caller closes *W.
 */
OSC_MUST_USE osc_status osc_where_open(struct osc_where **w, const struct osc_table_def *def,
                                       const char *expr, bool (*is_canceled)(void),
                                       struct osc_err *err);
void osc_where_close(struct osc_where *w); /* W may be NULL */

/*
 * Set KEEP for each of ROWS; for osc_row_filter. OSC_EINVAL: the expression fails on a row
 * (malformed JSON, an overflow); OSC_ECANCELED: it was stopped.
 */
OSC_MUST_USE osc_status osc_where_keep(void *w, const struct osc_rows *rows, bool *keep,
                                       struct osc_err *err);
