# SPDX-License-Identifier: Apache-2.0
"""Launch -> device work, and launch -> operator.

A device event belongs to the runtime or driver call with its correlation; if several calls have it,
to the last one that did not start after the event. A call belongs to the op with its external id,
on any thread of the process, if the op's closed range contains the call; else to the innermost op
of the call's own thread; else to none.
"""
from __future__ import annotations

import bisect

from .events import Event, Trace
from .kinds import DEVICE_WORK, LAUNCHES


def launch_of_device_event(trace: Trace) -> dict[Event, Event]:
    """Device event (work or sync) -> the call that launched it, if any."""
    if "launches" not in trace.kept:
        trace.kept["launches"] = find_launches(trace.events)
    return trace.kept["launches"]


def find_launches(events: list[Event]) -> dict[Event, Event]:
    """The same, once per trace."""
    calls: dict[int, list[Event]] = {}
    for event in events:
        correlation = event.integer("correlation")
        if event.kind in LAUNCHES and event.is_range and correlation is not None:
            calls.setdefault(correlation, []).append(event)
    launch: dict[Event, Event] = {}
    for event in events:
        if event.kind not in DEVICE_WORK | {"sync"} or not event.is_range:
            continue
        candidates = calls.get(event.integer("correlation"), [])
        before = [c for c in candidates if c.start <= event.start]
        if before:
            launch[event] = max(before, key=lambda c: (c.start, c.id))
        elif candidates:
            launch[event] = min(candidates, key=lambda c: (c.start, c.id))
    return launch


def op_of_call(calls: list[Event], ops: list[Event]) -> dict[Event, Event]:
    """Call -> the op among OPS that made it."""
    by_external_id: dict[tuple, Event] = {}
    by_track: dict[tuple, list[tuple[Event, int]]] = {}
    for op in sorted(ops, key=Event.order):
        if op.external_id:
            by_external_id.setdefault((op.process, op.external_id), op)
        track = by_track.setdefault(op.track, [])
        track.append((op, max(op.end, track[-1][1] if track else op.end)))
    result: dict[Event, Event] = {}
    for call in calls:
        named = by_external_id.get((call.process, call.external_id))
        if named and named.start <= call.start and call.end <= named.end:
            result[call] = named
            continue
        inner = innermost(by_track.get(call.track, []), call)
        if inner:
            result[call] = inner
    return result


def innermost(ops: list[tuple[Event, int]], call: Event) -> Event | None:
    """The last of OPS (in order of the forest) that encloses CALL: it does not start after the
    call, and the call starts before it ends and does not end after it. Each op comes with the
    latest end so far, so that the search backwards can stop."""
    first_after = bisect.bisect_right(ops, call.start, key=lambda pair: pair[0].start)
    for at in range(first_after - 1, -1, -1):
        op, latest_end = ops[at]
        if latest_end < call.end:
            return None
        if call.start < op.end and call.end <= op.end:
            return op
    return None
