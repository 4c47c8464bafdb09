/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_recording.h - read every record of a recording in NAME.osc, in NAME.osc.live, or partly
 * in one and partly in the other.
 *
 * A minimal reader for tests of the recorder: it asserts what a real reader would report.
 * Blocks are read in order of their seq, which is the order of calls within a thread.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/sort.h"
#include "wire/chunk.h"
#include "wire/live.h"
#include "wire/pack.h"

/* Called with a record of the thread with the ordinal THREAD. */
typedef void (*walk_fn)(void *ctx, uint32_t thread, const struct osc_packed *r);

enum { WALK_SEGMENTS_MAX = 1 << 16, WALK_THREADS_MAX = 1 << 16, WALK_PATH = 512 };

struct walk_segment {
    struct osc_pack_segment head;
    const unsigned char *bytes;
};

struct walk {
    struct walk_segment *segments;
    size_t n_segments;
    unsigned char *packed; /* of live blocks */
    size_t packed_used, packed_room;
    uint64_t n_unfinished;
    uint64_t *lost;                         /* borrowed; by cause */
    uint64_t (*of_threads)[OSC_LOSS_COUNT]; /* owned; by ordinal */
};

/* Map the file; NULL: it is empty or missing. It is never unmapped, because tests are short. */
static inline const unsigned char *walk_map(const char *path, size_t *len)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p = MAP_FAILED;

    *len = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (p == MAP_FAILED)
        return NULL;
    *len = (size_t)st.st_size;
    return p;
}

static inline void walk_die(const char *what, const char *path)
{
    (void)fprintf(stderr, "walk_recording: %s: %s\n", path, what);
    abort();
}

static inline void walk_add(struct walk *w, const struct osc_pack_segment *head,
                            const unsigned char *bytes)
{
    if (w->n_segments == WALK_SEGMENTS_MAX)
        walk_die("too many segments", "");
    w->segments[w->n_segments++] = (struct walk_segment){*head, bytes};
    w->n_unfinished += head->n_unfinished;
}

/* Add the segments of a RECORDS chunk. */
static inline void walk_chunk(struct walk *w, const unsigned char *p, uint64_t len)
{
    struct osc_pack_segment head;
    size_t at = 0;

    while (osc_pack_next_segment(p, len, &at, &head))
        walk_add(w, &head, p + at - head.n_bytes);
    if (at != len)
        walk_die("a segment is cut", "");
}

static inline void walk_lost(struct walk *w, const void *lost)
{
    uint64_t n[OSC_LOSS_COUNT];

    memcpy(n, lost, sizeof n);
    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        w->lost[k] += n[k];
}

/* Add the losses of threads, of which a later chunk has all that an earlier one has. */
static inline void walk_threads(struct walk *w, const unsigned char *p, uint64_t len)
{
    for (; len >= sizeof(struct osc_wire_thread); len -= sizeof(struct osc_wire_thread)) {
        struct osc_wire_thread t;

        memcpy(&t, p, sizeof t);
        p += sizeof t;
        if (t.ordinal >= WALK_THREADS_MAX)
            walk_die("too many threads", "");
        for (unsigned k = 0; k < OSC_LOSS_COUNT; k++) {
            w->lost[k] += t.lost[k] - w->of_threads[t.ordinal][k];
            w->of_threads[t.ordinal][k] = t.lost[k];
        }
    }
}

static inline void walk_file(struct walk *w, const char *path)
{
    size_t len, at = sizeof(struct osc_file_header);
    const unsigned char *p = walk_map(path, &len);

    if (!p)
        return;
    while (at + sizeof(struct osc_wire_header) <= len) {
        struct osc_wire_header h;

        memcpy(&h, p + at, sizeof h);
        if (!osc_wire_header_is_good(&h))
            break; /* the trailer, or an incomplete chunk */
        const unsigned char *payload = p + at + sizeof h;

        if (at + osc_wire_chunk_bytes(h.payload_bytes) > len)
            break;
        if (h.payload_hash != osc_wire_hash(payload, h.payload_bytes))
            walk_die("a chunk is damaged", path);
        if (h.type == OSC_CHUNK_RECORDS)
            walk_chunk(w, payload, h.payload_bytes);
        else if (h.type == OSC_CHUNK_END)
            walk_lost(w, payload + offsetof(struct osc_wire_end, lost));
        else if (h.type == OSC_CHUNK_BEFORE)
            walk_lost(w, payload + offsetof(struct osc_wire_before, lost));
        else if (h.type == OSC_CHUNK_THREADS)
            walk_threads(w, payload, h.payload_bytes);
        at += osc_wire_chunk_bytes(h.payload_bytes);
    }
}

/* The first slot of block SEQ that the file lacks. */
static inline uint32_t walk_first(const struct walk *w, uint64_t seq, size_t n_in_file)
{
    uint32_t first = 0;

    for (size_t i = 0; i < n_in_file; i++) {
        const struct osc_pack_segment *s = &w->segments[i].head;

        if (s->seq == seq && s->first_slot + s->n_slots > first)
            first = s->first_slot + s->n_slots;
    }
    return first;
}

/* The end of the last record of an OPEN block; unused slots are empty since the block was
 * taken. */
static inline uint32_t walk_end(const struct osc_block *b)
{
    for (uint32_t i = OSC_BLOCK_SLOTS; i > 0; i--) {
        const uint64_t word = b->slots[i - 1].word;

        if (osc_record_tag(word) == b->tag)
            return i - 1 + osc_record_n_slots(word);
    }
    return 0;
}

/* How many of the blocks that H counts lie in the LEN bytes that are mapped, which include the
 * header and the threads. Others were added since: the flusher grows the file when it begins.
 */
static inline uint32_t walk_n_blocks(const struct osc_live_header *h, size_t len)
{
    const size_t n_mapped = (len - OSC_LIVE_BLOCKS_AT) / OSC_BLOCK_BYTES;
    const uint32_t n = __atomic_load_n(&h->n_blocks, __ATOMIC_ACQUIRE);

    return n < n_mapped ? n : (uint32_t)n_mapped;
}

static inline void walk_live(struct walk *w, const char *path)
{
    const size_t n_in_file = w->n_segments;
    size_t len;
    const unsigned char *p = walk_map(path, &len);
    const struct osc_live_header *h = (const struct osc_live_header *)(const void *)p;

    if (!p || len < OSC_LIVE_BLOCKS_AT || h->magic != OSC_LIVE_MAGIC ||
        h->state == OSC_LIVE_ENDED)
        return;
    const uint32_t n_blocks = walk_n_blocks(h, len);

    walk_lost(w, h->lost);
    walk_lost(w, h->lost_gone);
    for (uint32_t i = 0; i < h->n_threads && i < OSC_LIVE_THREADS; i++) {
        const struct osc_live_thread *t =
            (const struct osc_live_thread *)(const void *)(p + OSC_LIVE_THREADS_AT) + i;
        struct osc_wire_thread thread = {.ordinal = t->ordinal};

        memcpy(thread.lost, t->lost, sizeof thread.lost);
        if (t->state != OSC_THREAD_UNUSED)
            walk_threads(w, (const unsigned char *)&thread, sizeof thread);
    }
    w->packed_room = n_blocks * osc_pack_bound(OSC_BLOCK_SLOTS);
    w->packed = mmap(NULL, w->packed_room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (w->packed == MAP_FAILED)
        walk_die("no memory", path);
    for (uint32_t i = 0; i < n_blocks; i++) {
        const struct osc_block *b =
            (const struct osc_block *)(const void *)(p + OSC_LIVE_BLOCKS_AT) + i;
        struct osc_pack_range range = {.take_all = true};
        struct osc_pack_segment head;
        struct osc_pack_times times = {0};

        if (b->state == OSC_BLOCK_FREE)
            continue;
        range.first_slot = walk_first(w, b->seq, n_in_file);
        range.end_slot = b->state == OSC_BLOCK_FULL ? b->used_slots : walk_end(b);
        unsigned char *out = w->packed + w->packed_used;

        w->packed_used += osc_pack_block(b, range, &head, out, &times);
        if (head.n_records > 0)
            walk_add(w, &head, out);
    }
}

static inline int walk_by_seq(const void *x, const void *y)
{
    const struct osc_pack_segment *a = &((const struct walk_segment *)x)->head;
    const struct osc_pack_segment *b = &((const struct walk_segment *)y)->head;

    if (a->seq != b->seq)
        return a->seq < b->seq ? -1 : 1;
    return (a->first_slot > b->first_slot) - (a->first_slot < b->first_slot);
}

/* Call FN for all records of OUT, the path of NAME.osc, and add to LOST how many are missing.
 * Returns the number of unfinished slots. */
static inline uint64_t walk_recording(const char *out, walk_fn fn, void *ctx,
                                      uint64_t lost[OSC_LOSS_COUNT])
{
    static struct walk_segment segments[WALK_SEGMENTS_MAX];
    struct walk w = {.segments = segments, .lost = lost};
    char path[WALK_PATH];

    w.of_threads = calloc(WALK_THREADS_MAX, sizeof *w.of_threads);
    if (!w.of_threads)
        walk_die("no memory", out);
    walk_file(&w, out);
    (void)snprintf(path, sizeof path, "%s.live/blocks", out);
    walk_live(&w, path);
    osc_sort(segments, w.n_segments, sizeof *segments, walk_by_seq);
    for (size_t i = 0; i < w.n_segments; i++) {
        const struct osc_pack_segment *head = &segments[i].head;
        struct osc_unpack u = {.at = segments[i].bytes,
                               .end = segments[i].bytes + head->n_bytes,
                               .ticks = head->start_ticks};
        struct osc_packed r;
        uint32_t n = 0;

        for (; osc_unpack_next(&u, &r); n++)
            fn(ctx, head->thread, &r);
        if (!u.at || n != head->n_records)
            walk_die("a segment makes no sense", out);
    }
    free(w.of_threads);
    if (w.packed)
        (void)munmap(w.packed, w.packed_room);
    return w.n_unfinished;
}
