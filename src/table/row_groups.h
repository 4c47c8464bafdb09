/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_groups.h - rows of one result become fewer, by the rules of merging.
 *
 * --group-by 'name~PATTERN' gives each row whose name has a part that the regular expression
 * PATTERN matches (base/regex.h) the label that stands for all of them: the pattern, with what
 * its groups in brackets match. Rows that then have equal keys become one, each column by its
 * rule, as if they were rows of several ranks. It is done to the rows of each trace, before
 * ranks are merged and before finish().
 *
 * Threading: not locked.
 */
#pragma once

#include "table/table.h"

/* The column of DEF that can be grouped by a pattern: `name`, if rows are merged by it; -1:
 * none. */
int osc_pattern_column(const struct osc_table_def *def);

/* Check the PATTERN. OSC_EINVAL: it is none, or empty. */
OSC_MUST_USE osc_status osc_pattern_check(const char *pattern, struct osc_err *err);

/* Merge the rows of R, which are not finished, that have equal keys. */
OSC_MUST_USE osc_status osc_rows_regroup(struct osc_result *r);

/* Group the rows of R, whose table has a column for it, by PATTERN. */
OSC_MUST_USE osc_status osc_rows_group(struct osc_result *r, const char *pattern,
                                       struct osc_err *err);
