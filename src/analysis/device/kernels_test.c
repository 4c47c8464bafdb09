/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

TEST_WITH(kernels_sum_up_by_name_whoever_launched_them, NULL, small_end)
{
    small_table(&osc_table_kernels, &(struct osc_options){0},
                OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "") KERNEL("k", 10, 4, 1)
                    KERNEL("k", 20, 2, 99) KERNEL("other_s884gemm", 30, 1, 98)
                        WORK("gpu_memcpy", "Memcpy", 40, 9, 97, ""));
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

TEST_WITH(launch_shapes_and_operators_tell_kernels_apart, NULL, small_end)
{
    small_table(&osc_table_kernels, grouped(&osc_table_kernels, "op"),
                OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "") WORK(
                    "kernel", "k", 10, 4, 1, ",'grid':[1,2,3],'registers per thread':0")
                    WORK("kernel", "k", 20, 4, 1, ",'grid':[1, 2, 3],'registers per thread':0")
                        WORK("kernel", "k", 30, 4, 1, ",'grid':[1,2,3]")
                            WORK("kernel", "k", 40, 4, 9, ",'grid':[1,2,3]"));
    assert_int_equal(result.n_rows, 3);
    assert_int_equal(integer(0, "calls"), 2);
    assert_true(is_text(0, "operator", "aten::mm"));
    assert_true(is_text(0, "grid", "[1, 2, 3]"));
    assert_true(osc_result_get_bool(&result, 0, column("op_tc_eligible")));
    assert_false(osc_result_has(&result, 1, column("registers_per_thread")));
    assert_true(is_text(2, "operator", "(none)"));
}

/* An operator, a launch of a graph, a call outside operators, and work without a call. */
static const char launches[] = OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "")
    RANGE("cuda_runtime", "cudaGraphLaunch", 1, 20, 1, "'correlation':2") CALL(1, 30, 1, 3, "")
        KERNEL("k", 40, 1, 1) KERNEL("k", 50, 2, 2) KERNEL("m", 60, 4, 2) KERNEL("k", 70, 8, 3)
            KERNEL("k", 80, 16, 99)
                RANGE("cuda_runtime", "cudaGraphLaunch", 1, 90, 1, "'correlation':4")
                    KERNEL("k", 95, 32, 4);

TEST_WITH(causes_and_graphs_sum_up_what_they_launched, NULL, small_end)
{
    small_table(&osc_table_kernels, grouped(&osc_table_kernels, "cause"), launches);
    assert_int_equal(result.n_rows, 4);
    assert_true(is_text(0, "cause", "operator"));
    assert_int_equal(integer(0, "total_ns"), 1000);
    assert_true(is_text(1, "cause", "graph"));
    assert_int_equal(integer(1, "calls"), 3);
    assert_int_equal(integer(1, "total_ns"), 38000);
    assert_true(is_text(2, "cause", "runtime call"));
    assert_int_equal(integer(2, "total_ns"), 8000);
    assert_true(is_text(3, "cause", "not recorded"));
    assert_int_equal(integer(3, "total_ns"), 16000);
    small_end(NULL);
    small_table(&osc_table_kernels, grouped(&osc_table_kernels, "graph"), launches);
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(0, "total_ns"), 6000);
    assert_int_equal(integer(1, "total_ns"), 32000);
}

TEST_WITH(an_operator_without_a_name_is_one, NULL, small_end)
{
    small_table(&osc_table_kernels, grouped(&osc_table_kernels, "op"),
                OP("", 1, 0, 9, "") CALL(1, 1, 1, 1, "") KERNEL("k", 10, 4, 1)
                    KERNEL("k", 20, 2, 9));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "operator", ""));
    assert_true(is_text(1, "operator", "(none)"));
}

TEST_WITH(means_are_weighted_with_durations_and_skip_what_means_nothing, NULL, small_end)
{
    small_table(
        &osc_table_kernels, &(struct osc_options){0},
        WORK("kernel", "k", 0, 3, 1, ",'blocks per SM':2,'est. achieved occupancy %':40")
            WORK("kernel", "k", 5, 1, 2, ",'blocks per SM':'inf'")
                WORK("kernel", "z", 9, 0, 3, ",'blocks per SM':5")
                    WORK("kernel", "z", 10, 9, 4,
                         ",'blocks per SM':1e308,'est. achieved occupancy %':1e308"));
    assert_true(number(0, "mean_blocks_per_sm") == 1.5);
    assert_true(number(0, "mean_occupancy_ratio") == 0.3);
    assert_true(number(1, "mean_blocks_per_sm") == 0);
    assert_true(number(1, "mean_occupancy_ratio") == 0);
    assert_true(result.shown >> column("mean_blocks_per_sm") & 1);
}

TEST_WITH(a_failed_allocation_is_told, NULL, small_end)
{
    const struct osc_options o = *grouped(&osc_table_kernels, "op");

    assert_true(small_load(&trace, KERNEL("k", 1, 1, 1)
                                       WORK("kernel", "k", 20, 4, 1, ",'grid':[1,2,3]")));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS, 1, NULL), OSC_OK);
    small_table_survives(&osc_table_kernels, &o);
    assert_int_equal(result.n_rows, 2);
}

UNIT_MAIN("kernels")
