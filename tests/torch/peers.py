#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-peers
# with: {torch}
# args: --peers {peers}
# env: PYTHONPATH={module}
"""Check that other programs read the traces of opscope.torch like those of torch.profiler.

    python3 tests/torch/peers.py --peers PYTHON [--only NAME]

Needs torch, and the python/ of a build on PYTHONPATH. PYTHON has torch-tb-profiler 0.4.3
and HolisticTraceAnalysis 0.5. Each of some workloads runs for three steps under both
profilers at once, and with stacks under one after the other; both write traces by
tensorboard_trace_handler. In both traces the peers must find the same operators (names, shapes,
calls), memory, modules, steps and annotations, without a complaint; times differ by the costs of
the two profilers. In a trace of a fake device, which torch cannot record, they must find its
kernels. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.profiler
import workloads
from support import fake_cupti

import opscope.torch
from opscope.torch import record_function, tensorboard_trace_handler

WORKLOADS = ("residual_training", "transformer", "lstm")
CPU = [torch.profiler.ProfilerActivity.CPU]
ALL = {"record_shapes": True, "profile_memory": True, "with_flops": True}
STACKS = {"with_stack": True, "with_modules": True}
ROOT = Path(__file__).resolve().parents[2]
# A profile with a library that stands for CUPTI.
DEVICE = """
import ctypes, sys, torch
from opscope.torch import ProfilerActivity, profile
fake = ctypes.CDLL(sys.argv[1])
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
    for i in range(3):
        with torch.profiler.record_function(f"ProfilerStep#{i}"):
            fake.cudaLaunchKernel(b"scale", 7, 108, 256)
            fake.cudaMemcpyAsync(1, ctypes.c_uint64(4096), 7)
        fake.cudaDeviceSynchronize()
prof.export_chrome_trace(sys.argv[2])
"""
TIMES_MAY_DIFFER = 0.4  # of a table's sum; torch's times include its own cost


def profiles(directory: Path, **options: Any) -> list[Any]:
    """A profile of torch and one of opscope, each with a separate directory."""
    return [
        make(activities=CPU, on_trace_ready=tensorboard_trace_handler(str(place)), **options)
        for make, place in (
            (torch.profiler.profile, directory / "theirs"),
            (opscope.torch.profile, directory / "ours"),
        )
    ]


def train(work: Any) -> None:
    """Run WORK three times, as steps that both profilers see."""
    for i in range(3):
        with record_function(f"ProfilerStep#{i}"):
            work()


def record(name: str, directory: Path) -> list[Path]:
    """Record the traces of both profilers: at once, and one after the other with stacks."""
    torch.manual_seed(0)
    work = getattr(workloads, name)()
    work()
    theirs, ours = profiles(directory / "all", **ALL)
    with theirs, ours:
        train(work)
    for prof in profiles(directory / "stacks", **STACKS):
        with prof:
            train(work)
    return [
        next((directory / what / who).iterdir())
        for what in ("all", "stacks")
        for who in ("theirs", "ours")
    ]


def rows(table: list[list[Any]], n_times: int) -> list[list[Any]]:
    """TABLE without the times at the end of each row."""
    return sorted(row[:-n_times] for row in table)


def sum_differs(a: list[list[Any]], b: list[list[Any]], column: int) -> bool:
    x, y = (sum(row[column] for row in table) for table in (a, b))
    return abs(x - y) > TIMES_MAY_DIFFER * max(x, y)


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """What the peers find in only one of the two."""
    found = [f"complaint: {x}" for x in ours["complaints"] if x not in theirs["complaints"]]
    # With stacks there are two runs, which include the calls that start and stop a profiler.
    is_one_run = "Module" not in ours["plugin"]["views"]
    tables = [
        (peer, key)
        for peer in ("plugin", "hta")
        for key in ours[peer]
        if key != "calls" or is_one_run
    ]
    for peer, key in tables:
        a, b = theirs[peer][key], ours[peer][key]
        n_times = 0 if not key.startswith("operators") else 2 if peer == "plugin" else 1
        if n_times and is_one_run and (sum_differs(a, b, -1) or sum_differs(a, b, -n_times)):
            found.append(f"{peer}, {key}: the times differ")
        if n_times:
            a, b = rows(a, n_times), rows(b, n_times)
        if a != b:
            found.append(f"{peer}, {key}: {str(a)[:300]} and {str(b)[:300]}")
    return found


def record_device(directory: Path) -> Path:
    """The trace of a fake device."""
    trace = directory / "device.pt.trace.json"
    subprocess.run(
        [sys.executable, "-c", DEVICE, fake_cupti(directory), str(trace)], check=True
    )
    return trace


def device_differences(found: dict[str, Any]) -> list[str]:
    """What the peers do not find in the trace of record_device()."""
    wanted = [["scale", 3]]
    return [f"complaint: {x}" for x in found["complaints"] if "resolution" not in x] + [
        f"{peer} has the kernels {found[peer]['kernels']}"
        for peer in ("plugin", "hta")
        if found[peer]["kernels"] != wanted
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True)
    parser.add_argument("--only")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    script = Path(__file__).with_name("peer_tables.py")
    # The second peer fails if rounded times overlap.
    environment = {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1", "PYTHONPATH": ""}

    def tables(traces: list[Path]) -> list[dict[str, Any]]:
        """What the peers find in TRACES."""
        done = subprocess.run(
            [args.peers, str(script), *map(str, traces)],
            check=False,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(done.stderr)
        return list(json.loads(done.stdout))

    results: list[tuple[str, list[str]]] = []
    for name in WORKLOADS:
        if args.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as directory:
            of = tables(record(name, Path(directory)))
        results += [
            (f"{name}, {what}", differences(theirs, ours))
            for what, theirs, ours in (("all", *of[:2]), ("stacks", *of[2:]))
        ]
    if args.only in (None, "device"):
        with tempfile.TemporaryDirectory() as directory:
            results.append(
                ("device", device_differences(tables([record_device(Path(directory))])[0]))
            )
    for name, found in results:
        for line in found:
            print(f"DIFFERS {name}: {line}")
    failed = sum(bool(found) for _, found in results)
    passed = len(results) - failed
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
