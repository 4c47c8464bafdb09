# SPDX-License-Identifier: Apache-2.0
"""Averages and events of a recording, as objects of torch's classes.

The command `opscope` makes the tables from the recording. Objects are made only when they are used.
"""

from __future__ import annotations

import ast
import bisect
import csv
import functools
import inspect
import io
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import torch
from torch.autograd import profiler_util
from torch.profiler import DeviceType, _memory_profiler

from .. import _opscope
from . import native
from .event_fields import (
    ACTIVITIES,
    COPY,
    WORK,
    Callers,
    Threads,
    fields_of,
    fields_on_device,
    is_python_call,
    python_ids,
)

FILTERED = ("[memory]", "[OutOfMemory]")
ENGINE = (
    "autograd::engine::evaluate_function: "  # followed by the name of the backward function
)
LAUNCHES = ("runtime", "driver")
FORWARD_BACKWARD = 1  # Kineto's type of an arrow
NO_ARROW = {"flow_id": 0, "flow_type": 0, "flow_start": False}
# The columns that are read of the tables averages, events and memory_versions.
AVERAGES = (
    "name",
    "calls",
    "cpu_ns",
    "self_cpu_ns",
    "device_ns",
    "self_device_ns",
    "cpu_bytes",
    "self_cpu_bytes",
    "device_bytes",
    "self_device_bytes",
    "flops",
    "input_shapes",
    "stack",
    "overload_name",
    "is_async",
    "is_user_annotation",
    "device_type",
)
EVENTS = (
    "id",
    "kind",
    "name",
    "process",
    "thread",
    "device",
    "queue",
    "start_ns",
    "dur_ns",
    "op_id",
    "correlation",
    "args",
)
VERSIONS = ("device", "object", "version", "bytes", "category", "start_ns", "end_ns")
SORT_KEYS = (
    "count",
    "key",
    "flops",
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
    "device_time",
    "device_time_total",
    "self_device_time_total",
    "device_memory_usage",
    "self_device_memory_usage",
)
DEVICE_ENDS = ("_time", "_time_total", "_memory_usage")  # of those behind a word for the device


def table_rows(
    table: str, path: str, columns: tuple[str, ...], options: Iterable[str] = ()
) -> Iterator[dict[str, str]]:
    """The rows of TABLE of the recording at PATH, of any length, with COLUMNS as text; "": it is
    missing.

    A column that is asked for by name is there, also one that the table leaves out where no row
    has a value.
    """
    text = native.run("table", table, path, "-f", "csv", "-c", ",".join(columns), *options)
    limit = csv.field_size_limit(1 << 30)
    try:
        yield from csv.DictReader(io.StringIO(text))
    finally:
        csv.field_size_limit(limit)


def origin_of(path: str) -> int:
    """The time 0 of the recording at PATH, in ns of Unix time."""
    facts = {row["key"]: row["value"] for row in table_rows("info", path, ("key", "value"))}
    return int(facts["origin_unix_ns"])


# Torch 2.6 writes Kb for KB.
HAS_OLD_UNITS = profiler_util._format_memory(1 << 10) != "1.00 KB"
# The arguments of torch's class; earlier versions have fewer.
TAKEN = set(inspect.signature(profiler_util.FunctionEvent.__init__).parameters)


class FunctionEvent(profiler_util.FunctionEvent):
    """One call: torch's fields; times in microseconds from the start of the recording."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{name: value for name, value in fields.items() if name in TAKEN})


class FunctionEventAvg(profiler_util.FunctionEventAvg):
    """All calls of a key: torch's fields; times in microseconds, memory in bytes."""


def families(path: str) -> list[str]:
    """The types of devices in the recording at PATH, which may be "", by torch's words: first the one
    that titles of `opscope table averages` name."""
    order = {"cuda": 0, "hip": 0, "xpu": 1, "opencl": 3}  # a vendor's device is 2
    rows = table_rows("devices", path, ("device", "utilization_ratio")) if path else ()
    found = sorted(
        (float(row["utilization_ratio"] or 0) == 0, order.get(family, 2), family)
        for row in rows
        for family in [row["device"].partition(":")[0]]
    )
    return list(dict.fromkeys("cuda" if family == "hip" else family for _, _, family in found))


class DeviceList(profiler_util.EventList):
    """Torch's list, whose table can be sorted by the words for the device that are in it."""

    def _device(self) -> str | None:
        """The word for the device; None: no element has one."""
        return self._use_device or next((e.use_device for e in self if e.use_device), None)

    def table(self, sort_by: str | None = None, *args: Any, **options: Any) -> str:
        device = self._device()
        sort_by = key_of_device(sort_by, [device] if device else [])
        if self and isinstance(sort_by, str) and not hasattr(self[0], sort_by):
            raise AttributeError(wrong_key(self[0], sort_by, device))
        if self and device and not self[0].use_device:  # torch looks at the first alone
            self[0].use_device = device
        return str(super().table(sort_by, *args, **options))


class EventList(DeviceList):
    """A list of averages that is filled when its elements are used.

    `table()` does not fill it: it prints the output of `opscope table averages` for the recording,
    unless only torch's own code can interpret the arguments. FROM_EVENTS makes the same list from
    all events, as torch does; the list keeps the recording alive.
    """

    def __init__(
        self,
        path: str,
        options: list[str],
        use_device: str | None,
        profile_memory: bool,
        with_flops: bool,
        from_events: Callable[[], Any],
    ) -> None:
        super().__init__(
            [], use_device=use_device, profile_memory=profile_memory, with_flops=with_flops
        )
        self._path = path
        self._options = options
        self._from_events = from_events
        self._is_filled = False

    def _fill(self) -> None:
        if self._is_filled:
            return
        self._is_filled = True
        if self._path:
            rows = list(table_rows("averages", self._path, AVERAGES, self._options))
            device = self._use_device
            if device is None and any(row["self_device_ns"] != "0" for row in rows):
                device = next(iter(families(self._path)), None)  # one that was not asked for
            super().extend(average(row, device) for row in rows)
            keys = {a.key for a in self}
            for a in self:
                if ENGINE + a.key in keys:
                    a.scope = 1

    def __radd__(self, other: list[Any]) -> list[Any]:
        return other + list(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A copy has the averages but not the recording.
        state = {
            name: value
            for name, value in vars(self).items()
            if name in vars(profiler_util.EventList())
        }
        return DeviceList, (list(self),), state

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The text of torch's `EventList.table()`, to the letter."""
        if not self._path:
            return ""
        widths = {
            "--max-src-width": max_src_column_width,
            "--max-name-width": max_name_column_width,
            "--max-shapes-width": max_shapes_column_width,
        }
        sort_by = key_of_device(sort_by, [self._use_device] if self._use_device else [])
        if (
            isinstance(sort_by, str)
            and sort_by.endswith(DEVICE_ENDS)
            and sort_by not in SORT_KEYS
        ):
            sort_by = key_of_device(sort_by, families(self._path))
        limit = count_of(row_limit)
        if (
            time_unit is not None
            or limit == 0
            or HAS_OLD_UNITS
            or sort_by not in (None, *SORT_KEYS)
            or not is_plain(header)
            or not all(map(is_width, widths.values()))
        ):
            # Only events have parents.
            is_of_events = top_level_events_only or HAS_OLD_UNITS
            table = self._from_events().table if is_of_events else super().table
            more = () if time_unit is None else (time_unit,)  # an argument since 2.9
            return str(
                table(
                    sort_by,
                    row_limit,
                    max_src_column_width,
                    max_name_column_width,
                    max_shapes_column_width,
                    header,
                    top_level_events_only,
                    *more,
                )
            )
        args = ["table", "averages", self._path, *self._options, "--limit", str(limit or 0)]
        for name, width in widths.items():
            args += [name, str(width or 0)]
        if sort_by is not None:
            args += ["--sort", sort_by]
        if header is not None:
            args += ["--header", header]
        if top_level_events_only:
            args += ["--top-level"]
        return without_notes(native.run(*args))  # torch prints nothing for an empty table


def without_notes(text: str) -> str:
    """TEXT of a table without the notes below it, which torch does not have."""
    above, _, last = text.removesuffix("\n").rpartition("\n")
    return without_notes(f"{above}\n" if above else "") if last.startswith("note: ") else text


def count_of(limit: Any) -> int | None:
    """The number of rows that torch prints with row_limit=LIMIT; None: all."""
    try:
        count = int(limit)
    except (TypeError, ValueError, OverflowError):
        return None
    return count if count == limit and 0 <= count < 1 << 31 else None


def key_of_device(key: Any, words: list[str]) -> Any:
    """The KEY that torch would sort by; WORDS are words for the device, too."""
    if isinstance(key, str):
        for device in ("cuda", "xpu", "privateuse1"):
            key = key.replace(device, "device")
        for name, word in itertools.product(SORT_KEYS, words):
            if key == name.replace("device", word):
                return name
    return key


def wrong_key(event: Any, key: str, device: str | None) -> str:
    """Torch's message that EVENT has no KEY, and the keys that there are; DEVICE is one of the words
    for the device."""
    words = list(dict.fromkeys(["cuda", "xpu", "privateuse1", *([device] if device else [])]))
    return (
        f"{type(event).__name__!r} object has no attribute {key!r}; the keys of sort_by are "
        f"{', '.join(SORT_KEYS)}, where device may also be {', '.join(words[:-1])} or "
        f"{words[-1]}"
    )


def is_plain(header: Any) -> bool:
    """Whether HEADER can be passed to a command as an argument."""
    return header is None or (
        isinstance(header, str) and header.isprintable() and len(header) < 4096
    )


def is_width(width: Any) -> bool:
    """Whether WIDTH is a valid width of a column or None."""
    return width is None or (type(width) is int and 0 < width < 1 << 31)


def filled(name: str) -> Callable[..., Any]:
    """The method NAME of lists, which first fills the list and the other operand."""
    method = getattr(list, name)

    def call(self: EventList, *args: Any, **options: Any) -> Any:
        for operand in (self, *args):
            if isinstance(operand, EventList):
                operand._fill()
        return method(self, *args, **options)

    return functools.wraps(method)(call)


for _name in (
    "__add__",
    "__contains__",
    "__delitem__",
    "__eq__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__iadd__",
    "__imul__",
    "__iter__",
    "__le__",
    "__len__",
    "__lt__",
    "__mul__",
    "__ne__",
    "__repr__",
    "__reversed__",
    "__rmul__",
    "__setitem__",
    "append",
    "clear",
    "copy",
    "count",
    "extend",
    "index",
    "insert",
    "pop",
    "remove",
    "reverse",
    "sort",
):
    setattr(EventList, _name, filled(_name))


def average(row: dict[str, str], use_device: str | None) -> FunctionEventAvg:
    """Make torch's object of a row of the table averages."""
    a: Any = FunctionEventAvg()  # Any: torch itself does not follow the declared types
    a.key = row["name"]
    a.node_id = -1
    a.count = int(row["calls"])
    a.cpu_time_total = int(row["cpu_ns"]) / 1000.0
    a.self_cpu_time_total = int(row["self_cpu_ns"]) / 1000.0
    a.device_time_total = int(row["device_ns"]) / 1000.0
    a.self_device_time_total = int(row["self_device_ns"]) / 1000.0
    a.cpu_memory_usage = int(row["cpu_bytes"] or 0)
    a.self_cpu_memory_usage = int(row["self_cpu_bytes"] or 0)
    a.device_memory_usage = int(row["device_bytes"] or 0)
    a.self_device_memory_usage = int(row["self_device_bytes"] or 0)
    a.flops = int(row["flops"] or 0)
    a.input_shapes = ast.literal_eval(row["input_shapes"]) if row["input_shapes"] else ""
    a.stack = json.loads(row["stack"]) if row["stack"] else []
    a.overload_name = row["overload_name"]
    a.is_async = row["is_async"] == "true"
    a.is_user_annotation = row["is_user_annotation"] == "true"
    a.scope = 7 if a.is_user_annotation else 0
    a.device_type = getattr(DeviceType, row["device_type"], DeviceType.CPU)
    a.use_device = use_device
    return cast(FunctionEventAvg, a)


class Memory:
    """Sums of the bytes of memory records over ranges of time."""

    def __init__(self, records: list[tuple[int, int]]) -> None:
        records.sort()
        self.times = [time for time, _ in records]
        self.sums = [0, *itertools.accumulate(n for _, n in records)]

    def between(self, start_ns: int, end_ns: int) -> int:
        """The bytes of the records from START_NS to END_NS, both included."""
        return (
            self.sums[bisect.bisect_right(self.times, end_ns)]
            - self.sums[bisect.bisect_left(self.times, start_ns)]
        )


class Timeline:
    """The data of torch's plot of memory: when memory was allocated, changed and freed, and what
    was there before.

    Without a recording at PATH there is nothing.
    """

    def __init__(self, path: str) -> None:
        self._categories = _memory_profiler.CategoryDict()
        self.timeline = []
        if path:
            self._read(path)
        # As in torch: by time, then by what happens.
        self.timeline.sort(key=lambda x: (x[0], x[1].value))

    def _read(self, path: str) -> None:
        origin_ns = origin_of(path)
        rows = list(table_rows("memory_versions", path, VERSIONS))
        for row, after in zip(rows, [*rows[1:], None]):
            self._add(row, after is None or after["object"] != row["object"], origin_ns)

    def _add(self, row: dict[str, str], is_last: bool, origin_ns: int) -> None:
        """Add a version; IS_LAST: it is the last one of its memory, which it ends with."""
        if not row["device"]:
            return
        actions = _memory_profiler.Action
        number, version, size = int(row["object"]), int(row["version"]), int(row["bytes"] or 0)
        tensor = _memory_profiler.TensorKey(
            torch.device(row["device"]), number, _memory_profiler._Storage(0, number)
        )
        if row["category"]:
            self._categories.set_by_version(
                tensor, version, _memory_profiler.Category[row["category"].upper()]
            )
        start_ns, end_ns = (
            origin_ns + int(row[x]) if row[x] else None for x in ("start_ns", "end_ns")
        )
        if version > 0:
            self.timeline.append(
                (start_ns, actions.INCREMENT_VERSION, (tensor, version - 1), size)
            )
        else:
            self.timeline.append(
                (
                    -1 if start_ns is None else start_ns,
                    actions.PREEXISTING if start_ns is None else actions.CREATE,
                    (tensor, 0),
                    size,
                )
            )
        if is_last and end_ns is not None:
            self.timeline.append((end_ns, actions.DESTROY, (tensor, version), size))


def arrows(path: str) -> dict[int, dict[str, Any]]:
    """Torch's fields about the arrows from forward to backward calls, by the id of the call."""
    fields = {}
    rows = table_rows("flows", path, ("kind", "from_id", "to_id"))
    for number, row in enumerate(rows, 1):  # the id of the arrow in an exported trace
        for end in ("from_id", "to_id") if row["kind"] == "fwdbwd" else ():
            if row[end]:
                fields[int(row[end])] = {
                    "flow_id": number,
                    "flow_type": FORWARD_BACKWARD,
                    "flow_start": end == "from_id",
                }
    return fields


def add_kernels(made: Iterable[Any]) -> None:
    """Tell each operator among the events MADE what it launched, and its thread to the launches."""
    events = list(made)
    operators = {
        e.id: e
        for e in events
        if e.device_type == DeviceType.CPU
        and not e.is_async
        and e.activity_type in ACTIVITIES.values()
        and not e.is_python_function
    }
    for e in events:
        operator = operators.get(getattr(e, "linked_correlation_id", 0) or 0)
        if operator is None or e is operator:
            continue
        if e.device_type == DeviceType.CPU:
            e.thread = operator.thread
        else:
            operator.append_kernel(e.name, e.device_index, e.time_range.elapsed_us())


def record_event(
    row: dict[str, str], args: dict[str, Any], thread: int, number: int, use_device: str | None
) -> FunctionEvent:
    """Make torch's object of a memory record outside of all calls; NUMBER is its id."""
    at_us = int(row["start_ns"]) / 1000.0
    n_bytes = int(args["Bytes"]) if row["name"] == "[memory]" else 0
    return FunctionEvent(
        id=number,
        name=row["name"],
        trace_name=None,
        thread=thread,
        start_us=at_us,
        end_us=at_us,
        fwd_thread=thread,
        input_shapes=[],
        stack=[],
        scope=0,
        use_device=use_device,
        flops=None,
        overload_name="",
        **{"cpu_memory_usage" if is_of_host(args) else "device_memory_usage": n_bytes},
    )


def is_of_host(args: dict[str, Any]) -> bool:
    """Whether the memory record with ARGS is about memory of the host."""
    return args.get("Device Type", 0) == 0


def outside(rows: list[Any], calls: list[FunctionEvent]) -> Iterator[Any]:
    """The memory records among ROWS that were made while no call ran, and all failures."""
    spans = sorted((e.time_range.start, e.time_range.end) for e in calls)
    starts = [start for start, _ in spans]
    ends = list(itertools.accumulate((end for _, end in spans), max))
    for row, args in rows:
        at_us = int(row["start_ns"]) / 1000.0
        before = bisect.bisect_right(starts, at_us)
        if row["name"] != "[memory]" or before == 0 or ends[before - 1] < at_us:
            yield row, args


def mark_backward(calls: list[FunctionEvent]) -> None:
    """Set the scope of the backward functions among CALLS: those inside the engine's ranges."""
    before: dict[int, str] = {}
    for call in calls:
        if before.get(call.thread) == ENGINE + call.name:
            call.scope = 1
        before[call.thread] = call.name


class Calls(DeviceList):
    """Torch's list of all calls and work."""

    def key_averages(self, *args: Any, **options: Any) -> DeviceList:
        made = super().key_averages(*args, **options)
        return DeviceList(
            made,
            use_device=self._device(),
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def _set_backward_stacktraces(self) -> None:
        # Work on devices has the thread 0, as the forward call that a function does not have.
        profiler_util.EventList._set_backward_stacktraces(
            profiler_util.EventList(e for e in self if e.device_type == DeviceType.CPU)
        )


class Deadline:
    """The end of the time in which events are made; None: there is no end."""

    def __init__(self, timeout_s: float | None) -> None:
        self.timeout_s = timeout_s
        self.end = float("inf") if timeout_s is None else time.monotonic() + timeout_s
        self.is_over = False

    def before(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Those of ROWS for which there is time."""
        for row in rows:
            self.is_over = self.is_over or time.monotonic() >= self.end
            if self.is_over:
                return
            yield row

    def tell(self, n_events: int) -> None:
        """Log as torch does, and where it does, that some of the events are missing."""
        if self.is_over:
            logging.getLogger("torch.autograd.profiler").warning(
                "opscope timed out after %.3f seconds, returning partial results with %d events",
                self.timeout_s,
                n_events,
            )


class Rows:
    """The rows of the table events of the recording at PATH, which may be "", by what torch makes
    of them: each is a row and its arguments. Without HAS_MEMORY, those of memory are left out."""

    def __init__(self, path: str, has_memory: bool) -> None:
        self.path = path
        self.calls: list[Any] = []  # of the host
        self.on_device: list[Any] = []  # work, and the calls of a runtime
        self.records: list[Any] = []  # of memory
        for row in table_rows("events", path, EVENTS) if path else ():
            args = json.loads(row["args"]) if row["args"] else {}
            if row["name"] in FILTERED and "Bytes" in args:
                if has_memory:
                    self.records.append((row, args))
            elif row["kind"] in ACTIVITIES and not row["device"]:
                self.calls.append((row, args))
            elif row["kind"] in (*LAUNCHES, *WORK, COPY):
                self.on_device.append((row, args))
        launches = [x for x in self.on_device if x[0]["kind"] in LAUNCHES]
        self.threads = Threads(self.calls + self.records + launches).known

    def memory(self, of_host: bool) -> Memory:
        """The memory of the host, or of devices."""
        return Memory(
            [
                (int(row["start_ns"]), int(args["Bytes"]))
                for row, args in self.records
                if row["name"] == "[memory]" and is_of_host(args) == of_host
            ]
        )

    def fields(self, with_flops: bool, deadline: Deadline) -> Iterator[dict[str, Any]]:
        """Torch's fields of each call and work that is no function of torch's own."""
        host, device = self.memory(True), self.memory(False)
        callers = Callers()
        stacks: dict[int, list[str]] = {}  # by the number of a call
        flows = arrows(self.path) if any("Sequence number" in x for _, x in self.calls) else {}
        for row, args in deadline.before(self.calls):
            caller = python_ids(row, args, callers) if is_python_call(row) else {}
            if profiler_util._filter_name(row["name"]):
                continue
            span = int(row["start_ns"]), int(row["start_ns"]) + int(row["dur_ns"] or 0)
            fields = fields_of(row, args, self.threads[row["thread"]])
            if fields["stack"] and fields["id"]:
                stacks[fields["id"]] = fields["stack"]
            yield {
                **fields,
                **flows.get(int(row["id"]), NO_ARROW),
                **caller,
                "cpu_memory_usage": host.between(*span),
                "device_memory_usage": device.between(*span),
                "flops": _opscope.flops(row["name"], row["args"]) if with_flops else 0,
            }
        for row, args in deadline.before(self.on_device):
            if not profiler_util._filter_name(row["name"]):
                yield fields_on_device(
                    row,
                    args,
                    self.threads.get(row["thread"], 0),
                    stacks.get(int(row["op_id"] or -1) + 1, []),
                )


def events(
    path: str,
    use_device: str | None,
    profile_memory: bool,
    with_flops: bool,
    timeout_s: float | None = None,
) -> Calls:
    """All calls of the recording at PATH, as torch's list with its tree built; some of them if
    TIMEOUT_S seconds are too few."""
    deadline = Deadline(timeout_s)
    rows = Rows(path, profile_memory)
    if use_device is None and any(row["kind"] in WORK for row, _ in rows.on_device):
        use_device = next(iter(families(path)), None)  # one that was not asked for
    made = Calls(
        (
            FunctionEvent(use_device=use_device, **fields)
            for fields in rows.fields(with_flops, deadline)
        ),
        use_device=use_device,
        profile_memory=profile_memory,
        with_flops=with_flops,
    )
    add_kernels(made)
    number = max((e.id for e in made), default=0)
    of_host = [e for e in made if e.device_type == DeviceType.CPU]
    left = deadline.before(outside(rows.records, of_host))
    made.extend(
        [
            record_event(row, args, rows.threads[row["thread"]], number + i, use_device)
            for i, (row, args) in enumerate(left, 1)
        ]
    )
    deadline.tell(len(made))
    made.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
    mark_backward([e for e in made if e.device_type == DeviceType.CPU])
    made._build_tree()
    return made
