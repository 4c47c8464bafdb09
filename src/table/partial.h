/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h - the rows of one trace as bytes: to be merged later, or elsewhere.
 *
 * With many ranks each trace is opened, mapped and freed, and its partial result stays.
 * Ranks, spans and the origin of time follow from all traces together, so a part keeps
 * what its trace was alone (model/identity.h) and is placed among the others when it is
 * read: MOMENT columns move, and def->place() changes the rest.
 *
 *   magic "oscpart\0", version, length and XXH3 of what follows
 *   table, its columns (a hash), what it was asked for (options)
 *   identity of the trace
 *   shown, sorted_by, notes, words, rows: for each the columns that it has, then its cells
 *
 * Numbers are little-endian. A part of another version, of other columns or of another
 * question is refused, and so is one that is damaged.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"
#include "model/identity.h"
#include "table/table.h"

#define OSC_PARTIAL_VERSION 1u

/* Bytes of magic, version, four zeros, length and hash; the seed of the hash. */
#define OSC_PARTIAL_HEAD_BYTES 32u
#define OSC_PARTIAL_SEED       UINT64_C(0x6f7363)

/* What parts are of: those of one answer agree in all of it. Borrowed. */
struct osc_partial_question {
    const struct osc_table_def *def;
    const struct osc_options *options; /* its selection is given in words, by choice */
    const char *choice;                /* which rows of each trace; NULL: all */
    bool is_timed;                     /* choice has times from the origin */
};

/* What a part says beside its rows. */
struct osc_partial {
    struct osc_str bytes;                    /* borrowed */
    struct osc_identity identity;            /* its texts lie in bytes and end in NUL */
    uint64_t n_events;                       /* that were looked at */
    uint64_t n_not_dumped, n_without_window; /* findings of these names */
    size_t rows_at;                          /* of notes, words and rows in bytes */
    bool is_timed;                           /* it was asked for times from the origin */
};

/* Append R, all the rows that T has for Q, unplaced, to OUT. ID: who T is. */
OSC_MUST_USE osc_status osc_partial_write(const struct osc_partial_question *q,
                                          const struct osc_result *r, const struct osc_trace *t,
                                          const struct osc_identity *id, struct osc_strbuf *out,
                                          struct osc_err *err);

/*
 * Parts may stand one behind the other: take the first of *REST, which is not empty, as
 * *PART. OSC_EINVAL: there is none. What is in it is for osc_partial_open() to tell.
 */
OSC_MUST_USE osc_status osc_partial_next(struct osc_str *rest, struct osc_str *part,
                                         struct osc_err *err);

/* Look at BYTES, which P borrows. OSC_EINVAL: they are no part of the answer to Q. */
OSC_MUST_USE osc_status osc_partial_open(struct osc_partial *p, struct osc_str bytes,
                                         const struct osc_partial_question *q,
                                         struct osc_err *err);

/*
 * Add the rows of P to R (initialised, empty), placed as p->identity.among says. If P was
 * asked for times, its origin must be the one that its trace had then: OSC_EINVAL.
 */
OSC_MUST_USE osc_status osc_partial_read(const struct osc_partial *p, struct osc_result *r,
                                         struct osc_err *err);

/* Place R, which was mapped where its trace was at FROM, at TO. */
OSC_MUST_USE osc_status osc_result_place(struct osc_result *r, const struct osc_placing *from,
                                         const struct osc_placing *to);
