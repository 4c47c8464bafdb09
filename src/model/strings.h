/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.h - the strings of a trace, shared by the threads that load it.
 *
 * Sixteen interning tables behind sixteen locks. The hash of a string selects its table, so
 * threads seldom contend; readers cache the ids of frequent strings and come here for the
 * rest.
 *
 *   - Id 0 is the empty string. Ids are nearly dense; their order has no meaning.
 *   - The table owns copies of the bytes, except those of adopted strings, which must live as
 *     long as it does.
 *   - The bytes of a string never move: a pointer to them is valid as long as the
 *     table exists.
 *
 * Threading: osc_strings_add() is thread-safe. osc_strings_get() may be called when no thread
 * adds any more, and for strings that the calling thread has added.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"

#define OSC_STRINGS_SHARD_SHIFT 4
#define OSC_STRINGS_SHARDS      (1u << OSC_STRINGS_SHARD_SHIFT)

struct osc_strings_shard {
    pthread_mutex_t lock;
    struct osc_arena arena;
    struct osc_intern intern;
};

struct osc_strings {
    struct osc_strings_shard *shards; /* owned, or NULL */

    /* Adopted strings: ids below n_adopted; string i lies from starts[i] to the NUL before
     * starts[i + 1]. */
    const uint64_t *starts; /* borrowed; n_adopted + 1 of them */
    const char *bytes;      /* borrowed */
    uint32_t n_adopted;
    uint32_t *slots; /* owned; hash -> id, linear probing, 0 is free; NULL: no index yet */
    uint32_t n_slots;
};

OSC_MUST_USE osc_status osc_strings_init(struct osc_strings *s);
void osc_strings_fini(struct osc_strings *s);

/*
 * Adopt N strings, below 2^32 - 2^20, that lie elsewhere, with their ids; the first is empty.
 * S has just been initialised. Until osc_strings_index() is called they are not found, and
 * adding one of them gives it a second id.
 */
void osc_strings_adopt(struct osc_strings *s, const uint64_t *starts, const char *bytes,
                       uint32_t n);
OSC_MUST_USE osc_status osc_strings_index(struct osc_strings *s);

struct osc_strings_place {
    const char *bytes; /* the final address */
    bool is_new;       /* the string was added by this call */
};

/* Find or copy STR. *PLACE (may be NULL) receives its address. */
OSC_MUST_USE osc_status osc_strings_add(struct osc_strings *s, struct osc_str str, osc_sid *id,
                                        struct osc_strings_place *place);

/* The id of STR, or 0 if it is absent. */
osc_sid osc_strings_find(const struct osc_strings *s, struct osc_str str);

struct osc_str osc_strings_get(const struct osc_strings *s, osc_sid id);

/* Whether a string has this id: ids have gaps. */
bool osc_strings_has(const struct osc_strings *s, osc_sid id);

/* The largest id plus one: the length of an array indexed by id. */
uint32_t osc_strings_bound(const struct osc_strings *s);

/* Bytes of text and tables, for benchmarks. */
uint64_t osc_strings_bytes(const struct osc_strings *s);
