/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.h - one entry for each distinct name that clients of sources use.
 *
 * PyTorch asks for a name at every event, so finding one takes no lock and no allocation. Equal
 * texts have one entry.
 *
 *   - Entries hold a copy of the text: clients free theirs. Entries are never freed; a source's
 *     view of one is made once, at first use.
 *   - If memory runs out or OSC_SOURCE_MEMORY_MAX is reached, all new texts share one entry.
 *
 * Threading: thread-safe, without locks; entries are read-only except for their atomics.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opscope/record.h"

#define OSC_TEXT_LEN_MAX ((size_t)1 << 20) /* longer ones are cut */

/* What sources know of something that is called so. */
enum osc_text_view {
    OSC_TEXT_ITT_STRING,
    OSC_TEXT_ITT_DOMAIN,
    OSC_TEXT_ITT_COUNTER,
    OSC_TEXT_NVTX_DOMAIN,
    OSC_TEXT_VIEW_COUNT
};

struct osc_text {
    _Atomic uint32_t name;  /* the recorder's; 0: not interned yet, or the empty text */
    bool is_operator;       /* the text looks like "namespace::name" */
    _Atomic int32_t number; /* as an event or a mark of ITT, from 1; 0: none */
    _Atomic uint32_t
        kernel; /* the recorder's name of the kernel with this symbol; 0: none yet */
    uint64_t hash;
    size_t len;
    _Atomic(struct osc_text *) next; /* with the same hash */
    _Atomic(void *) views[OSC_TEXT_VIEW_COUNT];
    char bytes[]; /* with a NUL at the end */
};

/* The entry of the LEN bytes at S; never NULL. */
struct osc_text *osc_text_find(const char *s, size_t len);

/* The entry of a string that ends with NUL; NULL counts as the empty string. */
struct osc_text *osc_text_find_c(const char *s);

/* Whether the LEN bytes at S are an identifier, "::" and at least one more byte. */
bool osc_text_reads_as_operator(const char *s, size_t len);

/* The recorder's name for TEXT. */
static inline osc_name osc_text_name(struct osc_text *text)
{
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(&text->name, memory_order_relaxed);

    if (__builtin_expect(name == 0, 0) && text->len > 0) {
        name = osc_name_of(text->bytes, text->len);
        atomic_store_explicit(&text->name, name, memory_order_relaxed);
    }
    return name;
}

/* The recorder's name for a literal, interned once for each place where this stands. */
#define OSC_SOURCE_NAME(literal)                   \
    __extension__({                                \
        static osc_name name_;                     \
        osc_name_once(&name_, literal);            \
        __atomic_load_n(&name_, __ATOMIC_RELAXED); \
    })

/* The view VIEW of TEXT; NULL: nobody has set it. */
static inline void *osc_text_view(struct osc_text *text, enum osc_text_view view)
{
    /* Acquire pairs with the release in osc_text_set_view(). */
    return atomic_load_explicit(&text->views[view], memory_order_acquire);
}

/* Set the view VIEW of TEXT to MADE unless it is set. Returns which it is. */
void *osc_text_set_view(struct osc_text *text, enum osc_text_view view, void *made);
