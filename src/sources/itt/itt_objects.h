/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt_objects.h - the strings, domains and counters that clients of ITT hold.
 *
 * Each leads to the entry of its text: an object that a static part made before it loaded us
 * leads to the same entry as ours of that name.
 *
 * Threading: thread-safe, without locks; objects are never freed.
 */
#pragma once

#include "sources/itt/itt_abi.h"
#include "sources/source_text.h"

/* Our view of a domain; extra2 of the client's domain object points here. */
struct osc_itt_domain_entry {
    struct osc_itt_domain abi; /* what clients get */
    struct osc_text *text;
    uint16_t number; /* differs between domains; 65,535 for all from the 65,535th on */
    bool is_pytorch;
};

struct osc_itt_counter_entry {
    struct osc_itt_counter abi;
    struct osc_text *text;
    _Atomic int64_t sum; /* of increments and decrements */
};

/* What clients get as the handle of TEXT. */
struct osc_itt_string *osc_itt_string_of(struct osc_text *text);

/* The entry of a client's string handle; NULL counts as the empty text. */
struct osc_text *osc_itt_text_adopt(struct osc_itt_string *handle);

static inline struct osc_text *osc_itt_text_of(struct osc_itt_string *handle)
{
    if (__builtin_expect(handle && handle->extra1 == OSC_ITT_OURS, 1))
        return handle->extra2;
    return osc_itt_text_adopt(handle);
}

/* The domain called TEXT; NULL without memory. */
struct osc_itt_domain_entry *osc_itt_domain(struct osc_text *text);

/* The entry of a client's domain from any static part; NULL if D is NULL, or without memory. */
struct osc_itt_domain_entry *osc_itt_domain_adopt(struct osc_itt_domain *d);

static inline struct osc_itt_domain_entry *osc_itt_domain_of(struct osc_itt_domain *d)
{
    if (__builtin_expect(d && d->extra1 == OSC_ITT_OURS, 1))
        return d->extra2;
    return osc_itt_domain_adopt(d);
}
