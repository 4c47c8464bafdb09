# SPDX-License-Identifier: Apache-2.0
"""A profile whose windows are kept as files, for the entries of other libraries."""

from __future__ import annotations

import os
import shutil
from typing import Any

from torch.profiler import ProfilerAction

from .profiler import profile


class Windows:
    """The handler of a profile that copies each window to FOLDER, if not "", as NAME.N.osc."""

    def __init__(self, folder: str, name: str, handler: Any) -> None:
        self.folder, self.name, self.handler = folder, name, handler
        self.n_written = 0

    def __call__(self, prof: Any) -> None:
        # A profile that is collected with its owner, as after training that failed, has lost its file;
        # one that torch's own profiler recorded has none.
        if self.folder and os.path.exists(prof):
            os.makedirs(self.folder, exist_ok=True)
            path = os.path.join(self.folder, f"{self.name}.{self.n_written}.osc")
            shutil.copy(prof, path)
            self.n_written += 1
        if self.handler is not None:
            self.handler(prof)


def record_each(_step: int) -> ProfilerAction:
    """The schedule of one window with all steps."""
    return ProfilerAction.RECORD


def begin(folder: str | os.PathLike[str] | None, name: str, options: dict[str, Any]) -> Any:
    """A profile with OPTIONS that has begun; without a schedule, it marks and records all steps."""
    handler = Windows(
        "" if folder is None else os.fspath(folder), name, options.get("on_trace_ready")
    )
    made = profile(**{"schedule": record_each, **options, "on_trace_ready": handler})
    made.start()
    return made
