/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/live_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pid.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "import/osc/osc_file.h"
#include "wire/chunk.h"
#include "wire/pack.h"

/* Limits that hold even if a header is damaged: 64 GiB of blocks, 4 GiB of names, 64 MiB. */
#define BLOCKS_MAX   (UINT32_C(1) << 22)
#define STRINGS_MAX  (UINT64_C(1) << 32)
#define STANDING_MAX (UINT64_C(1) << 26)

/* Read LEN bytes at OFFSET of FD; bytes after its end are zero. -1 with errno. */
static int read_at(int fd, void *to, size_t len, uint64_t offset)
{
    size_t done = 0;

    while (done < len) {
        const ssize_t n = pread(fd, (char *)to + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0) {
            memset((char *)to + done, 0, len - done);
            break;
        }
        done += (size_t)n;
    }
    return 0;
}

static osc_status cannot_read(struct osc_err *err, const char *path)
{
    return osc_fail(err, OSC_EIO, "%s: cannot be read: %s", path, strerror(errno));
}

/* Open the file NAME in the directory PATH; *FD is -1 if it is missing. What is no file, such
 * as a pipe that nobody writes, is an error and is not waited for. */
static osc_status open_file(const char *path, const char *name, int *fd, struct osc_err *err)
{
    struct osc_strbuf whole = {0};
    struct stat info;

    osc_strbuf_adds(&whole, path);
    osc_strbuf_addc(&whole, '/');
    osc_strbuf_adds(&whole, name);
    *fd = whole.status == OSC_OK ? open(whole.s, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                                 : -1;
    osc_status st = whole.status;
    if (st == OSC_OK && *fd < 0 && errno != ENOENT && errno != ENOTDIR)
        st = cannot_read(err, whole.s);
    if (*fd >= 0 && (fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        st = osc_fail(err, OSC_EFORMAT, "%s: it is not a file", whole.s);
        (void)close(*fd);
        *fd = -1;
    }
    osc_strbuf_fini(&whole);
    return st;
}

/*
 * Read HEAD, the LEN first bytes of FD, and the *SIZE of the file, in this order: the process
 * may be writing, and a header that is read after the size may count what was added in between,
 * as if the file were cut. -1 with errno.
 */
static int read_head(int fd, void *head, size_t len, uint64_t *size)
{
    struct stat info;

    if (read_at(fd, head, len, 0) != 0 || fstat(fd, &info) != 0)
        return -1;
    *size = (uint64_t)info.st_size;
    return 0;
}

/* Drop anchors that are beyond the end of a file of N_BYTES. */
static void cut_anchors(struct osc_live_header *h, uint64_t n_bytes)
{
    const uint64_t at = offsetof(struct osc_live_header, anchors);
    const uint64_t n = n_bytes > at ? (n_bytes - at) / sizeof *h->anchors : 0;

    h->n_anchors = h->n_anchors < n ? h->n_anchors : n;
}

enum lock { LOCK_UNKNOWN, LOCK_FREE, LOCK_HELD };

/* Whether another process, or a recorder in this one, holds the lock on FD. */
static enum lock look_at_lock(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? LOCK_HELD : LOCK_UNKNOWN;
    flock(fd, LOCK_UN);
    return LOCK_FREE;
}

/*
 * Whether the process of H, the header of the file FD, still records. The lock ends with the
 * process, but a child that shares its memory inherits it, so the process must not be known to
 * have ended. Without a lock the process must be known to run.
 */
static bool is_running(const struct osc_live_header *h, int fd)
{
    struct osc_pid p = {.pid = h->pid, .space = h->pid_space, .start_ticks = h->start_ticks};

    memcpy(p.boot_id, h->boot_id, sizeof p.boot_id);
    const enum osc_pid_life life = osc_pid_find(&p);

    const enum lock lock = look_at_lock(fd);

    if (lock == LOCK_HELD)
        return life != OSC_PID_ENDED;
    return life == OSC_PID_RUNS && (lock == LOCK_UNKNOWN || !h->is_locked);
}

/* Read the header. Its magic is written last, so without it there is no recording yet. */
static osc_status read_header(struct osc_live_dir *l, int fd, const char *path,
                              struct osc_err *err)
{
    struct osc_live_header *h = &l->header;
    uint64_t size;

    if (read_head(fd, h, sizeof *h, &size) != 0)
        return cannot_read(err, path);
    l->is_lost = h->magic == 0 || size < sizeof h->magic;
    if (l->is_lost)
        return OSC_OK;
    if (h->magic != OSC_LIVE_MAGIC || h->block_bytes != OSC_BLOCK_BYTES)
        return osc_fail_at(err, OSC_EFORMAT, 0, "%s: its file `blocks` is damaged", path);
    if (h->version > OSC_LIVE_VERSION)
        return osc_fail_at(err, OSC_EFORMAT, 8,
                           "%s: version %u of the live directory; this opscope reads up to %u",
                           path, h->version, OSC_LIVE_VERSION);
    l->is_there = true;
    cut_anchors(h, size);
    h->run_id[sizeof h->run_id - 1] = '\0';
    l->is_running = h->state == OSC_LIVE_RECORDING && is_running(h, fd);
    return OSC_OK;
}

static osc_status read_threads(struct osc_live_dir *l, int fd, const char *path,
                               struct osc_err *err)
{
    l->n_threads =
        l->header.n_threads < OSC_LIVE_THREADS ? l->header.n_threads : OSC_LIVE_THREADS;
    l->threads = osc_calloc(l->n_threads + 1, sizeof *l->threads);
    if (!l->threads)
        return OSC_ENOMEM;
    return read_at(fd, l->threads, l->n_threads * sizeof *l->threads, OSC_LIVE_THREADS_AT) == 0
               ? OSC_OK
               : cannot_read(err, path);
}

/* The number of records in B, whose tag and number contradict each other. */
static uint64_t count_records(const struct osc_block *b)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < OSC_BLOCK_SLOTS;) {
        const uint64_t word = b->slots[i].word;
        const uint32_t tag = osc_record_tag(word), n_slots = osc_record_n_slots(word);
        const bool is_one =
            n_slots > 0 && tag != 0 && (tag == b->tag || tag == (uint16_t)b->seq);

        n += is_one;
        i += is_one ? n_slots : 1;
    }
    return n;
}

/* Copy block I, unless it is free or is being given to another thread. */
static osc_status read_block(struct osc_live_dir *l, int fd, uint32_t i, const char *path,
                             struct osc_err *err)
{
    const uint64_t at = OSC_LIVE_BLOCKS_AT + (uint64_t)i * OSC_BLOCK_BYTES;
    struct osc_block *b;
    uint64_t seq;

    if (read_at(fd, &seq, sizeof seq, at) != 0)
        return cannot_read(err, path);
    if (seq == 0)
        return OSC_OK;
    const osc_status st =
        osc_grow(&l->blocks, &l->cap_blocks, l->n_blocks + 1, sizeof *l->blocks);
    if (st != OSC_OK)
        return st;
    b = &l->blocks[l->n_blocks];
    if (read_at(fd, b, sizeof *b, at) != 0 || read_at(fd, &seq, sizeof seq, at) != 0)
        return cannot_read(err, path);
    /* It was given back while it was copied, so its records are in the file. */
    if (b->seq != seq || b->state == OSC_BLOCK_FREE)
        return OSC_OK;
    if (b->tag == (uint16_t)seq && b->tag != 0) {
        l->n_blocks++;
    } else {
        l->n_bad_blocks++;
        l->n_bad_records += count_records(b);
    }
    return OSC_OK;
}

static int compare_blocks(const void *pa, const void *pb)
{
    const struct osc_block *const a = pa, *const b = pb;

    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Read the blocks in the order of time. The process may be writing, or the file be cut: the
 * smaller of what the header and the size say is there. */
static osc_status read_blocks(struct osc_live_dir *l, int fd, const char *path,
                              struct osc_err *err)
{
    struct stat info;
    osc_status st = OSC_OK;
    uint64_t n;

    if (fstat(fd, &info) != 0)
        return cannot_read(err, path);
    const uint64_t bytes = (uint64_t)info.st_size;
    n = bytes > OSC_LIVE_BLOCKS_AT ? (bytes - OSC_LIVE_BLOCKS_AT) / OSC_BLOCK_BYTES : 0;
    l->is_cut = bytes < OSC_LIVE_BLOCKS_AT || l->header.n_blocks > n;
    n = l->header.n_blocks < n ? l->header.n_blocks : n;
    n = n < BLOCKS_MAX ? n : BLOCKS_MAX;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = read_block(l, fd, i, path, err);
    if (st == OSC_OK && l->n_blocks > 1)
        osc_sort(l->blocks, l->n_blocks, sizeof *l->blocks, compare_blocks);
    return st;
}

/* Without names the blocks are still readable; that they are missing or cut is counted. */
static osc_status read_strings(struct osc_live_dir *l, const char *path, struct osc_err *err)
{
    struct osc_live_strings head = {0};
    uint64_t n;
    int fd;
    osc_status st = open_file(path, "strings", &fd, err);

    if (st != OSC_OK || fd < 0) {
        l->names_are_cut = l->n_blocks > 0; /* without blocks there may be no names yet */
        return st;
    }
    if (read_head(fd, &head, sizeof head, &n) != 0) {
        st = cannot_read(err, path);
    } else {
        l->names_are_cut = l->n_blocks > 0 && (n < sizeof head || head.used_bytes > n);
        l->names_are_bad = l->n_blocks > 0 && n >= sizeof head && head.magic != OSC_LIVE_MAGIC;
        n = head.used_bytes < n ? head.used_bytes : n;
        l->strings_bytes = n < STRINGS_MAX ? (size_t)n : (size_t)STRINGS_MAX;
        l->strings = osc_malloc(l->strings_bytes + 1);
        if (!l->strings)
            st = OSC_ENOMEM;
        else if (read_at(fd, l->strings, l->strings_bytes, 0) != 0)
            st = cannot_read(err, path);
    }
    close(fd);
    return st;
}

/* Read the copies of persistent records that are in no block any more. A recording without
 * windows and parts has none. */
static osc_status read_standing(struct osc_live_dir *l, const char *path, struct osc_err *err)
{
    struct osc_live_standing head = {0};
    uint64_t size;
    int fd;
    osc_status st = open_file(path, "standing", &fd, err);

    if (st != OSC_OK || fd < 0)
        return st;
    if (read_head(fd, &head, sizeof head, &size) != 0) {
        st = cannot_read(err, path);
    } else if (head.magic == OSC_LIVE_MAGIC && head.used_bytes > OSC_STANDING_AT &&
               head.used_bytes <= size && head.used_bytes <= STANDING_MAX &&
               memcmp(head.recording, l->header.recording, sizeof head.recording) == 0) {
        l->standing_bytes = (size_t)head.used_bytes - OSC_STANDING_AT;
        l->standing = osc_malloc(l->standing_bytes);
        if (!l->standing)
            st = OSC_ENOMEM;
        else if (read_at(fd, l->standing, l->standing_bytes, OSC_STANDING_AT) != 0)
            st = cannot_read(err, path);
    }
    close(fd);
    return st;
}

osc_status osc_live_dir_open(struct osc_live_dir *l, const char *path, struct osc_err *err)
{
    struct stat info;
    int fd;

    *l = (struct osc_live_dir){0};
    osc_status st = open_file(path, "blocks", &fd, err);
    if (st != OSC_OK || fd < 0) {
        l->is_lost = st == OSC_OK && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        return st;
    }
    st = read_header(l, fd, path, err);
    if (st == OSC_OK && l->is_there)
        st = read_threads(l, fd, path, err);
    if (st == OSC_OK && l->is_there)
        st = read_blocks(l, fd, path, err);
    close(fd);
    /* Names last: they are written before the records that use them. */
    if (st == OSC_OK && l->is_there)
        st = read_standing(l, path, err);
    if (st == OSC_OK && l->is_there)
        st = read_strings(l, path, err);
    if (st != OSC_OK)
        osc_live_dir_close(l);
    return st;
}

/* Append NAME.osc to B. PATH is the same or, for a later PART, NAME.2.osc. */
static void add_first_part(struct osc_strbuf *b, const char *path, uint32_t part)
{
    char number[24];
    const size_t len = strlen(path);
    const int n = snprintf(number, sizeof number, ".%u.osc", part);

    osc_strbuf_adds(b, path);
    if (part > 1 && len > (size_t)n && strcmp(path + len - (size_t)n, number) == 0) {
        b->len = len - (size_t)n;
        osc_strbuf_adds(b, ".osc");
    }
}

char *osc_live_dir_path(const char *path, uint32_t part)
{
    struct osc_strbuf b = {0};

    add_first_part(&b, path, part);
    osc_strbuf_adds(&b, ".live");
    if (b.status != OSC_OK) {
        osc_strbuf_fini(&b);
        return NULL;
    }
    return b.s;
}

char *osc_live_dir_next_part(const char *path, uint32_t part)
{
    static const char suffix[] = ".osc";
    const size_t n = sizeof suffix - 1;
    struct osc_strbuf b = {0};

    add_first_part(&b, path, part);
    if (b.status == OSC_OK && b.len >= n && memcmp(b.s + b.len - n, suffix, n) == 0)
        b.len -= n;
    osc_strbuf_addf(&b, ".%u%s", part + 1, suffix);
    if (b.status != OSC_OK) {
        osc_strbuf_fini(&b);
        return NULL;
    }
    return b.s;
}

osc_status osc_live_dir_part_follows(const char *path, uint32_t part,
                                     const uint64_t recording[2], bool *follows)
{
    char *const next = osc_live_dir_next_part(path, part);
    struct osc_file_header h = {0};

    *follows = false;
    if (!next)
        return OSC_ENOMEM;
    const int fd = open(next, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    osc_free(next);
    if (fd < 0)
        return OSC_OK;
    *follows = read_at(fd, &h, sizeof h, 0) != 0 || !osc_file_header_is_good(&h) ||
               memcmp(h.recording, recording, sizeof h.recording) == 0;
    close(fd);
    return OSC_OK;
}

void osc_live_dir_close(struct osc_live_dir *l)
{
    osc_free(l->threads);
    osc_free(l->blocks);
    osc_free(l->strings);
    osc_free(l->standing);
    *l = (struct osc_live_dir){0};
}

bool osc_live_dir_has(const struct osc_live_dir *l, const struct osc_file *f,
                      const struct osc_file_gap *gap)
{
    const struct osc_live_header *const h = &l->header;

    return l->is_there && h->state != OSC_LIVE_ENDED && osc_file_is_torn(f, gap) &&
           (!f->header_is_good ||
            memcmp(h->recording, f->header.recording, sizeof h->recording) == 0);
}

uint32_t osc_live_dir_end(const struct osc_block *b)
{
    uint32_t end = 0;

    if (b->state == OSC_BLOCK_FULL)
        return b->used_slots < OSC_BLOCK_SLOTS ? b->used_slots : OSC_BLOCK_SLOTS;
    for (uint32_t i = 0; i < OSC_BLOCK_SLOTS; i++) {
        const uint64_t word = b->slots[i].word;

        if (osc_record_tag(word) == b->tag && osc_record_n_slots(word) > 0 &&
            i + osc_record_n_slots(word) > end)
            end = i + osc_record_n_slots(word);
    }
    return end < OSC_BLOCK_SLOTS ? end : OSC_BLOCK_SLOTS;
}

uint32_t osc_live_dir_first(const struct osc_live_dir *l, const struct osc_block *b,
                            uint32_t written)
{
    const uint32_t first = written > b->written_slots ? written : b->written_slots;
    const uint32_t end = osc_live_dir_end(b);
    uint32_t begin = 0;

    if (l->header.window_begin == OSC_LIVE_NO_WINDOW)
        begin = end;
    else if (l->header.window_begin > 0)
        begin = osc_pack_find(b, 0, end, l->header.window_begin);
    return first > begin ? first : begin;
}
