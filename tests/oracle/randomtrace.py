# SPDX-License-Identifier: Apache-2.0
"""Small random traces: valid, but as difficult as the dialects of all versions of Kineto allow.

    python3 tests/oracle/randomtrace.py SEED > trace.json

The same seed gives the same bytes. Times are on a coarse grid, so that equal starts, touching and
empty ranges, and partial overlaps are common.
"""

from __future__ import annotations

import json
import random
import sys

OPS = (
    "aten::mm",
    "aten::addmm",
    "aten::add",
    "aten::mul",
    "aten::conv2d",
    "aten::empty",
    "aten::copy_",
    "aten::matmul",
    "aten::linear",
    "record_param_comms",
    "c10d::allreduce_",
    "aten::convolution_backward",
    "DistributedDataParallel.forward",
    "DataParallel.forward",
    "autograd::engine::evaluate_function: MmBackward0",
    "MmBackward0",
    "aten::is_leaf",
    "profiler::_record_function_exit",
    "a name of more than fifty-two characters, to be cut short in text",
)
ANNOTATIONS = (
    "ProfilerStep#{n}",
    "ProfilerStep#{n}",
    "Optimizer.step#SGD.step",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "enumerate(DataPipe)#x",
    "nccl:all_reduce",
    "gloo:broadcast",
    "gloo:barrier",
    "## forward ##",
    "ProfilerStep#x",
    "gloo:all_reduce",
)
LIGHTNING = (
    "[pl][module]a.Net: model",
    "[pl][module]a.B: model.b.c",
    "[pl][module]a.B: model.b",
    "[pl][module]",
    "[pl][module]C: x..y",
    "[pl][profile]step: model",
)
# Calls that wait for the device, allocate or launch many kernels at once.
OTHER_CALLS = (
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaMalloc",
    "cudaFree",
    "cudaGraphLaunch",
    "cudaMemcpyAsync",
)
# What other families call them.
CALLS_OF = {
    "hip": {
        "cudaLaunchKernel": "hipExtModuleLaunchKernel",
        "cuLaunchKernel": "hipLaunchKernel",
        "cudaStreamSynchronize": "hipStreamSynchronize",
        "cudaMalloc": "hipMalloc",
        "cudaDeviceSynchronize": "hipDeviceSynchronize",
        "cudaFree": "hipFree",
        "cudaGraphLaunch": "hipGraphLaunch",
        "cudaMemcpyAsync": "hipMemcpyAsync",
    },
    "npu": {
        "cudaLaunchKernel": "aclrtLaunchKernel",
        "cuLaunchKernel": "aclrtLaunchKernel",
        "cudaStreamSynchronize": "aclrtSynchronizeStream",
        "cudaMalloc": "aclrtMalloc",
        "cudaDeviceSynchronize": "aclrtSynchronizeDevice",
        "cudaFree": "aclrtFree",
        "cudaGraphLaunch": "aclmdlRIExecuteAsync",
        "cudaMemcpyAsync": "aclrtMemcpyAsync",
    },
    "xpu": {
        "cudaLaunchKernel": "urEnqueueKernelLaunch",
        "cuLaunchKernel": "zeCommandListAppendLaunchKernel",
        "cudaStreamSynchronize": "urQueueFinish",
        "cudaMalloc": "urUSMDeviceAlloc",
        "cudaDeviceSynchronize": "zeCommandQueueSynchronize",
        "cudaFree": "urUSMFree",
        "cudaGraphLaunch": "urEnqueueKernelLaunch",
        "cudaMemcpyAsync": "urEnqueueUSMMemcpy",
    },
}
# The first word of their categories, where it is not that of CUDA.
CATEGORY_OF = {"npu": "privateuse1", "xpu": "xpu"}
COPIES = (
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy DtoH (Device -> Pageable)",
    "Memcpy HtoD (Pinned -> Device)",
)
KERNELS = (
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
    "volta_sgemm_64x64_nt",
    "sm80_xmma_fprop_implicit_gemm",
    "void at::native::elementwise_kernel<4>(int)",
    "ampere_fp16_s16816gemm_fp16_64x64",
    "triton_poi_fused_0",
    "turing_h1688gemm",
)
FRAMES = (
    "a.py(1): f",
    "b.py(22): g",
    "<built-in method mm>",
    "nn.Module: Linear_0",
    "torch/autograd/__init__.py(1): backward",
)
MODULES = (
    "nn.Module: Linear_0",
    "nn.Module: Linear_0",
    "nn.Module: Net_0",
    "nn.Module: ",
    "Net_0",
)


class Generator:
    """One trace; every choice comes from one random source."""

    def __init__(self, seed: int):
        self.seed = seed
        self.random = random.Random(seed)
        self.generation = self.random.choice("ABC")
        self.time_form = self.random.choice(("integer", "fraction", "fraction", "text"))
        self.base_us = self.random.choice((0, 1000, 1_623_143_089_861_000, 4_381_786_529_027))
        self.records: list[dict] = []
        self.more_members: dict = {}
        self.family = self.random.choice(("cuda", "cuda", "cuda", "hip", "npu", "xpu"))
        self.other_calls = self.random.choice((0, 30, 60))  # percent
        self.kernels = self.random.choice((KERNELS, KERNELS, KERNELS[1:2] + KERNELS[3::2]))
        self.launch_grids = self.random.choice((3, 3, 12))  # longest call
        self.kernel_grids = self.random.choice((15, 15, 2))  # longest work
        self.correlation = self.random.choice((1, 3))  # near the ops' ids: collisions
        self.external = 0
        self.old = self.generation == "A"
        self.has_stacks = self.random.randrange(3) > 0
        self.has_callers = self.chance(80)
        self.is_lightning = self.chance(10)
        self.is_sampled = seed % 5 == 3
        self.ops: list[tuple[int, object, int]] = []  # process, thread, start
        self.annotations: list[tuple[str, int]] = []  # name, external id
        self.launches: list[tuple[object, list[tuple[str, object, object, int]]]] = []

    def chance(self, percent: int) -> bool:
        """True with a probability of PERCENT."""
        return self.random.randrange(100) < percent

    def us(self, tenths_ns: int) -> object:
        """TENTHS_NS (0.1 ns) as the file's form of microseconds, without binary fractions."""
        whole, rest = divmod(tenths_ns, 10_000)
        if self.time_form == "integer":
            return whole
        digits = f"{rest:04d}"
        text = f"{whole}.{digits if self.chance(20) else digits[:3]}"
        return text if self.time_form == "text" else Raw(text)

    def instant(self, at: int) -> object:
        """Time AT (in 0.1 ns) since the base."""
        return self.us(self.base_us * 10_000 + at)

    def thread(self, tid: int) -> object:
        """A thread id in the dialect's form."""
        return str(tid) if self.old and self.chance(80) else tid

    def stack(self) -> dict:
        """`Call stack`, sometimes."""
        if not self.has_stacks or not self.chance(40):
            return {}
        frames = self.random.sample(FRAMES, self.random.randrange(1, 4))
        return {"Call stack": ";".join(frames) + (";" if self.chance(70) else "")}

    def dims(self) -> dict:
        """`Input Dims` and `Concrete Inputs`, sometimes."""
        if not self.chance(60):
            return {}
        size = self.random.choice
        choices = (
            [[2, 3], [3, 4]],
            [[4], [2, 3], [3, 4]],
            [],
            [[], [1]],
            [[[2, 3], [4]], []],
            [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []],
        )
        args: dict = {size(("Input Dims", "Input Dims", "Input dims")): size(choices)}
        if self.chance(60):
            args["Concrete Inputs"] = ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"]
        if self.chance(60):
            args["Input type"] = size(
                (
                    ["float", "float"],
                    ["c10::BFloat16", "Scalar", ""],
                    [""],
                    ["", "", "long int"],
                    [],
                    ["TensorList", ""],
                    None,
                    "float",
                    ['a "b"', "float"],
                )
            )
        return args

    def sampled(self) -> dict:
        """`sampled calls` of few, or something similar."""
        if not self.is_sampled or not self.chance(20):
            return {}
        return {
            "sampled calls": self.random.choice(
                (2, 2, 3, 7, 100, "4", 1, 0, -3, 131073, 2.0, None, 2**40)
            )
        }

    def numbers(self) -> dict:
        """Sequence number and forward thread of a forward or a backward operator, or something
        similar."""
        if not self.chance(60):
            return {}
        choice = self.random.choice
        args: dict = {
            "Sequence number": choice((0, 1, 1, 2, 3, "2", -1, 2**31)),
            "Fwd thread id": choice((0, 0, 1, 1, 2, "1", None)),
        }
        if self.chance(15):
            del args[choice(tuple(args))]
        return args

    def arrows(self) -> None:
        """Arrows between operators; some lack one end, some ids are used twice."""
        for number in range(self.random.randrange(8) if self.ops else 0):
            category = self.random.choice(
                ("fwdbwd", "fwdbwd", "fwdbwd", "forward_backward", "ac2g")
            )
            ends = [("s", self.random.choice(self.ops)), ("f", self.random.choice(self.ops))]
            if self.chance(20):
                ends.reverse()
            key = self.random.choice((number, number, number, 1, str(number), f"a{number}"))
            for phase, (pid, tid, start) in ends:
                if self.chance(5):
                    start += 10_000
                if self.chance(95):
                    record = {
                        "ph": phase,
                        "cat": category,
                        "name": category,
                        "pid": pid,
                        "tid": self.thread(tid),
                        "id": key,
                        "ts": self.instant(start),
                    }
                    if phase == "f":
                        record["bp"] = "e"
                    self.records.append(record)

    def launch_arrows(self) -> None:
        """Arrows from calls to their work; some miss their event, lack an end or have a step in
        between."""
        category = self.random.choice(
            ("async", "async_cpu_to_gpu", "ac2g", "ac2g", "mylib", None)
        )
        found = []
        for key, ends in self.launches if self.chance(80) else []:
            if self.chance(10):
                ends = [*ends, ("t", *self.random.choice(ends)[1:])]
            for phase, pid, tid, start in ends:
                if self.chance(15):
                    start += self.random.choice((-20_000, 5_000, 10_000, 30_000))
                record = {
                    "ph": phase,
                    "name": "launch",
                    "pid": pid,
                    "tid": tid,
                    "id": key,
                    "ts": self.instant(max(start, 0)),
                }
                if category is not None:
                    record["cat"] = category
                if phase == "f" and self.chance(80):
                    record["bp"] = "e"
                if self.chance(2):
                    record["id"] = self.random.choice((None, 1, "x"))
                if self.chance(95):
                    found.append(record)
        if self.chance(30):
            self.random.shuffle(found)
        self.records += found

    def add(
        self,
        phase: str,
        category: str | None,
        name: str,
        pid: object,
        tid: object,
        start: int,
        end: int,
        args: dict | None,
    ) -> None:
        """A range as X or as B and E; sometimes something is missing."""
        record: dict = {
            "ph": phase,
            "name": name,
            "pid": pid,
            "tid": tid,
            "ts": self.instant(start),
        }
        if category is not None:
            record["cat"] = category
        if args is not None:
            record["args"] = args
        if phase == "X":
            record["dur"] = self.us(end - start)
            if self.chance(2):
                record["dur"] = self.random.choice((None, "long", -5))
            elif self.chance(1):
                del record["dur"]
        if self.chance(1):
            record["ts"] = None
        self.records.append(record)
        if phase == "B" and not self.chance(5):
            self.records.append({"ph": "E", "pid": pid, "tid": tid, "ts": self.instant(end)})

    def host_thread(self, pid: int, tid: int) -> None:
        """Nested, equal, touching and overlapping ranges on one thread."""
        grid = self.random.choice((10_000, 10_000, 25_000, 1_230))
        at = self.random.randrange(5) * grid
        if self.chance(15):
            self.even_steps(pid, tid, at, grid)
            return
        for number in range(self.random.randrange(2, 6)):
            length = self.random.randrange(0, 40) * grid
            self.nest(pid, tid, at, at + length, grid, 0, number)
            at += length + self.random.choice((0, 0, grid, -grid))
            at = max(at, 0)

    def caller(self) -> dict:
        """`Python parent id`: that of an earlier or a later call, its own, a nonexistent one, or
        none."""
        if not self.has_callers:
            return self.random.choice(({}, {"Python parent id": None}))
        near = self.external + self.random.choice((-3, -2, -1, -1, -1, 0, 1, 2, 5))
        return {"Python parent id": self.random.choice((near, near, near, near, 9_999, None))}

    def even_steps(self, pid: int, tid: int, at: int, grid: int) -> None:
        """Steps of nearly the same length, except one."""
        count = self.random.randrange(4, 9)
        slow = self.random.randrange(count)
        for number in range(count):
            length = (self.random.choice((18, 20, 20, 20, 21)) + 40 * (number == slow)) * grid
            self.external += 1
            self.add(
                "X",
                "Operator" if self.old else "user_annotation",
                f"ProfilerStep#{number + 4}",
                pid,
                self.thread(tid),
                at,
                at + length,
                {"External id": self.external},
            )
            self.nest(pid, tid, at + grid, at + length - grid, grid, 1, number)
            at += length

    def nest(
        self, pid: int, tid: int, start: int, end: int, grid: int, depth: int, number: int
    ) -> None:
        """One range and its contents."""
        kind = self.random.choice(
            ("op", "op", "op", "annotation", "python", "call", "call", "legacy")
        )
        if depth == 0 and self.chance(60):
            kind = "annotation"
        name = self.random.choice(OPS)
        if kind == "op" and depth and self.chance(30):
            name = "aten::mm"  # recursion
        args: dict | None = {**self.stack(), **self.dims(), **self.sampled()}
        self.external += 1
        if kind == "op":
            args["External id"] = self.external
            args |= self.numbers()
            self.ops.append((pid, tid, start))
            category = "Operator" if self.old else "cpu_op"
            if self.chance(10):
                args = None if self.chance(50) else {"External id": None}
            self.add(
                self.random.choice("XXXXB"),
                category,
                name,
                pid,
                self.thread(tid),
                start,
                end,
                args,
            )
        elif kind == "annotation":
            name = self.random.choice(ANNOTATIONS).format(n=number + 4)
            if self.is_lightning and self.chance(60):
                name = self.random.choice(LIGHTNING)
            args["External id"] = self.external
            self.annotations.append((name, self.external))
            self.add(
                "X",
                "Operator" if self.old else "user_annotation",
                name,
                pid,
                self.thread(tid),
                start,
                end,
                args,
            )
        elif kind == "python":
            args = {
                "Python id": self.external - self.random.choice((0, 0, 0, 0, 1)),
                **self.caller(),
            }
            name = self.random.choice(FRAMES)
            if self.chance(50):
                args["Python module id"] = self.random.choice((0, 0, 1, "0", -1))
                name = self.random.choice(MODULES)
            self.add("X", "python_function", name, pid, self.thread(tid), start, end, args)
        elif kind == "call":
            self.launch(pid, tid, start, min(end, start + self.launch_grids * grid), grid)
            return
        else:
            self.add(
                "X",
                self.random.choice((None, "other", "overhead", "python")),
                name,
                pid,
                self.thread(tid),
                start,
                end,
                args,
            )
        at = start
        while depth < 4 and at < end and self.chance(75):
            length = self.random.randrange(0, 1 + (end - at) // grid) * grid
            beyond = grid if self.chance(4) else 0  # partial overlap
            self.nest(pid, tid, at, at + length + beyond, grid, depth + 1, number)
            at += length + self.random.choice((0, 0, grid))

    def launch(self, pid: int, tid: int, start: int, end: int, grid: int) -> None:
        """A call of the runtime or driver, and the work that it launched."""
        if not self.chance(10):
            self.correlation += 1  # else the last one is used again
        args: dict = {"correlation": self.correlation}
        owner = self.random.choice((self.external, self.external, 0, 9_999))
        key = "external id" if self.generation == "A" else "External id"
        if self.generation == "B":
            args[key] = self.correlation
        elif self.chance(85):
            args[key] = owner
        if self.chance(3):
            del args["correlation"]
        category, name = self.random.choice(
            (
                ("Runtime", "cudaLaunchKernel")
                if self.old
                else ("cuda_runtime", "cudaLaunchKernel"),
                ("cuda_driver", "cuLaunchKernel"),
            )
        )
        if self.chance(self.other_calls):
            name = self.random.choice(OTHER_CALLS)
        if not self.chance(2):
            name = CALLS_OF.get(self.family, {}).get(name, name)
            category = category.replace("cuda", CATEGORY_OF.get(self.family, "cuda"))
        self.add("X", category, name, pid, self.thread(tid), start, end, args)
        self.launches.append((args.get("correlation", 0), [("s", pid, tid, start)]))
        for _ in range(self.random.choice((0, 1, 1, 1, 2))):
            self.device_work(dict(args), end, grid)

    def device_work(self, args: dict, launched: int, grid: int) -> None:
        """A kernel, copy, fill or wait on some device and stream."""
        device, stream = self.random.randrange(2), self.random.choice((7, 20))
        start = launched + self.random.randrange(-1, 12) * grid
        end = start + self.random.randrange(0, self.kernel_grids) * grid
        kind = self.random.choice(("kernel", "kernel", "kernel", "memcpy", "memset", "sync"))
        args |= {"device": device, "stream": stream, "context": 1}
        if kind == "kernel":
            name = self.random.choice(self.kernels)
            if self.chance(70):
                args |= {
                    "grid": [self.random.randrange(1, 3), 1, 1],
                    "block": [128, 1, 1],
                    "registers per thread": 32,
                    "shared memory": 0,
                }
            if self.chance(70):
                args["blocks per SM"] = self.random.choice(
                    (0.5, 0, 12, "inf", "0.25", "1e999", 1e308, 2**64)
                )
                args["est. achieved occupancy %"] = self.random.choice((0, 31, 100, 1e308))
            if self.chance(15):
                args["Collective name"] = "allreduce"
        else:
            name = {
                "memcpy": self.random.choice(COPIES),
                "memset": "Memset (Device)",
                "sync": "Stream Sync",
            }[kind]
            args["bytes"] = self.random.randrange(5000)
        category = (
            {"kernel": "Kernel", "memcpy": "Memcpy", "memset": "Memset", "sync": "cuda_sync"}
            if self.old
            else {
                "kernel": "kernel",
                "memcpy": "gpu_memcpy",
                "memset": "gpu_memset",
                "sync": "cuda_sync",
            }
        )[kind]
        if self.chance(3):
            del args["device"]
        queue = f"stream {stream}" if self.old else stream
        self.launches[-1][1].append(("f", device, queue, max(start, 0)))
        self.add("X", category, name, device, queue, max(start, 0), max(end, start, 0), args)
        if self.chance(10):
            name, external = self.random.choice([("ProfilerStep#4", 1), *self.annotations])
            self.add(
                "X",
                "gpu_user_annotation",
                name,
                device,
                stream,
                max(start, 0),
                max(end, start, 0) + grid,
                {"External id": external},
            )

    def asynchronous(self, here: dict) -> list[dict]:
        """Begins and ends with an id, perhaps on different threads, or without the other."""
        records = []
        for number in range(self.random.randrange(3)):
            same = {
                **here,
                "id": 10 + number,
                "cat": self.random.choice(("cpu_op", "mine", "user_annotation")),
                "name": self.random.choice(("aten::mm", "request", "DataParallel.forward")),
            }
            first, last = sorted(self.random.randrange(60) for _ in range(2))
            records += [
                {**same, "ph": "b", "ts": self.instant(first * 10_000)},
                {
                    **same,
                    "ph": "e",
                    "ts": self.instant(last * 10_000),
                    "tid": self.random.choice((here["tid"], 77)),
                },
            ]
        return records

    def extras(self, pid: int, tid: int) -> None:
        """Instants, memory, counters, flows, async pairs, metadata, noise."""
        self.memory(pid, tid)
        at = self.instant(self.random.randrange(60) * 10_000)
        here = {"pid": pid, "tid": tid, "ts": at}
        noise = [
            {**here, "ph": "i", "name": "Record Window End", "s": "g"},
            {**here, "ph": "I", "name": "old instant"},
            {
                **here,
                "ph": "C",
                "name": "memory",
                "args": {
                    "a": self.random.choice((1, "7", 2**64, Raw("1e999"), Raw("-0.0"))),
                    "b": Raw("2.5"),
                },
            },
            {**here, "ph": "s", "id": 5, "cat": "fwdbwd", "name": "fwdbwd"},
            {**here, "ph": "f", "id": 5, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
            {**here, "ph": "b", "id": 1, "cat": "async", "name": "request"},
            {**here, "ph": "n", "id": 1, "cat": "async", "name": "request"},
            {**here, "ph": "e", "id": 1, "cat": "async", "name": "request"},
            *self.asynchronous(here),
            {**here, "ph": "E"},
            {**here, "ph": "?", "name": "what"},
            {
                **here,
                "ph": "X",
                "cat": "Trace",
                "name": "PyTorch Profiler (0)",
                "dur": 9,
                "pid": "Spans",
                "tid": "PyTorch Profiler",
            },
            {**here, "ph": "i", "name": "[OutOfMemory]", "s": "t", "args": {"Bytes": 9}},
            {
                "ph": "M",
                "name": "thread_name",
                "pid": pid,
                "tid": tid,
                "ts": 0,
                "args": {"name": self.random.choice((f"thread {tid} (python)", "again ", ""))},
            },
        ]
        self.records += [r for r in noise if self.chance(45)]

    def spoil(self) -> None:
        """Give some members wrong types, and add list members that are not records."""
        choice = self.random.choice
        for record in self.records:
            if not self.chance(2):
                continue
            kind = choice(("name", "cat", "pid", "tid", "args", "ts", "dur", "arg", "ph"))
            if kind == "arg":
                args = record.get("args")
                if isinstance(args, dict):
                    args[choice(("extra", "correlation", "stream"))] = choice(
                        (
                            Raw("NaN"),
                            Raw("1e999"),
                            2**63,
                            -(2**63),
                            1e-7,
                            True,
                            {"a": [None]},
                            Raw('"half a \\ud800 pair"'),
                            "12",
                            [],
                            '\u00e9 \U0001f600 \\ " \x07',
                        )
                    )
                continue
            record[kind] = choice(
                {
                    "name": (
                        7,
                        None,
                        "unknown",
                        "unknown",
                        Raw('"raw \udcff\udce2\udc82 bytes"'),
                        Raw('"half \\uD800"'),
                        "",
                        ["a"],
                        "\u2028 \u00e9 \n \\",
                    ),
                    "cat": (None, 5, "CPU_OP", "Trace", "never seen", {}),
                    "pid": (None, [1], -1, Raw("1.50"), True, "100", "", "host"),
                    "tid": (None, {}, 0, "100", "a thread", 2**70),
                    "args": (None, [], "text", 0),
                    "ts": (
                        True,
                        "",
                        "soon",
                        f"{self.base_us + 3}e0",
                        Raw("1e30"),
                        Raw("5e15"),
                        [1],
                        Raw(f"{self.base_us // 100 + 1}.5e2"),
                    ),
                    "dur": (None, "1.5", Raw("1e30"), Raw("5e15"), -0.5, Raw("0.0004"), "-0"),
                    "ph": (None, 1, "XX", "", "Z"),
                }[kind]
            )
            if self.chance(20):
                del record[kind]
        for stranger in (5, "text", None, [1, {"ph": "X"}]):
            if self.chance(1):
                self.records.insert(self.random.randrange(len(self.records) + 1), stranger)

    def memory(self, pid: int, tid: int) -> None:
        """Allocations and releases: few addresses on several devices, so that some are
        released twice, allocated twice or released elsewhere."""
        choice, total = self.random.choice, self.random.randrange(3) * 100_000
        devices = choice(
            (
                [(0, -1)],
                [(0, 0), (1, 0)],
                [(0, 0), (1, 0), (1, 1)],
                [(6, 0), (1, 1)],
                [(1, 0), (12, 0), (20, -1), (33, 5), (None, 0), (-1, 0), (1, "x")],
            )
        )
        live: list[tuple] = []
        for _ in range(choice((0, 2, 5, 12, 40))):
            at = self.random.randrange(60) * 10_000 + choice((0, 0, 5_000))
            if live and self.chance(45):
                kind, number, address, size = live.pop(self.random.randrange(len(live)))
                size = choice((-size, -size, -size, -size, -1))
                at = choice((at, 590_000))
            else:
                (kind, number), size = choice(devices), choice((512, 4096, 4096, 1 << 20))
                address = choice((64, 64, 128, 192, "256", 2**64 - 64))
                live.append((kind, number, address, size))
            if self.chance(8):
                size = choice(
                    (
                        0,
                        -512,
                        None,
                        "512",
                        512.5,
                        True,
                        1 << 40,
                        (1 << 62) - 1,
                        1 - (1 << 62),
                        1 << 62,
                    )
                )
            if isinstance(size, int):
                total += size if self.chance(95) else 1
            args = {
                "Device Type": kind,
                "Device Id": number,
                "Bytes": size,
                "Addr": address,
                "Total Allocated": total,
                "Total Reserved": max(total, 1 << 20),
            }
            for key, percent in (
                ("Addr", 5),
                ("Total Allocated", 5),
                ("Total Reserved", 10),
                ("Device Id", 2),
                ("Bytes", 1),
            ):
                if self.chance(percent) or (self.old and key in ("Addr", "Total Allocated")):
                    del args[key]
            self.records.append(
                {
                    "ph": "i",
                    "s": "t",
                    "name": "[memory]",
                    "pid": pid,
                    "tid": self.thread(tid),
                    "ts": self.instant(at),
                    "cat": "cpu_instant_event",
                    "args": args,
                }
            )

    def data_flow(self, seed: int) -> None:
        """In some traces: which memory operators and modules use. Its choices are its own, so
        that the rest of the trace does not depend on them."""
        source = random.Random(f"data flow of {seed}")
        addresses = (64, 128, 192, 256, 320, 384, 2**64 - 64)
        if source.randrange(3):
            return
        ranges = [
            r
            for r in self.records
            if r.get("cat") in ("cpu_op", "Operator")
            and isinstance(r.get("args"), dict)
            and r.get("ph") == "X"
        ]
        tells = source.choice((None, None, "told", "told", "1"))
        if tells:
            self.more_members["tensors_on_devices"] = tells
        for record in ranges:
            args = record["args"]
            if source.randrange(12):
                used = [
                    source.choice(addresses) * source.choice((1, 1, -1))
                    for _ in range(source.choice((0, 1, 1, 2, 3)))
                ]
                args["Storages"] = [source.choice((1, 1, 1, 1, 2, 0)), *used]
                if not source.randrange(12):
                    args["Storages 2"] = [source.choice(addresses)]
                if tells and source.randrange(3):
                    args["Storage devices"] = [
                        source.choice((0, 256, 257, 20 * 256, 12 * 256 + 3))
                        for _ in range(source.choice((1, 3, 4)))
                    ]
                if not source.randrange(4):
                    record["name"] = source.choice(
                        ("torch::autograd::AccumulateGrad", "aten::detach", "aten::add_")
                    )
            self.sizes(args, f"sizes of {seed} {len(self.records)} {record.get('ts')}")
            if not source.randrange(16):
                args["Parameters"] = [source.choice((0, *addresses)) for _ in range(2)]
            if not source.randrange(24):
                args["Optimizer state"] = [source.choice(addresses)]
        for _ in range(source.choice((5, 20, 40)) if ranges else 0):
            near = source.choice(ranges)
            self.records.append(
                {
                    "ph": "i",
                    "s": "t",
                    "name": "[memory]",
                    "pid": near["pid"],
                    "tid": near["tid"],
                    "ts": near["ts"],
                    "cat": "cpu_instant_event",
                    "args": {
                        "Device Type": 0,
                        "Device Id": -1,
                        "Bytes": source.choice((512, 512, -512)),
                        "Addr": source.choice(addresses),
                        "Total Allocated": source.randrange(9999),
                    },
                }
            )

    @staticmethod
    def sizes(args: dict, seed: str) -> None:
        """Sizes of the tensors of a call, which usually fit its storages, and of parameters. Their
        choices are their own, too."""
        source = random.Random(seed)
        n_tensors = len(args.get("Storages", [0])) - 1
        if not n_tensors or not source.randrange(6):
            return
        dims: list = [source.choice(([], [4], [2, 3], [0, 3])) for _ in range(n_tensors)]
        strides: list = [[3 * (len(d) - i) for i in range(len(d))] for d in dims]
        types: list = [
            source.choice(
                (
                    "float",
                    "long int",
                    "c10::BFloat16",
                    "c10::complex<float>",
                    "c10::complex<c10::Half>",
                    "short int",
                    "Mystery",
                )
            )
            for _ in dims
        ]
        at = source.randrange(n_tensors + 1)
        if not source.randrange(3):
            dims.insert(at, [])
            strides.insert(at, [])
            types.insert(at, source.choice(("", "Scalar", "ScalarList")))
        if not source.randrange(5):
            strides[0] = source.choice(([], [-1], [2**63], "x", [1.5], [1] * 3))
        if not source.randrange(5):
            dims[0], strides[0], types[0] = (
                [[2], [3]],
                [[1], source.choice(([1], []))],
                "TensorList",
            )
        if not source.randrange(8):
            types.pop()
        if not source.randrange(60):
            dims[0] = [1] * 40_000
        args.update(
            {
                "Input Dims": dims,
                "Input Strides": strides,
                "Input type": types,
                "Parameters bytes": [source.choice((8, 400, -8)) for _ in range(2)],
                "Optimizer state bytes": [4],
            }
        )

    def end_names(self, seed: int) -> None:
        """In some traces: ends that name a range, often another one than the innermost."""
        source = random.Random(f"end names of {seed}")
        begins = [r.get("name") for r in self.records if r.get("ph") == "B"]
        percent = source.choice((0, 20, 100))
        for record in self.records:
            if record.get("ph") == "E" and source.randrange(100) < percent:
                name = source.choice((*begins, "nobody"))
                record["name"] = source.choice(
                    (name, name, name, name[:-1], "", 7) if isinstance(name, str) else (name,)
                )

    def wild_times(self, seed: int) -> None:
        """In some traces: times far from all others. Its choices are its own, too."""
        source = random.Random(f"wild times of {seed}")
        timed = [r for r in self.records if isinstance(r, dict) and "ts" in r]
        if source.randrange(8) or not timed:
            return
        n = source.choice((1, 1, 2, 5, len(timed) // 2))
        values: tuple = (
            0,
            0,
            Raw("0.000"),
            5,
            3_782_700_000_000_000,
            -1_782_700_000_000_000,
            self.base_us + 10**12,
            self.base_us + 10**11,
            self.base_us - 10**12,
            self.base_us + 36 * 10**8,
            self.base_us - 5 * 10**10,
        )
        if source.randrange(2):
            values = (source.choice(values),)
        for record in source.sample(timed, min(n, len(timed))):
            if "dur" in record and not source.randrange(3):
                record["dur"] = source.choice((0, 10**10, 10**12, 10**15))
            else:
                record["ts"] = source.choice(values)

    def device_properties(self) -> object:
        """Devices of the machine: more or fewer than did work, some with few properties."""
        if self.chance(30):
            return self.random.choice(([], None, "none", {"id": 0}))
        devices: list = []
        for number in range(self.random.randrange(1, 4)):
            device = {
                "id": self.random.choice((number, number, number, 0, str(number), -1)),
                "name": self.random.choice(("Tesla V100", "AMD Radeon", 'a "b"\u00e9', "", 7)),
                "totalGlobalMem": self.random.choice(
                    (34079637504, "68702699520", -1, 500, 5000)
                ),
                "computeMajor": self.random.choice((7, 9, 0, 3)),
                "computeMinor": self.random.choice((0, 5)),
                "numSms": self.random.choice((80, 104, Raw("80.5"))),
            }
            for key in self.random.sample(sorted(device), self.random.choice((0, 0, 1, 3))):
                del device[key]
            devices.append(device)
        return devices + ([None] if self.chance(10) else [])

    def document(self) -> object:
        """The whole file."""
        for pid in self.random.sample((100, 200), self.random.choice((1, 1, 2))):
            for tid in self.random.sample((100, 101, 102), self.random.randrange(1, 3)):
                self.host_thread(pid, tid)
                self.extras(pid, tid)
        self.data_flow(self.seed)
        self.arrows()
        self.launch_arrows()
        self.end_names(self.seed)
        self.wild_times(self.seed)
        if self.chance(30):
            # Only metadata moves to the front: an E stays after its B.
            self.records.sort(key=lambda r: r["ph"] != "M")
        if self.chance(40):
            self.spoil()
        if self.chance(15):
            return self.records
        members: dict = {"schemaVersion": 1}
        if self.chance(80):
            members["deviceProperties"] = self.device_properties()
        for flag, percent in (
            ("record_shapes", 60),
            ("profile_memory", 60),
            ("with_flops", 50),
            ("with_stack", 30),
        ):
            if self.chance(percent):
                members[flag] = self.random.choice((1, 1, 1, 0))
        if self.chance(30):
            members["distributedInfo"] = {"backend": "nccl", "rank": 0, "world_size": 1}
        if self.chance(50):
            members["baseTimeNanoseconds"] = 1_790_857_026_000_000_000
        return {**members, **self.more_members, "traceEvents": self.records}


class Raw:
    """A value that prints exactly as it was written."""

    def __init__(self, text: str):
        self.text = text


LAYOUTS = {
    "lines": (",\n", ", ", ": "),
    "compact": (",", ",", ":"),
    "members": (",\n", ",\n", ": "),
    "torch": (",\n  ", ",\n    ", ": "),
}


def dump(value: object, layout: str, depth: int = 0) -> str:
    """JSON with raw values unchanged. In every layout except `members` lists are on one line, and
    in `torch` arguments, too."""
    between_records, between_members, colon = LAYOUTS[layout]
    if (layout == "torch" and depth > 3) or (layout == "members" and depth > 4):
        between_members = ", "
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return (
            "{"
            + between_members.join(
                json.dumps(k) + colon + dump(v, layout, depth + 1) for k, v in value.items()
            )
            + "}"
        )
    if isinstance(value, list):
        joint = between_records if depth == 1 else ", "
        return "[" + joint.join(dump(v, layout, depth + 1) for v in value) + "]"
    return json.dumps(value)


def text(seed: int) -> str:
    """The trace of SEED. Bytes that are not UTF-8 are lone surrogates in it."""
    generator = Generator(seed)
    document = generator.document()
    layout = generator.random.choice(("lines", "lines", *LAYOUTS))
    return dump(document, layout, 1 if isinstance(document, list) else 0) + "\n"


def data(seed: int) -> bytes:
    """The same as the bytes of a file."""
    return text(seed).encode("utf-8", "surrogateescape")


def run(seed: int) -> list[tuple[str, bytes]]:
    """Names and contents of the files of a run."""
    source = random.Random(f"files of {seed}")
    names = source.sample(
        (
            "w0.5.pt.trace.json",
            "w0.17.pt.trace.json",
            "w0.pt.trace.json",
            "w1.5.pt.trace.json",
            "host_1.1712.pt.trace.json",
            "rank-3.json",
            "rank2_x.json",
            "trace.json",
            "host_3.json",
            "a_rank_1_7.json",
            "node1_26008.json",
        ),
        source.randrange(2, 5),
    )
    base = source.choice((0, 1000, 1_623_143_089_861_000))
    files = []
    for number, name in enumerate(names):
        generator = Generator(seed * 10 + number)
        generator.family = "cuda"  # whose word titles have in mixed runs is not said
        if source.randrange(5):
            generator.base_us = base + source.choice((0, 10, 250))
        document = generator.document()
        if isinstance(document, dict):
            for key, values in (
                ("distributedInfo", ({"rank": 1}, {"rank": "1"}, {"backend": "gloo"}, [])),
                ("RANK", ("2", 1, "x", -1)),
                ("SLURM_PROCID", (0, 4)),
                ("host_name", ("a", "a", "b")),
                ("torch_version", ("2.13.0", "1.13.1")),
            ):
                if source.randrange(3) == 0:
                    document[key] = source.choice(values)
        files.append(
            (
                name,
                dump(document, "lines", isinstance(document, list)).encode(
                    "utf-8", "surrogateescape"
                ),
            )
        )
    return files


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
