/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_names.h - map the names of a recording, offsets in its string log, to string ids.
 *
 * The log comes in pieces, from chunks of the file and from the live directory. An entry
 * is looked up, and its hash checked, when a record first uses it.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/build/builder.h"

/* Bytes of the log from an offset on. */
struct osc_records_piece {
    char *bytes; /* owned */
    uint64_t offset;
    size_t n_bytes;
};

#define OSC_RECORDS_NAME_CACHE 4096u

/* An argument as a slot and its words. */
struct osc_records_value {
    osc_sid key;
    enum osc_arg_type type;
    uint64_t bits;
};

/* Zeroed except for builder, it is empty. */
struct osc_records_names {
    struct osc_builder *builder; /* borrowed */
    struct osc_records_piece *pieces;
    size_t n_pieces, cap_pieces;
    struct osc_idmap known;           /* name -> id */
    struct osc_idmap categories;      /* name -> id of its category, of those that have one */
    struct osc_idmap lists;           /* name of pairs -> index of its first value + 1 */
    struct osc_records_value *values; /* owned; for each list its length (in bits), then they */
    size_t n_values, cap_values;
    struct {
        uint32_t name, id;
    } cache[OSC_RECORDS_NAME_CACHE];
    uint64_t n_lost; /* names whose entry is missing or damaged */
};

/* Copy N_BYTES of the log from OFFSET on. */
OSC_MUST_USE osc_status osc_records_names_add(struct osc_records_names *n, uint64_t offset,
                                              const void *bytes, size_t n_bytes);

/* Call this after all pieces were added. */
void osc_records_names_sort(struct osc_records_names *n);
void osc_records_names_fini(struct osc_records_names *n);

/* Get the bytes of NAME; false: its entry is missing or damaged. */
bool osc_records_names_text(const struct osc_records_names *n, uint32_t name,
                            struct osc_str *text);

osc_sid osc_records_name_slowly(struct osc_records_names *n, uint32_t name);

/* The id of NAME. If the name is lost, the id of "name NUMBER"; the loss is counted once. */
static inline osc_sid osc_records_name(struct osc_records_names *n, uint32_t name)
{
    const uint32_t at = name % OSC_RECORDS_NAME_CACHE;

    return n->cache[at].name == name ? (osc_sid){n->cache[at].id}
                                     : osc_records_name_slowly(n, name);
}

/* The category of NAME, whose id was asked for; the empty string: it has none. */
static inline osc_sid osc_records_category(const struct osc_records_names *n, uint32_t name)
{
    return (osc_sid){__builtin_expect(n->categories.n_used == 0, 1)
                         ? 0
                         : osc_idmap_get(&n->categories, name)};
}
