/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h - the rows of one trace as bytes, to be merged later or in another process.
 *
 * With many ranks each trace is opened, mapped and freed, and only its partial result stays.
 * Ranks, spans and the origin of time follow from all traces together. So a part stores the
 * identity of its trace alone (model/identity.h) and is placed among the others when it is
 * read: MOMENT columns are shifted, and place() adjusts the rest.
 *
 *   magic "oscpart\0", version, length and XXH3 of what follows
 *   table, a hash of its columns, the options of the question
 *   identity of the trace
 *   shown, sorted_by, rows left out, notes, words, rows: for each row the columns it has,
 *   then the cells
 *
 * Numbers are little-endian. A part with another version, other columns or another question is
 * refused, and so is a damaged one.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"
#include "model/identity.h"
#include "table/table.h"

#define OSC_PARTIAL_VERSION 4u

/* Size of magic, version, four zeroes, length and hash; the seed of the hash. */
#define OSC_PARTIAL_HEAD_BYTES 32u
#define OSC_PARTIAL_SEED       UINT64_C(0x6f7363)

/* The question that a part answers: all parts of one answer have the same. Borrowed. */
struct osc_partial_question {
    const struct osc_table_def *def;
    const struct osc_options *options; /* its selection is given as words in choice */
    const char *choice;                /* the rows to use of each trace; NULL: all */
    bool is_timed;                     /* choice contains times from the origin */
    uint64_t n_rows;                   /* that each part has at most; 0: all */
    const char *sort;                  /* with n_rows: the order of which they are the first */
    struct osc_str asked;              /* osc_partial_ask() of this; empty: not known yet */
};

/* Append how parts state Q to OUT; made once, it serves all parts of one answer. */
void osc_partial_ask(const struct osc_partial_question *q, struct osc_strbuf *out);

/* A part that was opened, or the trace itself: then its rows are made when they are wanted. */
struct osc_partial {
    const struct osc_trace *trace; /* borrowed; NULL: its rows are in bytes */
    struct osc_str bytes;          /* borrowed */
    struct osc_identity identity;  /* its strings lie in bytes and end in NUL, or are borrowed
                                    * with the trace */
    uint64_t n_events;             /* events that were examined */
    uint64_t n_not_dumped, n_without_window; /* findings of these names */
    size_t rows_at;                          /* offset in bytes of notes, words and rows */
    bool is_timed;                           /* its question contained times from the origin */
};

/* Append R, the rows of T for Q, not yet placed, to OUT. ID is the identity of T. */
OSC_MUST_USE osc_status osc_partial_write(const struct osc_partial_question *q,
                                          const struct osc_result *r, const struct osc_trace *t,
                                          const struct osc_identity *id, struct osc_strbuf *out,
                                          struct osc_err *err);

/*
 * Parts may be concatenated: move the first of *REST, which is not empty, to *PART.
 * OSC_EINVAL: there is none. osc_partial_open() checks its content.
 */
OSC_MUST_USE osc_status osc_partial_next(struct osc_str *rest, struct osc_str *part,
                                         struct osc_err *err);

/* Open the part in BYTES, which P borrows. OSC_EINVAL: it does not answer Q. */
OSC_MUST_USE osc_status osc_partial_open(struct osc_partial *p, struct osc_str bytes,
                                         const struct osc_partial_question *q,
                                         struct osc_err *err);

/* Let P be the part of T, which is placed and stays open. Of P's identity, only the source and
 * the place are known. */
void osc_partial_keep(struct osc_partial *p, const struct osc_trace *t);

/*
 * Add the rows of P, which has bytes, to R (initialised, empty), placed by p->identity.among.
 * If P was asked with times, its origin must be the one that its trace had then: else
 * OSC_EINVAL.
 */
OSC_MUST_USE osc_status osc_partial_read(const struct osc_partial *p, struct osc_result *r,
                                         struct osc_err *err);

/* Change R from the place FROM, where its trace was mapped, to the place TO. */
OSC_MUST_USE osc_status osc_result_place(struct osc_result *r, const struct osc_placing *from,
                                         const struct osc_placing *to);
