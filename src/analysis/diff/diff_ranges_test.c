/* SPDX-License-Identifier: Apache-2.0 */
#include "support/small_table.h"
#include "support/unit.h"

static struct osc_result base, rows;

/* Compare the ranges of the traces with BEFORE and with AFTER. */
static osc_status compare(const char *before, const char *after)
{
    static const struct osc_options o;
    const struct osc_comparison *const c = osc_table_diff_ranges.comparison;
    const struct osc_result *const both[] = {&base, &result};

    small_table(&osc_table_ranges, &o, before);
    osc_result_init(&base, &osc_table_ranges);
    osc_result_move(&base, &result);
    (void)small_end(NULL);
    small_table(&osc_table_ranges, &o, after);
    osc_result_init(&rows, &osc_table_diff_ranges);
    return c->compare(&both[0], &both[1], &o, &rows, NULL);
}

static int end(void **state)
{
    osc_result_fini(&base);
    osc_result_fini(&rows);
    return small_end(state);
}

static int64_t cell(uint64_t row, const char *name)
{
    return osc_result_get_int(&rows, row,
                              (uint32_t)osc_table_column(&osc_table_diff_ranges, name));
}

TEST_WITH(ranges_of_one_name_and_kind_stand_side_by_side, NULL, end)
{
    const int name = osc_table_column(&osc_table_diff_ranges, "name");
    const int ratio = osc_table_column(&osc_table_diff_ranges, "delta_ratio");

    assert_int_equal(compare(OP("a", 1, 0, 10, "") OP("gone", 1, 20, 5, ""),
                             OP("a", 1, 0, 25, "") OP("a", 1, 30, 5, "")
                                 RANGE("mine", "a", 1, 50, 1, "")),
                     OSC_OK);
    assert_int_equal(rows.n_rows, 3); /* the range of another kind is another */
    assert_int_equal(cell(0, "base_calls"), 1);
    assert_int_equal(cell(0, "new_calls"), 2);
    assert_int_equal(cell(0, "delta_ns"), 20000);
    assert_true(osc_result_get_num(&rows, 0, (uint32_t)ratio) == 2);
    assert_true(osc_str_eq(osc_result_get_str(&rows, 1, (uint32_t)name), OSC_STR("gone")));
    assert_int_equal(cell(1, "delta_ns"), -5000);
    assert_int_equal(cell(1, "order"), 5000);
    assert_false(osc_result_has(&rows, 2, (uint32_t)ratio)); /* the base has none */
    assert_false(osc_table_diff_ranges.comparison->is_alike(&rows, 2));
}

TEST_WITH(equal_runs_differ_in_nothing, NULL, end)
{
    assert_int_equal(compare(OP("a", 1, 0, 10, ""), OP("a", 1, 5, 10, "")), OSC_OK);
    assert_int_equal(rows.n_rows, 1);
    assert_true(osc_table_diff_ranges.comparison->is_alike(&rows, 0));
}

TEST_WITH(a_failed_allocation_is_told, NULL, end)
{
    static const struct osc_options o;
    const struct osc_result *const both[] = {&base, &result};
    osc_status st = compare(OP("a", 1, 0, 10, ""), OP("b", 1, 5, 10, ""));

    assert_int_equal(st, OSC_OK);
    st = OSC_ENOMEM;
    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&rows);
        osc_result_init(&rows, &osc_table_diff_ranges);
        osc_mem_fail_after(n);
        st = osc_table_diff_ranges.comparison->compare(&both[0], &both[1], &o, &rows, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(rows.n_rows, 2);
}

UNIT_MAIN("diff_ranges")
