/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "derive/facts.h"
#include "derive/part/view.h"
#include "support/small_table.h"
#include "support/unit.h"
#include "table/merge.h"

/* Steps of 100 and 140 us, the second with its kernel, and one without device work. */
static const char events[] = STEP(7, 0, 100) STEP(8, 100, 100) STEP(9, 200, 50)
    OP("aten::mm", 1, 10, 30, "") CALL(1, 15, 5, 1, "") KERNEL("k", 30, 40, 1)
        CALL(1, 120, 5, 2, "") KERNEL("k", 200, 40, 2);

static void run(const struct osc_table_def *def, const char *text)
{
    const struct osc_options o = {0};

    small_table(def, &o, text);
}

TEST_WITH(a_step_says_what_it_spent_its_time_on, NULL, small_end)
{
    run(&osc_table_steps, events);
    assert_int_equal(result.n_rows, 3);
    assert_true(osc_str_eq(osc_result_get_str(&result, 0, column("label")), OSC_STR("7")));
    assert_int_equal(integer(0, "kernel_ns"), 40000);
    assert_int_equal(integer(0, "runtime_ns"), 5000);
    assert_int_equal(integer(0, "cpu_exec_ns"), 15000);
    assert_int_equal(integer(0, "other_ns"), 40000);
    assert_int_equal(integer(1, "total_ns"), 140000);
    assert_int_equal(integer(1, "annotation_ns"), 100000);
    assert_false(osc_result_has(&result, 0, column("note")));
    assert_false(osc_result_get_bool(&result, 2, column("kept")));
    assert_true(osc_result_has(&result, 2, column("note")));
    assert_int_equal(integer(2, "start_ns"), 240000); /* the device was busy */
}

/* Make the table of steps of what OF selects of EVENTS. */
static void run_part(const char *text, const struct osc_selection *of, struct osc_trace *part)
{
    const struct osc_options o = {.n_threads = 1, .selection = of};

    assert_true(small_load(&trace, text));
    assert_int_equal(osc_derive(&trace, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(osc_view_make(part, &trace, of, 1, NULL), OSC_OK);
    assert_int_equal(osc_derive(part, osc_table_facts(&osc_table_steps), 1, NULL), OSC_OK);
    osc_result_init(&result, &osc_table_steps);
    assert_int_equal(osc_table_steps.mapping->map(part, &o, &result, NULL), OSC_OK);
}

TEST_WITH(a_part_of_a_step_is_not_a_trace_without_steps, NULL, small_end)
{
    const struct osc_selection inside = {
        .has_from = true, .from_ns = 5000, .has_to = true, .to_ns = 35000};
    struct osc_trace part;

    run_part(events, &inside, &part);
    assert_int_equal(result.n_rows, 1);
    assert_true(osc_result_get_bool(&result, 0, column("lie_outside")));
    assert_string_equal(
        result.notes.s,
        "no step begins in what is selected: what counts as one is from the first "
        "to the last operator, `python` range, device work or call of a runtime\n");
    osc_result_fini(&result);
    osc_trace_fini(&part);
    osc_trace_fini(&trace);
    run_part(OP("a", 1, 0, 10, "") OP("b", 1, 20, 10, ""), &inside, &part);
    assert_false(osc_result_get_bool(&result, 0, column("lie_outside")));
    assert_string_equal(
        result.notes.s,
        "no steps in the trace: what counts as one is from the first to the last "
        "operator or `python` range\n");
    osc_trace_fini(&part);
}

/* Process 2 announces a step while process 1 has one. Its launch is its own. */
TEST_WITH(steps_are_those_of_their_process, NULL, small_end)
{
#define OF(process, cat, name, ts, dur, args)                                          \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':" #process ",'tid':1,'ts':" #ts \
    ",'dur':" #dur ",'args':{" args "}},"

    run(&osc_table_steps, STEP(1, 0, 100) OF(2, "user_annotation", "ProfilerStep#1", 10, 80, "")
                              CALL(1, 15, 5, 1, "") OF(2, "cuda_runtime", "cudaLaunchKernel",
                                                       20, 5, "'correlation':2")
                                  KERNEL("k", 30, 30, 1) KERNEL("k", 60, 60, 2));
    assert_int_equal(result.n_rows, 2);
    assert_true(osc_str_eq(osc_result_get_str(&result, 1, column("process")), OSC_STR("2")));
    assert_int_equal(integer(0, "total_ns"), 100000);
    assert_int_equal(integer(1, "start_ns"), 10000);
    assert_int_equal(integer(1, "total_ns"), 110000);
    assert_true(osc_result_get_bool(&result, 1, column("kept")));
    assert_false(osc_result_has(&result, 1, column("note")));
    assert_int_equal(small_chunk(&trace)->step[3], 2);
    assert_int_equal(small_chunk(&trace)->step[5], 2);
}

TEST_WITH(a_late_start_is_said_to_be_the_devices_only_if_it_is, NULL, small_end)
{
    run(&osc_table_steps,
        STEP(1, 0, 100) STEP(2, 90, 100) CALL(1, 15, 5, 1, "") KERNEL("k", 30, 10, 1)
            CALL(1, 120, 5, 2, "") KERNEL("k", 150, 60, 2) STEP(3, 200, 50)
                CALL(1, 220, 5, 3, "") KERNEL("k", 230, 10, 3));
    assert_true(osc_str_eq(osc_result_get_str(&result, 1, column("note")),
                           OSC_STR("began late: the step before was not over")));
    assert_true(osc_str_eq(osc_result_get_str(&result, 2, column("note")),
                           OSC_STR("began late: the device was still busy with earlier work")));
}

TEST_WITH(a_trace_without_steps_says_so, NULL, small_end)
{
    run(&osc_table_steps, OP("aten::mm", 1, 10, 30, ""));
    assert_int_equal(result.n_rows, 1);
    assert_false(osc_result_has(&result, 0, column("thread")));
    assert_false(osc_result_has(&result, 0, column("annotation_ns")));
    assert_true(result.notes.len > 0);
}

TEST_WITH(the_overview_is_the_mean_of_the_kept_steps, NULL, small_end)
{
    run(&osc_table_overview, events);
    assert_int_equal(result.n_rows, 9);
    assert_true(osc_result_get_num(&result, 0, column("avg_ns")) == 120000);
    assert_true(osc_result_get_num(&result, 0, column("ratio")) == 1);
    assert_true(osc_result_get_num(&result, 1, column("avg_ns")) == 40000);
    assert_true(osc_result_get_num(&result, 1, column("ratio")) == 40000 / 120000.0);
}

TEST_WITH(nothing_to_average_is_an_empty_table_with_a_note, NULL, small_end)
{
    run(&osc_table_overview, CALL(1, 1, 2, 3, ""));
    assert_int_equal(result.n_rows, 0);
    assert_true(result.notes.len > 0);
    small_end(NULL);
    run(&osc_table_overview, CALL(1, 1, 2, 3, "") KERNEL("k", 5, 2, 3));
    assert_true(osc_result_get_num(&result, 0, column("avg_ns")) == 6000);
}

/* Two ranks: the mean over the steps of both. */
TEST_WITH(ranks_merge_to_the_mean_over_all_their_steps, NULL, small_end)
{
    static const char *const texts[] = {events, STEP(1, 0, 60)};
    struct osc_merger m;

    osc_merger_init(&m, &osc_table_overview);
    for (uint32_t rank = 0; rank < 2; rank++) {
        run(&osc_table_overview, texts[rank]);
        assert_int_equal(osc_merger_add(&m, &result, rank), OSC_OK);
        (void)small_end(NULL);
    }
    osc_result_init(&result, &osc_table_overview);
    assert_int_equal(osc_merger_result(&m, &result), OSC_OK);
    assert_int_equal(
        osc_table_overview.mapping->finish(&result, &(struct osc_options){0}, NULL), OSC_OK);
    assert_int_equal(result.n_rows, 9);
    assert_true(osc_result_get_num(&result, 0, column("avg_ns")) == 100000);
    osc_merger_fini(&m);
}

/* Steps of 100 us, which run aten::mm for 50, and in it aten::add for 10. */
#define USUAL(n, step, mm, add) \
    STEP(n, step, 100) "," OP("aten::mm", 1, mm, 50, "") "," OP("aten::add", 1, add, 10, "") ","
#define SEVEN                  \
    USUAL(0, 0, 10, 20)        \
    USUAL(1, 1000, 1010, 1020) \
    USUAL(2, 2000, 2010, 2020) \
    USUAL(3, 3000, 3010, 3020) \
    USUAL(4, 4000, 4010, 4020) USUAL(5, 5000, 5010, 5020) USUAL(6, 6000, 6010, 6020)

TEST_WITH(a_slow_step_names_the_operator_that_grew, NULL, small_end)
{
    run(&osc_table_steps, SEVEN STEP(7, 7000, 132) "," OP("aten::mm", 1, 7010, 82, "") "," OP(
                              "aten::add", 1, 7020, 42,
                              "") "," STEP(8, 8000, 60) "," OP("aten::mm", 1, 8010, 5, ""));
    assert_int_equal(result.n_rows, 9);
    assert_true(osc_result_get_bool(&result, 7, column("outlier")));
    assert_true(
        osc_str_eq(osc_result_get_str(&result, 7, column("grew")), OSC_STR("aten::add")));
    assert_true(osc_str_eq(osc_result_get_str(&result, 7, column("grew_on")), OSC_STR("host")));
    assert_true(integer(7, "grew_by_ns") == 32000);
    assert_true(osc_result_get_num(&result, 7, column("grew_ratio")) == 1);
    /* The short one is an outlier as well, but nothing has grown in it. */
    assert_true(osc_result_get_bool(&result, 8, column("outlier")));
    assert_false(osc_result_has(&result, 8, column("grew")));
    assert_false(osc_result_has(&result, 0, column("grew")));
}

TEST_WITH(time_that_nobody_recorded_can_grow, NULL, small_end)
{
    run(&osc_table_steps, SEVEN STEP(7, 7000, 1100) "," OP("aten::mm", 1, 7010, 51, ""));
    assert_true(osc_str_eq(osc_result_get_str(&result, 7, column("grew")), OSC_STR("other")));
    assert_true(integer(7, "grew_by_ns") == 999000); /* 1,049 - 50 */
    assert_true(osc_result_get_num(&result, 7, column("grew_ratio")) == 0.999);
}

/* Step 7, of 1100 us, in which besides an operator the range TEXT is. */
#define SLOW_WITH(text) SEVEN STEP(7, 7000, 1100) "," OP("aten::mm", 1, 7010, 50, "") "," text

TEST_WITH(ranges_of_any_kind_can_grow, NULL, small_end)
{
    static const char *const texts[] = {
        SLOW_WITH(RANGE("scope", "save", 1, 7100, 900, "")),
        SLOW_WITH(RANGE("python_function", "save", 1, 7100, 900, "")),
        SLOW_WITH(RANGE("user_annotation", "save", 1, 7100, 900, "")),
        /* Half of the time is known. */
        SLOW_WITH(RANGE("scope", "save", 1, 7100, 500, "")),
        /* More is not. */
        SLOW_WITH(RANGE("scope", "save", 1, 7100, 499, "")),
        SLOW_WITH(RANGE("scope", "save", 2, 7100, 900, "")),
    };
    static const int64_t us[] = {900, 900, 900, 500, 1000, 1000};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        run(&osc_table_steps, texts[i]);
        assert_true(osc_str_eq(osc_result_get_str(&result, 7, column("grew")),
                               i < 4 ? OSC_STR("save") : OSC_STR("other")));
        assert_int_equal(integer(7, "grew_by_ns"), us[i] * 1000);
        (void)small_end(NULL);
    }
}

/* Twelve operators take 15 us each: together 130 us more, none of them 18. */
TEST_WITH(what_explains_less_than_a_tenth_is_not_named, NULL, small_end)
{
    run(&osc_table_steps,
        SEVEN STEP(7, 7000, 280) "," OP("a", 1, 7000, 15, "") "," OP("b", 1, 7015, 15, "") "," OP("c", 1, 7030, 15, "") "," OP(
            "d", 1, 7045, 15,
            "") "," OP("e", 1, 7060, 15,
                       "") "," OP("f", 1, 7075, 15,
                                  "") "," OP("g", 1, 7090, 15,
                                             "") "," OP("h", 1, 7105, 15,
                                                        "") "," OP("i", 1, 7120, 15,
                                                                   "") "," OP("j", 1, 7135, 15,
                                                                              "") "," OP("k", 1,
                                                                                         7150,
                                                                                         15,
                                                                                         "") "," OP("l",
                                                                                                    1,
                                                                                                    7165,
                                                                                                    15,
                                                                                                    "") "," OP("m",
                                                                                                               1,
                                                                                                               7180,
                                                                                                               15,
                                                                                                               "") "," OP("n",
                                                                                                                          1,
                                                                                                                          7195,
                                                                                                                          15,
                                                                                                                          "") "," OP("o",
                                                                                                                                     1,
                                                                                                                                     7210,
                                                                                                                                     15,
                                                                                                                                     ""));
    assert_true(osc_result_get_bool(&result, 7, column("outlier")));
    assert_false(osc_result_has(&result, 7, column("grew")));
}

UNIT_MAIN("steps_table")
