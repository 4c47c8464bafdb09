# SPDX-License-Identifier: Apache-2.0
"""Kinds of trace events by their categories."""

from __future__ import annotations

import re
from functools import cache

# Lower-case category -> kind. The first four groups are the plugin's.
OF_CATEGORY = {
    "cpu_op": "operator",
    "operator": "operator",
    "hpu_op": "operator",
    "user_annotation": "annotation",
    "gpu_user_annotation": "annotation",
    "runtime": "runtime",
    "cuda_runtime": "runtime",
    "mtia_runtime": "runtime",
    "glow_runtime": "runtime",
    "hpu_runtime": "runtime",
    "xpu_runtime": "runtime",
    "privateuse1_runtime": "runtime",
    "cuda_driver": "driver",
    "xpu_driver": "driver",
    "privateuse1_driver": "driver",
    "kernel": "kernel",
    "mtia_ccp_events": "kernel",
    "memcpy": "memcpy",
    "gpu_memcpy": "memcpy",
    "hpu_memcpy": "memcpy",
    "memset": "memset",
    "gpu_memset": "memset",
    "python": "python",
    "python_function": "python",
    "cuda_sync": "sync",
    "xpu_sync": "sync",
    "cuda_event": "sync",
    "collective_comm": "communication",
    "overhead": "overhead",
}
DEVICE_CATEGORIES = {
    "kernel",
    "mtia_ccp_events",
    "memcpy",
    "gpu_memcpy",
    "hpu_memcpy",
    "memset",
    "gpu_memset",
    "gpu_user_annotation",
    "cuda_sync",
    "xpu_sync",
    "cuda_event",
}
DEVICE_WORK = {"kernel", "memcpy", "memset"}
LAUNCHES = {"runtime", "driver"}

# What MTIA's queues do besides kernels.
OF_MTIA = {
    "memcpy": ("dma_", "memcpy"),
    "memset": ("memset",),
    "sync": ("event_", "wait", "barrier", "notify_", "stream_sync"),
}

STEP_NAME = re.compile(r"ProfilerStep#([0-9]+)\Z")


def is_dataloader(name: str) -> bool:
    """An iterator's __next__, or a DataPipe."""
    return (
        name.startswith("enumerate(DataLoader)#") and name.endswith(".__next__")
    ) or name.startswith("enumerate(DataPipe)#")


def of_range(category: str, name: str, args: dict) -> str:
    """The kind of a range (X, B/E, b/e). Only host operators and annotations are refined by
    name: a device-side copy of an annotation remains one."""
    category = category.lower()
    kind = OF_CATEGORY.get(category, "scope")
    if category == "python_function" and args.get("Python module id") is not None:
        return "module"
    if category == "mtia_ccp_events":
        return next((what for what, starts in OF_MTIA.items() if name.startswith(starts)), kind)
    if kind in ("operator", "annotation") and category not in DEVICE_CATEGORIES:
        if STEP_NAME.match(name):
            return "step"
        if is_dataloader(name):
            return "dataloader"
        if name.startswith(("[pl][module]", "[pl][profile]")):  # of Lightning
            return "annotation"
    if category == "user_annotation":
        if name.startswith("Optimizer.step"):
            return "optimizer"
        if is_host_collective(name):
            return "communication"
    return kind


def of_instant(name: str, freed_or_allocated: int | None) -> str:
    """The kind of an instant. Allocator records are told apart by sign: above 0 is an
    allocation."""
    if name == "[memory]":
        return "alloc" if (freed_or_allocated or 0) > 0 else "free"
    return "oom" if name == "[OutOfMemory]" else "instant"


# --- Communication -----------------------------------------------------------------------

OPERATION = r"all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all"
COLLECTIVE_KERNEL = re.compile(
    r"(n|r|ms|one|h|m)ccl|cncl|bkcl|hcom_|(nv|roc)shmem|_on_stream_kernel|userbuffers|(deep|hybrid)_ep"
    r"|::ar_fusion::|int(er|ra)node|ep(dispatch|combine)|moe(a2a|distribute)"
    r"|a2a_(dispatch|combine)|cross_device_reduce|quickreduce|lamport|multimem_"
    r"|symmetric_memory::|collective-(permute|broadcast)|" + OPERATION,
    re.IGNORECASE,
)
WITHIN_A_DEVICE = re.compile(
    r"(warp|block)(allreduce|_all_reduce)|dispatch_layout", re.IGNORECASE
)
COLLECTIVE_ARGS = ("Collective name", "Process Group Name")
HOST_BACKENDS = (
    "nccl:",
    "gloo:",
    "mpi:",
    "ucc:",
    "xccl:",
    "hccl:",
    "Hccl",
    "hcom_",
    "oneccl",
    "MPI_",
    "c10d::",
    "c10d_functional::",
    "_c10d_functional::",
    "symm_mem::",
)
PLUGIN_COLLECTIVES = {
    f"{backend}:{name}"
    for backend in ("nccl", "gloo")
    for name in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")
}


def is_collective_kernel(name: str, args: dict) -> bool:
    """Whether a kernel is a collective, by its name in any case, or by Kineto's arguments."""
    by_name = (
        COLLECTIVE_KERNEL.search(name)
        and not WITHIN_A_DEVICE.search(name)
        and not name.startswith("triton_")
    )
    return bool(by_name) or any(args.get(key) is not None for key in COLLECTIVE_ARGS)


# Parts of the names of calls that follow those of CUDA, and whole names of others.
LAUNCH_PARTS = (
    "LaunchKernel",
    "LaunchCooperativeKernel",
    "GraphLaunch",
    "MemcpyAsync",
    "MemsetAsync",
)
LAUNCH_CALLS = set(
    """
urEnqueueKernelLaunch urEnqueueCooperativeKernelLaunchExp urEnqueueUSMMemcpy
urEnqueueUSMMemcpy2D urEnqueueUSMFill zeCommandListAppendMemoryCopy
zeCommandListAppendMemoryFill clEnqueueNDRangeKernel clEnqueueReadBuffer clEnqueueWriteBuffer
clEnqueueCopyBuffer clEnqueueFillBuffer clEnqueueSVMMemcpy clEnqueueSVMMemFill
synLaunch synLaunchExt synMemCopyAsync
""".split()
)


def always_launches(name: str) -> bool:
    """Whether a call of this name always launches something."""
    return name in LAUNCH_CALLS or any(part in name for part in LAUNCH_PARTS)


def is_host_collective(name: str) -> bool:
    """Whether a host range is a collective."""
    return name == "record_param_comms" or name.startswith(HOST_BACKENDS)


# --- Tensor Cores: the lists of the plugin, then our own ---------------------------------

TC_KERNEL_2021 = (
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688",
)
TC_KERNEL_MORE = (
    "tensorop",
    "nvjet_",
    "wgmma",
    "flash_fwd",
    "flash_bwd",
    "fmha",
    "xmma_fprop",
    "xmma_dgrad",
    "xmma_wgrad",
)
# Of AMD: instructions, and libraries whose names have their words or the size of instructions.
MATRIX_KERNEL = re.compile(r"(?i:mfma|wmma|xdl|gtcx)|^(?=.*_MT).*_MI[1-9]", re.DOTALL)
NOT_TC_KERNEL = (
    "at::native::",
    "nccl",
    "simt",
    "sgemm",
    "scudnn",
    "gemv",
    "splitKreduce_kernel",
    "cudnn::bn_",
    "cudnn::ops::",
    "cudnn::winograd",
    "cudnn::detail::",
    "wgrad_alg0_engine",
    "wgrad_alg1_engine",
    "dgrad_engine",
    "OffsetsKernel",
    "im2col",
    "nchwToNhwc",
    "nhwcToNchw",
    "softmax_warp_",
    "cunn_",
    "multi_tensor_apply_kernel",
    "split_embedding_",
    "cub::",
    "rocprim",
    "__amd_rocclr_",
)

TC_OP_2021 = set(
    """
aten::_convolution aten::conv1d aten::conv2d aten::conv3d aten::conv_tbc
aten::conv_transpose1d aten::conv_transpose2d aten::conv_transpose3d aten::convolution
aten::cudnn_convolution aten::cudnn_convolution_transpose aten::prelu aten::addmm
aten::addmv aten::addr aten::matmul aten::mm aten::mv aten::linear aten::addbmm
aten::baddbmm aten::bmm aten::chain_matmul aten::linalg_multi_dot
aten::_thnn_fused_lstm_cell aten::_thnn_fused_gru_cell aten::lstm_cell aten::gru_cell
aten::rnn_tanh_cell aten::rnn_relu_cell CudnnConvolutionBackward BmmBackward0
aten::cudnn_convolution_transpose_backward CudnnConvolutionTransposeBackward MmBackward
aten::cudnn_convolution_backward_weight aten::addmm_ AddmvBackward MvBackward
aten::cudnn_convolution_transpose_backward_weight
aten::cudnn_convolution_transpose_backward_input AddmmBackward
aten::cudnn_convolution_backward_input AddbmmBackward aten::cudnn_convolution_backward
""".split()
)
TC_OP_MORE = set(
    """
aten::convolution_backward AddmmBackward0 MmBackward0 ConvolutionBackward0
aten::scaled_dot_product_attention aten::_scaled_dot_product_flash_attention
aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention
aten::_scaled_mm aten::_grouped_mm aten::einsum
""".split()
)


@cache
def kernel_uses_tc(name: str, compat: bool) -> bool | None:
    """Whether a kernel uses Tensor Cores: with COMPAT by the list of 2021, which covers all names;
    else None if no rule covers the name."""
    if any(part in name for part in TC_KERNEL_2021):
        return True
    if compat:
        return False
    if any(part in name for part in TC_KERNEL_MORE) or MATRIX_KERNEL.search(name):
        return True
    return False if any(part in name for part in NOT_TC_KERNEL) else None


def op_is_tc_eligible(name: str, compat: bool) -> bool:
    """Whether an operator of this name can use Tensor Cores."""
    return name in TC_OP_2021 or (not compat and name in TC_OP_MORE)
