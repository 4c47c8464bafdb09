/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - a trace that was read from files, held by all states of a set that it belongs to.
 *
 * A set that is refreshed keeps the traces of files that are what they were; questions that
 * began before go on with the state that they began with (state.h). So traces are counted.
 * Rank, span and origin follow from all files together: if they change, the new state has a
 * mirror (model/trace.h) of the trace that the old one has, which is read by nobody again.
 *
 * Threading: counts are thread-safe; all else is constant once a state has it, but for what
 * the lock of the trace guards.
 */
#pragma once

#include <stdatomic.h>

#include "base/hash.h"
#include "import/run.h"
#include "model/trace.h"

struct osc_held {
    struct osc_trace trace; /* first, so that a pointer to it is one to this */
    atomic_uint n_holders;
    struct osc_held *original; /* held; whose mirror it is; NULL: it was read */
    struct osc_digest files;   /* that it was read from: as they were (fingerprint.h) */
    uint32_t part;             /* of those files, which may hold several traces */
    bool is_torn; /* the files changed meanwhile, or could not be read to the end */
    struct osc_identity alone;    /* who it is before others have their say, but for its path */
    struct osc_finding unaligned; /* what it knew of that alone */
    bool is_placed;
    struct osc_placing place; /* where it is among the others, once they had */
};

/* A new trace, zeroed, for who reads it. NULL: out of memory. */
struct osc_held *osc_held_new(void);

/* T, the trace of one, as that. */
struct osc_held *osc_held_of(struct osc_trace *t);

/* H was read just now: keep what it says of itself. */
void osc_held_remember(struct osc_held *h);

/* Hold H once more, or once less: the last one frees it, by who pays for it. */
struct osc_held *osc_held_hold(struct osc_held *h);
void osc_held_release(struct osc_held *h);

/*
 * Decide who each of the N TRACES, which were read from PATHS, is among all. Those that
 * other states have stay as they are: if they are somebody else now, a mirror takes their
 * place in TRACES, whose holder holds that instead.
 */
OSC_MUST_USE osc_status osc_held_place(struct osc_trace **traces, const char *const *paths,
                                       uint32_t n);
