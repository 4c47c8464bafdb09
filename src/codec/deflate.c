/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/deflate.h"

#include <string.h>

#include "base/mem.h"

#if OSC_WITH_GZIP

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#define BLOCK_BYTES_MAX ((size_t)1 << 30) /* ISA-L counts in 32 bits */

/* The best level of ISA-L that takes no longer than loading: see bench/export.c. */
#define QUICK_LEVEL       2
#define QUICK_LEVEL_BYTES ISAL_DEF_LVL2_DEFAULT

/* Of libdeflate: 0.93 to 0.99 of the size of gzip -6, in half the time. */
#define SMALL_LEVEL 6

/* What a compressor of libdeflate 1.14 and a reader of zlib 1.2.13 allocate; measured. */
#define SMALL_LIBRARY_BYTES ((size_t)704 << 10)

/* What ends a block at a byte: an empty stored block, after the bits of its header. */
#define STORED_BYTES 5

/* Text of a block that is looked through; nobody reads it. */
#define SINK_BYTES ((size_t)128 << 10)

struct quick {
    struct isal_zstream stream;
    uint8_t level[QUICK_LEVEL_BYTES];
};

struct small {
    struct libdeflate_compressor *compressor; /* owned */
    z_stream scan;
    bool has_scan;   /* SCAN is initialized */
    bool is_counted; /* SMALL_LIBRARY_BYTES were taken */
    uint8_t sink[SINK_BYTES];
};

struct osc_deflate {
    struct quick *quick; /* owned; the one that is used */
    struct small *small; /* owned */
    char *out;           /* owned */
    size_t cap_out;
};

bool osc_deflate_is_there(void)
{
    return true;
}

static osc_status new_small(struct osc_deflate *z)
{
    z->small = osc_calloc(1, sizeof *z->small);
    if (!z->small)
        return OSC_ENOMEM;
    z->small->is_counted = osc_mem_take(SMALL_LIBRARY_BYTES);
    if (!z->small->is_counted)
        return OSC_ENOMEM;
    z->small->compressor = libdeflate_alloc_compressor(SMALL_LEVEL);
    z->small->has_scan = inflateInit2(&z->small->scan, -MAX_WBITS) == Z_OK;
    return z->small->compressor && z->small->has_scan ? OSC_OK : OSC_ENOMEM;
}

osc_status osc_deflate_new(enum osc_deflate_way way, struct osc_deflate **z)
{
    osc_status st = OSC_OK;

    *z = osc_calloc(1, sizeof **z);
    if (!*z)
        return OSC_ENOMEM;
    if (way == OSC_DEFLATE_SMALL)
        st = new_small(*z);
    else if (!((*z)->quick = osc_calloc(1, sizeof *(*z)->quick)))
        st = OSC_ENOMEM;
    if (st != OSC_OK) {
        osc_deflate_free(*z);
        *z = NULL;
    }
    return st;
}

void osc_deflate_free(struct osc_deflate *z)
{
    if (!z)
        return;
    if (z->small) {
        libdeflate_free_compressor(z->small->compressor);
        if (z->small->has_scan)
            inflateEnd(&z->small->scan);
        if (z->small->is_counted)
            osc_mem_give(SMALL_LIBRARY_BYTES);
    }
    osc_free(z->small);
    osc_free(z->quick);
    osc_free(z->out);
    osc_free(z);
}

static osc_status pack_quick(struct osc_deflate *z, const char *s, size_t len, size_t *out_len)
{
    struct isal_zstream *const stream = &z->quick->stream;
    /* Text that does not shrink is stored: 5 more bytes for each 64 KiB, and a flush. */
    const size_t need = len + len / 4096 + 1024;

    if (osc_grow(&z->out, &z->cap_out, need, 1) != OSC_OK)
        return OSC_ENOMEM;
    isal_deflate_stateless_init(stream);
    stream->level = QUICK_LEVEL;
    stream->level_buf = z->quick->level;
    stream->level_buf_size = sizeof z->quick->level;
    stream->flush = FULL_FLUSH;
    stream->end_of_stream = 0;
    memcpy(&stream->next_in, &s, sizeof s); /* ISA-L only reads it, but its type is not const */
    stream->avail_in = (uint32_t)len;
    stream->next_out = (uint8_t *)z->out;
    stream->avail_out = (uint32_t)need;
    if (isal_deflate_stateless(stream) != COMP_OK)
        return OSC_EINVAL;
    *out_len = need - stream->avail_out;
    return OSC_OK;
}

/*
 * Clear the mark of the last block of the *LEN bytes at OUT, so that others may follow, and end
 * the bytes by an empty stored block. A compressor of whole texts sets the mark, and only
 * reading the blocks (RFC 1951, section 3.2.3) tells where it is: a tenth of the time to
 * compress.
 */
static osc_status open_end(struct small *small, uint8_t *out, size_t *len)
{
    z_stream *const scan = &small->scan;
    size_t mark_byte = 0;
    unsigned mark = 1; /* the bit of that byte */
    unsigned unused;   /* bits of the last byte that was read */

    if (inflateReset(scan) != Z_OK)
        return OSC_EINVAL;
    scan->next_in = out;
    scan->avail_in = (uInt)*len;
    for (;;) {
        scan->next_out = small->sink;
        scan->avail_out = SINK_BYTES;
        const int code = inflate(scan, Z_BLOCK);

        if (code != Z_OK && code != Z_STREAM_END)
            return OSC_EINVAL;
        if (!(scan->data_type & 128)) /* in the middle of a block */
            continue;
        unused = (unsigned)scan->data_type & 7;
        if (out[mark_byte] & mark)
            break;
        mark_byte = *len - scan->avail_in - (unused > 0);
        mark = 1u << ((8 - unused) & 7);
    }
    out[mark_byte] &= (uint8_t)~mark;
    if (unused < 3) /* no room for the header of a stored block, which is three zeros */
        out[(*len)++] = 0;
    memcpy(out + *len, "\0\0\xff\xff", 4);
    *len += 4;
    return OSC_OK;
}

static osc_status pack_small(struct osc_deflate *z, const char *s, size_t len, size_t *out_len)
{
    struct small *const small = z->small;
    const size_t need = libdeflate_deflate_compress_bound(small->compressor, len);

    if (osc_grow(&z->out, &z->cap_out, need + STORED_BYTES, 1) != OSC_OK)
        return OSC_ENOMEM;
    *out_len = libdeflate_deflate_compress(small->compressor, s, len, z->out, need);
    return *out_len > 0 ? open_end(small, (uint8_t *)z->out, out_len) : OSC_EINVAL;
}

osc_status osc_deflate_block(struct osc_deflate *z, const char *s, size_t len, const char **out,
                             size_t *out_len)
{
    *out_len = 0;
    if (len > BLOCK_BYTES_MAX)
        return OSC_ELIMIT;
    const osc_status st =
        z->small ? pack_small(z, s, len, out_len) : pack_quick(z, s, len, out_len);
    *out = z->out;
    return st;
}

void osc_deflate_sum_add(struct osc_deflate_sum *sum, const char *s, size_t len)
{
    sum->crc = crc32_gzip_refl(sum->crc, (const unsigned char *)s, len);
    sum->n_bytes += len;
}

#else

bool osc_deflate_is_there(void)
{
    return false;
}

osc_status osc_deflate_new(enum osc_deflate_way way, struct osc_deflate **z)
{
    (void)way;
    *z = NULL;
    return OSC_EINVAL;
}

void osc_deflate_free(struct osc_deflate *z)
{
    (void)z;
}

osc_status osc_deflate_block(struct osc_deflate *z, const char *s, size_t len, const char **out,
                             size_t *out_len)
{
    (void)z;
    (void)s;
    (void)len;
    *out = NULL;
    *out_len = 0;
    return OSC_EINVAL;
}

void osc_deflate_sum_add(struct osc_deflate_sum *sum, const char *s, size_t len)
{
    (void)s;
    sum->n_bytes += len;
}

#endif

void osc_deflate_header(char out[OSC_DEFLATE_HEADER_BYTES])
{
    /* Deflate, no flags, Unix; no time, so that the same text gives the same file. */
    static const char header[OSC_DEFLATE_HEADER_BYTES] = {'\x1f', '\x8b', 8, 0, 0,
                                                          0,      0,      0, 0, 3};

    memcpy(out, header, sizeof header);
}

static void put32(char *out, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(v >> 8 * i);
}

void osc_deflate_trailer(const struct osc_deflate_sum *sum, char out[OSC_DEFLATE_TRAILER_BYTES])
{
    out[0] = 3; /* an empty last block with the fixed code */
    out[1] = 0;
    put32(out + 2, sum->crc);
    put32(out + 6, (uint32_t)sum->n_bytes);
}
