/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/table_registry.h"

#include "support/options.h"
#include "support/small_table.h"
#include "support/unit.h"

#define FRAME(name, ts, dur)        RANGE("python_function", name, 1, ts, dur, "")
#define TYPES(name, ts, dur, types) OP(name, 1, ts, dur, "'Input type':[" types "]")
#define PRODUCT(name, ts, type, dims) \
    OP(name, 1, ts, 1, "'Input type':['" type "'],'Input Dims':[" dims "]")

static void make(bool by_event, const char *events)
{
    small_table(&osc_table_patterns, grouped(&osc_table_patterns, by_event ? "event" : NULL),
                events);
}

static void assert_alone(const char *pattern, int64_t id)
{
    assert_int_equal(result.n_rows, 1);
    assert_true(is_text(0, "pattern", pattern));
    assert_int_equal(integer(0, "id"), id);
}

#define SGD "torch/optim/sgd.py(9): _single_tensor_sgd"

TEST_WITH(optimizers_are_rows_by_who_steps_them, NULL, small_end)
{
    make(false, FRAME("a.py(1): main", 0, 100) FRAME(SGD, 10, 10) FRAME(SGD, 30, 5)
                    FRAME("b.py(2): more", 40, 20) FRAME(SGD, 45, 5));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "pattern", "single_tensor") && is_text(0, "name", SGD));
    assert_true(is_text(0, "source", "a.py:1") && is_text(0, "function", "a.py(1): main"));
    assert_int_equal(integer(0, "calls"), 2);
    assert_int_equal(integer(0, "total_ns"), 15000);
    assert_int_equal(integer(0, "id"), 1);
    assert_int_equal(integer(0, "start_ns"), 10000);
    assert_true(is_text(1, "source", "b.py:2"));
}

TEST_WITH(each_event_is_a_row_when_asked, NULL, small_end)
{
    make(true, FRAME(SGD, 10, 10) FRAME(SGD, 30, 5));
    assert_int_equal(result.n_rows, 2);
    assert_int_equal(integer(1, "id"), 1);
    assert_false(osc_result_has(&result, 0, column("source")));
}

/* The stack of the first operator in the event has the lines that were executed. */
TEST_WITH(stacks_of_operators_have_the_line, NULL, small_end)
{
    make(false, FRAME("a.py(1): main", 0, 100) FRAME(SGD, 10, 10)
                    OP("aten::add_", 1, 11, 1,
                       "'Call stack':'<built-in>;torch/optim/sgd.py(30): _single_tensor_sgd;"
                       "torch/optim/sgd.py(7): step;a.py(5): main;z.py(6): run'"));
    assert_true(is_text(0, "source", "a.py:5") && is_text(0, "function", "a.py(1): main"));
}

#define COPY(to, from)                    \
    FRAME("<built-in method to>", 30, 20) \
    OP("aten::to", 1, 31, 9, "")          \
    OP("aten::_to_copy", 1, 32, 7, "") TYPES("aten::copy_", 33, 1, "'" to "','" from "'")

TEST_WITH(a_tensor_is_filled_and_copied, NULL, small_end)
{
    make(false, FRAME("<built-in method zeros>", 10, 10) OP("aten::zeros", 1, 11, 8, "")
                    OP("aten::zero_", 1, 12, 1, "") COPY("float", "float"));
    assert_alone("extra_copy", 4);
}

TEST_WITH(a_conversion_is_no_extra_copy, NULL, small_end)
{
    make(false, FRAME("<built-in method zeros>", 10, 10) OP("aten::zeros", 1, 11, 8, "")
                    OP("aten::zero_", 1, 12, 1, "") COPY("double", "float"));
    assert_int_equal(result.n_rows, 0);
}

TEST_WITH(what_was_filled_before_something_else_is_no_extra_copy, NULL, small_end)
{
    make(false, FRAME("<built-in method zeros>", 10, 10) OP("aten::zero_", 1, 12, 1, "")
                    OP("aten::add", 1, 14, 1, "") COPY("float", "float"));
    assert_int_equal(result.n_rows, 0);
}

#define LOADER(name, ts, dur) FRAME("torch/utils/data/dataloader.py(9): " name, ts, dur)

TEST_WITH(a_loader_makes_its_batches_itself, NULL, small_end)
{
    make(false, LOADER("__iter__", 0, 10) LOADER("_get_iterator", 1, 8) LOADER("__init__", 2, 1)
                    LOADER("check_worker_number_rationality", 4, 1));
    assert_alone("dataloader", 0);
}

TEST_WITH(a_loader_has_workers, NULL, small_end)
{
    make(false, LOADER("__iter__", 0, 10) LOADER("_get_iterator", 1, 8)
                    LOADER("check_worker_number_rationality", 2, 1) LOADER("__init__", 4, 1));
    assert_int_equal(result.n_rows, 0);
}

#define CLEAR(ts, dur) FRAME("torch/optim/optimizer.py(9): zero_grad", ts, dur)

TEST_WITH(gradients_are_set_to_0, NULL, small_end)
{
    make(false, CLEAR(0, 10) OP("aten::zeros", 1, 1, 2, "") OP("aten::zero_", 1, 2, 1, "")
                    CLEAR(20, 10) FRAME("x.py(1): f", 21, 5) OP("aten::zero_", 1, 22, 1, ""));
    assert_alone("zero_grad", 3);
}

TEST_WITH(a_bias_comes_before_a_norm, NULL, small_end)
{
#define CONV(ts, bias)                   \
    FRAME("nn.Module: Conv2d_0", ts, 10) \
    TYPES("aten::conv2d", ts, 9, "'float','float','" bias "','ScalarList'")
    make(false, CONV(0, "float") FRAME("nn.Module: BatchNorm2d_0", 10, 5) CONV(20, "")
                    FRAME("nn.Module: BatchNorm2d_0", 30, 5) CONV(40, "float")
                        FRAME("nn.Module: ReLU_0", 50, 5));
    assert_alone("conv_bias", 1);
}

TEST_WITH(sizes_of_halves_are_no_multiples_of_8, NULL, small_end)
{
    make(true, PRODUCT("aten::mm", 0, "c10::Half", "[8,16],[16,8]")
                   PRODUCT("aten::mm", 1, "c10::Half", "[8,16],[16,7]")
                       PRODUCT("aten::mm", 2, "float", "[8,16],[16,7]")
                           PRODUCT("aten::addmm", 3, "c10::BFloat16", "[7],[8,8],[8,8],[]")
                               PRODUCT("aten::bmm", 4, "c10::Half", "[3,8,8],[3,8,8]"));
    assert_int_equal(result.n_rows, 2);
    assert_true(is_text(0, "pattern", "unaligned"));
    assert_int_equal(integer(0, "id"), 1);
    assert_int_equal(integer(1, "id"), 3);
}

#define INDEX(ts) OP("aten::select", 1, ts##0, 1, "") OP("aten::fill_", 1, ts##5, 1, "")

TEST_WITH(a_loop_indexes_ten_times, NULL, small_end)
{
    make(false, INDEX(1) INDEX(2) INDEX(3) INDEX(4) INDEX(5) INDEX(6) INDEX(7) INDEX(8) INDEX(9)
                    INDEX(10));
    assert_alone("indexing", 0);
    assert_false(osc_result_get_bool(&result, 0, column("is_reported")));
    small_end(NULL);
    make(false, INDEX(1) INDEX(2) INDEX(3) INDEX(4) INDEX(5) INDEX(6) INDEX(7) INDEX(8) INDEX(9)
                    OP("aten::select", 1, 100, 1, ""));
    assert_int_equal(result.n_rows, 0);
}

#define DEVICE                                                                       \
    "'deviceProperties':[{'id':0,'name':'A100','computeMajor':8,'computeMinor':0}]," \
    "'schemaVersion':1,"
#define MM(kernel, type)                        \
    PRODUCT("aten::mm", 0, type, "[8,8],[8,8]") \
    CALL(1, 0.2, 0.1, 1, "") WORK("kernel", kernel, 5, 1, 1, "")

static uint64_t count_fp32(const char *members, const char *events)
{
    assert_true(small_load_with(&trace, members, events));
    small_make(&osc_table_patterns, &(struct osc_options){0});
    const uint64_t n = result.n_rows;
    small_end(NULL);
    return n;
}

TEST(kernels_tell_whether_a_product_uses_tf32)
{
    assert_int_equal(count_fp32(DEVICE, MM("ampere_sgemm_128x64_nn", "float")), 1);
    assert_int_equal(count_fp32(DEVICE, MM("ampere_sgemm_128x64_nn", "double")), 0);
    assert_int_equal(count_fp32(DEVICE, MM("cutlass_80_tensorop_s1688gemm_128x128", "float")),
                     0);
    assert_int_equal(count_fp32("", MM("ampere_sgemm_128x64_nn", "float")), 0);
}

TEST_WITH(a_trace_without_patterns_says_what_they_need, NULL, small_end)
{
    make(false, OP("aten::add", 1, 0, 1, ""));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "--torch=stack"));
}

TEST_WITH(evidence_is_a_command, NULL, small_end)
{
    const struct osc_options o = {.operands = "x.json", .selected = " --steps 1"};

    small_table(&osc_table_patterns, &o, FRAME("a.py(1): it's", 0, 100) FRAME(SGD, 10, 10));
    assert_true(is_text(0, "evidence",
                        "opscope table patterns --group-by event --steps 1 --where \"pattern = "
                        "'single_tensor' and name = '" SGD "' and source = 'a.py:1'\" x.json"));
}

UNIT_MAIN("patterns")
