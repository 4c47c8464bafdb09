/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "codec/deflate.h"
#include "opscope/trace.h"

#define BLOCK_BYTES ((size_t)1 << 20)

/* A copy that is being made. */
struct packing {
    const char *from, *to; /* names, for messages */
    int in, out;
    char *block;           /* owned */
    struct osc_deflate *z; /* owned */
    struct osc_deflate_sum sum;
    struct osc_err *err;
};

static osc_status write_all(const struct packing *p, const char *s, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(p->out, s + done, len - done);

        if (n < 0 && errno != EINTR)
            return osc_fail(p->err, OSC_EIO, "%s: %s", p->to, strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return OSC_OK;
}

/* Read the next block; *LEN is 0 at the end. */
static osc_status read_block(const struct packing *p, size_t *len)
{
    for (*len = 0; *len < BLOCK_BYTES;) {
        const ssize_t n = read(p->in, p->block + *len, BLOCK_BYTES - *len);

        if (n < 0 && errno != EINTR)
            return osc_fail(p->err, OSC_EIO, "%s: %s", p->from, strerror(errno));
        if (n == 0)
            break;
        *len += n > 0 ? (size_t)n : 0;
    }
    return OSC_OK;
}

static osc_status pack(struct packing *p)
{
    char header[OSC_DEFLATE_HEADER_BYTES], trailer[OSC_DEFLATE_TRAILER_BYTES];
    size_t len = 0;

    osc_deflate_header(header);
    osc_status st = write_all(p, header, sizeof header);
    while (st == OSC_OK && (st = read_block(p, &len)) == OSC_OK && len > 0) {
        const char *packed = NULL;
        size_t packed_len = 0;

        osc_deflate_sum_add(&p->sum, p->block, len);
        st = osc_deflate_block(p->z, p->block, len, &packed, &packed_len);
        if (st == OSC_OK)
            st = write_all(p, packed, packed_len);
    }
    osc_deflate_trailer(&p->sum, trailer);
    return st == OSC_OK ? write_all(p, trailer, sizeof trailer) : st;
}

osc_status osc_gzip_file(const char *from, const char *to, struct osc_err *err)
{
    struct packing p = {.from = from, .to = to, .in = -1, .out = -1, .err = err};
    osc_status st = OSC_OK;

    if (!osc_deflate_is_there())
        return osc_fail(err, OSC_EINVAL, "this opscope was built without gzip");
    p.in = open(from, O_RDONLY | O_CLOEXEC);
    if (p.in < 0)
        return osc_fail(err, OSC_EIO, "%s: %s", from, strerror(errno));
    p.out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (p.out < 0)
        st = osc_fail(err, OSC_EIO, "%s: %s", to, strerror(errno));
    p.block = osc_malloc(BLOCK_BYTES);
    if (st == OSC_OK && (!p.block || osc_deflate_new(OSC_DEFLATE_SMALL, &p.z) != OSC_OK))
        st = osc_fail(err, OSC_ENOMEM, "%s: out of memory", to);
    if (st == OSC_OK)
        st = pack(&p);
    osc_deflate_free(p.z);
    osc_free(p.block);
    close(p.in);
    if (p.out >= 0 && close(p.out) != 0 && st == OSC_OK)
        st = osc_fail(err, OSC_EIO, "%s: %s", to, strerror(errno));
    return st;
}
