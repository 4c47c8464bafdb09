#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-compare
# with: {torch}
# args: --quick
# full:
# env: PYTHONPATH={module}
"""torch.profiler and opscope.torch record the same run, and must give the same results.

    python3 tests/torch/compare.py [--only NAME] [--quick]

Needs torch, and the python/ of a build on PYTHONPATH. Each workload of workloads.py runs under both
at once, with all options of a profile, and under one after the other, because torch does some
things only while its own profiler runs. These are compared: the averages by name and by shape
(calls, memory, FLOPs, shapes; the order of first appearance), every call (name, thread, depth,
shapes, types, scalars, sequence number, forward thread, modules), records of memory, the arrows
from forward to backward, and the members and arguments of events of each type. The times of a call
must lie within those of the surrounding events of the other profiler. The number of equal ones is
printed. Two ranks of a process group are compared, too. --quick leaves out options that others
include. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import concurrent.futures
import contextlib
import gc
import inspect
import itertools
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor  # a profile of torch imports it, which takes each process two seconds
import torch.profiler
import workloads

import opscope.torch

ARGS = (
    "Input Dims",
    "Input Strides",
    "Input type",
    "Concrete Inputs",
    "Sequence number",
    "Fwd thread id",
    "Module Hierarchy",
)
CONFIG = torch._C._profiler._ExperimentalConfig


def config(**fields: bool) -> Any:
    """The config with FIELDS; None: this torch lacks them, and the option is left out."""
    with contextlib.suppress(TypeError):
        return CONFIG(**fields)
    return None


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "shapes": {"record_shapes": True},
    "all": {"record_shapes": True, "profile_memory": True, "with_flops": True},
    "threads": {"record_shapes": True, "experimental_config": config(profile_all_threads=True)},
    "alone": {"record_shapes": True, "profile_memory": True, "with_flops": True},
    "modules": {"with_modules": True},
    "stacks": {"with_stack": True, "experimental_config": config(verbose=True)},
}
# Included in the others: "all" has shapes, and each of them contains a plain profile.
NOT_QUICK = ("plain", "shapes")
MAKERS = (torch.profiler.profile, opscope.torch.profile)
# One run for each profiler, because there is only one slot for a profile function of Python.
APART = ("alone", "stacks")
# Workloads that make new threads in each run, or do something only in the first.
NOT_ALONE = ("threads", "scripted", "scripted_module", "ddp")
# torch keeps weak references to inputs, and sparse and quantised tensors as a whole.
NO_MEMORY_ALONE = ("odd_tensors",)
# An allocation by another thread belongs to whichever call runs at that time, which is a race and
# differs between the profilers. The records are compared, but not their order or the rows that
# contain them.
RACES = ("scripted", "scripted_module", "ddp")
# Before 2.11 torch looks for the records of a call by Unix times in microseconds as doubles, which
# are a quarter of a microsecond apart, and counts some of them in a neighbour of their call.
ROUNDS_TIMES = (
    "start_us"
    in inspect.signature(torch.autograd.profiler_util.MemRecordsAcc.in_interval).parameters
)
# Only Kineto states the position of a thread in a list.
KINETO_ALONE = ("thread_sort_index",)
# Facts that torch states only in objects, and further facts of our recordings.
OURS_ALONE: tuple[str, ...] = ("Is asynchronous",)
OURS_ALONE_OF_ALL = {"pid", "start_unix_ns", "cpus", "opscope_version", "clock"}
# What torch writes only since a version.
MINOR = tuple(map(int, torch.__version__.split(".")[:2]))
OURS_ALONE += ("finished",) if MINOR < (2, 8) else ()  # 2.7: in every event
OURS_ALONE_OF_ALL |= {"host_name"} if MINOR < (2, 12) else set()
# What Kineto logs: a build for devices misses its driver.
KINETO_ALONE_OF_ALL = {"ERROR"}
# Cases in which Kineto writes invalid JSON or calls of other threads, a waiting script may continue
# on another thread, or Python code asks whether a profiler runs.
NO_STACKS = (
    "odd_labels",
    "odd_tensors",
    "threads",
    "scripted",
    "scripted_module",
    "compiled",
    "resnet18_training",
    "ddp",
    "data_pipes",
)
NO_JSON = ("odd_labels",)
# The range from which the engine calls a backward function.
ENGINE = "autograd::engine::evaluate_function: "
# The relative difference of the clocks' rates, and the rounding of a time.
RATE, ROUNDED_NS = 1e-4, 2


def rows(averages: Any, has_memory: bool) -> list[tuple[Any, ...]]:
    """The parts of averages that must be equal, in order."""
    return [
        (
            a.key,
            a.count,
            a.is_user_annotation,
            str(a.input_shapes),
            a.flops,
            (a.cpu_memory_usage, a.self_cpu_memory_usage) if has_memory else None,
        )
        for a in averages
        if not (ROUNDS_TIMES and a.key == "[memory]")
    ]


def thread(event: dict[str, Any]) -> int:
    """The thread of EVENT, with the same number for the first thread of each process."""
    tid: int = event["tid"] - event["pid"]
    return tid


def calls(path: str) -> dict[Any, list[tuple[Any, ...]]]:
    """The calls of each thread in a trace at PATH, in order; start and end come last."""
    with open(path, encoding="utf-8") as f:
        events = [
            e
            for e in json.load(f)["traceEvents"]
            if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation")
        ]
    threads = collections.defaultdict(list)
    for e in events:
        start = round(e["ts"] * 1000)
        threads[thread(e)].append((start, -round(e["dur"] * 1000), e))
    result = {}
    for tid, found in threads.items():
        ends: list[int] = []
        result[tid] = []
        for start, minus, e in sorted(found, key=lambda x: x[:2]):
            while ends and ends[-1] <= start:
                ends.pop()
            args = e.get("args", {})
            result[tid].append(
                (
                    e["name"],
                    e["cat"],
                    len(ends),
                    *(plain(key, args) for key in ARGS),
                    (start, start - minus),
                )
            )
            ends.append(start - minus)
    return result


def misplaced(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """FOUND, the calls of a thread, with modules as torch assigns them: torch stores none for
    backward functions, and later assigns the stored ones to all calls in turn."""
    noted = [
        call[-2]
        for before, call in zip([("",), *found], found)
        if before[0] != ENGINE + call[0]
    ]
    return [
        (*call[:-2], modules, call[-1]) for call, modules in itertools.zip_longest(found, noted)
    ]


def plain(key: str, args: dict[str, Any]) -> Any:
    """The value of KEY in ARGS; Kineto also writes that there is no forward thread."""
    value = args.get(key)
    no_thread = key == "Fwd thread id" and value == 0
    return None if value in (None, -1) or no_thread else json.dumps(value)


def arrows(path: str) -> list[Any]:
    """The calls at both ends of each arrow: the innermost ones that begin there."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    begins = {}
    for e in sorted(
        (e for e in events if e["ph"] == "X" and e["cat"] == "cpu_op"), key=lambda e: -e["dur"]
    ):
        begins[thread(e), e["ts"]] = e["name"]
    ends: dict[str, dict[int, Any]] = {"s": {}, "f": {}}
    for e in events:
        if e.get("cat") == "fwdbwd":
            ends[e["ph"]][e["id"]] = thread(e), begins.get((thread(e), e["ts"]))
    return sorted((ends["s"][i], ends["f"].get(i)) for i in ends["s"])


def members(path: str) -> dict[Any, set[str]]:
    """All members and arguments of the events of each type in a trace."""
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    result: dict[Any, set[str]] = {"": set(trace) - OURS_ALONE_OF_ALL - KINETO_ALONE_OF_ALL}
    for e in trace["traceEvents"]:
        sort = e["ph"], e.get("cat"), e["name"] if e["ph"] in "Mi" else ""
        if e["name"] not in KINETO_ALONE:
            found = result.setdefault(sort, set())
            found |= {x for x in e if x != "args"} | {
                f"args.{x}" for x in e.get("args", {}) if x not in OURS_ALONE
            }
    return result


def compare_forms(a: str, b: str) -> list[str]:
    """Compare arrows, and the members of events."""
    found = []
    if arrows(a) != arrows(b):
        found.append(f"arrows differ: {len(arrows(a))}, {len(arrows(b))}")
    x, y = members(a), members(b)
    return found + [
        f"{sort} has {sorted(x.get(sort, ()))}, and here {sorted(y.get(sort, ()))}"
        for sort in x | y
        if x.get(sort) != y.get(sort)
    ]


def memory_records(path: str) -> list[int]:
    """Bytes of all allocations and releases, in order."""
    with open(path, encoding="utf-8") as f:
        found = [e for e in json.load(f)["traceEvents"] if e["name"] == "[memory]"]
    return [e["args"]["Bytes"] for e in sorted(found, key=lambda e: e["ts"])]


def is_json(path: str) -> bool:
    try:
        with open(path, encoding="utf-8") as f:
            json.load(f)
    except ValueError:
        return False
    return True


def warm(name: str) -> Callable[[], None]:
    """Workload NAME after a first run, so that it does the same each time."""
    torch.manual_seed(0)
    work: Callable[[], None] = getattr(workloads, name)()
    work()
    return work


def told(
    name: str,
    option: str,
    makers: tuple[type, ...],
    paths: list[str],
    rank: int,
    store: str | None,
) -> list[list[list[tuple[Any, ...]]]]:
    """The rows by name and by shape of all profilers of MAKERS, under which workload NAME runs at
    the same time. Their traces go to PATHS. STORE is the file by which the ranks of a process group
    meet."""
    if store:
        torch.distributed.init_process_group(
            "gloo", rank=rank, world_size=2, init_method=f"file://{store}"
        )
    options = dict(OPTIONS[option], activities=[torch.profiler.ProfilerActivity.CPU])
    if option in APART and name in NO_MEMORY_ALONE:
        options["profile_memory"] = False
    made = [make(**options) for make in makers]
    work = warm(name)
    gc.collect()
    gc.disable()  # the collector would release memory at any time
    with contextlib.ExitStack() as running:
        for profile in made:
            running.enter_context(profile)
        work()
    for profile, path in zip(made, paths):
        profile.export_chrome_trace(path)
    has_memory = options.get("profile_memory", False) and name not in RACES and not ROUNDS_TIMES
    return [
        [rows(profile.key_averages(group_by_input_shape=x), has_memory) for x in (False, True)]
        for profile in made
    ]


def told_apart(*arguments: Any) -> list[list[list[tuple[Any, ...]]]]:
    """The same in a new process. Otherwise torch may confuse a block from before the profile with
    an older one at the same address that an earlier profile saw, and use its size."""
    with concurrent.futures.ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("fork")
    ) as pool:
        return pool.submit(told, *arguments).result()


def differences(
    name: str, option: str, rank: int, store: str | None, directory: str, equal: dict[str, int]
) -> list[str]:
    """The differences between the two profilers on workload NAME; EQUAL counts what is equal."""
    traces = [os.path.join(directory, f"{x}.json") for x in ("theirs", "ours")]
    where = rank, f"{store}.{option}" if store else None
    if option in APART:
        theirs, ours = (
            told_apart(name, option, (make,), [trace], *where)[0]
            for make, trace in zip(MAKERS, traces)
        )
    else:
        theirs, ours = told_apart(name, option, MAKERS, traces, *where)
    if option == "stacks":
        return compare_stacks(*map(python_calls, traces))
    found = []
    for by, a, b in zip(("name", "shape"), theirs, ours):
        if collections.Counter(a) != collections.Counter(b):
            found += [f"by {by}, torch alone: {x}" for x in a if x not in b]
            found += [f"by {by}, opscope alone: {x}" for x in b if x not in a]
        elif a != b and name not in ("threads", *RACES):
            found.append(f"by {by}: the order differs")
        equal["rows"] += sum((collections.Counter(a) & collections.Counter(b)).values())
    if not is_json(traces[1]):
        found.append("the exported trace is not JSON")
    if name not in NO_JSON:
        theirs, ours = map(calls, traces)
        found += compare_calls(theirs, ours, equal)
        if option not in APART and name not in RACES and not found:
            found += compare_times(theirs, ours)
        found += compare_records(*map(memory_records, traces), name in RACES, equal)
        found += compare_forms(*traces)
    return found


def python_calls(path: str) -> list[tuple[Any, ...]]:
    """The calls inside of the workload, including Python calls, with their stacks: type, number of
    the module, name, stack, name of the enclosing call.
    """
    with open(path, encoding="utf-8") as f:
        events = [
            e
            for e in json.load(f)["traceEvents"]
            if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation", "python_function")
        ]
    work = next(
        e
        for e in events
        if e["name"].startswith("workloads.py(") and e["name"].endswith("): work")
    )
    inside = [
        e
        for e in events
        if e["tid"] == work["tid"]
        and work["ts"] < e["ts"]
        and e["ts"] + e["dur"] <= work["ts"] + work["dur"]
    ]
    inside.sort(key=lambda e: (e["ts"], -e["dur"]))
    names = {e["args"]["Python id"]: e["name"] for e in events if "Python id" in e["args"]}
    result = []
    for e in inside:
        args = e["args"]
        texts = (
            e["name"],
            args.get("Call stack", "").split(": work;")[0],
            names.get(args.get("Python parent id"), ""),
        )
        result.append(
            (
                e["cat"],
                args.get("Python module id"),
                *(re.sub("0x[0-9a-f]+", "0x", x) for x in texts),
            )
        )
    return result


def compare_stacks(a: list[Any], b: list[Any]) -> list[str]:
    """Compare calls and their stacks."""
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return [f"call {i}: torch {x}, opscope {y}"]
    return [] if len(a) == len(b) else [f"{len(a)} and {len(b)} calls"]


def compare_calls(a: dict[Any, Any], b: dict[Any, Any], equal: dict[str, int]) -> list[str]:
    """Compare every call of each thread; threads are those of the system."""
    if a.keys() != b.keys():
        return [f"threads {sorted(a)} and {sorted(b)}"]
    for tid, of_torch in a.items():
        for i, (x, y) in enumerate(zip(of_torch, misplaced(b[tid]))):
            if x[:-1] != y[:-1]:
                return [f"thread {tid}, call {i}: torch {x}, opscope {y}"]
        if len(of_torch) != len(b[tid]):
            return [f"thread {tid}: {len(of_torch)} and {len(b[tid])} calls"]
        equal["calls"] += len(of_torch)
    return []


def around(times: list[int], others: list[int], at: int) -> tuple[float, float]:
    """TIMES and OTHERS are the same moments by two clocks. Returns the moments in OTHERS next to
    AT, a time of TIMES: the last one before it and the first one after it."""
    before, after = bisect.bisect_left(times, at) - 1, bisect.bisect_right(times, at)
    return (
        others[before] if before >= 0 else -math.inf,
        others[after] if after < len(others) else math.inf,
    )


def compare_times(a: dict[Any, Any], b: dict[Any, Any]) -> list[str]:
    """Compare times of calls under both profilers at once. At the begin and the end of a call, both
    read their clocks after all earlier and before all later events. So a call takes no longer for
    one profiler than from the moment before it to the moment after it for the other, and no shorter
    than from the first to the last moment inside it, however busy the machine is."""
    for tid, of_torch in a.items():
        theirs, ours = (
            sorted(at for call in found for at in call[-1]) for found in (of_torch, b[tid])
        )
        for _, y in zip(of_torch, b[tid]):
            start, end = (around(ours, theirs, at) for at in y[-1])
            slack = ROUNDED_NS + RATE * (y[-1][1] - y[-1][0])
            if (
                not end[0] - start[1] - slack
                <= y[-1][1] - y[-1][0]
                <= end[1] - start[0] + slack
            ):
                return [
                    f"thread {tid}: {y[0]} takes {y[-1][1] - y[-1][0]} ns, "
                    f"{end[0] - start[1]} to {end[1] - start[0]} ns by torch's clock"
                ]
    return []


def compare_records(
    a: list[int], b: list[int], is_race: bool, equal: dict[str, int]
) -> list[str]:
    """Compare allocations and releases."""
    if (sorted(a) != sorted(b)) if is_race else (a != b):
        return ["memory records differ"]
    equal["memory records"] += len(a)
    return []


def of_ranks(*more: str) -> tuple[int, int]:
    """The passed and failed checks of two processes that run the workload `ddp` together, with the
    arguments MORE."""
    with tempfile.TemporaryDirectory() as directory:
        ranks = [
            subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--only",
                    "ddp",
                    "--rank",
                    str(rank),
                    "--store",
                    os.path.join(directory, "store"),
                    *more,
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        passed = failed = 0
        for rank, process in enumerate(ranks):
            lines = process.communicate()[0].splitlines()
            print("".join(f"rank {rank}: {line}\n" for line in lines), end="")
            counts = re.match("([0-9]+) passed, ([0-9]+) failed", lines[-1] if lines else "")
            passed += int(counts[1]) if counts else 0
            failed += int(counts[2]) if counts else 1
    return passed, failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--store")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    only = arguments.only
    passed = failed = 0
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    gc.freeze()  # so that no process copies all objects to search them for garbage
    work = [workloads.ddp] if arguments.store else workloads.ALL
    if not arguments.store and only in (None, "ddp"):
        passed, failed = of_ranks(*(["--quick"] if arguments.quick else []))
    for workload in work:
        name = workload.__name__
        equal: dict[str, int] = collections.defaultdict(int)
        for option, words in OPTIONS.items():
            if (
                words.get("experimental_config", True) is None
                or (only and only not in (name, f"{name}:{option}"))
                or (arguments.quick and option in NOT_QUICK)
                or name in {"stacks": NO_STACKS, "alone": NOT_ALONE}.get(option, ())
            ):
                continue
            with tempfile.TemporaryDirectory() as directory:
                found = differences(
                    name, option, arguments.rank, arguments.store, directory, equal
                )
            passed += not found
            failed += bool(found)
            for line in found[:6]:
                print(f"DIFFERS {name}, {option}: {line[:600]}")
        if equal:
            print(f"{name}: equal are " + ", ".join(f"{n} {x}" for x, n in equal.items()))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
