/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "derive/derive.h"
#include "support/small_trace.h"

static struct osc_trace trace;
static struct osc_result result;

static int end(void **state)
{
    (void)state;
    osc_result_fini(&result);
    osc_trace_fini(&trace);
    return 0;
}

static void run(const char *events, const struct osc_options *o)
{
    const struct osc_table_def *const def = &osc_table_kernels;

    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, def->facts, 1, NULL), OSC_OK);
    osc_result_init(&result, def);
    assert_int_equal(def->map(&trace, o, &result, NULL), OSC_OK);
    assert_int_equal(def->finish(&result, o, NULL), OSC_OK);
}

static uint32_t column(const char *name)
{
    const int i = osc_table_column(&osc_table_kernels, name);

    assert_true(i >= 0);
    return (uint32_t)i;
}

static int64_t integer(uint64_t row, const char *name)
{
    return osc_result_get_int(&result, row, column(name));
}

static double number(uint64_t row, const char *name)
{
    return osc_result_get_num(&result, row, column(name));
}

static void is_text(uint64_t row, const char *name, const char *text)
{
    assert_true(osc_str_eq(osc_result_get_str(&result, row, column(name)), osc_str_c(text)));
}

static void kernels_sum_up_by_name_whoever_launched_them(void **state)
{
    (void)state;
    run(OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "") KERNEL("k", 10, 4, 1)
            KERNEL("k", 20, 2, 99) KERNEL("other_s884gemm", 30, 1, 98)
                WORK("gpu_memcpy", "Memcpy", 40, 9, 97, ""),
        &(struct osc_options){0});
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(0, "calls"), 2);
    assert_int_equal(integer(0, "total_ns"), 6000);
    assert_int_equal(integer(0, "max_ns"), 4000);
    assert_int_equal(integer(0, "min_ns"), 2000);
    assert_true(number(0, "mean_ns") == 3000);
    assert_false(osc_result_has(&result, 0, column("tensor_cores")));
    assert_false(osc_result_has(&result, 0, column("mean_blocks_per_sm")));
    assert_true(osc_result_get_bool(&result, 1, column("tensor_cores")));
}

static void launch_shapes_and_operators_tell_kernels_apart(void **state)
{
    (void)state;
    run(OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "")
            WORK("kernel", "k", 10, 4, 1, ",'grid':[1,2,3],'registers per thread':0")
                WORK("kernel", "k", 20, 4, 1, ",'grid':[1, 2, 3],'registers per thread':0")
                    WORK("kernel", "k", 30, 4, 1, ",'grid':[1,2,3]")
                        WORK("kernel", "k", 40, 4, 9, ",'grid':[1,2,3]"),
        &(struct osc_options){.by_op = true});
    assert_int_equal(result.n_rows, 3);
    assert_int_equal(integer(0, "calls"), 2);
    is_text(0, "operator", "aten::mm");
    is_text(0, "grid", "[1, 2, 3]");
    assert_true(osc_result_get_bool(&result, 0, column("op_tc_eligible")));
    assert_false(osc_result_has(&result, 1, column("registers_per_thread")));
    is_text(2, "operator", "(none)");
}

static void an_operator_without_a_name_is_one(void **state)
{
    (void)state;
    run(OP("", 1, 0, 9, "") CALL(1, 1, 1, 1, "") KERNEL("k", 10, 4, 1) KERNEL("k", 20, 2, 9),
        &(struct osc_options){.by_op = true});
    assert_int_equal(result.n_rows, 2);
    is_text(0, "operator", "");
    is_text(1, "operator", "(none)");
}

static void means_are_weighted_with_durations_and_skip_what_means_nothing(void **state)
{
    (void)state;
    run(WORK("kernel", "k", 0, 3, 1, ",'blocks per SM':2,'est. achieved occupancy %':40")
            WORK("kernel", "k", 5, 1, 2, ",'blocks per SM':'inf'")
                WORK("kernel", "z", 9, 0, 3, ",'blocks per SM':5"),
        &(struct osc_options){0});
    assert_true(number(0, "mean_blocks_per_sm") == 1.5);
    assert_true(number(0, "mean_occupancy_ratio") == 0.3);
    assert_true(number(1, "mean_blocks_per_sm") == 0);
    assert_true(result.shown >> column("mean_blocks_per_sm") & 1);
}

static void a_failed_allocation_is_told(void **state)
{
    const struct osc_options o = {.by_op = true};
    osc_status st = OSC_ENOMEM;

    (void)state;
    assert_true(small_load(&trace, KERNEL("k", 1, 1, 1)
                                       WORK("kernel", "k", 20, 4, 1, ",'grid':[1,2,3]")));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS, 1, NULL), OSC_OK);
    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&result);
        osc_result_init(&result, &osc_table_kernels);
        osc_mem_fail_after(n);
        st = osc_table_kernels.map(&trace, &o, &result, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(result.n_rows, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kernels_sum_up_by_name_whoever_launched_them, end),
        cmocka_unit_test_teardown(launch_shapes_and_operators_tell_kernels_apart, end),
        cmocka_unit_test_teardown(an_operator_without_a_name_is_one, end),
        cmocka_unit_test_teardown(means_are_weighted_with_durations_and_skip_what_means_nothing,
                                  end),
        cmocka_unit_test_teardown(a_failed_allocation_is_told, end),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
