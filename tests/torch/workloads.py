# SPDX-License-Identifier: Apache-2.0
"""What both profilers record at once: programs of every kind that users write, small."""
from __future__ import annotations

import threading
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import record_function


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x)) + x)


def residual_training():
    """A small residual network: forward, backward, optimizer."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), Block(8), Block(8), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(8, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images, labels = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))

    def work() -> None:
        for _ in range(3):
            optimizer.zero_grad()
            with record_function("forward"):
                loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
    return work


def transformer():
    """One encoder layer, forward and backward."""
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    x = torch.randn(2, 5, 16)

    def work() -> None:
        layer(x).sum().backward()
        with torch.no_grad():
            layer(x)
    return work


def lstm():
    """Lists of tensors as inputs, many small operators."""
    model = nn.LSTM(8, 16, 2)
    x = torch.randn(7, 3, 8)

    def work() -> None:
        out, _ = model(x)
        out.mean().backward()
    return work


def scripted():
    """TorchScript, with a fork that runs on a thread of the interpreter."""
    @torch.jit.script
    def inner(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * 2

    @torch.jit.script
    def outer(x: torch.Tensor) -> torch.Tensor:
        future = torch.jit.fork(inner, x)
        y = inner(x + 1)
        return torch.jit.wait(future) + y

    x = torch.randn(5, 6)

    def work() -> None:
        for _ in range(3):
            outer(x)
        time.sleep(0.01)  # the thread of the fork is a little later
    return work


def odd_inputs():
    """Scalars of all sorts, long lists, tensors that have no sizes to tell."""
    x = torch.randn(4, 6)
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    many = [torch.ones(1)] * 100

    def work() -> None:
        torch.cat(many)
        torch.stack([x, x])
        torch.full((2, 2), 1.5)
        torch.full((2, 2), 1e300, dtype=torch.float64)
        torch.full((2, 2), True)
        torch.full((2, 2), 1 + 2j)
        torch.where(x > 0, x, -1.0)
        x.to_sparse().to_dense()
        nested + nested
        torch.zeros(0, 3).sum()
        x.to(torch.bfloat16).view(-1).reshape(2, 12)[None, :, ::2]
        torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize()
        torch.nn.functional.pad(x, (1, 2), value=0.25)
        for _ in range(3):
            x.clamp(-0.5, 0.5)
        torch.einsum("ij,kj->ik", x, x)
        try:
            torch.mm(x, x)
        except RuntimeError:
            pass
        with record_function("a \"quoted\" label \\ with\ttab"):
            torch.addmm(torch.zeros(4), x, torch.ones(6, 4))
    return work


def labels():
    """Labels inside each other, overlapping in part, of equal names."""
    x = torch.randn(8)

    def work() -> None:
        one, two = record_function("one"), record_function("two")
        one.__enter__()
        x + 1
        two.__enter__()
        x + 2
        one.__exit__(None, None, None)
        x + 3
        two.__exit__(None, None, None)
        with record_function("same"), record_function("same"):
            x + 4
    return work


def threads():
    """Threads of the program: by default they are not recorded, on request they are."""
    x = torch.randn(16, 16, requires_grad=True)

    def inside() -> None:
        for _ in range(5):
            (x @ x).sum().backward()

    def work() -> None:
        (x @ x).relu()
        workers = [threading.Thread(target=inside) for _ in range(3)]
        for t in workers:
            t.start()
        for t in workers:
            t.join()
    return work


ALL = [residual_training, transformer, lstm, scripted, odd_inputs, labels, threads]
