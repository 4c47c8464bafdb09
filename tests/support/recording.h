/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - read the parts of a recording, for tests of the recorder.
 *
 * Uses only wire/, not the reader of import/. Any damage fails the test.
 *
 * Threading: not locked.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/unit.h"
#include "wire/chunk.h"
#include "wire/pack.h"

struct recording {
    unsigned char *bytes;
    size_t len;
    struct osc_file_header file;
    uint64_t n_chunks[64]; /* by type */
    uint64_t n_kinds[256]; /* records by kind */
    uint64_t n_records, n_unfinished, n_steps;
    uint64_t steps[256]; /* numbers of steps that began, in order */
    uint64_t first_step_ticks, last_end_ticks;
    uint32_t names[256]; /* ids of the first instants */
    uint64_t n_names;
    struct osc_wire_end end;
    struct osc_wire_before before;
    struct osc_wire_dump dump;
    struct osc_wire_thread threads[64]; /* in order of the file */
    uint64_t n_threads;
};

static inline void recording_count(struct recording *r, const struct osc_packed *p)
{
    r->n_kinds[p->kind]++;
    if (p->kind == OSC_RECORD_STEP_BEGIN) {
        if (r->n_steps == 0)
            r->first_step_ticks = p->ticks;
        r->steps[r->n_steps++ % 256] = p->words[0];
    }
    if (p->kind == OSC_RECORD_INSTANT && r->n_names < 256)
        r->names[r->n_names++] = p->id;
}

static inline void recording_unpack(struct recording *r, const unsigned char *payload,
                                    size_t len)
{
    struct osc_pack_segment s;
    size_t at = 0;

    while (osc_pack_next_segment(payload, len, &at, &s)) {
        const unsigned char *const end = payload + at;
        struct osc_unpack u = {.at = end - s.n_bytes, .end = end, .ticks = s.start_ticks};
        struct osc_packed p;
        uint64_t n = 0;

        for (; osc_unpack_next(&u, &p); n++)
            recording_count(r, &p);
        assert_ptr_equal(u.at, end);
        assert_int_equal(n, s.n_records);
        r->n_unfinished += s.n_unfinished;
    }
    assert_int_equal(at, len);
}

static inline void recording_chunk(struct recording *r, const struct osc_wire_header *h,
                                   const unsigned char *payload)
{
    r->n_chunks[h->type]++;
    if (h->type == OSC_CHUNK_RECORDS) {
        assert_int_equal(h->n_before, r->n_records);
        r->n_records += h->n_items;
        recording_unpack(r, payload, h->payload_bytes);
    } else if (h->type == OSC_CHUNK_END) {
        memcpy(&r->end, payload, sizeof r->end);
    } else if (h->type == OSC_CHUNK_BEFORE) {
        memcpy(&r->before, payload, sizeof r->before);
    } else if (h->type == OSC_CHUNK_DUMP) {
        memcpy(&r->dump, payload, sizeof r->dump);
    } else if (h->type == OSC_CHUNK_THREADS) {
        for (uint64_t i = 0; i < h->n_items && r->n_threads < 64; i++)
            memcpy(&r->threads[r->n_threads++], payload + i * sizeof *r->threads,
                   sizeof *r->threads);
    }
}

/* False if there is no such file. */
static inline bool recording_read(struct recording *r, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct osc_wire_header h;
    struct stat st;

    memset(r, 0, sizeof *r);
    if (fd < 0)
        return false;
    assert_int_equal(fstat(fd, &st), 0);
    r->len = (size_t)st.st_size;
    r->bytes = osc_malloc(r->len + 1);
    assert_non_null(r->bytes);
    assert_int_equal(read(fd, r->bytes, r->len), r->len);
    close(fd);
    memcpy(&r->file, r->bytes, sizeof r->file);
    assert_true(osc_file_header_is_good(&r->file));
    for (size_t at = sizeof r->file; at + sizeof h <= r->len;) {
        memcpy(&h, r->bytes + at, sizeof h);
        assert_true(osc_wire_header_is_good(&h));
        const unsigned char *payload = r->bytes + at + sizeof h;
        at += osc_wire_chunk_bytes(h.payload_bytes);
        assert_in_range(at, 0, r->len);
        assert_int_equal(h.payload_hash, osc_wire_hash(payload, h.payload_bytes));
        recording_chunk(r, &h, payload);
    }
    return true;
}

/* Whether a chunk of names has the text S as the name ID. */
static inline bool recording_has_name(const struct recording *r, uint32_t id, const char *s)
{
    struct osc_wire_header h;

    for (size_t at = sizeof r->file; at + sizeof h <= r->len;
         at += osc_wire_chunk_bytes(h.payload_bytes)) {
        struct osc_wire_strings prefix;

        memcpy(&h, r->bytes + at, sizeof h);
        const unsigned char *payload = r->bytes + at + sizeof h;
        if (h.type != OSC_CHUNK_STRINGS)
            continue;
        memcpy(&prefix, payload, sizeof prefix);
        const uint64_t offset = (uint64_t)id * 8 - prefix.log_offset + sizeof prefix;
        if ((uint64_t)id * 8 >= prefix.log_offset &&
            offset + 8 + strlen(s) <= h.payload_bytes &&
            memcmp(payload + offset + 8, s, strlen(s)) == 0 &&
            payload[offset] == (unsigned char)(strlen(s) + 1))
            return true;
    }
    return false;
}

static inline void recording_free(struct recording *r)
{
    osc_free(r->bytes);
    r->bytes = NULL;
}
