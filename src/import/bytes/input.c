/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/filename.h"
#include "import/osc/live_dir.h"

/* Read up to LEN bytes, at OFFSET of what can seek. -1 with errno on failure. */
static ssize_t read_some(struct osc_input *in, char *to, size_t len, uint64_t offset)
{
    ssize_t n;

    do {
        n = in->can_seek ? pread(in->fd, to, len, (off_t)offset) : read(in->fd, to, len);
    } while (n < 0 && errno == EINTR);
    return n;
}

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

/* Go on with the file `blocks` of the directory PATH; else IN and INFO stay as they are. */
static void enter_live(struct osc_input *in, const char *path, struct stat *info)
{
    const int dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    const int fd =
        dir < 0 ? -1 : openat(dir, "blocks", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat blocks;

    if (dir >= 0)
        close(dir);
    if (fd < 0)
        return;
    if (fstat(fd, &blocks) != 0) {
        close(fd);
        return;
    }
    *info = blocks;
    close(in->fd);
    in->fd = fd;
    in->is_live = true;
}

/* Whether PATH is called as live directories are. */
static bool has_live_name(const char *path)
{
    struct osc_str s = osc_str_c(path);

    while (s.len > 1 && s.s[s.len - 1] == '/')
        s.len--;
    return osc_str_ends(s, OSC_STR(".osc.live"));
}

/* A recording that was killed before it had written a byte of a part: go on with the live
 * directory beside the empty file, if there is one. */
static osc_status enter_beside(struct osc_input *in, struct stat *info, struct osc_err *err)
{
    const struct osc_filename f = osc_filename_parse(in->path);
    const uint32_t parts[] = {1, f.number.len ? (uint32_t)strtoul(f.number.s, NULL, 10) : 1};
    const uint32_t n = f.is_recording ? sizeof parts / sizeof *parts : 0;

    for (uint32_t i = 0; i < n && !in->is_live; i++) {
        osc_free(in->beside);
        in->beside = osc_live_dir_path(in->path, parts[i]);
        if (!in->beside)
            return osc_fail(err, OSC_ENOMEM, "%s: out of memory", in->path);
        enter_live(in, in->beside, info);
    }
    if (in->is_live)
        in->path = in->beside;
    return OSC_OK;
}

bool osc_live_is_blank(const char *path)
{
    const int dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    uint64_t magic = 0;

    if (dir < 0)
        return false;
    const int fd = openat(dir, "blocks", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_blank = fd >= 0 || errno == ENOENT;

    if (fd >= 0) {
        is_blank = pread(fd, &magic, sizeof magic, 0) >= 0 &&
                   (magic == 0 || lseek(fd, 0, SEEK_END) < (off_t)sizeof magic);
        close(fd);
    }
    is_blank = is_blank && faccessat(dir, "strings", F_OK, 0) != 0 && errno == ENOENT;
    close(dir);
    return is_blank;
}

osc_status osc_input_open(struct osc_input *in, const char *path, struct osc_err *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    struct stat info = {0};
    osc_status st = OSC_OK;

    *in = (struct osc_input){
        .path = is_stdin ? "standard input" : path, .fd = -1, .is_stdin = is_stdin};
    in->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0 || fstat(in->fd, &info) != 0)
        return osc_fail(err, OSC_EIO, "%s: cannot be opened: %s", in->path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        enter_live(in, path, &info);
    else if (S_ISREG(info.st_mode) && info.st_size == 0 && !is_stdin)
        st = enter_beside(in, &info, err);
    if (st != OSC_OK)
        return st;
    if ((in->is_live || has_live_name(path)) && osc_live_is_blank(path))
        return osc_fail(err, OSC_EFORMAT,
                        "%s: nothing was recorded into it: its process ended before that, or "
                        "is just starting",
                        path);
    if (S_ISDIR(info.st_mode))
        return osc_fail(err, OSC_EINVAL, "%s: is a directory; a trace file was expected",
                        in->path);
    if (S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !is_stdin))
        return osc_fail(err, OSC_EINVAL, "%s: is a device; a trace file was expected",
                        in->path);
    /* Standard input that is a file is read from where it stands, as a pipe is. */
    in->can_seek = S_ISREG(info.st_mode) && !is_stdin;
    in->size = in->can_seek ? (uint64_t)info.st_size : 0;
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

/* Fill TO with what comes next; *LEN is 0 at the end. */
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
        if (*len < in->n_probe) { /* blocks smaller than the probe: tests */
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
