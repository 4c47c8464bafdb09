# SPDX-License-Identifier: Apache-2.0
"""How the clocks of ranks differ, by the ends of their collectives."""

from __future__ import annotations

from dataclasses import dataclass

from .calls import JOINING, Call
from .events import Trace


def middle(values: list[int]) -> int:
    """The median, of an even number the mean of the middle two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def towards_zero(a: int, b: int) -> int:
    """A / B without the fraction, as C divides."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


@dataclass
class Clock:
    """How a clock differs from the median clock."""

    group: int | None = None
    offset: int = 0
    drift: int = 0  # 10^-9
    zero: int = 0
    error: int = 0
    anchors: int = 0
    applied: bool = False

    def ahead(self, at: int) -> int:
        """How much it is ahead at AT."""
        since, second = at - self.zero, 10**9
        whole = towards_zero(since, second)
        return (
            self.offset
            + whole * self.drift
            + towards_zero((since - whole * second) * self.drift, second)
        )

    def time(self, at: int) -> int:
        """AT on the common clock."""
        return at - self.ahead(at) if self.applied else at


def clocks_of(run: list[Trace], matches: list[list[Call]]) -> dict[int, Clock]:
    """The clock of each trace (by its id)."""
    anchors = [
        m
        for m in matches
        if len(m) > 1 and m[0].operation in JOINING and len({id(c.trace) for c in m}) == len(m)
    ]
    ends = [{id(c.trace): c.end for c in m} for m in anchors]
    zero = ends[0][id(anchors[0][0].trace)] if anchors else 0
    clocks = {id(t): Clock(zero=zero, anchors=sum(id(t) in e for e in ends)) for t in run}
    placed: set[int] = set()
    moments: dict[int, int] = {}
    groups_seen = 0
    for trace in run:
        if clocks[id(trace)].group is None:
            reach(id(trace), groups_seen, clocks, ends, placed, moments)
            groups_seen += 1
    alternate(clocks, ends, moments)
    for clock in clocks.values():
        clock.zero += clock.offset
    for key, clock in clocks.items():
        find_drift(clock, key, ends, moments)
    alternate(clocks, ends, moments)
    for group in range(groups_seen):
        own = [c for c in clocks.values() if c.group == group]
        drift, offset = middle([c.drift for c in own]), middle([c.offset for c in own])
        for clock in own:
            clock.drift -= drift
            clock.offset -= offset
    find_moments(clocks, ends, moments)
    for key, clock in clocks.items():
        clock.error = error(clock, key, ends, moments)
        clock.applied = clock.anchors > 0 and (
            abs(clock.offset) > 3 * clock.error or clock.drift != 0
        )
    return clocks


def reach(
    first: int,
    group: int,
    clocks: dict[int, Clock],
    ends: list[dict[int, int]],
    placed: set[int],
    moments: dict[int, int],
) -> None:
    """Give first offsets to all clocks that can be compared with FIRST."""
    queue = [first]
    placed.add(first)
    clocks[first].group = group
    for at in queue:
        new = []
        for n, own in enumerate(ends):
            if at not in own or n in moments:
                continue
            moments[n] = middle(
                [end - clocks[key].ahead(end) for key, end in own.items() if key in placed]
            )
            for key in own:
                if clocks[key].group is None:
                    clocks[key].group = group
                    new.append(key)
        for key in new:
            clocks[key].offset = middle(
                [
                    own[key] - moments[n]
                    for n, own in enumerate(ends)
                    if key in own and n in moments
                ]
            )
            placed.add(key)
        queue += new


def find_moments(
    clocks: dict[int, Clock], ends: list[dict[int, int]], moments: dict[int, int]
) -> None:
    """The moment of each collective."""
    for n, own in enumerate(ends):
        moments[n] = middle([end - clocks[key].ahead(end) for key, end in own.items()])


def residues(
    clock: Clock, key: int, ends: list[dict[int, int]], moments: dict[int, int]
) -> list[int]:
    """How far the ends of a clock are from their moments, its drift aside."""
    return [
        own[key] - moments[n] - (clock.ahead(own[key]) - clock.offset)
        for n, own in enumerate(ends)
        if key in own
    ]


def alternate(
    clocks: dict[int, Clock], ends: list[dict[int, int]], moments: dict[int, int]
) -> None:
    """Moments and offsets in turn."""
    for _ in range(20):
        find_moments(clocks, ends, moments)
        change = 0
        for key, clock in clocks.items():
            found = residues(clock, key, ends, moments)
            if found:
                change = max(change, abs(middle(found) - clock.offset))
                clock.offset = middle(found)
        if change < 100:
            return


def error(clock: Clock, key: int, ends: list[dict[int, int]], moments: dict[int, int]) -> int:
    """The median distance of its ends from their moments."""
    found = [abs(r - clock.offset) for r in residues(clock, key, ends, moments)]
    return middle(found) if found else 0


def find_drift(
    clock: Clock, key: int, ends: list[dict[int, int]], moments: dict[int, int]
) -> None:
    """The median slope through the ends of a clock."""
    noise = error(clock, key, ends, moments)
    points = [(moments[n], own[key]) for n, own in enumerate(ends) if key in own]
    if len(points) < 16:
        return
    points = points[:: len(points) // 96 + 1]
    slopes, lasts = [], 0
    for i, (x, a) in enumerate(points):
        for y, b in points[i + 1 :]:
            if y > x:
                lasts = max(lasts, y - x)
                slopes.append(towards_zero((b - a - (y - x)) * 10**9, y - x))
    drift = middle(slopes) if slopes else 0
    if (lasts > 10**10 or abs(drift) * lasts // 10**9 > 3 * noise) and abs(drift) <= 10**6:
        clock.drift = drift
