#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: trace-late-rank
# with: {torch}
# args: {logs}/late_rank
# turn: 2
"""Train on three ranks, of which one prepares its data longer than the others.

    python late_rank.py OUT

OUT becomes a directory with the trace of each rank by torch.profiler, which docs/tasks/late_rank.md
reads. Needs PyTorch (DistributedDataParallel over gloo).
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
from torch.profiler import ProfilerActivity, profile, record_function, schedule

RANKS = 3
LATE = 1  # the rank that is late
STEPS = 6


def prepare(rank: int) -> torch.Tensor:
    """A batch; the late rank sorts a large tensor first, as a loader with too much to do."""
    with record_function("prepare batch"):
        if rank == LATE:
            torch.rand(2_000_000).sort()
        return torch.randn(64, 128)


def train(rank: int, out: Path, store: str) -> None:
    """Write the trace of RANK."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(128, 256), nn.Linear(256, 10))
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        schedule=schedule(wait=1, warmup=1, active=STEPS, repeat=1),
        on_trace_ready=lambda p: p.export_chrome_trace(str(out / f"rank{rank}.json.gz")),
    ) as profiler:
        for _ in range(STEPS + 2):
            batch = prepare(rank)
            optimizer.zero_grad()
            net(batch).sum().backward()
            optimizer.step()
            profiler.step()
    dist.destroy_process_group()


def main() -> None:
    """Start the ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the directory to write")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(train, (out, str(Path(folder) / "store")), nprocs=RANKS)


if __name__ == "__main__":
    main()
