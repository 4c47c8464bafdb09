#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-interface
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
# turn: 3
"""opscope.torch as programs use it: arguments, files, metadata, misuse.

    python3 tests/torch/interface.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`;
exit status 1 on any failure. Results are tested in results.py, how recordings begin
and end in sessions.py.
"""

from __future__ import annotations

import gzip
import inspect
import itertools
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch.profiler
from support import exported, fresh_cache, keys, python, raises, run, trace

import opscope
import opscope.torch
from opscope.torch import (
    ProfilerActivity,
    config,
    devices,
    native,
    profile,
    profiler_legacy,
    record_function,
)

CPU = [ProfilerActivity.CPU]
DEVICES = [a for name, a in ProfilerActivity.__members__.items() if name != "CPU"]
CONFIG = torch._C._profiler._ExperimentalConfig
x = torch.randn(8, 8)


def saving_twice_works() -> None:
    with profile(activities=CPU) as prof, record_function('a "quoted" \\ name\t'):
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
    with profile(
        activities=CPU, record_shapes=True, profile_memory=True, with_stack=True
    ) as prof:
        x @ x
    with profiler_legacy.profile(with_stack=True) as legacy:
        x @ x
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as d:
        warnings.simplefilter("ignore", FutureWarning)  # export_memory_timeline() is deprecated
        folder = Path(d)
        for i, write in enumerate(
            (
                prof.export_chrome_trace,
                prof.export_stacks,
                prof.export,
                prof.export_memory_timeline,
                legacy.export_chrome_trace,
                legacy.export_stacks,
            )
        ):
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


def the_profile_of_autograd_has_the_interface_of_torchs() -> None:
    theirs = torch.autograd.profiler.profile
    found = []
    for cls in (theirs, opscope.torch.autograd_profiler.profile):
        prof = cls(record_shapes=True, with_flops=True, profile_memory=True)
        assert isinstance(prof, theirs) and not prof.entered
        with prof as inner:
            (x @ x).sum()
        assert inner is prof and raises(RuntimeError, "not reentrant", prof.__enter__)
        with cls(enabled=False) as off:
            x + x
        assert off is None
        assert raises(AssertionError, "requires with_stack", lambda: prof.export_stacks("/"))
        averages = prof.key_averages(group_by_input_shape=True)
        found.append(
            (
                {(a.key, str(a.input_shapes), a.count, a.flops) for a in averages},
                len(prof.function_events),
                prof.total_average().count,
                sorted(e["name"] for e in exported(prof) if e.get("cat") == "cpu_op"),
                inspect.signature(cls),
            )
        )
        assert prof.self_cpu_time_total > 0
    assert found[0] == found[1], found


def the_legacy_trace_has_the_calls_that_torchs_has() -> None:
    found = []
    for module in (torch.autograd.profiler_legacy, profiler_legacy):
        with module.profile() as prof:
            with record_function("twice"), record_function("twice"):
                x.sum()
        with tempfile.TemporaryDirectory() as d:
            prof.export_chrome_trace(os.path.join(d, "t.json"))
            written = json.loads(Path(d, "t.json").read_text())
        events = written if isinstance(written, list) else written["traceEvents"]
        found.append(
            sorted(e["name"] for e in events if e["ph"] == "X" and e.get("cat") != "Trace")
        )
    assert found[0] == found[1] and found[0].count("aten::sum") == 1, found


def the_first_profile_says_that_it_builds() -> None:
    code = "from opscope.torch import profile\nfor _ in range(2):\n  with profile(): pass\n"
    with tempfile.TemporaryDirectory() as d:
        done = python(code, **fresh_cache(d))
        again = python(code, **fresh_cache(d))
    assert done.returncode == 0 and done.stderr.count("opscope builds its recorder") == 1, done
    assert again.returncode == 0 and "builds its recorder" not in again.stderr, again


def the_first_run_says_that_it_built() -> None:
    """Also before, and --list-sources says that it will."""

    def listed(directory: str) -> str:
        return subprocess.run(
            [native.program(), "run", "--list-sources"],
            check=True,
            env={
                **os.environ,
                **fresh_cache(directory),
                "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
            },
            capture_output=True,
            text=True,
        ).stdout

    later = "so its recorder is compiled by "
    with tempfile.TemporaryDirectory() as d:
        assert later in listed(d), listed(d)
        command = [
            native.program(),
            "run",
            "--torch",
            "-o",
            os.path.join(d, "rec"),
            "--",
            sys.executable,
            "-c",
            "import torch; torch.ones(2)",
        ]
        told = [
            subprocess.run(
                command,
                env={**os.environ, **fresh_cache(d)},
                check=True,
                capture_output=True,
                text=True,
            ).stderr
            for _ in range(2)
        ]
        assert later not in listed(d), listed(d)
    assert told[0].startswith("opscope builds its recorder for torch"), told
    assert "the recorder for torch" in told[0] and "was built in" in told[0], told
    assert "Warning" not in told[0] and "recorder for torch" not in told[1], told


OF_ANOTHER_VERSION = """
import importlib.machinery, os, sys
class Finder:
    def find_spec(name, path, target=None):
        if name != "torch.version":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda m: (load(m), setattr(m, "__version__", "99.1.0"))
        return spec
sys.meta_path.insert(0, Finder)
import torch
"""


def an_untested_torch_gets_one_warning_and_its_own_tables() -> None:
    code = (
        OF_ANOTHER_VERSION
        + """
from opscope.torch import EventList, profile
for _ in range(2):
    with profile(with_stack=True) as prof:
        torch.ones(3) + 1
    averages = prof.key_averages()
assert not isinstance(averages, EventList), averages
assert averages.table() == prof.events().key_averages().table()
"""
    )
    text = "opscope was not tested with torch 99.1.0, but with "
    run = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]]);"
    with tempfile.TemporaryDirectory() as d:
        variables = {**os.environ, **fresh_cache(d)}
        profiled = subprocess.run(
            [sys.executable, "-c", code],
            env=variables,
            text=True,
            capture_output=True,
            check=False,
        )
        recorded = subprocess.run(
            [
                native.program(),
                "run",
                "--torch",
                "-o",
                os.path.join(d, "rec"),
                "--",
                sys.executable,
                "-c",
                run + OF_ANOTHER_VERSION,
                "-c",
                OF_ANOTHER_VERSION,
            ],
            env=variables,
            text=True,
            capture_output=True,
            check=False,
        )
    for done in profiled, recorded:
        assert done.returncode == 0 and done.stderr.count(text) == 1, done


def a_profile_can_be_loaded_and_shown() -> None:
    prof = profile(activities=CPU)
    assert raises(ValueError, "nothing was recorded", lambda: opscope.load(prof))
    with prof:
        x + x
        assert "aten::add" in opscope.load(prof)["operators"]["name"]
    with profiler_legacy.profile() as legacy:
        x + x
    with opscope.torch.autograd_profiler.profile() as inner:
        x + x
    for shown in (prof, legacy, inner):
        trace = opscope.load(shown)
        assert "aten::add" in trace["averages"]["name"].tolist()
        assert "aten::add" in shown._repr_html_() and "<table>" in trace._repr_html_()


def events_are_not_all_made_if_there_is_no_time() -> None:
    if "post_processing_timeout_s" not in inspect.signature(torch.profiler.profile).parameters:
        return
    found = []
    for seconds in (0.0, 600.0):
        with profile(activities=CPU, post_processing_timeout_s=seconds) as prof:
            x + x
        with mock.patch.object(
            logging.getLogger("torch.autograd.profiler"), "warning"
        ) as warning:
            found.append((len(prof.events()), warning.call_count))
        assert keys(prof) == ["aten::add"]
    assert found == [(0, 1), (1, 0)], found


def metadata_stands_in_the_trace() -> None:
    with profile(activities=CPU) as prof:
        prof.add_metadata("who", 'me "myself"')
        prof.add_metadata_json("list", "[1, 2]")
        x + x
    found = trace(prof)
    assert found["who"] == 'me "myself"' and found["list"] == [1, 2], found.keys()
    assert found["trace_id"] == prof.get_trace_id()


def misuse_says_what_is_wrong() -> None:
    prof = profile(activities=CPU)
    assert raises(AssertionError, "initialized", prof.key_averages)
    assert raises(AssertionError, "initialized", lambda: prof.export_chrome_trace("x"))
    assert raises(TypeError, "record_shapes", lambda: profile(record_shape=True))
    assert raises(TypeError, "not str", lambda: profile(schedule="wait=1"))
    assert raises(TypeError, "on_trace_ready must be", lambda: profile(on_trace_ready="dir"))
    assert raises(
        TypeError,
        "custom_trace_id_callback must be",
        lambda: profile(custom_trace_id_callback="id"),
    )
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
        quality = opscope.load(os.path.join(d, "t.json"))["quality"]
        codes = dict(zip(quality["code"], quality["count"]))
    assert codes["device_absent"] == len(DEVICES), codes
    with profile(activities=CPU) as prof:
        x + x
    assert raises(AssertionError, "with_stack", lambda: prof.export_stacks("x"))


def a_device_that_was_used_and_not_asked_for_is_told() -> None:
    for device, module in (("CUDA", torch.cuda), ("XPU", torch.xpu)):
        with mock.patch.object(module, "is_initialized", lambda: True):
            for n_told in (1, 0):
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    with profile(activities=CPU) as prof:
                        x + x
                texts = [str(w.message) for w in found if "was used" in str(w.message)]
                assert [device in text for text in texts] == [True] * n_told, texts
                quality = opscope.load(prof)["quality"]
                counts = dict(zip(quality["code"], quality["count"]))
                assert counts["device_unasked"] == 1, counts


class Shell:
    """As much of IPython's as %%opscope uses."""

    def register_magic_function(self, function: Any, _kind: str, name: str) -> None:
        assert name == "opscope"
        self.magic = function

    def run_cell(self, cell: str) -> Any:
        exec(cell, {"torch": torch, "x": x})  # pylint: disable=exec-used
        return mock.Mock(success=True)


def a_cell_of_a_notebook_is_profiled() -> None:
    shell = Shell()
    opscope.load_ipython_extension(shell)
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "cell.osc")
        table = shell.magic(
            f"--shapes --limit 2 --sort calls -o {out}",
            "for _ in range(9):\n    x + x\ntorch.ones(3)",
        )
        assert next(iter(table["name"])) == "aten::add" and next(iter(table["calls"])) == 9, (
            table
        )
        found = opscope.load(out).table("averages", group_by="shape")
        assert "[[8, 8], [8, 8], []]" in list(found["input_shapes"]), found


def said(**options: Any) -> list[str]:
    """The warnings of a profile that is made with OPTIONS, except those about old arguments."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with profile(**options) as prof:
            x + x
    quality = opscope.load(prof.profiler.path)["quality"]["code"].tolist()
    assert ("device_absent" in quality) == ("activity" in str([w.message for w in found])), (
        quality
    )
    assert keys(prof) == ["aten::add"]
    return [str(w.message) for w in found if w.category is not FutureWarning]


def supported(*activities: ProfilerActivity) -> Any:
    """A context in which torch supports the host and ACTIVITIES, whatever this machine has."""
    return mock.patch("torch.autograd._supported_activities", lambda: {*CPU, *activities})


def a_device_that_is_there_is_asked_for_by_default() -> None:
    with supported():
        assert said() == []
        for old in ("cuda", "xpu"):
            told = said(**{f"use_{old}": True})
            assert len(told) == 1 and f"no {old.upper()} activity" in told[0], told
            assert said(**{f"use_{old}": False}) == []
    with (
        supported(ProfilerActivity.CUDA, ProfilerActivity.XPU),
        mock.patch("torch.cuda.is_available", lambda: True),
        mock.patch("torch.xpu.is_available", lambda: False),
        mock.patch("torch.cuda.synchronize"),
        mock.patch("torch.version.cuda", "13.0"),
    ):
        told = said()
        assert len(told) == 1 and "no CUDA activity" in told[0] and "XPU" not in told[0], told
        # Its source is asked, and finds neither a driver nor CUPTI.
        assert "CUDA driver" in told[0] or "libcupti" in told[0], told
        assert said(activities=CPU) == said(use_cuda=False) == []


def a_device_that_only_torch_records_is_left_to_it() -> None:
    """ROCm and MTIA, with one line; but not one whose device is not there."""
    cuda, mtia = ProfilerActivity.CUDA, ProfilerActivity.MTIA
    with supported(cuda, mtia), mock.patch("torch.version.hip", "6.4"):
        for name, activity in (("cuda", cuda), ("mtia", mtia)):
            asked = [*CPU, activity]
            with (
                mock.patch(f"torch.{name}.is_available", lambda: True),
                warnings.catch_warnings(record=True) as found,
            ):
                warnings.simplefilter("always")
                for _ in range(2):
                    assert type(profile(activities=asked)) is torch.profiler.profile
                assert type(profile(activities=CPU)) is profile
            (told,) = (str(w.message) for w in found if w.category is UserWarning)
            assert activity.name in told and "torch's own profiler records" in told, told
            (told,) = said(activities=asked)
            assert f"no {activity.name} activity will be recorded: torch finds no" in told, told


def warnings_about_a_vendors_device_name_its_profiler() -> None:
    """In one sentence."""
    npu = SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True)
    with (
        mock.patch("torch._C._get_privateuse1_backend_name", lambda: "npu"),
        mock.patch("torch.npu", npu, create=True),
    ):
        (told,) = said(activities=[*CPU, ProfilerActivity.PrivateUse1])
        assert "record with torch_npu.profiler" in told, told
        with (
            mock.patch("opscope.torch.devices.is_reported", lambda name: name == "PrivateUse1"),
            mock.patch("opscope.torch.collector.has_source", lambda name: False),
        ):
            (told,) = said(activities=[*CPU, ProfilerActivity.CUDA])
        assert "is npu: pass ProfilerActivity.PrivateUse1" in told, told


def a_vendors_device_has_one_warning_whatever_its_name() -> None:
    """Whoever records the profile, and also if the name is one that torch has for another."""
    private, ask = ProfilerActivity.PrivateUse1, [*CPU, ProfilerActivity.PrivateUse1]
    for name, tool in (
        ("npu", "; torch_npu.profiler records"),
        ("mlu", "; torch_mlu.profiler records"),
        ("hpu", ""),
    ):
        module = SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True)
        devices.warn_of_theirs.cache_clear()
        with (
            mock.patch("torch._C._get_privateuse1_backend_name", lambda name=name: name),
            mock.patch(f"torch.{name}", module, create=True),
            warnings.catch_warnings(record=True) as found,
        ):
            warnings.simplefilter("always")
            with supported(private):
                assert type(profile(activities=ask)) is torch.profiler.profile
            (told,) = (str(w.message) for w in found)
            assert "torch's own profiler records the profile" + tool in told, told
            with mock.patch("opscope.torch.collector.has_source", lambda name: False):
                (told,) = said(activities=[*CPU, ProfilerActivity.CUDA])
            assert f"is {name}: pass ProfilerActivity.PrivateUse1" in told, told


def fields_that_change_nothing_are_named() -> None:
    def warned(**fields: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            profile(activities=CPU, experimental_config=CONFIG(**fields))
        assert all(w.filename == __file__ for w in found), [w.filename for w in found]
        return [str(w.message) for w in found]

    assert warned(verbose=True, profile_all_threads=True, record_python_gc_info=True) == []
    assert warned(performance_events=["cycles"], trace_only=True) == [
        "opscope.torch ignores performance_events, trace_only of experimental_config"
    ]
    assert len(warned(expose_kineto_event_metadata=True, adjust_timestamps=True)) == 1


def fields_of_a_config_are_found_in_its_state() -> None:
    n = 0
    for name, value in itertools.product(config.FIELDS, (True, "text", ["text"])):
        try:
            made = CONFIG(**{name: value})
        except TypeError:  # of another type, or not in this torch
            continue
        n += 1
        found = config.fields(made)
        assert [x for x in found if found[x]] == [name], (name, found)
    assert n > 1, n


def all_arguments_of_torch_are_named() -> None:
    for ours, theirs in (
        (profile, torch.profiler.profile),
        (profiler_legacy.profile, torch.autograd.profiler_legacy.profile),
    ):
        # The declared parameters, for tools that read the source.
        code = ours.__init__.__code__
        named = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        defaults = {
            **dict(zip(named, ours.__init__.__defaults__ or ())),
            **ours.__init__.__kwdefaults__,
        }
        for name, p in inspect.signature(theirs).parameters.items():
            assert defaults[name] == p.default, name
    assert raises(TypeError, "bogus", lambda: profile(bogus=1))


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


def metadata_of_any_kind_leaves_a_trace_json_and_its_times() -> None:
    metadata = {
        "x": '{"traceEvents": [1, 2]}',
        "pid": '"worker-1"',
        "y": "NaN",
        "exe": "7",
        "baseTimeNanoseconds": '"none"',
        "traceEvents": "[]",
    }
    with profile(activities=CPU) as p, tempfile.TemporaryDirectory() as directory:
        torch.ones(2)
        for key, value in metadata.items():
            p.add_metadata_json(key, value)
        p.stop()
        path = Path(directory, "trace.json")
        p.export_chrome_trace(path)
        written = json.loads(path.read_text(), parse_constant=lambda name: 1 / 0)
    told = {key: written.get(key) for key in ("x", "pid", "y", "exe", "command")}
    assert told == {
        "x": {"traceEvents": [1, 2]},
        "pid": "worker-1",
        "y": "NaN",
        "exe": 7,
        "command": None,
    }, told
    assert any(e["name"] == "aten::ones" for e in written["traceEvents"])
    assert isinstance(written["baseTimeNanoseconds"], int)


def a_trace_has_the_types_of_events_that_were_named() -> None:
    def record(named: Any) -> tuple[list[str], set[str]]:
        with profile(activities=[named], profile_memory=True) as prof:
            w = torch.ones(8, 8, requires_grad=True)
            with record_function("label"):
                (x @ w).sum().backward()
        return keys(prof), {e["cat"] for e in exported(prof) if "cat" in e} - {"Trace"}

    everything, found = record(ProfilerActivity.CPU)
    assert found == {"cpu_op", "fwdbwd", "user_annotation", "cpu_instant_event"}, found
    for named, categories in (
        ([], set()),
        (["CPU_OP"], {"cpu_op", "fwdbwd"}),
        (["USER_ANNOTATION", "XPU_RUNTIME"], {"user_annotation"}),
    ):
        assert record({ProfilerActivity.CPU: named}) == (everything, categories), named
    assert raises(
        RuntimeError,
        "Unknown or non-member activity type name: 'GPU_MEMCPY'",
        profile(activities=[{ProfilerActivity.CPU: ["GPU_MEMCPY"]}]).start,
    )


def collection_can_be_toggled() -> None:
    with profile(activities=CPU) as prof:
        x + x
        prof.toggle_collection_dynamic(False, CPU)
        x * x
        prof.toggle_collection_dynamic(True, CPU)
        x - x
    assert keys(prof) == ["aten::add", "aten::sub"], keys(prof)


def it_has_every_name_that_torch_has() -> None:
    here, there = opscope.torch, torch.profiler
    assert set(there.__all__) <= set(here.__all__)
    lacking = [name for name in dir(there) if not hasattr(here, name)]
    assert not lacking, lacking
    for name in (
        "_KinetoProfile",
        "ExecutionTraceObserver",
        "DeviceType",
        "kineto_available",
        "_ExperimentalConfig",
        "RecordScope",
        "KinetoStepTracker",
    ):
        assert getattr(here, name) is getattr(there, name), name
    assert raises(AttributeError, "no attribute 'nonsense'", lambda: here.nonsense)
    here, there = opscope.torch.autograd_profiler, torch.autograd.profiler
    lacking = [name for name in dir(there) if not hasattr(here, name)]
    assert not lacking and set(there.__all__) <= set(here.__all__), lacking
    assert here.record_function is there.record_function and here.profile is not there.profile
    assert raises(AttributeError, "no attribute 'nonsense'", lambda: here.nonsense)


def the_profile_has_every_name_that_torchs_has() -> None:
    there = torch.profiler
    assert set(dir(there.profile)) <= set(dir(profile))
    assert inspect.signature(profile) == inspect.signature(there.profile) and inspect.signature(
        profile.__init__
    ) == inspect.signature(there.profile.__init__)


def the_inner_profiler_has_what_that_of_torch_has() -> None:
    with profile(activities=CPU) as prof:
        assert (
            str(prof.profiler) == repr(prof.profiler) == "<unfinished torch.autograd.profile>"
        )
        x + x
    inner = prof.profiler
    assert "aten::add" in inner.table(sort_by="id") == str(inner) and "aten::add" in repr(inner)
    assert inner.total_average().count == 1 and len(inner.function_events) == 1
    assert inner.self_cpu_time_total == prof.key_averages().self_cpu_time_total > 0
    assert raises(AttributeError, "events()", lambda: inner.kineto_results.save)
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
    written = trace(prof)
    assert written["within"] == written["after"] == "kept" and "early" not in written, written


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
    assert {
        type(a).__module__
        for a in (prof.key_averages(), prof.key_averages()[0], prof.events()[0])
    } == {"opscope.torch.events"}
    assert profile.__module__ == "opscope.torch.profiler"


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
