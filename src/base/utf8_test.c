/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/mem.h"
#include "support/unit.h"

#define R "\xef\xbf\xbd" /* U+FFFD */

/* Clean STR and compare with TEXT, at each alignment of the ASCII fast path. */
static void expect_clean(struct osc_str str, struct osc_str text, size_t n_replaced)
{
    struct osc_strbuf b = {0};
    char padded[100] = "0123456789abcdef";

    for (uint32_t pad = 0; pad <= 16; pad++) {
        memcpy(padded + pad, str.s, str.len);
        const struct osc_str whole = {padded, pad + str.len};

        osc_strbuf_clear(&b);
        assert_int_equal(osc_utf8_append_clean(&b, whole), n_replaced);
        assert_int_equal(b.len, pad + text.len);
        assert_memory_equal(b.s + pad, text.s, text.len);
        assert_true(osc_utf8_valid(b.s, b.len));
        assert_int_equal(osc_utf8_valid(padded, whole.len), n_replaced == 0);
        memcpy(padded, "0123456789abcdef", 17);
    }
    osc_strbuf_fini(&b);
}

/* Assert that a terminal is shown SHOWN for STR. */
static void assert_shown(struct osc_str str, const char *shown)
{
    struct osc_strbuf b = {0};

    osc_utf8_append_terminal(&b, str);
    assert_string_equal(b.s, shown);
    osc_strbuf_fini(&b);
}

TEST(what_a_terminal_does_not_show_is_named)
{
    /* Right to left override and back, zero width space and joiner, byte order mark. */
    assert_shown(OSC_STR("a\xe2\x80\xae"
                         "b\xe2\x80\xac"),
                 "a\\u202eb\\u202c");
    assert_shown(OSC_STR("\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf"), "\\u200b\\u200d\\ufeff");
    /* Isolates, a line separator, a soft hyphen, a filler, a variation selector, a tag. */
    assert_shown(OSC_STR("\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xa8"), "\\u2066\\u2069\\u2028");
    assert_shown(OSC_STR("\xc2\xad\xe3\x85\xa4\xef\xb8\x8f"), "\\u00ad\\u3164\\ufe0f");
    assert_shown(OSC_STR("\xf3\xa0\x80\x81"), "\\U000e0001");
    /* What is next to these is shown: a no-break space, a dash, a bullet, hangul, emoji. */
    assert_shown(OSC_STR("\xc2\xa0\xe2\x80\x90\xe2\x80\xa2\xea\xb0\x80\xf0\x9f\x8e\x89"),
                 "\xc2\xa0\xe2\x80\x90\xe2\x80\xa2\xea\xb0\x80\xf0\x9f\x8e\x89");
}

TEST(valid_text_passes_unchanged)
{
    static const struct osc_str texts[] = {
        {"x", 1},
        {"a\0b", 3},
        {"\x7f\xc2\x80\xdf\xbf", 5},
        {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 12},
        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_clean(texts[i], texts[i], 0);
    assert_true(osc_utf8_valid(NULL, 0));
}

TEST(each_maximal_subpart_is_replaced_once)
{
    /* The example of Unicode 15, table 3-11. */
    expect_clean(OSC_STR("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), OSC_STR(R R R R "A"), 4);
    /* Tables 3-8 to 3-10: overlong forms, surrogates, other ill-formed bytes. */
    expect_clean(OSC_STR("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"), OSC_STR(R R R R R R R R "A"),
                 8);
    expect_clean(OSC_STR("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), OSC_STR(R R R R R R R R "A"),
                 8);
    expect_clean(OSC_STR("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
                 OSC_STR(R R R R R "A" R R "B"), 7);
    expect_clean(OSC_STR("\xe2\x82"), OSC_STR(R), 1);
    expect_clean(OSC_STR("\xf0\x9f\x98"), OSC_STR(R), 1);
}

/* The code point of the N bytes at S by the standard's definition, or -1. */
static int32_t decode(const unsigned char *s, size_t n)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800};
    int32_t code = n == 1 ? s[0] : s[0] & (0x7f >> n);

    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return -1;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code < least[n] || (code >= 0xd800 && code < 0xe000) ? -1 : code;
}

/* For texts of up to three bytes. */
static bool is_valid_by_decoding(const unsigned char *s, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = s[i] < 0x80 ? 1 : s[i] >> 5 == 6 ? 2 : s[i] >> 4 == 14 ? 3 : 0;
        if (n == 0 || n > len - i || decode(s + i, n) < 0)
            return false;
    }
    return true;
}

TEST(agrees_with_a_slow_decoder_on_three_bytes)
{
    /* The step shares no factor with 256, so every pair of bytes occurs. */
    for (uint32_t v = 0; v < 1u << 24; v += 3) {
        const unsigned char s[] = {(unsigned char)v, (unsigned char)(v >> 8),
                                   (unsigned char)(v >> 16)};

        if (osc_utf8_valid((const char *)s, 3) != is_valid_by_decoding(s, 3))
            fail_msg("%02x %02x %02x", s[0], s[1], s[2]);
    }
}

TEST(a_terminal_sees_no_control_character)
{
    struct osc_strbuf b = {0};

    osc_utf8_append_terminal(&b,
                             OSC_STR("a\x1b[2J\0\n\x7f\xc2\x9b\xc2\xa0\xc3\xa9\xff\xe2\x82"));
    assert_string_equal(b.s, "a\\x1b[2J\\x00\\x0a\\x7f\\x9b\xc2\xa0\xc3\xa9" R R);
    osc_strbuf_fini(&b);
}

/* The name S in a column. */
static const char *named(struct osc_str s)
{
    static struct osc_strbuf b;

    osc_strbuf_clear(&b);
    osc_utf8_append_name(&b, s);
    return b.s ? b.s : "";
}

TEST(names_that_differ_in_blanks_do_not_look_the_same)
{
    assert_string_equal(named(OSC_STR("")), "");
    assert_string_equal(named(OSC_STR(" ")), "\\x20");
    assert_string_equal(named(OSC_STR("  ")), "\\x20\\x20");
    assert_string_equal(named(OSC_STR("a b")), "a b");
    assert_string_equal(named(OSC_STR("a  b")), "a \\x20b");
    assert_string_equal(named(OSC_STR(" a b ")), "\\x20a b\\x20");
    assert_string_equal(named(OSC_STR("a\xc2\xa0"
                                      "b\xe3\x80\x80"
                                      "c\xe2\x80\x8b\t\xff")),
                        "a\\u00a0b\\u3000c\\u200b\\x09" R);
}

TEST(width_counts_code_points)
{
    assert_int_equal(osc_utf8_width(OSC_STR("")), 0);
    assert_int_equal(osc_utf8_width(OSC_STR("abc")), 3);
    assert_int_equal(osc_utf8_width(OSC_STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x")), 4);
}

TEST(columns_count_wide_characters_twice_and_accents_not)
{
    const struct osc_str text = OSC_STR("a\xe6\x97\xa5"
                                        "e\xcc\x81\xf0\x9f\x98\x80z");

    assert_int_equal(osc_utf8_columns(OSC_STR("")), 0);
    assert_int_equal(osc_utf8_columns(text), 7);
    assert_int_equal(osc_utf8_head(text, 2), 1); /* half a character is none */
    assert_int_equal(osc_utf8_head(text, 3), 4);
    assert_int_equal(osc_utf8_head(text, 4), 7);
    assert_int_equal(osc_utf8_tail(text, 2), 1);
    assert_int_equal(osc_utf8_tail(text, 3), 5);
    assert_int_equal(osc_utf8_tail(text, 100), text.len);
}

TEST(exhausted_memory_is_kept_in_the_buffer)
{
    struct osc_strbuf b = {0};

    osc_mem_fail_after(0);
    assert_int_equal(osc_utf8_append_clean(&b, OSC_STR("a\xff")), 1);
    osc_utf8_append_terminal(&b, OSC_STR("a\xff\n"));
    osc_mem_fail_after(-1);
    assert_int_equal(b.status, OSC_ENOMEM);
    assert_int_equal(b.len, 0);
    osc_strbuf_fini(&b);
}

UNIT_MAIN("utf8")
