# SPDX-License-Identifier: Apache-2.0
"""`flows`: the arrows of the file between events, by the Chrome format."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import exact, forward, wild
from .events import Event, Trace, name_of, who

KINDS = {
    "ac2g": "launch",
    "async_cpu_to_gpu": "launch",
    "async": "launch",
    "fwdbwd": "fwdbwd",
    "forward_backward": "fwdbwd",
}
LAUNCHES = {
    "ascend": {"async_npu", "HostToDevice"},
    "rocprof": {"DataFlow", "api_op"},
    "torch_legacy": {"cpu_to_cuda"},
    "proton": {"flow"},
}  # words of other dialects
RANK = {"s": 0, "t": 1, "f": 2}


def kind_of(category: str | None, dialect: str) -> str | None:
    """The kind of arrows of CATEGORY."""
    if dialect == "unitrace" and re.match("(CL_)?Flow_H2D_", category or ""):
        return "launch"
    return "launch" if category in LAUNCHES.get(dialect, ()) else KINDS.get(category, category)


@dataclass(eq=False)
class Record:
    """A start, step or end of an arrow."""

    place: int
    phase: str
    category: str | None
    key: object
    track: tuple
    at: int
    to_next: bool


def records_of(trace: Trace) -> list[Record]:
    """All records of arrows with a time and an id, which is an integer or a text."""
    found = []
    for place, record in enumerate(trace.records):
        at = trace.time_ns(record)
        if record.get("ph") not in RANK or at is None or wild.is_wild_arrow(trace, record):
            continue
        key = exact.integer(record.get("id"))
        if key is None and isinstance(record.get("id"), str):
            key = record["id"]
        if key is None:
            continue
        found.append(
            Record(
                place,
                record["ph"],
                name_of(record.get("cat")),
                key,
                who(record),
                at,
                record["ph"] == "f" and record.get("bp") != "e",
            )
        )
    return found


def event_of(record: Record, ranges: list[Event]) -> Event | None:
    """The event of RECORD; RANGES are those of its track in the order of the forest."""
    here = [e for e in ranges if e.start == record.at]
    if KINDS.get(record.category) == "fwdbwd":
        return forward.operator_of([e for e in here if e.kind == "operator"])
    if here:
        named = [e for e in here if e.correlation == record.key]
        return (named or here)[-1]
    if record.to_next:
        return next((e for e in ranges if e.start > record.at), None)
    around = [e for e in ranges if e.start <= record.at < e.end]
    ended = [e for e in ranges if e.end == record.at]
    return (around or ended or [None])[-1]


def arrows(records: list[Record]) -> list[tuple[Record | None, Record | None]]:
    """(start, end) of every arrow, in file order of the ends, or of the start if there is no
    end."""
    chains: dict[tuple, list[Record]] = {}
    for record in records:
        chains.setdefault((record.category, record.key), []).append(record)
    found = []
    for chain in chains.values():
        chain.sort(key=lambda r: (r.at, RANK[r.phase], r.place))
        starts = [r for r in chain if r.phase == "s"]
        leading = set()
        for number, record in enumerate(chain):
            if record.phase == "s":
                continue
            before = [r for r in chain[:number] if r.phase != "f"]
            source = before[-1] if before else (starts[0] if starts else None)
            leading.add(source)
            found.append((source, record))
        found += [(start, None) for start in starts if start not in leading]
    return sorted(found, key=lambda arrow: (arrow[1] or arrow[0]).place)


def table(trace: Trace) -> list[dict]:
    """`flows`, without arrows that touch no event."""
    tracks: dict[tuple, list[Event]] = {}
    for event in sorted((e for e in trace.events if e.is_range), key=Event.order):
        tracks.setdefault(event.track, []).append(event)
    by_start: dict[tuple, list[Event]] = {}
    for track, events in tracks.items():
        for event in events:
            by_start.setdefault((track, event.start), []).append(event)

    def bound(record: Record | None) -> int | None:
        if record is None:
            return None
        # Most records are at the start of an event, which then is the one.
        here = by_start.get((record.track, record.at))
        event = event_of(record, here or tracks.get(record.track, []))
        return event.id if event else None

    rows = []
    for source, end in arrows(records_of(trace)):
        ids = bound(source), bound(end)
        if ids != (None, None):
            category = (end or source).category
            rows.append(
                {"kind": kind_of(category, trace.dialect), "from_id": ids[0], "to_id": ids[1]}
            )
    return rows
