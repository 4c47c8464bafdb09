/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

#define SCOPE(name, ts, dur) RANGE("mine", name, 1, ts, dur, "")

static void make(const char *name, const char *events)
{
    small_table(&osc_table_durations,
                name ? with_option(&osc_table_durations, "name", name)
                     : &(struct osc_options){0},
                events);
}

TEST_WITH(each_duration_lies_in_its_row, NULL, small_end)
{
    /* 10 ns, 1,000 ns twice, 1,100 ns, 1,900 ns */
    make(NULL, SCOPE("a", 0, 0.010) SCOPE("a", 10, 1) SCOPE("a", 20, 1.9) SCOPE("a", 30, 1.1)
                   SCOPE("a", 40, 1) SCOPE("b", 50, 2));
    assert_int_equal(result.n_rows, 5);
    assert_int_equal(integer(0, "from_ns"), 10);
    assert_int_equal(integer(0, "to_ns"), 12);
    assert_int_equal(integer(0, "calls"), 1);
    assert_int_equal(integer(1, "from_ns"), 896);
    assert_int_equal(integer(1, "to_ns"), 1024);
    assert_int_equal(integer(1, "calls"), 2);
    assert_int_equal(integer(1, "total_ns"), 2000);
    /* Rows are in the order of the file; the hidden column orders them. */
    assert_int_equal(integer(2, "from_ns"), 1792);
    assert_int_equal(integer(3, "from_ns"), 1024);
    assert_true(integer(3, "order") > integer(2, "order"));
    assert_true(number(0, "cumulative_ratio") == 0.2);
    assert_true(number(1, "cumulative_ratio") == 0.6);
    assert_true(number(2, "cumulative_ratio") == 1);
    assert_true(number(3, "cumulative_ratio") == 0.8);
    /* The name with more time comes first. */
    assert_true(is_text(4, "name", "b"));
    assert_true(integer(4, "order") < integer(0, "order"));
    assert_true(number(4, "cumulative_ratio") == 1);
}

TEST_WITH(a_name_of_two_kinds_has_two_histograms, NULL, small_end)
{
    make("a", SCOPE("a", 0, 1) OP("a", 1, 5, 1, "") SCOPE("b", 9, 1));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "kind", "scope") && is_text(1, "kind", "operator"));
    assert_true(number(1, "cumulative_ratio") == 1);
}

TEST_WITH(a_copy_on_a_device_has_a_histogram_of_its_own, NULL, small_end)
{
    make("forward", RANGE("user_annotation", "forward", 1, 0, 10, "")
                        WORK("gpu_user_annotation", "forward", 4, 10, 1, ""));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "place", "host") && is_text(1, "place", "device"));
    assert_int_equal(integer(0, "calls"), 1);
    assert_true(number(0, "cumulative_ratio") == 1 && number(1, "cumulative_ratio") == 1);
    assert_true((result.shown & UINT64_C(1) << column("place")) != 0);
}

TEST_WITH(a_name_that_is_not_there_is_told, NULL, small_end)
{
    make("nobody", SCOPE("a", 0, 1));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "no range of that name"));
}

TEST_WITH(the_ends_of_the_axis, NULL, small_end)
{
    make(NULL, SCOPE("a", 0, 0) SCOPE("a", 1, 4000000000000000));
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(0, "from_ns"), 0);
    assert_int_equal(integer(0, "to_ns"), 2);
    assert_true(integer(1, "from_ns") <= INT64_C(4000000000000000000));
    assert_true(integer(1, "to_ns") > INT64_C(4000000000000000000));
}

UNIT_MAIN("durations")
