# SPDX-License-Identifier: Apache-2.0
"""Make events from the records of a file (src/table/rules.md, and DECISIONS.md for the details).

Events are: X, a B with its E, a b with its e, an instant (i, I, n), and a sample of each series of
a counter. Metadata, flows and unknown phases are not events. An event has the place of the record
that opened it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from string import ascii_uppercase
from typing import Callable

from . import agents, exact, findings, iterations, kinds, lines, producers, wild
from .reader import File
from .tolerant import Word

SYNCHRONOUS = ("X", "B")
INSTANTS = ("i", "I", "n", "R", "P", "T", "p", "N", "O", "D")
BEGINS, ENDS = ("B", "b", "S"), ("E", "e", "F")
TIME_MAX_NS = 2**62 - 1
UPPER = tuple(ascii_uppercase)


@dataclass(eq=False)
class Event:
    """One event. Times are integer nanoseconds on the trace's own clock."""

    id: int
    phase: str  # X, B, b, i, C: the phase that opened it
    category: str | None  # raw
    kind: str
    name: str
    process: str  # text of pid
    thread: str  # text of tid
    start: int
    end: int | None  # None: never closed, or an instant
    args: dict
    has_args: bool = False
    entry: int = 0  # the place of its record in the list of the file
    device: str | None = None  # of its queue; None on the host
    value: object = None  # of a counter's series
    is_fitted: bool = False  # its kind is that of its line (lines.py)
    is_iteration: bool = False
    on_device: bool | None = None  # by its line; None: by its category
    # Filled in by forest.py:
    parent: Event | None = None
    children: list[Event] = field(default_factory=list)
    depth: int | None = None

    @property
    def dur(self) -> int | None:
        """Duration; None for instants, counters and open ranges."""
        return None if self.end is None else self.end - self.start

    @property
    def is_range(self) -> bool:
        """Whether it is a finished synchronous range, and so in the forest."""
        return self.phase in SYNCHRONOUS and self.end is not None

    @cached_property
    def is_host(self) -> bool:
        """Whether it is on a host thread rather than on a device queue."""
        if self.on_device is not None:
            return not self.on_device
        return (self.category or "").lower() not in kinds.DEVICE_CATEGORIES

    @cached_property
    def host_type(self) -> str | None:
        """The plugin's word for its kind if it is a range on the host; None if there is none."""
        if not self.is_host:
            return None
        if self.is_fitted:
            return {
                "operator": "Operator",
                "annotation": "Annotation",
                "step": "Annotation",
            }.get(self.kind)
        category = (self.category or "").lower()
        if kinds.OF_CATEGORY.get(category) == "operator":
            return "Operator"
        return {"user_annotation": "Annotation", "python": "Python"}.get(category)

    @cached_property
    def track(self) -> tuple[str, str]:
        """Thread or device queue."""
        return (self.process, self.thread)

    def order(self) -> tuple[int, int, int]:
        """Sort key of the forest: start, longer first, place in the file."""
        return (self.start, -self.end, self.id)

    def integer(self, key: str) -> int | None:
        """The integer of 64 bits in args[KEY], if there is one."""
        number = exact.integer(self.args.get(key))
        return number if number is not None and number in findings.INT64 else None

    @property
    def correlation(self) -> int | None:
        """`correlation`, in any of its spellings."""
        spellings = ("correlation", "correlation_id", "correlationId")
        return next((n for n in map(self.integer, spellings) if n is not None), None)

    @property
    def external_id(self) -> int:
        """`external id`, or else `External id`; 0 if there is none."""
        value = self.integer("external id")
        return (value if value is not None else self.integer("External id")) or 0


def text_of(value: object) -> str | None:
    """A process, thread or id as text: numbers by their digits, None if missing."""
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(str(value))


def name_of(value: object) -> str | None:
    """A name or category if it is a text, else None. Half a surrogate pair becomes U+FFFD."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Word) else None


def who(record: dict) -> tuple[str, str]:
    """Process and thread. PyTorch writes an empty text if there is none, so a missing value is
    treated the same (DECISIONS.md)."""
    return (text_of(record.get("pid")) or "", text_of(record.get("tid")) or "")


def clean(text: str) -> str:
    """TEXT without halves of surrogate pairs."""
    return findings.HALF_PAIR.sub("\ufffd", text)


def argument_of(value: object) -> object:
    """An argument; bare words count as missing."""
    if isinstance(value, Word):
        return None
    return clean(value) if isinstance(value, str) else value


@dataclass
class Finding:
    """How often something was found, and the offset and the time of the first; None if it has
    none."""

    count: int
    offset: int | None
    ns: int | None


@dataclass
class Trace:
    """The contents of a file."""

    members: dict
    records: list[dict]
    events: list[Event] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)  # by quality code
    kept: dict = field(default_factory=dict)  # cached results
    producer: str | None = None
    dialect: str = "chrome"
    since_us: int = 0  # where times count from, if they are far from zero
    devices: dict[tuple, str] = field(default_factory=dict)  # of queues, by lines
    summaries: set[tuple] = field(default_factory=set)  # tracks that repeat others
    has_iterations: bool = False
    has_call_stacks: bool = False  # any event of the file has the argument
    family: str | None = None  # of its devices, if anything says that it has some
    device_word: str | None = None  # for devices in titles, if the file has any
    is_part: bool = False  # the result of a selection
    rank: int = 0
    span: int = 1
    worker: str | None = None

    def count(
        self, code: str, place: Callable[[], int] | None = None, ns: int | None = None
    ) -> None:
        """Count one more finding of quality code CODE. PLACE returns its offset when needed."""
        if code in self.findings:
            self.findings[code].count += 1
        else:
            self.findings[code] = Finding(1, place() if place else None, ns)

    @property
    def origin(self) -> int:
        """Smallest start of any event, in ns; 0 without events. Called only when all events exist;
        a run sets it for all its files."""
        if "origin" not in self.kept:
            self.kept["origin"] = min((e.start for e in self.events), default=0)
        return self.kept["origin"]

    def ts(self, record: dict) -> Fraction | None:
        """The time of RECORD in microseconds."""
        time = exact.number(record.get("ts"))
        return None if time is None else time - self.since_us

    def time_ns(self, record: dict) -> int | None:
        """The time of RECORD in nanoseconds, if it has one that is small enough."""
        ts = self.ts(record)
        return None if ts is None or not in_range(exact.us_to_ns(ts)) else exact.us_to_ns(ts)

    def flag(self, name: str) -> bool:
        """Whether the file's own metadata switches NAME on."""
        return bool(exact.number(self.members.get(name)) or self.members.get(name) is True)

    @property
    def is_torch(self) -> bool:
        """Whether it is of a program of PyTorch."""
        return producers.is_torch(self.producer, self.members)

    @property
    def steps_name(self) -> str:
        """The name that all steps called as PyTorch calls them have in tables."""
        return "step" if self.producer == "opscope" and not self.is_torch else "ProfilerStep*"

    def says_off(self, name: str) -> bool:
        """Whether the file's own metadata switches NAME off."""
        return exact.number(self.members.get(name)) == 0 or self.members.get(name) is False


CALLS_OF = {
    "cuda": ("cuda", "cu"),
    "hip": ("hip",),
    "npu": ("aclrt", "aclmdl"),
    "hpu": ("syn",),
}
CUDA_TYPE, HIP_TYPE = 1, 6  # of memory records
FIRST_GUESS = "cuda"  # where nothing tells the family


def family_of_call(name: str) -> str | None:
    """The family whose prefix NAME has before a capital letter."""
    return next(
        (
            family
            for family, prefixes in CALLS_OF.items()
            for prefix in prefixes
            if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] in UPPER
        ),
        None,
    )


def device_family(trace: Trace) -> str:
    """The first that tells one (src/table/rules.md, Names of devices)."""
    words = {str(r.get("cat", "")).lower().partition("_") for r in trace.records}
    told = [
        w
        for w in ("xpu", "mtia", "hpu", "privateuse1")
        if any(w == f and r for f, _, r in words)
    ]
    if told and told[0] != "privateuse1":
        return told[0]
    calls = (
        family_of_call(e.name)
        for e in trace.events
        if e.kind in kinds.LAUNCHES
        and (e.category or "").lower().startswith("privateuse1_") == bool(told)
    )
    of_call = next(filter(None, calls), None)
    if of_call or told:
        return of_call or told[0]
    is_hip = "hip_runtime_version" in trace.members or any(
        e.kind in ("alloc", "free") and e.integer("Device Type") == HIP_TYPE
        for e in trace.events
    )
    return "hip" if is_hip else FIRST_GUESS


def torch_word(family: str) -> str:
    """PyTorch for ROCm calls its devices as PyTorch for CUDA does."""
    return "cuda" if family == "hip" else family


def opening(trace: Trace, record: dict, ts: Fraction) -> Event:
    """The event that RECORD opens, without an end so far."""
    phase = record["ph"]
    args = record.get("args")
    args = (
        {key: argument_of(value) for key, value in args.items()}
        if isinstance(args, dict)
        else {}
    )
    name = name_of(record.get("name")) or ""
    category = name_of(record.get("cat"))
    start = exact.us_to_ns(ts)
    event = Event(
        len(trace.events),
        phase,
        category,
        "scope",
        name,
        *who(record),
        start,
        None,
        args,
        isinstance(record.get("args"), dict),
    )
    if phase in INSTANTS:
        event.kind = kinds.of_instant(name, exact.integer(args.get("Bytes")))
    else:
        event.kind = kinds.of_range(category or "", name, args)
    return event


def listed_devices(trace: Trace) -> list[dict]:
    """The entries of `deviceProperties`, empty ones for those that are no objects. What is no list
    has none."""
    listed = trace.kept.get("properties", trace.members.get("deviceProperties"))
    return [
        entry if isinstance(entry, dict) else {}
        for entry in (listed if isinstance(listed, list) else [])
    ]


def name_devices(trace: Trace) -> None:
    """Give all events of each device queue its device: `args.device` of its first event, else
    the pid."""
    queues = {event.track for event in trace.events if not event.is_host}
    if not queues and not listed_devices(trace):
        return
    family = trace.family = device_family(trace)
    trace.device_word = torch_word(family).upper() if queues else None
    devices: dict[tuple, str] = dict(trace.devices)
    for event in trace.events:
        if event.track in queues and event.track not in trace.summaries:
            if event.track not in devices:
                number = event.integer("device")
                number = exact.integer(event.process) if number is None else number
                own = event.args.get("device family")
                own = own if isinstance(own, str) else family
                devices[event.track] = (
                    own if number is None or number < 0 else f"{own}:{number}"
                )
            event.device = devices[event.track]
    by_line = next((e.device for e in trace.events if e.track in trace.devices), None)
    if by_line:
        trace.device_word = torch_word(by_line.partition(":")[0]).upper()
    if family == "hip" and trace.dialect == "kineto":
        match_agents(trace)
    if trace.dialect == "kineto":
        tell_ranks_apart(trace)


def merged_rank(process: str) -> str:
    """The rank that a merger wrote before a pid: TP00 of "[TP00] 900", rank0 of "rank0_900"."""
    found = re.match(r"\[((?:[^\]]+\]\[)*[^\]]+)\] .", process or "", re.DOTALL) or re.match(
        r"(?i)(rank[0-9]+)[_:].", process or "", re.DOTALL
    )
    return found[1] if found else ""


def tell_ranks_apart(trace: Trace) -> None:
    """If two merged ranks have a device of one number, those of each rank come behind those of the
    ranks before it."""
    found: dict[str, set[int]] = {}
    for event in trace.events:
        number = exact.integer((event.device or "").rpartition(":")[2])
        if ":" in (event.device or "") and number is not None and 0 <= number <= 65535:
            found.setdefault(merged_rank(event.process), set()).add(number)
    if sum(map(len, found.values())) == len(set().union(*found.values())):
        return
    of_rank = lines.first_numbers((rank, max(numbers)) for rank, numbers in found.items())
    of_device = {
        (rank, n): of_rank[rank] + n for rank, numbers in found.items() for n in numbers
    }
    for event in trace.events:
        family, _, number = (event.device or "").rpartition(":")
        moved = of_device.get((merged_rank(event.process), exact.integer(number)))
        event.device = f"{family}:{moved}" if family and moved is not None else event.device
    move_properties(trace, of_device)


def move_properties(trace: Trace, of_device: dict[tuple[str, int], int]) -> None:
    """Give properties the numbers OF_DEVICE, where they list a number as often as ranks have it."""
    entries = listed_devices(trace)
    ids = [
        place if (n := exact.integer(entry.get("id"))) is None or n < 0 else n
        for place, entry in enumerate(entries)
    ]
    moved = list(ids)
    for number in {n for _, n in of_device}:
        places = [i for i, n in enumerate(ids) if n == number]
        new = sorted(to for (_, n), to in of_device.items() if n == number)
        for place, to in zip(places, new) if len(places) == len(new) else ():
            moved[place] = to
    if entries:
        trace.kept["properties"] = [
            {**entry, "id": number} for entry, number in zip(entries, moved)
        ]


def match_agents(trace: Trace) -> None:
    """Give devices the numbers that programs have for them."""

    def numbers(of: object) -> set[int]:
        return {int(n) for n in of if n is not None and int(n) >= 0}

    at_work = numbers(e.device.partition(":")[2] or None for e in trace.events if e.device)
    ids = [exact.integer(entry.get("id")) for entry in listed_devices(trace)]
    known = numbers(place if id is None or id < 0 else id for place, id in enumerate(ids))
    of_memory = numbers(
        e.integer("Device Id")
        for e in trace.events
        if e.kind in ("alloc", "free") and e.integer("Device Type") in (CUDA_TYPE, HIP_TYPE)
    )
    if not at_work:
        return
    places = agents.shift(at_work, known, of_memory)
    if places is None:
        trace.count("device_unmatched")
    for event in trace.events if places else []:
        if event.device and ":" in event.device:
            event.device = f"hip:{int(event.device.partition(':')[2]) - places}"


def tell_producer(trace: Trace) -> None:
    """Who wrote the file, and the kinds that its lines give."""
    names: dict[str, dict] = {"process_name": {}, "thread_name": {}, "process_labels": {}}
    for record in trace.records:
        args = record.get("args")
        if (
            record.get("ph") == "M"
            and isinstance(args, dict)
            and name_of(record.get("name")) in names
        ):
            key = "labels" if record["name"] == "process_labels" else "name"
            names[record["name"]][who(record)] = (text_of(args.get(key)) or "").rstrip(" ")
    processes = {process: name for (process, _), name in names["process_name"].items()}
    labels = {process: name for (process, _), name in names["process_labels"].items()}
    threads = names["thread_name"]
    trace.producer, trace.dialect = producers.find(
        producers.Signs(
            trace.members, trace.records, set(processes.values()), set(threads.values())
        )
    )
    lines.fit_all(
        trace,
        trace.dialect,
        lambda event: lines.Place(
            processes.get(event.process, ""),
            threads.get(event.track, ""),
            labels.get(event.process, ""),
        ),
    )
    if trace.kept.pop("unmatched", False):
        trace.count("device_unmatched")
    if trace.dialect != "torch_legacy":
        iterations.mark(trace)


def add_counter(trace: Trace, record: dict, ts: Fraction) -> None:
    """Add a row for each series of a counter's sample."""
    args = record.get("args")
    for series, value in args.items() if isinstance(args, dict) else ():
        value = argument_of(value)
        event = opening(trace, {**record, "args": {}}, ts)
        event.kind = "counter"
        event.args, event.has_args = {series: value}, True
        event.value = value
        trace.events.append(event)


def in_range(ns: int) -> bool:
    """Whether a time is small enough that two such times can be added."""
    return abs(ns) <= TIME_MAX_NS


class Builder:
    """Takes the records of a file one by one."""

    def __init__(self, file: File):
        self.file = file
        self.trace = Trace(file.members, [e for e in file.entries if isinstance(e, dict)])
        self.open_ranges: dict[tuple, list[Event]] = {}
        self.left: list[tuple[dict, int]] = []  # ends without a begin
        self.record_of: dict[int, dict] = {}  # id() of an opened range -> its record
        begins, ends = (
            {name_of(r.get("name")) for r in self.trace.records if self.is_kept(r, ph)}
            for ph in "BE"
        )
        self.ends_have_names = bool((begins & ends) - {None, ""})
        samples = file.members.get("samples")
        for _ in samples if isinstance(samples, list) else ():
            self.trace.count("call_samples")
        frames = file.members.get("stackFrames")
        if isinstance(frames, dict) and frames and "samples" not in file.members:
            self.trace.count("event_stacks")
        self.trace.since_us = far_clock(self.trace.records)
        if self.trace.since_us:
            self.trace.count("far_clock")

    def is_kept(self, record: dict, phase: str) -> bool:
        """Whether RECORD is one of PHASE with a time."""
        return record.get("ph") == phase and self.trace.time_ns(record) is not None

    def place(self, index: int, *keys: str) -> Callable[[], int] | None:
        """A function that finds the offset of member INDEX of the list, or of a value in it."""
        places = self.file.places
        if places is None:
            return None
        return lambda: places.value(index, *keys)

    def take(self, index: int, entry: object) -> None:
        """Process member INDEX of the list of events."""
        before = len(self.trace.events)
        self.look_at(index, entry)
        for event in self.trace.events[before:]:
            event.entry = index

    def look_at(self, index: int, entry: object) -> None:
        """The same, without recording which events were made from it."""
        if not isinstance(entry, dict):
            self.trace.count("wrong_type", self.place(index))
            return
        wrong = list(findings.of_record(entry, self.trace.since_us))
        for code, keys in wrong:
            self.trace.count(code, self.place(index, *keys))
        phase = entry.get("ph")
        if phase not in ("X", "C", "M", "s", "t", "f", *BEGINS, *ENDS, *INSTANTS):
            if not entry:  # {} ends lists that are written event by event
                return
            self.trace.count("unknown_phase", self.place(index))
            if "ph" in entry:
                is_letter = isinstance(phase, str) and len(phase) == 1 and phase.isascii()
                self.trace.count(f"phase {phase if is_letter else '?'}", self.place(index))
            return
        bad = {keys[0] for _, keys in wrong if keys in (("ts",), ("dur",))}
        if "ts" not in entry or "ts" in bad:
            if phase != "M" and "ts" not in entry:
                self.trace.count("wrong_type", self.place(index))
            return
        ts = self.trace.ts(entry)
        if not in_range(exact.us_to_ns(ts)):
            if phase != "M" or not self.trace.since_us:
                self.trace.count("out_of_range", self.place(index))
        elif phase == "C":
            add_counter(self.trace, entry, ts)
        elif phase in ENDS:
            self.close(entry, exact.us_to_ns(ts))
        elif phase not in ("M", "s", "t", "f"):
            event = opening(self.trace, entry, ts)
            self.trace.events.append(event)
            if phase == "X":
                self.finish(index, event, ts, None if "dur" in bad else entry.get("dur"))
            elif phase in BEGINS:
                self.open_ranges.setdefault(pair_key(entry), []).append(event)
                self.record_of[id(event)] = entry

    def finish(self, index: int, event: Event, ts: Fraction, dur: object) -> None:
        """Set the end of an X. DUR is None if it is invalid or missing."""
        if dur is None:
            return
        length = exact.number(dur)
        if length is None:
            self.trace.count("wrong_type", self.place(index))
        elif length < 0:
            self.trace.count("negative_duration", self.place(index), event.start)
            event.end = event.start
        elif not in_range(exact.span_ns(ts, length)[1]):
            self.trace.count("out_of_range", self.place(index))
        else:
            event.end = exact.span_ns(ts, length)[1]

    def close(self, record: dict, at: int) -> None:
        """Set the end of a B or b; its arguments are added to those of the begin. Errors are
        counted after those of reading."""
        stack = self.open_ranges.get(pair_key(record))
        late = self.trace.kept.setdefault("late findings", [])
        is_named = record["ph"] != "E" and bool(name_of(record.get("name")))
        if not stack:
            (self.left if is_named else late).append(
                (record, at) if is_named else ("unmatched_end", at)
            )
            return
        event = self.ended_by(record, stack) if record["ph"] == "E" else stack[-1]
        if event is None:
            return
        if record["ph"] != "E" and name_of(record.get("name")):
            event = next(
                (e for e in reversed(stack) if e.name == name_of(record["name"])), None
            )
        if event is None:
            self.left.append((record, at))
            return
        stack.remove(event)
        self.end_by(event, record, at)

    def ended_by(self, record: dict, stack: list[Event]) -> Event | None:
        """The range of STACK, which is not empty, that RECORD, an E, ends."""
        name = name_of(record.get("name"))
        if not name or stack[-1].name == name:
            return stack[-1]
        at = exact.us_to_ns(self.trace.ts(record))
        self.trace.kept.setdefault("late findings", []).append(("mismatched_end", at))
        named = next((e for e in reversed(stack[-256:]) if e.name == name), None)
        is_cut = stack[-1].name.startswith(name) or name.startswith(stack[-1].name)
        return named or (stack[-1] if is_cut or not self.ends_have_names else None)

    def end_by(self, event: Event, record: dict, at: int) -> None:
        """End EVENT by RECORD."""
        late = self.trace.kept.setdefault("late findings", [])
        if at < event.start:
            late.append(("negative_duration", event.start))
        event.end = max(at, event.start)
        args = record.get("args")
        if isinstance(args, dict):
            event.has_args = True
            event.args = {
                **event.args,
                **{key: argument_of(value) for key, value in args.items()},
            }

    def match_left(self) -> None:
        """Asynchronous ends that ended nothing in their process, in the order of the file: by
        time, each closes the last begin before it of its id and name in any process."""
        late = self.trace.kept.setdefault("late findings", [])
        by_key: dict[tuple, list[tuple]] = {}
        for event in (e for stack in self.open_ranges.values() for e in stack):
            if event.phase in ("b", "S"):
                by_key.setdefault((*across(self.record_of[id(event)]), event.name), []).append(
                    (event.start, 0, event.id, event)
                )
        for number, (record, at) in enumerate(self.left):
            by_key.setdefault((*across(record), name_of(record.get("name"))), []).append(
                (at, 1, number, record)
            )
        matched = set()
        for parts in by_key.values():
            stack: list[Event] = []
            for at, is_end, number, what in sorted(parts, key=lambda p: p[:3]):
                if not is_end:
                    stack.append(what)
                elif stack:
                    event = stack.pop()
                    self.open_ranges[
                        next(
                            k for k, s in self.open_ranges.items() if any(e is event for e in s)
                        )
                    ].remove(event)
                    self.end_by(event, what, at)
                    matched.add(number)
        late += [
            ("unmatched_end", at)
            for number, (_, at) in enumerate(self.left)
            if number not in matched
        ]

    def conclude(self) -> Trace:
        """Do what is only possible after the last record."""
        trace = self.trace
        self.match_left()
        for code, ns in trace.kept.pop("late findings", []):
            trace.count(code, None, ns)
        still_open = {id(e) for stack in self.open_ranges.values() for e in stack}
        for event in trace.events:
            if id(event) in still_open:
                trace.count(
                    "open_range" if event.phase == "B" else "unmatched_begin", None, event.start
                )
        wild.leave_out(trace)
        trace.has_call_stacks = any("Call stack" in e.args for e in trace.events)
        tell_producer(trace)
        name_devices(trace)
        for event in trace.events:
            if not findings.is_utf8(event.name):
                trace.count("not_utf8", None, event.start)
            elif event.name == "unknown" and event.kind in ("operator", "annotation", "python"):
                trace.count("lost_name", None, event.start)
        return trace


def build(file: File) -> Trace:
    """All events of a file."""
    builder = Builder(file)
    for code, offset in file.findings:
        if code != "truncated":
            builder.trace.count(code, lambda offset=offset: offset)
    for index, entry in enumerate(file.entries):
        builder.take(index, entry)
    for code, keys in findings.of_record(file.cut):
        builder.trace.count(code, builder.place(len(file.entries), *keys))
    for code, offset in file.findings:
        if code == "truncated":
            builder.trace.count(code, lambda offset=offset: offset)
    return builder.conclude()


def pair_key(record: dict) -> tuple:
    """The key shared by a begin and its end: the thread for B and E; category, id, its scope and
    process for b and e (the Chrome format)."""
    if record["ph"] in ("B", "E"):
        return ("B", *who(record))
    id2 = record.get("id2")
    shared = (
        record["ph"] in ("S", "F"),
        name_of(record.get("cat")),
        text_of(record.get("scope")),
    )
    if isinstance(id2, dict):
        return (*shared, None if "global" in id2 else who(record)[0], repr(id2))
    return (*shared, who(record)[0], text_of(record.get("id")))


def across(record: dict) -> tuple:
    """The key of an asynchronous range for all processes: only an id2 that is local is that of
    one."""
    key = pair_key(record)
    is_local = isinstance(record.get("id2"), dict)
    return key if is_local else (*key[:3], None, *key[4:])


def far_clock(records: list[dict]) -> int:
    """Where times count from: the whole microseconds of the first that is far from zero of the
    first eight ranges, or without any of the first eight events, if more than half of them are
    more than 146 years from it; else 0."""
    timed = [
        r
        for r in records
        if r.get("ph") != "M"
        and exact.number(r.get("ts")) is not None
        and abs(int(exact.number(r["ts"]))) < 2**63
    ]
    ranges = [r for r in timed if r.get("ph") in ("X", "B", "b", "S")]
    first = [int(exact.number(r["ts"])) for r in (ranges or timed)[:8]]  # towards zero
    far = [whole for whole in first if abs(whole) > TIME_MAX_NS // 1000]
    return far[0] if 2 * len(far) > len(first) else 0
