# SPDX-License-Identifier: Apache-2.0
"""Small programs of every kind that users write, which both profilers record at once."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional as F
from torch.profiler import record_function
from torch.utils._python_dispatch import TorchDispatchMode


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.conv(x)) + x)


def residual_training():
    """A small residual network: forward, backward, optimizer."""
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        Block(8),
        Block(8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 10),
    )
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


class BasicBlock(nn.Module):
    """A block of ResNet-18: two convolutions, and a matching shortcut."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = (
            nn.Identity()
            if (inside, stride) == (outside, 1)
            else nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
            )
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet18_training(n_images: int = 2, side: int = 32):
    """ResNet-18 as in torchvision: forward, backward, optimizer."""
    layers = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    for inside, outside, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        layers += [BasicBlock(inside, outside, stride), BasicBlock(outside, outside, 1)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    images = torch.randn(n_images, 3, side, side)
    labels = torch.randint(0, 1000, (n_images,))

    def work() -> None:
        optimizer.zero_grad()
        with record_function("forward"):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    return work


def transformer_training():
    """An encoder of two layers, with dropout: forward, backward, optimizer."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(2, 5, 16)

    def work() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
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
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(7, 3, 8)

    def work() -> None:
        optimizer.zero_grad()
        out, _ = model(x)
        out.mean().backward()
        optimizer.step()

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


def scripted_module():
    """A module of TorchScript that forks and waits, forward and backward."""

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            future = torch.jit.fork(self.linear, x)
            return torch.relu(self.linear(x + 1)) + torch.jit.wait(future)

    model = torch.jit.script(Twice())
    x = torch.randn(5, 6)

    def work() -> None:
        for _ in range(3):
            model(x).sum().backward()
        time.sleep(0.01)  # the thread of the fork is a little later

    return work


class Attention(nn.Module):
    """A module with modules, a function and a loop, as scripts have them."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

    def weights(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ x.t(), dim=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(self.norm(x)))
        return self.weights(x) @ x


def script_of_modules():
    """A module of TorchScript between eager ones, on one thread."""
    model = nn.Sequential(nn.Linear(6, 6), torch.jit.script(Attention()), nn.ReLU())
    x = torch.randn(5, 6)

    def work() -> None:
        with torch.no_grad():
            for _ in range(3):
                model(x)

    return work


def compiled():
    """Compiled graphs, whose ranges torch itself marks."""
    model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), backend="aot_eager")
    x = torch.randn(4, 8)

    def work() -> None:
        model(x).sum().backward()

    return work


class Subclass(torch.Tensor):
    """A tensor that sees calls of functions."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


class Wrapper(torch.Tensor):
    """A tensor that sees calls of operators, around another."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor):
        outer = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)
        outer.inner = inner
        return outer

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        result = function(
            *(a.inner if isinstance(a, cls) else a for a in args), **(kwargs or {})
        )
        return cls(result) if isinstance(result, torch.Tensor) else result


class Failing(TorchDispatchMode):
    """Fails at each operator."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise ValueError


def odd_tensors():
    """Tensors of every kind: subclasses, nested, sparse, quantised, meta, fake, undefined."""
    x = torch.randn(4, 4)
    jagged = torch.nested.nested_tensor(
        [torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged
    )
    meta = torch.empty(3, 3, device="meta")
    many = [torch.ones(1)] * 10000

    def work() -> None:
        torch.cat(many)
        torch._foreach_add(many[:1000], 1.0)
        torch.ones(2000).split_with_sizes([2] * 1000)
        x.as_subclass(Subclass) @ x
        Wrapper(x) @ Wrapper(x) + 1
        try:
            with Failing():
                x @ x
        except ValueError:
            pass
        jagged.sin()
        x.to_sparse() @ x
        x.to_sparse_csr() @ x
        x.to_sparse_csc()
        x.to_sparse_bsr((2, 2))
        torch.quantize_per_channel(x, torch.ones(4), torch.zeros(4), 0, torch.quint8).int_repr()
        meta @ meta
        torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
        F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), None)
        torch.vmap(lambda a: a @ x)(torch.randn(2, 4, 4))
        torch.func.grad(lambda a: (a @ a).sum())(x)
        torch.ones(2, dtype=torch.complex64) * (1 + 2j)
        x.to(torch.float8_e4m3fn)
        for value in (float("nan"), float("inf"), 2**62, -1e-300):
            torch.full((2,), value, dtype=torch.float64)
        torch.zeros(3, 3).index_put_((torch.tensor([0]),), torch.tensor(1.0))
        x[:, None, torch.tensor([1])]

    return work


# Integral and other numbers, on both sides of the limits of a long, a double and a float.
NUMBERS = (
    0.0,
    -0.0,
    3.0,
    -3.0,
    2.5,
    0.1,
    -1e-7,
    1e10,
    -1e10,
    1e15,
    9e15 + 1,
    1e17,
    9e18,
    1e19,
    1e300,
    5e-324,
    float("inf"),
    float("-inf"),
    float("nan"),
)


def odd_inputs():
    """Scalars of all types, long lists, tensors without sizes."""
    x = torch.randn(4, 6)
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    many = [torch.ones(1)] * 100

    def work() -> None:
        torch.cat(many)
        torch.stack([x, x])
        torch.full((2, 2), 1.5)
        for number in NUMBERS:
            torch.full((2, 2), number, dtype=torch.float64)
            torch.full((2, 2), number + 1j, dtype=torch.complex128)
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
        with contextlib.suppress(RuntimeError):
            torch.mm(x, x)

    return work


def odd_labels():
    """Labels for which Kineto writes invalid JSON."""
    x = torch.ones(4)

    def work() -> None:
        with record_function('a "quoted" label \\ with\ttab'):
            torch.addmm(torch.zeros(4), torch.ones(4, 6), torch.ones(6, 4))
            x + x

    return work


def labels():
    """Labels that are nested, overlap partially, or have equal names."""
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


def ddp():
    """Training with gradients that ranks share, and collectives; needs a process group."""
    import torch.distributed as dist

    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, numbers = torch.randn(4, 8), torch.ones(3)

    def work() -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        dist.all_reduce(numbers)
        dist.all_reduce(numbers, async_op=True).wait()
        dist.barrier()

    return work


class Scale(torch.autograd.Function):
    """A user-defined function: torch passes its inputs to profilers only if they ask."""

    @staticmethod
    def forward(context, x, other, factor):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        return gradient, None, None


class Sum(torch.autograd.Function):
    """A function of any number of inputs."""

    @staticmethod
    def forward(context, *inputs):
        return inputs[0] * 1

    @staticmethod
    def backward(context, gradient):
        return gradient


def functions():
    """User-defined functions with inputs of all kinds, and checkpoints made of them."""
    x = torch.ones(2, 3, requires_grad=True)
    inputs = [(None, None), ("text", object()), ([x, x], 3), (True, 2.5), ({}, ())]

    def work() -> None:
        for other, factor in inputs:
            Scale.apply(x, other, factor).sum().backward()
        torch.utils.checkpoint.checkpoint(F.relu, x, use_reentrant=True).sum().backward()
        torch.utils.checkpoint.checkpoint(F.relu, x, use_reentrant=False).sum().backward()

    return work


def many_inputs():
    """As many inputs as a network has parameters: their text is longer than most."""
    few, many = (
        [torch.ones(128, 256, requires_grad=True) for _ in range(n)] for n in (100, 1500)
    )

    def work() -> None:
        for inputs in (few, many, few, many, many):
            Sum.apply(*inputs)

    return work


def data_pipes():
    """Pipes, whose steps torch marks only if it knows that a profiler runs."""
    from torch.utils.data.datapipes.iter import IterableWrapper

    def work() -> None:
        for batch in IterableWrapper(range(10)).map(torch.tensor).batch(2):
            torch.stack(list(batch))

    return work


def shared_memory():
    """Memory from outside the allocator: shared with other processes, and of files."""

    def work() -> None:
        torch.ones(3).share_memory_()
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "tensor")
            torch.save(torch.ones(5), path)
            torch.load(path, mmap=True)
            torch.from_file(os.path.join(directory, "file"), shared=True, size=7)

    return work


ALL = [
    residual_training,
    resnet18_training,
    transformer,
    transformer_training,
    lstm,
    scripted,
    scripted_module,
    script_of_modules,
    compiled,
    odd_inputs,
    odd_labels,
    odd_tensors,
    labels,
    threads,
    functions,
    many_inputs,
    data_pipes,
    shared_memory,
]
