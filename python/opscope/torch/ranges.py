# SPDX-License-Identifier: Apache-2.0
"""Ranges that torch itself marks, such as the calls of compiled graphs.

While a profiler is active, torch uses `torch._C._profiler._RecordFunctionFast` for them, which
reports only to torch's own profiler. While opscope records, it is replaced by a class that
reports to all observers. Torch opens other ranges, such as those of data pipes, only if
`torch.autograd._profiler_enabled()` is true; while opscope records, it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch

from . import native
from .native import BOOL, COMPLEX, FLOAT, INT, LIST, OTHER, TENSOR, Keyword, Value

own = torch._C._profiler._RecordFunctionFast
own_enabled = torch.autograd._profiler_enabled
# Values that torch accepts as inputs, but of which it tells nothing.
UNTOLD = (str, bytes, dict, tuple, torch.device, torch.dtype, type(None))


def value_of(x: Any) -> Value | None:
    """The input X, which is no list; None: torch leaves it out of the inputs."""
    if isinstance(x, torch.Tensor):
        return Value(TENSOR, tensor=x._cdata)
    if isinstance(x, bool):
        return Value(BOOL, int(x))
    if isinstance(x, int):
        return Value(INT, int(x)) if -1 << 63 <= x < 1 << 63 else None
    if isinstance(x, float):
        return Value(FLOAT, real=x)
    if isinstance(x, complex):
        return Value(COMPLEX, real=x.real, imaginary=x.imag)
    return Value(OTHER) if isinstance(x, UNTOLD) and x != {} else None


def list_of(items: list[Any]) -> list[Value]:
    """The input that is the list ITEMS: nothing if torch leaves it out."""
    if items and all(isinstance(x, list) and list_of(x) for x in items):
        return [Value(OTHER)]
    values = [value_of(x) or Value(-1) for x in items]
    kinds = {x.kind for x in values}
    if kinds == {TENSOR, OTHER} and all(
        x is None or isinstance(x, torch.Tensor) for x in items
    ):
        return [Value(OTHER)]
    if len(kinds) != 1 or -1 in kinds:
        return []
    return [Value(OTHER)] if OTHER in kinds else [Value(LIST, len(items)), *values]


def values_of(inputs: Sequence[Any]) -> list[Value]:
    """INPUTS for the recorder, without those that torch leaves out."""
    found: list[Value] = []
    for x in inputs:
        if isinstance(x, list):
            found += list_of(x)
        elif (value := value_of(x)) is not None:
            found.append(value)
    return found


def keyword_of(key: str, value: Any) -> Keyword | None:
    """The keyword KEY with VALUE; None: torch leaves it out."""
    name = str(key).encode(errors="replace")
    if isinstance(value, str):
        return Keyword(name, Value(OTHER), value.encode(errors="replace")) if value else None
    if isinstance(value, list):
        texts = json.dumps(value).encode() if all(isinstance(x, str) for x in value) else None
        return Keyword(name, Value(LIST), texts) if texts else None
    found = value_of(value)
    return Keyword(name, found) if found and found.kind in (INT, BOOL, FLOAT) else None


def keywords_of(keywords: dict[str, Any]) -> list[Keyword]:
    """KEYWORDS as arguments of a range, without those that torch leaves out."""
    return [x for x in map(keyword_of, keywords, keywords.values()) if x is not None]


class Range:
    """A context manager for one such range."""

    def __init__(
        self,
        name: str,
        input_values: Sequence[Any] | None = None,
        keyword_values: dict[str, Any] | None = None,
    ) -> None:
        self.name = name.encode(errors="replace")
        self.inputs = input_values
        self.keywords = keyword_values
        self.range: int | None = None

    def __enter__(self) -> None:
        if self.range is not None:
            return
        library = native.recorder()
        values: list[Value] = []
        arguments: list[Keyword] = []
        is_annotation = False
        if (self.inputs or self.keywords) and library.osc_torch_wants_inputs():
            keywords = self.keywords or {}
            is_annotation = keywords.get("scope") == "user_scope"
            values, arguments = values_of(self.inputs or ()), keywords_of(keywords)
        self.range = library.osc_torch_range_open(
            self.name,
            is_annotation,
            (Value * len(values))(*values),
            len(values),
            (Keyword * len(arguments))(*arguments),
            len(arguments),
        )

    def __exit__(self, *_: object) -> None:
        if self.range is not None:
            native.recorder().osc_torch_range_close(self.range)
            self.range = None


def make(*args: Any, **options: Any) -> Any:
    """Make a range for all profilers; torch's own class if torch's profiler is active."""
    # Arguments are passed on unchanged: an explicit None crashes torch 2.13.
    return (own if torch._C._autograd._profiler_enabled() else Range)(*args, **options)


def is_enabled() -> bool:
    """Whether any profiler records what the calling thread does."""
    return own_enabled() or bool(native.recorder().osc_torch_is_recorded())


def install() -> None:
    """Begin to record torch's ranges."""
    torch._C._profiler._RecordFunctionFast = make  # type: ignore[assignment,misc]
    torch.autograd._profiler_enabled = is_enabled


def remove() -> None:
    """Restore torch's own functions."""
    torch._C._profiler._RecordFunctionFast = own  # type: ignore[misc]
    torch.autograd._profiler_enabled = own_enabled
