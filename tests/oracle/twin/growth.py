# SPDX-License-Identifier: Apache-2.0
"""`steps`: the operator on which a slow outlier spent more time than the median step."""

from __future__ import annotations

from fractions import Fraction

from . import exact, forest, inventory, kinds, links, operators, steps
from .events import Event, Trace

IN_OTHER = ("scope", "python", "module")  # kinds whose own time is in the class other
MARKED = (*IN_OTHER, "annotation", "communication", "dataloader", "optimizer")


def times(trace: Trace) -> tuple[dict[tuple[str, str], dict[int, int]], set[tuple[str, int]]]:
    """(name, host or device) -> step -> ns of operators, data loaders and other ranges, in order
    of the file by the first call; and names with the steps where not all that is in other."""
    work: dict[Event, list[Event]] = {}
    for event, call in links.launch_of_device_event(trace).items():
        if event.kind in kinds.DEVICE_WORK and event.is_range:
            work.setdefault(call, []).append(event)
    step = inventory.step_of(trace)
    thread = {
        number: one.annotation.track for number, one in steps.numbered(trace) if one.annotation
    }
    nodes = {node.event: node for node in operators.build(trace)}
    found: dict[tuple[str, str], dict[int, int]] = {}
    outside: set[tuple[str, int]] = set()
    for event in sorted((e for e in trace.events if e.is_range), key=lambda e: e.id):
        number, node = step.get(event), nodes.get(event)
        if not event.name or number is None or (node and node.merged_into):
            continue
        if node and (node.is_row or event.kind == "dataloader"):
            own = {
                "host": event.dur - sum(c.event.dur for c in node.children),
                "device": sum(w.dur for call in node.calls for w in work.get(call, [])),
            }
        elif (
            event.kind in MARKED
            and event.is_host
            and event.track == thread.get(number)
            and (event.category or "").lower() != "trace"
        ):
            own = {"host": forest.self_ns(event)}
        else:
            continue
        if event.kind not in IN_OTHER:
            outside.add((event.name, number))
        for side, ns in own.items():
            sums = found.setdefault((event.name, side), {})
            sums[number] = sums.get(number, 0) + ns
    return found, outside


def add(trace: Trace, rows: list[dict]) -> list[dict]:
    """ROWS of `steps` with what grew in each slow outlier, if that is a tenth of what it took
    longer; among equals the host, then the first, then what nobody recorded."""
    kept = [row["step"] for row in rows if row["kept"]]
    middle = exact.median([row["total_ns"] for row in rows if row["kept"]])
    slow = [row for row in rows if row["outlier"] and row["total_ns"] > middle]
    if not slow:
        return rows
    found, outside = times(trace)
    medians = {
        key: exact.median([sums.get(number, 0) for number in kept])
        for key, sums in found.items()
    }
    others = exact.median([row["other_ns"] for row in rows if row["kept"]])
    for row in slow:
        most, best = Fraction(0), ("", "")
        for side in ("host", "device"):
            for (name, where), sums in found.items():
                growth = Fraction(sums.get(row["step"], 0)) - Fraction(medians[name, where])
                if where == side and row["step"] in sums and growth > most:
                    most = growth
                    best = name, side
        growth = Fraction(row["other_ns"]) - Fraction(others)
        is_outside = not best[0] or (best[0], row["step"]) in outside
        if growth - (0 if is_outside else most) > most:
            most, best = growth, ("other", "host")
        more = Fraction(row["total_ns"]) - Fraction(middle)
        if 10 * most >= more:
            row |= {
                "grew": best[0],
                "grew_on": best[1],
                "grew_by_ns": exact.half_up(most),
                "grew_ratio": float(most / more),
            }
    if any("grew" in row for row in rows):  # all rows have the columns, or none
        for row in rows:
            for column in ("grew", "grew_on", "grew_by_ns", "grew_ratio"):
                row.setdefault(column, None)
    return rows
