#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: clients
# args: --opscope {gcc}/opscope --python {torch|python3}
# turn: 7
"""Check that programs which call ITT are recorded: opscope's tables show what they did.

Our own client covers rare cases (an old static part, kill -9, fork); oneTBB, LLVM's OpenMP, PyTorch
and OpenVINO are real clients, each skipped if it is not installed. Ends with "N passed, N failed".
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter

from place import ROOT, Missing, Place, lines, run, same

TORCH = """
import torch
from torch import nn
x, net = torch.rand(2, 3, 8, 8), nn.Conv2d(3, 5, 3)
with torch.autograd.profiler.emit_itt():
    for i in range(3):
        with torch.profiler.itt.range(f"iteration_{i}"):
            net(x)
    for i in range(50):
        torch.profiler.itt.mark("half way")
        torch.profiler.itt.range_push("nothing")
        torch.profiler.itt.range_pop()
"""

OPENVINO = """
import numpy as np, openvino as ov
from openvino import opset13 as ops
x = ops.parameter([1, 3, 8, 8], np.float32)
w = ops.constant(np.ones((4, 3, 3, 3), np.float32))
model = ov.Model([ops.relu(ops.convolution(x, w, [1, 1], [0, 0], [0, 0], [1, 1]))], [x])
request = ov.Core().compile_model(model, "CPU").create_infer_request()
for _ in range(3):
    request.infer({0: np.ones((1, 3, 8, 8), np.float32)})
"""


NEST = [
    ("annotation", "iteration_0", None),
    ("operator", "aten::linear", "iteration_0"),
    ("operator", "aten::addmm", "aten::linear"),
]


def tasks_nest(place: Place) -> None:
    done, out = place.record([place.client(), "nest"])
    same((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
    same(lines(place.events(out)), NEST)
    hello = {row["key"]: row["value"] for row in place.table("info", out)}["meta.source.itt"]
    same(hello, "version 3.0, build 20230630, 9 of 9 functions")


def what_was_there_before_is_used(place: Place) -> None:
    _, out = place.record([place.client(), "late"])
    found = place.events(out)
    same(lines(found), [("scope", "made before", None)])
    same(found[0]["args"], {"domain": "early"})


def kill_loses_nothing_and_leaves_open_what_was(place: Place) -> None:
    done, out = place.record([place.client(), "kill"])
    same(done.returncode, -signal.SIGKILL)
    found = place.events(out)
    same(
        lines(found),
        [*NEST, ("operator", "aten::left_open", None), ("operator", "aten::done", None)],
    )
    same([row["dur_ns"] is None for row in found], [False] * 3 + [True, False])


def what_is_open_at_the_end_stays_open(place: Place) -> None:
    _, out = place.record([place.client(), "open"])
    same(
        {row["name"] for row in place.events(out) if row["dur_ns"] is None}, {"aten::left_open"}
    )


def ends_without_a_begin_are_counted(place: Place) -> None:
    done, out = place.record([place.client(), "ends"])
    same(done.returncode, 0)
    found = place.events(out)
    same(
        [(row["name"], row["dur_ns"] is None) for row in found],
        [("whole", False), ("region", False)],
    )
    quality = {row["code"]: row["count"] for row in place.table("quality", out)}
    same(quality.get("unmatched_end"), 6)


def a_forked_child_has_a_recording_and_a_hello(place: Place) -> None:
    done, out = place.record([place.client(), "fork"])
    same(done.returncode, 0)
    recordings = {}
    for path in sorted(out.iterdir()):
        if path.suffix == ".sock":
            continue
        names = tuple(row["name"] for row in place.events(path))
        recordings[names] = "meta.source.itt" in {
            row["key"] for row in place.table("info", path)
        }
    same(recordings, {("aten::parent",): True, ("aten::child",): True})


def an_exec_starts_another_recording(place: Place) -> None:
    client = place.client()
    _, out = place.record([client, "exec", client])
    found = [row["name"] for row in place.events(out)]
    same(sorted(found), sorted([name for _, name, _ in NEST] * 2))


def two_static_parts_say_hello(place: Place) -> None:
    _, out = place.record([place.client(), "parts"])
    facts = {row["key"]: row["value"] for row in place.table("info", out)}
    same(facts["meta.source.itt.2"], "version 3.0, build 20250807, 9 of 9 functions")


def threads_come_and_go(place: Place) -> None:
    _, out = place.record([place.client(), "threads"])
    found = place.events(out)
    same((len(found), {row["name"] for row in found}), (300, {"aten::one_of_many"}))


def what_a_handler_does_is_recorded_or_counted(place: Place) -> None:
    done, out = place.record([place.client(), "signals"])
    found = place.events(out)
    dropped = [
        int(row["value"]) for row in found if row["name"] == "sources: calls within calls"
    ]
    same(sum(row["name"] == "aten::task" for row in found) >= 50000, True)
    handled = sum(row["name"] == "aten::handler" for row in found) + (dropped or [0])[-1] // 2
    # The count itself may be dropped while the recorder changes blocks; then that loss is counted.
    lost = sum(
        row["count"] for row in place.table("quality", out) if row["code"] == "dropped_nested"
    )
    same(0 <= int(done.stdout) - handled <= lost, True)


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    for env in (
        {"OPSCOPE": "0"},
        {"OPSCOPE_SOURCES": "api"},
        {"INTEL_LIBITTNOTIFY64": "/nowhere/libopscope-collect.so"},
    ):
        done, out = place.record([place.client(), "nest"], env)
        same((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        same(list(out.iterdir()), [])


def beside(place: Place, name: str, *command: str) -> dict[str, str]:
    """The environment for a copy of the collector next to the libopscope that COMMAND makes."""
    folder = place.folder / name
    folder.mkdir()
    shutil.copy(place.opscope.parent / "libopscope-collect.so", folder)
    if command:
        done = subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-std=c11",
                "-D_GNU_SOURCE",
                "-w",
                "-o",
                str(folder / "libopscope.so.0"),
                "-Wl,-soname,libopscope.so.0",
                *command,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Missing(f"no library can be built: {done.stderr[-200:]}")
    return {"INTEL_LIBITTNOTIFY64": str(folder / "libopscope-collect.so")}


def a_library_of_another_version_costs_the_recording_alone(place: Place) -> None:
    client, empty = place.client(), place.folder / "empty.c"
    empty.write_text("int osc_version(void);\nint osc_version(void) { return 0; }\n")
    for env in (beside(place, "old", str(empty)), beside(place, "none")):
        done, out = place.record([client, "nest"], env)
        same((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        same(list(out.iterdir()), [])
    parts = [
        str(path)
        for folder in ("recorder", "recording", "wire")
        for path in (ROOT / "src" / folder).rglob("*.c")
        if not path.name.endswith("_test.c")
    ]
    parts += [str(ROOT / "src/base" / name) for name in ("clock.c", "pid.c", "status.c")]
    newer = beside(
        place,
        "newer",
        f"-I{ROOT}/src",
        f"-I{ROOT}/include",
        "-fvisibility=hidden",
        '-DOSC_VERSION="9.9.9"',
        *parts,
        "-lpthread",
    )
    done, out = place.record([client, "nest"], newer)
    same((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
    same(lines(place.events(out)), NEST)
    facts = {row["key"]: row["value"] for row in place.table("info", out)}
    same("9.9.9" in facts.values(), True)


def run_sets_what_it_takes(place: Place) -> None:
    out = place.folder / "run"
    done = subprocess.run(
        [str(place.opscope), "run", "-o", str(out), "--", place.client(), "nest"],
        capture_output=True,
        text=True,
        check=False,
        env={
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPSCOPE", "INTEL_"))
        },
    )
    same((done.returncode, done.stdout), (0, "done\n"))
    same(lines(place.events(out)), NEST)


def tbb_is_recorded(place: Place) -> None:
    done, out = place.record([place.build("c++", "tbb.cpp", "-ltbb")])
    same((done.returncode, done.stdout, done.stderr), (0, "10\n", ""))
    found = place.events(out)
    same({"tbb", "tbb.flow"} <= {row["args"].get("domain") for row in found}, True)
    same(
        any(row["kind"] == "scope" and row["name"] == "tbb_parallel_for" for row in found), True
    )
    same([row["parent"] for row in found if row["name"] == "body"], ["tbb_flow_graph"] * 2)


def openmp_is_recorded(place: Place) -> None:
    program = place.build("clang", "openmp.c", "-g", "-fopenmp")
    done, out = place.record([program], {"OMP_NUM_THREADS": "2"})
    same((done.returncode, done.stdout, done.stderr), (0, "899985\n", ""))
    frames = [
        row for row in place.events(out) if row["name"].startswith("main$omp$parallel:2@")
    ]
    same((len(frames), all(row["dur_ns"] > 0 for row in frames)), (3, True))
    same("OMP Primary Thread #0" in {row["name"] for row in place.table("threads", out)}, True)


def torch_is_recorded(place: Place) -> None:
    _, out = place.record(place.script("torch", TORCH))
    found = place.events(out)
    same(
        [row["parent"] for row in found if row["name"] == "aten::conv2d"],
        [f"iteration_{i}" for i in range(3)],
    )
    same(
        [row["name"] for row in found if row["kind"] == "step"],
        ["iteration_0", "iteration_1", "iteration_2"],
    )
    same(
        {(row["kind"], row["name"]) for row in found if row["name"] in ("half way", "nothing")},
        {("instant", "half way"), ("annotation", "nothing")},
    )
    calls = {row["name"]: row["calls"] for row in place.table("operators", out)}
    same(calls["aten::conv2d"], 3)


def openvino_is_recorded(place: Place) -> None:
    _, out = place.record(place.script("openvino", OPENVINO))
    found = place.events(out)
    same(sum("::infer::" in row["name"] for row in found), 3)
    same(
        sum(
            row["name"] == "convolution" and row["args"]["domain"] == "dnnl::primitive::execute"
            for row in found
        )
        >= 3,
        True,
    )


def operators_of_torch_are_recorded_once(place: Place) -> None:
    """By the recorder, and not by ITT, too; ranges of the program by ITT."""
    out = place.folder / "both"
    done = subprocess.run(
        [
            str(place.opscope),
            "run",
            "--torch",
            "--sources",
            "itt,torch",
            "-o",
            str(out),
            "--",
            *place.script("torch", TORCH),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    found = Counter(row["name"] for row in place.events(out) if row["kind"] != "alloc")
    same((found["aten::conv2d"], found["iteration_0"], found["half way"]), (3, 1, 50))


TESTS = (
    tasks_nest,
    what_was_there_before_is_used,
    kill_loses_nothing_and_leaves_open_what_was,
    what_is_open_at_the_end_stays_open,
    ends_without_a_begin_are_counted,
    a_forked_child_has_a_recording_and_a_hello,
    an_exec_starts_another_recording,
    two_static_parts_say_hello,
    threads_come_and_go,
    what_a_handler_does_is_recorded_or_counted,
    nothing_happens_where_nobody_wants_it,
    a_library_of_another_version_costs_the_recording_alone,
    run_sets_what_it_takes,
    tbb_is_recorded,
    openmp_is_recorded,
    torch_is_recorded,
    operators_of_torch_are_recorded_once,
    openvino_is_recorded,
)


if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
