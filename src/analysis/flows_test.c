/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "derive/derive.h"
#include "support/small_trace.h"

/* A record of an arrow on a thread of process 1, or of a queue of device 0. */
#define ARROW(ph, cat, id, pid, tid, ts, more)                                              \
    "{'ph':'" ph "','cat':'" cat "','name':'arrow','id':" #id ",'pid':" #pid ",'tid':" #tid \
    ",'ts':" #ts more "},"
#define FROM(cat, id, ts) ARROW("s", cat, id, 1, 1, ts, "")
#define TO(cat, id, ts)   ARROW("f", cat, id, 0, 7, ts, ",'bp':'e'")

static struct osc_trace trace;
static struct osc_result result;

static int end(void **state)
{
    (void)state;
    osc_result_fini(&result);
    osc_trace_fini(&trace);
    return 0;
}

static void run(const char *text)
{
    const struct osc_options o = {0};

    assert_true(small_load(&trace, text));
    assert_int_equal(osc_derive(&trace, osc_table_flows.facts, 1, NULL), OSC_OK);
    osc_result_init(&result, &osc_table_flows);
    assert_int_equal(osc_table_flows.map(&trace, &o, &result, NULL), OSC_OK);
}

/* The rows as "kind from to" lines, what is missing as "-". */
static void assert_rows(const char *expected)
{
    char text[1024] = "";
    size_t len = 0;

    for (uint64_t i = 0; i < result.n_rows; i++) {
        const struct osc_str kind = osc_result_get_str(&result, i, 0);

        len += (size_t)snprintf(text + len, sizeof text - len, "%.*s", (int)kind.len, kind.s);
        for (uint32_t c = 1; c < 3; c++)
            len += osc_result_has(&result, i, c)
                       ? (size_t)snprintf(text + len, sizeof text - len, " %d",
                                          (int)osc_result_get_int(&result, i, c))
                       : (size_t)snprintf(text + len, sizeof text - len, " -");
        len += (size_t)snprintf(text + len, sizeof text - len, "\n");
        assert_true(len < sizeof text);
    }
    assert_string_equal(text, expected);
}

static void a_launch_leads_to_all_its_work(void **state)
{
    (void)state;
    run(OP("aten::mm", 1, 0, 100, "") CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3)
            KERNEL("b", 30, 5, 3) FROM("ac2g", 3, 10) TO("ac2g", 3, 30) TO("ac2g", 3, 20));
    assert_rows("launch 1 3\nlaunch 1 2\n");
    assert_int_equal(result.notes.len, 0);
}

static void categories_and_ids_tell_chains_apart(void **state)
{
    (void)state;
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3) FROM("ac2g", 3, 10) FROM("mine", 3, 10)
            TO("mine", 3, 20) FROM("mine", 'x', 10) TO("mine", 'x', 20) TO("mine", 'y', 20));
    assert_rows("launch 0 -\nmine 0 1\nmine 0 1\nmine - 1\n");
    assert_non_null(strstr(result.notes.s, "1 of 4 arrows come from no event"));
    assert_non_null(strstr(result.notes.s, "1 of 4 arrows lead to no event"));
}

static void an_id_may_be_used_again(void **state)
{
    (void)state;
    run(CALL(1, 10, 5, 3, "") CALL(1, 50, 5, 4, "") KERNEL("a", 20, 5, 3) KERNEL("b", 60, 5, 4)
            FROM("x", 1, 10) FROM("x", 1, 50) TO("x", 1, 60) TO("x", 1, 20));
    assert_rows("x 1 3\nx 0 2\n");
}

static void steps_lie_between_start_and_end(void **state)
{
    (void)state;
    run(CALL(1, 10, 5, 3, "") OP("aten::mm", 2, 15, 5, "") KERNEL("a", 20, 5, 3)
            FROM("x", 1, 10) ARROW("t", "x", 1, 1, 2, 15, "") TO("x", 1, 20));
    assert_rows("x 0 1\nx 1 2\n");
}

/* The clock of the device may be behind. */
static void an_end_may_come_before_its_start(void **state)
{
    (void)state;
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 9, 5, 3) FROM("ac2g", 3, 10) TO("ac2g", 3, 9));
    assert_rows("launch 0 1\n");
}

static void of_ranges_that_start_together_the_one_with_the_id_is_meant(void **state)
{
    (void)state;
    run(CALL(1, 10, 9, 3, "") CALL(1, 10, 5, 4, "") KERNEL("a", 20, 5, 3) FROM("ac2g", 3, 10)
            TO("ac2g", 3, 20) FROM("ac2g", 5, 10) TO("ac2g", 5, 20));
    assert_rows("launch 0 2\nlaunch 1 2\n");
}

static void what_stands_beside_a_start_means_the_range_around_it(void **state)
{
    (void)state;
    run(OP("a", 1, 0, 100, "") OP("b", 1, 10, 20, "") OP("c", 1, 12, 2, "")
            KERNEL("k", 20, 5, 3) FROM("x", 1, 15) TO("x", 1, 24) FROM("x", 2, 30)
                TO("x", 2, 25) FROM("x", 3, 99) TO("x", 3, 20));
    assert_rows("x 1 3\nx 0 -\nx 0 3\n");
}

/* Without a binding point of its own an end is that of the next range (Chrome's rule). */
static void an_end_between_ranges_means_the_next(void **state)
{
    (void)state;
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3) KERNEL("b", 30, 5, 4) FROM("x", 1, 10)
            ARROW("f", "x", 1, 0, 7, 22, "") FROM("x", 2, 10) TO("x", 2, 27));
    assert_rows("x 0 2\nx 0 -\n");
}

static void forward_arrows_mean_operators_alone(void **state)
{
    (void)state;
    run(RANGE("user_annotation", "outer", 1, 0, 100, "") OP("aten::mm", 1, 0, 50, "")
            OP("numbered", 1, 0, 40, "'Sequence number':1") OP("inner", 1, 0, 30, "")
                OP("MmBackward0", 2, 60, 20, "") FROM("fwdbwd", 1, 0)
                    ARROW("f", "fwdbwd", 1, 1, 2, 60, ",'bp':'e'") FROM("fwdbwd", 2, 7));
    assert_rows("fwdbwd 2 4\n");
    assert_non_null(strstr(result.notes.s, "neither end in the trace (1)"));
}

static void the_table_is_empty_and_says_why_without_arrows(void **state)
{
    (void)state;
    run(OP("aten::mm", 1, 0, 50, ""));
    assert_int_equal(result.n_rows, 0);
    assert_string_equal(result.notes.s, "no arrows in the trace\n");
}

static void records_without_an_id_are_counted(void **state)
{
    (void)state;
    run(OP("aten::mm", 1, 0, 50, "") FROM("x", null, 0) FROM("x", [1], 0) FROM("x", 1.5, 0));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "without an id (3)"));
}

/* Fail the first allocation, then the second, ... until the work gets done. */
static void any_failed_allocation_is_reported(void **state)
{
    const struct osc_options o = {0};
    osc_status st = OSC_ENOMEM;

    (void)state;
    run(OP("a", 1, 0, 100, "") KERNEL("k", 20, 5, 3) FROM("x", 1, 15) TO("x", 1, 20));
    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&result);
        osc_result_init(&result, &osc_table_flows);
        osc_mem_fail_after(n);
        st = osc_table_flows.map(&trace, &o, &result, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_rows("x 0 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_launch_leads_to_all_its_work, end),
        cmocka_unit_test_teardown(categories_and_ids_tell_chains_apart, end),
        cmocka_unit_test_teardown(an_id_may_be_used_again, end),
        cmocka_unit_test_teardown(steps_lie_between_start_and_end, end),
        cmocka_unit_test_teardown(an_end_may_come_before_its_start, end),
        cmocka_unit_test_teardown(of_ranges_that_start_together_the_one_with_the_id_is_meant,
                                  end),
        cmocka_unit_test_teardown(what_stands_beside_a_start_means_the_range_around_it, end),
        cmocka_unit_test_teardown(an_end_between_ranges_means_the_next, end),
        cmocka_unit_test_teardown(forward_arrows_mean_operators_alone, end),
        cmocka_unit_test_teardown(the_table_is_empty_and_says_why_without_arrows, end),
        cmocka_unit_test_teardown(records_without_an_id_are_counted, end),
        cmocka_unit_test_teardown(any_failed_allocation_is_reported, end),
    };
    return cmocka_run_group_tests_name("flows", tests, NULL, NULL);
}
