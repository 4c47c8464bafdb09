# SPDX-License-Identifier: Apache-2.0
"""`diff_ranges`: the ranges of two runs side by side, key by key."""

from __future__ import annotations

from . import ranges
from .events import Trace


def by_key(run: list[Trace], group_by: str | None) -> dict[tuple, dict]:
    """The rows of `ranges` of all ranks of RUN, in the order of first appearance."""
    pattern = group_by.removeprefix("name~") if group_by else None
    rows = {(r["name"], r["kind"], r["place"]): r for r in ranges.table(run, group_by)}
    seen = dict.fromkeys(
        (
            ranges.label(ranges.name_of(trace, event), pattern),
            event.kind,
            ranges.place_word(trace, event),
        )
        for trace in run
        for event in trace.events
        if event.dur is not None
    )
    return {key: rows[key] for key in seen}


def diff_ranges(base: list[Trace], new: list[Trace], group_by: str | None = None) -> list[dict]:
    """The rows, those of the base first, then sorted by what changed most."""
    sides = by_key(base, group_by), by_key(new, group_by)
    rows = []
    for key in dict.fromkeys([*sides[0], *sides[1]]):
        calls = [side[key]["calls"] if key in side else 0 for side in sides]
        ns = [side[key]["total_ns"] if key in side else 0 for side in sides]
        rows.append(
            {
                "name": key[0],
                "kind": key[1],
                "place": key[2],
                "base_calls": calls[0],
                "new_calls": calls[1],
                "delta_calls": calls[1] - calls[0],
                "base_ns": ns[0],
                "new_ns": ns[1],
                "delta_ns": ns[1] - ns[0],
                "mean_base_ns": ns[0] / calls[0] if calls[0] else None,
                "mean_new_ns": ns[1] / calls[1] if calls[1] else None,
                "delta_ratio": (ns[1] - ns[0]) / ns[0] if ns[0] else None,
            }
        )
    return sorted(rows, key=lambda row: -abs(row["delta_ns"]))


PAIRS = {"diff_ranges": diff_ranges}
