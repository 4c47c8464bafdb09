#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: screen-lines
# args: --opscope {gcc}/opscope
"""Check that the one screen has at most 40 lines of 80 columns for any trace, that the rows of a
list read differently, without numbers, and that a table with all lines below it fits a terminal.

usage: lines.py [--opscope PATH] [FILE...]

Shows each trace of ../shared and tests/data by itself, and each directory with several as one run.
In a command, a single word such as a path may be longer than a line.
"""

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "screen"))
from names import NUMBER, columns, too_wide, traces  # noqa: E402


def on_terminal(words: list, width: int, stderr: int | None = None) -> list[str]:
    """The lines that the command of WORDS prints on a terminal of WIDTH columns; those of standard
    error, too, unless STDERR is another place."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        words, stdout=end, stderr=stderr or end, env={**os.environ, "TERM": "dumb"}
    )
    os.close(end)
    text = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break  # it has ended
        if not part:
            break
        text += part
    os.close(terminal)
    process.wait()
    shown = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", text.decode("utf-8", "replace"))
    return [line.rpartition("\r")[2] for line in shown.replace("\r\n", "\n").split("\n")]


def alike(lines: list[str]) -> list[str]:
    """Rows of a list, such as that of kernels, whose names read alike or only differ in a number."""
    found, names = [], set()
    for line in lines:
        if not line.startswith("  "):
            names = set()  # a title or a blank line
        elif re.fullmatch(r"  \S.*  +[\d,.]+( M)?  +[\d.]+ [a-z]+  +<?[\d.]+ [%a-z]+", line):
            name = line[2:].split("  ")[0]
            found += [line] if name in names or NUMBER.search(name) else []
            names.add(name)
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default=str(ROOT / "build-gcc" / "opscope"))
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    n_shown, n_failed, most = 0, 0, 0
    for path in args.files or traces():
        done = subprocess.run([args.opscope, path], capture_output=True, check=False)
        lines = done.stdout.decode().splitlines()
        if not lines:
            continue  # not a trace
        long = [x for x in lines if columns(x) > 80 and len(x.removesuffix(" \\").split()) > 1]
        n_shown, most = n_shown + 1, max(most, len(lines))
        same = alike(lines)
        for width in (80, 100, 120):
            long += too_wide(on_terminal([args.opscope, "table", "ranges", path], width), width)
        if len(lines) > 40 or long or same or lines[-1].startswith("NEXT"):
            n_failed += 1
            print(f"{path}: {len(lines)} lines, too long: {long[:2]}, alike: {same[:2]}")
    print(f"screen: {n_shown} traces, {most} lines at most, {n_failed} failed")
    return 1 if n_failed or not n_shown else 0


if __name__ == "__main__":
    sys.exit(main())
