#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: languages
# args: --opscope {gcc}/opscope
"""Run the examples in other languages, with and without a recorder.

    python3 tests/run/languages.py --opscope COMMAND

The one in Rust is built where cargo and the crate cc are. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = Path("/usr/share/cargo/registry")  # where Debian has crates
CONFIG = f"""
[source.crates-io]
replace-with = "here"
[source.here]
directory = "{REGISTRY}"
"""


def environment() -> dict[str, str]:
    """That of a user who has nothing of opscope."""
    return {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("OPSCOPE") and k != "LD_LIBRARY_PATH"
    }


def record(opscope: Path, folder: Path, *command: object) -> list[dict[str, str]]:
    """The events of COMMAND, which prints the same without a recorder."""
    alone, done = (
        subprocess.run(
            [*before, *command],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for before in ([], [opscope, "run", "-o", folder / "out", "--"])
    )
    assert alone.returncode == 0 and alone.stdout, alone
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, ""), done
    return rows(opscope, "events", folder / "out")


def ctypes_calls_what_c_has_inline(opscope: Path, folder: Path) -> None:
    """Without a header or a compiler."""
    events = record(opscope, folder, sys.executable, ROOT / "examples/ctypes/record.py")
    assert [(x["kind"], x["name"], x["args"]) for x in events if x["kind"] == "operator"] == [
        ("operator", "sum of squares", f'{{"n": {n}}}') for n in (1000, 2000, 3000)
    ], events
    assert [float(x["value"]) for x in events if x["kind"] == "counter"] == [
        sum(sum(i * i for i in range(n)) for n in ns)
        for ns in ((1000,), (1000, 2000), (1000, 2000, 3000))
    ], events


def rust_has_scopes(opscope: Path, folder: Path) -> None:
    """Three threads, each with one scope within another."""
    source = folder / "source"
    shutil.copytree(ROOT / "examples/rust", source)
    options = []
    if any(REGISTRY.glob("cc-1.*")):
        (source / ".cargo").mkdir()
        (source / ".cargo/config.toml").write_text(CONFIG, encoding="utf-8")
        options = ["--offline"]
    built = subprocess.run(
        ["cargo", "build", "--release", *options],
        cwd=source,
        check=False,
        env=os.environ | {"OPSCOPE_INCLUDE": str(ROOT / "include")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if built.returncode != 0 and ("resolve host" in built.stderr or "download" in built.stderr):
        print("skipped rust_has_scopes: the crate cc cannot be downloaded")
        return
    assert built.returncode == 0, built.stderr
    events = record(opscope, folder, source / "target/release/opscope-example")
    found = sorted((x["name"], x["depth"], x["args"]) for x in events)
    assert found == [("compare", "1", "")] * 3 + [
        ("sort", "0", f'{{"n": {n}}}') for n in (10000, 20000, 30000)
    ], found
    assert len({x["thread"] for x in events}) == 3, events


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    options = parser.parse_args()
    tests = [ctypes_calls_what_c_has_inline]
    if shutil.which("cargo"):
        tests.append(rust_has_scopes)
    else:
        print("skipped rust_has_scopes: there is no cargo")
    return run_tests(tests, lambda place: (options.opscope, Path(place)))


if __name__ == "__main__":
    sys.exit(main())
