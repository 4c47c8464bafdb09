/* SPDX-License-Identifier: Apache-2.0 */
#include "prose/phrase.h"

#include "support/unit.h"

#define FACTS(X)              \
    X(known, FLAG, NULL)      \
    X(time, NS, NULL)         \
    X(mean, TIME, NULL)       \
    X(delta, DELTA, NULL)     \
    X(growth, GROWTH, NULL)   \
    X(decimal, DECIMAL, NULL) \
    X(size, BYTES, NULL)      \
    X(calls, COUNT, NULL)     \
    X(rank, INTEGER, NULL)    \
    X(share, SHARE, NULL)     \
    X(percent, PERCENT, NULL) \
    X(text, TEXT, NULL)       \
    X(clean, CLEAN, NULL)     \
    X(name, NAME, NULL)       \
    X(quoted, QUOTED, NULL)   \
    X(both, PHRASE, "{time} of {size}")

extern const struct osc_prose prose;
OSC_PROSE(prose, FACTS);

static struct osc_prose_facts facts = {.prose = &prose};
static struct osc_strbuf out;

static int end(void **state)
{
    (void)state;
    osc_strbuf_fini(&out);
    memset(facts.v, 0, sizeof facts.v);
    return 0;
}

static const char *said(const char *phrase)
{
    osc_strbuf_clear(&out);
    osc_phrase_add(&out, phrase, &facts);
    assert_int_equal(out.status, OSC_OK);
    assert_null(osc_phrase_check(phrase, &prose));
    return out.s ? out.s : "";
}

TEST_WITH(a_fact_is_written_as_its_kind_says, NULL, end)
{
    osc_prose_number(&facts, FACT_time, 12345678);
    osc_prose_number(&facts, FACT_size, 2048);
    osc_prose_number(&facts, FACT_calls, 1234567);
    osc_prose_number(&facts, FACT_rank, 1234);
    osc_prose_share(&facts, FACT_share, 1, 8);
    osc_prose_share(&facts, FACT_percent, 1, 4);
    osc_prose_text(&facts, FACT_text, OSC_STR("a\tb"));
    osc_prose_text(&facts, FACT_clean, OSC_STR("a\tb"));
    osc_prose_text(&facts, FACT_name, OSC_STR("aten::mm"));
    osc_prose_text(&facts, FACT_quoted, OSC_STR("main thread"));
    assert_string_equal(said("{time}, {size}, {calls}, {rank}, {share}, {percent}"),
                        "12.3 ms, 2.00 KiB, 1,234,567, 1234, 12.5 %, 25 %");
    assert_string_equal(said("{text}, {clean}, {name}, {quoted}"),
                        "a\tb, a\\x09b, aten::mm, 'main thread'");
    assert_string_equal(said("in all {both}."), "in all 12.3 ms of 2.00 KiB.");
}

TEST_WITH(means_and_what_they_grew_by_are_written, NULL, end)
{
    osc_prose_real(&facts, FACT_mean, 12345678);
    osc_prose_real(&facts, FACT_delta, -1500);
    osc_prose_real(&facts, FACT_decimal, 2.5);
    osc_prose_growth(&facts, FACT_growth, 100, 112.5);
    assert_string_equal(said("{mean}, {delta}, {decimal}, {growth}"),
                        "12.346 ms, -1.500 us, 2.5, +12.5 %");
    osc_prose_growth(&facts, FACT_growth, 100, 210);
    assert_string_equal(said("{growth}"), "2.1 x");
    osc_prose_growth(&facts, FACT_growth, 0, 1);
    assert_string_equal(said("{growth?{growth}|from nothing}"), "from nothing");
}

TEST_WITH(a_phrase_is_said_by_its_number, NULL, end)
{
    osc_prose_number(&facts, FACT_time, 1);
    osc_prose_number(&facts, FACT_size, 2);
    osc_strbuf_clear(&out);
    osc_prose_say(&out, &facts, FACT_both);
    assert_string_equal(out.s, "1 ns of 2 bytes");
}

TEST_WITH(a_share_of_nothing_is_none, NULL, end)
{
    osc_prose_share(&facts, FACT_share, 1, 0);
    assert_string_equal(said("{share}"), "0.0 %");
}

TEST_WITH(what_is_there_is_said, NULL, end)
{
    static const char phrase[] = "a{text?, in {text}{known?, known}|, nowhere}.";

    assert_string_equal(said(phrase), "a, nowhere.");
    assert_string_equal(said("a{text? b}."), "a.");
    osc_prose_text(&facts, FACT_text, OSC_STR("c"));
    assert_string_equal(said(phrase), "a, in c.");
    osc_prose_flag(&facts, FACT_known, true);
    assert_string_equal(said(phrase), "a, in c, known.");
}

TEST_WITH(one_is_singular, NULL, end)
{
    static const char phrase[] = "{calls} {calls|call takes|calls take} long";

    for (int64_t n = 0; n < 3; n++) {
        osc_prose_number(&facts, FACT_calls, n);
        assert_string_equal(said(phrase), n == 0   ? "0 calls take long"
                                          : n == 1 ? "1 call takes long"
                                                   : "2 calls take long");
    }
}

TEST_WITH(a_value_that_is_not_there_is_an_error, NULL, end)
{
    static const char *const phrases[] = {"{time}", "{calls|a|b}", "{both}", "{unknown}"};

    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        osc_strbuf_clear(&out);
        osc_phrase_add(&out, phrases[i], &facts);
        assert_int_equal(out.status, OSC_EINVAL);
    }
}

TEST_WITH(a_fault_is_found_where_it_is, NULL, end)
{
    static const struct {
        const char *phrase;
        int at;
    } faults[] = {
        {"a {unknown}", 2},         /* no such fact */
        {"{known?a {unknown}}", 9}, /* in a branch, too */
        {"{known?a|b {time", 0},    /* no end */
        {"{time", 0},
        {"a}", 1},
        {"a | b", 2},
        {"{known}", 0},      /* has no value */
        {"{time|a|b}", 0},   /* is no count */
        {"{both?a}", 0},     /* is always there */
        {"{known?a|b|c}", 0} /* too many branches */
    };

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *const phrase = faults[i].phrase;

        assert_ptr_equal(osc_phrase_check(phrase, &prose), phrase + faults[i].at);
    }
}

TEST_WITH(a_part_names_what_stands_before_it, NULL, end)
{
    static const struct osc_prose_def circle[] = {{"a", OSC_PROSE_PHRASE, "{b}"},
                                                  {"b", OSC_PROSE_PHRASE, "{a}"}};

    assert_null(osc_prose_check(&prose));
    assert_ptr_equal(osc_prose_check(&(struct osc_prose){circle, 2}), circle[0].phrase);
}

UNIT_MAIN("phrase")
