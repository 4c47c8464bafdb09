/* SPDX-License-Identifier: Apache-2.0 */
#include "table/question.h"

#include "support/unit.h"

static struct osc_strbuf q, out;

static int end(void **unused)
{
    (void)unused;
    osc_strbuf_fini(&q);
    osc_strbuf_fini(&out);
    q = out = (struct osc_strbuf){0};
    return 0;
}

/* Begin the question that most tests are about. */
static void ask(void)
{
    osc_question_begin(&q, "table", "events");
    osc_question_add(&q, "sort", "-dur_ns");
    osc_question_add(&q, "merge", NULL);
    osc_question_add(&q, "where", "name = 'a \"b\"' and dur_ns > 5");
    osc_question_add(&q, "name", "--x");
}

TEST_WITH(a_question_is_a_command_line, NULL, end)
{
    ask();
    osc_question_print(&out, osc_strbuf_str(&q));
    assert_string_equal(out.s, "opscope table events --sort -dur_ns --merge --where "
                               "\"name = 'a \\\"b\\\"' and dur_ns > 5\" --name=--x");
}

TEST_WITH(a_question_is_json, NULL, end)
{
    ask();
    osc_question_json(&out, osc_strbuf_str(&q));
    assert_string_equal(out.s,
                        "{\"table\": \"events\", \"options\": {\"sort\": \"-dur_ns\", "
                        "\"merge\": true, \"where\": \"name = 'a \\\"b\\\"' and dur_ns > "
                        "5\", \"name\": \"--x\"}}");
}

TEST_WITH(other_commands_are_no_questions_about_a_table, NULL, end)
{
    osc_question_begin(&q, "info", NULL);
    osc_question_add(&q, "o", "x");
    osc_question_print(&out, osc_strbuf_str(&q));
    osc_question_json(&out, osc_strbuf_str(&q));
    osc_question_json(&out, (struct osc_str){0});
    assert_string_equal(out.s, "opscope info -o xnullnull");
}

TEST_WITH(a_view_says_what_is_selected_and_then_of_which_traces, NULL, end)
{
    const struct osc_view view = {.ranks = "0,2-3",
                                  .spans = "1",
                                  .thread = "a b",
                                  .steps = "@0-@3",
                                  .has_from = true,
                                  .from_ns = 10000,
                                  .has_to = true,
                                  .to_ns = -5};

    osc_question_add_view(&q, NULL, "");
    assert_int_equal(q.len, 0);
    osc_question_add_view(&q, &view, "ns");
    osc_question_print_options(&out, osc_strbuf_str(&q));
    assert_string_equal(out.s, " --thread 'a b' --steps @0-@3 --from 10000ns --to -5ns --rank "
                               "0,2-3 --span 1");
}

TEST_WITH(its_words_can_be_looked_up, NULL, end)
{
    ask();
    assert_true(osc_str_eq(osc_question_get(osc_strbuf_str(&q), "sort"), OSC_STR("-dur_ns")));
    assert_int_equal(osc_question_get(osc_strbuf_str(&q), "merge").len, 0);
    assert_int_equal(osc_question_get(osc_strbuf_str(&q), "limit").len, 0);
}

UNIT_MAIN("question")
