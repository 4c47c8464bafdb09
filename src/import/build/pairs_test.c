/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/pairs.h"

#include "base/mem.h"
#include "support/unit.h"
#include "support/unsealed.h"

#define BEGIN(name, tid, ts) "{'ph':'B','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts "}"
#define END(tid, ts)         "{'ph':'E','pid':1,'tid':" #tid ",'ts':" #ts "}"
#define ASYNC(ph, category, id, pid, ts) \
    "{'ph':'" ph "','cat':'" category "','id':" id ",'pid':" #pid ",'tid':0,'ts':" #ts "}"

static struct osc_trace match(const char *text)
{
    struct osc_trace t = {0};

    assert_int_equal(unsealed_read(&t, text), OSC_OK);
    assert_int_equal(osc_pairs_match(&t), OSC_OK);
    return t;
}

/* Compare the durations of the events of TEXT, in order of the file. */
static void assert_durations(const char *text, uint32_t n, const int64_t *dur_ns)
{
    struct osc_trace t = match(text);
    const struct osc_chunk *c = t.events.chunks[1];

    assert_int_equal(t.events.n_rows, n);
    for (uint32_t i = 0; i < n; i++)
        if (c->dur_ns[i] != dur_ns[i])
            fail_msg("%s: event %u lasts %lld ns", text, i, (long long)c->dur_ns[i]);
    osc_trace_fini(&t);
}

TEST(pairs_by_process_and_thread_innermost_first)
{
    static const int64_t expected[] = {9000, 2000, 5000, 3000};

    assert_durations(
        "[" BEGIN("a", 1, 1) "," BEGIN("b", 1, 2) "," BEGIN("c", 2, 2) "," END(1, 4) "," BEGIN(
            "d", 1, 5) "," END(2, 7) "," END(1, 8) "," END(1, 10) "]",
        4, expected);
}

#define NAMED_END(name, tid, ts) \
    "{'ph':'E','name':'" name "','pid':1,'tid':" #tid ",'ts':" #ts "}"

/* Compare the durations of the events of TEXT and how many ends name another range. */
static void assert_named(const char *text, uint64_t n_mismatched, uint32_t n,
                         const int64_t *dur_ns)
{
    struct osc_trace t = match(text);

    assert_int_equal(t.findings.by_code[OSC_FINDING_mismatched_end].count, n_mismatched);
    assert_int_equal(t.findings.by_code[OSC_FINDING_unmatched_end].count, 0);
    osc_trace_fini(&t);
    assert_durations(text, n, dur_ns);
}

TEST(an_end_ends_the_range_that_it_names)
{
    static const int64_t stranger[] = {10000, 8000}, crossed[] = {4000, 8000, 3000, 1000},
                         recursive[] = {9000, 4000, 4000}, cut[] = {7000, 1000},
                         names_of_others[] = {10000}, left_open[] = {OSC_NO_DUR, 3000};

    assert_named(
        "[" BEGIN("alpha", 1, 0) "," BEGIN("beta", 1, 1) "," NAMED_END(
            "gamma", 1, 2) "," NAMED_END("beta", 1, 9) "," NAMED_END("alpha", 1, 10) "]",
        1, 2, stranger);
    assert_named(
        "[" BEGIN("a", 1, 0) "," BEGIN("b", 1, 1) "," BEGIN("c", 1, 2) "," NAMED_END(
            "a", 1, 4) "," NAMED_END("c", 1,
                                     5) "," BEGIN("d", 1,
                                                  6) "," NAMED_END("d", 1,
                                                                   7) "," NAMED_END("b", 1,
                                                                                    9) "]",
        1, 4, crossed);
    assert_named("[" BEGIN("a", 1, 0) "," BEGIN("a", 1, 1) "," BEGIN("b", 1, 2) "," NAMED_END(
                     "a", 1, 5) "," NAMED_END("b", 1, 6) "," NAMED_END("a", 1, 9) "]",
                 1, 3, recursive);
    assert_named("[" BEGIN("Asub", 1, 0) "," BEGIN("Asub that is long", 1, 1) "," NAMED_END(
                     "Asub that", 1, 2) "," NAMED_END("Asub", 1, 7) "]",
                 1, 2, cut);
    assert_named("[" BEGIN("alpha", 1, 0) "," NAMED_END("beta", 1, 10) "]", 1, 1,
                 names_of_others);
    assert_named("[" BEGIN("alpha", 1, 0) "," BEGIN("x", 2, 1) "," NAMED_END(
                     "x", 2, 4) "," NAMED_END("beta", 1, 10) "]",
                 1, 2, left_open);
}

TEST(pairs_async_ranges_by_process_category_and_id)
{
    static const int64_t expected[] = {3000, 5000, OSC_NO_DUR, 7000, 6000};

    assert_durations(
        "[" ASYNC("b", "x", "5", 1, 1) "," ASYNC("b", "y", "5", 1, 1) "," ASYNC(
            "b", "x", "5", 2,
            1) "," ASYNC("b", "x", "'6'", 1,
                         1) "," ASYNC("b", "x", "1.5", 1,
                                      1) "," ASYNC("e", "x", "'5'", 1,
                                                   4) "," /* 5 and '5' are one id */
        ASYNC("e", "y", "5", 1, 6) "," ASYNC("e", "x", "6", 1, 8) "," ASYNC(
            "e", "x", "1.5", 1, 7) "," ASYNC("e", "z", "5", 2, 9) "]",
        5, expected);
}

/* Programs take addresses for ids, and tell by scope whose they are. */
TEST(the_scope_of_an_id_keeps_ranges_apart)
{
    static const int64_t expected[] = {2000, 4000, OSC_NO_DUR};

    assert_durations("[{'ph':'b','name':'n','cat':'x','id':5,'scope':'tab','pid':1,'ts':1},"
                     "{'ph':'b','name':'n','cat':'x','id':5,'scope':'frame','pid':1,'ts':2},"
                     "{'ph':'b','name':'n','cat':'x','id':5,'pid':1,'ts':2},"
                     "{'ph':'e','name':'n','cat':'x','id':5,'scope':'tab','pid':1,'ts':3},"
                     "{'ph':'e','name':'n','cat':'x','id':5,'scope':'frame','pid':1,'ts':6},"
                     "{'ph':'e','name':'n','cat':'x','id':5,'scope':'tree','pid':1,'ts':7}]",
                     3, expected);
}

TEST(an_end_finds_only_begins_that_stand_before_it)
{
    struct osc_trace t = match("[" END(1, 9) "," BEGIN("a", 1, 1) "," END(1, 3) "," END(
        1, 4) "," BEGIN("b", 1, 5) "," ASYNC("b", "x", "1", 1, 6) "]");
    const struct osc_finding *found = t.findings.by_code;

    assert_int_equal(t.events.chunks[1]->dur_ns[0], 2000);
    assert_int_equal(found[OSC_FINDING_unmatched_end].count, 2);
    assert_int_equal(found[OSC_FINDING_unmatched_end].first_ns, 9000);
    assert_int_equal(found[OSC_FINDING_open_range].count, 1);
    assert_int_equal(found[OSC_FINDING_open_range].first_ns, 5000);
    assert_int_equal(found[OSC_FINDING_unmatched_begin].count, 1);
    assert_true(t.events.chunks[1]->dur_ns[1] == OSC_NO_DUR);
    osc_trace_fini(&t);
}

TEST(a_range_that_ends_before_it_starts_is_empty)
{
    struct osc_trace t = match("[" BEGIN("a", 1, 5) "," END(1, 3) "]");

    assert_int_equal(t.events.chunks[1]->dur_ns[0], 0);
    assert_int_equal(t.findings.by_code[OSC_FINDING_negative_duration].count, 1);
    assert_int_equal(t.events.chunks[1]->max_end_ns, 5000);
    osc_trace_fini(&t);
}

static int64_t arg_int(const struct osc_trace *t, uint32_t row, enum osc_arg_key key)
{
    int64_t value = -1;

    (void)osc_row_arg_int(t, t->events.chunks[1], row, key, &value);
    return value;
}

TEST(joins_arguments_the_end_overriding_the_begin)
{
    struct osc_trace t =
        match("[{'ph':'b','cat':'x','id':7,'pid':1,'ts':1,"
              "'args':{'correlation':1,'stream':2,'stream':3}},"
              "{'ph':'b','cat':'x','id':8,'pid':1,'ts':1,'args':{'correlation':4}},"
              "{'ph':'b','cat':'x','id':9,'pid':1,'ts':1},"
              "{'ph':'e','cat':'x','id':7,'pid':1,'ts':2,"
              "'args':{'device':5000000000,'correlation':6}},"
              "{'ph':'e','cat':'x','id':8,'pid':1,'ts':2},"
              "{'ph':'e','cat':'x','id':9,'pid':1,'ts':3,'args':{'correlation':'8'}}]");
    const struct osc_form *form = osc_row_form(&t, t.events.chunks[1], 0);

    assert_int_equal(form->n_slots, 5); /* id, correlation, stream twice, device */
    assert_true(form->slots[0].is_member);
    assert_int_equal(arg_int(&t, 0, OSC_ARG_KEY_FLOW_ID), 7);
    assert_int_equal(arg_int(&t, 0, OSC_ARG_KEY_CORRELATION), 6);
    assert_int_equal(arg_int(&t, 0, OSC_ARG_KEY_STREAM), 3);
    assert_int_equal(arg_int(&t, 0, OSC_ARG_KEY_DEVICE), 5000000000);
    assert_int_equal(arg_int(&t, 1, OSC_ARG_KEY_CORRELATION), 4);
    assert_int_equal(arg_int(&t, 2, OSC_ARG_KEY_CORRELATION), 8);
    assert_true(osc_row_form(&t, t.events.chunks[1], 2)->has_args);
    osc_trace_fini(&t);
}

/* The ends come so late that their begins fill more than one chunk. */
TEST(pairs_over_chunks)
{
    const uint32_t n = OSC_CHUNK_ROWS + 100;
    struct osc_strbuf b = {0};
    struct osc_trace t;

    osc_strbuf_addc(&b, '[');
    for (uint32_t i = 0; i < n; i++)
        osc_strbuf_addf(&b, "{'ph':'B','pid':1,'tid':1,'ts':%u},", i);
    for (uint32_t i = 0; i < n; i++)
        osc_strbuf_addf(&b, "{'ph':'E','pid':1,'tid':1,'ts':%u,'args':{'stream':%u}}%s", n + i,
                        i, i + 1 < n ? "," : "]");
    assert_int_equal(b.status, OSC_OK);
    t = match(b.s);
    assert_int_equal(t.events.n_chunks, 3);
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_chunk *c = t.events.chunks[1 + i / OSC_CHUNK_ROWS];
        const uint32_t at = i % OSC_CHUNK_ROWS;
        int64_t stream;

        assert_int_equal(c->dur_ns[at], (2 * (int64_t)(n - 1 - i) + 1) * 1000);
        assert_true(osc_row_arg_int(&t, c, at, OSC_ARG_KEY_STREAM, &stream));
        assert_int_equal(stream, n - 1 - i);
    }
    assert_int_equal(t.events.chunks[1]->max_end_ns, (2 * (int64_t)n - 1) * 1000);
    osc_trace_fini(&t);
    osc_strbuf_fini(&b);
}

/* Together they have more arguments than a form can have. */
TEST(keeps_the_arguments_of_the_begin_where_both_are_too_many)
{
    struct osc_strbuf b = {0};

    for (int is_end = 0; is_end < 2; is_end++) {
        osc_strbuf_addf(&b, "%s{'ph':'%s','pid':1,'tid':1,'ts':%d,'args':{", is_end ? "," : "[",
                        is_end ? "E" : "B", is_end);
        for (uint32_t i = 0; i < OSC_FORM_SLOTS_MAX / 2 + 1; i++)
            osc_strbuf_addf(&b, "%s'%c%u':%u", i > 0 ? "," : "", is_end ? 'e' : 'b', i, i);
        osc_strbuf_adds(&b, is_end ? "}}]" : "}}");
    }
    assert_int_equal(b.status, OSC_OK);
    struct osc_trace t = match(b.s);
    assert_int_equal(t.events.chunks[1]->dur_ns[0], 1000);
    assert_int_equal(osc_row_form(&t, t.events.chunks[1], 0)->n_slots,
                     OSC_FORM_SLOTS_MAX / 2 + 1);
    osc_trace_fini(&t);
    osc_strbuf_fini(&b);
}

#define ASYNC_OF(ph, pid, ts, more) \
    "{'ph':'" ph "','cat':'c','name':'n','pid':" #pid ",'tid':1,'ts':" #ts "," more "}"

TEST(asynchronous_ranges_end_in_other_processes_or_earlier_in_the_file)
{
    struct osc_trace t =
        match("[" ASYNC_OF("b", 1, 10, "'id':1") "," ASYNC_OF("e", 2, 70, "'id':1") "]");
    assert_int_equal(t.events.chunks[1]->dur_ns[0], 60000);
    osc_trace_fini(&t);
    t = match("[" ASYNC_OF("e", 1, 70, "'id':1") "," ASYNC_OF(
        "b", 1, 10, "'id':1") "," ASYNC_OF("b", 1, 20, "'id':1") "]");
    assert_int_equal(t.events.chunks[1]->dur_ns[0], OSC_NO_DUR);
    assert_int_equal(t.events.chunks[1]->dur_ns[1], 50000);
    assert_int_equal(t.findings.by_code[OSC_FINDING_unmatched_begin].count, 1);
    assert_int_equal(t.findings.by_code[OSC_FINDING_unmatched_end].count, 0);
    osc_trace_fini(&t);
    /* Each process has its own; an id that is local stays in its process; nothing ends before
     * it begins. */
    t = match(
        "[" ASYNC_OF("b", 1, 10, "'id':1") "," ASYNC_OF("b", 2, 20, "'id':1") "," ASYNC_OF(
            "e", 1, 30, "'id':1") "," ASYNC_OF("e", 2, 70, "'id':1") "]");
    assert_int_equal(t.events.chunks[1]->dur_ns[0], 20000);
    assert_int_equal(t.events.chunks[1]->dur_ns[1], 50000);
    osc_trace_fini(&t);
    t = match("[" ASYNC_OF("b", 1, 10, "'id2':{'local':1}") "," ASYNC_OF(
        "e", 2, 70, "'id2':{'local':1}") "," ASYNC_OF("e", 3, 80,
                                                      "'id':7") "," ASYNC_OF("b", 3, 90,
                                                                             "'id':7") "]");
    assert_int_equal(t.events.chunks[1]->dur_ns[0], OSC_NO_DUR);
    assert_int_equal(t.events.chunks[1]->dur_ns[1], OSC_NO_DUR);
    assert_int_equal(t.findings.by_code[OSC_FINDING_unmatched_end].count, 2);
    osc_trace_fini(&t);
}

TEST(leaves_a_trace_without_begins_and_ends_alone)
{
    struct osc_trace t = match("[{'ph':'X','ts':1,'dur':2},{'ph':'M','name':'x'}]");

    assert_int_equal(t.events.chunks[1]->dur_ns[0], 2000);
    osc_trace_fini(&t);
}

TEST(survives_any_failed_allocation)
{
    unsealed_survives(
        "[" BEGIN("a", 1, 1) "," BEGIN(
            "b", 1, 2) ","
                       "{'ph':'E','pid':1,'tid':1,'ts':3,'args':{'x':1}}," END(1, 4) "]",
        osc_pairs_match);
    unsealed_survives("[" ASYNC_OF("e", 2, 70, "'id':1") "," ASYNC_OF("b", 1, 10, "'id':1") "]",
                      osc_pairs_match);
}

UNIT_MAIN("pairs")
