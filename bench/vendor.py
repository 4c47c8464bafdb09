#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what opscope.torch adds to a step of examples/vendor, against torch.profiler.

    python3 bench/vendor.py BUILD_DIR [--rounds N]

Needs OpenCL, a Python with torch 2.12 or newer, and BUILD_DIR/python. The device is built twice:
with the report of the example, and with a plug-in of Kineto in its place (vendor_kineto.cpp), so
that both profilers record operators, memory, calls and work. Processes of each take turns, and of
one in which torch calls an empty callback for each operator, for no profiler that torch calls can
cost less. Each takes turns between STEPS steps with its profiler and as many without, and takes
medians of the processor time of a step: of the thread that trains, of all threads, and of all with
the share of a step in stop(). Prints the medians and quartiles of the differences, and quotients,
without a verdict.
"""
from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples/vendor"
STEPS = 40
MEASURES = {"thread": "the thread that trains", "process": "all threads",
            "whole": "all threads, with stop()"}


class Watched(list):
    """A list that calls CALLED before each of its members."""

    def __init__(self, members: list[Any], called: Callable[[], None]) -> None:
        super().__init__(members)
        self.called = called

    def __iter__(self) -> Iterator[Any]:
        for x in super().__iter__():
            self.called()
            yield x


def measure(name: str, rounds: int) -> None:
    """Print microseconds a step: "MEASURE-off" and "MEASURE-on" of neighbours."""
    import torch
    import tiny  # noqa: F401  # pylint: disable=unused-import,import-error
    import train  # pylint: disable=import-error
    from torch.profiler import ProfilerActivity
    import torch_profiler  # that of this folder
    make: Any = torch_profiler.MAKERS.get(name)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    # Few images: the kernels of a large batch make no work for a profiler, but noise.
    data = [(images[:2], labels[:2]) for images, labels in train.batches(STEPS)]
    model = train.network()
    with tempfile.TemporaryDirectory() as folder:
        library = torch_profiler.build_empty(folder)

    def steps(n: int = STEPS) -> dict[str, float]:
        times = []

        def clocks() -> None:
            times.append((time.thread_time_ns() / 1e3, time.process_time_ns() / 1e3))

        train.train(model, Watched(data[:n], clocks), "tiny")
        torch.tiny.synchronize()
        return {k: statistics.median(b - a for a, b in zip(x, x[1:]))
                for k, x in zip(MEASURES, zip(*times))}

    for i in range(rounds + 1):
        off = steps()
        if name == "empty":
            with torch_profiler.empty_callback(library, has_inputs=False):
                on = steps()
            stopped_us = 0.0
        else:
            profile = make(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
                           profile_memory=True)
            profile.start()
            on = steps()
            before = time.process_time_ns()
            profile.stop()
            stopped_us = (time.process_time_ns() - before) / 1e3
        off["whole"], on["whole"] = off["process"], on["process"] + stopped_us / STEPS
        if i == 0:  # the first is slower
            if name != "empty":
                averages = {x.key: x for x in profile.key_averages()}
                assert averages["conv2d"].count == 2 * STEPS, averages["conv2d"]
                assert averages["aten::convolution_overrideable"].self_device_time_total > 0
            continue
        for k in MEASURES:
            print(f"{k}-off", off[k], f"\n{k}-on", on[k], flush=True)


def run(options: argparse.Namespace, name: str, folder: Path) -> dict[str, list[float]]:
    """What a process prints."""
    place = folder / ("torch" if name == "torch" else "opscope")
    if not place.exists():
        shutil.copytree(EXAMPLE, place)
        if name == "torch":
            shutil.copy(ROOT / "bench/vendor_kineto.cpp", place / "report.cpp")
    build = options.build.resolve()
    include = subprocess.run([sys.executable, "-c", "import torch; print(torch.__path__[0])"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    env = os.environ | {
        "PKG_CONFIG_PATH": str(build / "meson-uninstalled"), "LD_LIBRARY_PATH": str(build),
        "PYTHONPATH": f"{build / 'python'}:{place}", "PYTHONDONTWRITEBYTECODE": "1",
        "CPLUS_INCLUDE_PATH": f"{include}/include/kineto",
        "TORCH_EXTENSIONS_DIR": str(place / "extensions"),
        "POCL_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, __file__, str(build), "--measure", name, "--rounds",
                           str(options.rounds)], env=env, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise OSError(done.stderr)
    found: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 2:
            found.setdefault(words[0], []).append(float(words[1]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=15, help="of each process")
    parser.add_argument("--processes", type=int, default=6, help="of each profiler")
    parser.add_argument("--keep", type=Path, help="build the extensions here, or find them")
    parser.add_argument("--measure", choices=("torch", "opscope", "empty"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.rounds)
        return 0
    found: dict[str, dict[str, list[float]]] = {"torch": {}, "opscope": {}, "empty": {}}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.processes):
            for name, samples in found.items():
                for k, values in run(options, name, options.keep or Path(folder)).items():
                    samples.setdefault(k, []).extend(values)
    for k, words in MEASURES.items():
        added = {}
        for name, samples in found.items():
            off, on = samples[f"{k}-off"], samples[f"{k}-on"]
            added[name] = statistics.quantiles([y - x for x, y in zip(off, on)], n=4)
            print(f"{k:8} {name:8} adds {added[name][1]:6.1f} us a step ({added[name][0]:.0f} to "
                  f"{added[name][2]:.0f}) to {statistics.median(off):.0f} us of {words}")
        print(f"{k:8} opscope adds {added['opscope'][1] / added['torch'][1]:.2f} x what torch does, "
              f"an empty callback {added['empty'][1] / added['torch'][1]:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
