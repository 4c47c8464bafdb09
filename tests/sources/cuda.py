#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: cuda
# args: --opscope {gcc}/opscope --python {torch|python3}
# turn: 5
# step: cuda-asan
# args: --opscope {asan}/opscope --python {torch|python3} --only counted
# full: --opscope {asan}/opscope --python {torch|python3}
# step: cuda-tsan
# args: --opscope {tsan}/opscope --python {torch|python3}
# mode: full
"""Check that programs which use CUDA are recorded, and that they notice nothing.

The device is a fake: fake_cupti.c reports work that nobody does. Ends with "N passed, N failed".
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import each_profile
import kineto_keys
from place import HERE, ROOT, Missing, Place, counted, run, same

ADD = "_ZN2at6native7add_oneILi4EfEEvPT0_"
ADD_CXX = "void at::native::add_one<4, float>(float*)"
WORK = Counter(
    {
        ("kernel", ADD): 10,
        ("kernel", "scale"): 1,
        ("kernel", "other"): 1,
        ("kernel", "triton_fused"): 1,
        ("kernel", "node"): 3,
        ("memcpy", "Memcpy HtoD (Pageable -> Device)"): 1,
        ("memcpy", "Memcpy DtoD (Device -> Device)"): 1,
        ("memcpy", "Memcpy DtoH (Device -> Pinned)"): 1,
        ("memcpy", "Memcpy PtoP (Device -> Device)"): 1,
        ("memset", "Memset (Device)"): 1,
        ("sync", "Stream Sync"): 1,
        ("sync", "Context Sync"): 1,
    }
)
CALLS = Counter(
    {
        ("runtime", "cudaLaunchKernel"): 12,
        ("driver", "cuLaunchKernel"): 1,
        ("runtime", "cudaGraphLaunch"): 1,
        ("runtime", "cudaMemcpyAsync"): 3,
        ("runtime", "cudaMemcpyPeerAsync"): 1,
        ("runtime", "cudaMemsetAsync"): 1,
        ("runtime", "cudaStreamSynchronize"): 1,
        ("runtime", "cudaDeviceSynchronize"): 1,
        ("runtime", "cudaMalloc"): 2,
        ("runtime", "cudaFree"): 1,
    }
)
ON_DEVICES = ("kernel", "memcpy", "memset", "sync")
# Bytes of records of kernels, copies and sets, and the version of CUPTI that has them.
GENERATIONS = (
    (144, 64, 64, 10),
    (160, 72, 72, 13),
    (168, 80, 80, 14),
    (176, 80, 80, 16),
    (200, 88, 88, 18),
    (208, 88, 88, 24),
    (216, 96, 88, 130000),
    (256, 112, 104, 130500),
)


def fake(place: Place, name: str = "libcupti.so.13", *options: str) -> Path:
    """The folder with the fake library NAME."""
    folder = place.folder / f"fake-{name}{''.join(options)}"
    if not folder.is_dir():
        folder.mkdir()
        subprocess.run(
            [
                "cc",
                "-O1",
                "-shared",
                "-fPIC",
                "-fvisibility=hidden",
                f"-I{ROOT}/src",
                str(HERE / "fake_cupti.c"),
                "-o",
                str(folder / name),
                f"-Wl,-soname,{name}",
                *options,
                *place.options(),
                "-lpthread",
            ],
            check=True,
        )
    return folder


def record(
    place: Place, what: str = "plain", knobs: str = "", name: str = "libcupti.so.13", **env: str
):
    """Run the program alone and recorded, compare what it does, and return its recording."""
    program = place.build("cc", "cuda.c", "-ldl", "-lpthread")
    log = place.folder / f"log-{place.n_recordings}"
    collector = str(place.opscope.parent / "libopscope-collect.so")
    given = {"LD_LIBRARY_PATH": str(fake(place, name)), "FAKE_CUPTI": knobs} | env
    command = [program, what, name]
    without = {"LD_PRELOAD": place.preloaded(env["LD_PRELOAD"])} if "LD_PRELOAD" in env else {}
    alone = subprocess.run(
        command,
        env=os.environ | given | without | {"SECOND": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    done, out = place.record(
        command,
        {
            "CUDA_INJECTION64_PATH": collector,
            "FAKE_CUPTI_LOG": str(log),
            "OPSCOPE_SOURCES": "api,cuda",
        }
        | given,
    )
    same(
        (done.returncode, done.stdout, done.stderr),
        (alone.returncode, alone.stdout, alone.stderr),
    )
    place.log = (
        [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    )
    return out


def on_devices(events: list[dict]) -> list[dict]:
    return [row for row in events if row["kind"] in ON_DEVICES]


def calls_of(events: list[dict]) -> list[dict]:
    return [row for row in events if row["kind"] in ("runtime", "driver")]


def count(events: list[dict]) -> Counter:
    # Some libraries, as those of sanitizers, bring one that tells the names of C++.
    return Counter(
        (row["kind"], ADD if row["name"] == ADD_CXX else row["name"]) for row in events
    )


def counters(events: list[dict]) -> dict[str, int]:
    return {row["name"]: row["args"]["value"] for row in events if row["kind"] == "counter"}


def source_of(place: Place, out: Path) -> str:
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    return info.get("meta.source.cuda") or info.get("meta.source_failed.cuda", "")


def check_times(place: Place, work: list[dict]) -> None:
    """Compare the times of WORK with those that the fake reported."""
    told = [row for row in place.log if row["kind"] in ON_DEVICES]
    same(len(work), len(told))
    rows = sorted(work, key=lambda row: row["start_ns"])
    first, last = rows[0], rows[-1]
    ns_per_tick = (last["start_ns"] - first["start_ns"]) / (
        told[-1]["start"] - told[0]["start"]
    )
    for row, wanted in zip(rows, told):
        start = (wanted["start"] - told[0]["start"]) * ns_per_tick
        dur = (wanted["end"] - wanted["start"]) * ns_per_tick
        same(
            (
                row["kind"],
                abs(row["start_ns"] - first["start_ns"] - start) <= 3,
                abs(row["dur_ns"] - dur) <= 3,
            ),
            (wanted["kind"], True, True),
        )


def check_links(events: list[dict]) -> None:
    """Each work belongs to the call that made it."""
    calls = {row["args"]["correlation"]: row for row in calls_of(events)}
    for row in on_devices(events):
        call = calls[row["args"]["correlation"]]
        wanted = {
            "kernel": ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch"),
            "memcpy": ("cudaMemcpyAsync", "cudaMemcpyPeerAsync"),
            "memset": ("cudaMemsetAsync",),
            "sync": ("cudaStreamSynchronize", "cudaDeviceSynchronize"),
        }[row["kind"]]
        same(call["name"] in wanted, True)
        same(call["start_ns"] <= row["start_ns"] <= call["start_ns"] + call["dur_ns"], True)


def all_work_is_recorded_and_linked(place: Place) -> None:
    out = record(place)
    events = place.events(out)
    same(count(on_devices(events)), WORK)
    same(count(calls_of(events)), CALLS)
    check_links(events)
    check_times(place, on_devices(events))
    same(source_of(place, out), "CUPTI 130500 in libcupti.so.13")
    same(counters(events), {})
    same(
        [row["name"] for row in events if row["kind"] == "overhead"], ["Lazy Function Loading"]
    )


def records_of_all_generations_are_read(place: Place) -> None:
    for kernel, copy, memset, version in GENERATIONS:
        for shift in ("", ",shift"):
            out = record(
                place,
                knobs=f"kernel={kernel},copy={copy},set={memset},version={version}{shift}",
            )
            events = place.events(out)
            same(count(on_devices(events)), WORK)
            check_links(events)
            check_times(place, on_devices(events))
            nodes = [
                row["args"].get("graph node id")
                for row in on_devices(events)
                if row["name"] == "node"
            ]
            same(nodes, [1000, 1001, 1002] if version >= 14 else [None] * 3)


def arguments_are_those_of_kineto(place: Place) -> None:
    out = record(place)
    work = {row["name"]: row["args"] for row in on_devices(place.events(out))}
    args = dict(work["scale"])
    same(args.pop("correlation") > 0, True)
    same(
        args,
        {
            "device": 0,
            "device family": "cuda",
            "context": 1,
            "stream": 7,
            "grid": [54, 1, 1],
            "block": [256, 1, 1],
            "registers per thread": 32,
            "shared memory": 1536,
            "blocks per SM": 0.5,
            "warps per SM": 4,
            "est. achieved occupancy %": 6,
        },
    )
    same((work["other"]["device"], work["other"]["stream"]), (1, 20))
    same(work["node"]["graph id"], 1)
    peer = work["Memcpy PtoP (Device -> Device)"]
    same((peer["fromDevice"], peer["toDevice"], peer["bytes"]), (0, 1, 2048))
    same(work["Memset (Device)"]["bytes"], 256)
    kernels = {row["name"]: row for row in place.table("kernels", out)}
    same(kernels["scale"]["mean_blocks_per_sm"], 0.5)
    same(kernels["scale"]["mean_occupancy_ratio"], 0.06)
    devices = place.table("devices", out)
    same(
        [(row["device"], row["name"], row["sm_count"]) for row in devices],
        [("cuda:0", "Fake A100", 108), ("cuda:1", "Fake H100", 108)],
    )


def memory_is_that_of_the_driver(place: Place) -> None:
    peaks = place.table("memory_peaks", record(place))
    same(
        [(row["device"], row["peak_bytes"], row["live_bytes"]) for row in peaks],
        [("cuda:0", (1 << 20) + (1 << 16), (1 << 20) + (1 << 16))],
    )
    # Torch's allocator reports its own; and waits are not in its tables.
    out = record(place, OPSCOPE_SOURCES="api,cuda,torch")
    same([row for row in place.events(out) if row["kind"] in ("alloc", "free", "sync")], [])


def names_are_those_of_cxx_where_a_library_tells_them(place: Place) -> None:
    out = record(place, LD_PRELOAD="libstdc++.so.6")
    same(
        {
            row["name"]
            for row in on_devices(place.events(out))
            if row["name"].startswith("void")
        },
        {ADD_CXX},
    )


def what_has_no_times_is_counted(place: Place) -> None:
    for knob in ("zero", "unordered"):
        events = place.events(record(place, knobs=knob))
        n = len(on_devices(events))
        same(counters(events), {"cuda: work without times": WORK.total() - n})
        same(n, WORK.total() - WORK.total() // 3)


def what_has_not_ended_is_counted(place: Place) -> None:
    events = place.events(record(place, "exit"))
    same(count(on_devices(events)), WORK)
    same(counters(events), {"cuda: work that had not finished at the end": 1})


def dropped_records_are_counted(place: Place) -> None:
    events = place.events(record(place, knobs="dropped=5"))
    same(counters(events), {"cuda: activity records dropped by CUPTI": 5})


def what_cannot_be_read_is_counted(place: Place) -> None:
    events = place.events(record(place, knobs="bad"))
    same(count(on_devices(events)), WORK)
    same(counters(events), {"cuda: records that cannot be read": 1})


def buffers_without_an_end_are_left(place: Place) -> None:
    for knob, n in (("stuck", 1), ("empty", 0)):
        out = record(place, knobs=knob)
        same(len(place.events(out)) >= n, True)
        same(set(counted(place, out)), {"cuda: records that cannot be read"})


def what_has_no_name_is_recorded(place: Place) -> None:
    out = record(place, knobs="names")
    events = place.events(out)
    same(
        count(row for row in on_devices(events) if row["kind"] == "kernel"),
        Counter({("kernel", "<unknown>"): 16}),
    )
    same(
        count(calls_of(events)),
        Counter({("runtime", "<unknown>"): 23, ("driver", "<unknown>"): 1}),
    )
    same(
        [(row["device"], row["name"]) for row in place.table("devices", out)],
        [("cuda:0", None), ("cuda:1", None)],
    )
    same(counted(place, out), {})


def devices_without_properties_have_no_occupancy(place: Place) -> None:
    out = record(place, knobs="properties")
    events = place.events(out)
    same(count(on_devices(events)), WORK)
    same([row for row in on_devices(events) if "blocks per SM" in row["args"]], [])
    same({row["sm_count"] for row in place.table("devices", out)} <= {None, 0}, True)


def the_loss_of_a_device_is_counted(place: Place) -> None:
    out = record(place, knobs="lost=5")
    same(counted(place, out), {"cuda: flushes that failed": 1})
    calls = count(calls_of(place.events(out)))
    same(calls["runtime", "cudaLaunchKernel"], 4)


def a_device_that_is_reset_stays_the_same(place: Place) -> None:
    out = record(place, "reset")
    events = place.events(out)
    same(
        count(on_devices(events)),
        WORK + Counter({("kernel", "after"): 1, ("sync", "Context Sync"): 1}),
    )
    found = {row["name"]: row["args"] for row in on_devices(events)}
    for name in ("after", "Context Sync"):
        same((found[name]["device"], found[name]["context"]), (0, 3))
    same(counted(place, out), {})


def a_second_collector_records_nothing(place: Place) -> None:
    first = place.opscope.parent / "libopscope-collect.so"
    same(count(on_devices(place.events(record(place, SECOND=str(first))))), WORK)
    folder = place.folder / "second"
    folder.mkdir()
    shutil.copy(first, folder)
    out = record(
        place,
        SECOND=str(folder / first.name),
        LD_LIBRARY_PATH=f"{fake(place)}:{place.opscope.parent}",
    )
    events = place.events(out)
    same((count(on_devices(events)), count(calls_of(events))), (WORK, CALLS))
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same("another profiler" in info["meta.source_failed.cuda"], True)


def a_program_that_closes_all_files_is_recorded(place: Place) -> None:
    out = record(place, "close", knobs="ignore")
    same(count(on_devices(place.events(out))), WORK + Counter({("kernel", "after"): 1}))
    same(counted(place, out), {})


def a_program_that_leaves_while_its_threads_launch_is_recorded(place: Place) -> None:
    out = record(place, "busy", knobs="ignore")
    events = place.events(out)
    # What the threads launch after the last flush is lost with the process.
    n = sum(row["kind"] == "kernel" and row["name"] == "kernel" for row in events)
    launched = sum(row["name"] == "cudaLaunchKernel" for row in events) - 12
    same((n > 100, n <= launched), (True, True))


def another_profiler_is_named_and_left_alone(place: Place) -> None:
    for error in (39, 12):
        out = record(place, knobs=f"subscribe={error},by=CUPTI for Nsight")
        same(
            source_of(place, out),
            "another profiler (CUPTI for Nsight) already uses CUPTI in this "
            "process; GPU activity is not recorded",
        )
        same(on_devices(place.events(out)), [])


def errors_of_cupti_are_told(place: Place) -> None:
    same(source_of(place, record(place, knobs="all=999")), "no usable CUDA driver")
    same(
        source_of(place, record(place, knobs="kinds=27")), "CUPTI records no kernels (error 27)"
    )
    same(
        source_of(place, record(place, knobs="subscribe=1")),
        "cuptiSubscribe() failed with error 1",
    )


def a_version_that_is_not_known_is_told(place: Place) -> None:
    out = record(place, knobs="version=140000")
    same(
        source_of(place, out),
        "CUPTI 140000 in libcupti.so.13, newer than this version knows; "
        "unknown fields are ignored",
    )
    same(count(on_devices(place.events(out))), WORK)


def a_clock_of_cupti_is_compared(place: Place) -> None:
    out = record(place, knobs="clock=1")
    events = place.events(out)
    same(count(on_devices(events)), WORK)
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same("meta.device_clock.cuda:0" in info, True)
    calls = {row["args"]["correlation"]: row for row in calls_of(events)}
    for row in on_devices(events):
        call = calls[row["args"]["correlation"]]
        same(abs(row["start_ns"] - call["start_ns"]) < 10_000_000, True)


def buffers_may_come_from_another_thread(place: Place) -> None:
    events = place.events(record(place, knobs="thread"))
    same(count(on_devices(events)), WORK)
    check_links(events)


def threads_launch_at_once(place: Place) -> None:
    events = place.events(record(place, "threads"))
    wanted = WORK + Counter({("kernel", "kernel"): 400, ("sync", "Stream Sync"): 400})
    same(count(on_devices(events)), wanted)
    check_links(events)


def many_buffers_are_read(place: Place) -> None:
    out = record(place, "many", knobs="ignore")
    same(count(on_devices(place.events(out))), WORK + Counter({("kernel", "many"): 100000}))


def a_library_that_the_program_unloads_stays(place: Place) -> None:
    events = place.events(record(place, "unload"))
    same(count(on_devices(events)), WORK)


def a_killed_program_loses_a_second(place: Place) -> None:
    events = place.events(record(place, "kill"))
    same(count(on_devices(events)), WORK)


def a_forked_child_leaves_its_parent_alone(place: Place) -> None:
    out = record(place, "fork", knobs="ignore")
    paths = [path for path in out.iterdir() if path.suffix != ".sock"]
    found = Counter()
    for path in paths:
        found += count(on_devices(place.events(path)))
    same(found, WORK)


def the_older_library_is_found(place: Place) -> None:
    out = record(place, name="libcupti.so.12", knobs="version=28")
    same(source_of(place, out), "CUPTI 28 in libcupti.so.12")
    same(count(on_devices(place.events(out))), WORK)


def a_library_that_lacks_functions_is_passed_over(place: Place) -> None:
    folder = fake(place, "libcupti.so.12", "-DNOTHING")
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-xc",
            "/dev/null",
            "-o",
            str(folder / "libcupti.so.13"),
            "-Wl,-soname,libcupti.so.13",
        ],
        check=True,
    )
    out = record(place, name="libcupti.so.12", knobs="version=28", LD_LIBRARY_PATH=str(folder))
    same(source_of(place, out), "CUPTI 28 in libcupti.so.12")
    same(count(on_devices(place.events(out))), WORK)


def graphs_that_are_made_anew_leave_no_names(place: Place) -> None:
    out = record(place, "graphs", knobs="ignore")
    nodes = [row["args"] for row in on_devices(place.events(out)) if row["name"] == "node"]
    same(
        Counter((args["graph id"], args["graph node id"]) for args in nodes),
        Counter((graph, node) for graph in range(1, 15002) for node in (1000, 1001, 1002)),
    )
    same({tuple(args["grid"]) for args in nodes}, {(10, 1, 1)})
    size = out.stat().st_size if out.is_file() else sum(f.stat().st_size for f in out.iterdir())
    same(size < 5_500_000, True)  # 6,051,280 with a name for each node


def without_a_library_that_is_told(place: Place) -> None:
    if place.sanitizers:
        raise Missing("with a sanitizer a crash is none")
    program = place.build("cc", "cuda.c", "-ldl", "-lpthread")
    done, out = place.record(
        [program, "plain", "libm.so.6"],
        {
            "CUDA_INJECTION64_PATH": str(place.opscope.parent / "libopscope-collect.so"),
            "OPSCOPE_SOURCES": "api,cuda",
        },
    )
    same(
        (done.returncode < 0, done.stdout), (True, "")
    )  # it crashes: libm has no such functions
    told = source_of(place, out)  # there may be one of the system, which has no driver
    same(told == "no usable CUDA driver" or told.startswith("libcupti.so was not found"), True)


TORCH = (
    """
import ctypes, sys, warnings, torch
from torch.profiler import ProfilerActivity
from torch.profiler._utils import BasicEvaluation
from opscope.torch import profile, profiler_legacy

fake = ctypes.CDLL(sys.argv[1])

@torch.library.custom_op("fake::add_one", mutates_args=())
def add_one(x: torch.Tensor) -> torch.Tensor:
    fake.cudaLaunchKernel(b"%s", 7, 108, 256)
    fake.cudaMemcpyAsync(1, ctypes.c_uint64(4096), 7)
    return x + 1

warnings.filterwarnings("error", message="no CUDA activity")
for n in (2, 3):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        for _ in range(n):
            add_one(torch.ones(2))
        fake.cudaDeviceSynchronize()
    fake.cudaLaunchKernel(b"outside", 7, 1, 1)
    for event in prof.key_averages():
        if "CUDA" in event.key or "cuda" in event.key or event.device_time_total > 0:
            print(event.key, event.count, event.device_time_total > 0, sep="|")
    print("Self CUDA" in prof.key_averages().table())
    # What torch makes of all events: the same averages, but for rounding.
    of_events, averages = ({a.key: a for a in found} for found in (
        prof.events().key_averages(), prof.key_averages()))
    assert set(of_events) == set(averages)
    for key, a in averages.items():
        assert a.count == of_events[key].count
        assert abs(a.self_device_time_total - of_events[key].self_device_time_total) < 0.01
        assert abs(a.device_time_total - of_events[key].device_time_total) < 0.01
        assert abs(a.self_cpu_time_total - of_events[key].self_cpu_time_total) < 0.01
    assert sum(e.activity_type() == "kernel" for e in prof.profiler.kineto_results.events()) == n
    BasicEvaluation(prof.profiler)
    prof.export_chrome_trace(sys.argv[2])
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True,
             experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True)) as prof:
    add_one(torch.ones(2))
    fake.cudaDeviceSynchronize()
stacks = {a.key: a.stack for a in prof.key_averages(group_by_stack_n=5) if a.stack}
for name in ("fake::add_one", "cudaLaunchKernel", "Memcpy HtoD (Pageable -> Device)"):
    assert any("script" in frame or "torch.py" in frame for frame in stacks[name]), stacks
    assert stacks[name] == stacks["fake::add_one"], stacks
    assert stacks[name] == [e.stack for e in prof.events() if e.name == name][0][:5], stacks
# What is launched outside of operators, and what has no forward call, has no stack.
linear = torch.nn.Linear(4, 4)
for is_outside in (True, False):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True,
                 experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True)) as prof:
        if is_outside:
            fake.cudaLaunchKernel(b"outside", 7, 1, 1)
        else:
            add_one(torch.ones(2))
        linear(torch.ones(2, 4)).sum().backward()
        fake.cudaDeviceSynchronize()
    of_events, averages = (sorted((a.key, a.stack, a.count) for a in found) for found in (
        prof.events().key_averages(group_by_stack_n=5), prof.key_averages(group_by_stack_n=5)))
    differing = [x for x in [*of_events, *averages] if (x in of_events) != (x in averages)]
    assert not differing and of_events == averages, differing
    without = {key for key, stack, n in averages if not stack}
    assert {"torch::autograd::AccumulateGrad", "cudaDeviceSynchronize"} <= without, without
    assert is_outside == ("outside" in without) == ("cudaLaunchKernel" in without), without
with profiler_legacy.profile(use_cuda=True) as prof:
    add_one(torch.ones(2))
    fake.cudaDeviceSynchronize()
assert "Self CUDA" in prof.table(sort_by="id")
"""
    % ADD
)


def run_torch(place: Place, knobs: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": str(place.opscope.parent / "python"),
        "FAKE_CUPTI": knobs,
    }
    environment.pop("OPSCOPE_OUT", None)
    if place.sanitizers == "thread":
        raise Missing("torch is not built for this sanitizer")
    if place.sanitizers:
        environment["LD_PRELOAD"] = place.preloaded()
    return subprocess.run(
        [
            *place.script("torch", TORCH),
            fake(place) / "libcupti.so.13",
            place.folder / "exported.json",
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def torch_has_columns_of_cuda(place: Place) -> None:
    done = run_torch(place, "")
    same(done.stderr, "")
    wanted = []
    for n in (2, 3):
        wanted += [
            f"fake::add_one|{n}|True",
            f"cudaLaunchKernel|{n}|False",
            f"{ADD_CXX}|{n}|True",
            f"cudaMemcpyAsync|{n}|False",
            f"Memcpy HtoD (Pageable -> Device)|{n}|True",
            "cudaDeviceSynchronize|1|False",
            "True",
        ]
    same(Counter(done.stdout.splitlines()), Counter(wanted))
    kineto_keys.check(place.folder / "exported.json")


def kineto_has_the_types_that_are_expected(place: Place) -> None:
    """This test asks nothing of PLACE."""
    if kineto_keys.check_kineto() == 0:
        raise Missing("there are no traces of Kineto beside the project")


PREPARE = """
import ctypes, os
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = lambda: None
fake = ctypes.CDLL("%s")
if "CUDA_INJECTION64_PATH" in os.environ:  # as cuInit() does
    ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
def begin():
    fake.cudaLaunchKernel(b"%s", 7, 108, 256)
wait = fake.cudaDeviceSynchronize
"""


def each_kind_of_profile_records_a_device(place: Place) -> None:
    if place.sanitizers:
        raise Missing("this is about Python")
    place.script("torch", "")  # or there is no torch
    each_profile.check(
        place.opscope,
        place.folder,
        place.python,
        each_profile.environment(place.opscope),
        PREPARE % (fake(place) / "libcupti.so.13", ADD),
        "add_one",
        "CUDA",
        "use_cuda",
        is_in_runs=True,
    )


def torch_says_who_has_cupti(place: Place) -> None:
    done = run_torch(place, "subscribe=39,by=CUPTI for Nsight")
    same(
        "UserWarning: no CUDA activity will be recorded: another profiler (CUPTI for Nsight) "
        "already uses CUPTI" in done.stderr,
        True,
    )


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    same(list(record(place, OPSCOPE_SOURCES="api,itt").iterdir()), [])
    same(list(record(place, OPSCOPE="0").iterdir()), [])


def run_records_it(place: Place) -> None:
    program = place.build("cc", "cuda.c", "-ldl", "-lpthread")
    out = place.folder / "run"
    for knobs, told in (
        ("", ""),
        (
            "subscribe=39,by=CUPTI for Nsight",
            "opscope run: [cuda] PID N: another profiler (CUPTI for Nsight) already "
            "uses CUPTI in this process; GPU activity is not recorded\n",
        ),
    ):
        env = os.environ | {"LD_LIBRARY_PATH": str(fake(place)), "FAKE_CUPTI": knobs}
        done = subprocess.run(
            [place.opscope, "run", "--sources", "cuda", "-o", out, "--", program],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        same((done.returncode, done.stdout), (0, "injection 1\ndone 0\n"))
        same(re.sub("PID [0-9]+", "PID N", done.stderr), told)
        if not told:
            same(count(on_devices(place.events(out))), WORK)
            for path in out.iterdir():
                path.unlink()
    codes = [row["code"] for row in place.table("quality", out)]
    same("source_failed" in codes, True)


TESTS = (
    all_work_is_recorded_and_linked,
    records_of_all_generations_are_read,
    arguments_are_those_of_kineto,
    memory_is_that_of_the_driver,
    names_are_those_of_cxx_where_a_library_tells_them,
    what_has_no_times_is_counted,
    what_has_not_ended_is_counted,
    dropped_records_are_counted,
    what_cannot_be_read_is_counted,
    buffers_without_an_end_are_left,
    what_has_no_name_is_recorded,
    devices_without_properties_have_no_occupancy,
    the_loss_of_a_device_is_counted,
    a_device_that_is_reset_stays_the_same,
    a_second_collector_records_nothing,
    a_program_that_closes_all_files_is_recorded,
    a_program_that_leaves_while_its_threads_launch_is_recorded,
    another_profiler_is_named_and_left_alone,
    errors_of_cupti_are_told,
    a_version_that_is_not_known_is_told,
    a_clock_of_cupti_is_compared,
    buffers_may_come_from_another_thread,
    threads_launch_at_once,
    many_buffers_are_read,
    a_library_that_the_program_unloads_stays,
    a_killed_program_loses_a_second,
    a_forked_child_leaves_its_parent_alone,
    the_older_library_is_found,
    a_library_that_lacks_functions_is_passed_over,
    graphs_that_are_made_anew_leave_no_names,
    without_a_library_that_is_told,
    torch_has_columns_of_cuda,
    kineto_has_the_types_that_are_expected,
    each_kind_of_profile_records_a_device,
    torch_says_who_has_cupti,
    run_records_it,
    nothing_happens_where_nobody_wants_it,
)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
