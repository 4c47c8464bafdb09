#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: trace-memory-grows
# with: {torch}
# args: {logs}/memory_grows.json.gz
# turn: 1
"""Train a small network that keeps the loss of each step, and with it all that led to it.

    python memory_grows.py OUT [--mended]

OUT becomes a trace by torch.profiler with memory, stacks and modules: docs/tasks/memory_grows.md. Needs
PyTorch. --mended keeps only the number.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 6


def main() -> None:
    """Train, and write the trace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="the trace to write, .json.gz")
    parser.add_argument("--mended", action="store_true", help="keep only the number")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
    history = []
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=True,
        with_modules=True,
        schedule=schedule(wait=0, warmup=1, active=STEPS),
        on_trace_ready=lambda p: p.export_chrome_trace(options.out),
    ) as profiler:
        for _ in range(STEPS + 1):
            scores = net(torch.randn(256, 256))
            loss = nn.functional.cross_entropy(scores, torch.randint(0, 10, (256,)))
            history.append(loss.item() if options.mended else loss)
            profiler.step()


if __name__ == "__main__":
    main()
