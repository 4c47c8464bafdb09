/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate.h - read gzip and zstd as one stream of bytes.
 *
 * Traces are often compressed, sometimes in several members (gzip) or frames (zstd) one after
 * the other, and some are cut because their writer died. The caller gets all bytes that can be
 * decoded, piece by piece, and then the reason why there are no more.
 *
 *   - Memory does not depend on the input: about 200 KiB for gzip; for zstd the window of the
 *     file, which is refused above 128 MiB or osc_mem_room().
 *   - The output before an error is good. (If the checksum of a member is wrong, its text was
 *     returned already; the error says so.)
 *   - After the last member, zero bytes are padding and anything else is garbage. Both are
 *     skipped and counted, and are not errors.
 *   - The size of the pieces does not change the decoded bytes, except for a few more or less
 *     right before an error.
 *
 * Threading: not locked; one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum osc_inflate_format {
    OSC_INFLATE_NONE, /* not compressed, judged by the first bytes */
    OSC_INFLATE_GZIP,
    OSC_INFLATE_ZSTD,
};

enum osc_inflate_state {
    OSC_INFLATE_MORE,          /* call again with more input or more room, whichever ran out */
    OSC_INFLATE_END_OF_MEMBER, /* its checksum was right; call again for the next */
    OSC_INFLATE_END,           /* of all members; only if .is_last is set */
    OSC_INFLATE_ERROR,         /* permanent: every further call returns the same error */
};

/* Buffers of the caller. A call advances the pointers and reduces the counts. */
struct osc_inflate_io {
    const unsigned char *in; /* borrowed */
    size_t n_in;
    unsigned char *out; /* borrowed */
    size_t n_out;
    bool is_last; /* the input ends after .n_in bytes */
};

struct osc_inflate_info {
    uint64_t in_bytes;       /* consumed, including padding and garbage */
    uint64_t out_bytes;      /* produced */
    uint64_t padding_bytes;  /* zeros between and after members */
    uint64_t garbage_bytes;  /* other bytes after the last member */
    uint64_t garbage_offset; /* where they begin, if there are any */
    uint32_t n_members;      /* complete ones; skippable frames count */
};

struct osc_inflate;

/* The format by the first LEN bytes of a file; 4 are enough. */
enum osc_inflate_format osc_inflate_probe(const void *head, size_t len);

/* *Z is NULL on failure: OSC_ENOMEM, or OSC_EINVAL if built without FORMAT. */
OSC_MUST_USE osc_status osc_inflate_new(struct osc_inflate **z, enum osc_inflate_format format,
                                        struct osc_err *err);
void osc_inflate_free(struct osc_inflate *z); /* NULL is allowed */

/*
 * Decode until the input is used up, the output is full, or a member ends. Every call makes
 * progress if it has room, and input or .is_last. On OSC_INFLATE_ERROR, ERR is set to
 * OSC_ETRUNC (cut), OSC_EFORMAT (damaged), OSC_ELIMIT (window too large) or OSC_ENOMEM, with
 * the offset in the compressed bytes.
 */
enum osc_inflate_state osc_inflate_run(struct osc_inflate *z, struct osc_inflate_io *io,
                                       struct osc_err *err);

/* Borrow the counts so far. */
const struct osc_inflate_info *osc_inflate_info(const struct osc_inflate *z);
