# SPDX-License-Identifier: Apache-2.0
"""Read torch's `_ExperimentalConfig`, and record garbage collections for it."""
from __future__ import annotations

import gc
import re
import warnings
from typing import Any

from .. import _opscope

# The fields that are read here; no version of torch has all of them.
FIELDS = ("verbose", "performance_events", "profile_all_threads", "capture_overload_names",
          "record_python_gc_info", "expose_kineto_event_metadata", "custom_profiler_config",
          "adjust_timestamps", "trace_only")
# Fields about the host that are ignored. The others concern devices or have no effect in torch.
UNHEEDED = ("performance_events", "expose_kineto_event_metadata", "custom_profiler_config",
            "adjust_timestamps", "trace_only")


def names_of_state(config: Any) -> list[str]:
    """The names of the members of CONFIG's pickled state, the only place with all fields: those of
    the arguments in the docstring of its constructor, which are in the same order."""
    first = (type(config).__init__.__doc__ or "").partition("\n")[0]
    return re.findall(r"(\w+): ", first)[1:]  # without self


def fields(config: Any) -> dict[str, Any]:
    """The fields of CONFIG, which may be None; a field that this torch lacks is false.

    Without CONFIG `verbose` is true, so that stacks do not require one, as they do in torch.
    """
    state = config.__getstate__() if config is not None else ()
    return {**dict.fromkeys(FIELDS, False), "verbose": config is None,
            **dict(zip(names_of_state(config), state))}


def warn_of_unheeded(config: Any, stacklevel: int) -> None:
    """Warn once about the fields of CONFIG that have no effect here."""
    found = fields(config)
    names = [name for name in UNHEEDED if found[name]]
    if names:
        warnings.warn(f"opscope.torch ignores {', '.join(names)} of experimental_config",
                      stacklevel=stacklevel + 1)


class Collections:
    """Python's garbage collections on one thread, as scopes of the running recording."""

    is_on = False

    def begin(self) -> None:
        """Begin to record the collections of this thread."""
        _opscope.watch_collections()
        gc.callbacks.append(_opscope.collection)
        self.is_on = True

    def end(self) -> None:
        """Stop recording collections."""
        if self.is_on:
            gc.callbacks.remove(_opscope.collection)
        self.is_on = False


collections = Collections()
