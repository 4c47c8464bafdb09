# SPDX-License-Identifier: Apache-2.0
"""`gaps`: the times in which a queue has nothing to do, and what the host did, gap by gap."""

from __future__ import annotations

from . import kinds, links
from .events import Event, Trace


def around(event: Event | None) -> list[Event]:
    """EVENT and the ranges around it, from inside out."""
    found = []
    while event is not None:
        found.append(event)
        event = event.parent
    return found


def meanwhile(ranges: list[Event], start: int, end: int) -> tuple[str | None, int | None]:
    """The name that has most of START to END, of the RANGES of a thread in the order of the
    forest, and how much."""
    before = [e for e in ranges if e.start < start]
    counted = [*around(before[-1] if before else None)]
    counted += [e for e in ranges if start <= e.start < end]
    sums: dict[str, int] = {}
    for event in counted:
        length = max(0, min(event.end, end) - max(event.start, start))
        if length:
            sums[event.name] = sums.get(event.name, 0) + length
        if length and event.parent is not None:
            sums[event.parent.name] = sums.get(event.parent.name, 0) - length
    most = max(sums.values(), default=0)
    return next(((n, v) for n, v in sums.items() if v == most and v > 0), (None, None))


def gaps(trace: Trace) -> list[dict]:
    """The rows of one trace."""
    launch = links.launch_of_device_event(trace)
    threads: dict[tuple, list[Event]] = {}
    queues: dict[tuple, list[Event]] = {}
    for event in sorted((e for e in trace.events if e.is_range), key=Event.order):
        threads.setdefault(event.track, []).append(event)
        if event.kind in kinds.DEVICE_WORK and event.device:
            queues.setdefault(event.track, []).append(event)
    found = []
    for track in dict.fromkeys(e.track for e in trace.events):
        last = None
        for work in queues.get(track, []):
            if last is not None and work.start > last.end:
                call = launch.get(work)
                name, length = (
                    meanwhile(threads[call.track], last.end, work.start)
                    if call
                    else (None, None)
                )
                found.append(
                    {
                        "device": work.device,
                        "queue": work.thread,
                        "start_ns": last.end - trace.origin,
                        "dur_ns": work.start - last.end,
                        "before": last.name,
                        "after": work.name,
                        "thread": call.thread if call else None,
                        "meanwhile": name,
                        "meanwhile_ns": length,
                    }
                )
            if last is None or work.end > last.end:
                last = work
    return found


ROWS = {"gaps": (gaps, "dur_ns")}
