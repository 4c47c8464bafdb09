# SPDX-License-Identifier: Apache-2.0
"""The tables that compare ranks: one block of rows for all traces of a run."""

from __future__ import annotations

import json
import math
from fractions import Fraction

from . import exact, kinds, steps, stragglers
from .calls import Call, in_order, match, step_of
from .clocks import Clock, clocks_of
from .events import Trace, text_of
from .intervals import intersect, length, union
from .ranks_common import groups, is_comparable, lead, with_steps

# --- rank_overlap ------------------------------------------------------------------------


def computing(trace: Trace, compat: bool) -> list:
    """K: when kernels ran; or else operators that are no collectives; or else anything of the
    host."""
    found = steps.unions(trace, compat)
    if found["kernel"]:
        return found["kernel"]
    operators = (
        []
        if compat
        else union(
            [
                (e.start, e.end)
                for e in trace.events
                if e.is_range
                and e.kind == "operator"
                and e.is_host
                and not kinds.is_host_collective(e.name)
            ]
        )
    )
    return operators or found["cpu_exec"]


def overlap_rows(trace: Trace, compat: bool) -> list[dict]:
    """The kept steps of one trace."""
    k, c = computing(trace, compat), steps.unions(trace, compat)["communication"]
    rows = []
    for step in steps.steps_of(trace, compat):
        if not step.kept:
            continue
        inside = [(step.start, step.end)] if step.start < step.end else []
        both = length(intersect(intersect(k, c), inside))
        in_k, in_c = length(intersect(k, inside)), length(intersect(c, inside))
        rows.append(
            {
                "step": step.label,
                "computation_ns": in_k - both,
                "overlapping_ns": both,
                "communication_ns": in_c - both,
                "other_ns": step.end - step.start - in_k - in_c + both,
            }
        )
    return rows


def rank_overlap(run: list[Trace], compat: bool) -> list[dict]:
    """`rank_overlap`: the mean of each rank, then its steps."""
    kept = [
        [row for trace in with_steps(group) for row in overlap_rows(trace, compat)]
        for group in groups(run)
    ]
    shown = [group[0] for group, rows in zip(groups(run), kept) if rows]
    result = []
    for group, rows in zip(groups(run), kept):
        if rows:
            mean = {c: sum(row[c] for row in rows) // len(rows) for c in rows[0] if c != "step"}
            result += [
                {**lead(shown, group[0]), **row} for row in ({"step": "all", **mean}, *rows)
            ]
    return result


def rank_stats(run: list[Trace], compat: bool, rules: steps.Rules = steps.USUAL) -> list[dict]:
    """`rank_stats`: least, mean, most and deviation over the ranks with steps, of which each has
    the mean of all steps of its spans."""
    names = ("avg_step_ns", *(f"avg_{c}_ns" for c in (*steps.CATEGORIES, "other")))
    spans: dict[int, list[dict]] = {}
    for row in ranks_table(run, compat, rules):
        if row["steps"]:
            spans.setdefault(row["rank"], []).append(row)
    # Sums of steps are whole; equal ones of ranks have equal means, and no deviation.
    rows = [
        {
            name: float(
                Fraction(
                    sum(round(Fraction(row[name]) * row["steps"]) for row in own),
                    sum(row["steps"] for row in own),
                )
            )
            for name in names
        }
        for own in spans.values()
    ]
    result: list[dict] = []
    for statistic in ("min", "mean", "max", "std") if rows else ():
        row: dict = {"statistic": statistic, "ranks": len(rows)}
        for name in names:
            values = [Fraction(r[name]) for r in rows]
            mean = sum(values) / len(values)
            variance = sum((v - mean) ** 2 for v in values) / len(values)
            row[name] = {
                "min": float(min(values)),
                "mean": float(mean),
                "max": float(max(values)),
                "std": math.sqrt(variance),
            }[statistic]
        result.append(row)
    return result


# --- rank_wait and collectives ------------------------------------------------------------


def waits(calls: list[Call]) -> dict | None:
    """How long data moved in CALLS, and how long they waited."""
    real = length(union([i for call in calls for i in call.real()]))
    ranges = length(union([i for call in calls for i in call.ranges]))
    return {"data_transfer_ns": real, "synchronizing_ns": ranges - real} if calls else None


def wait_rows(trace: Trace, calls: list[Call], compat: bool, has_steps: bool) -> list[dict]:
    """The rows of one trace, that of no step last."""
    kept = [s for s in steps.steps_of(trace, compat) if s.kept] if has_steps else []
    by_step: dict[int | None, list[Call]] = {}
    for call in calls:
        by_step.setdefault(step_of(kept, call), []).append(call)
    rows = [
        {"step": kept[n].label, **waits(by_step[n])} for n in range(len(kept)) if n in by_step
    ]
    return rows + ([{"step": None, **waits(by_step[None])}] if None in by_step else [])


def rank_wait(run: list[Trace], compat: bool) -> list[dict]:
    """`rank_wait`: the mean of each rank, then its steps."""
    calls, result = match(run, compat), []
    for group in groups(run):
        if not any(calls[id(trace)] for trace in group):
            continue
        rows = [
            row
            for trace in group
            for row in wait_rows(
                trace, calls[id(trace)], compat, trace.kept.get("steps beside") != "theirs"
            )
        ]
        counted = [row for row in rows if row["step"] is not None]
        mean = {
            c: sum(row[c] for row in counted) // len(counted) if counted else None
            for c in ("data_transfer_ns", "synchronizing_ns")
        }
        result += [{**lead(run, group[0]), **row} for row in ({"step": "all", **mean}, *rows)]
    return result


def collectives(run: list[Trace], compat: bool) -> list[dict]:
    """`collectives`: each rank and name, in order of the first call."""
    calls, result = match(run, compat), []
    for group in groups(run):
        by_name: dict[str, list[Call]] = {}
        for trace in group:
            for call in calls[id(trace)]:
                by_name.setdefault(call.name, []).append(call)
        for name, own in by_name.items():
            sizes = [0 if compat and call.in_bytes is None else call.in_bytes for call in own]
            total = None if None in sizes else sum(sizes)
            latency = length(union([i for call in own for i in call.ranges]))
            moved = length(union([i for call in own for i in call.real()]))
            result.append(
                {
                    **lead(run, group[0]),
                    "name": name,
                    "calls": len(own),
                    "total_bytes": total,
                    "total_latency_ns": latency,
                    "data_transfer_ns": moved,
                    "mean_bytes": None if total is None else total / len(own),
                    "mean_latency_ns": latency / len(own),
                    "mean_data_transfer_ns": moved / len(own),
                }
            )
    return result


# --- ranks -------------------------------------------------------------------------------


def device_of(trace: Trace) -> str | None:
    """The device of the first event on a queue of a device."""
    return next((e.device for e in trace.events if e.device), None)


def ranks_table(
    run: list[Trace], _compat: bool, rules: steps.Rules = steps.USUAL
) -> list[dict]:
    """`ranks`: the numbers of steps and clocks."""
    calls = match(run, False)
    clocks = clocks_of(run, in_order(run, calls))
    is_several = len({c.group for c in clocks.values()}) > 1 and any(
        c.anchors for c in clocks.values()
    )
    result = []
    for group in groups(run):
        rows = [
            row
            for trace in with_steps(group)
            for row in steps.steps_table(trace, rules=rules)
            if row["kept"]
        ]
        clock = max((clocks[id(t)] for t in group), key=lambda c: c.anchors)
        mean = {
            f"avg_{c}_ns": sum(row[f"{c}_ns"] for row in rows) / len(rows) if rows else None
            for c in (*steps.CATEGORIES, "other")
        }
        host = next(
            (
                text_of(t.members["host_name"])
                for t in group
                if isinstance(t.members.get("host_name"), str)
            ),
            None,
        )
        has = clock.anchors > 0
        result.append(
            {
                **lead(run, group[0]),
                "host": host or None,
                "device": next((device_of(t) for t in group if device_of(t)), None),
                "steps": len(rows),
                "avg_step_ns": sum(r["total_ns"] for r in rows) / len(rows) if rows else None,
                **mean,
                "collectives": sum(len(calls[id(t)]) for t in group),
                "clock_offset_ns": clock.offset if has else None,
                "clock_error_ns": clock.error if clock.anchors >= 3 else None,
                "clock_drift_ppm": clock.drift / 1000 if has else None,
                "clock_anchors": clock.anchors if has else None,
                **({"clock_group": clock.group} if is_several else {}),
            }
        )
    return result


# --- collective_calls --------------------------------------------------------------------

BUS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    **{
        op: lambda n: (n - 1) / n
        for op in (
            "all_gather",
            "reduce_scatter",
            "all_to_all",
            "all_to_allv",
            "gather",
            "scatter",
        )
    },
    **{op: lambda n: 1.0 for op in ("broadcast", "reduce", "send", "recv", "send_recv")},
}


def world_size(trace: Trace) -> int:
    """`distributedInfo.world_size`; 0 if it is not there."""
    info = trace.members.get("distributedInfo")
    size = exact.integer(info.get("world_size")) if isinstance(info, dict) else None
    return size if size is not None and size > 0 else 0


def missing(run: list[Trace], matches: list[list[Call]], members: list[Call]) -> list[int]:
    """The ranks of the group of MEMBERS that were read and do not have the collective."""
    first = members[0]
    key = (first.trace.span, first.group)
    ranks = {c.trace.rank for m in matches for c in m if (c.trace.span, c.group) == key}
    try:
        listed = json.loads(first.group[1]) if first.group[1] else []
    except ValueError:
        listed = []
    ranks |= {t.rank for t in run if t.span == first.trace.span and t.rank in listed}
    return sorted(ranks - {c.trace.rank for c in members})


def ranges_of(ranks: list[int]) -> str:
    """RANKS as 0,4-7."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][-1] == rank - 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def one_call(
    run: list[Trace], matches: list[list[Call]], clocks: dict[int, Clock], members: list[Call]
) -> dict:
    """A row of `collective_calls`."""
    first, n_ranks = members[0], len({c.trace.rank for c in members})
    world = world_size(first.trace)
    size = first.size or (world if world == n_ranks else 0)
    starts = [clocks[id(c.trace)].time(c.start) for c in members]
    ends = [clocks[id(c.trace)].time(c.end) for c in members]
    shortest = min(c.end - c.start for c in members)
    sizes = [c.bytes for c in members if c.bytes is not None]
    comparable = is_comparable(clocks, members)
    transfer = max(ends) - max(starts) if comparable else 0
    transfer = transfer if transfer > 0 else shortest
    row = {
        "name": first.name,
        "group": first.group[0] or None,
        "size": size or None,
        "sequence": first.number,
        "dtype": first.dtype or None,
        "bytes": max(sizes, default=None),
        "participants": n_ranks,
        "start_ns": min(starts),
        "transfer_ns": transfer,
        "shortest_ns": shortest,
        "skew_ns": max(starts) - min(starts) if comparable else None,
        "end_skew_ns": max(ends) - min(ends) if comparable else None,
        "last_rank": members[starts.index(max(starts))].trace.rank
        if comparable and n_ranks > 1
        else None,
    }
    if row["bytes"] and transfer > 0:
        row["algbw_bytes_per_s"] = row["bytes"] * 1e9 / transfer
        factor = BUS[first.operation](size or 1) if first.operation in BUS else 0
        if factor > 0:
            row["busbw_bytes_per_s"] = row["algbw_bytes_per_s"] * factor
    absent = missing(run, matches, members)
    if absent and len(absent) <= 12:
        row["missing_ranks"] = ranges_of(absent)
    return row


CALL_COLUMNS = (
    "name",
    "group",
    "size",
    "sequence",
    "dtype",
    "bytes",
    "participants",
    "missing_ranks",
    "start_ns",
    "skew_ns",
    "last_rank",
    "transfer_ns",
    "shortest_ns",
    "end_skew_ns",
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
)


def collective_calls(run: list[Trace], _compat: bool) -> list[dict]:
    """`collective_calls`: each match."""
    calls = match(run, False)
    matches = in_order(run, calls)
    clocks = clocks_of(run, matches)
    several = len({t.span for t in run}) > 1
    return [
        {
            **{c: row.get(c) for c in CALL_COLUMNS},
            **({"span": members[0].trace.span} if several else {}),
        }
        for members in matches
        for row in [one_call(run, matches, clocks, members)]
    ]


TABLES = {
    "rank_overlap": rank_overlap,
    "rank_wait": rank_wait,
    "rank_stats": rank_stats,
    "collectives": collectives,
    "ranks": ranks_table,
    "collective_calls": collective_calls,
    "stragglers": stragglers.stragglers,
}
