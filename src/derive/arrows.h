/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrows.h - which records of the other store belong to one arrow.
 *
 * An arrow is all its records: those of one kind, category and id. A selection leaves it
 * whole or takes it away, so it has to know the arrow of each record, and how many
 * records an arrow has, without looking at all of them for each view.
 *
 * Links of launches and of backward operators follow arrows that have both ends.
 *
 * Threading: made by one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Of one chunk of the other store. */
struct osc_arrow_span {
    int64_t first_ns, last_ns; /* of its records of arrows; first > last: it has none */
    bool has_others;           /* it has records that are of no arrow */
};

/* Zeroed, it is empty. */
struct osc_arrows {
    uint32_t *of_record;          /* owned; by number of the row: arrow + 1, or 0 */
    uint32_t *n_records;          /* owned; by arrow */
    struct osc_arrow_span *spans; /* owned; by chunk */
    uint32_t n;                   /* arrows */
};

OSC_MUST_USE osc_status osc_arrows_make(const struct osc_trace *t, struct osc_arrows *a);
void osc_arrows_fini(struct osc_arrows *a);

/* An arrow that has both ends: rows of the other store. */
struct osc_arrow_pair {
    osc_row from, to;
};

struct osc_arrow_pairs {
    struct osc_arrow_pair *v; /* owned; in order of the ends */
    size_t n, cap;
};

/*
 * The arrows of KIND in T, by id; IS_BOUND: those alone of which the source says that they
 * lead from the start of a range to that of another. Of several starts with one id the
 * first counts, and an arrow may end, in the file, before it starts.
 */
OSC_MUST_USE osc_status osc_arrow_pairs_make(const struct osc_trace *t,
                                             enum osc_arrow_kind kind, bool is_bound,
                                             struct osc_arrow_pairs *pairs);
void osc_arrow_pairs_fini(struct osc_arrow_pairs *pairs);
