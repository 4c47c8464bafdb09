/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_rank.h - several files, one at a time: each is read, asked and freed.
 *
 * What stays of a file is who it was and its part of each answer (table/partial.h). Its
 * rank follows from itself, so of ranks that nobody asks for only that they were there is
 * kept. Spans and the origin follow from all files: what fails with one file is told once
 * it is known that the file is wanted.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/asked.h"
#include "ask/gather.h"
#include "ask/load.h"

/* How asking one file ended; by the number that the file has among all. */
struct osc_by_rank_end {
    osc_status status;
    bool is_without; /* failed because it does not have what the view selects */
    char *message;   /* owned; NULL: all went well */
    struct osc_rest rest;
};

/* One for each question. */
struct osc_by_rank_answer {
    struct osc_asked *asked; /* borrowed while files are read; later only compared */
    struct osc_gathering parts;
    struct osc_str *sources; /* owned array of borrowed texts */
};

/* Zeroed, nothing was asked. */
struct osc_by_rank {
    const struct osc_load *load;        /* borrowed while files are read */
    const struct osc_view *view;        /* borrowed; of the set */
    struct osc_by_rank_answer *answers; /* owned */
    struct osc_by_rank_end *ends;       /* owned */
    size_t n_answers, cap_ends;
    uint32_t n_ends;
};

/*
 * Whether the N questions at ASKED about VIEW can be put to one file after the other: not to
 * rows that are handed out as they are read, and not about times from an origin that is
 * known only once all files are read.
 */
bool osc_by_rank_is_possible(struct osc_asked *const *asked, size_t n,
                             const struct osc_view *view);

/* Ask what LOAD loads the N questions at ASKED; VIEW is its view, and lives as long as B. The
 * caller frees B in any case, from the account in which files are visited. */
OSC_MUST_USE osc_status osc_by_rank_init(struct osc_by_rank *b, const struct osc_load *load,
                                         const struct osc_view *view,
                                         struct osc_asked *const *asked, size_t n);
void osc_by_rank_fini(struct osc_by_rank *b);

/* What visits the files: gets B. */
osc_status osc_by_rank_visit(void *b, const struct osc_loaded *l, struct osc_trace *t,
                             const char *path, struct osc_err *err);
void osc_by_rank_restart(void *b);

/*
 * All files were visited: give K, which is one of the questions, its parts, for
 * osc_asked_answer(). OSC_ENOTFOUND: no file has a rank and span that were asked for.
 */
OSC_MUST_USE osc_status osc_by_rank_place(struct osc_by_rank *b, struct osc_asked *k,
                                          struct osc_err *err);

/* Find in *D what the answer to K, which has its parts, rests on: osc_frame_fingerprint(). */
OSC_MUST_USE osc_status osc_by_rank_digest(const struct osc_by_rank *b,
                                           const struct osc_asked *k, struct osc_digest *d);
