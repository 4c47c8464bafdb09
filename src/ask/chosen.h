/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.h - the traces of a set that a view selects.
 *
 * Whole traces are borrowed from the set; a trace of which rows are left out is replaced by a
 * view (derive/part/view.h). The set does not change, so any number of choices may be made of
 * it.
 *
 * Threading: one thread makes a choice; several may be made of a set at the same time. Once
 * made, a choice may be read by any thread.
 */
#pragma once

#include "ask/load.h"
#include "table/partial.h"

struct osc_choice {
    const struct osc_view *view;
    bool with_callers;  /* see struct osc_selection */
    bool is_late;       /* the table selects rows itself and gets whole traces */
    bool forgets_facts; /* no other question is asked of the set: free its own facts */
    unsigned n_threads;
    struct osc_mem_account *asker; /* pays for the work, and canceling it stops the work;
                                      NULL: the account that pays for the result */
};

/* Zeroed, it is empty. */
struct osc_chosen {
    struct osc_trace **traces; /* owned array, by rank and span; of the set or of views */
    uint32_t n_traces;
    struct osc_trace *views; /* owned; zeroed except for those that are in traces */
    uint32_t n_views;
    struct osc_partial *parts;        /* owned; one for each trace, which is open */
    const struct osc_partial **order; /* owned; all parts */
};

/*
 * Choose from L as HOW says. A trace that lacks the selected process, thread, device or steps
 * is left out. OSC_EINVAL: all traces lack them. The caller frees C in any case, before L.
 */
OSC_MUST_USE osc_status osc_chosen_make(struct osc_chosen *c, const struct osc_loaded *l,
                                        const struct osc_choice *how, struct osc_err *err);
void osc_chosen_fini(struct osc_chosen *c);

/* Derive FACTS of every trace of C, which is of L, on N_THREADS threads. */
OSC_MUST_USE osc_status osc_chosen_derive(const struct osc_chosen *c,
                                          const struct osc_loaded *l, uint32_t facts,
                                          unsigned n_threads, struct osc_err *err);

/* The source of a trace, and how much of it was read. */
struct osc_rest {
    struct osc_digest files;
    uint32_t part;
    uint32_t n_events, n_others;
    bool is_torn, is_partial; /* held.h, model/trace.h */
};

/* The source and extent of T, a view or a whole trace. */
struct osc_rest osc_rest_of(const struct osc_trace *t);

/* Append R and P, the place of the trace among the others. */
void osc_rest_add(struct osc_strbuf *out, const struct osc_rest *r,
                  const struct osc_placing *p);

/* Compute in *D the digest for osc_frame_fingerprint() of an answer about C, which is of L. */
OSC_MUST_USE osc_status osc_chosen_digest(const struct osc_chosen *c,
                                          const struct osc_loaded *l, struct osc_digest *d);

/* V, with the fields that it does not set from ONLY. */
struct osc_view osc_view_join(const struct osc_view *only, const struct osc_view *v);

/* Whether V selects everything. */
bool osc_view_is_all(const struct osc_view *v);
