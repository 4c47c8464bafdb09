# SPDX-License-Identifier: Apache-2.0
"""Small random traces near the borders of what sentences of `advice` say: numbers with gaps, queues
that begin late, steps that allocate a hundred times, and collectives of which one takes longest.

    python3 tests/oracle/saidtrace.py SEED > trace.json

The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
import sys

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
ALL_GATHER = "ncclDevKernel_AllGather_RING_LL(x)"
HALF = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)"
WAITS = ("cudaStreamSynchronize", "cudaMemcpyAsync", "cudaLaunchKernel")


class Generator:
    """One trace. Times are in nanoseconds."""

    def __init__(self, seed: int):
        self.random = random.Random(f"said {seed}")
        self.events: list[dict] = []
        self.correlation = 0
        self.is_torch = self.random.random() < 0.8

    def add(
        self,
        category: str,
        name: str,
        start: int,
        end: int,
        args: dict | None = None,
        place: tuple[object, object] = (100, 1),
    ) -> dict:
        """A range."""
        event = {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": place[0],
            "tid": place[1],
            "ts": start / 1000,
            "dur": (end - start) / 1000,
            "args": args or {},
        }
        self.events.append(event)
        return event

    def call(self, name: str, start: int, end: int) -> int:
        """A call of the runtime, with a correlation; returns that."""
        self.correlation += 1
        self.add("cuda_runtime", name, start, end, {"correlation": self.correlation})
        return self.correlation

    def work(
        self,
        name: str,
        start: int,
        end: int,
        correlation: int,
        device: int = 0,
        stream: int = 7,
        **more: object,
    ) -> None:
        """A kernel, or what NAME says."""
        category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(
            name.split(maxsplit=1)[0], "kernel"
        )
        self.add(
            category,
            name,
            start,
            end,
            {"correlation": correlation, "device": device, "stream": stream, **more},
            (device, stream),
        )

    def steps(self, bounds: list[int]) -> None:
        """Steps from each of BOUNDS to the next, mostly."""
        if self.random.random() < 0.8:
            for number, (start, end) in enumerate(zip(bounds, bounds[1:])):
                self.add("user_annotation", f"ProfilerStep#{number}", start, end)

    # --- files that lack events

    def numbers(self) -> None:
        """Operators with numbers, some of which are missing, and their kernels."""
        choose = self.random.choice
        n = choose((60, 98, 99, 100, 101, 140))
        kept = choose((n, choose((99, 100, 101))))  # of numbers of events and operators
        skip, beside = choose((1, 1, 2, 2, 3)), choose((0, 0, 1, 3, 40))
        memory = choose((0, 0, 3, 50, 100))
        unlinked = choose((0, 0, n // 2 - 1, n // 2, n // 2 + 1))
        has_ids, has_indexes = choose((True, True, False)), choose((True, True, False))
        for i in range(n):
            at = i * 20_000
            args: dict[str, object] = {}
            if has_ids and i < kept:
                args["External id"] = 5 + skip * i + (beside if i == n - 1 else 0)
            if has_indexes and i >= n - kept:
                args["Ev Idx"] = choose((skip, 2)) * i + (beside if i == n - 1 else 0)
            self.add("cpu_op", "aten::mm", at, at + 9_000, args)
            link = self.call("cudaLaunchKernel", at + 1_000, at + 5_000)
            is_linked = i < 1 or i > unlinked
            self.work(
                choose(("sgemm", "sgemm", "Memset (Device)", "Memcpy DtoD (Device -> Device)")),
                at + 8_000,
                at + 11_000,
                link if is_linked else 9_000_000 + i,
            )
        for i in range(memory):
            self.events.append(
                {
                    "ph": "i",
                    "s": "t",
                    "cat": "cpu_instant_event",
                    "name": "[memory]",
                    "pid": 100,
                    "tid": 1,
                    "ts": i,
                    "args": {
                        "Bytes": choose((64, -64)),
                        "Addr": 64 * i,
                        "Device Type": 0,
                        "Device Id": -1,
                        **choose(({}, {"Ev Idx": 300 + i})),
                    },
                }
            )
        if self.random.random() < 0.2:
            self.add(
                "python_function", "a.py(1): f", 0, 20_000 * n, choose(({}, {"Ev Idx": 1}))
            )
        self.steps([0, 10_000 * n, 20_000 * n])

    # --- work from before the recording

    def late(self) -> None:
        """Queues whose first work starts late, and what ran meanwhile."""
        choose = self.random.choice
        at, begun = 1_000_000, []
        for device in range(choose((1, 1, 2))):
            for stream in range(choose((1, 2))):
                start = at + choose((0, 2_000, 30_000))
                waited = choose((99_999, 100_000, 100_001, 140_000, 900_000))
                link = self.call("cudaLaunchKernel", start, start + 4_000)
                if choose((0, 0, 0, 1)):
                    link = 9_000_000
                begin = start + 4_000 + waited
                length = choose((0, 1, 5_000, 70_000))
                self.work(
                    choose(("sgemm", "Memset (Device)")),
                    begin,
                    begin + length,
                    link,
                    device,
                    stream,
                )
                begun.append((device, stream, start + 4_000, begin, begin + length))
                at = start + choose((10_000, 60_000))
        for device, stream, returned, begin, end in begun:
            if choose((0, 0, 1)):  # something else runs on the device, or just beside
                edge = choose((returned, begin, (returned + begin) // 2))
                shift, length = choose((-8_000, -1, 0, 1)), choose((0, 1, 8_000))
                self.work("other", edge + shift, edge + shift + length, 8_000_000, device, 33)
            if choose((0, 1, 1)):  # a call waits
                length = (begin - returned) * choose((49, 50, 51, 100)) // 100
                start = returned + choose((0, 0, -5_000, 2_000))
                self.add("cuda_runtime", choose(WAITS), start, start + length)
            self.work(
                "next",
                end + 1_000,
                end + 4_000,
                self.call("cudaLaunchKernel", returned + 100, returned + 200),
                device,
                stream,
            )
        last = max(end for *_, end in begun)
        share = choose((0, 900_000, 900_000, 45_000_000))
        start = choose((0, 950_000, 1_100_000))
        self.steps([start, max(last, start) + 9_000 + share])
        if choose((0, 0, 1)):
            self.add(
                "Trace",
                "PyTorch Profiler (0)",
                0,
                last - choose((0, 2_000)),
                place=("Spans", 0),
            )

    # --- the allocator

    def allocator(self) -> None:
        """Steps that take memory and give it back."""
        choose = self.random.choice
        at, bounds = 0, [0]
        back = choose((0, 0, 24, 25, 26, 50))  # of a hundred calls
        take, give = choose(
            (
                ("cudaMalloc", "cudaFree"),
                ("hipMalloc", "hipFree"),
                ("cuMemCreate", "cuMemUnmap"),
            )
        )
        for _ in range(choose((1, 2, 3, 4))):
            for i in range(choose((20, 99, 100, 100, 101))):
                length = choose((1, 1_000, 4_000, 9_000))
                self.call(give if i < back else take, at, at + length)
                if choose((0, 0, 1)):
                    link = self.call("cudaLaunchKernel", at + length, at + length + 500)
                    self.work("sgemm", at + length + 600, at + length + 9_000, link)
                at += length + 1_000
            at += choose((0, 5_000))
            bounds.append(at)
        if choose((0, 0, 0, 1)):
            self.events = [e for e in self.events if e["cat"] != "kernel"]
        self.steps(bounds)

    # --- communication

    def collective(self) -> None:
        """Collectives of which one may take long."""
        choose = self.random.choice
        long = choose((800_000, 800_007, 80))
        others = [long // 8 - 1, long // 8, long // 8 + 1, -(-long // 8) - 1, long // 9, 1]
        at, bounds = 0, [0]
        largest = choose((None, 100, 100))
        n = choose((1, 2, 3, 4, 9))
        alone = self.random.randrange(n)
        much = choose(([others[0]], [others[3]], [others[4], 1], others))
        for i in range(n):
            name = choose((ALL_REDUCE,) * 5 + (ALL_GATHER, HALF))
            more = choose(({}, {"dtype": "Float"}, {"dtype": "Half"}))
            length = choose(much)
            elements = choose((100, 100, 101, 99, None))
            if i == alone:
                length, elements, name = long, largest, ALL_REDUCE
            if elements is not None:
                more = {**more, "In msg nelems": elements}
            queue = choose(((0, 20), (0, 20), (0, 21), (1, 20)))
            start = at + choose((0, 0, 0, -length // 2))
            link = self.call("cudaLaunchKernel", max(at - 9, 0), max(at - 2, 1))
            self.work(name, max(start, 0), max(start, 0) + length, link, *queue, **more)
            if choose((0, 0, 1)):  # and at the same time elsewhere
                self.work(
                    name,
                    max(start, 0),
                    max(start, 0) + length,
                    self.call("cudaLaunchKernel", max(at - 2, 1), max(at - 1, 2)),
                    *choose(((0, 22), (1, 22))),
                    **more,
                )
            at = max(start, 0) + length
            if choose((0, 0, 1)):  # something hides it
                self.work(
                    "sgemm",
                    at - length * choose((1, 2, 3)) // 4,
                    at + 20,
                    self.call("cudaLaunchKernel", at - 5, at - 3),
                    choose((0, 1)),
                    7,
                )
            at += choose((0, 30, 4_000))
            if choose((0, 0, 1)):
                bounds.append(at)
        self.steps([*bounds, at + choose((1, 2_000, 100_000))])

    def trace(self) -> dict:
        """All of it."""
        choose = self.random.choice
        choose(
            (
                self.numbers,
                self.late,
                self.late,
                self.allocator,
                self.collective,
                self.collective,
            )
        )()
        if choose((0, 0, 0, 1)):
            self.random.shuffle(self.events)
        if not self.is_torch:  # a recording of our own, of another program
            return {"opscope_version": "0.1.0", "traceEvents": self.events}
        return {"schemaVersion": 1, "traceEvents": self.events}


def data(seed: int) -> bytes:
    """The bytes of the trace of SEED."""
    return json.dumps(Generator(seed).trace()).encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1])))
