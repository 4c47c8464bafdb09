# SPDX-License-Identifier: Apache-2.0
"""Ranges that torch itself marks, such as the calls of compiled graphs.

While a profiler is active, torch uses `torch._C._profiler._RecordFunctionFast` for them, which
reports only to torch's own profiler. While opscope records, it is replaced by a class that
reports to all observers. Torch opens other ranges, such as those of data pipes, only if
`torch.autograd._profiler_enabled()` is true; while opscope records, it is.
"""
from __future__ import annotations

import ctypes
from typing import Any

import torch

from . import native

own = torch._C._profiler._RecordFunctionFast
own_enabled = torch.autograd._profiler_enabled


class Range:
    """A context manager for one such range."""

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
