# SPDX-License-Identifier: Apache-2.0
"""What is made of torch's `_ExperimentalConfig`: its fields, and garbage collections."""
from __future__ import annotations

import gc
import warnings
from typing import Any

from .. import _opscope

# In the order of its pickle, which alone shows them all.
FIELDS = ("profiler_metrics", "profiler_measure_per_kernel", "verbose", "performance_events",
          "enable_cuda_sync_events", "adjust_profiler_step", "disable_external_correlation",
          "profile_all_threads", "capture_overload_names", "record_python_gc_info",
          "expose_kineto_event_metadata", "custom_profiler_config", "adjust_timestamps",
          "trace_only")
# Of the host, and not heeded. The others are of devices, or mean nothing in torch either.
UNHEEDED = ("performance_events", "expose_kineto_event_metadata", "custom_profiler_config",
            "adjust_timestamps", "trace_only")


def fields(config: Any) -> dict[str, Any]:
    """The fields of CONFIG, or of none: false where this torch has no such.

    `verbose` is true without a CONFIG: stacks shall not need one, as they do in torch.
    """
    state = config.__getstate__() if config is not None else ()
    return {**dict.fromkeys(FIELDS, False), "verbose": config is None, **dict(zip(FIELDS, state))}


def warn_of_unheeded(config: Any, stacklevel: int) -> None:
    """One warning that names the fields of CONFIG that change nothing here."""
    found = fields(config)
    names = [name for name in UNHEEDED if found[name]]
    if names:
        warnings.warn(f"opscope.torch ignores {', '.join(names)} of experimental_config",
                      stacklevel=stacklevel + 1)


class Collections:
    """Python's garbage collections on one thread, as scopes of the recording that runs."""

    is_on = False

    def begin(self) -> None:
        """Those of this thread from now on."""
        _opscope.watch_collections()
        gc.callbacks.append(_opscope.collection)
        self.is_on = True

    def end(self) -> None:
        """No more."""
        if self.is_on:
            gc.callbacks.remove(_opscope.collection)
        self.is_on = False


collections = Collections()
