#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small network on the device "tiny", profile it, and compare with the CPU.

python3 examples/vendor/train.py [--steps N] [--out FILE.osc] [--trace FILE.json]
"""

from __future__ import annotations

import argparse
import copy
import shutil
import sys

import tiny  # noqa: F401 - registers the device  # pylint: disable=unused-import
import torch
from torch.profiler import ProfilerActivity, record_function

import opscope.torch

CLASSES = 4


def network() -> torch.nn.Module:
    """Two convolutions and a linear layer."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 4 * 4, CLASSES),
    )


def batches(n_steps: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Noise with a bright bar, whose place is the class."""
    made = []
    for _ in range(n_steps):
        labels = torch.randint(CLASSES, (32,))
        images = 0.3 * torch.randn(32, 1, 16, 16)
        for image, label in zip(images, labels):
            image[0, :, 4 * int(label) : 4 * int(label) + 2] += 1.0
        made.append((images, labels))
    return made


def train(
    model: torch.nn.Module, data: list[tuple[torch.Tensor, torch.Tensor]], device: str
) -> list[float]:
    """The loss of each step."""
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for images, labels in data:
        with record_function("step"):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(
                model(images.to(device)), labels.to(device)
            )
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def main() -> int:
    """Exit status: 1 if the device does not learn what the CPU learns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", help="keep the recording in this file")
    parser.add_argument("--trace", help="write a Chrome trace to this file")
    options = parser.parse_args()
    torch.manual_seed(1)
    on_cpu, data = network(), batches(options.steps)
    on_device = copy.deepcopy(on_cpu)
    expected = train(on_cpu, data, "cpu")
    torch.tiny.synchronize()
    with opscope.torch.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], profile_memory=True
    ) as profile:
        losses = train(on_device, data, "tiny")
    print(profile.key_averages().table(sort_by="self_tiny_time_total", row_limit=25))
    if options.trace:
        profile.export_chrome_trace(options.trace)
    if options.out:
        shutil.copy(profile, options.out)
    print(f"loss: {losses[0]:.4f} -> {losses[-1]:.4f}, on the CPU {expected[-1]:.4f}")
    for x, y in zip(losses, expected):
        if abs(x - y) > 1e-3:
            print(f"train.py: the device has a loss of {x}, the CPU {y}", file=sys.stderr)
            return 1
    return 0 if losses[-1] < 0.5 * losses[0] else 1


if __name__ == "__main__":
    sys.exit(main())
