/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_thread.h - what the ITT collector stores per thread: the open tasks.
 *
 * The recorder always ends the innermost scope; ITT ends the last task of a domain. So the
 * domain of every open task is stored here.
 *
 *   - All of it is in static thread-local memory, which needs no call and no allocation.
 *     Libraries that are loaded late get little of that: hence 16-bit numbers, and no domain
 *     for tasks nested deeper than OSC_ITT_LEVELS (any end closes those).
 *   - Every call from a client goes through osc_itt_enter() and osc_itt_leave(): calls made
 *     meanwhile on the same thread (by an allocator that reports to ITT, by a signal handler)
 *     are dropped and counted.
 *
 * Threading: everything belongs to the calling thread, except the counts and the state of the
 * process, which are thread-safe.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "sources/itt/itt_text.h"
#include "sources/source_state.h"

#define OSC_ITT_LEVELS 48u

enum osc_itt_closed {
    OSC_ITT_INSIDE = 1,  /* a call of this thread is under way */
    OSC_ITT_IGNORED = 2, /* the client excluded this thread */
};

struct osc_itt_thread {
    uint32_t closed; /* bits of enum osc_itt_closed; 0: calls are recorded */
    uint32_t depth;  /* open tasks */
    /* The depth of the last task with an id, and in id_key its arrow; 0: none. */
    uint32_t id_depth;
    uint32_t mark_depth; /* of the task that is a mark instead of a scope; 0: none */
    uint64_t id_key;
    uint16_t domains[OSC_ITT_LEVELS];
};

extern _Thread_local struct osc_itt_thread osc_itt_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Misuse that is counted, as counters "itt: TEXT" of the recording. */
#define OSC_ITT_COUNT_LIST(X)                       \
    X(UNBALANCED, "tasks ended by one around them") \
    X(NESTED, "calls within calls")

enum osc_itt_count {
#define OSC_ITT_COUNT_ENUM(name, text) OSC_ITT_COUNT_##name,
    OSC_ITT_COUNT_LIST(OSC_ITT_COUNT_ENUM)
#undef OSC_ITT_COUNT_ENUM
        OSC_ITT_N_COUNTS
};

/* Count one more of WHAT, and record the new count. */
void osc_itt_count(enum osc_itt_count what);

/* The slow path of osc_itt_enter(). */
bool osc_itt_enter_slow(struct osc_itt_thread *self);

/* Begin a call. If false, the call does nothing, and must not call osc_itt_leave(). */
static inline bool osc_itt_enter(struct osc_itt_thread *self)
{
    /* Relaxed: a thread may see a change late. */
    const uint32_t state = atomic_load_explicit(&osc_source_state_, memory_order_relaxed);

    if (__builtin_expect((self->closed | state) != 0, 0) && !osc_itt_enter_slow(self))
        return false;
    self->closed = OSC_ITT_INSIDE;
    atomic_signal_fence(memory_order_seq_cst); /* signal handlers see `closed` first */
    return true;
}

static inline void osc_itt_leave(struct osc_itt_thread *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->closed = 0;
}

/* Keys of arguments; each is interned once. */
#define OSC_ITT_KEY_LIST(X) \
    X(DOMAIN, "domain")     \
    X(ID, "id")             \
    X(PARENT, "parent")     \
    X(HEAD, "head")         \
    X(TAIL, "tail")         \
    X(SCOPE, "scope")       \
    X(TEXT, "text")         \
    X(FRAME, "frame")       \
    X(UNBALANCED, "unbalanced")

enum osc_itt_key {
#define OSC_ITT_KEY_ENUM(name, text) OSC_ITT_KEY_##name,
    OSC_ITT_KEY_LIST(OSC_ITT_KEY_ENUM)
#undef OSC_ITT_KEY_ENUM
        OSC_ITT_N_KEYS
};

/* The recorder's name for KEY. */
osc_name osc_itt_key(enum osc_itt_key key);

/* A 64-bit hash of D and ID, which other ids are very unlikely to share. */
uint64_t osc_itt_id_key(const struct osc_itt_domain_entry *d, const struct osc_itt_id *id);

static inline bool osc_itt_id_is_none(const struct osc_itt_id *id)
{
    return (id->d1 | id->d2 | id->d3) == 0;
}

/* Add ID as an argument of the last record. */
void osc_itt_arg_id(enum osc_itt_key key, const struct osc_itt_id *id);

/* Add D as an argument of the last record, unless it is PyTorch's, whose kinds imply it. */
static inline void osc_itt_arg_domain(const struct osc_itt_domain_entry *d)
{
    if (!d->is_pytorch && osc_is_on())
        osc_arg_name(osc_itt_key(OSC_ITT_KEY_DOMAIN), osc_itt_name(d->text));
}

/* Write the digits of X to OUT, which has room for 20; return how many. */
size_t osc_itt_decimal(char *out, uint64_t x);
/* Write "0x" and digits of X to OUT, which has room for 18; return how many bytes. */
size_t osc_itt_hex(char *out, uint64_t x);
