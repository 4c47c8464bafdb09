/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte chooses format and piece sizes, the rest is a compressed stream.
 * Decoded as a whole and in pieces, it must give the same bytes and the same end; before an
 * error, one may give a little more than the other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/inflate.h"

#define MAX_OUT_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decode to OUT, at most its size; returns the number of bytes. */
static size_t decode(enum osc_inflate_format format, const uint8_t *data, size_t size,
                     size_t piece, unsigned char *out, enum osc_inflate_state *state)
{
    struct osc_inflate *z;
    struct osc_inflate_io io = {.in = data, .out = out};
    struct osc_err err;

    *state = OSC_INFLATE_MORE;
    if (osc_inflate_new(&z, format, NULL) != OSC_OK)
        return 0;
    while (*state != OSC_INFLATE_END && *state != OSC_INFLATE_ERROR) {
        const size_t in_left = size - (size_t)(io.in - data);
        const size_t out_left = MAX_OUT_BYTES - (size_t)(io.out - out);

        if (out_left == 0)
            break;
        io.n_in = in_left < piece ? in_left : piece;
        io.n_out = out_left < piece ? out_left : piece;
        io.is_last = io.n_in == in_left;
        *state = osc_inflate_run(z, &io, &err);
    }
    osc_inflate_free(z);
    return (size_t)(io.out - out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char whole[MAX_OUT_BYTES], pieces[MAX_OUT_BYTES];
    enum osc_inflate_state whole_state, pieces_state;

    if (size == 0)
        return 0;
    const enum osc_inflate_format format = data[0] & 1 ? OSC_INFLATE_ZSTD : OSC_INFLATE_GZIP;
    const size_t piece = (size_t)1 << (data[0] >> 1) % 16;

    const size_t n_whole =
        decode(format, data + 1, size - 1, MAX_OUT_BYTES, whole, &whole_state);
    if (n_whole / piece > 50000)
        return 0; /* too slow to be useful */
    const size_t n_pieces = decode(format, data + 1, size - 1, piece, pieces, &pieces_state);
    const size_t n_both = n_whole < n_pieces ? n_whole : n_pieces;
    if (memcmp(whole, pieces, n_both) != 0)
        abort();
    if (n_whole < MAX_OUT_BYTES && n_pieces < MAX_OUT_BYTES && whole_state != pieces_state)
        abort();
    if (whole_state == OSC_INFLATE_END && n_whole != n_pieces)
        abort();
    return 0;
}
