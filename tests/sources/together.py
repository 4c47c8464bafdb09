#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: together
# args: --opscope {gcc}/opscope --python {nvtx|python3}
# step: together-asan
# args: --opscope {asan}/opscope --python {nvtx|python3}
# mode: full
# step: together-tsan
# args: --opscope {tsan}/opscope --python {nvtx|python3}
# mode: full
"""Check that `opscope run` records a program that uses all sources at once, and its children.

NVIDIA's headers of NVTX come from a Python that has them (--python). Ends with "N passed, N
failed".
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import cuda
import level_zero
import nvtx
import opencl
from place import HERE, Missing, Place, run, same

ON_DEVICES = ("kernel", "memcpy", "memset", "sync")
KERNELS = {
    ("opencl:0", "add_one"): 10,
    ("opencl:0", "scale"): 1,
    ("xpu:0", "add"): 10,
    ("xpu:0", "scale"): 1,
}
OF_CUDA = {
    ("cuda:0", cuda.ADD_CXX): 10,
    ("cuda:0", "scale"): 1,
    ("cuda:1", "other"): 1,
    ("cuda:0", "triton_fused"): 1,
    ("cuda:0", "node"): 3,
}


def program(place: Place) -> str:
    """All clients as one program, each with a main() of another name."""
    for part in (opencl.program, nvtx.client):  # what cannot be built is missing
        part(place)
    include = nvtx.headers(place, "nvidia.nvtx")
    objects = []
    for source, name in (
        ("opencl.c", "opencl"),
        ("level_zero/client.c", "level_zero"),
        ("nvtx.c", "nvtx"),
        ("cuda.c", "cuda"),
    ):
        objects.append(str(place.folder / f"{name}.o"))
        subprocess.run(
            [
                "cc",
                "-O1",
                "-c",
                f"-Dmain={name}_main",
                str(HERE / source),
                "-o",
                objects[-1],
                f"-I{include}",
                f"-I{place.folder}",
                *place.options(),
            ],
            check=True,
        )
    return place.build(
        "cc", "together.c", *objects, "-lOpenCL", "-lze_loader", "-lpthread", "-ldl"
    )


def environment(place: Place) -> dict[str, str]:
    driver = place.folder / "libze_fake.so"
    driver.write_bytes(Path(level_zero.driver(place)).read_bytes())
    return {
        name: value for name, value in os.environ.items() if not name.startswith("OPSCOPE")
    } | {
        "ZE_ENABLE_ALT_DRIVERS": str(driver),
        "LD_LIBRARY_PATH": str(cuda.fake(place)),
        "POCL_CACHE_DIR": str(place.folder / "cache"),
    }


def record(place: Place, how: str) -> Path:
    """Run the program, which ends HOW, alone and by `opscope run`, and compare what it does."""
    command, env = [program(place), how], environment(place)
    alone = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    out = place.folder / f"run-{how}"
    done = subprocess.run(
        [place.opscope, "run", "-o", out, "--", *command],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    same(
        (done.returncode, sorted(done.stdout.splitlines()), done.stderr),
        (alone.returncode, sorted(alone.stdout.splitlines()), alone.stderr),
    )
    if "no driver" in alone.stdout:
        raise Missing("Level Zero does not work here")
    return out


def check(events: list[dict], kernels: dict[tuple[str, str], int]) -> None:
    work = [row for row in events if row["kind"] in ON_DEVICES]
    same(
        dict(Counter((row["device"], row["name"]) for row in work if row["kind"] == "kernel")),
        kernels,
    )
    calls = {
        row["args"]["correlation"]: row
        for row in events
        if row["kind"] in ("runtime", "driver") and "correlation" in row["args"]
    }
    hosts = {"opencl:0": "opencl", "xpu:0": "level-zero", "cuda:0": "cuda", "cuda:1": "cuda"}
    for row in work:  # each is linked to a call of the thread that uses its runtime
        call = calls[row["args"]["correlation"]]
        same(call["thread_name"], hosts[row["device"]])
    ranges = {(row["kind"], row["name"]) for row in events if row.get("thread_name") == "nvtx"}
    same({("operator", "aten::empty"), ("annotation", "my label")} <= ranges, True)


def all_sources_are_in_one_recording(place: Place) -> None:
    out = record(place, "return")
    check(place.events(out), KERNELS | OF_CUDA)
    info = {row["key"] for row in place.table("info", out)}
    same(
        {"meta.source.cuda", "meta.source.level-zero", "meta.source.nvtx", "meta.source.opencl"}
        <= info,
        True,
    )
    devices = {row["device"] for row in place.table("devices", out)}
    same({"cuda:0", "opencl:0", "xpu:0"} <= devices, True)


def a_process_that_ends_at_once_has_recorded_what_was_finished(place: Place) -> None:
    for how in ("_exit", "signal"):
        events = place.events(record(place, how))
        # CUPTI gives back what it has each second, and this takes about one.
        has_flushed = any(row.get("device") == "cuda:0" for row in events)
        check(events, KERNELS | OF_CUDA if has_flushed else KERNELS)
        same(sum(row["name"] == "cudaLaunchKernel" for row in events), 12)


def children_have_recordings_of_their_own(place: Place) -> None:
    out = record(place, "child")
    files = [path for path in sorted(out.iterdir()) if path.suffix == ".osc"]
    both = [place.events(path) for path in files]
    for events in both:
        if any(row["kind"] == "kernel" for row in events):
            check(events, KERNELS | OF_CUDA)
    same(sum(any(row["kind"] == "kernel" for row in events) for events in both), 2)


def each_device_has_its_averages(place: Place) -> None:
    out = record(place, "return")
    for device, kernel, n in (
        ("opencl:0", "add_one", 10),
        ("xpu:0", "add", 10),
        ("cuda:0", "triton_fused", 1),
    ):
        done = subprocess.run(
            [
                place.opscope,
                "table",
                "averages",
                out,
                "--device",
                device,
                "--format",
                "csv",
                "--columns",
                "name,calls,device_ns",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = dict(
            (name, (int(calls), int(ns or 0)))
            for name, calls, ns in (
                line.rsplit(",", 2) for line in done.stdout.splitlines()[1:]
            )
        )
        same(rows[kernel][0], n)
        same(rows[kernel][1] > 0, True)
        others = {"add_one", "add", "triton_fused"} - {kernel}
        same(others & set(rows), set())


TESTS = (
    all_sources_are_in_one_recording,
    a_process_that_ends_at_once_has_recorded_what_was_finished,
    children_have_recordings_of_their_own,
    each_device_has_its_averages,
)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
