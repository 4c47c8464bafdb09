#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that the text of all tables fits a terminal, and that no two rows read alike.

usage: names.py [--tables PATH] [FILE...]

Shows each table of each trace of ../shared and tests/data at 80, 100 and 120 columns and compares
it with the whole names of CSV: no line is wider than the terminal, but for a single word; rows of
different names show different ones, and rows that differ in a key differ; names that are cut have
32 columns. The table averages has torch's layout and is left out.
"""
import argparse
import csv
import io
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from cells import KEYS  # noqa: E402

SUFFIXES = (".json", ".json.gz", ".osc")
NAMES = ("path", "name", "operator") # what the column of names is called
SEVERAL_LINES = ("quality", "advice", "info", "memory_peaks") # of a row
LEAST = 32
QUOTED = re.compile(r"'[^']*'")


def columns(text: str) -> int:
    """How many columns of a terminal TEXT takes."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def field(line: str, at: int) -> str:
    """What is in LINE from column AT to the next two blanks."""
    taken = 0
    for i, c in enumerate(line):
        if taken >= at:
            return line[i:].partition("  ")[0]
        taken += columns(c)
    return ""


def blocks(out: str) -> Iterator[tuple[str, str, int, str]]:
    """File and question, table, width and text of each table in OUT."""
    for block in out.split("\x1e")[1:]:
        head, _, text = block.partition("\n")
        file, table, group_by, width = head.split("\t")
        yield f"{file}: {table} {group_by}".strip(), table, int(width), text


def too_wide(lines: list[str], width: int) -> list[str]:
    """The LINES that are wider than WIDTH. A word may be, such as a path in a command or a name
    in quotes."""
    return [f"{columns(x)} columns: {x}" for x in lines
            if columns(x) > width and len(QUOTED.sub("x", x.removesuffix(" \\")).split()) > 1]


def alike(table: str, rows: list[dict[str, str]], lines: list[str]) -> list[str]:
    """The LINES, titles first, in which ROWS that differ read alike."""
    titles, lines = lines[0], lines[1:]
    if table == "operators": # only text has rows of work that no operator launched
        names = {row["name"] for row in rows}
        lines = [x for x in lines if not x.startswith("<") or field(x, 0) in names]
    wrong = []
    name = next((n for n in NAMES if re.search(rf"(?<!\S){n}(?!\S)", titles)), None)
    found = re.search(rf"(?<!\S){name}(?!\S)", titles) if name else None
    seen: dict[str, str] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for row, line in zip(rows, lines):
        shown = field(line, found.start()) if found else ""
        if name and seen.setdefault(shown, row[name]) != row[name]:
            wrong.append(f"{seen[shown]!r} and {row[name]!r} are both {shown!r}")
        key = tuple(row.get(k, "") for k in KEYS[table])
        if keys.setdefault(line, key) != key:
            wrong.append(f"{keys[line]} and {key} are both {line!r}")
    widest = max((columns(x) for x in seen), default=0)
    # A number that tells rows apart takes its room from the name.
    if any("\u2026" in x and not re.search(r" #\d+$", x) for x in seen) and widest < LEAST:
        wrong.append(f"names are cut at {widest} columns")
    return wrong


def check(out: str) -> tuple[int, list[str]]:
    """The number of tables in OUT, and what is wrong with them."""
    rows: list[dict[str, str]] = []
    wrong, n_tables = [], 0
    for where, table, width, text in blocks(out):
        if width == 0:
            rows = list(csv.DictReader(io.StringIO(text.replace("\0", ""), newline="")))
            continue
        if table == "averages":
            continue
        n_tables += 1
        lines = [x for x in text.split("\n") if not x.startswith("\x1f")]
        found = too_wide(lines, width)
        if rows and table not in SEVERAL_LINES:
            found += alike(table, rows, lines)
        wrong += [f"{where} at {width}: {x}" for x in found]
    return n_tables, wrong


def traces() -> list[Path]:
    return sorted(p for where in (ROOT.parent / "shared" / "data", ROOT / "tests" / "data")
                  for p in where.rglob("*") if p.is_file() and p.name.endswith(SUFFIXES))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", help="the program show_tables",
                        default=str(ROOT / "build-gcc" / "tests" / "screen" / "show_tables"))
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    csv.field_size_limit(1 << 30)
    n_tables, n_wrong = 0, 0
    for path in args.files or traces():
        done = subprocess.run([args.tables, path], capture_output=True, check=False)
        n, wrong = check(done.stdout.decode(errors="replace"))
        n_tables += n
        n_wrong += len(wrong) + (done.returncode != 0)
        for line in wrong[:5]:
            print(line[:1000])
        if done.returncode != 0:
            print(f"{path}: status {done.returncode}")
    print(f"{n_tables - n_wrong} passed, {n_wrong} failed")
    return 1 if n_wrong or not n_tables else 0


if __name__ == "__main__":
    sys.exit(main())
