/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/list_text.h"

#include "support/unit.h"

static void is(const char *json, const char *text)
{
    struct osc_strbuf out = {0};

    osc_list_text(osc_str_c(json), &out);
    assert_string_equal(out.s ? out.s : "", text);
    osc_strbuf_fini(&out);
}

TEST(lists_look_as_python_prints_them)
{
    is("[[32,256],[ 1 ,2],\n[]]", "[[32, 256], [1, 2], []]");
    is("[]", "[]");
    is(" [1, -2.5, null, true, false]", "[1, -2.5, None, True, False]");
    is("[\"a, b\",\"[\"]", "['a, b', '[']");
}

TEST(what_is_no_list_gives_nothing_and_what_is_cut_ends)
{
    is("{\"a\": 1}", "");
    is("", "");
    is("17", "");
    is("[1, \"ab", "[1, 'ab'");
    is("[tr", "[tr");
    is("[\"\\", "['\\'");
}

static void elements_are(const char *json, bool has_any, const char *text)
{
    struct osc_strbuf out = {0};

    assert_int_equal(osc_list_elements(osc_str_c(json), &out), has_any);
    assert_string_equal(out.s ? out.s : "", text);
    osc_strbuf_fini(&out);
}

TEST(elements_have_commas_between_them_and_a_blank_before_each_that_is_not_empty)
{
    elements_are("[\"float\",\"long int\" ,\n \"Scalar\"]", true, "float, long int, Scalar");
    elements_are("[\"float\", \"\", \"c10::BFloat16\", \"\"]", true, "float,, c10::BFloat16,");
    elements_are("[\"\", \"\"]", true, ",");
    elements_are("[\"\"]", true, "");
    elements_are("[\"a\\\"b\", null, 1, [\"x\", true], -2.5]", true,
                 "a\"b, None, 1, ['x', True], -2.5");
}

TEST(what_has_no_elements_says_so_and_what_is_cut_ends)
{
    elements_are("[]", false, "");
    elements_are(" [ ]", false, "");
    elements_are("\"float\"", false, "");
    elements_are("{\"a\": 1}", false, "");
    elements_are("", false, "");
    elements_are("[\"float\", \"lo", true, "float, \"lo");
}

UNIT_MAIN("list_text")
