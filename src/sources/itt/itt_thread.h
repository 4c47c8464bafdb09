/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_thread.h - what the ITT collector stores per thread beside source_thread.h: the last task
 * with an id; and the arguments that its records have.
 *
 * Threading: what is of the thread belongs to the calling thread; the rest is thread-safe.
 */
#pragma once

#include "sources/itt/itt_objects.h"
#include "sources/source_thread.h"

/* The last task with an id: its depth, and the key of its arrow. Depth 0: none. */
struct osc_itt_last {
    uint64_t key;
    uint32_t depth;
};

extern _Thread_local struct osc_itt_last osc_itt_last
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Begin a call of ITT. If false, the call does nothing, and must not call osc_itt_leave(). */
static inline bool osc_itt_enter(struct osc_source_thread *self)
{
    return osc_source_enter(self, OSC_SOURCE_ITT_DETACHED);
}

static inline void osc_itt_leave(struct osc_source_thread *self)
{
    osc_source_leave(self);
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
    X(FRAME, "frame")

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
        osc_arg_name(osc_itt_key(OSC_ITT_KEY_DOMAIN), osc_text_name(d->text));
}

/* Write the digits of X to OUT, which has room for 20; return how many. */
size_t osc_itt_decimal(char *out, uint64_t x);
/* Write "0x" and digits of X to OUT, which has room for 18; return how many bytes. */
size_t osc_itt_hex(char *out, uint64_t x);
