#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-results
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
# turn: 4
"""Check the results of opscope.torch: the same as torch.profiler's, or as torch documents them.

    python3 tests/torch/results.py

Averages, tables, events, traces and stacks of small pieces of work; memory is in memory.py, whole
workloads are in compare.py. Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`;
exit status 1 on any failure.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import gc
import inspect
import itertools
import json
import os
import pickle
import queue
import re
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.profiler
from support import both, exported, fake_cupti, python, raises, run
from torch.nn import functional as F
from torch.profiler._utils import BasicEvaluation

import opscope
import opscope.torch
from opscope.torch import (
    ExecutionTraceObserver,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
)

CPU = [ProfilerActivity.CPU]
# Work of a device that no operator launched, by the three ways to its events.
ALONE = """
import ctypes, os, torch
from opscope.torch import ProfilerActivity, profile, profiler_legacy
fake = ctypes.CDLL(os.environ["FAKE"])
def work():
    fake.cudaLaunchKernel(b"alone", 7, 108, 256)
    fake.cudaDeviceSynchronize()
    torch.ones(2)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof: work()
print(*("alone" in [e.name for e in prof.events()],
        "alone" in [e.name() for e in prof.profiler.kineto_results.events()]))
with profiler_legacy.profile(use_cuda=True) as old: work()
print("alone" in old.table(sort_by="id"))
"""
CONFIG = torch._C._profiler._ExperimentalConfig
VERBOSE = CONFIG(verbose=True)  # stacks, in torch
# Since 2.14, averages have Python functions only on request.
WITH_PYTHON = {
    name: True
    for name in ("include_python_functions",)
    if name in inspect.signature(profile.key_averages).parameters
}
x = torch.randn(8, 8)


def an_exported_trace_has_the_members_of_torch() -> None:
    def work() -> None:
        w = torch.ones(8, 8, requires_grad=True)
        with record_function("label"):
            (x @ w).sum().backward()

    def members(prof: Any, path: str) -> tuple[dict[str, Any], set[Any]]:
        prof.export_chrome_trace(path)
        trace = json.loads(Path(path).read_text())
        found = set()
        for e in trace.pop("traceEvents"):
            named = "cat" not in e or e["cat"] == "Trace"
            found.add(
                (
                    e["ph"],
                    e.get("cat"),
                    named and e["name"],
                    frozenset(e),
                    frozenset(e.get("args", ())),
                    named and tuple(type(e[k]) for k in ("pid", "tid")),
                )
            )
        return trace, found

    def facts(path: str) -> set[str]:
        events = json.loads(Path(path).read_text())["traceEvents"]
        return {
            json.dumps([e["pid"], e["tid"], e["name"], e["args"]])
            for e in events
            if e["ph"] == "M"
        }

    for options in ({}, {"record_shapes": True, "with_flops": True, "profile_memory": True}):
        theirs, ours = both(work, activities=CPU, **options)
        with tempfile.TemporaryDirectory() as d:
            (a, theirs_found), (b, ours_found) = (
                members(prof, f"{d}/{name}") for prof, name in ((theirs, "a"), (ours, "b"))
            )
            assert theirs_found == ours_found, theirs_found ^ ours_found
            assert facts(f"{d}/a") == facts(f"{d}/b"), facts(f"{d}/a") ^ facts(f"{d}/b")
        same = ("schemaVersion", "displayTimeUnit", "deviceProperties", "host_name", *options)
        assert set(a) < set(b) and all(a[k] == b[k] for k in same), (a, b)
        assert not set(opscope.torch.profiler.FLAGS) - set(options) & set(b), b


def what_is_open_when_the_window_ends_ends_there() -> None:
    with profile(activities=CPU) as prof:
        outer = record_function("outer").__enter__()
        x + x
    outer.__exit__(None, None, None)
    events = exported(prof)
    assert [e["ph"] for e in events if e["name"] == "outer"] == ["X"], events


def averages_are_a_list_in_every_way() -> None:
    def look() -> list[Any]:
        return prof.key_averages(group_by_stack_n=5)

    with profile(activities=CPU, with_stack=True) as prof:
        (x @ x).sum()
    n = len(look())
    assert n > 2
    assert [len(a) for a in ([*look()], [*look()], look().copy(), look() * 2)] == [
        n,
        n,
        n,
        2 * n,
    ]
    averages = look()
    averages.sort(key=lambda a: a.key)
    assert [a.key for a in averages] == sorted(a.key for a in look())
    assert averages.pop().key == max(a.key for a in look())
    assert look() != [] and look() != [1] and averages[0] in averages
    assert len(pickle.loads(pickle.dumps(look()))) == n == len(copy.deepcopy(look()))
    assert "aten::mm" in repr(look()) and "aten::mm" in copy.copy(look()).table()
    matmul = next(a for a in look() if a.key == "aten::matmul")
    assert any(Path(__file__).name in frame for frame in matmul.stack), matmul.stack


def nothing_is_an_empty_table() -> None:
    with profile(activities=CPU) as prof:
        pass
    assert prof.key_averages().table() == "" and len(prof.key_averages()) == 0
    for named in (CPU, [{ProfilerActivity.CPU: []}]):
        with profile(activities=named) as prof:
            pass
        events = exported(prof)
        assert not [e for e in events if e.get("cat", "Trace") != "Trace"], events


def averages_outlast_their_profile() -> None:
    def measure() -> Any:
        with profile(activities=CPU) as prof:
            x @ x
        return prof.key_averages()

    assert "aten::mm" in measure().table() and "aten::mm" in [a.key for a in measure()]


def objects_have_what_torch_gives_them() -> None:
    with profile(activities=CPU, record_shapes=True, profile_memory=True) as prof:
        y = x @ x
    a = next(a for a in prof.key_averages(group_by_input_shape=True) if a.key == "aten::matmul")
    assert (a.count, a.input_shapes, a.cpu_memory_usage) == (1, [[8, 8], [8, 8]], 256), a
    assert a.cpu_time_total >= a.self_cpu_time_total > 0
    e = prof.events()
    assert [f.name for f in e][:2] == ["aten::matmul", "aten::mm"], e
    assert e[1] in e[0].cpu_children and e[1].cpu_parent is e[0]
    assert e[1].cpu_memory_usage == 256 and e[0].self_cpu_memory_usage == 0
    assert prof.key_averages().total_average().count == len(e)
    assert "aten::mm" in e.table(sort_by="id")
    del y


def tables_take_the_arguments_of_torch() -> None:
    with profile(activities=CPU, record_shapes=True) as prof:
        x @ x
        x + x
    averages = prof.key_averages()
    text = averages.table(
        sort_by="cpu_time_total",
        row_limit=1,
        header="HEAD",
        top_level_events_only=True,
        max_name_column_width=20,
    )
    assert "HEAD" in text and "top-level ops" in text and "aten::mm" not in text, text
    assert raises(
        AttributeError, "no attribute 'nonsense'", lambda: averages.table(sort_by="nonsense")
    )
    assert "us" in averages.table(time_unit="us") and "aten" not in averages.table(row_limit=0)
    assert str(averages) == averages.table()


def tables_take_odd_arguments_as_torch_does() -> None:
    def work() -> None:
        with record_function("a label that is longer than what some columns are wide"):
            torch.cat([x @ x, x + x]).sum()

    def text(prof: Any, by_shape: bool, arguments: dict[str, Any]) -> str:
        try:
            made = prof.key_averages(group_by_input_shape=by_shape).table(**arguments)
        except (AttributeError, TypeError, ValueError) as e:
            return f"{type(e).__name__}: {e}".partition("; the keys of sort_by are")[0]
        return re.sub(r"  +", "  ", re.sub(r"\d+\.\d+(us|ms|%)", "N", made))

    theirs, ours = both(work, activities=CPU, record_shapes=True)
    for arguments in (
        *({"row_limit": n} for n in (None, True, False, 2.5, "3", 10**30, 3.0, -7, 0)),
        *(
            {"sort_by": key, "row_limit": None}
            for key in (
                "key",
                "count",
                "node_id",
                "scope",
                "input_shapes",
                "is_user_annotation",
                "device_type",
                "self_mtia_time_total",
                "cpu_memory_usage",
                "",
                3,
            )
        ),
        *({"max_name_column_width": n} for n in (0, 1, -1, 2.5, True, None)),
        *({"max_shapes_column_width": n} for n in (0, 1, -1, None)),
        *({"max_src_column_width": n} for n in (0, -1, 2.5)),
        *({"header": h} for h in ("", "two\nlines", "x" * 5000, "n\0l", "\ud800", 3)),
        {"time_unit": "ms", "top_level_events_only": True},
        {"top_level_events_only": "yes"},
        {"sort_by": "key", "row_limit": 2, "header": "a\tb"},
    ):
        for by_shape in (False, True):
            a, b = (text(p, by_shape, arguments) for p in (theirs, ours))
            assert a == b, f"{arguments}\n{a}\n{b}"


def stacks_need_no_hidden_flag() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
    with profile(activities=CPU, with_stack=True) as prof:
        model(x)
    e = next(e for e in prof.events() if e.name == "aten::linear")
    assert e.stack[0] == "<built-in function linear>", e.stack
    assert "nn.Module: Linear_0" in e.stack and "nn.Module: Sequential_0" in e.stack, e.stack
    text = prof.key_averages(group_by_stack_n=3, **WITH_PYTHON).table()
    assert "Source Location" in text and "nn.Module: Linear_1" in text
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "stacks")
        prof.export_stacks(path)
        lines = Path(path).read_text().splitlines()
    assert any("nn.Module:_Linear_1;" in x for x in lines), lines[:3]
    assert sys.getprofile() is None


class Doubled(torch.autograd.Function):
    """Python that the engine calls."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
        return a * 2

    @staticmethod
    def backward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
        return a + a


def variety(model: torch.nn.Module) -> None:
    """Python that calls and is called in many ways."""

    def recurse(n: int) -> torch.Tensor:
        return x + n if n == 0 else recurse(n - 1) * 2

    def generate() -> Any:
        for i in range(3):
            yield x[i].sum()

    def fail() -> None:
        raise ValueError

    recurse(3)
    list(generate())
    sorted([3, 1, 2], key=lambda n: -n)
    with record_function("label"):
        recurse(1)
        with record_function("inner"):
            x @ x
    recurse(0)
    try:
        fail()
    except ValueError:
        torch.ones(1)
    (model(x).sum() + Doubled.apply(torch.ones(2, requires_grad=True)).sum()).backward()
    other = threading.Thread(target=lambda: x + x)
    other.start()
    other.join()


def windows(make: type, is_scheduled: bool) -> list[Any]:
    """The results of MAKE, a profiler, for variety() in each of its windows."""

    def tell(prof: Any) -> None:
        events = [(e.name, *e.stack) for e in prof.events()]
        averages = [[a for a in prof.key_averages(group_by_stack_n=n)] for n in (1, 5, 20)]
        texts = [prof.key_averages(group_by_stack_n=n).table(row_limit=-1) for n in (1, 5, 20)]
        found.append(
            [
                "\n".join(inside(x))
                for x in (
                    map(";".join, events),
                    *([f"{a.key};{a.count};{';'.join(a.stack)}" for a in x] for x in averages),
                    *(
                        re.split(
                            r"\n *\n",
                            re.sub(r" +[0-9.-]+(us|ms|%)", lambda m: " " * len(m[0]), x),
                        )
                        for x in texts
                    ),
                )
            ]
        )

    def inside(rows: Any) -> list[str]:
        # Whether the start of a thread has to wait for it is chance.
        return [
            re.sub("0x[0-9a-f]+", "0x", x)
            for x in rows
            if "): variety" in x and "threading.py" not in x
        ]

    found: list[Any] = []
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    options: dict[str, Any] = (
        {"schedule": schedule(wait=1, warmup=1, active=2, repeat=2), "on_trace_ready": tell}
        if is_scheduled
        else {}
    )
    variety(model)
    with make(activities=CPU, with_stack=True, experimental_config=VERBOSE, **options) as prof:
        for _ in range(8 if is_scheduled else 1):
            variety(model)
            prof.step() if is_scheduled else None
    if not is_scheduled:
        tell(prof)
    return found


def functions_of_python_have_the_stacks_that_torch_gives_them() -> None:
    for is_scheduled in (False, True):
        theirs, ours = (
            windows(make, is_scheduled) for make in (torch.profiler.profile, profile)
        )
        assert len(theirs) == len(ours) == 1 + is_scheduled
        for a, b in zip(theirs, ours):
            assert all(a) and len(a[0]) > 10000, [len(x) for x in a]
            for one, other in zip(a, b):
                assert one == other, next(
                    (u, v)
                    for u, v in itertools.zip_longest(*(x.split("\n") for x in (one, other)))
                    if u != v
                )


def lines_and_modules_of_torchscript_are_told_as_torch_does() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, a: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.linear(a)) * 2

    def record(make: type, **options: bool) -> list[Any]:
        with make(activities=CPU, experimental_config=VERBOSE, **options) as prof:
            with torch.no_grad():  # after backward functions, torch confuses the operators
                y = script(x + 1)
            y - 1
        return [
            (
                e["name"],
                e["args"].get("Call stack", "").split("record;")[0],
                e["args"].get("Module Hierarchy", ""),
            )
            for e in exported(prof)
            if e.get("cat") == "cpu_op"
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(torch.nn.Sequential(Scaled(), torch.nn.Linear(8, 8)))
    for _ in range(3):
        script(x)
    for options in ({"with_stack": True}, {"with_modules": True}):
        theirs, ours = (record(make, **options) for make in (torch.profiler.profile, profile))
        inside = [a for _, *a in ours if "forward" in "".join(a)]
        assert len(inside) > 10 and theirs == ours, [
            (a, b) for a, b in itertools.zip_longest(theirs, ours) if a != b
        ][:3]


def stacks_are_exported_as_torch_does() -> None:
    def export(make: type) -> list[tuple[str, bool]]:
        def wait(n: int) -> None:
            time.sleep(0.02)
            if n > 0:
                wait(n - 1)

        with tempfile.TemporaryDirectory() as d:
            with make(activities=CPU, with_stack=True, experimental_config=VERBOSE) as prof:
                wait(2)
                with record_function("label"):
                    wait(1)
            prof.export_stacks(os.path.join(d, "stacks"), "self_cpu_time_total")
            lines = [x.rsplit(" ", 1) for x in Path(d, "stacks").read_text().splitlines()]
        return [(stack, int(us) < 60000) for stack, us in lines if int(us) >= 20000]

    theirs, ours = export(torch.profiler.profile), export(profile)
    assert len(theirs) == 5 and theirs == ours, (theirs, ours)


def stacks_and_overloads_are_there_as_the_config_says() -> None:
    def record(make: type, **fields: bool) -> list[Any]:
        def adds() -> None:
            x + x
            x.add(1)

        adds()
        with make(activities=CPU, with_stack=True, experimental_config=CONFIG(**fields)) as p:
            adds()
        events = exported(p)
        with tempfile.TemporaryDirectory() as d:
            p.export_stacks(os.path.join(d, "stacks"))
            has_stacks = os.path.getsize(os.path.join(d, "stacks")) > 0
        return [
            has_stacks,
            sorted(
                {
                    key
                    for e in events
                    for key in e.get("args", {})
                    if e.get("cat") in ("cpu_op", "python_function")
                }
                - {"CallFrom"}
            ),  # the line of the caller, since 2.15
            [e["name"] for e in events if e.get("cat") == "cpu_op"],
            [(e.name, e.stack[:1]) for e in p.events() if not e.is_python_function],
            [
                (a.key, a.stack[:1])
                for a in p.key_averages(group_by_stack_n=2)
                if a.key.endswith(("aten::add", "adds"))
            ],
            "Source Location" in p.key_averages(group_by_stack_n=2).table(),
        ]

    for fields in (
        {"verbose": False},
        {"verbose": True},
        {"capture_overload_names": True},
        {"capture_overload_names": True, "verbose": True},
    ):
        theirs, ours = (record(make, **fields) for make in (torch.profiler.profile, profile))
        assert theirs[0] == fields.get("verbose", False) and theirs == ours, (theirs, ours)


def collections_of_garbage_are_rows_when_asked() -> None:
    def rows(make: type, with_stack: bool, is_asked: bool) -> tuple[list[Any], int]:
        with make(
            activities=CPU,
            with_stack=with_stack,
            experimental_config=CONFIG(record_python_gc_info=is_asked),
        ) as p:
            for _ in range(2):
                x + x
                gc.collect()
        found = [e for e in exported(p) if e["name"] == "Python GC"]
        return (
            [(a.key, a.count) for a in p.key_averages() if "GC" in a.key]
            + [e["cat"] for e in found]
            + [(e.name, e.is_python_function) for e in p.events() if "GC" in e.name],
            len(p.key_averages()),
        )

    for options in ((True, True), (True, False), (False, True)):
        theirs, ours = (rows(make, *options) for make in (torch.profiler.profile, profile))
        assert theirs[0] == ours[0] and bool(ours[0]) == all(options), (theirs, ours)
    assert not any("collection" in str(x) for x in gc.callbacks), gc.callbacks


def names_are_printed_as_they_are() -> None:
    names = (
        "tab\there",
        "two\nlines",
        "\x7f\x01",
        "\x1b[31mred",
        "x" * 53 + "\t",
        "c1 \x9b31m",
    )

    def labels() -> None:
        for name in names:
            with record_function(name):
                pass

    theirs, ours = both(labels, activities=CPU)
    for width in (55, 20):
        a, b = (
            re.sub(
                r"[ -]+",
                " ",
                re.sub(
                    r"[\d.]+(us|ms|%)",
                    "",
                    p.key_averages().table(sort_by="key", max_name_column_width=width),
                ),
            )
            for p in (theirs, ours)
        )
        assert a == b and "tab\there" in b, (a, b)


def names_that_lie_at_one_address_are_told_apart() -> None:
    # torch copies the name of a range into itself; ranges after each other are at one place.
    names = [c * n for n in range(1, 70) for c in "ab"] + [
        "ab" * 8,
        "ab" * 8 + "c",
        "ab" * 7 + "a",
    ]

    with profile(activities=CPU) as prof:
        for _ in range(3):
            for name in names:
                with record_function(name):
                    pass
    found = {x.key: x.count for x in prof.key_averages()}
    assert found == {name: 3 for name in names}, found


def a_function_that_fails_in_the_profile_ends_there() -> None:
    def fails() -> None:
        raise ValueError

    with profile(activities=CPU, with_stack=True) as prof:
        for _ in range(3):
            with contextlib.suppress(ValueError):
                fails()
        x + x
    rows = prof.key_averages(**WITH_PYTHON)
    assert [a.count for a in rows if a.key.endswith("): fails")] == [3], rows
    e = next(e for e in prof.events() if e.name == "aten::add")
    assert not any(s.endswith("): fails") for s in e.stack), e.stack


def overload_names_are_recorded_on_request() -> None:
    asked = CONFIG(capture_overload_names=True)
    with profile(activities=CPU, experimental_config=asked) as prof:
        x + x
    found = [a.overload_name for a in prof.key_averages(group_by_overload_name=True)]
    assert found == ["Tensor"], found


def events_have_the_fields_that_torch_gives_them() -> None:
    def work() -> None:
        w = torch.ones(8, 8, requires_grad=True)
        with record_function("label"):
            (
                F.conv2d(x.view(1, 1, 8, 8), x.view(4, 1, 4, 4), padding=1).sum()
                + (x @ w).sum()
            ).backward()
        torch.zeros(2) + torch.ones(()) * 2.5

    x = torch.ones(8, 8)
    theirs, ours = both(work, activities=CPU, record_shapes=True, with_flops=True)
    names = (
        "name",
        "id",
        "external_id",
        "key",
        "trace_name",
        "node_id",
        "thread",
        "fwd_thread",
        "count",
        "scope",
        "sequence_nr",
        "input_shapes",
        "structured_input_shapes",
        "input_dtypes",
        "structured_input_strides",
        "concrete_inputs",
        "kwinputs",
        "overload_name",
        "flops",
        "stack",
        "is_async",
        "is_remote",
        "is_legacy",
        "is_user_annotation",
        "use_device",
        "is_python_function",
        "device_type",
        "device_index",
        "device_resource_id",
        "activity_type",
    )
    a, b = (
        [
            {n: getattr(e, n) for n in names}
            | {"parent": e.cpu_parent.name if e.cpu_parent else None}
            for e in p.events()
        ]
        for p in (theirs, ours)
    )
    for found in (a, b):  # torch continues counting, and sees modules that it leaves out
        first = found[0]["id"] - 1
        for e in found:
            e["id"], e["external_id"] = e["id"] > first, e["external_id"] - e["id"]
    different = [(n, u["name"], u[n], v[n]) for u, v in zip(a, b) for n in u if u[n] != v[n]]
    assert len(a) == len(b) and not different, different[:5]
    a, b = ([(x.key, x.scope) for x in p.key_averages()] for p in (theirs, ours))
    assert a == b and ("MmBackward0", 1) in b and ("label", 7) in b, (a, b)


def backward_functions_have_the_stack_of_their_forward_ones() -> None:
    with profile(activities=CPU, with_stack=True) as prof:
        w = torch.ones(8, 8, requires_grad=True)
        (x @ w).sum().backward()
    e = {e.name: e for e in prof.events()}
    assert e["MmBackward0"].scope == 1 and e["MmBackward0"].stack == e["aten::mm"].stack
    assert e["MmBackward0"].fwd_thread == e["aten::mm"].thread


def numbers_that_are_inputs_are_those_of_torch() -> None:
    numbers = [0.5, -3.0, 1e10, 1e19, float("inf"), 2 + 1j, complex("inf+1j"), True, 7]
    with profile(activities=CPU, record_shapes=True) as p:
        for number in numbers:
            torch.full((1,), number, dtype=torch.complex128)
    found = [e.concrete_inputs[1] for e in p.events() if e.name == "aten::full"]
    assert [repr(x) for x in found] == [repr(x) for x in numbers], found


def ranges_of_graphs_keep_their_inputs_and_keywords_as_in_torch() -> None:
    half = torch.ones(2, dtype=torch.float16)
    inputs = [
        x,
        3,
        2.5,
        True,
        "text",
        None,
        [x, half],
        [1, 2],
        (1, 2),
        [1.5, 2.5],
        ["a"],
        {"a": 1},
        [],
        [1, "a"],
        1j,
        torch.device("cpu"),
        x.shape,
        [True],
        1e30,
        (x, half),
        [[1, 2]],
        [x, None],
        [x, 1],
        slice(1),
        len,
        torch.nn.Parameter(x),
        [1] * 40,
        [x] * 40,
    ]
    keywords = {
        "grid": "grid(1,)",
        "stream": 0,
        "num_warps": 4,
        "debug": True,
        "neg": -2,
        "half": 0.1,
        "texts": ["a", "b"],
        "none": [],
        "scope": "user_scope",
        "uni": "\u00e9",
        "long": 2**40,
        "tiny": 1e-7,
    }
    found = []
    for cls in (torch.profiler.profile, profile):
        for has_shapes in (True, False):
            with cls(activities=CPU, record_shapes=has_shapes) as prof:
                for given in ((), (inputs,), ((x, x),), ([], keywords)):
                    with torch._C._profiler._RecordFunctionFast("range", *given):
                        x + x
            names = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs", *keywords)
            found.append(
                [
                    [
                        (e["cat"], {k: v for k, v in e["args"].items() if k in names})
                        for e in exported(prof)
                        if e["name"] == "range"
                    ],
                    [
                        (e.kwinputs, e.input_shapes, e.concrete_inputs, e.is_user_annotation)
                        for e in prof.events()
                        if e.name == "range"
                    ],
                ]
            )
    assert found[0] == found[2], (found[0], found[2])
    assert found[1] == found[3], (found[1], found[3])
    assert len(found[0][0]) == 4 and len(found[0][1][1][1]) > 20, found[0]


def stacks_have_no_frame_of_opscope() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
            return value * 2

    with profile(activities=CPU, with_stack=True, record_shapes=True) as prof:
        with torch._C._profiler._RecordFunctionFast("range", [x], {"key": ["text"]}):
            Double.apply(x)
        prof.add_metadata("key", "value")
    found = {e["name"] for e in exported(prof) if e.get("cat") == "python_function"}
    stacks = {e["args"].get("Call stack", "") for e in exported(prof) if "args" in e}
    assert any(y.endswith(": forward") for y in found), found
    wrong = [y for y in (*found, *stacks) if "opscope/" in y or "ctypes" in y or "json/" in y]
    assert not wrong, wrong


def functions_of_operators_have_the_numbers_of_the_execution_trace() -> None:
    leaf = torch.randn(4, 4, requires_grad=True)
    with tempfile.TemporaryDirectory() as d:
        observer = ExecutionTraceObserver().register_callback(os.path.join(d, "et.json"))
        with profile(activities=CPU, execution_trace_observer=observer) as prof:
            with record_function("label"):
                (leaf @ leaf).relu().sum().backward()
        observer.unregister_callback()
        nodes = json.loads(Path(d, "et.json").read_text())["nodes"]
    traced = {
        (a["value"], node["name"])
        for node in nodes
        for a in node.get("attrs", [])
        if a["name"] == "rf_id" and a["value"] != 0
    }
    ours = {
        (e["args"]["Record function id"], e["name"])
        for e in exported(prof)
        if e.get("cat") in ("cpu_op", "user_annotation")
    }
    assert len(traced) > 20 and traced == ours, traced ^ ours


def events_of_the_window_are_the_last_as_in_torch() -> None:
    found = []
    for cls in (torch.profiler.profile, profile):
        with cls(activities=CPU) as prof:
            x + x
        found.append([(e["ph"], e["name"], e["pid"]) for e in exported(prof)[-4:]])
    assert found[0] == found[1], found


def stacks_are_in_traces_if_torch_has_them_there() -> None:
    sizes, has_stacks = [], []
    for cls in (torch.profiler.profile, profile):
        for config in (None, torch._C._profiler._ExperimentalConfig(verbose=True)):
            with cls(activities=CPU, with_stack=True, experimental_config=config) as prof:
                for _ in range(100):
                    F.layer_norm(F.relu(x), x.shape)
            events = exported(prof)
            has_stacks.append(any("Call stack" in e.get("args", {}) for e in events))
            sizes.append(len(json.dumps(events)))
            if cls is profile:
                assert any(e.stack for e in prof.events())
    assert has_stacks == [False, True, False, True], has_stacks
    assert sizes[2] <= 1.1 * sizes[0] and sizes[3] <= 1.1 * sizes[1], sizes


def ranges_may_be_as_deep_as_python_has_them() -> None:
    with profile(activities=CPU) as p, contextlib.ExitStack() as ranges:
        for i in range(5000):
            ranges.enter_context(record_function(f"range {i}"))
        torch.ones(2)
    rows = {a.key for a in p.key_averages()}
    assert {f"range {i}" for i in range(5000)} | {"aten::ones"} < rows, len(rows)


def a_builtin_that_began_before_takes_no_call_with_it() -> None:
    begin, running, go_on, ended = (threading.Event() for _ in range(4))

    def called(_: int) -> int:
        running.set()
        assert go_on.wait(60)
        return 0

    def inner() -> None:
        max([1], key=called)
        torch.neg(x)

    def outer() -> None:
        assert begin.wait(60)
        inner()
        torch.exp(x)
        ended.set()

    config = torch._C._profiler._ExperimentalConfig(verbose=True, profile_all_threads=True)
    options: dict[str, Any] = {
        "activities": CPU,
        "with_stack": True,
        "experimental_config": config,
    }
    first, second = profile(**options), profile(**options)
    worker = threading.Thread(target=outer)
    worker.start()
    first.start()
    begin.set()
    assert running.wait(60)
    first.stop()
    second.start()
    go_on.set()
    assert ended.wait(60)
    second.stop()
    worker.join()
    stacks = {
        e["name"]: e["args"].get("Call stack", "")
        for e in exported(second)
        if e.get("cat") == "cpu_op"
    }
    assert ": inner;" in stacks["aten::neg"] and ": outer;" in stacks["aten::exp"], stacks
    assert ": inner;" not in stacks["aten::exp"], stacks


def threads_that_run_already_have_calls_of_python() -> None:
    def told(make: type) -> list[tuple[str, str]]:
        tasks: Any = queue.SimpleQueue()
        is_done = threading.Event()
        model, y = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), torch.ones(4, 4)

        def work() -> None:
            while tasks.get():
                model(y)
                torch.add(y, y)
                is_done.set()

        def waits() -> bool:
            frame = sys._current_frames()[worker.ident or 0]
            code = work.__code__
            while frame.f_back and frame.f_code is not code:
                frame = frame.f_back
            return frame.f_code is code and frame.f_lineno == code.co_firstlineno + 1

        worker = threading.Thread(target=work)
        worker.start()
        while not waits():
            time.sleep(0.001)
        config = torch._C._profiler._ExperimentalConfig(verbose=True, profile_all_threads=True)
        with make(activities=CPU, with_stack=True, experimental_config=config) as prof:
            tasks.put(True)
            assert is_done.wait(60)
        tasks.put(False)
        worker.join()
        # Its actions after the last operator are a race.
        found = [
            e
            for e in exported(prof)
            if e["ph"] == "X"
            and e["tid"] == worker.native_id
            and (e["cat"] == "cpu_op" or "nn.Module" in e["name"] + str(e["args"]))
        ]
        return sorted(
            (
                re.sub("0x[0-9a-f]+", "0x", e["name"]),
                re.sub("0x[0-9a-f]+", "0x", e["args"].get("Call stack", "")),
            )
            for e in found
        )

    theirs, ours = (told(make) for make in (torch.profiler.profile, profile))
    assert theirs == ours and any(
        a == "aten::add" and "work;threading" in b for a, b in ours
    ), (theirs, ours)


def what_ends_on_another_thread_is_asynchronous() -> None:
    def record(make: type) -> list[tuple[str, bool, bool]]:
        # The release of the result of x + x comes last before the range is closed.
        with make(activities=CPU, profile_memory=True) as prof:
            label = record_function("label")
            label.__enter__()
            future = torch.futures.Future()
            label._call_end_callbacks_on_future(future)
            x + x
            ender = threading.Thread(target=lambda: future.set_result(1))
            ender.start()
            ender.join()
            time.sleep(0.05)
            x * x
        marked = [e["name"] for e in exported(prof) if "Is asynchronous" in e.get("args", {})]
        assert marked == ["label"] * (make is profile), marked
        return [
            (a.key, a.is_async, a.self_cpu_time_total == 0) for a in prof.key_averages()
        ] + [(e.name, e.is_async, e.time_range.elapsed_us() > 5e4) for e in prof.events()]

    theirs, ours = record(torch.profiler.profile), record(profile)
    assert theirs == ours, (theirs, ours)


def averages_by_dtype_have_the_dtypes_of_torch() -> None:
    def text(types: list[str]) -> str:
        return ",".join(f" {t}" if t else "" for t in types).removeprefix(" ")

    def work() -> None:
        a, half = torch.ones(4, 4, requires_grad=True), torch.ones(4, 4, dtype=torch.bfloat16)
        (a @ a).sum().backward()
        torch.cat([half @ half, half])
        torch.arange(5) + 1
        a.to(torch.complex64) * 2.5

    for prof in both(work, activities=CPU, record_shapes=True):
        expected = collections.Counter((e.name, text(e.input_dtypes)) for e in prof.events())
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(f"{d}/trace.json")
            rows = opscope.load(f"{d}/trace.json").table("averages", group_by="dtype")
            found = collections.Counter()
            for row in rows.records():
                found[row["name"], row["input_dtypes"] or ""] += row["calls"]
        assert found == expected, (found - expected, expected - found)
        for types in (
            "c10::BFloat16, c10::BFloat16",
            "TensorList, Scalar",
            "c10::complex<float>, double",
            "long int, long int, Scalar",
        ):
            assert any(types == told for _, told in found), (types, found)


def events_have_the_numbers_of_the_exported_trace() -> None:
    module = torch.nn.Linear(8, 8)
    with profile(activities=CPU, with_stack=True, experimental_config=VERBOSE) as prof:
        module(x).sum().backward()
    written = exported(prof)
    # Torch 2.6 has no such fields.
    events = [e for e in prof.events() if hasattr(e, "python_id") and hasattr(e, "flow_id")]
    calls = {
        e["args"]["Python id"]: (
            e["name"],
            e["args"]["Python parent id"] or -1,
            e["args"].get("Python module id", -1),
        )
        for e in written
        if e.get("cat") == "python_function"
    }
    arrows = {(e["id"], e["ph"] == "s") for e in written if e.get("cat") == "fwdbwd"}
    assert calls and len(arrows) > 2, arrows
    if events:
        assert calls == {
            e.python_id: (e.name, e.python_parent_id, e.python_module_id)
            for e in events
            if e.is_python_function
        }
        assert arrows == {(e.flow_id, e.flow_start) for e in events if e.flow_type == 1}
        assert {(e.flow_id, e.flow_start) for e in events if e.flow_type != 1} == {(0, False)}


def torchs_private_code_works_on_the_results() -> None:
    """Events by name, and the evaluation of queues and idle time."""

    def work() -> None:
        with record_function("mine"):
            torch.ones(3).sum()

    found = []
    for make in (torch.profiler.profile, profile):
        with make(activities=CPU, profile_memory=True) as prof:
            work()
        results = prof.profiler.kineto_results
        events = sorted(
            (e for e in results.events() if e.nbytes() == 0), key=lambda e: e.start_ns()
        )
        assert all(e.start_ns() + e.duration_ns() == e.end_ns() for e in events)
        start_ns, now = results.trace_start_ns(), time.time_ns()
        assert start_ns <= events[0].start_ns() < now and now - start_ns < 10**11
        found.append(
            [
                (
                    e.name(),
                    e.device_type(),
                    e.activity_type(),
                    e.is_user_annotation(),
                    e.linked_correlation_id(),
                    e.shapes(),
                    e.stack(),
                )
                for e in events
            ]
        )
        evaluation = BasicEvaluation(prof.profiler)
        named = [e.name for e in evaluation.events if e.name.startswith("aten::")]
        assert named[:1] == ["aten::ones"] and evaluation.queue_depth_list == []
    assert found[0] == found[1], found


def work_of_a_device_outside_of_operators_is_among_the_events() -> None:
    with tempfile.TemporaryDirectory() as d:
        done = python(ALONE, FAKE=fake_cupti(d))
        assert done.stdout.split() == ["True"] * 3, done


def stacks_are_those_of_the_events() -> None:
    with profile(activities=CPU, with_stack=True) as prof:
        for _ in range(20):
            (x @ x).sum()
    with tempfile.TemporaryDirectory() as d:
        ours, theirs = (os.path.join(d, name) for name in ("ours", "theirs"))
        prof.export_stacks(ours)
        assert prof.profiler.cached_events is None  # which takes long
        prof.profiler.function_events.export_stacks(theirs, "self_cpu_time_total")
        lines = [
            [line.rpartition(" ") for line in Path(path).read_text().splitlines()]
            for path in (ours, theirs)
        ]
    # A time of a microsecond less a rounding is 0 in one of the two.
    a, b = (
        collections.Counter(stack for stack, _, value in found if int(value) > 1)
        for found in lines
    )
    assert lines[0] and (a - b).total() < 3 and (b - a).total() < 3, (a - b, b - a)
    assert raises(
        ValueError, "metric should be one of", lambda: prof.export_stacks("x", "nothing")
    )


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
