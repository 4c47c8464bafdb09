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

UNIT_MAIN("list_text")
