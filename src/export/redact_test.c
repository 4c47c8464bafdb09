/* SPDX-License-Identifier: Apache-2.0 */
#include "export/redact.h"

#include "support/unit.h"

static const char *const kept[] = {
    "",
    "aten::add_.Tensor",
    "c10d::allreduce_",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "torch::autograd::AccumulateGrad",
    "<forward op>",
    "ProfilerStep#12",
    "[memory]",
    "nccl:all_reduce",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "Optimizer.step#AdamW.step",
    "nn.Module: Conv2d_10",
    "torch/nn/functional.py(1760): relu",
    "cudaLaunchKernel",
    "hipMemcpyAsync",
    "Memcpy HtoD (Pinned -> Device)",
    "ampere_sgemm_128x64_nn",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
    "void deep_ep::intranode::dispatch<8, 768>(int4*, float*)",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
    "hcom_allReduce__606_0_1",
    "triton_poi_fused_add_cos_sin_0",
    ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::(anonymous namespace)::f(int)::{lambda(float)#1}, unsigned int, 4> >(char*, "
     "3ul)"),
    ("void "
     "cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5>(cutlass_80_simt_sgemm_128x32_8x5::"
     "Params)"),
    "thread 2869224 (python3.10)",
    "GPU 0",
    "stream 7 ",
    "-5",
    "18446744073709551615",
    "NVIDIA A100-SXM4-80GB",
    "cpu_op",
};

static const char *const replaced[] = {
    "secret",
    "phase1/forward",
    "secret/train.py(12): step",
    "/home/al/torch/x.py(1): f",
    "torch/x.py(1): f of \"al\"",
    "torch/home",
    "<built-in method load of /a/b>",
    "C:\\Users\\me\\a.py(3): f",
    "aten::add /home/al",
    "aten::add secret",
    "secret::add",
    "::secret",
    "(anonymous namespace)::secret<at::Tensor>",
    "void at::native::kernel<secret::Functor>(int)",
    "void at::native::kernel<4>(secret_op(at::Tensor)::{lambda()#1})",
    "secret_kernel(float*, int)",
    "SecretFnBackward",
    "python train.py --token X",
    "GPU 10.0.0.17",
    "10.0.0.17",
    "10 20",
    "0x7fff",
    "GET https://al:pw@srv.de/a/set.bin?token=x",
    "tcp://10.0.0.17:29500",
    "al@srv",
    "name 17",
    "GPU \"0\"",
    "forward\n",
};

TEST(every_word_is_known_or_the_text_goes)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const struct osc_str text = osc_str_c(kept[i]);

        if (osc_redact_keeps(text) != text.len)
            fail_msg("%s does not stay", kept[i]);
    }
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (osc_redact_keeps(osc_str_c(replaced[i])) != 0)
            fail_msg("%s stays", replaced[i]);
    assert_int_equal(osc_redact_keeps(OSC_STR("GPU\0 0")), 0);
}

TEST(prefixes_that_analyses_go_by_stay)
{
    assert_int_equal(osc_redact_keeps(OSC_STR("nn.Module: Secret_0")), 11);
    assert_int_equal(osc_redact_keeps(OSC_STR("Optimizer.step#Secret.step")), 15);
    assert_int_equal(
        osc_redact_keeps(OSC_STR("autograd::engine::evaluate_function: SecretBackward")), 37);
}

UNIT_MAIN("redact")
