/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"
#include "table/merge.h"

/* One step of 100 us with two kernels that overlap, of which an operator launched one. */
#define SAYS(blocks, occupancy) \
    ",'blocks per SM':" #blocks ",'est. achieved occupancy %':" #occupancy
#define HOST STEP(7, 0, 100) OP("aten::mm", 1, 10, 30, "") CALL(1, 15, 5, 1, "")
static const char events[] = HOST WORK("kernel", "s884_gemm", 20, 30, 1, SAYS(0.5, 40))
    WORK("kernel", "other", 30, 10, 9, SAYS(0.25, 100));

static int end(void **state)
{
    return small_end(state);
}

static void run(const char *text, bool compat_tb)
{
    const struct osc_options o = {.own = {{&osc_option_compat, "tb", 0}}, .n_own = compat_tb};

    small_table(&osc_table_devices, &o, text);
}

static void assert_number(const struct osc_result *r, const char *name, double expected)
{
    assert_true(osc_result_has(r, 0, column(name)));
    assert_float_equal(osc_result_get_num(r, 0, column(name)), expected, 1e-12);
}

TEST_WITH(shares_are_of_the_time_of_the_kept_steps, NULL, end)
{
    run(events, false);
    assert_int_equal(result.n_rows, 1);
    assert_number(&result, "utilization_ratio", 0.3);
    assert_number(&result, "sm_efficiency_ratio", (0.5 * 20 + 0.75 * 10) / 100);
    assert_number(&result, "occupancy_ratio", (0.4 * 30 + 10) / 40);
    assert_number(&result, "tensor_core_ratio", 1); /* `other` belongs to no operator */
    assert_non_null(strstr(result.notes.s, "does not say what 1 of 1 devices are"));
}

TEST_WITH(what_no_kernel_says_is_missing, NULL, end)
{
    run(HOST KERNEL("k", 20, 30, 9), false);
    assert_number(&result, "utilization_ratio", 0.3);
    assert_false(osc_result_has(&result, 0, column("sm_efficiency_ratio")));
    assert_false(osc_result_has(&result, 0, column("occupancy_ratio")));
    assert_false(osc_result_has(&result, 0, column("tensor_core_ratio")));
}

/* Nothing of what operators launched uses Tensor Cores, but something else did. */
TEST_WITH(no_share_is_zero_only_as_no_operator_launched_it, NULL, end)
{
    run(HOST KERNEL("at::native::copy", 20, 30, 1), false);
    assert_number(&result, "tensor_core_ratio", 0);
    end(NULL);
    run(HOST KERNEL("at::native::copy", 20, 30, 1) KERNEL("s884gemm", 60, 30, 9), false);
    assert_false(osc_result_has(&result, 0, column("tensor_core_ratio")));
}

TEST_WITH(a_share_is_told_if_rules_know_all_but_a_hundredth, NULL, end)
{
    run(HOST KERNEL("s884gemm", 20, 99, 1) KERNEL("attn_fwd", 120, 1, 1), false);
    assert_number(&result, "tensor_core_ratio", 0.99);
    end(NULL);
    run(HOST KERNEL("s884gemm", 20, 98, 1) KERNEL("attn_fwd", 120, 1, 1), false);
    assert_false(osc_result_has(&result, 0, column("tensor_core_ratio")));
    end(NULL);
    run(HOST KERNEL("s884gemm", 20, 1, 1) KERNEL("attn_fwd", 120, 99, 1), true);
    assert_number(&result, "tensor_core_ratio", 0.01);
}

TEST_WITH(device_work_alone_is_a_step_but_not_to_the_plugin, NULL, end)
{
    run(KERNEL("k", 20, 30, 9) KERNEL("k", 70, 10, 9), false);
    assert_number(&result, "utilization_ratio", 40 / 60.0);
    end(NULL);
    run(KERNEL("k", 20, 30, 9), true);
    assert_int_equal(result.n_rows, 1);
    assert_false(osc_result_has(&result, 0, column("utilization_ratio")));
    assert_non_null(strstr(result.notes.s, "no steps"));
}

/* Device 0 has kernels of operators, device 1 one that belongs to none. */
TEST_WITH(a_device_without_kernels_of_operators_is_zero_to_the_plugin_alone, NULL, end)
{
    static const char two[] = HOST KERNEL(
        "k", 20, 30, 1) "{'ph':'X','cat':'kernel','name':'k','pid':1,'tid':7,'ts':20,'dur':30,"
                        "'args':{'device':1,'stream':7}},";

    run(two, false);
    assert_int_equal(result.n_rows, 2);
    assert_false(osc_result_has(&result, 0, column("tensor_core_ratio"))); /* no rule knows k */
    assert_false(osc_result_has(&result, 1, column("tensor_core_ratio")));
    end(NULL);
    run(two, true);
    assert_true(osc_result_has(&result, 1, column("tensor_core_ratio")));
    assert_true(osc_result_get_num(&result, 1, column("tensor_core_ratio")) == 0);
}

TEST_WITH(ranks_merge_by_their_sums, NULL, end)
{
    static const char *const texts[] = {events, HOST KERNEL("at::native::k", 20, 10, 1)};
    struct osc_result merged;
    struct osc_merger m = {0};

    osc_merger_init(&m, &osc_table_devices);
    for (uint32_t rank = 0; rank < 2; rank++) {
        run(texts[rank], false);
        assert_int_equal(osc_merger_add(&m, &result, rank), OSC_OK);
        end(NULL);
    }
    osc_result_init(&merged, &osc_table_devices);
    assert_int_equal(osc_merger_result(&m, &merged), OSC_OK);
    assert_int_equal(osc_table_devices.mapping->finish(&merged, &(struct osc_options){0}, NULL),
                     OSC_OK);
    assert_int_equal(merged.n_rows, 1);
    assert_number(&merged, "utilization_ratio", (30.0 + 10) / 200);
    assert_number(&merged, "tensor_core_ratio", 30.0 / 40);
    osc_result_fini(&merged);
    osc_merger_fini(&m);
}

static void read_props(const char *list)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "{\"deviceProperties\": %s, \"traceEvents\": []}", list);
    assert_int_equal(osc_import_memory(&trace, "t", osc_str_c(text),
                                       &(struct osc_import_options){.n_threads = 1}, NULL),
                     OSC_OK);
}

static const struct osc_device *device(const char *name, int64_t index)
{
    return osc_trace_device(&trace, osc_str_c(name), index);
}

TEST_WITH(a_device_without_a_name_has_that_of_the_one_model_that_fits, NULL, end)
{
#define GFX942 "\"computeMajor\": 9, \"computeMinor\": 4, \"numSms\": 304"
    read_props("[{\"id\": 0, " GFX942 ", \"totalGlobalMem\": 206141652992}, "
               "{\"id\": 1, " GFX942 ", \"totalGlobalMem\": 274861129728}, "
               "{\"id\": 2, " GFX942 "}, "
               "{\"id\": 3, \"name\": \"own\", " GFX942 ", \"totalGlobalMem\": 1}]");
    assert_true(osc_str_eq(osc_trace_str(&trace, device("cuda:0", 0)->model),
                           OSC_STR("AMD Instinct MI300X (derived)")));
    assert_true(osc_str_eq(osc_trace_str(&trace, device("cuda:1", 1)->model),
                           OSC_STR("AMD Instinct MI325X (derived)")));
    assert_int_equal(device("cuda:2", 2)->model.v, 0);
    assert_true(osc_str_eq(osc_trace_str(&trace, device("cuda:3", 3)->model), OSC_STR("own")));
}

TEST_WITH(properties_go_by_id_or_by_place, NULL, end)
{
    read_props("[{\"id\": 2, \"name\": \"a \\\"b\\\"\", \"totalGlobalMem\": 68702699520, "
               "\"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": \"104\"}, "
               "{\"name\": \"second\"}, {\"id\": 2, \"name\": \"again\"}, null]");
    assert_int_equal(trace.n_devices, 4);
    const struct osc_device *const d = device("cuda:2", 2);
    assert_non_null(d);
    assert_true(osc_str_eq(osc_trace_str(&trace, d->model), OSC_STR("a \"b\"")));
    assert_true(osc_str_eq(osc_trace_str(&trace, d->family), OSC_STR("cuda")));
    assert_int_equal(d->limits.memory_bytes, 68702699520);
    assert_int_equal(d->limits.major, 9);
    assert_int_equal(d->limits.minor, 0);
    assert_int_equal(d->limits.n_units, 104);
    assert_int_equal(d->limits.simd_width, -1);
    assert_true(
        osc_str_eq(osc_trace_str(&trace, device("cuda:1", 1)->model), OSC_STR("second")));
    assert_int_equal(device("cuda:1", 1)->limits.memory_bytes, -1);
    assert_int_equal(device("xpu:3", 3)->model.v, 0);
    assert_null(device("cuda:0", 0));
    assert_null(device("cuda", -1));
}

TEST_WITH(what_is_no_list_of_devices_is_none, NULL, end)
{
    static const char *const lists[] = {"[]", "null", "\"[1]\"", "{\"id\": 0}", "3"};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        read_props(lists[i]);
        assert_int_equal(trace.n_devices, 0);
        end(NULL);
    }
}

/* Fail the first allocation, then the second, ... until the work gets done. */
TEST_WITH(any_failed_allocation_is_reported, NULL, end)
{
    const struct osc_options o = {0};

    run(events, false);
    small_table_survives(&osc_table_devices, &o);
    assert_int_equal(result.n_rows, 1);
}

UNIT_MAIN("devices")
