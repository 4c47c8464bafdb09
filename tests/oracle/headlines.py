# SPDX-License-Identifier: Apache-2.0
# step: oracle-headlines
# args: {gcc}/opscope --random 8 --seed {seed} --largest 60000
# full: {gcc}/opscope --random 4000 --seed {seed} --largest 60000
"""Compare the sentences of `headlines` with the twin's, and run the commands that it names.

Usage: headlines.py OPSCOPE [--traces DIR] [--largest BYTES] [--random N] [--seed N]
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import asks
import randomtrace
import sample
from twin import headlines, reader, runs, steps, tables

HERE = Path(__file__).resolve()


def ask(opscope: str, paths: list[Path], rules: steps.Rules) -> list[dict]:
    """The rows for PATHS by RULES."""
    done = subprocess.run(
        [
            opscope,
            "table",
            "headlines",
            *rules.arguments(),
            *map(str, paths),
            "--format",
            "csv",
        ],
        capture_output=True,
        check=True,
        timeout=120,
        text=True,
    )
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def is_alike(mine: str, twin: str) -> bool:
    """Whether MINE is TWIN, whose holes stand for any text. Both may be cut within names."""
    pattern = re.escape(twin).replace(re.escape(headlines.HOLE), ".+")
    pattern = pattern.replace(re.escape(headlines.NOTE), "(?:; .+)?")
    if re.fullmatch(pattern, mine, re.DOTALL):
        return True
    # A sentence shortens names beyond 120 columns and shows control characters.
    return "…" in mine or "\\x" in mine


def names_rules(command: str, words: tuple[str, ...]) -> bool:
    """Whether COMMAND has the words for rules of steps WORDS, and no others."""
    said = [
        f"{word}={value}" if word != "--all-steps" else word
        for word, value in zip(shlex.split(command), [*shlex.split(command)[1:], ""])
        if word in ("--priority", "--step-length", "--all-steps")
    ]
    return said == list(words)


def runs_well(opscope: str, command: str) -> bool:
    """Whether COMMAND prints a table."""
    words = shlex.split(command)
    done = subprocess.run([opscope, *words[1:]], capture_output=True, check=False, timeout=120)
    return words[0] == "opscope" and done.returncode == 0 and len(done.stdout) > 0


def compare(
    opscope: str, paths: list[Path], tries: bool, rules: steps.Rules = steps.USUAL
) -> tuple[int, int]:
    """How many sentences about PATHS by RULES there are, and how many are wrong."""
    where = " ".join((paths[0].name, *rules.arguments()))
    try:
        traces = [tables.load(path) for path in paths]
    except reader.NotATrace:
        return 0, 0
    twin = headlines.table(runs.assemble(traces, paths), rules)
    mine = ask(opscope, paths, rules)
    n_wrong = 0
    if [row["view"] for row in mine] != list(twin):
        print(f"{where}: views {[row['view'] for row in mine]}")
        return 1, 1
    for row in mine:
        text, has_data = twin[row["view"]]
        if row["has_data"] != str(has_data).lower():
            n_wrong += 1
            print(f"{where}, {row['view']}: has_data {row['has_data']}, twin {has_data}")
        if not is_alike(row["text"], text):
            n_wrong += 1
            print(f"{where}, {row['view']}:\n  {row['text']!r}, twin\n  {text!r}")
        if not re.search(r"\d", row["text"]):
            n_wrong += 1
            print(f"{where}, {row['view']}: no number: {row['text']!r}")
        if not names_rules(row["evidence"], headlines.rules_of(row["view"], rules)):
            n_wrong += 1
            print(f"{where}, {row['view']}: rules are not told: {row['evidence']}")
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
    source = random.Random(options.seed)
    folder = options.traces or HERE.parents[3] / "shared" / "data"
    if not folder.is_dir():
        folder = HERE.parents[1] / "data"
    files = [
        path
        for path in sorted(folder.rglob("*.json*"))
        if path.is_file() and path.stat().st_size <= options.largest
    ]
    groups: dict[Path, list[Path]] = {}
    for path in files:
        groups.setdefault(path.parent, []).append(path)
    # Of a run either all files are compared together, or none.
    several = [
        groups[place]
        for place in sample.of(groups)
        if 1 < len(groups[place]) <= 8
        and all(".pt.trace" in path.name for path in groups[place])
    ]
    for number, paths in enumerate([[path] for path in sample.of(files)] + several):
        for rules in (steps.USUAL, *(() if number % 4 else (asks.rules(source, "headlines"),))):
            asked, wrong = compare(options.opscope, paths, True, rules)
            n, n_wrong = n + asked, n_wrong + wrong
    with tempfile.TemporaryDirectory() as place:
        for number in range(options.random):
            seed = options.seed * 1_000_003 + number
            path = Path(place) / f"random-{seed}.json"
            path.write_bytes(randomtrace.data(seed))
            rules = asks.rules(source, "headlines") if number % 2 else steps.USUAL
            asked, wrong = compare(options.opscope, [path], number % 10 < 2, rules)
            n, n_wrong = n + asked, n_wrong + wrong
    print(f"headlines: {n} sentences, {n_wrong} wrong")
    return 1 if n_wrong or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
