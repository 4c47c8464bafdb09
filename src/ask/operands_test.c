/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/operands.h"

#include "support/unit.h"

static void assert_adds(const char *path, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_operands_add_trace(&out, path);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(marks_a_trace_as_a_path)
{
    assert_adds("x.json", "x.json");
    assert_adds("-", "- < FILE");
    assert_adds("-x y", "'./-x y'");
    assert_adds("steps", "./steps");
    assert_adds("run", "./run");
}

TEST(traces_stand_one_after_the_other)
{
    static const char *const paths[] = {"a b", "-"};
    struct osc_strbuf out = {0};

    osc_operands_add(&out, paths, 2);
    assert_string_equal(out.s, "'a b' - < FILE");
    osc_strbuf_fini(&out);
}

UNIT_MAIN("operands")
