# SPDX-License-Identifier: Apache-2.0
"""The containment forest: per thread or device queue, synchronous ranges only.

Sorted by (start, -end, order in the file). A range ends before another starts if its end is
not after the other's start. A partial overlap makes siblings and is counted; nothing is
removed or clipped. Self time is the duration minus that of the children.
"""
from __future__ import annotations

from typing import Callable, Iterable

from .events import Event, Trace


def nest(ranges: Iterable[Event],
         set_parent: Callable[[Event, Event | None], None]) -> list[int]:
    """Call SET_PARENT for each of RANGES, of one track, with its parent. Returns the starts of
    ranges that partially overlap an earlier one."""
    overlaps = []
    stack: list[Event] = []
    for event in sorted(ranges, key=Event.order):
        overlapped = False
        while stack and (stack[-1].end <= event.start or event.end > stack[-1].end):
            overlapped |= stack[-1].end > event.start
            stack.pop()
        if overlapped:
            overlaps.append(event.start)
        set_parent(event, stack[-1] if stack else None)
        stack.append(event)
    return overlaps


def by_track(events: Iterable[Event]) -> dict[tuple, list[Event]]:
    """The finished synchronous ranges of each track, tracks in order of first appearance."""
    tracks: dict[tuple, list[Event]] = {}
    for event in events:
        if event.is_range:
            tracks.setdefault(event.track, []).append(event)
    return tracks


def build(trace: Trace) -> None:
    """Set parent, children and depth of every event, and count partial overlaps."""
    def set_parent(event: Event, parent: Event | None) -> None:
        event.parent = parent
        event.depth = parent.depth + 1 if parent else 0
        if parent:
            parent.children.append(event)

    trace.kept["overlaps"] = [start for ranges in by_track(trace.events).values()
                              for start in nest(ranges, set_parent)]


def self_ns(event: Event) -> int:
    """The duration minus that of the children; may be negative."""
    return event.dur - sum(child.dur for child in event.children)
