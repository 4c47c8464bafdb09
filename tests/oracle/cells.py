# SPDX-License-Identifier: Apache-2.0
"""Compare a table of opscope with the twin's, cell by cell."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from dataclasses import dataclass, field
from decimal import Decimal

from twin import places
from twin.inventory import ANY
from twin.tolerant import Word

# The columns that identify a row, of tables whose rows are not merged by them; columns that a table
# lacks are None in both. Those of other tables are their keys in the catalog, and rows without keys
# are compared in order.
KEYS = {
    "kernels": (
        "name",
        "operator",
        "grid",
        "block",
        "registers_per_thread",
        "shared_memory_bytes",
    ),
    "events": ("id",),
    "threads": ("process", "thread"),
    "tracks": ("track",),
    "quality": ("code",),
    "modules": (),
    "memory_versions": ("object", "version"),
    "memory_live": ("process", "device", "operator", "module", "block_bytes"),
    "rank_overlap": ("rank", "step"),
    "rank_wait": ("rank", "step"),
    "collectives": ("rank", "name"),
    "ranks": ("rank",),
    "rank_stats": ("statistic",),
    "collective_calls": ("name", "start_ns"),
    "stragglers": ("rank", "step"),
}
# Texts in the tables, but numbers in the file: compared by their text.
AS_TEXT = {"process", "thread", "queue", "label", "value", "track", "step"}
# Sentences, which golden tests check.
SENTENCES = {"note", "message", "remedy", "title", "text", "evidence"}
# Names that other tables and tests compare.
SENTENCES |= {"worker", "device_name", "matched_by"}


def columns_of(table: str) -> list[dict]:
    """The columns of TABLE in the catalog of the binary under test, which CATALOG names."""
    return entry_of(table)["columns"]


@functools.cache
def entry_of(table: str) -> dict:
    """What the catalog says of TABLE."""
    command = [os.environ["CATALOG"], "table", "--list", "--format", "json"]
    catalog = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return next(t for t in catalog["tables"] if t["name"] == table)


@functools.cache
def keys_of(table: str) -> tuple[str, ...]:
    """The columns that identify a row of TABLE."""
    merged = tuple(c["name"] for c in columns_of(table) if c["merge"] == "key")
    return KEYS.get(table, merged)


@functools.cache
def optional_of(table: str) -> set[str]:
    """The optional columns of TABLE (`?` in --list): an absent one equals null in every row."""
    return {"rank", "span"} | {c["name"] for c in columns_of(table) if c["optional"]}


@dataclass
class Report:
    """Outcome of one comparison."""

    passed: int = 0
    failed: int = 0
    lines: list[str] = field(default_factory=list)

    def differ(self, *words: object) -> None:
        """Count one more difference."""
        self.failed += 1
        self.lines.append("  ".join(str(w)[:700] for w in words))


def shown(value: object) -> object:
    """VALUE as shown in JSON: bytes that are not UTF-8 are U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return [shown(v) for v in value] if isinstance(value, list) else value


def truth(value: object) -> object:
    """A truth value of `info`, however it is written."""
    return {"true": True, "1": True, "false": False, "0": False, "": False}.get(
        str(value).lower(), value
    )


def same_json(ours: object, twin: object) -> bool:
    """Whether two JSON values are the same; numbers are compared as their nearest doubles."""
    if isinstance(ours, dict) and isinstance(twin, dict):
        return ours.keys() == {shown(k) for k in twin} and all(
            same_json(ours[shown(k)], v) for k, v in twin.items()
        )
    if isinstance(ours, list) and isinstance(twin, list):
        return len(ours) == len(twin) and all(map(same_json, ours, twin))
    if isinstance(ours, bool) or isinstance(twin, bool) or ours is None or twin is None:
        return ours is twin
    if isinstance(ours, Word) or isinstance(twin, Word):
        return str(ours) == str(twin)
    if isinstance(ours, str) or isinstance(twin, str):
        return ours == shown(twin)
    return ours == twin or float(ours) == float(twin)


def same_text(ours: object, twin: object) -> bool:
    """Whether the JSON text OURS is the value TWIN."""
    if ours is None or twin is None:
        return ours is None and twin is None
    return same_json(json.loads(ours, parse_float=Decimal, parse_constant=Word), twin)


def same_fact(ours: object, twin: object) -> bool:
    """Whether a value of `info` is the twin's: a text, or JSON for a member of the file."""
    if twin is ANY:
        return ours is not None
    if isinstance(twin, bool):
        return truth(ours) is twin
    if isinstance(twin, (list, dict, Decimal)):
        return same_text(ours, twin)
    return ours is None if twin in (None, "") else str(ours) == str(shown(twin))


def same(table: str, column: str, ours: object, twin: object) -> bool:
    """Whether opscope's cell OURS is the twin's."""
    if table == "info" and column == "value":
        return same_fact(ours, twin)
    if column == "args":
        return same_text(ours, twin)
    twin = shown(twin)
    if column == "first_offset" and twin == places.UNKNOWN:
        return isinstance(ours, int)
    if isinstance(twin, float) and isinstance(ours, (int, float)):
        if isinstance(ours, bool):
            return False
        return abs(ours - twin) <= 1e-12 * max(abs(ours), abs(twin))
    if column in AS_TEXT and ours is not None and twin is not None:
        return str(ours) == str(twin)
    return ours == twin and isinstance(ours, bool) == isinstance(twin, bool)


def key_of(table: str, row: dict) -> tuple:
    """The key of ROW."""

    def hashable(column: str) -> object:
        value = shown(row.get(column))
        if column == "stack" and value is not None:
            return json.dumps(value)
        return str(value) if column in AS_TEXT and value is not None else value

    lead = ("rank", "span") if "span" in row else ()
    return tuple(hashable(column) for column in (*lead, *keys_of(table)))


def numbered(table: str, rows: list[dict]) -> dict[tuple, dict]:
    """ROWS by key; equal keys are distinguished by a number."""
    seen: dict[tuple, int] = {}
    result = {}
    for row in rows:
        key = key_of(table, row)
        seen[key] = seen.get(key, 0) + 1
        result[key if seen[key] == 1 else (*key, seen[key])] = row
    return result


def compare_row(
    report: Report, where: str, table: str, key: tuple, mine: dict, twin: dict
) -> None:
    """Compare every cell of a row."""
    for column, value in twin.items():
        if column not in mine:
            if column in optional_of(table) and value in (None, False):
                report.passed += 1
            else:
                report.differ(where, key, column, "column missing", f"twin {value!r}")
        elif (
            value == mine[column] and type(value) is type(mine[column]) and table != "info"
        ) or same(table, column, mine[column], value):
            report.passed += 1
        else:
            report.differ(where, key, column, f"opscope {mine[column]!r}", f"twin {value!r}")
    for column in mine.keys() - twin.keys() - SENTENCES:
        if mine[column] is None or (column in optional_of(table) and mine[column] == 0):
            # Another rank or span has the column.
            report.passed += 1
            continue
        report.differ(where, key, column, "column that the twin lacks", mine[column])


def compare_table(
    report: Report, where: str, table: str, ours: list[dict], twin: list[dict]
) -> None:
    """Compare every cell of one table, and the order of its rows."""
    mine, wanted = numbered(table, ours), numbered(table, twin)
    for key in mine.keys() - wanted.keys():
        report.differ(where, key, "row that the twin lacks")
    for key, row in wanted.items():
        if key in mine:
            compare_row(report, where, table, key, mine[key], row)
        else:
            report.differ(where, key, "row missing")
    orders = ([key for key in mine if key in wanted], [key for key in wanted if key in mine])
    if orders[0] == orders[1]:
        report.passed += 1
    else:
        at = next(i for i, (a, b) in enumerate(zip(*orders)) if a != b)
        report.differ(where, "order of rows, first at", at, orders[0][at], orders[1][at])
