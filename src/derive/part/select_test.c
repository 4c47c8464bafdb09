/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select.h"

#include "derive/derive.h"
#include "derive/part/view.h"
#include "support/small_trace.h"
#include "support/unit.h"

/* Rows: two steps, an operator and a launch on each of two threads, work, an orphan. */
static const char events[] = STEP(5, 0, 100) STEP(6, 100, 100) OP("a", 1, 10, 20, "")
    CALL(1, 12, 2, 1, "") OP("b", 2, 110, 20, "") CALL(2, 112, 2, 2, "") KERNEL("ka", 150, 9, 1)
        KERNEL("kb", 160, 9, 2) KERNEL("orphan", 20, 9, 77);

static struct osc_trace trace, base;

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    osc_trace_fini(&base);
    return 0;
}

/* Make TRACE a view of what is read from TEXT, its base. */
static osc_status view_of(const char *text, const struct osc_selection *s, struct osc_err *err)
{
    (void)end(NULL);
    assert_true(small_load(&base, text));
    assert_int_equal(osc_derive(&base, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    return osc_view_make(&trace, &base, s, 1, err);
}

/* The names of the rows of TEXT that stay, in order, separated by blanks. */
static void stay_of(const char *text, const struct osc_selection *s, const char *names)
{
    char got[256] = "";

    assert_int_equal(view_of(text, s, NULL), OSC_OK);
    for (uint32_t i = 0; i < small_chunk(&trace)->n_rows; i++) {
        const struct osc_str name = osc_row_name(&trace, small_chunk(&trace), i);

        strncat(got, i > 0 ? " " : "", sizeof got - strlen(got) - 1);
        strncat(got, name.s, name.len);
    }
    assert_string_equal(got, names);
    assert_int_equal(trace.events.n_rows, small_chunk(&trace)->n_rows);
    osc_trace_fini(&trace);
}

static void stay(const struct osc_selection *s, const char *names)
{
    stay_of(events, s, names);
}

TEST_WITH(a_thread_comes_with_the_device_work_that_it_launched, NULL, end)
{
    stay(&(struct osc_selection){.thread = "2"}, "b cudaLaunchKernel kb");
    stay(&(struct osc_selection){.process = "1", .thread = "1"},
         "ProfilerStep#5 ProfilerStep#6 a cudaLaunchKernel ka");
    stay(&(struct osc_selection){.process = "python", .thread = "2"}, "b cudaLaunchKernel kb");
}

TEST_WITH(a_thread_without_a_number_is_one, NULL, end)
{
    static const char text[] =
        OP("a", 1, 10, 20,
           "") "{'ph':'X','cat':'cpu_op','name':'b','pid':1,'tid':'','ts':10,'dur':20},";

    stay_of(text, &(struct osc_selection){.thread = ""}, "b");
}

TEST_WITH(steps_are_chosen_by_label_or_ordinal, NULL, end)
{
    stay(&(struct osc_selection){.steps = "5"}, "ProfilerStep#5 a cudaLaunchKernel ka");
    stay(&(struct osc_selection){.steps = "@1-@7"}, "ProfilerStep#6 b cudaLaunchKernel kb");
    stay(&(struct osc_selection){.steps = "5-6"},
         "ProfilerStep#5 ProfilerStep#6 a cudaLaunchKernel b cudaLaunchKernel ka kb");
}

TEST_WITH(an_annotation_goes_with_its_own_step, NULL, end)
{
    static const char steps[] =
        STEP(5, 0, 100) STEP(6, 10, 200) OP("a", 1, 20, 20, "") OP("b", 1, 110, 20, "")
            STEP(7, 150, 100) OP("c", 1, 160, 20, "") OP("d", 1, 220, 9, "");

    stay_of(steps, &(struct osc_selection){.steps = "5"}, "ProfilerStep#5 a");
    stay_of(steps, &(struct osc_selection){.steps = "6"}, "ProfilerStep#6 b c");
    stay_of(steps, &(struct osc_selection){.steps = "@2"}, "ProfilerStep#7 d");
}

TEST_WITH(the_copy_of_an_annotation_on_a_device_goes_with_it, NULL, end)
{
    static const char text[] = STEP(5, 0, 100) STEP(6, 100, 100)
        RANGE("user_annotation", "loss", 1, 10, 20, "'External id':7")
            RANGE("user_annotation", "loss", 2, 110, 20, "'External id':8")
                RANGE("gpu_user_annotation", "loss", 7, 105, 9, "'External id':7")
                    RANGE("gpu_user_annotation", "loss", 7, 120, 9, "'External id':8")
                        RANGE("gpu_user_annotation", "other", 7, 130, 9, "'External id':8");

    stay_of(text, &(struct osc_selection){.steps = "5"}, "ProfilerStep#5 loss loss");
    stay_of(text, &(struct osc_selection){.steps = "6"}, "ProfilerStep#6 loss loss");
    stay_of(text, &(struct osc_selection){.thread = "2"}, "loss loss");
}

#define LINE(what, pid, tid, name)                                                         \
    "{'ph':'M','name':'" what "_name','pid':" #pid ",'tid':" #tid ",'args':{'name':'" name \
    "'}},"
#define DRAWN(pid, tid, name, ts, dur, correlation)                                      \
    "{'ph':'X','pid':" #pid ",'tid':" #tid ",'name':'" name "','ts':" #ts ",'dur':" #dur \
    ",'args':{'correlation_id':'" correlation "'}},"

TEST_WITH(work_is_in_the_step_of_its_device_if_the_host_announced_none, NULL, end)
{
    static const char text[] =
        LINE("process", 7, 0, "/host:CPU") LINE("process", 11, 0, "/device:GPU:0")
            LINE("thread", 11, 4, "Steps") LINE("thread", 11, 14, "Stream #14(Kernel)")
                DRAWN(7, 1, "cuLaunchKernel", 12, 2, "1")
                    DRAWN(7, 2, "cuGraphLaunch", 14, 2, "2") DRAWN(11, 4, "5", 20, 80, "")
                        DRAWN(11, 4, "6", 100, 100, "") DRAWN(11, 14, "ka", 50, 9, "1")
                            DRAWN(11, 14, "kb", 150, 9, "2") DRAWN(11, 14, "alone", 160, 9, "")
                                DRAWN(11, 14, "late", 200, 9, "");

    stay_of(text, &(struct osc_selection){.steps = "5"}, "5 ka");
    stay_of(text, &(struct osc_selection){.steps = "@1"}, "6 kb alone");
    stay_of(text, &(struct osc_selection){.steps = "@1", .thread = "2"}, "kb");
    stay_of(text, &(struct osc_selection){.steps = "@1", .process = "11"}, "6 kb alone");
}

TEST_WITH(a_step_is_labelled_by_its_number_wherever_it_stands, NULL, end)
{
    static const char ascend[] = LINE("process", 11, 0, "Ascend Hardware")
        LINE("thread", 11, 9, "Step Trace(Model ID:2)")
            LINE("thread", 11, 3,
                 "Stream 3") "{'ph':'X','cat':'Iteration "
                             "Time','pid':11,'tid':9,'name':'Iteration 10','ts':0,"
                             "'dur':100},"
                             "{'ph':'X','cat':'Iteration "
                             "Time','pid':11,'tid':9,'name':'Iteration 11','ts':100,"
                             "'dur':100}," DRAWN(11, 3, "ka", 50, 9, "")
                                 DRAWN(11, 3, "kb", 150, 9, "");
    static const char xla[] = LINE(
        "process", 7, 0, "/host:CPU") "{'ph':'X','pid':7,'tid':1,'name':'train','ts':0,'dur':"
                                      "100,'args':{'step_num':'3'}},"
                                      "{'ph':'X','pid':7,'tid':1,'name':'train','ts':100,'dur':"
                                      "100,'args':{'step_num':4}}," DRAWN(7, 1, "a", 10, 5, "")
                                          DRAWN(7, 1, "b", 110, 5, "");

    stay_of(ascend, &(struct osc_selection){.steps = "11"}, "Iteration 11 kb");
    stay_of(xla, &(struct osc_selection){.steps = "3"}, "train a");
    stay_of(xla, &(struct osc_selection){.steps = "4-9"}, "train b");
}

TEST_WITH(a_queue_is_selected_with_its_steps, NULL, end)
{
    static const char text[] = STEP(5, 0, 100) STEP(6, 100, 100) CALL(1, 12, 2, 1, "")
        CALL(1, 112, 2, 2, "") KERNEL("ka", 50, 9, 1) KERNEL("kb", 150, 9, 2);

    stay_of(text, &(struct osc_selection){.thread = "7"}, "ka kb");
    stay_of(text, &(struct osc_selection){.thread = "7", .steps = "6"}, "kb");
}

TEST_WITH(a_line_that_repeats_a_queue_is_asked_with_it, NULL, end)
{
    static const char text[] =
        LINE("process", 2, 0, "Task Scheduler") LINE("process", 3, 0, "AI Core")
            LINE("process", 4, 0, "CANN") DRAWN(4, 1, "launch", 0, 5, "")
                DRAWN(2, 3, "task", 10, 5, "") DRAWN(3, 3, "operation", 10, 5, "");

    stay_of(text, &(struct osc_selection){.thread = "3"}, "task operation");
    stay_of(text, &(struct osc_selection){.process = "AI Core"}, "operation");
}

TEST_WITH(a_device_takes_nothing_from_the_host, NULL, end)
{
    stay(&(struct osc_selection){.device = "cuda:0", .has_from = true, .from_ns = 100000},
         "ProfilerStep#6 b cudaLaunchKernel ka kb");
}

TEST_WITH(a_device_has_the_word_of_the_program_too, NULL, end)
{
    static const char hip[] = RANGE("cuda_runtime", "hipLaunchKernel", 1, 12, 2,
                                    "'correlation':1") KERNEL("ka", 150, 9, 1);

    stay_of(hip, &(struct osc_selection){.device = "hip:0"}, "hipLaunchKernel ka");
    stay_of(hip, &(struct osc_selection){.device = "cuda:0"}, "hipLaunchKernel ka");
    assert_int_equal(view_of(hip, &(struct osc_selection){.device = "cuda:1"}, NULL),
                     OSC_EINVAL);
    assert_int_equal(view_of(hip, &(struct osc_selection){.device = "xpu:0"}, NULL),
                     OSC_EINVAL);
}

TEST_WITH(a_device_may_have_nothing_but_memory, NULL, end)
{
    static const char text[] = CALL(1, 12, 2, 1, "") KERNEL(
        "ka", 150, 9,
        1) "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,'tid':1,'ts':"
           "20,'args':{'Device Type':1,'Device Id':3,'Addr':1,'Bytes':8}},";
    struct osc_err err = {0};

    assert_int_equal(view_of(text, &(struct osc_selection){.device = "cuda:3"}, &err),
                     OSC_EINVAL);
    assert_non_null(strstr(err.message, "no work of 'cuda:3' in the trace, only memory"));
    assert_int_equal(view_of(text, &(struct osc_selection){.device = "cuda:4"}, &err),
                     OSC_EINVAL);
    assert_non_null(strstr(err.message, "there is no 'cuda:4'"));
}

TEST_WITH(times_go_by_starts_from_the_origin, NULL, end)
{
    stay(
        &(struct osc_selection){
            .has_from = true, .from_ns = 12000, .has_to = true, .to_ns = 100000},
        "cudaLaunchKernel orphan");
}

TEST_WITH(facts_are_made_anew, NULL, end)
{
    assert_int_equal(view_of(events, &(struct osc_selection){.steps = "6"}, NULL), OSC_OK);
    assert_int_equal(base.findings.by_code[OSC_FINDING_no_launch].count, 1);
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS, 1, NULL), OSC_OK);
    assert_int_equal(trace.n_steps, 1);
    assert_int_equal(small_chunk(&trace)->step[0], 1);
    assert_int_equal(small_number(small_chunk(&trace)->link[3]), 2);
    assert_int_equal(trace.findings.by_code[OSC_FINDING_no_launch].count, 0);
    assert_int_equal(trace.min_ts_ns, 100000);
}

TEST_WITH(what_is_left_out_is_not_missing, NULL, end)
{
    /* A launch, an operator and an allocation lie before what rests on them. */
    static const char text[] = OP("a", 1, 10, 200, "") CALL(1, 12, 2, 1, "")
        CALL(1, 90, 2, 2, "") KERNEL("k", 150, 9, 1) KERNEL("l", 160, 9, 2) MEMORY(1, 20, 100)
            MEMORY(1, 120, -100);
    static const enum osc_finding_code codes[] = {
        OSC_FINDING_no_launch, OSC_FINDING_no_operator, OSC_FINDING_unpaired_release};
    const struct osc_selection from = {.has_from = true, .from_ns = 75000};

    for (int is_cut = 0; is_cut < 2; is_cut++) {
        if (is_cut)
            assert_int_equal(view_of(text, &from, NULL), OSC_OK);
        else
            assert_true(small_load(&trace, text));
        assert_int_equal(osc_derive(&trace, OSC_FACT_LINKS | OSC_FACT_ALLOCATIONS, 1, NULL),
                         OSC_OK);
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            assert_int_equal(trace.findings.by_code[codes[i]].count, 0);
        assert_int_equal(trace.events.n_rows, is_cut ? 4 : 7);
        osc_trace_fini(&trace);
    }
}

TEST_WITH(steps_keep_their_ordinals, NULL, end)
{
    struct osc_trace again = {0};

    assert_int_equal(view_of(events, &(struct osc_selection){.steps = "6"}, NULL), OSC_OK);
    assert_int_equal(osc_derive(&trace, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(trace.n_steps, 1);
    assert_int_equal(trace.steps[0].ordinal, 1);
    /* What is selected can be selected from, by the same ordinals. */
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.steps = "@0"}, 1, NULL),
        OSC_EINVAL);
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.steps = "@1"}, 1, NULL), OSC_OK);
    assert_int_equal(again.events.n_rows, 4);
    osc_trace_fini(&again);

    /* Steps may have been left out while loading. */
    assert_int_equal(
        view_of(events, &(struct osc_selection){.steps = "@7", .n_steps_before = 6}, NULL),
        OSC_OK);
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS, 1, NULL), OSC_OK);
    assert_int_equal(trace.n_steps, 1);
    assert_int_equal(trace.steps[0].ordinal, 7);

    /* Without the annotations all that is left is one step. */
    assert_int_equal(view_of(events, &(struct osc_selection){.thread = "2"}, NULL), OSC_OK);
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS, 1, NULL), OSC_OK);
    assert_int_equal(trace.n_steps, 1);
    assert_int_equal(trace.steps[0].row.v, 0);
    assert_int_equal(trace.steps[0].ordinal, 0);
}

TEST_WITH(the_base_stays_as_it_is, NULL, end)
{
    static const char *const threads[] = {"1", "2"};
    struct osc_trace views[2] = {{0}};

    assert_true(small_load(&base, events));
    assert_int_equal(osc_derive(&base, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    for (int k = 0; k < 2; k++) {
        const struct osc_selection s = {.thread = threads[k]};

        assert_int_equal(osc_view_make(&views[k], &base, &s, 1, NULL), OSC_OK);
    }
    assert_int_equal(base.events.n_rows, 9);
    assert_int_equal(base.n_steps, 2);
    assert_int_equal(base.findings.by_code[OSC_FINDING_no_launch].count, 1);
    assert_int_equal(views[0].events.n_rows, 5);
    assert_int_equal(views[1].events.n_rows, 3);
    /* Nothing was copied that is the same for all. */
    assert_ptr_equal(views[0].forms, base.forms);
    assert_ptr_equal(views[0].strings.shards, base.strings.shards);
    assert_ptr_equal(views[1].events.chunks[1]->args, base.events.chunks[1]->args);
    osc_trace_fini(&views[0]);
    osc_trace_fini(&views[1]);
}

#define ARROW(ph, id, tid, ts)                                                               \
    "{'ph':'" ph "','cat':'fwdbwd','name':'a','id':" #id ",'pid':1,'tid':" #tid ",'ts':" #ts \
    "},"

/* The phases of the arrows that S leaves of two steps with an operator each. */
static void arrows_stay(const struct osc_selection *s, const char *phases)
{
    static const char arrows[] = STEP(5, 0, 100) STEP(6, 100, 100) OP("a", 1, 10, 20, "")
        OP("b", 1, 50, 20, "") OP("c", 2, 110, 20, "") ARROW("s", 1, 1, 10) ARROW("f", 1, 1, 50)
            ARROW("s", 2, 1, 15) ARROW("t", 2, 1, 60) ARROW("f", 2, 2, 110) ARROW("s", 3, 9, 20)
                ARROW("f", 4, 2, 129);
    char got[16] = "";

    assert_int_equal(view_of(arrows, s, NULL), OSC_OK);
    const struct osc_chunk *const c = trace.others.chunks[1];
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const char ph = trace.forms[c->form[i]].chrome_ph;

        if (ph != 'M')
            strncat(got, &ph, 1);
    }
    assert_string_equal(got, phases);
    assert_int_equal(trace.others.n_rows, c->n_rows);
    osc_trace_fini(&trace);
}

TEST_WITH(an_arrow_stays_whole_or_goes, NULL, end)
{
    arrows_stay(&(struct osc_selection){0}, "sfstfsf");
    arrows_stay(&(struct osc_selection){.process = "1"}, "sfstff");
    arrows_stay(&(struct osc_selection){.steps = "5"}, "sf");
    arrows_stay(&(struct osc_selection){.steps = "6"}, "f");
    arrows_stay(&(struct osc_selection){.steps = "5-6"}, "sfstff");
    arrows_stay(&(struct osc_selection){.thread = "1"}, "sf");
    arrows_stay(&(struct osc_selection){.has_to = true, .to_ns = 60000}, "sfs");
}

TEST_WITH(callers_come_along_if_asked_for, NULL, end)
{
    static const char frames[] = RANGE("python_function", "main", 1, 0, 300, "")
        RANGE("cpu_op", "outer", 1, 5, 290, "") RANGE("python", "counted", 1, 6, 280, "")
            RANGE("python_function", "nn.Module: A_0", 1, 7, 200, "") STEP(5, 10, 90)
                OP("a", 1, 20, 20, "") RANGE("python_function", "after", 1, 220, 10, "");
    const char *const names[] = {"ProfilerStep#5 a", "main nn.Module: A_0 ProfilerStep#5 a"};

    for (int with = 0; with < 2; with++) {
        char got[128] = "";

        const struct osc_selection s = {.steps = "5", .with_callers = with == 1};

        assert_int_equal(view_of(frames, &s, NULL), OSC_OK);
        for (uint32_t i = 0; i < small_chunk(&trace)->n_rows; i++) {
            const struct osc_str name = osc_row_name(&trace, small_chunk(&trace), i);

            strncat(got, i > 0 ? " " : "", sizeof got - strlen(got) - 1);
            strncat(got, name.s, name.len);
        }
        assert_string_equal(got, names[with]);
        osc_trace_fini(&trace);
    }
}

TEST(a_range_of_steps_is_told_from_others)
{
    assert_true(osc_select_is_steps("5"));
    assert_true(osc_select_is_steps("5-7"));
    assert_true(osc_select_is_steps("@0-@2"));
    assert_false(osc_select_is_steps("7-5"));
    assert_false(osc_select_is_steps("@0-2"));
    assert_false(osc_select_is_steps("5-7 "));
    assert_false(osc_select_is_steps(""));
}

TEST_WITH(what_is_not_there_is_told, NULL, end)
{
    static const struct osc_selection wrong[] = {
        {.process = "9"}, {.thread = "9"},   {.device = "xpu:1"}, {.steps = "9"},
        {.steps = "5-"},  {.steps = "@0-6"}, {.steps = "x"},      {.steps = "6-5"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct osc_err err = {0};

        assert_int_equal(view_of(events, &wrong[i], &err), OSC_EINVAL);
        assert_int_not_equal(err.message[0], '\0');
        assert_int_equal(trace.events.n_rows, 0);
        assert_int_equal(base.events.n_rows, 9);
    }
}

UNIT_MAIN("select")
