# SPDX-License-Identifier: Apache-2.0
"""`averages`: the numbers of torch's key_averages().

torch's tree is an overlay of the trace's own forest: async ranges are outside it, a call of
the device runtime moves to the thread of the operator that made it, and a range whose parent
has the same name and no other child is merged into the parent.
"""

from __future__ import annotations

import bisect
import copy
from dataclasses import dataclass, field
from functools import cached_property

from . import exact, flops, forest, links, operators
from .events import Event, Trace, torch_word, who
from .kinds import LAUNCHES

HOST_KINDS = {
    "operator",
    "annotation",
    "step",
    "dataloader",
    "optimizer",
    "communication",
    "python",
    "module",
    "overhead",
} | LAUNCHES
DEVICE_KINDS = {"kernel", "memcpy", "memset", "sync", "annotation", "step"}
FILTERED = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
}
STACK_FILTERED = (
    ("autograd/__init__", "_make_grads"),
    ("autograd/__init__", "backward"),
    ("torch/tensor", "backward"),
    ("_internal/common_utils", "prof_callable"),
    ("_internal/common_utils", "prof_func_call"),
    ("_internal/common_utils", "prof_meth_call"),
)
ASYNC_NAMES = ("gloo:", "nccl:", "mpi:", "ucc:", "xccl:")
WRAPPER = "autograd::engine::evaluate_function: "
CPU_MEMORY, DEVICE_MEMORY = {0, 2, 5}, {1, 6, 12, 20}
OWN_TYPE = 64  # and above: families that have no number in torch, in recordings of opscope


@dataclass(eq=False)
class Function:
    """torch's FunctionEvent."""

    event: Event
    name: str
    is_device: bool
    is_async: bool
    is_annotation: bool
    track: tuple  # its thread in torch's tree
    stack: list[str]
    shapes: str
    cpu_bytes: int = 0
    device_bytes: int = 0
    flops: int = 0
    parent: Function | None = None
    children: list[Function] = field(default_factory=list)
    kernels: list[int] = field(default_factory=list)  # durations, ns
    device_total: int = 0

    @property
    def dur(self) -> int:
        """Own duration, ns."""
        return self.event.end - self.event.start

    @cached_property
    def own(self) -> tuple[int, int, int, int]:
        """Time, bytes, bytes and time of devices without what the children have. To be asked
        for once all of the tree is there."""
        return (
            self.dur - sum(c.dur for c in self.children),
            self.cpu_bytes - sum(c.cpu_bytes for c in self.children),
            self.device_bytes - sum(c.device_bytes for c in self.children),
            self.device_total - sum(c.device_total for c in self.children),
        )


def call_stack(args: dict) -> list[str]:
    """Frames, innermost first; each ends with `;`."""
    text = args.get("Call stack")
    frames = text.split(";") if isinstance(text, str) and text else []
    if frames and frames[-1] == "":
        frames.pop()
    return [f for f in frames if not any(a in f and b in f for a, b in STACK_FILTERED)]


def shapes_text(args: dict) -> str:
    """`Input Dims` with each list of tensors as []."""
    dims = args.get("Input Dims", args.get("Input dims"))
    if not isinstance(dims, list):
        return "[]"
    return str(
        [[] if isinstance(d, list) and any(isinstance(n, list) for n in d) else d for d in dims]
    )


def functions_of(trace: Trace) -> list[Function]:
    """The FunctionEvents of a trace, before memory, tree and stacks."""
    result = []
    for event in trace.events:
        kinds_wanted = HOST_KINDS if event.is_host else DEVICE_KINDS
        if not event.is_range or event.kind not in kinds_wanted or event.name in FILTERED:
            continue
        annotation = (
            event.kind == "annotation"
            or (
                event.kind == "step"
                and (trace.has_iterations or trace.dialect in ("torch_legacy", "paddle"))
            )
            if event.is_fitted
            else (event.category or "").lower() in ("user_annotation", "gpu_user_annotation")
        )
        name = event.name
        if name.startswith("ProfilerStep#"):
            name = trace.steps_name
        result.append(
            Function(
                event,
                name,
                not event.is_host,
                event.is_host
                and (
                    (annotation and name.startswith(ASYNC_NAMES))
                    or event.args.get("Is asynchronous") is True
                ),
                annotation,
                event.track,
                call_stack(event.args),
                shapes_text(event.args),
                flops=flops.of(event.name, event.args) if trace.flag("with_flops") else 0,
            )
        )
    return result


def synthetic(event: Event, name: str, cpu: int, device: int) -> Function:
    """A row for an allocator record: zero time, no stack, shapes []."""
    instant = Event(
        event.id,
        "X",
        None,
        "operator",
        name,
        event.process,
        event.thread,
        event.start,
        event.start,
        {},
    )
    return Function(instant, name, False, False, False, event.track, [], "[]", cpu, device)


def attribute_memory(trace: Trace, functions: list[Function]) -> list[Function]:
    """Give every host range the bytes of the records in its closed interval, on any thread. Returns
    the rows for records that no range got, and for failed allocations."""
    records = []
    for event in trace.events:
        if event.phase in ("i", "I") and event.name == "[memory]":
            kind = exact.integer(event.args.get("Device Type"))
            size = exact.integer(event.args.get("Bytes")) or 0
            records.append(
                (
                    event.start,
                    size if kind in CPU_MEMORY else 0,
                    size if kind in DEVICE_MEMORY or (kind or 0) >= OWN_TYPE else 0,
                    event,
                )
            )
    records.sort(key=lambda r: (r[0], r[3].id))
    times = [r[0] for r in records]
    sums = [(0, 0)]
    for _, cpu, device, _ in records:
        sums.append((sums[-1][0] + cpu, sums[-1][1] + device))
    taken = [0] * (len(records) + 1)
    for function in functions:
        if function.is_device:
            continue
        first = bisect.bisect_left(times, function.event.start)
        last = bisect.bisect_right(times, function.event.end)
        function.cpu_bytes = sums[last][0] - sums[first][0]
        function.device_bytes = sums[last][1] - sums[first][1]
        if first < last:
            taken[first] += 1
            taken[last] -= 1
    rows = []
    holders = 0
    for change, (_, cpu, device, event) in zip(taken, records):
        holders += change
        if holders == 0:
            rows.append(synthetic(event, "[memory]", cpu, device))
    rows += [
        synthetic(e, "[OutOfMemory]", 0, 0)
        for e in trace.events
        if e.phase in ("i", "I") and e.name == "[OutOfMemory]"
    ]
    return rows


def attach_device_work(trace: Trace, functions: list[Function]) -> None:
    """Kernels go to the operator that launched them, calls to its thread, but those of Ascend, which
    may outlast it. The work of filtered operators, of MTIA and HPU is not attributed. Both have its
    stack."""
    of_event = {f.event: f for f in functions}
    ops = [
        e
        for e in trace.events
        if operators.host_type(e) == "Operator" and e.kind not in ("step", "annotation")
    ]
    calls = [e for e in trace.events if e in of_event and e.kind in LAUNCHES]
    launches = links.launch_of_device_event(trace)
    op_of_call = {**trace.kept.get("operators by arrows", {}), **links.op_of_call(calls, ops)}
    for event, op in [
        *op_of_call.items(),
        *((work, op_of_call.get(call)) for work, call in launches.items()),
    ]:
        if (
            op is not None
            and event in of_event
            and not call_stack(event.args)
            and (of_event[event].is_device or event.kind in LAUNCHES)
        ):
            of_event[event].stack = call_stack(op.args)
    for call, op in op_of_call.items():
        if op in of_event and call in of_event and trace.dialect != "ascend":
            of_event[call].track = op.track
    for work, call in launches.items():
        op = op_of_call.get(call)
        family = (work.device or "").partition(":")[0]
        if (
            op in of_event
            and work.kind in ("kernel", "memcpy", "memset")
            and family not in ("mtia", "hpu")
        ):  # torch does not add these
            of_event[op].kernels.append(work.dur)


def build_tree(functions: list[Function]) -> None:
    """Parents and children, per track, of the ranges on the host that are not async."""
    of_event = {}
    tracks: dict[tuple, list[Event]] = {}
    for function in functions:
        if not function.is_device and not function.is_async:
            of_event[function.event] = function
            tracks.setdefault(function.track, []).append(function.event)

    def set_parent(event: Event, parent: Event | None) -> None:
        if parent:
            of_event[event].parent = of_event[parent]
            of_event[parent].children.append(of_event[event])

    for ranges in tracks.values():
        forest.nest(ranges, set_parent)


def fold(functions: list[Function]) -> list[Function]:
    """Merge a range into its parent if it is the only child and has the parent's name; repeat until
    there is none left. Children and kernels move up, the parent keeps everything else."""
    while True:
        merged = set()
        for inner in functions:
            outer = inner.parent
            if outer and outer.name == inner.name and len(outer.children) == 1:
                outer.children = inner.children
                outer.kernels = inner.kernels
                for child in inner.children:
                    child.parent = outer
                merged.add(inner)
        if not merged:
            return functions
        functions = [f for f in functions if f not in merged]


def is_backward(function: Function) -> bool:
    """Whether its parent is the wrapper with its name."""
    return function.parent is not None and function.parent.name == WRAPPER + function.name


def backward_above(function: Function) -> Function | None:
    """The nearest backward function, itself or an ancestor."""
    at: Function | None = function
    while at and not is_backward(at):
        at = at.parent
    return at


def forward_threads(trace: Trace, functions: list[Function]) -> dict[int, tuple]:
    """Logical `Fwd thread id` -> (pid, tid): the start of the fwdbwd flow that ends at an event
    with that number."""
    starts: dict[object, tuple] = {}
    ends: dict[tuple, object] = {}
    for record in trace.records:
        if str(record.get("cat", "")).lower() != "fwdbwd":
            continue
        ts = exact.number(record.get("ts"))
        track = who(record)
        if ts is None:
            continue
        if record.get("ph") == "s":
            starts.setdefault(str(record.get("id")), track)
        elif record.get("ph") == "f":
            ends.setdefault((track, exact.us_to_ns(ts)), str(record.get("id")))
    result: dict[int, tuple] = {}
    for function in functions:
        logical = function.event.integer("Fwd thread id")
        flow = ends.get((function.event.track, function.event.start))
        if logical is not None and flow in starts:
            result.setdefault(logical, starts[flow])
    return result


def set_backward_stacks(trace: Trace, functions: list[Function]) -> None:
    """Give backward functions and all their descendants the stack of their forward operator."""
    threads = forward_threads(trace, functions)
    forward: dict[tuple, list[str]] = {}
    above = {f: backward_above(f) for f in functions}
    for function in functions:
        if above[function] is None:
            number = function.event.integer("Sequence number")
            forward.setdefault(
                (-1 if number is None else number, function.track), function.stack
            )
    for function in functions:
        backward = above[function]
        if backward:
            number = backward.event.integer("Sequence number")
            logical = backward.event.integer("Fwd thread id")
            function.stack = forward.get(
                (-1 if number is None else number, threads.get(logical)), []
            )


def set_device_totals(functions: list[Function]) -> None:
    """Sum the kernels of each function and all its descendants; children before parents."""
    for function in reversed(functions):
        if function.is_device:
            function.device_total = function.dur
        elif not function.is_async:
            function.device_total = sum(function.kernels) + sum(
                c.device_total for c in function.children
            )


def function_events(trace: Trace) -> list[Function]:
    """torch's list of events: folded, with stacks, sorted by (start, -end, file)."""
    if "functions" in trace.kept:
        return trace.kept["functions"]
    functions = functions_of(trace)
    if trace.flag("profile_memory"):
        functions += attribute_memory(trace, functions)
    functions.sort(key=lambda f: f.event.order())
    attach_device_work(trace, functions)
    build_tree(functions)
    functions = fold(functions)
    set_backward_stacks(trace, functions)
    set_device_totals(functions)
    trace.kept["functions"] = functions
    return functions


@dataclass
class Row:
    """One row of key_averages(); sums of times in ns, of memory in bytes."""

    name: str
    device_type: str
    is_async: bool
    is_user_annotation: bool
    is_python: bool
    is_top_level: bool  # of its first event
    input_shapes: str
    input_dtypes: str | None
    stack: list[str]
    calls: int = 0
    cpu_ns: int = 0
    self_cpu_ns: int = 0
    device_ns: int = 0
    self_device_ns: int = 0
    cpu_bytes: int = 0
    self_cpu_bytes: int = 0
    device_bytes: int = 0
    self_device_bytes: int = 0
    flops: int = 0
    has_bytes: bool = False  # some trace with the row has such numbers
    has_device_bytes: bool = False
    has_flops: bool = False

    def bound(self) -> None:
        """Limit the sums of bytes, which are exact, to the nearest values of 64 bits."""
        for name in ("cpu_bytes", "self_cpu_bytes", "device_bytes", "self_device_bytes"):
            setattr(self, name, exact.nearest(getattr(self, name)))

    def join(self, other: Row) -> None:
        """Add the calls of another trace."""
        for name in (
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
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("has_bytes", "has_device_bytes", "has_flops"):
            setattr(self, name, getattr(self, name) or getattr(other, name))

    def add(self, f: Function) -> None:
        """Add one call."""
        self.calls += 1
        self.flops += f.flops
        if f.is_device:
            self.device_ns += f.dur
            self.self_device_ns += f.dur
            return
        self.cpu_ns += f.dur
        self.cpu_bytes += f.cpu_bytes
        self.device_bytes += f.device_bytes
        if f.is_async:
            return
        self_ns, self_bytes, self_device_bytes, self_device_ns = f.own
        self.self_cpu_ns += self_ns
        self.self_cpu_bytes += self_bytes
        self.self_device_bytes += self_device_bytes
        self.device_ns += f.device_total
        self.self_device_ns += self_device_ns


def device_type(function: Function) -> str:
    """torch's name for the type of device."""
    if not function.is_device:
        return "CPU"
    family = torch_word((function.event.device or "").split(":")[0])
    return family.upper() if family in ("cuda", "xpu", "mtia", "hpu") else "PrivateUse1"


def rows_of(trace: Trace, by_shape: bool, stack_n: int, by_dtype: bool) -> dict[tuple, Row]:
    """Rows of one trace in order of first appearance; the caller may change them."""
    key = ("averages", by_shape, stack_n, by_dtype)
    if key not in trace.kept:
        trace.kept[key] = sum_rows(trace, by_shape, stack_n, by_dtype)
    return {name: copy.copy(row) for name, row in trace.kept[key].items()}


def sum_rows(trace: Trace, by_shape: bool, stack_n: int, by_dtype: bool) -> dict[tuple, Row]:
    """The same, once per trace."""
    rows: dict[tuple, Row] = {}
    for f in function_events(trace):
        is_python = (
            (f.event.category or "").lower() == "python_function" and f.name != "Python GC"
        ) or (f.event.is_fitted and f.event.kind == "python")
        key = (
            f.name,
            device_type(f),
            f.is_annotation,
            f.shapes if by_shape else None,
            tuple(f.stack[:stack_n]) if stack_n else None,
            operators.dtypes_text(f.event.args) if by_dtype else None,
        )
        if key not in rows:
            rows[key] = Row(
                f.name,
                device_type(f),
                f.is_async,
                f.is_annotation,
                is_python,
                f.parent is None,
                f.shapes if by_shape else "",
                key[-1],
                f.stack[:stack_n] if stack_n else [],
            )
        rows[key].add(f)
    has_bytes = trace.flag("profile_memory")
    has_device_bytes = has_bytes and any(
        r.device_bytes or r.self_device_bytes for r in rows.values()
    )
    for row in rows.values():
        row.has_bytes, row.has_device_bytes = has_bytes, has_device_bytes
        row.has_flops = trace.flag("with_flops")
        row.bound()
    return rows


def key_averages(
    traces: list[Trace],
    by_shape: bool = False,
    stack_n: int = 0,
    python: bool = True,
    by_dtype: bool = False,
) -> list[Row]:
    """The rows of TRACES as one list. PYTHON false drops the rows of Python functions at the end,
    so that all other numbers stay the same."""
    rows: dict[tuple, Row] = {}
    for trace in traces:
        for key, row in rows_of(trace, by_shape, stack_n, by_dtype).items():
            if row.is_python and not python:
                continue
            if key in rows:
                rows[key].join(row)
            else:
                rows[key] = row
    for row in rows.values():
        row.bound()
    return list(rows.values())


def table(
    traces: list[Trace],
    by_shape: bool = False,
    stack_n: int = 0,
    python: bool = True,
    by_dtype: bool = False,
) -> list[dict]:
    """The rows as dictionaries, with the column names of the table."""
    rows = key_averages(traces, by_shape, stack_n, python, by_dtype)
    has_bytes, has_device_bytes, has_flops = (
        any(getattr(row, name) for row in rows)
        for name in ("has_bytes", "has_device_bytes", "has_flops")
    )
    out = []
    for row in rows:
        cells: dict = {
            "name": row.name,
            "calls": row.calls,
            "self_cpu_ns": row.self_cpu_ns,
            "cpu_ns": row.cpu_ns,
            "self_device_ns": row.self_device_ns,
            "device_ns": row.device_ns,
        }
        for column, is_there, is_anywhere in (
            ("self_cpu_bytes", row.has_bytes, has_bytes),
            ("cpu_bytes", row.has_bytes, has_bytes),
            ("self_device_bytes", row.has_device_bytes, has_device_bytes),
            ("device_bytes", row.has_device_bytes, has_device_bytes),
            ("flops", row.has_flops, has_flops),
        ):
            if is_anywhere:
                cells[column] = getattr(row, column) if is_there else None
        if by_shape:
            cells["input_shapes"] = row.input_shapes
        if by_dtype:
            cells["input_dtypes"] = row.input_dtypes
        if stack_n:
            cells["stack"] = row.stack
        cells |= {
            "is_async": row.is_async,
            "is_user_annotation": row.is_user_annotation,
            "device_type": row.device_type,
        }
        out.append(cells)
    return out
