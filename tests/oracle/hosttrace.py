# SPDX-License-Identifier: Apache-2.0
"""Small random traces of programs that use no device: loops of short operators, values that are
read, copies of copies, float64, optimizers, Python functions, ranges that overlap in part.

    python3 tests/oracle/hosttrace.py SEED > trace.json

The same seed gives the same bytes. Half of the steps are much alike, so that rules about most of
the steps apply.
"""

from __future__ import annotations

import json
import random
import sys

COMPUTE = (
    "aten::mm",
    "aten::thnn_conv2d",
    "aten::_slow_conv2d_forward",
    "aten::linear",
    "aten::add",
    "aten::mul",
    "",
    "autograd::engine::evaluate_function: MmBackward0",
    "aten::_foreach_add_",
)
SYNCS = (
    "aten::item",
    "aten::is_nonzero",
    "aten::nonzero",
    "aten::equal",
    "aten::_local_scalar_dense",
)
COPIES = ("aten::clone", "aten::contiguous", "aten::_to_copy", "aten::copy_")
VIEWS = ("aten::view", "aten::t", "aten::to")
FUNCTIONS = (
    "a.py(1): f",
    "b.py(22): g",
    "<built-in method max of Tensor object at 0x7f0a>",
    "<built-in method max of Tensor object at 0x7f0b>",
    "<built-in function sleep>",
    "<built-in method run_backward of torch._C._EngineBase object at 0x1>",
)
OPTIMIZING = (
    "torch/optim/adam.py(3): _single_tensor_adam",
    "torch/optim/optimizer.py(1): _default_to_fused_or_foreach",
)
INPUTS = (
    {},
    {"Input type": ["float", "double"], "Input Dims": [[2, 3], []]},
    {"Input type": ["double", "Scalar"], "Input Dims": [[2, 3], []]},
    {"Input type": ["", "double"], "Input dims": [[], [7]]},
    {"Input type": ["TensorList", "double"], "Input Dims": [[[1], [2, 2]], [4]]},
    {"Input type": ["double"], "Input Dims": []},
    {"Input type": "double"},
)
COMMON = (
    ("op", 5),
    ("tiny", 3),
    ("sync", 1),
    ("copy", 2),
    ("function", 2),
    ("double", 1),
    ("pause", 2),
    ("optimizer", 1),
    ("loader", 1),
    ("gloo", 1),
)


class Generator:
    """One trace."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.events: list[dict] = []
        self.has_functions = self.random.random() < 0.6
        self.grid = self.random.choice((1_000, 1_000, 3_700))

    def add(
        self,
        category: str,
        name: str,
        start: int,
        end: int,
        args: dict | None = None,
        thread: int = 1,
    ) -> None:
        """A range."""
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 1,
                "tid": thread,
                "ts": start / 1000,
                "dur": (end - start) / 1000,
                "args": args or {},
            }
        )

    def steps(self) -> int:
        """The size of something, in ns."""
        return self.random.randrange(0, 12) * self.grid

    def part(self, kind: str, at: int) -> int:
        """Something of KIND at AT; returns its end."""
        choose = self.random.choice
        end = at + self.steps()
        if kind == "tiny":
            names = self.random.choices(
                ("aten::select", "aten::abs", "aten::item", "aten::gt"),
                k=choose((1, 2, 3, 5, 12, 13)),
            )
            for turn in range(self.random.choice((5, 31, 32, 40, 70, 110))):
                end = at + choose((1, 1, 2, 3, 22)) * self.grid
                self.add(
                    "cpu_op",
                    names[turn % len(names)] if self.random.random() < 0.99 else "aten::mm",
                    at,
                    end,
                )
                at = end + choose((0, 1, 1, 2, 60)) * self.grid
        elif kind == "sync":
            for _ in range(choose((1, 3, 17))):
                end = at + self.steps()
                self.add("cpu_op", choose(SYNCS), at, end)
                if choose((True, False)):
                    self.add("cpu_op", choose(SYNCS), at, end)
                at = end
        elif kind == "copy":
            for _ in range(choose((1, 2, 5))):
                end = at + self.steps()
                self.add("cpu_op", choose(COPIES + VIEWS), at, end)
                self.add("cpu_op", choose(COPIES), at, end)
                at = end
        elif kind in ("op", "double"):
            for _ in range(choose((1, 3, 9))):
                end = at + self.steps()
                self.add(
                    "cpu_op",
                    choose(COMPUTE),
                    at,
                    end,
                    choose(INPUTS) if kind == "double" else None,
                )
                if end > at:
                    self.add(
                        "cpu_op",
                        choose(COMPUTE + COPIES),
                        at,
                        end + choose((0, 0, 0, self.grid)),
                    )
                at = end
        elif kind == "function" and self.has_functions:
            end += self.steps() * 4
            self.add("python_function", choose(FUNCTIONS), at, end)
            self.part("op", at)
        elif kind == "pause":
            end += self.steps() * choose((1, 20))
        elif kind == "optimizer":
            end += self.steps() * choose((1, 10))
            self.add("user_annotation", "Optimizer.step#Adam.step", at, end)
            for _ in range(choose((0, 10, 40))):
                self.add("cpu_op", choose(COMPUTE[:6]), at, at + self.grid)
            if self.has_functions:
                self.add("python_function", choose(OPTIMIZING), at, end)
        elif kind == "loader":
            self.add("user_annotation", "enumerate(DataLoader)#_X.__next__", at, end)
            self.part("op", at)
        elif kind == "gloo":
            self.add("cpu_op", "gloo:all_reduce", at, end, thread=choose((1, 2)))
        return end

    def memory(self, at: int, number: int, growth: int) -> None:
        """Allocations of a step: one is released in it, one in the next, one perhaps never."""
        sizes = (
            (1, 3_000),
            (-1, 3_000),
            (2 + number, 2_000),
            (-1 - number, 2_000),
            (900 + number, growth),
        )
        module = {"Python module id": 1, "Python id": 1}
        if growth and self.has_functions:
            self.add("python_function", "nn.Module: Net_0", at, at + 4 * self.grid, module)
        self.add("cpu_op", "aten::empty", at, at + 3 * self.grid)
        for place, (address, size) in enumerate(sizes):
            if size:
                self.events.append(
                    {
                        "ph": "i",
                        "s": "t",
                        "cat": "cpu_instant_event",
                        "name": "[memory]",
                        "pid": 1,
                        "tid": 1,
                        "ts": (at + place * 500) / 1000,
                        "args": {
                            "Device Type": 0,
                            "Device Id": -1,
                            "Addr": abs(address),
                            "Bytes": size if address > 0 else -size,
                            "Total Allocated": 9,
                        },
                    }
                )

    def trace(self) -> dict:
        """All of it."""
        at = self.random.randrange(5) * self.grid
        n_steps = self.random.choice((1, 2, 3, 4, 5, 9, 10))
        kinds = [k for k, weight in COMMON for _ in range(weight)]
        plan = self.random.choices(kinds, k=self.random.randrange(1, 9))
        has_steps = self.random.random() < 0.85
        growth = self.random.choice((0, 0, 1, 60, 4_000))
        for number in range(n_steps):
            start = at
            self.memory(start, number, growth)
            parts = plan if self.random.random() < 0.8 else self.random.choices(kinds, k=6)
            for kind in parts:
                at = self.part(kind, at) + self.random.choice((0, 1, -1)) * self.grid
                at = max(at, start)
            end = at + self.random.choice((0, 0, 30, 300)) * self.grid
            thread = 2 if self.random.random() < 0.05 else 1
            if has_steps:
                self.add("user_annotation", f"ProfilerStep#{number}", start, end, thread=thread)
            at = max(end + self.random.choice((0, 0, 1, -3)) * self.grid, 0)
        if self.random.random() < 0.2:
            self.random.shuffle(self.events)
        return {"schemaVersion": 1, "traceEvents": self.events}


def data(seed: int) -> bytes:
    """The bytes of the trace of SEED."""
    return json.dumps(Generator(seed).trace()).encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1])))
