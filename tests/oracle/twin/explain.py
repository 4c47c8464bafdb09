# SPDX-License-Identifier: Apache-2.0
"""`step_explain` and `siblings`."""

from __future__ import annotations

import bisect
from fractions import Fraction

from . import exact, forest, growth, inventory, kinds, operators, steps
from .events import Event, Trace
from .ranges import name_of, place_word

ORDER = ("operator", "kernel", "memcpy", "memset")  # of rows with equal differences


def counted(trace: Trace) -> dict[tuple[str, str], dict[int, list[int]]]:
    """(kind, name) -> step -> the times of what counts there, in order of the file."""
    step = inventory.step_of(trace)
    thread = {
        number: one.annotation.track for number, one in steps.numbered(trace) if one.annotation
    }
    nodes = {node.event: node for node in operators.build(trace)}
    found: dict[tuple[str, str], dict[int, list[int]]] = {}

    def add(kind: str, event: Event, ns: int) -> None:
        found.setdefault((kind, event.name), {}).setdefault(step[event], []).append(ns)

    for event in sorted((e for e in trace.events if e.is_range), key=lambda e: e.id):
        node = nodes.get(event)
        if not event.name or event not in step:
            continue
        if event.kind in kinds.DEVICE_WORK:
            add(event.kind, event, event.dur)
        elif node and node.merged_into:
            continue
        elif node and (node.is_row or event.kind == "dataloader"):
            add("operator", event, event.dur - sum(c.event.dur for c in node.children))
        elif (
            event.kind in growth.MARKED
            and event.is_host
            and event.track == thread.get(step[event])
            and (event.category or "").lower() != "trace"
        ):
            add("operator", event, forest.self_ns(event))
    return found


def of_trace(trace: Trace) -> list[dict]:
    """Rows of one trace; medians are twice their value."""
    table = steps.steps_table(trace)
    kept = [row["step"] for row in table if row["kept"]]
    if not kept:
        return []
    rows = []

    def add(kind: str, name: str, times: dict[int, int], calls: dict[int, int] | None) -> None:
        median = 2 * exact.median([times.get(n, 0) for n in kept])
        usual = calls and 2 * exact.median([calls.get(n, 0) for n in kept])
        for row in table:
            number = row["step"]
            if calls is None or median or usual or number in calls:
                rows.append(
                    {
                        "step": number,
                        "kind": kind,
                        "name": name,
                        "of_process": row.get("of_process"),
                        "ns": times.get(number, 0),
                        "median": median,
                        "calls": None if calls is None else calls.get(number, 0),
                        "usual": usual,
                    }
                )

    for name in ("total", *steps.CATEGORIES, "other"):
        add(
            "category",
            "step" if name == "total" else name,
            {row["step"]: row[f"{name}_ns"] for row in table},
            None,
        )
    found = counted(trace)
    for (kind, name), by_step in sorted(
        found.items(), key=lambda item: ORDER.index(item[0][0])
    ):
        add(
            kind,
            name,
            {n: sum(v) for n, v in by_step.items()},
            {n: len(v) for n, v in by_step.items()},
        )
    return rows


def step_explain(traces: list[Trace]) -> list[dict]:
    """`step_explain` of TRACES together, which have steps: what each step spent more or less than
    the median of the kept ones."""
    merged: dict[tuple, dict] = {}
    for trace in traces:
        for row in of_trace(trace):
            key = tuple(row[c] for c in ("step", "kind", "name", "of_process"))
            one = merged.setdefault(
                key,
                {
                    **row,
                    "ns": 0,
                    "median": 0,
                    "calls": row["calls"] and 0,
                    "usual": row["usual"] and 0,
                },
            )
            for column in ("ns", "median", "calls", "usual"):
                if row[column] is not None:
                    one[column] = (one[column] or 0) + row[column]
    rows = [
        {
            "step": row["step"],
            "kind": row["kind"],
            "name": row["name"],
            "ns": row["ns"],
            "median_ns": float(Fraction(row["median"], 2)),
            "mean_delta_ns": float(row["ns"] - Fraction(row["median"], 2)),
            "calls": row["calls"],
            "median_calls": None if row["calls"] is None else float(Fraction(row["usual"], 2)),
        }
        for row in merged.values()
    ]
    return sorted(rows, key=lambda row: -abs(row["mean_delta_ns"]))


def siblings(
    traces: list[Trace], name: str | None = None, event: int | None = None
) -> list[dict]:
    """`siblings` of TRACES together: ranges called NAME, or like the range EVENT. A NAME that none
    has and that ends with '*' stands for all that begin so."""

    def is_called(trace: Trace, one: Event) -> bool:
        own = (one.name, name_of(trace, one))
        return name in own or (
            begin is not None and any(x is not None and x.startswith(begin) for x in own)
        )

    found: list[tuple[Trace, Event]] = []
    for trace in traces:
        ranges = [e for e in trace.events if e.dur is not None]
        is_exact = any(name in (e.name, name_of(trace, e)) for e in ranges)
        begin = name[:-1] if name and name.endswith("*") and not is_exact else None
        like = [e for e in ranges if e.id == event]
        for one in ranges:
            if (event is None and is_called(trace, one)) or (
                like
                and (name_of(trace, one), one.kind, place_word(trace, one))
                == (name_of(trace, like[0]), like[0].kind, place_word(trace, like[0]))
            ):
                found.append((trace, one))
    durations: dict[tuple, list[int]] = {}
    for trace, one in found:
        durations.setdefault(
            (one.kind, place_word(trace, one), name_of(trace, one)), []
        ).append(one.dur)
    for same in durations.values():
        same.sort()
    rows = []
    for trace, one in found:
        same = durations[one.kind, place_word(trace, one), name_of(trace, one)]
        rows.append(
            {
                "id": one.id,
                "rank": trace.rank,
                "thread": one.thread,
                "step": inventory.step_of(trace).get(one),
                "start_ns": one.start - trace.origin,
                "dur_ns": one.dur,
                "percentile_ratio": float(
                    Fraction(bisect.bisect_right(same, one.dur), len(same))
                ),
                "name": name_of(trace, one),
            }
        )
    return sorted(rows, key=lambda row: -row["dur_ns"])
