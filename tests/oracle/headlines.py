# SPDX-License-Identifier: Apache-2.0
"""Compare the sentences of `headlines` with the twin's, and run the commands that it names.

Usage: headlines.py OPSCOPE [--traces DIR] [--largest BYTES] [--random N] [--seed N]
"""
from __future__ import annotations

import argparse
import csv
import io
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import randomtrace
from twin import headlines, reader, runs, tables

HERE = Path(__file__).resolve()


def ask(opscope: str, paths: list[Path]) -> list[dict]:
    """The rows for PATHS."""
    done = subprocess.run([opscope, "table", "headlines", *map(str, paths), "--format", "csv"],
                          capture_output=True, check=True, timeout=120, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def is_alike(mine: str, twin: str) -> bool:
    """Whether MINE is TWIN, whose holes stand for any text. Both may be cut within names."""
    pattern = re.escape(twin).replace(re.escape(headlines.HOLE), ".+")
    pattern = pattern.replace(re.escape(headlines.NOTE), "(?:; .+)?")
    if re.fullmatch(pattern, mine, re.DOTALL):
        return True
    # A sentence shortens names beyond 120 columns and shows control characters.
    return "…" in mine or "\\x" in mine


def runs_well(opscope: str, command: str) -> bool:
    """Whether COMMAND prints a table."""
    words = shlex.split(command)
    done = subprocess.run([opscope, *words[1:]], capture_output=True, check=False, timeout=120)
    return words[0] == "opscope" and done.returncode == 0 and len(done.stdout) > 0


def compare(opscope: str, paths: list[Path], where: str, tries: bool) -> tuple[int, int]:
    """How many sentences about PATHS there are, and how many are wrong."""
    try:
        traces = [tables.load(path) for path in paths]
    except reader.NotATrace:
        return 0, 0
    twin = headlines.table(runs.assemble(traces, paths))
    mine = ask(opscope, paths)
    n_wrong = 0
    if [row["view"] for row in mine] != list(twin):
        print(f"{where}: views {[row['view'] for row in mine]}")
        return 1, 1
    for row in mine:
        text = twin[row["view"]]
        if not is_alike(row["text"], text):
            n_wrong += 1
            print(f"{where}, {row['view']}:\n  {row['text']!r}, twin\n  {text!r}")
        if not re.search(r"\d", row["text"]):
            n_wrong += 1
            print(f"{where}, {row['view']}: no number: {row['text']!r}")
        if tries and not runs_well(opscope, row["evidence"]):
            n_wrong += 1
            print(f"{where}: {row['evidence']} fails")
    return len(mine), n_wrong


def main() -> int:
    """Compare all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opscope")
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--random", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    n = n_wrong = 0
    folder = options.traces or HERE.parents[3] / "shared" / "data"
    if not folder.is_dir():
        folder = HERE.parents[1] / "data"
    files = [path for path in sorted(folder.rglob("*.json*"))
             if path.is_file() and path.stat().st_size <= options.largest]
    groups: dict[Path, list[Path]] = {}
    for path in files:
        groups.setdefault(path.parent, []).append(path)
    several = [paths for place, paths in groups.items()
               if 1 < len(paths) <= 8 and all(".pt.trace" in path.name for path in paths)]
    for paths in [[path] for path in files] + several:
        asked, wrong = compare(options.opscope, paths, paths[0].name, True)
        n, n_wrong = n + asked, n_wrong + wrong
    with tempfile.TemporaryDirectory() as place:
        for number in range(options.random):
            seed = options.seed * 1_000_003 + number
            path = Path(place) / f"random-{seed}.json"
            path.write_bytes(randomtrace.data(seed))
            asked, wrong = compare(options.opscope, [path], path.name, number % 10 == 0)
            n, n_wrong = n + asked, n_wrong + wrong
    print(f"headlines: {n} sentences, {n_wrong} wrong")
    return 1 if n_wrong or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
