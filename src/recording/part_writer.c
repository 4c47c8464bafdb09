/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/part_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SUFFIX     ".osc"
#define INDEX_SIZE (OSC_PARTS_INDEX_MAX * sizeof(struct osc_wire_index_entry))

bool osc_parts_name(const char *out, uint32_t part, char path[OSC_PARTS_PATH_BYTES])
{
    const size_t len = strlen(out), suffix = sizeof SUFFIX - 1;
    const bool has_suffix = len > suffix && strcmp(out + len - suffix, SUFFIX) == 0;
    int n;

    if (part == 1)
        n = snprintf(path, OSC_PARTS_PATH_BYTES, "%s", out);
    else
        n = snprintf(path, OSC_PARTS_PATH_BYTES, "%.*s.%u%s",
                     (int)(has_suffix ? len - suffix : len), out, part,
                     has_suffix ? SUFFIX : "");
    return n > 0 && (uint32_t)n < OSC_PARTS_PATH_BYTES;
}

/* The descriptor of the open part, opened again if the host has closed it. -1: see errno. */
static int file_fd(struct osc_parts *f)
{
    const int fd = osc_fd_reopen(&f->fd, f->path, O_WRONLY);

    if (fd < 0)
        errno = EBADF;
    return fd;
}

/* Write all N pieces at the offset AT; false with errno. Modifies IOV. */
static bool write_all(int fd, struct iovec *iov, int n, uint64_t at)
{
    while (n > 0) {
        const ssize_t done = pwritev(fd, iov, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done < 0 ? errno : ENOSPC;
            return false;
        }
        at += (uint64_t)done;
        size_t left = (size_t)done;
        for (; n > 0 && left >= iov->iov_len; iov++, n--)
            left -= iov->iov_len;
        if (n > 0) {
            iov->iov_base = (char *)iov->iov_base + left;
            iov->iov_len -= left;
        }
    }
    return true;
}

/* Append N pieces, or leave the file unchanged. */
static osc_status append(struct osc_parts *f, struct iovec *iov, int n)
{
    uint64_t len = 0;
    const int fd = file_fd(f);

    for (int i = 0; i < n; i++)
        len += iov[i].iov_len;
    if (fd < 0 || !write_all(fd, iov, n, f->bytes)) {
        f->error = errno;
        if (fd >= 0 && ftruncate(fd, (off_t)f->bytes) != 0)
            f->error = errno; /* an incomplete chunk stays; readers skip it */
        return OSC_EIO;
    }
    f->error = 0;
    f->bytes += len;
    f->all_bytes += len;
    return OSC_OK;
}

/* Delete the oldest parts until another one as large as the last fits. */
static void make_room(struct osc_parts *f)
{
    char path[OSC_PARTS_PATH_BYTES];
    struct stat st;

    f->kept_bytes += f->bytes;
    while (f->limit_bytes && f->oldest <= f->part &&
           f->kept_bytes > f->limit_bytes - f->limit_bytes / 4) {
        if (osc_parts_name(f->out, f->oldest, path) && lstat(path, &st) == 0 &&
            unlink(path) == 0)
            f->kept_bytes -=
                (uint64_t)st.st_size < f->kept_bytes ? (uint64_t)st.st_size : f->kept_bytes;
        f->oldest++;
    }
}

/* Whether the file ST, opened as FD, is empty or a recording: only such a file is replaced. */
static bool is_recording(int fd, const struct stat *st)
{
    char magic[sizeof OSC_FILE_MAGIC - 1];

    return st->st_size == 0 || (pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
                                memcmp(magic, OSC_FILE_MAGIC, sizeof magic) == 0);
}

/* Make sure that nothing is at PATH; false with errno. Never removes anything but a recording:
 * not a device, a link, or a file of another program. Processes that map the old file keep
 * it. */
static bool clear_path(const char *path)
{
    struct stat st, opened;

    if (lstat(path, &st) != 0)
        return errno == ENOENT;
    if (!S_ISREG(st.st_mode)) {
        errno = EEXIST;
        return false;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    const bool is_ours = fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) &&
                         opened.st_ino == st.st_ino && opened.st_dev == st.st_dev &&
                         is_recording(fd, &opened);

    (void)close(fd);
    errno = EEXIST;
    return is_ours && unlink(path) == 0;
}

/* Without memory for it the file has no index. */
static void make_index(struct osc_parts *f)
{
    void *p;

    if (f->index)
        return;
    p = mmap(NULL, INDEX_SIZE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    f->index = p == MAP_FAILED ? NULL : p;
}

/* Store the chunk with HEADER at OFFSET in the index. */
static void store_chunk(struct osc_parts *f, uint64_t offset, struct osc_wire_header header)
{
    if (header.type == OSC_CHUNK_RECORDS)
        f->n_records += header.n_items;
    if (f->index && f->n_chunks < OSC_PARTS_INDEX_MAX) {
        header.magic = 0;
        f->index[f->n_chunks] = (struct osc_wire_index_entry){offset, header};
    }
    f->n_chunks++;
}

/* Write the header of PART to the empty file. */
static osc_status append_header(struct osc_parts *f, uint32_t part)
{
    struct osc_file_header header = {
        .version = OSC_FILE_VERSION,
        .header_bytes = sizeof header,
        .recording = {f->recording[0], f->recording[1]},
        .part = part,
    };
    struct iovec iov = {&header, sizeof header};

    osc_file_header_seal(&header);
    return append(f, &iov, 1);
}

/* The root directory: after chroot() our paths lead elsewhere. */
static void get_root(uint64_t root[2])
{
    struct stat st;
    const bool is_known = stat("/", &st) == 0;

    root[0] = is_known ? st.st_dev : 0;
    root[1] = is_known ? st.st_ino : 0;
}

osc_status osc_parts_open(struct osc_parts *f)
{
    if (!osc_parts_name(f->out, f->part + 1, f->path)) {
        f->error = ENAMETOOLONG;
        return OSC_EIO;
    }
    if (f->part)
        make_room(f);
    else
        f->oldest = 1;
    f->bytes = f->n_records = f->n_chunks = 0;
    if (!clear_path(f->path) ||
        !osc_fd_take(&f->fd, open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                  S_IRUSR | S_IWUSR))) {
        f->error = errno;
        return OSC_EIO;
    }
    make_index(f);
    get_root(f->root);
    f->is_open = true;
    f->part++;
    if (append_header(f, f->part) != OSC_OK) {
        osc_parts_discard(f);
        return OSC_EIO;
    }
    return OSC_OK;
}

/* Whether 4 zeroes are at the offset AT of the file FD. */
static bool is_empty_at(int fd, uint64_t at)
{
    uint32_t word = 0;

    return pread(fd, &word, sizeof word, (off_t)at) == sizeof word && word == 0;
}

/*
 * Where the file FD was cut before the last chunk was appended, which made it long enough
 * again: where the last chunk begins that may not be whole, or 0. F->bytes: nowhere, as far as
 * the headers of chunks tell.
 */
static uint64_t find_hole(const struct osc_parts *f, int fd)
{
    const uint32_t n = f->index && f->n_chunks <= OSC_PARTS_INDEX_MAX ? f->n_chunks : 0;
    uint32_t i = n > 1 ? n - 1 : 0;

    if (i == 0 || !is_empty_at(fd, f->index[i - 1].offset))
        return f->bytes;
    while (i > 0 && is_empty_at(fd, f->index[i - 1].offset))
        i--;
    return i > 0 ? f->index[i - 1].offset : 0;
}

/* What was done to the open part FD; 0: nothing. *SIZE is what is left of the file. */
static int find_harm(const struct osc_parts *f, int fd, uint64_t *size)
{
    uint64_t root[2];
    struct stat st, named;

    if (fstat(fd, &st) != 0)
        return 0;
    *size = (uint64_t)st.st_size;
    if (*size >= f->bytes) {
        const uint64_t hole = find_hole(f, fd);

        *size = hole < f->bytes ? hole : *size;
    }
    if (*size < f->bytes)
        return ENODATA;
    get_root(root);
    if (memcmp(root, f->root, sizeof root) != 0)
        return 0;
    const bool is_there = lstat(f->path, &named) == 0;

    if (is_there ? named.st_ino == st.st_ino && named.st_dev == st.st_dev
                 : errno != ENOENT && errno != ENOTDIR)
        return 0;
    return st.st_nlink > 0 ? ESTALE : ENOENT;
}

/* Forget the chunks behind the first SIZE bytes of the file. */
static osc_status cut_back(struct osc_parts *f, int fd, uint64_t size)
{
    const uint32_t n = f->index && f->n_chunks <= OSC_PARTS_INDEX_MAX ? f->n_chunks : 0;
    uint64_t end = sizeof(struct osc_file_header);
    uint32_t n_kept = 0;

    f->n_records = 0;
    for (; n_kept < n; n_kept++) {
        const struct osc_wire_index_entry *e = &f->index[n_kept];

        if (e->offset + osc_wire_chunk_bytes(e->header.payload_bytes) > size)
            break;
        end = e->offset + osc_wire_chunk_bytes(e->header.payload_bytes);
        if (e->header.type == OSC_CHUNK_RECORDS)
            f->n_records += e->header.n_items;
    }
    if (ftruncate(fd, (off_t)(size < end ? 0 : end)) != 0) {
        f->error = errno;
        return OSC_EIO;
    }
    f->n_chunks = n_kept;
    f->bytes = size < end ? 0 : end;
    return f->bytes > 0 ? OSC_OK : append_header(f, f->part);
}

/* Make the removed part anew. */
static osc_status make_anew(struct osc_parts *f)
{
    struct osc_fd fd;

    if (!osc_fd_take(&fd, open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                               S_IRUSR | S_IWUSR))) {
        f->error = errno;
        return OSC_EIO;
    }
    osc_fd_close(&f->fd);
    f->fd = fd;
    f->n_chunks = 0;
    f->n_records = f->bytes = 0;
    return append_header(f, f->part);
}

osc_status osc_parts_look(struct osc_parts *f, bool *is_anew)
{
    const int fd = f->is_open ? file_fd(f) : -1;
    uint64_t size = 0;
    const int harm = fd >= 0 ? find_harm(f, fd, &size) : 0;
    osc_status st = OSC_OK;

    *is_anew = false;
    if (harm == 0)
        return OSC_OK;
    f->harm = harm;
    if (harm == ENODATA)
        st = cut_back(f, fd, size);
    else if (harm == ENOENT)
        st = make_anew(f);
    *is_anew = st == OSC_OK && harm != ESTALE;
    return st;
}

osc_status osc_parts_append(struct osc_parts *f, struct osc_wire_header header,
                            const void *payload)
{
    static const unsigned char zeroes[OSC_WIRE_ALIGN];
    const uint64_t offset = f->bytes;
    const uint64_t padding =
        osc_wire_chunk_bytes(header.payload_bytes) - sizeof header - header.payload_bytes;
    union {
        const void *in;
        void *out; /* made by the system; not written to */
    } bytes = {payload}, behind = {zeroes};
    struct iovec iov[] = {
        {&header, sizeof header},
        {bytes.out, header.payload_bytes},
        {behind.out, padding},
    };

    if (!f->is_open) {
        f->error = EBADF;
        return OSC_EIO;
    }
    header.flags = 0;
    header.payload_hash = osc_wire_hash(payload, header.payload_bytes);
    header.n_before = f->n_records;
    osc_wire_header_seal(&header);
    if (append(f, iov, 3) != OSC_OK)
        return OSC_EIO;
    if (header.type == OSC_CHUNK_RECORDS)
        f->all_records += header.n_items;
    store_chunk(f, offset, header);
    return OSC_OK;
}

osc_status osc_parts_resume(struct osc_parts *f, uint32_t part,
                            const struct osc_wire_index_entry *chunks, size_t n)
{
    if (!osc_parts_name(f->out, part, f->path) ||
        !osc_fd_take(&f->fd, open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW))) {
        f->error = errno;
        return OSC_EIO;
    }
    make_index(f);
    f->is_open = true;
    f->part = part;
    f->bytes = sizeof(struct osc_file_header);
    f->n_records = f->n_chunks = 0;
    for (size_t i = 0; i < n; i++) {
        store_chunk(f, chunks[i].offset, chunks[i].header);
        f->bytes = chunks[i].offset + osc_wire_chunk_bytes(chunks[i].header.payload_bytes);
    }
    if (ftruncate(osc_fd_get(&f->fd), (off_t)f->bytes) == 0)
        return OSC_OK;
    f->error = errno;
    osc_parts_forget(f);
    return OSC_EIO;
}

static osc_status append_index(struct osc_parts *f)
{
    struct osc_trailer trailer = {f->bytes, OSC_TRAILER_MAGIC};
    struct iovec iov = {&trailer, sizeof trailer};
    const uint32_t n = f->n_chunks;
    const struct osc_wire_header header = {
        .type = OSC_CHUNK_INDEX,
        .payload_bytes = n * sizeof *f->index,
        .n_items = n,
    };

    if (!f->index || n > OSC_PARTS_INDEX_MAX)
        return OSC_OK;
    const osc_status st = osc_parts_append(f, header, f->index);
    return st == OSC_OK ? append(f, &iov, 1) : st;
}

osc_status osc_parts_close(struct osc_parts *f, const struct osc_wire_end *end)
{
    const struct osc_wire_header header = {
        .type = OSC_CHUNK_END,
        .payload_bytes = sizeof *end,
        .n_items = 1,
        .first_ticks = end->ticks,
        .last_ticks = end->ticks,
    };
    osc_status st = osc_parts_append(f, header, end);

    if (st == OSC_OK)
        st = append_index(f);
    osc_fd_close(&f->fd);
    f->is_open = false;
    return st;
}

void osc_parts_discard(struct osc_parts *f)
{
    if (!f->is_open)
        return;
    /* Only if it is still the recorder's file. */
    if (file_fd(f) >= 0)
        unlink(f->path);
    osc_fd_close(&f->fd);
    f->is_open = false;
    f->part--;
    f->bytes = 0;
}

void osc_parts_forget(struct osc_parts *f)
{
    osc_fd_close(&f->fd);
    if (f->index)
        munmap(f->index, INDEX_SIZE);
    f->index = NULL;
    f->is_open = false;
}
