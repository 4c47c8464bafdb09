/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar.h"

#include <string.h>

#define N_OF(list) (sizeof(list) / sizeof *(list))
#define WORDS_MAX  12

/* The words of one program. */
struct program {
    const char *members;              /* of the file, each followed by a comma */
    const char *processes[WORDS_MAX]; /* names */
    const char *threads[WORDS_MAX];
    const char *pids[WORDS_MAX]; /* as JSON */
    const char *categories[WORDS_MAX];
    const char *names[WORDS_MAX];
    const char *keys[WORDS_MAX]; /* of arguments */
};

static const struct program programs[] = {
    {"'schemaVersion':1,'deviceProperties':[{'id':0,'name':'A100','totalGlobalMem':9,"
     "'numSms':108,'maxThreadsPerBlock':1024,'computeMajor':8,'computeMinor':0}],"
     "'distributedInfo':{'backend':'nccl','rank':1,'world_size':2},",
     {"python", "GPU 0", "python3"},
     {"thread 1 (python)", "stream 7 ", "main"},
     {"0", "1", "'Spans'", "'Traces'", "''", "'PyTorch Profiler'"},
     {"cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "user_annotation",
      "gpu_user_annotation", "ac2g", "fwdbwd", "python_function", "cpu_instant_event",
      "cuda_sync", "Trace"},
     {"aten::mm", "cudaLaunchKernel", "void gemm<float, 2>(int)", "ProfilerStep#1",
      "ncclDevKernel_AllReduce_Sum_f32", "[memory]", "Memcpy HtoD (Pageable -> Device)",
      "nn.Module: Linear_0", "PyTorch Profiler (0)", "cudaStreamSynchronize",
      "autograd::engine::evaluate_function: MmBackward0", "Optimizer.step#SGD.step"},
     {"External id", "correlation", "device", "stream", "Input Dims", "Fwd thread id",
      "Sequence number", "Bytes", "Addr", "Device Type", "Python id", "Python parent id"}},
    {"'schemaVersion':1,'distributedInfo':{'rank':0,'world_size':2,'pg_count':1},",
     {"python", "[TP00] 0", "[DP01] 1"},
     {"thread 7", "stream 20"},
     {"'[TP00] 0'", "'[DP01] 1'", "2"},
     {"kernel", "user_annotation", "cpu_op", "mtia_ccp_events", "hpu_op", "xpu_runtime",
      "privateuse1_driver", "overhead", "gpu_memset", "cuda_driver", "collective_comm",
      "async"},
     {"nccl:all_reduce", "record_param_comms", "cuEventRecord", "DMA_READ", "Iteration",
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "cudaEventSynchronize",
      "Context Sync", "Stream Wait Event", "Memset (Device)", "ProfilerStep#2", "aten::add_"},
     {"Collective name", "Group size", "Process Group Name", "Process Group Ranks", "dtype",
      "In msg nelems", "Out msg nelems", "Is asynchronous", "grid", "block", "Call stack",
      "Total Allocated"}},
    {"",
     {"CPU functions", "CUDA functions"},
     {"thread"},
     {"'CPU functions'", "'CUDA functions'"},
     {"", "cpu_to_cuda"},
     {"aten::mm", "MulBackward0", "mm", "gemm", "Memcpy HtoD"},
     {"device"}},
    {"'displayTimeUnit':'ns','metadata':{'highres-ticks':true},",
     {"/device:GPU:0", "/device:TPU:1", "/host:CPU", "host1 /device:TPU:0", "/device:CUSTOM:x"},
     {"XLA Ops", "XLA Modules", "Steps", "Stream #1(Kernel)", "Async XLA Ops",
      "Sparse Core Ops", "Host Offload Ops", "TensorFlow Ops"},
     {"1", "2", "701"},
     {""},
     {"fusion.1", "$a.py:3 f", "jit_f", "cuLaunchKernel", "copy.2", "12", "while.3", "step",
      "PjitFunction(f)", "all-reduce.1", "MemcpyD2H", "D2D copy"},
     {"correlation_id", "step_num", "run_id", "hlo_op", "long_name", "bytes_accessed"}},
    {"",
     {"/device:GPU:0/stream:13 Compute", "/gpu:0 (stream:all) Compute", "/gpu:0/memcpy",
      "/job:localhost/replica:0/task:0/device:GPU:0 Compute", "/host:CPU",
      "/device:GPU:0/stream:all Compute"},
     {""},
     {"1", "2", "3"},
     {"Op", "DataFlow"},
     {"MatMul", "Conv2D", "MEMCPYHtoD", "_SOURCE", "VariableV2"},
     {"name", "op", "input0"}},
    {"",
     {"Ascend Hardware", "Task Scheduler", "AI Core", "HCCL", "Communication", "CANN",
      "AscendCL", "Overlap Analysis", "Host CPU Op", "AI Core Op", "AI CPU Op", "MindSpore"},
     {"Stream 3", "Plane 0", "Step Trace(Model ID:1)", "Group 0 Communication", "Computing"},
     {"1", "2", "31008", "31104"},
     {"async_npu", "HostToDevice", "Iteration Time", "cpu_op", "enqueue", "async_task_queue"},
     {"MatMulV2", "hcom_allReduce__1", "EVENT_WAIT", "Notify_Wait", "Memcpy", "Default/net/x",
      "AscendCL@aclrtSynchronizeStream", "Free", "Iteration 1"},
     {"Task Type", "stream id", "Task Id", "Model Id", "Physic Stream Id"}},
    {"",
     {"GPU0", "2 GPU1", "GPU Barriers0", "COPY", "HIP API", "CPU HIP API", "0 CPU HSA API",
      "Markers and Ranges"},
     {"Hip 1", "Queue 0", "1"},
     {"0", "2", "6", "'gpu'"},
     {"DataFlow", "api_op", ""},
     {"hipLaunchKernel", "hipMemcpyAsync", "KernelExecution", "CopyDeviceToHost", "gemm.kd",
      "UserMarker", "hipDeviceSynchronize", "barrier"},
     {"desc", "dev-id", "queue-id", "BeginNs", "correlation"}},
    {"",
     {"Device 0", "Host"},
     {"Stream 7", "T"},
     {"'Device 0'", "'Device 1'", "'Host'"},
     {"cuda", "cuda_api", "nvtx"},
     {"gemm", "cudaMalloc", "cuLaunchKernel", "[CUDA memcpy HtoD]", "forward"},
     {"correlationId", "Device"}},
    {"'schemaVersion':'1.0.0','span_indx':'1',",
     {"Process 100 (CPU)", "Deivce 0 (GPU)"},
     {"Stream 7", "C++"},
     {"0", "100"},
     {"Operator", "OperatorInner", "CudaRuntime", "ProfileStep", "Dataloader", "Kernel",
      "Memcpy"},
     {"matmul[50.000 us]", "ProfileStep#1[1 ms]", "x[", "[1s]", "cudaLaunchKernel[5.1 us]"},
     {"correlation id", "grid", "block", "registers per thread"}},
    {"",
     {"HOST<n>", "DEVICE<n>0:29:0:0 #1", "RANK 3 DEVICE<n>0:29:0:0 #1.0", "RANK 3 HOST<n>"},
     {"Thread 1", "L0 Engine 0"},
     {"1", "2"},
     {"cpu_op", "gpu_op", "Flow_H2D_7_0", "Flow_D2H_7_0", "CL_Flow_H2D_1_0"},
     {"zeCommandListAppendMemoryCopy", "zeCommandListAppendLaunchKernel", "clEnqueueReadBuffer",
      "Tile #0: gemm", "zeEventHostSynchronize", "zeCommandListAppendBarrier", "urEnqueueX",
      "gemm[SIMD16 {1; 1; 1}]"},
     {"id"}},
    {"",
     {"x"},
     {"CPU Thread 1", "Graph: a", "Stream 0", "All Streams"},
     {"0", "1"},
     {"kernel", "scope", "triton"},
     {"gemm", "<captured_at>", "Line 3", "Post Final Time (ns)", "start_index", "end_index"},
     {"call_stack", "Init Time (ns)", "Frequency (MHz)", "start_index", "end_index"}},
    {"'otherData':{'build_id':'1'},'beginningOfTime':5,",
     {"clang", "Critical Path"},
     {"Critical Path", "Main Thread", "CrBrowserMain", "worker:1"},
     {"1", "0"},
     {"build phase marker", "blink", "cc", "toplevel", "task:execute", "function",
      "dynamo_timed", "disabled-by-default-x", "devtools.timeline"},
     {"Total ExecuteCompiler", "Source", "ExecuteCompiler", "NEGOTIATE_ALLREDUCE", "ALLREDUCE",
      "V8.Execute", "MPI_ALLREDUCE", "cat", "RunTask"},
     {"count", "avg ms", "detail", "data", "snapshot"}},
    {"'viztracer_metadata':{'version':'0'},'samples':[{'cpu':0,'tid':1,'ts':3,'sf':1}],"
     "'stackFrames':{'1':{'name':'v8','category':'js'}},",
     {"MainProcess", "Node 10.0.0.1"},
     {"MainThread"},
     {"1", "0"},
     {"FEE", "PERF", "hermes"},
     {"f (a.py:1)", "print"},
     {"func_args", "return_value"}},
    {"'opscope_version':'0.1.0','opscope_producer':'jax/xla','opscope_steps':[[0,0,5,3]],"
     "'opscope_steps_beside':[[0,5,2,3]],'baseTimeNanoseconds':1700000000000000000,",
     {"python", "cuda:0"},
     {"main", "queue"},
     {"1", "0"},
     {"scope", "module", "dataloader", "optimizer", "kernel", "cpu_op", "user_annotation"},
     {"a", "b", "ProfilerStep#3", "[memory]", "[out of memory]", "gemm"},
     {"sampled calls", "Storages", "Storages 2", "Parameters", "Optimizer state",
      "Parameters bytes", "Input Dims", "Input Strides", "Input type"}},
};

/* Arguments and names that analyses know, whoever writes them. */
static const char *const known_keys[] = {"id",
                                         "name",
                                         "labels",
                                         "sort_index",
                                         "External id",
                                         "external id",
                                         "occupancy",
                                         "blocks per SM",
                                         "est. achieved occupancy %",
                                         "shared memory",
                                         "bytes",
                                         "Ev Idx",
                                         "Record function id",
                                         "Device Id",
                                         "Total Reserved",
                                         "Python module id",
                                         "graph id",
                                         "Seq",
                                         "Module Hierarchy",
                                         "Concrete Inputs",
                                         "Input type"};
static const char *const odd_names[] = {"",        "unknown",   "\\u00e9\\ud83d\\ude00",
                                        "\\ud800", "a\\\"b",    "\xff",
                                        "\x01",    "0",         "null",
                                        "a;b\\nc", "__metadata"};
static const char *const abouts[] = {
    "process_name", "thread_name", "process_labels", "process_sort_index", "thread_sort_index",
    "process_name", "thread_name", "num_cpus",       "stackFrames",        ""};
static const char phases[] = "XXXXXXXXBBBBEEEEbbeenniIsstfMMMMCPNODSTpFRcvVQ(Z";

static const char *word_of(struct grammar *g, const char *const *words)
{
    uint32_t n = 0;

    while (n < WORDS_MAX && words[n])
        n++;
    return n > 0 ? words[grammar_below(g, n)] : "";
}

#define PICK(g, list) ((list)[grammar_below(g, (uint32_t)N_OF(list))])

/* The trace under construction. */
struct making {
    struct grammar g;
    struct osc_strbuf *out;
    const struct program *program;
};

/* Mostly the program of the trace. */
static const struct program *any_program(struct making *m)
{
    return grammar_once_in(&m->g, 12) ? &PICK(&m->g, programs) : m->program;
}

/* Append TEXT, in which ' stands for ". */
static void add(struct making *m, const char *text)
{
    for (; *text; text++)
        osc_strbuf_addc(m->out, *text == '\'' ? '"' : *text);
}

static void add_text(struct making *m, const char *text)
{
    osc_strbuf_addf(m->out, "\"%s\"",
                    grammar_once_in(&m->g, 40) ? PICK(&m->g, odd_names) : text);
}

static void add_number(struct making *m)
{
    static const char *const odd[] = {"-1",
                                      "0.5",
                                      "1e3",
                                      "1E400",
                                      "9223372036854775807",
                                      "-0",
                                      "18446744073709551616",
                                      "4294967296",
                                      "007",
                                      "1.",
                                      "65536",
                                      "123456789012345678901234567890",
                                      "-2147483649",
                                      "NaN"};

    if (grammar_once_in(&m->g, 6))
        osc_strbuf_adds(m->out, PICK(&m->g, odd));
    else
        osc_strbuf_addf(m->out, "%u", grammar_below(&m->g, 4));
}

static void add_id(struct making *m)
{
    static const char *const ids[] = {"1",
                                      "'1'",
                                      "'0x1'",
                                      "2",
                                      "'0x2'",
                                      "0",
                                      "''",
                                      "'x'",
                                      "18446744073709551615",
                                      "{'local':'0x1'}",
                                      "{'global':1}",
                                      "null",
                                      "1.5",
                                      "[1]"};

    add(m, grammar_once_in(&m->g, 3) ? PICK(&m->g, ids) : ids[grammar_below(&m->g, 4)]);
}

/* A time: mostly one of a few, so that ranges touch, nest and overlap. */
static void add_time(struct making *m)
{
    static const char *const odd[] = {
        "-5",    "1700000000000000.125", "1e18", "'7'", "null", "0.0005", "9e30",
        "-9e30", "4611686018427387.9",   "true", "[]",  ""};

    if (grammar_once_in(&m->g, 25))
        add(m, PICK(&m->g, odd));
    else
        osc_strbuf_addf(m->out, "%u%s", grammar_below(&m->g, 12),
                        grammar_once_in(&m->g, 5) ? ".500" : "");
}

static void add_value(struct making *m)
{
    static const char *const others[] = {
        "true",    "false",        "null",       "[]",
        "{}",      "[[2, 3], []]", "[[1], 'x']", "{'a':{'b':[1,2]}}",
        "[0,1]",   "''",           "'7'",        "'0x7'",
        "'float'", "['float','']", "[",          "]}"};

    switch (grammar_below(&m->g, 4)) {
    case 0:
        add_text(m, word_of(&m->g, any_program(m)->names));
        break;
    case 1:
        add(m, others[grammar_below(&m->g, grammar_once_in(&m->g, 60) ? N_OF(others)
                                                                      : N_OF(others) - 2)]);
        break;
    default:
        add_number(m);
        break;
    }
}

static void add_args(struct making *m)
{
    const uint32_t n = grammar_below(&m->g, 5);

    add(m, "{");
    for (uint32_t i = 0; i < n; i++) {
        const char *const key = grammar_once_in(&m->g, 4)
                                    ? PICK(&m->g, known_keys)
                                    : word_of(&m->g, any_program(m)->keys);

        osc_strbuf_addf(m->out, "%s\"%s\":", i > 0 ? "," : "", key);
        add_value(m);
    }
    add(m, "}");
}

/* The arguments of a record that says something about a process or thread. */
static void add_about(struct making *m, const char *what)
{
    const struct program *const p = any_program(m);

    if (strcmp(what, "thread_name") == 0) {
        add(m, "{'name':");
        add_text(m, word_of(&m->g, p->threads));
    } else if (strcmp(what, "process_labels") == 0) {
        add(m, grammar_once_in(&m->g, 2) ? "{'labels':'NPU 0'" : "{'labels':'GPU 1'");
    } else if (strstr(what, "sort_index")) {
        add(m, "{'sort_index':");
        add_number(m);
    } else {
        add(m, "{'name':");
        add_text(m, word_of(&m->g, p->processes));
    }
    add(m, "}");
}

enum member { PH, PID, TID, TS, DUR, NAME, CAT, ARGS, ID, MORE, N_MEMBERS };

/* A record's head, which its members go by. */
struct record {
    char phase;
    const char *about; /* or NULL */
};

static void add_name(struct making *m, const struct record *r)
{
    const struct program *const p = any_program(m);

    if (r->about)
        osc_strbuf_addf(m->out, "\"%s\"", r->about);
    else if (grammar_once_in(&m->g, 3))
        add_text(m, p->names[0]); /* of begins and ends */
    else
        add_text(m, word_of(&m->g, p->names));
}

static void add_more(struct making *m)
{
    static const char *const more[] = {"'bp':'e'",
                                       "'bp':'x'",
                                       "'s':'g'",
                                       "'s':'t'",
                                       "'scope':'a'",
                                       "'id2':{'local':'0x1'}",
                                       "'tts':3",
                                       "'tdur':1",
                                       "'cname':'good'",
                                       "'sf':1",
                                       "'stack':['a']",
                                       "'use_async':1",
                                       "'bind_id':'0x1','flow_out':true",
                                       "'ts':3",
                                       "'args':{}",
                                       "'name':'twice'"};

    add(m, PICK(&m->g, more));
}

static void add_member(struct making *m, const struct record *r, enum member member)
{
    static const char *const keys[N_MEMBERS] = {"ph",   "pid", "tid",  "ts", "dur",
                                                "name", "cat", "args", "id", ""};

    if (member != MORE)
        osc_strbuf_addf(m->out, "\"%s\":", keys[member]);
    if (member != MORE && member != PH && grammar_once_in(&m->g, 50)) {
        add_value(m); /* of any type */
        return;
    }
    switch (member) {
    case PH:
        osc_strbuf_addf(m->out, "\"%c\"", r->phase);
        break;
    case PID:
        add(m, word_of(&m->g, any_program(m)->pids));
        break;
    case TID:
        osc_strbuf_addf(m->out, grammar_once_in(&m->g, 4) ? "\"%u\"" : "%u",
                        grammar_below(&m->g, 3));
        break;
    case TS:
    case DUR:
        add_time(m);
        break;
    case NAME:
        add_name(m, r);
        break;
    case CAT:
        add_text(m, word_of(&m->g, any_program(m)->categories));
        break;
    case ARGS:
        if (r->about && !grammar_once_in(&m->g, 10))
            add_about(m, r->about);
        else
            add_args(m);
        break;
    case ID:
        add_id(m);
        break;
    case MORE:
    case N_MEMBERS:
        add_more(m);
        break;
    }
}

/* Whether records of PHASE usually have MEMBER. */
static bool has(char phase, enum member member)
{
    switch (member) {
    case DUR:
        return phase == 'X';
    case ID:
        return strchr("bensftSTFpNODP", phase) != NULL;
    case CAT:
        return phase != 'E' && phase != 'M';
    case TS:
        return phase != 'M';
    case MORE:
        return strchr("fistn", phase) != NULL;
    case PH:
    case PID:
    case TID:
    case NAME:
    case ARGS:
    case N_MEMBERS:
        break;
    }
    return true;
}

/* Append record number I. The first ones mostly name a process and a thread. */
static void add_record(struct making *m, uint32_t number)
{
    struct record r = {.phase = phases[grammar_below(&m->g, sizeof phases - 1)]};
    enum member order[N_MEMBERS];
    bool is_first = true;

    if (number < 2 && grammar_below(&m->g, 3) > number)
        r.phase = 'M';
    r.about = r.phase == 'M' ? PICK(&m->g, abouts) : NULL;
    if (number < 2 && r.about && !grammar_once_in(&m->g, 4))
        r.about = abouts[number];
    for (uint32_t i = 0; i < N_MEMBERS; i++)
        order[i] = (enum member)i;
    for (uint32_t i = N_MEMBERS - 1; i > 0 && m->g.state % 3 == 0; i--) {
        const uint32_t k = grammar_below(&m->g, i + 1);
        const enum member other = order[k];

        order[k] = order[i];
        order[i] = other;
    }
    add(m, "{");
    for (uint32_t i = 0; i < N_MEMBERS; i++) {
        const bool is_there = has(r.phase, order[i]) != grammar_once_in(&m->g, 16);

        if (!is_there)
            continue;
        add(m, is_first ? "" : ",");
        add_member(m, &r, order[i]);
        is_first = false;
    }
    add(m, "}");
}

void grammar_trace(struct osc_strbuf *out, uint64_t seed)
{
    struct making m = {.g = {seed * 2 + 1}, .out = out};

    for (int i = 0; i < 4; i++) /* seeds that follow each other are alike at first */
        (void)grammar_below(&m.g, 2);
    m.program = &PICK(&m.g, programs);
    const uint32_t n = 1 + grammar_below(&m.g, 12), form = grammar_below(&m.g, 12);

    if (form > 2)
        add(&m, "{");
    if (form > 3)
        add(&m, any_program(&m)->members);
    add(&m, form > 2 ? "'traceEvents':[" : "[");
    for (uint32_t i = 0; i < n; i++) {
        add(&m, i > 0 ? ",\n" : "");
        add_record(&m, i);
    }
    if (form > 0) /* 0: cut, as of programs that are killed */
        add(&m, "]");
    if (form == 11) {
        add(&m, ",");
        add(&m, any_program(&m)->members);
        add(&m, "'x':1");
    }
    if (form > 2)
        add(&m, "}");
    osc_strbuf_addc(out, '\n');
}
