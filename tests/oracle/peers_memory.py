# SPDX-License-Identifier: Apache-2.0
"""torch-tb-profiler's answers about memory (expected/tb), and where they are wrong.

Names as in peers_plugin.py. The plugin shows kilobytes and milliseconds, or bytes and microseconds
for small values, with two digits or the first one that is not 0. Its rows of events have no key:
pairs come in order of release, then allocations without release in order of allocation, then single
releases; our rows of one device are sorted likewise, and compared by place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from peers import Item
from peers_plugin import CASES, latest, load, times_of
from twin.memory_tables import ALL, Selection

MEMORY_CASES = (
    "resnet50_num_workers_0_span1",
    "resnet50_num_workers_4_span1",
    "resnet_all",
    "steps_loader",
    "transformer",
)
UNITS = {
    "B": 1,
    "KB": 1024,
    "MB": 1024**2,
    "GB": 1024**3,
    "us": 1000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
}
STATISTICS = (
    ("calls", "exact"),
    ("increase_bytes", "shown"),
    ("self_increase_bytes", "shown"),
    ("alloc_count", "exact"),
    ("self_alloc_count", "exact"),
    ("alloc_bytes", "shown"),
    ("self_alloc_bytes", "shown"),
)
EVENTS = (
    ("operator", "exact"),
    ("bytes", "shown"),
    ("alloc_ns", "shown"),
    ("free_ns", "shown"),
    ("dur_ns", "shown"),
)
# A pair of two devices: an allocation of the GPU, a release of the CPU.
TWO_DEVICES = "TestProfiler-test_memory_view-1"
TWO_DEVICES_RULE = "paired by address alone, over two devices"
UNWALKED = {("transformer", "aten::reshape"), ("transformer", "ViewBackward0")}
# They began before the range of `transformer` and allocate nothing in it.
BEGAN_BEFORE = {"aten::bmm", "aten::matmul"}


def device(name: str) -> str:
    """Our name for the plugin's CPU, GPU0."""
    return f"cuda:{name[3:]}" if name.startswith("GPU") else name.lower()


def unit(column: dict) -> int:
    """The unit in a title such as `Size (KB)`."""
    title = column["name"]
    return UNITS[title[title.rindex("(") + 1 : -1]] if title.endswith(")") else 1


def statistics_items(
    group: str, case: str, path: Path, table: dict, selection: Selection = ALL
) -> Iterator[Item]:
    """Every number of the statistics."""
    for name, rows in table["rows"].items():
        yield Item(
            group,
            case,
            path,
            "rows",
            len(rows),
            "rows",
            "memory",
            selection=selection,
            key=(("device", device(name)), ("#", "named")),
        )
        for row in rows:
            key = (("device", device(name)), ("name", row[0]))
            for (column, how), title, value in zip(STATISTICS, table["columns"][1:], row[1:]):
                rule = None
                if column == "calls" and (case, row[0]) in UNWALKED:
                    rule = "calls of subtrees without records not counted"
                if (
                    column == "calls"
                    and case == "transformer"
                    and selection is not ALL
                    and row[0] in BEGAN_BEFORE
                ):
                    rule = "a range counts what starts in it (the plugin: what intersects)"
                yield Item(
                    group,
                    case,
                    path,
                    "statistics",
                    value,
                    how,
                    "memory",
                    key=key,
                    column=column,
                    unit=unit(title),
                    selection=selection,
                    rule=rule,
                )


def kind_of(row: list) -> str:
    """The kind of the row, one of three."""
    if row[2] is None:
        return "release"
    return "allocation" if row[3] is None else "pair"


def apart(rows: list[list]) -> list[list]:
    """ROWS with the pair of two devices as the allocation that it is."""
    wrong = next(r for r in rows if r[2:] == [680.0, 739.0, 59.0])
    rest = [r for r in rows if r is not wrong]
    at = next(i for i, r in enumerate(rest) if kind_of(r) == "allocation" and r[2] > 680)
    return [*rest[:at], [*wrong[:3], None, None], *rest[at:]]


def event_items(
    group: str, case: str, path: Path, table: dict, selection: Selection = ALL
) -> Iterator[Item]:
    """Every cell of the list of allocations."""
    for name, rows in table["rows"].items():
        is_wrong = case == TWO_DEVICES and name == "GPU0"
        if is_wrong:
            rows = apart(rows)
        counts = {"pair": 0, "allocation": 0, "release": 0}
        for row in rows:
            kind = kind_of(row)
            key = (("device", device(name)), ("#", (kind, counts[kind])))
            counts[kind] += 1
            for (column, how), title, value in zip(EVENTS, table["columns"], row):
                value = "(none)" if value == "<unknown>" else value
                rule = None
                if is_wrong and row[2] == 680.0 and column in ("free_ns", "dur_ns"):
                    rule = TWO_DEVICES_RULE
                yield Item(
                    group,
                    case,
                    path,
                    "events",
                    value,
                    how,
                    "memory_events",
                    key=key,
                    column=column,
                    unit=unit(title),
                    selection=selection,
                    rule=rule,
                )
        rule = TWO_DEVICES_RULE if case == TWO_DEVICES and name == "CPU" else None
        yield Item(
            group,
            case,
            path,
            "rows",
            len(rows),
            "rows",
            "memory_events",
            key=(("device", device(name)),),
            selection=selection,
            rule=rule,
        )


def curve_items(group: str, case: str, path: Path, curve: dict) -> Iterator[Item]:
    """Every point: the second one of each step (t[i], y[i-1]), (t[i], y[i]); or, if the plugin
    reduced the curve to 10,240 points, each point as one of ours."""
    time, memory = (UNITS[curve["metadata"][f"{what}_metric"]] for what in ("time", "memory"))
    for name, points in curve["rows"].items():
        key = (("device", device(name)),)
        if len(points) >= 10_240:
            for at, allocated, reserved in points:
                yield Item(
                    group,
                    case,
                    path,
                    "reduced curve",
                    (at * time, allocated * memory, reserved * memory),
                    "on_curve",
                    "memory_curve",
                    key=key,
                )
            continue
        yield Item(
            group, case, path, "points", (len(points) + 1) // 2, "rows", "memory_curve", key=key
        )
        for number, (at, allocated, reserved) in enumerate(points[::2]):
            place = (*key, ("#", number))
            for column, value, how in (
                ("time_ns", at * time, "near"),
                ("allocated_bytes", allocated * memory, "near"),
                ("reserved_bytes", reserved * memory, "near"),
            ):
                yield Item(
                    group,
                    case,
                    path,
                    "curve",
                    value,
                    how,
                    "memory_curve",
                    key=place,
                    column=column,
                )


def range_of(path: Path, answer: dict) -> Selection:
    """The plugin's range, both ends included, from our origin."""
    origin, _ = times_of(path)
    return Selection(
        first_ns=answer["start_ts"] * 1000 - origin, end_ns=answer["end_ts"] * 1000 + 1 - origin
    )


def items(shared: Path) -> Iterator[Item]:
    """All the plugin's answers about memory."""
    folder = shared / "expected/tb"
    for case in MEMORY_CASES:
        path = shared / "data" / CASES[case][0]
        kind = "samples" if case.startswith("resnet50") else "torch 2.13"
        group = f"plugin {kind}: memory"
        yield from statistics_items(group, case, path, load(folder / case, "memory_stats.json"))
        # The release uses the step, not the data loader, as the parent; the last source lost rows
        # of the others.
        answer_of = (
            latest
            if case == "steps_loader"
            else (lambda folder, case, name: load(folder / case, name))
        )
        events = answer_of(folder, case, "memory_events.json")
        if events["rows"]:
            yield from event_items(group, case, path, events)
        curve = load(folder / case, "memory_curve.json")
        yield from curve_items(group, case, path, curve)
        if not curve["rows"]:  # PyTorch before 1.10 wrote no totals
            for table in ("memory_curve", "memory_peaks"):
                yield Item(group, case, path, table, 0, "rows", table)
        for name, size in load(folder / case, "memory_peaks.json").items():
            assert name == "0:-1"
            yield Item(
                group,
                case,
                path,
                "peak",
                size,
                "exact",
                "memory_peaks",
                key=(("device", "cpu"),),
                column="peak_bytes",
            )
        for file, convert in (
            ("memory_stats_range.json", statistics_items),
            ("memory_events_range.json", event_items),
        ):
            answer = answer_of(folder, case, file)
            if answer is not None:
                yield from convert(
                    f"{group} of a range", case, path, answer["result"], range_of(path, answer)
                )
    for path in sorted((folder / "vectors").glob("*.input.json")):
        case = path.name.removesuffix(".input.json")
        answer = json.loads(path.with_name(f"{case}.expected.json").read_text())
        if "memory_stats" in answer:
            yield from statistics_items(
                "plugin vectors: memory", case, path, answer["memory_stats"]
            )
            yield from event_items(
                "plugin vectors: memory", case, path, answer["memory_events"]
            )
            yield from curve_items("plugin vectors: memory", case, path, answer["memory_curve"])
