/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/device_lines.h"

#include "base/strbuf.h"
#include "model/producer.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;
static struct osc_strbuf said;

#define PROCESS(pid, name) \
    "{'ph':'M','name':'process_name','pid':" #pid ",'args':{'name':'" name "'}},"
#define LABEL(pid, text) \
    "{'ph':'M','name':'process_labels','pid':" #pid ",'args':{'labels':'" text "'}},"
#define THREAD(pid, tid, name)                                                                 \
    "{'ph':'M','name':'thread_name','pid':" #pid ",'tid':" #tid ",'args':{'name':'" name "'}}" \
    ","
#define X(pid, tid, name, ts, dur, more)                                                     \
    "{'ph':'X','pid':" pid ",'tid':" #tid ",'name':'" name "','ts':" #ts ",'dur':" #dur more \
    "},"
#define ARROW(ph, category, id, pid, tid, ts)                                              \
    "{'ph':'" ph "','cat':'" category "','id':" #id ",'bp':'e','pid':" #pid ",'tid':" #tid \
    ",'ts':" #ts ",'name':'a'},"

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    osc_strbuf_fini(&said);
    return 0;
}

/* "KIND[@DEVICE] ..." of all rows of EVENTS, in order; a step of a device is "step@...". */
static const char *kinds_of(const char *events)
{
    osc_trace_fini(&trace);
    osc_strbuf_clear(&said);
    assert_true(small_load(&trace, events));
    const struct osc_chunk *const c = small_chunk(&trace);

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct osc_track *const track = &trace.tracks[c->track[i]];
        const struct osc_str device = osc_trace_str(&trace, track->device);

        osc_strbuf_addf(&said, "%s%s", i > 0 ? " " : "",
                        osc_kind_text((enum osc_kind)c->kind[i]));
        if (osc_row_form(&trace, c, i)->is_device)
            osc_strbuf_addf(&said, "@%.*s%s", (int)device.len, device.s,
                            track->is_queue ? "" : "-");
    }
    osc_strbuf_addc(&said, '\0');
    assert_int_equal(said.status, OSC_OK);
    return said.s;
}

/* A program of HIP has words of CUDA, too; which id a string gets differs from run to run. */
TEST_WITH(calls_of_two_families_name_the_same_device_each_time, NULL, end)
{
    for (int i = 0; i < 40; i++)
        assert_string_equal(kinds_of(PROCESS(2, "/device:GPU:0") THREAD(2, 7, "Stream #7")
                                         X("3", 1, "cuLaunchKernel", 1, 1, "")
                                             X("3", 1, "hipLaunchKernel", 2, 1, "")
                                                 X("2", 7, "gemm", 3, 1, "")),
                            "driver runtime kernel@hip:0");
}

/* Nothing in a timeline of MindSpore has a name: operators are the work, runs of streams repeat
 * it, and what is neither stays. */
TEST_WITH(operators_of_a_timeline_of_mindspore_are_kernels, NULL, end)
{
    assert_string_equal(
        kinds_of("{'ph':'X','name':'stream_5_parallel_0','pid':9,'tid':5,'ts':0,'dur':90},"
                 "{'ph':'X','name':'Mul-op1','pid':1,'tid':5,'ts':1,'dur':2,"
                 "'args':{'type':'Mul','fullname':'Default/Mul-op1'}},"
                 "{'ph':'X','name':'other','pid':9,'tid':6,'ts':3,'dur':1},"),
        "annotation@- kernel@npu:0 scope");
    assert_true(trace.tracks[small_chunk(&trace)->track[0]].is_summary);
}

/* The form that a begin and its end make has no arguments, and what a line makes of it is a
 * copy: each frees only what is its own. */
TEST_WITH(forms_without_arguments_share_nothing, NULL, end)
{
    static const char events[] =
        PROCESS(2, "/device:GPU:0") "{'ph':'B','pid':2,'tid':1,'ts':0,'name':'a','args':{}},"
                                    "{'ph':'E','pid':2,'tid':1,'ts':1,'args':{}},"
                                    "{'ph':'B','pid':2,'tid':1,'ts':2,'name':'a','args':{}},";

    assert_string_equal(kinds_of(events), "annotation@gpu:0 annotation@gpu:0");
    for (uint32_t i = 0; i < trace.n_forms; i++)
        assert_true((trace.forms[i].slots == NULL) == (trace.forms[i].n_slots == 0));
}

TEST_WITH(xla_draws_kernels_on_streams_and_modules_over_them, NULL, end)
{
    assert_string_equal(
        kinds_of(
            PROCESS(7, "/host:CPU") PROCESS(11, "/device:GPU:3") THREAD(
                11, 14, "Stream #14(Kernel)") THREAD(11, 15, "Stream #15(MemcpyD2H)")
                THREAD(11, 2, "XLA Ops") THREAD(11, 3, "XLA Modules") THREAD(11, 4, "Steps")
                    X("7", 1, "cuLaunchKernel", 1, 1, ",'args':{'correlation_id':'5'}")
                        X("7", 1, "$a.py:3 f", 1, 9, "") X("7", 1, "step", 0, 20, "") X(
                            "11", 14, "fusion", 5, 2, ",'args':{'correlation_id':'5'}")
                            X("11", 15, "MemcpyD2H", 8, 1, "") X("11", 2, "fusion.1", 5, 2, "")
                                X("11", 3, "jit_f", 5, 4, "") X("11", 4, "12", 5, 4, "")),
        "driver python scope kernel@cuda:3 memcpy@cuda:3 annotation@cuda:3 annotation@cuda:3 "
        "step@cuda:3");
    assert_int_equal(osc_producer_dialect((enum osc_producer)trace.producer), OSC_DIALECT_XLA);
}

TEST_WITH(operations_of_xla_are_the_kernels_where_no_stream_is, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(11, "/device:TPU:0") PROCESS(2, "/device:TPU:1")
                     PROCESS(3, "/device:CUSTOM:Megascale Trace") THREAD(11, 2, "XLA Ops")
                         THREAD(11, 9, "Async XLA Ops") THREAD(2, 2, "XLA Ops")
                             THREAD(11, 4, "Steps") THREAD(2, 4, "Steps")
                                 X("11", 2, "fusion.1", 5, 2, "") X("11", 9, "copy.2", 5, 2, "")
                                     X("2", 2, "fusion.1", 5, 2, "") X("11", 4, "0", 5, 2, "")
                                         X("2", 4, "0", 5, 2, "") X("3", 1, "x", 5, 2, "")),
        "kernel@tpu:0 memcpy@tpu:0 kernel@tpu:1 step@tpu:0 annotation@tpu:1 scope");
}

TEST_WITH(steps_of_devices_that_work_one_after_the_other_are_steps, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(5, "/device:GPU:4") PROCESS(2, "/device:GPU:6")
                     PROCESS(3, "/device:GPU:7") THREAD(5, 4, "Steps") THREAD(2, 4, "Steps")
                         THREAD(3, 4, "Steps") X("2", 4, "0", 9, 5, "") X("3", 4, "0", 3, 2, "")
                             X("5", 4, "0", 1, 3, "") X("5", 4, "1", 4, 5, "")),
        "step@gpu:6 annotation@gpu:7 step@gpu:4 step@gpu:4");
}

TEST_WITH(operations_of_xla_that_hold_others_are_drawn_over_them, NULL, end)
{
    assert_string_equal(kinds_of(PROCESS(11, "/device:TPU:0") THREAD(11, 2, "XLA Ops")
                                     X("11", 2, "while.1", 5, 9, "") X("11", 2, "dot", 5, 8, "")
                                         X("11", 2, "copy-done.3", 14, 1, "")),
                        "annotation@tpu:0 kernel@tpu:0 memcpy@tpu:0");
}

TEST_WITH(devices_of_several_hosts_have_numbers_of_their_own, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(5, "host10 /device:TPU:0") PROCESS(2, "host2 /device:TPU:0") PROCESS(
            4, "host2 /device:TPU:1") THREAD(5, 1, "XLA Ops") THREAD(2, 1, "XLA Ops")
                     THREAD(4, 1, "XLA Ops") X("5", 1, "a", 5, 9, "") X("2", 1, "a", 5, 8, "")
                         X("4", 1, "a", 14, 1, "")),
        "kernel@tpu:2 kernel@tpu:0 kernel@tpu:1");
}

TEST_WITH(processes_of_tensorflow_need_no_last_word, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(11, "/device:GPU:0/stream:13") PROCESS(2, "/device:GPU:0/stream:all")
                     PROCESS(3, "/device:GPU:0/memcpy") PROCESS(4, "/host:CPU")
                         X("11", 0, "MEMCPYHtoD", 5, 9, "") X("2", 0, "MEMCPYHtoD", 5, 9, "")
                             X("3", 0, "MEMCPYHtoD", 5, 9, "") X("4", 0, "MatMul", 4, 1, "")),
        "memcpy@gpu:0 annotation@- annotation@- operator");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_TENSORFLOW);
}

TEST_WITH(a_line_of_all_streams_repeats_single_streams, NULL, end)
{
    static const char all[] = PROCESS(11, "/gpu:0 (stream:all) Compute")
        PROCESS(2, "/job:a/replica:0/task:0/cpu:0 Compute") PROCESS(3, "/gpu:0/memcpy Compute")
            X("11", 0, "Conv2D", 1, 2, ",'cat':'Op'") X("2", 0, "Add", 1, 2, ",'cat':'Op'")
                X("3", 0, "MEMCPYHtoD", 1, 2, ",'cat':'Op'");
    struct osc_strbuf both = {0};

    assert_string_equal(kinds_of(all), "kernel@gpu:0 operator memcpy@gpu:0");
    osc_strbuf_addf(&both, "%s%s", all,
                    PROCESS(4, "/device:GPU:0/stream:13 Compute")
                        X("4", 0, "Conv2D", 1, 2, ",'cat':'Op'"));
    assert_string_equal(kinds_of(both.s), "annotation@- operator annotation@- kernel@gpu:0");
    osc_strbuf_fini(&both);
}

TEST_WITH(tasks_of_ascend_are_work_unless_they_wait, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(11, "Ascend Hardware") LABEL(11, "NPU 2") PROCESS(
            2, "Overlap Analysis") PROCESS(3, "CANN") THREAD(11, 9, "Step Trace(Model ID:2)")
                     X("11", 4, "m", 1, 1, ",'args':{'Task Type':'AI_CORE'}")
                         X("11", 4, "w", 1, 1, ",'args':{'Task Type':'EVENT_WAIT'}")
                             X("11", 4, "c", 1, 1, ",'args':{'Task Type':'SDMA'}") X(
                                 "11", 4, "MEMCPY_ASYNC", 1, 1, ",'args':{'Task Type':'Other'}")
                                 X("11", 4, "aclnnAdd", 1, 1, ",'args':{'Task Type':'Other'}")
                                     X("11", 9, "Iteration 3", 1, 1, ",'cat':'Iteration Time'")
                                         X("11", 9, "FP_BP Time 3", 1, 1, "")
                                             X("2", 0, "Computing", 1, 1, "")
                                                 X("3", 0, "Node@launch", 1, 1, "")),
        "kernel@npu:2 sync@npu:2 memcpy@npu:2 memcpy@npu:2 kernel@npu:2 step@npu:2 "
        "annotation@npu:2 annotation@- "
        "runtime");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_MSPROF);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_device_unmatched].count, 0);
}

/* Whether the line of ROW repeats other lines. */
static bool is_summary(uint32_t row)
{
    return trace.tracks[small_chunk(&trace)->track[row]].is_summary;
}

TEST_WITH(parts_of_a_collective_count_once, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(11, "Ascend Hardware") LABEL(11, "NPU") PROCESS(2, "HCCL") LABEL(
            2, "NPU") THREAD(2, 0, "Plane 0") THREAD(2, 9, "Communication Kernel")
                     X("11", 13, "r", 1, 1, ",'args':{'Task Type':'REDUCE_ASYNC_V2'}")
                         X("11", 13, "w", 2, 1, ",'args':{'Task Type':'NOTIFY_WAIT'}")
                             X("11", 4, "m", 1, 1, ",'args':{'Task Type':'AI_CORE'}")
                                 X("2", 0, "Reduce", 1, 1, ",'args':{'stream id':13}")
                                     X("2", 9, "hcom_allReduce_", 1, 9, "")),
        "annotation@npu:0 sync@npu:0 kernel@npu:0 annotation@- kernel@npu:0");
    assert_int_equal(trace.findings.by_code[OSC_FINDING_device_unmatched].count, 1);
    /* The plane repeats a task of a stream, which the collective covers. */
    assert_false(is_summary(0));
    assert_true(is_summary(3));
    assert_false(is_summary(4));
    /* Without the tasks nothing else has its time in parts. */
    assert_string_equal(kinds_of(PROCESS(2, "HCCL") LABEL(2, "NPU") PROCESS(3, "CANN") THREAD(
                            2, 0, "Plane 0") THREAD(2, 9, "Communication Kernel")
                                     X("2", 0, "Reduce", 1, 1, ",'args':{'stream id':13}")
                                         X("2", 9, "hcom_allReduce_", 1, 9, "")),
                        "annotation@npu:0 kernel@npu:0");
    assert_false(is_summary(0));
}

TEST_WITH(older_tools_of_ascend_draw_the_same_tasks_twice, NULL, end)
{
    assert_string_equal(kinds_of(PROCESS(11, "AI Core") PROCESS(2, "AscendCL")
                                     X("11", 3, "m", 1, 1, ",'args':{'Task Type':'AI_CORE'}")
                                         X("2", 0, "aclrtLaunchKernel", 1, 1, "")),
                        "kernel@npu:0 runtime");
    assert_string_equal(kinds_of(PROCESS(11, "AI Core Op") PROCESS(2, "Task Scheduler")
                                     X("11", 3, "m", 1, 1, ",'args':{'Task Type':'AI_CORE'}") X(
                                         "2", 3, "m", 1, 1, ",'args':{'Task Type':'AI_CORE'}")),
                        "annotation@- kernel@npu:0");
    assert_true(is_summary(0));
}

TEST_WITH(paddle_writes_durations_into_names, NULL, end)
{
    static const char events[] = PROCESS(3, "Process 3 (CPU)") PROCESS(0, "Deivce 0 (GPU)")
        X("3", 1, "ProfileStep#0[0.1 ms]", 0, 9, ",'cat':'ProfileStep'")
            X("3", 2, "matmul dygraph[2.000 us]", 1, 2, ",'cat':'Operator'")
                X("3", 2, "cudaLaunchKernel[1.000 us]", 1, 1, ",'cat':'CudaRuntime'")
                    X("0", 7, "k[2][1.000 us]", 3, 1, ",'cat':'Kernel'");

    osc_trace_fini(&trace);
    assert_true(small_load_with(&trace, "'span_indx':'0','schemaVersion':'1.0.2',", events));
    const struct osc_chunk *const c = small_chunk(&trace);

    assert_int_equal(c->kind[0], OSC_KIND_STEP);
    assert_int_equal(c->kind[1], OSC_KIND_OPERATOR);
    assert_int_equal(c->kind[2], OSC_KIND_RUNTIME);
    assert_int_equal(c->kind[3], OSC_KIND_KERNEL);
    assert_true(osc_str_eq(osc_row_name(&trace, c, 1), OSC_STR("matmul dygraph")));
    assert_true(osc_str_eq(osc_row_name(&trace, c, 3), OSC_STR("k[2]")));
}

TEST_WITH(the_legacy_profiler_has_two_processes, NULL, end)
{
    assert_string_equal(kinds_of(X("'CPU functions'", 1, "aten::mm", 1, 5,
                                   "") X("'CPU functions'", 1, "My part", 0, 9, "")
                                     X("'CPU functions'", 1, "MulBackward0", 0, 9, "")
                                         X("'CUDA functions'", 1, "gemm", 3, 5, "")
                                             X("'CUDA functions'", 0, "Memcpy HtoD", 3, 5, "")),
                        "operator annotation operator kernel@cuda:1 memcpy@cuda:0");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_TORCH_LEGACY);
    /* Before 1.7 operators had no namespace, and nothing tells labels from them. */
    assert_string_equal(kinds_of(X("'CPU functions'", 1, "addmm", 1, 5, "")
                                     X("'CPU functions'", 1, "My part", 0, 9, "")),
                        "operator operator");
}

TEST_WITH(rocprof_and_nsys_name_their_processes, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(6, "6 GPU1") PROCESS(2, "2 CPU HIP API") PROCESS(11, "1 COPY")
                     PROCESS(0, "0 Markers and Ranges") X("2", 1, "hipLaunchKernel", 1, 5, "")
                         X("6", 0, "k", 3, 5, "") X("11", 0, "CopyDeviceToHost", 3, 5, "")
                             X("0", 0, "mine", 0, 9, "") ARROW("s", "DataFlow", 4, 2, 1, 2)
                                 ARROW("f", "DataFlow", 4, 6, 0, 3)),
        "runtime kernel@hip:1 memcpy@hip:0 annotation");
    assert_string_equal(kinds_of(X("'Device 1'", 7, "k", 1, 5, ",'cat':'cuda'") X(
                            "'Host'", 1, "cudaLaunchKernel", 1, 5, ",'cat':'cuda_api'")
                                     X("'Host'", 2, "step", 1, 5, ",'cat':'nvtx'")),
                        "kernel@cuda:1 runtime annotation");
}

TEST_WITH(arrows_of_rocprof_end_with_a_step, NULL, end)
{
    kinds_of(PROCESS(6, "6 GPU1") PROCESS(2, "2 CPU HIP API")
                 X("2", 1, "hipLaunchKernel", 1, 5, "") X("6", 0, "k", 3, 5, "")
                     ARROW("s", "DataFlow", 4, 2, 1, 2) ARROW("t", "DataFlow", 4, 6, 0, 3));
    unsigned n_ends = 0;

    for (uint32_t i = 1; i < trace.n_forms; i++)
        n_ends += trace.forms[i].shape == OSC_SHAPE_ARROW_TO &&
                  trace.forms[i].arrow == OSC_ARROW_LAUNCH;
    assert_int_equal(n_ends, 1);
}

TEST_WITH(unitrace_gives_each_device_a_process_and_each_arrow_a_category, NULL, end)
{
    assert_string_equal(
        kinds_of(PROCESS(7, "RANK 3 HOST<n1>") PROCESS(9, "RANK 3 DEVICE<n1>0:29:0:0 #1.0")
                     THREAD(9, 1, "Thread 7 L0 Engine<0,0>")
                         X("7", 7, "zeCommandListAppendLaunchKernel", 1, 3, ",'cat':'cpu_op'")
                             X("7", 7, "my task", 0, 9, ",'cat':'cpu_op'")
                                 X("9", 1, "gemm[SIMD32]", 5, 2, ",'cat':'gpu_op'")
                                     X("9", 1, "zeCommandListAppendMemoryCopy(M2D)[4 bytes]", 7,
                                       1, ",'cat':'gpu_op'")
                                         X("9", 1, "Tile #0: zeCommandListAppendMemoryFill", 8,
                                           1, ",'cat':'gpu_op'")
                                             X("9", 1, "zeCommandListAppendBarrier", 9, 1,
                                               ",'cat':'gpu_op'")
                                                 ARROW("s", "Flow_H2D_4_3", 4, 7, 7, 2)
                                                     ARROW("t", "Flow_H2D_4_3", 4, 9, 1, 5)),
        "runtime annotation kernel@xpu:1 memcpy@xpu:1 memset@xpu:1 sync@xpu:1");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_UNITRACE);
    unsigned n_ends = 0;
    for (uint32_t i = 1; i < trace.n_forms; i++)
        n_ends += trace.forms[i].shape == OSC_SHAPE_ARROW_TO &&
                  trace.forms[i].arrow == OSC_ARROW_LAUNCH;
    assert_int_equal(n_ends, 1);
}

TEST_WITH(frames_of_rpd_are_drawn_over_work, NULL, end)
{
    assert_string_equal(
        kinds_of(
            PROCESS(0, "GPU0") THREAD(5, 5, "Hip 5") X("5", 5, "hipLaunchKernel", 1, 5, "")
                X("0", 0, "k", 3, 5, ",'args':{'desc':'KernelExecution'}")
                    X("0", 0, "CopyHostToDevice", 9, 1, ",'args':{'desc':'Copy'}")
                        X("0", 0, "my step", 2, 9, ",'args':{'desc':'UserMarker frame: 2 ops'}")
                            X("5", 5, "my step", 0, 9, ",'args':{'desc':'my step'}")),
        "runtime kernel@hip:0 memcpy@hip:0 annotation@hip:0 scope");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_RPD);
}

TEST_WITH(scopes_of_proton_are_no_kernels, NULL, end)
{
    assert_string_equal(
        kinds_of(THREAD(0, 1, "CPU Thread 0") THREAD(0, 2, "Graph: Stream 7")
                     THREAD(0, 3, "GPU Stream 7") X(
                         "0", 1, "a", 0, 9, ",'cat':'scope','args':{'call_stack':['ROOT']}")
                         X("0", 2, "g", 2, 9, ",'cat':'scope'")
                             X("0", 3, "k", 3, 5, ",'cat':'kernel','args':{'call_stack':['k']}")
                                 X("0", 4, "b", 3, 5, ",'cat':'scope'")),
        "scope annotation@gpu:0 kernel@gpu:0 scope");
    assert_int_equal((enum osc_producer)trace.producer, OSC_PRODUCER_PROTON);
}

TEST_WITH(sums_of_clang_and_the_critical_path_of_bazel_are_summaries, NULL, end)
{
    assert_string_equal(kinds_of(X("1", 1, "ExecuteCompiler", 0, 9, "")
                                     X("1", 2, "Total ExecuteCompiler", 0, 9, "")),
                        "scope scope");
    assert_false(is_summary(0));
    assert_true(is_summary(1));
    kinds_of(X("1", 1, "work", 0, 9, ",'cat':'build phase marker'")
                 THREAD(1, 2, "Critical Path") X("1", 2, "action", 0, 9, ""));
    assert_false(is_summary(0));
    assert_true(is_summary(1));
    /* Another program may call a thread so. */
    kinds_of(X("1", 1, "work", 0, 9, "") THREAD(1, 2, "Critical Path")
                 X("1", 2, "action", 0, 9, ""));
    assert_false(is_summary(1));
}

TEST_WITH(other_traces_stay_as_they_are, NULL, end)
{
    assert_string_equal(kinds_of(PROCESS(11, "GPU Process") PROCESS(2, "/device:CPU:0")
                                     X("11", 1, "a", 1, 5, "") X("11", 2, "b", 1, 5, "")),
                        "scope scope");
    assert_string_equal(kinds_of(KERNEL("k", 1, 2, 3) OP("aten::mm", 1, 1, 1, "")),
                        "kernel@cuda:0 operator");
}

UNIT_MAIN("device_lines")
