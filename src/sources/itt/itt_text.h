/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_text.h - one entry for each distinct name that clients use.
 *
 * PyTorch asks for a string handle at every event, so finding one takes no lock and no
 * allocation. Equal texts have one entry: an object that a static part made before it loaded us
 * leads to the same entry as ours of that name.
 *
 *   - Entries hold a copy of the text: clients free theirs. Entries are never freed; the
 *     domain, counter and number of one are made once, at first use.
 *   - If memory runs out or OSC_SOURCE_ROOM_MAX is reached, all new texts share one entry.
 *
 * Threading: thread-safe, without locks; entries are read-only except for their atomics.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "opscope/record.h"
#include "sources/itt/itt_abi.h"

#define OSC_ITT_TEXT_LEN_MAX ((size_t)1 << 20) /* longer ones are cut */

/* Our view of a domain; extra2 of the client's domain object points here. */
struct osc_itt_domain_entry {
    struct osc_itt_domain abi; /* what clients get */
    struct osc_itt_text *text;
    uint16_t number; /* differs between domains; 65,535 for all from the 65,535th on */
    bool is_pytorch;
};

struct osc_itt_counter_entry {
    struct osc_itt_counter abi;
    struct osc_itt_text *text;
    _Atomic int64_t sum; /* of increments and decrements */
};

struct osc_itt_text {
    struct osc_itt_string handle; /* what clients get */
    _Atomic uint32_t name;        /* the recorder's; 0: not interned yet, or the empty text */
    bool is_operator;             /* the text looks like "namespace::name" */
    uint64_t hash;
    size_t len;
    _Atomic(struct osc_itt_text *) next; /* with the same hash */
    _Atomic(struct osc_itt_domain_entry *) domain;
    _Atomic(struct osc_itt_counter_entry *) counter;
    _Atomic int32_t number; /* as an event or a mark, from 1; 0: none */
    char bytes[];           /* with a NUL at the end */
};

/* The entry of the LEN bytes at S; never NULL. */
struct osc_itt_text *osc_itt_text(const char *s, size_t len);

/* The entry of a string that ends with NUL; NULL counts as the empty string. */
struct osc_itt_text *osc_itt_text_c(const char *s);

/* The recorder's name for TEXT. */
static inline osc_name osc_itt_name(struct osc_itt_text *text)
{
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(&text->name, memory_order_relaxed);

    if (__builtin_expect(name == 0, 0) && text->len > 0) {
        name = osc_name_of(text->bytes, text->len);
        atomic_store_explicit(&text->name, name, memory_order_relaxed);
    }
    return name;
}

/* The entry of a client's string handle; NULL counts as the empty text. */
struct osc_itt_text *osc_itt_text_adopt(struct osc_itt_string *handle);

static inline struct osc_itt_text *osc_itt_text_of(struct osc_itt_string *handle)
{
    if (__builtin_expect(handle && handle->extra1 == OSC_ITT_OURS, 1))
        return handle->extra2;
    return osc_itt_text_adopt(handle);
}

/* The domain called TEXT; NULL without memory. */
struct osc_itt_domain_entry *osc_itt_domain(struct osc_itt_text *text);

/* The entry of a client's domain from any static part; NULL if D is NULL, or without memory. */
struct osc_itt_domain_entry *osc_itt_domain_adopt(struct osc_itt_domain *d);

static inline struct osc_itt_domain_entry *osc_itt_domain_of(struct osc_itt_domain *d)
{
    if (__builtin_expect(d && d->extra1 == OSC_ITT_OURS, 1))
        return d->extra2;
    return osc_itt_domain_adopt(d);
}
