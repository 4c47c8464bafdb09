/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/detect_producer.h"

#include "base/strbuf.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define M(what, name) "{'ph':'M','name':'" what "','pid':1,'tid':1,'args':{'name':'" name "'}}"
#define X(cat, name) \
    "{'ph':'X','cat':'" cat "','name':'" name "','pid':1,'tid':1,'ts':1,'dur':1}"
/* An operator of MindSpore's timeline. */
#define FULL                                                     \
    "{'ph':'X','name':'Mul-op1','pid':1,'tid':5,'ts':1,'dur':1," \
    "'args':{'type':'Mul','fullname':'Default/Mul-op1'}}"

/* What each producer writes, and the word for it. */
static const struct {
    const char *text, *word;
} cases[] = {
    {"[" X("cpu_op", "aten::mm") "]", "kineto"},
    {"{'schemaVersion':1,'traceEvents':[" X("Kernel", "k") "]}", "kineto"},
    {"{'deviceProperties':[],'traceEvents':[" X("", "k") "]}", "kineto"},
    /* Nothing that Kineto alone writes. */
    {"{'schemaVersion':1,'traceEvents':[" X("mine", "k") "]}", ""},
    {"[" X("kernel", "sched_switch") "]", ""},
    {"[{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':1,'dur':1,"
     "'args':{'device':0}}]",
     "kineto"},
    {"[{'ph':'X','cat':'kernel','name':'k','tid':7,'ts':1,'dur':1,"
     "'args':{'call_stack':['ROOT','k']}}]",
     "proton"},
    /* One word that others use, too. */
    {"[" X("task", "a") "]", ""},
    {"[" M("process_name", "CANNERY") "," X("", "hermes") "]", ""},
    {"[" M("process_name", "/opt/bin/app Compute") "," X("", "NEGOTIATE_x") "]", ""},
    {"[" X("task", "a") "," X("ipc", "b") "]", "chrome"},
    {"[{'ph':'X','name':'aten::mm','pid':'CPU functions','tid':1,'ts':1,'dur':1}]",
     "torch_legacy"},
    {"[" M("process_name", "Ascend Hardware") "," X("", "k") "]", "msprof"},
    {"[" M("process_name", "CANN") "," X("cpu_op", "aten::mm") "]", "torch_npu"},
    {"[" M("process_name", "Ascend Hardware") "," X("", "Default/network/Conv2D-op1") "]",
     "mindspore"},
    {"[" M("process_name", "/host:CPU") "," X("", "PjitFunction(f)") "]", "jax"},
    {"[" M("process_name", "/device:TPU:0") "," M("thread_name", "XLA Ops") "," X("", "k") "]",
     "xla"},
    {"[" M("process_name", "/device:GPU:0") "," M("thread_name",
                                                  "TensorFlow Ops") "," X("", "k") "]",
     "tensorflow"},
    {"[" M("process_name", "/device:TPU:0") "," M("thread_name", "TensorFlow Name Scope") "," X(
         "", "jit_step(123)") "]",
     "jax"},
    {"[" M("process_name", "/job:a/replica:0/task:0/cpu:0 Compute") "," X("Op", "Add") "]",
     "tensorflow"},
    {"[" M("process_name", "2 CPU HIP API") "," X("", "hipLaunchKernel") "]", "rocprof"},
    {"[{'ph':'X','cat':'cuda','name':'k','pid':'Device 0','tid':'Stream 7','ts':1,'dur':1}]",
     "nsys"},
    {"[" M("process_name", "RANK 3 HOST<n1>") "," X("cpu_op", "zeInit") "]", "unitrace"},
    {"[" M("process_name", "DEVICE<n1>0:29:0:0 #0") "," X("gpu_op", "gemm") "]", "unitrace"},
    {"[" M("process_name", "GHOST<n1>") "," X("cpu_op", "aten::mm") "]", "kineto"},
    {"[" M("process_name", "GPU0") "," M("thread_name", "Hip 7") "," X("", "k") "]", "rpd"},
    {"[" M("process_name", "GPU Process") "," X("", "k") "]", ""},
    {"[" M("process_name", "AI Core Op") "," X("", "Default/Conv2D-op1") "]", "mindspore"},
    {"[" M("process_name", "AI Core Op") "," X("", "k") "]", ""},
    {"[" X("", "stream_5_parallel_0") "," FULL "]", "mindspore"},
    {"[" X("", "stream_5_parallel_0") "]", ""},
    {"[" X("", "stream_of_parallel_0") "," FULL "]", ""},
    {"[{'ph':'X','cat':'gemm','name':'load','pid':'gemm Core1 CTA0','tid':'warp 0 (line 0)',"
     "'ts':1,'dur':1,'args':{'Init Time (ns)':1,'Post Final Time (ns)':2,'call_stack':[]}}]",
     "triton"},
    {"[" X("task:deserialize_arguments", "f") "]", "ray"},
    {"[" X("dynamo_timed", "compile") "]", "tlparse"},
    {"[{'ph':'X','cat':'Line 3','name':'Line 3','pid':0,'tid':0,'ts':1,'dur':1,'args':"
     "{'start_index':0,'end_index':1}}]",
     "triton"},
    {"{'viztracer_metadata':{},'traceEvents':[" X("fee", "f") "]}", "viztracer"},
    {"[" X("task:execute", "f") "]", "ray"},
    {"[" X("", "NEGOTIATE_ALLREDUCE") "]", "horovod"},
    {"{'otherData':{'build_id':'1'},'traceEvents':[" X("build phase marker", "a") "]}",
     "bazel"},
    {"[" X("", "Total ExecuteCompiler") "]", "clang"},
    {"{'beginningOfTime':5,'traceEvents':[" X("", "Source") "]}", "clang"},
    {"{'controllerTraceDataKey':'systraceController','traceEvents':[" X("", "a") "]}",
     "perfetto"},
    {"{'metadata':{'source':'DevTools'},'traceEvents':[" X("", "a") "]}", "chrome"},
    {"[" M("thread_name", "CrBrowserMain") "," X("", "a") "]", "chrome"},
    {"[" X("v8", "V8.Execute") "]", "v8"},
    {"{'otherData': {},'traceEvents':[" X("function", "main") "]}", "spall"},
    {"[" X("function", "main") "]", ""},
    {"{'opscope_version':'0.1.0','traceEvents':[" X("cpu_op", "aten::mm") "]}", "opscope"},
};

static enum osc_producer producer_of(const char *text)
{
    const struct osc_import_options options = {.n_threads = 1};
    struct osc_strbuf b = {0};
    struct osc_trace t = {0};

    osc_strbuf_adds(&b, text);
    for (size_t i = 0; i < b.len; i++)
        if (b.s[i] == '\'')
            b.s[i] = '"';
    assert_int_equal(
        osc_import_memory(&t, "clues", (struct osc_str){b.s, (uint32_t)b.len}, &options, NULL),
        OSC_OK);
    const enum osc_producer p = (enum osc_producer)t.producer;
    osc_trace_fini(&t);
    osc_strbuf_fini(&b);
    return p;
}

TEST(each_producer_is_told_by_what_it_alone_writes)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(osc_producer_text(producer_of(cases[i].text)), cases[i].word);
}

TEST(a_word_has_a_title)
{
    assert_string_equal(osc_producer_title_of(OSC_STR("jax")), "JAX/XLA");
    assert_string_equal(osc_producer_title_of(OSC_STR("")), "Chrome trace");
    assert_null(osc_producer_title_of(OSC_STR("nobody")));
    assert_string_equal(osc_dialect_text(osc_producer_dialect(OSC_PRODUCER_JAX)), "xla");
}

UNIT_MAIN("detect_producer")
