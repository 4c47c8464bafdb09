/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_sort.h - the order of rows.
 *
 *   COL, -COL, COL:desc   descending: the most first, as torch and people want it
 *   COL:asc               ascending
 *
 * torch's keys (self_cpu_time_total, cuda_time, count, …) stand for our columns;
 * one without "total" is an average and sorts by a quotient, compared exactly.
 * Ties stay in the order of the rows; what is missing comes last in both orders;
 * texts compare by bytes.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

struct osc_sort_key {
    uint32_t column;
    int32_t divisor; /* an integer column that divides it, or -1 */
    bool ascending;
};

/* What TEXT means for DEF. A wrong name: OSC_EINVAL, with the nearest right one. */
OSC_MUST_USE osc_status osc_sort_parse(const struct osc_table_def *def, const char *text,
                                       struct osc_sort_key *key, struct osc_err *err);

/*
 * The rows of R in the order of KEY (NULL: as they are). *ORDER is an array of
 * r->n_rows row numbers that the caller frees with osc_free().
 */
OSC_MUST_USE osc_status osc_sort_rows(const struct osc_result *r,
                                      const struct osc_sort_key *key, uint32_t **order);
