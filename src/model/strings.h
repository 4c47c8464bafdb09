/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.h - the strings of a trace, shared by the threads that load it.
 *
 * Sixteen interning tables behind sixteen locks. The table of a string goes by
 * its hash, so that threads seldom meet; readers keep the ids of frequent strings
 * in caches of their own and come here for the rest.
 *
 *   - Id 0 is the empty string. Ids are nearly dense and say nothing about order.
 *   - The bytes of a string never move: a pointer got under an id stays good as
 *     long as the table lives.
 *
 * Threading: osc_strings_add() is thread-safe. osc_strings_get() is for the time
 * when nobody adds any more, and for strings this very thread has added.
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

    /* Adopted: ids below n_adopted, string i from starts[i] on, a NUL before starts[i + 1]. */
    const uint64_t *starts; /* borrowed; n_adopted + 1 of them */
    const char *bytes;      /* borrowed */
    uint32_t n_adopted;
    uint32_t *slots; /* owned; hash -> id, linear probing, 0 is free; NULL: not indexed */
    uint32_t n_slots;
};

OSC_MUST_USE osc_status osc_strings_init(struct osc_strings *s);
void osc_strings_fini(struct osc_strings *s);

/*
 * Take over N strings that lie elsewhere, below 2^32 - 2^20, with their ids; the first
 * is empty. S is just initialised. They are found only once osc_strings_index() has
 * been called: until then adding one of them makes a second id of it.
 */
void osc_strings_adopt(struct osc_strings *s, const uint64_t *starts, const char *bytes,
                       uint32_t n);
OSC_MUST_USE osc_status osc_strings_index(struct osc_strings *s);

struct osc_strings_place {
    const char *bytes; /* where they stay */
    bool is_new;       /* it was not there before */
};

/* Find or copy STR. *PLACE (may be NULL) tells more about it. */
OSC_MUST_USE osc_status osc_strings_add(struct osc_strings *s, struct osc_str str, osc_sid *id,
                                        struct osc_strings_place *place);

/* The id of STR if it is there, else 0. */
osc_sid osc_strings_find(const struct osc_strings *s, struct osc_str str);

struct osc_str osc_strings_get(const struct osc_strings *s, osc_sid id);

/* Whether there is a string of that id: the ids are not quite dense. */
bool osc_strings_has(const struct osc_strings *s, osc_sid id);

/* One more than the largest id: the length of an array over ids. */
uint32_t osc_strings_bound(const struct osc_strings *s);

/* Bytes of text and of tables, for benches. */
uint64_t osc_strings_bytes(const struct osc_strings *s);
