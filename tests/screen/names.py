#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: screen-names
# args: --tables {gcc}/tests/screen/show_tables
"""Check that the text of all tables fits a terminal, and that no two rows read alike.

usage: names.py [--tables PATH] [FILE...]

Shows each table of each trace of ../shared and tests/data, by each grouping, of directories with
several, and of names that are hard to tell apart (families.py), at 80, 100 and 120 columns and in a pipe, and compares it with the
whole names of CSV:
- no line is wider than the terminal, but for a single word;
- rows of different names show different ones, and rows that differ in a key differ, without a
  number behind the name;
- what --group-by asks for is shown, and every other column that has a value is shown or named
  in a note;
- names that are cut have 32 columns, unless keys need all of them, and C++ names are folded before they are cut.
The table averages has torch's layout and is left out.
"""

import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "tests" / "screen")]
import families  # noqa: E402
import sample  # noqa: E402
from cells import keys_of  # noqa: E402

SUFFIXES = (".json", ".json.gz", ".osc")
NAMES = ("path", "name", "operator")  # what the column of names is called
SEVERAL_LINES = ("quality", "advice", "info", "memory_peaks", "headlines")  # of a row
LEAST = 32
# Words of --group-by -> the column that they ask for.
ASKED = {
    "process": "process",
    "thread": "thread",
    "track": "track",
    "category": "category",
    "step": "step",
    "shape": "input_shape",
    "dtype": "input_dtypes",
    "stack": "call_stack",
    "op": "operator",
    "cause": "cause",
    "graph": "launch_id",
    "module": "module",
    "size": "block_bytes",
}
BELOW = {
    "message",
    "remedy",
    "text",
    "evidence",
    "at_peak",
    "note",
}  # columns on lines of their own
QUOTED = re.compile(r"'[^']*'")
NUMBER = re.compile(r" #\d+$")


def columns(text: str) -> int:
    """How many columns of a terminal TEXT takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def field(line: str, at: int) -> str:
    """What is in LINE from column AT to the next two blanks."""
    taken = 0
    for i, c in enumerate(line):
        if taken >= at:
            return line[i:].partition("  ")[0]
        taken += columns(c)
    return ""


def blocks(out: str) -> Iterator[tuple[str, str, str, str, str]]:
    """File, table, grouping, form (csv, or text and the width) and text of each table in OUT."""
    for block in out.split("\x1e")[1:]:
        head, _, text = block.partition("\n")
        file, table, group_by, form = head.split("\t")
        yield file, table, group_by, form, text


def too_wide(lines: list[str], width: int) -> list[str]:
    """The LINES that are wider than WIDTH. A word may be, such as a path in a command or a name
    in quotes."""
    return [
        f"{columns(x)} columns: {x}"
        for x in lines
        if columns(x) > width and len(QUOTED.sub("x", x.removesuffix(" \\")).split()) > 1
    ]


def is_titled(column: str, titles: str) -> bool:
    """Whether COLUMN is among TITLES, of which an ellipsis stands for any text."""
    return any(
        re.fullmatch(".*".join(map(re.escape, x.split("\u2026"))), column)
        for x in titles.split()
    )


def unseen(rows: list[dict[str, str]], asked: list[str], titles: str, notes: str) -> list[str]:
    """Columns of ROWS that have values but are neither in TITLES nor in NOTES, or that are ASKED
    for and neither in TITLES nor replaced there by their names."""
    wrong = []
    for column in rows[0] if rows else ():
        if column in BELOW or not any(row[column] for row in rows) or is_titled(column, titles):
            continue
        if column in asked:
            # A name says who it is, and stands for the number where every row has one.
            if is_titled(f"{column}_name", titles) and all(
                row[f"{column}_name"] for row in rows
            ):
                continue
            wrong.append(f"{column} is asked for, but left out of {titles.split()}")
        elif not re.search(rf"(?<![\w]){column}(?![\w])", notes):
            wrong.append(f"{column} is neither in {titles.split()} nor in {notes!r}")
    return wrong


def alike(
    keys_of: tuple[str, ...], rows: list[dict[str, str]], lines: list[str], has_width: bool
) -> list[str]:
    """The LINES, titles first, in which ROWS that differ in KEYS_OF read alike."""
    below = {row["note"] for row in rows if row.get("note")}
    titles, lines = lines[0], [x for x in lines[1:] if x.strip() not in below]
    wrong = []
    name = next((n for n in NAMES if re.search(rf"(?<!\S){n}(?!\S)", titles)), None)
    found = re.search(rf"(?<!\S){name}(?!\S)", titles) if name else None
    if (
        "call_stack" in keys_of and found
    ):  # operators: only text has rows of work that no operator launched
        names = {row["name"] for row in rows}
        lines = [
            x
            for x in lines
            if not (shown := field(x, found.start())).startswith("<") or shown in names
        ]
    seen: dict[str, str] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for row, line in zip(rows, lines):
        shown = field(line, found.start()) if found else ""
        if name and seen.setdefault(shown, row[name]) != row[name]:
            wrong.append(f"{seen[shown]!r} and {row[name]!r} are both {shown!r}")
        # Bytes that are no UTF-8 cannot be shown, so that a number is all that is left.
        if (
            name
            and NUMBER.search(shown)
            and not NUMBER.search(row[name])
            and ("\ufffd" not in row[name])
        ):
            wrong.append(f"{row[name]!r} has a number: {line!r}")
        if shown.startswith("void ") and "\u2026" in shown:
            wrong.append(f"{row[name]!r} is cut, not folded: {shown!r}")
        key = tuple(row.get(k, "") for k in keys_of)
        if keys.setdefault(line, key) != key:
            wrong.append(f"{keys[line]} and {key} are both {line!r}")
    widest = max((columns(x) for x in seen), default=0)
    # Only keys may take the room of names.
    others = [x for x in titles.split() if not any(is_titled(key, x) for key in keys_of)]
    if has_width and others and any("\u2026" in x for x in seen) and widest < LEAST:
        wrong.append(f"names are cut at {widest} columns")
    return wrong


def check(out: str) -> tuple[int, list[str]]:
    """The number of tables in OUT that are right, and what is wrong with the others."""
    rows: list[dict[str, str]] = []
    wrong, n_right = [], 0
    for file, table, group_by, form, text in blocks(out):
        lines = [x for x in text.split("\n") if not x.startswith("\x1f")]
        if form == "csv 0":
            text = "\n".join(lines).replace("\0", "")
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            continue
        if table == "averages":
            continue
        width = int(form.split()[1])
        notes = " ".join(x for x in text.split("\n") if x.startswith("\x1f"))
        found = too_wide(lines, width) if width else []
        asked = [ASKED[x] for x in group_by.split(",") if x in ASKED]
        found += unseen(rows, asked, lines[0], notes)
        if rows and table not in SEVERAL_LINES:
            found += alike(("rank", "span", *keys_of(table), *asked), rows, lines, width > 0)
        n_right += not found
        wrong += [f"{file}: {table} {group_by} as {form}: {x}" for x in found]
    return n_right, wrong


def traces() -> list[Path]:
    """Each trace by itself, and each directory with several as one run."""
    found = [
        p
        for where in (ROOT.parent / "shared" / "data", ROOT / "tests" / "data")
        for p in where.rglob("*")
        if p.is_file() and p.name.endswith(SUFFIXES)
    ]
    folders = {p.parent for p in found if sum(q.parent == p.parent for q in found) > 1}
    return sample.of(sorted(found) + sorted(folders))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--tables",
        help="the program show_tables",
        default=str(ROOT / "build-gcc" / "tests" / "screen" / "show_tables"),
    )
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    csv.field_size_limit(1 << 30)
    # The command that is built with the program says what identifies a row (oracle/cells.py).
    os.environ["CATALOG"] = str(Path(args.tables).resolve().parents[2] / "opscope")
    n_right, n_wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="names-") as folder:
        for path in args.files or traces() + families.traces(Path(folder)):
            done = subprocess.run([args.tables, path], capture_output=True, check=False)
            n, wrong = check(done.stdout.decode(errors="replace"))
            n_right += n
            n_wrong += len(wrong) + (done.returncode != 0)
            for line in wrong[:5]:
                print(line[:1000])
            if done.returncode != 0:
                print(f"{path}: status {done.returncode}")
    print(f"{n_right} passed, {n_wrong} failed")
    return 1 if n_wrong or not n_right else 0


if __name__ == "__main__":
    sys.exit(main())
