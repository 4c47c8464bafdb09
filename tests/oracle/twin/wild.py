# SPDX-License-Identifier: Apache-2.0
"""Leave out events whose time is far from all others (docs/numbers.md, Time)."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .events import Event, Trace

DAY_NS = 24 * 3600 * 10 ** 9
LEAST_REACH_NS, FAR_NS = 7 * DAY_NS, 365 * DAY_NS
PAUSE_NS = 600 * 10 ** 9


def groups_of(starts: list[int]) -> list[list[int]]:
    """STARTS in order, divided where a whole day is empty."""
    groups: list[list[int]] = []
    for start in sorted(starts):
        if groups and start // DAY_NS - groups[-1][-1] // DAY_NS <= 1:
            groups[-1].append(start)
        else:
            groups.append([start])
    return groups


def spells_of(events: list[Event]) -> list[tuple[int, int, list[int]]]:
    """First start, last end and all starts of the runs of EVENTS without a long pause."""
    spells: list[tuple[int, int, list[int]]] = []
    for event in sorted(events, key=lambda e: e.start):
        end = event.start if event.end is None else event.end
        if spells and event.start - spells[-1][1] <= PAUSE_NS:
            first, last, starts = spells[-1]
            spells[-1] = (first, max(last, end), [*starts, event.start])
        else:
            spells.append((event.start, end, [event.start]))
    return spells


def behind_pauses(events: list[Event]) -> set[int]:
    """The starts of EVENTS that are too far from the others in proportion."""
    spells = spells_of(events)
    core = max(spells, key=lambda s: (len(s[2]), s[0]))
    if min(core[2]) == max(core[2]):
        return set()
    while True:
        first, last, starts = core
        pause = max(PAUSE_NS, 1000 * (last - first))
        near = [s for s in spells if s[0] - last <= pause and first - s[1] <= pause]
        grown = (min(s[0] for s in near), max(s[1] for s in near), [t for s in near for t in s[2]])
        if len(grown[2]) == len(starts):
            break
        core = grown
    wild: set[int] = set()
    for side in ([e.start for e in events if e.start < first],
                 [e.start for e in events if e.start > last]):
        is_one_time = len(set(side)) == 1 and len(starts) >= max(4, len(side) + 1)
        if is_one_time or 100 * len(side) <= len(starts):
            wild.update(side)
    return wild


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
        if group is not main and away > reach and (
                away > FAR_NS or group[0] == group[-1] or 10 * len(group) <= len(main)):
            wild.update(group)
    kept = [e for e in trace.events if e.start not in wild]
    if "opscope_version" not in trace.members:
        wild = behind_pauses(kept)
        kept = [e for e in kept if e.start not in wild]
    first, last = min(e.start for e in kept), max(e.start for e in kept)
    count = len(trace.events) - len(kept)
    finished = [e for e in kept if e.end is not None]
    far = [e for e in finished if e.end - last > reach]
    for event in far if 2 * len(far) < len(finished) else ():
        event.end = None
        count += 1
    trace.events[:] = kept
    for number, event in enumerate(kept):
        event.id = number
    trace.kept["times"] = (first - reach, last + reach)
    for record in trace.records:
        if record.get("ph") in ("s", "t", "f") and is_wild_arrow(trace, record):
            count += 1
    for _ in range(count):
        trace.count("clock_step")


def is_wild_arrow(trace: Trace, record: dict) -> bool:
    """Whether RECORD of an arrow is too far before or after all events."""
    first, last = trace.kept.get("times", (None, None))
    at = trace.time_ns(record)
    return at is not None and first is not None and not first <= at <= last
