#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: python-typed
# with: {typed}
# args: --package {module}
# env: PYTHONPATH={module}
# mode: full
"""A program with types, as users write it: what mypy and pyright must find no fault with.

    python3 tests/python/typed.py --package DIR

Checks this file by both, which are beside the interpreter, and that they find the faults of a
program that uses the package wrongly. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import opscope
from opscope import record

WRONG = """import opscope
from opscope import record

record.start(out=5)
record.counter("a", "b")
names: int = opscope.load("x.osc")["operators"]
opscope.load("x.osc")["operators"]["host_slef_ns"]
opscope.load("x.osc").table("kernels", limit=1)["host_self_ns"]
opscope.compare("x.osc", "y.osc").table("diff_ranges").words("total_ns")
"""
WRONG_LINES = ["4", "5", "6", "7", "8", "9"]


@record.scope
def traced(x: int) -> str:
    """A function that stays what it was."""
    return str(x)


def use(path: Path) -> list[str]:
    """Record, and read what was recorded."""
    record.start(path)
    with record.scope("load", kind="dataloader", category="io", level=2, n=1):
        record.counter("loss", 1.5)
    text: str = traced(3)
    record.enable("io:2")
    record.sample("hot=100")
    record.stop()
    losses: dict[str, int] = record.losses()
    trace = opscope.load(path)
    trace.table()["calls"].sum()
    for name in trace:  # of a table that only the program knows, any column may be asked for
        table: opscope.Table = trace[name]
        print(*(table[column] for column in table))
    return [text, *losses, *(str(name) for name in trace["ranges"]["name"])]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--package", type=Path, required=True)
    package = parser.parse_args().package.resolve()
    env = {**os.environ, "PYTHONPATH": str(package)}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        wrong = Path(scratch) / "wrong.py"
        wrong.write_text(WRONG, encoding="utf-8")
        for words in (["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]):
            for path, lines in ((Path(__file__), []), (wrong, WRONG_LINES)):
                done = subprocess.run(
                    [Path(sys.executable).parent / words[0], *words[1:], path],
                    env=env,
                    cwd=scratch,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=300,
                )
                told = done.stdout + done.stderr
                found = [n for n in WRONG_LINES if f"wrong.py:{n}:" in told]
                is_good = (done.returncode == 0) == (not lines) and found == lines
                passed += is_good
                failed += not is_good
                if not is_good:
                    print(f"FAILED {words[0]} {path.name}:\n{told}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
