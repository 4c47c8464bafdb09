/* SPDX-License-Identifier: Apache-2.0 */
/*
 * osc_file.h - the chunks of an .osc file, whatever is in them.
 *
 * What recordings (record chunks) and exports (column chunks) share: the file header,
 * the index or else a walk from header to header, and the way around damage.
 *
 *   - The index is taken if it is whole: its hash, that of every header in it, and its
 *     entries follow each other without a hole. Then nothing else is read at opening.
 *     Else the chunks are walked.
 *   - Where a walk meets a header that is damaged, it goes on at the next good one, at a
 *     multiple of 64. What lies between is a gap; how many records it held, and when, say
 *     the headers around it (n_before, n_items, times).
 *   - Payloads are read and checked when they are asked for, never before.
 *   - Files that go on from this one can be appended: their chunks and gaps follow, with
 *     offsets as if all were one file, and n_before counts on.
 *   - Numbers in headers are those of a stranger but for one: a payload lies within the
 *     file.
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

/* Bytes that belong to no chunk, before chunk `next` of the file. */
struct osc_file_gap {
    uint64_t offset, n_bytes;
    size_t next;
    bool is_cut; /* a good header whose payload the file does not have: it ends before */
};

struct osc_file {
    struct osc_input *in;      /* borrowed */
    const unsigned char *data; /* all of it, if it is in memory; else NULL */
    struct osc_pages pages;    /* owned: of what cannot be read at an offset; may be taken */
    uint64_t size;
    struct osc_file_header header;
    bool header_is_good; /* else its numbers mean nothing, but the chunks may be whole */
    bool has_index;      /* the chunks come from the index: the file was finished */
    struct osc_wire_index_entry *chunks; /* owned; in order of the file; without INDEX */
    size_t n_chunks;
    struct osc_file_gap *gaps; /* owned; in order of the file */
    size_t n_gaps;
    size_t cap_chunks, cap_gaps;
    struct osc_file *later; /* owned; appended to this one */
    size_t n_later, cap_later;
    uint64_t at; /* of an appended one: where it begins */
};

/* Whether GAP is the beginning of a chunk that the file ends in: being written just then, if
 * what is being recorded lies beside the file. */
bool osc_file_is_torn(const struct osc_file *f, const struct osc_file_gap *gap);

/* How well the first bytes of a text fit: 0 or 100, and 90 if one of the magic is damaged. */
int osc_file_probe(const char *head, size_t len);

/*
 * Find the chunks of IN, compressed as INFLATE says. What cannot be read at offsets (a
 * pipe, anything compressed) is brought into memory first. F is zeroed; on failure it is
 * to be closed as well. Damage is no failure, but a version that we do not know is.
 */
OSC_MUST_USE osc_status osc_file_open(struct osc_file *f, struct osc_input *in,
                                      enum osc_inflate_format inflate, struct osc_err *err);
void osc_file_close(struct osc_file *f);

/* Append what is in IN, which is borrowed like that of F, until F is closed. As
 * osc_file_open(). */
OSC_MUST_USE osc_status osc_file_append(struct osc_file *f, struct osc_input *in,
                                        struct osc_err *err);

/* The file that holds OFFSET: 0 the first, and so on. *OFFSET becomes that in it. */
size_t osc_file_find(const struct osc_file *f, uint64_t *offset);

/* The file has columns (export), not records (a recorder): what `info` tells apart. */
bool osc_file_has_columns(const struct osc_file *f);

/* There is a chunk of TYPE. */
bool osc_file_has(const struct osc_file *f, uint16_t type);

/* LEN bytes at OFFSET. OSC_EFORMAT: the file ends before; OSC_EIO: it cannot be read. */
OSC_MUST_USE osc_status osc_file_read(const struct osc_file *f, uint64_t offset, void *to,
                                      size_t len);

/*
 * Read the payload of chunk I into *BUFFER of *CAP bytes, which grows; the caller frees it
 * with osc_free(). OSC_EFORMAT: its hash is wrong, or the file has become shorter.
 */
OSC_MUST_USE osc_status osc_file_payload(const struct osc_file *f, size_t i,
                                         unsigned char **buffer, size_t *cap);
