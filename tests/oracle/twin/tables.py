# SPDX-License-Identifier: Apache-2.0
"""The entry point: any table of a file by its name, as a list of rows."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from . import (
    advice,
    averages,
    devices,
    durations,
    events,
    explain,
    flows,
    forest,
    growth,
    inventory,
    kernels,
    memory_tables,
    memory_versions,
    merging,
    modules,
    operators,
    points,
    quality,
    ranges,
    rank_quality,
    ranks,
    reader,
    runs,
    steps,
    stragglers,
)
from .events import Trace

NAMES = (
    "averages",
    "operators",
    "kernels",
    "steps",
    "step_explain",
    "overview",
    "events",
    "threads",
    "tracks",
    "info",
    "quality",
    "flows",
    "ranges",
    "durations",
    "points",
    "devices",
    "utilization",
    "modules",
    "advice",
    "memory_versions",
    *memory_tables.TABLES,
    *ranks.TABLES,
)


def own(what: str) -> dict:
    """What the modules of tables say themselves in WHAT. ROWS has for each table of one run a
    function, which makes the rows of one trace, and the column by which those of a rank are sorted,
    the largest first; PAIRS for each table of two runs a function, which makes the rows of the traces
    of both."""
    found: dict = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if re.search(f"^{what} = ", path.read_text(encoding="utf-8"), re.M):
            found.update(getattr(importlib.import_module(f".{path.stem}", __package__), what))
    return found


OWN, PAIRS = own("ROWS"), own("PAIRS")
NAMES = (*NAMES, *OWN)


def load(path: Path) -> Trace:
    """The trace in a file, with its forest."""
    return of_file(reader.read(Path(path)))


def of_file(file: reader.File) -> Trace:
    """The trace in FILE."""
    trace = events.build(file)
    forest.build(trace)
    return trace


def averages_grouping(group_by: str | None) -> dict:
    """`shape`, `dtype` and `stack:N`, any of them, as arguments of averages.table."""
    result: dict = {}
    for part in (group_by or "").split(","):
        if part == "shape":
            result["by_shape"] = True
        elif part == "dtype":
            result["by_dtype"] = True
        elif part.startswith("stack:"):
            result["stack_n"] = int(part[6:])
    return result


def table(
    run: Trace | list[Trace],
    name: str,
    group_by: str | None = None,
    compat: bool = False,
    python: bool = True,
    merged: bool = False,
    selection: memory_tables.Selection = memory_tables.ALL,
    rules: steps.Rules = steps.USUAL,
) -> list[dict]:
    """The rows of table NAME. COMPAT is --compat tb, PYTHON false is --no-python, MERGED is
    --merge; SELECTION is for the tables of memory, RULES for those of steps. With several ranks or spans each has its own
    rows, which begin with the columns rank and span."""
    if name == "stragglers" and group_by == "step":
        return stragglers.by_step([run] if isinstance(run, Trace) else run)
    if name in ("ranks", "rank_stats"):
        return ranks.TABLES[name]([run] if isinstance(run, Trace) else run, compat, rules)
    if name in ranks.TABLES:
        return ranks.TABLES[name]([run] if isinstance(run, Trace) else run, compat)
    found = runs.blocks([run] if isinstance(run, Trace) else run, merged)
    if name == "quality":
        found[0][0].kept["side by side"] = rank_quality.rows(
            [run] if isinstance(run, Trace) else run
        )
    late = (
        stragglers.advice_row(run)
        if name == "advice" and not compat and isinstance(run, list) and len(run) > 1
        else None
    )
    rows = []
    for block in found:
        lead = {"rank": block[0].rank, "span": block[0].span} if len(found) > 1 else {}
        own = (
            sorted(
                (
                    row
                    for trace in block
                    for row in memory_tables.live_table(trace, selection, group_by)
                ),
                key=lambda row: -row["bytes"],
            )
            if name == "memory_live"
            else [
                row for trace in block for row in memory_tables.TABLES[name](trace, selection)
            ]
            if name in memory_tables.TABLES
            else of_steps(block, name, compat, rules)
            if name in STEPS
            else rows_of(block, name, group_by, compat, python)
        )
        if late and (len(found) == 1 or late[0] == (block[0].rank, block[0].span)):
            own = sorted([*own, late[1]], key=lambda row: -row["impact_ns"])
        rows += [{**row, **lead} for row in own]
    return ranges.with_places(rows, group_by) if name in ("ranges", "durations") else rows


STEPS = ("steps", "overview", "devices")


def of_steps(block: list[Trace], name: str, compat: bool, rules: steps.Rules) -> list[dict]:
    """The rows of a table that depends on the rules of steps."""
    if name == "devices":
        return [row for trace in block for row in devices.devices_table(trace, compat, rules)]
    with_steps = [trace for trace in block if trace.kept.get("steps beside") != "theirs"]
    if name == "overview":
        return steps.overview_table(with_steps, compat, rules)
    return merging.steps(
        [growth.add(trace, steps.steps_table(trace, compat, rules)) for trace in with_steps]
    )


def rows_of(
    block: list[Trace], name: str, group_by: str | None, compat: bool, python: bool
) -> list[dict]:
    """The rows of table NAME over the traces of one block."""
    with_steps = [trace for trace in block if trace.kept.get("steps beside") != "theirs"]
    if name == "averages":
        return averages.table(block, **averages_grouping(group_by), python=python)
    if name == "operators":
        return operators.table(block, group_by, compat)
    if name == "kernels":
        return kernels.table(block, group_by, compat)
    if name == "ranges":
        return ranges.table(block, group_by)
    if name == "durations":
        return durations.table(block)
    if name == "points":
        return points.table(block)
    if name == "step_explain":
        return explain.step_explain(with_steps)
    if name == "advice":
        return advice.table(with_steps, compat)
    if name == "info":
        return inventory.info_table(block)
    if name == "quality":
        return merging.quality(
            [
                *(
                    [
                        row
                        for row in quality.table(trace)
                        if row["code"] != "no_steps" or trace in with_steps
                    ]
                    for trace in block
                ),
                quality.of_files(block[0]),
                block[0].kept.get("side by side", []),
            ]
        )
    if name == "modules":
        return [row for trace in block for row in modules.one(trace, group_by, compat)]
    if name in OWN:
        make, column = OWN[name]
        return sorted((r for t in block for r in make(t)), key=lambda row: -row[column])
    of_one = {
        "events": inventory.events_table,
        "threads": inventory.threads_table,
        "tracks": inventory.tracks_table,
        "flows": flows.table,
        "utilization": devices.utilization_table,
        "memory_versions": memory_versions.table,
    }[name]
    return [row for trace in block for row in of_one(trace)]
