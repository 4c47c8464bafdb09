#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-frameworks
# with: {frameworks|torch}
# env: PYTHONPATH={module}
# mode: full
"""Train with Lightning and with Hugging Face's Trainer, recorded by their entries.

    python3 tests/torch/frameworks.py

Needs torch, and what it has of lightning and transformers, and the python/ of a build on
PYTHONPATH. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import warnings
from collections import Counter
from typing import Any

import torch
from support import run

import opscope

N_BATCHES = 5


class Model(torch.nn.Module):
    """A linear layer, with a loss as Hugging Face's Trainer expects it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x: Any = None, labels: Any = None) -> dict[str, Any]:
        y = self.layer(x)
        return {"loss": ((y - labels) ** 2).mean(), "logits": y}


def fit(profiler: Any, fails: bool = False) -> None:
    """Train and validate with Lightning."""
    pl = importlib.import_module("lightning.pytorch")

    class Module(pl.LightningModule):
        """The module of the Trainer."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, _index: int) -> Any:
            if fails:
                raise ValueError("of the training")
            return self.layer(batch).sum()

        def validation_step(self, batch: Any, _index: int) -> None:
            self.layer(batch).cos()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    data = torch.utils.data.DataLoader(torch.ones(4 * N_BATCHES, 4), batch_size=4)
    pl.Trainer(
        max_epochs=1,
        profiler=profiler,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
        num_sanity_val_steps=0,
    ).fit(Module(), data, data)


def lightning_is_recorded_by_its_profiler() -> None:
    from opscope.torch.lightning import OpscopeProfiler

    with tempfile.TemporaryDirectory() as d:
        profiler = OpscopeProfiler(d, "run", record_shapes=True)
        fit(profiler)
        assert sorted(os.listdir(d)) == ["fit-run.0.osc", "fit-run.txt"], os.listdir(d)
        with open(os.path.join(d, "fit-run.txt"), encoding="utf-8") as f:
            assert "aten::addmm" in f.read()
        trace = opscope.load(os.path.join(d, "fit-run.0.osc"))
        fit(OpscopeProfiler(d))
        assert {"fit-opscope.0.osc", "fit-opscope.txt"} <= set(os.listdir(d)), os.listdir(d)
        # Batches of training and of validation, and what follows the last one.
        assert len(trace["steps"]["step"]) == 2 * N_BATCHES + 1
        calls = dict(zip(trace["averages"]["name"], trace["averages"]["calls"]))
        assert calls["[pl][profile]run_training_batch"] == N_BATCHES, calls
        assert calls["aten::addmm"] == 2 * N_BATCHES and calls["aten::cos"] == N_BATCHES, calls
        steps = Counter(
            step
            for step, name in zip(trace["events"]["step"], trace["events"]["name"])
            if name == "Optimizer.step#SGD.step"
        )
        assert list(steps.values()) == [1] * N_BATCHES, steps
        assert "aten::addmm" in profiler.summary()


def without_a_directory_lightning_leaves_no_file() -> None:
    from opscope.torch.lightning import OpscopeProfiler

    before = os.getcwd()
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        try:
            fit(OpscopeProfiler())
        finally:
            os.chdir(before)
        assert os.listdir(d) == [], os.listdir(d)


def a_schedule_of_lightning_has_a_file_for_each_window() -> None:
    from opscope.torch.lightning import OpscopeProfiler

    seen = []
    with tempfile.TemporaryDirectory() as d:
        fit(
            OpscopeProfiler(
                d,
                schedule=torch.profiler.schedule(wait=1, warmup=1, active=2),
                on_trace_ready=seen.append,
            )
        )
        files = sorted(name for name in os.listdir(d) if name.endswith(".osc"))
        assert files[:2] == ["fit-opscope.0.osc", "fit-opscope.1.osc"] and len(seen) == len(
            files
        ), files
        for name in files[:2]:
            assert len(opscope.load(os.path.join(d, name))["steps"]["step"]) == 2


def training_that_fails_ends_the_recording() -> None:
    from opscope.torch.lightning import OpscopeProfiler

    for _ in range(2):  # also the second time
        try:
            fit(OpscopeProfiler(), fails=True)
        except ValueError as e:
            assert str(e) == "of the training"
        else:
            raise AssertionError("it did not fail")


def hugging_face_is_recorded_by_its_callback() -> None:
    transformers = importlib.import_module("transformers")
    from opscope.torch.transformers import OpscopeCallback

    data = [{"x": torch.ones(4) * i, "labels": torch.ones(1)} for i in range(2 * N_BATCHES)]
    with tempfile.TemporaryDirectory() as d:
        options = transformers.TrainingArguments(
            d,
            num_train_epochs=1,
            per_device_train_batch_size=2,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
        )
        callback = OpscopeCallback(record_shapes=True)
        trainer = transformers.Trainer(
            Model(), options, train_dataset=data, callbacks=[callback]
        )
        for _ in range(2):  # training may be repeated
            trainer.train()
            assert os.listdir(os.path.join(d, "opscope")) == ["rank_0.0.osc"]
        trace = opscope.load(os.path.join(d, "opscope"))
        assert len(trace["steps"]["step"]) == N_BATCHES + 1
        calls = dict(zip(trace["averages"]["name"], trace["averages"]["calls"]))
        assert calls["aten::addmm"] == N_BATCHES, calls
        assert "aten::addmm" in callback.profiler.key_averages().table()


def main() -> int:
    """Exit status."""
    warnings.simplefilter("ignore")
    tests: list[Any] = []
    for library, those in (
        (
            "lightning",
            (
                lightning_is_recorded_by_its_profiler,
                a_schedule_of_lightning_has_a_file_for_each_window,
                training_that_fails_ends_the_recording,
            ),
        ),
        ("transformers", (hugging_face_is_recorded_by_its_callback,)),
    ):
        if importlib.util.find_spec(library):
            tests += those
        else:
            print(f"skipped {', '.join(t.__name__ for t in those)}: there is no {library}")
    return run({t.__name__: t for t in tests}, __name__)


if __name__ == "__main__":
    sys.exit(main())
