#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-long
# with: {torch}
# args: --opscope {gcc}/opscope --seconds 60
# mode: full
# needs: module
"""Run a training loop under `opscope run --torch` for a given time, and end it by kill -9.

    python3 tests/torch/long.py --opscope COMMAND [--seconds 120] [--out DIRECTORY]

Needs torch. Prints the memory of the process over time, the counts of the program and of its
recording, and the time and memory that the tables take. The recording, some hundred MiB per hour,
is written to DIRECTORY, where it stays, or to a temporary one.

The verdict: memory is flat if the median of its last quarter is at most 16 MiB above that of
its second, and nothing is lost if steps and operators are those that the program counted, except
the first step and the unfinished one. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support import Tests

LOOP = """
import mmap, os, struct, torch
from torch import nn
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3),
                      nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
with open("counts", "r+b") as f:
    counts = mmap.mmap(f.fileno(), 16)
n = 0
while True:
    x, y = torch.randn(32, 3, 48, 48), torch.randint(10, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    n += 1
    struct.pack_into("qq", counts, 0, os.getpid(), n)
"""
# Operators, and how often a step calls them.
OPERATORS = {"aten::conv2d": 2, "aten::cross_entropy_loss": 1, "aten::addmm": 1}
# Codes of `quality` for missing data.
LOSSES = ("dropped", "lost_records", "corrupt", "truncated", "limit")
MIB = 1 << 20
FLAT_BYTES = 16 * MIB


def read_counts(directory: Path) -> tuple[int, int]:
    """The program's PID, 0 before its first step, and its number of finished steps."""
    pid, n = struct.unpack("qq", Path(directory, "counts").read_bytes())
    return pid, n


def memory(pid: int) -> dict[str, int]:
    """Bytes of memory of PID, by name of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {
        x.split(":")[0]: int(x.split()[1]) * 1024
        for x in lines
        if x.startswith(("VmRSS", "RssAnon"))
    }


def size(directory: Path) -> int:
    """Bytes on disk of the files below DIRECTORY, which may disappear meanwhile."""
    n = 0
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                n += os.stat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return n


def watch(program: subprocess.Popen[bytes], directory: Path, seconds: float) -> list[int]:
    """Take 40 samples of the program's memory during SECONDS from its first step on, then kill
    it."""
    while program.poll() is None and read_counts(directory)[0] == 0:
        time.sleep(0.1)
    begin = time.monotonic()
    found = []
    for i in range(1, 41):
        time.sleep(max(0.0, begin + seconds * i / 40 - time.monotonic()))
        if program.poll() is not None:
            raise SystemExit(f"the program ended by itself: {program.returncode}")
        pid, n = read_counts(directory)
        now = memory(pid)
        found.append(now["VmRSS"])
        print(
            f"{time.monotonic() - begin:7.0f} s   RSS {now['VmRSS'] / MIB:7.1f} MiB   "
            f"anonymous {now['RssAnon'] / MIB:7.1f} MiB   steps {n:8d}   "
            f"recording {size(directory / 'rec') / MIB:8.1f} MiB",
            flush=True,
        )
    os.kill(pid, signal.SIGKILL)
    return found


class LongTests(Tests):
    """Tests of one recording in DIRECTORY."""

    def __init__(self, opscope: str, directory: Path) -> None:
        super().__init__(opscope)
        self.directory = directory

    def check(self, name: str, is_good: bool, told: object = "") -> None:
        """Count and print one result."""
        super().check(name, is_good, told)
        if is_good:
            print(f"ok {name}: {told}", flush=True)

    def record(self, seconds: float) -> list[int]:
        """Record the loop for SECONDS and kill it. Returns its sizes in memory."""
        Path(self.directory, "loop.py").write_text(LOOP, encoding="utf-8")
        Path(self.directory, "counts").write_bytes(bytes(16))
        command = [self.opscope, "run", "--torch", "-o", "rec", "--", sys.executable, "loop.py"]
        with subprocess.Popen(command, cwd=self.directory, stdin=subprocess.DEVNULL) as program:
            try:
                found = watch(program, self.directory, seconds)
            except BaseException:
                program.terminate()
                raise
            begin = time.monotonic()
            status = program.wait()
        print(f"killed; opscope run put the rest together in {time.monotonic() - begin:.1f} s")
        self.check("opscope run ends as the program did", status == -signal.SIGKILL, status)
        return found

    def table(self, *words: str) -> list[dict[str, str]]:
        """Rows of a table of the recording; prints the time and memory it took."""
        out = Path(self.directory, "table.csv")
        begin = time.monotonic()
        with (
            out.open("wb") as f,
            subprocess.Popen(
                [self.opscope, "table", *words, "--limit", "0", "--format", "csv", "rec"],
                cwd=self.directory,
                stdout=f,
            ) as command,
        ):
            _, status, usage = os.wait4(command.pid, 0)
            command.returncode = os.waitstatus_to_exitcode(status)
        print(
            f"opscope table {' '.join(words)}: {time.monotonic() - begin:.1f} s, "
            f"{usage.ru_maxrss / 1024:.0f} MiB",
            flush=True,
        )
        with out.open(encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def compare(self) -> None:
        """Compare the program's counts with the recording."""
        n = read_counts(self.directory)[1]
        print(f"the program counted {n} steps")
        operators = {x["name"]: int(x["calls"]) for x in self.table("operators")}
        print(f"the recording holds {sum(operators.values())} calls of operators")
        for name, times in OPERATORS.items():  # one more step may have been under way
            calls = operators.get(name, 0)
            self.check(name, times * n <= calls <= times * (n + 1), f"{calls} calls")
        steps = self.table("steps")
        labels = [int(x["label"]) for x in steps]
        # A step lasts from one step of the optimizer to its next.
        self.check(
            "steps",
            n - 1 <= len(labels) <= n and labels == list(range(len(labels))),
            f"{len(labels)}, from {labels[:1]} to {labels[-1:]}",
        )
        codes = [x["code"] for x in self.table("quality")]
        self.check("quality says that it was killed", "killed" in codes, codes)
        lost = [x for x in codes if x.startswith(LOSSES)]
        self.check("losses", not lost, lost or "none")


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.out or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        tests = LongTests(options.opscope, directory.resolve())
        found = tests.record(options.seconds)
        quarter = len(found) // 4
        second = statistics.median(found[quarter : 2 * quarter])
        last = statistics.median(found[-quarter:])
        tests.check(
            "memory",
            last - second <= FLAT_BYTES,
            f"{second / MIB:.1f} MiB in the second quarter, {last / MIB:.1f} MiB in the last",
        )
        tests.compare()
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
