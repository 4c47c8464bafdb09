#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The builds of ./check, and their unit tests.

usage: builds.py build KIND [--full]
       builds.py unit KIND [--full] [--setup NAME]

A build lies in build-KIND, and is set up again if its compiler or an option has changed. Without
--full, sanitizers compile and run the unit tests for which they are there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from steps import Step

# Level 2, and more debug information than lines, would double the time to compile.
SANITIZED = (
    *("-Dbuildtype=debugoptimized", "-Doptimization=1", "-Dc_args=-g1", "-Dcpp_args=-g1"),
    "-Dwerror=true",
)


@dataclass
class Build:
    """One build: suites are those of tests/meson.build, all if none is named."""

    about: str
    compiler: str
    options: tuple[str, ...]
    mode: str = "all"
    turn: int | None = None
    suites: list[str] = field(default_factory=list)
    has_tests: bool = True


BUILDS = {
    "gcc": Build("gcc, with the benches", "gcc", ("-Dwerror=true", "-Dbench=true"), "fast"),
    "clang": Build("clang, without a sanitizer", "clang", ("-Dwerror=true",), "full"),
    "asan": Build("gcc with ASan and UBSan", "gcc", (*SANITIZED, "-Db_sanitize=address,undefined")),
    # TSan is for the folders with threads, and for single tests of others (threads).
    "tsan": Build(
        "gcc with TSan",
        "gcc",
        (*SANITIZED, "-Db_sanitize=thread"),
        turn=0,
        suites=(
            "base model import derive timeline export ask serve recorder recording sources threads"
        ).split(),
    ),
    # MSan is for the folders that make values of bytes; without the inflaters, whose assembly it
    # does not see, and without libcurl.
    "msan": Build(
        "clang with MSan",
        "clang",
        (*SANITIZED, "-Db_sanitize=memory", "-Dinflate=false", "-Dremote=disabled"),
        turn=1,
        suites="base codec wire model import recording".split(),
    ),
    "fuzz": Build(
        "clang with the fuzzer, ASan and UBSan",
        "clang",
        (*SANITIZED, "-Db_sanitize=address,undefined", "-Dfuzz=true", "-Dtests=false"),
        "full",
        has_tests=False,
    ),
    # In a folder of its own: one that was set up before knows nothing of what was installed since.
    "bench": Build(
        "gcc, as it is measured",
        "gcc",
        ("-Dwerror=true", "-Dbench=true", "-Dtests=false"),
        "bench",
        has_tests=False,
    ),
}
JOBS = str(os.cpu_count() or 1)


def steps() -> list[Step]:
    """A step for each build, and one for its unit tests."""
    here = "tools/runner/builds.py"
    found = []
    for kind, build in BUILDS.items():
        words = f"python3 {here} build {kind}"
        found.append(
            Step(
                *(f"build-{kind}", here, f"Build all by {build.about}"),
                *(words, words + " --full"),
                mode=build.mode,
                turn=build.turn,
                order="first",
            )
        )
        words = f"python3 {here} unit {kind}"
        if build.has_tests:
            found.append(
                Step(
                    *(f"unit-{kind}", here, f"Run the unit tests, built by {build.about}"),
                    *(words, words + " --full"),
                    needs=[kind],
                    mode=build.mode,
                    turn=build.turn,
                    order="alone",  # it uses all cores, and some of its tests tell what is slow
                )
            )
    words = f"python3 {here} unit gcc --setup valgrind"
    about = "Run the unit tests under valgrind"
    found.append(Step("unit-valgrind", here, about, words, words, needs=["gcc"], mode="full"))
    return found


def configure(kind: str) -> None:
    """Set build-KIND up, if it is not or if it was otherwise."""
    build, where = BUILDS[kind], Path(f"build-{kind}")
    said = " ".join((build.compiler, *build.options))
    note = where / "check-options"
    if (where / "build.ninja").exists() and note.exists() and note.read_text() == said:
        return
    shutil.rmtree(where, ignore_errors=True)
    subprocess.run(
        ["meson", "setup", str(where), *build.options],
        env=dict(os.environ, CC=build.compiler),
        check=True,
    )
    note.write_text(said)


def targets(kind: str, suites: list[str]) -> list[str]:
    """The programs of the unit tests in SUITES."""
    where = f"build-{kind}"
    subprocess.run(["ninja", "-C", where, "build.ninja"], check=True)  # or an older tree is told of
    listed = subprocess.run(
        ["meson", "introspect", where, "--tests"], stdout=subprocess.PIPE, check=True
    ).stdout
    return [
        os.path.relpath(test["cmd"][0], where)
        for test in json.loads(listed)
        if {name.split(":")[-1] for name in test["suite"]} & set(suites)
    ]


def build(kind: str, is_full: bool) -> int:
    configure(kind)
    some = targets(kind, BUILDS[kind].suites) if BUILDS[kind].suites and not is_full else []
    words = ["ninja", "-C", f"build-{kind}", "-j", JOBS, "-k", "0", *some]
    return subprocess.run(words, check=False).returncode


def options(kind: str, is_full: bool) -> list[str]:
    """Those of meson that choose the tests of a build."""
    chosen = []
    if kind == "tsan":  # decoders have no threads, and would take minutes
        chosen += ["--no-suite", "codec"]
    is_turn = int(os.environ.get("CHECK_SEED", "1")) % 4 == 1
    # What repeats much the same: at each fourth commit under ASan.
    if not is_full and (kind in ("tsan", "msan") or (kind == "asan" and not is_turn)):
        chosen += ["--no-suite", "exhaustive"]
    for suite in [] if is_full else BUILDS[kind].suites:
        chosen += ["--suite", suite]
    return chosen


def count(report: Path) -> tuple[int, int]:
    """Passed and failed: every function of every test; a program that crashes counts as one."""
    passed = failed = 0
    for suite in tree.parse(report).getroot().iter("testsuite"):
        cases = list(suite.iter("testcase"))
        bad = sum(c.find("failure") is not None or c.find("error") is not None for c in cases)
        skipped = sum(c.find("skipped") is not None for c in cases)
        whole = len(cases)
        if bad == 0 and int(suite.get("errors", 0)) + int(suite.get("failures", 0)) > 0:
            bad, whole = 1, whole + 1
        failed += bad
        passed += whole - bad - skipped
    return passed, failed


def unit(kind: str, is_full: bool, more: list[str]) -> int:
    logs = Path(f"build-{kind}/meson-logs")
    (logs / "testlog.junit.xml").unlink(missing_ok=True)
    words = ["meson", "test", "-C", f"build-{kind}", "--no-rebuild", "--print-errorlogs"]
    words += ["--num-processes", JOBS, *options(kind, is_full), *more]
    status = subprocess.run(words, check=False).returncode
    if status != 0:
        subprocess.run(
            [
                *("grep", "-aE", r"^(not ok|# |==[0-9]+==|.*: runtime error:)"),
                str(logs / "testlog.txt"),
            ],
            check=False,
        )
    passed, failed = count(logs / "testlog.junit.xml")
    print(f"{passed} passed, {failed} failed")
    return status


def main() -> int:
    what, kind, *more = sys.argv[1:]
    is_full = "--full" in more
    more = [word for word in more if word != "--full"]
    try:
        return build(kind, is_full) if what == "build" else unit(kind, is_full, more)
    except subprocess.CalledProcessError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
