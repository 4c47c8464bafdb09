/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/split.h"

#include "analysis/advice/split_names.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/derive.h"
#include "derive/facts.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "table/table.h"

#define NOTE(name, ts, dur)  RANGE("user_annotation", name, 1, ts, dur, "")
#define FRAME(name, ts, dur) RANGE("python_function", name, 1, ts, dur, "")
#define DOUBLES              "'Input type':['double'],'Input Dims':[[2]]"

static struct osc_trace trace;
static struct osc_split split;
static struct osc_result result;

static int end(void **state)
{
    (void)state;
    osc_result_fini(&result);
    osc_split_fini(&split);
    osc_trace_fini(&trace);
    return 0;
}

/* Split the steps of EVENTS. */
static const struct osc_split_step *split_of(const char *events)
{
    end(NULL);
    assert_true(small_load(&trace, events));
    assert_int_equal(osc_derive(&trace, OSC_FACT_STEPS | OSC_FACT_UNIONS, 1, NULL), OSC_OK);
    assert_int_equal(osc_split_make(&trace, &osc_trace_facts(&trace)->breakdown, &split),
                     OSC_OK);
    return split.steps;
}

/* The times of S in microseconds, in the order of the causes. */
static void causes_are(const struct osc_split_step *s, const int64_t *us)
{
    for (unsigned k = 0; k < OSC_CAUSE_COUNT; k++)
        assert_int_equal(s->ns[k], us[k] * 1000);
}

static bool has_double(const char *types, const char *dims)
{
    return osc_split_has_double(osc_str_c(types), osc_str_c(dims));
}

TEST(a_tensor_of_doubles_has_dimensions)
{
    assert_true(has_double("[\"double\"]", "[[2, 3]]"));
    assert_true(has_double("[\"float\",\"double\"]", "[[2],[64]]"));
    assert_true(has_double("[\"TensorList\", \"double\"]", "[[[1,2],[3]], [4]]"));
    /* A number of the program is a double without dimensions. */
    assert_false(has_double("[\"float\",\"double\"]", "[[2],[]]"));
    assert_false(has_double("[\"double\"]", "[[ ]]"));
    assert_false(has_double("[\"double\"]", "[]"));
    assert_false(has_double("[\"c10::complex<double>\"]", "[[2]]"));
    assert_false(has_double("[\"\",\"\"]", "[[2],[\"double\"]]"));
    assert_false(has_double("\"double\"", "[[2]]"));
    assert_true(has_double("[\"a, \\\"b]\",\"double\"]", "[[2],[3]]"));
}

TEST(addresses_of_objects_tell_functions_apart_no_more)
{
    const struct osc_str name =
        osc_split_without_address(OSC_STR("<built-in method max of Tensor object at 0x7f51>"));

    assert_true(osc_str_eq(name, OSC_STR("<built-in method max of Tensor object")));
    assert_true(
        osc_str_eq(osc_split_without_address(OSC_STR("a.py(1): f")), OSC_STR("a.py(1): f")));
    assert_int_equal(osc_split_without_address(OSC_STR("")).len, 0);
}

/* communication, dataloader, optimizer, sync, copy, double, slow_conv, tiny, operator, python,
 * noted, other, slow */
TEST_WITH(a_moment_goes_to_the_first_cause_that_runs, NULL, end)
{
    const struct osc_split_step *s = split_of(
        STEP(1, 0, 1000) FRAME("a.py(1): f", 0, 900) OP("gloo:all_reduce", 2, 0, 10, "")
            NOTE("enumerate(DataLoader)#_X.__next__", 10, 40) OP("aten::stack", 1, 20, 20, "")
                NOTE("Optimizer.step#SGD.step", 50, 100) OP("aten::add_", 1, 60, 30, "")
                    OP("aten::item", 1, 100, 10, "") OP("aten::item", 1, 200, 20, "")
                        OP("aten::mm", 1, 300, 200, DOUBLES) OP("aten::copy_", 1, 310, 30, "")
                            OP("aten::mm", 1, 600, 100, "") OP("aten::clone", 1, 610, 30, "")
                                OP("aten::copy_", 1, 620, 10, ""));

    causes_are(s, (const int64_t[]){10, 40, 100, 20, 60, 170, 0, 0, 70, 430, 0, 100, 0});
    assert_int_equal(s->n_operators, 3);
    assert_int_equal(s->n_syncs, 1);
    assert_int_equal(s->n_copies, 2);
    assert_int_equal(s->n_doubles, 1);
    assert_int_equal(s->n_in_optimizer, 2);
    assert_int_equal(s->longest_ns, 430000);
}

TEST_WITH(what_the_program_marked_is_recorded_but_for_steps, NULL, end)
{
    const struct osc_split_step *s = split_of(STEP(1, 0, 100) NOTE("## backward ##", 10, 60) OP(
        "aten::mm", 1, 20, 10, "") FRAME("a.py(1): f", 40, 20));

    causes_are(s, (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 10, 20, 30, 40, 0});
}

TEST_WITH(what_overlaps_in_part_counts_once, NULL, end)
{
    /* The second one ends after the first; other threads do not count. */
    const struct osc_split_step *s = split_of(STEP(1, 0, 100) OP("aten::mm", 1, 10, 20, "") OP(
        "aten::clone", 1, 20, 20, "") OP("aten::mm", 2, 0, 100, ""));

    causes_are(s, (const int64_t[]){0, 0, 0, 0, 20, 0, 0, 0, 10, 0, 0, 70, 0});
    /* A step in another one, and a range that began before both. */
    s = split_of(FRAME("a.py(1): f", 0, 500) STEP(1, 100, 100) STEP(2, 150, 20)
                     STEP(3, 180, 40));
    causes_are(&s[0], (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0});
    causes_are(&s[1], (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    causes_are(&s[2], (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0});
    assert_int_equal(s[0].n_frames, 0);
}

/* N operators of DUR us, each GAP us after the one before, in a step of 10 ms. */
static const struct osc_split_step *loop(int n, int dur, int gap)
{
    struct osc_strbuf text = {0};

    osc_strbuf_adds(&text, STEP(1, 0, 10000));
    for (int k = 0; k < n; k++)
        osc_strbuf_addf(&text,
                        "{'ph':'X','cat':'cpu_op','name':'aten::abs','pid':1,'tid':1,'ts':%d,"
                        "'dur':%d,'args':{}},",
                        10 + k * (dur + gap), dur);
    assert_int_equal(text.status, OSC_OK);
    const struct osc_split_step *const s = split_of(text.s);
    osc_strbuf_fini(&text);
    return s;
}

TEST_WITH(short_operators_of_one_name_are_tiny_with_the_time_between, NULL, end)
{
    const struct osc_split_step *s = loop(32, 10, 50);

    assert_int_equal(s->ns[OSC_CAUSE_TINY], 32 * 10000 + 31 * 50000);
    assert_int_equal(s->n_tiny, 32);
    s = loop(32, 10, 51);
    assert_int_equal(s->ns[OSC_CAUSE_TINY], 32 * 10000);
    s = loop(31, 10, 50);
    assert_int_equal(s->ns[OSC_CAUSE_TINY], 0);
    assert_int_equal(s->ns[OSC_CAUSE_OPERATOR], 31 * 10000);
    assert_int_equal(loop(32, 50, 1)->ns[OSC_CAUSE_TINY], 0);
}

TEST_WITH(a_loop_is_a_turn_of_names_that_comes_again_and_again, NULL, end)
{
    static const char *const turn[] = {"aten::select", "aten::abs", "aten::max", "aten::item",
                                       "aten::gt"};

    for (int n = 39; n <= 40; n++) {
        struct osc_strbuf text = {0};

        osc_strbuf_adds(&text, STEP(1, 0, 10000) OP("aten::mm", 1, 0, 1, ""));
        for (int k = 0; k < n; k++)
            osc_strbuf_addf(&text,
                            "{'ph':'X','cat':'cpu_op','name':'%s','pid':1,'tid':1,'ts':%d,"
                            "'dur':10,'args':{}},",
                            turn[k % 5], 10 + 10 * k);
        assert_int_equal(text.status, OSC_OK);
        const struct osc_split_step *const s = split_of(text.s);
        osc_strbuf_fini(&text);
        assert_int_equal(s->n_tiny, n == 40 ? 40 : 0);
        assert_int_equal(s->n_in_loops, n == 40 ? 8 : 0);
        assert_int_equal(s->ns[OSC_CAUSE_SYNC], n / 5 * 10000 + (n % 5 > 3) * 10000);
    }
}

TEST_WITH(copies_of_copies_count_whatever_views_lie_between, NULL, end)
{
    const struct osc_split_step *s =
        split_of(STEP(1, 0, 100) OP("aten::clone", 1, 1, 1, "") OP("aten::view", 1, 3, 1, "")
                     OP("aten::contiguous", 1, 5, 1, "") OP("aten::mm", 1, 7, 1, "")
                         OP("aten::clone", 1, 9, 1, "") STEP(2, 200, 100)
                             OP("aten::clone", 1, 201, 1, ""));

    assert_int_equal(s[0].n_chained, 1);
    assert_int_equal(s[1].n_chained, 0);
}

TEST_WITH(a_trace_without_steps_is_split_by_its_busiest_thread, NULL, end)
{
    const struct osc_split_step *const s = split_of(OP("aten::mm", 1, 0, 10, "") OP(
        "aten::copy_", 2, 10, 50, "") OP("aten::mm", 1, 90, 10, ""));

    causes_are(s, (const int64_t[]){0, 0, 0, 0, 50, 0, 0, 0, 0, 0, 0, 50, 0});
}

TEST_WITH(what_a_slow_step_takes_longer_is_no_cause_of_its_own, NULL, end)
{
    struct osc_strbuf text = {0};

    for (int k = 0; k < 9; k++)
        osc_strbuf_addf(&text,
                        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%d','pid':1,"
                        "'tid':1,'ts':%d,'dur':%d,'args':{}},"
                        "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,'ts':%d,"
                        "'dur':%d,'args':{}},",
                        k, k * 1000, k == 8 ? 400 : 100, k * 1000, k == 8 ? 200 : 50);
    assert_int_equal(text.status, OSC_OK);
    const struct osc_split_step *const s = split_of(text.s);
    osc_strbuf_fini(&text);
    causes_are(&s[0], (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 50, 0});
    causes_are(&s[8], (const int64_t[]){0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 50, 300});
}

/* --- random traces ----------------------------------------------------------- */

static uint32_t state_of_random;

static unsigned below(unsigned n)
{
    state_of_random = state_of_random * 1664525u + 1013904223u;
    return (state_of_random >> 16) % n;
}

static void add_random(struct osc_strbuf *out, unsigned at)
{
    static const char *const what[][2] = {
        {"cpu_op", "aten::mm"},
        {"cpu_op", "aten::item"},
        {"cpu_op", "aten::clone"},
        {"cpu_op", "aten::abs"},
        {"cpu_op", "aten::contiguous"},
        {"python_function", "a.py(1): f"},
        {"cpu_op", "gloo:all_reduce"},
        {"user_annotation", "Optimizer.step#SGD.step"},
        {"cpu_op", "aten::copy_"},
        {"user_annotation", "enumerate(DataLoader)#_X.__next__"},
        {"user_annotation", "ProfilerStep#9"},
    };
    const unsigned k = below(40) == 0 ? 10 : below(10);

    osc_strbuf_addf(out,
                    "{'ph':'X','cat':'%s','name':'%s','pid':1,'tid':%u,'ts':%u,'dur':%u,"
                    "'args':{%s}},",
                    what[k][0], what[k][1], 1 + (below(9) == 0), at,
                    below(5) == 0 ? below(300) : below(12), below(4) == 0 ? DOUBLES : "");
}

TEST_WITH(causes_and_advice_never_exceed_the_steps, NULL, end)
{
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct osc_strbuf text = {0};
        const struct osc_options o = {.n_traces = 1};
        int64_t total_ns = 0, impact_ns = 0;

        state_of_random = seed;
        const unsigned n_steps = 1 + below(10);
        for (unsigned k = 0; k < n_steps; k++)
            osc_strbuf_addf(
                &text,
                "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%u','pid':1,"
                "'tid':1,'ts':%u,'dur':%u,'args':{}},",
                k, 1000 * k, below(3) == 0 ? 900 : 400);
        for (unsigned k = 0; k < 300; k++)
            add_random(&text, below(1000 * n_steps));
        assert_int_equal(text.status, OSC_OK);
        (void)split_of(text.s);
        osc_strbuf_fini(&text);
        const struct osc_breakdown *const b = &osc_trace_facts(&trace)->breakdown;
        for (uint32_t i = 0; i < b->n_steps; i++) {
            const int64_t length_ns = b->steps[i].end_ns - b->steps[i].start_ns;
            int64_t sum_ns = 0;

            for (unsigned k = 0; k < OSC_CAUSE_COUNT; k++) {
                assert_true(split.steps[i].ns[k] >= 0);
                sum_ns += split.steps[i].ns[k];
            }
            assert_true(sum_ns <= length_ns);
            total_ns += length_ns;
        }
        assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_advice), 1, NULL),
                         OSC_OK);
        osc_result_init(&result, &osc_table_advice);
        assert_int_equal(osc_table_advice.mapping->map(&trace, &o, &result, NULL), OSC_OK);
        for (uint64_t i = 0; i < result.n_rows; i++)
            impact_ns += osc_result_get_int(&result, i, osc_column_advice_impact_ns);
        assert_true(impact_ns <= total_ns);
    }
}

/* --- memory ---------------------------------------------------------------- */

static uint32_t column(const char *name)
{
    const int i = osc_table_column(&osc_table_advice, name);

    assert_true(i >= 0);
    return (uint32_t)i;
}

static bool has_text(int64_t row, const char *name, const char *part)
{
    return osc_str_has(osc_result_get_str(&result, (uint64_t)row, column(name)),
                       osc_str_c(part));
}

/* Make the advice for the events in TEXT, which is freed. */
static void advise(struct osc_strbuf *text)
{
    const struct osc_options o = {.n_traces = 1};

    assert_int_equal(text->status, OSC_OK);
    (void)split_of(text->s);
    osc_strbuf_fini(text);
    assert_int_equal(osc_derive(&trace, osc_table_facts(&osc_table_advice), 1, NULL), OSC_OK);
    osc_result_init(&result, &osc_table_advice);
    assert_int_equal(osc_table_advice.mapping->map(&trace, &o, &result, NULL), OSC_OK);
    assert_int_equal(osc_table_advice.mapping->finish(&result, &o, NULL), OSC_OK);
}

/* A memory record of PLACE, of BYTES at AT us. */
static void add_memory(struct osc_strbuf *out, int at, int place, int bytes)
{
    osc_strbuf_addf(out,
                    "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,"
                    "'tid':1,'ts':%d,'args':{'Device Type':0,'Device Id':-1,'Addr':%d,"
                    "'Bytes':%d}},",
                    at, place, bytes);
}

/* The row of memory_growth, or -1, for N steps that leave STAYS of 10,000 bytes; in the step
 * WITHOUT everything is released. PATH is an argument of their module. */
static int64_t growing(int n, int stays, int without, const char *path)
{
    struct osc_strbuf text = {0};

    for (int k = 0; k < n; k++) {
        osc_strbuf_addf(&text,
                        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%d','pid':1,"
                        "'tid':1,'ts':%d,'dur':10000,'args':{}},",
                        k, 10000 * k);
        osc_strbuf_addf(&text,
                        "{'ph':'X','cat':'python_function','name':'nn.Module: Net_0','pid':1,"
                        "'tid':1,'ts':%d,'dur':5000,'args':{'Python module id':0%s}},",
                        10000 * k, path);
        add_memory(&text, 10000 * k + 10, 1, 10000 - stays);
        add_memory(&text, 10000 * k + 20, 1, stays - 10000);
        add_memory(&text, 10000 * k + 30, 100 + k, stays);
        if (k == without)
            add_memory(&text, 10000 * k + 40, 100 + k, -stays);
    }
    advise(&text);
    for (uint64_t i = 0; i < result.n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(&result, i, column("code")),
                       OSC_STR("memory_growth")))
            return (int64_t)i;
    }
    return -1;
}

TEST_WITH(memory_that_every_step_leaves_is_told_with_its_module, NULL, end)
{
    const int64_t row = growing(4, 200, -1, "");

    assert_true(row >= 0);
    assert_int_equal(osc_result_get_int(&result, (uint64_t)row, column("impact_ns")), 0);
    assert_int_equal(osc_result_get_int(&result, (uint64_t)row, column("count")), 3);
    assert_true(has_text(row, "severity", "warning"));
    assert_true(has_text(row, "subject", "nn.Module: Net_0"));
    assert_true(has_text(row, "text", "Every step leaves 200 bytes allocated, 2.0 % of what"));
    const int64_t named = growing(4, 200, -1, ",'Module path':'h.0.attn'");
    assert_true(named >= 0 && has_text(named, "subject", "h.0.attn"));
    /* What the last step holds may be released in the next. */
    assert_true(growing(4, 200, 3, "") >= 0);
    assert_int_equal(growing(4, 200, 1, ""), -1);
    assert_int_equal(growing(4, 100, -1, ""), -1);
    assert_int_equal(growing(3, 200, -1, ""), -1);
}

TEST_WITH(a_device_of_unknown_form_gets_no_advice_for_the_host_alone, NULL, end)
{
    static const struct {
        const char *name, *labels;
        bool is_device;
    } cases[] = {{"python", "CPU", false},     {"GPU Process", "", false},
                 {"/device:CPU:0", "", false}, {"x", "GPUs", false},
                 {"/device:GPU:0", "", true},  {"/job:a/device:TPU:0 Compute", "", true},
                 {"python", "GPU 0", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_strbuf text = {0};

        /* Steps in which nearly nothing was recorded, and a task of another process. */
        osc_strbuf_addf(&text,
                        "{'ph':'M','name':'process_name','pid':9,'args':{'name':'%s'}},"
                        "{'ph':'M','name':'process_labels','pid':9,'args':{'labels':'%s'}},"
                        "{'ph':'X','name':'MatMul','pid':9,'tid':3,'ts':5,'dur':9,'args':{}},",
                        cases[i].name, cases[i].labels);
        for (int k = 0; k < 40; k++) {
            if (k % 10 == 0)
                osc_strbuf_addf(&text,
                                "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%d',"
                                "'pid':1,'tid':1,'ts':%d,'dur':1000000,'args':{}},",
                                k, 100000 * k);
            osc_strbuf_addf(&text,
                            "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':1,'tid':1,"
                            "'ts':%d,'dur':9,'args':{}},",
                            100000 * k + 1);
        }
        advise(&text);
        assert_int_equal(result.n_rows, cases[i].is_device ? 0 : 1);
        assert_int_equal(strstr(result.notes.s ? result.notes.s : "", "is a device") != NULL,
                         cases[i].is_device);
    }
}

TEST_WITH(memory_that_runs_out_while_splitting_is_a_status, NULL, end)
{
    osc_status st = OSC_ENOMEM;

    (void)split_of(STEP(1, 0, 100) FRAME("a.py(1): f", 0, 90) OP("aten::mm", 1, 1, 9, DOUBLES)
                       OP("aten::item", 1, 20, 9, "") OP("aten::clone", 1, 40, 9, "")
                           NOTE("Optimizer.step#SGD.step", 50, 10));
    for (long n = 0; st != OSC_OK; n++) {
        osc_split_fini(&split);
        osc_mem_fail_after(n);
        st = osc_split_make(&trace, &osc_trace_facts(&trace)->breakdown, &split);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_int_equal(split.steps[0].n_doubles, 1);
}

UNIT_MAIN("split")
