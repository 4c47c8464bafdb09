# SPDX-License-Identifier: Apache-2.0
"""Whether events were taken out of a file (src/table/rules.md, Files that lack events)."""

from __future__ import annotations

from . import kinds, links
from .events import Event, Trace

ENOUGH = 100  # numbers tell something
MEMORY = ("alloc", "free")


def numbers_of(events: list[Event], key: str) -> list[int]:
    """The numbers that EVENTS have by KEY."""
    found = [event.integer(key) for event in events]
    return [number for number in found if number is not None and number >= 0]


def span_of(numbers: list[int]) -> int:
    """How many numbers there are from the first of NUMBERS to the last, with both."""
    return max(numbers) - min(numbers) + 1 if numbers else 0


def are_dense(numbers: list[int]) -> bool:
    """Whether there are enough, and half or more of those from the first to the last."""
    return len(numbers) >= ENOUGH and 2 * len(numbers) >= span_of(numbers)


def lacks_launches(trace: Trace) -> bool:
    """Whether most kernels and memsets behind one whose call is there have no call."""
    launch = links.launch_of_device_event(trace)
    queues: dict[tuple[str, str], list[Event]] = {}
    for event in trace.events:
        if event.is_range and event.kind in kinds.DEVICE_WORK and event.kind != "memcpy":
            queues.setdefault(event.track, []).append(event)
    behind = []
    for own in queues.values():
        starts = [event.start for event in own if event in launch]
        behind += [event for event in own if starts and event.start > min(starts)]
    return 2 * sum(event not in launch for event in behind) > len(behind)


def lacks_events(trace: Trace) -> bool:
    """Whether the file of TRACE is one of the three."""
    if "lacks events" not in trace.kept:
        operators = numbers_of([e for e in trace.events if e.kind == "operator"], "External id")
        memory = [e for e in trace.events if e.kind in MEMORY]  # few write their numbers
        events = numbers_of([e for e in trace.events if e.kind not in MEMORY], "Ev Idx")
        has_functions = any(e.kind in ("python", "module") for e in trace.events)
        is_dense = are_dense(operators) or are_dense(events)
        trace.kept["lacks events"] = (
            (not is_dense and len(operators) >= ENOUGH)
            or (
                not is_dense
                and not has_functions
                and span_of(events) >= 2 * ENOUGH
                and 2 * (len(events) + len(memory)) < span_of(events)
            )
            or lacks_launches(trace)
        )
    return trace.kept["lacks events"]
