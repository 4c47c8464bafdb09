#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: export-stacks
# args: --opscope {gcc}/opscope --random 2 --seed {seed} --largest 60000
# full: --opscope {gcc}/opscope --random 800 --seed {seed}
"""Compare folded stacks and counters with torch's files and with the tables.

    python3 tests/export/stacks.py --opscope PATH [--shared DIR] [--random N] [--seed S]

torch     export_stacks() of torch 2.13 (expected/torch213/*/stacks_*.txt) to the letter, but
          because torch cuts a double, so that a line of an event of
          exactly 1 microsecond may be missing
twin the same by the slow twin, to the letter
samples   samples of call stacks as their rule folds them, with made ones
sums      lines of one last frame sum up to the rows of operators, modules and averages of
          that name; a stack that took less than nothing has no line, so that times may be
          more than the table's where one of the table's parts is negative
counters  values of utilization in the table's buckets, and the efficiency's integral
names     whatever bytes are in them, lines have frames, a blank and a number, and all rows of
          events as CSV as many cells

Twin, sums and counters on all traces of the shared data and tests/data (with --largest BYTES
only on such as are not larger), and on N random ones; names on 5 N whose names hold any byte. Ends with `N passed, N failed`; exit status 1
on any failure.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import csv
import io
import json
import math
import os
import random
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests/oracle"), str(HERE)]

import randomtrace  # noqa: E402
import sample  # noqa: E402
from support import Tally, nasty_trace, run  # noqa: E402
from twin import averages, events, reader  # noqa: E402

NOTHING = (
    "no operators",
    "no modules",
    "no Python stacks",
    "by this metric",
    "holds one",
    "no samples",
    "no allocations",
)
# Rows of averages that are not ranges.
RECORDS = ("[memory]", "[OutOfMemory]")
# Stack, metric, table, and the column that it sums up to.
SUMS = [
    ("op", "calls", "operators", "calls"),
    ("op", "host_self_ns", "operators", "host_self_ns"),
    ("op", "device_self_ns", "operators", "device_self_ns"),
    ("op", "self_alloc_bytes", "memory", "self_alloc_bytes"),
    ("module", "calls", "modules", "calls"),
    ("module", "host_self_ns", "modules", "host_self_ns"),
    ("module", "device_self_ns", "modules", "device_self_ns"),
    ("python", "calls", "averages", "calls"),
    ("python", "host_self_ns", "averages", "self_cpu_ns"),
]


def table(opscope: Path, name: str, path: Path) -> list[dict]:
    done = run(opscope, "table", name, path, "--format", "csv")
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def fold(
    opscope: Path, path: Path, stack: str, metric: str
) -> list[tuple[list[str], int]] | None:
    """The frames and the value of each line; None if nothing is written."""
    done = run(
        opscope,
        "export",
        path,
        "--stack",
        stack,
        "--metric",
        metric,
        "--format",
        "folded",
        "-o",
        "-",
    )
    if done.returncode != 0:
        assert any(n in done.stderr.decode() for n in NOTHING), done.stderr
        return None
    assert not re.search(rb"[\0-\x09\x0b-\x1f\x7f]", done.stdout), path
    pairs = [line.rsplit(" ", 1) for line in done.stdout.decode().split("\n")[:-1]]
    return [(stack.split(";"), int(value)) for stack, value in pairs]


def clean(name: str) -> str:
    """A name as a frame."""
    while len(name.encode()) > 4096:
        name = name[:-1]
    return (
        "".join("_" if c <= " " or c == ";" or "\x7f" <= c <= "\x9f" else c for c in name)
        or "_"
    )


def check_sums(tally: Tally, opscope: Path, path: Path, where: str) -> None:
    for stack, metric, name, column in SUMS:
        folded = fold(opscope, path, stack, metric)
        if folded is None:
            continue
        got: collections.Counter = collections.Counter()
        want: collections.Counter = collections.Counter()
        for frames, value in folded:
            got[frames[-1]] += value
        rows = table(opscope, name, path)
        for row in rows:
            if row.get("device_type", "CPU") == "CPU" and row["name"] not in RECORDS:
                want[clean(row["name"])] += int(row[column] or 0)
        may_be_more = metric == "host_self_ns"
        for frame in got.keys() | want.keys():
            is_good = got[frame] == max(want[frame], 0)
            is_good = is_good or (may_be_more and got[frame] > want[frame])
            tally.expect(is_good, where, stack, metric, frame, got[frame], want[frame])
        tally.expect(
            [f for f, _ in folded]
            == sorted((f for f, _ in folded), key=lambda f: [x.encode() for x in f]),
            where,
            stack,
            metric,
            "lines are not in order",
        )


def check_counters(tally: Tally, opscope: Path, path: Path, where: str) -> None:
    with tempfile.TemporaryDirectory(prefix="stacks-") as scratch:
        out, bare = Path(scratch) / "c.json", Path(scratch) / "b.json"
        for flags, to in ((["--counters"], out), ([], bare)):
            done = run(opscope, "export", path, *flags, "-o", to)
            tally.expect(done.returncode == 0, where, "export", done.stderr)
        if tally.failed:
            return
        events = json.loads(out.read_bytes(), parse_float=str)["traceEvents"]
        rest = json.loads(bare.read_bytes(), parse_float=str)["traceEvents"]
    added = events[: len(events) - len(rest)]
    tally.expect(events[len(added) :] == rest, where, "counters are not all that is new")
    samples = collections.defaultdict(list)
    for e in added:
        ((series, value),) = e["args"].items()
        samples[e["pid"], series].append((int(e["ts"].replace(".", "")), float(value)))
    devices = collections.defaultdict(list)
    for row in table(opscope, "utilization", path):
        devices[row["device"]].append(row)
    numbers = [
        int(d.rpartition(":")[2]) if ":" in d and d.rpartition(":")[2].isdigit() else d
        for d in devices
    ]
    tally.expect({p for p, _ in samples} <= set(numbers) | set(devices), where, samples.keys())
    for number, (device, rows) in zip(numbers, devices.items()):
        pid = (
            number
            if (number, "GPU Utilization") in samples
            and numbers.index(number) == list(devices).index(device)
            else device
        )
        got = samples[pid, "GPU Utilization"]
        want = [float(r["utilization_ratio"]) for r in rows]
        tally.expect([v for _, v in got] == [1.0, 0.0, *want, 0.0], where, device, got, want)
        starts = [int(r["start_ns"]) for r in rows]
        ends = [int(r["start_ns"]) + int(r["dur_ns"]) for r in rows]
        times = [t - got[0][0] + starts[0] for t, _ in got]
        tally.expect(times == [starts[0], starts[0], *starts, ends[-1]], where, device, times)
        fills = samples.get((pid, "Est. SM Efficiency"))
        if not fills:
            tally.expect(not any(r.get("sm_efficiency_ratio") for r in rows), where, device)
            continue
        tally.expect(fills[0][1] == 1 and all(v == 0 for _, v in fills[1::2]), where, fills[:4])
        at = fills[0][0]
        area = sum(
            v * (min(e, at + ends[-1] - starts[0]) - max(s, at))
            for (s, v), (e, _) in zip(fills[2::2], fills[3::2])
            if e > at and s < at + ends[-1] - starts[0]
        )
        told = sum(float(r["sm_efficiency_ratio"] or 0) * int(r["dur_ns"]) for r in rows)
        tally.expect(abs(area - told) <= 1e-9 * max(told, 1), where, device, area, told)


def twin_stacks(trace: events.Trace) -> list[tuple[str, int]] | None:
    """Stack and self time in ns of each event for which torch has a line; None if no event has a
    stack."""
    if not any("Call stack" in e.args for e in trace.events):
        return None
    lines = []
    for f in averages.function_events(trace):
        self_ns = 0 if f.is_async else f.dur - sum(c.dur for c in f.children)
        if not f.is_device and f.stack and self_ns >= 1000:
            # Only stacks of more than 512 frames are cut.
            lines.append(
                (";".join(clean(frame) for frame in reversed(f.stack[-512:])), self_ns)
            )
    return lines


def check_torch(tally: Tally, opscope: Path, shared: Path) -> None:
    n_lines = n_excluded = 0
    for path in sorted(shared.glob("expected/torch213/*/stacks_self_cpu_time_total.txt")):
        case = path.parent.name
        trace = shared / "data/torch213" / case / "trace.json.gz"
        done = run(
            opscope,
            "export",
            trace,
            "--stack",
            "python",
            "--metric",
            "self_cpu_time_total",
            "--format",
            "folded",
            "-o",
            "-",
        )
        got, want = done.stdout.decode().split("\n")[:-1], path.read_text().split("\n")[:-1]
        tally.expect(len(want) > 1000, case, done.stderr)
        exact = twin_stacks(events.build(reader.read(trace))) or []
        n_lines += len(want)
        at = 0
        missing: collections.Counter = collections.Counter()
        for line in got:
            is_there = at < len(want) and want[at] == line
            at += is_there
            missing[line] += not is_there
        tally.passed += at
        # Rule 7.5, of as many lines as there are such events.
        cut = collections.Counter(f"{stack} 1" for stack, ns in exact if ns == 1000)
        for line, n in (+missing).items():
            tally.expect(n <= cut[line], case, line, n, cut[line])
            n_excluded += n
        tally.expect(at == len(want), case, at, want[at : at + 1])
    if n_lines:
        print(f"export_stacks: {n_lines} lines of torch, {n_excluded} excluded")
    else:
        print("skipped export_stacks: there are no shared answers of torch")


def check_twin(tally: Tally, opscope: Path, path: Path, where: str) -> None:
    try:
        want = twin_stacks(events.build(reader.read(path)))
    except reader.NotATrace:
        want = None
    if want is None:
        return
    got = fold(opscope, path, "python", "self_cpu_time_total") or []
    lines = [(";".join(frames), us) for frames, us in got]
    tally.expect(
        lines == [(stack, ns // 1000) for stack, ns in want],
        where,
        "twin",
        len(lines),
        len(want),
        [x for x in zip(lines, want) if x[0][0] != x[1][0]][:1],
    )


def sampled(members: dict) -> collections.Counter:
    """Folded stacks of the samples of call stacks, by their rule."""
    frames = members.get("stackFrames")
    frames = {k: v for k, v in frames.items() if k} if isinstance(frames, dict) else {}
    known: dict[str, tuple[str, ...]] = {}

    def of(entry: object, key: str) -> str | None:
        found = entry.get(key) if isinstance(entry, dict) else None
        text = found if isinstance(found, str) else json.dumps(found)
        return text if text in frames else None

    folded: collections.Counter = collections.Counter()
    for taken in members["samples"]:
        path: list[str] = []
        frame = of(taken, "sf")
        while frame is not None and frame not in known and frame not in path:
            path.append(frame)
            frame = of(frames[frame], "parent")
        stack = known.get(frame, ()) if frame is not None else ()
        for one in reversed(path):
            name = frames[one].get("name") if isinstance(frames[one], dict) else None
            stack = known[one] = (*stack, clean(name if isinstance(name, str) else "[unknown]"))
        weight = str(taken.get("weight", 1)) if isinstance(taken, dict) else ""
        folded[stack[:512] or ("[unknown]",)] += (
            int(weight) if re.fullmatch("[1-9][0-9]*", weight) else 1
        )
    return folded


def check_samples(tally: Tally, opscope: Path, path: Path, where: str) -> None:
    members = reader.read(path).members
    want = sampled(members) if isinstance(members.get("samples"), list) else {}
    got = fold(opscope, path, "sample", "calls") or []
    tally.expect(
        {tuple(frames): n for frames, n in got} == dict(want), where, "samples", got[:3]
    )


def made_samples(seed: int) -> bytes:
    """A trace with samples whose frames may be missing, without a name, or call themselves."""
    rng = random.Random(seed)

    def name() -> object:
        return rng.choice([rng.randrange(20), str(rng.randrange(20)), None, [], "none"])

    frames = {
        str(rng.randrange(20)): rng.choice(
            [
                {"name": f"f {i % 7}", "parent": name()},
                {"parent": name()},
                {"name": f"g;{i}"},
                [],
            ]
        )
        for i in range(rng.randrange(30))
    }
    samples = [
        rng.choice(
            [
                {"sf": name(), "weight": rng.choice([1, "3", 0, -2, 0.5, 7, "x"])},
                {"sf": name()},
                5,
            ]
        )
        for _ in range(rng.randrange(40))
    ]
    return json.dumps(
        {"samples": samples, "stackFrames": frames, "traceEvents": [{"ph": "i", "ts": 1}]}
    ).encode()


def check_names(tally: Tally, opscope: Path, seed: int, scratch: Path) -> None:
    path = scratch / f"nasty-{seed}.json"
    path.write_bytes(nasty_trace(seed))
    for stack in ("op", "module", "python"):
        lines = fold(opscope, path, stack, "calls") or []
        tally.expect(
            all(all(f) and " " not in "".join(f) and n > 0 for f, n in lines), seed, stack
        )
    done = run(opscope, "export", path, "--format", "csv", "-o", "-")
    rows = list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))
    tally.expect(len(rows) > 0 and len({len(r) for r in rows}) == 1, seed, "csv", done.stderr)


def check_trace(opscope: Path, path: Path, where: str) -> Tally:
    tally = Tally()
    check_twin(tally, opscope, path, where)
    check_sums(tally, opscope, path, where)
    check_counters(tally, opscope, path, where)
    with contextlib.suppress(reader.NotATrace):
        check_samples(tally, opscope, path, where)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--largest", type=int, metavar="BYTES", help="leave out larger traces")
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    opscope = args.opscope / "opscope" if args.opscope.is_dir() else args.opscope

    tally = Tally()
    check_torch(tally, opscope, args.shared)
    with tempfile.TemporaryDirectory(prefix="stacks-") as scratch:
        jobs = [
            (p, str(p))
            for folder in (args.shared / "data", ROOT / "tests/data")
            for p in sample.of(sorted(folder.rglob("*.json*")))
            if p.is_file() and p.stat().st_size <= (args.largest or math.inf)
        ]
        for seed in range(args.seed, args.seed + args.random):
            p = Path(scratch) / f"{seed}.json"
            p.write_bytes(randomtrace.data(seed))
            jobs.append((p, f"random {seed}"))
        for seed in range(args.seed, args.seed + 5 * args.random):
            check_names(tally, opscope, seed, Path(scratch))
            p = Path(scratch) / f"samples-{seed}.json"
            p.write_bytes(made_samples(seed))
            check_samples(tally, opscope, p, f"samples {seed}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in pool.map(lambda j: check_trace(opscope, *j), jobs):
                tally.passed += done.passed
                tally.failed += done.failed
                tally.lines += done.lines
    print("\n".join(tally.lines))
    print(f"{len(jobs)} traces")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
