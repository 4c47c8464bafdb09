/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - one small dense id per distinct string.
 *
 * A trace repeats a few thousand names millions of times. Columns store the
 * 4-byte id instead of the name, and equal names are equal integers.
 *
 *   - Ids count up from 1 in order of first sight and are never reused. Id 0 is
 *     the empty string, so zeroed memory reads as "no name".
 *   - Names are bytes with a length: not terminated, not always UTF-8, and NUL
 *     is a byte like any other.
 *   - The bytes live in a borrowed arena. Their addresses are good until that
 *     arena is finished, however much the table grows.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* A struct, so that the compiler refuses a row number where a name belongs. */
typedef struct osc_sid {
    uint32_t v;
} osc_sid;

/* A zeroed struct with arena and seed set is an empty table. */
struct osc_intern {
    struct osc_arena *arena;          /* borrowed; holds the bytes of the strings */
    uint64_t seed;                    /* random, so that no file can make names collide */
    struct osc_intern_entry *entries; /* owned; the string of id i is entries[i - 1] */
    uint32_t *slots;                  /* owned; hash -> id, linear probing, 0 is free */
    uint32_t n_entries;               /* at most n_slots / 2, the room in entries */
    uint32_t n_slots;                 /* a power of two, or 0 */
};

/* Free the table but not the arena, and leave it empty. */
void osc_intern_fini(struct osc_intern *in);

/*
 * Find STR, or add a copy of it. On OSC_ENOMEM and OSC_ELIMIT the table is unchanged, and *ID
 * is 0.
 */
OSC_MUST_USE osc_status osc_intern_add(struct osc_intern *in, struct osc_str str, osc_sid *id);

/* The id of STR, or 0 if it is absent. */
osc_sid osc_intern_find(const struct osc_intern *in, struct osc_str str);

/* osc_intern_add() for callers that have computed HASH already: osc_hash() of STR with the
 * seed of IN. */
OSC_MUST_USE osc_status osc_intern_add_hashed(struct osc_intern *in, struct osc_str str,
                                              uint64_t hash, osc_sid *id);
osc_sid osc_intern_find_hashed(const struct osc_intern *in, struct osc_str str, uint64_t hash);

/* Borrow the string of ID. */
struct osc_str osc_intern_str(const struct osc_intern *in, osc_sid id);
