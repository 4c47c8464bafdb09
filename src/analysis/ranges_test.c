/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

#define SCOPE(name, tid, ts, dur) RANGE("mine", name, tid, ts, dur, "")
#define ASYNC(name, id, ts, end)                                                           \
    "{'ph':'b','cat':'mine','name':'" name "','id':" #id ",'pid':1,'tid':1,'ts':" #ts "}," \
    "{'ph':'e','cat':'mine','name':'" name "','id':" #id ",'pid':1,'tid':2,'ts':" #end "},"

static void make(const struct osc_options *o, const char *events)
{
    small_table(&osc_table_ranges, o, events);
}

TEST_WITH(ranges_of_every_kind_are_rows, NULL, small_end)
{
    make(&(struct osc_options){0},
         SCOPE("a", 1, 0, 10) OP("a", 1, 1, 4, "") SCOPE("a", 1, 20, 6) KERNEL("k", 10, 4, 1)
             STEP(3, 30, 9) "{'ph':'i','name':'a','pid':1,'tid':1,'ts':2},"
                            "{'ph':'B','name':'never closed','pid':1,'tid':1,'ts':2},");
    assert_int_equal(result.n_rows, 4);
    assert_true(is_text(0, "kind", "scope"));
    assert_int_equal(integer(0, "calls"), 2);
    assert_int_equal(integer(0, "total_ns"), 16000);
    assert_int_equal(integer(0, "self_ns"), 12000);
    assert_true(number(0, "mean_ns") == 8000);
    assert_int_equal(integer(0, "min_ns"), 6000);
    assert_int_equal(integer(0, "max_ns"), 10000);
    assert_true(is_text(1, "kind", "operator"));
    assert_true(is_text(2, "kind", "kernel"));
    assert_true(is_text(3, "kind", "step"));
    assert_false(osc_table_ranges.is_symbol(&result, 1));
    assert_true(osc_table_ranges.is_symbol(&result, 2));
}

/* Whether the only row of steps in the table of the trace with MEMBERS is called NAME. */
static bool are_called(const char *members, const char *name)
{
    assert_true(small_load_with(&trace, members, STEP(3, 30, 9) STEP(4, 40, 9)));
    small_make(&osc_table_ranges, &(struct osc_options){0});
    const bool is_it =
        result.n_rows == 1 && is_text(0, "name", name) && integer(0, "calls") == 2;
    small_end(NULL);
    return is_it;
}

TEST(steps_have_the_word_of_their_program)
{
    assert_true(are_called("", "ProfilerStep*"));
    assert_true(are_called("'opscope_version':'0.1.0','trace_id':'7A',", "ProfilerStep*"));
    assert_true(
        are_called("'opscope_version':'0.1.0','source.torch':'2.13',", "ProfilerStep*"));
    assert_true(are_called("'opscope_version':'0.1.0',", "step"));
}

TEST_WITH(an_asynchronous_range_has_no_self_time, NULL, small_end)
{
    make(&(struct osc_options){0},
         SCOPE("a", 1, 0, 10) ASYNC("b", 7, 1, 5) ASYNC("b", 8, 2, 9) ASYNC("a", 9, 3, 4));
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(0, "calls"), 2);
    assert_int_equal(integer(0, "total_ns"), 11000);
    assert_int_equal(integer(0, "self_ns"), 10000); /* of the synchronous one, whole */
    assert_int_equal(integer(1, "calls"), 2);
    assert_int_equal(integer(1, "total_ns"), 11000);
    assert_false(osc_result_has(&result, 1, column("self_ns")));
}

TEST_WITH(ranges_within_and_over_each_other_count_once, NULL, small_end)
{
    make(&(struct osc_options){0},
         SCOPE("a", 1, 0, 10) SCOPE("a", 1, 2, 3) SCOPE("b", 1, 3, 1) SCOPE("a", 1, 8, 6)
             SCOPE("a", 2, 5, 4) SCOPE("a", 1, 20, 1) ASYNC("a", 9, 1, 3));
    assert_int_equal(integer(0, "total_ns"), 26000);
    assert_int_equal(integer(0, "outer_ns"), 14000 + 1000 + 4000 + 2000);
    assert_int_equal(integer(1, "outer_ns"), 1000);
}

TEST_WITH(one_call_has_exact_quantiles_and_no_deviation, NULL, small_end)
{
    make(&(struct osc_options){0}, SCOPE("a", 1, 0, 12.345));
    assert_int_equal(integer(0, "median_ns"), 12345);
    assert_int_equal(integer(0, "p99_ns"), 12345);
    assert_true(osc_result_has(&result, 0, column("std_ns")));
    assert_true(number(0, "std_ns") == 0);
}

TEST_WITH(quantiles_are_middles_of_buckets_between_the_shortest_and_the_longest, NULL,
          small_end)
{
    make(&(struct osc_options){0},
         SCOPE("a", 1, 0, 1) SCOPE("a", 1, 10, 1.9) SCOPE("a", 1, 20, 3) SCOPE("a", 1, 30, 9)
             SCOPE("b", 1, 40, 1.000) SCOPE("b", 1, 50, 1.001));
    /* 1900 lies in 1792 .. 1919. */
    assert_int_equal(integer(0, "median_ns"), 1855);
    assert_int_equal(integer(0, "p99_ns"), 8703); /* 8192 .. 9215 */
    /* Both lie in 960 .. 1023. */
    assert_int_equal(integer(1, "median_ns"), 1000);
    assert_int_equal(integer(1, "p99_ns"), 1000);
}

TEST_WITH(the_deviation_of_long_ranges_is_exact, NULL, small_end)
{
    make(&(struct osc_options){0},
         SCOPE("a", 1, 0, 4000000000000) SCOPE("a", 2, 0, 4000000000000.001)
             SCOPE("a", 3, 0, 4000000000000.002) SCOPE("b", 4, 0, 1) SCOPE("b", 4, 9, 2));
    assert_true(number(0, "std_ns") == 1);
    assert_true(number(1, "std_ns") > 707.1067 && number(1, "std_ns") < 707.1068);
}

TEST_WITH(groupings_split_rows_and_combine, NULL, small_end)
{
    static const char events[] = STEP(5, 0, 10) SCOPE("a", 1, 1, 1) SCOPE("a", 2, 2, 1)
        SCOPE("a", 1, 20, 1) RANGE("other", "a", 1, 30, 1, "") KERNEL("k", 10, 4, 1);

    make(grouped(&osc_table_ranges, "thread"), events);
    assert_int_equal(result.n_rows, 4);
    assert_true(is_text(1, "process", "1") && is_text(1, "process_name", "python"));
    assert_true(is_text(1, "thread", "1") && is_text(2, "thread", "2"));
    assert_int_equal(integer(1, "calls"), 3);
    assert_true(is_text(3, "thread", "7"));
    assert_false(result.shown & UINT64_C(1) << column("step"));
    small_end(NULL);
    make(grouped(&osc_table_ranges, "category,step"), events);
    assert_int_equal(result.n_rows, 5);
    assert_true(is_text(1, "category", "mine"));
    assert_int_equal(integer(1, "step"), 0);
    assert_int_equal(integer(1, "calls"), 2);
    assert_false(osc_result_has(&result, 2, column("step")));
    assert_true(is_text(3, "category", "other"));
    small_end(NULL);
    make(grouped(&osc_table_ranges, "track"), events);
    assert_true(is_text(3, "device", "cuda:0"));
    assert_int_equal(integer(3, "track"), 2);
    assert_false(osc_result_has(&result, 0, column("device")));
    small_end(NULL);
    make(grouped(&osc_table_ranges, "process"), events);
    assert_int_equal(result.n_rows, 3);
    assert_int_equal(integer(1, "calls"), 4);
}

TEST_WITH(a_copy_on_a_device_is_no_second_call, NULL, small_end)
{
    make(&(struct osc_options){0},
         RANGE("user_annotation", "forward", 1, 0, 10, "")
             WORK("gpu_user_annotation", "forward", 4, 9, 1, "") KERNEL("k", 5, 8, 1));
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "kind", "annotation") && is_text(0, "place", "host"));
    assert_int_equal(integer(0, "calls"), 1);
    assert_int_equal(integer(0, "total_ns"), 10000);
    assert_true(is_text(1, "kind", "annotation") && is_text(1, "place", "device"));
    assert_int_equal(integer(1, "total_ns"), 9000);
    assert_false(osc_result_get_bool(&result, 1, column("is_marked")));
    assert_true(is_text(2, "place", "device"));
    assert_true((result.shown & UINT64_C(1) << column("place")) != 0);
    small_end(NULL);
    make(grouped(&osc_table_ranges, "thread"),
         WORK("gpu_user_annotation", "forward", 4, 9, 1, ""));
    assert_true((result.shown & UINT64_C(1) << column("place")) == 0);
}

TEST_WITH(the_place_is_told_only_where_kinds_do_not, NULL, small_end)
{
    make(&(struct osc_options){0}, OP("a", 1, 0, 10, "") KERNEL("k", 5, 8, 1));
    assert_int_equal(result.n_rows, 2);
    assert_true((result.shown & UINT64_C(1) << column("place")) == 0);
}

TEST_WITH(a_line_that_repeats_others_has_rows_of_its_own, NULL, small_end)
{
    make(
        &(struct osc_options){0},
        "{'ph':'M','name':'process_name','pid':3,'args':{'name':'/gpu:0 (stream:13) Compute'}},"
        "{'ph':'M','name':'process_name','pid':5,'args':{'name':'/gpu:0 (stream:all) "
        "Compute'}},"
        "{'ph':'X','cat':'Op','name':'Conv','pid':3,'tid':1,'ts':0,'dur':4},"
        "{'ph':'X','cat':'Op','name':'Conv','pid':5,'tid':1,'ts':0,'dur':4},");
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "kind", "kernel") && is_text(0, "place", "device"));
    assert_true(is_text(1, "kind", "annotation") && is_text(1, "place", "summary"));
    assert_false(osc_result_get_bool(&result, 1, column("is_marked")));
}

TEST_WITH(a_trace_without_ranges_says_so, NULL, small_end)
{
    make(&(struct osc_options){0}, "{'ph':'i','name':'a','pid':1,'tid':1,'ts':2},");
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "no ranges"));
}

TEST_WITH(ranges_survive_any_failed_allocation, NULL, small_end)
{
    make(grouped(&osc_table_ranges, "thread"),
         SCOPE("a", 1, 0, 10) OP("a", 1, 1, 4, "") SCOPE("a", 2, 20, 6) KERNEL("k", 10, 4, 1));
    small_table_survives(&osc_table_ranges, grouped(&osc_table_ranges, "thread"));
    assert_int_equal(result.n_rows, 4);
}

UNIT_MAIN("ranges")
