# SPDX-License-Identifier: Apache-2.0
"""Ranges that torch marks by itself, such as the calls of compiled graphs.

`torch._C._profiler._RecordFunctionFast`, which torch looks up at each of them while
something profiles, tells torch's own profiler alone. While ours records, something else
stands there, which tells all who listen. Others, such as those of data pipes, torch opens
only where `torch.autograd._profiler_enabled()`, which then is true where ours records.
"""
from __future__ import annotations

import ctypes
from typing import Any

import torch

from . import native

own = torch._C._profiler._RecordFunctionFast
own_enabled = torch.autograd._profiler_enabled


class Range:
    """One such range: a context manager."""

    def __init__(self, name: str, input_values: Any = None,
                 keyword_values: dict[str, Any] | None = None) -> None:
        self.name = name.encode(errors="replace")
        self.is_annotation = (keyword_values or {}).get("scope") == "user_scope"
        self.range: int | None = None

    def __enter__(self) -> None:
        if self.range is None:
            self.range = native.recorder().osc_torch_range_open(self.name, self.is_annotation)

    def __exit__(self, *_: object) -> None:
        if self.range is not None:
            native.recorder().osc_torch_range_close(ctypes.c_void_p(self.range))
            self.range = None


def make(*args: Any, **options: Any) -> Any:
    """A range for all profilers: by torch's own class where that does it."""
    # Passed on as they came: an explicit None ends the process in torch 2.13.
    return (own if torch._C._autograd._profiler_enabled() else Range)(*args, **options)


def is_enabled() -> bool:
    """Whether any profiler records what the calling thread does."""
    return own_enabled() or bool(native.recorder().osc_torch_is_recorded())


def install() -> None:
    """From now on torch's ranges are seen."""
    torch._C._profiler._RecordFunctionFast = make  # type: ignore[assignment,misc]
    torch.autograd._profiler_enabled = is_enabled


def remove() -> None:
    """No more."""
    torch._C._profiler._RecordFunctionFast = own  # type: ignore[misc]
    torch.autograd._profiler_enabled = own_enabled
