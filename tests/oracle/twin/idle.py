# SPDX-License-Identifier: Apache-2.0
"""The split of the time in which devices have nothing to do, by cause (src/table/rules.md, Time
by cause): slowly, range by range."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import kinds
from .events import Event
from .intervals import Interval, intersect, length, subtract, union

HANDOVER_NS, SLOW_CALL_NS = 100_000, 1_000_000
COMPILE_NS, SET_UP_NS = 100_000, 100_000_000
MUCH = 50
# In order of precedence; what comes before and after these is decided otherwise.
HOST = (
    "dataloader",
    "blocked",
    "allocator",
    "slow_call",
    "overhead",
    "optimizer",
    "launch",
    "python",
)
CODES = {
    "communication": "communication",
    "dataloader": "data_loading",
    "blocked": "synchronization",
    "allocator": "allocator",
    "slow_call": "slow_call",
    "overhead": "profiler_overhead",
    "optimizer": "optimizer",
    "launch": "launch_bound",
    "python": "python_idle",
    "unrecorded": "unrecorded_idle",
    "handover": "handover",
    "late": "late_start",
}
PYTHON = ("python", "module", "frame")
WORTH = 10


@dataclass
class Idle:
    """The parts by cause, and the ranges that have causes."""

    parts: dict[str, list[Interval]] = field(default_factory=dict)
    ranges: list[tuple[Event, str, Interval]] = field(default_factory=list)

    def within(self, cause: str, when: Interval) -> int:
        """The time of CAUSE in WHEN."""
        return length(intersect(self.parts[cause], union([when])))

    def of(self, cause: str, event: Event) -> int:
        """The time of CAUSE in which EVENT ran."""
        return self.within(cause, (event.start, event.end))


def cause_of_call(event: Event, is_sync: bool, is_allocator: bool, is_graph: bool) -> str:
    """What a call does to the host."""
    if is_sync:
        return "blocked"
    if is_allocator:
        return "slow_call" if event.dur >= SET_UP_NS else "allocator"
    if "Compile" in event.name and event.dur >= COMPILE_NS:
        return "slow_call"
    return "slow_call" if event.dur >= SLOW_CALL_NS and not is_graph else "launch"


def runs_python(event: Event) -> bool:
    """Whether a Python function runs within EVENT."""
    below = list(event.children)
    while below:
        one = below.pop()
        if one.kind in PYTHON:
            return True
        below += one.children
    return False


EXECUTORS = re.compile("^ExecutorState::Process|Executable(::|_)Execute")


def is_native(event: Event) -> bool:
    """Whether EVENT is a scope that a Python function or an executor calls, or an executor, and
    in which no Python runs."""
    around = event
    while around and not (
        EXECUTORS.search(around.name) or (around is not event and around.kind in PYTHON)
    ):
        around = around.parent
    return event.kind == "scope" and around is not None and not runs_python(event)


def causes_of(event: Event, call: str | None, is_xla: bool) -> list[str]:
    """The causes that a range of the host has; CALL is what it does if it is a call. IS_XLA: XLA
    compiled the program."""
    if is_xla and is_native(event):
        return ["launch"]
    if call:
        return sorted({"launch", call})
    if event.kind in ("dataloader", "overhead", "optimizer"):
        return [event.kind]
    if event.kind in ("operator", "communication"):
        return ["launch"]
    return ["python"] if event.kind in PYTHON else []


def stretches(event: Event) -> list[Interval]:
    """The long stretches in which EVENT, an operator, runs and nothing that it calls."""
    found, alone = [], event.start
    for child in sorted(event.children, key=Event.order):
        found.append((alone, child.start))
        alone = max(alone, child.end)
    return [
        (start, end)
        for start, end in [*found, (alone, event.end)]
        if end - start >= SLOW_CALL_NS
    ]


def split(
    events: list[Event],
    kept: list[Interval],
    work: list[Interval],
    communication: list[Interval],
    gaps: list[tuple[Interval, Event | None, bool]],
    drivers: set | None,
    calls: dict[Event, str],
    is_xla: bool,
) -> Idle:
    """The split. COMMUNICATION is that class, GAPS are with the call that launched what ends them
    and whether it waits; DRIVERS the threads that count, or None for all; CALLS what calls do."""
    found = Idle()
    ran: dict[str, list[Interval]] = {cause: [] for cause in HOST}
    for event in events:
        if not event.is_range or not event.is_host or event.dur <= 0:
            continue
        for cause in causes_of(event, calls.get(event), is_xla):
            if cause != "overhead" and drivers is not None and event.track not in drivers:
                continue
            ran[cause].append((event.start, event.end))
            if cause != "launch":
                found.ranges.append((event, cause, (event.start, event.end)))
        if event.kind not in ("operator", "communication") or (
            drivers is not None and event.track not in drivers
        ):
            continue
        for when in stretches(event):
            cause = (
                "blocked"
                if event.name in ("aten::item", "aten::_local_scalar_dense")
                else "slow_call"
            )
            ran[cause].append(when)
            found.ranges.append((event, cause, when))
    busy = union(work)
    rest = subtract(kept, busy)
    found.parts["communication"] = intersect(rest, communication)
    rest = subtract(rest, communication)
    near, far = [], []
    for (start, end), call, waits in gaps:
        if call is None or waits:
            continue
        at = max(start, call.end)
        near.append((at, min(end, at + HANDOVER_NS)))
        far.append((at + HANDOVER_NS, end))
    found.parts["handover"] = intersect(rest, union(near))
    rest = subtract(rest, union(near))
    blocked = union(ran["blocked"])
    late = intersect(rest, union(far))
    rest = subtract(rest, union(far))
    for cause in HOST:
        found.parts[cause] = intersect(rest, union(ran[cause]))
        rest = subtract(rest, union(ran[cause]))
    found.parts["blocked"] = union(found.parts["blocked"] + intersect(late, blocked))
    found.parts["late"] = subtract(late, blocked)
    found.parts["unrecorded"] = rest
    return found


def is_between(around: Event) -> bool:
    """Whether AROUND is a call, an announced step or the time of the recording, which call
    nothing."""
    return (
        around.kind in kinds.LAUNCHES
        or (around.category or "").lower() == "trace"
        or (around.kind == "step" and not around.is_iteration)
    )


def caller(event: Event) -> str | None:
    """The name of the innermost range around EVENT that is no call and no step."""
    around = event.parent
    while around and is_between(around):
        around = around.parent
    return around.name.rsplit(" at 0x", 1)[0] if around else None


def name_ranges(found: Idle, cause: str) -> tuple[int, str | None, str | None]:
    """(The number of ranges of CAUSE with any of its time, the name and the caller of those with
    most)."""
    counted = set()
    sums: dict[tuple[str, str | None], int] = {}
    callers = {}
    for event, own, when in found.ranges:
        ns = found.within(cause, when) if own == cause else 0
        if ns > 0:
            counted.add(event)
            raw = event.parent
            while raw and is_between(raw):
                raw = raw.parent
            key = (
                event.name,
                raw.name or None if raw and event.kind in kinds.LAUNCHES else None,
            )
            sums[key] = sums.get(key, 0) + ns
            callers[key] = caller(event) if key[1] is not None else None
    top = max(sums, key=lambda key: sums[key], default=None)
    return (len(counted), top[0], callers[top]) if top else (len(counted), None, None)


def name_functions(found: Idle) -> tuple[int, str | None]:
    """(The number of functions with any time outside of operators, the one with most of its
    own)."""
    count = 0
    sums: dict[str, int] = {}
    for event, own, _ in found.ranges:
        ns = found.of("python", event) if own == "python" else 0
        if ns == 0:
            continue
        count += 1
        sums[event.name] = sums.get(event.name, 0) + ns
        around = event.parent
        while around and around.kind not in PYTHON:
            around = around.parent
        if around:
            sums[around.name] = sums.get(around.name, 0) - ns
    name = max(filter(None, sums), key=lambda key: sums[key], default=None)
    if name is None or sums[name] <= 0:
        return count, None
    return count, name.rsplit(" at 0x", 1)[0]


def is_mark(event: Event) -> bool:
    """Whether the program marked EVENT, and not the profiler the time of the recording."""
    return event.kind in ("annotation", "scope") and (event.category or "").lower() != "trace"


def marked(found: Idle, ranges: list[Event], drivers: set | None) -> str | None:
    """The annotation or scope that is the innermost one in most of the time that is not recorded,
    if that is a tenth of it."""
    sums: dict[str, int] = {}
    for event in ranges:
        if (
            not is_mark(event)
            or not event.is_host
            or event.dur <= 0
            or (drivers is not None and event.track not in drivers)
        ):
            continue
        ns = found.of("unrecorded", event)
        if ns == 0:
            continue
        sums[event.name] = sums.get(event.name, 0) + ns
        around = event.parent
        while around and not is_mark(around):
            around = around.parent
        if around:
            sums[around.name] = sums.get(around.name, 0) - ns
    name = max(filter(None, sums), key=lambda key: sums[key], default=None)
    if (
        name is None
        or sums[name] <= 0
        or sums[name] < length(found.parts["unrecorded"]) // WORTH
    ):
        return None
    return name.rsplit(" at 0x", 1)[0]
