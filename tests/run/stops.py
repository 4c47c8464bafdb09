#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: stops
# args: --opscope {gcc}/opscope
"""Check that `opscope run` stops and continues as its program does.

    python3 tests/run/stops.py --opscope COMMAND

A program that others stop and continue ends as it would alone. The suspend key of a terminal, or a
signal of job control to opscope, stops both, and both continue together. Waits for states of
processes, and at most a minute for each. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

from support import run_tests

TIMEOUT_S = 60

SAYS = "import os, select, signal\nos.write(1, b'%d\\n' % os.getpid())\n"
ENDS = "input()\nraise SystemExit(5)\n"
# Says that it runs, waits for a line, and ends.
READS = SAYS + ENDS
# Tidies up when it is suspended, and stops itself. It waits for short times: what comes just before
# Python waits is handled only when that wakes up.
HANDLES = (
    "import os, signal\n"
    "stop = lambda *_: os.kill(os.getpid(), signal.SIGSTOP)\n"
    "signal.signal(signal.SIGTSTP, stop)\n"
    + SAYS
    + "while not select.select([0], [], [], 0.05)[0]:\n    pass\n"
    + ENDS
)


class Run:
    """`opscope run` of the Python program CODE, which has said its process number."""

    def __init__(self, opscope: Path, code: str, place: str):
        self.run = subprocess.Popen(
            [opscope, "run", "--sources", "api", "-o", place, "--", sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.setpgid(0, 0),  # noqa: PLW1509
        )  # SIGTSTP stops nobody in an orphaned group
        self.program = int(self.run.stdout.readline())

    def finish(self) -> int:
        self.run.communicate(b"\n", timeout=TIMEOUT_S)
        return self.run.returncode

    def close(self) -> None:
        for pid in (self.program, self.run.pid):
            if self.run.poll() is None:
                os.kill(pid, signal.SIGKILL)
        self.run.wait()


def field(pid: int, name: str) -> str:
    """The first word of the line NAME of the status of process PID."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split()[1]
    raise ValueError(name)


def wait_until(what, condition) -> None:
    """Wait until CONDITION() is true."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.01)


def wait_stopped(pid: int) -> None:
    wait_until(f"process {pid} stops", lambda: field(pid, "State") == "T")


def wait_runs(pid: int) -> None:
    wait_until(f"process {pid} runs", lambda: field(pid, "State") != "T")


def wait_noticed(pid: int) -> None:
    """Until process PID has taken all its signals, and sleeps or is stopped."""
    wait_until(
        f"process {pid} takes its signals",
        lambda: int(field(pid, "ShdPnd"), 16) == 0 and field(pid, "State") in "ST",
    )


def alone(opscope: Path, place: str) -> None:
    """Others stop and continue the program, more than once."""
    run = Run(opscope, READS, place)
    try:
        for _ in range(3):
            os.kill(run.program, signal.SIGSTOP)
            wait_stopped(run.program)
            wait_noticed(run.run.pid)
            assert field(run.run.pid, "State") != "T", "opscope stops, too"
            os.kill(run.program, signal.SIGCONT)
            wait_runs(run.program)
        assert run.finish() == 5
    finally:
        run.close()


def killed(opscope: Path, place: str) -> None:
    """A program that is stopped alone is killed."""
    run = Run(opscope, READS, place)
    try:
        os.kill(run.program, signal.SIGSTOP)
        wait_stopped(run.program)
        os.kill(run.program, signal.SIGKILL)
        assert run.run.wait(timeout=TIMEOUT_S) == -signal.SIGKILL
    finally:
        run.close()


def by_signal(opscope: Path, place: str) -> None:
    """A signal of job control to opscope stops both; continued, it continues the program."""
    run = Run(opscope, READS, place)
    try:
        for _ in range(2):
            os.kill(run.run.pid, signal.SIGTSTP)
            wait_stopped(run.program)
            wait_stopped(run.run.pid)
            os.kill(run.run.pid, signal.SIGCONT)
            wait_runs(run.program)
            wait_runs(run.run.pid)
            wait_noticed(run.run.pid)
        assert run.finish() == 5
    finally:
        run.close()


def job(terminal: int, command: list) -> int:
    """Start COMMAND as a shell starts its job in the foreground."""
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpid())
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for fd in (0, 1, 2):
            os.dup2(terminal, fd)
        os.execv(command[0], [str(word) for word in command])
    return pid


def shell(terminal: int, orders: int, command: list) -> None:
    """In a session of its own: COMMAND is suspended at the terminal and, as each order comes by
    the pipe ORDERS, continued. Ends as COMMAND does."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    pid = job(terminal, command)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        os.tcsetpgrp(terminal, os.getpgrp())
        os.read(orders, 1)
        os.tcsetpgrp(terminal, pid)
        os.killpg(pid, signal.SIGCONT)


def read_number(terminal: int) -> int:
    text = b""
    while not text.endswith(b"\n"):
        text += os.read(terminal, 1)
    return int(text)


def by_key(opscope: Path, place: str, code: str) -> None:
    """The suspend key stops both; the shell continues both."""
    ours, theirs = os.openpty()
    orders, order = os.pipe()
    command = [
        opscope,
        "run",
        "--sources",
        "api",
        "-o",
        place,
        "--",
        sys.executable,
        "-c",
        code,
    ]
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        shell(theirs, orders, command)
    os.close(theirs)
    try:
        program = read_number(ours)
        parent = int(field(program, "PPid"))
        for _ in range(2):
            os.write(ours, b"\x1a")
            wait_stopped(program)
            wait_stopped(parent)
            os.write(order, b"c")
            wait_runs(program)
            wait_runs(parent)
            wait_noticed(parent)
        os.write(ours, b"\n")
        wait_until("the shell ends", lambda: field(pid, "State") == "Z")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    finally:
        for fd in (ours, orders, order):
            os.close(fd)  # ends the session, if it has not ended


def plain_key(opscope: Path, place: str) -> None:
    by_key(opscope, place, READS)


def handled_key(opscope: Path, place: str) -> None:
    """The program tidies up first and stops by another signal."""
    by_key(opscope, place, HANDLES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=Path)
    opscope = parser.parse_args().opscope.resolve()
    return run_tests(
        (alone, killed, by_signal, plain_key, handled_key), lambda place: (opscope, place)
    )


if __name__ == "__main__":
    sys.exit(main())
