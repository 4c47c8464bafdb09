# SPDX-License-Identifier: Apache-2.0
"""Files that were cut or had a byte changed.

What is left of a cut file is defined, and the twin reads it too. What a wrong byte does to
its own record is not; what it must not do is ("read for the rest, and quality
counts what was left out"): touch records further away, or let any vanish in silence.
"""
from __future__ import annotations

import random

from cells import Report, shown
from twin import exact, quality
from twin.events import Trace
from twin.reader import File

# No letters: they make other phases, which is no damage that can be told.
WRONG_BYTES = b'"{}[],:\\ \n\t0-.\x00\x80'
FAR = 2
COUNTED_BY_READING = tuple(quality.SEVERITY)[:tuple(quality.SEVERITY).index("partial_overlap")]


def cut(source: random.Random, data: bytes) -> bytes:
    """DATA up to anywhere."""
    return data[:source.randrange(len(data))]


def flip(source: random.Random, data: bytes, file: File) -> tuple[bytes, int] | None:
    """DATA with a wrong byte in one member of the list of events, and which that is."""
    borders = file.places.borders()
    records = [number for number, entry in enumerate(file.entries)
               if isinstance(entry, dict) and entry.get("ph") != "C"]
    if not records:
        return None
    number = source.choice(records)
    at = source.randrange(borders[number], borders[number + 1])
    return data[:at] + bytes((source.choice(WRONG_BYTES),)) + data[at + 1:], number


def base_of(trace: Trace) -> int:
    """What the file adds to its times."""
    return exact.integer(trace.members.get("baseTimeNanoseconds")) or 0


def before(trace: Trace, code: str) -> int:
    """How often CODE was met in the whole file."""
    return trace.findings[code].count if code in trace.findings else 0


def compare_rest(report: Report, where: str, trace: Trace, number: int,
                 tables: dict[str, list[dict]]) -> None:
    """That TABLES of the damaged file hold all events of TRACE that stand far from record
    NUMBER, in order, and a finding if any is gone."""
    origin = next(int(row["value"] or 0) for row in tables["info"]
                  if row["key"] == "origin_unix_ns")

    def of_row(row: dict) -> tuple:
        return (row["name"], row["process"], row["thread"], row["start_ns"] + origin,
                row["dur_ns"])

    rows = iter(tables["events"])
    for event in trace.events:
        if abs(event.entry - number) < FAR or event.phase in ("B", "b"):
            continue
        wanted = (shown(event.name), event.process, event.thread, event.start + base_of(trace),
                  event.dur)
        if any(of_row(row) == wanted for row in rows):
            report.passed += 1
        else:
            report.differ(where, f"damage to record {number} takes", wanted)
            return
    told = any(row["count"] > before(trace, row["code"]) for row in tables["quality"]
               if row["code"] in COUNTED_BY_READING)
    if len(tables["events"]) < len(trace.events) and not told:
        report.differ(where, f"damage to record {number} takes events in silence")
    else:
        report.passed += 1
