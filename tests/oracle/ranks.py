# SPDX-License-Identifier: Apache-2.0
# step: oracle-ranks
# args: --opscope {gcc}/opscope --random 8 --seed {seed}
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
# turn: 3
"""Compare the tables of ranks with the slow twin's, on runs of several ranks.

    python3 tests/oracle/ranks.py --opscope PATH [--shared DIR] [--random N] [--seed S]

Takes the recorded runs of several ranks that are there, and N random ones (rankstrace.py). Also
checks that clocks are found again (align()). Ends with `N passed, N failed` (cells).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rankstrace
from cells import Report, compare_table
from providers import OpscopeError, OpscopeProvider
from twin import rank_quality, ranks, runs, tables

HERE = Path(__file__).resolve().parent
RUNS = ("wild/cuda_v100_dlrm_8ranks", "torch213/ddp2_logdir", "hta/trace_filter")
COMPAT = ("rank_overlap", "rank_wait", "collectives")


def compare(
    provider: OpscopeProvider, report: Report, where: str, paths: list[Path], names: list[str]
) -> None:
    """Compare the tables NAMES of a run."""
    run = runs.assemble([tables.load(path) for path in paths], paths)
    for name in names:
        for compat in (False, True) if name in COMPAT else (False,):
            label = f"{where}: {name}{' --compat tb' if compat else ''}:"
            try:
                ours = provider.rows(name, paths, None, compat)
            except OpscopeError as failed:
                report.differ(label, failed)
                continue
            compare_table(report, label, name, ours, tables.table(run, name, None, compat))
    if "stragglers" in names:
        compare_table(
            report,
            f"{where}: stragglers by step:",
            "stragglers",
            provider.rows("stragglers", paths, "step"),
            tables.table(run, "stragglers", "step"),
        )


def compare_quality(
    provider: OpscopeProvider, report: Report, where: str, paths: list[Path]
) -> None:
    """Compare what `quality` says of ranks side by side, with the ends of its sentences."""
    run = runs.assemble([tables.load(path) for path in paths], paths)
    twin = [
        (row["code"], row["count"], row["first_ns"], row["detail"])
        for row in rank_quality.rows(run)
    ]
    ours = [
        (row["code"], row["count"], row.get("first_ns"), row["message"])
        for row in provider.rows("quality", paths)
        if row["code"] in rank_quality.SEVERITY
    ]
    order = ["error", "warning", "info"]
    twin.sort(key=lambda row: order.index(rank_quality.SEVERITY[row[0]]))
    if len(ours) == len(twin) and all(
        a[:3] == b[:3] and a[3].endswith(": " + b[3]) for a, b in zip(ours, twin)
    ):
        report.passed += len(ours) + 1
    else:
        report.differ(where, "quality", f"opscope {ours}", f"twin {twin}")


def compare_advice(
    provider: OpscopeProvider, report: Report, where: str, paths: list[Path]
) -> None:
    """Compare the advice about the rank that lets the others wait, and where it stands."""
    run = runs.assemble([tables.load(path) for path in paths], paths)
    twin = [row for row in tables.table(run, "advice") if row["code"] == "straggler"]
    ours = [row for row in provider.rows("advice", paths) if row["code"] == "straggler"]
    compare_table(report, f"{where}: straggler", "advice", ours, twin)


def is_any_order(
    provider: OpscopeProvider,
    report: Report,
    where: str,
    paths: list[Path],
    source: random.Random,
) -> None:
    """Check that the order of the operands does not matter, if each rank has one file."""
    name = source.choice(list(ranks.TABLES))
    mixed = source.sample(paths, len(paths))
    if provider.rows(name, paths) == provider.rows(name, mixed):
        report.passed += 1
    else:
        report.differ(where, name, "depends on the order of the files")


def align(provider: OpscopeProvider, report: Report, place: Path) -> None:
    """Eight ranks with offsets of up to 5 ms, drifts of 20 ppm and 500 collectives of two families
    of groups: each offset must be found again within 20 us. Two more ranks meet nobody else: they
    are another component."""
    source = random.Random("align")
    offsets = [source.uniform(-5000, 5000) for _ in range(10)]
    drifts = [source.uniform(-20, 20) * 1e-6 for _ in range(10)]
    events: list[list[dict]] = [[] for _ in range(10)]
    families = [[[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 4], [1, 5], [2, 6], [3, 7]]]
    for number in range(500):
        at = 1e6 + number * 40_000.0
        groups = families[number % 2] + ([[8, 9]] if number % 2 else [])
        for group in groups:
            for rank in group:
                end = at + 100 + source.uniform(5, 20)
                clock = [
                    1.7e15 + offsets[rank] + t + t * drifts[rank]
                    for t in (at + source.uniform(0, 90), end)
                ]
                events[rank].append(
                    {
                        "ph": "X",
                        "cat": "kernel",
                        "name": "ncclDevKernel_AllReduce(x)",
                        "pid": 0,
                        "tid": 7,
                        "ts": round(clock[0], 3),
                        "dur": round(clock[1] - clock[0], 3),
                        "args": {
                            "Collective name": "allreduce",
                            "Process Group Name": str(group),
                            "Process Group Ranks": json.dumps(group),
                            "Group size": len(group),
                            "Seq": number,
                        },
                    }
                )
    paths = []
    for rank, own in enumerate(events):
        paths.append(place / f"rank{rank}.json")
        paths[-1].write_text(
            json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": own})
        )
    rows = provider.rows("ranks", paths)
    if [row["clock_group"] for row in rows] != [0] * 8 + [1] * 2:
        report.differ("align", "groups", [row["clock_group"] for row in rows])
    for own in ([0, 1, 2, 3, 4, 5, 6, 7], [8, 9]):
        first = own[0]
        for rank in own[1:]:
            # As differences of two clocks, at the first collective, when true time is 1 s.
            true = (
                offsets[rank] - offsets[first] + 1e6 * (drifts[rank] - drifts[first])
            ) * 1000
            found = rows[rank]["clock_offset_ns"] - rows[first]["clock_offset_ns"]
            if abs(found - true) < 20_000:
                report.passed += 1
            else:
                report.differ("align", f"rank {rank}", f"offset {found} ns", f"true {true} ns")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    parser.add_argument("--random", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for random runs that differ")
    parser.add_argument("--only", help="this table alone")
    options = parser.parse_args()
    provider, report = OpscopeProvider(options.opscope), Report()
    names = [options.only] if options.only else list(ranks.TABLES)
    for name in RUNS:
        paths = sorted((options.shared / "data" / name).glob("*.json.gz"))
        if paths:
            compare(provider, report, name, paths, names)
            compare_quality(provider, report, name, paths)
            compare_advice(provider, report, name, paths)
    for number in range(options.random):
        seed = options.seed * 1_000_003 + number
        with tempfile.TemporaryDirectory() as place:
            paths = []
            for name, text in rankstrace.run(seed):
                paths.append(Path(place) / name)
                paths[-1].write_text(text)
            before = report.failed
            compare(provider, report, f"ranks {seed}", paths, names)
            compare_quality(provider, report, f"ranks {seed}", paths)
            compare_advice(provider, report, f"ranks {seed}", paths)
            if paths[-1].name != "again.json":
                is_any_order(provider, report, f"ranks {seed}", paths, random.Random(seed))
            if report.failed > before and options.keep:
                (options.keep / str(seed)).mkdir(parents=True, exist_ok=True)
                for path in paths:
                    (options.keep / str(seed) / path.name).write_bytes(path.read_bytes())
    with tempfile.TemporaryDirectory() as place:
        align(provider, report, Path(place))
    for line in report.lines[:40]:
        print(line)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
