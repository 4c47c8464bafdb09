# SPDX-License-Identifier: Apache-2.0
"""What the tests of torch share. Neither torch nor opscope is imported here at once: long.py,
processes.py and programs.py need neither in their own process.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """CODE in an interpreter of its own, with VARIABLES in its environment."""
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables},
                          capture_output=True, text=True, check=False)


def bare(directory: str) -> dict[str, str]:
    """Variables of a process that has no compiler and finds no object, but in DIRECTORY."""
    nowhere = Path(directory, "nowhere")
    nowhere.mkdir(exist_ok=True)
    return {"PATH": str(nowhere), "CXX": "", "XDG_CACHE_HOME": directory, "TMPDIR": directory}


def copying_compiler(directory: str, before: str = ":") -> Path:
    """A compiler in DIRECTORY that runs BEFORE, and then copies the object of this process:
    a real one takes half a minute of processor time.
    """
    from opscope.torch import build

    compiler = Path(directory, "cxx")
    compiler.write_text(f"#!/bin/sh\n{before}\n"
                        'while [ "$1" != -o ]; do shift; done\n'
                        f'exec cp "{build.recorder()}" "$2"\n')
    compiler.chmod(0o755)
    return compiler


def fresh_cache(directory: str) -> dict[str, str]:
    """Variables of a process that finds no object, but in DIRECTORY, and has such a compiler."""
    return {"XDG_CACHE_HOME": directory, "TMPDIR": directory,
            "CXX": str(copying_compiler(directory))}


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
    """Results of programs that the command at OPSCOPE records, counted."""

    def __init__(self, opscope: str) -> None:
        self.opscope = os.path.abspath(opscope)
        self.n_passed = 0
        self.n_failed = 0

    def check(self, name: str, is_good: bool, told: object = "") -> None:
        """One result; TOLD is shown where it is bad."""
        self.n_passed += is_good
        self.n_failed += not is_good
        if not is_good:
            print(f"FAILED {name}: {told}", flush=True)

    def check_equal(self, name: str, got: object, wanted: object) -> None:
        """One result: that GOT is what was WANTED."""
        self.check(name, got == wanted, f"{got!r}, and not {wanted!r}")

    def package(self) -> dict[str, str]:
        """Variables by which Python finds the package that a build has beside the command."""
        beside = os.path.join(os.path.dirname(self.opscope), "python")
        return {"PYTHONPATH": beside} if os.path.isdir(beside) else {}

    def end(self) -> int:
        """Say how many there were; the exit status."""
        print(f"{self.n_passed} passed, {self.n_failed} failed")
        return 1 if self.n_failed else 0


def run(namespace: dict[str, object], module: str) -> int:
    """Run the tests of MODULE, which are all functions with "_" in their name in its NAMESPACE;
    1: some failed.
    """
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
