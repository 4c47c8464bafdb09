/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/operators.h"

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"
#include "table/merge.h"
#include "table/row_sort.h"

static struct osc_operators ops;

static void load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS, 1, NULL), OSC_OK);
}

static int end(void **state)
{
    osc_operators_fini(&ops);
    return small_end(state);
}

/* The N-th group of NAME. */
static const struct osc_operator_group *group(const char *name, unsigned n)
{
    for (size_t i = 0; i < ops.n_groups; i++) {
        if (osc_str_eq(osc_trace_str(&trace, ops.groups[i].name), osc_str_c(name)) && n-- == 0)
            return &ops.groups[i];
    }
    return NULL;
}

static void sum_up(const char *events, const struct osc_operators_how *how)
{
    load(events);
    assert_int_equal(osc_operators_make(&trace, how, &ops), OSC_OK);
}

/* The plugin's test_self_time, with ids in place of its names. */
TEST_WITH(host_self_time_is_without_children_and_runtime_calls, NULL, end)
{
    sum_up(OP("aten::mat_mul", 1, 100, 100, "'External id':2")
               OP("aten::mm", 1, 120, 40, "'External id':4")
                   CALL(1, 130, 20, 334, ",'External id':4")
                       CALL(1, 180, 5, 335, ",'External id':2") KERNEL("k", 210, 20, 334)
                           KERNEL("k", 240, 16, 335),
           &(struct osc_operators_how){0});
    const struct osc_operator_group *const outer = group("aten::mat_mul", 0);
    const struct osc_operator_group *const inner = group("aten::mm", 0);
    assert_int_equal(outer->host_total_ns, 100000);
    assert_int_equal(outer->host_self_ns, 55000);
    assert_int_equal(outer->device_total_ns, 36000);
    assert_int_equal(outer->device_self_ns, 16000);
    assert_int_equal(inner->host_total_ns, 40000);
    assert_int_equal(inner->host_self_ns, 20000);
    assert_int_equal(inner->device_self_ns, 20000);
    assert_true(outer->is_eligible); /* for its child is */
}

TEST_WITH(kernels_that_no_rule_covers_are_summed_apart, NULL, end)
{
    sum_up(OP("outer", 1, 0, 100, "") OP("inner", 1, 10, 80, "") CALL(1, 30, 10, 1, "")
               CALL(1, 42, 10, 2, "") KERNEL("k", 50, 8, 1) KERNEL("s884gemm", 60, 4, 2),
           &(struct osc_operators_how){0});
    assert_int_equal(group("inner", 0)->tc_self_ns, 4000);
    assert_int_equal(group("inner", 0)->unknown_self_ns, 8000);
    assert_int_equal(group("outer", 0)->unknown_self_ns, 0);
    assert_int_equal(group("outer", 0)->unknown_total_ns, 8000);
}

/* As test_remove_dup_nodes of the plugin. */
TEST_WITH(equal_names_in_each_other_count_once, NULL, end)
{
    sum_up(OP("aten::mm", 1, 0, 100, "") OP("aten::mm", 1, 10, 80, "")
               OP("aten::mm", 1, 20, 60, "") CALL(1, 30, 10, 1, "") KERNEL("k", 50, 8, 1),
           &(struct osc_operators_how){0});
    assert_int_equal(ops.n_groups, 1);
    assert_int_equal(ops.groups[0].n_calls, 1);
    assert_int_equal(ops.groups[0].device_self_ns, 8000);
    assert_int_equal(ops.groups[0].host_total_ns, 100000);
    assert_int_equal(ops.groups[0].host_self_ns, 90000);
}

TEST_WITH(what_is_no_operator_has_no_row, NULL, end)
{
    sum_up(STEP(1, 0, 100) OP("enumerate(DataLoader)#_SingleProcess.__next__", 1, 1, 9, "")
               OP("Optimizer.step#SGD.step", 1, 20, 9, "")
                   OP("DataParallel.forward", 1, 40, 20, "") OP("aten::add", 1, 45, 5, "")
                       RANGE("user_annotation", "mine", 1, 70, 9, "")
                           RANGE("python_function", "f", 1, 80, 9, ""),
           &(struct osc_operators_how){0});
    assert_int_equal(ops.n_groups, 1);
    assert_int_equal(ops.groups[0].host_self_ns, 5000);
}

TEST_WITH(device_work_of_no_operator_is_summed_by_cause, NULL, end)
{
    sum_up(OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "")
               RANGE("cuda_runtime", "cudaGraphLaunch", 1, 20, 1, "'correlation':2")
                   CALL(1, 30, 1, 3, "") KERNEL("k", 40, 1, 1) KERNEL("k", 50, 2, 2)
                       KERNEL("m", 60, 4, 2) KERNEL("k", 70, 8, 3) KERNEL("k", 80, 16, 99),
           &(struct osc_operators_how){.has_rest = true});
    assert_int_equal(ops.rest[OSC_LAUNCHER_GRAPH].n_calls, 1);
    assert_int_equal(ops.rest[OSC_LAUNCHER_GRAPH].n_works, 2);
    assert_int_equal(ops.rest[OSC_LAUNCHER_GRAPH].device_ns, 6000);
    assert_int_equal(ops.rest[OSC_LAUNCHER_CALL].device_ns, 8000);
    assert_int_equal(ops.rest[OSC_LAUNCHER_NONE].n_works, 1);
    assert_int_equal(ops.rest[OSC_LAUNCHER_NONE].device_ns, 16000);
}

/* The names of the rows as people see them, in order, separated by blanks. */
static void assert_shows(const char *names)
{
    const struct osc_sort_key key = {.column = result.sorted_by - 1, .divisor = -1};
    struct osc_strbuf got = {0};
    uint32_t *order;

    assert_int_equal(osc_sort_rows(&result, &key, &order), OSC_OK);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        osc_strbuf_adds(&got, i > 0 ? "; " : "");
        osc_strbuf_addstr(&got, osc_result_get_str(&result, order[i], column("name")));
    }
    assert_string_equal(got.s, names);
    osc_strbuf_fini(&got);
    osc_free(order);
}

TEST_WITH(work_that_no_operator_launched_comes_before_operators_that_launched_none, NULL, end)
{
    static const char events[] = OP("short", 1, 0, 9, "") OP("long", 1, 10, 90, "")
        CALL(1, 200, 1, 3, "") KERNEL("k", 210, 2, 3) KERNEL("k", 220, 4, 99);

    small_table(&osc_table_operators, &(struct osc_options){.has_rest = true}, events);
    assert_shows("<no launch recorded>; <runtime calls outside operators>; long; short");
    assert_non_null(strstr(result.notes.s, "operators own none of the device time"));
    (void)end(NULL);
    small_table(&osc_table_operators, &(struct osc_options){0}, events);
    assert_shows("long; short");
    assert_null(result.notes.s);
    (void)end(NULL);
    small_table(&osc_table_operators, &(struct osc_options){.has_rest = true, COMPAT_TB},
                events);
    assert_shows("long; short");
}

TEST_WITH(device_work_without_any_operator_has_its_rows, NULL, end)
{
    static const char events[] = CALL(1, 200, 1, 3, "") KERNEL("k", 210, 2, 3);

    small_table(&osc_table_operators, &(struct osc_options){.has_rest = true}, events);
    assert_shows("<runtime calls outside operators>");
    assert_int_equal(integer(0, "device_self_ns"), 2000);
    assert_non_null(strstr(result.notes.s, "no operators"));
    (void)end(NULL);
    small_table(&osc_table_operators, &(struct osc_options){0}, events);
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "no operators"));
}

TEST_WITH(the_part_that_operators_own_is_told, NULL, end)
{
    small_table(&osc_table_operators, &(struct osc_options){.has_rest = true},
                OP("aten::mm", 1, 0, 9, "") CALL(1, 1, 1, 1, "") KERNEL("k", 40, 9999, 1)
                    KERNEL("k", 20000, 1, 99));
    assert_int_equal(result.sorted_by, 0);
    assert_non_null(strstr(result.notes.s, "operators own 99.9 % of the device time"));
}

TEST_WITH(shares_of_tensor_cores_are_missing_where_no_rule_knows_enough, NULL, end)
{
#define OF(name, ts, dur, number) CALL(1, ts, 1, number, "") KERNEL(name, ts, dur, number)
    small_table(&osc_table_operators, &(struct osc_options){0},
                OP("most", 1, 0, 9, "") OF("s884gemm", 1, 99, 1) OF("attn_fwd", 3, 1, 2)
                    OP("some", 1, 10, 9, "") OF("s884gemm", 11, 98, 3) OF("attn_fwd", 13, 1, 4)
                        OP("none", 1, 20, 9, "") OF("sgemm", 21, 999, 5)
                            OF("attn_fwd", 23, 1, 6) OP("not", 1, 30, 9, "")
                                OF("sgemm", 31, 9, 7));
#undef OF
    assert_true(number(0, "tc_self_ratio") == 0.99 && number(0, "tc_total_ratio") == 0.99);
    assert_false(osc_result_has(&result, 1, column("tc_self_ratio")));
    assert_false(osc_result_has(&result, 1, column("tc_total_ratio")));
    assert_false(osc_result_has(&result, 2, column("tc_self_ratio")));
    assert_true(osc_result_has(&result, 3, column("tc_self_ratio")));
    assert_true(number(3, "tc_self_ratio") == 0);
}

TEST_WITH(shapes_and_stacks_make_groups_of_their_own, NULL, end)
{
    sum_up(OP("mm", 1, 0, 1, "'Input Dims':[[1,2],[]]")
               OP("mm", 1, 2, 1, "'Input Dims':[ [1, 2],[] ]")
                   OP("mm", 1, 4, 1, "'Input dims':[[3]]") OP("mm", 1, 6, 1, "'Input Dims':[]")
                       OP("mm", 1, 8, 1, "'Call stack':'a.py(1): f;'"),
           &(struct osc_operators_how){.by_shape = true});
    assert_int_equal(ops.n_groups, 3);
    assert_int_equal(group("mm", 0)->n_calls, 2);
    assert_true(osc_str_eq(osc_intern_str(&ops.lists.texts, group("mm", 0)->shape),
                           OSC_STR("[[1, 2], []]")));
    assert_int_equal(group("mm", 2)->n_calls, 2); /* an empty list and none */
    osc_operators_fini(&ops);
    assert_int_equal(
        osc_operators_make(&trace, &(struct osc_operators_how){.by_stack = true}, &ops),
        OSC_OK);
    assert_int_equal(ops.n_groups, 2);
    assert_true(group("mm", 1)->has_stack);
}

TEST_WITH(dtypes_make_groups_of_their_own_within_shapes, NULL, end)
{
    static const char events[] = OP("mm", 1, 0, 1, "'Input Dims':[[1]],'Input type':['float']")
        OP("mm", 1, 2, 1, "'Input Dims':[[1]],'Input type':['double']")
            OP("mm", 1, 4, 1, "'Input Dims':[[2]],'Input type':[ 'float' ]")
                OP("mm", 1, 6, 1, "'Input Dims':[[2]],'Input type':[]")
                    OP("mm", 1, 8, 1, "'Input Dims':[[2]]");

    sum_up(events, &(struct osc_operators_how){.by_dtype = true});
    assert_int_equal(ops.n_groups, 3);
    assert_int_equal(group("mm", 0)->n_calls, 2);
    assert_true(
        osc_str_eq(osc_lists_elements(&ops.types, group("mm", 1)->dtypes), OSC_STR("double")));
    assert_int_equal(group("mm", 2)->dtypes, 0); /* an empty list and none */
    assert_int_equal(group("mm", 2)->n_calls, 2);
    osc_operators_fini(&ops);
    assert_int_equal(
        osc_operators_make(
            &trace, &(struct osc_operators_how){.by_shape = true, .by_dtype = true}, &ops),
        OSC_OK);
    assert_int_equal(ops.n_groups, 4);
    assert_true(group("mm", 0)->dtypes == group("mm", 2)->dtypes);
    assert_true(group("mm", 0)->shape.v != group("mm", 2)->shape.v);
}

TEST_WITH(medians_count_the_calls_that_launched_nothing, NULL, end)
{
    sum_up(OP("a", 1, 0, 10, "") OP("a", 1, 20, 20, "") OP("a", 1, 50, 40, "")
               CALL(1, 51, 10, 1, "") KERNEL("k", 70, 6, 1),
           &(struct osc_operators_how){0});
    assert_true(ops.groups[0].median_host_self_ns == 20000);
    assert_true(ops.groups[0].median_device_self_ns == 0);
    assert_int_equal(ops.groups[0].max_device_self_ns, 6000);
}

/* Two ranks: sums add up, means follow, and a median that cannot be known is missing. */
TEST_WITH(ranks_merge_to_means_but_not_to_medians, NULL, end)
{
    const struct osc_table_def *const def = &osc_table_operators;
    const int median = osc_table_column(def, "median_host_self_ns");
    const int mean = osc_table_column(def, "mean_host_self_ns");
    const struct osc_options o = {0};
    struct osc_result part, all;
    struct osc_merger m;

    load(OP("a", 1, 0, 10, "") OP("a", 1, 20, 30, "") OP("b", 1, 60, 7, ""));
    osc_merger_init(&m, def);
    for (uint32_t rank = 0; rank < 2; rank++) {
        osc_result_init(&part, def);
        assert_int_equal(def->mapping->map(&trace, &o, &part, NULL), OSC_OK);
        if (rank == 0)
            assert_string_equal(part.def->columns[part.sorted_by - 1].name, "host_self_ns");
        part.n_rows -= rank; /* the second rank has no b */
        part.batches[0].n_rows -= rank;
        assert_int_equal(osc_merger_add(&m, &part, rank), OSC_OK);
        osc_result_fini(&part);
    }
    osc_result_init(&all, def);
    assert_int_equal(osc_merger_result(&m, &all), OSC_OK);
    assert_int_equal(def->mapping->finish(&all, &o, NULL), OSC_OK);
    assert_int_equal(all.n_rows, 2);
    assert_int_equal(osc_result_get_int(&all, 0, (uint32_t)column("calls")), 4);
    assert_true(osc_result_get_num(&all, 0, (uint32_t)mean) == 20000);
    assert_false(osc_result_has(&all, 0, (uint32_t)median));
    assert_true(osc_result_get_num(&all, 1, (uint32_t)median) == 7000);
    osc_result_fini(&all);
    osc_merger_fini(&m);
}

#define ASYNC(name, id, ts, end)                                                             \
    "{'ph':'b','cat':'cpu_op','name':'" name "','id':" #id ",'pid':1,'tid':1,'ts':" #ts "}," \
    "{'ph':'e','cat':'cpu_op','name':'" name "','id':" #id ",'pid':1,'tid':2,'ts':" #end "},"

TEST_WITH(an_asynchronous_operator_has_a_total_and_no_self_time, NULL, end)
{
    static const char events[] = ASYNC("rpc", 1, 0, 30) OP("a", 1, 1, 9, "") ASYNC("a", 2, 2, 5)
        ASYNC("DataParallel.forward", 3, 2, 5) ASYNC("rpc", 4, 6, 7);

    sum_up(events, &(struct osc_operators_how){0});
    assert_int_equal(ops.n_groups, 2);
    assert_int_equal(ops.groups[0].n_calls, 2);
    assert_int_equal(ops.groups[0].n_async, 2);
    assert_int_equal(ops.groups[0].host_total_ns, 31000);
    assert_int_equal(ops.groups[0].host_self_ns, 0);
    assert_int_equal(ops.groups[1].n_calls, 2);
    assert_int_equal(ops.groups[1].n_async, 1);
    assert_int_equal(ops.groups[1].host_total_ns, 12000);
    assert_int_equal(ops.groups[1].host_self_ns, 9000);
    assert_true(ops.groups[1].median_host_self_ns == 9000);
}

TEST_WITH(the_plugin_knows_no_asynchronous_operators, NULL, end)
{
    sum_up(ASYNC("rpc", 1, 0, 30) OP("a", 1, 1, 9, ""),
           &(struct osc_operators_how){.compat_tb = true});
    assert_int_equal(ops.n_groups, 1);
    assert_int_equal(ops.groups[0].n_async, 0);
}

TEST_WITH(a_failed_allocation_loses_nothing, NULL, end)
{
    const struct osc_operators_how how = {.by_shape = true, .by_dtype = true, .by_stack = true};
    osc_status st = OSC_ENOMEM;

    load(OP("a", 1, 0, 10, "'Input Dims':[[1]],'Input type':['x'],'Call stack':'x;'")
             CALL(1, 1, 1, 3, "") KERNEL("k", 4, 5, 3) OP("b", 1, 20, 10, ""));
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_operators_make(&trace, &how, &ops);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || (st == OSC_ENOMEM && ops.groups == NULL));
    }
    assert_int_equal(ops.n_groups, 2);
}

UNIT_MAIN("operators")
