/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/busy.h"

#include "analysis/table_registry.h"
#include "support/small_table.h"
#include "support/unit.h"

static const struct osc_options none;

static int end(void **state)
{
    return small_end(state);
}

static int64_t busy_ns(uint64_t row)
{
    return osc_result_has(&result, row, column("busy_ns"))
               ? osc_result_get_int(&result, row, column("busy_ns"))
               : -1;
}

TEST_WITH(time_of_several_ranges_counts_once, NULL, end)
{
    small_table(&osc_table_tracks, &none,
                OP("out", 1, 10, 30, "") OP("in", 1, 20, 10, "") OP("apart", 1, 80, 10, "")
                    OP("touches", 1, 90, 10, ""));
    assert_int_equal(result.n_rows, 1);
    assert_int_equal(busy_ns(0), 50000);
    assert_float_equal(osc_result_get_num(&result, 0, column("busy_ratio")), 50.0 / 90, 1e-12);
}

TEST_WITH(steps_count_only_on_threads_with_nothing_else, NULL, end)
{
    small_table(&osc_table_tracks, &none, STEP(7, 0, 100) OP("a", 1, 10, 30, ""));
    assert_int_equal(busy_ns(0), 30000);
    end(NULL);
    small_table(&osc_table_tracks, &none, STEP(7, 0, 100));
    assert_int_equal(busy_ns(0), 100000);
}

TEST_WITH(asynchronous_ranges_count_only_on_threads_with_nothing_else, NULL, end)
{
    static const char pair[] =
        "{'ph':'b','cat':'c','name':'a','id':1,'pid':1,'tid':1,'ts':10},"
        "{'ph':'e','cat':'c','name':'a','id':1,'pid':1,'tid':1,'ts':30},"
        "{'ph':'b','cat':'c','name':'a','id':2,'pid':1,'tid':1,'ts':20},"
        "{'ph':'e','cat':'c','name':'a','id':2,'pid':1,'tid':1,'ts':60},";
    char both[1024];

    small_table(&osc_table_tracks, &none, pair);
    assert_int_equal(busy_ns(0), 50000);
    end(NULL);
    (void)snprintf(both, sizeof both, "%s%s", pair, OP("o", 1, 10, 5, ""));
    small_table(&osc_table_tracks, &none, both);
    assert_int_equal(busy_ns(0), 5000);
}

TEST_WITH(a_device_is_busy_when_any_of_its_queues_is, NULL, end)
{
    small_table(&osc_table_tracks, &none,
                CALL(1, 15, 5, 1, "") KERNEL(
                    "k", 20, 30,
                    1) "{'ph':'X','cat':'kernel','name':'j','pid':0,'tid':8,'ts':40,'dur':30,"
                       "'args':{'device':0,'stream':8}},");
    assert_int_equal(result.n_rows, 3);
    assert_int_equal(busy_ns(1), 30000);
    assert_int_equal(busy_ns(2), 30000);
    assert_int_equal(osc_result_get_int(&result, 1, column("device_busy_ns")), 50000);
    assert_int_equal(osc_result_get_int(&result, 1, column("device_events")), 2);
    assert_false(osc_result_has(&result, 2, column("device_busy_ns")));
}

TEST_WITH(what_has_no_range_is_missing, NULL, end)
{
    small_table(&osc_table_tracks, &none,
                "{'ph':'i','name':'a','pid':1,'tid':1,'ts':10,'s':'t'},");
    assert_int_equal(result.n_rows, 1);
    assert_int_equal(busy_ns(0), -1);
}

/* Both tables get what starts before 60 us. */
TEST_WITH(time_after_a_selection_does_not_count, NULL, end)
{
    static const char events[] =
        OP("a", 1, 10, 30, "") OP("b", 1, 50, 30, "") CALL(2, 55, 1, 1, "") KERNEL(
            "k", 56, 30, 1) "{'ph':'b','cat':'c','name':'a','id':1,'pid':1,'tid':3,'ts':20},"
                            "{'ph':'e','cat':'c','name':'a','id':1,'pid':1,'tid':3,'ts':80},";
    const struct osc_selection to = {.has_to = true, .to_ns = 50000};
    const struct osc_options o = {.selection = &to};

    small_table(&osc_table_tracks, &o, events);
    assert_int_equal(result.n_rows, 4);
    assert_int_equal(busy_ns(0), 30000 + 10000);
    assert_float_equal(osc_result_get_num(&result, 0, column("busy_ratio")), 40.0 / 50, 1e-12);
    assert_int_equal(busy_ns(1), 1000);
    assert_int_equal(busy_ns(2), 4000);
    assert_int_equal(osc_result_get_int(&result, 2, column("device_busy_ns")), 4000);
    assert_int_equal(busy_ns(3), 40000);
    osc_result_fini(&result);
    small_make(&osc_table_info, &o);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        if (is_text(i, "key", "duration_ns"))
            assert_true(is_text(i, "value", "50000"));
    }
}

TEST_WITH(any_failed_allocation_is_reported, NULL, end)
{
    const struct osc_options o = {0};

    small_table(&osc_table_tracks, &o, OP("a", 1, 10, 30, "") KERNEL("k", 20, 30, 1));
    small_table_survives(&osc_table_tracks, &o);
    assert_int_equal(result.n_rows, 2);
}

UNIT_MAIN("busy")
