/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.h - make gzip of blocks that are compressed separately.
 *
 *   header | block | block | ... | trailer
 *
 * Each block is compressed by itself, ends at a byte and refers to nothing before it. So
 * threads can make blocks at the same time, and the caller writes them one after the other. The
 * result is one gzip member, because browsers, unlike gzip, stop reading after the first.
 *
 *   - The caller that joins the blocks keeps a struct osc_deflate_sum of their text.
 *
 * Threading: a compressor belongs to one thread; the others are plain values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_DEFLATE_HEADER_BYTES  10
#define OSC_DEFLATE_TRAILER_BYTES 10

struct osc_deflate;

enum osc_deflate_way {
    OSC_DEFLATE_QUICK, /* for answers, which somebody waits for (ISA-L) */
    OSC_DEFLATE_SMALL, /* for files: smaller than those of gzip -6 (libdeflate) */
};

/* Whether this build can compress; if not, osc_deflate_new() fails with OSC_EINVAL. */
bool osc_deflate_is_there(void);

/* *Z is NULL on failure. It holds some 400 KiB, for small blocks 1 MiB. */
OSC_MUST_USE osc_status osc_deflate_new(enum osc_deflate_way way, struct osc_deflate **z);
void osc_deflate_free(struct osc_deflate *z); /* NULL is allowed */

/*
 * Compress LEN bytes at S to a block. *OUT is borrowed and valid until the next call.
 * OSC_ELIMIT beyond 1 GiB.
 */
OSC_MUST_USE osc_status osc_deflate_block(struct osc_deflate *z, const char *s, size_t len,
                                          const char **out, size_t *out_len);

/* The length and checksum of the text, for the trailer. Zeroed, the text is empty. */
struct osc_deflate_sum {
    uint32_t crc; /* CRC-32 of RFC 1952, section 8 */
    uint64_t n_bytes;
};

void osc_deflate_sum_add(struct osc_deflate_sum *sum, const char *s, size_t len);

/* Write the bytes before the first block and those after the last one. */
void osc_deflate_header(char out[OSC_DEFLATE_HEADER_BYTES]);
void osc_deflate_trailer(const struct osc_deflate_sum *sum,
                         char out[OSC_DEFLATE_TRAILER_BYTES]);
