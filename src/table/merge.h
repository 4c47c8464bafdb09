/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - several partial results become one.
 *
 * Rows with equal keys become one, each column by its rule. Parts may come in any
 * order: the outcome is the same to the byte, because
 *
 *   - every part has a number, and a row remembers the least (part, row) it is
 *     made of: rows stand in that order, and FIRST takes the value from there;
 *   - sums are integers of 128 bits, one for the whole part and one for the fraction of
 *     doubles. They are cut to 64 bits, or rounded, once, at the end: what leaves the
 *     range on the way may come back;
 *   - texts that are joined stand in the order of the (part, row) that they are of;
 *   - counts of buckets (buckets.h) are integers, too.
 *
 * A table without a key column keeps every row. Notes stand once each, in bytewise
 * order; those why a part has no rows, only if there is none at all. Shown optional columns are
 * those that any part shows.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/wide.h"
#include "table/table.h"

struct osc_origin {
    uint32_t part;
    uint32_t row;
};

struct osc_sum {
    osc_wide whole, fraction; /* fraction in units of 2^-100; it may exceed 1 */
};

struct osc_joined;  /* a text and its origin, see merge.c */
struct osc_buckets; /* see buckets.h */

/* Initialise with osc_merger_init(); zeroed except for rows, it is empty. */
struct osc_merger {
    struct osc_result rows;      /* owned; in order of arrival; FINISH columns missing */
    struct osc_origin *origins;  /* owned; one per row */
    struct osc_sum *sums;        /* owned; per row and column with rule SUM */
    struct osc_joined **joins;   /* owned; per row and column with rule JOIN: the last text */
    struct osc_buckets *buckets; /* owned; per row and column with rule BUCKETS */
    size_t cap_origins, cap_sums, cap_joins, cap_buckets; /* elements */
    uint32_t n_sums, n_joins, n_buckets; /* columns with rule SUM, JOIN, BUCKETS */
    struct osc_arena arena;              /* keys and texts */
    struct osc_intern keys;              /* entry i is the key of row i - 1 */
    struct osc_strbuf why;               /* notes of parts that say why these have no rows */
    struct osc_strbuf key;               /* scratch */
};

void osc_merger_init(struct osc_merger *m, const struct osc_table_def *def);
void osc_merger_fini(struct osc_merger *m);

/* Add the rows of PART, the part with this NUMBER. */
OSC_MUST_USE osc_status osc_merger_add(struct osc_merger *m, const struct osc_result *part,
                                       uint32_t number);

/*
 * Write the merged rows to OUT (initialised, empty), in the order of their first parts; M may
 * be empty afterwards. FINISH columns are missing: the caller calls finish().
 */
OSC_MUST_USE osc_status osc_merger_result(struct osc_merger *m, struct osc_result *out);

/* Whether rows of DEF can have equal keys; otherwise merging appends them. */
bool osc_merge_has_keys(const struct osc_table_def *def);
