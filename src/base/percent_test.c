/* SPDX-License-Identifier: Apache-2.0 */
#include "base/percent.h"

#include "support/unit.h"

static void assert_reads(double ratio, int n_digits, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_strbuf_adds(&out, "own ");
    osc_percent_add(&out, ratio, n_digits);
    assert_string_equal(out.s + 4, expected);
    osc_strbuf_fini(&out);
}

TEST(rounds_shares)
{
    assert_reads(0.1234, 1, "12.3 %");
    assert_reads(0.12345, 2, "12.35 %");
    assert_reads(2.5, 0, "250 %");
    assert_reads(-0.25, 1, "-25.0 %");
}

TEST(only_nothing_reads_as_nothing)
{
    assert_reads(0, 1, "0.0 %");
    assert_reads(0.0004, 1, "<0.1 %");
    assert_reads(1e-12, 2, "<0.01 %");
    assert_reads(0.004, 0, "<1 %");
    assert_reads(-0.0004, 1, ">-0.1 %");
    assert_reads(0.0006, 1, "0.1 %");
}

TEST(only_the_whole_reads_as_the_whole)
{
    assert_reads(1, 1, "100.0 %");
    assert_reads(0.99956, 1, "99.9 %");
    assert_reads(1 - 1e-12, 2, "99.99 %");
    assert_reads(0.999, 0, "99 %");
    assert_reads(1.0001, 1, "100.0 %");
}

UNIT_MAIN("percent")
