/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_thread.h - what the ITT collector keeps of each thread: which tasks are open.
 *
 * The recorder always ends the innermost scope; ITT ends the last task of a domain. So the
 * domain of every open task is stored here.
 *
 *   - All of it lies in thread-local memory of the kind that needs no call and no
 *     allocation. There is little of that for libraries that are loaded late: hence
 *     numbers of 16 bits, and no domain for tasks more than OSC_ITT_LEVELS deep (there
 *     every end fits).
 *   - Every call from a client goes through osc_itt_enter() and osc_itt_leave(): what it
 *     causes to be called on its own thread (an allocator that reports to ITT, a signal
 *     handler) is dropped, and counted.
 *
 * Threading: everything is the calling thread's own, but for the counts and the state
 * of the process, which are thread-safe.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "sources/itt_state.h"
#include "sources/itt_text.h"

#define OSC_ITT_LEVELS 48u

enum osc_itt_closed {
    OSC_ITT_INSIDE = 1,  /* a call of this thread is under way */
    OSC_ITT_IGNORED = 2, /* the client wants nothing of this thread */
};

struct osc_itt_thread {
    uint32_t closed; /* of enum osc_itt_closed; 0: calls are recorded */
    uint32_t depth;  /* open tasks */
    /* The innermost task has an id: its arrow, and its depth; 0: none has. */
    uint32_t id_depth;
    uint32_t mark_depth; /* of the task that is a mark, and no scope; 0: none is */
    uint64_t id_key;
    uint16_t domains[OSC_ITT_LEVELS];
};

extern _Thread_local struct osc_itt_thread osc_itt_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What happened that should not; as counters in the recording, "itt NAME". */
#define OSC_ITT_COUNT_LIST(X)                       \
    X(UNMATCHED_END, "ends without a task")         \
    X(UNBALANCED, "tasks ended by one around them") \
    X(NESTED, "calls within calls")

enum osc_itt_count {
#define OSC_ITT_COUNT_ENUM(name, text) OSC_ITT_COUNT_##name,
    OSC_ITT_COUNT_LIST(OSC_ITT_COUNT_ENUM)
#undef OSC_ITT_COUNT_ENUM
        OSC_ITT_N_COUNTS
};

/* One more of WHAT; noted in the recording with its time. */
void osc_itt_count(enum osc_itt_count what);

/* Behind osc_itt_enter(). */
bool osc_itt_enter_slow(struct osc_itt_thread *self);

/* A call begins: false if it is to do nothing, and then osc_itt_leave() is not called. */
static inline bool osc_itt_enter(struct osc_itt_thread *self)
{
    /* Relaxed: a thread may notice late. */
    const uint32_t state = atomic_load_explicit(&osc_itt_state_, memory_order_relaxed);

    if (__builtin_expect((self->closed | state) != 0, 0) && !osc_itt_enter_slow(self))
        return false;
    self->closed = OSC_ITT_INSIDE;
    atomic_signal_fence(memory_order_seq_cst); /* a signal handler sees it first */
    return true;
}

static inline void osc_itt_leave(struct osc_itt_thread *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->closed = 0;
}

/* Keys of arguments: interned once. */
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

/* A number for ID in D that other ids do not have, as likely as that is with 64 bits. */
uint64_t osc_itt_id_key(const struct osc_itt_domain_entry *d, const struct osc_itt_id *id);

static inline bool osc_itt_id_is_none(const struct osc_itt_id *id)
{
    return (id->d1 | id->d2 | id->d3) == 0;
}

/* ID as an argument of the last record. */
void osc_itt_arg_id(enum osc_itt_key key, const struct osc_itt_id *id);

/* D as an argument of the last record, unless it is PyTorch's, whose kinds say enough. */
static inline void osc_itt_arg_domain(const struct osc_itt_domain_entry *d)
{
    if (!d->is_pytorch && osc_is_on())
        osc_arg_name(osc_itt_key(OSC_ITT_KEY_DOMAIN), osc_itt_name(d->text));
}

/* Digits of X at OUT, which has room for 20; returns how many. */
size_t osc_itt_decimal(char *out, uint64_t x);
/* "0x" and digits of X at OUT, which has room for 18; returns how many bytes. */
size_t osc_itt_hex(char *out, uint64_t x);
