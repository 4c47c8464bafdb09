/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.h - how many values lie where, so that quantiles of several parts can be merged.
 *
 * A median does not follow from medians of parts, but counts of values in fixed buckets can be
 * added. There are eight buckets of equal width to a power of two: a value below 16 has a
 * bucket of its own, and the middle of any other is within 1/16 of its values.
 *
 *   value     0 .. 15    16 17 | 18 19 | .. 30 31    32 .. 35 | .. 60 .. 63    and so on
 *   bucket    0 .. 15      16  |   17  | ..   23        24    | ..     31
 *
 * In a table they are a text: "BUCKET:COUNT BUCKET:COUNT", buckets ascending and no count 0.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "base/str.h"
#include "base/strbuf.h"

#define OSC_BUCKETS 488u /* for every value from 0 to INT64_MAX */

struct osc_bucket {
    uint32_t index;
    uint64_t count; /* not 0 */
};

/* Zeroed, it is empty. */
struct osc_buckets {
    struct osc_bucket *at; /* owned; by index, ascending */
    size_t n, cap;
};

/* The bucket of V; a negative V counts as 0. */
uint32_t osc_bucket_of(int64_t v);

/* The least value of bucket INDEX; INT64_MAX behind the last one. */
int64_t osc_bucket_start(uint32_t index);

/* The middle of bucket INDEX, rounded down. */
int64_t osc_bucket_middle(uint32_t index);

void osc_buckets_fini(struct osc_buckets *b);

/* Add the counts in TEXT to B. OSC_EFORMAT: it is no such text; B has what came before. */
OSC_MUST_USE osc_status osc_buckets_add(struct osc_buckets *b, struct osc_str text);

/* Append "INDEX:COUNT", after a space if OUT is not empty. */
void osc_buckets_put(struct osc_strbuf *out, uint32_t index, uint64_t count);

/*
 * The middle of the bucket of the value that comes at place N of all values in ascending order,
 * where N is PART / WHOLE of their number, rounded up; 0 if there are none.
 */
int64_t osc_buckets_quantile(const struct osc_buckets *b, unsigned part, unsigned whole);
