# SPDX-License-Identifier: Apache-2.0
# step: oracle-holistic
# args: --opscope {gcc}/opscope --peers {peers} --random 1
# full: --opscope {gcc}/opscope --peers {peers} --random 20
# turn: 6
"""Compare times of communication with those of HolisticTraceAnalysis 0.5 (HTA).

    python3 tests/oracle/holistic.py --opscope PATH --peers PYTHON [--shared DIR] [--random N] [--show N]

PYTHON has HolisticTraceAnalysis 0.5. Both read the same runs: recorded ones of one to eight ranks,
and N that are made here. Where both define a number, it must be the same:

    rank_overlap   overlapping / (overlapping + communication) is HTA's share in per cent, and
                   computation + overlapping its compute_time, summed up over steps
    steps          memcpy + memset + communication is its non_compute_time
    ranks          the means over steps, times steps, are the same times; over all ranks they are
                   its kernel types

HTA leaves out the last step, or takes it with an option; both are compared. A rule says where it
is wrong or means something else. Ends with `N passed, N failed`; exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from providers import OpscopeProvider

HERE = Path(__file__).resolve().parent
# Below data, runs with kernels whose rank is recorded, and one on processors.
RECORDED = (
    "wild/cuda_v100_dlrm_8ranks",
    "hta/trace_filter",
    "hta/nccl_parser_config",
    "hta/trace_diff/control",
    "hta/trace_diff/test",
    "hta/ns_resolution_trace",
    "hta/triton_example",
    "hta/amd_trace",
    "torch213/ddp2_logdir",
)

NO_DEVICE = (
    "HTA raises an error if a run has no device work, and takes no collective of the host"
)
OUTSIDE = "HTA counts work outside of steps if a trace has fewer than two"
UNLAUNCHED = "HTA leaves out work that no step launched if a trace has two steps or more"
NO_KERNELS = "a rank that only communicates on its device computes on the host, but not to HTA"
NO_STEPS = "without steps there is no step to compare"
TAIL = "a step that was not recorded to its end is left out"
NAMES = "HTA tells work by names alone, and takes some for something else"
STREAM = "HTA takes operators of the host that name a stream for work of a device"
SYNC = "HTA takes waits that have a stream for work"
CUT = "HTA cuts the times of its kernel types to microseconds"
ON_HOST = "collectives of the host are no communication to HTA"

COMMUNICATES, COPIES = re.compile(r"^nccl.*Kernel"), re.compile(r"^Memcpy|^Memset|^dma")
IS_NO_WORK = re.compile(r".*Memcpy|Memset|.*Sync")  # nor computation, by HTA's pattern
# What HTA may take work of each of our kinds for; collectives are kernels.
WORK = {"kernel": ("kernel", "communication"), "memcpy": ("copy",), "memset": ("copy",)}


@dataclass
class Run:
    """What we say of a run."""

    steps: dict[int, list[dict]]
    overlaps: dict[int, list[dict]]
    means: dict[int, dict]
    outside: set[int]  # ranks with device work that is not in a step
    unlaunched: set[int]  # ranks with device work in a step that no step launched
    no_kernels: set[int]  # ranks without computation on a device
    on_host: set[int]  # ranks whose only collectives are those of the host
    other_names: set[int]  # ranks with kernels that HTA takes for something else
    of_streams: set[int]  # ranks with ranges of the host that name a stream
    waits: set[int]  # ranks with waits in queues
    has_device: bool
    is_exact: bool  # times are whole microseconds


def hta_class(name: str) -> str:
    """What HTA takes a kernel for."""
    if COMMUNICATES.match(name):
        return "communication"
    if COPIES.match(name):
        return "copy"
    return "other" if IS_NO_WORK.match(name) else "kernel"


def by_rank(rows: list[dict]) -> dict[int, list[dict]]:
    found: dict[int, list[dict]] = defaultdict(list)
    for row in rows:
        found[row.get("rank", 0)].append(row)
    return found


def is_in(event: dict, steps: dict[int, list[dict]], whole: bool) -> bool:
    """Whether EVENT lies in a step of its rank: the WHOLE of it, or some of it."""
    end = event["start_ns"] + event["dur_ns"]
    return any(
        step["start_ns"] <= event["start_ns"] and end <= step["start_ns"] + step["total_ns"]
        if whole
        else step["start_ns"] < end and event["start_ns"] < step["start_ns"] + step["total_ns"]
        for step in steps[event["rank"]]
    )


def read(opscope: OpscopeProvider, path: Path) -> Run:
    """Ask for the tables of the run at PATH."""
    names = ("steps", "rank_overlap", "ranks", "events")
    steps, overlaps, ranks, events = (opscope.rows(name, [path]) for name in names)
    the_rank = ranks[0]["rank"] if len(ranks) == 1 else 0  # then tables of ranks alone name it
    for row in steps + events:
        row.setdefault("rank", the_rank)
    device = [e for e in events if e.get("queue") is not None and e["dur_ns"] is not None]
    work = [e for e in device if e["kind"] in WORK]
    windows = by_rank(steps)
    return Run(
        steps=windows,
        overlaps=by_rank([row for row in overlaps if row["step"] != "all"]),
        means={row["rank"]: row for row in ranks},
        outside={e["rank"] for e in work if not is_in(e, windows, True)},
        unlaunched={
            e["rank"] for e in work if e.get("step") is None and is_in(e, windows, False)
        },
        no_kernels={row["rank"] for row in ranks}
        - {e["rank"] for e in work if hta_class(e["name"]) == "kernel"},
        on_host={row["rank"] for row in ranks}
        - {e["rank"] for e in work if COMMUNICATES.match(e["name"])},
        other_names={e["rank"] for e in work if hta_class(e["name"]) not in WORK[e["kind"]]},
        of_streams={
            e["rank"]
            for e in events
            if e.get("queue") is None and "stream" in json.loads(e.get("args") or "{}")
        },
        waits={e["rank"] for e in device if e["kind"] == "sync"},
        has_device=bool(work),
        is_exact=all(e["start_ns"] % 1000 == 0 and e["dur_ns"] % 1000 == 0 for e in work),
    )


@dataclass
class Item:
    """One number of HTA, in nanoseconds or per cent, and ours."""

    what: str
    theirs: float | None
    ours: float | None
    slack: float
    rule: str | None


def total(rows: list[dict], *columns: str) -> float:
    return sum(row[column] for row in rows for column in columns)


def rank_items(run: Run, rank: int, theirs: dict, with_last: bool) -> Iterator[Item]:
    """The numbers of a rank in one of HTA's two answers."""
    steps = [step for step in run.steps[rank] if step["kept"]]
    is_whole = len(run.steps[rank]) < 2 or with_last  # HTA leaves out no step
    chosen = steps if is_whole else [s for s in steps if s is not run.steps[rank][-1]]
    labels = {step["label"] for step in chosen}
    overlaps = [row for row in run.overlaps[rank] if row["step"] in labels]
    rule = None
    if not run.has_device:
        rule = NO_DEVICE
    elif not run.steps[rank]:
        rule = NO_STEPS
    elif len(chosen) != len(run.steps[rank]) - (not is_whole):
        rule = TAIL
    elif rank in run.other_names:
        rule = NAMES
    elif rank in run.of_streams:
        rule = STREAM
    elif len(run.steps[rank]) < 2 and rank in run.outside:
        rule = OUTSIDE
    elif len(run.steps[rank]) > 1 and rank in run.unlaunched:
        rule = UNLAUNCHED
    both = total(overlaps, "overlapping_ns")
    alone = total(overlaps, "communication_ns")
    share = theirs.get("share")
    of_host = NO_KERNELS if rank in run.no_kernels else None
    # Rounded to two digits; the doubles of a sum are off by less than the third.
    yield Item(
        "rank_overlap share",
        share,
        100 * both / (both + alone) if both + alone else None,
        0.00501,
        rule
        or of_host
        or (ON_HOST if share is None and rank in run.on_host and both + alone else None),
    )
    yield Item(
        "rank_overlap compute",
        theirs.get("compute_time"),
        total(overlaps, "computation_ns", "overlapping_ns"),
        500,
        rule or of_host,
    )
    rest = rule or (
        SYNC if rank in run.waits else ON_HOST if rank in run.on_host and alone + both else None
    )
    yield Item(
        "steps non_compute",
        theirs.get("non_compute_time"),
        total(chosen, "memcpy_ns", "memset_ns", "communication_ns"),
        500,
        rest,
    )
    if is_whole and len(steps) == len(chosen):
        mean = run.means[rank]
        yield Item(
            "ranks compute",
            theirs.get("compute_time"),
            mean["steps"] * mean["avg_kernel_ns"] if mean["steps"] else 0,
            500,
            rule,
        )
        yield Item(
            "ranks non_compute",
            theirs.get("non_compute_time"),
            mean["steps"]
            * sum(mean[f"avg_{c}_ns"] for c in ("memcpy", "memset", "communication"))
            if mean["steps"]
            else 0,
            500,
            rest,
        )


def kind_items(run: Run, kinds: dict[str, float], rules: set[str | None]) -> Iterator[Item]:
    """HTA's kernel types, summed up over ranks: with RULES of the ranks."""
    rule = next((r for r in sorted(rules - {None})), None) or (None if run.is_exact else CUT)

    def summed(*columns: str) -> float:
        return sum(
            mean["steps"] * mean[f"avg_{column}"]
            for mean in run.means.values()
            for column in columns
            if mean["steps"]
        )

    def theirs(of: str, without: str = "") -> float:
        return sum(
            time
            for kind, time in kinds.items()
            if of in kind and not (without and without in kind)
        )

    yield Item("ranks, all: computation", theirs("COMPUTATION"), summed("kernel_ns"), 500, rule)
    yield Item(
        "ranks, all: communication alone",
        kinds.get("COMMUNICATION", 0.0),
        summed("communication_ns"),
        500,
        rule,
    )
    yield Item(
        "ranks, all: copies without computation",
        theirs("MEMORY", "COMPUTATION"),
        summed("memcpy_ns", "memset_ns"),
        500,
        rule,
    )
    yield Item(
        "rank_overlap, all: communication",
        theirs("COMMUNICATION"),
        sum(
            total(rows, "overlapping_ns", "communication_ns") for rows in run.overlaps.values()
        ),
        500,
        rule,
    )


def items(run: Run, answers: list[dict]) -> Iterator[Item]:
    """All numbers of a run."""
    for with_last, answer in zip((False, True), answers):
        if "raised" in answer:
            yield Item(
                "raised: " + answer["raised"][:60],
                None,
                0.0,
                0,
                None if run.has_device else NO_DEVICE,
            )
            continue
        found = {int(rank): numbers for rank, numbers in answer["ranks"].items()}
        rules: set[str | None] = set()
        for rank in sorted(set(run.means) | set(found)):
            for item in rank_items(run, rank, found.get(rank, {}), with_last):
                if item.what.startswith("ranks"):
                    rules.add(item.rule)
                item.what = (
                    f"{'with' if with_last else 'without'} the last step, rank {rank}: "
                    + item.what
                )
                yield item
        if with_last:
            yield from kind_items(run, answer["kinds"], rules)


def differs(item: Item) -> bool:
    if item.theirs is None or item.ours is None:
        return item.theirs is not item.ours
    scale = 1 if "share" in item.what else 1000
    return abs(item.theirs * scale - item.ours) > item.slack


# --- runs that are made ------------------------------------------------------------------


class Maker:
    """The trace of one rank: steps that wait for their device work, on four queues."""

    def __init__(self, source: random.Random, rank: int, unit: float, has_comm: bool):
        self.source, self.rank, self.unit, self.has_comm = source, rank, unit, has_comm
        self.events: list[dict] = []
        self.number = 0

    def add(self, category: str, name: str, start: float, dur: float, **more: object) -> None:
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": 100 + self.rank,
                "tid": 1,
                "ts": round(start * self.unit, 3),
                "dur": round(dur * self.unit, 3),
                **more,
            }
        )

    def launch(self, at: int, free: list[int]) -> int:
        """Launch something at AT; FREE is when each queue is free. Returns when the call ends."""
        queue = self.source.randrange(4 if self.has_comm else 3)
        self.number += 1
        name, category = self.source.choice(
            (
                (("gemm", "kernel"), ("void relu<float>(float*)", "kernel")),
                (("gemm", "kernel"), ("Memcpy DtoD (Device -> Device)", "gpu_memcpy")),
                (
                    ("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"),
                    ("Memset (Device)", "gpu_memset"),
                ),
                (
                    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "kernel"),
                    ("ncclKernel_AllGather_RING_LL_Sum_int8_t(x)", "kernel"),
                ),
            )[queue]
        )
        args = {"correlation": self.number}
        start = max(at + self.source.randrange(1, 30), free[queue])
        free[queue] = start + self.source.choice((1, 5, 40, 200))
        self.add(
            "cuda_runtime",
            "cudaLaunchKernel" if category == "kernel" else "cudaMemcpyAsync",
            at,
            2,
            args=args,
        )
        self.add(
            category,
            name,
            start,
            free[queue] - start,
            pid=0,
            tid=7 + queue,
            args={**args, "device": self.rank, "stream": 7 + queue},
        )
        return at + 2 + self.source.randrange(0, 60)

    def make(self, n_steps: int) -> dict:
        at, free, n_launches = 10_000, [0] * 4, self.source.randrange(1, 12)
        for step in range(n_steps):
            start = at
            at += 5
            for _ in range(n_launches):
                self.add("cpu_op", self.source.choice(("aten::mm", "aten::copy_")), at, 2)
                at = self.launch(at, free)
            end = max(at, *free) + 3
            self.add("user_annotation", f"ProfilerStep#{step}", start, end - start)
            at = end + self.source.randrange(0, 3)
        return {
            "schemaVersion": 1,
            "distributedInfo": {"rank": self.rank, "backend": "nccl"},
            "traceEvents": self.events,
        }


def make(folder: Path, seed: int) -> Path:
    """Make a run of several ranks."""
    source = random.Random(seed)
    n_ranks, n_steps = source.randrange(1, 5), source.randrange(1, 5)
    unit, has_comm = source.choice((1, 1, 1.0625)), source.random() < 0.9
    place = folder / f"made{seed}"
    place.mkdir()
    for rank in range(n_ranks):
        trace = Maker(source, rank, unit, has_comm).make(n_steps)
        (place / f"rank{rank}.json").write_text(json.dumps(trace))
    return place


def place_of(folder: Path, data: Path, name: str) -> Path:
    """A directory of its own for the recorded run NAME: HTA writes into it."""
    place = folder / name.replace("/", "_")
    place.mkdir()
    for file in sorted((data / name).iterdir()):
        if file.name.endswith((".json", ".json.gz")):
            (place / file.name).write_bytes(file.read_bytes())
    return place


def check(cases: list[tuple[str, Run, list[dict]]], show: int) -> tuple[int, int]:
    """Print what was compared. Returns (passed, failed)."""
    compared, equal, rules, shown = Counter(), Counter(), Counter(), 0
    for name, run, answers in cases:
        for item in items(run, answers):
            group = re.sub(r".*rank \d+: ", "", item.what)
            if item.rule:
                rules[item.rule] += 1
                continue
            compared[group] += 1
            if not differs(item):
                equal[group] += 1
            elif (shown := shown + 1) <= show:
                print(f"DIFFERS {name}: {item.what}: ours {item.ours}, HTA {item.theirs}")
    for group in sorted(compared):
        print(f"{group}: compared {compared[group]}, equal {equal[group]}")
    for rule, count in sorted(rules.items()):
        print(f"  rule {rule}: {count}")
    passed = sum(equal.values())
    return passed, sum(compared.values()) - passed


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--peers", required=True, help="a Python that has HTA")
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--show", type=int, default=20, help="differences shown")
    options = parser.parse_args()
    opscope, data = OpscopeProvider(options.opscope), options.shared / "data"
    with tempfile.TemporaryDirectory() as folder:
        places = [
            place_of(Path(folder), data, name) for name in RECORDED if (data / name).is_dir()
        ]
        places += [make(Path(folder), seed) for seed in range(options.random)]
        done = subprocess.run(
            [options.peers, str(HERE / "holistic_tables.py"), *map(str, places)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit("holistic_tables.py failed: " + done.stderr[-2000:])
        answers = json.loads(done.stdout.splitlines()[-1])
        cases = [
            (place.name, read(opscope, place), answer) for place, answer in zip(places, answers)
        ]
    passed, failed = check(cases, options.show)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
