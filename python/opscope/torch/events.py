# SPDX-License-Identifier: Apache-2.0
"""Averages and events of a recording, as the objects that torch has for them.

Tables are made by the command `opscope`, from the recording. Objects are made only when
somebody looks at one.
"""
from __future__ import annotations

import ast
import bisect
import csv
import io
import itertools
import json
from collections.abc import Iterator
from typing import Any

from torch.autograd import profiler_util
from torch.autograd.profiler_util import DeviceType

from . import native

FILTERED = ("[memory]", "[OutOfMemory]")


def table_rows(text: str) -> Iterator[dict[str, str]]:
    """The rows of a table as CSV; names may have any length."""
    limit = csv.field_size_limit(1 << 30)
    try:
        yield from csv.DictReader(io.StringIO(text))
    finally:
        csv.field_size_limit(limit)


class FunctionEvent(profiler_util.FunctionEvent):
    """One call: torch's fields; times in microseconds from the start of the recording."""


class FunctionEventAvg(profiler_util.FunctionEventAvg):
    """All calls of a key: torch's fields; times in microseconds, memory in bytes."""


class EventList(profiler_util.EventList):
    """A list of averages that is filled when somebody looks at its elements.

    `table()` does not: it prints what `opscope table averages` makes of the recording.
    """

    def __init__(self, path: str, options: list[str], use_device: str | None,
                 profile_memory: bool, with_flops: bool) -> None:
        super().__init__([], use_device=use_device, profile_memory=profile_memory,
                         with_flops=with_flops)
        self._path = path
        self._options = options
        self._is_filled = False

    def _fill(self) -> None:
        if self._is_filled:
            return
        self._is_filled = True
        if self._path:
            text = native.run("table", "averages", self._path, "-f", "csv", *self._options)
            self.extend(average(row, self._use_device) for row in table_rows(text))

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def __iter__(self) -> Iterator[Any]:
        self._fill()
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        self._fill()
        return super().__getitem__(index)

    def __reversed__(self) -> Iterator[Any]:
        self._fill()
        return super().__reversed__()

    def table(self, sort_by: str | None = None, row_limit: int = 100,
              max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
              max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """The text of torch's `EventList.table()`, to the letter."""
        if not self._path:
            return ""
        if time_unit is not None or row_limit == 0:
            return str(super().table(
                sort_by, row_limit, max_src_column_width, max_name_column_width,
                max_shapes_column_width, header, top_level_events_only, time_unit))
        args = ["table", "averages", self._path, *self._options,
                "--limit", str(max(row_limit, 0)),
                "--max-src-width", str(max_src_column_width or 0),
                "--max-name-width", str(max_name_column_width or 0),
                "--max-shapes-width", str(max_shapes_column_width or 0)]
        if sort_by is not None:
            check_sort_key(sort_by)
            args += ["--sort", sort_by]
        if header is not None:
            args += ["--header", header]
        if top_level_events_only:
            args += ["--top-level"]
        return native.run(*args)


def check_sort_key(key: str) -> None:
    """Raise what torch raises for a key that no average has."""
    name = key
    for device in ("cuda", "xpu", "privateuse1"):
        name = name.replace(device, "device")
    if not hasattr(FunctionEventAvg(), name):
        raise AttributeError(f"'FunctionEventAvg' object has no attribute '{key}'")


def average(row: dict[str, str], use_device: str | None) -> FunctionEventAvg:
    """A row of the table averages as torch's object."""
    a = FunctionEventAvg()
    a.key = row["name"]
    a.node_id = -1
    a.count = int(row["calls"])
    a.cpu_time_total = int(row["cpu_ns"]) / 1000.0
    a.self_cpu_time_total = int(row["self_cpu_ns"]) / 1000.0
    a.device_time_total = int(row["device_ns"]) / 1000.0
    a.self_device_time_total = int(row["self_device_ns"]) / 1000.0
    a.cpu_memory_usage = int(row.get("cpu_bytes") or 0)
    a.self_cpu_memory_usage = int(row.get("self_cpu_bytes") or 0)
    a.device_memory_usage = int(row.get("device_bytes") or 0)
    a.self_device_memory_usage = int(row.get("self_device_bytes") or 0)
    a.flops = int(row.get("flops") or 0)
    a.input_shapes = ast.literal_eval(row["input_shapes"]) if row.get("input_shapes") else ""
    a.stack = row["stack"].split("\n") if row.get("stack") else []
    a.overload_name = row.get("overload_name") or ""
    a.is_async = row["is_async"] == "true"
    a.is_user_annotation = row["is_user_annotation"] == "true"
    a.scope = 7 if a.is_user_annotation else 0
    a.device_type = getattr(DeviceType, row["device_type"], DeviceType.CPU)
    a.use_device = use_device
    return a


class Memory:
    """How many bytes were given out up to a time."""

    def __init__(self, records: list[tuple[int, int]]) -> None:
        records.sort()
        self.times = [time for time, _ in records]
        self.sums = [0, *itertools.accumulate(n for _, n in records)]

    def between(self, start_ns: int, end_ns: int) -> int:
        """Bytes of the records from START_NS to END_NS, both included."""
        return (self.sums[bisect.bisect_right(self.times, end_ns)]
                - self.sums[bisect.bisect_left(self.times, start_ns)])


def plain_shapes(dims: list[Any]) -> list[Any]:
    """Sizes of tensors; lists of tensors have none."""
    return [[] if d and isinstance(d[0], list) else d for d in dims]


def event(row: dict[str, str], args: dict[str, Any], memory: Memory,
          use_device: str | None) -> FunctionEvent:
    """A row of the table events as torch's object."""
    start_ns = int(row["start_ns"])
    end_ns = start_ns + int(row["dur_ns"] or 0)
    is_annotation = row["category"] == "user_annotation"
    name = row["name"]
    dims = args.get("Input Dims", [])
    return FunctionEvent(
        id=int(row["id"]), name="ProfilerStep*" if name.startswith("ProfilerStep#") else name,
        trace_name=name, thread=int(row["thread"]), start_us=start_ns / 1000.0,
        end_us=end_ns / 1000.0, fwd_thread=args.get("Fwd thread id", 0),
        input_shapes=plain_shapes(dims), structured_input_shapes=dims,
        structured_input_strides=args.get("Input Strides", []),
        input_dtypes=args.get("Input type", []), concrete_inputs=args.get("Concrete Inputs", []),
        overload_name=args.get("Overload name", ""),
        stack=[x for x in args.get("Call stack", "").split(";") if x],
        is_python_function=row["category"] == "python_function", scope=7 if is_annotation else 0,
        use_device=use_device, sequence_nr=args.get("Sequence number", -1),
        cpu_memory_usage=memory.between(start_ns, end_ns), flops=0,
        is_async=row["kind"] == "communication" and is_annotation,
        is_user_annotation=is_annotation)


def events(path: str, use_device: str | None, profile_memory: bool,
           with_flops: bool) -> profiler_util.EventList:
    """All calls of the recording at PATH, as torch's list with its tree built."""
    calls = []
    records = []
    text = native.run("table", "events", path, "-f", "csv") if path else ""
    for row in table_rows(text):
        args = json.loads(row["args"]) if row["args"] else {}
        if row["name"] == "[memory]" and "Bytes" in args:
            records.append((int(row["start_ns"]), int(args["Bytes"])))
        elif row["category"] in ("cpu_op", "user_annotation", "python_function"):
            calls.append((row, args))
    memory = Memory(records)
    made = profiler_util.EventList(
        (event(row, args, memory, use_device) for row, args in calls
         if not profiler_util._filter_name(row["name"])),
        use_device=use_device, profile_memory=profile_memory, with_flops=with_flops)
    made.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
    made._build_tree()
    return made
