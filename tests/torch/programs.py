#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that nobody changed print the same under `opscope run --torch=replace`.

    python3 tests/torch/programs.py --opscope COMMAND [--programs DIRECTORY]

Needs torch. Each program of DIRECTORY (default: ../shared/programs) runs twice, by itself and
with torch's profilers replaced; what both print must be equal but for times and for what
depends on them: shares, the order of rows, and rows that a limit cut. Then come
the other ways of `opscope run --torch`, with a loop of a few steps. Ends with `N passed, N
failed`; exit status 1 on any failure.
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Arguments; whether its rows are sorted by time and cut, so that which are there may differ.
PROGRAMS = {
    "basic.py": ([], False),
    "itt_sample.py": ([], False),
    "legacy.py": ([], False),
    "logdir.py": (["log"], False),
    "resnet_tables.py": ([], True),
    "scheduled.py": ([], True),
    "slow_conv.py": ([], False),
    "switchable.py": (["--profile"], False),
}
LOOP = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
print("done")
"""


def run(command: list[str], directory: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What COMMAND does in DIRECTORY."""
    return subprocess.run(command, cwd=directory, env={**os.environ, **variables},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def cells(line: str) -> str:
    """A line of a table without times and shares; of these, that they are there."""
    line = re.sub(r"-?\d+\.\d+(us|ms|s)\b", "TIME", line)
    line = re.sub(r"-?\d+\.\d+%", "SHARE", line)
    # An address differs by run, a module's number by which of the equal ones took longest.
    line = re.sub(r"0x[0-9a-f]+|(?<=nn.Module: Conv2d_)\d+", "N", line)
    # legacy.py: torch says that None has no such attribute, and we that nothing was profiled.
    line = re.sub(r"^as expected: .*", "as expected", line)
    return re.sub(r"[-\s]+", " ", line).strip()


def lines(text: str) -> list[str]:
    """What is compared of an output: its lines, in an order that times do not change."""
    return sorted(x for x in map(cells, text.splitlines()) if x)


def common(a: list[str], b: list[str]) -> bool:
    """Whether rows of one name and shape, which both have, are equal in some table."""
    def by_key(x: list[str]) -> dict[tuple[str, ...], set[str]]:
        found: dict[tuple[str, ...], set[str]] = {}
        for line in x:
            head, *shapes = line.split(" [[", 1)
            found.setdefault((line.split(" ")[0], *shapes), set()).add(head)
        return found

    one, other = by_key(a), by_key(b)
    keys = set(one) & set(other)
    return 2 * len(keys) > len(one) and all(one[k] & other[k] for k in keys)


class Tests:
    """Runs and counts."""

    def __init__(self, opscope: str, programs: Path) -> None:
        self.opscope = opscope
        self.programs = programs
        self.n_passed = 0
        self.failed: list[str] = []

    def check(self, name: str, is_good: bool, told: object = "") -> None:
        """One result; TOLD is shown where it is bad."""
        self.n_passed += is_good
        if not is_good:
            self.failed.append(name)
            print(f"FAILED {name}: {told}")

    def program(self, name: str) -> None:
        """NAME prints the same with torch's profilers replaced."""
        arguments, is_cut = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as ours:
            command = [sys.executable, str(self.programs / name), *arguments]
            a = run(command, plain)
            b = run([self.opscope, "run", "--torch=replace", "-o", "rec", "--", *command], ours)
            files = [sorted(x.name for x in Path(d).iterdir() if x.name != "rec")
                     for d in (plain, ours)]
        self.check(f"{name}: status", a.returncode == b.returncode, b.stderr[-500:])
        self.check(f"{name}: files", files[0] == files[1], files)
        if is_cut:
            self.check(name, common(lines(a.stdout), lines(b.stdout)), difference(a, b))
        else:
            self.check(name, lines(a.stdout) == lines(b.stdout), difference(a, b))

    def loop(self, name: str, options: list[str], table: list[str], wanted: str,
             **variables: str) -> None:
        """A run of the loop with OPTIONS has WANTED in TABLE, and prints what the loop does."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "loop.py").write_text(LOOP, encoding="utf-8")
            done = run([self.opscope, "run", *options, "-o", "rec", "--", sys.executable,
                        "loop.py"], d, **variables)
            shown = run([self.opscope, *table, "rec"], d)
        self.check(f"{name}: output", (done.returncode, done.stdout) == (0, "done\n"), done)
        text = shown.stdout + shown.stderr + done.stderr
        self.check(name, re.search(wanted, text) is not None, text)

    def loops(self) -> None:
        """All ways of --torch but that of the programs."""
        calls = ["table", "operators", "--columns", "name,calls", "--format", "csv", "--limit",
                 "0"]
        steps = ["table", "steps", "--columns", "label", "--format", "csv"]
        self.loop("all is recorded", ["--torch"], calls, r"aten::addmm,10\n")
        self.loop("a schedule", ["--torch", "--schedule", "wait=2,active=3,repeat=1"], calls,
                  r"aten::addmm,3\n")
        self.loop("steps are those of the optimizer", ["--torch"], steps, r"(?m)^9$")
        with tempfile.TemporaryDirectory() as d:
            bare = {"PATH": d, "XDG_CACHE_HOME": d, "TMPDIR": d, "CXX": ""}
            self.loop("without a compiler ITT tells names", ["--torch"], calls,
                      r"aten::addmm,10\n", **bare)
            self.loop("and quality says so", ["--torch"], ["table", "quality"],
                      r"source_failed", **bare)
            self.loop("and one line of run", ["--torch"], ["info"],
                      r"\[torch\] PID \d+: no C\+\+ compiler.*ITT", **bare)


def difference(a: subprocess.CompletedProcess[str], b: subprocess.CompletedProcess[str]) -> str:
    """Lines that one of both has."""
    one, other = lines(a.stdout), lines(b.stdout)
    return "\n".join([*(f"- {x}" for x in one if x not in other),
                      *(f"+ {x}" for x in other if x not in one), b.stderr[-300:]])


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--programs", type=Path, default=ROOT.parent / "shared/programs")
    parser.add_argument("--only", help="one program, or 'loops'")
    options = parser.parse_args()
    tests = Tests(os.path.abspath(options.opscope), options.programs)
    for name in PROGRAMS:
        if options.only in (None, name) and (options.programs / name).is_file():
            tests.program(name)
    if options.only in (None, "loops"):
        tests.loops()
    print(f"{tests.n_passed} passed, {len(tests.failed)} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
