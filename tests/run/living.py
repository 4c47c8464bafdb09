#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: living
# args: --opscope {gcc}/opscope
"""Check that a recording is said to be "still recording" only while its process records.

    python3 tests/run/living.py --opscope COMMAND

A process that was killed has a number until its parent asks for its status, children that share its
memory, and another number in another name space. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from support import run_tests

# Records, says so, and waits to be killed, or does first what its argument says.
RECORDS = """
import ctypes, os, sys
ctypes.CDLL(os.environ["LIBRARY"]).osc_scope_instant(1)
if sys.argv[1] == "fork" and os.fork() == 0:
    os.write(1, b"%d\\n" % os.getpid())
elif sys.argv[1] == "exec":
    os.execlp("sh", "sh", "-c", "echo $$; read line")
elif sys.argv[1] == "close":
    os.closerange(3, 1 << 16)
    os.write(1, b"%d\\n" % os.getpid())
elif sys.argv[1] != "fork":
    os.write(1, b"%d\\n" % os.getpid())
sys.stdin.readline()
"""
NAME_SPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


class Program:
    """A process that records into PLACE, and has written a number: its own, or a child's."""

    def __init__(self, opscope: Path, place: str, what: str, before: list[str] | None = None):
        env = {
            "PATH": os.environ["PATH"],
            "OPSCOPE_OUT": place + "/r/",
            "LIBRARY": str(opscope.parent / "libopscope.so.0"),
        }
        self.process = subprocess.Popen(
            [*(before or []), sys.executable, "-c", RECORDS, what],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.number = int(self.process.stdout.readline())

    def kill(self) -> None:
        """Kill it, and wait until it has ended, but not for its status."""
        self.process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()


def codes(opscope: Path, place: str) -> set[str]:
    """What the table `quality` says about the life of the process."""
    done = subprocess.run(
        [opscope, "table", "quality", place + "/r", "--format", "csv"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = {row["code"] for row in csv.DictReader(io.StringIO(done.stdout))}
    return found & {"killed", "still_recording"}


def expect(opscope: Path, place: str, code: str) -> None:
    found = codes(opscope, place)
    assert found == {code}, f"{found}, not {code}"


def runs_then_killed(
    opscope: Path, place: str, what: str, before: list[str] | None = None
) -> None:
    program = Program(opscope, place, what, before)
    try:
        expect(opscope, place, "still_recording")
        program.kill()
        expect(opscope, place, "killed")
        program.process.wait()
        expect(opscope, place, "killed")
    finally:
        program.close()


def zombie(opscope: Path, place: str) -> None:
    """A process that nobody has waited for."""
    runs_then_killed(opscope, place, "wait")


def survived(opscope: Path, place: str) -> None:
    """A child that has the memory of its parent outlives it."""
    runs_then_killed(opscope, place, "fork")


def closed(opscope: Path, place: str) -> None:
    """The program has closed all descriptors."""
    runs_then_killed(opscope, place, "close")


def executed(opscope: Path, place: str) -> None:
    """The process runs another program now."""
    program = Program(opscope, place, "exec")
    try:
        expect(opscope, place, "killed")
    finally:
        program.close()


def copied(opscope: Path, place: str) -> None:
    """Nobody records into a copy."""
    program = Program(opscope, place, "wait")
    try:
        shutil.copytree(place + "/r", place + "/copy/r", ignore=lambda *_: ["ctl"])
        expect(opscope, place + "/copy", "killed")
        expect(opscope, place, "still_recording")
    finally:
        program.close()


def elsewhere(opscope: Path, place: str) -> None:
    """A process of another name space, whose number another process has here."""
    program = Program(opscope, place, "wait", [*NAME_SPACE, "--kill-child"])
    try:
        expect(opscope, place, "still_recording")
        program.kill()
        program.process.stdout.read()  # its end: all that had the pipe have ended
        expect(opscope, place, "killed")
    finally:
        program.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=Path)
    opscope = parser.parse_args().opscope.resolve()
    tests = [zombie, survived, closed, executed, copied]
    if subprocess.run([*NAME_SPACE, "true"], capture_output=True, check=False).returncode == 0:
        tests.append(elsewhere)
    else:
        print("skipped elsewhere: no name space can be made")
    return run_tests(tests, lambda place: (opscope, place))


if __name__ == "__main__":
    sys.exit(main())
