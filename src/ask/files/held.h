/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - a trace that was read from files, shared by the states of a set (ask/set.c).
 *
 * A refreshed set gets a new state and keeps the traces of files that did not change. Questions
 * that began before go on with the old state, so each trace has a reference count. Rank, span
 * and origin depend on all files together. If they change, the new state has a mirror
 * (model/trace.h) of the old state's trace, and the file need not be read again.
 *
 * Threading: counts are thread-safe. All else is constant once a state has the trace, except
 * what the lock of the trace guards.
 */
#pragma once

#include <stdatomic.h>

#include "base/hash.h"
#include "import/run.h"
#include "model/trace.h"

struct osc_held {
    struct osc_trace trace; /* first: a pointer to it also points to this struct */
    atomic_uint n_holders;
    struct osc_held *original; /* held; what this one mirrors; NULL: it was read */
    struct osc_digest files;   /* from which it was read, as they were then (fingerprint.h) */
    uint32_t part;             /* of those files, which may hold several traces */
    uint32_t file;             /* the first of those files, among all when they were listed */
    bool is_torn;              /* the files changed while they were read */
    struct osc_identity alone; /* its identity before others are known; no path */
    struct osc_finding unaligned; /* its finding about clocks, as made from this file alone */
    bool is_placed;
    struct osc_placing place; /* its place among the others, if is_placed */
};

/* A new, zeroed trace for the caller to fill. NULL: out of memory. */
struct osc_held *osc_held_new(void);

/* The struct osc_held whose trace is T. */
struct osc_held *osc_held_of(struct osc_trace *t);

/* Store the identity of H, which was read just now. */
void osc_held_remember(struct osc_held *h);

/* Add or drop a reference to H. Dropping the last one frees it; call that in the account that
 * pays for it. */
struct osc_held *osc_held_hold(struct osc_held *h);
void osc_held_release(struct osc_held *h);

/*
 * Decide rank, span and origin of the N TRACES, which were read from PATHS. A trace that has
 * others already is not changed: it is released, and TRACES gets a mirror of it instead.
 */
OSC_MUST_USE osc_status osc_held_place(struct osc_trace **traces, const char *const *paths,
                                       uint32_t n);
