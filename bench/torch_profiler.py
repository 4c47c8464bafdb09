#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of opscope.torch against torch.profiler in the same process.

    python3 bench/torch_profiler.py [--rounds N]

Needs torch, a C++ compiler, and the python/ of a build on PYTHONPATH. One thread adds
tensors of four floats. The added cost per operator is the median over N rounds of the processor
time beyond that of a round without a profiler right before it, so that other load on the machine
matters little. It is printed with the cost of an empty callback of torch, because no profiler that
torch calls can cost less.

Then: a Python call and its return under `with_stack`, compared with an empty profile function in C;
a training step of ResNet-18 with shapes, memory and FLOPs, as the median of 3 N steps, each
compared with a step without a profiler right before it; and for 100,000 operators the time from
stop() to the printed key_averages().table(), the time of export_chrome_trace(), and the growth of
the peak memory of a process. Figures are printed without a verdict.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import torch
import torch.profiler

import opscope.torch
import opscope.torch.build

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/torch"))
from workloads import resnet18_training

CPU = [torch.profiler.ProfilerActivity.CPU]
SMOKE = "BENCH_SMOKE" in os.environ
LOOP = 100 if SMOKE else 10000
MANY = 1000 if SMOKE else 100000
MAKERS = {"torch": torch.profiler.profile, "opscope": opscope.torch.profile}
ALL_BUT_STACKS = {"record_shapes": True, "profile_memory": True, "with_flops": True}
# Empty callbacks: for torch and for the interpreter.
EMPTY_CALLBACK = """
#include <ATen/record_function.h>
static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &) { return nullptr; }
static void end(const at::RecordFunction &, at::ObserverContext *) {}
extern "C" __attribute__((visibility("default"))) unsigned long add(bool has_inputs)
{
    return at::addThreadLocalCallback(
        at::RecordFunctionCallback(begin, end).needsInputs(has_inputs));
}
extern "C" __attribute__((visibility("default"))) void take_off(unsigned long handle)
{
    at::removeCallback(handle);
}
extern "C" __attribute__((visibility("default"))) int profile(void *, void *, int, void *)
{
    return 0;
}
"""
CASES: list[tuple[str, dict[str, Any], float]] = [
    ("no options", {}, 0.30),
    ("shapes", {"record_shapes": True}, 0.30),
    ("shapes, memory", {"record_shapes": True, "profile_memory": True}, 0.35),
    ("stacks", {"with_stack": True}, 0.50),
]


def per_operator(n: int = LOOP) -> float:
    """The nanoseconds of one operator."""
    a, b, add = torch.ones(4), torch.ones(4), torch.add
    start = time.thread_time_ns()
    for _ in range(n):
        add(a, b)
    return (time.thread_time_ns() - start) / n


def added(make: Callable[..., Any], options: dict[str, Any]) -> float:
    """The nanoseconds that the profiler made by MAKE adds to one operator."""
    before = min(per_operator() for _ in range(3))
    with make(activities=CPU, **options):
        per_operator()
        during = min(per_operator() for _ in range(3))
    return during - before


@contextlib.contextmanager
def empty_callback(library: ctypes.CDLL, has_inputs: bool) -> Iterator[None]:
    """An empty callback for operators."""
    library.add.restype, library.take_off.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    handle = library.add(ctypes.c_bool(has_inputs))
    try:
        yield
    finally:
        library.take_off(handle)


@contextlib.contextmanager
def empty_profile(library: ctypes.CDLL) -> Iterator[None]:
    """An empty profile function in C."""
    set_profile = ctypes.pythonapi.PyEval_SetProfile
    set_profile.argtypes, set_profile.restype = [ctypes.c_void_p, ctypes.py_object], None
    set_profile(ctypes.cast(library.profile, ctypes.c_void_p), None)
    try:
        yield
    finally:
        set_profile(None, None)


def build_empty(directory: str) -> ctypes.CDLL:
    """Compile the empty callbacks in the same way as the recorder."""
    source, out = Path(directory) / "empty.cpp", Path(directory) / "empty.so"
    source.write_text(EMPTY_CALLBACK)
    words = opscope.torch.build.this_torch().command(out, source.parent, [])
    subprocess.run(words, check=True)
    return ctypes.CDLL(str(out))


def per_call(n: int = LOOP) -> float:
    """The nanoseconds of one call of a Python function and its return."""

    def called() -> None:
        pass

    start = time.thread_time_ns()
    for _ in range(n):
        called()
    return (time.thread_time_ns() - start) / n


def calls(library: ctypes.CDLL, rounds: int) -> dict[str, float]:
    """The nanoseconds of a call and its return, under each profiler."""
    under: dict[str, Callable[[], Any]] = {
        "nothing": contextlib.nullcontext,
        "empty": lambda: empty_profile(library),
        **{
            name: lambda make=make: make(activities=CPU, with_stack=True)
            for name, make in MAKERS.items()
        },
    }
    found: dict[str, list[float]] = {name: [] for name in under}
    for _ in range(rounds):
        for name, make in under.items():
            with make():
                per_call(LOOP // 10)
                found[name].append(min(per_call() for _ in range(3)))
    return {name: statistics.median(x) for name, x in found.items()}


def second_ms(work: Callable[[], None]) -> float:
    """The processor milliseconds of the second run of WORK."""
    work()
    start = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - start) / 1e6


def training(rounds: int) -> tuple[float, dict[str, float]]:
    """The milliseconds of a step of ResNet-18 without a profiler, and those that each adds."""
    step = resnet18_training(8, 64)
    plain: list[float] = []
    ratios: dict[str, list[float]] = {name: [] for name in MAKERS}
    for _ in range(rounds):
        for name, make in MAKERS.items():
            plain.append(second_ms(step))
            with make(activities=CPU, **ALL_BUT_STACKS):
                ratios[name].append(second_ms(step) / plain[-1])
    return statistics.median(plain), {k: statistics.median(v) for k, v in ratios.items()}


def afterwards(make: Callable[..., Any], options: dict[str, Any]) -> tuple[float, float]:
    """The milliseconds from stop() to the text of the table, and those of the export."""
    prof = make(activities=CPU, **options)
    prof.start()
    per_operator(MANY)
    times = [time.perf_counter()]
    prof.stop()
    prof.key_averages().table()
    times.append(time.perf_counter())
    with tempfile.TemporaryDirectory() as directory:
        prof.export_chrome_trace(os.path.join(directory, "trace.json"))
    times.append(time.perf_counter())
    return tuple(1e3 * (b - a) for a, b in zip(times, times[1:]))  # type: ignore[return-value]


def largest_bytes() -> int:
    """The peak memory of this process; getrusage() would include that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(x.split()[1]) for x in lines if x.startswith("VmHWM:"))


def grow(name: str) -> None:
    """Print by how many bytes this process grows under the profiler NAME."""
    per_operator()
    before = largest_bytes()
    prof = MAKERS[name](activities=CPU, record_shapes=True)
    with prof:
        per_operator(MANY)
    prof.key_averages().table()
    print(largest_bytes() - before)


def growth_mb(name: str) -> float:
    """The growth of a new process in megabytes."""
    done = subprocess.run(
        [sys.executable, __file__, "--grow", name],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    )
    return int(done.stdout.split()[-1]) / 1e6


def show(what: str, unit: str, theirs: float, ours: float, digits: int, verdict: str) -> None:
    print(
        f"{what:16} torch {theirs:8.{digits}f} {unit}, opscope {ours:7.{digits}f} {unit}: "
        f"{verdict}"
    )


def show_operators(library: ctypes.CDLL, rounds: int) -> None:
    for name, options, limit in CASES:
        has_inputs = "record_shapes" in options
        makers = {"empty": lambda **_: empty_callback(library, has_inputs), **MAKERS}
        found: dict[str, list[float]] = {maker: [] for maker in makers}
        for _ in range(rounds):
            for maker, make in makers.items():
                found[maker].append(added(make, options))
        floor, a, b = (statistics.median(x) for x in found.values())
        show(
            name,
            "ns",
            a,
            b,
            0,
            f"{b / a:.2f} (at most {limit:.2f}; an empty callback "
            f"{floor:.0f} ns, {floor / a:.2f})",
        )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--grow", choices=MAKERS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if args.grow:
        grow(args.grow)
        return 0
    with tempfile.TemporaryDirectory() as directory:
        library = build_empty(directory)
        print(
            f"torch {torch.__version__}; {per_operator(MANY):.0f} ns an operator without a "
            "profiler"
        )
        show_operators(library, args.rounds)
        ns = calls(library, args.rounds)
    show(
        "Python call",
        "ns",
        ns["torch"],
        ns["opscope"],
        0,
        f"{ns['opscope'] / ns['empty']:.2f} x the {ns['empty']:.0f} ns under an empty profile "
        f"function (at most 1.15; {ns['nothing']:.0f} ns under none)",
    )
    step_ms, longer = training(3 * args.rounds)
    print(
        f"ResNet-18 step   {step_ms:.0f} ms; torch {100 * (longer['torch'] - 1):+.2f} %, "
        f"opscope {100 * (longer['opscope'] - 1):+.2f} % (at most +1 %)"
    )
    theirs_ms, ours_ms = (afterwards(make, {}) for make in MAKERS.values())
    for what, a, b, least in zip(("stop to table", "export"), theirs_ms, ours_ms, (300, 3)):
        show(what, "ms", a, b, 1, f"{a / b:.0f} x (at least {least})")
    a, b = (growth_mb(name) for name in MAKERS)
    show("peak memory", "MB", a, b, 0, f"{b / a:.2f} (at most 0.20)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
