# SPDX-License-Identifier: Apache-2.0
"""`steps`: the operator on which a slow outlier spent more time than the median step."""
from __future__ import annotations

from fractions import Fraction

from . import exact, inventory, kinds, links, operators
from .events import Event, Trace


def times(trace: Trace) -> dict[tuple[str, str], dict[int, int]]:
    """(name, host or device) -> step -> ns of operators and data loaders, in order of the
    file by the first call."""
    work: dict[Event, list[Event]] = {}
    for event, call in links.launch_of_device_event(trace).items():
        if event.kind in kinds.DEVICE_WORK and event.is_range:
            work.setdefault(call, []).append(event)
    step = inventory.step_of(trace)
    found: dict[tuple[str, str], dict[int, int]] = {}
    for node in sorted(operators.build(trace), key=lambda n: n.event.id):
        event = node.event
        if node.merged_into or not (node.is_row or event.kind == "dataloader"):
            continue
        if not event.name:
            continue  # without a name
        number = step.get(event)
        if number is None:
            continue
        own = {"host": event.dur - sum(c.event.dur for c in node.children),
               "device": sum(w.dur for call in node.calls for w in work.get(call, []))}
        for side, ns in own.items():
            sums = found.setdefault((event.name, side), {})
            sums[number] = sums.get(number, 0) + ns
    return found


def add(trace: Trace, rows: list[dict]) -> list[dict]:
    """ROWS of `steps` with what grew in each slow outlier, if that is a tenth of what it took
    longer; among equals the host, then the first, then what nobody recorded."""
    kept = [row["step"] for row in rows if row["kept"]]
    middle = exact.median([row["total_ns"] for row in rows if row["kept"]])
    slow = [row for row in rows if row["outlier"] and row["total_ns"] > middle]
    if not slow:
        return rows
    found = times(trace)
    medians = {key: exact.median([sums.get(number, 0) for number in kept])
               for key, sums in found.items()}
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
        if growth > most:
            most, best = growth, ("other", "host")
        more = Fraction(row["total_ns"]) - Fraction(middle)
        if 10 * most >= more:
            row |= {"grew": best[0], "grew_on": best[1], "grew_by_ns": exact.half_up(most),
                    "grew_ratio": float(most / more)}
    if any("grew" in row for row in rows):  # all rows have the columns, or none
        for row in rows:
            for column in ("grew", "grew_on", "grew_by_ns", "grew_ratio"):
                row.setdefault(column, None)
    return rows
