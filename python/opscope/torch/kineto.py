# SPDX-License-Identifier: Apache-2.0
"""Change the output of `opscope export` to what Kineto writes: the head, the first and the last
events, and the lines of events."""

from __future__ import annotations

import itertools
import json
import mmap
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

# Members of a trace; metadata must not have these names.
OWN_MEMBERS = ("traceEvents", "traceName", "baseTimeNanoseconds", "displayTimeUnit")
# Facts of recordings that torch's traces do not have; also those that begin with the last one.
PRIVATE = ("command", "exe", "boot_id", "parent_pid", "start", "torch_version", "sample.")
SPANS_LAST = 0x20000000  # Kineto's position of the row of the window in viewers
EVENTS = b'"traceEvents": [\n'  # then one event per line; names of threads come first
THREAD_NAME = b'{"ph":"M","name":"thread_name"'
END = b"\n]"  # after the last event
TAIL_BYTES = 1 << 16  # enough for what comes after the last event: at most a name of the trace
NUMBER = re.compile(rb'"External id":(\d+),')
# An argument in these lines; those that opscope adds are never the last ones.
OVERLOAD = re.compile(rb'"Overload name":"((?:[^"\\]|\\.)*)",')
NAME = re.compile(rb'"name":"(?:[^"\\]|\\.)*(?=")')
PROCESS = re.compile(rb'"pid":"([a-z0-9_]+):(\d+)"')
CATEGORY = re.compile(rb'\{"ph":"[^"]*","cat":"([^"]*)"')
MEMORY = b"cpu_instant_event"  # the category of allocations, releases and failures
Edit = Callable[[bytes], bytes]


def is_private(member: str) -> bool:
    """Whether a member of a recording is none of torch's traces."""
    return member in PRIVATE or member.startswith(PRIVATE[-1])


def has_memory(f: Any) -> bool:
    """Whether the trace F has events about memory."""
    with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b'"cat":"%s"' % MEMORY) >= 0


def process_events(pid: int, start_us: float) -> list[dict[str, Any]]:
    """Kineto's events about a process, which come first."""
    facts = {
        "process_name": {"name": Path("/proc/self/comm").read_text().strip()},
        "process_labels": {"labels": "CPU"},
        "process_sort_index": {"sort_index": pid},
    }
    return [
        {"ph": "M", "name": name, "ts": start_us, "pid": pid, "tid": 0, "args": args}
        for name, args in facts.items()
    ]


def window_events(start_us: float, end_us: float) -> list[dict[str, Any]]:
    """Kineto's events about the recorded window, which come last.

    The window ends a nanosecond after everything in it, also if a reader adds rounded numbers.
    """
    return [
        {
            "ph": "X",
            "cat": "Trace",
            "name": "PyTorch Profiler (0)",
            "pid": "Spans",
            "tid": "PyTorch Profiler",
            "ts": start_us,
            "dur": round(end_us - start_us, 3),
            "args": {"Op count": 0},
        },
        {
            "ph": "M",
            "name": "process_sort_index",
            "ts": start_us,
            "pid": "Spans",
            "tid": 0,
            "args": {"sort_index": SPANS_LAST},
        },
        {
            "ph": "i",
            "s": "g",
            "name": "Iteration Start: PyTorch Profiler",
            "pid": "Traces",
            "tid": "Trace PyTorch Profiler",
            "ts": start_us,
        },
        {
            "ph": "i",
            "s": "g",
            "name": "Record Window End",
            "pid": "",
            "tid": "",
            "ts": round(end_us + 0.001, 3),
        },
    ]


def thread_events(said: dict[str, Any], start_us: float) -> list[dict[str, Any]]:
    """Kineto's events about a thread, made from the event SAID, which has its name."""
    tid = said["tid"]
    facts = {
        "thread_name": {"name": f"thread {tid} ({said['args']['name']})"},
        "thread_sort_index": {"sort_index": tid},
    }
    return [
        {"ph": "M", "name": name, "ts": start_us, "pid": said["pid"], "tid": tid, "args": args}
        for name, args in facts.items()
    ]


def merge_head(
    f: Any,
    out: Any,
    head: dict[str, Any],
    window_ns: tuple[int, int],
    pid: int,
    hidden: set[bytes],
    edits: list[Edit],
) -> None:
    """Copy the trace F of process PID to OUT with the members HEAD, which replace its own, but for
    the devices.

    Events of the categories HIDDEN are left out, the others are changed by EDITS.
    """
    begin = f.read(1 << 20)
    while (at := begin.find(EVENTS)) < 0:
        more = f.read(len(begin))
        if not more:
            raise RuntimeError("the trace that was exported has no events")
        begin += more
    own = json.loads(begin[:at].rstrip().rstrip(b",") + b"}")
    head = {**head, "deviceProperties": own.get("deviceProperties", [])}
    text = json.dumps({**{x: own[x] for x in own if not is_private(x)}, **head}, indent=1)
    start, end = ((x or time.time_ns()) - own.get("baseTimeNanoseconds", 0) for x in window_ns)
    events = process_events(pid, start / 1000)
    f.seek(at + len(EVENTS))
    line = f.readline()
    while line.startswith(THREAD_NAME):
        events += thread_events(json.loads(line.rstrip(b",\n")), start / 1000)
        line = f.readline()
    out.write(text[:-2].encode() + b',\n "traceEvents": [\n')
    out.write(lines_of(events))
    if hidden or edits:
        copy_shown(itertools.chain((line,), f), out, hidden, edits)
    elif line.startswith(b"{"):
        out.write(b",\n")
        copy_events(f, f.tell() - len(line), out)
    out.write(b",\n" + lines_of(window_events(start / 1000, end / 1000)) + b"\n]\n}\n")


def lines_of(events: Iterable[dict[str, Any]]) -> bytes:
    """EVENTS as they are in a trace, one per line."""
    return ",\n".join(json.dumps(x) for x in events).encode()


def copy_events(f: Any, start: int, out: Any) -> None:
    """Append all events of F from START on."""
    tail = max(f.seek(0, os.SEEK_END) - TAIL_BYTES, 0)
    f.seek(tail)
    end = tail + f.read().rindex(END)
    f.seek(start)
    while start < end:
        piece = f.read(min(1 << 20, end - start))
        out.write(piece)
        start += len(piece)


def copy_shown(lines: Iterable[bytes], out: Any, hidden: set[bytes], edits: list[Edit]) -> None:
    """Append the events among the LINES of a trace, changed by EDITS, which may leave one out.

    Events of the categories HIDDEN are left out.
    """
    for line in lines:
        category = CATEGORY.match(line)
        if not line.startswith(b"{") or (category is not None and category[1] in hidden):
            continue
        for edit in edits:
            line = edit(line)
        if line:
            out.write(b",\n" + line.rstrip(b",\n"))


def only(numbers: set[int]) -> Edit:
    """A function that leaves out the operators and labels with other NUMBERS."""

    def edit(line: bytes) -> bytes:
        found = NUMBER.search(line)
        return b"" if found and int(found[1]) not in numbers else line

    return edit


def named_by_overload(line: bytes) -> bytes:
    """The line of an event with the name of the overload, if any, as part of its name."""
    found = OVERLOAD.search(line)
    if not found:
        return line
    rest = line[: found.start()] + line[found.end() :]
    return NAME.sub(lambda x: x[0] + b"." + found[1], rest, count=1)


def device_numbered(family: str) -> Edit:
    """A function that makes the process of work on the device N of FAMILY the number N. Devices of
    another family keep their names, or two would be one."""

    def number(found: re.Match[bytes]) -> bytes:
        return b'"pid":' + found[2] if found[1] == family.encode() else found[0]

    def edit(line: bytes) -> bytes:
        return PROCESS.sub(number, line, count=1)

    return edit
