#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: range-ends
# args: --opscope {gcc}/opscope
"""Record ranges that end where, or when, they did not begin.

    python3 tests/run/range_ends.py --opscope COMMAND

Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/run/range_ends.cpp"
COROUTINES = ROOT / "tests/run/coroutines.cpp"


class Ends:
    """The program and its recordings in a folder."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.opscope, self.folder = opscope, folder
        self.out, self.program = folder / "out", folder / "program"
        self.compile(SOURCE, "c++17")

    def compile(self, source: Path, standard: str) -> None:
        """Make the program of SOURCE."""
        build = self.opscope.parent
        done = subprocess.run(
            [
                "g++",
                f"-std={standard}",
                "-O2",
                "-pthread",
                "-Wall",
                "-Wextra",
                "-Werror",
                f"-I{ROOT}/include",
                source,
                f"-L{build}",
                "-lopscope",
                f"-Wl,-rpath,{build}",
                "-o",
                self.program,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def run(self, *words: str, options: tuple[str, ...] = ()) -> None:
        """`opscope run` of the program."""
        done = subprocess.run(
            [self.opscope, "run", *options, "-o", self.out, "--", self.program, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done

    def found(self) -> dict[str, int]:
        """What `quality` counts, of all recordings together."""
        counts: dict[str, int] = {}
        for row in rows(self.opscope, "quality", self.out):
            counts[row["code"]] = counts.get(row["code"], 0) + int(row["count"])
        return counts


def a_recording_that_begins_late(e: Ends) -> None:
    """Ends of what began before osc_start() are no damage."""
    e.out.mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPSCOPE")}
    done = subprocess.run(
        [e.program, "late"],
        cwd=e.out,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
    assert e.found() == {}, e.found()
    assert [r["name"] for r in rows(e.opscope, "ranges", e.out)] == ["recorded"]


def a_child(e: Ends) -> None:
    """Nor are those of what began in the parent of a fork."""
    e.run("forked")
    assert len(list(e.out.glob("*.osc"))) == 2
    assert e.found() == {}, e.found()


def windows(e: Ends) -> None:
    """Nor those of what began before a window."""
    e.run("steps", options=("--schedule", "wait=3,active=2"))
    found = e.found()
    assert set(found) == {"unmatched_begin"}, found  # what ended behind a window


def a_pause(e: Ends) -> None:
    """Nor those of what began in a pause; what was open when it began has its end."""
    e.run("paused")
    assert e.found() == {}, e.found()
    calls = {r["name"]: int(r["calls"]) for r in rows(e.opscope, "ranges", e.out)}
    assert calls == {"request": 500, "after": 1}, calls


def coroutines(
    e: Ends, what: str, code: str = "misplaced_end"
) -> tuple[dict[str, tuple[int, int]], int]:
    """Begin and end of each scope of a function of coroutines.cpp, in ms, and how many ends were
    misplaced. Of scopes of one name, the last has an exclamation mark."""
    e.compile(COROUTINES, "c++20")
    e.run(what)
    found: dict[str, tuple[int, int]] = {}
    for r in rows(e.opscope, "events", e.out):
        if r["kind"] == "scope":
            begin = int(r["start_ns"])
            found[r["name"] + "!" * (r["name"] in found)] = (
                begin // 1000,
                (begin + int(r["dur_ns"])) // 1000,
            )
    return found, e.found().get(code, 0)


def scopes_that_overlap(e: Ends) -> None:
    """Scopes across co_await that end in the order of their begin have their own ends."""
    found, n = coroutines(e, "overlap")
    assert n == 1, n
    assert found["first"][1] < found["second"][1] <= found["outer"][1], found
    assert found["second"][1] - found["first"][1] >= 29_000, found
    assert found["after"][0] >= found["second"][1], found
    assert "opscope::async" in rows(e.opscope, "quality", e.out)[0]["remedy"]


def scopes_of_one_name(e: Ends) -> None:
    """Names tell nothing here."""
    found, n = coroutines(e, "alike")
    assert n == 1, n
    assert found["first!"][1] - found["first"][1] >= 29_000, found


def scopes_that_move(e: Ends) -> None:
    """A scope that ends on another thread has its end there; those of both threads have theirs."""
    found, n = coroutines(e, "moved", "crossed_thread")
    assert n == 1, n
    worker, resumed, first, outer = (found[k] for k in ("worker", "resumed", "first", "outer"))
    assert worker[0] < first[1] <= resumed[0] and resumed[1] - first[1] >= 9_000, found
    assert resumed[1] <= worker[1] <= found["after"][0] <= outer[1], found


def scopes_that_are_sampled(e: Ends) -> None:
    """Scopes that were left out take no end from others, wherever they end."""
    e.compile(COROUTINES, "c++20")
    e.run("often", options=("--sample", "first=1000"))
    names = [r["name"] for r in rows(e.opscope, "events", e.out) if r["dur_ns"]]
    assert names.count("outer") == names.count("after") == 50, names
    assert names.count("first") < 5, names
    assert "open_range" not in e.found() and "lost_records" not in e.found(), e.found()


def scopes_as_they_should_be(e: Ends) -> None:
    """Nothing is found where ranges across co_await are asynchronous."""
    found, n = coroutines(e, "nested")
    assert n == 0 and e.found() == {}, e.found()
    assert set(found) == {"{anonymous}::nested", "whole", "before", "behind", "plain"}, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--opscope", type=Path, required=True)
    opscope = parser.parse_args().opscope.resolve()
    return run_tests(
        [
            a_recording_that_begins_late,
            a_child,
            windows,
            a_pause,
            scopes_that_overlap,
            scopes_of_one_name,
            scopes_that_move,
            scopes_that_are_sampled,
            scopes_as_they_should_be,
        ],
        lambda place: (Ends(opscope, Path(place)),),
    )


if __name__ == "__main__":
    sys.exit(main())
