/* SPDX-License-Identifier: Apache-2.0 */
#include "export/redact.h"

#include <stdio.h>

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
    "/device:GPU:0",
    "/host:CPU",
    "/job:worker/replica:0/task:1/device:GPU:0/stream:13 Compute",
    "/gpu:0 (stream:all) Compute",
    "Stream #16(Kernel,MemcpyD2H)",
    "XLA Ops",
    "Ascend Hardware",
    "CPU functions",
    "6 GPU1",
    "2 CPU HIP API",
    "Step Trace(Model ID:2)",
    "KERNEL_AIVEC",
    "copy-start.12",
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
    "/home/device:1",
    "/device:GPU:0/secret",
    "/job:secret/task:0",
    "node17 /device:GPU:0",
    "DEVICE<node17>0:29:0:0 #0",
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

/* TEXT with its host as "*". */
static const char *hidden(const char *text)
{
    static char out[80];
    struct osc_redact_part host = {0, 0};

    if (!osc_redact_host(osc_str_c(text), &host))
        return "";
    (void)snprintf(out, sizeof out, "%.*s*%s", (int)host.from, text, text + host.to);
    return out;
}

TEST(names_of_devices_hide_their_hosts)
{
    assert_string_equal(hidden("RANK 3 DEVICE<node17>0:29:0:0 #0"),
                        "RANK 3 DEVICE<*>0:29:0:0 #0");
    assert_string_equal(hidden("HOST<node17>"), "HOST<*>");
    assert_string_equal(hidden("node17 /device:TPU:0"), "* /device:TPU:0");
    assert_string_equal(hidden("secret DEVICE<node17>"), "");
    assert_string_equal(hidden("DEVICE<node17> secret"), "");
    assert_string_equal(hidden("f<int>"), "");
    assert_string_equal(hidden("cd /home/al"), "");
    assert_string_equal(hidden(""), "");
}

TEST(prefixes_that_analyses_go_by_stay)
{
    assert_int_equal(osc_redact_keeps(OSC_STR("nn.Module: Secret_0")), 11);
    assert_int_equal(osc_redact_keeps(OSC_STR("Optimizer.step#Secret.step")), 15);
    assert_int_equal(
        osc_redact_keeps(OSC_STR("autograd::engine::evaluate_function: SecretBackward")), 37);
}

UNIT_MAIN("redact")
