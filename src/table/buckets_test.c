/* SPDX-License-Identifier: Apache-2.0 */
#include "table/buckets.h"

#include "base/mem.h"
#include "support/unit.h"

TEST(every_value_lies_in_its_bucket_and_near_its_middle)
{
    uint32_t before = 0;

    for (int64_t v = 0; v < INT64_MAX / 3; v += v / 40 + 1) {
        const uint32_t b = osc_bucket_of(v);
        const int64_t middle = osc_bucket_middle(b);
        const int64_t off = middle > v ? middle - v : v - middle;

        assert_true(b < OSC_BUCKETS);
        assert_true(b == before || b == before + 1);
        assert_int_equal(osc_bucket_of(middle), b);
        assert_true(off <= v / 16);
        before = b;
    }
    assert_int_equal(osc_bucket_of(-5), 0);
    assert_int_equal(osc_bucket_of(INT64_MAX), OSC_BUCKETS - 1);
    assert_int_equal(osc_bucket_of(osc_bucket_middle(OSC_BUCKETS - 1)), OSC_BUCKETS - 1);
    assert_int_equal(osc_bucket_middle(UINT32_MAX), osc_bucket_middle(OSC_BUCKETS - 1));
}

TEST(there_are_eight_buckets_to_a_power_of_two)
{
    for (unsigned power = 4; power < 62; power++) {
        const uint32_t from = osc_bucket_of(INT64_C(1) << power);

        assert_int_equal(osc_bucket_of((INT64_C(1) << power) - 1), from - 1);
        assert_int_equal(osc_bucket_of(INT64_C(1) << (power + 1)), from + 8);
    }
}

/* Assert that the counts of A and then B, as texts, are those in SUM. */
static void assert_sum(const char *a, const char *b, const char *sum)
{
    struct osc_buckets all = {0};
    struct osc_strbuf text = {0};

    assert_int_equal(osc_buckets_add(&all, osc_str_c(a)), OSC_OK);
    assert_int_equal(osc_buckets_add(&all, osc_str_c(b)), OSC_OK);
    for (size_t i = 0; i < all.n; i++)
        osc_buckets_put(&text, all.at[i].index, all.at[i].count);
    assert_string_equal(text.s ? text.s : "", sum);
    osc_strbuf_fini(&text);
    osc_buckets_fini(&all);
}

TEST(counts_are_added_in_any_order)
{
    assert_sum("", "", "");
    assert_sum("3:1 9:2", "", "3:1 9:2");
    assert_sum("3:1 9:2", "0:5 9:1 487:7", "0:5 3:1 9:3 487:7");
    assert_sum("0:5 9:1 487:7", "3:1 9:2", "0:5 3:1 9:3 487:7");
    assert_sum("1:18446744073709551615", "1:2", "1:18446744073709551615");
}

TEST(a_text_that_is_no_counts_is_refused)
{
    static const char *const wrong[] = {
        " ",
        "1",
        "1:",
        "1:0",
        ":1",
        "1:1,2:1",
        "2:1 1:1",
        "1:1 1:1",
        "488:1",
        "-1:1",
        "1:18446744073709551616",
        "1:1  2:1",
        "a:1",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct osc_buckets b = {0};

        assert_int_equal(osc_buckets_add(&b, osc_str_c(wrong[i])), OSC_EFORMAT);
        osc_buckets_fini(&b);
    }
}

TEST(a_quantile_is_at_its_place_rounded_up)
{
    struct osc_buckets b = {0};

    assert_int_equal(osc_buckets_quantile(&b, 1, 2), 0);
    assert_int_equal(osc_buckets_add(&b, osc_str_c("1:1 2:1 5:98")), OSC_OK);
    assert_int_equal(osc_buckets_quantile(&b, 1, 100), 1);
    assert_int_equal(osc_buckets_quantile(&b, 2, 100), 2);
    assert_int_equal(osc_buckets_quantile(&b, 1, 2), 5);
    osc_buckets_fini(&b);
    assert_int_equal(osc_buckets_add(&b, osc_str_c("1:2 4:1")), OSC_OK);
    assert_int_equal(osc_buckets_quantile(&b, 1, 2), 1);
    assert_int_equal(osc_buckets_quantile(&b, 99, 100), 4);
    osc_buckets_fini(&b);
}

TEST(counts_survive_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_buckets b = {0};

        osc_mem_fail_after(n);
        st = osc_buckets_add(&b, osc_str_c("1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9"));
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_buckets_fini(&b);
    }
}

UNIT_MAIN("buckets")
