/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.h - the advice about all ranks together: which of them lets the others wait.
 *
 * Threading: not locked.
 */
#pragma once

#include "table/table.h"

/* How long collectives in kept steps took, and for how long of that they waited for other
 * ranks. OF_NS is 0 if no other rank is there. */
struct osc_waited {
    int64_t ns, of_ns;
};

/* Zeroed, it is empty. */
struct osc_straggler {
    struct osc_result rows;    /* owned; of `stragglers`; valid if it has a definition */
    uint64_t row;              /* the rank that lets the others wait */
    struct osc_result *block;  /* borrowed: the rows of that rank; NULL: there is none */
    int64_t impact_ns;         /* how long the others waited for it */
    int64_t kept_ns;           /* length of the kept steps of the others */
    int64_t n_last;            /* in how many collectives it came last */
    struct osc_strbuf text;    /* owned */
    struct osc_waited *waited; /* owned; by block */
};

/* Move the parts of ranks out of the N BLOCKS, and find who waits, and who lets the others
 * wait.
 */
OSC_MUST_USE osc_status osc_straggler_find(struct osc_straggler *s,
                                           struct osc_result *const *blocks, uint32_t n,
                                           const struct osc_options *o, struct osc_err *err);
void osc_straggler_fini(struct osc_straggler *s);

/* What made it late; empty: not known. */
struct osc_str osc_straggler_operator(const struct osc_straggler *s);
