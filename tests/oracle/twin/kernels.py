# SPDX-License-Identifier: Apache-2.0
"""`kernels` by name and by launch shape and operator."""

from __future__ import annotations

from fractions import Fraction

from . import exact, kinds, links, operators
from .events import Event, Trace

NO_OPERATOR = "(none)"
BLOCKS, OCCUPANCY = "blocks per SM", "est. achieved occupancy %"


def quantity(event: Event, key: str) -> Fraction | None:
    """A number in the arguments, also as text; None if there is none that fits in a double ("inf"
    does not)."""
    value = event.args.get(key)
    return None if exact.double(value) is None else exact.number(value)


def usable(event: Event, key: str) -> Fraction | None:
    """The number if it is usable: blocks above 0, an occupancy of 0 or more, neither beyond
    2^64."""
    value = quantity(event, key)
    counts = (
        value is not None and value <= 2**64 and (value >= 0 if key == OCCUPANCY else value > 0)
    )
    return value if counts else None


def weighted(group: list[Event], key: str) -> float:
    """Mean of args[KEY], weighted by durations; missing and unusable values count as 0; 0 if all
    durations are 0."""
    total = sum(e.dur for e in group)
    if total == 0:
        return 0.0
    return float(sum((usable(e, key) or 0) * e.dur for e in group) / total)


def dims_text(event: Event, key: str) -> str | None:
    """A list in the arguments as text, such as [256, 1, 1]."""
    value = event.args.get(key)
    return str(value) if isinstance(value, list) else None


def grouped(traces: list[Trace], by_op: bool) -> dict[tuple, list[tuple[int, Event]]]:
    """All kernel events, attributed or not, in or out of steps, by their keys; each with the
    number of its trace."""
    groups: dict[tuple, list[tuple[int, Event]]] = {}
    for number, trace in enumerate(traces):
        launch = links.launch_of_device_event(trace)
        op_of_call = operators.op_of_call(trace)
        for event in trace.events:
            if event.kind != "kernel" or not event.is_range:
                continue
            key: tuple = (event.name,)
            if by_op:
                op = op_of_call.get(launch.get(event))
                key += (
                    op.name if op else NO_OPERATOR,
                    dims_text(event, "grid"),
                    dims_text(event, "block"),
                    event.integer("registers per thread"),
                    event.integer("shared memory"),
                )
            groups.setdefault(key, []).append((number, event))
    return groups


def table(traces: list[Trace], group_by: str | None = None, compat: bool = False) -> list[dict]:
    """`kernels`. A row has a mean if any kernel of one of its traces has a usable value."""
    groups = grouped(traces, group_by == "op")
    with_values = {
        key: {
            number
            for events in groups.values()
            for number, e in events
            if usable(e, key) is not None
        }
        for key in (BLOCKS, OCCUPANCY)
    }
    rows = []
    for key, numbered in groups.items():
        events = [event for _, event in numbered]
        numbers = {number for number, _ in numbered}
        cells: dict = {"name": key[0]}
        if group_by == "op":
            cells |= dict(
                zip(
                    (
                        "operator",
                        "grid",
                        "block",
                        "registers_per_thread",
                        "shared_memory_bytes",
                    ),
                    key[1:],
                )
            )
        cells["tensor_cores"] = kinds.kernel_uses_tc(key[0], compat)
        if group_by == "op":
            cells["op_tc_eligible"] = kinds.op_is_tc_eligible(key[1], compat)
        durations = [e.dur for e in events]
        cells |= {
            "calls": len(events),
            "total_ns": sum(durations),
            "mean_ns": float(Fraction(sum(durations), len(events))),
            "max_ns": max(durations),
            "min_ns": min(durations),
        }
        for column, name, scale in (
            ("mean_blocks_per_sm", BLOCKS, 1),
            ("mean_occupancy_ratio", OCCUPANCY, 100),
        ):
            if with_values[name]:
                cells[column] = (
                    weighted(events, name) / scale if with_values[name] & numbers else None
                )
        rows.append(cells)
    rows.sort(key=lambda r: -r["total_ns"])
    return rows
