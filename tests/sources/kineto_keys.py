# SPDX-License-Identifier: Apache-2.0
"""The arguments of calls and of work on devices in Kineto's traces, key by key, and their types.

`TYPES` is what Kineto writes for CUDA, ROCm and XPU; check_kineto() compares it with its own
traces, check() a trace that was exported with it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from place import ROOT, same

DATA = ROOT.parent / "shared/data"
TRACES = (
    "wild/cuda_no_kernels",
    "wild/cuda_a100_path_overlaid",
    "wild/cuda_v100_no_shapes",
    "hta/critical_path/cuda_event_sync/event_sync_trace",
    "wild/rocm_sglang_decode",
    "hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto",
    "wild/rocm_mi210_gpu_only",
)
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "xpu_sync")
CALLS = (
    "cuda_runtime",
    "cuda_driver",
    "xpu_runtime",
    "xpu_driver",
    "privateuse1_runtime",
    "privateuse1_driver",
)
NUMBER = (int, float)
TYPES = {
    "External id": int,
    "correlation": int,
    "cbid": int,
    "cid": int,
    "queued": int,
    "device": int,
    "context": int,
    "stream": int,
    "bytes": int,
    "memory bandwidth (GB/s)": NUMBER,
    "registers per thread": int,
    "shared memory": int,
    "blocks per SM": NUMBER,
    "warps per SM": NUMBER,
    "grid": list,
    "block": list,
    "est. achieved occupancy %": NUMBER,
    "cuda_sync_kind": str,
    "wait_on_stream": int,
    "wait_on_cuda_event_record_corr_id": int,
    "wait_on_cuda_event_id": int,
    "fromDevice": int,
    "toDevice": int,
    "graph id": int,
    "graph node id": int,
}
# ROCm's calls have what they were given as text.
TEXTS_OF_CALLS = ("stream", "src", "dst", "bytes", "size", "kind", "kernel")
# Each work has these, and each call, too, but for the first two.
ALWAYS = ("device", "stream", "correlation", "External id")


def wrong(trace: dict, has_external: bool = True) -> list[str]:
    """The arguments that are not Kineto's."""
    found = []
    for event in trace["traceEvents"]:
        category, args = event.get("cat"), event.get("args", {})
        is_work, is_call = category in WORK, category in CALLS
        if event["ph"] != "X" or not (is_work or is_call):
            continue
        found += [
            f"{category}: {key} {value!r}"
            for key, value in args.items()
            if key in TYPES
            and not isinstance(value, TYPES[key])
            and not (is_call and key in TEXTS_OF_CALLS)
        ]
        wanted = ALWAYS if is_work else ALWAYS[2:]
        found += [
            f"{category}: no {key}"
            for key in wanted[: None if has_external else -1]
            if key not in args and "correlation" in args
        ]
        if is_work and event["pid"] != args.get("device"):
            found.append(f"{category}: pid {event['pid']!r} of device {args.get('device')!r}")
    return found


def check(path: Path) -> None:
    """Compare the exported trace PATH with what Kineto writes."""
    trace = json.loads(path.read_text())
    same(wrong(trace), [])
    same(any(e.get("cat") == "kernel" for e in trace["traceEvents"]), True)


def check_kineto() -> int:
    """Compare TYPES with Kineto's own traces. Returns how many there are."""
    n = 0
    for name in TRACES:
        path = DATA / f"{name}.json.gz"
        if path.is_file():
            same(wrong(json.loads(gzip.decompress(path.read_bytes())), has_external=False), [])
            n += 1
    return n
