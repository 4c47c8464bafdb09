# SPDX-License-Identifier: Apache-2.0
"""Steps of programs that announce none: ranges of one pattern that fill the time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .events import Event, Trace

OPENING, CLOSING = "([{", ")]}"
LEAST = 3
SHARE = Fraction(4, 5)
PAUSED, RESUMED = "recording paused", "recording resumed"


def pattern(name: str) -> str:
    """NAME without what stands in brackets, and with # for each number."""
    depth, text = 0, ""
    was_number = False
    for letter in name:
        is_digit = letter in "0123456789"
        if letter in OPENING:
            depth += 1
        elif letter in CLOSING and depth > 0:
            depth -= 1
        elif depth == 0 and not (is_digit and was_number):
            text += "#" if is_digit else letter
        was_number = is_digit and depth == 0
    return text


def series(trace: Trace) -> dict[tuple, list[Event]]:
    """Annotations of the host that are in no other one, by thread and pattern."""
    found: dict[tuple, list[Event]] = {}
    place: dict[tuple, int] = {}
    for event in trace.events:
        place.setdefault(event.track, event.id)
    ranges = [
        e
        for e in trace.events
        if e.kind == "annotation" and e.is_host and e.is_range and e.dur > 0
    ]
    until: dict[tuple, int] = {}
    for event in sorted(ranges, key=lambda e: (place[e.track], e.order())):
        if event.start >= until.get(event.track, event.start):
            until[event.track] = event.end
            found.setdefault((event.track, pattern(event.name)), []).append(event)
    return found


def pauses(trace: Trace) -> list[tuple[int, int]]:
    """When the recording was paused: from an instant that says so to the next that says it goes on."""
    found, since = [], None
    for event in sorted(
        (e for e in trace.events if e.end is None and e.name in (PAUSED, RESUMED)),
        key=lambda e: (e.start, e.id),
    ):
        if event.name == PAUSED:
            since = event.start if since is None else since
        elif since is not None:
            found.append((since, event.start))
            since = None
    return found


def mark(trace: Trace) -> None:
    """Make steps of the iterations, if the trace has no steps."""
    if any(e.kind == "step" for e in trace.events):
        return
    best: list[Event] = []
    paused = pauses(trace)
    for events in series(trace).values():
        total = sum(e.dur for e in events)
        whole = (
            events[-1].end
            - events[0].start
            - sum(
                max(0, min(to, after.start) - max(since, before.end))
                for before, after in zip(events, events[1:])
                for since, to in paused
            )
        )
        if (
            len(events) >= LEAST
            and total >= SHARE * whole
            and (total > sum(e.dur for e in best))
        ):
            best = events
    for event in best:
        event.kind = "step"
        event.is_iteration = True
    trace.has_iterations = bool(best)
