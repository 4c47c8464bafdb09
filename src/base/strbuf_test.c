/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "support/unit.h"

/* Append one of each kind, often enough that the buffer grows. */
static void add_all(struct osc_strbuf *b)
{
    for (int i = 0; i < 10; i++) {
        osc_strbuf_add(b, "a\0b", 3);
        osc_strbuf_adds(b, "cd");
        osc_strbuf_addstr(b, OSC_STR("e"));
        osc_strbuf_addc(b, 'f');
        osc_strbuf_pad(b, '.', 3);
        osc_strbuf_addi(b, -12);
        osc_strbuf_addf(b, "%s=%d", "x", 5);
        osc_strbuf_addd(b, 0.5);
    }
}

TEST(takes_text_of_every_kind)
{
    struct osc_strbuf b = {0};

    add_all(&b);
    assert_int_equal(b.status, OSC_OK);
    assert_int_equal(b.len, 190);
    assert_memory_equal(b.s, "a\0bcdef...-12x=50.5a\0b", 22);
    assert_int_equal(b.s[b.len], 0);
    osc_strbuf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.s, "");
    osc_strbuf_fini(&b);
    assert_null(b.s);
}

TEST(appending_nothing_makes_an_empty_terminated_text)
{
    struct osc_strbuf b = {0};

    osc_strbuf_clear(&b);
    assert_null(b.s);
    osc_strbuf_add(&b, NULL, 0);
    assert_string_equal(b.s, "");
    osc_strbuf_fini(&b);
}

TEST(writes_every_integer)
{
    static const struct {
        int64_t v;
        const char *text;
    } cases[] = {{0, "0"},
                 {-1, "-1"},
                 {10, "10"},
                 {INT64_MAX, "9223372036854775807"},
                 {INT64_MIN, "-9223372036854775808"}};
    struct osc_strbuf b = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        osc_strbuf_clear(&b);
        osc_strbuf_addi(&b, cases[i].v);
        assert_string_equal(b.s, cases[i].text);
    }
    osc_strbuf_fini(&b);
}

TEST(counts_have_separators)
{
    struct osc_strbuf b = {0};

    osc_strbuf_add_count(&b, 999);
    osc_strbuf_addc(&b, ' ');
    osc_strbuf_add_count(&b, 1000);
    osc_strbuf_addc(&b, ' ');
    osc_strbuf_add_count(&b, UINT64_C(12345678));
    assert_string_equal(b.s, "999 1,000 12,345,678");
    osc_strbuf_fini(&b);
}

TEST(writes_the_shortest_text_of_a_double)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0.0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"},
                 {100, "100"},
                 {-5, "-5"},
                 {999999999999999, "999999999999999"},
                 {1e15, "1e+15"},
                 {9007199254740993.0, "9007199254740992"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {5e-324, "5e-324"},
                 {(double)INFINITY, "Infinity"},
                 {-(double)INFINITY, "-Infinity"},
                 {(double)NAN, "NaN"}};
    struct osc_strbuf b = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        osc_strbuf_clear(&b);
        osc_strbuf_addd(&b, cases[i].v);
        assert_string_equal(b.s, cases[i].text);
    }
    osc_strbuf_fini(&b);
}

TEST(every_double_reads_back_as_itself)
{
    struct osc_strbuf b = {0};

    for (uint64_t i = 1; i < 50000; i++) {
        const uint64_t bits = osc_hash_u64(i);
        double v, back;

        memcpy(&v, &bits, sizeof v);
        if (v != v || v - v != 0)
            continue;
        osc_strbuf_clear(&b);
        osc_strbuf_addd(&b, v);
        back = strtod(b.s, NULL);
        assert_memory_equal(&back, &v, sizeof v);
    }
    osc_strbuf_fini(&b);
}

/* Fail the first allocation, then the second, ... until the work succeeds. */
TEST(a_failure_sticks_and_keeps_the_text)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_strbuf b = {0};

        osc_mem_fail_after(n);
        add_all(&b);
        osc_mem_fail_after(-1);
        st = b.status;
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        const size_t len = b.len;
        if (st != OSC_OK) {
            osc_strbuf_adds(&b, "more");
            assert_int_equal(b.len, len);
            assert_int_equal(b.status, OSC_ENOMEM);
        }
        if (b.s)
            assert_memory_equal(b.s, "a\0bcdef", len < 7 ? len : 7);
        osc_strbuf_clear(&b);
        add_all(&b);
        assert_int_equal(b.status, OSC_OK);
        osc_strbuf_fini(&b);
    }
}

UNIT_MAIN("strbuf")
