#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-versions
# with: {torch}
# args: --opscope {gcc}/opscope 2.15.0
# mode: full
# needs: module
"""opscope.torch gives the results of every version of torch that it supports.

    python3 tests/torch/versions.py --opscope COMMAND [VERSION...]
    python3 tests/torch/versions.py --opscope COMMAND --python PYTHON

For each VERSION (default: all), pip installs torch into an environment of the Python that runs
this, which must be the one that opscope was built for. The tests below run there, and the
environment is removed: 5 GB each, and some minutes. --python tests the torch of another interpreter
instead. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Tests

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "python/opscope/torch/installed.py"
# The last patch of each minor release that is supported.
VERSIONS = (
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
)
ROOM_BYTES = 12 << 30  # packages are unpacked beside what was downloaded
# They compare with torch: the recorder's build, its records, the averages, the text of tables;
# `opscope run --torch` and `--torch=replace`, schedules.
SUITES = (["tables.py"], ["compare.py", "--quick"], ["programs.py", "--quick", "--opscope"])
# Parts of the interface that torch changed until then.
LATER, SUITES_OF_LATER = (2, 13), (["results.py"], ["interface.py"])


def minor(version: str) -> str:
    """The minor release of VERSION."""
    return ".".join(version.split(".")[:2])


def tested() -> tuple[str, ...]:
    """The minor releases that the package calls tested; it cannot be imported without torch."""
    for statement in ast.parse(SOURCE.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "TESTED":
            return tuple(ast.literal_eval(statement.value))
    return ()


def run_suites(tests: Tests, python: str, version: str, **variables: str) -> None:
    """Run all suites with PYTHON, which has torch VERSION, and VARIABLES in the environment, and
    add up what they count."""
    is_later = tuple(map(int, minor(version).split("."))) >= LATER
    for words in (*SUITES, *SUITES_OF_LATER[: len(SUITES_OF_LATER) * is_later]):
        more = [tests.opscope] if words[-1] == "--opscope" else []
        done = subprocess.run(
            [python, str(HERE / words[0]), *words[1:], *more],
            env={**os.environ, **tests.package(), **variables},
            text=True,
            capture_output=True,
            errors="replace",
            check=False,
        )
        lines = done.stdout.splitlines()
        counts = re.fullmatch("([0-9]+) passed, ([0-9]+) failed", lines[-1] if lines else "")
        print(
            f"torch {version}, {words[0]}: {lines[-1] if counts else 'no result'}", flush=True
        )
        if counts and int(counts[1]) + int(counts[2]) > 0:
            tests.n_passed += int(counts[1])
            tests.n_failed += int(counts[2])
        else:
            tests.check(f"{version} {words[0]}", False, done.stderr[-2000:])
        for line in lines:
            if re.match("FAILED|DIFFERS", line):
                print(f"  {line[:1000]}", flush=True)


def run_installed(tests: Tests, version: str) -> None:
    """Run all suites with torch VERSION in a new environment."""
    with tempfile.TemporaryDirectory(prefix=f"torch-{version}-") as directory:
        if shutil.disk_usage(directory).free < ROOM_BYTES:
            tests.check(version, False, f"less than {ROOM_BYTES >> 30} GiB are free")
            return
        python = os.path.join(directory, "bin/python")
        done = subprocess.run([sys.executable, "-m", "venv", directory], check=False)
        if done.returncode == 0:
            done = subprocess.run(
                [
                    python,
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "--no-cache-dir",
                    "--disable-pip-version-check",
                    f"torch=={version}",
                    "numpy",
                ],
                check=False,
            )
        if done.returncode != 0:
            tests.check(version, False, "it cannot be installed")
            return
        run_suites(tests, python, version, XDG_CACHE_HOME=os.path.join(directory, "cache"))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--python")
    parser.add_argument("versions", nargs="*", metavar="VERSION", choices=[*VERSIONS, []])
    arguments = parser.parse_args()
    tests = Tests(arguments.opscope)
    tests.check_equal(
        "the versions that the package calls tested", tested(), tuple(map(minor, VERSIONS))
    )
    if arguments.python:
        version = subprocess.run(
            [arguments.python, "-c", "import torch; print(torch.__version__)"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.strip()
        run_suites(tests, arguments.python, version)
    else:
        for version in arguments.versions or VERSIONS:
            run_installed(tests, version)
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
