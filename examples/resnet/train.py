#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small ResNet for some steps on random pictures, recorded by opscope.torch.

    python3 examples/resnet/train.py [--steps N]

Needs PyTorch and the package opscope. `./demo torch` runs it with both. With torch.profiler, only
one import would differ.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.nn import functional as F

from opscope.torch import ProfilerActivity, profile, record_function, schedule

PASSED = 2  # steps before the recorded ones, because the first steps are slow


class Block(nn.Module):
    """Two convolutions and the connection that bypasses them."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(n_out)
        self.past = (
            nn.Identity()
            if n_in == n_out and stride == 1
            else nn.Sequential(
                nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
            )
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.past(x))


def resnet(width: int = 16, n_classes: int = 10) -> nn.Module:
    """Three blocks, each with more channels and smaller pictures than the one before."""
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 1, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, n_classes),
    )


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
    """Train on one batch; returns its loss."""
    with record_function("load batch"):
        pictures, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
    optimizer.zero_grad()
    loss = F.cross_entropy(model(pictures), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8, help="how many are recorded")
    n_steps = parser.parse_args().steps
    torch.manual_seed(0)
    model = resnet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=True,
        with_flops=True,
        schedule=schedule(wait=PASSED - 1, warmup=1, active=n_steps, repeat=1),
    ) as prof:
        for step in range(PASSED + n_steps):
            loss = train_step(model, optimizer)
            print(f"step {step + 1} of {PASSED + n_steps}, loss {loss:.3f}", flush=True)
            prof.step()
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=12))


if __name__ == "__main__":
    main()
