/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate.h - gzip and zstd as one stream of bytes.
 *
 * A trace is often compressed, sometimes in several members (gzip) or frames
 * (zstd) written one after the other, and not seldom cut when its writer died.
 * Readers above get what can be decoded, chunk by chunk, and then the reason why
 * there is no more.
 *
 *   - Memory does not depend on the input: some 200 KiB for gzip; for zstd the
 *     window of the file, which is refused above 128 MiB or what osc_mem_room() is.
 *   - What was written to the output before an error is good. (A member whose
 *     checksum fails was handed out already; the error says so.)
 *   - After the last member, zero bytes are padding and anything else is
 *     garbage: both are skipped and counted, and are no error.
 *   - In what pieces the bytes come makes no difference to what is decoded, but
 *     for a few bytes more or less right before an error.
 *
 * Threading: not locked; one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum osc_inflate_format {
    OSC_INFLATE_NONE, /* not compressed, as far as the first bytes tell */
    OSC_INFLATE_GZIP,
    OSC_INFLATE_ZSTD,
};

enum osc_inflate_state {
    OSC_INFLATE_MORE,          /* call again, with more input or room, whichever ran out */
    OSC_INFLATE_END_OF_MEMBER, /* its checksum was right; call again for the next */
    OSC_INFLATE_END,           /* of all; only when .is_last was set */
    OSC_INFLATE_ERROR,         /* for good; the same error again on every call */
};

/* Buffers of the caller. A call moves the pointers on and the counts down. */
struct osc_inflate_io {
    const unsigned char *in; /* borrowed */
    size_t n_in;
    unsigned char *out; /* borrowed */
    size_t n_out;
    bool is_last; /* after .n_in the input ends */
};

struct osc_inflate_info {
    uint64_t in_bytes;       /* consumed, padding and garbage included */
    uint64_t out_bytes;      /* produced */
    uint64_t padding_bytes;  /* zeros between and after members */
    uint64_t garbage_bytes;  /* other bytes after the last member */
    uint64_t garbage_offset; /* where they begin, if there are any */
    uint32_t n_members;      /* complete ones; skippable frames count */
};

struct osc_inflate;

/* What the first LEN bytes of a file say; 4 are enough. */
enum osc_inflate_format osc_inflate_probe(const void *head, size_t len);

/* *Z is NULL on failure: OSC_ENOMEM, or OSC_EINVAL if built without FORMAT. */
OSC_MUST_USE osc_status osc_inflate_new(struct osc_inflate **z, enum osc_inflate_format format,
                                        struct osc_err *err);
void osc_inflate_free(struct osc_inflate *z); /* NULL is allowed */

/*
 * Decode until the input is used up, the output is full, or a member ends. Given
 * room, and input or .is_last, every call gets on. ERR is filled on
 * OSC_INFLATE_ERROR: OSC_ETRUNC (cut), OSC_EFORMAT (damaged), OSC_ELIMIT (window
 * too large) or OSC_ENOMEM, with the offset in the compressed bytes.
 */
enum osc_inflate_state osc_inflate_run(struct osc_inflate *z, struct osc_inflate_io *io,
                                       struct osc_err *err);

/* Borrow the counts so far. */
const struct osc_inflate_info *osc_inflate_info(const struct osc_inflate *z);
