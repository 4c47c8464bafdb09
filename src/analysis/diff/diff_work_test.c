/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/change.h"
#include "analysis/diff/side_tree.h"
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

#define MARK(n, start, dur) RANGE("user_annotation", "ProfilerStep#" #n, 1, start, dur, "")

/* Four steps, of which the first is slow; the second lacks aten::relu. */
static const char base_events[] = MARK(0, 0, 900) OP("aten::mm", 1, 10, 500, "")
    OP("aten::relu", 1, 600, 100, "") MARK(1, 1000, 100) OP("aten::mm", 1, 1010, 20, "")
        MARK(2, 2000, 101) OP("aten::mm", 1, 2010, 21, "") OP("aten::relu", 1, 2050, 10, "")
            MARK(3, 3000, 102) OP("aten::mm", 1, 3010, 22, "") OP("aten::relu", 1, 3050, 11, "")
                OP("aten::mm", 1, 4000, 7, "");

static const char new_events[] = MARK(0, 0, 200) OP("aten::mm", 1, 10, 60, "")
    OP("aten::gelu", 1, 100, 10, "") MARK(1, 1000, 201) OP("aten::mm", 1, 1010, 61, "")
        OP("aten::gelu", 1, 1100, 10, "") MARK(2, 2000, 202) OP("aten::mm", 1, 2010, 62, "")
            OP("aten::gelu", 1, 2100, 10, "");

static struct osc_result digests[OSC_BOTH][OSC_SIDES];

static struct osc_options options = {.n_threads = 1};

static void digest(int side, const char *events)
{
    for (uint32_t s = 0; s < OSC_SIDES; s++) {
        const struct osc_table_def *const def = osc_side_defs[s];

        small_table(def, &options, events);
        osc_result_init(&digests[side][s], def);
        osc_result_move(&digests[side][s], &result);
        osc_result_fini(&result);
        osc_trace_fini(&trace);
    }
}

static int make(void **state)
{
    (void)state;
    options.n_own = 0;
    digest(OSC_BASE, base_events);
    digest(OSC_NEW, new_events);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int side = 0; side < OSC_BOTH; side++) {
        for (uint32_t s = 0; s < OSC_SIDES; s++)
            osc_result_fini(&digests[side][s]);
    }
    return small_end(state);
}

static osc_status compare(const struct osc_table_def *def)
{
    const struct osc_comparison *const c = def->comparison;
    const struct osc_result *base[OSC_SIDES], *new_[OSC_SIDES];

    for (uint32_t i = 0; c->sides[i] < OSC_SIDES; i++) {
        base[i] = &digests[OSC_BASE][c->sides[i]];
        new_[i] = &digests[OSC_NEW][c->sides[i]];
    }
    osc_result_init(&result, def);
    return c->compare(base, new_, &options, &result, NULL);
}

/* A kernel without a launch ends a microsecond before that of the first of two steps. */
static const char cut_events[] = MARK(0, 0, 1000) CALL(1, 10, 5, 1, "")
    KERNEL("early", 20, 1900, 0) KERNEL("k", 1930, 10, 1) MARK(1, 1000, 1000);

static int make_cut(void **state)
{
    (void)state;
    digest(OSC_BASE, base_events);
    digest(OSC_NEW, cut_events);
    return 0;
}

TEST_WITH(steps_that_earlier_work_left_nothing_of_are_not_compared, make_cut, end)
{
    assert_int_equal(compare(&osc_table_diff_steps), OSC_OK);
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
    assert_non_null(strstr(result.notes.s, "of new, 1.00 ms, only 20.0 us"));
}

/* A program without operators, such as a compiler. */
static int make_none(void **state)
{
    (void)state;
    digest(OSC_BASE, OP("aten::mm", 1, 10, 500, ""));
    digest(OSC_NEW, RANGE("", "Frontend", 1, 0, 3000, ""));
    return 0;
}

TEST_WITH(a_run_that_has_no_time_is_not_compared, make_none, end)
{
    assert_int_equal(compare(&osc_table_diff_steps), OSC_OK);
    assert_int_equal(result.n_rows, 0);
    assert_true(result.says_why_empty);
    assert_string_equal(result.notes.s,
                        "the times of the runs cannot be compared: new has no kept steps, and "
                        "no operators or device work that could count as one\n");
}

TEST_WITH(operators_are_joined_by_name_and_step, make, end)
{
    assert_int_equal(compare(&osc_table_diff_operators), OSC_OK);
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "name", "aten::mm"));
    assert_int_equal(integer(0, "base_calls"), 5);
    assert_int_equal(integer(0, "delta_calls"), -2);
    assert_int_equal(integer(0, "base_host_self_ns"), 570000);
    assert_int_equal(integer(0, "delta_host_self_ns"), 183000 - 570000);
    assert_true(number(0, "mean_base_calls") == 1);
    assert_true(number(0, "mean_base_host_self_ns") == 21000);
    assert_true(number(0, "mean_delta_host_self_ns") == 40000);
    assert_true(osc_result_get_bool(&result, 0, column("significant")));
    /* 0, 10 and 11 us. */
    assert_true(is_text(1, "name", "aten::relu"));
    assert_true(number(1, "mean_base_host_self_ns") == 7000);
    assert_true(number(1, "delta_ratio") == -1);
    assert_false(osc_result_get_bool(&result, 1, column("significant")));
    assert_true(is_text(2, "name", "aten::gelu"));
    assert_false(osc_result_has(&result, 2, column("delta_ratio")));
    assert_true(number(2, "p_value") == 0);
    assert_string_equal(
        result.notes.s,
        "base has 3 steps (and 1 slow first step, left out), new has 3 steps\n");
}

/* Five steps, in each of the new ones an operator that the others lack; one call of it is slow.
 */
#define FIVE(where)                                                                         \
    MARK(1, 0, 2000)                                                                        \
    where(100, 10) MARK(2, 2000, 2000) where(2100, 10) MARK(3, 4000, 2000) where(4100, 900) \
        MARK(4, 6000, 2000) where(6100, 10) MARK(5, 8000, 2000) where(8100, 10)
#define WITHOUT(ts, dur) OP("aten::mm", 1, ts, 50, "")
#define WITH(ts, dur)    OP("aten::where", 1, ts, dur, "") OP("aten::mm", 2, ts, 50, "")

static int make_five(void **state)
{
    (void)state;
    digest(OSC_BASE, FIVE(WITHOUT));
    digest(OSC_NEW, FIVE(WITH));
    return 0;
}

TEST_WITH(what_is_in_each_step_of_one_side_alone_is_significant, make_five, end)
{
    assert_int_equal(compare(&osc_table_diff_operators), OSC_OK);
    assert_true(is_text(0, "name", "aten::mm"));
    assert_false(osc_result_get_bool(&result, 0, column("significant")));
    assert_true(is_text(1, "name", "aten::where"));
    assert_true(number(1, "p_value") == 2.0 / 252);
    assert_true(osc_result_get_bool(&result, 1, column("significant")));
}

TEST_WITH(steps_have_a_row_for_the_whole_and_for_each_part, make, end)
{
    assert_int_equal(compare(&osc_table_diff_steps), OSC_OK);
    assert_int_equal(result.n_rows, 3);
    assert_true(is_text(0, "name", "total"));
    assert_int_equal(integer(0, "base_calls"), 4);
    assert_int_equal(integer(0, "base_ns"), 1203000);
    assert_true(number(0, "mean_base_ns") == 101000);
    assert_true(number(0, "mean_delta_ns") == 100000);
    assert_true(osc_result_get_bool(&result, 0, column("significant")));
    assert_true(is_text(1, "name", "cpu_exec"));
    assert_true(is_text(2, "name", "other"));
}

/* Five steps; each of the new ones is longer than all others, one of them by far. */
static int make_longer(void **state)
{
    (void)state;
    digest(OSC_BASE, MARK(1, 0, 2000) MARK(2, 10000, 2010) MARK(3, 20000, 2020)
                         MARK(4, 30000, 2030) MARK(5, 40000, 2040) OP("aten::mm", 1, 1, 5, ""));
    digest(OSC_NEW, MARK(1, 0, 2050) MARK(2, 10000, 9000) MARK(3, 20000, 2060)
                        MARK(4, 30000, 2070) MARK(5, 40000, 2080) OP("aten::mm", 1, 1, 5, ""));
    return 0;
}

TEST_WITH(one_very_long_step_does_not_hide_that_each_is_longer, make_longer, end)
{
    assert_int_equal(compare(&osc_table_diff_steps), OSC_OK);
    assert_true(number(0, "p_value") == 2.0 / 252);
    assert_true(osc_result_get_bool(&result, 0, column("significant")));
    assert_false(osc_result_get_bool(&result, 1, column("significant")));
    assert_non_null(strstr(result.notes.s, ", beyond noise"));
}

TEST_WITH(kernels_of_nobody_are_no_rows, make, end)
{
    assert_int_equal(compare(&osc_table_diff_kernels), OSC_OK);
    assert_int_equal(result.n_rows, 0);
    assert_string_equal(result.notes.s, "no kernels in either run\n");
}

TEST_WITH(trees_fold_steps_and_pair_what_was_renamed, make, end)
{
    assert_int_equal(compare(&osc_table_diff_tree), OSC_OK);
    assert_int_equal(result.n_rows, 4);
    assert_true(is_text(0, "path", "step"));
    assert_int_equal(integer(0, "base_calls"), 4);
    assert_int_equal(integer(0, "new_calls"), 3);
    assert_true(number(0, "mean_new_ns") == 201000);
    assert_true(number(0, "mean_base_ns") == 101000);
    assert_true(is_text(1, "path", "step/aten::mm"));
    assert_int_equal(integer(1, "depth"), 1);
    assert_int_equal(integer(1, "base_ns"), 563000);
    assert_true(is_text(2, "path", "step/aten::gelu"));
    assert_true(is_text(2, "base_name", "aten::relu"));
    assert_int_equal(integer(2, "base_calls"), 3);
    assert_true(is_text(3, "path", "aten::mm"));
    assert_false(osc_result_has(&result, 3, column("new_name")));
}

TEST_WITH(a_range_without_a_name_is_no_step, NULL, end)
{
    small_table(&osc_side_tree, &options, OP("", 1, 0, 9, ""));
    assert_int_equal(result.n_rows, 1);
    assert_true(is_text(0, "name", ""));
}

TEST_WITH(survives_any_failed_allocation, make, end)
{
    enum { N_DEFS = 4 };
    static const struct osc_table_def *const defs[N_DEFS] = {
        &osc_table_diff_steps, &osc_table_diff_operators, &osc_table_diff_kernels,
        &osc_table_diff_tree};

    for (size_t i = 0; i < N_DEFS; i++) {
        osc_status st = OSC_ENOMEM;

        for (long n = 0; st != OSC_OK; n++) {
            osc_mem_fail_after(n);
            st = compare(defs[i]);
            osc_mem_fail_after(-1);
            osc_result_fini(&result);
            assert_true(st == OSC_OK || st == OSC_ENOMEM);
        }
    }
}

static int make_plugin(void **state)
{
    (void)state;
    options = (struct osc_options){.n_threads = 1, COMPAT_TB};
    digest(OSC_BASE, base_events);
    digest(OSC_NEW, new_events);
    return 0;
}

TEST_WITH(nothing_matches_where_the_plugin_has_no_classes, make_plugin, end)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&result);
        osc_mem_fail_after(n);
        st = compare(&osc_table_diff_tree);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(result.n_rows, 1);
    assert_true(is_text(0, "path", "0"));
    assert_true(is_text(0, "base_name", "CompositeNodes"));
    assert_int_equal(integer(0, "base_calls"), 7);
    assert_int_equal(integer(0, "base_ns"), 563000 + 121000);
}

UNIT_MAIN("diff_work")
