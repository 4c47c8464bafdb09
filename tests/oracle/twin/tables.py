# SPDX-License-Identifier: Apache-2.0
"""The way in: any table of a file by its name (product.md 4), as a list of rows."""
from __future__ import annotations

from pathlib import Path

from . import (advice, averages, devices, events, flows, forest, growth, inventory, kernels,
               memory_tables, modules, operators, reader, steps)
from .events import Trace

NAMES = ("averages", "operators", "kernels", "steps", "overview", "events", "threads",
         "tracks", "info", "flows", "devices", "utilization", "modules", "advice",
         *memory_tables.TABLES)


def load(path: Path) -> Trace:
    """The trace in a file, with its forest."""
    trace = events.build(*reader.read(Path(path)))
    overlaps = forest.build(trace.events)
    if overlaps:
        trace.counts["partial_overlap"] = overlaps
    return trace


def averages_grouping(group_by: str | None) -> dict:
    """`shape`, `stack:N` or `shape,stack:N` as arguments of averages.table."""
    result: dict = {}
    for part in (group_by or "").split(","):
        if part == "shape":
            result["by_shape"] = True
        elif part.startswith("stack:"):
            result["stack_n"] = int(part[6:])
    return result


def table(trace: Trace, name: str, group_by: str | None = None, compat: bool = False,
          python: bool = True,
          selection: memory_tables.Selection = memory_tables.ALL) -> list[dict]:
    """The rows of table NAME. COMPAT is --compat tb, PYTHON false is --no-python; SELECTION
    is for the tables of memory."""
    if name in memory_tables.TABLES:
        return memory_tables.TABLES[name](trace, selection)
    if name == "averages":
        return averages.table(trace, **averages_grouping(group_by), python=python)
    if name == "operators":
        return operators.table(trace, group_by, compat)
    if name == "kernels":
        return kernels.table(trace, group_by, compat)
    if name == "steps":
        return growth.add(trace, steps.steps_table(trace, compat))
    if name == "advice":
        return advice.table([trace], compat)
    if name == "overview":
        return steps.overview_table(trace, compat)
    if name == "modules":
        return modules.one(trace, group_by, compat)
    if name == "flows":
        return flows.table(trace)
    if name == "devices":
        return devices.devices_table(trace, compat)
    if name == "utilization":
        return devices.utilization_table(trace)
    return {"events": inventory.events_table, "threads": inventory.threads_table,
            "tracks": inventory.tracks_table, "info": inventory.info_table}[name](trace)
