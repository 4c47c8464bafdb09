/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_text.h - one entry per distinct text that clients name things by.
 *
 * PyTorch asks for a string handle at every event, so finding one takes no lock and no
 * memory. Identity is that of the text: objects that a static part made before it
 * loaded us, and ours of the same name, lead to the same entry.
 *
 *   - Entries hold a copy of the text: clients free theirs. They are never freed, and
 *     what hangs on one (domain, counter, number) is made once, when first asked for.
 *   - Without memory, and beyond OSC_ITT_TEXT_BYTES_MAX of it, all new texts share one
 *     entry.
 *
 * Threading: thread-safe, without locks; entries are read-only but for their atomics.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "opscope/record.h"
#include "sources/itt_abi.h"

#define OSC_ITT_TEXT_BYTES_MAX ((size_t)256 << 20)
#define OSC_ITT_TEXT_LEN_MAX   ((size_t)1 << 20) /* longer ones are cut */

/* What a domain is to us; the client's own domain object leads here. */
struct osc_itt_domain_entry {
    struct osc_itt_domain abi; /* what clients get */
    struct osc_itt_text *text;
    uint16_t number; /* unlike that of other domains; of the 65,535th on, 65,535 */
    bool is_pytorch;
};

struct osc_itt_counter_entry {
    struct osc_itt_counter abi;
    struct osc_itt_text *text;
    _Atomic int64_t sum; /* of what was counted up and down */
};

struct osc_itt_text {
    struct osc_itt_string handle; /* what clients get */
    _Atomic uint32_t name;        /* of the recorder; 0: not yet known to it, or empty */
    bool is_operator;             /* it reads "namespace::name" */
    uint64_t hash;
    size_t len;
    _Atomic(struct osc_itt_text *) next; /* of the same hash */
    _Atomic(struct osc_itt_domain_entry *) domain;
    _Atomic(struct osc_itt_counter_entry *) counter;
    _Atomic int32_t number; /* as an event or a mark, from 1; 0: it has none */
    char bytes[];           /* and a NUL */
};

/* The entry of LEN bytes at S, never NULL. */
struct osc_itt_text *osc_itt_text(const char *s, size_t len);

/* The same of a string that ends with NUL; NULL is the empty one. */
struct osc_itt_text *osc_itt_text_c(const char *s);

/* Zeroed memory that stays, or NULL. BYTES are rounded up to cache lines. */
void *osc_itt_room(size_t bytes);

/* The recorder's name for TEXT. */
static inline osc_name osc_itt_name(struct osc_itt_text *text)
{
    /* Relaxed: a number that means the same to every thread. */
    osc_name name = atomic_load_explicit(&text->name, memory_order_relaxed);

    if (__builtin_expect(name == 0, 0) && text->len > 0) {
        name = osc_name_of(text->bytes, text->len);
        atomic_store_explicit(&text->name, name, memory_order_relaxed);
    }
    return name;
}

/* The entry behind a client's string handle; NULL is the empty text. */
struct osc_itt_text *osc_itt_text_adopt(struct osc_itt_string *handle);

static inline struct osc_itt_text *osc_itt_text_of(struct osc_itt_string *handle)
{
    if (__builtin_expect(handle && handle->extra1 == OSC_ITT_OURS, 1))
        return handle->extra2;
    return osc_itt_text_adopt(handle);
}

/* The domain called TEXT; NULL without memory. */
struct osc_itt_domain_entry *osc_itt_domain(struct osc_itt_text *text);

/* The entry behind a client's domain, of any static part. NULL if D is, or without memory. */
struct osc_itt_domain_entry *osc_itt_domain_adopt(struct osc_itt_domain *d);

static inline struct osc_itt_domain_entry *osc_itt_domain_of(struct osc_itt_domain *d)
{
    if (__builtin_expect(d && d->extra1 == OSC_ITT_OURS, 1))
        return d->extra2;
    return osc_itt_domain_adopt(d);
}
