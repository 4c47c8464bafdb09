/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/torch_cells.h"

#include "support/unit.h"

static void assert_cell(struct osc_str s, const char *text)
{
    if (!osc_str_eq(s, osc_str_c(text)))
        fail_msg("'%.*s' is not '%s'", (int)s.len, s.s, text);
}

TEST(chooses_the_unit_of_a_time_before_it_rounds)
{
    struct osc_torch_cell c;

    assert_cell(osc_torch_time(&c, 0.0), "0.000us");
    assert_cell(osc_torch_time(&c, 999.9996), "1000.000us");
    assert_cell(osc_torch_time(&c, 1000.0), "1.000ms");
    assert_cell(osc_torch_time(&c, 999999.9), "1000.000ms");
    assert_cell(osc_torch_time(&c, 1000000.0), "1.000s");
    assert_cell(osc_torch_time(&c, -247365.0), "-247365.000us");
}

TEST(gives_shares_in_per_cent)
{
    struct osc_torch_cell c;

    assert_cell(osc_torch_share(&c, 1.0, 3.0), "33.33%");
    assert_cell(osc_torch_share(&c, -5.0, 5.0), "-100.00%");
    assert_cell(osc_torch_share(&c, 5.0, 0.0), "NaN");
}

TEST(names_units_of_memory_as_each_release_does)
{
    struct osc_torch_cell c;

    assert_cell(osc_torch_memory(&c, -512, false), "-512 B");
    assert_cell(osc_torch_memory(&c, 1536, false), "1.50 KB");
    assert_cell(osc_torch_memory(&c, 1048571, true), "1024.00 Kb");
    assert_cell(osc_torch_memory(&c, -(INT64_C(3) << 30), false), "-3.00 GB");
    assert_cell(osc_torch_memory(&c, INT64_MIN, false), "-8589934592.00 GB");
    assert_cell(osc_torch_memory(&c, 0, true), "0 b");
}

TEST(shows_all_flops_in_the_unit_of_the_least)
{
    struct osc_torch_cell c;

    assert_int_equal(osc_torch_flops_power(1), 0);
    assert_int_equal(osc_torch_flops_power(999), 0);
    assert_int_equal(osc_torch_flops_power(1000), 1);
    assert_int_equal(osc_torch_flops_power(INT64_MAX), 5);
    assert_cell(osc_torch_flops(&c, 2048, 1), "   2.048");
    assert_cell(osc_torch_flops(&c, 0, 1), "--");
}

TEST(cuts_names_and_paths_by_characters)
{
    struct osc_strbuf b = {0};

    osc_torch_name(&b, OSC_STR("abcdefghij"), 13);
    assert_string_equal(b.s, "abcdefghij...");
    osc_strbuf_clear(&b);
    osc_torch_name(&b, OSC_STR("abcdefghi"), 13);
    assert_string_equal(b.s, "abcdefghi");
    osc_strbuf_clear(&b);
    osc_torch_name(&b, OSC_STR("abcdefghij"), -1);
    assert_string_equal(b.s, "abcdefghij");
    osc_strbuf_clear(&b);
    osc_torch_name(&b, OSC_STR("abcde"), 1); /* Python's name[:-2] */
    assert_string_equal(b.s, "abc...");
    osc_strbuf_clear(&b);
    osc_torch_path(&b, OSC_STR("\xc3\xa4/b/c.py(1): f"), 10);
    assert_string_equal(b.s, "...y(1): f");
    osc_strbuf_fini(&b);
}

UNIT_MAIN("torch_cells")
