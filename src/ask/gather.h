/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - join parts of an answer that were made one after the other or in other processes.
 *
 * Parts (table/partial.h) arrive in any order and any number at a time. When all are there,
 * their traces get ranks, spans and an origin as if they had been opened together. They are
 * sorted in the order that users see: by rank, by span, and by the number that they got when
 * they were opened. So the bytes of the answer do not depend on where or when a part was made.
 *
 * Threading: not locked.
 */
#pragma once

#include "table/query.h"

/* Zeroed, it is empty. It contains pointers to its parts: never copy it once they are
 * placed. */
struct osc_gathering {
    char **bytes;               /* owned, and so is each element; the parts borrow them */
    struct osc_partial *parts;  /* owned */
    struct osc_partial **order; /* owned; set once the parts are placed: those that are kept */
    size_t cap_bytes, cap_parts;
    uint32_t n_parts, n_ordered;
};

/* Copy and add PART, which is of an answer to Q. */
OSC_MUST_USE osc_status osc_gather_add(struct osc_gathering *g, struct osc_str part,
                                       const struct osc_partial_question *q,
                                       struct osc_err *err);

/* Move all parts of FROM, which is empty afterwards, behind those of G; their traces get the
 * next numbers. OSC_ENOMEM: nothing was moved. */
OSC_MUST_USE osc_status osc_gather_take(struct osc_gathering *g, struct osc_gathering *from);

/*
 * After all parts were added, decide the rank, span and origin of each. Then KEEP (may be
 * NULL) is called for each part in order of the numbers and says whether to keep it.
 */
OSC_MUST_USE osc_status osc_gather_place(struct osc_gathering *g,
                                         bool (*keep)(void *ctx, const struct osc_identity *id),
                                         void *ctx, struct osc_err *err);

void osc_gathering_fini(struct osc_gathering *g);
