# SPDX-License-Identifier: Apache-2.0
"""Events and ranges of a raw file for counts.py: read by Python's json, paired by the rules of the
Chrome Trace Event Format and of src/table/rules.md. Nothing is shared with the twin."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

INSTANTS = frozenset("iInRPTp")
ARROWS = frozenset("stf")


# --- Reading ---


def contents(path: Path) -> str:
    """The text of PATH; what is not UTF-8 as U+FFFD. A cut archive gives what is whole."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error):
            data = zlib.decompressobj(31).decompress(data)
    return data.decode("utf-8", "replace")


def quoted(text: str) -> str:
    """TEXT with the bare quotation marks of names escaped: a name ends with the last of its line."""
    return re.sub(
        r'("name": ")([^\n]*)(",?[^"\n]*\n)',
        lambda m: m[1] + json.dumps(m[2].replace('\\"', '"'))[1:-1] + m[3],
        text,
    )


def salvaged(text: str, left_out: Counter) -> list[Any]:
    """The whole values of the list of events in TEXT, which is no JSON."""
    decoder = json.JSONDecoder(parse_float=Decimal, strict=False)
    found = re.search(r'"traceEvents"\s*:\s*\[', text)
    at = found.end() if found else text.find("[") + 1
    events: list[Any] = []
    space = re.compile(r"[\s,]*")
    while True:
        at = space.match(text, at).end()
        if at == len(text) or text[at] == "]":
            return events
        try:
            event, at = decoder.raw_decode(text, at)
        except ValueError:
            left_out["cut"] += 1
            return events
        events.append(event)


@dataclass
class File:
    """The raw contents of a trace."""

    events: list[dict]
    members: dict[str, Any] = field(default_factory=dict)
    left_out: Counter = field(default_factory=Counter)


def read(path: Path) -> File | None:
    """The events of PATH, or None if it holds none."""
    text = contents(path)
    file = File([])
    for way in (str, quoted):
        try:
            whole = json.loads(way(text), parse_float=Decimal, strict=False)
            break
        except ValueError:
            continue
    else:
        whole = salvaged(text, file.left_out)
    events = whole.get("traceEvents", []) if isinstance(whole, dict) else whole
    if isinstance(whole, dict):
        file.members = whole
    file.events = [e for e in events if isinstance(e, dict) and isinstance(e.get("ph"), str)]
    file.left_out["no_phase"] += len(events) - len(file.events)
    return file if file.events else None


def nanoseconds(us: Decimal) -> int:
    """Microseconds as whole nanoseconds, halves up."""
    return int((us * 1000 + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def decimal(value: Any) -> Decimal | None:
    """A number, or a text that is one."""
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def arguments(event: dict) -> dict:
    """The arguments of EVENT."""
    args = event.get("args")
    return args if isinstance(args, dict) else {}


# --- From events to ranges ---


@dataclass
class Range:
    """A range that has ended."""

    event: dict
    start: int
    end: int
    order: int
    is_async: bool = False
    self_ns: int = 0

    @property
    def ns(self) -> int:
        return self.end - self.start

    @property
    def name(self) -> str:
        return name_of(self.event)

    @property
    def thread(self) -> tuple:
        return thread_of(self.event)


def name_of(event: dict) -> str:
    """The name of EVENT; none is the empty text."""
    name = event.get("name")
    return name if isinstance(name, str) else "" if name is None else str(name)


def thread_of(event: dict) -> tuple:
    """Process and thread, as text; empty where the event names none."""
    return tuple("" if event.get(k) is None else str(event[k]) for k in ("pid", "tid"))


def async_key(event: dict) -> tuple:
    """What begins and ends of one asynchronous range have in common, besides the name. Ids belong
    to a process, unless they are said to be global."""
    wide = event.get("id2")
    if isinstance(wide, dict) and "global" in wide:
        which: tuple = ("global", str(wide["global"]))
    elif isinstance(wide, dict):
        which = ("local", str(event.get("pid")), str(wide.get("local")))
    else:
        which = ("id", str(event.get("pid")), str(event.get("id")))
    return (event["ph"] in "SF", str(event.get("cat")), str(event.get("scope")), which)


def wide_key(event: dict) -> tuple:
    """async_key() for halves in different processes: plain ids are those of all of them."""
    key = async_key(event)
    return key if key[3][0] != "id" else (*key[:3], ("id", "", key[3][2]))


class Ranges:
    """The ranges of a file: complete ones, and pairs in the order of the file."""

    def __init__(self, file: File):
        self.left_out = file.left_out
        self.all: list[Range] = []
        self.n_begins = 0
        self.n_mismatched = 0  # ends of another name than the range that is open
        self.open: dict[tuple, list[tuple[dict, int, int]]] = defaultdict(list)
        self.left: list[tuple[dict, int]] = []  # named asynchronous ends that closed nothing
        begins, ends = (
            {
                name_of(e)
                for e in file.events
                if e["ph"] == phase and decimal(e.get("ts")) is not None
            }
            for phase in "BE"
        )
        self.ends_are_named = bool((begins & ends) - {""})
        for order, event in enumerate(file.events):
            self.take(event, order)
        self.pair_left()
        for key, begins in self.open.items():
            self.left_out["open"] += len(begins)
            self.n_begins += len(begins) if key[0] == "async" else 0

    def take(self, event: dict, order: int) -> None:
        """Count EVENT, or make a range of it."""
        phase = event["ph"]
        if phase == "M" or phase in ARROWS:
            self.left_out["metadata"] += phase == "M"
            return
        time = decimal(event.get("ts"))
        if phase in tuple("NOD"):
            self.left_out["object"] += 1
        elif phase not in tuple("XBEbeSFC") and phase not in INSTANTS:
            self.left_out["other_phase"] += 1
        elif time is None:
            self.left_out["no_time"] += 1
        elif phase in INSTANTS or phase == "C":
            self.left_out["counter" if phase == "C" else "instant"] += 1
        elif phase == "X":
            self.complete(event, order, time)
        else:
            self.half(event, order, nanoseconds(time))

    def complete(self, event: dict, order: int, time: Decimal) -> None:
        """Add a range of phase X."""
        duration = decimal(event.get("dur"))
        if duration is None:
            self.left_out["no_duration"] += 1
            return
        start = nanoseconds(time)
        self.all.append(Range(event, start, max(start, nanoseconds(time + duration)), order))

    def half(self, event: dict, order: int, time: int) -> None:
        """Open a range, or close the last one of the same key."""
        is_async = event["ph"] in "beSF"
        key = ("async", async_key(event)) if is_async else ("thread", thread_of(event))
        if event["ph"] in "BbS":
            self.open[key].append((event, order, time))
            return
        wanted = name_of(event) if is_async else ""
        fitting = [one for one in self.open[key] if wanted in ("", name_of(one[0]))]
        if not fitting and wanted:
            self.left.append((event, time))
            return
        if not fitting:
            self.left_out["end_alone"] += 1
            return
        ended = fitting[-1] if is_async else self.ended(fitting, name_of(event))
        if ended is None:
            self.left_out["end_elsewhere"] += 1
            return
        begin, order, start = ended
        self.open[key].remove(ended)
        self.all.append(Range(begin, start, max(start, time), order, is_async))

    def ended(self, begins: list, name: str) -> tuple[dict, int, int] | None:
        """The one of the open BEGINS of a thread that an end called NAME ends: the last of them, or
        the last of that name. An end of another name ends the last one where one of both names is a
        part of the other, or where names of ends tell nothing in the whole file."""
        last = begins[-1]
        if name in ("", name_of(last[0])):
            return last
        self.n_mismatched += 1
        named = [one for one in begins[-256:] if name_of(one[0]) == name]
        if named:
            return named[-1]
        is_cut = name_of(last[0]).startswith(name) or name.startswith(name_of(last[0]))
        return last if is_cut or not self.ends_are_named else None

    def pair_left(self) -> None:
        """Pair what is left of the asynchronous halves: an end closes the last begin that is no
        later, of the same name and id, in any process unless the id is local."""
        halves: dict[tuple, list[tuple[int, bool, int, dict, tuple]]] = defaultdict(list)
        for key, begins in self.open.items():
            if key[0] == "async":
                for event, order, time in begins:
                    halves[(wide_key(event), name_of(event))].append(
                        (time, False, order, event, key)
                    )
        for number, (event, time) in enumerate(self.left):
            halves[(wide_key(event), name_of(event))].append((time, True, number, event, ()))
        for ones in halves.values():
            begun: list[tuple[int, bool, int, dict, tuple]] = []
            for half in sorted(ones, key=lambda h: h[:3]):
                if not half[1]:
                    begun.append(half)
                elif begun:
                    start, _, order, event, key = begun.pop()
                    self.open[key] = [b for b in self.open[key] if b[1] != order]
                    self.all.append(Range(event, start, half[0], order, True))
                else:
                    self.left_out["end_alone"] += 1


def by_thread(ranges: list[Range]) -> dict[tuple, list[Range]]:
    """The synchronous ranges of each thread by start, longer first, then order of the file."""
    threads = defaultdict(list)
    for one in ranges:
        if not one.is_async:
            threads[one.thread].append(one)
    for ones in threads.values():
        ones.sort(key=lambda r: (r.start, -r.end, r.order))
    return threads


def take_own_time(threads: dict[tuple, list[Range]]) -> None:
    """Compute the self times: duration less that of the direct children."""
    for ones in threads.values():
        around: list[Range] = []
        for one in ones:
            one.self_ns = one.ns
            while around and around[-1].end <= one.start:
                around.pop()
            holder = next((r for r in reversed(around) if r.end >= one.end), None)
            if holder:
                holder.self_ns -= one.ns
            around.append(one)
