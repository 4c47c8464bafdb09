# SPDX-License-Identifier: Apache-2.0
"""When devices were busy with work from before the recording (src/table/rules.md, Idle time by cause),
and what the notes of `advice` say of it."""

from __future__ import annotations

from dataclasses import dataclass

from . import kinds
from .events import Event
from .intervals import Interval, intersect, length, subtract, union

LATE_NS = 100_000
WORTH = 50  # a note is for more than 1 / WORTH of the steps


@dataclass
class Wait:
    """A time in which a device was busy, and the first work of the queue that waited for it."""

    when: Interval
    work: Event


def ran_between(work: list[Event], device: str, start: int, end: int) -> bool:
    """Whether any of WORK ran on DEVICE between START and END, also if that took no time."""
    return any(e.start < end and e.end > start for e in work if e.device == device)


def waits_of(work: list[Event], launch: dict[Event, Event]) -> list[Wait]:
    """The waits of all queues, in the order in which these appear."""
    found = []
    for queue in dict.fromkeys(event.track for event in work):
        first = min((e for e in work if e.track == queue), key=lambda e: (e.start, e.id))
        if first not in launch:
            continue
        returned, waited = launch[first].end, first.start - launch[first].end
        if waited <= LATE_NS or ran_between(work, first.device, returned, first.start):
            continue
        last = max(
            (e.end for e in work if e.device == first.device and e.end <= returned),
            default=returned - waited,
        )
        found.append(Wait((max(last, returned - waited), first.start), first))
    return found


@dataclass
class Note:
    """What is said of a device."""

    device: str
    ns: int
    of_ns: int
    call: str | None = None  # the call that was there for more than half of it
    call_ns: int = 0


def notes(
    waits: list[Wait],
    steps: list[Interval],
    busy: list[Interval],
    devices: list[str],
    calls: list[Event],
) -> list[Note]:
    """The notes about DEVICES: STEPS is the kept time with that of earlier work, BUSY that in which
    any device has work, CALLS those of the runtime and the driver."""
    found = []
    for device in devices:
        own = union([wait.when for wait in waits if wait.work.device == device])
        own = subtract(intersect(own, steps), busy)
        if WORTH * length(own) <= length(steps):
            continue
        note = Note(device, length(own), length(steps))
        shares = [(length(intersect(own, union([(c.start, c.end)]))), c) for c in calls]
        most = max(shares, key=lambda share: share[0], default=None)
        if most and 2 * most[0] > note.ns:
            note.call, note.call_ns = most[1].name, most[0]
        found.append(note)
    return found


def is_call(event: Event) -> bool:
    """Whether EVENT is a call of the runtime or the driver with a time."""
    return event.is_range and event.kind in kinds.LAUNCHES
