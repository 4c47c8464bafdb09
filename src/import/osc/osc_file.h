/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osc_file.h - the chunks of an .osc file, whatever they contain.
 *
 * Common to recordings (record chunks) and exports (column chunks): the file header, the index
 * or a walk from header to header, and recovery after damage.
 *
 *   - The index is used if it is intact: its hash and that of every header in it are right,
 *     and its entries are contiguous. Then opening reads nothing else. Otherwise the chunks
 *     are walked.
 *   - If a walk meets a damaged header, it continues at the next intact one, at a multiple
 *     of 64. The bytes in between are a gap; the headers around it tell how many records it
 *     held, and when they were made (n_before, n_items, times).
 *   - Payloads are read and checked only when they are requested.
 *   - Files that continue this one can be appended: their chunks and gaps follow, with
 *     offsets as if all were one file, and n_before continues.
 *   - Numbers in headers are not trusted, with one exception: it is checked that a payload
 *     lies within the file.
 *
 * Threading: opened and closed by one thread; in between any number may read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "codec/inflate.h"
#include "import/bytes/input.h"
#include "model/trace.h"
#include "wire/chunk.h"

/* A file of at most this many bytes is read as a whole when it is opened. */
#define OSC_FILE_SMALL_BYTES ((size_t)16 << 10)

/* Bytes that belong to no chunk, before chunk `next` of the file. */
struct osc_file_gap {
    uint64_t offset, n_bytes;
    size_t next;
    bool is_cut; /* an intact header, but the file ends before the end of its payload */
};

struct osc_file {
    struct osc_input *in;      /* borrowed */
    const unsigned char *data; /* the whole file if it is in memory, else NULL */
    struct osc_pages pages;    /* owned: the content if it cannot be read at offsets; may be
                                * moved out */
    uint64_t size;
    struct osc_file_header header;
    bool header_is_good; /* otherwise its numbers are meaningless, but the chunks may be
                          * intact */
    bool has_index;      /* the chunks come from the index, so the file was finished */
    struct osc_wire_index_entry *chunks; /* owned; in the order of the file; INDEX left out */
    size_t n_chunks;
    struct osc_file_gap *gaps; /* owned; in order of the file */
    size_t n_gaps;
    size_t cap_chunks, cap_gaps;
    struct osc_file *later; /* owned; appended to this one */
    size_t n_later, cap_later;
    uint64_t at; /* for an appended file: where it begins */
};

/* Whether GAP is an incomplete last chunk. It was just being written if the file has a live
 * directory. */
bool osc_file_is_torn(const struct osc_file *f, const struct osc_file_gap *gap);

/* How well the first bytes of a text fit: 0 or 100, and 90 if one byte of the magic is
 * damaged. */
int osc_file_probe(const char *head, size_t len);

/*
 * Find the chunks of IN, whose compression is INFLATE. An input that cannot be read at offsets
 * (a pipe, anything compressed) is copied to memory first. F is zeroed; call osc_file_close()
 * even after a failure. Damage is not a failure, but an unknown version is.
 */
OSC_MUST_USE osc_status osc_file_open(struct osc_file *f, struct osc_input *in,
                                      enum osc_inflate_format inflate, struct osc_err *err);
void osc_file_close(struct osc_file *f);

/* Append the file IN, which is borrowed until F is closed. Statuses as for osc_file_open(). */
OSC_MUST_USE osc_status osc_file_append(struct osc_file *f, struct osc_input *in,
                                        struct osc_err *err);

/* The index of the file that contains OFFSET, 0 for the first. *OFFSET becomes relative to
 * it. */
size_t osc_file_find(const struct osc_file *f, uint64_t *offset);

/* Whether the file has columns (an export), not records (a recording): `info` shows it. */
bool osc_file_has_columns(const struct osc_file *f);

/* Whether there is a chunk of TYPE. */
bool osc_file_has(const struct osc_file *f, uint16_t type);

/* Read LEN bytes at OFFSET. OSC_EFORMAT: the file ends before; OSC_EIO: reading failed. */
OSC_MUST_USE osc_status osc_file_read(const struct osc_file *f, uint64_t offset, void *to,
                                      size_t len);

/*
 * Read the payload of chunk I into *BUFFER of *CAP bytes, which grows; the caller frees it
 * with osc_free(). OSC_EFORMAT: its hash is wrong, or the file has become shorter.
 */
OSC_MUST_USE osc_status osc_file_payload(const struct osc_file *f, size_t i,
                                         unsigned char **buffer, size_t *cap);

/* The same into TO, which has room for it. */
OSC_MUST_USE osc_status osc_file_payload_to(const struct osc_file *f, size_t i, void *to);
