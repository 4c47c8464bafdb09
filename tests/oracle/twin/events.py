# SPDX-License-Identifier: Apache-2.0
"""Records of a file to events (product.md 4 `events`, and DECISIONS.md for the details).

One event per record that is one: X, a B with its E, a b with its e, an instant (i, I, n), a
sample of a counter per series. Metadata, flows and unknown phases are none. An event stands
where the record stood that opened it.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from . import exact, kinds

SYNCHRONOUS = ("X", "B")
INSTANTS = ("i", "I", "n")


@dataclass(eq=False)
class Event:
    """One event. Times are integer nanoseconds on the trace's own clock."""
    id: int
    phase: str                  # X, B, b, i, C: the phase that opened it
    category: str | None        # raw
    kind: str
    name: str
    process: str | None         # text of pid
    thread: str | None          # text of tid
    start: int
    end: int | None             # None: never closed, or an instant
    args: dict
    device: str | None = None
    value: object = None        # of a counter's series
    # Filled in by forest.py:
    parent: "Event | None" = None
    children: list["Event"] = field(default_factory=list)
    depth: int | None = None

    @property
    def dur(self) -> int | None:
        """Duration; None for instants, counters and open ranges."""
        return None if self.end is None else self.end - self.start

    @property
    def is_range(self) -> bool:
        """Whether it is a finished synchronous range, a member of the forest."""
        return self.phase in SYNCHRONOUS and self.end is not None

    @property
    def is_host(self) -> bool:
        """Whether it lies on a host thread rather than on a device queue."""
        return (self.category or "").lower() not in kinds.DEVICE_CATEGORIES

    @property
    def track(self) -> tuple[str | None, str | None]:
        """Thread or device queue."""
        return (self.process, self.thread)

    def order(self) -> tuple[int, int, int]:
        """Sort key of the forest: start, longer first, place in the file."""
        return (self.start, -self.end, self.id)

    def integer(self, key: str) -> int | None:
        """The whole number in args[KEY], if there is one."""
        return exact.integer(self.args.get(key))

    @property
    def external_id(self) -> int:
        """TB 2.3: `external id`, or else `External id`; 0 is none."""
        value = self.integer("external id")
        return (value if value is not None else self.integer("External id")) or 0


def text_of(value: object) -> str | None:
    """A process, thread or name as text: numbers by their digits, null as None."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return None
    return str(value)


@dataclass
class Trace:
    """All that a file says."""
    members: dict
    records: list[dict]
    events: list[Event] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)    # findings by quality code
    kept: dict = field(default_factory=dict)                # results asked for repeatedly

    def count(self, code: str) -> None:
        """One more finding of quality code CODE."""
        self.counts[code] = self.counts.get(code, 0) + 1

    @property
    def origin(self) -> int:
        """Smallest start of any event, in ns; 0 without events. All events are there when
        it is first asked for."""
        if "origin" not in self.kept:
            self.kept["origin"] = min((e.start for e in self.events), default=0)
        return self.kept["origin"]

    def flag(self, name: str) -> bool:
        """Whether the file's own metadata switches NAME on."""
        return bool(exact.number(self.members.get(name)) or self.members.get(name) is True)


def device_family(records: list[dict]) -> str:
    """The word for devices: from the categories of the runtime (DECISIONS.md)."""
    families = {str(r.get("cat", "")).lower().split("_")[0] for r in records}
    for family in ("xpu", "mtia", "privateuse1"):
        if family in families:
            return family
    return "cuda"


def opening(trace: Trace, record: dict, ts: Fraction, family: str) -> Event:
    """The event that RECORD opens, so far without an end."""
    phase = record["ph"]
    args = record.get("args")
    args = args if isinstance(args, dict) else {}
    name = text_of(record.get("name")) or ""
    category = text_of(record.get("cat"))
    start = exact.us_to_ns(ts)
    event = Event(len(trace.events), phase, category, "scope", name,
                  text_of(record.get("pid")), text_of(record.get("tid")), start, None, args)
    if phase in INSTANTS:
        event.kind = kinds.of_instant(name, exact.integer(args.get("Bytes")))
    else:
        event.kind = kinds.of_range(category or "", name, args)
    if not event.is_host:
        number = exact.integer(args.get("device"))
        number = exact.integer(event.process) if number is None else number
        event.device = f"{family}:{number}" if number is not None else family
    return event


def add_counter(trace: Trace, record: dict, ts: Fraction) -> None:
    """A row per series of a counter's sample."""
    args = record.get("args")
    for series, value in (args.items() if isinstance(args, dict) else ()):
        event = opening(trace, {**record, "args": {}}, ts, "")
        event.kind = "counter"
        event.args = {series: value}
        event.device = None
        event.value = value if exact.number(value) is not None else None
        trace.events.append(event)


def build(members: dict, records: list[dict]) -> Trace:
    """All events of a file."""
    trace = Trace(members, records)
    family = device_family(records)
    open_ranges: dict[tuple, list[Event]] = {}
    exact_start: dict[int, Fraction] = {}
    for record in records:
        phase = record.get("ph")
        if phase not in ("X", "B", "E", "b", "e", "i", "I", "n", "C"):
            if phase not in ("M", "s", "t", "f"):
                trace.count("unknown_phase")
            continue
        ts = exact.number(record.get("ts"))
        if ts is None:
            trace.count("wrong_type")
            continue
        if phase == "C":
            add_counter(trace, record, ts)
            continue
        if phase in ("E", "e"):
            stack = open_ranges.get(pair_key(record))
            if not stack:
                trace.count("unmatched_end")
                continue
            event = stack.pop()
            close(trace, event, exact.us_to_ns(ts), record)
            continue
        event = opening(trace, record, ts, family)
        trace.events.append(event)
        exact_start[event.id] = ts
        if phase == "X":
            dur = exact.number(record.get("dur"))
            if dur is None:
                trace.count("wrong_type")
            elif dur < 0:
                trace.count("negative_duration")
                event.end = event.start
            else:
                event.end = exact.span_ns(ts, dur)[1]
        elif phase in ("B", "b"):
            open_ranges.setdefault(pair_key(record), []).append(event)
    for stack in open_ranges.values():
        for _ in stack:
            trace.count("open_range")
    return trace


def pair_key(record: dict) -> tuple:
    """What a begin and its end have in common: B and E the thread, b and e category, id and
    process (the Chrome format)."""
    if record["ph"] in ("B", "E"):
        return ("B", text_of(record.get("pid")), text_of(record.get("tid")))
    return ("b", text_of(record.get("pid")), text_of(record.get("cat")),
            text_of(record.get("id")))


def close(trace: Trace, event: Event, end: int, record: dict) -> None:
    """End EVENT; arguments of the end join those of the begin."""
    if end < event.start:
        trace.count("negative_duration")
        end = event.start
    event.end = end
    args = record.get("args")
    if isinstance(args, dict):
        event.args = {**event.args, **args}
