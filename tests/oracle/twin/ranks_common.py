# SPDX-License-Identifier: Apache-2.0
"""What tables of ranks have in common."""

from __future__ import annotations

from .calls import Call
from .clocks import Clock
from .events import Trace


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


def is_comparable(clocks: dict[int, Clock], members: list[Call]) -> bool:
    """Whether the clocks of MEMBERS can be compared."""
    return (
        len({clocks[id(c.trace)].group for c in members}) == 1
        or len({c.trace.members.get("host_name") for c in members}) == 1
    )
