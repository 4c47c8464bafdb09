/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/classify.h"

#include "support/small_trace.h"
#include "support/unit.h"

static bool kernel_has(const char *name, uint16_t flag)
{
    return (osc_classify_kernel(osc_str_c(name)) & flag) != 0;
}

static bool host_has(const char *name, uint16_t flag)
{
    return (osc_classify_host(osc_str_c(name)) & flag) != 0;
}

TEST(kernels_of_communication_libraries_are_communication)
{
    assert_true(kernel_has("ncclKernel_AllReduce_RING_LL_Sum_float", OSC_NAME_COMM_KERNEL));
    assert_true(kernel_has("ncclDevKernel_Generic", OSC_NAME_COMM_KERNEL));
    assert_true(kernel_has("mscclKernel_Sum", OSC_NAME_COMM_KERNEL));
    assert_true(kernel_has("void RCCL_generic()", OSC_NAME_COMM_KERNEL));
    assert_false(kernel_has("hipLaunchByPtr", OSC_NAME_COMM_KERNEL));
    assert_false(kernel_has("volta_sgemm_64x64_nt", OSC_NAME_COMM_KERNEL));
}

TEST(host_ranges_of_collectives_are_told_from_the_ten_of_the_plugin)
{
    assert_true(host_has("gloo:barrier", OSC_NAME_COMM_HOST));
    assert_false(host_has("gloo:barrier", OSC_NAME_COMM_TB));
    assert_true(host_has("gloo:all_reduce", OSC_NAME_COMM_TB));
    assert_true(host_has("nccl:reduce_scatter", OSC_NAME_COMM_TB));
    assert_false(host_has("nccl:reduce_scatter_tensor", OSC_NAME_COMM_TB));
    assert_true(host_has("record_param_comms", OSC_NAME_COMM_HOST));
    assert_true(host_has("c10d::allreduce_", OSC_NAME_COMM_HOST));
    assert_false(host_has("aten::add", OSC_NAME_COMM_HOST));
}

TEST(names_that_no_rule_covers_are_unknown_not_without_tensor_cores)
{
    const uint16_t ours = osc_classify_kernel(OSC_STR("my_triton_kernel"));
    const uint16_t simt = osc_classify_kernel(OSC_STR("cutlass_simt_sgemm"));
    const uint16_t new = osc_classify_kernel(OSC_STR("sm90_xmma_fprop_implicit_gemm"));
    const uint16_t old = osc_classify_kernel(OSC_STR("volta_fp16_s884gemm"));

    assert_int_equal(osc_name_tensor_cores(ours, false), OSC_TENSOR_CORES_UNKNOWN);
    assert_int_equal(osc_name_tensor_cores(ours, true), OSC_TENSOR_CORES_NO);
    assert_int_equal(osc_name_tensor_cores(simt, false), OSC_TENSOR_CORES_NO);
    assert_int_equal(osc_name_tensor_cores(new, false), OSC_TENSOR_CORES_YES);
    assert_int_equal(osc_name_tensor_cores(new, true), OSC_TENSOR_CORES_NO);
    assert_int_equal(osc_name_tensor_cores(old, true), OSC_TENSOR_CORES_YES);
}

TEST(matrix_cores_of_amd_are_told_by_their_instructions)
{
    static const char *const with[] = {
        "Cijk_Ailk_Bljk_BBS_BH_MT128x32x64_MI16x16x16x1_SN_1LDSB0_MIAV0",
        "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN_LDSB0",
        "void paged_attention_ll4mi_QKV_mfma16_kernel<0>()",
        "ck::tensor_operation::device::kernel_gemm_xdl_cshuffle_v3<...>",
        "void ck_tile::kentry<2, ck_tile::GemmKernel<WarpGemmAttributeMfmaImpl>>()",
        "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32",
    };
    static const char *const unknown[] = {
        "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0_MIAV0_TT4_4",
        "_MI16x16",
        "Cijk_S_PostGSU",
        "igemm_fwd_gtcn2_nchwc_fp16",
    };

    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        const uint16_t flags = osc_classify_kernel(osc_str_c(with[i]));

        assert_int_equal(osc_name_tensor_cores(flags, false), OSC_TENSOR_CORES_YES);
        assert_int_equal(osc_name_tensor_cores(flags, true), OSC_TENSOR_CORES_NO);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_int_equal(
            osc_name_tensor_cores(osc_classify_kernel(osc_str_c(unknown[i])), false),
            OSC_TENSOR_CORES_UNKNOWN);
    assert_int_equal(
        osc_name_tensor_cores(osc_classify_kernel(OSC_STR("__amd_rocclr_copyBuffer")), false),
        OSC_TENSOR_CORES_NO);
}

TEST(newer_operators_are_eligible_but_not_for_the_plugin)
{
    const uint16_t old = osc_classify_host(OSC_STR("aten::mm"));
    const uint16_t new = osc_classify_host(OSC_STR("aten::convolution_backward"));

    assert_true(osc_name_is_eligible(old, false) && osc_name_is_eligible(old, true));
    assert_true(osc_name_is_eligible(new, false));
    assert_false(osc_name_is_eligible(new, true));
    assert_false(osc_name_is_eligible(osc_classify_host(OSC_STR("aten::mm_")), false));
}

TEST(a_trace_knows_whether_its_device_communicates)
{
    struct osc_trace t = {0};
    struct osc_classes c;

    assert_true(small_load(&t, KERNEL("sgemm", 0, 5, 1)));
    assert_int_equal(osc_classes_make(&t, &c), OSC_OK);
    assert_false(c.has_device_comm);
    osc_classes_fini(&c);
    osc_trace_fini(&t);

    assert_true(small_load(&t, WORK("kernel", "k", 0, 5, 1, ",'Collective name':'allreduce'")));
    assert_int_equal(osc_classes_make(&t, &c), OSC_OK);
    assert_true(c.has_device_comm);
    assert_true(osc_is_comm_kernel(&c, small_chunk(&t), 0));
    assert_true(osc_is_on_device(&c, small_chunk(&t), 0));
    osc_classes_fini(&c);
    osc_trace_fini(&t);
}

TEST(calls_of_the_runtime_are_known_by_what_they_do)
{
    assert_true(host_has("cudaStreamSynchronize", OSC_NAME_SYNC));
    assert_true(host_has("hipMemcpyWithStream", OSC_NAME_SYNC));
    assert_false(host_has("cudaMemcpyAsync", OSC_NAME_SYNC));
    assert_true(host_has("cudaFree", OSC_NAME_ALLOCATOR));
    assert_false(host_has("cudaFreeHost", OSC_NAME_ALLOCATOR));
    assert_true(host_has("cudaGraphLaunch", OSC_NAME_GRAPH));
    assert_false(host_has("cudaLaunchKernel", OSC_NAME_GRAPH | OSC_NAME_SYNC));
    assert_true(host_has("aclrtSynchronizeStream", OSC_NAME_SYNC));
    assert_true(host_has("synDeviceFree", OSC_NAME_ALLOCATOR));
}

TEST(launches_are_known_in_every_family)
{
    static const char *const calls[] = {"cudaLaunchKernel",
                                        "hipExtModuleLaunchKernel",
                                        "urEnqueueKernelLaunch",
                                        "zeCommandListAppendLaunchKernel",
                                        "clEnqueueNDRangeKernel",
                                        "zeCommandListAppendMemoryCopy",
                                        "synLaunch",
                                        "aclrtLaunchKernelWithConfig",
                                        "urEnqueueUSMMemcpy",
                                        "zorkLaunchKernel"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_true(host_has(calls[i], OSC_NAME_LAUNCH));
    assert_false(host_has("urEventWait", OSC_NAME_LAUNCH));
    assert_false(host_has("clFinish", OSC_NAME_LAUNCH));
}

UNIT_MAIN("classify")
