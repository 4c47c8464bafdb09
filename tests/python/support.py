# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests: traces, and the command with which they are compared."""

import csv
import io
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
DEMO = DATA / "demo.pt.trace.json.gz"
COMMAND = os.environ["OPSCOPE_COMMAND"]


def run(*words):
    """Standard output of the command, which must succeed."""
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, check=True)
    return done.stdout.decode()


def table(name, *words):
    """The header and the rows that the command prints as CSV."""
    text = run("table", name, "--format", "csv", *words)
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows
