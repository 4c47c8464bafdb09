#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-faults
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
# turn: 4
"""Faults under opscope.torch: exceptions, threads, forks, exits, odd names, builds.

    python3 tests/torch/faults.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`;
exit status 1 on any failure. Unusual kinds of tensors are in compare.py.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from support import (
    bare,
    copying_compiler,
    counts,
    exported,
    fresh_cache,
    keys,
    python,
    raises,
    run,
    trace,
)

import opscope
from opscope.torch import (
    ProfilerActivity,
    build,
    native,
    profile,
    record_function,
    schedule,
    target,
)

CPU = [ProfilerActivity.CPU]
CONFIG = torch._C._profiler._ExperimentalConfig
ALL_THREADS = CONFIG(profile_all_threads=True)
VERBOSE = CONFIG(verbose=True)  # stacks, in torch
HEAD = """
import os, signal, sys, threading, time, torch
from opscope.torch import profile, record_function
x = torch.ones(8, 8)
"""
ONE_PROFILE = (
    HEAD
    + """
with profile() as p:
    torch.ones(2)
print([a.key for a in p.key_averages()])
"""
)
ITS_KEYS = "['aten::ones', 'aten::empty', 'aten::fill_']\n"
x = torch.randn(8, 8)


def durations(prof: profile) -> dict[str, float]:
    """The recorded durations, without the window itself."""
    return {
        e["name"]: e["dur"] for e in exported(prof) if e["ph"] == "X" and e["cat"] != "Trace"
    }


# --- exceptions ----------------------------------------------------------------------------


def a_callback_that_fails_leaves_the_profile_usable() -> None:
    def fails(_: object) -> None:
        raise ValueError("mine")

    prof = profile(activities=CPU, on_trace_ready=fails)
    prof.start()
    x + x
    assert raises(ValueError, "mine", prof.stop)
    assert keys(prof) == ["aten::add"]
    prof = profile(
        activities=CPU, schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=fails
    )
    prof.start()
    prof.step()
    assert raises(ValueError, "mine", prof.step)
    with contextlib.suppress(ValueError):
        prof.stop()  # torch's own profiler crashes here
    with profile(activities=CPU) as again:
        x * x
    assert keys(again) == ["aten::mul"]


def hooks_that_fail_end_what_is_around_them() -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("hook")

    model = torch.nn.Linear(8, 8)
    model.register_forward_hook(fails)
    y = torch.randn(8, 8, requires_grad=True) * 2
    y.register_hook(fails)
    with profile(activities=CPU, with_stack=True) as prof:
        assert raises(RuntimeError, "hook", lambda: model(x))
        with record_function("label"):
            assert raises(RuntimeError, "hook", lambda: (y * 3).sum().backward())
        x - x
    e = {e.name: e for e in prof.events()}
    assert e["SumBackward0"].cpu_parent is not None
    assert e["aten::sub"].cpu_parent.name != "label"
    assert not [s for s in e["aten::sub"].stack if "fails" in s], e["aten::sub"].stack


# --- objects that die ------------------------------------------------------------------------


def growth(work: Callable[[], Any]) -> int:
    """The growth of this process's memory by WORK."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    work()
    return (resident() - before) >> 20


def functions(prof: profile, file: str) -> dict[str, int]:
    """How often each function of FILE was called."""
    return {k: n for k, n in counts(prof).items() if k.startswith(f"{file}(")}


def modules_die_as_they_would_and_are_numbered_by_address_as_in_torch() -> None:
    # Torch confuses a module with one of another class that had the same address.
    for make, kinds in ((torch.profiler.profile, ["ReLU"]), (profile, ["ReLU", "Tanh"])):
        expected: dict[str, int] = {}
        seen: dict[str, list[int]] = {kind: [] for kind in kinds}
        refs = []
        with make(activities=CPU, with_stack=True, experimental_config=VERBOSE) as prof:
            for kind in kinds * 100:
                module = getattr(torch.nn, kind)()
                refs.append(weakref.ref(module))
                if id(module) not in seen[kind]:
                    seen[kind].append(id(module))
                name = f"nn.Module: {kind}_{seen[kind].index(id(module))}"
                expected[name] = expected.get(name, 0) + 1
                module(x)
                del module
            assert [r for r in refs if r() is not None] == []
        got = {k: n for k, n in counts(prof).items() if k.startswith("nn.Module")}
        assert got == expected and len(got) < 50, (got, expected)


def an_address_that_is_used_again_is_not_taken_for_what_was_there() -> None:
    modules, codes = set(), set()
    with profile(activities=CPU, with_stack=True) as prof:
        for i in range(300):
            for name in ("ReLU", "Tanh"):
                module = getattr(torch.nn, name)()
                modules.add(id(module))
                module(x)
                del module
            code = compile("\n" * i + "def f(): return 1\nf()", f"made{i % 3}.py", "exec")
            codes.add(id(code.co_consts[0]))
            exec(code, {})
            del code
    rows = counts(prof)
    assert len(modules) < 300 and len(codes) < 300, (len(modules), len(codes))
    assert all(rows[f"made{i % 3}.py({i + 1}): f"] == 1 for i in range(300)), rows
    for name in ("ReLU", "Tanh"):
        assert sum(n for k, n in rows.items() if k.startswith(f"nn.Module: {name}_")) == 300, (
            rows
        )


def functions_that_are_made_for_one_call_take_no_memory() -> None:
    def work() -> None:
        for _ in range(100000):
            eval("lambda a: a")(x)

    with profile(activities=CPU, with_stack=True) as prof:
        assert growth(work) < 16
    assert functions(prof, "<string>")["<string>(1): <lambda>"] == 100000


def what_finds_no_room_in_a_table_is_recorded_all_the_same() -> None:
    def inner() -> None:
        pass

    def adds() -> torch.Tensor:
        return x + x

    def outer(f: Callable[[], Any]) -> None:
        f()

    def at_line(f: Any, line: int) -> Any:
        code = f.__code__.replace(co_firstlineno=line, co_filename="made.py")
        return types.FunctionType(code, globals(), None, None, f.__closure__)

    n_calls, n_sides = 70000, 600  # more than 1 << 16 functions, more than 1 << 18 paths
    inners = [at_line(inner, i) for i in range(n_calls)]

    def work() -> None:
        for i in range(n_sides):
            f = at_line(outer, i)
            for g in inners[:n_sides] if i > 0 else inners:
                f(g)

    with profile(activities=CPU, with_stack=True) as prof:
        assert growth(work) < 128
        at_line(outer, 1000)(at_line(adds, 2000))
    rows = functions(prof, "made.py")
    assert len(rows) == n_calls + n_sides + 2, len(rows)
    assert sum(rows.values()) == 2 * (n_calls + (n_sides - 1) * n_sides + 1)
    text = native.run(
        "table",
        "averages",
        prof.profiler.path,
        "--group-by",
        "stack:2",
        "--where",
        "name = 'aten::add'",
        "-f",
        "json",
    )
    assert "made.py(2000): adds" in text and "made.py(1000): outer" in text, text


# --- threads -------------------------------------------------------------------------------


def what_runs_at_the_end_ends_there_as_in_torch() -> None:
    before = record_function("before")
    before.__enter__()
    with profile(activities=CPU) as prof:
        x + x
        after = record_function("after")
        after.__enter__()
        x * x
        time.sleep(0.01)
    x - x
    after.__exit__(None, None, None)
    before.__exit__(None, None, None)
    assert counts(prof) == {"aten::add": 1, "after": 1, "aten::mul": 1}
    assert 1e4 < durations(prof)["after"] < 1e7, durations(prof)
    with profile(activities=CPU) as again:
        x - x
    assert keys(again) == ["aten::sub"]


def operators_of_other_threads_may_begin_before_and_end_after() -> None:
    go, inside, end, ready = (threading.Event() for _ in range(4))

    def work() -> None:
        with record_function("before"):
            ready.set()
            go.wait()
            with record_function("after"):
                x + x
                inside.set()
                end.wait()

    worker = threading.Thread(target=work)
    worker.start()
    ready.wait()
    with profile(activities=CPU, experimental_config=ALL_THREADS) as prof:
        go.set()
        inside.wait()
    end.set()
    worker.join()
    assert counts(prof) == {"after": 1, "aten::add": 1}, counts(prof)
    assert set(durations(prof)) == {"after", "aten::add"}


def a_thread_may_die_inside_a_range() -> None:
    kept = []

    def dies() -> None:
        kept.append(record_function("dies"))
        kept[-1].__enter__()
        x + x

    with profile(activities=CPU, experimental_config=ALL_THREADS) as prof:
        for _ in range(2):
            worker = threading.Thread(target=dies)
            worker.start()
            worker.join()
        kept[0].__exit__(None, None, None)  # on another thread
        x * x
    assert counts(prof) == {"dies": 2, "aten::add": 2, "aten::mul": 1}, counts(prof)


def a_label_may_outlive_two_profiles_on_many_threads() -> None:
    stop = threading.Event()
    done = [0, 0, 0]

    def work(number: int) -> None:
        while not stop.is_set():
            with record_function("label"):
                x + x
            done[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for w in workers:
        w.start()
    try:
        for _ in range(10):
            with profile(
                activities=CPU,
                experimental_config=ALL_THREADS,
                profile_memory=True,
                record_shapes=True,
            ) as prof:
                before = sum(done)
                while sum(done) < before + 6:  # each has at most one that began before
                    time.sleep(0.01)
            found = counts(prof)
            assert found.keys() == {"label", "aten::add", "[memory]"} - (
                {"[memory]"} - found.keys()
            ), found
    finally:
        stop.set()
        for w in workers:
            w.join()


# --- processes -----------------------------------------------------------------------------


def workers_of_a_loader_are_not_what_is_profiled() -> None:
    code = (
        HEAD
        + """
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.ones(3) * i
def child(queue):
    with profile() as p: x @ x
    queue.put([a.key for a in p.key_averages()][:2])
if __name__ == "__main__":
    import torch.multiprocessing
    for how in ("fork", "spawn"):
        with profile(record_shapes=True, profile_memory=True, with_stack=True) as p:
            total = sum(batch.sum().item() for batch in DataLoader(
                Numbers(), batch_size=2, num_workers=2, multiprocessing_context=how))
            context = torch.multiprocessing.get_context(how)
            queue = context.Queue()
            process = context.Process(target=child, args=(queue,))
            process.start()
            print(queue.get())
            process.join()
        rows = {a.key: a.count for a in p.key_averages()}
        print(total, rows["aten::sum"], "aten::ones" in rows, os.listdir(p.profiler.directory))
"""
    )
    with tempfile.TemporaryDirectory() as d:
        path = Path(d, "loader.py")
        path.write_text(code)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", path],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    each = "['aten::matmul', 'aten::mm']\n84.0 4 False ['0.osc']\n"
    assert done.stdout == 2 * each, done


EXITS = {
    "sys.exit(3)": 3,
    "os._exit(3)": 3,
    "raise KeyError": 1,
    "os.kill(os.getpid(), signal.SIGTERM)": -15,
    "os.abort()": -6,
    "os.execv('/bin/true', ['true'])": 0,
    "import atexit; atexit.register(lambda: x * x)": 0,
}


def no_way_to_exit_loses_what_was_recorded() -> None:
    def check(end: str, status: int) -> None:
        code = (
            HEAD + "p = profile(record_shapes=True, profile_memory=True, with_stack=True)\n"
            "p.start()\nfor _ in range(100): x + x\n" + end
        )
        with tempfile.TemporaryDirectory() as d:
            done = python(code, OPSCOPE_OUT=d, TMPDIR=d)
            assert done.returncode == status, (end, done)
            files = list(Path(d).glob("torch.*.osc"))
            rows = opscope.load(files[0]).table("averages")
            found = dict(zip(rows["name"].tolist(), rows["calls"].tolist()))
            assert len(files) == 1 and found["aten::add"] == 100, (end, found)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda item: check(*item), EXITS.items()))


def daemon_threads_may_run_operators_until_the_interpreter_is_gone() -> None:
    code = (
        HEAD
        + """
{}
def loop():
    while True: x - x
for _ in range(3): threading.Thread(target=loop, daemon=True).start()
time.sleep(0.1)
"""
    )
    with tempfile.TemporaryDirectory() as d:
        alone = python(code.format(""))
        config = (
            "experimental_config=torch._C._profiler._ExperimentalConfig(profile_all_threads=1)"
        )
        done = python(code.format(f"p = profile({config}); p.start()"), OPSCOPE_OUT=d)
        assert done.returncode in (0, alone.returncode), (alone, done)  # torch alone aborts
        rows = opscope.load(next(Path(d).glob("torch.*.osc"))).table("averages")
    assert dict(zip(rows["name"].tolist(), rows["calls"].tolist()))["aten::sub"] > 10, rows


def ranges_of_graphs_pass_their_arguments_to_torch_as_they_came() -> None:
    with profile(activities=CPU, record_shapes=True) as ours:
        with torch.profiler.profile(activities=CPU) as theirs:  # a None would end the process
            with torch._C._profiler._RecordFunctionFast("both"):
                x + x
        with torch._C._profiler._RecordFunctionFast(
            "user", keyword_values={"scope": "user_scope"}
        ):
            x * x
    assert counts(ours) == {"both": 1, "aten::add": 1, "user": 1, "aten::mul": 1}, counts(ours)
    assert [a.is_user_annotation for a in ours.key_averages() if a.key == "user"] == [True]
    assert "both" in keys(theirs)
    assert not isinstance(torch._C._profiler._RecordFunctionFast, type(lambda: 0))


def two_ranks_write_a_file_each_and_say_which_they_are() -> None:
    code = """
import os, sys, torch, torch.distributed as dist
from opscope.torch import profile, tensorboard_trace_handler
d, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", rank=rank, world_size=2, init_method=f"file://{d}/store")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
with profile(on_trace_ready=tensorboard_trace_handler(f"{d}/tb")) as p:
    model(torch.randn(4, 8)).sum().backward()
    dist.all_reduce(torch.ones(3))
print({a.key: a.count for a in p.key_averages()}["DistributedDataParallel.forward"])
dist.destroy_process_group()
"""
    with tempfile.TemporaryDirectory() as d:
        Path(d, "osc").mkdir()
        ranks = [
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code, d, str(rank)],
                env={**os.environ, "OPSCOPE_OUT": f"{d}/osc"},
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        assert [r.communicate(timeout=120)[0] for r in ranks] == ["1\n", "1\n"]
        names = sorted(p.name.split(".")[0] for p in Path(d, "tb").iterdir())
        pids = sorted(str(r.pid) for r in ranks)
        assert sorted(n.rsplit("_", 1)[1] for n in names) == pids, names
        for place in ("osc", "tb"):
            assert len(os.listdir(Path(d, place))) == 2, os.listdir(Path(d, place))
            found = opscope.load(Path(d, place)).table("info")
            assert sorted(set(found["rank"].tolist())) == [0, 1], found["rank"]


# --- names ---------------------------------------------------------------------------------

NAMES = [
    'quo"te',
    "back\\slash",
    "ctl\x01\x1f\x7f",
    "new\nline",
    "tab\t",
    "ümläut ☃ 😀",
    "",
    " ",
    "</script>",
    "[memory]",
    "y" * (1 << 20),
]


def labels_of_any_bytes_are_recorded() -> None:
    with profile(activities=CPU, record_shapes=True) as prof:
        for name in NAMES:
            with record_function(name, name):
                x + x
        with record_function("cut\0here"):
            pass
        assert raises(RuntimeError, "", record_function("\ud800").__enter__)  # torch's own
    want = {*NAMES, "cut"} - {"[memory]"}  # torch's name for a record
    assert counts(prof).keys() == want | {"aten::add"}, set(counts(prof)) ^ want
    assert {e.name for e in prof.events()} == want | {"aten::add"}
    assert set(durations(prof)) == want | {"aten::add", "[memory]"}
    assert "ümläut ☃ 😀" in prof.key_averages().table(row_limit=-1)


def metadata_of_any_bytes_is_written() -> None:
    keys_and_values = [*NAMES, "nul\0", "\udcff\udc80", "\ud800", "traceEvents"]
    with profile(activities=CPU) as prof:
        for i, text in enumerate(keys_and_values):
            prof.add_metadata(text, f"as key {i}")
            prof.add_metadata(f"value {i}", text)
            prof.add_metadata_json(f"json {i}", json.dumps([text], ensure_ascii=i % 2 == 0))
        assert raises(ValueError, "", lambda: prof.add_metadata_json("bad", "{"))
        x + x
    found = trace(prof)
    assert [e["name"] for e in found["traceEvents"] if e.get("cat") == "cpu_op"] == [
        "aten::add"
    ]
    for i, text in enumerate(keys_and_values):
        assert found[f"value {i}"] == text and found[f"json {i}"] == [text], (i, text[:20])
        assert text == "traceEvents" or found[text] == f"as key {i}", (i, text[:20])


# --- building ------------------------------------------------------------------------------


def cached(variables: dict[str, str]) -> str:
    """The path of the object that a process with VARIABLES builds."""
    done = python("from opscope.torch import build; print(build.recorder())", **variables)
    assert done.returncode == 0, done
    return done.stdout.strip()


def built(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m opscope.torch build` with VARIABLES in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "opscope.torch", "build"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def an_object_of_another_torch_is_not_taken() -> None:
    with tempfile.TemporaryDirectory() as d:
        fresh = fresh_cache(d)
        path = cached(fresh)
        done = python(
            "import torch; torch.__version__ = '2.99.0'\n"
            "from opscope.torch import build, target; print(target.key(build.this_torch()))"
        )
        assert done.stdout.strip() not in path, done
        os.chmod(path, 0o700)
        for size in (0, 1000, os.path.getsize(path) - 1):  # a truncated object is built again
            os.truncate(path, size)
            assert cached(fresh) == path and os.path.getsize(path) > 1000
        done = python(ONE_PROFILE, **fresh)
        assert done.stdout == ITS_KEYS and len(list(Path(d, "opscope").glob("*.so"))) == 1, done


def a_cache_that_cannot_be_written_is_passed_over() -> None:
    with tempfile.TemporaryDirectory() as d:
        fresh = fresh_cache(d)
        done = python(ONE_PROFILE, **{**fresh, "XDG_CACHE_HOME": "/proc/nowhere"})
        assert done.stdout == ITS_KEYS, done
        assert Path(d, f"opscope-{os.getuid()}").is_dir()
        code = "import os\nfor k in ('HOME', 'XDG_CACHE_HOME'): os.environ.pop(k, None)\n"
        del fresh["XDG_CACHE_HOME"]
        assert python(code + ONE_PROFILE, **fresh).stdout == ITS_KEYS
        path = cached(fresh_cache(d))  # an existing object is used
        done = python(
            "import os; os.access = lambda path, mode: mode != os.W_OK\n"
            "from opscope.torch import build; print(build.recorder())",
            XDG_CACHE_HOME=d,
            TMPDIR=d,
        )
        assert done.stdout.strip() == path, done
        full = (
            "import shutil\nshutil.disk_usage = lambda path: type('U', (), {'free': 0})\n"
            "from opscope.torch import build\n"
            "try: build.recorder()\nexcept build.BuildError as e: print(e)\n"
        )
        Path(d, "tmp").mkdir()
        done = python(full, XDG_CACHE_HOME=f"{d}/full", TMPDIR=f"{d}/tmp")
        assert "no directory with room" in done.stdout, done


def an_object_that_cannot_be_had_leaves_torchs_own_profiler() -> None:
    code = (
        """
import ctypes, errno, fcntl
def refuse(*_, **__): raise OSError(errno.ENOLCK, "No locks available")
{}
"""
        + ONE_PROFILE
    )
    for fault, word in (
        ("fcntl.flock = refuse", "cannot be locked (No locks available)"),
        (
            "import torch, opscope.torch.native as n; n.build.built = lambda: torch.__file__",
            "cannot be loaded",
        ),
        (
            "import opscope.torch.build as b; b.WAIT_S = 0.2; fd = b.lock(b.usable_"
            "cache() / f'torch-{b.target.key(b.this_torch())}.lock')",
            "another process has been",
        ),
    ):
        with tempfile.TemporaryDirectory() as d:
            done = python(code.format(fault), XDG_CACHE_HOME=d, TMPDIR=d)
        assert done.stdout == ITS_KEYS, (fault, done)
        assert "torch's own profiler records" in done.stderr and word in done.stderr, done
        assert "<string>:" in done.stderr, done  # the place of the call


def eight_at_once_build_one_object() -> None:
    with tempfile.TemporaryDirectory() as d:
        log = Path(d, "log")
        compiler = copying_compiler(d, f"echo $$ >>{log}; sleep 0.5")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = list(
                pool.map(
                    lambda _: python(
                        ONE_PROFILE + "from opscope.torch import build\n"
                        "print(build.recorder())",
                        XDG_CACHE_HOME=d,
                        TMPDIR=d,
                        CXX=str(compiler),
                    ),
                    range(8),
                )
            )
        objects = list(Path(d, "opscope").glob("*.so"))
        assert len(objects) == len(log.read_text().splitlines()) == 1, objects
        assert [r.stdout for r in done] == 8 * [f"{ITS_KEYS}{objects[0]}\n"], done
        assert {r.returncode for r in done} == {0} and objects[
            0
        ].stat().st_mode & 0o777 == 0o500


def who_is_killed_while_it_builds_does_not_stop_the_next() -> None:
    with tempfile.TemporaryDirectory() as d:
        slow = Path(d, "slow")
        slow.write_text(f"#!/bin/sh\necho begun >{d}/begun\nexec sleep 5\n")
        slow.chmod(0o755)
        env = {**os.environ, "XDG_CACHE_HOME": d, "TMPDIR": d}
        first = subprocess.Popen(
            [sys.executable, "-m", "opscope.torch", "build"], env={**env, "CXX": str(slow)}
        )
        for _ in range(600):
            if Path(d, "begun").exists():
                break
            time.sleep(0.05)
        first.kill()
        first.wait()
        lock = next(Path(d, "opscope").glob("*.lock"))
        left = lock.with_name(f".{lock.stem}.so.{first.pid}")
        left.write_text("half an object")
        done = python(ONE_PROFILE, **fresh_cache(d))
        assert done.stdout == ITS_KEYS and not left.exists(), done


def a_compiler_that_fails_is_named() -> None:
    with tempfile.TemporaryDirectory() as d:
        compiler = Path(d, "cxx")
        for body, word in (
            ("exit 7", "ended with 7"),
            ("kill -9 $$", "ended with -9"),
            ("echo 'x.cpp:1: error: boom' >&2; exit 1", "boom"),
            ("exit 0", d),
        ):
            compiler.write_text(f"#!/bin/sh\n{body}\n")
            compiler.chmod(0o755)
            done = built(XDG_CACHE_HOME=d, TMPDIR=d, CXX=str(compiler))
            assert done.returncode == 1, done
            _, begun, failed = done.stderr.splitlines()
            assert "builds its recorder" in begun and word in failed, done
        assert not list(Path(d, "opscope").glob("*.so*"))


def without_a_compiler_the_error_says_what_to_install() -> None:
    with tempfile.TemporaryDirectory() as d:
        done = built(**bare(d))
        assert done.returncode == 1 and "install g++" in done.stderr, done
        assert done.stderr.count("\n") == 1, done


# --- no recorder: torch's own profiler ---------------------------------------------------------

BESIDE_TORCH = (
    HEAD
    + """
import warnings
from opscope.torch import autograd_profiler, profiler_legacy, schedule
def work():
    with record_function("label"): x + x
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    with profile(record_shapes=True, profile_memory=True) as shaped: work()
    with autograd_profiler.profile() as older: work()
    with profiler_legacy.profile() as oldest: work()
    with autograd_profiler.profile(enabled=False) as none: work()
print([str(w.message) for w in found if "opscope" in str(w.message)])
assert none is None
for p, theirs in ((shaped, torch.profiler.profile), (older, torch.autograd.profiler.profile),
                  (oldest, torch.autograd.profiler_legacy.profile)):
    assert type(p) is theirs, type(p)
    assert {"label", "aten::add"} <= {a.key for a in p.key_averages()}
assert [e.input_shapes for e in shaped.events() if e.name == "aten::add"] == [[[8, 8], [8, 8], []]]
seen = []
with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: seen.append(
        [a.count for a in p.key_averages() if a.key == "aten::add"])) as p:
    for _ in range(4):
        work()
        p.step()
assert seen == [[2]], seen
"""
)


def without_a_compiler_torchs_own_profiler_records() -> None:
    with tempfile.TemporaryDirectory() as d:
        done = python(BESIDE_TORCH, **bare(d))
        assert done.returncode == 0, done
    said = done.stdout
    assert said.count("torch's own profiler records") == 1, said
    assert "install g++" in said and "a wheel" in said, said


def opscope_that_is_switched_off_looks_for_no_recorder() -> None:
    with tempfile.TemporaryDirectory() as d:
        done = python(ONE_PROFILE, OPSCOPE="0", **bare(d))
        assert done.returncode == 0 and (done.stdout, done.stderr) == ("[]\n", ""), done


def a_recorder_of_the_package_is_taken_before_one_is_built() -> None:
    code = (
        "import pathlib\nfrom opscope.torch import build, target\n"
        "target.PACKAGED = pathlib.Path({!r})\n" + ONE_PROFILE + "print(build.recorder())"
    )
    with tempfile.TemporaryDirectory() as d:
        path = Path(d, build.this_torch().name)
        path.write_bytes(build.recorder().read_bytes())
        done = python(code.format(d), **bare(d))
        assert done.stdout == f"{ITS_KEYS}{path}\n", done
        path.write_bytes(b"of another machine")  # another is built
        fresh = fresh_cache(d)
        done = python(code.format(d), **fresh)
        assert done.stdout == f"{ITS_KEYS}{path}\n", done
        assert len(list(Path(d, "opscope").glob("*.so"))) == 1


def the_list_of_sources_and_the_build_say_the_same() -> None:
    """Which recorder there is for this torch: none and nothing to build it, none yet, one."""

    def listed(**variables: str) -> str:
        return subprocess.run(
            [sys.executable, target.__file__],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    with tempfile.TemporaryDirectory() as d:
        fresh = fresh_cache(d)
        without = {**fresh, **bare(d)}
        for variables, word, part in (
            (without, "missing", "the package has no recorder for torch 2"),
            (fresh, "ready", "so its recorder is compiled by "),
            (fresh, "ready", "was built before: "),
        ):
            lines = listed(**variables).splitlines()
            done = built(**variables)
            assert lines[0] == word and part in lines[1], (lines, done)
            assert done.stderr.splitlines()[0] == f"opscope.torch build: {lines[1]}", done
            assert done.returncode == (word == "missing"), done


def a_target_that_is_found_on_disk_is_the_one_that_is_loaded() -> None:
    found, ours = target.find(Path(torch.__file__).parent), build.this_torch()
    assert found == ours and re.fullmatch(
        r"torch-[0-9.]+-[0-9a-f]{16}-cxx\d\d\.so", ours.name
    ), found
    unknown = target.Target(ours.home, ours.version, "Unknown", ours.has_cxx11_abi)
    assert unknown.name == ""
    assert raises(
        build.BuildError, "not a package of torch", lambda: target.find(Path("/proc"))
    )


# Threads a and c start profiles that other threads stop, once the thread a.
LEFT = (
    HEAD
    + """
import queue
class Thread:
    def __init__(self):
        self.asked, self.done = queue.Queue(), queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()
    def run(self):
        while True:
            self.asked.get()()
            self.done.put(None)
    def do(self, work):
        self.asked.put(work)
        self.done.get()
a, b, c = Thread(), Thread(), Thread()
for starter, stopper in ((a, b), (c, a)):
    p = profile()
    starter.do(p.start)
    stopper.do(p.stop)
for _ in range(70):
    with profile() as p:
        x + x
        c.do(lambda: x - x)
    assert {e.key for e in p.key_averages()} == {"aten::add"}, p.key_averages()
"""
)


def callbacks_that_two_threads_were_left_with_stay_off() -> None:
    done = python(LEFT)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
