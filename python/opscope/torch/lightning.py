# SPDX-License-Identifier: Apache-2.0
"""A profiler for Lightning: ``Trainer(profiler=OpscopeProfiler("profile"))``."""

from __future__ import annotations

import os
from typing import Any

import torch

try:
    from lightning.pytorch.profilers import Profiler
except ImportError:
    from pytorch_lightning.profilers import Profiler

from .windows import begin

__all__ = ["OpscopeProfiler"]

# Actions that end a step: a batch of training with its optimizer, or one of another stage.
ENDS = ("run_training_batch", "validation_step", "test_step", "predict_step")


class OpscopeProfiler(Profiler):
    """Records a stage of a Trainer by `opscope.torch.profile`, and reports its averages.

    Each window of the recording is written to the directory `dirpath` as `STAGE-FILENAME-RANK.N.osc`,
    which `opscope` and `opscope.load` read, and the report to `STAGE-FILENAME-RANK.txt`; FILENAME is
    `filename`, or opscope. Without `dirpath` nothing is kept, and the report is logged. It is torch's
    `table(sort_by, row_limit)`.
    `options` are those of `opscope.torch.profile`, such as `schedule`, `record_shapes`,
    `with_modules`, `activities` and `on_trace_ready`.

    The recording begins with the first batch of a stage. A step is a batch of training with its
    optimizer, or a batch of validation, test or prediction; the last one is what follows the last
    batch. Lightning's actions are annotations, as of its own PyTorchProfiler. After a stage
    `self.profiler` is the profile.
    """

    def __init__(
        self,
        dirpath: str | os.PathLike[str] | None = None,
        filename: str | None = None,
        *,
        sort_by: str = "self_cpu_time_total",
        row_limit: int = 20,
        **options: Any,
    ) -> None:
        # Lightning writes the report to a file only if that has a name.
        super().__init__(dirpath=dirpath, filename=filename or ("opscope" if dirpath else None))
        self.sort_by, self.row_limit, self.options = sort_by, row_limit, options
        self.kept_in = (
            dirpath  # self.dirpath becomes the log directory of a Trainer without one
        )
        self.profiler: Any = None
        self.is_recording = False
        self.open: dict[str, Any] = {}  # actions that have begun

    def _end(self) -> None:
        while self.open:
            self.open.popitem()[1].__exit__(None, None, None)
        if self.is_recording:
            self.is_recording = False
            self.profiler.stop()

    def start(self, action_name: str) -> None:
        """An action begins; the first of a batch begins the recording."""
        if not self.is_recording and action_name.endswith(("_next", "run_training_batch")):
            self.profiler = begin(
                self.kept_in, self._prepare_filename(extension=""), self.options
            )
            self.is_recording = True
        if self.is_recording and action_name not in self.open:
            # The name by which readers of traces know Lightning's actions.
            action = torch.profiler.record_function("[pl][profile]" + action_name)
            action.__enter__()
            self.open[action_name] = action

    def stop(self, action_name: str) -> None:
        """An action ends, and with some of them a step."""
        action = self.open.pop(action_name, None)
        if action is not None:
            action.__exit__(None, None, None)
        if self.is_recording and action_name.endswith(ENDS):
            self.profiler.step()

    def summary(self) -> str:
        """The averages of the last window."""
        self._end()
        if self.profiler is None or not self.profiler.profiler:
            return ""
        table = self.profiler.key_averages().table(
            sort_by=self.sort_by, row_limit=self.row_limit
        )
        return self._stats_to_str({"records": table})

    def teardown(self, stage: str | None) -> None:
        """End the recording, also if the stage failed."""
        self._end()
        super().teardown(stage=stage)
