/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_thread.h - what sources store per thread: who owns the open scopes.
 *
 * The recorder always ends the innermost scope; clients end the last range of a domain, and
 * domains of several interfaces interleave. So the owner of every open scope, such as a domain
 * of ITT or NVTX, is stored here.
 *
 *   - All of it is in static thread-local memory, which needs no call and no allocation.
 *     Libraries that are loaded late get little of that: hence 16-bit numbers, and no owner for
 *     scopes nested deeper than OSC_SOURCE_LEVELS (any end closes those).
 *   - Every call from a client goes through osc_source_enter() and osc_source_leave(): calls
 *     made meanwhile on the same thread (by an allocator that reports to ITT, by a signal
 *     handler) are dropped and counted.
 *
 * Threading: everything belongs to the calling thread, except the counts, which are
 * thread-safe.
 */
#pragma once

#include "opscope/record.h"
#include "sources/source_state.h"

#define OSC_SOURCE_LEVELS 48u

enum osc_source_closed {
    OSC_SOURCE_INSIDE = 1,  /* a call of this thread is under way */
    OSC_SOURCE_IGNORED = 2, /* the client excluded this thread */
    OSC_SOURCE_OPEN = 4,    /* none of these, and the thread's name was recorded */
};

struct osc_source_thread {
    uint32_t closed;     /* bits of enum osc_source_closed; 0: the thread is new */
    uint32_t depth;      /* open scopes */
    uint32_t mark_depth; /* of the one that is a mark instead of a scope; 0: none */
    uint16_t owners[OSC_SOURCE_LEVELS];
};

extern _Thread_local struct osc_source_thread osc_source_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Misuse that is counted, as counters of the recording. */
#define OSC_SOURCE_COUNT_LIST(X)                               \
    X(UNBALANCED, "sources: ranges ended by one around them")  \
    X(NESTED, "sources: calls within calls")                   \
    X(HANDLES, "sources: handles for which there was no room") \
    X(FIELDS, "nvtx: fields of payloads left out")

enum osc_source_count {
#define OSC_SOURCE_COUNT_ENUM(name, text) OSC_SOURCE_COUNT_##name,
    OSC_SOURCE_COUNT_LIST(OSC_SOURCE_COUNT_ENUM)
#undef OSC_SOURCE_COUNT_ENUM
};

/* Count one more of WHAT, as source_counter.h says. */
void osc_source_count(enum osc_source_count what);

/* The owner of what NVTX's default domain begins. */
#define OSC_SOURCE_OWNER_NVTX 1u

/* The number of a new owner of scopes, from 2; if there are too many, 65,535 for the others. */
uint16_t osc_source_owner_number(void);

/* The slow path of osc_source_heed(). */
void osc_source_heed_slow(struct osc_source_thread *self);

/* The slow path of osc_source_enter(). */
bool osc_source_enter_slow(struct osc_source_thread *self, uint32_t stops);

/* Begin a call, unless one of STOPS, bits of the state, is set. If false, the call does
 * nothing, and must not call osc_source_leave(). */
static inline bool osc_source_enter(struct osc_source_thread *self, uint32_t stops)
{
    /* Relaxed: a thread may see a change late. */
    const uint32_t state = atomic_load_explicit(&osc_source_state_, memory_order_relaxed);

    if (__builtin_expect(((self->closed ^ OSC_SOURCE_OPEN) | state) != 0, 0) &&
        !osc_source_enter_slow(self, stops))
        return false;
    self->closed = OSC_SOURCE_INSIDE;
    atomic_signal_fence(memory_order_seq_cst); /* signal handlers see `closed` first */
    return true;
}

static inline void osc_source_leave(struct osc_source_thread *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->closed = OSC_SOURCE_OPEN;
}

/* Do what is due before a call of a source that has no owners of scopes. Not for a thread that
 * is within the recorder. */
static inline void osc_source_heed(void)
{
    /* Relaxed: a thread may see a change late. */
    if (__builtin_expect((atomic_load_explicit(&osc_source_state_, memory_order_relaxed) &
                          OSC_SOURCE_REPORT_DUE) != 0 ||
                             osc_source_self.closed == 0,
                         0))
        osc_source_heed_slow(&osc_source_self);
}

/* Store that OWNER begins a scope. */
static inline void osc_source_push(struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t depth = self->depth;

    /* In this order, so that a signal handler's pushes and pops leave no trace. */
    if (depth < OSC_SOURCE_LEVELS)
        self->owners[depth] = owner;
    self->depth = depth + 1;
}

/* Forget the innermost scope, which has ended. */
static inline void osc_source_pop(struct osc_source_thread *self)
{
    if (self->mark_depth >= self->depth)
        self->mark_depth = 0;
    self->depth--;
}

/* End scopes of others above the innermost scope of OWNER, which remains. False: it has none.
 */
bool osc_source_unwind(struct osc_source_thread *self, uint16_t owner);

/* Whether the innermost scope is OWNER's, or becomes so because those above it are ended. */
static inline bool osc_source_owns(struct osc_source_thread *self, uint16_t owner)
{
    const uint32_t depth = self->depth;
    const bool fits = depth - 1 < OSC_SOURCE_LEVELS && self->owners[depth - 1] == owner;

    return __builtin_expect(fits, 1) || osc_source_unwind(self, owner);
}

/* How many scopes of OWNER are open, as far as their owners are known. */
uint32_t osc_source_depth_of(const struct osc_source_thread *self, uint16_t owner);

/* End the innermost scope in the recording, unless it is a mark. */
static inline void osc_source_end_scope(const struct osc_source_thread *self)
{
    if (__builtin_expect(self->mark_depth != self->depth, 1))
        osc_end();
}
