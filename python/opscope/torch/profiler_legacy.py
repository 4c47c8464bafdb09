# SPDX-License-Identifier: Apache-2.0
"""The interface of `torch.autograd.profiler_legacy`, with the same recorder behind it."""

from __future__ import annotations

import os
from html import escape
from typing import Any, NoReturn

from torch.autograd import profiler_legacy
from torch.profiler import ProfilerActivity

from . import devices, native
from .profiler import AnyPath, Recording

__all__ = ["profile"]

THEIRS = profiler_legacy.profile  # also after it was replaced

WHAT_IS_THERE = (
    "table",
    "key_averages",
    "total_average",
    "export_chrome_trace",
    "export_stacks",
    "self_cpu_time_total",
    "function_events",
)
UNUSED = "<disabled profiler_legacy.profile>"


class NotProfiledError(RuntimeError, AttributeError):
    """There are no results. As in torch, hasattr() is then false for the attributes."""

    def __init__(self) -> None:
        super().__init__("nothing was profiled, for the profile was made with enabled=False")


class Disabled:
    """The value of a profile with enabled=False, for which torch returns None: it is false.

    Any use of its results is an error that says why there are none.
    """

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return UNUSED

    def __getattr__(self, name: str) -> NoReturn:
        if name in WHAT_IS_THERE:
            raise NotProfiledError
        raise AttributeError(f"'profile' object has no attribute {name!r}")


class profile:
    """A context manager that records operators, with the arguments of torch's legacy profiler.

    `use_cuda` and `use_xpu` record the device, too; a warning says why one is not. With
    enabled=False nothing is recorded, and the context value is false (torch gives None) and has no
    results. Times of results are in microseconds, memory in bytes. If there is no recorder for this
    torch, this is torch's own class.
    """

    def __new__(cls, enabled: bool = True, **options: Any) -> Any:
        """An object of torch's class if there is no recorder for this torch, or it is in use."""
        if cls is profile and enabled and native.is_left_to_torch():
            return THEIRS(enabled, **options)
        return super().__new__(cls)

    # Attributes that a Recording reads from its owner.
    custom_trace_id_callback = experimental_config = None

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_xpu: bool = False,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.recording: Recording | None = None
        wanted = [ProfilerActivity.CUDA] * use_cuda + [ProfilerActivity.XPU] * use_xpu
        self.absent = devices.missing(wanted if enabled else ())
        devices.warn(self.absent, stacklevel=2)
        there = [a for a in wanted if enabled and a.name not in self.absent]
        self.activities = frozenset([ProfilerActivity.CPU, *there])
        self.use_device = devices.module_of(there[0].name) if there else None
        self.with_stack = with_stack
        self.with_modules = with_modules

    def __enter__(self) -> Any:
        if not self.enabled:
            return Disabled()
        if self.recording is not None:
            raise RuntimeError("Profiler context manager is not reentrant")
        recording = Recording(self)
        recording._prepare_trace()
        recording._start_trace({})
        self.recording = recording
        return self

    def __exit__(self, *error: object) -> None:
        if self.recording is not None:
            self.recording.__exit__(*error)

    def _results(self) -> Recording:
        if not self.enabled:
            raise NotProfiledError
        if self.recording is None or self.recording.is_running:
            raise RuntimeError("Profiler didn't finish running")
        return self.recording

    def __repr__(self) -> str:
        if not self.enabled:
            return UNUSED
        events = self.function_events
        return "<unfinished profiler_legacy.profile>" if events is None else repr(events)

    def __str__(self) -> str:
        if not self.enabled:
            return UNUSED
        unfinished = self.function_events is None
        return "<unfinished profile.profiler_legacy.profile>" if unfinished else self.table()

    @property
    def entered(self) -> bool:
        """Whether the profile has begun."""
        return self.recording is not None

    @property
    def function_events(self) -> Any:
        """All calls, as torch's `EventList`; None until it has finished."""
        if self.enabled and (self.recording is None or self.recording.is_running):
            return None
        return self._results().function_events

    def __fspath__(self) -> str:
        """The recording, for `opscope.load()`."""
        return os.fspath(self._results())

    def _repr_html_(self) -> str:
        """The averages, for notebooks."""
        return self.recording._repr_html_() if self.recording else escape(repr(self))

    def table(self, *args: Any, **options: Any) -> str:
        """The calls as text, not averaged; arguments as in torch's `EventList.table()`."""
        return self._results().table(*args, **options)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> Any:
        """The averages by torch's keys."""
        return self._results().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> Any:
        """The sum of all calls; nested calls count again."""
        return self._results().total_average()

    def export_chrome_trace(self, path: AnyPath) -> None:
        """Write Kineto's JSON; may be repeated.

        As in torch, a call is left out if it is the only one in a call of the same name.
        """
        recording = self._results()
        recording.export_chrome_trace(path, only={e.id for e in recording.function_events})

    def export_stacks(self, path: AnyPath, metric: str = "self_cpu_time_total") -> Any:
        """Write stacks, the outermost call first, each with its METRIC in microseconds."""
        return self._results().export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        """Host time without children, of all calls, in microseconds."""
        return self._results().self_cpu_time_total
