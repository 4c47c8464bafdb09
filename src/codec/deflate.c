/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/deflate.h"

#include <string.h>

#include "base/mem.h"

#if OSC_WITH_GZIP

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#define BLOCK_BYTES_MAX ((size_t)1 << 30) /* ISA-L counts in 32 bits */

/* The best level that takes no longer than loading: see bench/export.c. */
#define LEVEL       2
#define LEVEL_BYTES ISAL_DEF_LVL2_DEFAULT

struct osc_deflate {
    struct isal_zstream stream;
    char *out; /* owned */
    size_t cap_out;
    uint8_t level[LEVEL_BYTES];
};

bool osc_deflate_is_there(void)
{
    return true;
}

osc_status osc_deflate_new(struct osc_deflate **z)
{
    *z = osc_calloc(1, sizeof **z);
    return *z ? OSC_OK : OSC_ENOMEM;
}

void osc_deflate_free(struct osc_deflate *z)
{
    if (z)
        osc_free(z->out);
    osc_free(z);
}

osc_status osc_deflate_block(struct osc_deflate *z, const char *s, size_t len, const char **out,
                             size_t *out_len)
{
    /* Text that does not shrink is stored: 5 more bytes for each 64 KiB, and a flush. */
    const size_t need = len + len / 4096 + 1024;

    *out_len = 0;
    if (len > BLOCK_BYTES_MAX)
        return OSC_ELIMIT;
    if (osc_grow(&z->out, &z->cap_out, need, 1) != OSC_OK)
        return OSC_ENOMEM;

    struct isal_zstream *const stream = &z->stream;
    isal_deflate_stateless_init(stream);
    stream->level = LEVEL;
    stream->level_buf = z->level;
    stream->level_buf_size = sizeof z->level;
    stream->flush = FULL_FLUSH;
    stream->end_of_stream = 0;
    memcpy(&stream->next_in, &s, sizeof s); /* ISA-L only reads it, but its type is not const */
    stream->avail_in = (uint32_t)len;
    stream->next_out = (uint8_t *)z->out;
    stream->avail_out = (uint32_t)need;
    if (isal_deflate_stateless(stream) != COMP_OK)
        return OSC_EINVAL;
    *out = z->out;
    *out_len = need - stream->avail_out;
    return OSC_OK;
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

osc_status osc_deflate_new(struct osc_deflate **z)
{
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
