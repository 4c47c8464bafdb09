# SPDX-License-Identifier: Apache-2.0
"""Leave out events whose time is far from all others (src/table/rules.md, Time)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .events import Event, Trace

DAY_NS = 24 * 3600 * 10**9
LEAST_REACH_NS, FAR_NS = 7 * DAY_NS, 365 * DAY_NS
PAUSE_NS = DAY_NS // 2


def groups_of(starts: list[int]) -> list[list[int]]:
    """STARTS in order, divided where a whole day is empty."""
    groups: list[list[int]] = []
    for start in sorted(starts):
        if groups and start // DAY_NS - groups[-1][-1] // DAY_NS <= 1:
            groups[-1].append(start)
        else:
            groups.append([start])
    return groups


def end_of(event: Event) -> int:
    return event.start if event.end is None else event.end


def behind_pauses(events: list[Event]) -> set[int]:
    """The first and the last start of EVENTS, if too far from the others in proportion."""
    first, last = min(e.start for e in events), max(e.start for e in events)
    apart = {first, last}
    while core := [e for e in events if e.start not in apart]:
        begin, end = min(e.start for e in core), max(map(end_of, core))
        pauses = {
            first: begin - max(end_of(e) for e in events if e.start == first),
            last: last - end,
        }
        near = {at for at in apart if pauses[at] <= max(PAUSE_NS, 1000 * (end - begin))}
        if not near:
            break
        apart -= near
    most = max([3, *(sum(e.start == at for e in events) for at in apart)])
    is_more = len(core) > most and len({e.start for e in core}) > 1
    return apart if is_more else set()


def leave_out(trace: Trace) -> None:
    """Remove wild events from TRACE, and wild ends from the others; count both, and arrows."""
    groups = groups_of([e.start for e in trace.events])
    if not groups:
        return
    main = max(groups, key=lambda g: (g[-1] > g[0], len(g), g[0]))
    reach = max(LEAST_REACH_NS, 100 * (main[-1] - main[0]))
    wild: set[int] = set()
    for group in groups:
        away = max(group[0] - main[-1], main[0] - group[-1])
        if (
            group is not main
            and away > reach
            and (away > FAR_NS or group[0] == group[-1] or 10 * len(group) <= len(main))
        ):
            wild.update(group)
    kept = [e for e in trace.events if e.start not in wild]
    if "opscope_version" not in trace.members:
        wild = behind_pauses(kept)
        kept = [e for e in kept if e.start not in wild]
    first, last = min(e.start for e in kept), max(e.start for e in kept)
    finished = [e for e in kept if e.end is not None]
    far = {e for e in finished if e.end - last > reach}
    far = far if 2 * len(far) < len(finished) else set()
    remaining = set(kept)
    times = [e.start for e in trace.events if e not in remaining or e in far]
    for event in far:
        event.end = None
    trace.events[:] = kept
    for number, event in enumerate(kept):
        event.id = number
    trace.kept["times"] = (first - reach, last + reach)
    times += [
        trace.time_ns(record)
        for record in trace.records
        if record.get("ph") in ("s", "t", "f") and is_wild_arrow(trace, record)
    ]
    for at in times:
        trace.count("clock_step", ns=at)


def is_wild_arrow(trace: Trace, record: dict) -> bool:
    """Whether RECORD of an arrow is too far before or after all events."""
    first, last = trace.kept.get("times", (None, None))
    at = trace.time_ns(record)
    return at is not None and first is not None and not first <= at <= last
