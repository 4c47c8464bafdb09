# SPDX-License-Identifier: Apache-2.0
"""`points`: everything that has no duration, by kind, name and thread."""

from __future__ import annotations

from . import exact, inventory
from .events import Event, Trace


def series_of(event: Event) -> str | None:
    """The name of a counter's value."""
    return next(iter(event.args), None) if event.kind == "counter" else None


def row(key: dict, names: dict, at: list[int], values: list[float]) -> dict:
    """The row of the events AT these times."""
    return {
        **key,
        **names,
        "events": len(at),
        "first_ns": min(at),
        "last_ns": max(at),
        "min_value": min(values, default=None),
        "max_value": max(values, default=None),
    }


def table(traces: list[Trace]) -> list[dict]:
    """`points` of TRACES together; most events first, of equal ones the first to appear."""
    groups: dict[tuple, tuple[dict, dict, list[int], list[float]]] = {}
    for trace in traces:
        processes, threads = inventory.process_names(trace), inventory.thread_names(trace)
        for event in trace.events:
            if event.dur is not None:
                continue
            key = {
                "name": event.name,
                "kind": event.kind,
                "series": series_of(event),
                "process": event.process,
                "thread": event.thread,
            }
            names = {
                "process_name": processes.get(event.process),
                "thread_name": threads.get(event.track),
            }
            found = groups.setdefault(tuple(key.values()), (key, names, [], []))
            found[2].append(event.start - trace.origin)
            value = exact.double(event.value) if event.kind == "counter" else None
            if value is not None:
                found[3].append(value)
    rows = [row(*group) for group in groups.values()]
    rows.sort(key=lambda r: -r["events"])
    return rows
