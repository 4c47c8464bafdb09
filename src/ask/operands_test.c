/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/operands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_adds(const char *path, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_operands_add_trace(&out, path);
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

static void marks_a_trace_as_a_path(void **state)
{
    (void)state;
    assert_adds("x.json", "x.json");
    assert_adds("-", "- < FILE");
    assert_adds("-x y", "'./-x y'");
    assert_adds("steps", "./steps");
    assert_adds("run", "./run");
}

static void ranks_and_spans_stand_before_the_traces(void **state)
{
    static const char *const paths[] = {"a b", "-"};
    const struct osc_view view = {.ranks = "0,2-3", .spans = "1"};
    struct osc_strbuf out = {0};

    (void)state;
    osc_operands_add(&out, &view, paths, 2);
    assert_string_equal(out.s, "--rank 0,2-3 --span 1 'a b' - < FILE");
    osc_strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_a_trace_as_a_path),
        cmocka_unit_test(ranks_and_spans_stand_before_the_traces),
    };

    return cmocka_run_group_tests_name("operands", tests, NULL, NULL);
}
