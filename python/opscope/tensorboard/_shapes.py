# SPDX-License-Identifier: Apache-2.0
"""opscope's tables in the forms that torch-tb-profiler answers with: us, KB, Google's charts.

Numbers are those of ``compat="tb"``, rounded as the plugin does. Help texts are opscope's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any, Union

from .._table import Table
from .._trace import Trace

Number = Union[int, float]
Row = dict[str, Any]
# In the plugin's order; those of ALWAYS every profile has.
VIEWS = (
    "Overview",
    "Operator",
    "Kernel",
    "Trace",
    "Distributed",
    "Memory",
    "Module",
    "Lightning",
)
ALWAYS = ("Overview", "Operator", "Trace")
# Categories of a step: of which column, what it is called, whether all traces have it.
CATEGORIES = (
    ("kernel", "Kernel"),
    ("memcpy", "Memcpy"),
    ("memset", "Memset"),
    ("communication", "Communication"),
    ("runtime", "Runtime"),
    ("dataloader", "DataLoader"),
    ("cpu_exec", "CPU Exec"),
    ("other", "Other"),
)
OF_DEVICES = ("kernel", "memcpy", "memset", "runtime")
UNITS = {
    "B": 1,
    "KB": 1 << 10,
    "MB": 1 << 20,
    "GB": 1 << 30,
    "us": 1000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
}


# --- cells -------------------------------------------------------------------------------------


def rows_of(table: Table) -> list[Row]:
    """The rows of TABLE by the names of columns; None: it is missing."""
    names = list(table)
    columns = [table.head(name, table.n_rows) for name in names]
    return [dict(zip(names, cells)) for cells in zip(*columns)]


def ask(trace: Trace, name: str, **options: object) -> list[Row]:
    """The rows of the table NAME by the plugin's rules."""
    return rows_of(trace.table(name, compat="tb", **options))


def us(ns: Number) -> Number:
    """NS as microseconds, whole ones as an integer."""
    return int(ns) // 1000 if ns % 1000 == 0 else ns / 1000


def whole_us(ns: Number) -> int:
    """NS as whole microseconds."""
    return round(ns / 1000)


def percent(ratio: Number | None) -> float:
    """RATIO as a percentage with two digits."""
    return round(100.0 * (ratio or 0), 2)


def yes(value: bool | None) -> str:
    """Yes or No."""
    return "Yes" if value else "No"


def shown(value: Number) -> Number:
    """VALUE with two digits, or as many as the first that is not 0 needs."""
    small = 0 < abs(value) < 0.01
    return round(value, abs(math.floor(math.log10(abs(value)))) if small else 2)


def unit_of(name: str, of: str) -> int:
    """The size of the unit NAME, which must be one of those in OF."""
    if name not in of.split():
        raise ValueError(f"'{name}' is no unit; there are {of}")
    return UNITS[name]


def column(name: str, kind: str = "number", **more: object) -> Row:
    """A column of a chart."""
    return {"type": kind, "name": name, **more}


def device_name(device: str) -> str:
    """The plugin's name for a device. It has GPU0 for cuda:0 and hip:0, and none for xpu:0."""
    kind, _, number = device.partition(":")
    return ("GPU" if kind in ("cuda", "hip") else kind.upper()) + number


def origin_of(trace: Trace) -> int:
    """The time 0 of TRACE as its file has it, in ns."""
    facts = {row["key"]: row["value"] for row in rows_of(trace.table("info"))}
    return int(facts.get("origin_unix_ns") or 0) - int(
        facts.get("meta.baseTimeNanoseconds") or 0
    )


def views(trace: Trace) -> set[str]:
    """The views that the plugin offers for one profile."""
    found = set(ALWAYS)
    if trace.table("kernels", compat="tb").n_rows:
        found.add("Kernel")
    if trace.table("memory").n_rows:
        found.add("Memory")
    if trace.table("modules", compat="tb").n_rows:
        facts = {row["key"]: row["value"] for row in rows_of(trace.table("info"))}
        found.add(
            "Lightning" if facts.get("meta.Framework") == "pytorch-lightning" else "Module"
        )
    return found


# --- overview ----------------------------------------------------------------------------------


def tooltip(label: str, name: str, total: Number, part: Number) -> str:
    """The text over a bar of a step."""
    share = round(100 * part / total, 2) if total else 0.0
    return (
        '<div class="visualization-tooltip" style="white-space: nowrap;">'
        f"Step {escape(label)}<br>Total: {us(total)}us<br><b>{name}: {us(part)}us</b><br>"
        f"Percentage: {share}%</div>"
    )


def steps(rows: list[Row], used: list[tuple[str, str]]) -> Row:
    """The chart of steps."""
    columns = [column("Step", "string")]
    for _, name in used:
        columns += [column(name), {"type": "string", "role": "tooltip", "p": {"html": "true"}}]
    lines = []
    for row in rows:
        label = row["label"] if row["label"] is not None else str(row["step"])
        line: list[object] = [label]
        for key, name in used:
            part = row[f"{key}_ns"]
            line += [us(part), tooltip(label, name, row["total_ns"], part)]
        lines.append(line)
    return {"columns": columns, "rows": lines}


def gpu_summary(trace: Trace) -> list[Row]:
    """What each device is, and how much of it was used."""
    lines: list[tuple[str, str]] = []
    for row in ask(trace, "devices"):
        lines.append((f"{device_name(row['device']).replace('GPU', 'GPU ')}:", ""))
        if row["name"] is not None:
            lines.append(("Name", row["name"]))
        if row["memory_bytes"] is not None:
            lines.append(("Memory", f"{round(row['memory_bytes'] / (1 << 30), 2)} GB"))
        if row["compute_capability"] is not None:
            lines.append(("Compute Capability", row["compute_capability"]))
        for title, key in (
            ("GPU Utilization", "utilization_ratio"),
            ("Est. SM Efficiency", "sm_efficiency_ratio"),
            ("Est. Achieved Occupancy", "occupancy_ratio"),
            ("Kernel Time using Tensor Cores", "tensor_core_ratio"),
        ):
            if row.get(key) is not None:
                lines.append((title, f"{percent(row[key])} %"))
    return [{"title": title, "value": value} for title, value in lines]


def overview(trace: Trace, n_workers: int) -> Row:
    """The overview of a profile in a run of N_WORKERS."""
    # A trace without steps has no rows.
    average: dict[str, Row] = {
        key: {"avg_ns": 0, "ratio": 0} for key in ("step", *(key for key, _ in CATEGORIES))
    }
    average.update({row["category"]: row for row in ask(trace, "overview")})
    kept = [row for row in ask(trace, "steps") if row["kept"]]
    has_device = any(average[x]["avg_ns"] for x in OF_DEVICES) or "Kernel" in views(trace)
    used = [
        (key, name)
        for key, name in CATEGORIES
        if (key not in OF_DEVICES or has_device)
        and (key != "communication" or average[key]["avg_ns"])
    ]
    advice = [f"{row['title']}. {row['text']}" for row in ask(trace, "advice")]
    found = {
        "steps": steps(kept, used),
        "performance": [
            {
                "name": "Average Step Time",
                "description": "",
                "value": whole_us(average["step"]["avg_ns"]),
                "extra": 100,
                "children": [
                    {
                        "name": name,
                        "description": "",
                        "value": whole_us(average[key]["avg_ns"]),
                        "extra": percent(average[key]["ratio"]),
                    }
                    for key, name in used
                ],
            }
        ],
        "recommendations": "<ul>"
        + "".join(f"<li>{escape(text)}</li>" for text in advice or ["N/A"])
        + "</ul>",
        "environments": [
            {"title": "Number of Worker(s)", "value": str(n_workers)},
            {"title": "Device Type", "value": "GPU" if has_device else "CPU"},
        ],
    }
    devices = gpu_summary(trace)
    if devices:
        found["gpu_metrics"] = {
            "title": "GPU Summary",
            "data": devices,
            "tooltip": help_of(trace.table("devices", compat="tb")),
        }
    return found


def help_of(table: Table) -> str:
    """What the columns of TABLE mean."""
    return "\n".join(f"{c.name}: {c.help}" for c in table.columns)


# --- operators ---------------------------------------------------------------------------------


def pie(title: str | None, pairs: Iterable[tuple[str, Number]]) -> Row:
    """The chart of PAIRS, the largest first."""
    rows = [[name, us(ns)] for name, ns in sorted(pairs, key=lambda x: -x[1])]
    columns = [column("name", "string"), column("value")]
    return {**({"title": title} if title else {}), "columns": columns, "rows": rows}


def operator_pies(trace: Trace, by_shape: bool) -> Row:
    """Four charts; those of a device are null without one."""
    rows = ask(trace, "operators", group_by="shape" if by_shape else None)
    found: Row = {}
    for title, key in (
        ("Device Total", "device_total"),
        ("Device Self", "device_self"),
        ("Host Total", "host_total"),
        ("Host Self", "host_self"),
    ):
        pairs = [
            (row["name"] + (f"###{row['input_shape']}" if by_shape else ""), row[f"{key}_ns"])
            for row in rows
            if row[f"{key}_ns"] > 0
        ]
        is_there = pairs or key.startswith("host")
        found[f"{key}_time"] = pie(f"{title} Time (us)", pairs) if is_there else None
    return found


def operator_rows(trace: Trace, rows: list[Row], also: str) -> Row:
    """The table of ROWS with the column ALSO at the end."""
    has_device = any(row["device_total_ns"] for row in rows) or "Kernel" in views(trace)
    key = "device_self" if has_device else "host_self"
    lines = []
    for row in sorted(rows, key=lambda x: -x[f"{key}_ns"]):
        line: Row = {"name": row["name"]}
        if "input_shape" in row:
            line["input_shape"] = row["input_shape"] or "[]"
        line["calls"] = row["calls"]
        for name in (*("device_self", "device_total") * has_device, "host_self", "host_total"):
            line[f"{name}_duration"] = whole_us(row[f"{name}_ns"])
        line["tc_eligible"] = yes(row["tc_eligible"])
        line["tc_self_ratio"] = percent(row["tc_self_ratio"])
        line["tc_total_ratio"] = percent(row["tc_total_ratio"])
        line[also] = row[also]
        lines.append(line)
    return {
        "metadata": {
            "sort": f"{key}_duration",
            "tooltips": {
                "tc_eligible": "Whether the operator can use Tensor Cores.",
                "tc_self_ratio": "Share of its own kernels' time that uses Tensor Cores.",
                "tc_total_ratio": "The same of all kernels that it and its children launch.",
            },
        },
        "data": lines,
    }


def operators(trace: Trace, by_shape: bool) -> Row:
    """The table of operators."""
    return operator_rows(
        trace, ask(trace, "operators", group_by="shape" if by_shape else None), "has_call_stack"
    )


def stacks(trace: Trace, name: str, shape: str | None) -> Row | None:
    """The stacks of the operator NAME, of one SHAPE if it is given; None: it has none."""
    rows = [
        row
        for row in ask(
            trace, "operators", group_by="shape,stack" if shape is not None else "stack"
        )
        if row["name"] == name
        and row["call_stack"]
        and (shape is None or (row["input_shape"] or "[]") == shape)
    ]
    return operator_rows(trace, rows, "call_stack") if rows else None


# --- kernels -----------------------------------------------------------------------------------


def kernel_pie(trace: Trace) -> Row:
    """The time of each kernel."""
    return {
        "total": pie(None, ((row["name"], row["total_ns"]) for row in ask(trace, "kernels")))
    }


def tensor_core_pie(trace: Trace) -> Row:
    """The share of the time of kernels that use Tensor Cores."""
    rows = ask(trace, "kernels")
    total = sum(row["total_ns"] for row in rows)
    used = sum(row["total_ns"] for row in rows if row["tensor_cores"])
    share = used / total if total else 0.0
    return {
        "total": {
            "columns": [column("name", "string"), column("value")],
            "rows": [["Using Tensor Cores", share], ["Not Using Tensor Cores", 1.0 - share]],
        }
    }


def kernels(trace: Trace, by_operator: bool) -> Row:
    """The table of kernels, by their properties and operators or by their names alone."""
    rows = ask(trace, "kernels", group_by="op" if by_operator else None)
    has_blocks = any(row.get("mean_blocks_per_sm") for row in rows)
    has_occupancy = any(row.get("mean_occupancy_ratio") is not None for row in rows)
    if by_operator:
        columns = [column(x, "string") for x in ("Name", "Operator", "Grid", "Block")]
        columns += [column("Register Per Thread"), column("Shared Memory")]
        columns += [
            column("Kernel Uses Tensor Cores", "string"),
            column("Op is Tensor Cores eligible", "string"),
        ]
    else:
        columns = [column("Name", "string"), column("Tensor Cores Used", "string")]
    columns += [column("Calls")]
    columns += [column(f"{x} Duration (us)") for x in ("Total", "Mean", "Max", "Min")]
    columns += [column("Mean Blocks Per SM")] * has_blocks
    columns += [column("Mean Est. Achieved Occupancy (%)")] * has_occupancy
    lines = []
    for row in rows:
        exact = us if by_operator else whole_us
        line: list[object] = [row["name"]]
        if by_operator:
            line += [
                row["operator"],
                row.get("grid") or "None",
                row.get("block") or "None",
                str(row.get("registers_per_thread") or 0),
                str(row.get("shared_memory_bytes") or 0),
            ]
        line.append(yes(row["tensor_cores"]))
        if by_operator:
            line.append(yes(row["op_tc_eligible"]))
        line += [
            row["calls"],
            exact(row["total_ns"]),
            whole_us(row["mean_ns"]),
            exact(row["max_ns"]),
            exact(row["min_ns"]),
        ]
        if has_blocks:
            line.append(round(row["mean_blocks_per_sm"] or 0, 2))
        if has_occupancy:
            line.append(percent(row["mean_occupancy_ratio"]))
        lines.append(line)
    return {
        "metadata": {"sort": "Total Duration (us)"},
        "data": {"columns": columns, "rows": lines},
    }


# --- memory ------------------------------------------------------------------------------------


def span_options(trace: Trace, part: tuple[int | None, int | None]) -> Row:
    """The options that select PART, whose both ends are in it."""
    first, last = part
    origin = origin_of(trace) if part != (None, None) else 0
    found = {}
    if first is not None:
        found["from_"] = f"{max(first * 1000 - origin, 0)}ns"
    if last is not None:
        found["to"] = f"{max(last * 1000 + 1 - origin, 0)}ns"
    return found


def default_device(names: Iterable[str]) -> str:
    """The first GPU, or else the CPU."""
    return next((name for name in sorted(names) if name.startswith("GPU")), "CPU")


def memory(trace: Trace, part: tuple[int | None, int | None], unit: str) -> Row:
    """What operators allocate and release."""
    size = unit_of(unit, "B KB MB GB")
    lines: dict[str, list[list[object]]] = {}
    table = rows_of(trace.table("memory", **span_options(trace, part)))
    for row in sorted(table, key=lambda x: x["name"]):
        if row["name"] != "(none)":
            lines.setdefault(device_name(row["device"]), []).append(
                [
                    row["name"],
                    row["calls"],
                    shown(row["increase_bytes"] / size),
                    shown(row["self_increase_bytes"] / size),
                    row["alloc_count"],
                    row["self_alloc_count"],
                    shown(row["alloc_bytes"] / size),
                    shown(row["self_alloc_bytes"] / size),
                ]
            )
    columns = [{"name": "Operator Name", "type": "string"}]
    columns += [
        {"name": name, "type": "number"}
        for name in (
            "Calls",
            f"Size Increase ({unit})",
            f"Self Size Increase ({unit})",
            "Allocation Count",
            "Self Allocation Count",
            f"Allocation Size ({unit})",
            f"Self Allocation Size ({unit})",
        )
    ]
    return {
        "metadata": {
            "title": "Memory View",
            "default_device": default_device(lines),
            "search": "Operator Name",
            "sort": f"Self Size Increase ({unit})",
        },
        "columns": columns,
        "rows": lines,
    }


def memory_curve(trace: Trace, time_unit: str, unit: str) -> Row:
    """The memory in use and reserved: two points for each record but the first, as steps. Unlike
    the plugin's, never reduced."""
    ns, size = unit_of(time_unit, "us ms s"), unit_of(unit, "B KB MB GB")
    lines: dict[str, list[list[Number]]] = {}
    peaks: dict[str, int] = {}
    for row in rows_of(trace.table("memory_curve")):
        device = device_name(row["device"])
        points = lines.setdefault(device, [])
        point = [
            row["time_ns"] / ns,
            row["allocated_bytes"] / size,
            row["reserved_bytes"] / size,
        ]
        if points:
            points.append([point[0], *points[-1][1:]])
        points.append(point)
        peaks[device] = max(peaks.get(device, 0), row["allocated_bytes"])
    return {
        "metadata": {
            "default_device": default_device(lines),
            "devices": sorted(lines),
            "peaks": {
                device: f"Peak Memory Usage: {peak / size:.1f}{unit}"
                for device, peak in peaks.items()
            },
            "totals": {
                device_name(row["device"]): row["memory_bytes"] / size
                for row in ask(trace, "devices")
                if row["memory_bytes"] is not None and device_name(row["device"]) in lines
            },
            "first_ts": us(origin_of(trace)),
            "time_metric": time_unit,
            "memory_metric": unit,
            "time_factor": 1000 / ns,
            "memory_factor": 1 / size,
        },
        "columns": [
            column(f"Time ({time_unit})"),
            column(f"Allocated ({unit})"),
            column(f"Reserved ({unit})"),
        ],
        "rows": lines,
    }


def memory_events(
    trace: Trace, part: tuple[int | None, int | None], time_unit: str, unit: str
) -> Row:
    """Allocations with their releases, in the order of these; then those without, then releases
    without allocation. An end outside PART counts as missing."""
    ns, size = unit_of(time_unit, "us ms s"), unit_of(unit, "B KB MB GB")
    origin = origin_of(trace)
    first = -math.inf if part[0] is None else part[0] * 1000 - origin
    last = math.inf if part[1] is None else part[1] * 1000 - origin
    found: list[tuple[Row, list[Any]]] = []
    # Before PyTorch 1.10 records have no totals, and no addresses by which they would be paired.
    has_addresses = trace.table("memory_curve").n_rows > 0
    for row in rows_of(trace.table("memory_events", **span_options(trace, part))):
        ends: list[Any] = [
            None if x is None or not first <= x <= last else x
            for x in (row["alloc_ns"], row["free_ns"])
        ]
        if has_addresses and ends != [None, None]:
            found.append((row, ends))
    found.sort(
        key=lambda x: (
            x[1][0] is None,
            x[1][1] is None,
            x[1][0] if x[1][1] is None else x[1][1],
        )
    )
    lines: dict[str, list[list[object]]] = {}
    for row, ends in found:
        times = [
            None if x is None else shown(x / ns)
            for x in (*ends, None if None in ends else ends[1] - ends[0])
        ]
        name = "<unknown>" if row["operator"] in (None, "(none)") else row["operator"]
        lines.setdefault(device_name(row["device"]), []).append(
            [name, shown(row["bytes"] / size), *times]
        )
    return {
        "metadata": {"title": "Memory Events", "default_device": default_device(lines)},
        "columns": [column("Operator", "string", tooltip="")]
        + [
            column(name, tooltip="")
            for name in (
                f"Size ({unit})",
                f"Allocation Time ({time_unit})",
                f"Release Time ({time_unit})",
                f"Duration ({time_unit})",
            )
        ],
        "rows": lines,
    }
