# SPDX-License-Identifier: Apache-2.0
"""Launch -> device work, and launch -> operator.

A device event belongs to the runtime or driver call with its correlation; if several calls have it,
to the last one that did not start after the event. A call belongs to the op with its external id,
on any thread of the process, if the op's closed range contains the call; else to the innermost op
of the call's own thread; else to none.
"""

from __future__ import annotations

import bisect

from .events import Event, Trace, merged_rank
from .kinds import DEVICE_WORK, LAUNCHES


def launch_of_device_event(trace: Trace) -> dict[Event, Event]:
    """Device event (work or sync) -> the call that launched it, if any."""
    if "launches" not in trace.kept:
        trace.kept["launches"] = find_launches(trace.events)
        follow_arrows(trace, trace.kept["launches"])
    return trace.kept["launches"]


def find_launches(events: list[Event]) -> dict[Event, Event]:
    """The same, once per trace."""
    calls: dict[tuple, list[Event]] = {}
    for event in events:
        correlation = event.correlation
        if event.kind in LAUNCHES and event.is_range and correlation is not None:
            calls.setdefault((merged_rank(event.process), correlation), []).append(event)
    launch: dict[Event, Event] = {}
    for event in events:
        if event.kind not in DEVICE_WORK | {"sync"} or not event.is_range:
            continue
        candidates = calls.get((merged_rank(event.process), event.correlation), [])
        before = [c for c in candidates if c.start <= event.start]
        if before:
            launch[event] = max(before, key=lambda c: (c.start, c.id))
        elif candidates:
            launch[event] = min(candidates, key=lambda c: (c.start, c.id))
    return launch


DRAWN_BY_IDS = ("ac2g", "async", "async_cpu_to_gpu")  # Kineto's: they tell nothing more


def follow_arrows(trace: Trace, launch: dict[Event, Event]) -> None:
    """Work without a call by its id gets the call around the start of an arrow that leads to it;
    or else the operator there stands for the call."""
    from . import flows  # which needs the links of forward operators

    starts: dict[tuple, list[Event]] = {}
    hosts: dict[tuple, list[Event]] = {}
    for event in sorted((e for e in trace.events if e.is_range), key=Event.order):
        if event.kind in DEVICE_WORK:
            starts.setdefault((event.track, event.start), []).append(event)
        if event.kind in LAUNCHES or (event.is_host and event.kind == "operator"):
            hosts.setdefault(event.track, []).append(event)
    by_operator: list[tuple[Event, Event]] = []
    by_call: dict[Event, Event] = {}
    for source, end in flows.arrows(flows.records_of(trace)) if starts else []:
        if (
            source is None
            or end is None
            or source.category in DRAWN_BY_IDS
            or flows.kind_of(source.category, trace.dialect) != "launch"
        ):
            continue
        work = (starts.get((end.track, end.at)) or [None])[-1]
        around = [
            e
            for e in hosts.get(source.track, [])
            if e.start <= source.at and (e.start == source.at or e.end > source.at)
        ]
        if work is None or not around:
            continue
        calls = [e for e in around if e.kind in LAUNCHES]
        if calls:
            by_call.setdefault(work, calls[-1])
        else:
            by_operator.append((work, around[-1]))
    for work, call in by_call.items():
        launch.setdefault(work, call)
    trace.kept["operators by arrows"] = {}
    for work, operator in by_operator:
        call = launch.setdefault(work, operator)
        trace.kept["operators by arrows"].setdefault(call, operator)


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
