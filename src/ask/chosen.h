/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.h - what a view leaves of the traces of a set.
 *
 * Whole traces are borrowed from the set; those of which rows are left out are views of
 * their own (derive/view.h). The set stays as it is: any number of choices may be made of it.
 *
 * Threading: thread-safe, each choice by one thread; once made, any thread may ask it.
 */
#pragma once

#include "ask/load.h"
#include "model/identity.h"

struct osc_choice {
    const struct osc_view *view;
    bool with_callers;  /* as osc_selection has it */
    bool is_late;       /* the table chooses rows itself: all of each trace is there */
    bool forgets_facts; /* nobody else asks the set: its own facts are of no more use */
    unsigned n_threads;
    struct osc_mem_account *asker; /* who stops it when he is cancelled, and pays for the work;
                                      NULL: who pays for what is made */
};

/* Zeroed, it is empty. */
struct osc_chosen {
    struct osc_trace **traces; /* owned array, by rank and span; of the set or of views */
    uint32_t n_traces;
    struct osc_trace *views; /* owned; zeroed but for those that traces have */
    uint32_t n_views;
    struct osc_str *sources; /* owned array of borrowed texts: the path of each trace */
};

/*
 * Choose of L what HOW says. A trace that does not have the process, thread, device or steps
 * is left out, unless none has: OSC_EINVAL. The caller frees C in any case, before L.
 */
OSC_MUST_USE osc_status osc_chosen_make(struct osc_chosen *c, const struct osc_loaded *l,
                                        const struct osc_choice *how, struct osc_err *err);
void osc_chosen_fini(struct osc_chosen *c);

/* Make FACTS of every trace of C, which is of L, on N_THREADS. */
OSC_MUST_USE osc_status osc_chosen_derive(const struct osc_chosen *c,
                                          const struct osc_loaded *l, uint32_t facts,
                                          unsigned n_threads, struct osc_err *err);

/* Where a trace is from, and how much of it was read. */
struct osc_rest {
    struct osc_digest files;
    uint32_t part;
    uint32_t n_events, n_others;
    bool is_torn, is_partial; /* held.h, model/trace.h */
};

/* That of T, a view or whole. */
struct osc_rest osc_rest_of(const struct osc_trace *t);

/* Append R, and P, where the trace is among others. */
void osc_rest_add(struct osc_strbuf *out, const struct osc_rest *r,
                  const struct osc_placing *p);

/* Find in *D what an answer about C, which is of L, rests on: osc_frame_fingerprint(). */
OSC_MUST_USE osc_status osc_chosen_digest(const struct osc_chosen *c,
                                          const struct osc_loaded *l, struct osc_digest *d);
