/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/breakdown.h"

#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"

static struct osc_trace trace;

static const struct osc_breakdown *load(const char *events)
{
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    return &osc_trace_facts(&trace)->breakdown;
}

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    return 0;
}

/* Costs of step I in microseconds, in order of the classes, other last. */
static void costs_are(const struct osc_breakdown *b, uint32_t i, const int64_t *us)
{
    int64_t sum_ns = 0;

    for (unsigned k = 0; k < OSC_COST_COUNT; k++) {
        assert_int_equal(b->steps[i].cost_ns[k], us[k] * 1000);
        sum_ns += b->steps[i].cost_ns[k];
    }
    assert_int_equal(sum_ns, b->steps[i].end_ns - b->steps[i].start_ns);
}

/* The example that src/table/rules.md gives under "Breakdown of a step". */
TEST_WITH(each_moment_goes_to_the_first_class_that_runs, NULL, end)
{
    const struct osc_breakdown *const b = load(STEP(1, 1, 6) OP("op", 1, 1, 2, "") KERNEL(
        "k", 2, 5, 1) WORK("gpu_memcpy", "Memcpy HtoD", 4, 2, 2, ""));
    costs_are(b, 0, (const int64_t[]){5, 0, 0, 0, 0, 0, 1, 0});
}

/* The plugin restarts from the whole step here. */
TEST_WITH(nothing_is_left_of_a_step_that_is_covered, NULL, end)
{
    const struct osc_breakdown *const b = load(
        STEP(1, 0, 100) OP("op", 1, 10, 30, "") CALL(1, 12, 5, 1, "") KERNEL("k", 0, 100, 1));
    costs_are(b, 0, (const int64_t[]){100, 0, 0, 0, 0, 0, 0, 0});
}

/* Annotations [0,100), [100,200) with kernels until 150 and 240. */
TEST_WITH(steps_last_until_their_device_work_is_done, NULL, end)
{
    const struct osc_breakdown *const b =
        load(STEP(1, 0, 100) STEP(2, 100, 100) CALL(1, 10, 5, 1, "") CALL(1, 110, 5, 2, "")
                 KERNEL("k", 50, 100, 1) KERNEL("k", 160, 80, 2));
    assert_int_equal(b->steps[0].end_ns, 150000);
    assert_int_equal(b->steps[1].start_ns, 150000);
    assert_int_equal(b->steps[1].end_ns, 240000);
    assert_int_equal(b->n_kept, 2);
}

TEST_WITH(earlier_device_work_delays_the_first_step, NULL, end)
{
    const struct osc_breakdown *const b = load(CALL(1, 0, 5, 9, "") KERNEL(
        "early", 5, 20, 9) STEP(1, 10, 90) CALL(1, 20, 5, 1, "") KERNEL("k", 30, 10, 1));
    assert_int_equal(b->steps[0].start_ns, 25000);
}

TEST_WITH(trailing_steps_without_device_work_are_not_kept, NULL, end)
{
    const struct osc_breakdown *const b =
        load(STEP(1, 0, 100) STEP(2, 100, 100) STEP(3, 200, 100) CALL(1, 10, 5, 1, "")
                 CALL(1, 20, 5, 2, "") CALL(1, 120, 5, 3, "") KERNEL("k", 30, 5, 1)
                     KERNEL("k", 40, 5, 2) KERNEL("k", 130, 5, 3));
    assert_true(b->steps[0].is_kept);
    assert_false(b->steps[1].is_kept); /* 0.8 * 2 > 1 */
    assert_false(b->steps[2].is_kept);
    assert_int_equal(b->window_end_ns, 100000);
}

TEST_WITH(copies_of_a_step_on_the_device_are_no_steps, NULL, end)
{
    const struct osc_breakdown *const b =
        load(STEP(7, 0, 100) WORK("gpu_user_annotation", "ProfilerStep#7", 10, 60, 0, ""));
    assert_int_equal(b->n_steps, 1);
    costs_are(b, 0, (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 100});
}

/* The plugin, which knows no iterations, counts them as the annotations that they are. */
TEST_WITH(iterations_are_annotations_of_the_plugin, NULL, end)
{
    const struct osc_breakdown *const b =
        load(RANGE("user_annotation", "request 0", 1, 0, 100, "") OP("op", 1, 10, 80, "")
                 RANGE("user_annotation", "request 1", 1, 110, 100, "")
                     RANGE("user_annotation", "request 2", 1, 220, 100, "")
                         OP("op", 1, 230, 80, ""));
    assert_int_equal(b->n_steps, 3);
    costs_are(b, 0, (const int64_t[]){0, 0, 0, 0, 0, 0, 80, 20});

    struct osc_breakdown tb = {0};
    assert_int_equal(
        osc_breakdown_make(&trace, &(struct osc_step_rules){.compat_tb = true}, 1, &tb),
        OSC_OK);
    assert_int_equal(tb.n_steps, 1);
    costs_are(&tb, 0, (const int64_t[]){0, 0, 0, 0, 0, 0, 280, 20});
    osc_breakdown_fini(&tb);
}

/* A collective's host range counts for a rank without device communication. */
TEST_WITH(host_collectives_count_only_without_device_communication, NULL, end)
{
    const struct osc_breakdown *b =
        load(STEP(1, 0, 100) RANGE("user_annotation", "gloo:all_reduce", 1, 10, 20, ""));
    costs_are(b, 0, (const int64_t[]){0, 0, 0, 20, 0, 0, 0, 80});
    osc_trace_fini(&trace);

    b = load(STEP(1, 0, 100) RANGE("user_annotation", "nccl:all_reduce", 1, 10, 20,
                                   "'External id':5") CALL(1, 12, 2, 1, ",'External id':5")
                 WORK("kernel", "ncclKernel_AllReduce", 50, 30, 1, ",'External id':5"));
    costs_are(b, 0, (const int64_t[]){0, 0, 0, 30, 2, 0, 18, 50});

    struct osc_breakdown tb = {0};
    assert_int_equal(
        osc_breakdown_make(&trace, &(struct osc_step_rules){.compat_tb = true}, 1, &tb),
        OSC_OK);
    costs_are(&tb, 0, (const int64_t[]){0, 0, 0, 50, 0, 0, 0, 50});
    osc_breakdown_fini(&tb);
}

/* Assert the costs, in microseconds, of the first step of the trace if PRIORITY is wanted. */
static void costs_with(const char *priority, const int64_t *us)
{
    struct osc_breakdown b = {0};

    assert_int_equal(
        osc_breakdown_make(&trace, &(struct osc_step_rules){.priority = priority}, 1, &b),
        OSC_OK);
    costs_are(&b, 0, us);
    osc_breakdown_fini(&b);
}

/* The example of "Breakdown of a step" again, by other priorities. */
TEST_WITH(the_priority_can_be_chosen, NULL, end)
{
    const struct osc_breakdown *const b = load(STEP(1, 1, 6) OP("op", 1, 1, 2, "") KERNEL(
        "k", 2, 5, 1) WORK("gpu_memcpy", "Memcpy HtoD", 4, 2, 2, ""));
    const int64_t gross_us[] = {5, 2, 0, 0, 0, 0, 2};

    costs_with("memcpy", (const int64_t[]){3, 2, 0, 0, 0, 0, 1, 0});
    costs_with("cpu_exec,memcpy", (const int64_t[]){2, 2, 0, 0, 0, 0, 2, 0});
    for (unsigned k = 0; k < OSC_CLASS_COUNT; k++)
        assert_int_equal(b->gross_ns[k], gross_us[k] * 1000);
}

TEST(a_priority_names_each_class_at_most_once)
{
    static const char *const wrong[] = {"memcpy,memcpy", "memcpy,", ",memcpy",
                                        "other",         "mem",     "kernel memcpy"};
    uint8_t order[OSC_CLASS_COUNT];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(osc_priority_parse(wrong[i], order));
    assert_true(osc_priority_parse("runtime,memcpy", order));
    assert_int_equal(order[0], OSC_CLASS_RUNTIME);
    assert_int_equal(order[1], OSC_CLASS_MEMCPY);
    assert_int_equal(order[2], OSC_CLASS_KERNEL);
    assert_int_equal(order[6], OSC_CLASS_CPU_EXEC);
}

/* The last step launched less than the one before it; its work ends after its annotation. */
TEST_WITH(steps_can_be_annotations_and_all_be_kept, NULL, end)
{
    struct osc_breakdown b = {0};

    (void)load(STEP(1, 0, 100) STEP(2, 100, 100) CALL(1, 10, 5, 1, "") CALL(1, 20, 5, 2, "")
                   CALL(1, 110, 5, 3, "") KERNEL("k", 30, 5, 1) KERNEL("k", 40, 5, 2)
                       KERNEL("k", 190, 30, 3));
    assert_false(osc_trace_facts(&trace)->breakdown.steps[1].is_kept);
    assert_int_equal(osc_trace_facts(&trace)->breakdown.steps[1].end_ns, 220000);
    assert_int_equal(
        osc_breakdown_make(
            &trace, &(struct osc_step_rules){.is_annotation = true, .keeps_all = true}, 1, &b),
        OSC_OK);
    assert_true(b.steps[1].is_kept && b.steps[1].is_tail);
    assert_int_equal(b.n_kept, 2);
    assert_int_equal(b.steps[1].end_ns, 200000);
    assert_int_equal(b.window_end_ns, 200000);
    costs_are(&b, 1, (const int64_t[]){10, 0, 0, 0, 5, 0, 0, 85});
    osc_breakdown_fini(&b);
}

/* The last call of step() begins a step that holds nothing. */
TEST_WITH(last_steps_without_operators_are_left_out, NULL, end)
{
    const struct osc_breakdown *b = load(STEP(1, 0, 100) STEP(2, 100, 100) STEP(3, 200, 5)
                                             OP("a", 1, 10, 80, "") OP("b", 1, 110, 90, ""));
    struct osc_breakdown of_plugin = {0};

    assert_true(b->steps[2].is_empty && !b->steps[2].is_kept);
    assert_int_equal(b->n_kept, 2);
    assert_int_equal(
        osc_breakdown_make(&trace, &(struct osc_step_rules){.compat_tb = true}, 1, &of_plugin),
        OSC_OK);
    assert_int_equal(of_plugin.n_kept, 3);
    osc_breakdown_fini(&of_plugin);
    osc_trace_fini(&trace);
    /* An operator of another thread runs on in it; no step holds an operator. */
    b = load(STEP(1, 0, 100) STEP(2, 100, 5) OP("a", 1, 10, 80, "") OP("b", 2, 50, 51, ""));
    assert_int_equal(b->n_kept, 2);
    osc_trace_fini(&trace);
    b = load(STEP(1, 10, 100) STEP(2, 110, 5) OP("a", 1, 0, 10, ""));
    assert_int_equal(b->n_kept, 2);
}

TEST_WITH(a_trace_without_steps_is_one_step_over_its_operators, NULL, end)
{
    const struct osc_breakdown *const b = load(
        RANGE("user_annotation", "far", 1, 0, 500, "") OP("a", 1, 100, 10, "")
            OP("b", 2, 200, 50, "") RANGE("python_function", "f", 1, 50, 400, "'Python id':1"));
    assert_int_equal(b->n_steps, 1);
    assert_int_equal(b->steps[0].start_ns, 100000);
    assert_int_equal(b->steps[0].end_ns, 250000);
    assert_int_equal(trace.steps[0].row.v, 0);
}

TEST_WITH(a_step_far_from_the_others_is_an_outlier, NULL, end)
{
    const struct osc_breakdown *const b =
        load(STEP(1, 0, 10) STEP(2, 10, 11) STEP(3, 21, 12) STEP(4, 33, 10) STEP(5, 43, 11)
                 STEP(6, 54, 12) STEP(7, 66, 11) STEP(8, 77, 90));

    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(b->steps[i].is_outlier, i == 7);
}

/* MAD is 1; 1,009 is beyond 8 MAD, but by less than a fifth. */
TEST_WITH(a_small_difference_is_no_outlier, NULL, end)
{
    const struct osc_breakdown *const b = load(
        STEP(1, 0, 1000) STEP(2, 1000, 1001) STEP(3, 2001, 1002) STEP(4, 3003, 1000)
            STEP(5, 4003, 1001) STEP(6, 5004, 1002) STEP(7, 6006, 1001) STEP(8, 7007, 1009));

    for (uint32_t i = 0; i < 8; i++)
        assert_false(b->steps[i].is_outlier);
}

TEST_WITH(among_equal_steps_a_fifth_is_far, NULL, end)
{
    const struct osc_breakdown *const b =
        load(STEP(1, 0, 100) STEP(2, 100, 100) STEP(3, 200, 100) STEP(4, 300, 100)
                 STEP(5, 400, 120) STEP(6, 520, 121) STEP(7, 641, 60) STEP(8, 701, 100));
    const bool are_outliers[] = {false, false, false, false, false, true, true, false};

    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(b->steps[i].is_outlier, are_outliers[i]);
}

/* Rows and work: see derive/steps.h. */
TEST_WITH(rows_belong_to_the_step_of_their_start_or_launch, NULL, end)
{
    (void)load(STEP(1, 0, 100) STEP(2, 100, 100) OP("a", 2, 50, 100, "") CALL(1, 90, 5, 1, "")
                   KERNEL("k", 150, 10, 1) OP("after", 1, 200, 1, ""));
    const struct osc_chunk *const c = small_chunk(&trace);
    assert_int_equal(c->step[0], 1);
    assert_int_equal(c->step[1], 2);
    assert_int_equal(c->step[2], 1);
    assert_int_equal(c->step[4], 1);
    assert_int_equal(c->step[5], 0);
    assert_true(osc_str_eq(osc_trace_str(&trace, trace.steps[1].label), OSC_STR("2")));
}

UNIT_MAIN("breakdown")
