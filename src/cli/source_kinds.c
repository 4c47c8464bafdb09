/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source_kinds.h"

#include <stddef.h>

#if OSC_WITH_OPENCL
#define OPENCL_MISSING NULL
#else
#define OPENCL_MISSING                                                                         \
    "this opscope was built without the headers of OpenCL: on Debian install opencl-headers, " \
    "and build again"
#endif

#if OSC_WITH_LEVEL_ZERO
#define LEVEL_ZERO_MISSING NULL
#else
#define LEVEL_ZERO_MISSING                                                                    \
    "this opscope was built without the headers of Level Zero: on Debian install libze-dev, " \
    "and build again"
#endif

const struct osc_source_kind osc_source_kinds[OSC_SOURCE_COUNT] = {
    {.bit = OSC_SOURCE_API,
     .word = "api",
     .title = "libopscope",
     .what = "calls of libopscope, in programs that are linked with it"},
    {.bit = OSC_SOURCE_CUDA,
     .word = "cuda",
     .title = "CUDA",
     .what = "calls, kernels, copies and memory of CUDA, by CUPTI",
     .is_collected = true,
     .variable = "CUDA_INJECTION64_PATH",
     .unused = "nothing used CUDA, or the program changed CUDA_INJECTION64_PATH"},
    {.bit = OSC_SOURCE_ITT,
     .word = "itt",
     .title = "ITT",
     .what = "tasks of ITT: PyTorch's emit_itt(), oneDNN, oneTBB, OpenVINO",
     .is_collected = true,
     .variable = "INTEL_LIBITTNOTIFY64",
     .unused = "nothing called ITT, or the program changed INTEL_LIBITTNOTIFY64"},
    {.bit = OSC_SOURCE_LEVEL_ZERO,
     .word = "level-zero",
     .title = "Level Zero",
     .what = "calls, kernels, copies and memory of Level Zero",
     .is_collected = true,
     .unused = "nothing called zeInit() of a loader that it is linked with, or the program "
               "changed LD_PRELOAD",
     .missing = LEVEL_ZERO_MISSING},
    {.bit = OSC_SOURCE_NVTX,
     .word = "nvtx",
     .title = "NVTX",
     .what = "ranges and marks of NVTX 3",
     .is_collected = true,
     .variable = "NVTX_INJECTION64_PATH",
     .unused = "nothing called NVTX 3, or the program changed NVTX_INJECTION64_PATH"},
    {.bit = OSC_SOURCE_OPENCL,
     .word = "opencl",
     .title = "OpenCL",
     .what = "calls, kernels, copies and memory of OpenCL",
     .is_collected = true,
     .variable = "OPENCL_LAYERS",
     .is_list = true,
     .unused =
         "nothing used OpenCL, the program changed OPENCL_LAYERS, it called a driver without "
         "a loader, or it looked up functions of a loader without layers by dlsym()",
     .missing = OPENCL_MISSING},
    {.bit = OSC_SOURCE_TORCH,
     .word = "torch",
     .title = "PyTorch",
     .what = "operators of PyTorch in Python programs, with --torch"},
    {.bit = OSC_SOURCE_TORCH_REPLACE, .word = "torch=replace", .title = "PyTorch"},
    {.bit = OSC_SOURCE_TORCH_STACK, .word = "torch=stack", .title = "PyTorch"},
};

unsigned osc_sources_collected(void)
{
    unsigned bits = 0;

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++)
        bits |= osc_source_kinds[i].is_collected ? osc_source_kinds[i].bit : 0u;
    return bits;
}

unsigned osc_sources_built(void)
{
    unsigned bits = 0;

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++)
        bits |= osc_source_kinds[i].missing ? 0u : osc_source_kinds[i].bit;
    return bits;
}
