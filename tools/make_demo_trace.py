#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: demo-trace
# with: {torch}
# args: {logs}/demo.pt.trace.json.gz
# turn: 1
"""Make tests/data/demo.pt.trace.json.gz: a small real recording by PyTorch 2.13.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch==2.13.0
    /tmp/torch/bin/python tools/make_demo_trace.py [OUT]

A miniature ResNet is trained for five steps on random images from a DataLoader, on the CPU.
torch.profiler waits for one step, warms up for one and records three, with every option on: shapes,
memory, stacks, modules, FLOPs, and labels around the phases of a step. Only torch itself is needed.

The file is PyTorch's output, compressed; only the name of the machine is replaced by "demo". The
file is rejected if it contains a path of the machine that made it, or is too large for a checkout.
"""

import gzip
import os
import pathlib
import platform
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/data/demo.pt.trace.json.gz"
MAX_BYTES = 300_000

# PyTorch removes the entries of sys.path from the names of files. The first one is the folder of
# this script, which would then be missing in the stacks.
sys.path[0] = str(ROOT)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.profiler import ProfilerActivity, profile, record_function, schedule  # noqa: E402


class Block(nn.Module):
    """Two convolutions and a connection around them."""

    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(n_out)
        self.around = nn.Identity()
        if stride != 1 or n_in != n_out:
            self.around = nn.Conv2d(n_in, n_out, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.around(x))


class ResNet(nn.Module):
    """A stem, two stages of one block each, a head."""

    def __init__(self, width=16, n_classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.stage1 = Block(width, width, 1)
        self.stage2 = Block(width, 2 * width, 2)
        self.head = nn.Linear(2 * width, n_classes)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = self.stage2(self.stage1(x))
        return self.head(x.mean((2, 3)))


class Images(torch.utils.data.Dataset):
    """Random images, the same on every run."""

    def __len__(self):
        return 40

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.randn(3, 32, 32, generator=g), i % 10


def train_step(model, optimizer, images, labels):
    with record_function("forward"):
        loss = F.cross_entropy(model(images), labels)
    with record_function("backward"):
        optimizer.zero_grad()
        loss.backward()
    with record_function("update"):
        optimizer.step()


def record(path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = torch.utils.data.DataLoader(Images(), batch_size=8)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
        with_flops=True,
        experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True),
        on_trace_ready=lambda p: p.export_chrome_trace(path),
    ) as p:
        for images, labels in loader:
            train_step(model, optimizer, images, labels)
            p.step()


def local_names(text):
    """The names in TEXT that identify the machine that made it."""
    home = str(pathlib.Path.home())
    folders = {home, str(ROOT), sys.prefix, sys.base_prefix, tempfile.gettempdir()}
    found = {f for f in folders if len(f) > 1 and f in text}
    found |= set(re.findall(r"/(?:home|root|usr|opt|tmp|work)/[^\"; ]*", text))
    if re.search(rf"\b{re.escape(platform.node())}\b", text):
        found.add(platform.node())
    return sorted(found)


def main():
    out = pathlib.Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else OUT
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)  # the trace contains the name under which it was written
        record("demo.pt.trace.json")
        text = pathlib.Path("demo.pt.trace.json").read_bytes()
        os.chdir(here)
    text = re.sub(rb'"host_name": "[^"\n]*"', b'"host_name": "demo"', text)
    names = local_names(text.decode("utf-8", "replace"))
    if names:
        sys.exit(f"the trace names places of this machine: {', '.join(names[:5])}")
    # No name and no time in the header: the bytes depend only on the text.
    packed = gzip.compress(text, 9, mtime=0)
    if len(packed) > MAX_BYTES:
        sys.exit(f"the trace takes {len(packed)} bytes, more than {MAX_BYTES}")
    part = out.with_name(out.name + ".part")
    part.write_bytes(packed)
    os.replace(part, out)
    print(f"{out}: {len(packed)} bytes, {len(text)} inflated, torch {torch.__version__}")


if __name__ == "__main__":
    main()
