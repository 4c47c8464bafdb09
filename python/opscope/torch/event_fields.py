# SPDX-License-Identifier: Apache-2.0
"""What torch's events say, of the rows of the table events."""

from __future__ import annotations

import ast
import contextlib
import itertools
from typing import Any

from torch.autograd import profiler_util
from torch.profiler import DeviceType

# Kineto's names for the kinds of host ranges that are calls; other rows are not calls.
ACTIVITIES = {
    "operator": "cpu_op",
    "python": "python_function",
    "module": "python_function",
    **dict.fromkeys(
        ("annotation", "step", "dataloader", "optimizer", "communication"), "user_annotation"
    ),
}
WORK = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}
COPY = "annotation"  # of a range of the program, over the work that was launched in it
COLLECTION = "Python GC"  # a collection of garbage, which is no function
# Arguments of calls that are no keyword values of the program.
ARGUMENTS = {
    "torch thread",
    "Sequence number",
    "Fwd thread id",
    "Input Dims",
    "Input Strides",
    "Input type",
    "Concrete Inputs",
    "Overload name",
    "Call stack",
    "Is asynchronous",
    "Module Hierarchy",
    "Record function id",
    "External id",
}


def plain_shapes(dims: list[Any]) -> list[Any]:
    """The sizes of tensors; a list of tensors has none."""
    return [[] if d and isinstance(d[0], list) else d for d in dims]


def scalar(text: str) -> Any:
    """The value of an input, from its text; None: it is a tensor."""
    if not text:
        return None
    for value in (ast.literal_eval, float, complex):  # nan and inf have no literals
        with contextlib.suppress(ValueError, SyntaxError):
            return value(text)
    return text  # a device, a symbol


class Threads:
    """Torch's numbers of threads, from 1; only those of forward threads are known."""

    def __init__(self, calls: list[tuple[dict[str, str], dict[str, Any]]]) -> None:
        began = {
            (args["Sequence number"], args["Fwd thread id"])
            for _, args in calls
            if args.get("Fwd thread id")
        }
        numbers: dict[int, set[int]] = {}
        for sequence, number in began:
            numbers.setdefault(sequence, set()).add(number)
        self.known: dict[str, int] = {}
        for row, args in calls:
            found = numbers.get(args.get("Sequence number", -1), set())
            if len(found) == 1 and not args.get("Fwd thread id"):
                self.known.setdefault(row["thread"], *found)
        free = (n for n in itertools.count(1) if n not in set(self.known.values()))
        for row, _ in calls:
            if row["thread"] not in self.known:
                self.known[row["thread"]] = next(free)


def is_python_call(row: dict[str, str]) -> bool:
    """Whether ROW of the table events is a call of Python, or of a module."""
    return ACTIVITIES[row["kind"]] == "python_function"


class Callers:
    """The Python call around each call, by the rule of the exported trace; calls come in order."""

    def __init__(self) -> None:
        self.open: dict[str, list[tuple[int, float]]] = {}  # by thread: number, end

    def of(self, row: dict[str, str]) -> int:
        """The number of the caller of the Python call in ROW; -1: it has none."""
        start = int(row["start_ns"])
        end = start + int(row["dur_ns"]) if row["dur_ns"] else float("inf")
        stack = self.open.setdefault(row["thread"], [])
        while stack and (stack[-1][1] <= start or stack[-1][1] < end):
            stack.pop()
        caller = stack[-1][0] if stack else -1
        stack.append((int(row["id"]) + 1, end))
        return caller


def python_ids(row: dict[str, str], args: dict[str, Any], callers: Callers) -> dict[str, int]:
    """Torch's fields about a Python call: the numbers in an exported trace."""
    return {
        "python_id": int(row["id"]) + 1,
        "python_parent_id": callers.of(row),
        "python_module_id": args.get("Python module id", -1),
    }


def without_number(name: str) -> str:
    """The name by which torch groups steps; another NAME as it is."""
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def fields_of(row: dict[str, str], args: dict[str, Any], thread: int) -> dict[str, Any]:
    """Torch's fields of the call in ROW of the table events."""
    start_ns = int(row["start_ns"])
    is_annotation = ACTIVITIES[row["kind"]] == "user_annotation"
    is_python = is_python_call(row)
    # The External id of an exported trace.
    number = 0 if is_python else args.get("External id", int(row["id"]) + 1)
    name = row["name"]
    dims = args.get("Input Dims", [])
    return {
        "id": number,
        "external_id": number,
        "name": without_number(name),
        "trace_name": name,
        "thread": thread,
        "start_us": start_ns / 1000.0,
        "end_us": (start_ns + int(row["dur_ns"] or 0)) / 1000.0,
        "fwd_thread": args.get("Fwd thread id", 0),
        "input_shapes": plain_shapes(dims),
        "structured_input_shapes": dims,
        "structured_input_strides": args.get("Input Strides", []),
        "input_dtypes": args.get("Input type", []),
        "kwinputs": {}
        if is_python
        else {
            x: y for x, y in args.items() if x not in ARGUMENTS and not x.startswith("Storage")
        },
        "concrete_inputs": [scalar(x) for x in args.get("Concrete Inputs", [])],
        "overload_name": args.get("Overload name", ""),
        "stack": [
            x
            for x in args.get("Call stack", "").split(";")
            if x and profiler_util._filter_stack_entry(x)
        ],
        "is_python_function": is_python and name != COLLECTION,
        "scope": 7 if is_annotation else 0,
        "sequence_nr": args.get("Sequence number", -1),
        "activity_type": ACTIVITIES[row["kind"]],
        "device_index": int(row["process"]),
        "device_resource_id": int(row["thread"].split(".")[0]),
        "is_async": (row["kind"] == "communication" and is_annotation)
        or args.get("Is asynchronous", False),
        "is_user_annotation": is_annotation,
    }


def fields_on_device(
    row: dict[str, str], args: dict[str, Any], thread: int, stack: list[str]
) -> dict[str, Any]:
    """The same of a call of a runtime, of work on a device, or of the copy of a range there; STACK
    is that of its operator."""
    is_copy = row["kind"] == COPY
    is_work = row["kind"] in WORK or is_copy
    start_ns = int(row["start_ns"])
    index = row["device"].rpartition(":")[2] if is_work else row["process"]
    place = args.get("stream", row["queue"]) if is_work else row["thread"].split(".")[0]
    return {
        "id": args.get("External id", 0) if is_copy else int(row["correlation"] or 0),
        "external_id": args.get("External id", 0) if is_copy else int(row["op_id"] or -1) + 1,
        "linked_correlation_id": int(row["op_id"] or -1) + 1,
        "name": without_number(row["name"]) if is_copy else row["name"],
        "trace_name": row["name"],
        "is_user_annotation": is_copy,
        "thread": 0 if is_work else thread,
        "start_us": start_ns / 1000.0,
        "end_us": (start_ns + int(row["dur_ns"] or 0)) / 1000.0,
        "fwd_thread": 0,
        "input_shapes": [],
        "stack": stack,
        "scope": 0,
        "overload_name": "",
        "sequence_nr": -1,
        "flops": 0,
        "cpu_memory_usage": 0,
        "is_async": False,
        "device_type": type_of_device(row["device"]) if is_work else DeviceType.CPU,
        "device_index": number_of(index),
        "device_resource_id": number_of(place),
        "activity_type": "gpu_user_annotation"
        if is_copy
        else WORK.get(row["kind"], row["kind"]),
    }


def number_of(text: Any) -> int:
    """The number that TEXT is; -1: it is none."""
    try:
        return int(text)
    except ValueError:
        return -1


def type_of_device(device: str) -> Any:
    """Torch's type of DEVICE, such as cuda:0; each that it does not name is a vendor's."""
    family = device.partition(":")[0]
    name = {"cuda": "CUDA", "hip": "CUDA", "xpu": "XPU", "mtia": "MTIA", "hpu": "HPU"}.get(
        family
    )
    return getattr(DeviceType, name or "PrivateUse1", DeviceType.PrivateUse1)
