# SPDX-License-Identifier: Apache-2.0
"""Backward operator -> the forward operator whose gradient it computes.

The link is an arrow in the file, from the start of the forward to the start of the backward
operator. Without an arrow it is found by numbers: the forward operator with the same `Sequence
number` that starts last, on the thread of the backward operator's `Fwd thread id`. That thread is
known from arrows, or it is the only one that runs forward. Otherwise there is no link.
"""

from __future__ import annotations

from . import exact
from .events import Event, Trace, text_of, who

CATEGORIES = ("fwdbwd", "forward_backward")
NUMBER_MAX = 2**31 - 1
Track = tuple[str, str]


def arrows(trace: Trace) -> list[tuple[tuple[Track, int], tuple[Track, int]]]:
    """(thread and time of the start, thread and time of the end) in file order of the ends. The
    first start with an id counts, anywhere in the file."""
    starts: dict[str, tuple[Track, int]] = {}
    ends: list[tuple[str, tuple[Track, int]]] = []
    for record in trace.records:
        if record.get("cat") not in CATEGORIES:
            continue
        key, ts = text_of(record.get("id")), exact.number(record.get("ts"))
        if key is None or ts is None:
            continue
        where = (who(record), exact.us_to_ns(ts))
        if record.get("ph") == "s":
            starts.setdefault(key, where)
        elif record.get("ph") == "f":
            ends.append((key, where))
    return [(starts[key], where) for key, where in ends if key in starts]


def operator_of(here: list[Event]) -> Event | None:
    """The innermost operator with a sequence number among those that start at one place, or the
    outermost if none has a number."""
    numbered = [op for op in here if "Sequence number" in op.args]
    return numbered[-1] if numbered else (here[0] if here else None)


def number_of(event: Event) -> int | None:
    """Its sequence number, if it has a valid one."""
    number = event.integer("Sequence number")
    return number if number is not None and 0 <= number <= NUMBER_MAX else None


def links(trace: Trace) -> dict[Event, Event]:
    """Backward operator -> forward operator."""
    if "forward" not in trace.kept:
        trace.kept["forward"] = find_links(trace)
    return trace.kept["forward"]


def find_links(trace: Trace) -> dict[Event, Event]:
    """The same, once per trace."""
    ops = sorted(
        (e for e in trace.events if e.kind == "operator" and e.is_range and e.is_host),
        key=Event.order,
    )
    at: dict[tuple[Track, int], list[Event]] = {}
    for op in ops:
        at.setdefault((op.track, op.start), []).append(op)
    result: dict[Event, Event] = {}
    threads: dict[int, Track] = {}
    for start, end in arrows(trace):
        forward, backward = (operator_of(at.get(where, [])) for where in (start, end))
        if forward is None or backward is None or forward is backward:
            continue
        result.setdefault(backward, forward)
        logical = backward.integer("Fwd thread id")
        if logical is not None:
            threads.setdefault(logical, start[0])
    latest: dict[tuple[Track, int], Event] = {}
    waiting = []
    for op in sorted(ops, key=lambda op: (op.start, op.id)):
        number = number_of(op)
        if number is None:
            continue
        if not op.integer("Fwd thread id"):
            latest[op.track, number] = op
        elif op not in result:
            waiting.append(op)
    tracks = {track for track, _ in latest}
    only = tracks.pop() if len(tracks) == 1 else None
    for op in waiting:
        track = threads.get(op.integer("Fwd thread id"), only)
        forward = latest.get((track, number_of(op)))
        if forward is not None:
            result[op] = forward
    return result
