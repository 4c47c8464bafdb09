/* SPDX-License-Identifier: Apache-2.0 */
#include "render/wrap.h"

#include "support/unit.h"

static void assert_message(size_t width, const char *text, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_wrap_message(&out, osc_str_c(text), width);
    assert_int_equal(out.status, OSC_OK);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(messages_are_wrapped_between_words)
{
    assert_message(30, "opscope table: left out", "opscope table: left out");
    assert_message(30, "opscope table: left out to fit the terminal: a, b",
                   "opscope table: left out to fit\n  the terminal: a, b");
    assert_message(30, "a_word_that_is_longer_than_the_line and more",
                   "a_word_that_is_longer_than_the_line\n  and more");
    assert_message(0, "not below twenty columns", "not below twenty\n  columns");
}

TEST(a_message_goes_on_where_a_line_has_begun)
{
    struct osc_strbuf out = {0};

    osc_strbuf_adds(&out, "opscope table: ");
    osc_wrap_message(&out, OSC_STR("quality: good"), 20);
    assert_string_equal(out.s, "opscope table: \n  quality: good");
    osc_strbuf_fini(&out);
}

TEST(what_is_in_quotes_stays_on_one_line)
{
    assert_message(30, "a wider one, a pipe or '--columns name,total_ns' shows them",
                   "a wider one, a pipe or\n  '--columns name,total_ns'\n  shows them");
    assert_message(30, "it's long enough ('opscope info x') explains",
                   "it's long enough\n  ('opscope info x') explains");
    assert_message(30, "no end of 'this is a quotation that begins",
                   "no end of 'this is a quotation\n  that begins");
}

TEST(a_command_that_does_not_fit_can_be_copied)
{
    assert_message(30, "hints; 'opscope info /tmp/a/long/path.json' explains",
                   "hints;\n  'opscope info \\\n    /tmp/a/long/path.json'\n  explains");
}

UNIT_MAIN("wrap")
