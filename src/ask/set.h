/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - traces that were opened together (opscope/trace.h), as the commands use them.
 *
 * A set makes a view of its traces when a question needs it. It keeps the last view with its
 * facts for further questions about it. A set that was opened for one view may lack traces, or
 * most of a long one; then the files are read again for another view. For that the set keeps
 * copies of the arguments that it was opened with. A refresh gives the set a new state;
 * questions that have begun go on with the old one.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "ask/asked.h"

/* Load O into a new set, which the caller releases. */
OSC_MUST_USE osc_status osc_set_load(struct osc_set **set, const struct osc_load *o,
                                     struct osc_err *err);

/*
 * The same for N questions at ASKED, which have the view of O and are run by osc_set_run(). If
 * possible (ask/by_rank.h), each of several files is read, asked all of them and freed; then
 * the set has no traces. The questions must not move until they have been run.
 */
OSC_MUST_USE osc_status osc_set_load_to_ask(struct osc_set **set, const struct osc_load *o,
                                            struct osc_asked *const *asked, size_t n,
                                            struct osc_err *err);

/*
 * Append to OUT the parts of the answers to the questions that SET was loaded for, with
 * keeps_parts; R is the question that they stand for (join.h). OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_set_put_parts(const struct osc_set *set,
                                          const struct osc_request *r, struct osc_strbuf *out);

/* Make *ORIGINS, which the caller frees, of the N traces that SET joined. */
OSC_MUST_USE osc_status osc_set_origins(const struct osc_set *set,
                                        struct osc_origin_of **origins, uint32_t *n);

/* The loaded traces of SET, and those chosen by the view that it was opened with; borrowed. */
const struct osc_loaded *osc_set_loaded(const struct osc_set *set);
const struct osc_chosen *osc_set_chosen(const struct osc_set *set);

/*
 * Make DIGEST of all ranks of the part of SET that VIEW selects: the rows of the table DEF,
 * merged, with the options of QUESTION. FILES receives the digest of the files.
 */
struct osc_set_digesting {
    const struct osc_table_def *def;
    const struct osc_view *view; /* or NULL */
    const struct osc_question *question;
    /* Receives the answer, whose rows are the digest, while its sheet borrows the traces. */
    osc_status (*keep)(void *ctx, const struct osc_asked *k);
    void *ctx;
};
OSC_MUST_USE osc_status osc_set_digest(struct osc_set *set, const struct osc_set_digesting *how,
                                       struct osc_result *digest, struct osc_digest *files,
                                       struct osc_err *err);

/* Run K, whose view is the one that SET was opened with, as osc_asked_run() does. If SET has no
 * traces, K must be one of the questions that it was loaded for, and can be run once. */
OSC_MUST_USE osc_status osc_set_run(struct osc_set *set, struct osc_asked *k,
                                    struct osc_err *err);

/* The same, with the answer as columns, which the caller releases. */
OSC_MUST_USE osc_status osc_set_frame(struct osc_set *set, struct osc_asked *k,
                                      struct osc_frame **f, struct osc_err *err);

/* Like osc_ask(), but only the rows of WINDOW, if the answer is a stream: QUESTION then has no
 * filter. */
OSC_MUST_USE osc_status osc_set_ask_window(struct osc_set *set, const struct osc_view *view,
                                           const struct osc_question *question,
                                           struct osc_window *window, struct osc_frame **f,
                                           struct osc_err *err);

/* What is done with the traces that a view selects. */
struct osc_set_using {
    uint32_t facts; /* which they need */
    osc_status (*use)(void *ctx, const struct osc_chosen *chosen, struct osc_err *err);
    void *ctx;
};

/* Do USING with the traces of SET that VIEW selects; pulling CANCEL (or NULL) stops it.
 * OSC_EINVAL: the set does not keep them. */
OSC_MUST_USE osc_status osc_set_use(struct osc_set *set, const struct osc_view *view,
                                    const struct osc_set_using *with, struct osc_cancel *cancel,
                                    struct osc_err *err);
