/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_sort.h - sort rows.
 *
 *   COL, -COL, COL:desc   descending, the default: largest first, as in torch
 *   COL:asc               ascending
 *
 * A table may have other words for columns (sort_words); one for an average sorts by a
 * quotient, compared exactly. The sort is stable; missing values come last in both directions;
 * strings compare by bytes.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

struct osc_sort_key {
    uint32_t column;
    int32_t divisor; /* integer column to divide by, or -1 */
    bool ascending;
};

/* Parse TEXT as a sort key of DEF. OSC_EINVAL: an unknown name; the message suggests the
 * nearest. */
OSC_MUST_USE osc_status osc_sort_parse(const struct osc_table_def *def, const char *text,
                                       struct osc_sort_key *key, struct osc_err *err);

/*
 * The name of a device in TEXT, a sort key of DEF, such as "tiny" in self_tiny_time_total, if a
 * trace has to have that device; "" if it stands for any. Points into TEXT.
 */
struct osc_str osc_sort_device(const struct osc_table_def *def, const char *text);

/* Say that DEF cannot be sorted by TEXT, because DEVICE of osc_sort_device() is nowhere. */
osc_status osc_sort_fail_device(const struct osc_table_def *def, const char *text,
                                struct osc_str device, struct osc_err *err);

/* Whether any row of R has a value to sort it by. */
bool osc_sort_has_any(const struct osc_result *r, const struct osc_sort_key *key);

/*
 * Sort the rows of R by KEY (NULL: keep the order). *ORDER receives r->n_rows row numbers, to
 * be freed with osc_free().
 */
OSC_MUST_USE osc_status osc_sort_rows(const struct osc_result *r,
                                      const struct osc_sort_key *key, uint32_t **order);
