#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: cuda-layout
# args: {cupti}
"""Compare sources/cuda/cupti_abi.h with the headers of NVIDIA.

    cuda_layout.py FOLDER...

Each FOLDER has the headers of one version: cupti_activity.h and those beside it. What they include
of CUDA itself is made up, for only its names are used. Ends with "N passed, N failed".
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ABI = (ROOT / "src/sources/cuda/cupti_abi.h").read_text()
FIELD = re.compile(r"X\((\w+), (\w+), (\d+), (\w+), (\w+)\)")
# The first generation that has a member, where that is not the first one that is read. Fields
# below these are never read from older records, which their version tells.
FIRST = {
    ("Kernel", ""): 4,
    ("Kernel", "graphNodeId"): 5,
    ("Kernel", "graphId"): 6,
    ("Memcpy", "graphNodeId"): 4,
    ("Memcpy", "graphId"): 4,
    ("Memset", "graphNodeId"): 3,
    ("Memset", "graphId"): 3,
    ("MemcpyPtoP", "graphNodeId"): 3,
    ("MemcpyPtoP", "graphId"): 3,
    ("Device", ""): 2,
    ("Memory", ""): 2,
    ("Overhead", ""): 1,
}
# Names of constants of theirs, and of ours.
CONSTANTS = {
    "CUPTI_SUCCESS": "OSC_CUPTI_OK",
    "CUPTI_ERROR_MAX_LIMIT_REACHED": "OSC_CUPTI_LIMIT",
    "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED": "OSC_CUPTI_SUBSCRIBED",
    "CUPTI_ERROR_UNKNOWN": "OSC_CUPTI_UNKNOWN",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "OSC_CUPTI_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET": "OSC_CUPTI_MEMSET",
    "CUPTI_ACTIVITY_KIND_DEVICE": "OSC_CUPTI_DEVICE",
    "CUPTI_ACTIVITY_KIND_CONTEXT": "OSC_CUPTI_CONTEXT",
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": "OSC_CUPTI_KERNEL",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "OSC_CUPTI_OVERHEAD",
    "CUPTI_ACTIVITY_KIND_MEMCPY2": "OSC_CUPTI_MEMCPY2",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "OSC_CUPTI_SYNC",
    "CUPTI_ACTIVITY_KIND_MEMORY2": "OSC_CUPTI_MEMORY2",
    "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED": "OSC_CUPTI_FLUSH_FORCED",
    "CUPTI_CB_DOMAIN_DRIVER_API": "OSC_CUPTI_DRIVER",
    "CUPTI_CB_DOMAIN_RUNTIME_API": "OSC_CUPTI_RUNTIME",
    "CUPTI_API_ENTER": "OSC_CUPTI_ENTER",
    "CUPTI_API_EXIT": "OSC_CUPTI_EXIT",
    "CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020": "OSC_CUPTI_CUDA_GET_LAST_ERROR",
    "CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020": "OSC_CUPTI_CUDA_SET_DEVICE",
    "CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020": "OSC_CUPTI_CUDA_GET_DEVICE",
    "CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020": "OSC_CUPTI_CUDA_EVENT_CREATE",
    "CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020": "OSC_CUPTI_CUDA_EVENT_CREATE_WITH_FLAGS",
    "CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020": "OSC_CUPTI_CUDA_EVENT_DESTROY",
    "CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion": "OSC_CUPTI_CU_DRIVER_GET_VERSION",
    "CUPTI_DRIVER_TRACE_CBID_cuDeviceGet": "OSC_CUPTI_CU_DEVICE_GET",
    "CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice": "OSC_CUPTI_CU_CTX_GET_DEVICE",
    "CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent": "OSC_CUPTI_CU_CTX_SET_CURRENT",
    "CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent": "OSC_CUPTI_CU_CTX_GET_CURRENT",
    "CUPTI_DRIVER_TRACE_CBID_cuPointerGetAttribute": "OSC_CUPTI_CU_POINTER_GET_ATTRIBUTE",
    "CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2": "OSC_CUPTI_CU_CTX_PUSH_CURRENT",
    "CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2": "OSC_CUPTI_CU_CTX_POP_CURRENT",
    "CUPTI_DRIVER_TRACE_CBID_cuGetErrorString": "OSC_CUPTI_CU_GET_ERROR_STRING",
    "CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState": "OSC_CUPTI_CU_DEVICE_PRIMARY_CTX_GET_STATE",
    "CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress": "OSC_CUPTI_CU_GET_PROC_ADDRESS",
    "CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2": "OSC_CUPTI_CU_GET_PROC_ADDRESS_V2",
    "CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute": "OSC_CUPTI_CU_KERNEL_GET_ATTRIBUTE",
}
CALL = {
    "callbackSite": "site",
    "functionName": "name",
    "functionParams": "params",
    "functionReturnValue": "result",
    "symbolName": "symbol",
    "context": "context",
    "contextUid": "context_id",
    "correlationData": "data",
    "correlationId": "correlation",
}
SUBSCRIBER = {
    "structSize": "bytes",
    "subscriberName": "name",
    "oldSubscriberName": "old_name",
    "oldSubscriberSize": "old_name_bytes",
    "allowMultipleSubscribers": "allows_others",
}
# What the headers need of cuda.h.
CUDA = """
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef struct CUctx_st *CUcontext; typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph; typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec; typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule; typedef struct CUfunc_st *CUfunction;
typedef int CUdevice; typedef int CUdevice_attribute; typedef struct { char bytes[16]; } CUuuid;
typedef struct { void *base; size_t bytes; } CUaccessPolicyWindow;
typedef int CUgraphNodeType; typedef int CUstreamAttrID; typedef int CUstreamAttrValue;
"""


def generations(text: str, structure: str) -> list[str]:
    """The structures of all generations that are read."""
    found = set(re.findall(rf"^}} (CUpti_Activity{structure}(\d*));", text, re.M))
    return [name for name, number in sorted(found)]


def number_of(name: str, structure: str) -> int:
    return int(name.removeprefix(f"CUpti_Activity{structure}") or 1)


def checks(text: str) -> list[str]:
    """Each comparison as an expression of C."""
    made = [f"(int){theirs} == (int){ours}" for theirs, ours in CONSTANTS.items()]
    made += [
        f"offsetof(CUpti_CallbackData, {theirs}) == offsetof(struct osc_cupti_call, {ours})"
        for theirs, ours in CALL.items()
    ]
    made += [
        f"offsetof(CUpti_SubscriberParams, {theirs}) == "
        f"offsetof(struct osc_cupti_subscriber, {ours})"
        for theirs, ours in SUBSCRIBER.items()
        if "CUpti_SubscriberParams" in text
    ]
    for _, _, offset, structure, member in FIELD.findall(ABI):
        first = FIRST.get((structure, member), FIRST.get((structure, ""), 1))
        made += [
            f"offsetof({name}, {member}) == {offset}"
            for name in generations(text, structure)
            if number_of(name, structure) >= first
        ]
    return made


def compile_with(folder: Path, place: Path, source: str) -> bool:
    path = place / "layout.c"
    path.write_text(source)
    done = subprocess.run(
        [
            "cc",
            "-fsyntax-only",
            "-w",
            f"-I{place}",
            f"-I{folder}",
            f"-I{ROOT / 'src'}",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in done.stderr.splitlines():
        if "error" in line:
            print(line)
    return done.returncode == 0


def main() -> int:
    passed = failed = 0
    for folder in map(Path, sys.argv[1:]):
        text = "".join(path.read_text() for path in sorted(folder.glob("cupti_*.h")))
        made = checks(text)
        with tempfile.TemporaryDirectory(prefix="layout-") as name:
            place = Path(name)
            (place / "cuda.h").write_text(CUDA)
            (place / "builtin_types.h").write_text("")
            head = (
                "#include <cuda.h>\n#include <cupti_activity.h>\n#include <cupti_callbacks.h>\n"
                "#include <cupti_driver_cbid.h>\n#include <cupti_runtime_cbid.h>\n"
                '#include "sources/cuda/cupti_abi.h"\n'
            )
            right = compile_with(
                folder,
                place,
                head + "".join(f'_Static_assert({check}, "{check}");\n' for check in made),
            )
        print(f"{folder.name}: {len(made)} comparisons")
        passed += right
        failed += not right
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
