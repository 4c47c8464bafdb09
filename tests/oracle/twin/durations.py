# SPDX-License-Identifier: Apache-2.0
"""`durations`: how many calls of each name took how long, on a logarithmic axis."""

from __future__ import annotations

from fractions import Fraction

from .events import Trace
from .ranges import calls_of, name_of, place_word


def row_of(duration: int) -> tuple[int, int]:
    """The row of DURATION, [from, to): below 16 every two nanoseconds, from there on four equal
    parts from one power of two to the next."""
    width = 2 if duration < 16 else 2 ** (duration.bit_length() - 3)
    start = duration // width * width
    return start, min(start + width, 2**63 - 1)


def table(traces: list[Trace]) -> list[dict]:
    """`durations` of TRACES together: names by total time, of equal ones the first to appear; then
    by duration."""
    named: dict[tuple, list[int]] = {}
    for trace in traces:
        for event in trace.events:
            if event.dur is not None:
                key = (name_of(trace, event), event.kind, place_word(trace, event))
                named.setdefault(key, []).extend([event.dur] * calls_of(event))
    rows = []
    for (name, kind, place), durations in sorted(named.items(), key=lambda item: -sum(item[1])):
        for start, end in sorted({row_of(d) for d in durations}):
            here = [d for d in durations if row_of(d) == (start, end)]
            rows.append(
                {
                    "name": name,
                    "kind": kind,
                    "place": place,
                    "from_ns": start,
                    "to_ns": end,
                    "calls": len(here),
                    "total_ns": sum(here),
                    "cumulative_ratio": float(
                        Fraction(sum(d < end for d in durations), len(durations))
                    ),
                }
            )
    return rows
