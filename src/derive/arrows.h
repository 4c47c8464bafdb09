/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrows.h - groups the records of the other store by arrow.
 *
 * An arrow consists of all records of one kind, category and id. A selection keeps or drops it
 * as a whole. So that views need not examine all records, the arrow of each record and the
 * number of records of each arrow are stored here. Arrows without a start and those that lead
 * nowhere are counted in osc_trace.findings.
 *
 * Links of launches and of backward operators follow arrows that have both ends.
 *
 * Threading: made by one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* For one chunk of the other store. */
struct osc_arrow_span {
    int64_t first_ns, last_ns; /* of its arrow records; first > last: it has none */
    bool has_others;           /* it has records that belong to no arrow */
};

/* What records of an arrow there are. */
enum { OSC_ARROW_STARTS = 1, OSC_ARROW_LEADS = 2, OSC_ARROW_COUNTED = 4 };

/* Zeroed, it is empty. */
struct osc_arrows {
    uint32_t *of_record;          /* owned; by row number: arrow + 1, or 0 */
    uint32_t *n_records;          /* owned; by arrow */
    uint8_t *ends;                /* owned; by arrow: OSC_ARROW_ above */
    struct osc_arrow_span *spans; /* owned; by chunk */
    uint32_t n;                   /* number of arrows */
};

OSC_MUST_USE osc_status osc_arrows_make(struct osc_trace *t, struct osc_arrows *a);
void osc_arrows_fini(struct osc_arrows *a);

/* An arrow with both ends: rows of the other store. */
struct osc_arrow_pair {
    osc_row from, to;
};

struct osc_arrow_pairs {
    struct osc_arrow_pair *v; /* owned; in the order of the ends */
    size_t n, cap;
};

/*
 * List the arrows of KIND in T, by id. With IS_BOUND, only those that the source defines as
 * leading from the start of one range to the start of another, and in Chrome traces those of
 * other producers than Kineto, each of its own category. Of several starts with one id
 * the first counts; the end of an arrow may precede its start in the file.
 */
OSC_MUST_USE osc_status osc_arrow_pairs_make(const struct osc_trace *t,
                                             enum osc_arrow_kind kind, bool is_bound,
                                             struct osc_arrow_pairs *pairs);
void osc_arrow_pairs_fini(struct osc_arrow_pairs *pairs);
