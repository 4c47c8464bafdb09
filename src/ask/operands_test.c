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

TEST(ranks_and_spans_stand_before_the_traces)
{
    static const char *const paths[] = {"a b", "-"};
    const struct osc_view view = {.ranks = "0,2-3", .spans = "1"};
    struct osc_strbuf out = {0};

    osc_operands_add(&out, &view, paths, 2);
    assert_string_equal(out.s, "--rank 0,2-3 --span 1 'a b' - < FILE");
    osc_strbuf_fini(&out);
}

TEST(the_rest_of_a_selection_is_options)
{
    const struct osc_view view = {.ranks = "0",
                                  .thread = "a b",
                                  .steps = "@0-@3",
                                  .has_from = true,
                                  .from_ns = 10000,
                                  .has_to = true,
                                  .to_ns = -5};
    const struct osc_view all = {.ranks = "0"};
    struct osc_strbuf out = {0};

    osc_operands_add_selection(&out, &all);
    assert_int_equal(out.len, 0);
    osc_operands_add_selection(&out, &view);
    assert_string_equal(out.s, " --thread 'a b' --steps @0-@3 --from 10000ns --to -5ns");
    osc_strbuf_fini(&out);
}

UNIT_MAIN("operands")
