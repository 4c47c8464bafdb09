/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_rank.h - several files, one at a time: each is read, asked and freed.
 *
 * Of each file, its identity and its part of each answer (table/partial.h) are kept. A file
 * names its own rank; if no question wants that rank, only the identity is kept. Spans and the
 * origin depend on all files. So the failure of a file is reported only at the end, when it
 * is known whether the file is wanted.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/asked.h"
#include "ask/gather.h"
#include "ask/load.h"
#include "base/fields.h"

/* The result of asking one trace. Entries are indexed by its number. */
struct osc_by_rank_end {
    uint32_t group;      /* number of the operands; 0 unless parts are joined */
    uint32_t file, part; /* the file, among those of the operands, and which of its traces */
    osc_status status;
    bool is_without; /* it failed because it lacks what the view selects */
    char *message;   /* owned; NULL: no failure */
    struct osc_rest rest;
};

/* One for each question. */
struct osc_by_rank_answer {
    struct osc_asked *asked; /* borrowed while files are read; afterwards only compared */
    struct osc_gathering parts;
    struct osc_strbuf question; /* osc_partial_ask() of it, once a file was asked */
};

/*
 * Zeroed, it has no questions. If they name times, all files are visited once to learn their
 * origins, and once more to be asked.
 */
struct osc_by_rank {
    const struct osc_load *load;        /* borrowed while files are read; NULL: they are not */
    const struct osc_view *view;        /* borrowed; of the set */
    struct osc_by_rank_answer *answers; /* owned */
    struct osc_by_rank_end *ends;       /* owned */
    struct osc_origin_of *origins;      /* owned; of all traces, from the previous visit to all
                                         * files */
    const struct osc_by_rank *forked_from; /* it has the origins; NULL: this one */
    size_t n_answers, cap_ends;
    uint32_t n_ends, n_origins;
    bool keeps_traces; /* others ask the traces, too */
    bool is_timed;     /* a question or the view names times, which count from the origin */
};

/* Whether the N questions at ASKED can be asked of one file after the other. They cannot if a
 * table streams its rows. */
bool osc_by_rank_is_possible(struct osc_asked *const *asked, size_t n);

/* Prepare to ask the N questions at ASKED of the files of LOAD. VIEW is LOAD's view and must
 * outlive B. The caller frees B in any case, in the memory account that visits the files. */
OSC_MUST_USE osc_status osc_by_rank_init(struct osc_by_rank *b, const struct osc_load *load,
                                         const struct osc_view *view,
                                         struct osc_asked *const *asked, size_t n);
void osc_by_rank_fini(struct osc_by_rank *b);

/*
 * Append what B has of the traces that it visited, for osc_by_rank_get() in another process:
 * their ends, and their parts of all answers.
 */
void osc_by_rank_put(const struct osc_by_rank *b, struct osc_strbuf *out);

/*
 * Add what osc_by_rank_put() wrote with the same questions about traces of the operands GROUP,
 * from FROM, which it borrows. OSC_EINVAL: it is damaged, or answers other questions; then B
 * cannot be used.
 */
OSC_MUST_USE osc_status osc_by_rank_get(struct osc_by_rank *b, struct osc_fields *from,
                                        uint32_t group, struct osc_err *err);

/* After the last osc_by_rank_get(), number the traces of B in the order in which one process
 * would read them. */
OSC_MUST_USE osc_status osc_by_rank_renumber(struct osc_by_rank *b, struct osc_err *err);

/* Make *ORIGINS, which the caller frees, of the N traces of B, in the order of their numbers.
 * OSC_ENOMEM: *ORIGINS may be NULL, and is to be freed. */
OSC_MUST_USE osc_status osc_by_rank_origins(struct osc_by_rank *b,
                                            struct osc_origin_of **origins, uint32_t *n);

/* A visitor for osc_load() that asks the questions of B. */
struct osc_visitor osc_by_rank_visitor(struct osc_by_rank *b);

/* Instead of visiting files, ask the questions of B of the traces that L keeps. */
OSC_MUST_USE osc_status osc_by_rank_ask_kept(struct osc_by_rank *b, const struct osc_loaded *l,
                                             struct osc_err *err);

/*
 * After all files were visited, give OF the parts of K, one of the questions, for
 * osc_asked_answer(). OSC_ENOTFOUND: no file has a rank and span that were asked for.
 */
OSC_MUST_USE osc_status osc_by_rank_place(struct osc_by_rank *b, const struct osc_asked *k,
                                          struct osc_asked_of *of, struct osc_err *err);

/* Free the parts of K, which was answered and is not asked again. Its sources stay valid. */
void osc_by_rank_forget(struct osc_by_rank *b, const struct osc_asked *k);

/* Compute in *D the digest for osc_frame_fingerprint() of the answer to K, which has its
 * parts. */
OSC_MUST_USE osc_status osc_by_rank_digest(const struct osc_by_rank *b,
                                           const struct osc_asked *k, struct osc_digest *d);
