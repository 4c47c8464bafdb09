#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small network with or without its fast convolution, and write traces of it.

    python train.py OUT [--slow] [--ranks N] [--steps N] [--images N]

PyTorch computes convolutions on processors by oneDNN. With --slow that is switched off, as by a
build without it: the same network then runs aten::_slow_conv2d_forward. OUT becomes a trace, or
with --ranks a directory with one for each rank (DistributedDataParallel over gloo). Needs PyTorch
alone, on the host.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


def network() -> nn.Module:
    """Two convolutions and a classifier."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )


def train(options: argparse.Namespace, trace: Path, net: nn.Module) -> None:
    """Write TRACE, of options.steps steps after two that are not recorded."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    images = torch.randn(options.images, 3, 64, 64)
    labels = torch.randint(0, 10, (options.images,))
    recorded = schedule(wait=1, warmup=1, active=options.steps, repeat=1)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=recorded,
        on_trace_ready=lambda p: p.export_chrome_trace(str(trace)),
    ) as profiler:
        for _ in range(options.steps + 2):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
            profiler.step()


def run_rank(rank: int, options: argparse.Namespace, store: str) -> None:
    """One rank of several."""
    start(options)
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=options.ranks
    )
    train(
        options,
        options.out / f"rank{rank}.json",
        nn.parallel.DistributedDataParallel(network()),
    )
    dist.destroy_process_group()


def start(options: argparse.Namespace) -> None:
    """What every process does first."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = not options.slow


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the trace to write, or its directory")
    parser.add_argument("--slow", action="store_true", help="without oneDNN")
    parser.add_argument("--ranks", type=int, default=0, help="processes that train together")
    parser.add_argument("--steps", type=int, default=8, help="steps to record")
    parser.add_argument("--images", type=int, default=8, help="images in a batch")
    options = parser.parse_args()
    if options.ranks == 0:
        start(options)
        train(options, options.out, network())
        return
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run_rank, (options, str(Path(folder) / "store")), nprocs=options.ranks)


if __name__ == "__main__":
    main()
