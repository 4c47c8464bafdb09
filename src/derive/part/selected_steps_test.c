/* SPDX-License-Identifier: Apache-2.0 */
/* A selected step is as long as in the whole, and counts as it does there. */
#include "derive/part/selected_steps.h"

#include "base/mem.h"
#include "derive/facts.h"
#include "derive/part/select_window.h"
#include "derive/part/view.h"
#include "support/small_trace.h"
#include "support/unit.h"

/*
 * Steps [0,100), [100,200) and [200,300) whose work, three, two and one, ends at 150, 240 and
 * 260; the longest of the first is launched by thread 2. Work from before ends at 10.
 */
#define LAST_CALL CALL(1, 210, 2, 6, "")
static const char events[] =
    STEP(5, 0, 100) STEP(6, 100, 100) STEP(7, 200, 100) KERNEL("early", 0, 10, 99)
        CALL(1, 10, 2, 1, "") CALL(1, 20, 2, 2, "") CALL(2, 30, 2, 3, "") KERNEL("a", 20, 10, 1)
            KERNEL("b", 30, 75, 2) KERNEL("c", 110, 40, 3) CALL(1, 110, 2, 4, "")
                CALL(1, 120, 2, 5, "") OP("op", 1, 105, 20, "") KERNEL("d", 155, 5, 4)
                    KERNEL("e", 160, 80, 5) LAST_CALL KERNEL("f", 250, 10, 6);

static struct osc_trace trace, base;

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    osc_trace_fini(&base);
    return 0;
}

/* Make TRACE a view of BASE and return how its steps are measured. */
static const struct osc_breakdown *look(const struct osc_selection *s)
{
    osc_trace_fini(&trace);
    assert_int_equal(osc_derive(&base, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(osc_view_make(&trace, &base, s, 1, NULL), OSC_OK);
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    return &osc_trace_facts(&trace)->breakdown;
}

static const struct osc_breakdown *look_at(const char *steps)
{
    return look(&(struct osc_selection){.steps = steps});
}

static int start(void **state)
{
    (void)state;
    assert_true(small_load(&base, events));
    return 0;
}

/* Assert when step I begins and ends, in microseconds. */
static void lasts(const struct osc_breakdown *b, uint32_t i, int64_t start_us, int64_t end_us)
{
    assert_int_equal(b->steps[i].start_ns, start_us * 1000);
    assert_int_equal(b->steps[i].end_ns, end_us * 1000);
}

TEST_WITH(a_selected_step_is_as_long_as_in_the_whole, start, end)
{
    const struct osc_breakdown *b = look_at("6");

    assert_int_equal(b->n_steps, 1);
    lasts(b, 0, 150, 240);
    assert_true(b->steps[0].is_behind_device);
    assert_int_equal(b->steps[0].n_works, 2);
    lasts(look_at("5"), 0, 10, 150);
    b = look_at("6-7");
    lasts(b, 0, 150, 240);
    lasts(b, 1, 240, 300);
}

TEST_WITH(a_selection_drops_the_steps_that_the_whole_drops, start, end)
{
    const struct osc_breakdown *b = look_at("7");

    assert_true(b->steps[0].is_tail);
    assert_int_equal(b->n_kept, 0);
    b = look_at("5-6"); /* step 6 is the last one here, with less work */
    assert_false(b->steps[1].is_tail);
    assert_int_equal(b->n_kept, 2);
    b = look_at("6-7");
    assert_false(b->steps[0].is_tail);
    assert_true(b->steps[1].is_tail);
}

TEST_WITH(annotations_are_measured_alone_and_dropped_alike, start, end)
{
    struct osc_breakdown b;

    (void)look_at("6-7");
    assert_int_equal(
        osc_breakdown_make(&trace, &(struct osc_step_rules){.is_annotation = true}, 1, &b),
        OSC_OK);
    lasts(&b, 0, 100, 200);
    assert_false(b.steps[0].is_behind_device);
    assert_true(b.steps[1].is_tail);
    osc_breakdown_fini(&b);
}

/* Thread 1 launches two works in each of the first steps, the later one ends at 105. */
TEST_WITH(steps_are_measured_in_the_rest_of_the_selection, start, end)
{
    const struct osc_breakdown *b = look(&(struct osc_selection){.thread = "1"});

    lasts(b, 0, 0, 105);
    lasts(b, 1, 105, 240);
    b = look(&(struct osc_selection){.thread = "1", .steps = "6"});
    lasts(b, 0, 105, 240);
    b = look(&(struct osc_selection){.has_to = true, .to_ns = 200000, .steps = "6"});
    lasts(b, 0, 150, 240);
    assert_true(b->steps[0].is_tail); /* step 7 is left out, so this one is the last */
}

/* Of what a selection leaves, the last operator counts. */
TEST_WITH(empty_steps_are_found_in_the_rest_of_the_selection, NULL, end)
{
    assert_true(small_load(&base, STEP(5, 0, 100) STEP(6, 100, 100) OP("a", 1, 10, 80, "")
                                      OP("b", 2, 110, 20, "")));
    assert_false(look_at("6")->steps[0].is_empty);
    assert_true(look(&(struct osc_selection){.thread = "1", .steps = "6"})->steps[0].is_empty);
}

TEST_WITH(a_view_of_a_view_has_its_bounds, start, end)
{
    struct osc_trace again;

    (void)look_at("6-7");
    assert_int_equal(osc_derive(&trace, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.steps = "7"}, 1, NULL), OSC_OK);
    assert_int_equal(osc_derive(&again, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    lasts(&osc_trace_facts(&again)->breakdown, 0, 240, 300);
    assert_true(osc_trace_facts(&again)->breakdown.steps[0].is_tail);
    osc_trace_fini(&again);
    /* Whatever else is selected: what came before is not there to be measured again. */
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.process = "1"}, 1, NULL),
        OSC_OK);
    assert_int_equal(osc_derive(&again, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    lasts(&osc_trace_facts(&again)->breakdown, 0, 150, 240);
    lasts(&osc_trace_facts(&again)->breakdown, 1, 240, 300);
    osc_trace_fini(&again);
}

/* Assert that the time of selected steps divides as that of the same steps in BASE does, whose
 * first is step FIRST there. */
static void divides_alike(const struct osc_trace *part, uint32_t first,
                          const struct osc_step_rules *rules)
{
    struct osc_breakdown of_part, of_base;

    assert_int_equal(osc_derive(&base, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    assert_int_equal(osc_breakdown_make(part, rules, 1, &of_part), OSC_OK);
    assert_int_equal(osc_breakdown_make(&base, rules, 1, &of_base), OSC_OK);
    for (uint32_t i = 0; i < of_part.n_steps; i++) {
        for (unsigned k = 0; k < OSC_COST_COUNT; k++)
            assert_int_equal(of_part.steps[i].cost_ns[k], of_base.steps[first + i].cost_ns[k]);
    }
    osc_breakdown_fini(&of_part);
    osc_breakdown_fini(&of_base);
}

/* The operator and the calls of step 6 begin before the work of step 5 has ended. */
TEST_WITH(the_time_of_a_selected_step_divides_as_in_the_whole, start, end)
{
    static const struct osc_step_rules rules[] = {
        {0}, {.compat_tb = true}, {.is_annotation = true}, {.priority = "cpu_exec"}};
    static const char *const steps[] = {"5", "6", "7", "5-6", "6-7", "5-7"};
    const struct osc_breakdown *b = look_at("5");

    assert_int_equal(b->steps[0].cost_ns[OSC_CLASS_CPU_EXEC], 5000); /* [105, 110) of step 6 */
    assert_int_equal(b->gross_ns[OSC_CLASS_CPU_EXEC], 20000);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        (void)look_at(steps[i]);
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            divides_alike(&trace, (uint32_t)(steps[i][0] - '5'), &rules[k]);
    }
}

TEST_WITH(what_else_runs_is_not_in_the_selection, start, end)
{
    const struct osc_breakdown *b = look_at("5");

    assert_int_equal(trace.events.n_rows, 1 + 3 + 3); /* the step, calls, work */
    assert_int_equal(b->steps[0].n_works, 3);
    assert_int_equal(trace.n_bystanders > 0, 1);
    (void)look(&(struct osc_selection){.to_ns = 300000, .has_to = true});
    assert_int_equal(trace.n_bystanders, 0); /* no step was chosen */
}

/* What thread 1 does in step 6 begins when its part of step 5 has ended. */
TEST_WITH(what_else_runs_is_of_the_rest_of_the_selection, start, end)
{
    const struct osc_breakdown *b = look(&(struct osc_selection){.thread = "1", .steps = "5"});
    lasts(b, 0, 0, 105);
    assert_int_equal(b->gross_ns[OSC_CLASS_CPU_EXEC], 0);
    b = look(&(struct osc_selection){.to_ns = 110000, .has_to = true, .steps = "5"});
    assert_int_equal(b->gross_ns[OSC_CLASS_RUNTIME], 6000); /* three calls, none of step 6 */
}

/* Without the kernel, communication would be the collective of the host. */
TEST_WITH(what_is_communication_is_decided_in_the_whole, NULL, end)
{
    static const char text[] =
        STEP(5, 0, 100) STEP(6, 100, 100) OP("gloo:all_reduce", 1, 10, 20, "")
            CALL(1, 110, 2, 1, "") KERNEL("ncclDevKernel_AllReduce", 120, 10, 1);

    assert_true(small_load(&base, text));
    assert_int_equal(look_at("5")->steps[0].cost_ns[OSC_CLASS_COMMUNICATION], 0);
    assert_true(trace.has_comm_kernels);
    divides_alike(&trace, 0, &(struct osc_step_rules){0});
}

/* A file of steps tells what else ran; of which thread that was, it does not tell. */
TEST_WITH(what_a_trace_carries_counts_if_only_steps_are_chosen, start, end)
{
    struct osc_trace again;

    (void)look_at("5-6");
    assert_int_equal(osc_derive(&trace, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.steps = "5"}, 1, NULL), OSC_OK);
    assert_int_equal(osc_derive(&again, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    divides_alike(&again, 0, &(struct osc_step_rules){0});
    osc_trace_fini(&again);
    (void)look_at("5");
    assert_int_equal(osc_derive(&trace, OSC_FACT_VIEWS, 1, NULL), OSC_OK);
    assert_int_equal(
        osc_view_make(&again, &trace, &(struct osc_selection){.process = "1"}, 1, NULL),
        OSC_OK);
    assert_int_equal(again.n_bystanders, 0);
    osc_trace_fini(&again);
}

/* Bounds of other steps than those of the trace tell nothing. */
TEST_WITH(bounds_of_another_trace_are_not_used, start, end)
{
    const struct osc_step_bound other = {.host_ns = 7, .start_ns = 8, .end_ns = 9};

    base.step_bounds = osc_calloc(1, sizeof other);
    base.step_bounds[0] = other;
    base.n_step_bounds = 1;
    lasts(look_at("6"), 0, 150, 240);
}

/* Read TEXT by KEEP. */
static void read_part(struct osc_trace *t, const char *text, const struct osc_import_keep *keep)
{
    const struct osc_import_options o = {.n_threads = 1, .keep = *keep};
    char json[4096];
    uint32_t n = 0;

    json[n++] = '[';
    for (const char *p = text; *p && n + 2 < sizeof json; p++)
        json[n++] = *p;
    json[n - 1] = ']'; /* the last comma */
    for (char *p = memchr(json, '\'', n); p; p = memchr(p, '\'', n - (size_t)(p - json)))
        *p = '"';
    assert_int_equal(osc_import_memory(t, "t", (struct osc_str){json, n}, &o, NULL), OSC_OK);
}

static const struct osc_import_keep scout = {.is_on = true, .is_scout = true, .has_work = true};

TEST_WITH(a_part_that_is_read_keeps_the_bounds, NULL, end)
{
    const struct osc_selection s = {.steps = "6"};
    struct osc_select_window w;
    struct osc_trace first = {0};
    bool is_sure;

    read_part(&first, events, &scout);
    assert_int_equal(first.events.n_rows, 3 + 6 + 7); /* steps, calls, work */
    assert_int_equal(osc_select_find_window(&first, &s, &w, &is_sure, NULL), OSC_OK);
    assert_true(is_sure);
    assert_int_equal(w.n_steps_before, 1);
    assert_int_equal(w.from_ns, 100000);
    assert_int_equal(w.n_bounds, 3);
    assert_int_equal(w.bounds[1].start_ns, 150000);
    osc_trace_fini(&first);

    const struct osc_import_keep keep = {.is_on = true,
                                         .from_ns = w.from_ns,
                                         .host_to_ns = w.host_to_ns,
                                         .device_to_ns = w.device_to_ns};
    read_part(&base, events, &keep);
    base.step_bounds = w.bounds;
    base.n_step_bounds = w.n_bounds;
    const struct osc_breakdown *const b =
        look(&(struct osc_selection){.steps = "6", .n_steps_before = 1});
    lasts(b, 0, 150, 240);
    assert_false(b->steps[0].is_tail);
}

/* Step 6 lasts until 240; its annotation ends at 200, where the host goes on with step 7. */
TEST_WITH(a_part_that_is_read_has_what_else_runs_in_the_step, NULL, end)
{
    static const char text[] = STEP(5, 0, 100) STEP(6, 100, 100) STEP(7, 200, 100)
        KERNEL("foreign", 90, 20, 99) OP("before", 2, 80, 40, "") OP("op", 1, 210, 10, "")
            CALL(1, 110, 2, 1, "") KERNEL("a", 120, 120, 1) CALL(1, 225, 2, 2, "")
                KERNEL("b", 250, 5, 2) OP("late", 1, 260, 10, "");
    const struct osc_selection s = {.steps = "6", .n_steps_before = 1};
    struct osc_select_window w;
    struct osc_trace first = {0};
    bool is_sure;

    read_part(&first, text, &scout);
    assert_int_equal(osc_select_find_window(&first, &(struct osc_selection){.steps = "6"}, &w,
                                            &is_sure, NULL),
                     OSC_OK);
    assert_int_equal(w.host_to_ns, 240000);
    assert_false(w.has_comm_kernels);
    osc_trace_fini(&first);
    const struct osc_import_keep keep = {.is_on = true,
                                         .from_ns = w.from_ns,
                                         .host_to_ns = w.host_to_ns,
                                         .device_to_ns = w.device_to_ns};
    read_part(&base, text, &keep);
    base.step_bounds = w.bounds;
    base.n_step_bounds = w.n_bounds;
    (void)look(&s);
    osc_trace_fini(&base);
    assert_true(small_load(&base, text));
    divides_alike(&trace, 1, &(struct osc_step_rules){.priority = "cpu_exec,runtime"});
    assert_int_equal(osc_trace_facts(&trace)->breakdown.gross_ns[OSC_CLASS_KERNEL], 130000);
}

/* Whether BASE tells what is needed for S. */
static bool is_told(const struct osc_selection *s)
{
    struct osc_select_window w;
    bool is_sure;

    assert_int_equal(osc_select_find_window(&base, s, &w, &is_sure, NULL), OSC_OK);
    osc_select_window_fini(&w);
    return is_sure;
}

/* The end of the operator, which a first look leaves out, would end the step. */
TEST_WITH(nothing_is_left_out_if_ends_are_records, NULL, end)
{
    static const char text[] =
        "{'ph':'B','cat':'user_annotation','name':'ProfilerStep#5','pid':1,'tid':1,'ts':0},"
        "{'ph':'B','cat':'cpu_op','name':'op','pid':1,'tid':1,'ts':10},"
        "{'ph':'E','pid':1,'tid':1,'ts':20}," CALL(1, 30, 5, 1, "")
            KERNEL("k", 40, 90, 1) "{'ph':'E','pid':1,'tid':1,'ts':90}," STEP(6, 100, 90);

    read_part(&base, text, &scout);
    assert_false(is_told(&(struct osc_selection){.steps = "6"}));
}

/* Loading keeps every begin, since its end may be wanted: the steps are there, not before. */
TEST_WITH(steps_that_begin_by_a_record_are_not_counted_as_left_out, NULL, end)
{
    static const char text[] =
        "{'ph':'B','cat':'user_annotation','name':'ProfilerStep#5','pid':1,'tid':1,'ts':0},"
        "{'ph':'B','cat':'cpu_op','name':'op','pid':1,'tid':1,'ts':10},"
        "{'ph':'E','pid':1,'tid':1,'ts':20},{'ph':'E','pid':1,'tid':1,'ts':90}," STEP(
            6, 100, 90) STEP(7, 200, 90);
    const struct osc_selection s = {.has_from = true, .from_ns = 200000};
    static const struct osc_import_keep steps_alone = {.is_on = true, .is_scout = true};
    struct osc_select_window w;
    bool is_sure;

    read_part(&base, text, &steps_alone);
    assert_int_equal(osc_select_find_window(&base, &s, &w, &is_sure, NULL), OSC_OK);
    assert_true(is_sure);
    assert_int_equal(base.n_steps, 3);
    assert_int_equal(w.n_steps_before, 1);
    osc_select_window_fini(&w);
}

#define ARROW(ph, pid, tid, ts)                                                                \
    "{'ph':'" ph "','cat':'ac2g','name':'ac2g','id':4,'pid':" #pid ",'tid':" #tid ",'ts':" #ts \
    "},"

/* An arrow leads from an operator, which this first look leaves out, to work without an id. */
TEST_WITH(nothing_is_left_out_if_a_first_look_does_not_tell_all_launches, NULL, end)
{
    static const char text[] =
        STEP(5, 0, 100) STEP(6, 100, 100) OP("op", 1, 10, 20, "") ARROW("s", 1, 1, 12)
            ARROW("f", 0, 7,
                  50) "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':50,'dur':90},";

    read_part(&base, text, &scout);
    assert_false(is_told(&(struct osc_selection){.steps = "6"}));
    assert_false(is_told(&(struct osc_selection){.steps = "6", .thread = "1"}));
}

UNIT_MAIN("selected_steps")
