/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <string.h>

#include "base/mem.h"
#include "support/unit.h"

static bool has(const char *pattern, const char *text)
{
    struct osc_regex *r;
    struct osc_err err = {0};

    assert_int_equal(osc_regex_open(&r, osc_str_c(pattern), false, &err), OSC_OK);
    const bool found = osc_regex_has(r, osc_str_c(text));
    assert_int_equal(osc_regex_has(r, osc_str_c(text)), found);
    osc_regex_close(r);
    return found;
}

static void refuses(const char *pattern)
{
    struct osc_regex *r;
    struct osc_err err = {0};

    assert_int_equal(osc_regex_open(&r, osc_str_c(pattern), false, &err), OSC_EINVAL);
    assert_null(r);
    assert_true(strstr(err.message, pattern) != NULL);
}

TEST(matches)
{
    assert_true(has("", ""));
    assert_true(has("conv", "aten::CONV2d"));
    assert_false(has("conv", "con v"));
    assert_true(has("^aten::(mm|add)_?$", "aten::add_"));
    assert_true(has("^aten::(?:mm|add)_?$", "aten::mm"));
    assert_false(has("^aten::(mm|add)_?$", "aten::addmm"));
    assert_true(has("a.*c+d", "xxabbccd"));
    assert_false(has("a.*c+d", "xxabbd"));
    assert_true(has("a|b|", "zzz"));
    assert_true(has("[x-z]\\d", "Y7"));
    assert_false(has("[^x-z]\\d", "y7"));
    assert_true(has("[]a]b", "]b"));
    assert_true(has("[\\]a-]b", "-b"));
    assert_true(has("[\\d_]z", "_z"));
    assert_true(has("\\bmm\\b", "aten::mm"));
    assert_false(has("\\bmm\\b", "aten::addmm"));
    assert_true(has("\\(lambda\\)", "f(lambda)"));
    assert_true(has("{lambda}", "f{lambda}"));
    assert_true(has("\\S\\W\\D$", "a b"));
    assert_true(has("a+?b", "aab"));
    assert_true(has("(a*)*b", "aaab"));
    assert_true(has("(a|(b|c)+)*d$", "abcbcad"));
}

TEST(takes_any_text)
{
    struct osc_regex *r;

    assert_int_equal(osc_regex_open(&r, OSC_STR("a.(b"), true, NULL), OSC_OK);
    assert_true(osc_regex_has(r, OSC_STR("xA.(b")));
    assert_false(osc_regex_has(r, OSC_STR("axb")));
    osc_regex_close(r);
}

TEST(refuses_what_is_malformed)
{
    char deep[500];

    refuses("(a");
    refuses("a)");
    refuses("[a");
    refuses("*a");
    refuses("a\\");
    refuses("[z-a]");
    refuses("a**");
    refuses("?:a");
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    struct osc_regex *r;
    assert_int_equal(osc_regex_open(&r, osc_str_c(deep), false, NULL), OSC_EINVAL);
}

/* What takes exponential time if ways are tried one after another. */
TEST(is_never_slow)
{
    char pattern[OSC_REGEX_LENGTH_MAX + 1] = "", text[401];

    for (int i = 0; i < 300; i++)
        strcat(pattern, "a?");
    for (int i = 0; i < 300; i++)
        strcat(pattern, "a");
    memset(text, 'a', sizeof text - 1);
    text[300] = '\0';
    assert_true(has(pattern, text));
    text[299] = '\0';
    assert_false(has(pattern, text));
    memset(text, 'a', sizeof text - 1);
    text[400] = '\0';
    assert_false(has("^(a|a)*(a|aa)*b$", text));
}

TEST(stops_in_a_long_text_when_the_caller_is_cancelled)
{
    enum { LENGTH = 1 << 22 };
    struct osc_mem_account account = {0};
    char *const text = osc_malloc(LENGTH);
    struct osc_regex *r;

    assert_non_null(text);
    memset(text, 'a', LENGTH);
    text[LENGTH - 1] = 'b';
    assert_int_equal(osc_regex_open(&r, OSC_STR("b"), false, NULL), OSC_OK);
    struct osc_mem_account *const before = osc_mem_enter(&account);
    assert_true(osc_regex_has(r, (struct osc_str){text, LENGTH}));
    osc_mem_cancel(&account);
    assert_false(osc_regex_has(r, (struct osc_str){text, LENGTH}));
    (void)osc_mem_enter(before);
    assert_true(osc_regex_has(r, (struct osc_str){text, LENGTH}));
    osc_regex_close(r);
    osc_free(text);
}

/* Assert that the part of TEXT that PATTERN finds makes LABEL of it; NULL: it finds none. */
static void labels(const char *pattern, const char *text, const char *label)
{
    struct osc_regex_span spans[OSC_REGEX_GROUPS_MAX + 1];
    struct osc_strbuf out = {0};
    struct osc_regex *r;

    assert_int_equal(osc_regex_open(&r, osc_str_c(pattern), false, NULL), OSC_OK);
    assert_int_equal(osc_regex_prepare(r), OSC_OK);
    for (int again = 0; again < 2; again++) {
        const bool found = osc_regex_find(r, osc_str_c(text), spans);

        assert_int_equal(found, label != NULL);
        assert_int_equal(found, osc_regex_has(r, osc_str_c(text)));
        osc_strbuf_clear(&out);
        if (found)
            osc_regex_label(r, osc_str_c(pattern), osc_str_c(text), spans, &out);
        assert_int_equal(out.status, OSC_OK);
        if (found)
            assert_string_equal(out.s, label);
    }
    osc_strbuf_fini(&out);
    osc_regex_close(r);
}

TEST(a_label_is_the_pattern_with_what_its_groups_match)
{
    labels("execute_.*_generation_([0-9]+)", "execute_context_5(40)_generation_3(3)",
           "execute_.*_generation_3");
    labels("gemm", "ampere_sgemm_128", "gemm");
    labels("gemm", "conv", NULL);
    labels("(a+)(b*)", "xaab", "aab");
    labels("(a+?)(a*)", "aaa", "aaa");
    labels("^(x|xy)(y?)$", "xy", "^xy$");
    labels("(a)|(b)", "b", "|b");       /* a group that takes no part is empty */
    labels("((a)b)c", "abc", "abc");    /* of nested groups the outer one */
    labels("(?:a)(b)", "ab", "(?:a)b"); /* of these no place is kept */
    labels("(a.)*z", "abacz", "ac*z");  /* of repeated ones the last */
    labels("layer\\.(\\d+)\\.", "encoder.layer.11.attention", "layer\\.11\\.");
}

TEST(what_is_found_is_the_first_and_the_preferred)
{
    struct osc_regex_span spans[OSC_REGEX_GROUPS_MAX + 1];
    struct osc_regex *r;

    assert_int_equal(osc_regex_open(&r, OSC_STR("b+(c?)"), false, NULL), OSC_OK);
    assert_int_equal(osc_regex_prepare(r), OSC_OK);
    assert_true(osc_regex_find(r, OSC_STR("abbcbc"), spans));
    assert_int_equal(spans[0].from, 1);
    assert_int_equal(spans[0].to, 4);
    assert_int_equal(spans[1].from, 3);
    assert_int_equal(spans[1].to, 4);
    osc_regex_close(r);
}

UNIT_MAIN("regex")
