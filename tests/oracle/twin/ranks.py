# SPDX-License-Identifier: Apache-2.0
"""The tables that compare ranks: one block of rows for all traces of a run."""
from __future__ import annotations

from . import kinds, steps
from .events import Trace
from .intervals import intersect, length, union


def groups(run: list[Trace]) -> list[list[Trace]]:
    """The traces of each rank and span, in order."""
    found: dict[tuple, list[Trace]] = {}
    for trace in run:
        found.setdefault((trace.rank, trace.span), []).append(trace)
    return list(found.values())


def lead(run: list[Trace], trace: Trace) -> dict:
    """The columns rank and, if there are several in RUN, span."""
    several = len({t.span for t in run}) > 1
    return {"rank": trace.rank, **({"span": trace.span} if several else {})}


def with_steps(traces: list[Trace]) -> list[Trace]:
    """Those of TRACES that have the steps of their rank and span."""
    return [t for t in traces if t.kept.get("steps beside") != "theirs"]


# --- rank_overlap ------------------------------------------------------------------------

def computing(trace: Trace, compat: bool) -> list:
    """K: when kernels ran; or else operators that are no collectives; or else anything of the
    host."""
    found = steps.unions(trace, compat)
    if found["kernel"]:
        return found["kernel"]
    operators = [] if compat else union([
        (e.start, e.end) for e in trace.events if e.is_range and e.kind == "operator"
        and e.is_host and not kinds.is_host_collective(e.name)])
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
        rows.append({"step": step.label, "computation_ns": in_k - both,
                     "overlapping_ns": both, "communication_ns": in_c - both,
                     "other_ns": step.end - step.start - in_k - in_c + both})
    return rows


def rank_overlap(run: list[Trace], compat: bool) -> list[dict]:
    """`rank_overlap`: the mean of each rank, then its steps."""
    kept = [[row for trace in with_steps(group) for row in overlap_rows(trace, compat)]
            for group in groups(run)]
    shown = [group[0] for group, rows in zip(groups(run), kept) if rows]
    result = []
    for group, rows in zip(groups(run), kept):
        if rows:
            mean = {c: sum(row[c] for row in rows) // len(rows) for c in rows[0] if c != "step"}
            result += [{**lead(shown, group[0]), **row}
                       for row in ({"step": "all", **mean}, *rows)]
    return result


TABLES = {"rank_overlap": rank_overlap}
