# SPDX-License-Identifier: Apache-2.0
"""A callback for Hugging Face's Trainer: ``Trainer(..., callbacks=[OpscopeCallback()])``."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from .windows import begin

__all__ = ["OpscopeCallback"]


class OpscopeCallback(TrainerCallback):
    """Records training by `opscope.torch.profile`.

    Each window of the recording is written to the directory `out`, or to `opscope` in the output
    directory of the Trainer, as `rank_R.N.osc`, which `opscope` and `opscope.load` read. `options`
    are those of `opscope.torch.profile`, such as `schedule`, `record_shapes`, `with_modules`,
    `activities` and `on_trace_ready`.

    A step is one of the Trainer: its batches, with gradient accumulation several, and the optimizer;
    the last one is what follows the last batch.
    After training `self.profiler` is the profile: `self.profiler.key_averages().table()`.
    """

    def __init__(self, out: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self.out, self.options = out, options
        self.profiler: Any = None
        self.is_recording = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin to record."""
        if self.is_recording:  # the last training failed
            self.on_train_end(args, state, control)
        folder = os.path.join(args.output_dir, "opscope") if self.out is None else self.out
        self.profiler = begin(folder, f"rank_{args.process_index}", self.options)
        self.is_recording = True

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step ends."""
        if self.is_recording:
            self.profiler.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End the recording."""
        if self.is_recording:
            self.is_recording = False
            self.profiler.stop()
