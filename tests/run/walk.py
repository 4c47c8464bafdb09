#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: tasks
# args: --opscope {gcc}/opscope docs/tasks
# step: recipes
# with: {recipes}
# args: --opscope {gcc}/opscope docs/recipes.md
# env: PYTHONPATH={module}
# turn: 5
# step: tutorial
# with: {torch}
# args: --opscope {gcc}/opscope docs/tutorial.md
# env: PYTHONPATH={module}
# turn: 3
"""Do what the pages of docs show, one command after the other, and compare what is printed.

    python3 tests/run/walk.py --opscope COMMAND PAGE... [--bless]

A page has blocks:

    ```console            commands behind "$ ", each followed by all that it prints; a line "..."
                          stands for lines that the page leaves out
    ```console measured   the same, of a program that is recorded anew: sentences are compared but for
                          their numbers, and of the lines with numbers half must be printed
    ```diff               what the next command changes: the text of the patch that it names

Commands begin in a folder that has what the root of the tree has, and `cd` lasts to the end of the
page. --bless writes what is printed into the page, where no "..." stands. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRIES = 3
BLOCK = re.compile(r"^```(console(?: measured)?|diff)\n(.*?)^```$", re.M | re.S)
LEFT_OUT = "..."
NUMBER = re.compile(r"[-+]?\d[\d,.]*(?: ?(?:ns|us|ms|s|KiB|MiB|GiB|B|%|x)\b| ?%)?")
DRAWN = re.compile("[▌█▏▎▍▋▊▉]+")
# What a first run prints, and no later one.
ONCE = re.compile(
    r"^opscope builds its recorder .*\n|^opscope run: \[torch\] .* was built .*\n", re.M
)
KEPT = 0.5  # of the lines with numbers in a block that is measured


@dataclass
class Command:
    """One command of a page, and what the page says that it prints."""

    line: str
    shown: list[str]


def commands(block: str) -> list[Command]:
    """The commands of a block; a backslash at the end of a line joins the next one."""
    found: list[Command] = []
    is_open = False
    for line in block.splitlines():
        if is_open:
            found[-1].line += "\n" + line
        elif line.startswith("$ "):
            found.append(Command(line[2:], []))
        else:
            found[-1].shown.append(line)
            continue
        is_open = line.endswith("\\")
    return found


class Place:
    """A folder in which a reader works."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.at = self.top = folder / "opscope"
        self.top.mkdir()
        for name in ("docs", "examples", "include", "tests", "tools"):
            (self.top / name).symlink_to(ROOT / name)
        (self.top / "build").symlink_to(opscope.parent)
        (folder / "bin").mkdir()
        for name, program in (("opscope", opscope), ("python", sys.executable)):
            script = folder / "bin" / name
            script.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n', encoding="utf-8")
            script.chmod(0o755)
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        self.where = folder / "where"
        self.env = {
            **os.environ,
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CACHE_HOME": cache,
            "TERM": "dumb",
            "LD_LIBRARY_PATH": str(opscope.parent),
            "PKG_CONFIG_PATH": str(opscope.parent / "meson-uninstalled"),
        }

    def run(self, line: str) -> tuple[int, str]:
        """The exit status of LINE, and what it prints."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{line}\nend=$?; pwd >'{self.where}'; exit $end"],
            cwd=self.at,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        self.at = Path(self.where.read_text(encoding="utf-8").strip())
        return done.returncode, ONCE.sub("", done.stdout)


# --- what is compared --------------------------------------------------------------------------


def shape(line: str) -> str:
    """LINE without its numbers, bars and gaps."""
    return " ".join(NUMBER.sub("N", DRAWN.sub("", line)).split())


def not_in_order(shown: list[str], printed: list[str]) -> str:
    """The first line of SHOWN that PRINTED does not have in its place; "" if all is there."""
    rest = list(printed)
    may_skip = False
    for line in shown:
        if line.strip() == LEFT_OUT:
            may_skip = True
            continue
        while may_skip and rest and rest[0].rstrip() != line.rstrip():
            rest.pop(0)
        if not rest or rest.pop(0).rstrip() != line.rstrip():
            return line
        may_skip = False
    return rest[0] if rest and not may_skip else ""


def not_alike(shown: list[str], printed: list[str]) -> str:
    """What PRINTED lacks of SHOWN, whose numbers and rows are of another run."""
    there = " ".join(shape(line) for line in printed)  # lines may break at other words
    lines = [line for line in shown if line.strip() not in ("", LEFT_OUT)]
    for line in lines:
        if not NUMBER.search(line) and shape(line) not in there:
            return line
    rows = [line for line in lines if NUMBER.search(line)]
    missing = [line for line in rows if shape(line) not in there]
    if len(missing) > (1 - KEPT) * len(rows):
        return "\n".join(missing)
    return ""


def follow(place: Place, page: Path, is_blessed: bool) -> list[str]:
    """What is wrong with PAGE, whose commands are run."""
    wrong: list[str] = []
    text = page.read_text(encoding="utf-8")

    def run(match: re.Match[str]) -> str:
        kind, block = match.groups()
        if kind == "diff":
            patches = [p.read_text(encoding="utf-8") for p in ROOT.glob("examples/*/*.patch")]
            if block not in patches:
                wrong.append(f"no patch in examples/ is the one that begins:\n{block[:200]}")
            return match[0]
        lines = []
        for command in commands(block):
            status, printed = place.run(command.line)
            if status != 0:
                wrong.append(f"$ {command.line}\nexit status {status}\n{printed}")
            compare = not_alike if kind.endswith("measured") else not_in_order
            lacks = compare(command.shown, printed.splitlines())
            if lacks and not is_blessed:
                wrong.append(f"$ {command.line}\nthe page shows:\n{lacks}\nprinted:\n{printed}")
            shown = command.shown if LEFT_OUT in command.shown else printed.splitlines()
            lines += [f"$ {command.line}", *(x.rstrip() for x in shown)]
        return f"```{kind}\n" + "\n".join(lines) + "\n```"

    blessed = BLOCK.sub(run, text)
    if is_blessed:
        page.write_text(blessed, encoding="utf-8")
    return wrong


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    parser.add_argument(
        "--bless", action="store_true", help="write what is printed into the pages"
    )
    parser.add_argument("pages", nargs="+", type=Path)
    options = parser.parse_args()
    pages = [q for p in options.pages for q in (sorted(p.glob("*.md")) if p.is_dir() else [p])]
    passed = failed = 0
    for page in pages:
        wrong: list[str] = []
        for _ in range(
            TRIES
        ):  # what a page measures may be lost in the noise of a busy machine
            with tempfile.TemporaryDirectory() as folder:
                place = Place(options.opscope, Path(folder))
                wrong = follow(place, page.resolve(), options.bless)
            if not wrong or "measured" not in page.read_text(encoding="utf-8"):
                break
        for one in wrong:
            print(f"{page}: {one}", flush=True)
        print(f"{page}: {'failed' if wrong else 'passed'}", flush=True)
        passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
