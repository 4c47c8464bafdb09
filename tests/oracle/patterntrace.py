# SPDX-License-Identifier: Apache-2.0
"""Small random traces of programs that have the patterns of torch's matcher, or nearly.

    python3 tests/oracle/patterntrace.py SEED > trace.json

The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
import sys

FRAMES = (
    "a.py(1): main",
    "a.py(22): run",
    "lib/b.py(3): step",
    "torch/nn/module.py(4): _call",
    "<built-in method zeros>",
    "torch/optim/sgd.py(9): _single_tensor_sgd",
    "torch/optim/adamw.py(9): _single_tensor_adamw",
    "torch/optim/lion.py(1): _single_tensor_lion",
    "torch/optim/optimizer.py(5): zero_grad",
    "my.py(5): zero_grad",
    "torch/utils/data/dataloader.py(4): __iter__",
    "torch/utils/data/dataloader.py(5): _get_iterator",
    "torch/utils/data/dataloader.py(6): check_worker_number_rationality",
)
MODULES = ("nn.Module: Conv2d_0", "nn.Module: BatchNorm2d_0", "nn.Module: ReLU_0")
OPS = (
    "aten::zeros",
    "aten::zero_",
    "aten::fill_",
    "aten::select",
    "aten::copy_",
    "aten::to",
    "aten::_to_copy",
    "aten::conv2d",
    "aten::mm",
    "aten::addmm",
    "aten::add",
)
TYPES = ("float", "float", "c10::Half", "c10::BFloat16", "double", "", "Scalar", "TensorList")
KERNELS = ("ampere_sgemm_128x64_nn", "ampere_fp16_s16816gemm_fp16_64x64", "my_kernel")


class Generator:
    """One trace."""

    def __init__(self, seed: int):
        self.random = random.Random(f"patterns {seed}")
        self.events: list[dict] = []
        self.at = 1000
        self.thread = 1
        self.has_python = self.random.random() < 0.9
        self.has_stacks = self.random.random() < 0.5
        self.correlation = 0

    def inputs(self) -> dict:
        """Types and sizes of inputs."""
        pick = self.random.choice
        n = pick((1, 2, 3, 3))
        args: dict = {"Input type": [pick(TYPES) for _ in range(n)]}
        if pick((True, True, False)):
            args["Input Dims"] = [
                pick(([8, 16], [8, 8], [12, 8], [4, 7], [7], [], [[2, 3]], [3, 8, 8]))
                for _ in range(n)
            ]
        return args

    def range(self, name: str, inside: list, args: dict | None = None) -> None:
        """A range NAME around what the calls INSIDE add."""
        is_op = name.startswith("aten::")
        if not is_op and not self.has_python:
            for call in inside:
                call()
            return
        if is_op and self.has_stacks and self.random.random() < 0.5:
            stack = self.random.sample(FRAMES, self.random.randrange(0, 5))
            args = {**(args or {}), "Call stack": ";".join(stack)}
        event = {
            "ph": "X",
            "cat": "cpu_op" if is_op else "python_function",
            "name": name,
            "pid": 1,
            "tid": self.thread,
            "ts": self.at / 1000,
            "args": args or {},
        }
        self.events.append(event)
        start = self.at
        self.at += self.random.choice((0, 1, 1, 3))
        for call in inside:
            call()
        self.at += self.random.choice((0, 1, 2))
        event["dur"] = (self.at - start) / 1000 if self.random.random() < 0.98 else 0.004
        self.at += self.random.choice((0, 0, 1))

    def some(self, depth: int) -> list:
        """Calls that add something."""
        return [
            lambda: self.part(depth - 1)
            for _ in range(self.random.choice((0, 1, 1, 2, 3)))
            if depth > 0
        ]

    def copy(self) -> None:
        """A tensor is made, filled and copied, or nearly so."""
        pick = self.random.choice
        same = pick(("float", "double", ""))
        made = [lambda: self.range(pick(OPS[:3]), [])] if pick((1, 1, 0)) else []
        self.range("<built-in method zeros>", [lambda: self.range("aten::zeros", made)])
        if pick((0, 0, 0, 1)):
            self.range("a.py(1): main", [])
        self.range(
            "<built-in method to>",
            [
                lambda: self.range(
                    "aten::to",
                    [
                        lambda: self.range(
                            pick(("aten::_to_copy", "aten::_to_copy", "aten::add")),
                            [
                                lambda: self.range("aten::empty", []),
                                lambda: self.range(
                                    "aten::copy_",
                                    [],
                                    {"Input type": [same, pick((same, same, "float"))]},
                                ),
                            ],
                        )
                    ],
                )
            ],
        )

    def loader(self) -> None:
        """A loader begins to iterate."""
        iterate, get, check = FRAMES[10:13]
        inside = self.random.choice(([check], [FRAMES[3], check], [], [FRAMES[3]]))
        self.range(
            iterate,
            [
                lambda: self.range(
                    get, [lambda name=name: self.range(name, []) for name in inside]
                )
            ],
        )

    def norm(self) -> None:
        """A convolution, and what comes next."""
        pick = self.random.choice
        inputs = {"Input type": ["float", "float", pick(("float", "float", "", "Scalar"))]}
        inside = [lambda: self.range("aten::conv2d", [], inputs)]
        if pick((0, 0, 1)):
            conv = inside
            inside = [lambda: self.range(FRAMES[3], conv)]
        self.range(pick((MODULES[0], MODULES[0], FRAMES[0])), inside)
        if pick((0, 0, 0, 1)):
            self.range(FRAMES[3], [])
        self.range(pick((MODULES[1], MODULES[1], MODULES[2])), [])

    def clear(self) -> None:
        """Gradients are set to 0, or made anew."""
        pick = self.random.choice
        inside = [lambda: self.range("aten::zero_", [])]
        if pick((0, 1)):
            inside = [
                lambda: self.range("aten::zeros", [lambda: self.range("aten::zero_", [])])
            ]
        if pick((0, 1)):
            around = inside
            inside = [lambda: self.range(pick(FRAMES), around)]
        self.range(pick(FRAMES[8:10]), inside)

    def loop(self) -> None:
        """Indices, again and again."""
        names = ["aten::select", *self.random.choices(OPS, k=self.random.choice((0, 1, 1, 2)))]
        for _ in range(self.random.choice((3, 9, 10, 12, 25))):
            for name in names if self.random.random() < 0.99 else names[:1]:
                self.range(name, [])

    def product(self) -> None:
        """A product, on a device or not."""
        self.correlation += 1
        start = self.at
        inputs = self.inputs()
        if self.random.random() < 0.6:
            inputs["Input type"][0] = "float"
        self.range(
            self.random.choice(("aten::mm", "aten::mm", "aten::bmm", "aten::addmm")), [], inputs
        )
        self.at += 2
        self.events[-1]["dur"] = (self.at - start) / 1000
        if self.random.random() < 0.3:
            return
        which = {"correlation": self.correlation}
        self.events += [
            {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "pid": 1,
                "tid": self.thread,
                "ts": start / 1000,
                "dur": 0.001,
                "args": which,
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": self.random.choice((KERNELS[0], *KERNELS)),
                "pid": 0,
                "tid": 7,
                "ts": self.at / 1000,
                "dur": 0.002,
                "args": {**which, "device": self.random.choice((0, 0, 1)), "stream": 7},
            },
        ]

    def part(self, depth: int) -> None:
        """Something."""
        ways = (self.copy, self.loader, self.norm, self.loop, self.product, self.clear)
        kind = self.random.randrange(len(ways) + 3)
        if kind < len(ways):
            ways[kind]()
        else:
            is_op = kind == len(ways)
            self.range(
                self.random.choice(OPS if is_op else FRAMES + MODULES),
                self.some(depth),
                self.inputs() if is_op else None,
            )

    def trace(self) -> dict:
        """All of it."""
        for self.thread in (1, 2):
            for _ in range(self.random.randrange(1, 6)):
                self.part(5)
            self.at = 1000 + self.random.randrange(50)
        if self.random.random() < 0.3:
            self.random.shuffle(self.events)
        return {
            "schemaVersion": 1,
            "deviceProperties": [
                {"id": 0, "name": "A", "computeMajor": 8, "computeMinor": 0},
                {"id": 1, "name": "V", "computeMajor": 7, "computeMinor": 0},
            ],
            "traceEvents": self.events,
        }


def data(seed: int) -> bytes:
    """The bytes of the trace of SEED."""
    return json.dumps(Generator(seed).trace()).encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1])))
