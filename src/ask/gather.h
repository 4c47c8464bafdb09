/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - parts of an answer, made one after the other or elsewhere, become one.
 *
 * Parts (table/partial.h) come in any order and any number at a time. When all are there,
 * their traces are given ranks, spans and an origin together, as if they had been opened
 * together, and put in the order that users see: by rank, span, and as they were numbered
 * when they were opened. Bytes of the answer so depend on neither who made a part nor when.
 *
 * Threading: not locked.
 */
#pragma once

#include "table/query.h"

/* Zeroed, there are none. Pointers to parts lie in it: never copy it once they are placed. */
struct osc_gathering {
    char **bytes;               /* owned, each of them too; what the parts borrow */
    struct osc_partial *parts;  /* owned */
    struct osc_partial **order; /* owned; once they are placed */
    size_t cap_bytes, cap_parts;
    uint32_t n_bytes, n_parts;
};

/* Add the parts in BYTES, which are copied: one behind the other, all of an answer to Q. */
OSC_MUST_USE osc_status osc_gather_add(struct osc_gathering *g, struct osc_str bytes,
                                       const struct osc_partial_question *q,
                                       struct osc_err *err);

/*
 * All parts are there: decide which rank, span and origin each has. KEEP (may be NULL) says
 * which of them to keep, once all have had their say; it is asked as they are numbered. Q,
 * without traces, then gets the parts and can be run; it borrows them from G.
 */
OSC_MUST_USE osc_status osc_gather_place(struct osc_gathering *g,
                                         bool (*keep)(void *ctx, const struct osc_identity *id),
                                         void *ctx, struct osc_query *q, struct osc_err *err);

void osc_gathering_fini(struct osc_gathering *g);
