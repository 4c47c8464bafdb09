/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flatbuffer.h - write FlatBuffers (flatbuffers.dev/internals), as messages of Arrow need them.
 *
 * Whatever refers to something is written before it, so that nothing is kept: a table has zeros
 * until its fields are set, and each text, vector and table is told from where it is referred
 * to.
 *
 *     struct osc_flat f = osc_flat_begin(out);
 *     const size_t root = osc_flat_table(&f, OSC_FLAT_ROOT, (const uint8_t[]){2, 4}, 2);
 *
 *     osc_flat_set(&f, root, 0, 4, 2);
 *     osc_flat_text(&f, osc_flat_field(&f, root, 1), OSC_STR("name"));
 *     osc_flat_end(&f);
 *
 * Places are offsets from the beginning. The machine is little-endian, as the bytes are. A
 * failure is in the status of OUT.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/strbuf.h"

/* The place that refers to the first table. */
#define OSC_FLAT_ROOT ((size_t)0)

struct osc_flat {
    struct osc_strbuf *out; /* borrowed */
    size_t from;            /* where it begins in OUT */
};

/* Begin at the end of OUT, whose length is a multiple of 8. */
struct osc_flat osc_flat_begin(struct osc_strbuf *out);

/*
 * Add a table to which PLACE refers, with N fields of SIZES bytes: 1, 2, 4 (also what refers to
 * something) or 8, or 0 for a field that is left out. Returns its place.
 */
size_t osc_flat_table(struct osc_flat *f, size_t place, const uint8_t *sizes, uint16_t n);

/* The place of FIELD of TABLE, which has it. */
size_t osc_flat_field(const struct osc_flat *f, size_t table, uint16_t field);

/* Set FIELD of TABLE, which has SIZE bytes, to VALUE. */
void osc_flat_set(struct osc_flat *f, size_t table, uint16_t field, int64_t value,
                  uint8_t size);

/* Add a text to which PLACE refers. */
void osc_flat_text(struct osc_flat *f, size_t place, struct osc_str s);

/* Add a vector to which PLACE refers, of N elements that refer to something. Returns the place
 * of the first; each other one is 4 bytes on. */
size_t osc_flat_vector(struct osc_flat *f, size_t place, uint32_t n);

/* Add a vector to which PLACE refers, of N pairs of numbers of 8 bytes. */
void osc_flat_pairs(struct osc_flat *f, size_t place, const int64_t (*pairs)[2], uint32_t n);

/* Fill up to a multiple of 8 bytes. */
void osc_flat_end(struct osc_flat *f);
