/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/osc_file.h"

#include "base/mem.h"
#include "support/unit.h"

#define N_CHUNKS 3u

/* A file of three chunks: header, payloads of 10, 64 and 100 bytes, index and trailer. */
struct sample {
    unsigned char bytes[1024];
    uint32_t size, index_at;
    uint64_t offsets[N_CHUNKS];
};

static const uint64_t sizes[N_CHUNKS] = {10, 64, 100};

/* Append N bytes at P, padded to a multiple of 64. */
static void add(struct sample *s, const void *p, size_t n)
{
    memcpy(s->bytes + s->size, p, n);
    s->size += (uint32_t)(n + 63) / 64 * 64;
}

static void make(struct sample *s, enum osc_chunk_type type)
{
    struct osc_file_header file = {.version = OSC_FILE_VERSION, .header_bytes = 64};
    struct osc_wire_index_entry index[N_CHUNKS];
    unsigned char payload[128];

    memset(s, 0, sizeof *s);
    osc_file_header_seal(&file);
    add(s, &file, sizeof file);
    for (uint32_t i = 0; i < N_CHUNKS; i++) {
        memset(payload, (int)('a' + i), sizeof payload);
        index[i] = (struct osc_wire_index_entry){
            s->size,
            {.type = (uint16_t)type, .payload_bytes = sizes[i], .n_items = i, .n_before = i}};
        index[i].header.payload_hash =
            osc_wire_payload_hash((uint16_t)type, payload, (size_t)sizes[i]);
        osc_wire_header_seal(&index[i].header);
        s->offsets[i] = s->size;
        add(s, &index[i].header, sizeof index[i].header);
        add(s, payload, sizes[i]);
    }
    struct osc_wire_header h = {.type = OSC_CHUNK_INDEX, .payload_bytes = sizeof index};
    h.payload_hash = osc_wire_hash(index, sizeof index);
    osc_wire_header_seal(&h);
    s->index_at = s->size;
    add(s, &h, sizeof h);
    add(s, index, sizeof index);
    const struct osc_trailer trailer = {s->index_at, OSC_TRAILER_MAGIC};
    memcpy(s->bytes + s->size, &trailer, sizeof trailer);
    s->size += sizeof trailer;
}

static osc_status open_sample(struct osc_file *f, struct osc_input *in, const struct sample *s)
{
    *f = (struct osc_file){0};
    osc_input_open_memory(in, "a.osc", (struct osc_str){(const char *)s->bytes, s->size});
    return osc_file_open(f, in, OSC_INFLATE_NONE, NULL);
}

/* The number of undamaged payloads of F. */
static size_t count_good(const struct osc_file *f)
{
    unsigned char *payload = NULL;
    size_t cap = 0, n = 0;

    for (size_t i = 0; i < f->n_chunks; i++)
        n += osc_file_payload(f, i, &payload, &cap) == OSC_OK;
    osc_free(payload);
    return n;
}

TEST(takes_the_chunks_of_a_finished_file_from_its_index)
{
    struct sample s;
    struct osc_file f;
    struct osc_input in;

    make(&s, OSC_CHUNK_RECORDS);
    assert_int_equal(osc_file_probe((const char *)s.bytes, 64), 100);
    assert_int_equal(open_sample(&f, &in, &s), OSC_OK);
    assert_true(f.header_is_good && f.has_index);
    assert_false(osc_file_has_columns(&f));
    assert_int_equal(f.n_chunks, N_CHUNKS);
    for (uint32_t i = 0; i < N_CHUNKS; i++)
        assert_int_equal(f.chunks[i].offset, s.offsets[i]);
    assert_int_equal(f.n_gaps, 0);
    assert_int_equal(count_good(&f), N_CHUNKS);
    osc_file_close(&f);
}

TEST(walks_a_file_that_ends_anywhere)
{
    struct sample s;
    struct osc_file f;
    struct osc_input in;

    make(&s, OSC_CHUNK_MODEL);
    const uint32_t whole = s.size;
    for (s.size = 64; s.size < whole; s.size++) {
        size_t n = 0;

        while (n < N_CHUNKS && s.offsets[n] + 64 + sizes[n] <= s.size)
            n++;
        assert_int_equal(open_sample(&f, &in, &s), OSC_OK);
        assert_false(f.has_index);
        assert_int_equal(f.n_chunks, n);
        assert_int_equal(count_good(&f), n);
        /* The rest of the next chunk is a gap, with the chunk's header if that is complete. */
        if (n < N_CHUNKS && s.size > s.offsets[n]) {
            assert_int_equal(f.n_gaps, 1);
            assert_int_equal(f.gaps[0].offset, s.offsets[n]);
            assert_int_equal(f.gaps[0].is_cut, s.size >= s.offsets[n] + 64);
        }
        assert_int_equal(osc_file_has_columns(&f), n > 0);
        osc_file_close(&f);
    }
    s.size = 63;
    assert_int_equal(open_sample(&f, &in, &s), OSC_EFORMAT);
    osc_file_close(&f);
}

TEST(loses_at_most_the_chunk_in_which_a_byte_is_wrong)
{
    struct sample s;
    struct osc_file f;
    struct osc_input in;

    make(&s, OSC_CHUNK_RECORDS);
    for (uint32_t at = 0; at < s.size; at++) {
        s.bytes[at] ^= 0x10;
        assert_true(osc_file_probe((const char *)s.bytes, 64) >= 90);
        assert_int_equal(open_sample(&f, &in, &s), OSC_OK);
        const size_t n_good = count_good(&f);
        assert_true(n_good >= N_CHUNKS - 1);
        if (at >= s.index_at)
            assert_int_equal(n_good, N_CHUNKS);
        assert_int_equal(f.header_is_good, at >= 64);
        osc_file_close(&f);
        s.bytes[at] ^= 0x10;
    }
}

TEST(finds_the_next_header_when_one_is_damaged_and_there_is_no_index)
{
    struct sample s;
    struct osc_file f;
    struct osc_input in;

    make(&s, OSC_CHUNK_RECORDS);
    s.bytes[s.index_at] ^= 1;
    s.bytes[s.offsets[1] + 20] ^= 1;
    assert_int_equal(open_sample(&f, &in, &s), OSC_OK);
    assert_int_equal(f.n_chunks, 2);
    assert_int_equal(f.chunks[1].offset, s.offsets[2]);
    assert_int_equal(f.n_gaps, 2); /* the chunk, and the index */
    assert_int_equal(f.gaps[0].offset, s.offsets[1]);
    assert_int_equal(f.gaps[0].n_bytes, s.offsets[2] - s.offsets[1]);
    assert_int_equal(f.gaps[0].next, 1);
    assert_false(f.gaps[0].is_cut);
    osc_file_close(&f);
}

TEST(says_which_version_it_does_not_know)
{
    struct sample s;
    struct osc_file f = {0};
    struct osc_file_header *const h = (struct osc_file_header *)(void *)s.bytes;
    struct osc_input in;
    struct osc_err err = {0};

    make(&s, OSC_CHUNK_RECORDS);
    h->version = 7;
    osc_file_header_seal(h);
    osc_input_open_memory(&in, "a.osc", (struct osc_str){(const char *)s.bytes, s.size});
    assert_int_equal(osc_file_open(&f, &in, OSC_INFLATE_NONE, &err), OSC_EFORMAT);
    assert_string_equal(err.message,
                        "a.osc: version 7 of the format; this opscope reads version 1");
    osc_file_close(&f);
}

TEST(gives_all_back_when_an_allocation_fails)
{
    struct sample s;
    struct osc_file f;
    struct osc_input in;
    osc_status st = OSC_ENOMEM;

    for (int broken = 0; broken < 2; broken++, st = OSC_ENOMEM) {
        make(&s, OSC_CHUNK_RECORDS);
        s.bytes[s.index_at] ^= (unsigned char)broken;
        s.bytes[s.offsets[1]] ^= (unsigned char)broken;
        for (long n = 0; st != OSC_OK; n++) {
            osc_mem_fail_after(n);
            st = open_sample(&f, &in, &s);
            osc_mem_fail_after(-1);
            assert_true(st == OSC_OK || st == OSC_ENOMEM);
            osc_file_close(&f);
        }
    }
}

UNIT_MAIN("osc_file")
