#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What opscope.torch costs, beside torch.profiler in the same process.

    python3 bench/torch_profiler.py [--rounds N]

Needs torch, and the python/ of a build on PYTHONPATH. One thread adds tensors of
four floats. Added cost per operator: the medians of what N rounds took more than the
rounds without a profiler right before them, in time of the processor, so that what else
the machine does counts little. Then, for 100,000 operators: the time from
stop() to the printed key_averages().table(), and of export_chrome_trace().
Limits are those of the product; this prints and judges nobody.
"""
from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from typing import Any, Callable

import torch
import torch.profiler

import opscope.torch

CPU = [torch.profiler.ProfilerActivity.CPU]
LOOP = 10000
MANY = 100000
CASES: list[tuple[str, dict[str, Any], float]] = [
    ("no options", {}, 0.30),
    ("shapes", {"record_shapes": True}, 0.30),
    ("shapes, memory", {"record_shapes": True, "profile_memory": True}, 0.35),
    ("stacks", {"with_stack": True}, 0.60),
]


def per_operator(n: int = LOOP) -> float:
    """Nanoseconds that one operator takes."""
    a, b, add = torch.ones(4), torch.ones(4), torch.add
    start = time.thread_time_ns()
    for _ in range(n):
        add(a, b)
    return (time.thread_time_ns() - start) / n


def added(make: Callable[..., Any], options: dict[str, Any]) -> float:
    """Nanoseconds that one operator takes more under the profiler that MAKE makes."""
    before = min(per_operator() for _ in range(3))
    with make(activities=CPU, **options):
        per_operator()
        during = min(per_operator() for _ in range(3))
    return during - before


def afterwards(make: Callable[..., Any], options: dict[str, Any]) -> tuple[float, float]:
    """Milliseconds from stop() to the text of the table, and of the export."""
    prof = make(activities=CPU, **options)
    prof.start()
    per_operator(MANY)
    times = [time.perf_counter()]
    prof.stop()
    str(prof.key_averages().table())
    times.append(time.perf_counter())
    with tempfile.TemporaryDirectory() as directory:
        prof.export_chrome_trace(os.path.join(directory, "trace.json"))
    times.append(time.perf_counter())
    return tuple(1e3 * (b - a) for a, b in zip(times, times[1:]))  # type: ignore[return-value]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}; {per_operator(MANY):.0f} ns an operator without a profiler")
    for name, options, limit in CASES:
        theirs, ours = [], []
        for _ in range(rounds):
            theirs.append(added(torch.profiler.profile, options))
            ours.append(added(opscope.torch.profile, options))
        a, b = statistics.median(theirs), statistics.median(ours)
        print(f"{name:16} torch {a:6.0f} ns, opscope {b:6.0f} ns an operator: {b / a:.2f} "
              f"(at most {limit:.2f})")
    ours_ms = afterwards(opscope.torch.profile, {})
    theirs_ms = afterwards(torch.profiler.profile, {})
    for what, a, b, least in zip(("stop to table", "export"), theirs_ms, ours_ms, (200, 3)):
        print(f"{what:16} torch {a:8.1f} ms, opscope {b:6.1f} ms: {a / b:.0f} x (at least {least})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
