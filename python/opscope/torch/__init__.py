# SPDX-License-Identifier: Apache-2.0
"""PyTorch: `torch.profiler` with another recorder behind it.

    from opscope.torch import profile, ProfilerActivity

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        model(inputs)
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))

`profile` takes the arguments of `torch.profiler.profile` and gives the same tables. `schedule`,
`record_function`, `ProfilerActivity`, `ProfilerAction`, `tensorboard_trace_handler`,
`supported_activities`, `itt`, `emit_itt`, `emit_nvtx` and everything else in `torch.profiler` are
torch's own objects. Operators are recorded by a small object for the installed torch: that of the
package, if its wheel was made with one, or else one that is built at first use, with a C++
compiler, and kept in a cache for all programs of this user. `python -m opscope.torch build` builds
it ahead of time and prints its path. If there is none, `profile` is torch's own class, and a
warning says so: results are right, and cost what they do in torch. `autograd_profiler` and
`profiler_legacy` are the same for `torch.autograd.profiler` and `torch.autograd.profiler_legacy`.
`opscope run --torch` records unmodified programs, `--torch=stack` with calls of Python and
modules.

OPSCOPE_OUT: a directory, made if it is missing, in which the recordings stay, one file per window,
for `opscope` and `opscope.load()`; without it they are removed with the profile. OPSCOPE=0: nothing
is recorded, and results are empty.

Limits:

- One recording per process: torch's own profiler records a `profile` inside another one, or while
  `opscope.record.start()` records, and a warning says so. `torch.profiler` may run at the same time.
- Devices are CUDA, XPU and those whose backend reports itself (docs/vendors.md). A profile that asks
  for another one, which torch's own profiler records (ROCm, MTIA, HPU), is left to that, and a
  warning says so; else a warning says what is missing.
- `export_memory_timeline()` has the memory of the host and of devices, also what was there before the
  profile, as far as calls took it.
- `prof.profiler.kineto_results` has `events()`, whose elements have the methods of torch's,
  `trace_start_ns()` and `experimental_event_tree()`: an `opscope.EventTree`, whose events have the
  attributes of torch's, so that `torch.profiler._utils` (`BasicEvaluation`, too) and
  `_pattern_matcher` work with a profile. The line of a caller is the one where its function begins, the flag for TF32 that of
  now; what is not recorded, such as identities of tensors, is None. `torch.profiler._memory_profiler`
  needs these. Switches such as
  `torch._C._profiler._set_fwd_bwd_enabled_val()` have no effect. Ranges of `_RecordFunctionFast` are
  recorded where it is read from `torch._C._profiler` while a profile records, as torch does it.
- The argument `CallFrom` of calls of Python, the line of the caller that torch 2.15 writes to JSON,
  is not exported. `opscope run --torch=stack` has the lines in the stacks of operators.
- Tested with the last patch of each minor release of torch from 2.6 to 2.15. With another version
  one warning says so, and torch's own code makes the tables.
- Before 2.11 torch itself counts some allocations in a neighbour of their call, because it rounds
  times to a quarter of a microsecond. These numbers differ from torch's.
"""

from __future__ import annotations

from typing import Any

import torch.profiler
from torch.autograd.profiler import emit_itt, emit_nvtx, record_function
from torch.profiler import (
    DeviceType,
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    itt,
    kineto_available,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

from . import autograd_profiler, collector, profiler_legacy
from .events import EventList
from .profiler import profile

__all__ = [
    "DeviceType",
    "EventList",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "autograd_profiler",
    "emit_itt",
    "emit_nvtx",
    "itt",
    "kineto_available",
    "profile",
    "profiler_legacy",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
__all__ += sorted(set(torch.profiler.__all__) - set(__all__))  # those of a newer torch
collector.trace_early()


def __getattr__(name: str) -> Any:
    if name == "ProfileActivity":  # the spelling in Intel's documentation
        return ProfilerActivity
    if not name.startswith("__") and hasattr(torch.profiler, name):
        return getattr(torch.profiler, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
