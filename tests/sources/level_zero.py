#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: level-zero
# args: --opscope {gcc}/opscope --python {torch|python3}
# turn: 4
# step: level-zero-asan
# args: --opscope {asan}/opscope --python {nvtx|python3}
# mode: full
# step: level-zero-tsan
# args: --opscope {tsan}/opscope --python {nvtx|python3}
# mode: full
"""Check that programs which use Level Zero are recorded, and that they notice nothing.

The loader is Debian's; below it is a driver of our own, which says when each command ran. Ends
with "N passed, N failed".
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import each_profile
import kineto_keys
from place import HERE, Missing, Place, run, same

N = 10  # kernels of most cases
ON_DEVICES = ("kernel", "memcpy", "memset", "sync")
# How far a time may be off: other programs may stop the test between two readings of a clock, of
# which a short recording has few. A wrong rate, or a clock that wrapped, is off by more.
ERROR_NS = 100_000


def driver(place: Place, *options: str) -> str:
    return place.build(
        "cc",
        "level_zero/fake_driver.c",
        str(HERE / "level_zero/fake_tables.c"),
        "-shared",
        "-fPIC",
        *options,
    )


def client(place: Place, *options: str) -> str:
    return place.build("cc", "level_zero/client.c", "-lze_loader", *options)


class Done:
    """A recorded program: its folder of recordings, and what the driver says that it did."""

    def __init__(self, out: Path, commands: list[tuple[str, int, int, str]]):
        self.out, self.commands = out, commands


def record(
    place: Place, what: str, drivers: int = 1, preload: str = "", build: tuple = (), **env: str
) -> Done:
    """Run the program alone and recorded, and compare what it does."""
    collector = str(place.opscope.parent / "libopscope-collect.so")
    made = driver(place, *build)
    paths = []
    for i in range(drivers):  # each a library of its own
        paths.append(f"{place.folder}/libze_fake{i}.so")
        Path(paths[-1]).write_bytes(Path(made).read_bytes())
    command = [client(place, *build), what]
    given = {"ZE_ENABLE_ALT_DRIVERS": ",".join(paths), "CLIENT_DRIVER": "0"} | env
    alone = subprocess.run(
        command,
        env=os.environ | given | {"LD_PRELOAD": preload},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    log = place.folder / f"log-{place.n_recordings}"
    done, out = place.record(
        command,
        {
            "LD_PRELOAD": ":".join(filter(None, [preload, collector])),
            "FAKE_LOG": str(log),
            "ZE_ENABLE_TRACING_LAYER": "1",
        }
        | given,
    )
    same(
        (done.returncode, done.stdout, done.stderr),
        (alone.returncode, alone.stdout, alone.stderr),
    )
    if alone.returncode == 1:
        raise Missing(f"Level Zero does not work here: {alone.stdout}")
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return Done(
        out, [(name, int(start), int(end), device) for name, start, end, device in lines]
    )


def work_of(events: list[dict]) -> list[dict]:
    return [row for row in events if row["kind"] in ON_DEVICES]


def counters_of(place: Place, out: Path) -> dict[str, int]:
    """What was counted; `quality` tells it."""
    found = {
        row["name"]: row["args"]["value"]
        for row in place.events(out)
        if row["kind"] == "counter"
    }
    same(
        {
            row["message"]: row["count"]
            for row in place.table("quality", out)
            if row["code"] == "source_incomplete"
        },
        found,
    )
    return found


def check(place: Place, done: Done, without: Counter | None = None) -> list[dict]:
    """Compare each recorded command with the driver's. WITHOUT: those that are not recorded."""
    events = place.events(done.out)
    work = sorted(work_of(events), key=lambda row: row["start_ns"])
    plain = [(row["name"].split()[0], row) for row in work]
    wanted = Counter(name for name, *_ in done.commands)
    wanted.subtract(without or {})
    same(Counter(name for name, _ in plain), +wanted)
    # The host's clock of a recording, at its origin: the first call is before all work.
    by_name: dict[str, list[dict]] = {}
    for name, row in plain:
        by_name.setdefault(name, []).append(row)
    shifts = []
    for name, rows in by_name.items():
        theirs = sorted(c for c in done.commands if c[0] == name)
        theirs.sort(key=lambda c: c[1])
        if len(theirs) != len(rows):
            continue
        for row, (_, start, end, _) in zip(rows, theirs):
            same(abs(row["dur_ns"] - (end - start)) < 1000 + (end - start) // 20, True)
            shifts.append(start - row["start_ns"])
    same(max(shifts) - min(shifts) < ERROR_NS, True)
    launched = [
        row["args"]["correlation"]
        for row in events
        if row["kind"] == "runtime" and "correlation" in row["args"]
    ]
    same(set(row["args"]["correlation"] for row in work) <= set(launched), True)
    starts = {
        row["args"]["correlation"]: row["start_ns"]
        for row in events
        if row["kind"] == "runtime" and "correlation" in row["args"]
    }
    for row in work:
        same(row["start_ns"] >= starts[row["args"]["correlation"]] - ERROR_NS, True)
    return events


def all_commands_are_recorded_and_linked(place: Place) -> None:
    done = record(place, "plain")
    events = check(place, done)
    copies = Counter(row["name"] for row in events if row["kind"] == "memcpy")
    same(
        copies,
        Counter(
            {
                "Memcpy HtoD (Pageable -> Device)": 1,
                "Memcpy DtoD (Device -> Device)": 1,
                "Memcpy DtoH (Device -> Pinned)": 1,
                "Memcpy HtoD (Pinned -> Managed)": 1,
            }
        ),
    )
    for row in work_of(events):
        if row["kind"] in ("memcpy", "memset"):
            same(row["args"]["bytes"], 4096)
    sizes = {row["name"]: row["args"] for row in events if row["kind"] == "kernel"}
    same((sizes["add"]["grid"], sizes["add"]["block"]), ([8, 2, 1], [64, 1, 1]))
    same((sizes["scale"]["grid"], sizes["scale"].get("block")), ([8, 2, 1], None))
    queues = {row["thread_name"] for row in work_of(events)}
    same(queues, {"compute 0.0", "copy 1.0"})
    peak = place.table("memory_peaks", done.out)
    same(
        [(row["device"], row["peak_bytes"], row["live_count"]) for row in peak],
        [("xpu:0", 4 * 4096, 3)],
    )
    info = {row["key"]: row["value"] for row in place.table("info", done.out)}
    same(info["meta.source.level-zero"].startswith("a tracer of the loader "), True)


def events_of_the_program_are_read_before_it_resets_them(place: Place) -> None:
    check(place, record(place, "events"))


def a_list_is_recorded_each_time_it_is_executed(place: Place) -> None:
    events = check(place, record(place, "lists"))
    calls = {
        row["args"]["correlation"]: row["name"]
        for row in events
        if row["kind"] == "runtime" and "correlation" in row["args"]
    }
    same(
        Counter(calls[row["args"]["correlation"]] for row in work_of(events)),
        Counter(
            {
                "zeCommandQueueExecuteCommandLists": 3 * (N - 1),
                "zeCommandListAppendLaunchKernel": 3,
                "zeCommandListAppendBarrier": 1,
            }
        ),
    )


def calls_of_newer_versions_are_recorded(place: Place) -> None:
    events = check(place, record(place, "later"))
    blocks = Counter(
        (row["name"], str(row["args"]["grid"]), str(row["args"]["block"]))
        for row in events
        if row["kind"] == "kernel"
    )
    grid = str([8, 2, 1])
    same(
        blocks,
        Counter({("add", grid, str([64, 1, 1])): 3, ("scale", grid, str([32, 2, 1])): 2}),
    )
    calls = Counter(
        row["name"].removeprefix("zeCommandList")
        for row in events
        if row["kind"] == "runtime" and "With" in row["name"]
    )
    same(
        calls,
        Counter(
            {
                "AppendLaunchKernelWithParameters": 1,
                "AppendLaunchKernelWithArguments": 2,
                "AppendMemoryCopyWithParameters": 1,
                "AppendMemoryFillWithParameters": 1,
                "ImmediateAppendCommandListsWithParameters": 2,
            }
        ),
    )


def graphs_are_counted_and_left_alone(place: Place) -> None:
    done = record(place, "graph")
    check(place, done, without=Counter({"add": 6}))
    same(counters_of(place, done.out), {"level-zero: graphs whose commands were left out": 3})


def an_execution_before_the_last_was_read_is_counted(place: Place) -> None:
    done = record(place, "pipeline", FAKE_NS="3000000")
    work = work_of(place.events(done.out))
    same(len(done.commands), 3)
    # Two could not be told apart; the third began after the program had waited.
    same(len(work), 1)
    same(counters_of(place, done.out), {"level-zero: commands without times": 2})
    same(abs(work[0]["dur_ns"] - 3_000_000) < 150_000, True)


def events_without_times_are_signalled_after_ours(place: Place) -> None:
    # The barriers are ours, but for the last.
    check(place, record(place, "foreign"), without=Counter({"Barrier": N}))


def clocks_of_any_width_rate_and_age_fit(place: Place) -> None:
    for clock in (
        {"FAKE_KERNEL_BITS": "32", "FAKE_TICKS": str((1 << 32) - 20_000)},  # wraps
        {"FAKE_BITS": "32", "FAKE_TICKS": str((1 << 32) - 20_000)},
        {"FAKE_BITS": "36", "FAKE_TICKS": str((1 << 36) - 30_000)},
        {"FAKE_TICKS": "0"},
        {"FAKE_HZ": "12500000", "FAKE_OLD": "1"},
        {"FAKE_HZ": "1000000000", "FAKE_KERNEL_BITS": "64"},
        {"FAKE_TICKS": str(1 << 62), "FAKE_KERNEL_BITS": "40"},
        {"FAKE_PPM": "200"},
    ):
        check(place, record(place, "plain", **clock))


def tiles_are_engines_of_their_device(place: Place) -> None:
    events = check(place, record(place, "tiles", FAKE_TILES="2"))
    kernels = [row for row in events if row["kind"] == "kernel"]
    same(
        sorted(row["thread_name"] for row in kernels),
        ["tile 0 compute 0.0", "tile 1 compute 0.0"],
    )
    same({row["device"] for row in kernels}, {"xpu:0"})


def threads_are_recorded_together(place: Place) -> None:
    events = check(place, record(place, "threads", FAKE_NS="2000"))
    same(
        Counter(row["name"] for row in events if row["kind"] == "kernel"),
        Counter({"add": 1600, "scale": 800}),
    )


def each_engine_has_one_queue(place: Place) -> None:
    events = check(place, record(place, "engines", FAKE_NS="1000"))
    queues = Counter(
        (row["thread_name"], row["queue"]) for row in events if row["kind"] == "kernel"
    )
    same(set(queues.values()), {2})
    same(len({name for name, _ in queues}), 300)


def commands_without_times_are_counted_at_each_execution(place: Place) -> None:
    done = record(place, "untimed")
    check(place, done, without=Counter({"add": 2}))
    same(counters_of(place, done.out), {"level-zero: commands without times": 2})


def devices_are_numbered_over_all_drivers(place: Place) -> None:
    events = check(place, record(place, "devices", FAKE_DEVICES="3"))
    kernels = Counter(row["device"] for row in events if row["kind"] == "kernel")
    same(kernels, Counter({"xpu:0": 1, "xpu:1": 2, "xpu:2": 3}))
    # With two drivers, the loader wraps every handle.
    for use in ("0", "1"):
        events = check(place, record(place, "plain", drivers=2, CLIENT_DRIVER=use))
        same({row["device"] for row in work_of(events)}, {f"xpu:{use}"})


def what_runs_at_the_end_is_waited_for(place: Place) -> None:
    check(place, record(place, "leave"))


def what_never_ends_is_counted(place: Place) -> None:
    done = record(place, "leave", FAKE_BREAK="never")
    same(
        counters_of(place, done.out),
        {"level-zero: commands that had not finished at the end": N},
    )


def a_killed_program_has_recorded_what_it_waited_for(place: Place) -> None:
    check(place, record(place, "kill"))


def a_driver_that_says_nothing_of_its_device_is_recorded(place: Place) -> None:
    done = record(place, "plain", FAKE_BREAK="properties", FAKE_KERNEL_BITS="64")
    work = work_of(place.events(done.out))
    same(
        Counter(row["name"].split()[0] for row in work),
        Counter(name for name, *_ in done.commands),
    )


def the_child_of_a_fork_leaves_drivers_alone(place: Place) -> None:
    done = record(place, "fork")
    files = [path for path in done.out.iterdir() if path.suffix == ".osc"]
    names = Counter(
        row["name"] for path in files for row in place.events(path) if row["kind"] == "kernel"
    )
    same(names, Counter({"add": 1}))


def drivers_that_fail_are_survived(place: Place) -> None:
    untimed = "level-zero: commands without times"
    for broken, counted in (
        ("times", untimed),
        ("zero", untimed),
        ("order", untimed),
        (
            "clock",
            "level-zero: commands of devices whose clock cannot be related to the host's",
        ),
    ):
        done = record(place, "plain", FAKE_BREAK=broken)
        events = place.events(done.out)
        same(work_of(events), [])
        same(counters_of(place, done.out), {counted: len(done.commands)})
        calls = [row for row in events if row["name"] == "zeCommandListAppendLaunchKernel"]
        same(len(calls), N + 1)
    for broken in ("events", "lost"):
        done = record(place, "plain", FAKE_BREAK=broken)
        calls = [
            row
            for row in place.events(done.out)
            if row["name"] == "zeCommandListAppendLaunchKernel"
        ]
        same(len(calls), N + 1)


def calls_for_memory_that_fail_change_nothing(place: Place) -> None:
    done = record(place, "memory", FAKE_BREAK="memory")
    peaks = place.table("memory_peaks", done.out)
    # Both blocks are there until they are freed at last, and then the third.
    same(
        [(row["device"], row["peak_bytes"], row["live_count"]) for row in peaks],
        [("xpu:0", 3 * 4096, 2)],
    )
    same(counters_of(place, done.out), {})


def a_tracer_that_cannot_be_made_is_told(place: Place) -> None:
    done = record(place, "plain", ZE_ENABLE_TRACING_LAYER="0")
    info = {row["key"]: row["value"] for row in place.table("info", done.out)}
    if "meta.source.level-zero" in info:
        check(place, done)  # this loader makes tracers at any time
        return
    same("set ZE_ENABLE_TRACING_LAYER=1" in info["meta.source_failed.level-zero"], True)
    same(
        [
            row["code"]
            for row in place.table("quality", done.out)
            if row["code"].startswith("source_")
        ],
        ["source_failed"],
    )


def sanitizers_find_nothing(place: Place) -> None:
    asan = subprocess.run(
        ["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not os.path.isabs(asan):
        raise Missing("there is no AddressSanitizer")
    options = ("-g", "-fsanitize=address")
    for what in ("plain", "events", "lists", "foreign", "leave"):
        record(
            place,
            what,
            preload=os.path.realpath(asan),
            build=options,
            ASAN_OPTIONS="detect_leaks=0",
        )


def a_program_with_a_sanitizer_is_recorded(place: Place) -> None:
    """Its library wants to be the first, and cannot."""
    record(place, "plain")  # or Level Zero does not work here
    options = ("-g", "-fsanitize=address")
    driver_file = place.folder / "libze_asan.so"
    driver_file.write_bytes(Path(driver(place, *options)).read_bytes())
    out = place.folder / "run-asan"
    done = subprocess.run(
        [place.opscope, "run", "-o", out, "--", client(place, *options), "plain"],
        env=os.environ
        | {"ZE_ENABLE_ALT_DRIVERS": str(driver_file), "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    same((done.returncode, done.stdout, done.stderr), (0, "3 3 7\n", ""))
    same(sum(row["kind"] == "kernel" for row in place.events(out)), N + 1)


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    same(list(record(place, "plain", OPSCOPE_SOURCES="api,itt").out.iterdir()), [])
    same(list(record(place, "plain", OPSCOPE="0").out.iterdir()), [])


def run_finds_it(place: Place) -> None:
    record(place, "plain")  # or Level Zero does not work here
    env = os.environ | {"ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so")}
    command = [client(place), "plain"]

    def run_it(*options: str) -> tuple[subprocess.CompletedProcess, Path]:
        out = place.folder / f"run-{len(options)}"
        return subprocess.run(
            [place.opscope, "run", "-o", out, "--", *options, *command],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        ), out

    done, out = run_it()
    same((done.returncode, done.stdout, done.stderr), (0, "3 3 7\n", ""))
    names = Counter(row["name"] for row in place.events(out) if row["kind"] == "kernel")
    same(names, Counter({"add": N, "scale": 1}))
    # A program without tracers: one line says what to set.
    done, out = run_it("env", "ZE_ENABLE_TRACING_LAYER=0")
    if any(row["kind"] == "kernel" for row in place.events(out)):
        return  # this loader makes tracers at any time
    same((done.returncode, done.stdout, done.stderr.count("\n")), (0, "3 3 7\n", 1))
    same("[level-zero] PID" in done.stderr and "ZE_ENABLE_TRACING_LAYER=1" in done.stderr, True)
    same([path.name for path in out.iterdir() if path.name.startswith(".level")], [])


TORCH = """
import ctypes, sys, torch
from torch.profiler import ProfilerActivity
from opscope.torch import profile, profiler_legacy

fake = ctypes.CDLL(sys.argv[1])

@torch.library.custom_op("fake::add_one", mutates_args=())
def add_one(x: torch.Tensor) -> torch.Tensor:
    fake.run_kernel()
    return x + 1

def show(prof):
    for event in prof.key_averages():
        if event.device_time_total > 0 or event.key.startswith("zeCommandListAppendLaunch"):
            print(event.key, event.count, event.device_time_total > 0, sep="|")
    table = prof.key_averages().table(sort_by="self_xpu_time_total")
    print([word for word in ("Self XPU", "Self XPU %", "XPU total", "XPU time avg",
                             "Self XPU time total") if word in table])

"""
TORCH_ALONE = (
    TORCH
    + """
for n in (2, 3):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as prof:
        for _ in range(n):
            add_one(torch.ones(2))
        fake.finish_all()
    show(prof)
    prof.export_chrome_trace(sys.argv[2])
    add_one(torch.ones(2)) # outside
with profiler_legacy.profile(use_xpu=True) as prof:
    add_one(torch.ones(2))
    fake.finish_all()
show(prof)
with profile(activities=[ProfilerActivity.CPU]) as prof:
    add_one(torch.ones(2))
    fake.finish_all()
print([e.key for e in prof.key_averages() if e.key.startswith("ze") or e.key == "add"])
"""
)
TORCH_IN_RUN = (
    TORCH
    + """
add_one(torch.ones(2))
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as prof:
    for _ in range(3):
        add_one(torch.ones(2))
    fake.finish_all()
    profile().start()  # torch's own records it, and nobody ends it
add_one(torch.ones(2))
fake.finish_all()
show(prof)
"""
)


def library(place: Place) -> str:
    """The client as a library, which nothing makes global."""
    return place.build("cc", "level_zero/client.c", "-shared", "-fPIC", "-lze_loader")


def a_library_that_a_script_loads_is_recorded(place: Place) -> None:
    record(place, "plain")  # or Level Zero does not work here
    code = "import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); l.run_kernel(); l.finish_all()"
    done, out = place.record(
        [place.python, "-c", code, library(place)],
        {
            "LD_PRELOAD": str(place.opscope.parent / "libopscope-collect.so"),
            "ZE_ENABLE_TRACING_LAYER": "1",
            "ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so"),
        },
    )
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    same([row["name"] for row in place.events(out) if row["kind"] == "kernel"], ["add"])


def torch_has_columns_of_xpu(place: Place) -> None:
    record(place, "plain")  # or Level Zero does not work here
    env = os.environ | {
        "PYTHONPATH": str(place.opscope.parent / "python"),
        "ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so"),
    }
    for name in ("OPSCOPE_OUT", "ZE_ENABLE_TRACING_LAYER"):
        env.pop(name, None)
    exported = place.folder / "exported.json"
    done = subprocess.run(
        [*place.script("torch", TORCH_ALONE), library(place), exported],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    same((done.returncode, done.stderr), (0, ""))
    columns = "['Self XPU', 'Self XPU %', 'XPU total', 'XPU time avg', 'Self XPU time total']"
    wanted: list[str] = []
    for n in (2, 3, 1):
        wanted += [
            f"fake::add_one|{n}|True",
            f"zeCommandListAppendLaunchKernel|{n}|False",
            f"add|{n}|True",
            columns,
        ]
    wanted.append("[]")  # of the last profile, which is of the host alone
    same(Counter(done.stdout.splitlines()), Counter(wanted))
    kineto_keys.check(exported)


def a_profile_within_a_run_has_each_kernel_once(place: Place) -> None:
    record(place, "plain")  # or Level Zero does not work here
    env = os.environ | {
        "PYTHONPATH": str(place.opscope.parent / "python"),
        "ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so"),
    }
    command = [*place.script("torch", TORCH_IN_RUN), library(place)]
    for sources in ((), ("--sources", "level-zero"), ("--sources", "level-zero,torch")):
        out = place.folder / "-".join(("run", *sources))
        done = subprocess.run(
            [place.opscope, "run", "-o", out, *sources, "--", *command],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        same((done.returncode, done.stderr.count("already running")), (0, 1))
        columns = (
            "['Self XPU', 'Self XPU %', 'XPU total', 'XPU time avg', 'Self XPU time total']"
        )
        same(
            Counter(done.stdout.splitlines()),
            Counter(
                [
                    "add|3|True",
                    "fake::add_one|3|True",
                    columns,
                    "zeCommandListAppendLaunchKernel|3|False",
                ]
            ),
        )
        kernels = {}
        for path in out.iterdir():
            if path.suffix != ".osc":
                continue
            rows = place.events(path)
            operators = {row["id"]: row["name"] for row in rows}
            kernels[path.name.startswith("torch."), path.name] = [
                operators.get(row.get("op_id")) for row in rows if row["kind"] == "kernel"
            ]
            same(
                [
                    row["code"]
                    for row in place.table("quality", path)
                    if row["code"].startswith("source_")
                ],
                [],
            )
        outside = "fake::add_one" if "level-zero,torch" in sources else None
        same(
            [kernels[key] for key in sorted(kernels)],
            [[outside], [outside], ["fake::add_one"] * 3],
        )


TORCH_LATE = """
import ctypes, sys, torch, warnings
fake = ctypes.CDLL(sys.argv[1])
fake.run_kernel()
fake.finish_all()
from opscope.torch import ProfilerActivity, profile
for _ in range(2):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as prof:
            for _ in range(3):
                fake.run_kernel()
            fake.finish_all()
    kernels = [e.count for e in prof.key_averages() if e.key == "add"]
    print(kernels, *(f"{x.message}, {x.filename == __file__}" for x in told), sep="|")
"""


def kernels_that_cannot_be_seen_are_told_at_the_end(place: Place) -> None:
    record(place, "plain")  # or Level Zero does not work here
    env = os.environ | {
        "PYTHONPATH": str(place.opscope.parent / "python"),
        "ZE_ENABLE_TRACING_LAYER": "1",
        "ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so"),
    }
    env.pop("OPSCOPE_OUT", None)
    env.pop("IPEX_ZE_TRACING", None)
    for more, do in (
        ({}, "set IPEX_ZE_TRACING=1 for the program"),
        (
            {"IPEX_ZE_TRACING": "1"},
            "import opscope.torch before the program first uses the device",
        ),
    ):
        done = subprocess.run(
            [*place.script("torch", TORCH_LATE), library(place)],
            env=env | more,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        same((done.returncode, done.stderr), (0, ""))
        if done.stdout != "[3]\n" * 2:  # newer loaders tell more
            same(
                done.stdout.splitlines(),
                [
                    "[]|4 commands or lists of XPU cannot be seen, because what they belong to was made before "
                    f"the first profile: {do}, True",
                    "[]",
                ],
            )  # told once


PREPARE = """
import ctypes
torch.xpu.is_available = lambda: True
torch.xpu.synchronize = lambda: None
fake = ctypes.CDLL("%s")
begin, wait = fake.run_kernel, fake.finish_all
"""


def each_kind_of_profile_records_a_device(place: Place) -> None:
    """The tracer is there from the start, as a program of XPU has it."""
    record(place, "plain")  # or Level Zero does not work here
    place.script("torch", "")  # or there is no torch
    env = each_profile.environment(place.opscope) | {
        "ZE_ENABLE_ALT_DRIVERS": str(place.folder / "libze_fake0.so"),
        "IPEX_ZE_TRACING": "1",
    }
    each_profile.check(
        place.opscope,
        place.folder,
        place.python,
        env,
        PREPARE % library(place),
        " add ",
        "XPU",
        "use_xpu",
        is_in_runs=True,
    )


TESTS = (
    all_commands_are_recorded_and_linked,
    events_of_the_program_are_read_before_it_resets_them,
    a_list_is_recorded_each_time_it_is_executed,
    calls_of_newer_versions_are_recorded,
    graphs_are_counted_and_left_alone,
    an_execution_before_the_last_was_read_is_counted,
    events_without_times_are_signalled_after_ours,
    clocks_of_any_width_rate_and_age_fit,
    tiles_are_engines_of_their_device,
    threads_are_recorded_together,
    each_engine_has_one_queue,
    commands_without_times_are_counted_at_each_execution,
    devices_are_numbered_over_all_drivers,
    what_runs_at_the_end_is_waited_for,
    what_never_ends_is_counted,
    a_killed_program_has_recorded_what_it_waited_for,
    a_driver_that_says_nothing_of_its_device_is_recorded,
    the_child_of_a_fork_leaves_drivers_alone,
    drivers_that_fail_are_survived,
    calls_for_memory_that_fail_change_nothing,
    a_tracer_that_cannot_be_made_is_told,
    sanitizers_find_nothing,
    a_program_with_a_sanitizer_is_recorded,
    nothing_happens_where_nobody_wants_it,
    run_finds_it,
    a_library_that_a_script_loads_is_recorded,
    torch_has_columns_of_xpu,
    kernels_that_cannot_be_seen_are_told_at_the_end,
    a_profile_within_a_run_has_each_kernel_once,
    each_kind_of_profile_records_a_device,
)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
