# SPDX-License-Identifier: Apache-2.0
"""The containment forest: per thread or device queue, synchronous ranges only.

Sorted by (start, -end, order in the file). A range ends before another starts if its end is
not after the other's start. A partial overlap makes siblings and is counted; nothing is
removed or clipped. Overlaps of a Python call with a range that it begins or ends are counted
separately. Self time is the duration minus that of the children.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable

from .events import Event, Trace

CALLS = {"python", "module"}
BEGUN_BY_CALLS = {"annotation", "step", "dataloader", "optimizer", "communication"}


def crosses(x: Event, y: Event) -> bool:
    """Whether one of two ranges is a Python call, and the other one that a call begins and ends."""

    def is_begun_by_call(event: Event) -> bool:
        return event.kind in BEGUN_BY_CALLS or (
            event.kind == "operator" and "::" not in event.name
        )

    return (x.kind in CALLS and is_begun_by_call(y)) or (
        y.kind in CALLS and is_begun_by_call(x)
    )


OF_QUEUES = "queue overlaps"


def nest(
    ranges: Iterable[Event], set_parent: Callable[[Event, Event | None], None]
) -> tuple[list[int], list[int]]:
    """Call SET_PARENT for each of RANGES, of one track, with its parent. Returns the starts of
    ranges that partially overlap an earlier one, and of those that overlap only calls so."""
    overlaps: list[int] = []
    crossed: list[int] = []
    stack: list[Event] = []
    for event in sorted(ranges, key=Event.order):
        partial = []
        while stack and (stack[-1].end <= event.start or event.end > stack[-1].end):
            if stack[-1].end > event.start:
                partial.append(stack[-1])
            stack.pop()
        if partial:
            is_crossed = all(crosses(event, other) for other in partial)
            (crossed if is_crossed else overlaps).append(event.start)
        set_parent(event, stack[-1] if stack else None)
        stack.append(event)
    return overlaps, crossed


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

    found = [
        (ranges[0].device, *nest(ranges, set_parent))
        for ranges in by_track(trace.events).values()
    ]
    hosts = [(overlaps, crossed) for device, overlaps, crossed in found if not device]
    trace.kept["overlaps"] = [start for overlaps, _ in hosts for start in overlaps]
    trace.kept["crossed"] = [start for _, crossed in hosts for start in crossed]
    trace.kept[OF_QUEUES] = [
        start for device, overlaps, crossed in found if device for start in overlaps + crossed
    ]


def self_ns(event: Event) -> int:
    """The duration minus that of the children; may be negative."""
    return event.dur - sum(child.dur for child in event.children)
