# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of torch. Neither torch nor opscope is imported at the start: long.py,
processes.py and programs.py need neither in their own process.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Imports torch, and runs each program that is sent to it in a child, because the import takes two
# seconds. The child leaves the loop and ends as an interpreter does. Its parent, itself a child,
# sends the exit status.
FORKING = """
import gc, json, os, socket, sys, tempfile, torch
gc.freeze()  # so that no child searches all of torch for garbage when it ends
asked = socket.socket(fileno=int(sys.argv[1]))
n_parents = 0
while True:
    request, files, _, _ = socket.recv_fds(asked, 1 << 20, 3)
    while n_parents and os.waitpid(-1, os.WNOHANG if request else 0)[0]: n_parents -= 1
    if not request: os._exit(0)
    n_parents += 1
    if os.fork() == 0:
        asked.close()
        child = os.fork()
        if child == 0: break
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(files[2], str(status).encode())
        os._exit(0)
    for file in files: os.close(file)
request = json.loads(request)
for number in (1, 2): os.dup2(files[number - 1], number)
for file in files: os.close(file)
os.environ.clear()
os.environ.update(request["variables"])
sys.argv, tempfile.tempdir = ["-c"], None
for name in ("asked", "child", "file", "files", "number", "n_parents", "_"): del globals()[name]
exec(compile(globals().pop("request")["code"], "<string>", "exec"))
"""


@functools.cache
def forking() -> socket.socket:
    """Start the process that has imported torch, and ends with this one. Returns its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(theirs.fileno())], pass_fds=[theirs.fileno()]
    )
    theirs.close()
    atexit.register(lambda: (ours.close(), process.wait()))
    return ours


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run CODE in a new process that has imported torch, with VARIABLES in its environment. If the
    tests have OPSCOPE_TEST_APART in theirs, it is a new interpreter."""
    environment = {**os.environ, **variables}
    if "OPSCOPE_TEST_APART" in os.environ:
        return subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    request = json.dumps({"code": code, "variables": environment}).encode()
    status, told = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(status) as end:
        socket.send_fds(forking(), [request], [out.fileno(), err.fileno(), told])
        os.close(told)
        code_of_exit = int(end.read())
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            [sys.executable, "-c", code], code_of_exit, out.read().decode(), err.read().decode()
        )


def bare(directory: str) -> dict[str, str]:
    """Variables of a process without a compiler that finds objects only in DIRECTORY."""
    nowhere = Path(directory, "nowhere")
    nowhere.mkdir(exist_ok=True)
    return {"PATH": str(nowhere), "CXX": "", "XDG_CACHE_HOME": directory, "TMPDIR": directory}


def copying_compiler(directory: str, before: str = ":") -> Path:
    """A compiler in DIRECTORY that runs BEFORE, and then copies the object of this process, because
    a real one takes half a minute of processor time.
    """
    from opscope.torch import build

    compiler = Path(directory, "cxx")
    compiler.write_text(
        f"#!/bin/sh\n{before}\n"
        'while [ "$1" != -o ]; do shift; done\n'
        f'exec cp "{build.recorder()}" "$2"\n'
    )
    compiler.chmod(0o755)
    return compiler


def fake_cupti(directory: str | Path) -> str:
    """Build in DIRECTORY the library that stands for CUDA and its CUPTI. Returns its path."""
    root = Path(__file__).resolve().parents[2]
    library = Path(directory, "libcupti.so.13")
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
            f"-I{root}/src",
            str(root / "tests/sources/fake_cupti.c"),
            "-o",
            str(library),
            f"-Wl,-soname,{library.name}",
            "-lpthread",
        ],
        check=True,
    )
    return str(library)


def fresh_cache(directory: str) -> dict[str, str]:
    """Variables of a process that finds objects only in DIRECTORY, and has such a compiler."""
    return {
        "XDG_CACHE_HOME": directory,
        "TMPDIR": directory,
        "CXX": str(copying_compiler(directory)),
    }


def raises(kind: type[Exception], word: str, call: Callable[[], object]) -> bool:
    """Whether CALL raises KIND, with WORD in its message."""
    try:
        call()
    except kind as e:
        return word in str(e)
    return False


def keys(prof: Any) -> list[str]:
    return [a.key for a in prof.key_averages()]


def counts(prof: Any) -> dict[str, int]:
    return {a.key: a.count for a in prof.key_averages()}


def trace(prof: Any) -> dict[str, Any]:
    """The trace that PROF writes."""
    with tempfile.TemporaryDirectory() as d:
        path = Path(d, "t.json")
        prof.export_chrome_trace(str(path))
        found: dict[str, Any] = json.loads(path.read_text())
    return found


def exported(prof: Any) -> list[dict[str, Any]]:
    """The events in the trace that PROF writes."""
    events: list[dict[str, Any]] = trace(prof)["traceEvents"]
    return events


class Tests:
    """Counts the results of tests of programs that the command at OPSCOPE records."""

    def __init__(self, opscope: str) -> None:
        self.opscope = os.path.abspath(opscope)
        self.n_passed = 0
        self.n_failed = 0

    def check(self, name: str, is_good: bool, told: object = "") -> None:
        """Count one result; TOLD is printed if it is bad."""
        self.n_passed += is_good
        self.n_failed += not is_good
        if not is_good:
            print(f"FAILED {name}: {told}", flush=True)

    def check_equal(self, name: str, got: object, wanted: object) -> None:
        """Check that GOT equals WANTED."""
        self.check(name, got == wanted, f"{got!r}, and not {wanted!r}")

    def package(self) -> dict[str, str]:
        """Variables with which Python finds the package next to the command in a build."""
        beside = os.path.join(os.path.dirname(self.opscope), "python")
        return {"PYTHONPATH": beside} if os.path.isdir(beside) else {}

    def end(self) -> int:
        """Print the number of results. Returns the exit status."""
        print(f"{self.n_passed} passed, {self.n_failed} failed")
        return 1 if self.n_failed else 0


def both(work: Callable[[], None], **options: Any) -> tuple[Any, Any]:
    """The profiles of torch and of opscope.torch, which record WORK at once; it runs once before."""
    import torch.profiler

    from opscope.torch import profile

    work()
    with torch.profiler.profile(**options) as theirs, profile(**options) as ours:
        work()
    return theirs, ours


def run(namespace: dict[str, object], module: str) -> int:
    """Run the tests of MODULE, which are all functions with "_" in their name in its NAMESPACE.
    Returns 1 if any failed.
    """
    tests = [
        f
        for name, f in list(namespace.items())
        if callable(f) and getattr(f, "__module__", "") == module and "_" in name
    ]
    failed = 0
    for test in tests:
        try:
            test()
        except Exception:  # so that the next test runs, too
            failed += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc(limit=3)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0
