/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_state.h - the inside of a set, for the files that answer from it.
 *
 * A set has a state, which a refresh replaces; who works with a state uses it until done, and
 * the last one frees it.
 *
 * Threading: the lock of the set is a leaf; who holds a state may read all of it but what the
 * comments name.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ask/chosen.h"
#include "ask/files/fingerprint.h"
#include "ask/files/loaded.h"
#include "ask/trace_parts.h"
#include "base/arena.h"
#include "names/labels.h"
#include "timeline/model.h"

/* A view; it lives while a question uses it or it is the last view. */
struct osc_set_seen {
    struct osc_chosen chosen;
    struct osc_strbuf key; /* identifies the view */
    uint32_t n_users;      /* under the lock of the set */
};

/* The content of a set; it lives while a question uses it or it is the present state. */
struct osc_set_state {
    struct osc_loaded loaded;
    struct osc_chosen chosen;      /* with the view that the set was opened with */
    struct osc_set_seen *last;     /* owned; or NULL; under the lock of the set */
    uint32_t n_users;              /* under the lock of the set */
    struct osc_timeline *timeline; /* owned; NULL: not made yet; under the lock for drawing */
    char fingerprint[OSC_FINGERPRINT_BYTES]; /* of what the timeline was made of, with it */
    struct osc_labels *labels; /* owned; by block of OSC_DRAWING_TOLD names, each empty until
                                * it is wanted; under the lock for naming */
    uint32_t n_labels;
};

/* Notes that a caller of osc_set_notes() may still use. */
struct osc_set_notes_text {
    struct osc_set_notes_text *before;
    char text[];
};

struct osc_set {
    atomic_uint n_holders;
    struct osc_mem_account account;             /* pays for the traces, their facts and views */
    struct osc_trace_parts parts;               /* instead of traces: the parts of answers */
    pthread_mutex_t lock;                       /* of now, and of counts in states and views */
    struct osc_set_state *now;                  /* used; NULL until it is loaded */
    _Atomic(struct osc_set_notes_text *) notes; /* owned; of now, linked to all earlier ones */
    pthread_mutex_t drawing;                    /* held while a timeline is made */
    pthread_mutex_t naming;                     /* held while its names are shortened */
    pthread_mutex_t refreshing;                 /* held by a refresh while files are read */
    struct osc_arena arena;                     /* owns the members below */
    const char **paths;
    size_t n_paths;
    struct osc_how how;
    struct osc_view only;
    struct osc_load load; /* how it was opened; it borrows the above */
};

/* Free S, whose memory is in the account of SET; NULL is allowed. */
void osc_set_free_seen(struct osc_set *set, struct osc_set_seen *s);
void osc_set_free_state(struct osc_set *set, struct osc_set_state *s);

/* Get the present state of SET and count one more user; count one less, and the last one frees
 * it. */
struct osc_set_state *osc_set_use_state(struct osc_set *set);
void osc_set_unuse_state(struct osc_set *set, struct osc_set_state *s);
