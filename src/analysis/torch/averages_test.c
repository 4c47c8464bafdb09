/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages.h"
#include "analysis/torch/averages_columns.h"
#include "support/options.h"
#include "support/unit.h"

#include "base/mem.h"
#include "derive/derive.h"
#include "import/import.h"

/* Traces are written with ' for ", times in microseconds. */
#define RANGE(cat, name, tid, ts, dur, args)                                       \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts \
    ",'dur':" #dur ",'args':{" args "}},"
#define OP(name, ts, dur) RANGE("cpu_op", name, 1, ts, dur, "")
#define FLOW(ph, id, tid, ts)                                                        \
    "{'ph':'" ph "','id':" #id ",'cat':'fwdbwd','name':'fwdbwd','pid':1,'tid':" #tid \
    ",'ts':" #ts "},"
#define RECORD(name, tid, ts, type, bytes)                                              \
    "{'ph':'i','cat':'cpu_instant_event','s':'t','name':'" name "','pid':1,'tid':" #tid \
    ",'ts':" #ts ",'args':{'Device Type':" #type ",'Bytes':" #bytes "}},"

struct fixture {
    struct osc_trace trace;
    struct osc_result rows;
};

static void load(struct fixture *f, const char *members, const char *events)
{
    struct osc_strbuf text = {0};
    struct osc_import_options io = {.n_threads = 1};
    struct osc_err err = {0};

    *f = (struct fixture){0};
    osc_strbuf_addf(&text, "{%s 'traceEvents': [\n%s", members, events);
    if (text.s[text.len - 1] == ',')
        text.len--;
    osc_strbuf_adds(&text, "\n]}\n");
    for (size_t i = 0; i < text.len; i++)
        text.s[i] = (char)(text.s[i] == '\'' ? '"' : text.s[i]);
    const struct osc_str data = {text.s, (uint32_t)text.len};
    if (osc_import_memory(&f->trace, "test", data, &io, &err) != OSC_OK)
        fail_msg("%s", err.message);
    if (osc_derive(&f->trace, osc_table_facts(&osc_table_averages), 1, &err) != OSC_OK)
        fail_msg("%s", err.message);
    osc_strbuf_fini(&text);
}

static void map(struct fixture *f, const struct osc_options *o)
{
    osc_result_fini(&f->rows);
    osc_result_init(&f->rows, &osc_table_averages);
    assert_int_equal(osc_table_averages.mapping->map(&f->trace, o, &f->rows, NULL), OSC_OK);
}

/* The averages of EVENTS, with the default options. */
static void average(struct fixture *f, const char *members, const char *events)
{
    load(f, members, events);
    map(f, &(struct osc_options){0});
}

static void fini(struct fixture *f)
{
    osc_result_fini(&f->rows);
    osc_trace_fini(&f->trace);
}

/* The row number COUNT (from 0) among those called NAME, or -1. */
static int64_t find_nth(const struct fixture *f, const char *name, int count)
{
    for (uint64_t i = 0; i < f->rows.n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(&f->rows, i, OSC_AVERAGES_NAME), osc_str_c(name)) &&
            count-- == 0)
            return (int64_t)i;
    }
    return -1;
}

static int64_t cell(const struct fixture *f, const char *name, uint32_t column)
{
    const int64_t i = find_nth(f, name, 0);

    if (i < 0)
        fail_msg("there is no row %s", name);
    return osc_table_averages.columns[column].type == OSC_TYPE_BOOLEAN
               ? osc_result_get_bool(&f->rows, (uint64_t)i, column)
               : osc_result_get_int(&f->rows, (uint64_t)i, column);
}

static void assert_text(const struct fixture *f, const char *name, uint32_t column,
                        const char *text)
{
    const int64_t i = find_nth(f, name, 0);

    assert_true(i >= 0);
    const struct osc_str s = osc_result_get_str(&f->rows, (uint64_t)i, column);
    if (!osc_str_eq(s, osc_str_c(text)))
        fail_msg("%s has '%.*s', not '%s'", name, (int)s.len, s.s, text);
}

#define DEVICE(cat, name, ts, dur, args)                                                   \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':0,'tid':7,'ts':" #ts ",'dur':" #dur \
    ",'args':{'device':0,'stream':7," args "}},"

TEST(subtracts_the_children_of_a_range_and_clamps_nothing)
{
    struct fixture f;

    average(&f, "",
            OP("outer", 0, 100) OP("half", 10, 40) OP("overlap", 30, 80.5) OP("touch", 110.5, 1)
                OP("same", 200, 5) OP("longer", 200, 6));
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_CPU_NS), 100000);
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_SELF_CPU_NS), 60000);
    assert_int_equal(cell(&f, "half", OSC_AVERAGES_SELF_CPU_NS), 40000);
    assert_int_equal(cell(&f, "overlap", OSC_AVERAGES_SELF_CPU_NS), 80500);
    assert_true(cell(&f, "overlap", OSC_AVERAGES_IS_TOP_LEVEL));
    assert_int_equal(cell(&f, "longer", OSC_AVERAGES_SELF_CPU_NS), 1000);
    assert_int_equal(find_nth(&f, "same", 0), 5); /* in order of first appearance */
    fini(&f);

    average(&f, "", OP("parent", 0, 10) OP("a", 0, 9) OP("b", 4, 6) OP("c", 5, 5));
    assert_int_equal(cell(&f, "parent", OSC_AVERAGES_SELF_CPU_NS), -5000);
    fini(&f);
}

TEST(keeps_threads_apart_and_python_functions_in_the_tree)
{
    struct fixture f;

    average(&f, "",
            RANGE("python_function", "f.py(1): f", 1, 0, 50, "") OP("aten::add", 10, 20)
                RANGE("cpu_op", "aten::add", 2, 12, 5, "")
                    RANGE("Trace", "PyTorch Profiler (0)", 9, 0, 99, ""));
    assert_int_equal(f.rows.n_rows, 2);
    assert_int_equal(cell(&f, "f.py(1): f", OSC_AVERAGES_SELF_CPU_NS), 30000);
    assert_int_equal(cell(&f, "aten::add", OSC_AVERAGES_CALLS), 2);
    assert_int_equal(cell(&f, "aten::add", OSC_AVERAGES_SELF_CPU_NS), 25000);
    assert_false(cell(&f, "aten::add", OSC_AVERAGES_IS_TOP_LEVEL));

    map(&f, with_option(&osc_table_averages, "no-python", NULL));
    assert_int_equal(f.rows.n_rows, 1);
    assert_int_equal(cell(&f, "aten::add", OSC_AVERAGES_SELF_CPU_NS), 25000);
    fini(&f);
}

TEST(a_collection_of_garbage_is_no_python_function)
{
    struct fixture f;

    average(&f, "",
            RANGE("python_function", "f.py(1): f", 1, 0, 50, "")
                RANGE("python_function", "Python GC", 1, 10, 20, ""));
    map(&f, with_option(&osc_table_averages, "no-python", NULL));
    assert_int_equal(f.rows.n_rows, 1);
    assert_int_equal(cell(&f, "Python GC", OSC_AVERAGES_SELF_CPU_NS), 20000);
    fini(&f);
}

TEST(takes_what_ended_on_another_thread_out_of_the_tree)
{
    struct fixture f;

    average(&f, "",
            OP("outer", 0, 100) RANGE("user_annotation", "async", 1, 10, 40,
                                      "'Is asynchronous': true") OP("inner", 20, 10)
                RANGE("user_annotation", "sync", 1, 60, 5, "'Is asynchronous': false"));
    assert_true(cell(&f, "async", OSC_AVERAGES_IS_ASYNC));
    assert_int_equal(cell(&f, "async", OSC_AVERAGES_SELF_CPU_NS), 0);
    assert_false(cell(&f, "sync", OSC_AVERAGES_IS_ASYNC));
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_SELF_CPU_NS), 85000);
    fini(&f);
}

TEST(takes_process_groups_out_of_the_tree)
{
    struct fixture f;

    average(&f, "",
            OP("outer", 0, 100) RANGE("user_annotation", "gloo:all_reduce", 1, 10, 40, "")
                OP("inner", 20, 10) RANGE("cpu_op", "gloo:op", 1, 60, 5, ""));
    assert_int_equal(cell(&f, "gloo:all_reduce", OSC_AVERAGES_CPU_NS), 40000);
    assert_int_equal(cell(&f, "gloo:all_reduce", OSC_AVERAGES_SELF_CPU_NS), 0);
    assert_true(cell(&f, "gloo:all_reduce", OSC_AVERAGES_IS_ASYNC));
    assert_true(cell(&f, "gloo:all_reduce", OSC_AVERAGES_IS_TOP_LEVEL));
    assert_false(cell(&f, "gloo:op", OSC_AVERAGES_IS_ASYNC));
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_SELF_CPU_NS), 85000);
    fini(&f);
}

TEST(counts_all_steps_in_one_row_and_skips_what_torch_hides)
{
    struct fixture f;

    average(&f, "",
            RANGE("user_annotation", "ProfilerStep#1", 1, 0, 10, "")
                RANGE("user_annotation", "ProfilerStep#2", 1, 10, 10, "")
                    OP("aten::is_leaf", 2, 1) OP("profiler::_record_function_exit", 3, 1));
    assert_int_equal(f.rows.n_rows, 1);
    assert_int_equal(cell(&f, "ProfilerStep*", OSC_AVERAGES_CALLS), 2);
    assert_int_equal(cell(&f, "ProfilerStep*", OSC_AVERAGES_SELF_CPU_NS), 20000);
    assert_true(cell(&f, "ProfilerStep*", OSC_AVERAGES_IS_USER_ANNOTATION));
    fini(&f);
}

TEST(calls_of_operators_that_torch_hides_stay_on_their_thread)
{
    struct fixture f;

    average(&f, "",
            RANGE("cpu_op", "aten::is_leaf", 1, 0, 30, "'External id':6")
                RANGE("cpu_op", "aten::copy_", 2, 5, 20, "'External id':7")
                    RANGE("cuda_runtime", "cudaLaunchKernel", 2, 6, 3,
                          "'correlation':1,'External id':6"));
    assert_int_equal(cell(&f, "aten::copy_", OSC_AVERAGES_SELF_CPU_NS), 17000);
    fini(&f);
}

TEST(has_the_word_of_torch_for_devices_of_rocm)
{
    struct fixture f;

    average(&f, "",
            RANGE("cuda_runtime", "hipLaunchKernel", 1, 6, 3, "'correlation':1")
                RANGE("kernel", "k", 7, 16, 3, "'correlation':1,'device':2"));
    const uint64_t row = (uint64_t)find_nth(&f, "k", 0);
    assert_true(osc_str_eq(osc_result_get_str(&f.rows, row, OSC_AVERAGES_DEVICE_TYPE),
                           OSC_STR("CUDA")));
    assert_true(
        osc_str_eq(osc_result_get_str(&f.rows, row, OSC_AVERAGES_DEVICE), OSC_STR("cuda")));
    fini(&f);
}

TEST(folds_only_children_of_the_same_name)
{
    struct fixture f;

    average(&f, "",
            OP("add", 0, 100) OP("add", 10, 80) OP("add", 20, 60) OP("x", 30, 7) OP("y", 40, 8)
                OP("mul", 200, 50) OP("mul", 200, 10) OP("mul", 220, 10));
    assert_int_equal(cell(&f, "add", OSC_AVERAGES_CALLS), 1);
    assert_int_equal(cell(&f, "add", OSC_AVERAGES_CPU_NS), 100000);
    assert_int_equal(cell(&f, "add", OSC_AVERAGES_SELF_CPU_NS), 85000);
    assert_int_equal(cell(&f, "mul", OSC_AVERAGES_CALLS), 3);
    assert_int_equal(cell(&f, "mul", OSC_AVERAGES_SELF_CPU_NS), 50000);
    fini(&f);
}

TEST(gives_calls_and_kernels_the_stack_of_their_operator)
{
    struct fixture f;

    load(&f, "",
         RANGE("cpu_op", "aten::mm", 1, 0, 100, "'External id': 1, 'Call stack': 'a;b;'") RANGE(
             "cuda_runtime", "cudaLaunchKernel", 1, 10, 5, "'External id': 1, 'correlation': 3")
             DEVICE("kernel", "gemm", 30, 50, "'External id': 1, 'correlation': 3")
                 DEVICE("kernel", "other", 90, 5, "'correlation': 4"));
    map(&f, grouped(&osc_table_averages, "stack:5"));
    assert_text(&f, "gemm", OSC_AVERAGES_STACK, "[\"a\", \"b\"]");
    assert_text(&f, "cudaLaunchKernel", OSC_AVERAGES_STACK, "[\"a\", \"b\"]");
    assert_text(&f, "other", OSC_AVERAGES_STACK, "[]");
    fini(&f);
}

TEST(gives_backward_functions_the_stack_of_their_forward_operator)
{
    struct fixture f;

    load(&f, "",
         RANGE(
             "cpu_op", "aten::mul", 1, 0, 10,
             "'Sequence number': 7, 'Fwd thread id': 0, 'Call stack': 'a.py(1): f;b.py(2): g;'")
             RANGE("cpu_op", "aten::mul_inner", 1, 1, 2,
                   "'Sequence number': 7, 'Fwd thread id': 0, 'Call stack': 'no;'")
                 FLOW("s", 1, 1, 0) FLOW("f", 1, 2, 100) RANGE(
                     "cpu_op", "autograd::engine::evaluate_function: MulBackward0", 2, 100, 50,
                     "'Sequence number': 7, 'Fwd thread id': 5, 'Call stack': 'own;'")
                     RANGE("cpu_op", "MulBackward0", 2, 110, 30,
                           "'Sequence number': 7, 'Fwd thread id': 5, 'Call stack': 'no;'")
                         RANGE("cpu_op", "aten::neg", 2, 120, 10, "'Call stack': 'no;'") RANGE(
                             "cpu_op", "autograd::engine::evaluate_function: Accumulate", 2,
                             200, 50, "'Call stack': 'own;'")
                             RANGE("cpu_op", "Accumulate", 2, 210, 30, "'Call stack': 'no;'"));
    map(&f, grouped(&osc_table_averages, "stack:5"));
    assert_text(&f, "aten::mul", OSC_AVERAGES_STACK, "[\"a.py(1): f\", \"b.py(2): g\"]");
    assert_text(&f, "autograd::engine::evaluate_function: MulBackward0", OSC_AVERAGES_STACK,
                "[\"own\"]");
    assert_text(&f, "MulBackward0", OSC_AVERAGES_STACK, "[\"a.py(1): f\", \"b.py(2): g\"]");
    assert_text(&f, "aten::neg", OSC_AVERAGES_STACK, "[\"a.py(1): f\", \"b.py(2): g\"]");
    assert_text(&f, "Accumulate", OSC_AVERAGES_STACK, "[]");

    map(&f, grouped(&osc_table_averages, "stack:1"));
    assert_text(&f, "aten::neg", OSC_AVERAGES_STACK, "[\"a.py(1): f\"]");
    fini(&f);
}

TEST(groups_by_shapes_without_lists_of_tensors)
{
    struct fixture f;

    load(&f, "",
         RANGE("cpu_op", "aten::stack", 1, 0, 1, "'Input Dims': [[[2, 3], [2, 3]], []]")
             RANGE("cpu_op", "aten::stack", 1, 1, 1, "'Input Dims': [[[2,3]],[]]")
                 RANGE("cpu_op", "aten::stack", 1, 2, 1, "'Input Dims': [[2,3], []]")
                     RANGE("cpu_op", "aten::stack", 1, 3, 1, ""));
    map(&f, grouped(&osc_table_averages, "shape"));
    assert_int_equal(f.rows.n_rows, 3);
    assert_text(&f, "aten::stack", OSC_AVERAGES_INPUT_SHAPES, "[[], []]");
    assert_int_equal(cell(&f, "aten::stack", OSC_AVERAGES_CALLS), 2);
    assert_int_equal(find_nth(&f, "aten::stack", 2), 2);
    assert_true(osc_str_eq(osc_result_get_str(&f.rows, 1, OSC_AVERAGES_INPUT_SHAPES),
                           OSC_STR("[[2, 3], []]")));
    assert_true(
        osc_str_eq(osc_result_get_str(&f.rows, 2, OSC_AVERAGES_INPUT_SHAPES), OSC_STR("[]")));
    fini(&f);
}

TEST(groups_by_dtypes_alone_and_with_shapes)
{
#define TYPED(ts, args) RANGE("cpu_op", "aten::mm", 1, ts, 1, args)
    static const char events[] =
        TYPED(0, "'Input type': ['float', 'Scalar', ''], 'Input Dims': [[2], [], []]")
            TYPED(1, "'Input type': ['float','Scalar',''], 'Input Dims': [[3], [], []]")
                TYPED(2, "'Input type': ['c10::BFloat16', 'Scalar', '']")
                    TYPED(3, "'Input type': ['']") TYPED(4, "'Input type': []") TYPED(5, "");
#undef TYPED
    static const char *const texts[] = {"float, Scalar,", "c10::BFloat16, Scalar,", "", NULL};
    struct fixture f;

    load(&f, "", events);
    map(&f, grouped(&osc_table_averages, "dtype"));
    assert_int_equal(f.rows.n_rows, 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(osc_result_has(&f.rows, i, OSC_AVERAGES_INPUT_DTYPES),
                         texts[i] != NULL);
        if (texts[i])
            assert_true(osc_str_eq(osc_result_get_str(&f.rows, i, OSC_AVERAGES_INPUT_DTYPES),
                                   osc_str_c(texts[i])));
    }
    assert_int_equal(osc_result_get_int(&f.rows, 0, OSC_AVERAGES_CALLS), 2);
    assert_int_equal(osc_result_get_int(&f.rows, 3, OSC_AVERAGES_CALLS), 2);
    assert_true(f.rows.shown >> OSC_AVERAGES_INPUT_DTYPES & 1);

    map(&f, grouped(&osc_table_averages, "dtype,shape"));
    assert_int_equal(f.rows.n_rows, 5);
    map(&f, grouped(&osc_table_averages, "dtype,stack:1"));
    assert_int_equal(f.rows.n_rows, 4);
    map(&f, grouped(&osc_table_averages, "shape"));
    assert_false(f.rows.shown >> OSC_AVERAGES_INPUT_DTYPES & 1);
    fini(&f);
}

TEST(says_that_a_trace_without_dtypes_has_none)
{
    const struct osc_options o = *grouped(&osc_table_averages, "dtype");
    struct fixture f;

    load(&f, "", OP("a", 0, 1) OP("a", 2, 1));
    map(&f, &o);
    assert_int_equal(osc_table_averages.mapping->finish(&f.rows, &o, NULL), OSC_OK);
    assert_int_equal(f.rows.n_rows, 1);
    assert_false(f.rows.shown >> OSC_AVERAGES_INPUT_DTYPES & 1);
    assert_non_null(strstr(f.rows.notes.s, "record_shapes=True"));
    fini(&f);
}

TEST(charges_memory_to_every_range_that_holds_it_both_ends_included)
{
    struct fixture f;

    average(&f, "'profile_memory': 1,",
            OP("outer", 0, 100) OP("inner", 10, 20) RANGE("cpu_op", "other", 2, 30, 20, "")
                RECORD("[memory]", 3, 10, 0, 1) RECORD("[memory]", 3, 30, 0, 20)
                    RECORD("[memory]", 1, 50, 0, -4) RECORD("[memory]", 1, 40, 1, 1000)
                        RECORD("[memory]", 1, 40, 64, 300) RECORD("[memory]", 1, 40, 19, 7)
                            RECORD("[memory]", 1, 200, 0, -512) RECORD("[memory]", 1, 201, 0, 1)
                                RECORD("[OutOfMemory]", 1, 60, 0, 7777));
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_CPU_BYTES), 17);
    assert_int_equal(cell(&f, "inner", OSC_AVERAGES_CPU_BYTES), 21);
    assert_int_equal(cell(&f, "other", OSC_AVERAGES_CPU_BYTES), 16);
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_SELF_CPU_BYTES), -4);
    assert_int_equal(cell(&f, "outer", OSC_AVERAGES_DEVICE_BYTES), 1300);
    assert_int_equal(cell(&f, "inner", OSC_AVERAGES_DEVICE_BYTES), 0);
    assert_int_equal(cell(&f, "[memory]", OSC_AVERAGES_CALLS), 2);
    assert_int_equal(cell(&f, "[memory]", OSC_AVERAGES_SELF_CPU_BYTES), -511);
    assert_int_equal(cell(&f, "[OutOfMemory]", OSC_AVERAGES_CPU_BYTES), 0);
    assert_int_equal(cell(&f, "[OutOfMemory]", OSC_AVERAGES_CALLS), 1);
    fini(&f);
}

TEST(estimates_flops_only_where_the_file_asks_for_them)
{
    const char *const events =
        RANGE("cpu_op", "aten::conv2d", 1, 0, 1,
              "'Input Dims': [[2,3,8,8],[4,3,3,3],[],[],[],[],[]], 'Concrete Inputs': "
              "['','','','[1, 1]','[0, 0]','[1, 1]','1']")
            RANGE("cpu_op", "aten::addmm", 1, 1, 1, "'Input Dims': [[16],[4,8],[8,16]]");
    struct fixture f;

    average(&f, "'with_flops': 1,", events);
    assert_int_equal(cell(&f, "aten::conv2d", OSC_AVERAGES_FLOPS), 15552);
    assert_int_equal(cell(&f, "aten::addmm", OSC_AVERAGES_FLOPS), 1024);
    fini(&f);
    average(&f, "'with_flops': 0,", events);
    assert_false(osc_result_has(&f.rows, 0, OSC_AVERAGES_FLOPS));
    assert_int_equal(f.rows.shown >> OSC_AVERAGES_FLOPS & 1, 0);
    fini(&f);
}

TEST(hands_device_work_to_the_innermost_operator_of_its_launch)
{
    struct fixture f;

    average(&f, "",
            RANGE("cpu_op", "aten::linear", 1, 0, 100, "'External id': 1")
                RANGE("cpu_op", "aten::addmm", 1, 10, 80, "'External id': 2")
                    RANGE("cuda_runtime", "cudaLaunchKernel", 1, 20, 10,
                          "'External id': 2, 'correlation': 5")
                        DEVICE("kernel", "gemm", 30, 50, "'correlation': 5, 'External id': 2")
                            DEVICE("gpu_memcpy", "Memcpy HtoD", 90, 7, "'correlation': 99")
                                DEVICE("gpu_user_annotation", "aten::addmm", 30, 50, "'x': 1"));
    assert_int_equal(cell(&f, "aten::linear", OSC_AVERAGES_SELF_DEVICE_NS), 0);
    assert_int_equal(cell(&f, "aten::linear", OSC_AVERAGES_DEVICE_NS), 50000);
    assert_int_equal(cell(&f, "aten::addmm", OSC_AVERAGES_SELF_DEVICE_NS), 50000);
    assert_int_equal(cell(&f, "aten::addmm", OSC_AVERAGES_SELF_CPU_NS), 70000);
    assert_int_equal(cell(&f, "cudaLaunchKernel", OSC_AVERAGES_DEVICE_NS), 0);
    assert_int_equal(cell(&f, "gemm", OSC_AVERAGES_SELF_DEVICE_NS), 50000);
    assert_text(&f, "gemm", OSC_AVERAGES_DEVICE_TYPE, "CUDA");
    assert_int_equal(cell(&f, "Memcpy HtoD", OSC_AVERAGES_DEVICE_NS), 7000);

    const int64_t copy = find_nth(&f, "aten::addmm", 1);
    assert_true(copy > 0);
    assert_true(osc_result_get_bool(&f.rows, (uint64_t)copy, OSC_AVERAGES_IS_USER_ANNOTATION));
    fini(&f);
}

TEST(says_why_a_table_is_empty)
{
    struct fixture f;

    average(&f, "", RANGE("mine", "work", 1, 0, 1, ""));
    assert_int_equal(f.rows.n_rows, 0);
    assert_non_null(strstr(f.rows.notes.s, "nothing that torch would average"));
    fini(&f);
}

TEST(survives_any_failed_allocation)
{
    const struct osc_options o = *grouped(&osc_table_averages, "shape,dtype,stack:2");
    osc_status st = OSC_ENOMEM;
    struct fixture f;

    load(&f, "'profile_memory': 1, 'with_flops': 1,",
         RANGE("cpu_op", "aten::mul", 1, 0, 10,
               "'Sequence number': 7, 'Fwd thread id': 0, 'Call stack': 'a;', 'Input Dims': "
               "[[2]], "
               "'Input type': ['float']") FLOW("s", 1, 1, 0) FLOW("f", 1, 2, 100)
             RANGE("cpu_op", "x", 2, 100, 50, "'Sequence number': 7, 'Fwd thread id': 5")
                 RECORD("[memory]", 1, 200, 0, -512) RECORD("[OutOfMemory]", 1, 60, 0, 7)
                     DEVICE("kernel", "gemm", 30, 50, "'correlation': 5"));
    for (long n = 0; st != OSC_OK; n++) {
        struct osc_result r;

        osc_result_init(&r, &osc_table_averages);
        osc_mem_fail_after(n);
        st = osc_table_averages.mapping->map(&f.trace, &o, &r, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
        osc_result_fini(&r);
    }
    fini(&f);
}

UNIT_MAIN("averages")
