#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-convolution
# with: {torch}
# args: --opscope {gcc}/opscope
# turn: 7
# needs: module
"""Check that a comparison names the convolution where a network lost its fast one.

    python3 tests/torch/convolution.py --opscope COMMAND

Needs torch. examples/convolution trains with and without oneDNN, on one rank and on two. The first
line of `opscope diff` must name the convolution and both operators, a gate must break and name it,
and the other way round nothing grows that the gate is about. Ends with `N passed, N failed`; exit
status 1 on any failure.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

from support import Tests

ROOT = Path(__file__).resolve().parents[2]
NAMED = (
    r"(aten::conv2d|.*ConvolutionBackward0) \+[0-9.]+ ms a step: "
    r"aten::_slow_conv2d_(forward|backward) instead of aten::"
)
# Not `and significant`: a busy machine may make steps differ more than operators do.
GATE = "operator('aten::_slow_conv2d_forward').self > 5%"


def traces(folder: Path, ranks: int) -> tuple[Path, Path]:
    """A fast and a slow run of RANKS ranks (0: a single trace)."""
    runs = []
    for name, words in ("fast", []), ("slow", ["--slow"]):
        out = folder / (f"{name}{ranks}" if ranks else f"{name}.json")
        subprocess.run(
            [
                sys.executable,
                ROOT / "examples/convolution/train.py",
                out,
                "--ranks",
                str(ranks),
                *words,
            ],
            check=True,
            capture_output=True,
            timeout=300,
        )
        runs.append(out)
    return runs[0], runs[1]


def diff(opscope: str, base: Path, new: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What `opscope diff` makes of two runs."""
    return subprocess.run(
        [opscope, "diff", base, new, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def check_sentence(tests: Tests, name: str, base: Path, new: Path) -> None:
    """The first line names the convolution, what it runs now and what it ran before."""
    done = diff(tests.opscope, base, new)
    first = done.stdout.partition("\n")[0]
    print(first, flush=True)
    tests.check_equal(f"{name}: status", done.returncode, 0)
    tests.check(f"{name}: first line", bool(re.match(NAMED, first)), done.stdout)
    tests.check(
        f"{name}: forward",
        bool(
            re.search(
                r"^aten::conv2d \+[0-9.]+ ms a step: aten::_slow_conv2d_forward instead of "
                r"aten::mkldnn_convolution$",
                done.stdout,
                re.M,
            )
        ),
        done.stdout,
    )


def check_gate(tests: Tests, name: str, base: Path, new: Path) -> None:
    """The gate breaks one way only, and its report names the operator."""
    report = base.parent / "gate.xml"
    done = diff(tests.opscope, base, new, "--fail-on", GATE, "--report", str(report))
    tests.check(f"{name}: gate", done.returncode == 3, done.stdout + done.stderr)
    failure = xml.parse(report).find(".//failure") if report.exists() else None
    tests.check(
        f"{name}: report",
        failure is not None and "operator aten::_slow_conv2d_forward" in failure.text,
        done.stdout,
    )
    done = diff(tests.opscope, new, base, "--fail-on", GATE)
    tests.check(f"{name}: gate the other way", done.returncode == 0, done.stdout + done.stderr)


def check_tree(tests: Tests, name: str, base: Path, new: Path) -> None:
    """The tree has the slow operators below their convolutions, forward and backward."""
    done = diff(
        tests.opscope,
        base,
        new,
        "--table",
        "diff_tree",
        "--format",
        "csv",
        "--columns",
        "path,base_calls,new_calls",
    )
    for part in "aten::thnn_conv2d", "aten::_slow_conv2d_backward":
        tests.check(
            f"{name}: {part}",
            bool(re.search(rf"/{part}(\[\d+\])?,0,\d+$", done.stdout, re.M)),
            done.stdout + done.stderr,
        )


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    tests = Tests(parser.parse_args().opscope)
    with tempfile.TemporaryDirectory() as folder:
        for ranks in 0, 2:
            base, new = traces(Path(folder), ranks)
            # Where other programs held up the fast run for longer than what is slow takes, once more.
            if not re.match(NAMED, diff(tests.opscope, base, new).stdout):
                base, new = traces(Path(folder), ranks)
            for check in check_sentence, check_gate, check_tree:
                check(tests, f"{ranks} ranks" if ranks else "one trace", base, new)
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
