/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/osc_file.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "import/bytes/inflate_pipe.h"

/* Bytes that a search for a header reads at a time. */
#define SCAN_BYTES  ((size_t)1 << 16)
#define BLOCK_BYTES ((size_t)256 << 10)

bool osc_file_is_torn(const struct osc_file *f, const struct osc_file_gap *gap)
{
    return gap->offset + gap->n_bytes == f->size &&
           (gap->is_cut || gap->n_bytes < sizeof(struct osc_wire_header));
}

int osc_file_probe(const char *head, size_t len)
{
    static const char magic[sizeof((struct osc_file_header *)0)->magic + 1] = OSC_FILE_MAGIC;
    const size_t n = sizeof magic - 1;
    size_t n_right = 0;

    for (size_t i = 0; i < n && i < len; i++)
        n_right += head[i] == magic[i];
    return n_right == n ? 100 : n_right == n - 1 && len >= n ? 90 : 0;
}

size_t osc_file_find(const struct osc_file *f, uint64_t *offset)
{
    size_t i = f->n_later;

    while (i > 0 && *offset < f->later[i - 1].at)
        i--;
    *offset -= i > 0 ? f->later[i - 1].at : 0;
    return i;
}

osc_status osc_file_read(const struct osc_file *f, uint64_t offset, void *to, size_t len)
{
    const size_t i = osc_file_find(f, &offset);
    const uint64_t end = i == 0 && f->n_later > 0 ? f->later[0].at : f->size;

    if (i > 0)
        return osc_file_read(&f->later[i - 1], offset, to, len);
    if (offset > end || len > end - offset)
        return OSC_EFORMAT;
    if (f->data) {
        if (len > 0)
            memcpy(to, f->data + offset, len);
        return OSC_OK;
    }
    return osc_fd_read(f->in->fd, offset, to, len);
}

/* Double the size, or grow by one more block. */
static osc_status grow_pages(struct osc_pages *pages, size_t n_used, size_t n_more)
{
    const size_t size = pages->size * 2 > n_used + n_more ? pages->size * 2 : n_used + n_more;
    void *p;

    if (n_used + n_more <= pages->size)
        return OSC_OK;
    p = osc_pages_alloc(size);
    if (!p)
        return OSC_ENOMEM;
    if (n_used > 0)
        memcpy(p, pages->p, n_used);
    osc_pages_free(pages->p, pages->size);
    *pages = (struct osc_pages){.p = p, .size = size};
    return OSC_OK;
}

/* A compressed recording is inflated as a whole, because its chunks are read in any order. */
static osc_status take_blocks(struct osc_file *f, struct osc_blocks *blocks,
                              struct osc_err *err)
{
    size_t n_used = 0, len = 0;
    char *data;

    for (;;) {
        osc_status st = blocks->next(blocks, &data, &len, err);

        if (st == OSC_EFORMAT) /* a damaged archive: keep the text before the damage */
            len = 0;
        else if (st != OSC_OK)
            return st;
        if (len == 0)
            break;
        st = grow_pages(&f->pages, n_used, len);
        if (st != OSC_OK)
            return st;
        memcpy((char *)f->pages.p + n_used, data, len);
        n_used += len;
    }
    f->data = f->pages.p;
    f->size = n_used;
    return OSC_OK;
}

/* Read the whole file into memory. */
static osc_status take_all(struct osc_file *f, enum osc_inflate_format inflate,
                           struct osc_err *err)
{
    struct osc_raw_blocks raw;
    struct osc_pipe *pipe = NULL;
    osc_status st;

    if (inflate == OSC_INFLATE_NONE) {
        osc_raw_blocks_init(&raw, f->in, 0, BLOCK_BYTES);
        st = take_blocks(f, &raw.blocks, err);
        osc_raw_blocks_fini(&raw);
        return st;
    }
    st = osc_pipe_open(&pipe, f->in, inflate, BLOCK_BYTES, false, err);
    if (st == OSC_OK)
        st = take_blocks(f, osc_pipe_blocks(pipe), err);
    osc_pipe_close(pipe);
    return st;
}

/* Read a small file at once: a system call for each of its chunks would take longer. If it
 * cannot be read, or was cut, the chunks are read one by one, as far as they are there. */
static void take_small(struct osc_file *f)
{
    void *const p =
        f->size > 0 && f->size <= OSC_FILE_SMALL_BYTES ? osc_pages_alloc(f->size) : NULL;

    if (!p)
        return;
    f->pages = (struct osc_pages){.p = p, .size = f->size};
    if (osc_file_read(f, 0, p, f->size) == OSC_OK)
        f->data = p;
}

/* The size of the chunk with header H at OFFSET; 0: it is incomplete. */
static uint64_t chunk_bytes(const struct osc_file *f, uint64_t offset,
                            const struct osc_wire_header *h)
{
    const uint64_t n_bytes = osc_wire_chunk_bytes(h->payload_bytes);

    /* The zeroes after the last payload may be missing. */
    return n_bytes > 0 && h->payload_bytes <= f->size - offset - sizeof *h ? n_bytes : 0;
}

static osc_status add_chunk(struct osc_file *f, uint64_t offset,
                            const struct osc_wire_header *h)
{
    if (osc_grow(&f->chunks, &f->cap_chunks, f->n_chunks + 1, sizeof *f->chunks) != OSC_OK)
        return OSC_ENOMEM;
    f->chunks[f->n_chunks++] = (struct osc_wire_index_entry){offset, *h};
    return OSC_OK;
}

static osc_status add_gap(struct osc_file *f, uint64_t offset, uint64_t end, bool is_cut)
{
    if (osc_grow(&f->gaps, &f->cap_gaps, f->n_gaps + 1, sizeof *f->gaps) != OSC_OK)
        return OSC_ENOMEM;
    f->gaps[f->n_gaps++] =
        (struct osc_file_gap){offset, end - offset, f->n_chunks, .is_cut = is_cut};
    return OSC_OK;
}

/* Whether the N entries of the index cover the file without gaps from its header to END. */
static bool index_is_good(const struct osc_file *f, size_t n, uint64_t end)
{
    uint64_t offset = sizeof(struct osc_file_header);

    for (size_t i = 0; i < n; i++) {
        const struct osc_wire_index_entry *e = &f->chunks[i];
        const uint64_t n_bytes = osc_wire_chunk_bytes(e->header.payload_bytes);

        if (e->offset != offset || !osc_wire_header_is_good(&e->header) ||
            e->header.type == OSC_CHUNK_INDEX || n_bytes == 0 || n_bytes > end - offset)
            return false;
        offset += n_bytes;
    }
    return offset == end;
}

/* Read the list of chunks from the index at the end; no chunks if it is missing or damaged. */
static osc_status read_index(struct osc_file *f)
{
    struct osc_trailer trailer;
    struct osc_wire_header h;
    unsigned char *entries = NULL;
    size_t cap = 0;

    if (f->size < sizeof(struct osc_file_header) + sizeof h + sizeof trailer)
        return OSC_OK;
    osc_status st = osc_file_read(f, f->size - sizeof trailer, &trailer, sizeof trailer);
    if (st != OSC_OK || trailer.magic != OSC_TRAILER_MAGIC ||
        trailer.index_offset % OSC_WIRE_ALIGN != 0 ||
        trailer.index_offset > f->size - sizeof trailer - sizeof h)
        return st;
    st = osc_file_read(f, trailer.index_offset, &h, sizeof h);
    if (st != OSC_OK || !osc_wire_header_is_good(&h) || h.type != OSC_CHUNK_INDEX ||
        chunk_bytes(f, trailer.index_offset, &h) == 0 ||
        h.payload_bytes % sizeof *f->chunks != 0 || h.payload_bytes == 0)
        return st;
    /* A list of only the index itself, so that it is read like any other payload. */
    f->chunks = osc_malloc(sizeof *f->chunks);
    if (!f->chunks)
        return OSC_ENOMEM;
    f->chunks[0] = (struct osc_wire_index_entry){trailer.index_offset, h};
    st = osc_file_payload(f, 0, &entries, &cap);
    osc_free(f->chunks);
    f->chunks = (struct osc_wire_index_entry *)(void *)entries;
    f->cap_chunks = cap / sizeof *f->chunks;
    const size_t n = (size_t)(h.payload_bytes / sizeof *f->chunks);
    for (size_t i = 0; st == OSC_OK && i < n; i++)
        f->chunks[i].header.magic = OSC_CHUNK_MAGIC; /* not stored: searches would find it */
    if (st == OSC_OK && index_is_good(f, n, trailer.index_offset)) {
        f->n_chunks = n;
        f->has_index = true;
    }
    return st == OSC_EFORMAT ? OSC_OK : st;
}

/* Find the next good header *H from OFFSET on; *FOUND is its offset or the end of the file. */
static osc_status find_header(const struct osc_file *f, uint64_t offset, uint64_t *found,
                              struct osc_wire_header *h)
{
    unsigned char *const buffer = osc_malloc(SCAN_BYTES);
    osc_status st = buffer ? OSC_OK : OSC_ENOMEM;

    *found = f->size;
    while (st == OSC_OK && *found == f->size && f->size - offset >= sizeof *h) {
        const uint64_t left = f->size - offset;
        const size_t n = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES;

        st = osc_file_read(f, offset, buffer, n);
        for (size_t i = 0; st == OSC_OK && i + sizeof *h <= n; i += OSC_WIRE_ALIGN) {
            memcpy(h, buffer + i, sizeof *h);
            if (h->magic == OSC_CHUNK_MAGIC && osc_wire_header_is_good(h)) {
                *found = offset + i;
                break;
            }
        }
        if (n < SCAN_BYTES)
            break;
        offset += SCAN_BYTES;
    }
    osc_free(buffer);
    return st;
}

/* Whether the trailer of a finished file is at OFFSET. */
static bool is_trailer(const struct osc_file *f, uint64_t offset)
{
    struct osc_trailer trailer;

    return f->size - offset == sizeof trailer &&
           osc_file_read(f, offset, &trailer, sizeof trailer) == OSC_OK &&
           trailer.magic == OSC_TRAILER_MAGIC;
}

/* The index is missing or wrong: go from chunk to chunk by their lengths. Where none begins,
 * look for the next header; what lies between is a gap. */
static osc_status walk(struct osc_file *f)
{
    uint64_t offset = sizeof(struct osc_file_header);
    osc_status st = OSC_OK;

    while (st == OSC_OK && offset < f->size && !is_trailer(f, offset)) {
        struct osc_wire_header h = {0};
        uint64_t found = f->size;
        const bool has_room = f->size - offset >= sizeof h;

        if (has_room)
            st = osc_file_read(f, offset, &h, sizeof h);
        const bool is_good = has_room && osc_wire_header_is_good(&h);
        const uint64_t n_bytes = is_good ? chunk_bytes(f, offset, &h) : 0;
        if (st == OSC_OK && n_bytes > 0) {
            if (h.type != OSC_CHUNK_INDEX)
                st = add_chunk(f, offset, &h);
            offset = n_bytes < f->size - offset ? offset + n_bytes : f->size;
            continue;
        }
        if (st == OSC_OK && has_room)
            st = find_header(f, offset + OSC_WIRE_ALIGN, &found, &h);
        if (st == OSC_OK)
            st = add_gap(f, offset, found, is_good);
        offset = found;
    }
    return st;
}

/* A header may be damaged and the rest be good: of those, only a good one of another version
 * is refused. */
static osc_status check_header(struct osc_file *f, struct osc_err *err)
{
    if (f->size < sizeof f->header)
        return osc_fail_at(err, OSC_EFORMAT, 0, "%s: %llu bytes are too short for a recording",
                           f->in->path, (unsigned long long)f->size);
    const osc_status st = osc_file_read(f, 0, &f->header, sizeof f->header);
    if (st != OSC_OK)
        return osc_fail_at(err, st, 0, "%s: cannot be read at byte 0", f->in->path);
    f->header_is_good = osc_file_header_is_good(&f->header);
    if (f->header_is_good && f->header.version != OSC_FILE_VERSION)
        return osc_fail_at(err, OSC_EFORMAT, 8,
                           "%s: version %u of the format; this opscope reads version %u",
                           f->in->path, f->header.version, OSC_FILE_VERSION);
    return OSC_OK;
}

osc_status osc_file_open(struct osc_file *f, struct osc_input *in,
                         enum osc_inflate_format inflate, struct osc_err *err)
{
    osc_status st = OSC_OK;

    struct stat info;

    f->in = in;
    /* The present size: the file may have grown since it was opened. */
    f->size = in->fd >= 0 && in->can_seek && fstat(in->fd, &info) == 0 ? (uint64_t)info.st_size
                                                                       : in->size;
    if (inflate != OSC_INFLATE_NONE || !in->can_seek)
        st = take_all(f, inflate, err);
    else if (in->fd < 0)
        f->data = (const unsigned char *)in->data.s;
    else
        take_small(f);
    if (st == OSC_OK)
        st = check_header(f, err);
    if (st != OSC_OK)
        return st;
    st = read_index(f);
    if (st == OSC_OK && !f->has_index)
        st = walk(f);
    if (st != OSC_OK)
        return osc_fail(err, st, "%s: %s while its chunks were looked for", in->path,
                        osc_status_text(st));
    return OSC_OK;
}

/* The number of records in the chunks of F, according to their headers. */
static uint64_t count_records(const struct osc_file *f)
{
    for (size_t i = f->n_chunks; i-- > 0;) {
        const struct osc_wire_header *h = &f->chunks[i].header;

        if (h->type == OSC_CHUNK_RECORDS)
            return h->n_before + h->n_items;
    }
    return 0;
}

osc_status osc_file_append(struct osc_file *f, struct osc_input *in, struct osc_err *err)
{
    const uint64_t n_records = count_records(f);
    const size_t n_before = f->n_chunks;

    if (osc_grow(&f->later, &f->cap_later, f->n_later + 1, sizeof *f->later) != OSC_OK)
        return OSC_ENOMEM;
    struct osc_file *l = &f->later[f->n_later++];
    *l = (struct osc_file){.at = f->size};
    osc_status st = osc_file_open(l, in, OSC_INFLATE_NONE, err);
    for (size_t i = 0; i < l->n_chunks && st == OSC_OK; i++) {
        const struct osc_wire_index_entry *e = &l->chunks[i];

        st = add_chunk(f, e->offset + l->at, &e->header);
        if (st == OSC_OK)
            f->chunks[f->n_chunks - 1].header.n_before += n_records;
    }
    for (size_t i = 0; i < l->n_gaps && st == OSC_OK; i++) {
        const struct osc_file_gap *g = &l->gaps[i];
        const uint64_t offset = g->offset + l->at;

        st = add_gap(f, offset, offset + g->n_bytes, g->is_cut);
        if (st == OSC_OK)
            f->gaps[f->n_gaps - 1].next = n_before + g->next;
    }
    f->size += l->size;
    f->has_index = l->has_index;
    return st;
}

void osc_file_close(struct osc_file *f)
{
    for (size_t i = 0; i < f->n_later; i++)
        osc_file_close(&f->later[i]);
    osc_free(f->later);
    osc_free(f->chunks);
    osc_free(f->gaps);
    osc_pages_free(f->pages.p, f->pages.size);
    *f = (struct osc_file){0};
}

bool osc_file_has_columns(const struct osc_file *f)
{
    for (size_t i = 0; i < f->n_chunks; i++) {
        if (f->chunks[i].header.type >= OSC_CHUNK_MODEL)
            return true;
    }
    return false;
}

bool osc_file_has(const struct osc_file *f, uint16_t type)
{
    size_t i = 0;

    while (i < f->n_chunks && f->chunks[i].header.type != type)
        i++;
    return i < f->n_chunks;
}

osc_status osc_file_payload_to(const struct osc_file *f, size_t i, void *to)
{
    const struct osc_wire_index_entry *const e = &f->chunks[i];
    const size_t n = (size_t)e->header.payload_bytes;
    const osc_status st = osc_file_read(f, e->offset + sizeof e->header, to, n);

    if (st == OSC_OK && osc_wire_payload_hash(e->header.type, to, n) != e->header.payload_hash)
        return OSC_EFORMAT;
    return st;
}

osc_status osc_file_payload(const struct osc_file *f, size_t i, unsigned char **buffer,
                            size_t *cap)
{
    const uint64_t n = f->chunks[i].header.payload_bytes;

    if (n > SIZE_MAX - 1)
        return OSC_ELIMIT;
    if (n > *cap || !*buffer) {
        /* No copy and no doubling: the content is replaced, and N comes from the file. */
        osc_free(*buffer);
        *buffer = osc_malloc((size_t)n + 1);
        *cap = *buffer ? (size_t)n : 0;
    }
    return *buffer ? osc_file_payload_to(f, i, *buffer) : OSC_ENOMEM;
}
