/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/wild_times.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "import/build/pairs.h"
#include "support/unit.h"
#include "support/unsealed.h"

#define AT(ts, dur) "{'ph':'X','name':'r','pid':1,'tid':1,'ts':" ts ",'dur':" dur "}"

/* Three ranges of 2026, within 30 us. */
#define HONEST                    \
    AT("1782700000000000.5", "5") \
    "," AT("1782700000000010.5", "5") "," AT("1782700000000020.5", "10")
#define FIRST_NS INT64_C(1782700000000000500)

static osc_status leave_out(struct osc_trace *t)
{
    const osc_status st = osc_pairs_match(t);

    return st == OSC_OK ? osc_wild_times_leave_out(t, NULL, NULL) : st;
}

/* Compare how many events of the list TEXT are left, and how many findings are counted. */
static void assert_left(const char *text, uint32_t n_left, uint64_t n_counted)
{
    struct osc_trace t = {0};

    assert_int_equal(unsealed_read(&t, text), OSC_OK);
    assert_int_equal(leave_out(&t), OSC_OK);
    if (t.events.n_rows != n_left)
        fail_msg("%s: %u events are left", text, t.events.n_rows);
    assert_int_equal(t.findings.by_code[OSC_FINDING_clock_step].count, n_counted);
    osc_trace_fini(&t);
}

TEST(leaves_out_what_is_far_from_the_main_group)
{
    assert_left("[" HONEST "]", 3, 0);
    assert_left("[" HONEST "," AT("0", "0") "]", 3, 1);
    assert_left("[" AT("0.0", "0.0") "," HONEST "," AT("0", "7") "," AT("0", "0") "]", 3, 3);
    assert_left("[" HONEST "," AT("3782700000000000", "5") "]", 3, 1);
    assert_left("[" HONEST "," AT("-1782700000000000", "5") "]", 3, 1);
    assert_left("[" HONEST "," AT("5", "1") "," AT("6", "1") "," AT("4e15", "1") "]", 3, 3);
}

TEST(zeros_are_left_out_even_if_they_are_most)
{
    assert_left("[" AT("0", "0") "," AT("0", "0") "," AT("0", "0") "," AT("0", "0") "," HONEST
                                                                                    "]",
                3, 4);
}

TEST(of_two_groups_of_equal_size_the_later_one_stays)
{
    assert_left("[" AT("100", "1") "," AT("200", "1") "," AT("1782700000000000", "1") "," AT(
                    "1782700000000100", "1") "]",
                2, 2);
}

TEST(a_wild_end_leaves_the_range_without_a_duration)
{
    struct osc_trace t = {0};

    assert_int_equal(
        unsealed_read(
            &t, "[" HONEST
                "," AT("1782700000000001",
                       "1e12") ","
                               "{'ph':'B','name':'b','pid':1,'tid':1,'ts':1782700000000002},"
                               "{'ph':'E','pid':1,'tid':1,'ts':4e15}]"),
        OSC_OK);
    assert_int_equal(leave_out(&t), OSC_OK);
    assert_int_equal(t.events.n_rows, 5);
    assert_int_equal(t.findings.by_code[OSC_FINDING_clock_step].count, 2);
    assert_int_equal(t.events.chunks[1]->dur_ns[3], OSC_NO_DUR);
    assert_int_equal(t.events.chunks[1]->dur_ns[4], OSC_NO_DUR);
    assert_int_equal(t.events.chunks[1]->min_ts_ns, FIRST_NS);
    assert_true(t.events.chunks[1]->max_end_ns < FIRST_NS + 100000);
    osc_trace_fini(&t);
}

TEST(leaves_out_arrows_and_counts_them)
{
    struct osc_trace t = {0};

    assert_int_equal(
        unsealed_read(&t, "[{'ph':'s','id':1,'pid':1,'tid':1,'ts':1782700000000001}," HONEST
                          ",{'ph':'f','id':1,'pid':1,'tid':1,'ts':0}]"),
        OSC_OK);
    assert_int_equal(leave_out(&t), OSC_OK);
    assert_int_equal(t.events.n_rows, 3);
    assert_int_equal(t.others.n_rows, 1);
    assert_int_equal(t.findings.by_code[OSC_FINDING_clock_step].count, 1);
    osc_trace_fini(&t);
}

TEST(pauses_of_days_and_long_traces_are_honest)
{
    /* A pause of six days, and windows of equal size a fortnight apart. */
    assert_left("[" AT("0", "1") "," AT("518400000000", "1") "]", 2, 0);
    assert_left(
        "[" AT("0", "1") "," AT("5", "1") "," AT("1209600000000", "1") "," AT(
            "1209600000005", "1") "," AT("2419200000000", "1") "," AT("2419200000005", "1") "]",
        6, 0);
    /* Half of all ranges last for months. */
    assert_left("[" AT("0", "1") "," AT("1", "9007199254740.993") "]", 2, 0);
    /* A list of jobs of a day, with one 60 days later. */
    assert_left("[" AT("0", "1") "," AT("40000000000", "1") "," AT("86000000000", "1") "," AT(
                    "5184000000000", "1") "]",
                4, 0);
}

/* Five ranges of 2026, within 60 us. */
#define FIVE HONEST "," AT("1782700000000040.5", "5") "," AT("1782700000000050.5", "5")

TEST(leaves_out_what_is_behind_a_pause_out_of_proportion)
{
    struct osc_trace t = {0};

    assert_left("[" FIVE "," AT("1782743300000050.5", "5") "]", 5, 1); /* 12 hours late */
    assert_left("[" FIVE "," AT("1782181600000000.5", "5") "]", 5, 1); /* six days early */
    assert_left("[" AT("1782600000000000", "0") "," AT("1782600000000000", "1") "," FIVE "," AT(
                    "1783218400000000.5", "5") "]",
                5, 3);
    assert_int_equal(unsealed_read(&t, "[" FIVE "," AT("1782181600000000", "5") "]"), OSC_OK);
    assert_int_equal(leave_out(&t), OSC_OK);
    assert_int_equal(t.findings.by_code[OSC_FINDING_clock_step].first_ns,
                     INT64_C(1782181600000000000));
    osc_trace_fini(&t);
}

TEST(pauses_are_honest_unless_one_time_is_far_from_many_events)
{
    /* Less than 12 hours. */
    assert_left("[" FIVE "," AT("1782743200000050.5", "5") "]", 6, 0);
    /* Few others, or no more than those that are far. */
    assert_left("[" HONEST "," AT("1782786400000000", "5") "]", 4, 0);
    assert_left("[" AT("0", "1") "," AT("1", "1") "," AT("2", "1") "," AT("3", "1") "," AT(
                    "86400000000", "1") "," AT("86400000000",
                                               "1") "," AT("86400000000",
                                                           "1") "," AT("86400000000", "1") "]",
                8, 0);
    /* Two times a day later. */
    assert_left("[" FIVE "," AT("1782786400000000", "1") "," AT("1782786400000005", "1") "]", 7,
                0);
    /* Single events, the last of them after two days. */
    assert_left("[" AT("0", "1") "," AT("60000000", "1") "," AT("120000000", "1") "," AT(
                    "180000000", "1") "," AT("172800000000", "1") "]",
                5, 0);
    /* The first one is a day away, which is not much for all of the rest. */
    assert_left(
        "[" AT("0", "1") "," AT("86400000000", "1") "," AT("86400000005", "1") "," AT(
            "86400000007", "1") "," AT("86460000000", "1") "," AT("86520000000", "1") "]",
        6, 0);
    /* A range lasts through the pause. */
    assert_left("[" FIVE
                "," AT("1782700000000001", "86400000000") "," AT("1782786400000000", "5") "]",
                7, 0);
    assert_left("[" AT("1782613600000000", "86400000000") "," FIVE "]", 6, 0);
    /* Five steps, and 11 minutes later the end of a wait. */
    assert_left("[" AT("0", "900") "," AT("1000", "900") "," AT("2000", "900") "," AT(
                    "3000", "900") "," AT("4000", "900") "," AT("660000000", "5000000") "]",
                6, 0);
}

/* A server that warms up with many operators, and has one request 20 minutes later. */
TEST(few_events_after_an_idle_time_are_honest)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addc(&text, '[');
    for (int i = 0; i < 50400; i++)
        osc_strbuf_addf(&text, "%s{'ph':'X','name':'r','pid':1,'tid':1,'ts':%lld,'dur':15}",
                        i > 0 ? "," : "",
                        (long long)i * 20 + (i < 50000 ? 0 : INT64_C(1200000000)));
    osc_strbuf_adds(&text, "]");
    osc_strbuf_addc(&text, '\0');
    assert_int_equal(text.status, OSC_OK);
    assert_left(text.s, 50400, 0);
    osc_strbuf_fini(&text);
}

/* Two days with many events are kept, and between them is one event. */
TEST(leaves_out_what_is_between_two_groups)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addc(&text, '[');
    for (int i = 0; i < 1200; i++)
        osc_strbuf_addf(&text, "{'ph':'i','name':'i','pid':1,'tid':1,'ts':%lld},",
                        (long long)i + (i < 1000 ? 0 : INT64_C(3456000000000)));
    osc_strbuf_adds(&text, "{'ph':'i','name':'i','pid':1,'tid':1,'ts':1728000000000}]");
    osc_strbuf_addc(&text, '\0');
    assert_int_equal(text.status, OSC_OK);
    assert_left(text.s, 1200, 1);
    osc_strbuf_fini(&text);
}

TEST(counts_what_a_window_leaves_out)
{
    struct osc_minutes minutes = {0}, more = {0};
    struct osc_trace t = {0};
    int64_t min_ns = 0;

    assert_int_equal(unsealed_read(&t, "[" AT("0", "0") "]"), OSC_OK);
    assert_int_equal(osc_minutes_add(&minutes, 0, 0), OSC_OK);
    assert_int_equal(osc_minutes_add(&more, FIRST_NS, 5), OSC_OK);
    assert_int_equal(osc_minutes_add(&more, FIRST_NS + 1, OSC_NO_DUR), OSC_OK);
    assert_int_equal(osc_minutes_join(&minutes, &more), OSC_OK);
    assert_int_equal(osc_wild_times_leave_out(&t, &minutes, &min_ns), OSC_OK);
    assert_int_equal(min_ns, FIRST_NS);
    assert_int_equal(t.events.n_rows, 0);
    osc_minutes_fini(&minutes);
    osc_minutes_fini(&more);
    osc_trace_fini(&t);
}

TEST(survives_failing_allocations)
{
    unsealed_survives("[" HONEST "," AT("0", "0") "]", leave_out);
}

UNIT_MAIN("wild times")
