/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

osc_status osc_fd_read(int fd, uint64_t offset, void *to, size_t len)
{
    char *at = to;

    while (len > 0) {
        const ssize_t n = pread(fd, at, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? OSC_EFORMAT : OSC_EIO;
        at += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return OSC_OK;
}

/* Read up to LEN bytes; from OFFSET if IN can seek. -1 with errno on failure. */
static ssize_t read_some(struct osc_input *in, char *to, size_t len, uint64_t offset)
{
    ssize_t n;

    do {
        n = in->can_seek ? pread(in->fd, to, len, (off_t)offset) : read(in->fd, to, len);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* A pipe cannot be read twice: the bytes that tell the format are kept and given to the reader
 * first. */
static osc_status read_probe(struct osc_input *in, struct osc_err *err)
{
    while (in->n_probe < sizeof in->probe) {
        const ssize_t n =
            read_some(in, in->probe + in->n_probe, sizeof in->probe - in->n_probe, in->n_probe);
        if (n < 0)
            return osc_fail_at(err, OSC_EIO, in->n_probe, "%s: cannot be read at byte %zu: %s",
                               in->path, in->n_probe, strerror(errno));
        if (n == 0)
            break;
        in->n_probe += (size_t)n;
    }
    in->probe_is_unread = !in->can_seek;
    return OSC_OK;
}

osc_status osc_input_measure(struct osc_input *in, const struct stat *info, struct osc_err *err)
{
    if (S_ISDIR(info->st_mode))
        return osc_fail(err, OSC_EINVAL, "%s: is a directory; a trace file was expected",
                        in->path);
    if (S_ISBLK(info->st_mode) || (S_ISCHR(info->st_mode) && !in->is_stdin))
        return osc_fail(err, OSC_EINVAL, "%s: is a device; a trace file was expected",
                        in->path);
    /* If standard input is a file, it is read from its present position, like a pipe. */
    in->can_seek = S_ISREG(info->st_mode) && !in->is_stdin;
    in->size = in->can_seek ? (uint64_t)info->st_size : 0;
    return read_probe(in, err);
}

void osc_input_open_memory(struct osc_input *in, const char *name, struct osc_str data)
{
    *in = (struct osc_input){
        .path = name, .fd = -1, .can_seek = true, .size = data.len, .data = data};
    in->n_probe = data.len < sizeof in->probe ? data.len : sizeof in->probe;
    if (in->n_probe > 0)
        memcpy(in->probe, data.s, in->n_probe);
}

void osc_input_close(struct osc_input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
    osc_free(in->beside);
    in->beside = NULL;
}

/* Fill TO with the next bytes; *LEN is 0 at the end. */
static osc_status fill(struct osc_raw_blocks *r, char *to, size_t *len, struct osc_err *err)
{
    struct osc_input *in = r->in;

    *len = 0;
    if (in->fd < 0) {
        const uint64_t left = in->size > r->offset ? in->size - r->offset : 0;
        *len = left < r->block_bytes ? (size_t)left : r->block_bytes;
        if (*len > 0)
            memcpy(to, in->data.s + r->offset, *len);
        return OSC_OK;
    }
    if (in->probe_is_unread) {
        in->probe_is_unread = false;
        *len = in->n_probe < r->block_bytes ? in->n_probe : r->block_bytes;
        memcpy(to, in->probe, *len);
        if (*len < in->n_probe) { /* blocks smaller than the probe, in tests */
            memmove(in->probe, in->probe + *len, in->n_probe - *len);
            in->n_probe -= *len;
            in->probe_is_unread = true;
        }
        return OSC_OK;
    }
    const ssize_t n = read_some(in, to, r->block_bytes, r->offset);
    if (n < 0)
        return osc_fail_at(err, OSC_EIO, r->offset, "%s: cannot be read at byte %llu: %s",
                           in->path, (unsigned long long)r->offset, strerror(errno));
    *len = (size_t)n;
    return OSC_OK;
}

/* Two buffers take turns, because the window keeps a rest of the block before. */
static osc_status raw_next(struct osc_blocks *b, char **data, size_t *len, struct osc_err *err)
{
    struct osc_raw_blocks *r = (struct osc_raw_blocks *)b;
    char **buffer = &r->buffers[r->turn];

    r->turn ^= 1;
    if (!*buffer) {
        *buffer = osc_malloc(OSC_TEXT_HEADROOM + r->block_bytes + OSC_TEXT_PADDING);
        if (!*buffer)
            return osc_fail(err, OSC_ENOMEM, "%s: out of memory", r->in->path);
    }
    *data = *buffer + OSC_TEXT_HEADROOM;
    const osc_status st = fill(r, *data, len, err);
    r->offset += *len;
    return st;
}

void osc_raw_blocks_init(struct osc_raw_blocks *r, struct osc_input *in, uint64_t offset,
                         size_t block_bytes)
{
    *r = (struct osc_raw_blocks){
        .blocks = {.next = raw_next}, .in = in, .offset = offset, .block_bytes = block_bytes};
}

void osc_raw_blocks_fini(struct osc_raw_blocks *r)
{
    osc_free(r->buffers[0]);
    osc_free(r->buffers[1]);
    r->buffers[0] = r->buffers[1] = NULL;
}
