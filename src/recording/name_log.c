/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/name_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/open_failure.h"
#include "wire/live.h"

enum { CHUNK_BYTES = 1 << 20, NAME_BYTES_MAX = 16 << 20 };
#define PREFIX sizeof(struct osc_wire_strings)
#define ENTRY  8u /* length and hash; entries begin at multiples of it */

osc_status osc_name_log_open(struct osc_name_log *log, int dir_fd)
{
    *log = (struct osc_name_log){0};
    osc_name_log_rewind(log);
    if (osc_fd_take(&log->fd, openat(dir_fd, "strings", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)))
        return OSC_OK;
    osc_open_failure_store(errno);
    return OSC_EIO;
}

void osc_name_log_close(struct osc_name_log *log)
{
    osc_fd_close(&log->fd);
    if (log->bytes)
        munmap(log->bytes, log->room);
    *log = (struct osc_name_log){0};
}

void osc_name_log_rewind(struct osc_name_log *log)
{
    log->next = OSC_STRINGS_AT;
    log->n_holes = 0;
}

/* Open the log again, next to F, if the host has closed it. */
static void keep_open(struct osc_name_log *log, const struct osc_parts *f)
{
    static const char suffix[] = OSC_LIVE_SUFFIX "/strings";
    char path[OSC_PARTS_PATH_BYTES + sizeof suffix];
    const size_t len = strnlen(f->out, OSC_PARTS_PATH_BYTES);

    memcpy(path, f->out, len);
    memcpy(path + len, suffix, sizeof suffix);
    (void)osc_fd_reopen(&log->fd, path, O_RDONLY);
}

/* Read LEN bytes of the log at OFFSET; returns the number of bytes read. */
static size_t read_at(const struct osc_name_log *log, void *to, size_t len, uint64_t offset)
{
    const int fd = osc_fd_get(&log->fd);
    size_t done = 0;

    while (fd >= 0 && done < len) {
        const ssize_t n = pread(fd, (char *)to + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Make room for LEN bytes of the log after the prefix. */
static bool make_room(struct osc_name_log *log, size_t len)
{
    if (log->room >= PREFIX + len)
        return true;
    void *p =
        mmap(NULL, PREFIX + len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    if (log->bytes)
        munmap(log->bytes, log->room);
    log->bytes = p;
    log->room = PREFIX + len;
    return true;
}

/* Size of the complete entry at P, of which LEN bytes are available; 0: none, or
 * incomplete. */
static size_t entry_bytes(const unsigned char *p, size_t len)
{
    uint32_t head[2];

    if (len < ENTRY)
        return 0;
    memcpy(head, p, sizeof head);
    const uint32_t end = osc_string_end(head[0]);

    if (end == 0 || end - 1 > len - ENTRY ||
        (uint32_t)osc_wire_hash(p + ENTRY, end - 1) != head[1])
        return 0;
    const size_t bytes = (ENTRY + end - 1 + 7) & ~(size_t)7;
    return bytes <= len ? bytes : 0;
}

/* A run of entries. */
struct run {
    size_t len; /* to the end of the last complete one */
    uint64_t n; /* number of complete ones */
    uint32_t n_holes;
    struct osc_name_log_hole holes[OSC_NAME_LOG_HOLES]; /* before LEN, relative to the start */
};

static struct run find_run(const unsigned char *p, size_t len)
{
    struct run run = {0};

    for (size_t at = 0; at < len;) {
        const size_t bytes = entry_bytes(p + at, len - at);

        if (bytes == 0) {
            at += ENTRY;
            continue;
        }
        if (at > run.len && run.n_holes < OSC_NAME_LOG_HOLES)
            run.holes[run.n_holes++] = (struct osc_name_log_hole){run.len, at, 0};
        at += bytes;
        run.len = at;
        run.n++;
    }
    return run;
}

/* Append the run that was read from FROM as a chunk; it ends with the last complete entry. */
static osc_status append_run(const struct osc_name_log *log, struct osc_parts *f, uint64_t from,
                             const struct run *run)
{
    const struct osc_wire_strings prefix = {from};
    const struct osc_wire_header header = {
        .type = OSC_CHUNK_STRINGS, .payload_bytes = PREFIX + run->len, .n_items = run->n};

    memcpy(log->bytes, &prefix, sizeof prefix);
    return osc_parts_append(f, header, log->bytes);
}

/* Append the entries from NEXT to before USED, or some of them. */
static osc_status append_next(struct osc_name_log *log, struct osc_parts *f, uint64_t used)
{
    const uint64_t from = log->next, left = used - from;
    size_t len = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    struct run run;

    for (;; len = left < 2 * len ? (size_t)left : 2 * len) {
        if (!make_room(log, len))
            return OSC_ENOMEM;
        run = find_run(log->bytes + PREFIX, read_at(log, log->bytes + PREFIX, len, from));
        /* Otherwise an entry is longer than that, or unfinished. */
        if (run.n > 0 || len == left || len >= NAME_BYTES_MAX + 2 * ENTRY)
            break;
    }
    if (run.n == 0)
        return OSC_OK;
    const osc_status st = append_run(log, f, from, &run);
    if (st != OSC_OK)
        return st;
    log->next = from + run.len;
    for (uint32_t i = 0; i < run.n_holes && log->n_holes < OSC_NAME_LOG_HOLES; i++)
        log->holes[log->n_holes++] =
            (struct osc_name_log_hole){from + run.holes[i].from, from + run.holes[i].end, 0};
    return OSC_OK;
}

/* Append the entries in HOLE that are finished by now; N becomes UINT64_MAX if all are. */
static osc_status append_hole(struct osc_name_log *log, struct osc_parts *f,
                              struct osc_name_log_hole *hole)
{
    const size_t len = (size_t)(hole->end - hole->from);

    if (!make_room(log, len))
        return OSC_ENOMEM;
    const struct run run =
        find_run(log->bytes + PREFIX, read_at(log, log->bytes + PREFIX, len, hole->from));
    if (run.n <= hole->n)
        return OSC_OK;
    const osc_status st = append_run(log, f, hole->from, &run);
    if (st == OSC_OK)
        hole->n = run.len == len && run.n_holes == 0 ? UINT64_MAX : run.n;
    return st;
}

osc_status osc_name_log_append(struct osc_name_log *log, struct osc_parts *f)
{
    struct osc_live_strings header;
    osc_status st = OSC_OK;
    uint32_t n = 0;

    keep_open(log, f);
    if (read_at(log, &header, sizeof header, 0) != sizeof header)
        return OSC_EIO;
    for (uint32_t i = 0; i < log->n_holes; i++) {
        struct osc_name_log_hole hole = log->holes[i];
        if (st == OSC_OK)
            st = append_hole(log, f, &hole);
        if (hole.n != UINT64_MAX)
            log->holes[n++] = hole;
    }
    log->n_holes = n;
    for (uint64_t before = 0;
         st == OSC_OK && log->next < header.used_bytes && log->next != before;) {
        before = log->next;
        st = append_next(log, f, header.used_bytes);
    }
    return st;
}
