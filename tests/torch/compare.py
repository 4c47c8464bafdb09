#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.profiler and opscope.torch record the same run, and must tell the same of it.

    python3 tests/torch/compare.py [--only NAME]

Needs torch, and the python/ of a build on PYTHONPATH. Each of workloads.py runs under
both at once, with the options that a profile can have, and under one after the other, since
torch does some things only where its own profiler runs. Compared are the averages by name
and by shape (calls, memory, FLOPs, shapes; the order of first sight), every call (name,
thread, depth, shapes, types, scalars, sequence number, forward thread, modules), records of
memory, the arrows from forward to backward, and what members and arguments events of each sort have.
Times differ by what the two cost. How many of each are equal is printed. Two ranks of a
process group do so, too. Ends with `N passed, N failed`; exit status 1 on any failure.
"""
from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.profiler

import opscope.torch
import workloads

ARGS = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs", "Sequence number",
        "Fwd thread id", "Module Hierarchy")
CONFIG = torch._C._profiler._ExperimentalConfig
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "shapes": {"record_shapes": True},
    "all": {"record_shapes": True, "profile_memory": True, "with_flops": True},
    "threads": {"record_shapes": True,
                "experimental_config": CONFIG(profile_all_threads=True)},
    "alone": {"record_shapes": True, "with_flops": True},
    "modules": {"with_modules": True},
    "stacks": {},
}
# Threads that each run makes anew, or what runs the first time alone.
NOT_ALONE = ("threads", "scripted", "scripted_module", "ddp")
# Of other memory torch may tell the size of an older block, which it did not see released.
MEMORY_ALONE = ("shared_memory",)
# What another thread allocates falls into whatever call runs then: a race, for each profiler
# its own. The records are compared, but not their order, nor what rows make of them.
RACES = ("scripted", "scripted_module", "ddp")
# What a recording of ours knows besides.
OURS_ALONE = {"pid", "start_unix_ns", "cpus", "opscope_version", "clock"}
# Where Kineto writes no JSON, gives the calls of other threads, a script that waits may go on on
# another thread, or Python asks whether a profiler runs.
NO_STACKS = ("odd_labels", "odd_tensors", "threads", "scripted", "scripted_module", "compiled",
             "resnet18_training", "ddp", "data_pipes")
NO_JSON = ("odd_labels",)
# What the engine calls a backward function from.
ENGINE = "autograd::engine::evaluate_function: "
# Of the median call: one profiler's callbacks lie within the times of the other.
COST_US = 10.0


def rows(averages: Any, has_memory: bool) -> list[tuple[Any, ...]]:
    """What must be equal of averages, in their order."""
    return [(a.key, a.count, a.is_user_annotation, str(a.input_shapes), a.flops,
             (a.cpu_memory_usage, a.self_cpu_memory_usage) if has_memory else None)
            for a in averages]


def calls(path: str, keys: tuple[str, ...] = ARGS) -> dict[Any, list[tuple[Any, ...]]]:
    """The calls of each thread in their order, of a trace at PATH; the time is last."""
    with open(path, encoding="utf-8") as f:
        events = [e for e in json.load(f)["traceEvents"]
                  if e["ph"] == "X" and e["cat"] in ("cpu_op", "user_annotation")]
    threads = collections.defaultdict(list)
    for e in events:
        start = round(e["ts"] * 1000)
        threads[e["tid"]].append((start, -round(e["dur"] * 1000), e))
    result = {}
    for tid, found in threads.items():
        ends: list[int] = []
        result[tid] = []
        for start, minus, e in sorted(found, key=lambda x: x[:2]):
            while ends and ends[-1] <= start:
                ends.pop()
            args = e.get("args", {})
            result[tid].append((e["name"], e["cat"], len(ends),
                                *(plain(key, args) for key in keys), e["dur"]))
            ends.append(start - minus)
    return result


def misplaced(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """FOUND, the calls of a thread, each with the modules of the call that torch takes it for:
    it notes none for backward functions, and afterwards gives them out to all calls in turn."""
    noted = [call[-2] for before, call in zip([("",), *found], found)
             if before[0] != ENGINE + call[0]]
    return [(*call[:-2], modules, call[-1])
            for call, modules in itertools.zip_longest(found, noted)]


def plain(key: str, args: dict[str, Any]) -> Any:
    """What ARGS say of KEY; Kineto writes that there is no forward thread."""
    value = args.get(key)
    no_thread = key == "Fwd thread id" and value == 0
    return None if value in (None, -1) or no_thread else json.dumps(value)


def arrows(path: str) -> list[Any]:
    """What each arrow goes from and to: the innermost call that begins there."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    begins = {}
    for e in sorted((e for e in events if e["ph"] == "X" and e["cat"] == "cpu_op"),
                    key=lambda e: -e["dur"]):
        begins[e["tid"], e["ts"]] = e["name"]
    ends: dict[str, dict[int, Any]] = {"s": {}, "f": {}}
    for e in events:
        if e.get("cat") == "fwdbwd":
            ends[e["ph"]][e["id"]] = e["tid"], begins.get((e["tid"], e["ts"]))
    return sorted((ends["s"][i], ends["f"].get(i)) for i in ends["s"])


# What only Kineto tells: keywords of the fast variant of record_function, for which there is
# no public interface, and the place of a thread in a list.
KINETO_ALONE = ("thread_sort_index",)


OURS = ("Is asynchronous",)  # what torch tells in objects alone


def members(path: str) -> dict[Any, set[str]]:
    """The members and arguments that events of each sort have in a trace, in any of them."""
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    result: dict[Any, set[str]] = {"": set(trace) - OURS_ALONE}
    for e in trace["traceEvents"]:
        sort = e["ph"], e.get("cat"), e["name"] if e["ph"] in "Mi" else ""
        if e["name"] not in KINETO_ALONE:
            found = result.setdefault(sort, set())
            found |= {x for x in e if x != "args"} | {f"args.{x}" for x in e.get("args", {})
                                                      if x not in OURS}
    return result


def compare_forms(a: str, b: str) -> list[str]:
    """Arrows, and what events consist of."""
    found = []
    if arrows(a) != arrows(b):
        found.append(f"arrows differ: {len(arrows(a))}, {len(arrows(b))}")
    x, y = members(a), members(b)
    return found + [f"{sort} has {sorted(x.get(sort, ()))}, and here {sorted(y.get(sort, ()))}"
                    for sort in x | y if x.get(sort) != y.get(sort)]


def memory_records(path: str) -> list[int]:
    """Bytes of all allocations and releases in their order."""
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
    """Workload NAME, which has run once: the same each time."""
    torch.manual_seed(0)
    work: Callable[[], None] = getattr(workloads, name)()
    work()
    return work


def profiles(name: str, options: dict[str, Any], is_alone: bool) -> list[Any]:
    """The profiles of torch and of ours, of the same run of NAME or of one each."""
    made = [make(activities=[torch.profiler.ProfilerActivity.CPU], **options)
            for make in (torch.profiler.profile, opscope.torch.profile)]
    if not is_alone:
        work = warm(name)
        with made[0], made[1]:
            work()
        return made
    for profile in made:
        work = warm(name)
        with profile:
            work()
    return made


def differences(name: str, options: dict[str, Any], is_alone: bool, directory: str,
                equal: dict[str, int]) -> list[str]:
    """What differs between the two profilers on workload NAME; EQUAL: how much does not."""
    theirs, ours = profiles(name, options, is_alone)
    found = []
    has_memory = options.get("profile_memory", False)
    for by_shape in (False, True):
        in_rows = has_memory and name not in RACES
        a = rows(theirs.key_averages(group_by_input_shape=by_shape), in_rows)
        b = rows(ours.key_averages(group_by_input_shape=by_shape), in_rows)
        by = "shape" if by_shape else "name"
        if collections.Counter(a) != collections.Counter(b):
            found += [f"by {by}, torch alone: {x}" for x in a if x not in b]
            found += [f"by {by}, opscope alone: {x}" for x in b if x not in a]
        elif a != b and name not in ("threads", *RACES):
            found.append(f"by {by}: the order differs")
        equal["rows"] += sum((collections.Counter(a) & collections.Counter(b)).values())
    traces = [os.path.join(directory, f"{x}.json") for x in ("theirs", "ours")]
    theirs.export_chrome_trace(traces[0])
    ours.export_chrome_trace(traces[1])
    if not is_json(traces[1]):
        found.append("the exported trace is not JSON")
    if name not in NO_JSON:
        keys = tuple(k for k in ARGS if not (is_alone and k == "Sequence number"))
        found += compare_calls(*(calls(t, keys) for t in traces), equal)
        found += compare_records(*map(memory_records, traces), name in RACES, equal)
        found += compare_forms(*traces)
    return found


def python_calls(path: str) -> list[tuple[Any, ...]]:
    """What ran inside of the workload, Python's calls among it, and the stacks of all of it:
    sort, number of the module, name, stack, name of the call around it.
    """
    with open(path, encoding="utf-8") as f:
        events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X" and
                  e["cat"] in ("cpu_op", "user_annotation", "python_function")]
    work = next(e for e in events if e["name"].startswith("workloads.py(") and
                e["name"].endswith("): work"))
    inside = [e for e in events if e["tid"] == work["tid"] and
              work["ts"] < e["ts"] and e["ts"] + e["dur"] <= work["ts"] + work["dur"]]
    inside.sort(key=lambda e: (e["ts"], -e["dur"]))
    names = {e["args"]["Python id"]: e["name"] for e in events if "Python id" in e["args"]}
    result = []
    for e in inside:
        args = e["args"]
        texts = (e["name"], args.get("Call stack", "").split(": work;")[0],
                 names.get(args.get("Python parent id"), ""))
        result.append((e["cat"], args.get("Python module id"),
                       *(re.sub("0x[0-9a-f]+", "0x", x) for x in texts)))
    return result


def stack_differences(name: str, directory: str) -> list[str]:
    """The same of calls of Python: one after the other, since there is one slot for them."""
    found = []
    cpu = [torch.profiler.ProfilerActivity.CPU]
    for i, make in enumerate((torch.profiler.profile, opscope.torch.profile)):
        work = warm(name)
        with make(activities=cpu, with_stack=True,
                  experimental_config=CONFIG(verbose=True)) as prof:
            work()
        path = os.path.join(directory, f"{i}.json")
        prof.export_chrome_trace(path)
        found.append(python_calls(path))
    if found[0] == found[1]:
        return []
    for i, (a, b) in enumerate(zip(*found)):
        if a != b:
            return [f"call {i}: torch {a}, opscope {b}"]
    return [f"{len(found[0])} and {len(found[1])} calls"]


def compare_calls(a: dict[Any, Any], b: dict[Any, Any], equal: dict[str, int]) -> list[str]:
    """Of each thread every call; threads are those of the system."""
    if a.keys() != b.keys():
        return [f"threads {sorted(a)} and {sorted(b)}"]
    apart = []
    for tid, of_torch in a.items():
        for i, (x, y) in enumerate(zip(of_torch, misplaced(b[tid]))):
            if x[:-1] != y[:-1]:
                return [f"thread {tid}, call {i}: torch {x}, opscope {y}"]
            apart.append(abs(x[-1] - y[-1]))
        if len(of_torch) != len(b[tid]):
            return [f"thread {tid}: {len(of_torch)} and {len(b[tid])} calls"]
        equal["calls"] += len(of_torch)
    if apart and statistics.median(apart) > COST_US:
        return [f"times are {statistics.median(apart):.1f} us apart"]
    return []


def compare_records(a: list[int], b: list[int], is_race: bool,
                    equal: dict[str, int]) -> list[str]:
    """Allocations and releases."""
    if (sorted(a) != sorted(b)) if is_race else (a != b):
        return ["memory records differ"]
    equal["memory records"] += len(a)
    return []


def of_ranks() -> tuple[int, int]:
    """Passed and failed of two processes that do the workload `ddp` together."""
    with tempfile.TemporaryDirectory() as directory:
        ranks = [subprocess.Popen([sys.executable, __file__, "--only", "ddp", "--rank", str(rank),
                                   "--store", os.path.join(directory, "store")],
                                  stdout=subprocess.PIPE, text=True) for rank in range(2)]
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
    arguments = parser.parse_args()
    only = arguments.only
    passed = failed = 0
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    work = workloads.ALL
    if arguments.store:
        torch.distributed.init_process_group("gloo", rank=arguments.rank, world_size=2,
                                             init_method=f"file://{arguments.store}")
        work = [workloads.ddp]
    elif only in (None, "ddp"):
        passed, failed = of_ranks()
    for workload in work:
        name = workload.__name__
        equal: dict[str, int] = collections.defaultdict(int)
        for option, values in OPTIONS.items():
            if option == "alone" and name in MEMORY_ALONE:
                values = {**values, "profile_memory": True}
            if only and only not in (name, f"{name}:{option}") or \
                    name in {"stacks": NO_STACKS, "alone": NOT_ALONE}.get(option, ()):
                continue
            with tempfile.TemporaryDirectory() as directory:
                found = stack_differences(name, directory) if option == "stacks" else \
                    differences(name, values, option == "alone", directory, equal)
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
