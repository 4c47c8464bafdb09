# SPDX-License-Identifier: Apache-2.0
"""Random runs of 1 to 5 ranks that communicate: by kernels or on the host, in one or several
groups, with and without numbers; some ranks lack collectives, and clocks differ by up to hours."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

OPERATIONS = (
    ("nccl:all_reduce", "allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"),
    ("nccl:_all_gather_base", "_allgather_base", "ncclDevKernel_AllGather_RING_LL(x)"),
    ("nccl:broadcast", "broadcast", "ncclDevKernel_Broadcast_RING_LL(x)"),
    ("nccl:all_to_all", "all_to_all", "ncclDevKernel_SendRecv(x)"),
    ("nccl:barrier", "barrier", "ncclDevKernel_AllReduce_Sum_i8_RING_LL(x)"),
)
TYPES = (
    ("float", "Float"),
    ("long int", "Long"),
    ("c10::BFloat16", "BFloat16"),
    ("odd", "Odd"),
)
OPERATORS = ("aten::mm", "aten::embedding_bag", "aten::copy_", "my_loss", "aten::add_")


@dataclass
class Style:
    """What all ranks of a run have in common."""

    on_device: bool
    has_labels: bool
    has_args: bool
    has_numbers: bool
    has_dims: bool
    n_ranks: int
    groups: list[list[int]]
    step_us: int


class Rank:
    """The file of one rank."""

    def __init__(self, source: random.Random, style: Style, rank: int):
        self.source, self.style, self.rank = source, style, rank
        self.events: list[dict] = []
        self.offset_us = source.choice((0, 0, 7, -4_000, 3_600_000_000, -7_200_000_000))
        self.drift = source.choice((0, 0, 2e-5, -5e-5))
        self.at_us = 0.0  # on the true clock, of the host
        self.busy_us = 0.0  # of the queue
        self.correlation = 0
        self.numbers = [0] * len(style.groups)
        self.begin_us = -1e9  # when its recording begins

    def clock(self, at_us: float) -> float:
        """A true time on the clock of the rank."""
        return round(1_700_000_000_000_000 + self.offset_us + at_us * (1 + self.drift), 3)

    def add(
        self,
        cat: str,
        name: str,
        start_us: float,
        end_us: float,
        args: dict | None = None,
        queue: bool = False,
    ) -> None:
        """Add a range."""
        start, end = self.clock(start_us), self.clock(end_us)
        self.events.append(
            {
                "ph": "X",
                "cat": cat,
                "name": name,
                "pid": self.rank if queue else 100 + self.rank,
                "tid": 7 if queue else 1,
                "ts": start,
                "dur": round(max(end - start, 0), 3),
                "args": args or {},
            }
        )

    def work(self) -> None:
        """Some operators, of which some launch kernels."""
        for _ in range(self.source.randrange(4)):
            length = self.source.choice((5, 20, 20, 300))
            start = self.at_us
            self.at_us += length + 2
            if self.source.randrange(2):
                self.correlation += 1
                args = {"correlation": self.correlation}
                self.add("cuda_runtime", "cudaLaunchKernel", start + 1, start + 2, args)
                begin = max(start + 3, self.busy_us)
                self.busy_us = begin + self.source.choice((3, 40))
                self.add("kernel", "volta_sgemm", begin, self.busy_us, args, queue=True)
            if self.source.randrange(6) == 0:
                self.add("cuda_runtime", "cudaStreamSynchronize", start + 2, start + 4)
            self.add("cpu_op", self.source.choice(OPERATORS), start, start + length)
            if self.source.randrange(5) == 0:
                self.add("python_function", "train.py(3): step", start - 1, start + length + 1)

    def reach(self, number: int) -> float:
        """Start the host range of a collective; returns when this rank arrives."""
        self.at_us += 3
        return max(self.at_us + 2, self.busy_us) if self.style.on_device else self.at_us

    def collective(
        self, group: int, op: tuple, arrival: float, leave: float, args: dict, dims: dict
    ) -> None:
        """A collective of this rank, from its arrival until it leaves."""
        label, word, kernel = op
        style = self.style
        if not style.on_device:
            self.add(
                "user_annotation",
                label.replace("nccl", "gloo"),
                arrival,
                leave,
                {**dims, **args},
            )
            self.at_us = leave + 1
            return
        start = self.at_us
        self.correlation += 1
        launch = {"correlation": self.correlation}
        self.add("cuda_runtime", "cudaLaunchKernelExC", start + 0.7, start + 1, launch)
        if style.has_labels:
            self.add("user_annotation", label, start + 0.5, start + 1.5, dims)
            self.add("cpu_op", "record_param_comms", start + 0.3, start + 1.7, args)
            self.add("cpu_op", f"c10d::{word}_", start, start + 2)
        self.add("kernel", kernel, arrival, leave, {**launch, **args}, queue=True)
        self.busy_us, self.at_us = leave, start + 2.5

    def text(self, has_info: bool) -> str:
        """The file."""
        info = {"rank": self.rank, "world_size": self.style.n_ranks}
        if has_info and len(self.style.groups) == 1:
            info["pg_config"] = [
                {
                    "pg_name": "0",
                    "pg_size": self.style.n_ranks,
                    "ranks": list(range(self.style.n_ranks)),
                }
            ]
        self.source.shuffle(self.events)
        self.events = [e for e in self.events if e["ts"] >= self.clock(self.begin_us)]
        return json.dumps(
            {
                "distributedInfo": info,
                "host_name": f"host{self.rank // 2}",
                "traceEvents": self.events,
            }
        )


def styled(source: random.Random) -> Style:
    """What a run is like."""
    n = source.randint(1, 5)
    groups = [list(range(n))]
    if n > 2 and source.randrange(2):
        groups += [list(range(0, n, 2)), list(range(1, n, 2))]
    has_args = source.randrange(3) > 0
    return Style(
        source.randrange(3) > 0,
        source.randrange(4) > 0,
        has_args,
        has_args and source.randrange(3) > 0,
        source.randrange(4) > 0,
        n,
        groups,
        source.choice((0, 800, 5_000)),
    )


def arguments(
    source: random.Random,
    style: Style,
    group: int,
    op: tuple,
    rank: Rank,
    types: tuple,
    elements: int,
) -> tuple[dict, dict]:
    """What Kineto says of a collective, and its inputs."""
    members = style.groups[group]
    args: dict = {}
    if style.has_args:
        args = {
            "Collective name": op[1],
            "dtype": types[1],
            "In msg nelems": elements,
            "Out msg nelems": elements * (len(members) if "gather" in op[1] else 1),
            "Group size": len(members),
            "Process Group Name": str(group),
            "Process Group Ranks": json.dumps(members),
        }
        if style.has_numbers:
            args["Seq"] = rank.numbers[group]
    dims = {"Input Dims": [[elements]], "Input type": [types[0]]} if style.has_dims else {}
    return args, dims


def collective(
    source: random.Random, style: Style, ranks: list[Rank], number: int, silent: set[int]
) -> None:
    """Let the ranks of a group meet, but for those that are SILENT."""
    group = source.randrange(len(style.groups))
    op, types, elements = (
        source.choice(OPERATIONS),
        source.choice(TYPES),
        source.choice((1, 12, 53_120)),
    )
    here = [ranks[k] for k in style.groups[group]]
    for rank in here:
        rank.numbers[group] += 1
    here = [rank for rank in here if rank.rank not in silent]
    arrivals = [rank.reach(number) for rank in here]
    if not arrivals:
        return
    leave = max(arrivals) + source.choice((6, 30, 400))
    for rank, arrival in zip(here, arrivals):
        args, dims = arguments(source, style, group, op, rank, types, elements)
        rank.collective(group, op, arrival, leave + source.randrange(5), args, dims)


def run(seed: int) -> list[tuple[str, str]]:
    """Names and contents of the files of a run."""
    source = random.Random(f"ranks {seed}")
    style = styled(source)
    ranks = [Rank(source, style, number) for number in range(style.n_ranks)]
    n = source.choice((1, 3, 12, 40))
    silent: set[int] = set()
    begins = [0.0] * len(ranks)
    late = source.randrange(style.n_ranks) if source.randrange(3) == 0 else None
    for number in range(n):
        if late is not None and number == n // 4:
            ranks[late].begin_us = ranks[late].at_us
        if number == n - 2 and source.randrange(3) == 0:
            silent = {source.randrange(style.n_ranks)}
        for rank in ranks:
            rank.work()
        collective(
            source,
            style,
            ranks,
            number,
            silent | ({source.randrange(style.n_ranks)} if source.randrange(9) == 0 else set()),
        )
        for rank in ranks:
            if style.step_us and rank.at_us - begins[rank.rank] > style.step_us:
                rank.add(
                    "user_annotation", f"ProfilerStep#{number}", begins[rank.rank], rank.at_us
                )
                begins[rank.rank] = rank.at_us = rank.at_us + 1
    has_info = source.randrange(2) == 0
    files = [(f"rank{rank.rank}.json", rank.text(has_info)) for rank in ranks]
    if source.randrange(6) == 0:  # two files of one rank
        files.append(("again.json", files[0][1]))
    return files
