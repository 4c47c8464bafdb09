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

# The types of elements in the words of a recording.
DTYPES = {"float": torch.float32, "double": torch.float64, "c10::Half": torch.half,
          "c10::BFloat16": torch.bfloat16, "long int": torch.int64, "long": torch.int64,
          "int": torch.int32, "short int": torch.int16, "short": torch.int16,
          "signed char": torch.int8, "unsigned char": torch.uint8, "bool": torch.bool,
          "c10::complex<float>": torch.complex64, "c10::complex<double>": torch.complex128}


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


class Results:
    """What there is of torch's `kineto_results` for the recording at PATH, which may be ""."""

    def __init__(self, path: str) -> None:
        self._path = path

    def experimental_event_tree(self) -> EventTree | list[Any]:
        """The events as a tree, whose elements have the attributes of torch's `_ProfilerEvent`."""
        if not self._path:
            return []
        tags = {x: getattr(_profiler._EventType, x) for x in dir(_profiler._EventType)
                if not x.startswith("_")}
        return load(self._path)._event_tree({}, {**DTYPES, **tags}, fields_of)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"opscope.torch has no kineto_results.{name}: there are "
                             "experimental_event_tree(), and events() of the profile")
