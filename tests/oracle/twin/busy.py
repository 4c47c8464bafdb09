# SPDX-License-Identifier: Apache-2.0
"""How long each thread and queue worked: the time that its ranges cover."""

from __future__ import annotations

from . import intervals, kinds
from .events import Event, Trace

WAITS = {"ray": "worker_idle"}


def ranks(trace: Trace, event: Event, is_queue: bool) -> int | None:
    """How much a range tells of its track's work, 0 the most; None if it never counts."""
    if event.end is None:
        return None
    if is_queue:
        return 0 if event.kind in kinds.DEVICE_WORK and event.is_range else None
    if not event.is_range:
        return 2
    if (event.category or "").lower() == "trace" or event.name == WAITS.get(trace.producer):
        return None
    return 1 if event.kind in ("step", "annotation") else 0


def until(trace: Trace, end: int) -> int:
    """END, or where the selected time ends if that is earlier."""
    return min(end, trace.kept.get("to", end))


def of_tracks(trace: Trace, queues: set[tuple]) -> dict[tuple, int]:
    """The time of each track in ns; tracks without any are left out."""
    found: dict[tuple, dict[int, list]] = {}
    for event in trace.events:
        if event.track in trace.summaries:
            continue
        rank = ranks(trace, event, event.track in queues)
        if rank is not None:
            found.setdefault(event.track, {}).setdefault(rank, []).append(
                (event.start, until(trace, event.end))
            )
    return {
        track: intervals.length(intervals.union(by_rank[min(by_rank)]))
        for track, by_rank in found.items()
    }
