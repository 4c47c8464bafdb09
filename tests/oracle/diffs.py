# SPDX-License-Identifier: Apache-2.0
# step: oracle-diffs
# args: --opscope {gcc}/opscope --random 8 --seed {seed}
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Compare opscope's tables of two runs with the slow twin's.

    python3 tests/oracle/diffs.py --opscope PATH [--random N] [--seed S]

Takes N pairs of random traces, and of runs of several files. Integers and texts must be equal,
doubles within 1e-9 of each other, p_value within a thousandth, significant wherever rounding does
not decide. Of trees: every row is a node or a pair of nodes of the twin's, each node is in one row
at most; a run compared with itself has all of them, in pairs; and what is put into a copy of it is
the only row without a partner. With --compat tb, names and times of every pair are those of the
plugin's recorded answers (expected/tb in the shared data, if it is there); left out: its
total_duration, which adds host and device times, and its operator view, which is diff_operators of
the pair. Ends with `N passed, N failed`; exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import devicetrace
import hosttrace
import randomtrace
from cells import Report, compare_table, entry_of, shown
from providers import OpscopeError, OpscopeProvider
from twin import diff, reader, runs, tables

TABLES = {
    "diff_steps": diff.steps_rows,
    "diff_operators": diff.operators_rows,
    "diff_kernels": diff.kernels_rows,
}
PATTERNS = ("aten::([a-z]+)", "(.)o([a-z]*)", "[0-9]+")


def same(column: str, ours: object, twin: object, is_close: bool) -> bool:
    """Whether two cells are equal."""
    if column == "significant" and is_close:
        return True
    if column == "p_value" and ours is not None and twin is not None:
        return abs(ours - twin) <= 1e-3 * max(ours, twin) + 1e-12
    if isinstance(twin, float) and isinstance(ours, (int, float)):
        return abs(ours - twin) <= 1e-9 * max(abs(ours), abs(twin), 1)
    return ours == shown(twin)


def compare_rows(report: Report, where: str, ours: list[dict], twin: list[dict]) -> None:
    """Compare all cells of rows by their names."""
    mine = {row["name"]: row for row in ours}
    wanted = {shown(row["name"]): row for row in twin}
    if len(mine) != len(ours):
        return  # names that differ only in what JSON cannot show
    for name in mine.keys() ^ wanted.keys():
        report.differ(where, name, "only", "opscope" if name in mine else "twin")
    for name in mine.keys() & wanted.keys():
        is_close = wanted[name].pop("close", False)
        for column, value in wanted[name].items():
            if same(column, mine[name].get(column), value, is_close):
                report.passed += 1
            else:
                report.differ(
                    where,
                    name,
                    column,
                    f"opscope {mine[name].get(column)!r}",
                    f"twin {value!r}",
                )


def compare_tree(report: Report, where: str, rows: list[dict], sides: list) -> None:
    """Check that rows are nodes, each once."""
    for which, side in zip(("base", "new"), sides):
        nodes = Counter(
            (p.depth, shown(p.name), p.calls, p.host_ns, p.device_ns)
            for p in diff.places(side.traces).values()
        )
        found = Counter(
            (
                r["depth"],
                r[f"{which}_name"],
                r[f"{which}_calls"],
                r[f"{which}_ns"],
                r[f"{which}_device_ns"],
            )
            for r in rows
            if r[f"{which}_name"] is not None
        )
        if found - nodes:
            report.differ(where, which, "no nodes", list((found - nodes).items())[:3])
        roots = Counter({k: v for k, v in nodes.items() if k[0] == 0})
        if roots - found:
            report.differ(where, which, "missing", list((roots - found).items())[:3])
        if where.endswith("itself") and nodes != found:
            report.differ(where, which, "not all", list((nodes - found).items())[:3])
        # Steps outside of the comparison leave time over, never too much of it.
        if any(
            not 0 <= (r[f"mean_{which}_device_ns"] or 0) <= r[f"{which}_device_ns"]
            for r in rows
        ):
            report.differ(where, which, "a mean of device time exceeds its sum")
        report.passed += 1
    if where.endswith("itself") and any(
        r["delta_ns"] or r["mean_delta_device_ns"] or r["base_name"] != r["new_name"]
        for r in rows
    ):
        report.differ(where, "a run differs from itself")


def compare_pair(
    provider: OpscopeProvider, report: Report, where: str, operands: list[Path], sides: list
) -> None:
    """Compare all tables of two runs."""
    for name, rows in TABLES.items():
        compare_rows(report, f"{where}: {name}", provider.rows(name, operands), rows(*sides))
    for name, make in tables.PAIRS.items():
        twin = make(*(side.traces for side in sides))
        compare_table(report, f"{where}: {name}", name, provider.rows(name, operands), twin)
    for pattern in PATTERNS:
        by = f"name~{pattern}"
        for name in ("diff_operators", "diff_kernels"):
            ours = provider.rows(name, operands, group_by=by)
            compare_rows(
                report, f"{where}: {name} by {by}", ours, TABLES[name](*sides, pattern)
            )
        for name, make in tables.PAIRS.items():
            if not entry_of(name)["patterns"]:
                continue
            twin = make(*(side.traces for side in sides), by)
            ours = provider.rows(name, operands, group_by=by)
            compare_table(report, f"{where}: {name} by {by}", name, ours, twin)
    pairs = provider.rows("diff_tree", operands)
    compare_tree(report, where, pairs, sides)
    compare_inside(report, where, provider, operands, sides, pairs)


def compare_inside(
    report: Report,
    where: str,
    provider: OpscopeProvider,
    operands: list[Path],
    sides: list,
    pairs: list[dict],
) -> None:
    """Compare the operators of both runs, and inside of some pairs whose places are not like any
    other of their side."""
    compare_rows(
        report, where, provider.rows("diff_inside", operands), diff.inside_rows(*sides)
    )
    known = []
    for side in sides:
        alike: dict[tuple, list] = {}
        for path, place in diff.places(side.traces).items():
            alike.setdefault(
                (place.depth, shown(place.name), place.calls, place.host_ns, place.device_ns),
                [],
            ).append(path)
        known.append(alike)
    n = 0
    for row in sorted(pairs, key=lambda r: r["path"]):
        at: list = []
        for which, alike in zip(("base", "new"), known):
            if row[f"{which}_name"] is None:
                at.append(None)
                continue
            at.append(
                (
                    *alike.get(
                        (
                            row["depth"],
                            *(
                                row[f"{which}_{c}"]
                                for c in ("name", "calls", "ns", "device_ns")
                            ),
                        ),
                        (),
                    ),
                )
            )
        if (
            any(paths is not None and len(paths) != 1 for paths in at)
            or "\ufffd" in row["path"]
        ):
            continue
        twin = diff.inside_rows(*sides, tuple(paths and paths[0] for paths in at))
        ours = provider.rows("diff_inside", operands, more=["--name", row["path"]])
        compare_rows(report, f"{where}: {row['path']}", ours, twin)
        n += 1
        if n == 3:
            return


def side_of(
    place: Path, name: str, files: list[tuple[str, bytes]]
) -> tuple[Path, object] | None:
    """The files of a run in a folder, and the twin's side; None: it is no trace."""
    folder = place / name
    folder.mkdir()
    paths = []
    # In a directory, names as of torch's handler are the run, if there are any.
    handled = [file for file in files if ".pt.trace.json" in file[0]]
    for file, data in handled or files:
        paths.append(folder / file)
        paths[-1].write_bytes(data)
    paths.sort()
    try:
        traces = [tables.load(path) for path in paths]
    except reader.NotATrace:
        return None
    return folder, diff.side(runs.assemble(traces, paths))


def inserted(
    report: Report, provider: OpscopeProvider, place: Path, where: str, data: bytes
) -> None:
    """Put a range behind all others of a thread: it is the only row of one side."""
    document = json.loads(data.decode("utf-8", "surrogateescape"))
    events = document["traceEvents"]
    ranges = [e for e in events if e.get("ph") == "X" and e.get("cat") == "cpu_op"]
    if not ranges:
        return
    end = max(
        float(e["ts"]) + float(e.get("dur", 0))
        for e in events
        if isinstance(e.get("ts"), (int, float))
    )
    events.append({**ranges[0], "name": "new_one", "ts": end + 10, "dur": 5, "args": {}})
    path, more = place / "one.json", place / "more.json"
    path.write_bytes(data)
    more.write_text(json.dumps(document), encoding="utf-8", errors="surrogateescape")
    alone = [
        r
        for r in provider.rows("diff_tree", [path, more])
        if r["base_name"] is None or r["new_name"] is None
    ]
    if [r["new_name"] for r in alone] != ["new_one"]:
        report.differ(where, "inserted", alone[:3])
    report.passed += 1


def noisy(factor: float, number: int, cat: str) -> bytes:
    """A trace of three steps, of which some take longer in all their calls; in one operator or kernel
    of two that are called 20 times a step, each call takes FACTOR times as long."""
    events, at = [], 1000.0
    for step in range(3):
        begin, share = at, (1, 1.3, 1.15)[(step + number) % 3]
        for k in range(100):
            us = (130 if k < 40 else 20) * share
            us *= 0.7 + (k * 37 + step * 11 + number * 53) % 61 / 100
            us *= factor if k < 20 else 1
            name = ("backward", "forward")[k // 20] if k < 40 else f"op{k}"
            args = {"correlation": step * 100 + k + 1}
            if cat == "kernel":
                events.append(
                    {
                        "ph": "X",
                        "cat": "cuda_runtime",
                        "name": "launch",
                        "pid": 7,
                        "tid": 1,
                        "ts": round(at, 3),
                        "dur": 0.5,
                        "args": args,
                    }
                )
            events.append(
                {
                    "ph": "X",
                    "cat": cat,
                    "name": name,
                    "pid": 7,
                    "tid": 9 if cat == "kernel" else 1,
                    "ts": round(at + 1, 3),
                    "dur": round(us, 3),
                    "args": args,
                }
            )
            at += us + 2
        events.append(
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{step}",
                "pid": 7,
                "tid": 1,
                "ts": round(begin, 3),
                "dur": round(at - begin, 3),
            }
        )
        at += 5
    return json.dumps({"traceEvents": events}).encode()


def compare_calls(binary: Path) -> Report:
    """Compare pairs of which the calls decide, and not the steps."""
    report, provider = Report(), OpscopeProvider(binary)
    for cat, table in (("cpu_op", "diff_operators"), ("kernel", "diff_kernels")):
        for factor, wanted in ((1, []), (3, ["backward"])):
            with tempfile.TemporaryDirectory() as folder:
                made = [
                    side_of(Path(folder), name, [("a.json", data)])
                    for name, data in (
                        ("base", noisy(1, 0, cat)),
                        ("new", noisy(factor, 1, cat)),
                    )
                ]
                twin = TABLES[table](*(m[1] for m in made))
                ours = provider.rows(table, [m[0] for m in made])
            where = f"{cat} {factor} x"
            compare_rows(report, where, ours, twin)
            found = [row["name"] for row in ours if row["significant"]]
            if found != wanted:
                report.differ(where, "significant", found)
            report.passed += 1
    return report


def compare_seed(binary: Path, keep: Path | None, seed: int) -> Report:
    """Compare one pair of runs."""
    report, provider = Report(), OpscopeProvider(binary)
    make = (randomtrace, devicetrace, hosttrace)[seed % 3]
    where = f"{make.__name__} {seed}"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if seed % 4 == 3:
            files = [randomtrace.run(seed), randomtrace.run(seed + 1)]
            where = f"runs {seed}"
        else:
            files = [[("a.json", make.data(seed))], [("a.json", make.data(seed + 1))]]
        try:
            made = [side_of(place, name, f) for name, f in zip(("base", "new"), files)]
            if None in made:
                return report
            operands, sides = [m[0] for m in made], [m[1] for m in made]
            compare_pair(provider, report, where, operands, sides)
            compare_pair(
                provider, report, f"{where} with itself", [operands[0]] * 2, [sides[0]] * 2
            )
            if make is not randomtrace and seed % 4 != 3:
                inserted(report, provider, place, where, files[0][0][1])
        except (OpscopeError, KeyError, TypeError) as failed:
            report.differ(where, repr(failed), traceback.format_exc()[-500:])
        if report.failed and keep:
            for name, run in zip(("base", "new"), files):
                (keep / f"{seed}-{name}").mkdir(parents=True, exist_ok=True)
                for file, data in run:
                    (keep / f"{seed}-{name}" / file).write_bytes(data)
    return report


PLUGIN = {
    "diff": (
        ("tb_samples/resnet50_num_workers_0", "tb_samples/resnet50_num_workers_4"),
        ("--span", "1"),
    ),
    "diff_ddp2": (
        (
            "torch213/ddp2_logdir/host_0.1760000000000000000.pt.trace.json.gz",
            "torch213/ddp2_logdir/host_1.1760000000000000001.pt.trace.json.gz",
        ),
        (),
    ),
}


def compare_plugin(binary: Path, shared: Path) -> Report:
    """Compare the plugin's pairs."""
    report, provider = Report(), OpscopeProvider(binary)
    for case, (names, more) in PLUGIN.items():
        folder = shared / "expected/tb" / case
        latest = folder / "src_041e7ce/diff_full.json"
        answer = json.loads(
            (latest if latest.exists() else folder / "diff_full.json").read_text()
        )
        pairs: dict[str, dict] = {}

        def walk(node: dict, path: str) -> None:
            pairs[path] = node
            for k, child in enumerate(node["children"]):
                walk(child, f"{path}-{k}")

        walk(answer, "0")
        rows = {
            r["path"]: r
            for r in provider.rows(
                "diff_tree", [shared / "data" / name for name in names], compat=True, more=more
            )
        }
        if rows.keys() != pairs.keys():
            report.differ(case, "pairs", rows.keys() ^ pairs.keys())
        for path in rows.keys() & pairs.keys():
            for side, ours in (("left", "base"), ("right", "new")):
                wanted, row = pairs[path][side], rows[path]
                cells = [
                    row[f"{ours}_name"] == wanted["name"],
                    abs(row[f"{ours}_ns"] - wanted["duration"] * 1000) <= 300,
                    abs(row[f"{ours}_device_ns"] - wanted["device_duration"] * 1000) <= 300,
                ]
                report.passed += sum(cells)
                if not all(cells):
                    report.differ(
                        case, path, side, row, {k: wanted[k] for k in wanted if k != "aggs"}
                    )
    return report


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for traces that differ")
    options = parser.parse_args()
    passed = failed = 0
    shared = Path(__file__).resolve().parents[3] / "shared"
    if (shared / "expected/tb").is_dir():
        report = compare_plugin(options.opscope, shared)
        passed, failed = report.passed, report.failed
        print(*report.lines, f"plugin: {passed} values", sep="\n", flush=True)
    report = compare_calls(options.opscope)
    passed, failed = passed + report.passed, failed + report.failed
    for line in report.lines:
        print(line)
    seeds = [options.seed * 1_000_003 + 2 * number for number in range(options.random)]
    seeds = [seed + (seed // 2) % 2 for seed in seeds]
    with ProcessPoolExecutor(options.processes) as pool:
        for report in pool.map(partial(compare_seed, options.opscope, options.keep), seeds):
            passed += report.passed
            failed += report.failed
            for line in report.lines[:10]:
                print(line, flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
