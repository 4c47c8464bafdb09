# SPDX-License-Identifier: Apache-2.0
"""`kernels` by name and by launch shape and operator (TB 5; R-5.1, R-5.3)."""
from __future__ import annotations

from fractions import Fraction

from . import exact, kinds, links, operators
from .events import Event, Trace

NO_OPERATOR = "(none)"


def quantity(event: Event, key: str) -> Fraction | None:
    """A number in the arguments, also as text; None if there is none ("inf" is none)."""
    return exact.number(event.args.get(key))


def weighted(group: list[Event], key: str, least: int, inclusive: bool) -> float | None:
    """Mean of args[KEY], weighted with durations; missing values and those below LEAST count
    as 0; 0 if all durations are 0. None if no event has a value that counts."""
    values = []
    for event in group:
        value = quantity(event, key)
        usable = value is not None and (value > least or (inclusive and value == least))
        values.append(value if usable else None)
    if all(v is None for v in values):
        return None
    total = sum(e.dur for e in group)
    if total == 0:
        return 0.0
    return float(sum((v or 0) * e.dur for v, e in zip(values, group)) / total)


def dims_text(event: Event, key: str) -> str | None:
    """A list in the arguments as text, such as [256, 1, 1]."""
    value = event.args.get(key)
    return str(value) if isinstance(value, list) else None


def table(trace: Trace, group_by: str | None = None, compat: bool = False) -> list[dict]:
    """`kernels`: all kernel events, attributed or not, in or out of steps."""
    launch = links.launch_of_device_event(trace.events)
    op_of_call = operators.op_of_call(trace)
    groups: dict[tuple, list[Event]] = {}
    for event in trace.events:
        if event.kind != "kernel" or not event.is_range:
            continue
        key: tuple = (event.name,)
        if group_by == "op":
            op = op_of_call.get(launch.get(event))
            key += (op.name if op else NO_OPERATOR, dims_text(event, "grid"),
                    dims_text(event, "block"), event.integer("registers per thread"),
                    event.integer("shared memory"))
        groups.setdefault(key, []).append(event)
    has_blocks = any((quantity(e, "blocks per SM") or 0) > 0
                     for group in groups.values() for e in group)
    has_occupancy = any(
        (quantity(e, "est. achieved occupancy %") or Fraction(0)) >= 0
        and quantity(e, "est. achieved occupancy %") is not None
        for group in groups.values() for e in group)
    rows = []
    for key, group in groups.items():
        cells: dict = {"name": key[0]}
        if group_by == "op":
            cells |= dict(zip(("operator", "grid", "block", "registers_per_thread",
                               "shared_memory_bytes"), key[1:]))
        cells["tensor_cores"] = kinds.kernel_uses_tc(key[0], compat)
        if group_by == "op":
            cells["op_tc_eligible"] = kinds.op_is_tc_eligible(key[1], compat)
        durations = [e.dur for e in group]
        cells |= {"calls": len(group), "total_ns": sum(durations),
                  "mean_ns": float(Fraction(sum(durations), len(group))),
                  "max_ns": max(durations), "min_ns": min(durations)}
        if has_blocks:
            cells["mean_blocks_per_sm"] = weighted(group, "blocks per SM", 0, False) or 0.0
        if has_occupancy:
            occupancy = weighted(group, "est. achieved occupancy %", 0, True) or 0.0
            cells["mean_occupancy_ratio"] = occupancy / 100
        rows.append(cells)
    rows.sort(key=lambda r: -r["total_ns"])
    return rows
