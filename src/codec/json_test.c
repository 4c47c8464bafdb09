/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include "support/unit.h"

#include <math.h>

TEST(takes_numbers_as_json_has_them_and_no_others)
{
    static const struct {
        const char *text;
        bool is_number, fits;
        int64_t i;
    } cases[] = {
        {"0", true, true, 0},
        {"-0", true, true, 0},
        {"9223372036854775807", true, true, INT64_MAX},
        {"-9223372036854775808", true, true, INT64_MIN},
        {"9223372036854775808", true, false, 0},
        {"-9223372036854775809", true, false, 0},
        {"18446744073709551616", true, false, 0},
        {"99999999999999999999999999", true, false, 0},
        {"1.5", true, false, 0},
        {"1e3", true, false, 0},
        {"", false, false, 0},
        {"-", false, false, 0},
        {"+1", false, false, 0},
        {"01", false, false, 0},
        {"1.", false, false, 0},
        {".5", false, false, 0},
        {"1e", false, false, 0},
        {"1e+", false, false, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct osc_str s = osc_str_c(cases[i].text);
        struct osc_json_number n;
        int64_t v = 0;

        assert_int_equal(osc_json_number(s.s, s.s + s.len, &n), cases[i].is_number);
        assert_int_equal(osc_json_int(s, &v), cases[i].fits);
        assert_true(v == cases[i].i);
    }
    int64_t v = 7;
    assert_false(osc_json_int(OSC_STR("12 "), &v));
    assert_int_equal(v, 7);
}

TEST(reads_doubles_to_the_nearest)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0.1", 0.1},
        {"-0.0", -0.0},
        {"123456789.125", 123456789.125},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000000000000000000000001",
         9007199254740994.0},
        {"5e-324", 5e-324},
        {"0.00000000000000000000000000000001", 1e-32},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct osc_str s = osc_str_c(cases[i].text);
        const double d = osc_json_double(s.s, s.s + s.len);

        assert_memory_equal(&d, &cases[i].value, sizeof d);
    }
    const struct osc_str much = OSC_STR("1e999");
    assert_true(isinf(osc_json_double(much.s, much.s + much.len)));
}

static bool read_micros(const char *text, struct osc_json_micros *m)
{
    return osc_json_micros(text, text + strlen(text), m);
}

/* The microseconds of TEXT in nanoseconds; -1: it is not a time. */
static int64_t micros(const char *text)
{
    struct osc_json_micros m;

    return read_micros(text, &m) ? osc_json_micros_ns(m) : -1;
}

TEST(rounds_times_half_up_and_never_through_a_double)
{
    assert_true(micros("1712195495891788.7505") == INT64_C(1712195495891788751));
    assert_true(micros("1712195495891788.75049999999999999") == INT64_C(1712195495891788750));
    assert_int_equal(micros("0.0005"), 1);
    assert_int_equal(micros("-0.0005"), 0);
    assert_int_equal(micros("-0.0015"), -1);
    assert_int_equal(micros("1.5e3"), 1500000);
    assert_int_equal(micros("1500e-6"), 2); /* 1.5 ns */
    assert_int_equal(micros("0e999999999"), 0);
    assert_true(micros("9223372036854775.807") == INT64_MAX);
    assert_true(micros("9223372036854775.808") == -1);
    assert_true(micros("1e999999999999") == -1);
    assert_int_equal(micros("1e-999999999999"), 0);
    assert_int_equal(micros("1.5us"), -1);
}

TEST(adds_times_before_it_rounds)
{
    struct osc_json_micros a, b;
    int64_t ns = 0;

    assert_true(read_micros("0.0004", &a));
    assert_true(read_micros("0.0001", &b));
    assert_true(osc_json_micros_sum_ns(a, b, &ns));
    assert_int_equal(ns, 1);
    assert_true(read_micros("9e15", &a));
    assert_false(osc_json_micros_sum_ns(a, a, &ns));
}

static void assert_unescaped(const char *raw, const char *expected, unsigned flaws)
{
    struct osc_strbuf b = {0};

    assert_int_equal(osc_json_unescape(raw, raw + strlen(raw), &b), flaws);
    assert_string_equal(b.s ? b.s : "", expected);
    osc_strbuf_fini(&b);
}

TEST(unescapes_and_tells_what_it_had_to_guess)
{
    assert_unescaped("", "", 0);
    assert_unescaped("a\\\"\\\\\\/\\b\\f\\n\\r\\t", "a\"\\/\b\f\n\r\t", 0);
    assert_unescaped("\\u0041\\u00e9\\u20ac\\ud83d\\ude00",
                     "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0);
    assert_unescaped("\\ud83dx", "\xef\xbf\xbdx", OSC_JSON_SURROGATE);
    assert_unescaped("\\ude00", "\xef\xbf\xbd", OSC_JSON_SURROGATE);
    assert_unescaped("\\u12", "\\u12", OSC_JSON_ESCAPE);
    assert_unescaped("C:\\x\\", "C:\\x\\", OSC_JSON_ESCAPE);
    assert_unescaped("a\tb", "a\tb", OSC_JSON_CONTROL);
}

TEST(quotes_any_bytes_as_valid_json)
{
    struct osc_strbuf b = {0};

    osc_json_quote(&b, OSC_STR("a\"\\\n\t\r\x01\0\xff z"));
    assert_string_equal(b.s, "\"a\\\"\\\\\\n\\t\\r\\u0001\\u0000\xef\xbf\xbd z\"");
    osc_strbuf_clear(&b);
    osc_json_quote(&b, OSC_STR(""));
    assert_string_equal(b.s, "\"\"");
    osc_strbuf_fini(&b);
}

TEST(finds_members_of_the_first_level_alone)
{
    const struct osc_str text =
        OSC_STR(" {\"a\": {\"rank\": 1, \"x\": [\"}\"]}, \"s\" : \"r,\\\"\" , \"rank\" : 22 }");
    struct osc_str v = {0};

    assert_true(osc_json_member(text, "rank", &v));
    assert_true(osc_str_eq(v, OSC_STR("22")));
    assert_true(osc_json_member(text, "s", &v));
    assert_true(osc_str_eq(v, OSC_STR("\"r,\\\"\"")));
    assert_true(osc_json_member(text, "a", &v));
    assert_true(osc_str_eq(v, OSC_STR("{\"rank\": 1, \"x\": [\"}\"]}")));
    assert_false(osc_json_member(text, "x", &v));
    assert_false(osc_json_member(text, "ran", &v));
    assert_false(osc_json_member(OSC_STR("[\"rank\", 1]"), "rank", &v));
    assert_false(osc_json_member(OSC_STR("{\"rank\""), "rank", &v));
    assert_false(osc_json_member(OSC_STR("{\"ra"), "rank", &v));
    assert_false(osc_json_member(OSC_STR(""), "rank", &v));
}

TEST(walks_the_members_of_an_object)
{
    struct osc_str rest = OSC_STR(" { \"a\" : [1,{}] ,\"\":\"x}\", \"a\\\"\":2}"), key, value;

    assert_true(osc_json_next_member(&rest, &key, &value));
    assert_true(osc_str_eq(key, OSC_STR("a")) && osc_str_eq(value, OSC_STR("[1,{}]")));
    assert_true(osc_json_next_member(&rest, &key, &value));
    assert_true(osc_str_eq(key, OSC_STR("")) && osc_str_eq(value, OSC_STR("\"x}\"")));
    assert_true(osc_json_next_member(&rest, &key, &value));
    assert_true(osc_str_eq(key, OSC_STR("a\\\"")) && osc_str_eq(value, OSC_STR("2")));
    assert_false(osc_json_next_member(&rest, &key, &value));
    static const char *const wrong[] = {"", "{", "{}", "[1]", "{\"a", "{\"a\"", "{1:2}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rest = osc_str_c(wrong[i]);
        assert_false(osc_json_next_member(&rest, &key, &value));
    }
}

static void assert_checked(struct osc_str text, const char *want)
{
    struct osc_strbuf mended = {0};

    assert_int_equal(osc_json_check(text, &mended), want != NULL);
    assert_int_equal(mended.status, OSC_OK);
    if (want && *want) /* it needs mending */
        assert_string_equal(mended.s, want);
    else
        assert_int_equal(mended.len, 0);
    if (want && !*want)
        assert_true(osc_json_check(text, NULL));
    else
        assert_false(osc_json_check(text, NULL));
    osc_strbuf_fini(&mended);
}

TEST(tells_json_from_what_is_none_and_mends_strings)
{
    static const char *const right[] = {"[]",
                                        "{}",
                                        " [1, -2.5e3, true,\tfalse,null]\n",
                                        "{\"a\":{\"b\":[{}]},\"c\":\"\"}",
                                        "\"\\u12aF\\n\"",
                                        "0"};
    static const char *const wrong[] = {
        "",        " ",        "[",          "]",     "[1",  "[1,]",           "[,1]",
        "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{1:2}", "[1}", "{\"a\":1]",      "[NaN]",
        "[01]",    "[1 2]",    "1 2",        "\"a",   "nul", "[\"a\x01\",NaN]"};
    char deep[20100];

    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_checked(osc_str_c(right[i]), "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_checked(osc_str_c(wrong[i]), NULL);
    assert_checked(OSC_STR("[\"a\x01\", {\"\xff\": \"\\q\"}, \"ok\"]"),
                   "[\"a\\u0001\", {\"\xef\xbf\xbd\": \"\\\\q\"}, \"ok\"]");
    assert_checked(OSC_STR("[\"a\0\"]"), "[\"a\\u0000\"]");
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    assert_checked((struct osc_str){deep, 20000}, "");
    memset(deep, '[', 10001);
    memset(deep + 10001, ']', 10001);
    assert_checked((struct osc_str){deep, 20002}, NULL);
}

TEST(knows_what_stands_in_a_string_as_it_is)
{
    char text[40];

    assert_true(osc_json_is_plain(OSC_STR("")));
    assert_true(osc_json_is_plain(OSC_STR("\xc3\xa9 aten::add, \x7f, \xe2\x82\xac")));
    assert_false(osc_json_is_plain(OSC_STR("aten::\xc3")));
    for (int c = 0; c < 0x80; c++) {
        for (uint32_t at = 0; at < 33; at++) {
            memset(text, 'a', 33);
            text[at] = (char)c;
            const bool is_plain = osc_json_is_plain((struct osc_str){text, 33});
            assert_int_equal(is_plain, c >= 0x20 && c != '"' && c != '\\');
        }
    }
}

TEST(walks_lists_value_by_value)
{
    struct osc_str rest = OSC_STR(" [1 , {\"a\": [2, 3]},\"]\" ]"), v = {0};

    assert_true(osc_json_next(&rest, &v));
    assert_true(osc_str_eq(v, OSC_STR("1")));
    assert_true(osc_json_next(&rest, &v));
    assert_true(osc_str_eq(v, OSC_STR("{\"a\": [2, 3]}")));
    assert_true(osc_json_next(&rest, &v));
    assert_true(osc_str_eq(v, OSC_STR("\"]\"")));
    assert_false(osc_json_next(&rest, &v));
    rest = OSC_STR("[ ]");
    assert_false(osc_json_next(&rest, &v));
    rest = OSC_STR("[{\"a\": 1");
    assert_true(osc_json_next(&rest, &v));
    assert_false(osc_json_next(&rest, &v));
    rest = OSC_STR("{}");
    assert_false(osc_json_next(&rest, &v));
}

UNIT_MAIN("json")
