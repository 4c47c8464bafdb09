# SPDX-License-Identifier: Apache-2.0
"""Read torch's `_ExperimentalConfig`, and record garbage collections for it."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import re
import warnings
from typing import Any

from .. import _opscope

# The fields that are read here; no version of torch has all of them.
FIELDS = (
    "verbose",
    "performance_events",
    "profile_all_threads",
    "capture_overload_names",
    "record_python_gc_info",
    "expose_kineto_event_metadata",
    "custom_profiler_config",
    "adjust_timestamps",
    "trace_only",
)
# Fields about the host that are ignored. The others concern devices or have no effect in torch.
UNHEEDED = (
    "performance_events",
    "expose_kineto_event_metadata",
    "custom_profiler_config",
    "adjust_timestamps",
    "trace_only",
)


@functools.cache
def places(kind: type) -> dict[str, int]:
    """Where each field is in the pickled state of a config, an object of KIND, which is the only
    place with all fields. Its order differs from version to version, so each field is tried."""
    first = (kind.__init__.__doc__ or "").partition("\n")[0]
    plain = kind().__getstate__()  # type: ignore[attr-defined]
    found = {}
    for name, value in itertools.product(re.findall(r"(\w+): ", first), (True, "x", ["x"])):
        with contextlib.suppress(TypeError):  # it is of another type, or it is self
            state = kind(**{name: value}).__getstate__()  # type: ignore[attr-defined]
            found.update({name: i for i, x in enumerate(state) if x != plain[i]})  # noqa: B035
    return found


def fields(config: Any) -> dict[str, Any]:
    """The fields of CONFIG, which may be None; a field that this torch lacks is false.

    Without CONFIG `verbose` is true, so that stacks do not require one, as they do in torch.
    """
    found = dict.fromkeys(FIELDS, False)
    if config is None:
        return {**found, "verbose": True}
    state = config.__getstate__()
    return {**found, **{name: state[i] for name, i in places(type(config)).items()}}


def warn_of_unheeded(config: Any, stacklevel: int) -> None:
    """Warn once about the fields of CONFIG that have no effect here."""
    found = fields(config)
    names = [name for name in UNHEEDED if found[name]]
    if names:
        warnings.warn(
            f"opscope.torch ignores {', '.join(names)} of experimental_config",
            stacklevel=stacklevel + 1,
        )


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
