# SPDX-License-Identifier: Apache-2.0
"""Merge rows of several ranks and spans, for the tables that are not computed again from events:
counts are summed, and values that cannot be summed are those of the first row."""

from __future__ import annotations

from .quality import SEVERITY

SUMMED = (
    "total_ns",
    "annotation_ns",
    "kernel_ns",
    "memcpy_ns",
    "memset_ns",
    "communication_ns",
    "runtime_ns",
    "dataloader_ns",
    "cpu_exec_ns",
    "other_ns",
)


def total(values: list[int | None]) -> int | None:
    """The sum of VALUES, null if there are none."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def grouped(parts: list[list[dict]], key: str) -> list[list[dict]]:
    """Groups of rows with equal KEY, in order of first appearance."""
    groups: dict[object, list[dict]] = {}
    for rows in parts:
        for row in rows:
            groups.setdefault(row[key], []).append(row)
    return list(groups.values())


def steps(parts: list[list[dict]]) -> list[dict]:
    """Merge steps with equal numbers; those of several processes of a rank and span, which have
    the member `of_process`, stay apart."""
    keyed = [
        [{**row, "key": (row["step"], row.pop("of_process", None))} for row in rows]
        for rows in parts
    ]
    merged = [
        {
            **group[0],
            **{c: total([row[c] for row in group]) for c in SUMMED},
            "start_ns": min(row["start_ns"] for row in group),
            "outlier": any(row["outlier"] for row in group),
        }
        for group in grouped(keyed, "key")
    ]
    return [
        {column: cell for column, cell in row.items() if column not in ("key", "of_process")}
        for row in merged
    ]


def quality(parts: list[list[dict]]) -> list[dict]:
    """Merge findings with equal messages, which say what the codes do and more, the worst first."""
    rows = []
    for group in grouped(parts, "message"):
        times = [row["first_ns"] for row in group if row["first_ns"] is not None]
        first = {
            column: cell
            for column, cell in group[0].items()
            if column not in ("message", "detail")
        }
        rows.append(
            {
                **first,
                "count": sum(row["count"] for row in group),
                "first_ns": min(times, default=None),
            }
        )
    order = ("error", "warning", "info")
    return sorted(rows, key=lambda row: order.index(SEVERITY[row["code"]]))
