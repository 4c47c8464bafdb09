# SPDX-License-Identifier: Apache-2.0
# step: oracle-peers
# args: --opscope {gcc}/opscope
# turn: 6
"""Compare a provider of tables with the peers' answers for the same traces.

    python3 tests/oracle/peers.py [--opscope PATH] [--shared DIR] [--only GROUP] [--show N]

Each recorded number is an Item: its place in our tables, the peer's value, how to compare them, and
the name of the rule that excludes it if a specification marks the peer as wrong. Ends with `N
passed, N failed`; exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from providers import OpscopeError, OpscopeProvider, TwinProvider
from twin.averages_text import Options
from twin.memory_tables import ALL, Selection

HERE = Path(__file__).resolve().parent
MISSING = object()


@dataclass
class Item:
    """One recorded value."""

    group: str
    case: str
    path: Path
    what: str
    expected: object
    how: str = "exact"
    table: str = ""
    group_by: str | None = None
    compat: bool = False
    key: tuple = ()  # (column, value) pairs that identify the row
    column: str = ""  # "" with how "rows": the number of rows
    slack_ns: float = 0.0  # beyond the peer's rounding
    rule: str | None = None  # excluded by
    options: Options | None = None  # of a text
    grouping: dict | None = None
    unit: int = 1  # of a displayed value, in bytes or ns
    selection: Selection = ALL  # for the tables of memory


def same(item: Item, got: object) -> bool:
    """Whether GOT is the peer's value, within its known precision."""
    want = item.expected
    if item.how == "absent_or_0":  # a column whose data the file lacks
        return got is MISSING or got == 0
    if item.how == "absent":  # the same, in a column that is hidden without data
        return got is MISSING or got is None
    if got is MISSING:
        return False
    if item.how == "on_curve":
        return bool(got)
    if item.how == "exact":
        return got == want and type(got) is type(want)
    if want is None or got is None:
        return want is None and got is None
    if item.how in ("ns", "after_first_ns"):  # a double of microseconds
        return abs(Fraction(want) * 1000 - Fraction(got)) <= Fraction(item.slack_ns)
    if item.how == "us":  # rounded to whole microseconds
        return abs(Fraction(want) * 1000 - Fraction(got)) <= 500 + Fraction(item.slack_ns)
    if item.how == "us_below":  # cut to whole microseconds
        return -item.slack_ns <= Fraction(got) - Fraction(want) * 1000 < 1000 + item.slack_ns
    if item.how == "percent":  # rounded to 2 digits of a per cent
        return abs(want - 100 * got) <= 0.00501 + item.slack_ns
    if item.how in ("percent0", "percent1"):  # rounded to so many digits of a per cent
        return abs(want - 100 * got) <= {"percent0": 0.501, "percent1": 0.0501}[item.how]
    if item.how == "gib":  # the same of GiB
        return abs(Fraction(want) - Fraction(got, 2**30)) <= Fraction("0.00501")
    if item.how == "2digits":
        return abs(want - got) <= 0.00501
    if item.how == "near":  # a double that was divided before
        return abs(want - got) <= 1
    if item.how == "shown":  # two digits, or the first that is not 0
        digit = 0.01 if abs(want) >= 0.01 or want == 0 else 10 ** floor(log10(abs(want)))
        return abs(want - got / item.unit) <= 0.501 * digit
    if item.how == "ratio":
        return abs(want - got) <= item.slack_ns
    if item.how == "double":
        return abs(want - got) <= 1e-9 * max(1.0, abs(want))
    raise ValueError(item.how)


class Rows:
    """The rows of the last table asked for, by any key columns."""

    def __init__(self, provider) -> None:
        self.provider = provider
        self.asked: tuple | None = None
        self.rows: list[dict] = []
        self.index: dict[tuple, dict[tuple, dict] | list[dict]] = {}  # of a curve its rows

    def find(self, item: Item) -> object:
        """The cell of ITEM, or MISSING."""
        asked = (item.path, item.table, item.group_by, item.compat, True, item.selection)
        if asked != self.asked:
            self.rows = with_places(item, self.provider.table(*asked))
            self.asked, self.index = asked, {}
        if item.how == "rows":
            return sum(
                all(row.get(column) == value for column, value in item.key) for row in self.rows
            )
        if item.how == "on_curve":
            return self.is_on_curve(item)
        columns = tuple(column for column, _ in item.key)
        if columns not in self.index:
            index: dict[tuple, dict] = {}
            for row in self.rows:
                index.setdefault(tuple(normal(c, row.get(c)) for c in columns), row)
            self.index[columns] = index
        row = self.index[columns].get(tuple(normal(c, value) for c, value in item.key))
        got = MISSING if row is None else row.get(item.column, MISSING)
        if item.how == "after_first_ns" and got is not MISSING:
            got -= self.rows[0][item.column]
        return got

    def is_on_curve(self, item: Item) -> bool:
        """Whether a point lies on the steps of our curve: at the time of a record, with the values
        after that record or after the previous one."""
        if item.key not in self.index:
            self.index[item.key] = [
                row for row in self.rows if all(row[c] == v for c, v in item.key)
            ]
        rows = self.index[item.key]
        at, *values = item.expected
        first = bisect_left(rows, at - 1, key=lambda row: row["time_ns"])
        for number in range(first, len(rows)):
            if rows[number]["time_ns"] > at + 1:
                return False
            if any(
                all(
                    abs(row[c] - v) <= 1
                    for c, v in zip(("allocated_bytes", "reserved_bytes"), values)
                )
                for row in rows[max(number - 1, 0) : number + 1]
            ):
                return True
        return False


def with_places(item: Item, rows: list[dict]) -> list[dict]:
    """ROWS with a column `#`: for a curve the place among those of its device; for memory events
    the place in the plugin's order, without ends outside the range; for statistics `named`, except
    for memory outside of operators."""
    if item.table == "memory":
        return [{**row, "#": "named" if row["name"] != "(none)" else None} for row in rows]
    if item.table not in ("memory_events", "memory_curve"):
        return rows
    if item.table == "memory_events":
        rows = [cut(row, item.selection) for row in rows]
        rows.sort(
            key=lambda row: (
                row["alloc_ns"] is None,
                row["free_ns"] is None,
                row["alloc_ns"] if row["free_ns"] is None else row["free_ns"],
            )
        )
    counts: Counter = Counter()
    result = []
    for row in rows:
        kind = (
            "point"
            if item.table == "memory_curve"
            else "release"
            if row["alloc_ns"] is None
            else "allocation"
            if row["free_ns"] is None
            else "pair"
        )
        number = counts[row["device"], kind]
        counts[row["device"], kind] += 1
        result.append({**row, "#": number if kind == "point" else (kind, number)})
    return result


def cut(row: dict, selection: Selection) -> dict:
    """A memory event as the plugin shows it: without its ends outside the range."""
    row = dict(row)
    for column in ("alloc_ns", "free_ns"):
        at = row[column]
        if at is not None and not (
            (selection.first_ns is None or at >= selection.first_ns)
            and (selection.end_ns is None or at < selection.end_ns)
        ):
            row[column] = row["dur_ns"] = None
    return row


def normal(column: str, value: object) -> object:
    """A cell as a key: lists as tuples, and null as the plugin's 0 if a kernel does not state
    registers or shared memory."""
    if value is None and column in ("registers_per_thread", "shared_memory_bytes"):
        return 0
    return tuple(value) if isinstance(value, list) else value


def check(provider, items: Iterator[Item], show: int) -> tuple[int, int]:
    """Print the result of each group. Returns (passed, failed)."""
    compared, equal, excluded = Counter(), Counter(), Counter()
    rules: Counter = Counter()
    shown: Counter = Counter()
    rows = Rows(provider)
    for item in items:
        if item.rule:
            excluded[item.group] += 1
            rules[item.rule] += 1
            continue
        compared[item.group] += 1
        try:
            if item.options is not None:
                got = provider.text_differs(
                    item.path, item.options, item.grouping or {}, str(item.expected)
                )
                fine = got is None
            elif item.how == "rows":
                got = rows.find(item)
                fine = got == item.expected
            else:
                got = rows.find(item)
                fine = same(item, got)
        except OpscopeError as failed:
            got, fine = str(failed), False
        equal[item.group] += fine
        if not fine and shown[item.group] < show:
            shown[item.group] += 1
            print(
                f"DIFFERS {item.group}: {item.case}: {item.what} {dict(item.key)} "
                f"{item.column}\n    {provider.name}: "
                f"{'no such row or column' if got is MISSING else str(got)[:400]}\n"
                f"    peer: {str(item.expected)[:200]}"
            )
    for group in sorted(set(compared) | set(excluded)):
        print(
            f"{group}: compared {compared[group]}, equal {equal[group]}, "
            f"excluded by rule {excluded[group]}"
        )
    for rule, count in sorted(rules.items()):
        print(f"  rule {rule}: {count}")
    passed = sum(equal.values())
    return passed, sum(compared.values()) - passed


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, help="the binary; without it, the twin")
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    parser.add_argument("--only", help="groups whose name starts so")
    parser.add_argument("--show", type=int, default=10, help="differences shown per group")
    options = parser.parse_args()
    if not (options.shared / "expected").is_dir():
        print(f"no recorded answers in {options.shared}: nothing compared")
        print("0 passed, 0 failed")
        return 0
    import peers_memory
    import peers_plugin
    import peers_ranks
    import peers_torch

    provider = OpscopeProvider(options.opscope) if options.opscope else TwinProvider()
    items = (
        item
        for source in (peers_torch, peers_plugin, peers_memory, peers_ranks)
        for item in source.items(options.shared)
        if not options.only or item.group.startswith(options.only)
    )
    passed, failed = check(provider, items, options.show)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
