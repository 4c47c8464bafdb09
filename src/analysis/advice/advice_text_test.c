/* SPDX-License-Identifier: Apache-2.0 */
#include "support/advice_rows.h"

#include "analysis/advice/advice_list.h"
#include "model/known_names.h"

/* One collective of LONG us and two like it. */
#define REDUCE(ts, dur, correlation)                                                          \
    WORK("kernel", "ncclDevKernel_AllReduce(x)", ts, dur, correlation, ",'In msg nelems':64") \
    CALL(1, ts, 1, correlation, "")
#define ONE_LONG(like) \
    STEP(1, 0, 1000)   \
    REDUCE(100, 80.007, 1) REDUCE(300, 1, 2) REDUCE(400, like, 3)

TEST_WITH(a_collective_that_takes_eight_times_as_long_waits, NULL, end)
{
    int64_t row = row_of("", ONE_LONG(10.000), "communication", false);

    assert_true(
        has_text(row, "text", " One of 3 collectives has 80.0 us of that, and none like"));
    assert_false(has_text(row, "text", "send less"));
    assert_true(has_text(row, "text", "asked of the files of all ranks"));
    row = row_of("", ONE_LONG(10.001), "communication", false);
    assert_false(has_text(row, "text", " One of 3 collectives"));
    assert_true(has_text(row, "text", "send less"));
}

TEST_WITH(values_of_sixteen_bits_count_once_where_two_queues_send_them, NULL, end)
{
#define HALF(stream)                                                             \
    CALL(1, stream, 1, stream, "")                                               \
    "{'ph':'X','cat':'kernel','name':'ncclDevKernel_AllReduce_bf16(x)','pid':0," \
    "'tid':" #stream ",'ts':100,'dur':40,'args':{'device':0,'stream':" #stream   \
    ",'correlation':" #stream "}},"
#define BESIDE(dur)  \
    STEP(1, 0, 1000) \
    HALF(8)          \
    HALF(9) CALL(1, 90, 1, 1, "") WORK("kernel", "ncclDevKernel_AllReduce(x)", 200, dur, 1, "")

    int64_t row = row_of("", BESIDE(40), "communication", false);

    assert_true(has_text(row, "text", "in training compressed or accumulated gradients"));
    row = row_of("", BESIDE(39), "communication", false);
    assert_true(has_text(row, "text", "in training accumulated gradients"));
}

/* Whether the advice about N calls of a step, of which N_BACK give back, says that steps have
 * many. */
static bool says_many(int n, int n_back)
{
    struct osc_strbuf text = {0};

    osc_strbuf_adds(&text, STEP(1, 0, 3000) OP("aten::mm", 1, 2900, 50, "")
                               CALL(1, 2960, 5, 1, "") KERNEL("k", 2970, 10, 1));
    for (int i = 0; i < n; i++)
        osc_strbuf_addf(&text,
                        "{'ph':'X','cat':'cuda_runtime','name':'%s','pid':1,'tid':1,'ts':%d,"
                        "'dur':5},",
                        i < n_back ? "cudaFree" : "cudaMalloc", 20 * i);
    const int64_t row = row_of("", text.s, "allocator", false);
    const bool is_many = has_text(row, "text", ". Steps have 100 such calls or more, as where");

    assert_true(is_many || has_text(row, "text", ". The caching allocator does that while it"));
    osc_strbuf_fini(&text);
    return is_many;
}

TEST_WITH(an_allocator_that_is_off_gives_back_what_it_takes, NULL, end)
{
    assert_true(says_many(100, 25));
    assert_false(says_many(99, 25));
    assert_false(says_many(100, 24)); /* it grows */
    assert_false(says_many(100, 0));
}

TEST(a_part_may_have_any_number_for_the_way_of_copies)
{
    struct osc_advice_numbers n = {.part = 1, .whole = 2, .n_parts = 1};
    struct osc_strbuf text = {0};

    n.facts.copy_way = OSC_COPY_TO_DEVICE;
    assert_int_equal(osc_advice_say(OSC_ADVICE_DEVICE_COPIES, &n, &text), OSC_OK);
    assert_true(osc_str_has(osc_strbuf_str(&text), OSC_STR("above all to devices")));
    for (int i = 0; i < 2; i++) {
        n.facts.copy_way = i == 0 ? OSC_COPY_WAYS : -1;
        osc_strbuf_clear(&text);
        assert_int_equal(osc_advice_say(OSC_ADVICE_DEVICE_COPIES, &n, &text), OSC_OK);
        assert_false(osc_str_has(osc_strbuf_str(&text), OSC_STR("above all")));
    }
    osc_strbuf_fini(&text);
}

static struct osc_result blocks[2];

static int end_blocks(void **state)
{
    osc_result_fini(&blocks[0]);
    osc_result_fini(&blocks[1]);
    return end(state);
}

/* A rank whose collective takes DUR us, and computes for 300 us beside it. */
#define COLLECTIVE(dur) \
    STEP(1, 0, 1000) OP("gloo:all_reduce", 1, 0, dur, "") OP("aten::mm", 2, 0, 300, "")

/* What is said of the first of two files, which are of two ranks or of two windows of one. */
static void ask_together(const char *const *events, bool has_ranks)
{
    const struct osc_options o = {.n_traces = 2};
    struct osc_result *const both[] = {&blocks[0], &blocks[1]};

    end_blocks(NULL);
    for (int i = 0; i < 2; i++) {
        osc_trace_fini(&trace);
        load("small", "", events[i]);
        const struct osc_placing from = {.rank = trace.rank,
                                         .span = trace.span,
                                         .origin_ns = trace.origin_ns,
                                         .base_ns = trace.base_ns};
        struct osc_placing to = from;

        to.rank = has_ranks ? i : 0;
        to.span = has_ranks ? 1 : i + 1;
        osc_result_init(both[i], &osc_table_advice);
        assert_int_equal(osc_table_advice.mapping->map(&trace, &o, both[i], NULL), OSC_OK);
        assert_int_equal(osc_result_place(both[i], &from, &to), OSC_OK);
    }
    assert_int_equal(osc_table_advice.mapping->together(both, 2, &o, NULL), OSC_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(osc_table_advice.mapping->finish(both[i], &o, NULL), OSC_OK);
}

/* Whether the advice about communication in the first block has PART. */
static bool tells(const char *part)
{
    for (uint64_t i = 0; i < blocks[0].n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(&blocks[0], i, column("code")),
                       OSC_STR("communication")))
            return osc_str_has(osc_result_get_str(&blocks[0], i, column("text")),
                               osc_str_c(part));
    }
    fail();
    return false;
}

TEST_WITH(waiting_is_a_share_of_the_time_in_collectives, NULL, end_blocks)
{
    const char *const late[] = {COLLECTIVE(600), COLLECTIVE(200)};
    const char *const even[] = {COLLECTIVE(600), COLLECTIVE(588)};
    const char *const less[] = {COLLECTIVE(600), COLLECTIVE(588.001)};

    ask_together(late, true);
    assert_true(tells(" Of the time in collectives, 67 % is waiting for ranks that come late"));
    assert_true(tells("Even out the work of the ranks first"));
    assert_false(tells("asked of the files of all ranks"));
    ask_together(even, true);
    assert_true(tells(" Of the time in collectives, 2 % is waiting"));
    ask_together(less, true);
    assert_false(tells("is waiting"));
    assert_false(tells("asked of the files of all ranks"));
}

TEST_WITH(two_windows_of_one_rank_do_not_tell_how_long_it_waited, NULL, end_blocks)
{
    const char *const windows[] = {COLLECTIVE(600), COLLECTIVE(200)};

    ask_together(windows, false);
    assert_false(tells("is waiting for ranks"));
    assert_true(tells("asked of the files of all ranks"));
}

TEST(every_phrase_names_known_facts)
{
    assert_null(osc_prose_check(&osc_advice_prose));
    assert_null(osc_prose_check(&osc_earlier_prose));
    for (unsigned k = 0; k < OSC_ADVICE_COUNT; k++) {
        const struct osc_advice_rule *const rule = &osc_advice_rules[k];

        assert_non_null(rule->code);
        assert_non_null(rule->title);
        assert_true(rule->text || k == OSC_ADVICE_STRAGGLER);
        if (rule->text)
            assert_null(osc_phrase_check(rule->text, &osc_advice_prose));
    }
}

UNIT_MAIN("advice_text")
