/* SPDX-License-Identifier: Apache-2.0 */
#include "render/symbol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_folds(const char *symbol, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_symbol_fold(&out, osc_str_c(symbol));
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

static void folds_each_list_of_template_arguments(void **state)
{
    (void)state;
    assert_folds("void at::f<4, g<float>, h<char*, 3> >(int, g<float>)",
                 "void at::f<...>(int, g<...>)");
    assert_folds("triton_poi_fused_add_0", "triton_poi_fused_add_0");
    assert_folds("f<(a->b)>::x", "f<...>::x");
}

static void leaves_operators_and_broken_names_alone(void **state)
{
    (void)state;
    assert_folds("bool operator<(int)", "bool operator<(int)");
    assert_folds("x operator->()", "x operator->()");
    assert_folds("f<int", "f<int");
    assert_folds("<forward op>", "<forward op>");
    assert_folds("a<>b", "a<>b");
    assert_folds("f>>g", "f>>g");
}

static void lets_no_name_steer_a_terminal(void **state)
{
    (void)state;
    assert_folds("f\x1b[2J<int>\n", "f\\x1b[2J<...>\\x0a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_each_list_of_template_arguments),
        cmocka_unit_test(leaves_operators_and_broken_names_alone),
        cmocka_unit_test(lets_no_name_steer_a_terminal),
    };
    return cmocka_run_group_tests_name("symbol", tests, NULL, NULL);
}
