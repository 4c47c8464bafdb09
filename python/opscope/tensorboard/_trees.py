# SPDX-License-Identifier: Apache-2.0
"""More forms of _shapes.py: trees, and what is of several profiles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._trace import Trace
from ._shapes import Row, ask, column, device_name, origin_of, rows_of, us

# Kinds of events that the tree of operators has, by the plugin's names.
NODES = {
    "operator": "Operator",
    "step": "ProfilerStep",
    "module": "Module",
    "annotation": "UserAnnotation",
    "dataloader": "DataLoader",
    "optimizer": "Optimizer",
}


# --- trees -------------------------------------------------------------------------------------


def modules(trace: Trace) -> Row | None:
    """The table of modules; None: there are none."""
    rows = ask(trace, "modules")
    top: list[Row] = []
    below: list[list[Row]] = [top]  # the lists that rows of depth 0, 1, … go to
    for row in rows:
        total = row["device_total_ns"] or row["host_total_ns"]
        children: list[Row] = []
        del below[row["depth"] + 1 :]
        below[-1].append(
            {
                "name": row["name"],
                "id": row["module_id"],
                "occurences": row["calls"],
                "operators": row["operators"],
                "host_duration": us(row["host_total_ns"]),
                "self_host_duration": us(row["host_self_ns"]),
                "device_duration": us(row["device_total_ns"]),
                "self_device_duration": us(row["device_self_ns"]),
                "avg_duration": us(total) / row["calls"] if row["calls"] else 0,
                "children": children,
            }
        )
        below.append(children)
    columns = [column("Module Name", "string", key="name")]
    columns += [
        column(name, key=key)
        for name, key in (
            ("Occurences", "occurences"),
            ("Operators", "operators"),
            ("Host Total Time", "host_duration"),
            ("Host Self Time", "self_host_duration"),
            ("Device Total Time", "device_duration"),
            ("Device Self Time", "self_device_duration"),
        )
    ]
    return {"columns": columns, "data": top} if rows else None


def tree(trace: Trace) -> Row:
    """The events of the first thread that has operators, as they enclose each other. Unlike the
    plugin's, all of them."""
    origin = origin_of(trace)
    table = trace.table(
        "events",
        where="kind in ({})".format(",".join(f"'{kind}'" for kind in NODES)),
        columns=["id", "kind", "name", "process", "thread", "start_ns", "dur_ns"],
    )
    rows = [row for row in rows_of(table) if row["dur_ns"] is not None]
    first = next((row for row in rows if row["kind"] == "operator"), None)
    if first is None:
        return node("CallTreeRoot", 0, 0, "Python", None)
    place = (first["process"], first["thread"])
    rows = [row for row in rows if (row["process"], row["thread"]) == place]
    rows.sort(key=lambda row: (row["start_ns"], -row["dur_ns"]))
    end = max(row["start_ns"] + row["dur_ns"] for row in rows)
    thread = int(place[1]) if str(place[1]).isdigit() else place[1]
    root = node(
        "CallTreeRoot", us(rows[0]["start_ns"] + origin), us(end + origin), "Python", thread
    )
    open_ones = [(end, root)]
    for row in rows:
        until = row["start_ns"] + row["dur_ns"]
        while len(open_ones) > 1 and open_ones[-1][0] < until:
            open_ones.pop()
        made = node(
            row["name"],
            us(row["start_ns"] + origin),
            us(until + origin),
            NODES[row["kind"]],
            thread,
        )
        open_ones[-1][1]["children"].append(made)
        open_ones.append((until, made))
    return root


def node(name: str, start: object, end: object, kind: str, thread: object) -> Row:
    """A node of the tree."""
    return {
        "name": name,
        "start_time": start,
        "end_time": end,
        "type": kind,
        "tid": thread,
        "children": [],
    }


# --- several ranks -----------------------------------------------------------------------------


def workers_of(trace: Trace) -> dict[int, str]:
    """The names of ranks: their workers."""
    return {
        row["rank"]: row["worker"] or f"rank{row['rank']}"
        for row in rows_of(trace.table("ranks"))
    }


def communicates(trace: Trace) -> bool:
    """Whether every rank has collectives, without which the plugin has no such view."""
    ranks = {row["rank"] for row in ask(trace, "collectives")}
    return bool(ranks) and ranks == set(workers_of(trace))


def gpu_info(profiles: Iterable[tuple[str, Trace]]) -> Row | None:
    """The devices of each worker, by node and process; None: there are none."""
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for number, (worker, trace) in enumerate(sorted(profiles, key=lambda x: x[0])):
        named = re.match(r"(.*)_(\d+)", worker)
        place, process = (named[1], int(named[2])) if named else (worker, number)
        for row in ask(trace, "devices"):
            info: dict[str, Any] = {"Name": row["name"]}
            if row["memory_bytes"] is not None:
                info["Memory"] = f"{round(row['memory_bytes'] / (1 << 30), 2)} GB"
                info["Memory Raw"] = row["memory_bytes"]
            if row["compute_capability"] is not None:
                info["Compute Capability"] = row["compute_capability"]
            found.setdefault(place, {}).setdefault(f"Process {process}", {})[
                device_name(row["device"])
            ] = info
    return {"metadata": {"title": "Device Information"}, "data": found} if found else None


def by_step(
    trace: Trace, table: str, keys: tuple[str, ...]
) -> dict[str, dict[str, list[object]]]:
    """The columns KEYS of TABLE by step and worker; means are cut to whole us."""
    workers = workers_of(trace)
    found: dict[str, dict[str, list[object]]] = {}
    for row in ask(trace, table):
        step = "null" if row["step"] is None else row["step"]
        found.setdefault(step, {})[workers[row["rank"]]] = [
            int(row[key] // 1000) if step == "all" else us(row[key]) for key in keys
        ]
    return {"all": found.pop("all"), **found} if "all" in found else found


def overlap(trace: Trace) -> Row:
    """How much of the communication runs while the rank computes."""
    return {
        "metadata": {
            "title": "Computation/Communication Overview",
            "units": "us",
            "legends": ["Computation", "Overlapping", "Communication", "Other"],
        },
        "data": by_step(
            trace,
            "rank_overlap",
            ("computation_ns", "overlapping_ns", "communication_ns", "other_ns"),
        ),
    }


def wait_time(trace: Trace) -> Row:
    """How much of the communication is waiting for others."""
    return {
        "metadata": {
            "title": "Synchronizing/Communication Overview",
            "units": "us",
            "legends": ["Data Transfer Time", "Synchronizing Time"],
        },
        "data": by_step(trace, "rank_wait", ("data_transfer_ns", "synchronizing_ns")),
    }


def operations(trace: Trace) -> Row:
    """The collectives of each worker."""
    columns = [column("Name", "string")] + [
        column(name)
        for name in (
            "Calls",
            "Total Size (bytes)",
            "Avg Size (bytes)",
            "Total Latency (us)",
            "Avg Latency (us)",
            "Data Transfer Time (us)",
            "Avg Data Transfer Time (us)",
        )
    ]
    workers = workers_of(trace)
    found: dict[str, Row] = {}
    for row in ask(trace, "collectives"):
        n = row["calls"]
        entry = found.setdefault(workers[row["rank"]], {"columns": columns, "rows": []})
        size, latency = row["total_bytes"] or 0, row["total_latency_ns"]
        transfer = row["data_transfer_ns"] or 0
        entry["rows"].append(
            [
                row["name"],
                n,
                size,
                round(size / n),
                us(latency),
                round(latency / n / 1000),
                us(transfer),
                round(transfer / n / 1000),
            ]
        )
    return {"metadata": {"title": "Communication Operations Stats"}, "data": found}


# --- pairs of two profiles ---------------------------------------------------------------------


def side(row: Row, which: str) -> Row:
    """One side of a pair. For a group of nodes there is no sum of device or else host time; no
    table has the operators below a pair."""
    name, host, device = (row[f"{which}_{x}"] for x in ("name", "ns", "device_ns"))
    total = None if name == "CompositeNodes" else us(device or host or 0)
    return {
        "name": name,
        "duration": us(host or 0),
        "device_duration": us(device or 0),
        "total_duration": total,
        "aggs": [],
    }


def children_of(pairs: dict[str, Row], path: str) -> list[str]:
    """The paths of the pairs directly below PATH."""
    found: list[str] = []
    while (below := f"{path}-{len(found)}") in pairs:
        found.append(below)
    return found


def pairs_below(pairs: dict[str, Row], path: str) -> Row:
    """The pair at PATH with all below it."""
    row = pairs[path]
    return {
        "left": side(row, "base"),
        "right": side(row, "new"),
        "children": [pairs_below(pairs, below) for below in children_of(pairs, path)],
    }


def pair_with_children(pairs: dict[str, Row], path: str) -> Row:
    """The pair at PATH and those directly below it."""
    return {
        "left": side(pairs[path], "base"),
        "right": side(pairs[path], "new"),
        "path": path,
        "children": [
            {
                "left": side(pairs[below], "base"),
                "right": side(pairs[below], "new"),
                "path": below,
            }
            for below in children_of(pairs, path)
        ],
    }
