#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what opscope.torch adds to a step of examples/vendor, against torch.profiler.

    python3 bench/vendor.py BUILD_DIR [--rounds N | --count]

Needs OpenCL, a Python with torch 2.12 or newer, and BUILD_DIR/python. The device is built twice:
with the report of the example, and with a plug-in of Kineto in its place (vendor_kineto.cpp), so
that both profilers record operators, memory, calls and work. Processes of each take turns, and of
one in which torch calls an empty callback for each operator, for no profiler that torch calls can
cost less. Each takes turns between STEPS steps with its profiler and as many without, and takes
medians of the processor time of a step: of the thread that trains, of all threads, and of all with
the share of a step in stop(). Prints the medians and quartiles of the differences, and quotients,
without a verdict. --count prints how many instructions each adds instead, which other load does not
change.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples/vendor"
STEPS = 40
MEASURES = {
    "thread": "the thread that trains",
    "process": "all threads",
    "whole": "all threads, with stop()",
}


class Watched(list):
    """A list that calls CALLED before each of its members."""

    def __init__(self, members: list[Any], called: Callable[[], None]) -> None:
        super().__init__(members)
        self.called = called

    def __iter__(self) -> Iterator[Any]:
        for x in super().__iter__():
            self.called()
            yield x


def recorded(name: str, library: Any) -> Any:
    """A context in which NAME records; the library is that of torch_profiler.build_empty()."""
    import torch_profiler  # that of this folder
    from torch.profiler import ProfilerActivity

    if name == "off":
        return contextlib.nullcontext()
    if name == "empty":
        return torch_profiler.empty_callback(library, has_inputs=False)
    return torch_profiler.MAKERS[name](
        activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], profile_memory=True
    )


def measure(name: str, rounds: int) -> None:
    """Print microseconds a step: "MEASURE-off" and "MEASURE-on" of neighbours."""
    import tiny  # noqa: F401  # pylint: disable=unused-import,import-error
    import torch
    import torch_profiler  # that of this folder
    import train  # pylint: disable=import-error

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
        return {
            k: statistics.median(b - a for a, b in zip(x, x[1:]))
            for k, x in zip(MEASURES, zip(*times))
        }

    if rounds == 0:  # valgrind counts this
        steps(3)
        with recorded(name, library):
            steps(5)
            for word in ("on", "off"):
                subprocess.run(
                    ["callgrind_control", "-i", word, str(os.getpid())],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                if word == "on":
                    steps()
        return
    for i in range(rounds + 1):
        off = steps()
        with recorded(name, library) as profile:
            on = steps()
            before = time.process_time_ns()
        stopped_us = (time.process_time_ns() - before) / 1e3
        off["whole"], on["whole"] = off["process"], on["process"] + stopped_us / STEPS
        if i == 0:  # the first is slower
            if name in ("torch", "opscope"):
                averages = {x.key: x for x in profile.key_averages()}
                assert averages["conv2d"].count == 2 * STEPS, averages["conv2d"]
                assert averages["aten::convolution_overrideable"].self_device_time_total > 0
            continue
        for k in MEASURES:
            print(f"{k}-off", off[k], f"\n{k}-on", on[k], flush=True)


def run(options: argparse.Namespace, name: str, rounds: int, folder: Path, *before: str) -> str:
    """What a process prints, started by the words BEFORE."""
    place = folder / ("torch" if name == "torch" else "opscope")
    if not place.exists():
        shutil.copytree(EXAMPLE, place)
        if name == "torch":
            shutil.copy(ROOT / "bench/vendor_kineto.cpp", place / "report.cpp")
    build = options.build.resolve()
    include = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.__path__[0])"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    env = os.environ | {
        "LD_LIBRARY_PATH": str(build),
        "PYTHONPATH": f"{build / 'python'}:{place}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CPLUS_INCLUDE_PATH": f"{include}/include/kineto",
        "TORCH_EXTENSIONS_DIR": str(place / "extensions"),
        "POCL_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [
            *before,
            sys.executable,
            __file__,
            str(build),
            "--measure",
            name,
            "--rounds",
            str(rounds),
        ],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise OSError(done.stderr)
    return done.stdout


def count(options: argparse.Namespace, folder: Path) -> None:
    """Print the instructions a step of the thread that trains, and of that of the engine."""
    totals = {}
    for name in ("off", "torch", "opscope", "empty"):
        run(options, name, 1, folder)  # or the extension would be built under valgrind
        out = folder / f"callgrind.{name}"
        run(
            options,
            name,
            0,
            folder,
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--separate-threads=yes",
            f"--callgrind-out-file={out}",
        )
        parts = sorted(folder.glob(out.name + "-*"))
        totals[name] = [
            int(line.split()[1]) / STEPS
            for part in parts
            for line in part.read_text().splitlines()
            if line.startswith("totals:")
        ]
    for thread, words in ((0, "the thread that trains"), (4, "the thread of the engine")):
        theirs = totals["torch"][thread] - totals["off"][thread]
        for name in ("torch", "opscope", "empty"):
            more = totals[name][thread] - totals["off"][thread]
            print(
                f"{name:8} {more:8.0f} instructions more a step, {more / theirs:.2f}: {words}"
            )


def samples_of(text: str) -> dict[str, list[float]]:
    """The numbers of each name that a process printed."""
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2:
            found.setdefault(words[0], []).append(float(words[1]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=15, help="of each process")
    parser.add_argument("--processes", type=int, default=6, help="of each profiler")
    parser.add_argument("--count", action="store_true", help="instructions, with valgrind")
    parser.add_argument("--keep", type=Path, help="build the extensions here, or find them")
    parser.add_argument(
        "--measure", choices=("off", "torch", "opscope", "empty"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.rounds)
        return 0
    found: dict[str, dict[str, list[float]]] = {"torch": {}, "opscope": {}, "empty": {}}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        if options.count:
            count(options, folder)
            return 0
        for _ in range(options.processes):
            for name, samples in found.items():
                for k, values in samples_of(run(options, name, options.rounds, folder)).items():
                    samples.setdefault(k, []).extend(values)
    for k, words in MEASURES.items():
        added = {}
        for name, samples in found.items():
            off, on = samples[f"{k}-off"], samples[f"{k}-on"]
            differences = [y - x for x, y in zip(off, on)]
            # One sample, as of a run that only shows that the bench runs, has no quartiles.
            if len(differences) == 1:
                differences *= 2
            added[name] = statistics.quantiles(differences, n=4)
            print(
                f"{k:8} {name:8} adds {added[name][1]:6.1f} us a step ({added[name][0]:.0f} to "
                f"{added[name][2]:.0f}) to {statistics.median(off):.0f} us of {words}"
            )
        print(
            f"{k:8} opscope adds {added['opscope'][1] / added['torch'][1]:.2f} x what torch does, "
            f"an empty callback {added['empty'][1] / added['torch'][1]:.2f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
