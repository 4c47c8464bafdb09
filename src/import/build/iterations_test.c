/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/iterations.h"

#include "base/strbuf.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define NOTE(name, tid, ts, dur) RANGE("user_annotation", name, tid, ts, dur, "")

static struct osc_trace trace;
static struct osc_strbuf said;

static int end(void **state)
{
    (void)state;
    osc_trace_fini(&trace);
    osc_strbuf_fini(&said);
    return 0;
}

/* The numbers of the rows of EVENTS that are steps, such as "0 2 3". */
static const char *steps_of(const char *events)
{
    osc_trace_fini(&trace);
    osc_strbuf_clear(&said);
    assert_true(small_load(&trace, events));
    const struct osc_chunk *const c = small_chunk(&trace);

    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->kind[i] == OSC_KIND_STEP)
            osc_strbuf_addf(&said, "%s%u", said.len > 0 ? " " : "", i);
    osc_strbuf_addc(&said, '\0');
    assert_int_equal(said.status, OSC_OK);
    return said.s;
}

TEST_WITH(three_ranges_of_one_pattern_are_iterations, NULL, end)
{
    assert_string_equal(steps_of(NOTE("execute_context_1(888)_generation_0(0)", 1, 0, 40) NOTE(
                            "execute_context_0(0)_generation_16(16)", 1, 50, 40)
                                     NOTE("execute_context_0(0)_generation_9(9)", 1, 100, 40)),
                        "0 1 2");
    assert_true(trace.has_iterations);
    assert_string_equal(steps_of(NOTE("step[DECODE bs=32]", 1, 0, 40) NOTE(
                            "step[EXTEND bs=(1)]", 1, 40, 40) NOTE("step", 1, 80, 40)),
                        "0 1 2");
    assert_string_equal(steps_of(NOTE("a 1", 1, 0, 40) NOTE("a 22", 1, 50, 40)), "");
    assert_false(trace.has_iterations);
    assert_string_equal(
        steps_of(NOTE("a 1", 1, 0, 40) NOTE("b 2", 1, 40, 40) NOTE("a 3", 1, 80, 40)), "");
    assert_string_equal(
        steps_of(NOTE("a 1", 1, 0, 40) NOTE("a 2", 2, 40, 40) NOTE("a 3", 1, 80, 40)), "");
}

#define CHANGE(name, tid, ts) \
    "{'ph':'i','s':'t','name':'recording " name "','pid':1,'tid':" #tid ",'ts':" #ts "},"

TEST_WITH(time_in_which_recording_was_paused_does_not_count, NULL, end)
{
    const char *const three =
        NOTE("a 1", 1, 0, 40) NOTE("a 2", 1, 100, 40) NOTE("a 3", 1, 200, 40);
    struct osc_strbuf text = {0};

    assert_string_equal(steps_of(three), "");
    osc_strbuf_addf(&text, "%s%s", three, CHANGE("paused", 2, 40) CHANGE("resumed", 2, 95));
    assert_string_equal(steps_of(text.s), ""); /* a gap of 60 is left */
    osc_strbuf_adds(&text, CHANGE("paused", 1, 145) CHANGE("paused", 2, 150)
                               CHANGE("resumed", 1, 195) CHANGE("resumed", 2, 198));
    assert_string_equal(steps_of(text.s), "0 1 2");
    osc_strbuf_fini(&text);
}

TEST_WITH(they_last_four_fifths_of_the_time, NULL, end)
{
    assert_string_equal(
        steps_of(NOTE("a 1", 1, 0, 40) NOTE("a 2", 1, 50, 40) NOTE("a 3", 1, 110, 40)),
        "0 1 2");
    assert_string_equal(
        steps_of(NOTE("a 1", 1, 0, 40) NOTE("a 2", 1, 50, 40) NOTE("a 3", 1, 111, 40)), "");
}

TEST_WITH(ranges_inside_others_are_none_and_the_longest_series_is_chosen, NULL, end)
{
    assert_string_equal(steps_of(NOTE("all", 1, 0, 300) NOTE("a 1", 1, 0, 100)
                                     NOTE("a 2", 1, 100, 100) NOTE("a 3", 1, 200, 100)),
                        "");
    assert_string_equal(steps_of(NOTE("b 1", 2, 0, 99) NOTE("b 2", 2, 99, 99)
                                     NOTE("b 3", 2, 198, 99) NOTE("a 1", 1, 0, 100)
                                         NOTE("a 2", 1, 100, 100) NOTE("a 3", 1, 200, 100)),
                        "3 4 5");
}

TEST_WITH(a_trace_with_steps_has_no_iterations, NULL, end)
{
    assert_string_equal(steps_of(STEP(1, 0, 10) NOTE("a 1", 2, 0, 40) NOTE("a 2", 2, 40, 40)
                                     NOTE("a 3", 2, 80, 40)),
                        "0");
    assert_false(trace.has_iterations);
}

UNIT_MAIN("iterations")
