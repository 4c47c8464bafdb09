/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the rows of an answer as contiguous columns (opscope/trace.h).
 *
 * A result is a series of batches, of several ranks, with the order of rows stored separately;
 * programs get one array for each column. A frame owns all its memory; each Arrow array made
 * of it (arrow.c) holds a reference.
 *
 * Threading: one thread makes a frame; then nothing changes except the count of holders.
 */
#pragma once

#include "ask/asked.h"
#include "base/hash.h"
#include "opscope/trace.h"

/* The rows that a frame is to have of a stream, counted over all ranks and spans. Of an answer
 * that is no stream it gets all, and first becomes 0. */
struct osc_window {
    uint64_t first, n;
    uint64_t n_all; /* set by the frame: the rows that there are, without a limit */
};

/* Copy the rows of K, which was run, into a new frame: those of WINDOW or, if that is NULL,
 * all. FILES is the digest for its fingerprint. *F is NULL after a failure. */
OSC_MUST_USE osc_status osc_frame_make(struct osc_frame **f, struct osc_asked *k,
                                       struct osc_window *window,
                                       const struct osc_digest *files, struct osc_err *err);

/* For each row of F, its number among those of its rank and span before they were sorted; what
 * is sorted anew keeps rows of equal value in this order. NULL: the table is as long as the
 * trace. Borrowed. */
const uint32_t *osc_frame_made(const struct osc_frame *f);

/* The question whose rows are the evidence of ROW, as WORDS (table/question.h), borrowed;
 * empty: it has none. False: no row of F has any. */
bool osc_frame_question(const struct osc_frame *f, uint64_t row, struct osc_str *words);
