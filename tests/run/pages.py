#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: pages
# args: --opscope {gcc}/opscope
"""Compile and record the examples of the pages docs/from, and read what they recorded.

    python3 tests/run/pages.py --opscope COMMAND

A program of a page that uses opscope is the second half of an example: the one before it does the
same with another tool. A shim, which has no main(), makes the first half record what the second
does. Examples in Python run where their modules are. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/from"
BLOCK = re.compile(r"^```(c|cpp|python)\n(.*?)^```$", re.M | re.S)
COMPILE = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")


class Page(NamedTuple):
    """The examples of one page, each its language and its text."""

    name: str
    before: tuple[str, str]
    after: tuple[str, str]
    shim: str  # "": the page has none


def page_of(path: Path) -> Page:
    """What PATH shows: the last program of another tool, ours, and a shim."""
    before = after = None
    shim = ""
    for language, text in BLOCK.findall(path.read_text(encoding="utf-8")):
        if "opscope" not in text:
            before = language, text
        elif language == "python" or " main(" in text:
            after = language, text
        else:
            shim = text
    assert before and after, f"{path.name} has no example"
    return Page(path.stem, before, after, shim)


def missing(text: str) -> str:
    """A module that TEXT imports and this Python does not have."""
    for name in re.findall(r"^(?:import|from) (\w+)", text, flags=re.M):
        if name != "opscope" and not importlib.util.find_spec(name):
            return name
    return ""


def program(opscope: Path, folder: Path, language: str, text: str) -> list[object]:
    """The command that runs an example."""
    source = folder / f"example.{language}"
    source.write_text(text, encoding="utf-8")
    if language == "python":
        return [sys.executable, source]
    made = folder / "example"
    done = subprocess.run(
        [
            *COMPILE[language],
            "-O1",
            *WARNINGS,
            f"-I{ROOT}/include",
            source,
            "-o",
            made,
            f"-L{opscope.parent}",
            "-lopscope",
            "-pthread",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [made]


def recorded(opscope: Path, folder: Path, language: str, text: str) -> list[dict[str, str]]:
    """The events of an example, without loss or finding."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    env = os.environ | {
        "LD_LIBRARY_PATH": str(opscope.parent),
        "PYTHONPATH": str(opscope.parent / "python"),
    }
    done = subprocess.run(
        [opscope, "run", "-o", out, "--", *program(opscope, folder, language, text)],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    bad = rows(opscope, "quality", out, "--where", "severity = 'warning'")
    assert not bad, bad
    return [x for x in rows(opscope, "events", out) if x["kind"] != "step"]


def says(events: list[dict[str, str]]) -> list[tuple[str, ...]]:
    """What of EVENTS does not depend on time."""
    return [tuple(x.get(key, "") for key in ("kind", "name", "args", "value")) for x in events]


def after_records(opscope: Path, page: Page, folder: Path) -> None:
    """What a page shows as ours is a whole program."""
    language, text = page.after
    if language == "python" and missing(text):
        compile(text, page.name, "exec")
        print(f"not run: {page.name} needs {missing(text)}")
        return
    assert recorded(opscope, folder, language, text), f"{page.name} records nothing"


def shim_records_the_same(opscope: Path, page: Page, folder: Path) -> None:
    """The program of the other tool, with our words for it."""
    language, text = page.before
    assert page.after[0] == language, page.name
    for header in re.findall(
        r"^#include (?:<(?:tracy|nvtx3|perfetto)\b|\").*\n", text, flags=re.M
    ):
        text = text.replace(header, page.shim)
    assert page.shim in text, f"{page.name} includes no header of the other tool"
    ours = says(recorded(opscope, folder, *page.after))
    theirs = says(recorded(opscope, folder, language, text))
    assert ours == theirs, f"{page.name}:\n{ours}\n{theirs}"


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    options = parser.parse_args()
    pages = [page_of(x) for x in sorted(FOLDER.glob("*.md")) if x.name != "README.md"]
    tests = []
    for test, chosen in (
        (after_records, pages),
        (shim_records_the_same, [x for x in pages if x.shim]),
    ):
        for page in chosen:

            def one(folder: Path, test=test, page=page) -> None:
                test(options.opscope, page, folder)

            one.__name__ = f"{test.__name__}-{page.name}"
            tests.append(one)
    return run_tests(tests, lambda place: (Path(place),))


if __name__ == "__main__":
    sys.exit(main())
