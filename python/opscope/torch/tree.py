# SPDX-License-Identifier: Apache-2.0
"""The event tree of a recording, as torch's private modules use it."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import torch
from torch._C import _profiler

from .._trace import load
from .._tree import EventTree
from . import events

# The types of elements in the words of a recording.
DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "c10::Half": torch.half,
    "c10::BFloat16": torch.bfloat16,
    "long int": torch.int64,
    "long": torch.int64,
    "int": torch.int32,
    "short int": torch.int16,
    "short": torch.int16,
    "signed char": torch.int8,
    "unsigned char": torch.uint8,
    "bool": torch.bool,
    "c10::complex<float>": torch.complex64,
    "c10::complex<double>": torch.complex128,
}


@functools.cache
def fields_class(word: str) -> Any:
    """A class of torch's objects with the fields of events of tag WORD; None: torch has none."""
    base = getattr(_profiler, f"_ExtraFields_{word}", None)
    if base is None:
        return None
    # What is not recorded is None: torch's own attributes would read an object that is not there.
    nothing = {name: None for name in dir(base) if not name.startswith("__")}
    return type(base.__name__, (base,), {**nothing, "__init__": object.__init__})


def fields_of(word: str, found: SimpleNamespace) -> Any:
    """What torch's code takes for its own fields of an event of tag WORD: those that were FOUND."""
    made_by = fields_class(word)
    if made_by is None:
        return found
    fields = made_by.__new__(made_by)
    for name, value in vars(found).items():
        setattr(fields, name, value)
    if word == "TorchOp":
        fields.allow_tf32_cublas = torch.backends.cuda.matmul.allow_tf32
    return fields


# What torch's own events have where nothing is known.
UNKNOWN = {
    "backend": "",
    "concrete_inputs": [],
    "cuda_elapsed_us": -1,
    "dtypes": [],
    "extra_meta": {},
    "flops": 0,
    "flow_id": 0,
    "flow_start": False,
    "flow_type": 0,
    "is_hidden_event": False,
    "is_python_function": False,
    "is_user_annotation": False,
    "kwinputs": {},
    "linked_correlation_id": 0,
    "metadata_json": "",
    "module_hierarchy": [],
    "nbytes": 0,
    "privateuse1_elapsed_us": -1,
    "python_id": -1,
    "python_module_id": -1,
    "python_parent_id": -1,
    "shapes": [],
    "stack": [],
    "structured_input_shapes": [],
    "structured_input_strides": [],
    "device_type": torch.profiler.DeviceType.CPU,
}
# The words of other classes of torch for the same.
WORDS = {
    "id": "correlation_id",
    "trace_name": "name",
    "thread": "start_thread_id",
    "fwd_thread": "fwd_thread_id",
    "input_shapes": "shapes",
    "input_dtypes": "dtypes",
}


class KinetoEvent:
    """One event, with the methods of torch's `_KinetoEvent`."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"events of opscope.torch have no {name}()")
        return lambda: self._values[name]

    def __repr__(self) -> str:
        return f"<KinetoEvent {self._values['name']}>"


def kineto_event(fields: dict[str, Any], origin_ns: int) -> KinetoEvent:
    """The event with the FIELDS of a `FunctionEvent`, whose times begin at ORIGIN_NS."""
    values = {**UNKNOWN, **{WORDS.get(x, x): y for x, y in fields.items() if x != "name"}}
    start_ns, end_ns = (round(fields[x] * 1000) for x in ("start_us", "end_us"))
    values.update(
        start_ns=origin_ns + start_ns,
        end_ns=origin_ns + end_ns,
        duration_ns=end_ns - start_ns,
        end_thread_id=fields["thread"],
    )
    for name in ("start_us", "end_us", "cpu_memory_usage", "device_memory_usage"):
        values.pop(name, None)
    return KinetoEvent(values)


class Results:
    """What there is of torch's `kineto_results` for the recording at PATH, which may be "", of a
    window that began at START_NS. HAS_MEMORY: memory was asked for."""

    def __init__(self, path: str, start_ns: int = 0, has_memory: bool = True) -> None:
        self._path = path
        self._start_ns = start_ns
        self._has_memory = has_memory

    def experimental_event_tree(self) -> EventTree | list[Any]:
        """The events as a tree, whose elements have the attributes of torch's `_ProfilerEvent`."""
        if not self._path:
            return []
        tags = {
            x: getattr(_profiler._EventType, x)
            for x in dir(_profiler._EventType)
            if not x.startswith("_")
        }
        return load(self._path)._event_tree({}, {**DTYPES, **tags}, fields_of)

    def events(self) -> list[KinetoEvent]:
        """All calls and all work on devices, with the methods of torch's events, and records of
        memory. Work and calls of a runtime have the number of their operator as
        `linked_correlation_id()`."""
        if not self._path:
            return []
        rows = events.Rows(self._path, self._has_memory)
        origin_ns = events.origin_of(self._path)
        made = [kineto_event(x, origin_ns) for x in rows.fields(False, events.Deadline(None))]
        for row, args in rows.records:
            device_type = torch.profiler.DeviceType(int(args.get("Device Type", 0)))
            made.append(
                kineto_event(
                    {
                        "id": 0,
                        "trace_name": row["name"],
                        "thread": rows.threads[row["thread"]],
                        "fwd_thread": 0,
                        "start_us": int(row["start_ns"]) / 1000.0,
                        "end_us": int(row["start_ns"]) / 1000.0,
                        "nbytes": int(args["Bytes"]),
                        "device_type": device_type,
                        "device_index": int(args.get("Device Id", -1)),
                        "device_resource_id": 0,
                        "scope": 0,
                        "sequence_nr": -1,
                        "external_id": 0,
                        "overload_name": "",
                        "is_async": False,
                        "activity_type": "cpu_instant_event",
                    },
                    origin_ns,
                )
            )
        return made

    def trace_start_ns(self) -> int:
        """When the window began, in Unix time."""
        return self._start_ns

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"opscope.torch has no kineto_results.{name}: there are "
            "experimental_event_tree(), events() and trace_start_ns()"
        )
