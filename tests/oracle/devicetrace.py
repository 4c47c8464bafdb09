# SPDX-License-Identifier: Apache-2.0
"""Small random traces of programs whose devices often have nothing to do: launches that come late,
calls that block, compile or allocate, operators that keep the host, Python, ranges that the program
marked, collectives, copies in every direction, and work from before the recording.

    python3 tests/oracle/devicetrace.py SEED > trace.json

The same seed gives the same bytes. Times go from a microsecond to half a second, so that what the
rules of idle time tell apart by its length is there.
"""

from __future__ import annotations

import json
import random
import sys

OPERATORS = (
    "aten::mm",
    "aten::copy_",
    "aten::empty",
    "aten::item",
    "aten::_local_scalar_dense",
    "record_param_comms",
    "nccl:broadcast",
    "aten::unflatten_dense_tensors",
    "",
    'it\'s "$HOME" `x` \\',
    "a\n\nb\x01c",
)
NOTES = ("DistributedDataParallel.forward", "## forward ##", "load <T at 0x7f10>", "")
FUNCTIONS = ("a.py(1): f", "b.py(22): <lambda>", "<built-in method x of T object at 0x7f0a>")
LAUNCHES = (
    "cudaLaunchKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaGraphLaunch",
    "cudaMemcpyAsync",
    "cudaMemcpy",
)
CALLS = (
    "cudaStreamSynchronize",
    "cudaMalloc",
    "cudaFree",
    "cuCompile",
    "cudaEventRecord",
    "cudaEventQuery",
)
WORK = (
    ("kernel", "sgemm", 6),
    ("kernel", "triton_poi_fused_0", 1),
    ("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 1),
    ("kernel", "ncclDevKernel_Generic(x)", 2),
    ("gpu_memset", "Memset (Device)", 1),
    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1),
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 1),
    ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 1),
    ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 2),
    ("gpu_memcpy", "MEMCPY_ASYNC", 1),
)
DTYPES = ({}, {}, {"dtype": "Float"}, {"dtype": "BFloat16"}, {"dtype": "Half"})
PARTS = (
    ("launch", 8),
    ("operator", 6),
    ("stretch", 2),
    ("note", 3),
    ("python", 3),
    ("call", 3),
    ("loader", 1),
    ("optimizer", 1),
    ("overhead", 1),
    ("pause", 3),
)


class Generator:
    """One trace."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.events: list[dict] = []
        self.has_functions = self.random.random() < 0.5
        self.queues = [
            (device, stream)
            for device in range(self.random.choice((1, 1, 2)))
            for stream in (7, 20)
        ][: self.random.choice((1, 2, 2, 4))]
        self.free: dict[tuple[int, int], int] = {}  # when a queue is done
        self.held = {q: self.random.choice((0, 0, 0, 300, 9_000)) for q in self.queues}
        self.correlation = 0
        self.scale = self.random.choice((1, 1, 10, 40))  # us

    def add(
        self,
        category: str,
        name: str,
        start: int,
        end: int,
        args: dict | None = None,
        thread: int = 1,
    ) -> None:
        """A range, in us."""
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 1,
                "tid": thread,
                "ts": start,
                "dur": max(end - start, 0),
                "args": args or {},
            }
        )

    def length(self) -> int:
        """Of something on the host."""
        return self.random.choice((0, 1, 2, 5, 12, 40, 99)) * self.scale

    def launch(self, at: int, thread: int) -> int:
        """A call and its work; returns when the call ends."""
        choose = self.random.choice
        self.correlation += 1
        name = choose(LAUNCHES)
        end = at + choose((1, 4, 9, 999, 1_000, 2_600)) if choose((0, 0, 0, 1)) else at + 5
        args = {"correlation": self.correlation}
        self.add("cuda_runtime", name, at, end, args, thread)
        if choose((True,) * 9 + (False,)):
            queue = choose(self.queues)
            category, work, _ = self.random.choices(WORK, [w for *_, w in WORK])[0]
            delay = choose((0, 1, 1, 3, 100, 101, 180, 2_000)) + self.held.pop(queue, 0)
            start = max(self.free.get(queue, 0), end + delay - choose((0, 0, 0, 6)))
            self.free[queue] = start + choose((0, 1, 8, 60, 500)) * self.scale
            args = {**args, "device": queue[0], "stream": queue[1]}
            if "nccl" in work:
                args.update(choose(DTYPES))
            self.events.append(
                {
                    "ph": "X",
                    "cat": category,
                    "name": work,
                    "pid": queue[0],
                    "tid": queue[1],
                    "ts": start,
                    "dur": self.free[queue] - start,
                    "args": args,
                }
            )
            if "Pageable" in work or name == "cudaMemcpy":
                end = max(end, self.free[queue])
                self.events[-2]["dur"] = end - at
        return end

    def parts(self, at: int, depth: int, thread: int) -> int:
        """Some parts, one after the other."""
        for kind in self.random.choices(
            [k for k, _ in PARTS], [w for _, w in PARTS], k=self.random.randrange(1, 5)
        ):
            at = self.part(kind, at, depth, thread) + self.random.choice((0, 0, 1, 7))
        return at

    def around(self, category: str, names: tuple, at: int, depth: int, thread: int) -> int:
        """A range with others in it; returns its end."""
        place = len(self.events)
        end = at + self.length()
        if depth < 4:
            end = self.parts(end, depth + 1, thread) + self.length()
        self.add(category, self.random.choice(names), at, end, thread=thread)
        self.events.insert(place, self.events.pop())
        return end

    def part(self, kind: str, at: int, depth: int, thread: int) -> int:
        """Something of KIND at AT; returns its end."""
        choose = self.random.choice
        if kind == "launch":
            return self.launch(at, thread)
        if kind in ("operator", "note", "python"):
            if kind == "python" and not self.has_functions:
                return at
            category, names = {
                "operator": ("cpu_op", OPERATORS),
                "note": ("user_annotation", NOTES),
                "python": ("python_function", FUNCTIONS),
            }[kind]
            return self.around(category, names, at, depth, thread)
        end = at + self.length()
        if kind == "stretch":
            end = at + choose((999, 1_000, 1_001, 2_500))
            name = choose(OPERATORS)
            self.add("cpu_op", name, at, end + 1_500, thread=thread)
            if choose((True, False)):
                self.add(
                    "cpu_op",
                    choose(OPERATORS),
                    end,
                    end + choose((0, 400, 500, 501)),
                    thread=thread,
                )
            return end + 1_500
        if kind == "call":
            end = at + choose(
                (3, 99, 100, 999, 1_000, 100_000 if choose((0,) * 9 + (1,)) else 9)
            )
            self.add("cuda_runtime", choose(CALLS), at, end, thread=thread)
        elif kind == "loader":
            self.add(
                "user_annotation", "enumerate(DataLoader)#_X.__next__", at, end, thread=thread
            )
        elif kind == "optimizer":
            end = self.around("user_annotation", ("Optimizer.step#A.step",), at, depth, thread)
        elif kind == "overhead":
            self.add("overhead", "Buffer Flush", at, end, thread=choose((1, 9)))
        return end

    def fill(self, until: int) -> None:
        """Kernels until UNTIL without a gap, of any launch or of none."""
        at = 0
        while at < until:
            end = at + self.random.choice((until, until // 2 + 1, 40 * self.scale))
            self.events.append(
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": "fill",
                    "pid": 0,
                    "tid": 33,
                    "ts": at,
                    "dur": end - at,
                    "args": {
                        "correlation": self.random.randrange(self.correlation + 1),
                        "device": 0,
                        "stream": 33,
                    },
                }
            )
            at = end

    def trace(self) -> dict:
        """All of it."""
        at = self.random.randrange(5) * 100
        has_steps = self.random.random() < 0.7
        for number in range(self.random.choice((1, 1, 2, 4))):
            start = at
            at = self.parts(at, 0, 1)
            if self.random.random() < 0.3:
                at = max(at, self.parts(start + 50, 1, 2))
            if has_steps:
                self.add("user_annotation", f"ProfilerStep#{number}", start, at)
            at += self.random.choice((0, 0, 40, 700))
        if self.random.random() < 0.15:
            self.fill(at)
        if self.random.random() < 0.1:
            self.add(
                "Trace",
                "PyTorch Profiler (0)",
                0,
                at - self.random.choice((0, 100, 900)),
                thread=self.random.choice((1, 8)),
            )
        if self.random.random() < 0.2:
            self.random.shuffle(self.events)
        return {
            "schemaVersion": 1,
            "deviceProperties": [
                {
                    "id": 0,
                    "name": "GPU",
                    "totalGlobalMem": 1000,
                    "computeMajor": 8,
                    "computeMinor": 0,
                }
            ],
            "traceEvents": self.events,
        }


def data(seed: int) -> bytes:
    """The bytes of the trace of SEED."""
    return json.dumps(Generator(seed).trace()).encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1])))
