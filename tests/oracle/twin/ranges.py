# SPDX-License-Identifier: Apache-2.0
"""`ranges`: everything that has a duration, by kind and name and what else is asked for."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from . import forest, inventory
from .events import Event, Trace
from .kinds import DEVICE_WORK

PLACES = {
    "category": ("category",),
    "process": ("process",),
    "thread": ("process", "thread"),
    "track": ("process", "thread", "device"),
    "step": ("step",),
}


def place_of(trace: Trace, event: Event) -> dict:
    """All that a range may be grouped by."""
    return {
        "category": event.category,
        "process": event.process,
        "thread": event.thread,
        "device": event.device,
        "step": inventory.step_of(trace).get(event),
    }


def place_word(trace: Trace, event: Event) -> str:
    """Whether EVENT is on the host, on a queue of a device, or on a line that repeats others."""
    if event.track in trace.summaries:
        return "summary"
    return "host" if event.is_host else "device"


def name_of(trace: Trace, event: Event) -> str:
    """The name by which EVENT of TRACE counts."""
    is_step = event.kind == "step" and event.name.startswith("ProfilerStep#")
    return trace.steps_name if is_step else event.name


def names_of(trace: Trace, event: Event, columns: list[str]) -> dict:
    """What is told about the first range of a row, besides its key."""
    cells = {}
    if "process" in columns:
        cells["process_name"] = inventory.process_names(trace).get(event.process)
    if "thread" in columns:
        cells["thread_name"] = inventory.thread_names(trace).get(event.track)
    if "device" in columns:
        tracks = list(dict.fromkeys(e.track for e in trace.events))
        cells["track"] = tracks.index(event.track)
    return cells


def quantile(values: list[int], part: int, whole: int) -> int:
    """The middle of the bucket of the value at the place PART / WHOLE, rounded up, but neither
    less than the least nor more than the largest of VALUES."""
    value = sorted(values)[-(-len(values) * part // whole) - 1]
    width = 1 if value < 16 else 2 ** (value.bit_length() - 4)
    middle = value // width * width + (width - 1) // 2
    return min(max(middle, min(values)), max(values))


def deviation(values: list[int]) -> float:
    """The standard deviation of a sample."""
    if len(values) == 1:
        return 0.0
    mean = Fraction(sum(values), len(values))
    return math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))


def calls_of(event: Event) -> int:
    """For how many calls EVENT stands: one, or what its argument of a sampled scope says."""
    n = event.integer("sampled calls")
    return n if n is not None and 1 < n <= 131072 else 1


def outer(events: list[Event]) -> int:
    """The durations of EVENTS, where those on a thread cover each other once."""
    whole = sum(e.dur * calls_of(e) for e in events if not e.is_range)
    until: dict[tuple, int] = {}
    for event in sorted((e for e in events if e.is_range), key=Event.order):
        start = max(event.start, until.get(event.track, event.start))
        whole += max(event.end - start, 0) * calls_of(event)
        until[event.track] = max(event.end, start)
    return whole


def row(key: dict, parts: list[list[Event]]) -> dict:
    """The row of the events of each trace, PARTS, each as often as it was called."""
    events = [e for part in parts for e in part]
    durations = [e.dur for e in events for _ in range(calls_of(e))]
    # What was not recorded of its children is none of its own time.
    selves = [
        calls_of(e)
        * (
            forest.self_ns(e)
            - sum((calls_of(c) - 1) * c.dur for c in e.children if c.dur is not None)
        )
        for e in events
        if e.is_range
    ]
    return {
        **key,
        "calls": len(durations),
        "total_ns": sum(durations),
        "self_ns": sum(selves) if selves else None,
        "outer_ns": sum(outer(part) for part in parts),
        "mean_ns": float(Fraction(sum(durations), len(durations))),
        "median_ns": quantile(durations, 1, 2),
        "p99_ns": quantile(durations, 99, 100),
        "min_ns": min(durations),
        "max_ns": max(durations),
        "std_ns": deviation(durations),
    }


def label(name: str | None, pattern: str | None) -> str | None:
    """What stands for NAME by PATTERN, of --group-by name~PATTERN: the pattern with what its groups
    match in their places; the name itself if nothing matches. Groups are not nested."""
    if pattern is None or name is None:
        return name
    text = name.encode("utf-8", "surrogateescape")
    found = re.search(pattern.encode(), text, re.I | re.S)
    if not found:
        return name
    parts = re.split(rb"\([^)]*\)", pattern.encode())
    groups = [*(g or b"" for g in found.groups()), b""]
    return b"".join(p + g for p, g in zip(parts, groups)).decode("utf-8", "surrogateescape")


def table(traces: list[Trace], group_by: str | None = None) -> list[dict]:
    """`ranges` of TRACES together; largest total first, of equal ones the first to appear."""
    group_by, _, pattern = (group_by or "").partition("name~")
    columns = [c for part in (group_by or "").split(",") for c in PLACES.get(part, ())]
    groups: dict[tuple, tuple[dict, dict[tuple, list[Event]]]] = {}
    for n, trace in enumerate(traces):
        for event in trace.events:
            if event.dur is None:
                continue
            place = place_of(trace, event)
            key = {
                "name": label(name_of(trace, event), pattern or None),
                "kind": event.kind,
                "place": place_word(trace, event),
                **{c: place[c] for c in columns},
            }
            if "kind" in (group_by or "").split(","):
                key["name"] = None
            known = tuple(sorted(key.items(), key=lambda item: item[0]))
            if known not in groups:
                groups[known] = ({**key, **names_of(trace, event, columns)}, {})
            # Rows of several names are merged from one of each.
            own = (n, name_of(trace, event) if pattern else None)
            groups[known][1].setdefault(own, []).append(event)
    rows = [row(key, list(parts.values())) for key, parts in groups.values()]
    known = [r["self_ns"] for r in rows if r["self_ns"] is not None]
    whole = sum(known)
    for r in rows:
        has = r["self_ns"] is not None and whole > 0
        r["self_ratio"] = float(Fraction(r["self_ns"], whole)) if has else None
    rows.sort(key=lambda r: -r["total_ns"])
    return rows


def with_places(rows: list[dict], group_by: str | None) -> list[dict]:
    """ROWS of all ranks, with places if any has one that its kind does not tell, and its thread
    or queue, which tells it, is not shown."""
    has_thread = {"thread", "track"} & set((group_by or "").split(","))
    is_told = not has_thread and any(
        r["place"] == "summary" or (r["place"] == "device" and r["kind"] not in DEVICE_WORK)
        for r in rows
    )
    return rows if is_told else [{**r, "place": None} for r in rows]
