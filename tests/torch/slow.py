#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-slow
# with: {torch}
# args: --opscope {gcc}/opscope --quick
# full: --opscope {gcc}/opscope --runs 10 --healthy 20
# turn: 4
# needs: module
"""Check that what makes a small training slow is named by advice, and nothing where all is well.

    python3 tests/torch/slow.py --opscope COMMAND [--quick] [--runs N] [--healthy N]

Needs torch and a recorder that an earlier test built, or a C++ compiler. A program trains a small
transformer N times (default: once) for each fault that it can have, recorded with stacks and, but
for --quick, by torch's own profiler without stacks; and N times (default: once) without a fault.
Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Tests

TRAINING = """
import sys, time, torch
from torch import nn
from torch.nn import functional as F
FAULT, MODULE, OUT = sys.argv[1:]
if MODULE == "torch":
    import torch.profiler as P
else:
    import opscope.torch as P
torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = [y.view(b, t, 4, d // 4).transpose(1, 2)
                   for y in self.qkv(self.norm(x)).chunk(3, -1)]
        if FAULT == "copies":
            for _ in range(8):
                q, k, v = [y.contiguous().clone().permute(3, 0, 1, 2).contiguous()
                           .permute(1, 2, 3, 0).contiguous() for y in (q, k, v)]
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(a)
        if FAULT == "values":
            for i in range(t):
                if x[0, i].abs().max().item() > 1e6:
                    x = x * 0.5
        if FAULT == "loop":
            x = torch.stack([x[:, i] * 1.0 for i in range(t)], 1)
        return x + self.down(F.gelu(self.up(x)))

class Net(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.embed, self.head = nn.Embedding(500, d), nn.Linear(d, 500)
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        if FAULT == "loader":
            sorted(range(40000), key=lambda v: -v)
        return torch.randint(0, 500, (48,))

net = Net().double() if FAULT == "float64" else Net()
optimizer = torch.optim.AdamW(net.parameters(), foreach=False if FAULT == "single" else None)
kept = []

def train(x):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x).flatten(0, 1), x.flatten())
    if FAULT == "memory":
        kept.append((loss, net(x)))
    if FAULT == "sleep":
        time.sleep(0.1)
    loss.backward()
    if FAULT == "lists":
        for p in list(net.parameters()) * 4:
            p.grad.numpy().tolist()
    optimizer.step()

with P.profile(activities=[P.ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
               with_stack=MODULE != "torch", with_modules=MODULE != "torch",
               schedule=P.schedule(wait=1, warmup=1, active=4, repeat=1)) as profile:
    for batch in torch.utils.data.DataLoader(Data(), batch_size=8):
        train(batch)
        profile.step()
profile.export_chrome_trace(OUT)
"""

# What advice must say, with stacks and without; either of several codes does.
FAULTS: dict[str, tuple[set[str], set[str]]] = {
    "values": ({"host_sync", "tiny_operators"}, {"host_sync", "tiny_operators"}),
    "float64": ({"float64"}, {"float64"}),
    "copies": ({"copies"}, {"copies"}),
    "loop": ({"tiny_operators"}, {"tiny_operators"}),
    "memory": ({"memory_growth"}, {"memory_growth"}),
    "sleep": ({"python"}, {"unrecorded"}),
    "single": ({"single_tensor"}, set()),  # without stacks its trace is that of no fault
    "loader": ({"data_loading"}, {"data_loading"}),
    "lists": ({"python"}, {"unrecorded"}),
}


class SlowTests(Tests):
    """Runs the program and asks for advice."""

    def __init__(self, opscope: str, folder: str) -> None:
        super().__init__(opscope)
        self.folder = Path(folder)
        self.program = self.folder / "train.py"
        self.program.write_text(TRAINING)

    def advice(self, fault: str, module: str) -> set[str]:
        """The codes of the advice on a training with FAULT."""
        trace = self.folder / "trace.json"
        subprocess.run(
            [sys.executable, self.program, fault, module, trace],
            check=True,
            env={**os.environ, **self.package(), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.DEVNULL,
        )
        done = subprocess.run(
            [self.opscope, "table", "advice", trace, "--format", "csv"],
            capture_output=True,
            text=True,
            check=True,
        )
        return {row["code"] for row in csv.DictReader(io.StringIO(done.stdout))}

    def named(self, runs: int, modules: tuple[str, ...]) -> None:
        """Every fault is named in each of RUNS. On a busy machine other programs may hold up more
        of the four steps than the fault does, so a run has three tries."""
        for fault, wanted in FAULTS.items():
            for module in modules:
                codes = wanted[module == "torch"]
                for _ in range(runs if codes else 0):
                    for _ in range(3):
                        found = self.advice(fault, module)
                        if found & codes:
                            break
                    self.check(f"{fault} by {module}", bool(found & codes), found)

    def silent(self, runs: int, modules: tuple[str, ...]) -> None:
        """Nothing is said about a program without a fault, but that other programs held up a step, in
        one of three tries: they may also hold up the optimizer in most of the four steps."""
        for module in modules:
            for _ in range(runs):
                for _ in range(3):
                    found = self.advice("none", module) - {"slow_steps"}
                    if not found:
                        break
                self.check(f"no fault by {module}", not found, found)


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--quick", action="store_true", help="opscope's profiler alone")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--healthy", type=int, default=1)
    options = parser.parse_args()
    modules = ("opscope",) if options.quick else ("opscope", "torch")
    with tempfile.TemporaryDirectory(prefix="slow-") as folder:
        tests = SlowTests(options.opscope, folder)
        tests.named(options.runs, modules)
        tests.silent(options.healthy, modules)
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
