# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of torch. Neither torch nor opscope is imported at the start: long.py,
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
    """Run CODE in a new interpreter, with VARIABLES in its environment."""
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables},
                          capture_output=True, text=True, check=False)


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
    compiler.write_text(f"#!/bin/sh\n{before}\n"
                        'while [ "$1" != -o ]; do shift; done\n'
                        f'exec cp "{build.recorder()}" "$2"\n')
    compiler.chmod(0o755)
    return compiler


def fresh_cache(directory: str) -> dict[str, str]:
    """Variables of a process that finds objects only in DIRECTORY, and has such a compiler."""
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


def run(namespace: dict[str, object], module: str) -> int:
    """Run the tests of MODULE, which are all functions with "_" in their name in its NAMESPACE.
    Returns 1 if any failed.
    """
    tests = [f for name, f in list(namespace.items())
             if callable(f) and getattr(f, "__module__", "") == module and "_" in name]
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
