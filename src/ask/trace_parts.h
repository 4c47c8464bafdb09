/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_parts.h - the parts that traces have of the answers to some questions.
 *
 * Several files are visited one at a time: each is read, asked and freed. Traces that a set
 * keeps are asked as they are, and parts of other processes are added (join.h). Of each trace,
 * its identity and its part of each answer (table/partial.h) stay. A trace names its own rank;
 * if no question wants that rank, only the identity stays. Spans and the origin depend on all
 * traces. So the failure of one is reported only at the end, when it is known whether it is
 * wanted.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/asked.h"
#include "ask/gather.h"
#include "ask/load.h"

/* The result of asking one trace. Entries are indexed by its number. */
struct osc_trace_end {
    uint32_t group;      /* number of the operands; 0 unless parts are joined */
    uint32_t file, part; /* the file, among those of the operands, and which of its traces */
    osc_status status;
    bool is_without; /* it failed because it lacks what the view selects */
    char *message;   /* owned; NULL: no failure */
    struct osc_rest rest;
};

/* One for each question. */
struct osc_answer_parts {
    struct osc_asked *asked; /* borrowed while files are read; afterwards only compared */
    struct osc_gathering parts;
    struct osc_strbuf question; /* osc_partial_ask() of it, once a file was asked */
};

/*
 * Zeroed, it has no questions. If they name times, all files are visited once to learn their
 * origins, and once more to be asked.
 */
struct osc_trace_parts {
    const struct osc_load *load;      /* borrowed while files are read; NULL: they are not */
    const struct osc_view *view;      /* borrowed; of the set */
    struct osc_answer_parts *answers; /* owned */
    struct osc_trace_end *ends;       /* owned */
    struct osc_origin_of *origins;    /* owned; of all traces, from the previous visit to all
                                       * files */
    const struct osc_trace_parts *forked_from; /* it has the origins; NULL: this one */
    size_t n_answers, cap_ends;
    uint32_t n_ends, n_origins;
    bool keeps_traces; /* others ask the traces, too */
    bool is_timed;     /* a question or the view names times, which count from the origin */
};

/* Whether the N questions at ASKED can be asked of one file after the other. They cannot if a
 * table streams its rows. */
bool osc_trace_parts_is_possible(struct osc_asked *const *asked, size_t n);

/* Prepare to ask the N questions at ASKED of the files of LOAD. VIEW is LOAD's view and must
 * outlive B. The caller frees B in any case, in the memory account that visits the files. */
OSC_MUST_USE osc_status osc_trace_parts_init(struct osc_trace_parts *b,
                                             const struct osc_load *load,
                                             const struct osc_view *view,
                                             struct osc_asked *const *asked, size_t n);
void osc_trace_parts_fini(struct osc_trace_parts *b);

/* Make Q, the question of A, an answer of B, as parts state it. It borrows from A. OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_trace_parts_ask(struct osc_partial_question *q,
                                            const struct osc_trace_parts *b,
                                            struct osc_answer_parts *a, struct osc_err *err);

/* Make *ORIGINS, which the caller frees, of the N traces of B, in the order of their numbers.
 * OSC_ENOMEM: *ORIGINS may be NULL, and is to be freed. */
OSC_MUST_USE osc_status osc_trace_parts_origins(struct osc_trace_parts *b,
                                                struct osc_origin_of **origins, uint32_t *n);

/* A visitor for osc_load() that asks the questions of B. */
struct osc_visitor osc_trace_parts_visitor(struct osc_trace_parts *b);

/* Instead of visiting files, ask the questions of B of the traces that L keeps. */
OSC_MUST_USE osc_status osc_trace_parts_ask_kept(struct osc_trace_parts *b,
                                                 const struct osc_loaded *l,
                                                 struct osc_err *err);

/*
 * After all files were visited, give OF the parts of K, one of the questions, for
 * osc_asked_answer(). OSC_ENOTFOUND: no file has a rank and span that were asked for.
 */
OSC_MUST_USE osc_status osc_trace_parts_place(struct osc_trace_parts *b,
                                              const struct osc_asked *k,
                                              struct osc_asked_of *of, struct osc_err *err);

/* Free the parts of K, which was answered and is not asked again. Its sources stay valid. */
void osc_trace_parts_forget(struct osc_trace_parts *b, const struct osc_asked *k);

/* Compute in *D the digest for osc_frame_fingerprint() of the answer to K, which has its
 * parts. */
OSC_MUST_USE osc_status osc_trace_parts_digest(const struct osc_trace_parts *b,
                                               const struct osc_asked *k, struct osc_digest *d);
