/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include "support/unit.h"

typedef void add_fn(struct osc_strbuf *out, const char *word);

static void assert_adds(add_fn *add, const char *word, const char *expected)
{
    struct osc_strbuf out = {0};

    add(&out, word);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(quotes_what_a_shell_would_take_apart)
{
    assert_adds(osc_shell_add_word, "a/b-c_1.json", "a/b-c_1.json");
    assert_adds(osc_shell_add_word, "", "''");
    assert_adds(osc_shell_add_word, "a b", "'a b'");
    assert_adds(osc_shell_add_word, "a'$b", "'a'\\''$b'");
    assert_adds(osc_shell_add_word, "a\n'\\\xff", "$'a\\x0a\\'\\\\\\xff'");
}

TEST(an_expression_keeps_its_quotation_marks)
{
    assert_adds(osc_shell_add_expression, "calls > 0", "\"calls > 0\"");
    assert_adds(osc_shell_add_expression, "a = 'b\"$`\\'", "\"a = 'b\\\"\\$\\`\\\\'\"");
    /* A shell at which a person types takes ! for a part of its history. */
    assert_adds(osc_shell_add_expression, "a = '!b'", "'a = '\\''!b'\\'''");
    assert_adds(osc_shell_add_expression, "a\nb", "$'a\\x0ab'");
}

UNIT_MAIN("shell")
