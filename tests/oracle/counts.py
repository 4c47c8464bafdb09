# SPDX-License-Identifier: Apache-2.0
# step: oracle-counts
# args: --opscope {gcc}/opscope --random 16 --seed {seed}
# full: --opscope {gcc}/opscope --random 8000 --seed {seed}
"""Count ranges, kernels, memory, pairs and arrows in the raw files, and compare with opscope.

    python3 tests/oracle/counts.py --opscope PATH [--largest BYTES] [--random N] [--seed S]
        [--table FILE] [FILE...]

For every trace of ../shared/data (or each FILE) and N random ones: reads the events with Python's json, counts them
by the rules of the Chrome Trace Event Format and of src/table/rules.md, and asks opscope for the same
sums. All are whole numbers (times in ns) and must be equal. Nothing is shared with the twin.

What a sum leaves out has a named rule (LEFT_OUT), whose count stands in the output. Ends with
`N passed, N failed` (sums); exit status 1 on any difference. --table writes the counts of every
trace as Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import phasetrace
import sample
from counted_ranges import (
    ARROWS,
    File,
    Range,
    Ranges,
    arguments,
    by_thread,
    decimal,
    name_of,
    nanoseconds,
    read,
    take_own_time,
    thread_of,
)

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared" / "data"

# Rule -> what it leaves out, and why.
LEFT_OUT = {
    "cut": "the last value of a cut file, which has no end",
    "no_phase": "objects without a phase (member ph), which are no events",
    "metadata": "phase M: names and sort orders, no events",
    "object": "phases N, O and D: lives of objects have neither a name to sum nor a duration",
    "other_phase": "phases that the format does not define, or whose meaning is gone",
    "no_time": "events without a time (member ts)",
    "no_duration": "phase X without a member dur",
    "open": "begins without an end: their duration is not known",
    "end_alone": "ends without a begin",
    "end_elsewhere": "ends that name a range that is not open",
    "instant": "phases i, I, n, R, P, T and p: moments, not ranges",
    "counter": "phase C: values, not ranges",
    "copy": "copies and fills of devices: device work, but no kernel",
    "repeated": "lines that show work a second time: scopes, steps, modules, planes, summaries",
    "wait": "tasks of a device that only wait for another or tell it to go on",
    "bad_record": "memory records without a whole number Bytes",
    "no_total": "memory records without the allocator's total: no point of the curve",
    "no_address": "memory records without an address: not paired",
    "sample": "call stacks beside the events (member samples)",
    "half_arrow": "arrows with one end, or of which an end touches no range",
}
KERNELS = frozenset(("kernel", "mtia_ccp_events"))
COPIES = frozenset(("memcpy", "gpu_memcpy", "memset", "gpu_memset"))
LAUNCHES = frozenset(("ac2g", "async_cpu_to_gpu", "async", "async_npu", "HostToDevice"))
TORCH_DEVICES = {
    0: "cpu",
    1: "cuda",
    2: "mkldnn",
    5: "ideep",
    6: "hip",
    9: "xla",
    12: "xpu",
    13: "mps",
    15: "hpu",
    19: "mtia",
    20: "privateuse1",
}


# --- Which ranges are kernels ---


def names(file: File, what: str, key: tuple[str, ...]) -> dict[tuple, str]:
    """The last names that the metadata WHAT gives, by the members KEY."""
    found = {}
    for event in file.events:
        name = arguments(event).get("name")
        if event["ph"] == "M" and event.get("name") == what and isinstance(name, str):
            found[tuple(str(event.get(k)) for k in key)] = name.rstrip(" ")
    return found


class Dialect:
    """Tells kernels and copies by the categories of Kineto, or else by the names of lines."""

    def __init__(self, file: File, ranges: list[Range]):
        self.processes = names(file, "process_name", ("pid",))
        self.threads = names(file, "thread_name", ("pid", "tid"))
        self.is_kineto = any(
            str(r.event.get("cat")).lower() in KERNELS | COPIES for r in ranges
        )
        self.has_streams = any(
            re.search(r"stream:\d", name) and not name.endswith("Tensors")
            for name in self.processes.values()
        )
        self.planes = {
            str(arguments(r.event).get("stream id"))
            for r in ranges
            if self.process(r) in ("HCCL", "Communication")
        }

        self.is_display = any(self.is_run(r) for r in ranges) and any(
            "fullname" in arguments(r.event) for r in ranges
        )

    def is_run(self, one: Range) -> bool:
        """Whether the display of MindSpore says so that a stream ran."""
        return re.fullmatch(r"stream_\d+_parallel_\d+", one.name) is not None

    def process(self, one: Range) -> str:
        return self.processes.get(one.thread[:1], "")

    def line(self, one: Range) -> str:
        return self.threads.get(one.thread, "")

    def kind(self, one: Range) -> str:
        """kernel; copy, repeated or wait: the rule that leaves it out; "" for the host."""
        if self.is_kineto:
            category = str(one.event.get("cat")).lower()
            if category == "mtia_ccp_events":
                return self.mtia(one.name)
            return "kernel" if category in KERNELS else "copy" if category in COPIES else ""
        if self.is_display:
            run = "repeated" if self.is_run(one) else ""
            return "kernel" if "fullname" in arguments(one.event) else run
        process = self.process(one)
        if process in ("Ascend Hardware", "HCCL", "Communication", "Overlap Analysis"):
            return self.ascend(one, process)
        if re.search(r"(stream:\w+\)?|memcpy) Compute$", process):
            return self.tensorflow(one, process)
        if re.fullmatch(r"/device:(GPU|TPU):\d+( .*)?", process):
            return self.xla(self.line(one))
        return ""

    def mtia(self, name: str) -> str:
        """Its one category has copies and waits, too."""
        if name.startswith(("dma_", "memcpy", "memset")):
            return "copy"
        return "wait" if re.match("event_|wait|barrier|notify_|stream_sync", name) else "kernel"

    def ascend(self, one: Range, process: str) -> str:
        """Tasks of streams count; of communication the operations, and not their tasks."""
        if process in ("HCCL", "Communication"):
            return "kernel" if self.line(one) == "Communication Kernel" else "repeated"
        stream = re.fullmatch(r"Stream (\d+)", self.line(one))
        if process != "Ascend Hardware" or not stream:
            return "repeated"
        task = str(arguments(one.event).get("Task Type"))
        task = one.name if task == "Other" else task
        if task.startswith(("EVENT_", "NOTIFY_")):
            return "wait"
        if stream[1] in self.planes:
            return "repeated"
        return "copy" if task.startswith("MEMCPY") else "kernel"

    def tensorflow(self, one: Range, process: str) -> str:
        """Each stream counts; the lines of all of them and of all copies repeat them."""
        if bool(re.search(r"stream:\d", process)) != self.has_streams:
            return "repeated"
        return "copy" if one.name.upper().startswith(("MEMCPY", "MEMSET")) else "kernel"

    def xla(self, line: str) -> str:
        """Streams and lines of operations count; steps, modules and scopes repeat them."""
        stream = re.fullmatch(r"Stream #\d+(?:\((.*)\))?", line)
        if stream:
            return "copy" if re.match("Mem(cpy|set)", stream[1] or "") else "kernel"
        return "kernel" if line == "XLA Ops" else "repeated"


# --- Memory ---


def device_of(args: dict, is_hip: bool) -> str:
    """The device of a memory record."""
    number, family = (
        args.get("Device Id"),
        TORCH_DEVICES.get(args.get("Device Type"), "unknown"),
    )
    if family in ("cpu", "unknown"):
        return family
    family = "hip" if is_hip and family == "cuda" else family
    return family if number in (None, -1) else f"{family}:{number}"


@dataclass
class Memory:
    """What the memory records of a device add up to."""

    n_records: int = 0
    bytes: int = 0
    n_allocs: int = 0
    alloc_bytes: int = 0
    n_totals: int = 0
    peak: int | None = None
    n_paired: int = 0
    n_lives: int = 0
    live: dict[tuple, int] = field(default_factory=dict)


def memory_of(file: File) -> dict[str, Memory]:
    """The records of each device, in order of time."""
    devices: dict[str, Memory] = defaultdict(Memory)
    is_hip = "hip_runtime_version" in file.members or any(
        name_of(e).startswith("hip") and str(e.get("cat")) == "cuda_runtime"
        for e in file.events
    )
    records = [e for e in file.events if e["ph"] in "iI" and e.get("name") == "[memory]"]
    for event in sorted(records, key=lambda e: decimal(e.get("ts")) or Decimal(0)):
        args = arguments(event)
        size = args.get("Bytes")
        if not isinstance(size, int):
            file.left_out["bad_record"] += 1
            continue
        add_record(
            devices[device_of(args, is_hip)], args, size, file.left_out, str(event.get("pid"))
        )
    return dict(devices)


def add_record(memory: Memory, args: dict, size: int, left_out: Counter, process: str) -> None:
    """Add a record of SIZE bytes to MEMORY."""
    memory.n_records += 1
    memory.bytes += size
    memory.n_allocs += size > 0
    memory.alloc_bytes += max(size, 0)
    total, address = args.get("Total Allocated"), args.get("Addr")
    left_out["no_total"] += total is None
    left_out["no_address"] += address is None
    if total is not None:
        memory.n_totals += 1
        memory.peak = total if memory.peak is None else max(memory.peak, total)
    key = (process, address)
    if address is not None and size <= 0 and key in memory.live:
        memory.n_paired += 1
        del memory.live[key]
        return
    memory.n_lives += 1
    if address is not None and size > 0:
        memory.live[key] = size


# --- Arrows ---

# For each thread the starts of its ranges, in order, and the latest end up to each.
Extents = dict[tuple, tuple[list[int], list[int]]]


def extents(threads: dict[tuple, list[Range]]) -> Extents:
    """What arrows can touch."""
    return {
        key: ([r.start for r in ones], list(accumulate((r.end for r in ones), max)))
        for key, ones in threads.items()
    }


def touches(event: dict, time: int, threads: Extents) -> bool:
    """Whether a range of the thread of the arrow's EVENT stands for it."""
    starts, last_ends = threads.get(thread_of(event), ([], []))
    n_before, n_started = bisect_left(starts, time), bisect_right(starts, time)
    if n_before < n_started:
        return True
    if event["ph"] == "f" and event.get("bp") != "e":
        return n_started < len(starts)
    return n_started > 0 and last_ends[n_started - 1] >= time


def arrow_kind(category: str | None) -> str | None:
    """The word of the table for a category."""
    if category in LAUNCHES:
        return "launch"
    return "fwdbwd" if category in ("fwdbwd", "forward_backward") else category


def arrows_of(file: File, threads: Extents) -> Counter:
    """The number of arrows with both ends, by kind."""
    chains: dict[tuple, list[tuple]] = defaultdict(list)
    for order, event in enumerate(file.events):
        time = decimal(event.get("ts"))
        if event["ph"] in ARROWS and time is not None and event.get("id") is not None:
            chains[event.get("cat"), str(event["id"])].append(
                (nanoseconds(time), "stf".index(event["ph"]), order, event)
            )
    whole: Counter = Counter()
    for (category, _), records in chains.items():
        records.sort(key=lambda r: r[:3])
        n = whole_arrows(records, threads)
        whole[arrow_kind(category)] += n
        file.left_out["half_arrow"] += sum(r[3]["ph"] != "s" for r in records) - n
    return +whole


def whole_arrows(records: list[tuple], threads: Extents) -> int:
    """How many steps and ends of a chain have a start or step before them, and touch ranges."""
    first = next((r for r in records if r[3]["ph"] == "s"), None)
    before, n = None, 0
    for record in records:
        origin = before or first
        if record[3]["ph"] != "s" and origin:
            n += touches(record[3], record[0], threads) and touches(
                origin[3], origin[0], threads
            )
        if record[3]["ph"] != "f":
            before = record
    return n


# --- Sums of both sides ---


def counted_name(name: str) -> str:
    """The name by which a row of `ranges` counts: steps of torch are one."""
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def counted(file: File) -> dict[str, Any]:
    """All sums of FILE, by what they are."""
    made = Ranges(file)
    threads = by_thread(made.all)
    take_own_time(threads)
    dialect = Dialect(file, made.all)
    by_name: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    by_place: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
    kernels: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    # Only a row of nothing but asynchronous ranges has no self time, by which they are known.
    has_self = {
        (*one.thread, one.event.get("cat"), one.name) for one in made.all if not one.is_async
    }
    for one in made.all:
        add(by_name[counted_name(one.name)], 1, one.ns, 0 if one.is_async else one.self_ns)
        if (*one.thread, one.event.get("cat"), one.name) in has_self:
            add(by_place[(*one.thread, counted_name(one.name))], 1, one.ns)
        kind = dialect.kind(one)
        if kind == "kernel":
            add(kernels[one.name], 1, one.ns)
        elif kind:
            file.left_out[kind] += 1
    findings = {
        "unmatched_begin": made.n_begins,
        "unmatched_end": file.left_out["end_alone"],
        "open_range": file.left_out["open"] - made.n_begins,
        "mismatched_end": made.n_mismatched,
        "no_duration": file.left_out["no_duration"],
    }
    samples = file.members.get("samples")
    file.left_out["sample"] = len(samples) if isinstance(samples, list) else 0
    findings["call_samples"] = file.left_out["sample"]
    n_others = sum(file.left_out[rule] for rule in ("open", "no_duration", "instant", "object"))
    return {
        "ranges": dict(by_name),
        "threads": dict(by_place),
        "kernels": dict(kernels),
        "findings": findings,
        "n_events": len(made.all) + n_others + n_series(file),
        "memory": memory_of(file),
        "flows": arrows_of(file, extents(threads)),
    }


def n_series(file: File) -> int:
    """The number of values of all counters."""
    return sum(
        1
        for e in file.events
        if e["ph"] == "C"
        for value in arguments(e).values()
        if decimal(value) is not None
    )


def add(sums: list[int], *values: int) -> None:
    """Add VALUES to SUMS, one to one."""
    for i, value in enumerate(values):
        sums[i] += value


class Opscope:
    """Asks the command about one trace."""

    def __init__(self, binary: Path, path: Path):
        self.binary, self.path = binary, path

    def rows(self, table: str, *more: str) -> list[dict]:
        """The rows of TABLE."""
        command = [self.binary, "table", table, *more, "--format", "json", self.path]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{table}: {done.stderr.decode(errors='replace').strip()}")
        table_ = json.loads(done.stdout.decode("utf-8", "replace"), strict=False)
        columns = [c["name"] for c in table_["columns"]]
        return [dict(zip(columns, row)) for row in table_["rows"]]

    def refuses(self) -> bool:
        """Whether the command says that there is no trace."""
        done = subprocess.run(
            [self.binary, "info", self.path], capture_output=True, check=False
        )
        return done.returncode == 1 and not done.stdout

    def ranges(self) -> tuple[dict, dict]:
        """Calls, total and self time by name; calls and total by thread and name."""
        by_name: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        by_place: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
        for row in self.rows("ranges", "--group-by", "thread,category"):
            name = counted_name(row["name"])
            add(by_name[name], row["calls"], row["total_ns"], row["self_ns"] or 0)
            if row["self_ns"] is not None:
                add(
                    by_place[row["process"], row["thread"], name], row["calls"], row["total_ns"]
                )
        return dict(by_name), dict(by_place)

    def kernels(self) -> dict:
        """Calls and total of the kernels by name."""
        return {r["name"]: [r["calls"], r["total_ns"]] for r in self.rows("kernels")}

    def findings(self) -> Counter:
        """The counts of quality by code."""
        return Counter({r["code"]: r["count"] for r in self.rows("quality")})

    def flows(self) -> Counter:
        """The arrows with two ends by kind."""
        return Counter(
            r["kind"]
            for r in self.rows("flows")
            if r["from_id"] is not None and r["to_id"] is not None
        )

    def memory(self) -> dict[str, Memory]:
        """What the tables of memory add up to, by device."""
        devices: dict[str, Memory] = defaultdict(Memory)
        for row in self.rows("memory"):
            memory = devices[row["device"]]
            memory.bytes += row["self_increase_bytes"]
            memory.n_allocs += row["self_alloc_count"]
            memory.alloc_bytes += row["self_alloc_bytes"]
        for row in self.rows("memory_events"):
            memory = devices[row["device"]]
            memory.n_paired += row["dur_ns"] is not None
            memory.n_lives += 1
            memory.n_records += (row["alloc_ns"] is not None) + (row["free_ns"] is not None)
        for row in self.rows("memory_curve"):
            devices[row["device"]].n_totals += 1
        for row in self.rows("memory_peaks"):
            memory = devices[row["device"]]
            memory.peak = max(memory.peak or 0, row["peak_bytes"])
        return dict(devices)

    def events(self) -> int:
        """The number of events."""
        return int(next(r["value"] for r in self.rows("info") if r["key"] == "events"))


# --- Comparison ---


@dataclass
class Report:
    """The outcome for one trace."""

    trace: str
    passed: int = 0
    failed: int = 0
    lines: list[str] = field(default_factory=list)
    sums: Counter = field(default_factory=Counter)
    left_out: Counter = field(default_factory=Counter)

    def equal(self, what: str, ours: Any, theirs: Any) -> None:
        """Compare a sum: OURS is counted, THEIRS is opscope's."""
        self.sums[what.split(" ", maxsplit=1)[0]] += 1
        if ours == theirs:
            self.passed += 1
            return
        self.failed += 1
        self.lines.append(f"{self.trace}: {what}: counted {ours}, opscope {theirs}")

    def all_equal(self, what: str, ours: dict, theirs: dict) -> None:
        """Compare sums by key."""
        for key in {**ours, **theirs}:
            self.equal(f"{what} {key!r}", ours.get(key), theirs.get(key))


def compare(report: Report, file: File, opscope: Opscope) -> None:
    """Compare all sums of FILE with the answers of OPSCOPE."""
    ours = counted(file)
    by_name, by_place = opscope.ranges()
    report.all_equal("ranges", ours["ranges"], by_name)
    report.all_equal("threads", ours["threads"], by_place)
    report.all_equal("kernels", ours["kernels"], opscope.kernels())
    report.all_equal("flows", ours["flows"], opscope.flows())
    found = opscope.findings()
    for code, n in ours["findings"].items():
        report.equal(f"quality {code}", n, found[code])
    report.equal("events", ours["n_events"], opscope.events())
    theirs = opscope.memory() if ours["memory"] else {}
    for device in {**ours["memory"], **theirs}:
        compare_memory(
            report, device, ours["memory"].get(device, Memory()), theirs.get(device, Memory())
        )


def compare_memory(report: Report, device: str, ours: Memory, theirs: Memory) -> None:
    """Compare what the records of DEVICE add up to."""
    for name in (
        "n_records",
        "bytes",
        "n_allocs",
        "alloc_bytes",
        "n_totals",
        "peak",
        "n_paired",
        "n_lives",
    ):
        report.equal(f"memory {name} of {device}", getattr(ours, name), getattr(theirs, name))


def run_job(binary: Path, path: Path) -> Report:
    """Compare the trace of PATH."""
    report = Report(str(path.relative_to(SHARED)) if path.is_relative_to(SHARED) else path.name)
    try:
        file = read(path)
        if file is None:
            report.equal("refused", True, Opscope(binary, path).refuses())
        else:
            compare(report, file, Opscope(binary, path))
            report.left_out = +file.left_out
    except (RuntimeError, KeyError, ValueError, StopIteration) as failed:
        report.failed += 1
        report.lines.append(f"{report.trace}: {failed!r}")
    return report


def run_random(binary: Path, seed: int) -> Report:
    """Compare the random trace SEED."""
    with tempfile.TemporaryDirectory(prefix="counts-") as place:
        path = Path(place) / f"phases-{seed}.json"
        path.write_bytes(phasetrace.data(seed))
        return run_job(binary, path)


def traces(largest: int) -> Iterator[Path]:
    """The files below SHARED that may hold a trace, the largest first."""
    found = sample.of(
        p for p in SHARED.rglob("*") if p.is_file() and ".json" in p.suffixes[-2:]
    )
    for path in sorted(found, key=lambda p: (-p.stat().st_size, p)):
        if path.stat().st_size > largest:
            print(f"{path.name}: left out, as it is larger than --largest")
        else:
            yield path


def markdown(reports: list[Report]) -> str:
    """What was compared and left out, a line for each trace."""
    kinds = ("ranges", "threads", "kernels", "memory", "flows", "quality", "events")
    lines = [
        "| trace | " + " | ".join(kinds) + " | equal | left out |",
        "| --- " * (len(kinds) + 3) + "|",
    ]
    for report in sorted(reports, key=lambda r: r.trace):
        cells = [str(report.sums[kind]) for kind in kinds]
        left_out = ", ".join(f"{rule} {n:,}" for rule, n in sorted(report.left_out.items()))
        lines.append(
            f"| {report.trace} | {' | '.join(cells)} | {report.passed} of "
            f"{report.passed + report.failed} | {left_out} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument(
        "--largest",
        type=int,
        default=sys.maxsize,
        metavar="BYTES",
        help="leave out larger traces",
    )
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, help="write the counts of every trace there")
    parser.add_argument("--show", type=int, default=5, help="differences shown per trace")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    if not options.files and not SHARED.is_dir():
        print(f"{SHARED} is not there: random traces only")
    with ProcessPoolExecutor(2) as pool:
        reports = list(
            pool.map(
                partial(run_job, options.opscope),
                options.files or list(traces(options.largest)),
            )
        )
        seeds = range(options.seed * 1_000_003, options.seed * 1_000_003 + options.random)
        reports += pool.map(partial(run_random, options.opscope), seeds)
    for report in reports:
        for line in report.lines[: options.show]:
            print(line[:500])
    left_out: Counter = sum((r.left_out for r in reports), Counter())
    for rule, why in LEFT_OUT.items():
        print(f"left out by rule {rule}: {left_out[rule]:,} ({why})")
    if options.table:
        options.table.write_text(markdown(reports))
    passed, failed = (sum(getattr(r, k) for r in reports) for k in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
