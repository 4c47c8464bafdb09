/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_names.h"

#include "support/unit.h"

static bool is_comm(const char *kernel)
{
    return osc_known_is_comm_kernel(osc_str_c(kernel));
}

/* Print and refuse those of N KERNELS that are not, or are, communication. */
static void assert_all(bool are_comm, const char *const *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_comm(kernels[i]) != are_comm)
            print_message("%s\n", kernels[i]);
        assert_true(is_comm(kernels[i]) == are_comm);
    }
}

/* At least one for each line of the list, as profilers show them: of libraries, */
static const char *const libraries[] = {
    /* NCCL, NCCLX, RCCL */
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
    "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)",
    "ncclKernelAllGatherCtranDirect(int*, CtranAlgoDeviceState*, KernelArgs)",
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) [clone .kd]",
    "void RCCL_generic()",
    "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
    "void mscclpp::collective::allreducePacket<__half>(void*, unsigned long)",
    /* other vendors */
    "oneccl_allreduce_pcie",
    "HcclAllReduce",
    "hccl_broadcast_kernel",
    "hcom_allReduce__606_0_1",
    "hcom_broadcast__606_0_1",
    "cnclKernel_AllReduce_Ring(cnclArgs)",
    "mcclDevKernel_Broadcast_RING_LL(mcclDevComm*)",
    "void bkcl_kernel_broadcast<float>(float*)",
    "MoeDistributeDispatchV2_1a2b3c",
    /* shared memory across devices */
    "void nvshmemi_proxy_rma_entrypoint<(nvshmemi_op_t)0, 0>(void*, void*)",
    "void nvshmem_quiet_kernel()",
    "rocshmem_barrier_all_kernel()",
    "void userbuffers_fp16_sum_inplace_gpu_mc_rs_oop<4>(int, int, void**)",
    "kuserbuffers_pushrecv(int, int, int*, int*, int, unsigned long)",
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(unsigned long)",
    "void (anonymous namespace)::multimem_one_shot_reduce_kernel<float, 16>(float*)",
    "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16>(int)",
    "void (anonymous namespace)::one_shot_all_reduce_kernel<float, 16, 8>(float**)",
    "c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
    "c10d::intra_node_comm::hybridCubeMeshAllReduceKernel<true>(c10::BFloat16*)",
};

/* and of what programs bring along. */
static const char *const programs[] = {
    /* experts */
    "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)",
    "void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*)",
    "void hybrid_ep::dispatch_kernel<64>(hybrid_ep::dispatch_kernel_param_t)",
    "void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)",
    "void dpsk::ep::internode::cached_notify<false>(int, int, int, int, int*)",
    "void broadcast_on_stream_kernel<float, (threadgroup_t)2>(int, float*, float const*)",
    "sync_all_on_stream_kernel()",
    "quiet_on_stream_kernel(int*)",
    "void uccl::internode_ll::dispatch<false, false, 7168>(void*, float*)",
    "void uccl::intranode::notify_dispatch<8>(int const*, int*)",
    "EpDispatchLowLatencyAsyncSendKernel_bf16",
    "void mori::moe::EpCombineAllKernel<hip_bfloat16>(EpDispatchCombineArgs)",
    "void moeA2ADispatchKernel<8, true>(int const*, DispatchKernelPointers)",
    "void a2a_dispatch_send_kernel<true, 16, 8>(unsigned long, unsigned long)",
    "void a2a_combine_recv_kernel<16, float>(unsigned long)",
    "void tensorrt_llm::kernels::moeAllToAllKernel<true>(MoeCommParams)",
    "void allToAllV(void*, void*, long*, long*, unsigned long, unsigned long)",
    /* all-reduces of servers */
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
    "void sglang::cross_device_reduce_2stage<__nv_bfloat16, 8>(sglang::RankData*)",
    "void aiter::cross_device_reduce_2stage_write_mode<__hip_bfloat16, 8>(int)",
    "void quickreduce::prepare_kernel<__half>(__half*)",
    "void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, 8>, __half>(int)",
    "void tensorrt_llm::kernels::ar_fusion::moe::finalize_kernel<float>(Params)",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8, true, false>(Params)",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(P)",
    "void tensorrt_llm::kernels::mnnvl::rmsNormLamport<float, 128>(float*)",
    "void aiter::allgather_lastdim<__hip_bfloat16, 8>(aiter::RankData*)",
    "void aiter::reduce_scatter_first_dim<__hip_bfloat16, 8>(aiter::RankData*)",
    "all_gather_push_kernel",
    "reduceScatterKernel",
    "all_to_all_kernel",
    /* XLA, on the lines of devices that have no kernels of NCCL */
    "all-reduce.17",
    "all-gather-start.2",
    "reduce-scatter.3",
    "all-to-all.1",
    "collective-permute-start",
    "collective-broadcast.4",
};

TEST(kernels_that_communicate_are_known)
{
    assert_all(true, libraries, sizeof libraries / sizeof *libraries);
    assert_all(true, programs, sizeof programs / sizeof *programs);
}

TEST(other_kernels_are_not)
{
    static const char *const kernels[] = {
        "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(float)",
        "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float> >(int)",
        "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float, int>::Policy600>(float*)",
        "void cub::DeviceReduceSingleTileKernel<float>(float*)",
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long>(float*)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)",
        "void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)",
        "triton_poi_fused_all_gather_into_tensor_wait_tensor_0",
        "triton_red_fused__to_copy_all_reduce_mean_3",
        "void softmax_warpAllReduce<float>(float*)",
        "void BlockAllReduceSum<float, 256>(float*)",
        "void moe::dev::routing::routingIndicesHistogramKernel<KernelParams>(KernelParams)",
        "hipLaunchByPtr",
        "volta_sgemm_64x64_nt",
        "loop_scalar_fusion",
        "Memcpy PtoP (Device -> Device)",
        "void dispatch<int>(int)",
        "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*, int*)",
        "void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*, int*)",
        "void my::ep::add_kernel<float>(float*)",
        "step::epilogue<float>(float)",
        "",
    };

    assert_all(false, kernels, sizeof kernels / sizeof *kernels);
}

TEST(host_ranges_of_collectives_are_known)
{
    static const char *const ranges[] = {
        "nccl:all_reduce",    "gloo:all_gather",
        "mpi:barrier",        "ucc:broadcast",
        "xccl:all_reduce",    "hccl:all_reduce",
        "c10d::allreduce_",   "_c10d_functional::all_reduce",
        "HcclAllReduce",      "_c10d_functional::wait_tensor",
        "hcom_broadcast",     "c10d_functional::all_gather_into_tensor",
        "oneccl::allreduce",  "symm_mem::multimem_all_reduce_",
        "record_param_comms", "MPI_Allreduce",
    };
    static const char *const others[] = {"aten::add",
                                         "all_gather_into_tensor",
                                         "ncclx",
                                         "record_param_comms_2",
                                         "vllm::all_reduce",
                                         "mpi_init",
                                         ""};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_true(osc_known_is_collective(osc_str_c(ranges[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(osc_known_is_collective(osc_str_c(others[i])));
}

TEST(names_of_copies_tell_where_they_go)
{
    static const struct {
        const char *name;
        enum osc_copy_way way;
    } copies[] = {
        {"Memcpy HtoD (Pinned -> Device)", OSC_COPY_TO_DEVICE},
        {"Memcpy HtoD (Host -> Device)", OSC_COPY_TO_DEVICE},
        {"MEMCPYHtoD", OSC_COPY_TO_DEVICE},
        {"MEMORY_COPY_HOST_TO_DEVICE", OSC_COPY_TO_DEVICE},
        {"Memcpy (Pageable -> Device)", OSC_COPY_TO_DEVICE},
        {"Memcpy DtoH (Device -> Pageable)", OSC_COPY_FROM_DEVICE},
        {"CopyDeviceToHost", OSC_COPY_FROM_DEVICE},
        {"Memcpy DtoD (Device -> Device)", OSC_COPY_ON_DEVICES},
        {"Memcpy PtoP (Device -> Device)", OSC_COPY_ON_DEVICES},
        {"hipMemcpyDtoDAsync", OSC_COPY_ON_DEVICES},
        {"MEMCPY_ASYNC", OSC_COPY_UNKNOWN},
        {"Memcpy HtoH (Host -> Host)", OSC_COPY_UNKNOWN},
        {"", OSC_COPY_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        assert_int_equal(osc_known_copy_way(osc_str_c(copies[i].name)), copies[i].way);
}

UNIT_MAIN("known_names")
