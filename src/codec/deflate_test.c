/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/deflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "codec/inflate.h"

#if OSC_WITH_GZIP

/* Inflate all of IN to OUT. */
static enum osc_inflate_state inflate(const struct osc_strbuf *in, struct osc_strbuf *out)
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
static void pack(const struct osc_strbuf *text, size_t block, struct osc_strbuf *out)
{
    struct osc_deflate_sum sum = {0};
    struct osc_deflate *z;
    char head[OSC_DEFLATE_HEADER_BYTES], tail[OSC_DEFLATE_TRAILER_BYTES];

    osc_deflate_header(head);
    osc_strbuf_add(out, head, sizeof head);
    assert_int_equal(osc_deflate_new(&z), OSC_OK);
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
    struct osc_strbuf packed = {0}, again = {0};

    pack(text, block, &packed);
    assert_int_equal(inflate(&packed, &again), OSC_INFLATE_END);
    assert_int_equal(again.len, text->len);
    if (text->len > 0)
        assert_memory_equal(again.s, text->s, text->len);
    osc_strbuf_fini(&packed);
    osc_strbuf_fini(&again);
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
    pack(&text, 100, &packed);
    packed.s[packed.len - 8] ^= 1; /* the lowest byte of the sum */
    assert_int_equal(inflate(&packed, &again), OSC_INFLATE_ERROR);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&packed);
    osc_strbuf_fini(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_any_size_are_one_member),
        cmocka_unit_test(text_that_does_not_shrink_comes_back),
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
    assert_int_equal(osc_deflate_new(&z), OSC_EINVAL);
    assert_null(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without)};

    return cmocka_run_group_tests_name("deflate", tests, NULL, NULL);
}

#endif
