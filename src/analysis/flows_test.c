/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/small_table.h"
#include "support/unit.h"

/* A record of an arrow on a thread of process 1, or of a queue of device 0. */
#define ARROW(ph, cat, id, pid, tid, ts, more)                                              \
    "{'ph':'" ph "','cat':'" cat "','name':'arrow','id':" #id ",'pid':" #pid ",'tid':" #tid \
    ",'ts':" #ts more "},"
#define FROM(cat, id, ts) ARROW("s", cat, id, 1, 1, ts, "")
#define TO(cat, id, ts)   ARROW("f", cat, id, 0, 7, ts, ",'bp':'e'")

static void run(const char *text)
{
    const struct osc_options o = {0};

    small_table(&osc_table_flows, &o, text);
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

TEST_WITH(a_launch_leads_to_all_its_work, NULL, small_end)
{
    run(OP("aten::mm", 1, 0, 100, "") CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3)
            KERNEL("b", 30, 5, 3) FROM("ac2g", 3, 10) TO("ac2g", 3, 30) TO("ac2g", 3, 20));
    assert_rows("launch 1 3\nlaunch 1 2\n");
    assert_int_equal(result.notes.len, 0);
}

TEST_WITH(categories_and_ids_tell_chains_apart, NULL, small_end)
{
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3) FROM("ac2g", 3, 10) FROM("mine", 3, 10)
            TO("mine", 3, 20) FROM("mine", 'x', 10) TO("mine", 'x', 20) TO("mine", 'y', 20));
    assert_rows("launch 0 -\nmine 0 1\nmine 0 1\nmine - 1\n");
    assert_non_null(strstr(result.notes.s, "1 of 4 arrows start at no event"));
    assert_non_null(strstr(result.notes.s, "1 of 4 arrows end at no event"));
}

TEST_WITH(an_id_may_be_used_again, NULL, small_end)
{
    run(CALL(1, 10, 5, 3, "") CALL(1, 50, 5, 4, "") KERNEL("a", 20, 5, 3) KERNEL("b", 60, 5, 4)
            FROM("x", 1, 10) FROM("x", 1, 50) TO("x", 1, 60) TO("x", 1, 20));
    assert_rows("x 1 3\nx 0 2\n");
}

/* As many work items as a graph has: longer than what is sorted by insertion. */
TEST_WITH(chains_of_any_length_are_in_order_of_time, NULL, small_end)
{
    char text[8192] = "";
    size_t len = 0;

    for (int i = 0; i < 100; i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len,
                             "{'ph':'%c','cat':'x','id':1,'pid':1,'tid':1,'ts':10,'bp':'e'},",
                             i % 3 == 0   ? 'f'
                             : i % 3 == 1 ? 't'
                                          : 's');
    snprintf(text + len, sizeof text - len, "%s", OP("a", 1, 10, 5, ""));
    run(text);
    /* All starts, then all steps, then all ends: only the last start leads on. */
    assert_int_equal(result.n_rows, 32 + 33 + 34);
    uint64_t n_open = 0;
    for (uint64_t i = 0; i < result.n_rows; i++)
        n_open += !osc_result_has(&result, i, 2);
    assert_int_equal(n_open, 32);
}

/* More than are looked at one by one: the innermost that has the id is still among them. */
TEST_WITH(many_ranges_may_start_together, NULL, small_end)
{
    char text[16384] = "";
    size_t len = 0;

    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "{'ph':'X','cat':'cuda_runtime','name':'c','pid':1,'tid':1,"
                                "'ts':10,'dur':%d,'args':{'correlation':%d}},",
                                1000 - i, i);
    snprintf(text + len, sizeof text - len, "%s",
             OP("b", 1, 2000, 5, "") FROM("x", 90, 10)
                 ARROW("f", "x", 90, 1, 1, 2000, ",'bp':'e'") FROM("x", 91, 10)
                     ARROW("f", "x", 91, 1, 1, 2000, ",'bp':'e'"));
    run(text);
    assert_rows("x 90 100\nx 91 100\n");
}

TEST_WITH(steps_lie_between_start_and_end, NULL, small_end)
{
    run(CALL(1, 10, 5, 3, "") OP("aten::mm", 2, 15, 5, "") KERNEL("a", 20, 5, 3)
            FROM("x", 1, 10) ARROW("t", "x", 1, 1, 2, 15, "") TO("x", 1, 20));
    assert_rows("x 0 1\nx 1 2\n");
}

/* The clock of the device may be behind. */
TEST_WITH(an_end_may_come_before_its_start, NULL, small_end)
{
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 9, 5, 3) FROM("ac2g", 3, 10) TO("ac2g", 3, 9));
    assert_rows("launch 0 1\n");
}

TEST_WITH(of_ranges_that_start_together_the_one_with_the_id_is_meant, NULL, small_end)
{
    run(CALL(1, 10, 9, 3, "") CALL(1, 10, 5, 4, "") KERNEL("a", 20, 5, 3) FROM("ac2g", 3, 10)
            TO("ac2g", 3, 20) FROM("ac2g", 5, 10) TO("ac2g", 5, 20));
    assert_rows("launch 0 2\nlaunch 1 2\n");
}

TEST_WITH(what_stands_beside_a_start_means_the_range_around_it, NULL, small_end)
{
    run(OP("a", 1, 0, 100, "") OP("b", 1, 10, 20, "") OP("c", 1, 12, 2, "")
            KERNEL("k", 20, 5, 3) FROM("x", 1, 15) TO("x", 1, 24) FROM("x", 2, 30)
                TO("x", 2, 25) FROM("x", 3, 99) TO("x", 3, 20));
    assert_rows("x 1 3\nx 0 3\nx 0 3\n");
}

/* TensorFlow draws the way of a tensor from the end of the operation that made it. */
TEST_WITH(where_nothing_runs_the_range_that_ends_there_is_meant, NULL, small_end)
{
    run(OP("a", 1, 0, 100, "") OP("b", 1, 60, 40, "") OP("c", 1, 200, 10, "")
            KERNEL("k", 300, 5, 3) FROM("x", 1, 100) TO("x", 1, 300) FROM("x", 2, 100)
                TO("x", 2, 305) FROM("x", 3, 210) TO("x", 3, 306) FROM("x", 4, 101));
    assert_rows("x 1 3\nx 1 3\nx 2 -\n");
    assert_non_null(strstr(result.notes.s, "neither end in the trace (1)"));
}

/* Without a binding point of its own an end is that of the next range (Chrome's rule). */
TEST_WITH(an_end_between_ranges_means_the_next, NULL, small_end)
{
    run(CALL(1, 10, 5, 3, "") KERNEL("a", 20, 5, 3) KERNEL("b", 30, 5, 4) FROM("x", 1, 10)
            ARROW("f", "x", 1, 0, 7, 22, "") FROM("x", 2, 10) TO("x", 2, 27));
    assert_rows("x 0 2\nx 0 -\n");
}

TEST_WITH(forward_arrows_mean_operators_alone, NULL, small_end)
{
    run(RANGE("user_annotation", "outer", 1, 0, 100, "") OP("aten::mm", 1, 0, 50, "")
            OP("numbered", 1, 0, 40, "'Sequence number':1") OP("inner", 1, 0, 30, "")
                OP("MmBackward0", 2, 60, 20, "") FROM("fwdbwd", 1, 0)
                    ARROW("f", "fwdbwd", 1, 1, 2, 60, ",'bp':'e'") FROM("fwdbwd", 2, 7));
    assert_rows("fwdbwd 2 4\n");
    assert_non_null(strstr(result.notes.s, "neither end in the trace (1)"));
}

TEST_WITH(the_table_is_empty_and_says_why_without_arrows, NULL, small_end)
{
    run(OP("aten::mm", 1, 0, 50, ""));
    assert_int_equal(result.n_rows, 0);
    assert_string_equal(result.notes.s, "no arrows in the trace\n");
}

TEST_WITH(records_without_an_id_are_counted, NULL, small_end)
{
    run(OP("aten::mm", 1, 0, 50, "") FROM("x", null, 0) FROM("x", [1], 0) FROM("x", 1.5, 0));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "without an id (3)"));
}

/* How often quality counts CODE in TEXT, and where first; -1: not at all. */
static void assert_open(const char *text, const char *code, int64_t count, int64_t first_ns)
{
    const struct osc_options o = {0};
    int64_t n = 0, first = -1;

    small_table(&osc_table_quality, &o, text);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        if (!osc_str_eq(osc_result_get_str(&result, i, 1), osc_str_c(code)))
            continue;
        n = osc_result_get_int(&result, i, 2);
        first = osc_result_get_int(&result, i, 4);
    }
    assert_int_equal(n, count);
    assert_int_equal(first, first_ns);
    small_end(NULL);
}

/* Each counts once, however many records it has; what has no id is no arrow. */
TEST(arrows_that_lack_an_end_are_counted_in_quality)
{
    const char *const text = OP("aten::mm", 1, 0, 100, "") FROM("x", 1, 10) TO("x", 1, 20)
        FROM("x", 2, 30) FROM("x", 2, 31) ARROW("t", "x", 3, 1, 1, 40, "") TO("x", 3, 41)
            TO("y", 1, 50) TO("x", null, 5) FROM("x", null, 6) FROM("z", 1.5, 7);

    assert_open(text, "arrow_no_end", 1, 30000);
    assert_open(text, "arrow_no_start", 2, 40000);
    assert_open(OP("a", 1, 0, 9, "") FROM("x", 1, 2) TO("x", 1, 1), "arrow_no_end", 0, -1);
}

/* Fail the first allocation, then the second, ... until the work gets done. */
TEST_WITH(any_failed_allocation_is_reported, NULL, small_end)
{
    const struct osc_options o = {0};

    run(OP("a", 1, 0, 100, "") KERNEL("k", 20, 5, 3) FROM("x", 1, 15) TO("x", 1, 20));
    small_table_survives(&osc_table_flows, &o);
    assert_rows("x 0 1\n");
}

UNIT_MAIN("flows")
