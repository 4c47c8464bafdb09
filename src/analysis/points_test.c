/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/small_table.h"
#include "support/unit.h"

#define INSTANT(name, tid, ts) \
    "{'ph':'i','s':'t','name':'" name "','pid':3,'tid':" #tid ",'ts':" #ts "},"
#define COUNTER(ts, args) \
    "{'ph':'C','name':'mem','pid':3,'tid':1,'ts':" #ts ",'args':{" args "}},"
#define NAMES                                                          \
    "{'ph':'M','name':'process_name','pid':3,'args':{'name':'game'}}," \
    "{'ph':'M','name':'thread_name','pid':3,'tid':1,'args':{'name':'main loop'}},"

static void make(const char *events)
{
    small_table(&osc_table_points, &(struct osc_options){0}, events);
}

TEST_WITH(instants_are_counted_by_name_and_thread, NULL, small_end)
{
    make(NAMES INSTANT("a", 1, 10) INSTANT("b", 1, 20) INSTANT("a", 2, 30) INSTANT("a", 1, 40));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "name", "a") && is_text(0, "kind", "instant"));
    assert_true(is_text(0, "process", "3") && is_text(0, "process_name", "game"));
    assert_true(is_text(0, "thread", "1") && is_text(0, "thread_name", "main loop"));
    assert_int_equal(integer(0, "events"), 2);
    assert_int_equal(integer(0, "first_ns"), 0);
    assert_int_equal(integer(0, "last_ns"), 30000);
    assert_true(is_text(1, "name", "b"));
    assert_true(is_text(2, "name", "a") && is_text(2, "thread", "2"));
    assert_false(osc_result_has(&result, 2, column("thread_name")));
    assert_true((result.shown & UINT64_C(1) << column("series")) == 0);
}

TEST_WITH(each_series_of_a_counter_has_its_values, NULL, small_end)
{
    make(COUNTER(10, "'rss':5,'heap':2.5") COUNTER(20, "'rss':-1,'heap':'x'")
             COUNTER(30, "'rss':3"));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "name", "mem") && is_text(0, "kind", "counter"));
    assert_true(is_text(0, "series", "rss"));
    assert_int_equal(integer(0, "events"), 3);
    assert_true(number(0, "min_value") == -1 && number(0, "max_value") == 5);
    assert_true(is_text(1, "series", "heap"));
    assert_int_equal(integer(1, "events"), 2);
    assert_true(number(1, "min_value") == 2.5 && number(1, "max_value") == 2.5);
}

TEST_WITH(only_ranges_that_never_ended_are_points, NULL, small_end)
{
    make(RANGE("mine", "whole", 1, 0, 10, "")
             INSTANT("a", 1, 5) "{'ph':'B','name':'open','pid':3,'tid':1,'ts':20},");
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "name", "a"));
    assert_true(is_text(1, "name", "open") && is_text(1, "kind", "scope"));
}

TEST_WITH(a_trace_of_ranges_alone_says_so, NULL, small_end)
{
    make(RANGE("mine", "whole", 1, 0, 10, ""));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "no points"));
}

TEST_WITH(points_survive_any_failed_allocation, NULL, small_end)
{
    make(NAMES INSTANT("a", 1, 10) COUNTER(20, "'rss':5") INSTANT("b", 2, 30));
    small_table_survives(&osc_table_points, &(struct osc_options){0});
    assert_int_equal(result.n_rows, 3);
}

UNIT_MAIN("points")
