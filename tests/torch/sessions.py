#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-sessions
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
# turn: 6
"""Recordings of opscope.torch as programs begin and end them: schedules, threads, forks, kills.

    python3 tests/torch/sessions.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`;
exit status 1 on any failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import torch
import torch.profiler
from support import counts, exported, keys, python, raises, run, trace

import opscope
import opscope.torch
from opscope.torch import ProfilerActivity, kineto, profile, schedule

CPU = [ProfilerActivity.CPU]
x = torch.randn(8, 8)


def a_schedule_that_never_recorded_is_told() -> None:
    """As where step() is not called; a profile whose schedule records at once needs none."""

    def warned(wait: int, warmup: int = 0) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with profile(
                activities=CPU, schedule=schedule(wait=wait, warmup=warmup, active=1)
            ) as p:
                for _ in range(2):
                    p.step()
        return [str(w.message) for w in found if "recorded nothing" in str(w.message)]

    assert warned(wait=2) == []
    assert len(warned(wait=2, warmup=1)) == 1  # it ends while it warms up
    [message] = warned(wait=3)
    assert "after 2 calls of step()" in message, message


def each_window_of_a_schedule_is_ready_by_itself() -> None:
    seen = []
    with profile(
        activities=CPU,
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda p: seen.append((p.step_num, keys(p))),
    ) as prof:
        for _ in range(10):
            x + x
            prof.step()
    assert [step for step, _ in seen] == [4, 8], seen
    assert all(set(k) == {"ProfilerStep*", "aten::add"} for _, k in seen), seen


def a_window_ends_after_everything_in_it() -> None:
    for start_ns in range(63_790_288_400_123, 63_790_288_401_123, 7):
        start_us, end_us = start_ns / 1000, (start_ns + 28_578) / 1000
        whole, *_, end = kineto.window_events(start_us, end_us)
        assert whole["ts"] + whole["dur"] <= end["ts"], (whole, end)


def torch_records_a_profile_inside_of_ours() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with profile(activities=CPU) as outer:
            with profile(activities=CPU) as inner:
                inner.add_metadata("who", "inner")
                x + x
            with torch.profiler.profile(activities=CPU) as theirs:
                x + x
            x + x
    assert sum("already running" in str(w.message) for w in said) == 1, said
    assert (counts(outer)["aten::add"], counts(inner)["aten::add"]) == (3, 1)
    assert "aten::add" in [a.key for a in theirs.key_averages()]
    found = trace(inner)
    assert found["who"] == "inner" and "aten::add" in [e["name"] for e in found["traceEvents"]]
    assert raises(ValueError, "torch's own profiler", lambda: os.fspath(inner))
    with inner:  # alone, it is ours
        x + x
    assert os.path.isfile(inner) and counts(inner)["aten::add"] == 1


def a_profile_leaves_the_recording_that_the_program_began() -> None:
    code = """if 1:
        import os, sys, torch, warnings
        from opscope import record
        from opscope.torch import profile
        record.start(*sys.argv[1:])
        path = record.path()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with profile() as prof:
                torch.ones(4) + 1
                assert record.path() == path, record.path()
        assert sum("already running" in str(w.message) for w in said) == 1, said
        assert record.path() == path and len(prof.events()) > 0
        record.stop()
    """
    with tempfile.TemporaryDirectory() as d:
        for words, variables in (
            (["run.osc"], {}),
            ([], {"OPSCOPE_OUT": "."}),
            (["run.osc"], {"OPSCOPE_OUT": d}),
        ):
            done = subprocess.run(
                [sys.executable, "-c", code, *words],
                cwd=d,
                text=True,
                env={**os.environ, **variables},
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr


def a_second_start_spoils_nothing() -> None:
    prof = profile(activities=CPU)
    prof.start()
    assert raises(RuntimeError, "is already running", prof.start)
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
    assert counts(again) == {"aten::sub": 1}


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


def off_means_off() -> None:
    done = python(
        "import torch; from opscope.torch import profile\n"
        "with profile() as p: torch.ones(2)\n"
        "print(len(p.key_averages()), repr(p.key_averages().table()))",
        OPSCOPE="0",
    )
    assert done.stdout == "0 ''\n", done
    done = python(
        "import torch; from opscope.torch import profile\n"
        "with profile(record_shapes=True, profile_memory=True, with_stack=True) as p:\n"
        "    torch.ones(2)\n"
        "p.export_memory_timeline('/dev/stdout', device='cpu')\n",
        OPSCOPE="0",
    )
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
        remedies = opscope.load(found[0]).text("quality")
    assert "aten::add" in text and "5000" in text, text
    assert "pass with_stack=True to opscope.torch.profile" in remedies, remedies


def recordings_stay_in_a_directory_that_is_made_or_a_warning_says_so() -> None:
    code = """if 1:
        import os, torch, warnings
        from opscope.torch import profile
        for place in ("new/deep", "file/deep"):
            os.environ["OPSCOPE_OUT"] = place
            with warnings.catch_warnings(record=True) as said:
                with profile() as prof:
                    torch.ones(4) + 1
            said = [str(w.message) for w in said if "OPSCOPE_OUT" in str(w.message)]
            files = len(os.listdir(place)) if os.path.isdir(place) else 0
            assert (files, len(said)) == ((1, 0) if place == "new/deep" else (0, 1)), (files, said)
            assert len(prof.events()) > 0
    """
    with tempfile.TemporaryDirectory() as d:
        Path(d, "file").touch()
        done = subprocess.run(
            [sys.executable, "-W", "always", "-c", code],
            cwd=d,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def cycles_are_kept_on_request() -> None:
    def cycles(keep: bool) -> tuple[dict[str, int], int]:
        with profile(
            activities=CPU,
            acc_events=keep,
            schedule=schedule(wait=0, warmup=1, active=1, repeat=2),
        ) as prof:
            for _ in range(5):
                x + x
                prof.step()
        return counts(prof), len(prof.events())

    assert cycles(True) == ({"ProfilerStep*": 2, "aten::add": 2}, 4)
    assert cycles(False) == ({"ProfilerStep*": 1, "aten::add": 1}, 2)


def metadata_set_before_the_start_is_in_each_cycle() -> None:
    found = []

    def ready(prof: profile) -> None:
        found.append(trace(prof)["mine"])

    prof = profile(
        activities=CPU,
        schedule=schedule(wait=0, warmup=1, active=1, repeat=2),
        on_trace_ready=ready,
    )
    prof.preset_metadata_json("mine", '{"a": [1]}')
    with prof:
        for _ in range(4):
            prof.step()
    assert found == [{"a": [1]}, {"a": [1]}], found


def what_runs_may_be_saved() -> None:
    prof = profile(activities=CPU)
    prof.start()
    x + x
    assert "aten::add" in [e["name"] for e in exported(prof)] and keys(prof) == ["aten::add"]
    assert [e.name for e in prof.events()] == ["aten::add"]
    x * x
    assert [e.name for e in prof.events()] == keys(prof) == ["aten::add", "aten::mul"]
    x - x
    prof.stop()
    assert (
        [e.name for e in prof.events()] == keys(prof) == ["aten::add", "aten::mul", "aten::sub"]
    )
    assert prof.events() is prof.events()


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
