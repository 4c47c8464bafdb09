/* SPDX-License-Identifier: Apache-2.0 */
#include "names/demangle.h"

#include "support/unit.h"

static void assert_demangles(const char *symbol, const char *expected)
{
    struct osc_strbuf out = {0};

    assert_true(osc_demangle(&out, osc_str_c(symbol)));
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

/* The expectations are what compilers' own tools say, less result types and parameters. */
TEST(reads_names_with_their_arguments)
{
    assert_demangles("_Z4gemmPfS_i", "gemm");
    assert_demangles("_ZL6staticIA4_DnEvv", "static<decltype(nullptr) [4]>");
    assert_demangles("_ZN2at6native12_GLOBAL__N_11fILi4ENS0_1gIfEEEEviT0_",
                     "at::native::(anonymous namespace)::f<4, at::native::g<float>>");
    assert_demangles(
        "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELin1ELb0ELm3EEEvPT0_i",
        "aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, -1, false, 3ul>");
    assert_demangles("_ZN1fIJifEJEEEvv", "f<int, float>");
    assert_demangles("_ZN1fIXadL_Z4siluIiEvT_EEEEvv", "f<&silu<int>>");
    assert_demangles("_ZN7sgl_hip3actI14__hip_bfloat16TnPFT_RKS1_EXadL_Z4siluIS1_ES2_S3_EEEEvv",
                     "sgl_hip::act<__hip_bfloat16, &silu<__hip_bfloat16>>");
    assert_demangles("_Z1fIPKcRSsOsVlEvv",
                     "f<char const*, std::string&, short&&, long volatile>");
    assert_demangles("_Z1fIFivEEvv", "f<int ()>");
    assert_demangles("_Z1fIM1aiEvv", "f<int a::*>");
    assert_demangles("_Z1fILN2ns4kindE2EEvv", "f<(ns::kind)2>");
    assert_demangles("_ZN1a1bB5cxx11Ev.kd", "a::b");
}

/* What is not shown may be what cannot be read: expressions in result types and parameters. */
TEST(skips_result_types_and_parameters)
{
    assert_demangles("_Z2eiIdENSt9enable_ifIXgtstT_Li4EEvE4typeES1_", "ei<double>");
    assert_demangles("_Z3vecIfLi3EEvT_St5arrayIPcXT0_EE", "vec<float, 3>");
    assert_demangles("_Z7deducedIfEDTplfp_Li1EET_", "deduced<float>");
}

TEST(follows_what_is_mentioned_again)
{
    assert_demangles("_ZSt4copyIPiS0_ET0_T_S2_S1_", "std::copy<int*, int*>");
    assert_demangles("_Z1fIN1a1bEN1cIS1_EES2_S3_Evv", "f<a::b, c<a::b>, c, c<a::b>>");
    assert_demangles("_Z1fISt6vectorI1aSaIS1_EES3_Evv",
                     "f<std::vector<a, std::allocator<a>>, std::vector<a, std::allocator<a>>>");
}

/* Expressions stand where what they are made of is not known before the template is used; each
 * counts what S_ can refer to. */
TEST(reads_expressions)
{
    assert_demangles("_Z2eiIdENSt9enable_ifIXgtstT_Li4EEvE4typeES1_", "ei<double>");
    assert_demangles("_Z3ei2IdENSt9enable_ifIXaagtstT_Li4EltstS1_Li100EEvE4typeES1_",
                     "ei2<double>");
    assert_demangles("_Z3vecIN7cutlass4halfELi2EEvT_St5arrayIPcXT0_EE",
                     "vec<cutlass::half, 2>");
    assert_demangles("_Z7deducedIfEDTplfp_Li1EET_", "deduced<float>");
    assert_demangles("_Z1fIJifEEDTcl1gsZT_spfp_EEDpOT_", "f<int, float>");
    assert_demangles("_Z1fI1aEDTclsr3stdE7declvalIT_EEEv", "f<a>");
    assert_demangles("_Z1fI1aEDTdtcl7declvalIT_EE1bEv", "f<a>");
    assert_demangles("_Z1fIXsr1bE1cEEvv", "f<...>");
    assert_demangles(
        "_Z1gIiZ1fIiENSt9enable_ifIXntsr7is_sameIT_fEE5valueEvE4typeES2_EUlvE_EvT0_",
        "g<int, f<int>::{lambda()#1}>");
    assert_demangles("_Z1fIiQ1cIT_EEvS0_", "f<int>");
}

TEST(reads_rare_types)
{
    assert_demangles("_Z1fIVKiEvT_PS0_S1_1aS2_", "f<int const volatile>");
    assert_demangles("_Z1fIPVKi1aEvS1_S2_", "f<int const volatile*, a>");
    assert_demangles("_Z1fIDv4_fEvT_", "f<float __vector(4)>");
    assert_demangles("_Z1fIPU3AS1fEvT_", "f<float AS1*>");
    assert_demangles("_Z1fIPFivRES1_EvT_", "f<int ()*, int ()*>");
    assert_demangles("_Z1fIDhEvT_", "f<half>");
    assert_demangles("_Z1fIIifEEvv", "f<int, float>");
}

TEST(reads_members)
{
    assert_demangles("_ZN1aC1Ev", "a::a");
    assert_demangles("_ZN1a1bIiED1Ev", "a::b<int>::~b");
    assert_demangles("_ZNSt5tupleIJifdEEC1IvLb1EEEv",
                     "std::tuple<int, float, double>::tuple<void, true>");
    assert_demangles("_ZN1ScvT_IiEEv", "S::operator T<int>");
    assert_demangles("_ZN1SssERKS_", "S::operator<=>");
    assert_demangles("_ZN1SnwEm", "S::operator new");
}

/* Lambdas in functions in functions; the numbers of what is mentioned again count all of them.
 */
TEST(reads_lambdas)
{
    assert_demangles("_Z3nukIZZZN1N6normalI2GTEEvPT_ddENKUlvE_clEvENKUlvE0_clEvEUliE_EvS3_",
                     "nuk<N::normal<GT>::{lambda()#1}::operator()::{lambda()#2}::operator()::"
                     "{lambda(int)#1}>");
    assert_demangles("_Z7nullaryIiZ9transformI2GTZZZN1N6normalIS1_EEvPT_ddENKUlvE_clEvENKUlvE_"
                     "clEvEUlfE_EvS5_T0_EUlPS1_E_S8_EvS4_S9_T1_",
                     "nullary<int, transform<GT, N::normal<GT>::{lambda()#1}::operator()::"
                     "{lambda()#1}::operator()::{lambda(float)#1}>::{lambda(GT*)#1}, "
                     "N::normal<GT>::{lambda()#1}::operator()::{lambda()#1}::operator()::"
                     "{lambda(float)#1}>");
}

TEST(says_what_it_cannot_read)
{
    static const char *const names[] = {"",
                                        "f",
                                        "_Z",
                                        "_ZN",
                                        "_ZNE",
                                        "_ZN1a",
                                        "_ZN2a",
                                        "_ZN1aI",
                                        "_ZN1aIL",
                                        "_ZN1aILi",
                                        "_ZN1aIS",
                                        "_ZN1aIUl",
                                        "_ZIiE",
                                        "_ZTV1a",
                                        "_ZN1aID",
                                        "_Z1f (int)",
                                        "_Z1f?",
                                        "_Z1fIXsr1bE1cEvv",
                                        "_Z1fIXplLi1EEEvv",
                                        "_ZN1aIXfp",
                                        "_ZC1Ev",
                                        "_Z99999999999999999999a"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct osc_strbuf out = {0};

        assert_false(osc_demangle(&out, osc_str_c(names[i])));
        osc_strbuf_fini(&out);
    }
}

/* Deep names, and names that double with each part: no stack, memory or time to speak of. */
TEST(survives_names_that_grow)
{
    static const char *const parts[] = {"I",   "N",    "Z",  "1aI", "P",    "F",  "M",
                                        "L",   "J",    "U",  "Ul",  "S_",   "T_", "D",
                                        "A1_", "1a",   "X",  "St",  "K",    "E",  "Xnt",
                                        "Xcl", "DTcv", "C1", "Dv_", "U1aI", "sr", "fL"};
    static char text[1 << 16];
    struct osc_strbuf out = {0};
    size_t len;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t k = 0; k < 2; k++) {
            strcpy(text, k ? "_ZN1aI" : "_Z1aI");
            for (len = strlen(text); len + 8 < sizeof text; len += strlen(parts[i]))
                strcpy(text + len, parts[i]);
            osc_demangle(&out, osc_str_c(text));
            osc_strbuf_clear(&out);
        }
    }
    strcpy(text, "_Z1fI1aIiE");
    for (len = strlen(text); len + 20 < sizeof text; len += strlen(text + len))
        snprintf(text + len, sizeof text - len, "1bIS%c_S%c_E", "0123456789"[len % 10],
                 "0123456789"[len % 7]);
    strcpy(text + len, "Evv");
    osc_demangle(&out, osc_str_c(text));
    assert_true(out.len <= 1u << 22);
    osc_strbuf_fini(&out);
}

UNIT_MAIN("demangle")
