/* SPDX-License-Identifier: Apache-2.0 */
#include "table/row_groups.h"

#include <string.h>

#include "base/mem.h"
#include "support/unit.h"
#include "table/table_options.h"

enum { NAME, PLACE, CALLS, LONGEST, MEAN, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    {.name = "name", .type = OSC_TYPE_STRING, .merge = OSC_MERGE_KEY},
    {.name = "place", .type = OSC_TYPE_INTEGER, .merge = OSC_MERGE_KEY},
    {.name = "calls", .type = OSC_TYPE_INTEGER, .merge = OSC_MERGE_SUM},
    {.name = "longest_ns", .type = OSC_TYPE_INTEGER, .merge = OSC_MERGE_MAX},
    {.name = "mean_ns", .type = OSC_TYPE_NUMBER, .merge = OSC_MERGE_FINISH},
};

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    (void)t, (void)o, (void)err;
    return out->status;
}

static const struct osc_table_def table = {
    .name = "t", .columns = columns, .n_columns = N_COLUMNS, OSC_MAPS(.map = map)};
static struct osc_result r;

static void add(const char *name, int64_t place, int64_t calls)
{
    osc_result_row(&r);
    if (name)
        osc_result_str(&r, NAME, osc_str_c(name));
    osc_result_int(&r, PLACE, place);
    osc_result_int(&r, CALLS, calls);
    osc_result_int(&r, LONGEST, calls);
}

static void fill(void)
{
    osc_result_init(&r, &table);
    add("execute_5(40)_generation_3(3)", 1, 1);
    add("other", 1, 2);
    add("execute_2(9)_generation_4(4)", 1, 4);
    add("execute_9(1)_generation_3(3)", 1, 8);
    add("execute_9(1)_generation_3(3)", 2, 16);
    add(NULL, 1, 32);
    r.sorted_by = CALLS + 1;
}

static int end(void **state)
{
    (void)state;
    osc_result_fini(&r);
    return 0;
}

static void assert_row(uint64_t i, const char *name, int64_t calls, int64_t longest)
{
    assert_true(osc_str_eq(osc_result_get_str(&r, i, NAME), osc_str_c(name)));
    assert_int_equal(osc_result_get_int(&r, i, CALLS), calls);
    assert_int_equal(osc_result_get_int(&r, i, LONGEST), longest);
}

TEST_WITH(rows_whose_names_match_alike_become_one, NULL, end)
{
    fill();
    assert_int_equal(osc_rows_group(&r, "execute_.*_generation_([0-9]+)", NULL), OSC_OK);
    assert_int_equal(r.n_rows, 5);
    assert_row(0, "execute_.*_generation_3", 9, 8);
    assert_row(1, "other", 2, 2);
    assert_row(2, "execute_.*_generation_4", 4, 4);
    assert_row(3, "execute_.*_generation_3", 16, 16); /* another key */
    assert_row(4, "", 32, 32);
    assert_int_equal(r.sorted_by, CALLS + 1);
}

TEST_WITH(without_groups_all_that_match_are_one, NULL, end)
{
    fill();
    assert_int_equal(osc_rows_group(&r, "EXECUTE", NULL), OSC_OK);
    assert_int_equal(r.n_rows, 4);
    assert_row(0, "EXECUTE", 13, 8);
}

TEST_WITH(a_failed_allocation_is_told, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&r);
        fill();
        osc_mem_fail_after(n);
        st = osc_rows_group(&r, "execute_.*_generation_([0-9]+)", NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(r.n_rows, 5);
}

TEST(a_pattern_is_the_last_of_what_is_grouped_by)
{
    static const char *const groupings[] = {"shape", NULL};
    const struct osc_table_def with = {.name = "t",
                                       .columns = columns,
                                       .n_columns = N_COLUMNS,
                                       .groupings = groupings,
                                       OSC_MAPS(.map = map)};
    struct osc_options o = {0};
    struct osc_err err = {0};

    assert_int_equal(osc_options_group(&o, &with, "shape,name~a,(b|c):2", NULL), OSC_OK);
    assert_int_equal(o.groups, 1);
    assert_string_equal(o.pattern, "a,(b|c):2");
    assert_int_equal(osc_options_group(&o, &with, "name~(", &err), OSC_EINVAL);
    assert_string_equal(err.message, "the pattern /(/ is wrong: a ( is not closed");
    assert_int_equal(osc_options_group(&o, &with, "shape,name~", &err), OSC_EINVAL);
    assert_string_equal(err.message, "a pattern is missing behind name~, as in 'name~conv'");
    assert_int_equal(osc_options_group(&o, &table, "shape", &err), OSC_EINVAL);
    assert_string_equal(err.message,
                        "t cannot be grouped by 'shape', only by a pattern: 'name~conv'");
}

UNIT_MAIN("row_groups")
