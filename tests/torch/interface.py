#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opscope.torch as programs use it: windows, exports, misuse, and how it is built.

    python3 tests/torch/interface.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`;
exit status 1 on any failure.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import gc
import gzip
import inspect
import itertools
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.profiler
from torch.nn import functional as F

import opscope
import opscope.torch
from opscope.torch import ProfilerActivity, profile, profiler_legacy, record_function, schedule

CPU = [ProfilerActivity.CPU]
DEVICES = [a for name, a in ProfilerActivity.__members__.items() if name != "CPU"]
config = torch._C._profiler._ExperimentalConfig
VERBOSE = config(verbose=True)  # stacks, in torch
x = torch.randn(8, 8)


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """CODE in an interpreter of its own, with VARIABLES in its environment."""
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables},
                          capture_output=True, text=True, check=False)


def keys(prof: profile) -> list[str]:
    return [a.key for a in prof.key_averages()]


def both(work: Callable[[], None], **options: Any) -> tuple[torch.profiler.profile, profile]:
    """WORK under torch's profiler and ours at once, after it has been done once without."""
    work()
    with torch.profiler.profile(**options) as theirs:
        with profile(**options) as ours:
            work()
    return theirs, ours


def exhaust() -> None:
    """Ask for more memory than there is."""
    try:
        torch.empty(1 << 58, dtype=torch.int8)
    except RuntimeError:
        pass


def raises(kind: type[Exception], word: str, call) -> bool:
    try:
        call()
    except kind as e:
        return word in str(e)
    return False


def exported(prof: torch.profiler.profile) -> list[dict[str, Any]]:
    """What is in the trace that PROF writes."""
    with tempfile.TemporaryDirectory() as d:
        path = Path(d, "trace.json")
        prof.export_chrome_trace(str(path))
        found: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return found


def each_window_of_a_schedule_is_ready_by_itself() -> None:
    seen = []
    with profile(activities=CPU, schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=lambda p: seen.append((p.step_num, keys(p)))) as prof:
        for _ in range(10):
            x + x
            prof.step()
    assert [step for step, _ in seen] == [4, 8], seen
    assert all(set(k) == {"ProfilerStep*", "aten::add"} for _, k in seen), seen


def saving_twice_works() -> None:
    with profile(activities=CPU) as prof:
        with record_function('a "quoted" \\ name\t'):
            x @ x
    with tempfile.TemporaryDirectory() as d:
        for name in ("a.json", "b.json", "c.json.gz"):
            prof.export_chrome_trace(os.path.join(d, name))
        a, b = (json.loads(Path(d, n).read_text()) for n in ("a.json", "b.json"))
        c = json.loads(gzip.decompress(Path(d, "c.json.gz").read_bytes()))
    assert a["traceEvents"] == b["traceEvents"] == c["traceEvents"]
    assert 'a "quoted" \\ name\t' in [e["name"] for e in a["traceEvents"]]
    assert "record_shapes" not in a and a["traceName"].endswith("a.json"), a.keys()


def files_are_written_to_any_path() -> None:
    warnings.simplefilter("ignore", FutureWarning)  # export_memory_timeline() is deprecated
    with profile(activities=CPU, record_shapes=True, profile_memory=True,
                 with_stack=True) as prof:
        x @ x
    with profiler_legacy.profile(with_stack=True) as legacy:
        x @ x
    with tempfile.TemporaryDirectory() as d:
        folder = Path(d)
        for i, write in enumerate((prof.export_chrome_trace, prof.export_stacks, prof.export,
                                   prof.export_memory_timeline, legacy.export_chrome_trace,
                                   legacy.export_stacks)):
            write(folder / f"{i}.path")
            write(os.fsencode(folder / f"{i}.bytes"))
            for form in ("path", "bytes"):
                assert (folder / f"{i}.{form}").stat().st_size > 0, write
            for wrong in (3, None):
                assert raises(TypeError, "os.PathLike", lambda: write(wrong)), write
        prof.export_chrome_trace(folder / "t.json.gz")
        prof.export_memory_timeline(folder / "m.json.gz", device="cpu")
        for name in ("t.json.gz", "m.json.gz"):
            assert json.loads(gzip.decompress((folder / name).read_bytes()))
        assert json.loads((folder / "0.path").read_text())["traceName"] == d + "/0.path"


def metadata_stands_in_the_trace() -> None:
    with profile(activities=CPU) as prof:
        prof.add_metadata("who", 'me "myself"')
        prof.add_metadata_json("list", "[1, 2]")
        x + x
    with tempfile.TemporaryDirectory() as d:
        prof.export_chrome_trace(os.path.join(d, "t.json"))
        trace = json.loads(Path(d, "t.json").read_text())
    assert trace["who"] == 'me "myself"' and trace["list"] == [1, 2], trace.keys()
    assert trace["trace_id"] == prof.get_trace_id()


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
            found.add((e["ph"], e.get("cat"), named and e["name"], frozenset(e),
                       frozenset(e.get("args", ())),
                       named and tuple(type(e[k]) for k in ("pid", "tid"))))
        return trace, found

    def facts(path: str) -> set[str]:
        events = json.loads(Path(path).read_text())["traceEvents"]
        return {json.dumps([e["pid"], e["tid"], e["name"], e["args"]]) for e in events
                if e["ph"] == "M"}

    work()
    for options in ({}, {"record_shapes": True, "with_flops": True, "profile_memory": True}):
        with tempfile.TemporaryDirectory() as d:
            with torch.profiler.profile(activities=CPU, **options) as theirs:
                with profile(activities=CPU, **options) as ours:
                    work()
            (a, theirs_found), (b, ours_found) = (
                members(prof, f"{d}/{name}") for prof, name in ((theirs, "a"), (ours, "b")))
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
    with tempfile.TemporaryDirectory() as d:
        prof.export_chrome_trace(os.path.join(d, "t.json"))
        events = json.loads(Path(d, "t.json").read_text())["traceEvents"]
    assert [e["ph"] for e in events if e["name"] == "outer"] == ["X"], events


def two_of_ours_are_an_error_and_torch_beside_is_none() -> None:
    with profile(activities=CPU) as outer:
        assert raises(RuntimeError, "runs already", lambda: profile(activities=CPU).start())
        with torch.profiler.profile(activities=CPU) as theirs:
            x + x
    assert "aten::add" in keys(outer)
    assert "aten::add" in [a.key for a in theirs.key_averages()]


def a_second_start_spoils_nothing() -> None:
    prof = profile(activities=CPU)
    prof.start()
    assert raises(RuntimeError, "runs already", prof.start)
    x + x
    prof.stop()
    assert "aten::add" in keys(prof)


def a_profile_that_nobody_ended_ends_when_it_is_gone() -> None:
    prof = profile(activities=CPU)
    prof.start()
    del prof
    with profile(activities=CPU) as other:
        x + x
    assert "aten::add" in keys(other)


def averages_are_a_list_in_every_way() -> None:
    def look() -> list[Any]:
        return prof.key_averages(group_by_stack_n=5)

    with profile(activities=CPU, with_stack=True) as prof:
        (x @ x).sum()
    n = len(look())
    assert n > 2
    assert [len(a) for a in (look() + [], [] + look(), look().copy(), look() * 2)] == [
        n, n, n, 2 * n]
    averages = look()
    averages.sort(key=lambda a: a.key)
    assert [a.key for a in averages] == sorted(a.key for a in look())
    assert averages.pop().key == max(a.key for a in look())
    assert look() != [] and look() != [1] and averages[0] in averages
    assert len(pickle.loads(pickle.dumps(look()))) == n == len(copy.deepcopy(look()))
    assert "aten::mm" in repr(look()) and "aten::mm" in copy.copy(look()).table()
    matmul = next(a for a in look() if a.key == "aten::matmul")
    assert any("interface.py" in frame for frame in matmul.stack), matmul.stack


def nothing_is_an_empty_table() -> None:
    with profile(activities=CPU) as prof:
        pass
    assert prof.key_averages().table() == "" and len(prof.key_averages()) == 0
    for named in (CPU, [{ProfilerActivity.CPU: []}]):
        with profile(activities=named) as prof:
            pass
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            events = json.loads(Path(d, "t.json").read_text())["traceEvents"]
        assert not [e for e in events if e.get("cat", "Trace") != "Trace"], events


def a_thread_whose_session_another_ended_is_not_in_the_next() -> None:
    first = profile(activities=CPU)
    first.start()
    stopper = threading.Thread(target=first.stop)
    stopper.start()
    stopper.join()
    found: list[str] = []
    ready, done = threading.Event(), threading.Event()

    def other() -> None:
        with profile(activities=CPU) as prof:
            ready.set()
            assert done.wait(60)
            x + x
        found.extend(keys(prof))

    thread = threading.Thread(target=other)
    thread.start()
    assert ready.wait(60)
    torch.eye(3)
    done.set()
    thread.join()
    assert "aten::add" in found and "aten::eye" not in found, found


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
    text = averages.table(sort_by="cpu_time_total", row_limit=1, header="HEAD",
                          top_level_events_only=True, max_name_column_width=20)
    assert "HEAD" in text and "top-level ops" in text and "aten::mm" not in text, text
    assert raises(AttributeError, "no attribute 'nonsense'",
                  lambda: averages.table(sort_by="nonsense"))
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
            return f"{type(e).__name__}: {e}"
        return re.sub(r"  +", "  ", re.sub(r"\d+\.\d+(us|ms|%)", "N", made))

    work()
    with torch.profiler.profile(activities=CPU, record_shapes=True) as theirs:
        with profile(activities=CPU, record_shapes=True) as ours:
            work()
    for arguments in (
            *({"row_limit": n} for n in (None, True, False, 2.5, "3", 10**30, 3.0, -7, 0)),
            *({"sort_by": key, "row_limit": None} for key in (
                "key", "count", "node_id", "scope", "input_shapes", "is_user_annotation",
                "device_type", "self_mtia_time_total", "", 3)),
            *({"max_name_column_width": n} for n in (0, 1, -1, 2.5, True, None)),
            *({"max_shapes_column_width": n} for n in (0, 1, -1, None)),
            *({"max_src_column_width": n} for n in (0, -1, 2.5)),
            *({"header": h} for h in ("", "two\nlines", "x" * 5000, "n\0l", "\ud800", 3)),
            {"time_unit": "ms", "top_level_events_only": True}, {"top_level_events_only": "yes"},
            {"sort_by": "key", "row_limit": 2, "header": "a\tb"}):
        for by_shape in (False, True):
            a, b = (text(p, by_shape, arguments) for p in (theirs, ours))
            assert a == b, f"{arguments}\n{a}\n{b}"


def misuse_says_what_is_wrong() -> None:
    prof = profile(activities=CPU)
    assert raises(AssertionError, "initialized", prof.key_averages)
    assert raises(AssertionError, "initialized", lambda: prof.export_chrome_trace("x"))
    assert raises(TypeError, "record_shapes", lambda: profile(record_shape=True))
    assert raises(AssertionError, "No valid", lambda: profile(activities=[]))
    assert opscope.torch.ProfileActivity is ProfilerActivity
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with profile(activities=[ProfilerActivity.CPU, *DEVICES]) as prof:
            pass
    texts = [str(w.message) for w in found if "activity" in str(w.message)]
    assert len(texts) == 1 and all(a.name in texts[0] for a in DEVICES), texts
    with tempfile.TemporaryDirectory() as d:
        prof.export_chrome_trace(os.path.join(d, "t.json"))
        trace = opscope.load(os.path.join(d, "t.json"))
        codes = dict(zip(trace.table("quality")["code"], trace.table("quality")["count"]))
    assert codes["device_absent"] == len(DEVICES), codes
    with profile(activities=CPU) as prof:
        x + x
    assert raises(AssertionError, "with_stack", lambda: prof.export_stacks("x"))


def said_of_devices(**options: Any) -> list[str]:
    """The warnings of a profile that is made with OPTIONS, but for those of old arguments."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with profile(**options) as prof:
            x + x
    quality = opscope.load(prof.profiler.path)["quality"]["code"].tolist()
    assert ("device_absent" in quality) == ("activity" in str([w.message for w in found])), quality
    assert keys(prof) == ["aten::add"]
    return [str(w.message) for w in found if w.category is not FutureWarning]


def a_device_that_is_there_is_asked_for_by_default() -> None:
    assert said_of_devices() == []
    supported = {ProfilerActivity.CPU, ProfilerActivity.CUDA, ProfilerActivity.XPU}
    with (mock.patch("torch.autograd._supported_activities", lambda: set(supported)),
          mock.patch("torch.cuda.is_available", lambda: True),
          mock.patch("torch.cuda.synchronize"), mock.patch("torch.version.cuda", "13.0")):
        said = said_of_devices()
        assert len(said) == 1 and "no CUDA activity" in said[0] and "XPU" not in said[0], said
        assert "record with torch.profiler" in said[0], said
        assert said_of_devices(activities=CPU) == said_of_devices(use_cuda=False) == []
    for old in ("cuda", "xpu"):
        said = said_of_devices(**{f"use_{old}": True})
        assert len(said) == 1 and f"no {old.upper()} activity" in said[0], said
        assert said_of_devices(**{f"use_{old}": False}) == []


def stacks_need_no_hidden_flag() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
    with profile(activities=CPU, with_stack=True) as prof:
        model(x)
    e = next(e for e in prof.events() if e.name == "aten::linear")
    assert e.stack[0] == "<built-in function linear>", e.stack
    assert "nn.Module: Linear_0" in e.stack and "nn.Module: Sequential_0" in e.stack, e.stack
    text = prof.key_averages(group_by_stack_n=3).table()
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


def told(make: type, is_scheduled: bool) -> list[Any]:
    """What MAKE, a profiler, tells of them in each of its windows."""
    def tell(prof: Any) -> None:
        events = [(e.name, *e.stack) for e in prof.events()]
        averages = [[a for a in prof.key_averages(group_by_stack_n=n)] for n in (1, 5, 20)]
        texts = [prof.key_averages(group_by_stack_n=n).table(row_limit=-1) for n in (1, 5, 20)]
        windows.append(["\n".join(inside(x)) for x in (
            map(";".join, events),
            *([f"{a.key};{a.count};{';'.join(a.stack)}" for a in x] for x in averages),
            *(re.split(r"\n *\n", re.sub(r" +[0-9.-]+(us|ms|%)", lambda m: " " * len(m[0]), x))
              for x in texts))])

    def inside(rows: Any) -> list[str]:
        return [re.sub("0x[0-9a-f]+", "0x", x) for x in rows if "): variety" in x]

    windows: list[Any] = []
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    options: dict[str, Any] = {"schedule": schedule(wait=1, warmup=1, active=2, repeat=2),
                               "on_trace_ready": tell} if is_scheduled else {}
    variety(model)
    with make(activities=CPU, with_stack=True, experimental_config=VERBOSE, **options) as prof:
        for _ in range(8 if is_scheduled else 1):
            variety(model)
            prof.step() if is_scheduled else None
    if not is_scheduled:
        tell(prof)
    return windows


def functions_of_python_have_the_stacks_that_torch_gives_them() -> None:
    for is_scheduled in (False, True):
        theirs, ours = (told(make, is_scheduled)
                        for make in (torch.profiler.profile, profile))
        assert len(theirs) == len(ours) == 1 + is_scheduled
        for a, b in zip(theirs, ours):
            assert all(a) and len(a[0]) > 10000, [len(x) for x in a]
            for one, other in zip(a, b):
                assert one == other, next(
                    (u, v) for u, v in itertools.zip_longest(*(x.split("\n") for x in (one, other)))
                    if u != v)


def lines_and_modules_of_torchscript_are_told_as_torch_does() -> None:
    class Doubled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, a: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.linear(a)) * 2

    def record(make: type, **options: bool) -> list[Any]:
        with make(activities=CPU, experimental_config=VERBOSE, **options) as prof:
            with torch.no_grad():  # behind backward functions, torch mistakes the operators
                y = script(x + 1)
            y - 1
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            events = json.loads(Path(d, "t.json").read_text())["traceEvents"]
        return [(e["name"], e["args"].get("Call stack", "").split("record;")[0],
                 e["args"].get("Module Hierarchy", "")) for e in events
                if e.get("cat") == "cpu_op"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(torch.nn.Sequential(Doubled(), torch.nn.Linear(8, 8)))
    for _ in range(3):
        script(x)
    for options in ({"with_stack": True}, {"with_modules": True}):
        theirs, ours = (record(make, **options) for make in (torch.profiler.profile, profile))
        told = [a for _, *a in ours if "forward" in "".join(a)]
        assert len(told) > 10 and theirs == ours, [
            (a, b) for a, b in itertools.zip_longest(theirs, ours) if a != b][:3]


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
    def told(make: type, **fields: bool) -> list[Any]:
        def adds() -> None:
            x + x
            x.add(1)

        adds()
        with make(activities=CPU, with_stack=True, experimental_config=config(**fields)) as p:
            adds()
        trace = exported(p)
        with tempfile.TemporaryDirectory() as d:
            p.export_stacks(os.path.join(d, "stacks"))
            has_stacks = os.path.getsize(os.path.join(d, "stacks")) > 0
        return [has_stacks, sorted({key for e in trace for key in e.get("args", {})
                                    if e.get("cat") in ("cpu_op", "python_function")}),
                [e["name"] for e in trace if e.get("cat") == "cpu_op"],
                [(e.name, e.stack[:1]) for e in p.events() if not e.is_python_function],
                [(a.key, a.stack[:1]) for a in p.key_averages(group_by_stack_n=2)
                 if a.key.endswith(("aten::add", "adds"))],
                "Source Location" in p.key_averages(group_by_stack_n=2).table()]

    for fields in ({"verbose": False}, {"verbose": True},
                   {"capture_overload_names": True},
                   {"capture_overload_names": True, "verbose": True}):
        theirs, ours = (told(make, **fields) for make in (torch.profiler.profile, profile))
        assert theirs[0] == fields.get("verbose", False) and theirs == ours, (theirs, ours)


def collections_of_garbage_are_rows_when_asked() -> None:
    def rows(make: type, with_stack: bool, is_asked: bool) -> tuple[list[Any], int]:
        with make(activities=CPU, with_stack=with_stack,
                  experimental_config=config(record_python_gc_info=is_asked)) as p:
            for _ in range(2):
                x + x
                gc.collect()
        found = [e for e in exported(p) if e["name"] == "Python GC"]
        return ([(a.key, a.count) for a in p.key_averages() if "GC" in a.key]
                + [e["cat"] for e in found], len(p.key_averages()))

    for options in ((True, True), (True, False), (False, True)):
        theirs, ours = (rows(make, *options) for make in (torch.profiler.profile, profile))
        assert theirs[0] == ours[0] and bool(ours[0]) == all(options), (theirs, ours)
    assert not any("collection" in str(x) for x in gc.callbacks), gc.callbacks


def fields_that_change_nothing_are_named() -> None:
    def said(**fields: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            profile(activities=CPU, experimental_config=config(**fields))
        assert all(w.filename == __file__ for w in found), [w.filename for w in found]
        return [str(w.message) for w in found]

    assert said(verbose=True, profile_all_threads=True, record_python_gc_info=True) == []
    assert said(performance_events=["cycles"], trace_only=True) == [
        "opscope.torch does not heed performance_events, trace_only of experimental_config"]
    assert len(said(expose_kineto_event_metadata=True, adjust_timestamps=True)) == 1


def all_arguments_of_torch_are_named() -> None:
    for ours, theirs in ((profile, torch.profiler.profile),
                         (profiler_legacy.profile, torch.autograd.profiler_legacy.profile)):
        # What is written, for tools that read it.
        code = ours.__init__.__code__
        named = code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]
        defaults = {**dict(zip(named, ours.__init__.__defaults__ or ())),
                    **ours.__init__.__kwdefaults__}
        for name, p in inspect.signature(theirs).parameters.items():
            assert defaults[name] == p.default, name
    assert raises(TypeError, "bogus", lambda: profile(bogus=1))


def names_are_printed_as_they_are() -> None:
    names = ("tab\there", "two\nlines", "\x7f\x01", "\x1b[31mred", "x" * 53 + "\t", "c1 \x9b31m")

    def labels() -> None:
        for name in names:
            with record_function(name):
                pass

    theirs, ours = both(labels, activities=CPU)
    for width in (55, 20):
        a, b = (re.sub(r"[ -]+", " ", re.sub(r"[\d.]+(us|ms|%)", "", p.key_averages().table(
            sort_by="key", max_name_column_width=width))) for p in (theirs, ours))
        assert a == b and "tab\there" in b, (a, b)


def a_function_that_fails_in_the_profile_ends_there() -> None:
    def fails() -> None:
        raise ValueError

    with profile(activities=CPU, with_stack=True) as prof:
        for _ in range(3):
            try:
                fails()
            except ValueError:
                pass
        x + x
    rows = {a.key: a.count for a in prof.key_averages()}
    assert [n for k, n in rows.items() if k.endswith("): fails")] == [3], rows
    e = next(e for e in prof.events() if e.name == "aten::add")
    assert not any(s.endswith("): fails") for s in e.stack), e.stack


def the_legacy_interface_gives_the_same() -> None:
    with profiler_legacy.profile(record_shapes=True, use_xpu=False) as prof:
        assert raises(RuntimeError, "didn't finish", lambda: prof.table())
        assert prof.function_events is None and prof.entered
        assert str(prof) == "<unfinished profile.profiler_legacy.profile>"
        assert repr(prof) == "<unfinished profiler_legacy.profile>"
        x + x
    assert str(prof) == prof.table() and "aten::add" in repr(prof)
    assert [a.key for a in prof.key_averages()] == ["aten::add"]
    assert "[[8, 8], [8, 8], []]" in prof.table(sort_by="id")
    assert prof.self_cpu_time_total > 0 and prof.total_average().count == 1
    with profiler_legacy.profile(enabled=False) as off:
        pass
    disabled = profiler_legacy.profile(enabled=False)
    for what in (off, disabled):
        for kind in (RuntimeError, AttributeError):
            assert raises(kind, "enabled=False", lambda: what.key_averages())
            assert raises(kind, "enabled=False", lambda: what.self_cpu_time_total)
        assert str(what) == repr(what) == "<disabled profiler_legacy.profile>"
    assert not off and not hasattr(off, "table") and not hasattr(off, "nonsense")
    assert raises(RuntimeError, "not reentrant", prof.__enter__)


def threads_that_others_stopped_are_in_none_of_the_next_sessions() -> None:
    left, end = threading.Event(), threading.Event()

    def work(p: profile) -> None:
        p.start()
        left.set()
        while not end.is_set():
            torch.eye(2)

    first = profile(activities=CPU)
    worker = threading.Thread(target=work, args=(first,))
    worker.start()
    left.wait()
    first.stop()
    try:
        for _ in range(70):
            with profile(activities=CPU) as p:
                torch.ones(1)
                time.sleep(0.001)
            names = {a.key for a in p.key_averages()}
            assert "aten::ones" in names and "aten::eye" not in names, names
    finally:
        end.set()
        worker.join()


def metadata_of_any_kind_leaves_a_trace_json_and_its_times() -> None:
    metadata = {"x": '{"traceEvents": [1, 2]}', "pid": '"worker-1"', "y": "NaN", "exe": "7",
                "baseTimeNanoseconds": '"none"', "traceEvents": "[]"}
    with profile(activities=CPU) as p, tempfile.TemporaryDirectory() as directory:
        torch.ones(2)
        for key, value in metadata.items():
            p.add_metadata_json(key, value)
        p.stop()
        path = Path(directory, "trace.json")
        p.export_chrome_trace(path)
        trace = json.loads(path.read_text(), parse_constant=lambda name: 1 / 0)
    told = {key: trace.get(key) for key in ("x", "pid", "y", "exe", "command")}
    assert told == {"x": {"traceEvents": [1, 2]}, "pid": "worker-1", "y": "NaN", "exe": 7,
                    "command": None}, told
    assert any(e["name"] == "aten::ones" for e in trace["traceEvents"])
    assert isinstance(trace["baseTimeNanoseconds"], int)


def another_thread_may_stop() -> None:
    for with_stack in (False, True):
        prof = profile(activities=CPU, with_stack=with_stack)
        prof.start()
        x + x
        stopper = threading.Thread(target=prof.stop)
        stopper.start()
        stopper.join()
        x * x
        assert [k for k in keys(prof) if k.startswith("aten::")] == ["aten::add"]
    sys.setprofile(None)
    with profile(activities=CPU) as again:
        x - x
    assert [(a.key, a.count) for a in again.key_averages()] == [("aten::sub", 1)]


def an_exception_ends_the_recording() -> None:
    prof = profile(activities=CPU)
    try:
        with prof:
            x + x
            raise KeyError("mine")
    except KeyError:
        pass
    assert keys(prof) == ["aten::add"]
    with profile(activities=CPU) as again:
        x * x
    assert keys(again) == ["aten::mul"]


def a_trace_has_the_types_of_events_that_were_named() -> None:
    def record(named: Any) -> tuple[list[str], set[str]]:
        with profile(activities=[named], profile_memory=True) as prof:
            w = torch.ones(8, 8, requires_grad=True)
            with record_function("label"):
                (x @ w).sum().backward()
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            events = json.loads(Path(d, "t.json").read_text())["traceEvents"]
        return keys(prof), {e["cat"] for e in events if "cat" in e} - {"Trace"}

    everything, found = record(ProfilerActivity.CPU)
    assert found == {"cpu_op", "fwdbwd", "user_annotation", "cpu_instant_event"}, found
    for named, categories in (([], set()), (["CPU_OP"], {"cpu_op", "fwdbwd"}),
                              (["USER_ANNOTATION", "XPU_RUNTIME"], {"user_annotation"})):
        assert record({ProfilerActivity.CPU: named}) == (everything, categories), named
    assert raises(RuntimeError, "Unknown or non-member activity type name: 'GPU_MEMCPY'",
                  profile(activities=[{ProfilerActivity.CPU: ["GPU_MEMCPY"]}]).start)


def collection_can_be_toggled() -> None:
    with profile(activities=CPU) as prof:
        x + x
        prof.toggle_collection_dynamic(False, CPU)
        x * x
        prof.toggle_collection_dynamic(True, CPU)
        x - x
    assert keys(prof) == ["aten::add", "aten::sub"], keys(prof)


def overload_names_are_recorded_on_request() -> None:
    config = torch._C._profiler._ExperimentalConfig(capture_overload_names=True)
    with profile(activities=CPU, experimental_config=config) as prof:
        x + x
    found = [a.overload_name for a in prof.key_averages(group_by_overload_name=True)]
    assert found == ["Tensor"], found


def off_means_off() -> None:
    done = python("import torch; from opscope.torch import profile\n"
                  "with profile() as p: torch.ones(2)\n"
                  "print(len(p.key_averages()), repr(p.key_averages().table()))",
                  OPSCOPE="0")
    assert done.stdout == "0 ''\n", done
    done = python("import torch; from opscope.torch import profile\n"
                  "with profile(record_shapes=True, profile_memory=True, with_stack=True) as p:\n"
                  "    torch.ones(2)\n"
                  "p.export_memory_timeline('/dev/stdout', device='cpu')\n", OPSCOPE="0")
    assert done.stdout == "[[], []]", done


def a_child_of_a_fork_does_not_spoil_the_recording() -> None:
    for with_stack in (False, True):
        with profile(activities=CPU, with_stack=with_stack) as prof:
            x + x
            pid = os.fork()
            if pid == 0:
                x * x
                os._exit(0)
            os.waitpid(pid, 0)
            x - x
        files = os.listdir(prof.profiler.directory)
        found = [k for k in keys(prof) if k.startswith("aten::")]
        assert found == ["aten::add", "aten::sub"], found
        assert files == ["0.osc"], files


def what_was_recorded_outlasts_a_kill() -> None:
    code = """if 1:
        import os, signal, torch
        from opscope.torch import profile
        prof = profile(record_shapes=True)
        prof.start()
        x = torch.ones(4)
        for _ in range(5000):
            x + x
        os.kill(os.getpid(), signal.SIGKILL)
    """
    with tempfile.TemporaryDirectory() as d:
        done = python(code, OPSCOPE_OUT=d)
        assert done.returncode == -9, done
        found = list(Path(d).glob("torch.*.osc"))
        assert len(found) == 1, os.listdir(d)
        text = opscope.load(found[0]).text("averages")
    assert "aten::add" in text and "5000" in text, text


def failed_allocations_are_rows_as_torch_has_them() -> None:
    theirs, ours = both(exhaust, activities=CPU, profile_memory=True)
    a, b = ([(a.key, a.count, a.cpu_memory_usage) for a in p.key_averages()]
            for p in (theirs, ours))
    assert a == b and "[OutOfMemory]" in [key for key, *_ in b], (a, b)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "t.json")
        ours.export_chrome_trace(path)
        events = json.loads(Path(path).read_text())["traceEvents"]
    assert [e["args"]["Bytes"] for e in events if e["name"] == "[OutOfMemory]"] == [1 << 58]


def an_object_is_built_once_by_many() -> None:
    code = "from opscope.torch import build; print(build.recorder())"
    with tempfile.TemporaryDirectory() as d, concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: python(code, XDG_CACHE_HOME=d), range(4)))
        paths = {x.stdout.strip() for x in done}
        assert len(paths) == 1 and all(x.returncode == 0 for x in done), done
        path = Path(paths.pop())
        assert path.parent == Path(d) / "opscope" and path.stat().st_mode & 0o777 == 0o500
        assert len(list(path.parent.glob("*.so"))) == 1


def without_a_compiler_the_error_says_what_to_install() -> None:
    with tempfile.TemporaryDirectory() as d:
        done = subprocess.run([sys.executable, "-m", "opscope.torch", "build"],
                              env={**os.environ, "XDG_CACHE_HOME": d, "TMPDIR": d, "PATH": d},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "install g++" in done.stderr, done
        assert done.stderr.count("\n") == 1


def events_have_the_fields_that_torch_gives_them() -> None:
    def work() -> None:
        w = torch.ones(8, 8, requires_grad=True)
        with record_function("label"):
            (F.conv2d(x.view(1, 1, 8, 8), x.view(4, 1, 4, 4), padding=1).sum() + (x @ w).sum()
             ).backward()
        torch.zeros(2) + torch.ones(()) * 2.5

    x = torch.ones(8, 8)
    theirs, ours = both(work, activities=CPU, record_shapes=True, with_flops=True)
    names = ("name", "id", "external_id", "key", "trace_name", "node_id", "thread", "fwd_thread",
             "count", "scope", "sequence_nr", "input_shapes", "structured_input_shapes", "input_dtypes",
             "structured_input_strides", "concrete_inputs", "kwinputs", "overload_name", "flops",
             "stack", "is_async", "is_remote", "is_legacy", "is_user_annotation", "use_device",
             "is_python_function", "device_type", "device_index", "device_resource_id",
             "activity_type")
    a, b = ([{n: getattr(e, n) for n in names} |
             {"parent": e.cpu_parent.name if e.cpu_parent else None} for e in p.events()]
            for p in (theirs, ours))
    for found in (a, b):  # torch counts on, and sees those that it leaves out
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


def records_of_memory_outside_of_calls_are_events() -> None:
    def work() -> None:
        y = torch.ones(100)
        del y
        exhaust()

    theirs, ours = both(work, activities=CPU, profile_memory=True)
    a, b = ([(e.name, e.trace_name, e.cpu_memory_usage, e.thread, e.time_range.elapsed_us() == 0,
              e.flops, e.overload_name)
             for e in p.events()] for p in (theirs, ours))
    assert a == b and ("[memory]", None, -400, 1, True, None, "") in b, (a, b)
    a, b = (p.key_averages().total_average().count for p in (theirs, ours))
    assert a == b, (a, b)


def numbers_that_are_inputs_are_those_of_torch() -> None:
    numbers = [0.5, -3.0, 1e10, 1e19, float("inf"), 2 + 1j, complex("inf+1j"), True, 7]
    with profile(activities=CPU, record_shapes=True) as p:
        for number in numbers:
            torch.full((1,), number, dtype=torch.complex128)
    found = [e.concrete_inputs[1] for e in p.events() if e.name == "aten::full"]
    assert [repr(x) for x in found] == [repr(x) for x in numbers], found


def ranges_may_be_as_deep_as_python_has_them() -> None:
    with profile(activities=CPU) as p, contextlib.ExitStack() as ranges:
        for i in range(5000):
            ranges.enter_context(record_function(f"range {i}"))
        torch.ones(2)
    rows = {a.key for a in p.key_averages()}
    assert {f"range {i}" for i in range(5000)} | {"aten::ones"} < rows, len(rows)


def memory_under_another_profiler_of_another_thread_is_not_ours() -> None:
    def work() -> None:
        with torch.profiler.profile(activities=CPU, profile_memory=True):
            torch.ones(1000)

    with profile(activities=CPU, profile_memory=True) as p:
        torch.ones(1)
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    sizes = p.profiler.function_events
    assert max(e.cpu_memory_usage for e in sizes) < 1000, [e.cpu_memory_usage for e in sizes]


def what_ends_on_another_thread_is_asynchronous() -> None:
    def record(make: type) -> list[tuple[str, bool, bool]]:
        # What x + x gives back comes last before the range is closed.
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
        e = prof.events()
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            rows = json.loads(Path(d, "t.json").read_text())["traceEvents"]
        marked = [x["name"] for x in rows if "Is asynchronous" in x.get("args", {})]
        assert marked == ["label"] * (make is profile), marked
        return [(a.key, a.is_async, a.self_cpu_time_total == 0) for a in prof.key_averages()] + [
            (f.name, f.is_async, f.time_range.elapsed_us() > 5e4) for f in e]

    assert record(torch.profiler.profile) == record(profile), record(profile)


def cycles_are_kept_on_request() -> None:
    def cycles(keep: bool) -> tuple[dict[str, int], int]:
        with profile(activities=CPU, acc_events=keep,
                     schedule=schedule(wait=0, warmup=1, active=1, repeat=2)) as prof:
            for _ in range(5):
                x + x
                prof.step()
        return {a.key: a.count for a in prof.key_averages()}, len(prof.events())

    assert cycles(True) == ({"ProfilerStep*": 2, "aten::add": 2}, 4)
    assert cycles(False) == ({"ProfilerStep*": 1, "aten::add": 1}, 2)


def metadata_set_before_the_start_is_in_each_cycle() -> None:
    found = []

    def ready(prof: profile) -> None:
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            found.append(json.loads(Path(d, "t.json").read_text())["mine"])

    prof = profile(activities=CPU, schedule=schedule(wait=0, warmup=1, active=1, repeat=2),
                   on_trace_ready=ready)
    prof.preset_metadata_json("mine", '{"a": [1]}')
    with prof:
        for _ in range(4):
            prof.step()
    assert found == [{"a": [1]}, {"a": [1]}], found


def what_runs_may_be_saved() -> None:
    prof = profile(activities=CPU)
    prof.start()
    x + x
    with tempfile.TemporaryDirectory() as d:
        prof.export_chrome_trace(os.path.join(d, "t.json"))
        events = json.loads(Path(d, "t.json").read_text())["traceEvents"]
    assert "aten::add" in [e["name"] for e in events] and keys(prof) == ["aten::add"]
    assert [e.name for e in prof.events()] == ["aten::add"]
    x * x
    assert [e.name for e in prof.events()] == keys(prof) == ["aten::add", "aten::mul"]
    x - x
    prof.stop()
    assert [e.name for e in prof.events()] == keys(prof) == ["aten::add", "aten::mul", "aten::sub"]
    assert prof.events() is prof.events()


def memory_over_time_is_written_in_all_forms() -> None:
    with profile(activities=CPU, record_shapes=True, profile_memory=True,
                 with_stack=True) as prof:
        kept = torch.zeros(100)
        torch.zeros(50)
    warnings.simplefilter("ignore", FutureWarning)  # it is deprecated
    with tempfile.TemporaryDirectory() as d:
        prof.export_memory_timeline(f"{d}/a.json", device="cpu")
        prof.export_memory_timeline(f"{d}/a.raw.json.gz", device="cpu")
        times, sizes = json.loads(Path(d, "a.json").read_text())
        raw = json.loads(gzip.decompress(Path(d, "a.raw.json.gz").read_bytes()))
    assert times == sorted(times) and sum(sizes[-1]) == 400 == kept.nbytes, sizes
    assert [(action, size) for _, action, size, _ in raw] == [(2, 400), (2, 200), (4, -200)]
    plain = profile(activities=CPU)
    assert raises(ValueError, "profile_memory=True", lambda: plain.export_memory_timeline("x"))


def it_has_every_name_that_torch_has() -> None:
    here, there = opscope.torch, torch.profiler
    assert set(there.__all__) <= set(here.__all__)
    lacking = [name for name in dir(there) if not hasattr(here, name)]
    assert not lacking, lacking
    for name in ("_KinetoProfile", "ExecutionTraceObserver", "DeviceType", "kineto_available",
                 "_ExperimentalConfig", "RecordScope", "KinetoStepTracker"):
        assert getattr(here, name) is getattr(there, name), name
    assert raises(AttributeError, "no attribute 'nonsense'", lambda: here.nonsense)
    assert set(dir(there.profile)) <= set(dir(profile))
    assert (inspect.signature(profile) == inspect.signature(there.profile)
            and inspect.signature(profile.__init__) == inspect.signature(there.profile.__init__))


def the_inner_profiler_has_what_that_of_torch_has() -> None:
    with profile(activities=CPU) as prof:
        assert str(prof.profiler) == repr(prof.profiler) == "<unfinished torch.autograd.profile>"
        x + x
    inner = prof.profiler
    assert "aten::add" in inner.table(sort_by="id") == str(inner) and "aten::add" in repr(inner)
    assert inner.total_average().count == 1 and len(inner.function_events) == 1
    assert inner.self_cpu_time_total == prof.key_averages().self_cpu_time_total > 0
    assert raises(RuntimeError, "events()", lambda: inner.kineto_results)
    late = profile(activities=CPU, post_processing_timeout_s=-1)
    assert raises(ValueError, "must be non-negative", late.start)


def metadata_that_comes_too_early_is_refused_aloud() -> None:
    prof = profile(activities=CPU)
    assert raises(ValueError, "Expecting", lambda: prof.preset_metadata_json("a", "{no"))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        prof.add_metadata("early", "lost")
        assert [w.filename for w in found if "not initialized" in str(w.message)] == [__file__]
        with prof:
            prof.add_metadata("within", "kept")
        prof.add_metadata("after", "kept")
    assert len(found) == 1, found
    with tempfile.TemporaryDirectory() as d:
        prof.export_chrome_trace(os.path.join(d, "t.json"))
        trace = json.loads(Path(d, "t.json").read_text())
    assert trace["within"] == trace["after"] == "kept" and "early" not in trace, trace


def slips_of_documents_are_understood() -> None:
    assert profile.itt is torch.profiler.itt and opscope.torch.itt is torch.profiler.itt
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        profile(activities=CPU, use_cuda=False)
        profile(activities=CPU, use_xpu=False)
    assert [str(w.message).split()[0] for w in found] == ["`use_cuda`", "`use_xpu`"], found
    with profile(activities=CPU) as prof:
        x + x
    with tempfile.TemporaryDirectory() as d:
        prof.export(os.path.join(d, "t.json"))
        assert "traceEvents" in json.loads(Path(d, "t.json").read_text())
    assert {type(a).__module__ for a in (prof.key_averages(), prof.key_averages()[0],
                                         prof.events()[0])} == {"opscope.torch.events"}
    assert profile.__module__ == "opscope.torch.profiler"


def run(namespace: dict[str, object], module: str) -> int:
    """Run the tests among the functions of MODULE, whose NAMESPACE is given; 1: some failed."""
    tests = [f for name, f in list(namespace.items())
             if callable(f) and getattr(f, "__module__", "") == module and "_" in name]
    failed = 0
    for test in tests:
        try:
            test()
        except Exception:  # the next one shall run, too
            failed += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc(limit=3)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
