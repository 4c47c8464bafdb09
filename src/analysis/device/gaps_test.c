/* SPDX-License-Identifier: Apache-2.0 */
#include "support/small_table.h"
#include "support/unit.h"

static void assert_gap(uint64_t row, const char *before, const char *after, int64_t dur_us)
{
    assert_true(is_text(row, "before", before));
    assert_true(is_text(row, "after", after));
    assert_int_equal(integer(row, "dur_ns"), dur_us * 1000);
}

TEST_WITH(a_gap_lies_between_the_last_end_and_the_next_start, NULL, small_end)
{
    /* b ends within a, and c follows a; d follows at once. */
    small_table(&osc_table_gaps, &(struct osc_options){0},
                OP("origin", 1, 0, 1, "") KERNEL("a", 10, 20, 1) KERNEL("b", 12, 2, 2)
                    KERNEL("c", 37, 3, 3) KERNEL("d", 40, 1, 4));
    assert_int_equal(result.n_rows, 1);
    assert_gap(0, "a", "c", 7);
    assert_int_equal(integer(0, "start_ns"), 30000);
    assert_false(osc_result_has(&result, 0, column("thread")));
    assert_false(osc_result_has(&result, 0, column("meanwhile")));
}

TEST_WITH(the_thread_that_launches_says_what_it_did, NULL, small_end)
{
    /* Of the gap from 20 to 60, `step` has 4 us of its own, `load` 26, the others the rest. */
    small_table(&osc_table_gaps, &(struct osc_options){0},
                OP("step", 1, 0, 90, "") OP("load", 1, 10, 40, "") OP("read", 1, 30, 4, "")
                    OP("aten::mm", 1, 52, 30, "") CALL(1, 54, 2, 2, "")
                        OP("other", 2, 0, 99, "") KERNEL("a", 10, 10, 1) KERNEL("b", 60, 5, 2));
    assert_int_equal(result.n_rows, 1);
    assert_gap(0, "a", "b", 40);
    assert_true(is_text(0, "thread", "1"));
    assert_true(is_text(0, "meanwhile", "load"));
    assert_int_equal(integer(0, "meanwhile_ns"), 26000);
}

TEST_WITH(a_range_around_all_of_the_gap_leaves_nothing_to_its_namesake, NULL, small_end)
{
    small_table(&osc_table_gaps, &(struct osc_options){0},
                OP("wait", 1, 0, 90, "") OP("wait", 1, 5, 80, "") CALL(1, 70, 2, 2, "")
                    KERNEL("a", 10, 10, 1) KERNEL("b", 60, 5, 2));
    assert_true(is_text(0, "meanwhile", "wait"));
    assert_int_equal(integer(0, "meanwhile_ns"), 40000);
}

TEST_WITH(queues_without_gaps_say_so, NULL, small_end)
{
    small_table(&osc_table_gaps, &(struct osc_options){0}, KERNEL("a", 10, 10, 1));
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
}

TEST_WITH(a_failed_allocation_is_told, NULL, small_end)
{
    small_table(&osc_table_gaps, &(struct osc_options){0},
                OP("load", 1, 0, 40, "") CALL(1, 54, 2, 2, "") KERNEL("a", 10, 10, 1)
                    KERNEL("b", 60, 5, 2));
    small_table_survives(&osc_table_gaps, &(struct osc_options){0});
    assert_int_equal(result.n_rows, 1);
}

UNIT_MAIN("gaps")
