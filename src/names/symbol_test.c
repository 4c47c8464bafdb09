/* SPDX-License-Identifier: Apache-2.0 */
#include "names/symbol.h"

#include "support/unit.h"

static void assert_folds(const char *symbol, const char *expected)
{
    struct osc_strbuf out = {0};

    osc_symbol_fold(&out, osc_str_c(symbol));
    assert_string_equal(out.s, expected);
    osc_strbuf_fini(&out);
}

TEST(folds_result_types_arguments_and_parameters)
{
    assert_folds("void at::f<4, g<float>, h<char*, 3> >(int, g<float>)", "at::f<...>");
    assert_folds("f<(a->b)>::x", "f<...>::x");
    assert_folds("unsigned long long a::f(int)", "a::f");
    assert_folds("float const& a::f<int>(int) const", "a::f<...>");
    assert_folds("at::Tensor const& f(at::Tensor const&)", "f");
    assert_folds("decltype(auto) f<int>(int)", "f<...>");
    assert_folds("decltype (a->b) f<int>(int)", "f<...>");
    assert_folds("void f<1, (2>1)>(int)", "f<...>");
    assert_folds("void f<((4)<(8)), (A)0>(int)", "f<...>");
    assert_folds("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, "
                 "void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, "
                 "8>(c10::BFloat16*, long, float, int, int)",
                 "vllm::fused_add_rms_norm_kernel<...>");
    assert_folds("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, "
                 "cublasGemvParams<cublasGemvTensorStridedBatched<float const>, float> "
                 ">(cublasGemvParams<cublasGemvTensorStridedBatched<float const>, float>)",
                 "internal::gemvx::kernel<...>");
    assert_folds("void f<int (*)(float, char)>(int (*)(float, char))", "f<...>");
    assert_folds("void f<&(a::g(int))>()", "f<...>");
    assert_folds("void fbgemm_gpu::permute_2D_data_kernel<false, int, int, "
                 "decltype(nullptr)>(int, decltype(nullptr) const*)",
                 "fbgemm_gpu::permute_2D_data_kernel<...>");
}

TEST(knows_scopes_lambdas_and_operators)
{
    assert_folds("void (anonymous namespace)::f<long>(long*)", "(anonymous namespace)::f<...>");
    assert_folds(
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 1>(float*)",
        "at::native::(anonymous namespace)::CatArrayBatchedCopy<...>");
    assert_folds("<unnamed>::f<int>(int)", "<unnamed>::f<...>");
    assert_folds("a::f(int)::{lambda(float)#1}::operator()(float) const",
                 "a::f::{lambda(float)#1}::operator()");
    assert_folds("a::f(int) const::{lambda(float)#1}::operator()<int>(float) const",
                 "a::f::{lambda(float)#1}::operator()<...>");
    assert_folds("void at::native::'lambda'(float)::operator()(float) const",
                 "at::native::'lambda'::operator()");
    assert_folds("bool operator<(int)", "operator<");
    assert_folds("bool a::operator< <int>(int)", "a::operator< <...>");
    assert_folds("bool a::operator>(a::b<int> const&)", "a::operator>");
    assert_folds("a::b<int> a::operator>><char>(int)", "a::operator>><...>");
    assert_folds("x operator->()", "operator->");
    assert_folds("void f<&a::operator->, 2>(int)", "f<...>");
    assert_folds("std::string f[abi:cxx11]<int>(int)", "f[abi:cxx11]<...>");
}

TEST(leaves_out_what_follows_parameters)
{
    assert_folds("void f<int>(int) [clone .kd]", "f<...>");
    assert_folds("void f<int>(int) (.kd)", "f<...>");
    assert_folds("void f<int>(int*).kd", "f<...>");
    assert_folds("void f(T) [with T = int]", "f");
}

TEST(knows_kernels_of_many_libraries)
{
    assert_folds("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                 "ncclDevKernel_AllGather_RING_LL");
    assert_folds("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                 "ncclKernel_AllReduce_RING_LL_Sum_float");
    assert_folds(
        "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>"
        "(dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel::Params)",
        "cutlass::device_kernel<...>");
    assert_folds("void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*)",
                 "dpsk::ep::internode::dispatch<...>");
    assert_folds("fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::"
                 "AttentionKernel<float, cutlass::arch::Sm80, true, 64>::Params)",
                 "fmha_cutlassF_f32_aligned_64x64_rf_sm80");
    assert_folds(
        "void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, int, "
        "(cub::BlockLoadAlgorithm)3, cub::MemBoundScaling<128, 15, int> >, int*>(int*)",
        "cub::DeviceScanKernel<...>");
    assert_folds(
        "void at::native::vectorized_elementwise_kernel<4, "
        "at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
        "const::{lambda()#4}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> "
        ">(int, "
        "at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()"
        "() const::{lambda(float)#1}, std::array<char*, 2ul>)",
        "at::native::vectorized_elementwise_kernel<...>");
    assert_folds("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_"
                 "lamport<(flashinfer::Pattern)1, __nv_bfloat16, 8, false>(Params)",
                 "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport"
                 "<...>");
    assert_folds("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, "
                 "(vllm::Fp8KVCacheDataType)0, ck_tile::ComposedAttention<0u, false> >(int)",
                 "paged_attention_ll4mi_QKV_mfma16_kernel<...>");
    assert_folds("triton_poi_fused_add_0", "triton_poi_fused_add_0");
    assert_folds("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu",
                 "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu");
    assert_folds("loop_add_fusion.3", "loop_add_fusion.3");
    assert_folds("wrapped_reduce-window", "wrapped_reduce-window");
}

TEST(leaves_other_names_alone)
{
    static const char *const names[] = {
        "f<int",
        "f>>g",
        "<forward op>",
        "a<>b",
        "f(int",
        "f)int(",
        "f<(>)",
        "x = y(z)",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
        "%fusion.1 = f32[2,2]{1,0} fusion(f32[] %x), kind=kLoop",
        "<built-in method mm>",
        "a name of words",
        "(",
        ""};

    for (size_t i = 0; i < sizeof names / sizeof *names - 1; i++)
        assert_folds(names[i], names[i]);
}

TEST(demangles_and_folds)
{
    assert_folds("_Z4gemmPfS_i", "gemm");
    assert_folds("_Z4syncv", "sync");
    assert_folds("_ZN2at6native12_GLOBAL__N_11fILi4ENS0_1gIfEEEEviT0_",
                 "at::native::(anonymous namespace)::f<...>");
    assert_folds("_ZN1aI3fooL_ZNS_1bEiEE1cILb1ELNS_4kind1tE2EL1x3ELS2_0EJifEEEvv",
                 "a<...>::c<...>");
    assert_folds("_ZSt4copyIPiS0_ET0_T_S2_S1_", "std::copy<...>");
    assert_folds("_ZN1aplERKS_", "a::operator+");
    assert_folds("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_i.kd",
                 "aiter::add_rmsnorm_quant_kernel<...>");
}

TEST(leaves_mangled_names_alone_that_it_cannot_read)
{
    static const char *const names[] = {
        "_Z",     "_ZN",     "_ZNE",     "_ZN1a",   "_ZN2a",    "_Z99999999999999999999a",
        "_ZN1aI", "_ZN1aIL", "_ZN1aILi", "_ZN1aIS", "_ZN1aIUl", "_ZN1aIXsr1bE1cEE",
        "_ZIiE",  "_ZTV1a",  "_ZN1aIDE", "_ZN1aID"};
    char deep[600] = "_Z1a";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_folds(names[i], names[i]);
    memset(deep + 4, 'I', sizeof deep - 5);
    assert_folds(deep, deep);
}

TEST(lets_no_name_steer_a_terminal)
{
    assert_folds("void f\x1b[2J<int>(int)\n", "void f\\x1b[2J<int>(int)\\x0a");
    assert_folds("void f\x1b<int>(int)", "f\\x1b<...>");
}

/* Fill TEXT with copies of PART. */
static void repeat(char *text, size_t size, const char *part)
{
    const size_t len = strlen(part);

    for (size_t i = 0; i + 1 < size; i++)
        text[i] = part[i % len];
    text[size - 1] = '\0';
}

/* Each of these would take minutes if the time were quadratic. */
TEST(takes_linear_time)
{
    static const char *const parts[] = {"a<",     "f(",  "<(", "a::",        "operator<",
                                        "a<b>::", " ",   "{",  "void f<",    "a<a>(",
                                        "_ZN1a",  "(()", "> ", "f() const::"};
    static char text[1 << 20];

    for (size_t size = 1000; size <= sizeof text; size = size * 60 < sizeof text ? size * 60
                                                         : size == sizeof text   ? size + 1
                                                                               : sizeof text) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct osc_strbuf out = {0};

            repeat(text, size, parts[i]);
            osc_symbol_fold(&out, osc_str_c(text));
            assert_true(out.len <= 2 * size);
            assert_int_equal(out.status, OSC_OK);
            osc_strbuf_fini(&out);
        }
    }
}

/* Many parts: the first ones are taken together. */
TEST(keeps_the_last_of_many_scopes)
{
    static char text[4096];
    struct osc_symbol y;
    struct osc_symbol_name name;

    repeat(text, 3001, "a::");
    strcat(text, "f<int>(int)");
    assert_int_equal(osc_symbol_scan(&y, osc_str_c(text)), OSC_OK);
    assert_true(osc_symbol_split(&y, (struct osc_span){0, y.text.len}, true, &name));
    assert_int_equal(name.n_parts, OSC_SYMBOL_PARTS_MAX);
    assert_int_equal(name.main, OSC_SYMBOL_PARTS_MAX - 1);
    assert_int_equal(name.parts[0].word.from, 0);
    assert_int_equal(name.parts[0].word.to + 2, name.parts[1].word.from);
    osc_symbol_fini(&y);
}

UNIT_MAIN("symbol")
