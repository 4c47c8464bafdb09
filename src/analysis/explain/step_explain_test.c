/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/small_table.h"
#include "support/unit.h"

/* Three steps; the second has more of a and no b, the first one kernel less. */
static const char events[] = STEP(7, 0, 100) STEP(8, 100, 100) STEP(9, 200, 100)
    OP("a", 1, 10, 20, "") OP("b", 1, 40, 10, "") OP("a", 1, 110, 50, "")
        OP("a", 1, 210, 30, "") OP("b", 1, 250, 10, "") CALL(1, 15, 5, 1, "")
            KERNEL("k", 20, 4, 1) CALL(1, 115, 5, 2, "") KERNEL("k", 120, 4, 2)
                CALL(1, 125, 5, 3, "") KERNEL("k", 130, 4, 3) CALL(1, 215, 5, 4, "")
                    KERNEL("k", 220, 4, 4) CALL(1, 225, 5, 5, "") KERNEL("k", 230, 4, 5);

/* The row of STEP, KIND and NAME. */
static uint64_t row_of(int64_t step, const char *kind, const char *name)
{
    for (uint64_t i = 0; i < result.n_rows; i++) {
        if (integer(i, "step") == step && is_text(i, "kind", kind) && is_text(i, "name", name))
            return i;
    }
    fail_msg("no row %s %s of step %d", kind, name, (int)step);
    return 0;
}

TEST_WITH(a_step_is_compared_with_the_median, NULL, small_end)
{
    small_table(&osc_table_step_explain, &(struct osc_options){0}, events);
    const uint64_t a = row_of(1, "operator", "a"), b = row_of(1, "operator", "b"),
                   k = row_of(0, "kernel", "k"), all = row_of(1, "category", "step");

    assert_int_equal(integer(a, "ns"), 50000);
    assert_true(number(a, "median_ns") == 30000 && number(a, "mean_delta_ns") == 20000);
    assert_int_equal(integer(b, "ns"), 0);
    assert_int_equal(integer(b, "calls"), 0);
    assert_true(number(b, "median_ns") == 10000 && number(b, "mean_delta_ns") == -10000);
    assert_true(number(b, "median_calls") == 1);
    assert_int_equal(integer(b, "order"), 20000);
    assert_int_equal(integer(k, "calls"), 1);
    assert_true(number(k, "median_calls") == 2 && number(k, "mean_delta_ns") == -4000);
    assert_int_equal(integer(all, "ns"), 100000);
    assert_true(number(all, "mean_delta_ns") == 0);
    assert_false(osc_result_has(&result, all, column("calls")));
}

TEST_WITH(what_is_in_one_step_alone_has_one_row, NULL, small_end)
{
    small_table(&osc_table_step_explain, &(struct osc_options){0},
                STEP(7, 0, 100) STEP(8, 100, 100) STEP(9, 200, 100) OP("a", 1, 210, 50, ""));
    uint64_t n = 0;

    for (uint64_t i = 0; i < result.n_rows; i++)
        n += is_text(i, "kind", "operator");
    assert_int_equal(n, 1);
    assert_true(number(row_of(2, "operator", "a"), "mean_delta_ns") == 50000);
}

TEST_WITH(without_anything_there_is_no_step, NULL, small_end)
{
    small_table(&osc_table_step_explain, &(struct osc_options){0}, "");
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
}

UNIT_MAIN("step_explain")
