/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/idle.h"

#include "base/mem.h"
#include "support/advice_rows.h"

/* A step of 1000 us with kernels from 10 to 300 and from 700 on, the second launched from 650
 * to 660 us, and what the host does before. */
#define GAP(host)         \
    STEP(1, 0, 1000)      \
    CALL(1, 0, 10, 1, "") \
    host CALL(1, 650, 10, 2, "") KERNEL("k", 10, 290, 1) KERNEL("j", 700, 300, 2)

/* Assert that the row of CODE for GAP events has NS at stake; return the row. */
static int64_t assert_idle(const char *events, const char *code, int64_t ns)
{
    const int64_t row = row_of("", events, code, false);
    int64_t sum_ns = 0;

    assert_int_equal(cell_int(row, "impact_ns"), ns);
    for (uint64_t i = 0; i < result.n_rows; i++)
        sum_ns += osc_result_get_int(&result, i, column("impact_ns"));
    assert_true(sum_ns <= 410000); /* all that is idle, sold once */
    return row;
}

TEST_WITH(idle_time_goes_to_what_the_host_did, NULL, end)
{
    int64_t row;

    row = assert_idle(GAP(LOADER(310, 330)), "data_loading", 330000);
    assert_true(has_text(row, "text", "330 us of the 410 us in which cuda:0 has no work"));
    row = assert_idle(
        GAP(NOTE("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 310, 330)),
        "data_loading", 330000);
    assert_true(has_text(row, "text", "use more of them"));
    row = assert_idle(GAP(OP("aten::mm", 1, 310, 330, "")), "launch_bound", 350000);
    assert_true(has_text(row, "text", "above all before j"));
    row = assert_idle(GAP(RANGE("python_function", "a.py(1): f", 1, 310, 330, "")),
                      "python_idle", 330000);
    assert_true(has_text(row, "subject", "a.py(1): f"));
    row = assert_idle(GAP(RUNTIME("cudaMalloc", 310, 330, 9)), "allocator", 330000);
    assert_true(has_text(row, "subject", "cudaMalloc"));
    row = assert_idle(GAP(RANGE("overhead", "Buffer Flush", 5, 310, 330, "")),
                      "profiler_overhead", 330000);
    assert_true(has_text(row, "subject", "Buffer Flush"));
    row = assert_idle(GAP(NOTE("Optimizer.step#A.step", 310, 330)), "optimizer", 330000);
    assert_true(has_text(row, "text", "fused=True"));
    row = assert_idle(GAP(""), "unrecorded_idle", 350000);
    assert_true(has_text(row, "text", "above all before j"));
    assert_true(
        has_text(row, "evidence", "start_ns <= 700000 and start_ns + dur_ns >= 300000"));
    assert_int_equal(row_of("", GAP(""), "idle_device", false), -1);
    /* The plugin's rules are its own. */
    assert_int_equal(stake_tb("", GAP(""), "unrecorded_idle"), -1);
}

TEST_WITH(idle_time_has_one_cause, NULL, end)
{
    /* The loader before the call in it, the call before the operator around it. */
    assert_idle(GAP(LOADER(310, 330) RUNTIME("cudaMalloc", 400, 100, 9)), "data_loading",
                330000);
    assert_idle(GAP(OP("aten::mm", 1, 310, 330, "") RUNTIME("cudaMalloc", 400, 100, 9)),
                "launch_bound", 250000);
    /* What another thread does, which launches nothing, is no cause. */
    assert_idle(GAP(OP("aten::mm", 4, 310, 330, "")), "unrecorded_idle", 350000);
}

TEST_WITH(work_that_was_launched_already_does_not_wait_for_the_host, NULL, end)
{
#define LAUNCHED(host, at) \
    STEP(1, 0, 1000)       \
    CALL(1, 0, 5, 1, "")   \
    CALL(1, 20, 10, 2, "") \
    host KERNEL("k", 10, 290, 1) KERNEL("j", at, 300, 2) OP("aten::mm", 1, 290, 390, "")
    int64_t row;

    assert_int_equal(stake("", LAUNCHED("", 380), "handover"), 85000);
    assert_int_equal(stake("", LAUNCHED("", 380), "launch_bound"), -1);
    /* Longer than that it is no matter of launching. */
    assert_int_equal(stake("", LAUNCHED("", 700), "handover"), 105000);
    assert_int_equal(stake("", LAUNCHED("", 700), "late_start"), 300000);
    row = row_of("", LAUNCHED(RUNTIME("cudaStreamSynchronize", 40, 600, 9), 700),
                 "synchronization", false);
    assert_int_equal(cell_int(row, "impact_ns"), 240000); /* from 400 to 640 */
    assert_true(has_text(row, "text", "only waits along"));
}

TEST_WITH(a_single_long_call_is_named_with_its_caller, NULL, end)
{
#define LONG(name)   \
    STEP(1, 0, 5000) \
    OP("aten::mm", 1, 0, 3000, "") RUNTIME(name, 10, 2000, 1) KERNEL("k", 2010, 990, 1)
    const int64_t row = row_of("", LONG("cudaLaunchKernel"), "slow_call", false);

    assert_int_equal(cell_int(row, "impact_ns"), 2000000);
    assert_true(has_text(row, "text", "cudaLaunchKernel in aten::mm blocks the host for 2.00"));
    assert_true(has_text(row, "evidence", " --sort self_ns --where \"(name in ("));
    assert_true(has_text(row, "evidence", "is not null and dur_ns >= 1000000 and start_ns <"));
    /* A graph may be large. */
    assert_int_equal(stake("", LONG("cudaGraphLaunch"), "slow_call"), -1);
    assert_int_equal(stake("", LONG("cudaGraphLaunch"), "launch_bound"), 2010000);
}

TEST_WITH(names_in_the_evidence_are_no_words_of_the_shell, NULL, end)
{
    /* The tests write ' for a quotation mark, so that of SQL comes by its number. */
    int64_t row =
        row_of("",
               STEP(1, 0, 5000) OP("it\\u0027s \\u0022$A\\u0022 `b` \\u005c\\u000a", 1, 0, 3000,
                                   "") CALL(1, 3000, 5, 1, "") KERNEL("k", 3010, 990, 1),
               "slow_call", false);

    assert_true(
        has_text(row, "evidence",
                 "(name in ('it''s \\\"\\$A\\\" \\`b\\` \\\\' || char(10) || '')) and "));
    row = row_of("",
                 STEP(1, 0, 5000) OP("", 1, 0, 3000, "") CALL(1, 3000, 5, 1, "")
                     KERNEL("k", 3010, 990, 1),
                 "slow_call", false);
    assert_true(has_text(row, "evidence", "(name in ('')) and "));
}

TEST_WITH(set_up_and_compiling_are_such_calls, NULL, end)
{
#define SET_UP(name, dur) \
    STEP(1, 0, 900000)    \
    RUNTIME(name, 10, dur, 9) CALL(1, 390000, 5, 1, "") KERNEL("k", 390010, 990, 1)

    assert_int_equal(stake("", SET_UP("cudaFree", 99999), "slow_call"), -1);
    assert_int_equal(stake("", SET_UP("cudaFree", 99999), "allocator"), 99999000);
    assert_int_equal(stake("", SET_UP("cudaFree", 100000), "slow_call"), 100000000);
    assert_int_equal(stake("", SET_UP("cudaFree", 100000), "allocator"), -1);

#define COMPILED(dur) \
    STEP(1, 0, 2000) RUNTIME("aclopCompileAndExecute", 0, dur, 1) KERNEL("k", 180, 1820, 1)
    const int64_t row = row_of("", COMPILED(100), "slow_call", false);

    assert_int_equal(cell_int(row, "impact_ns"), 100000);
    assert_true(has_text(row, "text", "It compiles code for the device"));
    assert_true(has_text(row, "text", "ahead of time (torch.npu.set_compile_mode("));
    assert_true(
        has_text(row, "evidence",
                 "and (dur_ns >= 1000000 or name like '%Compile%' and dur_ns >= 100000)"));
    assert_int_equal(stake("", COMPILED(99), "slow_call"), -1);
}

TEST_WITH(after_the_last_work_nothing_is_named, NULL, end)
{
    const int64_t row = row_of("",
                               STEP(1, 0, 1000) OP("aten::mm", 1, 0, 10, "")
                                   CALL(1, 2, 5, 1, "") KERNEL("k", 200, 300, 1),
                               "unrecorded_idle", false);

    assert_int_equal(cell_int(row, "impact_ns"), 500000);
    assert_true(has_text(row, "text", ", above all after the last work (500 us)"));
}

TEST_WITH(threads_that_only_call_launch_for_others, NULL, end)
{
#define WORKER(more)                                                                     \
    "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':4,'ts':500," \
    "'dur':5,'args':{'correlation':1}}," more OP("aten::mm", 1, 0, 999, "")              \
        KERNEL("k", 510, 489, 1)

    assert_int_equal(stake("", WORKER(""), "launch_bound"), 505000);
    assert_int_equal(stake("", WORKER(OP("aten::mm", 4, 0, 100, "")), "launch_bound"), 105000);
}

TEST_WITH(files_that_events_were_taken_out_of_have_no_idle_time, NULL, end)
{
    struct osc_strbuf all = {0};

    for (int every = 1; every <= 3; every += 2) {
        osc_strbuf_clear(&all);
        osc_strbuf_adds(&all, STEP(1, 0, 1000) CALL(1, 500, 5, 1, "") KERNEL("k", 510, 490, 1));
        for (int i = 0; i < 100; i++)
            osc_strbuf_addf(&all,
                            "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,"
                            "'ts':%d,'dur':4,'args':{'External id':%d}},",
                            5 * i, i * every);
        osc_strbuf_addc(&all, '\0');
        assert_int_equal(all.status, OSC_OK);
        assert_int_equal(stake("", all.s, "launch_bound"), every == 1 ? 405000 : -1);
    }
    osc_strbuf_fini(&all);
}

TEST_WITH(after_the_recording_nothing_is_idle, NULL, end)
{
#define UNTIL(last)  \
    STEP(1, 0, 1000) \
    CALL(1, 0, 10, 1, "") KERNEL("k", 10, 290, 1) RANGE("Trace", "Profiler", 9, 0, last, "")

    assert_int_equal(stake("", UNTIL(1000), "unrecorded_idle"), 700000);
    assert_int_equal(stake("", UNTIL(400), "unrecorded_idle"), 100000);
    assert_int_equal(stake_tb("", UNTIL(400), "unrecorded_idle"), -1);
}

TEST_WITH(what_python_calls_launches_where_xla_compiled, NULL, end)
{
#define XLA                                                                                \
    "{'ph':'M','name':'process_name','pid':1,'args':{'name':'/host:CPU'}},"                \
    "{'ph':'M','name':'process_name','pid':2,'args':{'name':'/device:GPU:0'}},"            \
    "{'ph':'M','name':'thread_name','pid':2,'tid':1,'args':{'name':'Stream #1(Kernel)'}}," \
    "{'ph':'X','name':'k','pid':2,'tid':1,'ts':10,'dur':90,'args':{'hlo_op':'a'}},"        \
    "{'ph':'X','name':'k','pid':2,'tid':1,'ts':900,'dur':100,'args':{'hlo_op':'a'}},"
#define PLAIN(name, ts, dur) \
    "{'ph':'X','name':'" name "','pid':1,'tid':1,'ts':" #ts ",'dur':" #dur "},"
    /* A scope of the program, Python in it, and what Python calls. */
    const char *const events = XLA PLAIN("$main.py:1 main", 0, 1000) PLAIN("train", 100, 800)
        PLAIN("$api.py:1 call", 200, 500) PLAIN("Execute", 300, 300);

    assert_int_equal(stake("", events, "launch_bound"), 300000);
    assert_int_equal(stake("", events, "python_idle"), 500000);
    assert_int_equal(stake("", XLA PLAIN("ExecutorState::Process", 100, 700), "launch_bound"),
                     700000);
    assert_int_equal(stake("", XLA PLAIN("load", 100, 700), "launch_bound"), -1);
}

TEST_WITH(reading_a_value_waits, NULL, end)
{
#define READ(name)           \
    STEP(1, 0, 5000)         \
    OP(name, 1, 0, 2000, "") \
    RUNTIME("cudaLaunchKernel", 2005, 5, 1) KERNEL("k", 2010, 990, 1)

    assert_int_equal(stake("", READ("aten::item"), "synchronization"), 2000000);
    assert_int_equal(stake("", READ("aten::_local_scalar_dense"), "slow_call"), -1);
    assert_int_equal(stake("", READ("aten::items"), "slow_call"), 2000000);
}

/* The text of advice about N collectives of 50 us each in a step of 1000 us, with ARGS; HIDDEN
 * of them run beside a kernel. */
static struct osc_str say_traffic(int n, int hidden, const char *args)
{
    struct osc_strbuf all = {0};

    osc_strbuf_adds(&all, STEP(1, 0, 1000) OP("aten::mm", 1, 0, 5, "") CALL(1, 0, 4, 99, ""));
    for (int i = 0; i < n; i++)
        osc_strbuf_addf(
            &all,
            CALL(1, 10, 1, % d, "") "{'ph':'X','cat':'kernel','name':'ncclKernel','pid':0,"
                                    "'tid':9,'ts':%d,'dur':50,'args':{'device':0,'stream':9,"
                                    "'correlation':%d%s}},",
            i, 20 + 60 * i, i, args);
    osc_strbuf_addf(&all,
                    "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':20,'dur':%d,"
                    "'args':{'device':0,'stream':7,'correlation':99}},",
                    60 * hidden);
    osc_strbuf_addc(&all, '\0');
    assert_int_equal(all.status, OSC_OK);
    const int64_t row = row_of("", all.s, "communication", false);
    osc_strbuf_fini(&all);
    return cell_str(row, "text");
}

TEST_WITH(remedies_of_communication_fit_what_a_step_sends, NULL, end)
{
    struct osc_str text = say_traffic(1, 0, "");

    /* One collective is not too small; it can be split. */
    assert_true(osc_str_has(text, OSC_STR("; a step has 1 collective. Split what is sent")));
    assert_false(osc_str_has(text, OSC_STR("larger buckets")));
    assert_true(osc_str_has(text, OSC_STR("compressed or accumulated gradients")));
    text = say_traffic(4, 1, "");
    assert_true(osc_str_has(text, OSC_STR("a step has 4 collectives. Split")));
    text = say_traffic(5, 1, "");
    assert_true(osc_str_has(text, OSC_STR("collectives. Let it run beside computation")));
    assert_true(osc_str_has(text, OSC_STR("larger buckets, compressed")));
    /* What is hidden already need not run beside computation. */
    text = say_traffic(5, 3, "");
    assert_true(
        osc_str_has(text, OSC_STR(". 60 % of all communication is hidden already. Send")));
    assert_false(osc_str_has(text, OSC_STR("beside computation")));
    /* Values of 16 bits are compressed already. */
    for (unsigned i = 0; i < 2; i++) {
        text = say_traffic(5, 1, i == 0 ? ",'dtype':'BFloat16'" : ",'dtype':'Half'");
        assert_false(osc_str_has(text, OSC_STR("compressed")));
    }
    text = say_traffic(5, 1, ",'dtype':'Float'");
    assert_true(osc_str_has(text, OSC_STR("compressed")));
}

TEST_WITH(an_operator_that_waits_has_the_module_of_the_devices, NULL, end)
{
#define WAITS(call)  \
    STEP(1, 0, 5000) \
    OP("aten::item", 1, 0, 3000, "") RUNTIME(call, 3000, 5, 1) KERNEL("k", 3010, 990, 1)

    assert_true(has_text(row_of("", WAITS("cudaLaunchKernel"), "synchronization", false),
                         "text", " print() of tensors and torch.cuda.synchronize() in steps"));
    assert_true(has_text(row_of("", WAITS("aclrtLaunchKernel"), "synchronization", false),
                         "text", " print() of tensors and torch.npu.synchronize() in steps"));
}

TEST_WITH(recorded_functions_make_the_host_slower, NULL, end)
{
    const char *const clause = "Functions of the program were recorded";
    const char *const function = RANGE("python_function", "f", 1, 320, 290, "");
    char text[1 << 11];

    assert_false(
        has_text(row_of("", GAP(OP("aten::mm", 1, 310, 330, "")), "launch_bound", false),
                 "text", clause));
    assert_true(snprintf(text, sizeof text, "%s%s", function,
                         GAP(OP("aten::mm", 1, 310, 330, ""))) > 0);
    assert_true(has_text(row_of("", text, "launch_bound", false), "text", clause));
    assert_true(snprintf(text, sizeof text, "%s%s", function, GAP("")) > 0);
    assert_true(has_text(row_of("", text, "python_idle", false), "text", clause));
}

TEST_WITH(a_stretch_in_which_an_operator_runs_alone_is_such_a_call, NULL, end)
{
#define BARE(dur, inside)            \
    STEP(1, 0, 5000)                 \
    OP("aten::empty", 1, 0, dur, "") \
    inside RUNTIME("cudaLaunchKernel", 2005, 5, 1) KERNEL("k", 2010, 990, 1)
    int64_t row;

    assert_int_equal(stake("", BARE(2000, ""), "slow_call"), 2000000);
    assert_int_equal(stake("", BARE(999, ""), "slow_call"), -1);
    /* However long the calls in it are; what they do alone counts as theirs. */
    assert_int_equal(stake("", BARE(2000, RUNTIME("cudaMalloc", 500, 500, 9)), "slow_call"),
                     1000000);
    row = row_of("", BARE(2000, OP("aten::mm", 1, 1, 999, "")), "slow_call", false);
    assert_int_equal(cell_int(row, "impact_ns"), 1000000);
    assert_int_equal(cell_int(row, "count"), 1);
    /* Many short stretches are launching. */
    assert_int_equal(
        stake("", BARE(2000, OP("aten::a", 1, 600, 1, "") OP("aten::b", 1, 1200, 1, "")),
              "slow_call"),
        -1);
    /* Two of an operator are one row. */
    row = row_of("",
                 STEP(1, 0, 9000) OP("aten::empty", 1, 0, 4000, "")
                     OP("aten::a", 1, 1500, 900, "") CALL(1, 4005, 5, 1, "")
                         KERNEL("k", 4010, 990, 1),
                 "slow_call", false);
    assert_int_equal(cell_int(row, "impact_ns"), 3100000);
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "text", "aten::empty blocks the host for 3.10 ms of the"));
}

TEST_WITH(calls_that_wait_are_named_with_their_caller, NULL, end)
{
    int64_t row;

    row = assert_idle(
        GAP(OP("aten::item", 1, 305, 340, "") RUNTIME("cudaStreamSynchronize", 310, 330, 9)),
        "synchronization", 330000);
    assert_int_equal(cell_int(row, "count"), 1);
    assert_true(has_text(row, "subject", "cudaStreamSynchronize"));
    assert_true(has_text(row, "text",
                         "cudaStreamSynchronize in aten::item blocks the host for 330 us of "));
    assert_true(has_text(row, "text", " torch.cuda.synchronize() "));
    assert_true(has_text(row, "evidence", "(name in ('cudaStreamSynchronize')) and "));
    assert_true(has_text(row, "evidence", "start_ns < 1000000 and start_ns + dur_ns > 0"));
    row = row_of("",
                 STEP(1, 0, 1000) RUNTIME("hipLaunchKernel", 0, 10, 1)
                     RUNTIME("hipStreamSynchronize", 310, 205, 9)
                         RUNTIME("hipLaunchKernel", 550, 10, 2) KERNEL("k", 10, 290, 1)
                             KERNEL("j", 560, 440, 2),
                 "synchronization", false);
    assert_true(has_text(row, "text", " torch.cuda.synchronize() "));
    /* The host was done before the device was. */
    assert_int_equal(
        stake("", GAP(RUNTIME("cudaStreamSynchronize", 100, 190, 9)), "synchronization"), -1);
    /* A copy waits as well: its call is no launch that could be late. */
    row = row_of("",
                 STEP(1, 0, 1000) CALL(1, 0, 10, 1, "") RUNTIME("cudaMemcpyAsync", 310, 205, 3)
                     KERNEL("k", 10, 280, 1) COPY("Device -> Pageable", 500, 500, 3),
                 "synchronization", false);
    assert_int_equal(cell_int(row, "impact_ns"), 190000);
    assert_true(has_text(row, "evidence", "(Device -> Pageable)"));
}

TEST_WITH(what_is_not_recorded_is_named_by_what_the_program_marked, NULL, end)
{
#define BESIDE OP("aten::mm", 1, 20, 1, "")
    const char *const stack = "(with_stack=True or --torch=stack)", *const mark =
                                                                        "record_function()";
    int64_t row = assert_idle(GAP(BESIDE), "unrecorded_idle", 350000);

    assert_int_equal(cell_str(row, "grew").len, 0);
    assert_true(has_text(row, "text", stack) && has_text(row, "text", mark));
    /* The innermost one has the time; a step is none, and the rest is not marked. */
    row = assert_idle(
        GAP(BESIDE NOTE("## forward ##", 300, 300) NOTE("load at 0x7f10", 300, 200)),
        "unrecorded_idle", 350000);
    assert_true(has_text(row, "grew", "load"));
    assert_true(has_text(row, "text", "; for 200 us a thread is in load. Record Python"));
    assert_true(
        has_text(row, "text", ", or mark it with record_function(); 50.0 us of it are"));
    /* All of it is marked: no need to say how. */
    row = assert_idle(GAP(BESIDE NOTE("m", 250, 450)), "unrecorded_idle", 350000);
    assert_true(has_text(row, "text", stack));
    assert_false(has_text(row, "text", mark));
    /* What has less than a tenth of it is not worth a word; nor is that of another thread. */
    row = assert_idle(GAP(BESIDE NOTE("m", 310, 34)), "unrecorded_idle", 350000);
    assert_int_equal(cell_str(row, "grew").len, 0);
    row = assert_idle(GAP(BESIDE RANGE("user_annotation", "m", 4, 310, 300, "")),
                      "unrecorded_idle", 350000);
    assert_int_equal(cell_str(row, "grew").len, 0);
    /* The time of the recording is no mark of the program. */
    row = assert_idle(GAP(BESIDE RANGE("Trace", "PyTorch Profiler (0)", 1, 0, 1000, "")),
                      "unrecorded_idle", 350000);
    assert_int_equal(cell_str(row, "grew").len, 0);
    /* Functions were recorded, and none runs there. */
    row = assert_idle(GAP(BESIDE RANGE("python_function", "f", 1, 20, 9, "")),
                      "unrecorded_idle", 350000);
    assert_false(has_text(row, "text", stack));
    assert_true(
        has_text(row, "text", "none runs there: mark what does with record_function()."));
}

TEST_WITH(what_the_program_does_already_is_not_recommended, NULL, end)
{
    int64_t row = row_of("", GAP(OP("aten::mm", 1, 310, 330, "")), "launch_bound", false);

    assert_true(has_text(row, "text", "torch.compile, CUDA graphs, larger batches."));
    row = row_of("", GAP(OP("CompiledFxGraph x", 1, 310, 330, "")), "launch_bound", false);
    assert_true(has_text(row, "text", "Launch less often: CUDA graphs, larger batches."));
    row = row_of("", GAP(OP("aten::mm", 1, 310, 330, "") RUNTIME("cudaGraphLaunch", 5, 1, 8)),
                 "launch_bound", false);
    assert_false(has_text(row, "text", "CUDA graphs"));
    row = row_of("",
                 STEP(1, 0, 1000) OP("aten::mm", 1, 310, 330, "")
                     RUNTIME("hipLaunchKernel", 650, 10, 2) KERNEL("j", 700, 300, 2),
                 "launch_bound", false);
    assert_true(has_text(row, "text", "HIP graphs"));
    row = row_of(
        "",
        GAP(NOTE("Optimizer.step#A.step", 310, 330) OP("aten::_foreach_add_", 1, 320, 10, "")),
        "optimizer", false);
    assert_false(has_text(row, "text", "fused=True"));
}

TEST_WITH(launches_count_with_the_medians_of_kernels_and_calls, NULL, end)
{
    const int64_t row = row_of("",
                               STEP(1, 0, 100) CALL(1, 0, 10, 1, "") CALL(1, 30, 10, 2, "")
                                   CALL(1, 60, 10, 3, "") KERNEL("k", 10, 4, 1)
                                       KERNEL("k", 40, 9, 2) KERNEL("k", 70, 20, 3),
                               "launch_bound", false);

    assert_int_equal(cell_int(row, "impact_ns"), 30000);
    assert_int_equal(cell_int(row, "count"), 3);
    assert_true(has_text(row, "text", "at most 9.00 us"));
    assert_true(has_text(row, "text", "take 10.0 us or more"));
}

TEST_WITH(what_launches_is_shown_in_the_longest_gap_before_its_subject, NULL, end)
{
    /* k ends the longest gap, j two that are longer together. */
#define THREE_GAPS(host)                                                         \
    STEP(1, 0, 1000)                                                             \
    host CALL(1, 340, 10, 1, "") CALL(1, 590, 10, 2, "") CALL(1, 940, 10, 3, "") \
        KERNEL("k", 350, 50, 1) KERNEL("j", 600, 50, 2) KERNEL("j", 950, 50, 3)
    int64_t row = row_of("", THREE_GAPS(RUNTIME("cudaFuncGetAttributes", 0, 940, 9)),
                         "launch_bound", false);

    assert_true(has_text(row, "subject", "j"));
    assert_true(has_text(row, "evidence", "table events --sort self_ns --where"));
    assert_true(
        has_text(row, "evidence",
                 "\"kind in ('operator', 'communication', 'runtime', 'driver') and "
                 "dur_ns > 0 and start_ns <= 950000 and start_ns + dur_ns >= 650000\""));
    /* Calls that wait there are no evidence of launching; those elsewhere do not matter. */
    row = row_of("",
                 THREE_GAPS(RUNTIME("cudaFuncGetAttributes", 0, 940, 9)
                                RUNTIME("cudaStreamSynchronize", 700, 10, 8)
                                    RUNTIME("cudaEventSynchronize", 500, 10, 7)),
                 "launch_bound", false);
    assert_true(has_text(row, "evidence",
                         "'driver') and not name in ('cudaStreamSynchronize') and dur_ns > 0"));
}

TEST_WITH(launches_are_named_with_what_most_of_them_are_in, NULL, end)
{
#define IN(range) GAP(OP("aten::mm", 1, 310, 380, "") range OP("aten::copy_", 1, 645, 20, ""))
    int64_t row = row_of("", IN(NOTE("n", 305, 390) NOTE("m", 640, 30)), "launch_bound", false);

    assert_true(has_text(row, "text", "before aten::copy_ (") &&
                has_text(row, "text", " us, most of it in m)"));
    row = row_of(
        "", IN(RANGE("python_function", "nn.Module: A_0", 1, 640, 30, "'Python module id':1")),
        "launch_bound", false);
    assert_true(has_text(row, "grew", "nn.Module: A_0"));
    /* Else the outermost operator, unless it is the one that is named. */
    row = row_of("", IN(""), "launch_bound", false);
    assert_true(has_text(row, "grew", "aten::mm"));
    row = row_of("", GAP(OP("aten::mm", 1, 310, 380, "")), "launch_bound", false);
    assert_int_equal(cell_str(row, "grew").len, 0);
    /* Neither of two has more than half. */
    row = row_of("",
                 STEP(1, 0, 1000) NOTE("m", 0, 200) NOTE("n", 500, 200) CALL(1, 0, 100, 1, "")
                     CALL(1, 500, 100, 2, "") KERNEL("k", 100, 400, 1) KERNEL("k", 600, 400, 2),
                 "launch_bound", false);
    assert_true(has_text(row, "subject", "k"));
    assert_int_equal(cell_str(row, "grew").len, 0);
}

TEST_WITH(buffers_that_ddp_broadcasts_are_named, NULL, end)
{
#define IN_DDP \
    NOTE("DistributedDataParallel.forward", 305, 390) OP("aten::copy_", 1, 310, 380, "")
    const char *const remedy = "broadcast_buffers=False";

    assert_false(has_text(row_of("", GAP(IN_DDP), "launch_bound", false), "text", remedy));
    assert_false(
        has_text(row_of("", GAP(IN_DDP OP("aten::unflatten_dense_tensors", 1, 306, 1, "")),
                        "launch_bound", false),
                 "text", remedy));
    assert_true(has_text(row_of("",
                                GAP(IN_DDP OP("aten::unflatten_dense_tensors", 1, 306, 1, "")
                                        OP("c10d::broadcast_", 1, 308, 1, "")),
                                "launch_bound", false),
                         "text", remedy));
}

TEST_WITH(names_of_device_work_are_folded_in_sentences_alone, NULL, end)
{
#define BEFORE(host, kernel) \
    STEP(1, 0, 1000) host CALL(1, 650, 10, 2, "") KERNEL(kernel, 700, 300, 2)
    const char *const symbol = "void n::fill<4, n::Add<float> >(int, float*)";
    int64_t row = row_of("", BEFORE("", "void n::fill<4, n::Add<float> >(int, float*)"),
                         "unrecorded_idle", false);

    assert_true(has_text(row, "text", "above all before n::fill<...> ("));
    assert_true(osc_str_eq(cell_str(row, "subject"), osc_str_c(symbol)));
    row = row_of("", BEFORE("", "_ZN1n4fillIfEEvi"), "unrecorded_idle", false);
    assert_true(has_text(row, "text", "above all before n::fill<...> ("));
    assert_true(has_text(row, "subject", "_ZN1n4fillIfEEvi"));
    row = row_of("", BEFORE("", "_ZN1n20ncclKernel_AllReduceIfEEvi"), "communication", false);
    assert_true(has_text(row, "text", "above all n::ncclKernel_AllReduce<...> ("));
    /* An operator may be called like a function, and keeps its name. */
    row = row_of("", BEFORE(OP("void f<4>(int)", 1, 100, 600, ""), "void f<4>(int)"),
                 "launch_bound", false);
    assert_true(has_text(row, "text", "above all before void f<4>(int) ("));
}

TEST_WITH(names_that_read_alike_when_folded_differ_in_a_sentence, NULL, end)
{
    const int64_t row = row_of("", BEFORE(NOTE("n::fill<...>", 100, 600), "_ZN1n4fillIfEEvi"),
                               "unrecorded_idle", false);

    assert_true(has_text(row, "text", "before n::fill<...> n::fill<float> ("));
    assert_true(has_text(row, "text", "a thread is in n::fill<...>. "));
}

/* Fail the first allocation, then the second, ... until the work gets done. */
TEST_WITH(memory_that_runs_out_is_a_status, NULL, end)
{
    const struct osc_options o = {.n_traces = 1};
    osc_status st = OSC_ENOMEM;

    end(NULL);
    load("small", "",
         STEP(1, 0, 9000) NOTE("m", 0, 800) RANGE("python_function", "f", 1, 1000, 200, "")
             RUNTIME("cudaStreamSynchronize", 1300, 300, 9) OP("aten::mm", 1, 2000, 2000, "")
                 CALL(1, 850, 5, 1, "") KERNEL("k", 1700, 100, 1) CALL(1, 3990, 5, 2, "")
                     COPY("Device -> Device", 4000, 900, 2) OP("aten::b", 1, 5000, 900, "")
                         CALL(1, 5890, 5, 3, "") KERNEL("ncclKernel", 5900, 700, 3)
                             CALL(1, 7000, 5, 4, "")
                                 KERNEL("void j<float>(int)", 7005, 200, 4));
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
    assert_true(result.n_rows >= 5);
}

UNIT_MAIN("idle")
