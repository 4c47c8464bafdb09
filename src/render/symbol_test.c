/* SPDX-License-Identifier: Apache-2.0 */
#include "render/symbol.h"

#include "support/unit.h"

static void assert_folds(const char *symbol, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_symbol_fold(&out, osc_str_c(symbol));
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(folds_each_list_of_template_arguments)
{
    assert_folds("void at::f<4, g<float>, h<char*, 3> >(int, g<float>)",
                 "void at::f<...>(int, g<...>)");
    assert_folds("triton_poi_fused_add_0", "triton_poi_fused_add_0");
    assert_folds("f<(a->b)>::x", "f<...>::x");
}

TEST(leaves_operators_and_broken_names_alone)
{
    assert_folds("bool operator<(int)", "bool operator<(int)");
    assert_folds("x operator->()", "x operator->()");
    assert_folds("f<int", "f<int");
    assert_folds("<forward op>", "<forward op>");
    assert_folds("a<>b", "a<>b");
    assert_folds("f>>g", "f>>g");
}

TEST(demangles_and_folds)
{
    assert_folds("_Z4gemmPfS_i", "gemm(...)");
    assert_folds("_Z4syncv", "sync()");
    assert_folds("_ZN2at6native12_GLOBAL__N_11fILi4ENS0_1gIfEEEEviT0_",
                 "at::native::(anonymous namespace)::f<...>(...)");
    assert_folds("_ZN1aI3fooL_ZNS_1bEiEE1cILb1ELNS_4kind1tE2EL1x3ELS2_0EJifEEEvv",
                 "a<...>::c<...>()");
    assert_folds("_ZN1kIZN1m1fEvEUlfE_Z1gvEUliE0_EEvT_", "k<...>(...)");
    assert_folds("_ZSt4copyIPiS0_ET0_T_S2_S1_", "std::copy<...>(...)");
    assert_folds("_ZL6staticIA4_DnEvv", "static<...>()");
}

TEST(leaves_mangled_names_alone_that_it_cannot_read)
{
    static const char *const names[] = {
        "_Z",          "_ZN",     "_ZNE",     "_ZN1a",    "_ZN2a",    "_Z99999999999999999999a",
        "_ZN1aI",      "_ZN1aIL", "_ZN1aILi", "_ZN1aIS",  "_ZN1aIUl", "_ZN1aIXsr1bE1cEE",
        "_ZplRK1aS1_", "_ZIiE",   "_ZTV1a",   "_ZN1aIDE", "_ZN1aID"};
    char deep[600] = "_Z1a";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_folds(names[i], names[i]);
    memset(deep + 4, 'I', sizeof deep - 5);
    assert_folds(deep, deep);
}

TEST(lets_no_name_steer_a_terminal)
{
    assert_folds("f\x1b[2J<int>\n", "f\\x1b[2J<...>\\x0a");
}

UNIT_MAIN("symbol")
