/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/derive.h"
#include "support/advice_rows.h"
#include "support/unit.h"
#include "table/merge.h"
#include "table/partial.h"

TEST_WITH(loading_data_counts_above_a_twentieth_of_the_steps, NULL, end)
{
    assert_int_equal(stake("", STEP(1, 0, 1000) LOADER(0, 51), "data_loading"), 51000);
    assert_int_equal(stake("", STEP(1, 0, 1000) LOADER(0, 50), "data_loading"), -1);
    /* What runs on a device meanwhile hides it. */
    assert_int_equal(
        stake("", STEP(1, 0, 1000) CALL(1, 1, 1, 1, "") LOADER(5, 90) KERNEL("k", 5, 80, 1),
              "data_loading"),
        -1);
}

TEST_WITH(communication_counts_above_a_tenth_of_the_steps, NULL, end)
{
    assert_int_equal(
        stake("", STEP(1, 0, 1000) OP("gloo:all_reduce", 1, 0, 101, ""), "communication"),
        101000);
    assert_int_equal(
        stake("", STEP(1, 0, 1000) OP("gloo:all_reduce", 1, 0, 100, ""), "communication"), -1);
    /* What another thread computes meanwhile hides it; what calls it does not. */
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) OP("gloo:all_reduce", 2, 0, 300, "")
                               OP("aten::mm", 1, 100, 50, "") OP("c10d::wait", 1, 160, 90, ""),
                           "communication"),
                     250000);
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) OP("autograd::Reduce", 1, 0, 310, "")
                               OP("gloo:all_reduce", 1, 5, 300, ""),
                           "communication"),
                     300000);
}

TEST_WITH(dense_numbers_of_events_say_that_none_was_taken_out, NULL, end)
{
    /* 100 numbers of 298; of events, 100 of 100, of 200 and of 201. */
    static const int last[] = {0, 99, 199, 200};

    for (size_t form = 0; form < 4; form++) {
        struct osc_strbuf text = {0};

        osc_strbuf_adds(&text, STEP(1, 0, 1000) OP("gloo:all_reduce", 1, 0, 600, ""));
        for (int i = 0; i < 100; i++) {
            char args[64];

            if (form == 0)
                (void)snprintf(args, sizeof args, "'External id':%d", 3 * i);
            else
                (void)snprintf(args, sizeof args, "'Ev Idx':%d,'External id':%d",
                               i < 99 ? i : last[form], 3 * i);
            osc_strbuf_addf(&text,
                            "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,"
                            "'ts':%d,'dur':1,'args':{%s}},",
                            700 + 2 * i, args);
        }
        assert_int_equal(stake("", text.s, "communication"),
                         form == 0 || form == 3 ? -1 : 600000);
        osc_strbuf_fini(&text);
    }
}

TEST_WITH(files_that_events_were_taken_out_of_have_no_causes, NULL, end)
{
#define NUMBERED(last)                             \
    STEP(1, 0, 1000)                               \
    OP("gloo:all_reduce", 1, 0, 600, "'Ev Idx':1") \
    NOTE("n", 700, 10) OP("aten::mm", 1, 800, 10, "'Ev Idx':" #last)

    /* From 1 on 199 numbers, and 200. */
    assert_int_equal(stake("", NUMBERED(199), "communication"), 600000);
    assert_int_equal(stake("", NUMBERED(200), "communication"), -1);
    assert_true(osc_str_has((struct osc_str){result.notes.s, (uint32_t)result.notes.len},
                            OSC_STR("the file lacks many of the events")));
    /* Functions have numbers, too, and are left out of files of programs that ran long. */
    assert_int_equal(
        stake("", NUMBERED(200) RANGE("python_function", "f", 1, 1, 1, ""), "communication"),
        600000);
}

TEST_WITH(where_most_calls_that_launched_work_are_not_there_nothing_has_a_cause, NULL, end)
{
#define FIRST STEP(1, 0, 1000) CALL(1, 0, 5, 1, "") KERNEL("k", 10, 10, 1)
    /* Behind the first kernel, one of two has its call. Copies need none. */
    assert_true(stake("",
                      FIRST KERNEL("k", 200, 10, 9) CALL(1, 400, 5, 2, "")
                          KERNEL("k", 410, 10, 2) COPY("Device -> Device", 500, 10, 8),
                      "unrecorded_idle") > 0);
    assert_int_equal(stake("", FIRST KERNEL("k", 200, 10, 9), "unrecorded_idle"), -1);
    /* A queue that was full when the recording began lacks none. */
    assert_true(stake("",
                      STEP(1, 0, 1000) KERNEL("k", 10, 10, 7) KERNEL("k", 20, 10, 8)
                          KERNEL("k", 30, 10, 9) CALL(1, 400, 5, 1, "") KERNEL("k", 410, 10, 1),
                      "unrecorded_idle") > 0);
}

TEST_WITH(where_the_host_was_not_recorded_nothing_is_said_of_it, NULL, end)
{
    assert_int_equal(
        stake("", KERNEL("k", 0, 10, 1) KERNEL("k", 900, 100, 2), "unrecorded_idle"), -1);
    assert_true(osc_str_has((struct osc_str){result.notes.s, (uint32_t)result.notes.len},
                            OSC_STR("nothing of the host was recorded")));
}

TEST_WITH(data_parallel_needs_two_devices, NULL, end)
{
    const char *const two = STEP(1, 0, 100) NOTE("DataParallel.forward", 0, 90)
        CALL(1, 1, 1, 1, "") KERNEL("k", 10, 60, 1) KERNEL_1(50, 30);
    int64_t row;

    row = row_of("", two, "data_parallel", false);
    assert_int_equal(cell_int(row, "impact_ns"), 50000); /* one of them alone */
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "text", "2 devices"));
    assert_int_equal(stake("",
                           STEP(1, 0, 100) NOTE("DataParallel.forward", 0, 90)
                               CALL(1, 1, 1, 1, "") KERNEL("k", 10, 60, 1),
                           "data_parallel"),
                     -1);
    assert_int_equal(stake("",
                           STEP(1, 0, 100) NOTE("DistributedDataParallel.forward", 0, 90)
                               CALL(1, 1, 1, 1, "") KERNEL("k", 10, 60, 1) KERNEL_1(50, 30),
                           "data_parallel"),
                     -1);
}

TEST_WITH(another_backend_than_nccl_counts_where_nccl_would_run, NULL, end)
{
#define DDP  STEP(1, 0, 100) NOTE("DistributedDataParallel.forward", 0, 90)
#define GLOO OP("gloo:all_reduce", 1, 20, 30, "")
#define BUSY CALL(1, 1, 1, 1, "") KERNEL("k", 50, 10, 1)
    assert_int_equal(stake(DEVICE(3, 5), DDP GLOO BUSY, "backend"), 30000);
    assert_int_equal(stake(DEVICE(8, 0), DDP GLOO BUSY, "backend"), 30000);
    assert_int_equal(stake(DEVICE(3, 4), DDP GLOO BUSY, "backend"), -1);
    assert_int_equal(stake("", DDP GLOO BUSY, "backend"), -1);
    assert_int_equal(
        stake(DEVICE(8, 0), DDP OP("nccl:all_reduce", 1, 20, 30, "") BUSY, "backend"), -1);
    assert_int_equal(
        stake(DEVICE(8, 0), DDP OP("nccl:_all_gather_base", 1, 20, 30, "") BUSY, "backend"),
        -1);
    assert_int_equal(stake(DEVICE(8, 0),
                           DDP GLOO CALL(1, 1, 1, 1, "") KERNEL("ncclKernel_x", 50, 10, 1),
                           "backend"),
                     -1);
    assert_int_equal(stake(DEVICE(8, 0), STEP(1, 0, 100) GLOO BUSY, "backend"), -1);
    /* Other families have other backends; PyTorch for ROCm has RCCL by the name of NCCL. */
    assert_int_equal(stake(DEVICE(9, 0), OF_FAMILY("xpu") DDP GLOO BUSY, "backend"), -1);
    assert_int_equal(stake(DEVICE(9, 0), OF_FAMILY("privateuse1") DDP GLOO BUSY, "backend"),
                     -1);
    assert_int_equal(stake_tb(DEVICE(9, 0), OF_FAMILY("xpu") DDP GLOO BUSY, "backend"), 30000);
    assert_int_equal(stake(DEVICE(9, 0),
                           RUNTIME("hipMalloc", 0, 1, 9) DDP GLOO KERNEL("k", 50, 10, 1),
                           "backend"),
                     30000);
    /* A program on the CPU has no use for it, but the plugin says so. */
    assert_int_equal(stake(DEVICE(8, 0), DDP GLOO, "backend"), -1);
    assert_int_equal(stake_tb(DEVICE(8, 0), DDP GLOO, "backend"), 30000);
    assert_int_equal(
        stake_tb(DEVICE(8, 0), DDP OP("nccl:_all_gather_base", 1, 20, 30, ""), "backend"), 0);
}

TEST_WITH(a_device_that_runs_kernels_half_of_the_time_is_fine, NULL, end)
{
    int64_t row;

    row = row_of("", STEP(1, 0, 1000) CALL(1, 0, 1, 1, "") KERNEL("k", 10, 499, 1),
                 "low_utilization", true);
    assert_int_equal(cell_int(row, "impact_ns"), 501000);
    assert_true(has_text(row, "subject", "cuda:0"));
    assert_int_equal(stake_tb("", STEP(1, 0, 1000) CALL(1, 0, 1, 1, "") KERNEL("k", 10, 500, 1),
                              "low_utilization"),
                     -1);
    /* Copies are no kernels, and a device without kernels does not count. */
    assert_int_equal(
        stake_tb("", STEP(1, 0, 1000) CALL(1, 0, 1, 1, "") COPY("Device -> Device", 9, 9, 1),
                 "low_utilization"),
        -1);
    row = row_of(
        "", STEP(1, 0, 1000) CALL(1, 0, 1, 1, "") KERNEL("k", 10, 100, 1) KERNEL_1(50, 200),
        "low_utilization", true);
    assert_int_equal(cell_int(row, "impact_ns"), 900000);
    assert_int_equal(cell_int(row, "count"), 2);
    assert_true(has_text(row, "text", "cuda:0, cuda:1 ran kernels in 15.0 %"));
}

TEST_WITH(tensor_cores_count_where_nothing_uses_them, NULL, end)
{
#define MM(kernel)                   \
    STEP(1, 0, 100)                  \
    OP("aten::linear", 1, 0, 50, "") \
    CALL(1, 1, 1, 1, "")             \
    OP("aten::mm", 1, 5, 20, "")     \
    CALL(1, 6, 1, 2, "")             \
    OP("aten::add", 1, 60, 9, "")    \
    CALL(1, 61, 1, 3, "")            \
    KERNEL("a", 10, 10, 1) KERNEL(kernel, 30, 20, 2) KERNEL("c", 70, 10, 3)
#define HIP_MM(kernel)                           \
    STEP(1, 0, 100)                              \
    OP("aten::mm", 1, 5, 20, "")                 \
    RUNTIME("hipExtModuleLaunchKernel", 6, 1, 2) \
    KERNEL(kernel, 30, 20, 2)
#define MM_ON(device)                                                                    \
    STEP(1, 0, 100)                                                                      \
    OP("aten::mm", 1, 5, 20, "")                                                         \
    RUNTIME("zorkLaunch", 6, 1, 2)                                                       \
    "{'ph':'X','cat':'kernel','name':'sgemm','pid':1,'tid':7,'ts':30,'dur':20,'args':{'" \
    "device':'" device "','stream':7,'correlation':2}},"
    int64_t row;

    /* aten::linear has an eligible operator below it: what it launches itself is no matmul. */
    row = row_of(DEVICE(7, 0), MM("sgemm"), "tensor_cores", false);
    assert_int_equal(cell_int(row, "impact_ns"), 10000); /* half of the time */
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "text", "these kernels run for 20.0 us"));
    assert_true(has_text(row, "text", "50 % of the kernel time"));
    assert_true(has_text(row, "text", "torch.autocast('cuda')"));
    assert_int_equal(stake(DEVICE(7, 0), MM("volta_s884gemm"), "tensor_cores"), -1);
    assert_int_equal(stake(DEVICE(6, 1), MM("sgemm"), "tensor_cores"), -1);
    assert_int_equal(stake("", MM("sgemm"), "tensor_cores"), -1);
    /* The numbers of other families say nothing about Tensor Cores; the plugin reads them. */
    assert_int_equal(stake(DEVICE(9, 0), HIP_MM("Cijk_Ailk_MI16x16x1"), "tensor_cores"), -1);
    assert_int_equal(stake(DEVICE(9, 0), HIP_MM("void at::native::k"), "tensor_cores"), -1);
    assert_int_equal(stake(DEVICE(9, 0), OF_FAMILY("xpu") MM("sgemm"), "tensor_cores"), -1);
    assert_int_equal(stake(DEVICE(9, 0), OF_FAMILY("privateuse1") MM("sgemm"), "tensor_cores"),
                     -1);
    assert_int_equal(stake_tb(DEVICE(9, 0), HIP_MM("Cijk_Ailk_MI16x16x1"), "tensor_cores"),
                     20000);
    /* Recordings say the family themselves, whatever the call is named. */
    assert_int_equal(stake(DEVICE(9, 0), MM_ON("cuda:0"), "tensor_cores"), 10000);
    assert_int_equal(stake(DEVICE(9, 0), MM_ON("hip:0"), "tensor_cores"), -1);
    assert_int_equal(stake(DEVICE(9, 0), MM_ON("zorg:0"), "tensor_cores"), -1);
    /* What other devices run counts neither for nor against it. */
    row = row_of(DEVICE(7, 0), MM("sgemm") TENSOR_KERNEL_1(90, 5), "tensor_cores", false);
    assert_int_equal(cell_int(row, "impact_ns"), 10000);
    assert_true(has_text(row, "text", "50 % of the kernel time"));
    assert_int_equal(stake_tb(DEVICE(7, 0), MM("sgemm") TENSOR_KERNEL_1(90, 5), "tensor_cores"),
                     -1);
    /* The list of 2021 does not know these. */
    assert_int_equal(stake(DEVICE(7, 0), MM("nvjet_x"), "tensor_cores"), -1);
    assert_int_equal(stake_tb(DEVICE(7, 0), MM("nvjet_x"), "tensor_cores"), 20000);
    assert_int_equal(stake(DEVICE(7, 0),
                           STEP(1, 0, 100) OP("aten::add", 1, 0, 50, "") CALL(1, 1, 1, 1, "")
                               KERNEL("k", 10, 10, 1),
                           "tensor_cores"),
                     -1);
}

TEST_WITH(memory_counts_above_nine_tenths_of_the_device, NULL, end)
{
    const char *const op = STEP(1, 0, 100) OP("aten::empty", 1, 0, 50, "");
    char text[1024];
    int64_t row;

    assert_true(snprintf(text, sizeof text, "%s%s", op, HELD(1, 901)) > 0);
    row = row_of(DEVICE(7, 0), text, "memory_limit", false);
    assert_int_equal(cell_int(row, "impact_ns"), 0);
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "severity", "warning"));
    assert_true(snprintf(text, sizeof text, "%s%s%s", op,
                         RUNTIME("cudaMalloc", 10, 7, 1) HELD(1, 950), HELD(1, 20)) > 0);
    assert_int_equal(stake(DEVICE(7, 0), text, "memory_limit"), 7000);
    assert_true(snprintf(text, sizeof text, "%s%s", op, HELD(1, 900)) > 0);
    assert_int_equal(stake(DEVICE(7, 0), text, "memory_limit"), -1);
    assert_true(snprintf(text, sizeof text, "%s%s", op, HELD(0, 999)) > 0);
    assert_int_equal(stake(DEVICE(7, 0), text, "memory_limit"), -1);
    assert_true(snprintf(text, sizeof text, "%s%s", op, HELD(1, 999)) > 0);
    assert_int_equal(stake("", text, "memory_limit"), -1);
}

TEST_WITH(memory_is_of_the_device_that_its_records_name, NULL, end)
{
    char text[1024];

    assert_true(snprintf(text, sizeof text, "%s%s",
                         STEP(1, 0, 100) OP("aten::empty", 1, 0, 50, ""), HELD(12, 999)) > 0);
    assert_true(
        has_text(row_of(DEVICE(7, 0), text, "memory_limit", false), "subject", "xpu:0"));
}

TEST_WITH(pageable_copies_count_where_no_kernel_hides_them, NULL, end)
{
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) CALL(1, 0, 10, 1, "") CALL(1, 10, 10, 2, "")
                               COPY("Pageable -> Device", 30, 20, 1) KERNEL("k", 39, 900, 2),
                           "pageable_copies"),
                     -1);
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) CALL(1, 0, 10, 1, "") CALL(1, 10, 10, 2, "")
                               COPY("Pageable -> Device", 20, 30, 1) KERNEL("k", 39, 900, 2),
                           "pageable_copies"),
                     19000);
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) CALL(1, 0, 10, 1, "") CALL(1, 10, 10, 2, "")
                               COPY("Pinned -> Device", 20, 30, 1) KERNEL("k", 60, 900, 2),
                           "pageable_copies"),
                     -1);
}

TEST_WITH(the_allocator_counts_within_steps_alone, NULL, end)
{
    int64_t row;

    row = row_of("",
                 STEP(1, 0, 1000) RUNTIME("cudaFree", 100, 8, 1)
                     RUNTIME("cudaMalloc", 120, 4, 2) OP("aten::mm", 1, 500, 9, ""),
                 "allocator", false);
    assert_int_equal(cell_int(row, "impact_ns"), 12000);
    assert_int_equal(cell_int(row, "count"), 2);
    assert_true(has_text(row, "subject", "cudaFree"));
    assert_true(has_text(row, "text", " torch.cuda.empty_cache() "));
    assert_true(has_text(row, "evidence", "(name in ('cudaFree', 'cudaMalloc'))"));
    row = row_of("", STEP(1, 0, 1000) RUNTIME("aclrtFree", 100, 80, 1), "allocator", false);
    assert_true(has_text(row, "text", " torch.npu.empty_cache() "));
    row = row_of("", STEP(1, 0, 1000) RUNTIME("urUSMFree", 100, 80, 1), "allocator", false);
    assert_true(has_text(row, "text", " do not call empty_cache() "));
    assert_int_equal(stake("", STEP(1, 0, 1000) RUNTIME("cudaFree", 100, 10, 1), "allocator"),
                     -1);
    assert_int_equal(stake("", STEP(1, 200, 100) RUNTIME("cudaFree", 100, 50, 1), "allocator"),
                     -1);
}

TEST_WITH(slow_steps_name_what_grew, NULL, end)
{
#define SLOW(last)                \
    STEP(1, 0, 100)               \
    OP("aten::a", 1, 0, 10, "")   \
    STEP(2, 100, 101)             \
    OP("aten::a", 1, 110, 11, "") \
    STEP(3, 201, 102)             \
    OP("aten::a", 1, 210, 10, "") \
    STEP(4, 303, 103)             \
    OP("aten::a", 1, 310, 12, "") \
    STEP(6, 1100, 100)            \
    STEP(7, 1200, 104)            \
    STEP(8, 1304, 102)            \
    STEP(5, 406, last) OP("aten::a", 1, 410, 15, "") OP("aten::b", 1, 430, 60, "")
    int64_t row;

    row = row_of("", SLOW(200), "slow_steps", false);
    assert_int_equal(cell_int(row, "impact_ns"), 98000); /* over 102 us */
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "subject", "5"));
    assert_true(has_text(row, "text", "aten::b grew most, by 60.0 us on the host"));
    assert_int_equal(stake("", SLOW(104), "slow_steps"), -1);
    /* A label that is not the only one does not tell the step. */
    row = row_of("", STEP(5, 1506, 101) STEP(5, 1706, 400) SLOW(100), "slow_steps", false);
    assert_true(has_text(row, "subject", "@9"));
}

/* N operators of NAME in a step of 10 ms that begins at AT us; DUR us each, every 100 us. */
static void add_step(struct osc_strbuf *out, int at, int n, const char *name, int dur,
                     const char *args)
{
    osc_strbuf_addf(
        out,
        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%d','pid':1,'tid':1,"
        "'ts':%d,'dur':10000,'args':{}},",
        at / 10000, at);
    for (int k = 0; k < n; k++)
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cpu_op','name':'%s','pid':1,'tid':1,'ts':%d,'dur':%d,"
                        "'args':{%s}},",
                        name, at + 100 * k, dur, args);
}

/* The row of CODE, or -1, for three steps of which TWO have what the rule is about. */
static int64_t most_of_three(const char *code, int n, const char *name, int dur,
                             const char *args, bool two)
{
    struct osc_strbuf text = {0};

    add_step(&text, 0, two ? n : 0, name, dur, args);
    add_step(&text, 10000, 0, name, dur, args);
    add_step(&text, 20000, n, name, dur, args);
    assert_int_equal(text.status, OSC_OK);
    const int64_t row = row_of("", text.s, code, false);
    osc_strbuf_fini(&text);
    return row;
}

TEST_WITH(what_most_steps_do_on_the_host_is_told, NULL, end)
{
    int64_t row = most_of_three("host_sync", 32, "aten::item", 5, "", true);

    assert_int_equal(cell_int(row, "impact_ns"), 2 * 32 * 5000);
    assert_int_equal(cell_int(row, "count"), 64);
    assert_true(has_text(row, "subject", "aten::item"));
    assert_true(has_text(row, "text",
                         "21 calls a step read values of tensors, above all "
                         "aten::item; the calls alone take 1.1 %"));
    assert_true(has_text(row, "evidence", "name in ('aten::item') and kind = 'operator'"));
    assert_int_equal(most_of_three("host_sync", 32, "aten::item", 5, "", false), -1);
    assert_int_equal(most_of_three("host_sync", 31, "aten::item", 5, "", true), -1);
    assert_true(most_of_three("host_sync", 6, "aten::item", 90, "", true) >= 0);

    row = most_of_three("copies", 5, "aten::clone", 50, "", true);
    assert_true(has_text(row, "text", "the next copy follows at once"));
    assert_int_equal(most_of_three("copies", 4, "aten::clone", 60, "", true), -1);
    assert_int_equal(most_of_three("copies", 5, "aten::clone", 40, "", true), -1);
    row = most_of_three("float64", 12, "aten::mm", 90,
                        "'Input type':['double'],'Input Dims':[[2,2]]", true);
    assert_int_equal(cell_int(row, "impact_ns"), 2 * 12 * 90000);
    row = most_of_three("slow_convolution", 12, "aten::_slow_conv2d_forward", 90, "", true);
    assert_int_equal(cell_int(row, "impact_ns"), 2 * 12 * 90000);
    assert_true(has_text(row, "text", "above all aten::_slow_conv2d_forward. oneDNN has"));
    assert_int_equal(most_of_three("slow_convolution", 12, "aten::thnn_conv2d", 90,
                                   "'Input type':['double'],'Input Dims':[[2,2]]", true),
                     -1); /* float64 is why */
    row = most_of_three("tiny_operators", 32, "aten::abs", 20, "", true);
    assert_true(has_text(row, "text", "21 operators a step of less than 50 us each"));
    assert_int_equal(most_of_three("tiny_operators", 31, "aten::abs", 20, "", true), -1);
    row = most_of_three("unrecorded", 8, "aten::mm", 90, "", true);
    assert_true(has_text(row, "text", "nothing was recorded on the thread of the steps"));
    assert_int_equal(most_of_three("unrecorded", 7, "aten::mm", 90, "", true), -1);
}

/* A step of 1000 us at AT with an optimizer of DUR us; FUNCTION runs in it. */
#define OPTIMIZING(at, dur, function)                                 \
    STEP(1, at, 1000)                                                 \
    RANGE("user_annotation", "Optimizer.step#A.step", 1, at, dur, "") \
    RANGE("python_function", function, 1, at, dur, "")

TEST_WITH(an_optimizer_that_was_told_to_take_one_tensor_a_time_is_named, NULL, end)
{
    const int64_t row =
        row_of("", OPTIMIZING(0, 60, "torch/optim/adam.py(1): _single_tensor_adam"),
               "single_tensor", false);
    assert_int_equal(cell_int(row, "impact_ns"), 60000);
    assert_true(has_text(row, "text", "as the program asks (foreach=False)"));
    assert_int_equal(stake("",
                           OPTIMIZING(0, 60, "torch/optim/adam.py(1): _single_tensor_adam")
                               RANGE("python_function", "o.py(1): _default_to_fused_or_foreach",
                                     1, 5, 5, ""),
                           "single_tensor"),
                     -1);
    assert_int_equal(
        stake("", OPTIMIZING(0, 50, "a.py(1): _single_tensor_adam"), "single_tensor"), -1);
    assert_int_equal(
        stake("", OPTIMIZING(0, 400, "a.py(1): _multi_tensor_adam"), "single_tensor"), -1);
}

TEST_WITH(python_is_told_with_the_function_that_has_most_of_it, NULL, end)
{
    struct osc_strbuf text = {0};

    add_step(&text, 0, 8, "aten::mm", 50, "");
    osc_strbuf_adds(
        &text, RANGE("python_function", "a.py(1): step", 1, 0, 5000, "")
                   RANGE("python_function", "<built-in function sleep>", 1, 1000, 2500, ""));
    assert_int_equal(text.status, OSC_OK);
    const int64_t row = row_of("", text.s, "python", false);
    osc_strbuf_fini(&text);
    assert_int_equal(cell_int(row, "impact_ns"), 10000000 - 8 * 50000);
    assert_true(has_text(row, "subject", "<built-in function sleep>"));
    assert_true(has_text(row, "text", "above all <built-in function sleep> (2.50 ms of its"));
}

TEST_WITH(work_of_a_device_leaves_the_host_to_the_rules_for_devices, NULL, end)
{
    struct osc_strbuf text = {0};

    add_step(&text, 0, 40, "aten::item", 15, "");
    osc_strbuf_adds(&text, CALL(1, 1, 1, 1, "") KERNEL("k", 5, 9000, 1));
    assert_int_equal(text.status, OSC_OK);
    assert_int_equal(stake("", text.s, "host_sync"), -1);
    assert_int_equal(stake("", text.s, "tiny_operators"), -1);
    osc_strbuf_fini(&text);
}

TEST_WITH(memory_is_pinned_only_for_devices, NULL, end)
{
    const int64_t host = row_of("", STEP(1, 0, 1000) LOADER(0, 300), "data_loading", false);
    assert_true(has_text(host, "text", "DataLoader(..., num_workers=N)."));
    const int64_t recorded = row_of("'opscope_version':'0.1.0',",
                                    STEP(1, 0, 1000) LOADER(0, 300), "data_loading", false);
    assert_true(has_text(recorded, "text", "Load and prepare data ahead of time, beside the"));
    const int64_t device = row_of(
        "", STEP(1, 0, 1000) LOADER(0, 300) CALL(1, 900, 1, 1, "") KERNEL("k", 905, 50, 1),
        "data_loading", false);
    assert_true(has_text(device, "text", "num_workers=N, pin_memory=True)"));
}

TEST_WITH(one_step_that_waited_for_data_is_no_rule, NULL, end)
{
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) LOADER(0, 300) STEP(2, 1000, 1000) LOADER(1000, 20)
                               STEP(3, 2000, 1000) LOADER(2000, 20),
                           "data_loading"),
                     -1);
    assert_int_equal(stake("",
                           STEP(1, 0, 1000) LOADER(0, 300) STEP(2, 1000, 1000) LOADER(1000, 200)
                               STEP(3, 2000, 1000) LOADER(2000, 20),
                           "data_loading"),
                     520000);
}

TEST_WITH(a_trace_without_steps_or_devices_says_what_does_not_apply, NULL, end)
{
    const struct osc_options o = {.n_traces = 1};

    run(&o, "", OP("aten::mm", 1, 0, 10, ""));
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "the program announced no steps"));
    assert_non_null(strstr(result.notes.s, "no device work"));
    assert_non_null(strstr(result.notes.s, "no rule applies"));
    run(&o, "", "");
    assert_int_equal(result.n_rows, 0);
    assert_non_null(strstr(result.notes.s, "there is no step time"));
}

TEST_WITH(names_of_files_are_words_of_the_shell, NULL, end)
{
    static const struct {
        const char *source, *word;
    } cases[] = {
        {"a/b-1.json", " a/b-1.json"},
        {"-o.json", " ./-o.json"},
        {"-", " -"},
        {"a b.json", " 'a b.json'"},
        {"it's $HOME.json", " 'it'\\''s $HOME.json'"},
        {"a\nb'c\\.json", " $'a\\x0ab\\'c\\\\.json'"},
        {"\xff.json", " $'\\xff.json'"},
        {"\xc3\xa9.json", " '\xc3\xa9.json'"},
    };
    const struct osc_options o = {.n_traces = 1};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        end(NULL);
        load(cases[i].source, "", STEP(1, 0, 1000) LOADER(0, 51));
        osc_result_init(&result, &osc_table_advice);
        assert_int_equal(osc_table_advice.mapping->map(&trace, &o, &result, NULL), OSC_OK);
        assert_int_equal(result.n_rows, 1);
        assert_true(osc_str_ends(osc_result_get_str(&result, 0, column("evidence")),
                                 osc_str_c(cases[i].word)));
    }
}

/* The words of the evidence that S adds to COMMAND, for the file "a.json". */
static void assert_selects(const struct osc_view *s, const char *events, const char *words)
{
    const struct osc_options o = {.view = s, .n_traces = 1};

    end(NULL);
    load("a.json", "", events);
    osc_result_init(&result, &osc_table_advice);
    assert_int_equal(osc_table_advice.mapping->map(&trace, &o, &result, NULL), OSC_OK);
    assert_int_equal(result.n_rows, 1);
    assert_true(
        osc_str_ends(osc_result_get_str(&result, 0, column("evidence")), osc_str_c(words)));
}

TEST_WITH(the_evidence_selects_what_was_selected, NULL, end)
{
    const char *const loading = STEP(1, 0, 1000) LOADER(0, 51), *const allocating =
                                                                    STEP(1, 0, 1000)
                                                                        RUNTIME("cudaMalloc",
                                                                                100, 20, 9);
    struct osc_view s = {0};

    assert_selects(&s, loading, "> 0\" a.json");
    s = (struct osc_view){.process = "1",
                          .thread = "it's",
                          .device = "cuda:0",
                          .steps = "1-2",
                          .has_from = true,
                          .has_to = true,
                          .from_ns = 5,
                          .to_ns = 7000};
    assert_selects(&s, loading,
                   "> 0\" --process 1 --thread 'it'\\''s' --device cuda:0 --steps 1-2 "
                   "--from 5 --to 7000 a.json");
    /* Which of the selected steps are kept is told by the rows. */
    s = (struct osc_view){.process = "1", .steps = "1-2"};
    assert_selects(&s, allocating,
                   "is not null and step between 0 and 0\" --process 1 --steps 1-2 a.json");
}

TEST_WITH(standard_input_is_a_dash, NULL, end)
{
    const struct osc_options o = {.n_traces = 1};

    end(NULL);
    load("standard input", "", STEP(1, 0, 1000) LOADER(0, 51));
    trace.is_stdin = true;
    osc_result_init(&result, &osc_table_advice);
    assert_int_equal(osc_table_advice.mapping->map(&trace, &o, &result, NULL), OSC_OK);
    assert_true(
        osc_str_ends(osc_result_get_str(&result, 0, column("evidence")), OSC_STR("0\" -")));
}

TEST_WITH(merged_ranks_add_up_and_name_nobody, NULL, end)
{
    const struct osc_options o = {.operands = "runs/a", .n_traces = 2};
    struct osc_merger merger;
    struct osc_result sum;

    osc_merger_init(&merger, &osc_table_advice);
    run(&o, "", STEP(1, 0, 1000) CALL(1, 0, 9, 1, "") KERNEL("k", 10, 200, 1));
    assert_int_equal(osc_merger_add(&merger, &result, 0), OSC_OK);
    run(&o, "", STEP(1, 0, 3000) CALL(1, 0, 9, 1, "") KERNEL("k", 10, 1400, 1));
    assert_int_equal(osc_merger_add(&merger, &result, 1), OSC_OK);
    osc_result_init(&sum, &osc_table_advice);
    assert_int_equal(osc_merger_result(&merger, &sum), OSC_OK);
    assert_int_equal(osc_table_advice.mapping->finish(&sum, &o, NULL), OSC_OK);
    assert_int_equal(sum.n_rows, 1); /* unrecorded_idle */
    assert_int_equal(osc_result_get_int(&sum, 0, column("impact_ns")), 790000 + 1590000);
    assert_true(osc_result_get_num(&sum, 0, column("ratio")) == 0.595);
    assert_true(osc_str_has(osc_result_get_str(&sum, 0, column("text")),
                            OSC_STR("2.38 ms of the 2.40 ms in which no device works")));
    assert_false(osc_result_has(&sum, 0, column("subject")));
    /* Their evidence is one command. */
    assert_true(osc_str_eq(
        osc_result_get_str(&sum, 0, column("evidence")),
        OSC_STR("opscope table events --where \"(rank in (0) and span = 0 and start_ns <= "
                "1000000 and start_ns + dur_ns >= 210000) or (rank in (0) and span = 0 and "
                "start_ns <= 3000000 and start_ns + dur_ns >= 1410000)\" runs/a")));
    osc_result_fini(&sum);
    osc_merger_fini(&merger);
}

/* Fail the first allocation, then the second, ... until the work gets done. */
TEST_WITH(memory_that_runs_out_is_a_status, NULL, end)
{
    const struct osc_options o = {.operands = "a.json", .n_traces = 1};
    osc_status st = OSC_ENOMEM;

    end(NULL);
    load("small", DEVICE(7, 0),
         MM("sgemm") STEP(2, 100, 101) STEP(3, 201, 102) STEP(4, 303, 300)
             RUNTIME("cudaStreamSynchronize", 400, 20, 9) HELD(1, 999));
    for (long n = 0; st != OSC_OK; n++) {
        osc_result_fini(&result);
        osc_result_init(&result, &osc_table_advice);
        osc_mem_fail_after(n);
        st = osc_table_advice.mapping->map(&trace, &o, &result, NULL);
        if (st == OSC_OK)
            st = osc_table_advice.mapping->finish(&result, &o, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_true(result.n_rows >= 4);
}

UNIT_MAIN("advice")
