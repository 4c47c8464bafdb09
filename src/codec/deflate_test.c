/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/deflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "codec/inflate.h"

#if OSC_WITH_GZIP

#include <zlib.h>

/* Inflate all of IN to OUT. */
static enum osc_inflate_state inflate_all(const struct osc_strbuf *in, struct osc_strbuf *out)
{
    unsigned char room[4096];
    struct osc_inflate_io io = {
        .in = (const unsigned char *)in->s, .n_in = in->len, .is_last = true};
    enum osc_inflate_state state = OSC_INFLATE_MORE;
    struct osc_inflate *z;
    struct osc_err err = {0};

    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, &err), OSC_OK);
    while (state == OSC_INFLATE_MORE || state == OSC_INFLATE_END_OF_MEMBER) {
        io.out = room;
        io.n_out = sizeof room;
        state = osc_inflate_run(z, &io, &err);
        osc_strbuf_add(out, (const char *)room, sizeof room - io.n_out);
    }
    if (state == OSC_INFLATE_END)
        assert_int_equal(osc_inflate_info(z)->n_members, 1);
    osc_inflate_free(z);
    return state;
}

/* Compress TEXT in blocks of BLOCK bytes to one gzip file. */
static void pack(enum osc_deflate_way way, const struct osc_strbuf *text, size_t block,
                 struct osc_strbuf *out)
{
    struct osc_deflate_sum sum = {0};
    struct osc_deflate *z;
    char head[OSC_DEFLATE_HEADER_BYTES], tail[OSC_DEFLATE_TRAILER_BYTES];

    osc_deflate_header(head);
    osc_strbuf_add(out, head, sizeof head);
    assert_int_equal(osc_deflate_new(way, &z), OSC_OK);
    for (size_t at = 0; at < text->len; at += block) {
        const size_t n = text->len - at < block ? text->len - at : block;
        const char *packed;
        size_t len;

        assert_int_equal(osc_deflate_block(z, text->s + at, n, &packed, &len), OSC_OK);
        osc_deflate_sum_add(&sum, text->s + at, n);
        osc_strbuf_add(out, packed, len);
    }
    osc_deflate_free(z);
    osc_deflate_trailer(&sum, tail);
    osc_strbuf_add(out, tail, sizeof tail);
}

static void comes_back(const struct osc_strbuf *text, size_t block)
{
    for (int way = OSC_DEFLATE_QUICK; way <= OSC_DEFLATE_SMALL; way++) {
        struct osc_strbuf packed = {0}, again = {0};

        pack((enum osc_deflate_way)way, text, block, &packed);
        assert_int_equal(inflate_all(&packed, &again), OSC_INFLATE_END);
        assert_int_equal(again.len, text->len);
        if (text->len > 0)
            assert_memory_equal(again.s, text->s, text->len);
        osc_strbuf_fini(&packed);
        osc_strbuf_fini(&again);
    }
}

/* Records as Chrome's traces have them. */
static void make_records(struct osc_strbuf *text, int n)
{
    uint64_t random = 88172645463325252;

    for (int i = 0; i < n; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        osc_strbuf_addf(text,
                        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", "
                        "\"ts\": %d.%03d, \"dur\": %d, \"args\": {\"External id\": %d}},\n",
                        (int)(random % 97), 1000 + 7 * i, (int)(random % 1000),
                        (int)(random >> 50), i);
    }
}

/* In pieces as the writer of traces has them. */
static void small_blocks_are_no_larger_than_those_of_gzip(void **state)
{
    struct osc_strbuf text = {0}, packed = {0};

    (void)state;
    make_records(&text, 40000);
    pack(OSC_DEFLATE_SMALL, &text, (size_t)1 << 20, &packed);

    uLongf n_zlib = compressBound(text.len);
    Bytef *const zlib = osc_malloc(n_zlib);
    assert_non_null(zlib);
    assert_int_equal(compress2(zlib, &n_zlib, (const Bytef *)text.s, text.len, 6), Z_OK);
    assert_true((double)packed.len <= 1.05 * (double)n_zlib);
    osc_free(zlib);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&packed);
}

/* Each length lets the bits of the last block end elsewhere in its byte. */
static void blocks_end_at_every_bit(void **state)
{
    struct osc_strbuf text = {0};

    (void)state;
    make_records(&text, 5);
    for (size_t block = 1; block < 300; block++)
        comes_back(&text, block);
    osc_strbuf_fini(&text);
}

static void blocks_of_any_size_are_one_member(void **state)
{
    struct osc_strbuf text = {0};

    (void)state;
    comes_back(&text, 1);
    for (int i = 0; i < 20000; i++)
        osc_strbuf_addf(&text, "{\"name\":\"op%d\",\"ts\":%d}", i % 17, i * 31);
    comes_back(&text, 1);
    comes_back(&text, 1000);
    comes_back(&text, 100000);
    comes_back(&text, text.len);
    osc_strbuf_fini(&text);
}

static void text_that_does_not_shrink_comes_back(void **state)
{
    struct osc_strbuf text = {0};
    uint64_t random = 88172645463325252;

    (void)state;
    for (int i = 0; i < 300000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        osc_strbuf_addc(&text, (char)(random >> 32));
    }
    comes_back(&text, 7);
    comes_back(&text, 65536);
    comes_back(&text, text.len);
    osc_strbuf_fini(&text);
}

static void a_changed_byte_of_the_text_shows_in_the_sum(void **state)
{
    struct osc_strbuf text = {0}, packed = {0}, again = {0};

    (void)state;
    osc_strbuf_adds(&text, "kernel");
    pack(OSC_DEFLATE_SMALL, &text, 100, &packed);
    packed.s[packed.len - 8] ^= 1; /* the lowest byte of the sum */
    assert_int_equal(inflate_all(&packed, &again), OSC_INFLATE_ERROR);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&packed);
    osc_strbuf_fini(&again);
}

/* What the libraries allocate counts, too: 640 KiB and more. */
static void memory_of_small_blocks_is_counted(void **state)
{
    const size_t before = osc_mem_held();
    struct osc_deflate *z;

    (void)state;
    assert_int_equal(osc_deflate_new(OSC_DEFLATE_SMALL, &z), OSC_OK);
    assert_true(osc_mem_held() > before + ((size_t)640 << 10));
    osc_deflate_free(z);
    assert_int_equal(osc_mem_held(), before);
    osc_mem_set_limit(before + ((size_t)512 << 10));
    assert_int_equal(osc_deflate_new(OSC_DEFLATE_SMALL, &z), OSC_ENOMEM);
    osc_mem_set_limit(SIZE_MAX);
    assert_null(z);
    assert_int_equal(osc_mem_held(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_small_blocks_is_counted),
        cmocka_unit_test(blocks_of_any_size_are_one_member),
        cmocka_unit_test(text_that_does_not_shrink_comes_back),
        cmocka_unit_test(small_blocks_are_no_larger_than_those_of_gzip),
        cmocka_unit_test(blocks_end_at_every_bit),
        cmocka_unit_test(a_changed_byte_of_the_text_shows_in_the_sum),
    };
    return cmocka_run_group_tests_name("deflate", tests, NULL, NULL);
}

#else

static void says_that_it_was_built_without(void **state)
{
    struct osc_deflate *z;

    (void)state;
    assert_false(osc_deflate_is_there());
    assert_int_equal(osc_deflate_new(OSC_DEFLATE_SMALL, &z), OSC_EINVAL);
    assert_null(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without)};

    return cmocka_run_group_tests_name("deflate", tests, NULL, NULL);
}

#endif
