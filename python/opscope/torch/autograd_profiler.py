# SPDX-License-Identifier: Apache-2.0
"""The interface of `torch.autograd.profiler.profile`, with the same recorder behind it.

Everything else in `torch.autograd.profiler`, such as `record_function`, is torch's own.
"""

from __future__ import annotations

import inspect
import os
from html import escape
from typing import TYPE_CHECKING, Any

import torch.autograd.profiler
from torch.profiler import ProfilerActivity

from . import devices, installed, native
from .profiler import UNFINISHED, AnyPath, Recording

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch._C._profiler import _ExperimentalConfig

__all__ = ["profile"]
__all__ += sorted(set(torch.autograd.profiler.__all__) - set(__all__))

THEIRS = torch.autograd.profiler.profile  # also after it was replaced


class profile(torch.autograd.profiler.profile):
    """A context manager that records operators, with the arguments of torch's class.

    With enabled=False nothing is recorded, and the context value is None. Results are those of
    `opscope.torch.profile`: times in microseconds, memory in bytes. `use_device` and `use_cuda`
    record the device, too; a warning says why one is not. If there is no recorder for this torch,
    this is torch's own class.
    """

    def __new__(cls, enabled: bool = True, **options: Any) -> Any:
        """An object of torch's class if there is no recorder for this torch, or it is in use."""
        if cls is profile and enabled and native.is_left_to_torch():
            return THEIRS(enabled, **options)
        return super().__new__(cls)

    def __init__(
        self,
        enabled: bool = True,
        *,
        experimental_config: _ExperimentalConfig | None = None,
        **options: Any,
    ) -> None:
        self.recording: Recording | None = None
        super().__init__(enabled, experimental_config=experimental_config, **options)
        if not enabled:
            return
        # None is not the same as a config without fields: stacks do not require one here.
        self.experimental_config = experimental_config  # type: ignore[assignment]
        self.activities = self.kineto_activities
        self.absent = devices.missing(
            a
            for a in ProfilerActivity.__members__.values()
            if self.use_device and devices.module_of(a.name) == self.use_device
        )
        devices.warn(self.absent, stacklevel=2)

    def _prepare_trace(self) -> None:
        self.entered = True
        self.recording = self.recording or Recording(self)
        self.recording._prepare_trace()

    def _start_trace(self) -> None:
        if self.recording is not None:
            self.recording._start_trace({})

    def __exit__(self, *error: object) -> bool | None:  # type: ignore[override]
        if not self.enabled:
            return None
        if self.recording is not None:
            self.recording.__exit__(*error)
        return False

    def __repr__(self) -> str:
        return repr(self.recording) if self.recording else UNFINISHED

    def __str__(self) -> str:
        return str(self.recording) if self.recording else UNFINISHED

    def _results(self) -> Recording:
        if self.recording is None:
            raise AssertionError("Expected profiling results")
        return self.recording

    @property
    def function_events(self) -> Any:
        """All calls, as torch's `EventList`."""
        return self._results().function_events

    def __fspath__(self) -> str:
        """The recording, for `opscope.load()`."""
        return os.fspath(self._results())

    def _repr_html_(self) -> str:
        """The averages, for notebooks."""
        return self.recording._repr_html_() if self.recording else escape(repr(self))

    def table(self, *args: Any, **options: Any) -> str:  # type: ignore[override]
        """The calls as text, not averaged; arguments as in torch's `EventList.table()`."""
        return self._results().table(*args, **options)

    def key_averages(self, *args: Any, **options: Any) -> Any:
        """The averages by torch's keys; the arguments are those of torch's method."""
        return self._results().key_averages(*args, **options)

    def total_average(self) -> Any:
        """The sum of all calls; nested calls count again."""
        return self._results().total_average()

    def export_chrome_trace(self, path: AnyPath, *args: Any, **options: Any) -> None:
        """Write Kineto's JSON; may be repeated. Further arguments are those of torch's method."""
        asked = installed.arguments(
            THEIRS.export_chrome_trace, path, *args, **options
        ).arguments
        self._results().export_chrome_trace(path, asked.get("metadata"))

    def export_stacks(
        self,
        path: AnyPath,  # type: ignore[override]
        metric: str = "self_cpu_time_total",
    ) -> Any:
        """Write stacks, the outermost call first, each with its METRIC in microseconds."""
        return self._results().export_stacks(path, metric)

    def toggle_collection_dynamic(
        self, enabled: bool, activities: Iterable[ProfilerActivity]
    ) -> None:
        """Switch the recording of operators off or on."""
        self._results().toggle_collection_dynamic(enabled, activities)

    @property
    def self_cpu_time_total(self) -> float:
        """Host time without children, of all calls, in microseconds."""
        return self._results().self_cpu_time_total


# Programs inspect the signature to find out which arguments exist.
for function in (profile.__new__, profile.__init__):
    function.__signature__ = inspect.signature(THEIRS.__init__)


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and hasattr(torch.autograd.profiler, name):
        return getattr(torch.autograd.profiler, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
