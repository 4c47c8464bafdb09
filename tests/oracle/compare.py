# SPDX-License-Identifier: Apache-2.0
"""Compare every cell of opscope's tables with the slow twin's.

    python3 tests/oracle/compare.py --opscope PATH [--traces DIR] [--random N] [--seed S]

Takes every trace below DIR (by default the shared data, if it is there) and N random ones.
Integers, texts and truth values must be equal, doubles within 1e-12 of each other, rows in
the same order. Ends with `N passed, N failed` (cells); exit status 1 on any difference.
"""
from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import randomtrace  # noqa: E402
from providers import OpscopeError, OpscopeProvider  # noqa: E402
from twin import averages_text, memory_tables, reader, tables  # noqa: E402
from twin.averages_text import Options  # noqa: E402
from twin.events import Trace  # noqa: E402
from twin.memory_tables import Selection  # noqa: E402

HERE = Path(__file__).resolve().parent
# What names a row; the columns that a table has not are None in both.
KEYS = {
    "averages": ("name", "device_type", "is_user_annotation", "input_shapes", "stack"),
    "operators": ("name", "input_shape", "call_stack"),
    "kernels": ("name", "operator", "grid", "block", "registers_per_thread",
                "shared_memory_bytes"),
    "steps": ("step",), "overview": ("category",), "events": ("id",),
    "threads": ("process", "thread"), "tracks": ("track",), "info": ("key",),
    "flows": ("row",), "modules": ("row",), "devices": ("device",),
    "utilization": ("device", "start_ns", "dur_ns"),
    "memory": ("device", "name"), "memory_events": ("row",), "memory_curve": ("row",),
    "memory_peaks": ("row",), "quality": ("code",), "advice": ("code",),
}
GROUPINGS = {"averages": (None, "shape", "stack:2", "shape,stack:3"),
             "operators": (None, "shape", "stack"), "kernels": (None, "op"),
             "modules": (None, "annotation", "line")}
# Tables whose rows have no name but their place.
NAMELESS = {"flows", "modules", "memory_events", "memory_curve", "memory_peaks"}
COMPAT = {"operators", "kernels", "steps", "overview", "devices", "modules",
          "advice"}
# Texts by product.md's examples, but numbers in the file: compared by their text.
AS_TEXT = {"process", "thread", "queue", "label", "value", "track", "rank"}
# Optional columns (`?` in product.md 4): absent is as good as null in every row.
OPTIONAL = {"parent_id", "device", "queue", "self_ns", "depth", "step", "launch_id", "op_id",
            "fwd_id", "correlation", "value", "bytes", "is_async", "sm_efficiency_ratio",
            "module", "note", "capacity_bytes"}
TEXTS = (Options(), Options(sort="self_cpu_time_total", limit=8),
         Options(sort="cpu_time_total", header="a title", top_level=True, max_name_width=30),
         Options(sort="count", limit=-1, max_shapes_width=20, max_src_width=20))


@dataclass
class Report:
    """Outcome of one trace."""
    passed: int = 0
    failed: int = 0
    lines: list[str] = field(default_factory=list)

    def differ(self, *words: object) -> None:
        """One more difference."""
        self.failed += 1
        self.lines.append("  ".join(str(w)[:300] for w in words))


def truth(value: object) -> object:
    """A truth value of `info`, however it is written."""
    return {"true": True, "1": True, "false": False, "0": False, "": False}.get(
        str(value).lower(), value)


def same(table: str, column: str, ours: object, twin: object) -> bool:
    """Whether opscope's cell OURS is the twin's."""
    if table == "info" and column == "value":
        if isinstance(twin, bool):
            return truth(ours) is twin
        return str(ours) == str(twin)
    if isinstance(twin, float) and isinstance(ours, (int, float)):
        if isinstance(ours, bool):
            return False
        return abs(ours - twin) <= 1e-12 * max(abs(ours), abs(twin))
    if column in AS_TEXT and ours is not None and twin is not None:
        return str(ours) == str(twin)
    if column == "stack" and isinstance(ours, str):
        ours = json.loads(ours)
    return ours == twin and isinstance(ours, bool) == isinstance(twin, bool)


def key_of(table: str, row: dict) -> tuple:
    """What names ROW."""
    def hashable(column: str) -> object:
        value = row.get(column)
        if column == "stack" and value is not None:
            return value if isinstance(value, str) else json.dumps(value)
        return str(value) if column in AS_TEXT and value is not None else value
    return tuple(hashable(column) for column in KEYS[table])


def numbered(rows: list[dict]) -> list[dict]:
    """ROWS with their places as names."""
    return [{**row, "row": place} for place, row in enumerate(rows)]


def compare_table(report: Report, where: str, table: str, ours: list[dict],
                  twin: list[dict]) -> None:
    """Every cell of one table."""
    if table in NAMELESS:
        ours, twin = numbered(ours), numbered(twin)
    by_key = {key_of(table, row): row for row in ours}
    wanted = {key_of(table, row) for row in twin}
    if table != "info":
        for row in ours:
            if key_of(table, row) not in wanted:
                report.differ(where, table, key_of(table, row), "row that the twin lacks")
    for row in twin:
        mine = by_key.get(key_of(table, row))
        if mine is None:
            report.differ(where, table, key_of(table, row), "row missing")
            continue
        for column, value in row.items():
            if column not in mine:
                if column in OPTIONAL and value in (None, False):
                    report.passed += 1
                else:
                    report.differ(where, table, key_of(table, row), column,
                                  "column missing", f"twin {value!r}")
            elif same(table, column, mine[column], value):
                report.passed += 1
            else:
                report.differ(where, table, key_of(table, row), column,
                              f"opscope {mine[column]!r}", f"twin {value!r}")
    order_ours = [key_of(table, r) for r in ours if key_of(table, r) in wanted]
    order_twin = [key_of(table, r) for r in twin if key_of(table, r) in by_key]
    if table == "info" or order_ours == order_twin:
        report.passed += 1
    else:
        at = next((i for i, (a, b) in enumerate(zip(order_ours, order_twin)) if a != b), 0)
        report.differ(where, table, "order of rows, first at", at, order_ours[at:at + 1],
                      order_twin[at:at + 1])


def selections(trace: Trace) -> list[Selection]:
    """Some of the ways to look at a part of the memory of TRACE."""
    records = memory_tables.records_of(trace)
    if not records:
        return []
    times = [r.event.start - trace.origin for r in records]
    third = len(times) // 3
    steps = set(memory_tables.steps_of(trace).values())
    result = [Selection(first_ns=times[third], end_ns=times[2 * third] + 1),
              Selection(end_ns=times[third]), Selection(thread=records[0].event.thread),
              Selection(device=records[-1].device), Selection(at_ns=times[2 * third]),
              Selection(at_ns=times[third] + 1, first_ns=times[0] + 1)]
    return result + [Selection(step=step) for step in sorted(steps)[-1:]]


def compare_memory(report: Report, provider: OpscopeProvider, trace: Trace, path: Path,
                   where: str) -> None:
    """What the records of memory lack, and their tables in parts of the trace."""
    found = memory_tables.findings(trace)
    twin = [{"code": code, "count": len(at), "first_ns": at[0] - trace.origin}
            for code, at in sorted(found.items())]
    ours = [{key: row[key] for key in ("code", "count", "first_ns")}
            for row in provider.table(path, "quality")
            if row["code"] in memory_tables.CODES]
    compare_table(report, f"{where}: quality:", "quality",
                  sorted(ours, key=lambda row: row["code"]), twin)
    for selection in selections(trace):
        for table in memory_tables.TABLES:
            if selection.at_ns is not None and table not in ("memory_events", "memory_peaks"):
                continue
            label = f"{table} {' '.join(selection.arguments())}"
            try:
                ours = provider.table(path, table, selection=selection)
            except (OpscopeError, KeyError, TypeError) as failed:
                report.differ(where, label, failed)
                continue
            twin = tables.table(trace, table, selection=selection)
            compare_table(report, f"{where}: {label}:", table, ours, twin)


def compare_trace(binary: Path, path: Path, where: str) -> Report:
    """All tables and some texts of one trace."""
    report = Report()
    provider = OpscopeProvider(binary)
    try:
        trace = tables.load(path)
    except reader.NotATrace:
        return report
    for table in tables.NAMES:
        for grouping in GROUPINGS.get(table, (None,)):
            for compat in (False, True) if table in COMPAT else (False,):
                label = table + (f" by {grouping}" if grouping else "")
                label += " --compat tb" if compat else ""
                try:
                    ours = provider.table(path, table, grouping, compat)
                except (OpscopeError, KeyError, TypeError) as failed:
                    report.differ(where, label, failed)
                    continue
                twin = tables.table(trace, table, grouping, compat)
                compare_table(report, f"{where}: {label}:", table, ours, twin)
    compare_memory(report, provider, trace, path, where)
    for options in TEXTS:
        for grouping in ({}, {"by_shape": True}, {"stack_n": 2}, {"python": False}):
            try:
                text = provider.text(path, options, grouping)
            except OpscopeError as failed:
                report.differ(where, "text", failed)
                continue
            wrong = averages_text.render(trace, options, **grouping).differs_from(text)
            if wrong:
                report.differ(where, f"text {options} {grouping}", wrong)
            else:
                report.passed += 1
    return report


def traces_of(folder: Path) -> list[Path]:
    """Every file below FOLDER that may hold a trace."""
    return sorted(p for p in folder.rglob("*")
                  if p.is_file() and p.name.endswith((".json", ".json.gz", ".gz")))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--traces", type=Path, help="folder with traces; - for none")
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="differences shown per trace")
    parser.add_argument("--keep", type=Path, help="folder for random traces that differ")
    options = parser.parse_args()
    folder = options.traces or HERE.parents[2] / "shared" / "data"
    jobs: list[tuple[Path, str]] = []
    if str(folder) != "-":
        if folder.is_dir():
            jobs += [(path, str(path.relative_to(folder))) for path in traces_of(folder)]
        else:
            print(f"{folder} is not there: random traces only")
    with tempfile.TemporaryDirectory() as place:
        for number in range(options.random):
            seed = options.seed * 1_000_003 + number
            path = Path(place) / f"random-{seed}.json"
            path.write_text(randomtrace.text(seed), encoding="utf-8")
            jobs.append((path, path.name))
        passed = failed = 0
        with ThreadPoolExecutor(2) as pool:
            reports = pool.map(lambda job: compare_trace(options.opscope, *job), jobs)
            for (path, _), report in zip(jobs, reports):
                passed += report.passed
                failed += report.failed
                for line in report.lines[:options.show]:
                    print(line)
                if report.failed > options.show:
                    print(f"  … and {report.failed - options.show} more of {path.name}")
                if report.failed and options.keep and path.parent == Path(place):
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / path.name).write_bytes(path.read_bytes())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
