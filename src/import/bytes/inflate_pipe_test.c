/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/inflate_pipe.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "support/unit.h"

TEST(says_that_a_format_is_not_built_in)
{
    struct osc_pipe *pipe;
    struct osc_input in;
    struct osc_err err = {0};

    osc_input_open_memory(&in, "a.gz", OSC_STR("x"));
    assert_int_equal(osc_pipe_open(&pipe, &in, OSC_INFLATE_NONE, 100, true, &err), OSC_EINVAL);
    osc_pipe_close(pipe);
    assert_memory_equal(err.message, "a.gz: this opscope was built without", 36);
    osc_pipe_close(NULL);
}

#if OSC_WITH_GZIP

#include <isa-l/igzip_lib.h>

#define TEXT_BYTES 100000u

static char byte_at(size_t i)
{
    return (char)('a' + i * i % 19);
}

/* Compress a text of TEXT_BYTES into members of MEMBER bytes each. */
static struct osc_strbuf pack(size_t member)
{
    static char text[TEXT_BYTES], room[2 * TEXT_BYTES];
    struct osc_strbuf out = {0};

    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = byte_at(i);
    for (size_t at = 0; at < TEXT_BYTES; at += member) {
        struct isal_zstream z;

        isal_deflate_stateless_init(&z);
        z.gzip_flag = IGZIP_GZIP;
        z.next_in = (uint8_t *)text + at;
        z.avail_in = (uint32_t)(TEXT_BYTES - at < member ? TEXT_BYTES - at : member);
        z.next_out = (uint8_t *)room;
        z.avail_out = sizeof room;
        assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
        osc_strbuf_add(&out, room, sizeof room - z.avail_out);
    }
    assert_int_equal(out.status, OSC_OK);
    return out;
}

struct drained {
    osc_status status;
    struct osc_err err;
    size_t n_bytes, n_blocks;
    uint64_t taken;
    bool has_garbage;
};

/* Read everything in the first LEN bytes of PACKED and check the first N_SURE of its bytes. */
static struct drained drain_some(const struct osc_strbuf *packed, size_t len,
                                 size_t block_bytes, bool is_threaded, size_t n_sure)
{
    struct drained d = {0};
    struct osc_pipe *pipe;
    struct osc_input in;
    char *data;
    size_t n;

    osc_input_open_memory(&in, "a.gz", (struct osc_str){packed->s, (uint32_t)len});
    assert_int_equal(
        osc_pipe_open(&pipe, &in, OSC_INFLATE_GZIP, block_bytes, is_threaded, &d.err), OSC_OK);
    struct osc_blocks *blocks = osc_pipe_blocks(pipe);
    while ((d.status = blocks->next(blocks, &data, &n, &d.err)) == OSC_OK && n > 0) {
        assert_true(n <= block_bytes);
        for (size_t i = 0; i < n && d.n_bytes + i < n_sure; i++)
            assert_int_equal(data[i], byte_at(d.n_bytes + i));
        memset(data - OSC_TEXT_HEADROOM, 'X', OSC_TEXT_HEADROOM); /* writable by contract */
        memset(data + n, 0, OSC_TEXT_PADDING);
        d.n_bytes += n;
        d.n_blocks++;
    }
    /* Another call returns the same. */
    assert_int_equal(blocks->next(blocks, &data, &n, &d.err), d.status);
    assert_int_equal(n, 0);
    d.taken = osc_pipe_taken(pipe);
    d.has_garbage = osc_pipe_has_garbage(pipe);
    osc_pipe_close(pipe);
    return d;
}

/* The same, and check every byte. */
static struct drained drain(const struct osc_strbuf *packed, size_t len, size_t block_bytes,
                            bool is_threaded)
{
    return drain_some(packed, len, block_bytes, is_threaded, SIZE_MAX);
}

TEST(hands_out_the_text_in_full_blocks)
{
    static const size_t block_bytes[] = {1000, 4096, 99999, 100000, 100001, 1 << 20};

    for (size_t member = 7000; member <= TEXT_BYTES; member += TEXT_BYTES - 7000) {
        struct osc_strbuf packed = pack(member);

        for (size_t i = 0; i < 2 * (sizeof block_bytes / sizeof *block_bytes); i++) {
            const struct drained d = drain(&packed, packed.len, block_bytes[i / 2], i % 2);

            assert_int_equal(d.status, OSC_OK);
            assert_int_equal(d.n_bytes, TEXT_BYTES);
            assert_int_equal(d.n_blocks,
                             (TEXT_BYTES + block_bytes[i / 2] - 1) / block_bytes[i / 2]);
            assert_int_equal(d.taken, packed.len);
            assert_false(d.has_garbage);
        }
        osc_strbuf_fini(&packed);
    }
}

TEST(hands_out_what_stands_before_a_cut_or_damage)
{
    struct osc_strbuf packed = pack(20000);

    for (int i = 0; i < 4; i++) {
        const bool is_threaded = i % 2, is_cut = i < 2;

        if (!is_cut)
            memset(packed.s + packed.len / 2, 0xff, 100);
        /* What the damaged bytes stand for, the compressor of the processor decides. */
        const struct drained d = drain_some(&packed, is_cut ? packed.len / 2 : packed.len, 1000,
                                            is_threaded, is_cut ? SIZE_MAX : 40000);
        assert_int_equal(d.status, is_cut ? OSC_ETRUNC : OSC_EFORMAT);
        assert_true(d.n_bytes >= 40000 && d.n_bytes < TEXT_BYTES);
        assert_memory_equal(d.err.message, "gzip member 3: ", 15);
    }
    osc_strbuf_fini(&packed);
}

TEST(tells_what_stands_behind_the_last_member)
{
    struct osc_strbuf packed = pack(TEXT_BYTES);

    osc_strbuf_pad(&packed, '\0', 10);
    assert_false(drain(&packed, packed.len, 1000, true).has_garbage);
    osc_strbuf_adds(&packed, "more");
    for (int i = 0; i < 2; i++) {
        const struct drained d = drain(&packed, packed.len, 1000, i == 1);
        assert_int_equal(d.status, OSC_OK);
        assert_int_equal(d.n_bytes, TEXT_BYTES);
        assert_true(d.has_garbage);
    }
    osc_strbuf_fini(&packed);
}

TEST(may_be_closed_before_it_is_drained)
{
    struct osc_strbuf packed = pack(TEXT_BYTES);

    for (int n_blocks = 0; n_blocks < 10; n_blocks++) {
        struct osc_pipe *pipe;
        struct osc_input in;
        char *data;
        size_t n;

        osc_input_open_memory(&in, "a.gz", (struct osc_str){packed.s, (uint32_t)packed.len});
        assert_int_equal(osc_pipe_open(&pipe, &in, OSC_INFLATE_GZIP, 1000, true, NULL), OSC_OK);
        for (int i = 0; i < n_blocks; i++) {
            struct osc_blocks *blocks = osc_pipe_blocks(pipe);
            assert_int_equal(blocks->next(blocks, &data, &n, NULL), OSC_OK);
            assert_int_equal(n, 1000);
        }
        osc_pipe_close(pipe);
    }
    osc_strbuf_fini(&packed);
}

TEST(survives_any_failed_allocation)
{
    struct osc_strbuf packed = pack(TEXT_BYTES);
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_err err = {0};
        struct osc_pipe *pipe;
        struct osc_input in;
        size_t len = 0;
        char *data;

        osc_input_open_memory(&in, "a.gz", (struct osc_str){packed.s, (uint32_t)packed.len});
        osc_mem_fail_after(n);
        st = osc_pipe_open(&pipe, &in, OSC_INFLATE_GZIP, 1000, false, &err);
        if (st == OSC_OK)
            st = osc_pipe_blocks(pipe)->next(osc_pipe_blocks(pipe), &data, &len, &err);
        /* First come the bytes that were inflated before the failure, then the failure. */
        if (st == OSC_OK && len < 1000)
            st = osc_pipe_blocks(pipe)->next(osc_pipe_blocks(pipe), &data, &len, &err);
        osc_mem_fail_after(-1);
        osc_pipe_close(pipe);
        assert_true(st == OSC_OK ? len == 1000 : st == OSC_ENOMEM && n < 100);
        if (st != OSC_OK)
            assert_string_equal(err.message, "a.gz: out of memory");
    }
    osc_strbuf_fini(&packed);
}

#endif

UNIT_MAIN("inflate_pipe")
