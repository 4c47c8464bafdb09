#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: switches
# args: --opscope {gcc}/opscope
"""Switch categories and sampling of programs before and while they run.

    python3 tests/run/switches.py --opscope COMMAND

Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/run"


class Switches:
    """A program and its recordings in a folder."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.opscope, self.folder = opscope, folder
        self.out, self.program = folder / "out", folder / "program"
        self.compile(HERE / "switches.cpp")

    def compile(self, source: Path) -> None:
        """Make the program of SOURCE."""
        build = self.opscope.parent
        done = subprocess.run(
            [
                "g++",
                "-std=c++17",
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

    def start(self, n: int, pause_ns: int, *words: str) -> subprocess.Popen:
        """`opscope run` with WORDS, of N rounds on each of two threads."""
        return subprocess.Popen(
            [
                self.opscope,
                "run",
                "-o",
                self.out,
                *words,
                "--",
                self.program,
                str(n),
                str(pause_ns),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, n: int, *words: str) -> dict[str, int]:
        """The calls of each scope, by category and name, of a run of N rounds."""
        process = self.start(n, 0, *words)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, f"{2 * n}\n", ""), (out, err)
        return self.calls()

    def calls(self) -> dict[str, int]:
        """The calls by category and name."""
        found = rows(self.opscope, "ranges", self.out, "--group-by", "category")
        return {f"{r['category']} {r['name']}": int(r["calls"]) for r in found}

    def unused(self) -> list[str]:
        """What `quality` says of names to sample that sampled nothing."""
        return [r["message"] for r in self.table("quality") if r["code"] == "sample_unused"]

    def table(self, name: str, *words: str) -> list[dict[str, str]]:
        """The rows of a table of the run."""
        return rows(self.opscope, name, self.out, *words)

    def quality(self) -> dict[str, int]:
        """How often each code was found."""
        return {r["code"]: int(r["count"]) for r in self.table("quality")}

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`opscope ctl` of the run."""
        return subprocess.run(
            [self.opscope, "ctl", self.out, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )


ALL = {
    "io read": 200,
    "net send": 200,
    "scope inside": 200,
    "scope hot": 2000,
    "scope in hot": 200,
}


def usual_levels(s: Switches) -> None:
    """Without a word, scopes of level 1 are recorded, and none is sampled."""
    assert s.run(100) == ALL
    assert not s.quality()


def levels_of_a_run(s: Switches) -> None:
    """--enable switches categories on and off, also those that are made later."""
    assert s.run(100, "--enable", "io:2") == {**ALL, "io block": 200}


def one_category(s: Switches) -> None:
    """A run of one category has the scopes without one, too."""
    found = s.run(100, "--enable", "-*, net")
    assert found == {k: n for k, n in ALL.items() if not k.startswith("io")}, found
    assert not s.quality()


def while_it_runs(s: Switches) -> None:
    """ctl switches a category of a program that runs; ends belong to their begins."""
    process = s.start(4000, 1_000_000, "--enable", "-io")
    while not (s.out.exists() and s.ctl("status").stdout):
        assert process.poll() is None
        time.sleep(0.02)
    for k in range(10):
        done = s.ctl(*(("disable", "io") if k % 2 else ("enable", "io:2,net")))
        is_over = process.poll() is not None
        assert is_over or (done.returncode == 0 and done.stdout.endswith(".osc: ok\n")), done
    process.communicate(timeout=60)
    assert process.returncode == 0
    found = s.calls()
    assert 0 < found["io read"] < 8000 and 0 < found["io block"] < 8000, found
    assert {k: n for k, n in found.items() if not k.startswith("io")} == {
        "net send": 8000,
        "scope inside": 8000,
        "scope hot": 80000,
        "scope in hot": 8000,
    }, found
    events = {r["id"]: r for r in s.table("events", "--where", "kind = 'scope'")}
    for r in events.values():
        parent = events.get(r["parent_id"])
        allowed = {
            "read": (),
            "block": ("read",),
            "inside": ("block", "read"),
            "send": ("read",),
            "hot": ("send",),
            "in hot": ("hot",),
        }[r["name"]]
        assert parent is None or parent["name"] in allowed, (r, parent)
    assert not s.quality(), s.quality()


def sampled(s: Switches) -> None:
    """One in 50 calls is recorded and counted so often, and quality says it."""
    found = s.run(20000, "--sample", "hot=50")
    assert found["scope in hot"] == 40000 and found["io read"] == 40000, found
    assert 400_000 - 200 <= found["scope hot"] <= 400_000, found
    events = s.table("events", "--where", "name = 'hot'")
    assert 400_000 / 55 < len(events) < 400_000 / 45, len(events)
    left_out = found["scope hot"] - len(events)
    quality = s.table("quality")
    assert [(r["code"], int(r["count"])) for r in quality] == [("sampled", left_out)], quality
    assert "hot is sampled" in quality[0]["message"]
    durations = s.table("durations", "--name", "hot")
    assert sum(int(r["calls"]) for r in durations) == found["scope hot"]
    assert all('"k"' in r["args"] for r in events)


def sampled_while_it_runs(s: Switches) -> None:
    """ctl begins and ends to sample."""
    process = s.start(4000, 1_000_000)
    while not (s.out.exists() and s.ctl("status").stdout):
        time.sleep(0.02)
    for words in ("hot=10", "hot=1", "*=1000/s", "*=1", "hott=10"):
        time.sleep(0.2)
        assert s.ctl("sample", words).returncode == 0
    process.communicate(timeout=60)
    assert s.unused() == ["no scope is called hott in this process"], s.table("quality")
    found = s.calls()
    assert 79_500 <= found["scope hot"] <= 80_000, found
    assert 7800 <= found["net send"] <= 8000, found
    assert set(s.quality()) == {"sampled", "sample_unused"}, s.quality()
    assert len({r["thread"] for r in s.table("events", "-c", "thread")}) == 2


def rate(s: Switches) -> None:
    """Above a rate, fewer are recorded; the calls are those that were made."""
    found = s.run(100_000, "--sample", "*=5000/s")
    assert 2_000_000 - 131_072 <= found["scope hot"] <= 2_000_000, found
    assert len(s.table("events", "--where", "name = 'hot'")) < 200_000


def sampled_in_vain(s: Switches) -> None:
    """Names that sampled nothing are told at the end, with the reason; others are not."""
    source = s.folder / "kinds.cpp"
    source.write_text(
        """#include <opscope/scope.hpp>
        int main() {
            for (int i = 0; i < 1000; i++) { OPSCOPE_SCOPE_OF(OSC_SCOPE_OPERATOR, "gemm"); }
            for (int i = 0; i < 1000; i++) { OPSCOPE_SCOPE("parse"); }
        }""",
        encoding="utf-8",
    )
    s.compile(source)
    process = s.start(1, 0, "--sample", "gemm=100,nosuch=5/s,parse=10,other=1")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err.splitlines() == [
        "opscope run: --sample: gemm (operator) is of a kind that is not sampled: all its calls "
        "were recorded",
        "opscope run: --sample: no scope is called nosuch",
    ], err
    assert all(900 < n <= 1000 for n in s.calls().values()), s.calls()
    assert s.unused() == [
        "gemm (operator) is of a kind that is not sampled: all its calls were recorded",
        "no scope is called nosuch in this process",
    ], s.table("quality")
    # A name is no mistake where another pattern hides it, nor there for an earlier run's sake.
    _, err = s.start(1, 0, "--sample", "parse=10,par*=20").communicate(timeout=60)
    assert (err, len(s.unused())) == ("", 2), err  # those of the first run
    source.write_text(
        """#include <opscope/scope.hpp>
        int main() { OPSCOPE_SCOPE("other"); }""",
        encoding="utf-8",
    )
    s.compile(source)
    _, err = s.start(1, 0, "--sample", "parse=10").communicate(timeout=60)
    assert err == "opscope run: --sample: no scope is called parse\n", err


def misuse(s: Switches) -> None:
    """Wrong lists are told before anything runs."""
    for words, message in (
        (["run", "--enable", "-", "--", "true"], "--enable: '-' is not a category"),
        (["run", "--sample", "a", "--", "true"], "--sample: 'a' is not a name with a"),
        (["ctl", str(s.folder), "enable"], "enable LIST"),
        (["ctl", str(s.folder), "enable", ":,:0"], "enable: ':' is not a category"),
        (["ctl", str(s.folder), "sample", "x=0"], "sample: 'x=0' is not"),
        (["ctl", str(s.folder), "enable", "io," * 2000], "is longer than"),
        (["ctl", str(s.folder), "disable", ":0"], "disable: ':0' is not"),
        (["ctl", str(s.folder), "disable", "io:2"], "'io:2' is not a category"),
        (["ctl", str(s.folder), "enable", " ,"], "the list is empty"),
        (["run", "--enable", "io:x", "--", "true"], "such as io or io:2"),
    ):
        done = subprocess.run(
            [s.opscope, *words], capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode == 2 and message in done.stderr, (words, done)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--opscope", type=Path, required=True)
    opscope = parser.parse_args().opscope.resolve()
    return run_tests(
        [
            usual_levels,
            levels_of_a_run,
            one_category,
            while_it_runs,
            sampled,
            sampled_while_it_runs,
            rate,
            sampled_in_vain,
            misuse,
        ],
        lambda place: (Switches(opscope, Path(place)),),
    )


if __name__ == "__main__":
    sys.exit(main())
