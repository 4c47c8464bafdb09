/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

static const char events[] =
    STEP(7, 0, 100) OP("a", 1, 10, 2, "") OP("a", 1, 20, 1, "") OP("a", 1, 30, 2, "")
        OP("b", 1, 40, 9, "") OP("a", 1, 150, 5, "") RANGE("mine", "a", 1, 200, 1, "");

TEST_WITH(each_range_of_a_name_says_how_many_took_no_longer, NULL, small_end)
{
    small_table(&osc_table_siblings, with_option(&osc_table_siblings, "name", "a"), events);
    assert_int_equal(result.n_rows, 5);
    assert_int_equal(integer(0, "id"), 1);
    assert_int_equal(integer(0, "dur_ns"), 2000);
    assert_int_equal(integer(0, "start_ns"), 10000);
    assert_int_equal(integer(0, "step"), 0);
    assert_true(number(0, "percentile_ratio") == 0.75);
    assert_true(number(1, "percentile_ratio") == 0.25);
    assert_true(number(2, "percentile_ratio") == 0.75);
    assert_true(number(3, "percentile_ratio") == 1);
    assert_false(osc_result_has(&result, 3, column("step")));
    assert_true(number(4, "percentile_ratio") == 1); /* of another kind */
}

static const char requests[] = OP("get /a", 1, 10, 2, "'size':3") OP("get /b", 1, 20, 1, "")
    OP("get*", 1, 30, 5, "") OP("get /a", 1, 40, 4, "") OP("put", 1, 50, 9, "");

TEST_WITH(a_pattern_asks_for_all_that_begin_so, NULL, small_end)
{
    small_table(&osc_table_siblings, with_option(&osc_table_siblings, "name", "get /*"),
                requests);
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "name", "get /a"));
    assert_true(is_text(0, "args", "{\"size\": 3}"));
    assert_true(number(0, "percentile_ratio") == 0.5);
    assert_true(number(1, "percentile_ratio") == 1); /* alone of its name */
}

TEST_WITH(an_exact_name_wins, NULL, small_end)
{
    small_table(&osc_table_siblings, with_option(&osc_table_siblings, "name", "get*"),
                requests);
    assert_int_equal(result.n_rows, 1);
    assert_true(is_text(0, "name", "get*"));
}

TEST_WITH(an_event_asks_for_ranges_of_its_name_and_kind, NULL, small_end)
{
    small_table(&osc_table_siblings, with_option(&osc_table_siblings, "event", "2"), events);
    assert_int_equal(result.n_rows, 4);
    assert_int_equal(integer(1, "id"), 2);
}

TEST_WITH(what_is_no_range_has_no_siblings, NULL, small_end)
{
    small_table(&osc_table_siblings, with_option(&osc_table_siblings, "event", "99"), events);
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
}

TEST_WITH(nothing_is_shown_of_nothing, NULL, small_end)
{
    small_table(&osc_table_siblings, &(struct osc_options){0}, events);
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
}

UNIT_MAIN("siblings")
