# SPDX-License-Identifier: Apache-2.0
"""Sets of half-open intervals as sorted lists of disjoint ones. Integers, ns."""

from __future__ import annotations

Interval = tuple[int, int]


def union(intervals: list[Interval]) -> list[Interval]:
    """Sorted and merged; touching intervals join, empty ones vanish."""
    merged: list[Interval] = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def intersect(a: list[Interval], b: list[Interval]) -> list[Interval]:
    """The intersection of two merged lists."""
    result, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            result.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return result


def subtract(a: list[Interval], b: list[Interval]) -> list[Interval]:
    """A without B, both merged: the intersection of A with the gaps of B."""
    if not a:
        return []
    gaps, at = [], a[0][0]
    for start, end in b:
        gaps.append((at, start))
        at = end
    gaps.append((at, max(a[-1][1], at)))
    return intersect(a, [g for g in gaps if g[0] < g[1]])


def length(intervals: list[Interval]) -> int:
    """Total length of a merged list."""
    return sum(end - start for start, end in intervals)
