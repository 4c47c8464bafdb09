# SPDX-License-Identifier: Apache-2.0
"""Apply `--process`, `--thread`, `--device`, `--steps`, `--from` and `--to` to a trace
(opscope-table(1)). The selection is made on the whole trace, before anything is counted: device
work follows its launch, but belongs to steps that a device draws if it starts in them. Times and numbers of steps stay the same."""

from __future__ import annotations

import bisect
import dataclasses
import re
from dataclasses import dataclass

from . import exact, forest, inventory, kinds, links, steps, wild
from .events import Event, Trace, in_range, name_of, who

# What was found out of the whole file and holds for its parts.
OF_FILE = ("steps beside", "times", "properties")


class NothingLeft(Exception):
    """The trace has no such process, thread, device or step."""


@dataclass(frozen=True)
class Selection:
    """What to select; None selects all."""

    process: str | None = None
    thread: str | None = None
    device: str | None = None
    steps: str | None = None  # 5, 5-7 or @0, @0-@2
    from_ns: int | None = None
    to_ns: int | None = None

    def arguments(self) -> list[str]:
        """As options of the command."""
        return [
            f"--{key.removesuffix('_ns')}={value}"
            for key, value in dataclasses.asdict(self).items()
            if value is not None
        ]


def tracks_of(trace: Trace, selection: Selection) -> set[tuple]:
    """The selected host threads with events, by id or by name."""
    threads = inventory.thread_names(trace)
    processes = inventory.process_names(trace)
    tracks = {e.track for e in trace.events if not e.device} - trace.summaries
    if selection.process is not None:
        tracks = {t for t in tracks if selection.process in (t[0], processes.get(t[0]))}
    if selection.thread is not None:
        tracks = {t for t in tracks if selection.thread in (t[1], threads.get(t))}
    if not tracks and (selection.process is not None or selection.thread is not None):
        raise NothingLeft
    return tracks


def number_of(label: str) -> int:
    """A label as a number; -1: it is none."""
    return int(label) if re.fullmatch("[0-9]{1,18}", label) else -1


def steps_of(trace: Trace, text: str) -> set[int] | None:
    """Ordinals of the steps that TEXT selects; None: the single step of a trace without steps."""
    match = re.fullmatch(r"(@?)(\d+)(?:-\1(\d+))?", text)
    first, last = int(match.group(2)), int(match.group(3) or match.group(2))
    found = [
        (ordinal, step)
        for ordinal, step in steps.numbered(trace)
        if first <= (ordinal if match.group(1) else number_of(step.label)) <= last
    ]
    if not found:
        raise NothingLeft
    return {ordinal for ordinal, step in found} if found[0][1].annotation else None


def is_in_time(trace: Trace, selection: Selection, at: int) -> bool:
    """Whether the time AT, by the clock of the file, is selected."""
    at -= trace.origin
    return (selection.from_ns is None or at >= selection.from_ns) and (
        selection.to_ns is None or at < selection.to_ns
    )


def is_annotation(event: Event) -> bool:
    """Whether it is an annotation by its category, regardless of its name."""
    return (
        event.is_range and kinds.OF_CATEGORY.get((event.category or "").lower()) == "annotation"
    )


def causes(trace: Trace) -> dict[Event, Event]:
    """Device event -> the host event that it follows: its launch; for an annotation the first one
    on the host with its name and external id."""
    originals: dict[tuple, Event] = {}
    for event in trace.events:
        if event.is_host and is_annotation(event) and event.external_id:
            originals.setdefault((event.external_id, event.name), event)
    copies = {
        e: originals[e.external_id, e.name]
        for e in trace.events
        if not e.is_host and is_annotation(e) and (e.external_id, e.name) in originals
    }
    return copies | links.launch_of_device_event(trace)


def wanted(trace: Trace, selection: Selection) -> list[Event]:
    """The selected events."""
    tracks = tracks_of(trace, selection)
    ordinals = None if selection.steps is None else steps_of(trace, selection.steps)
    devices = {e.device for e in trace.events if e.device} | {"cpu"}
    if selection.device is not None and selection.device not in devices:
        raise NothingLeft
    cause = causes(trace)
    step = inventory.step_of(trace)
    # An annotation belongs to the step that it makes.
    step = step | {
        s.annotation: ordinal for ordinal, s in steps.numbered(trace) if s.annotation
    }
    goes_by_track = selection.process is not None or selection.thread is not None
    is_own_step = steps.are_of_device(trace)

    def is_in_steps(event: Event | None) -> bool:
        return ordinals is None or step.get(event) in ordinals

    def is_of_track(event: Event | None) -> bool:
        return not goes_by_track or (event is not None and event.track in tracks)

    def stays(event: Event) -> bool:
        if not is_in_time(trace, selection, event.start):
            return False
        if event.is_host:
            return is_of_track(event) and is_in_steps(event)
        if selection.device is not None and event.device != selection.device:
            return False
        return is_of_track(cause.get(event)) and is_in_steps(
            event if is_own_step else cause.get(event)
        )

    return [e for e in trace.events if stays(e)]


def arrow_of(trace: Trace, record: dict) -> tuple | None:
    """Category and id of the arrow of RECORD; None if it is not part of one, or at a wild time."""
    ts = exact.number(record.get("ts"))
    if (
        record.get("ph") not in ("s", "t", "f")
        or ts is None
        or not in_range(exact.us_to_ns(ts))
        or wild.is_wild_arrow(trace, record)
    ):
        return None
    number = exact.integer(record.get("id"))
    text = record.get("id") if isinstance(record.get("id"), str) else None
    return (name_of(record.get("cat")), text if number is None else number)


def gone_arrows(trace: Trace, selection: Selection, events: set[Event]) -> set[tuple]:
    """The arrows that are left out. An arrow stays only if each of its records touches one of
    EVENTS, as the innermost range open at its time on its track. A record that touches nothing is
    in no step, and is selected by its own time and track."""
    is_any_step = selection.steps is None or steps_of(trace, selection.steps) is None
    is_anywhere = selection.process is None and selection.thread is None
    tracks = tracks_of(trace, selection) | {e.track for e in trace.events if e.device}
    ranges = {
        track: sorted(found, key=Event.order)
        for track, found in forest.by_track(trace.events).items()
    }

    def stays(record: dict) -> bool:
        at = exact.us_to_ns(exact.number(record["ts"]))
        begun = ranges.get(who(record), [])
        n_begun = bisect.bisect_right(begun, at, key=lambda e: e.start)
        event = begun[n_begun - 1] if n_begun else None
        while event and event.end < at:
            event = event.parent
        if event:
            return event in events
        return (
            is_any_step
            and (is_anywhere or who(record) in tracks)
            and is_in_time(trace, selection, at)
        )

    return {
        arrow_of(trace, record)
        for record in trace.records
        if arrow_of(trace, record) is not None and not stays(record)
    }


def apply(trace: Trace, selection: Selection) -> Trace:
    """The part of TRACE that SELECTION leaves, with new ids."""
    if selection == Selection():
        return trace
    events = wanted(trace, selection)
    gone = gone_arrows(trace, selection, set(events))
    records = [r for r in trace.records if arrow_of(trace, r) not in gone]
    result = dataclasses.replace(
        trace,
        records=records,
        is_part=True,
        kept={"origin": trace.origin}
        | {key: trace.kept[key] for key in OF_FILE if key in trace.kept},
        events=[
            dataclasses.replace(e, id=number, parent=None, children=[], depth=None)
            for number, e in enumerate(events)
        ],
    )
    if selection.to_ns is not None:
        result.kept["to"] = trace.origin + selection.to_ns
    kept = {id(event) for event in events}
    result.kept["ordinals"] = [
        ordinal
        for ordinal, step in steps.numbered(trace)
        if step.annotation and id(step.annotation) in kept
    ]
    forest.build(result)
    if selection.steps is not None:
        result.kept["rest"] = apply(trace, dataclasses.replace(selection, steps=None))
        result.kept["bounds"] = bounds(result.kept["rest"])
    return result


def bounds(rest: Trace) -> dict[int, tuple[int, int, bool, bool]]:
    """Start, end, whether it is of the tail, and whether it is empty, of each step by ordinal, in REST, the selection without
    its steps: choosing among steps changes none of them."""
    measured = zip(steps.numbered(rest), steps.steps_of(rest))
    return {
        ordinal: (step.start, step.end, step.tail, step.empty)
        for (ordinal, _), step in measured
        if step.annotation
    }
