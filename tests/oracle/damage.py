# SPDX-License-Identifier: Apache-2.0
"""Truncated files, and files with a changed byte.

The result for a truncated file is defined, and the twin reads it, too. The effect of a wrong byte
on its own record is not defined, but it must not change records further away, or make any disappear
without a finding: the rest is read, and `quality` counts what was left out.
"""

from __future__ import annotations

import random

from cells import Report, shown
from twin import exact, quality
from twin.events import Trace
from twin.reader import File

# No letters: they could make another phase, which is damage that cannot be detected.
WRONG_BYTES = b'"{}[],:\\ \n\t0-.\x00\x80'
FAR = 2
COUNTED_BY_READING = tuple(quality.SEVERITY)[: tuple(quality.SEVERITY).index("partial_overlap")]


def cut(source: random.Random, data: bytes) -> bytes:
    """DATA truncated anywhere."""
    return data[: source.randrange(len(data))]


def flip(source: random.Random, data: bytes, file: File) -> tuple[bytes, int] | None:
    """DATA with a wrong byte in one member of the list of events, and the number of that member."""
    borders = file.places.borders()
    records = [
        number
        for number, entry in enumerate(file.entries)
        if isinstance(entry, dict) and entry.get("ph") != "C"
    ]
    if not records:
        return None
    number = source.choice(records)
    at = source.randrange(borders[number], borders[number + 1])
    return data[:at] + bytes((source.choice(WRONG_BYTES),)) + data[at + 1 :], number


def base_of(trace: Trace) -> int:
    """The base that the file adds to its times."""
    return exact.integer(trace.members.get("baseTimeNanoseconds")) or 0


def before(trace: Trace, code: str) -> int:
    """How often CODE was found in the complete file."""
    return trace.findings[code].count if code in trace.findings else 0


def compare_rest(
    report: Report, where: str, trace: Trace, number: int, tables: dict[str, list[dict]]
) -> None:
    """Check that TABLES of the damaged file contain all events of TRACE that are far from record
    NUMBER, in order, and a finding if any is missing."""
    told_origin = next(row["value"] for row in tables["info"] if row["key"] == "origin_unix_ns")
    origin = int(told_origin or 0)
    if told_origin is None:  # no wall clock: the first event that is far tells it
        origin = next(
            (
                e.start + base_of(trace) - row["start_ns"]
                for e in trace.events
                if abs(e.entry - number) >= FAR and e.phase not in ("B", "b")
                for row in tables["events"]
                if (row["name"], row["process"], row["thread"], row["dur_ns"])
                == (shown(e.name), e.process, e.thread, e.dur)
            ),
            0,
        )

    def of_row(row: dict) -> tuple:
        return (
            row["name"],
            row["process"],
            row["thread"],
            row["start_ns"] + origin,
            row["dur_ns"],
        )

    rows = iter(tables["events"])
    for event in trace.events:
        if abs(event.entry - number) < FAR or event.phase in ("B", "b"):
            continue
        wanted = (
            shown(event.name),
            event.process,
            event.thread,
            event.start + base_of(trace),
            event.dur,
        )
        if any(of_row(row) == wanted for row in rows):
            report.passed += 1
        else:
            report.differ(where, f"damage to record {number} takes", wanted)
            return
    counts: dict[str, int] = {}  # a code may have several rows
    for row in tables["quality"]:
        counts[row["code"]] = counts.get(row["code"], 0) + row["count"]
    told = any(
        count > before(trace, code)
        for code, count in counts.items()
        if code in COUNTED_BY_READING
    )
    if len(tables["events"]) < len(trace.events) and not told:
        report.differ(where, f"damage to record {number} takes events in silence")
    else:
        report.passed += 1
