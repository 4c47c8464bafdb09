# SPDX-License-Identifier: Apache-2.0
"""Rows of `quality` about ranks side by side. `detail` is the end of the message."""

from __future__ import annotations

import json
from collections.abc import Callable

from . import exact
from .calls import EVEN, Call, in_order, match
from .clocks import Clock, clocks_of
from .events import Trace

SEVERITY = {
    "missing_rank": "warning",
    "collective_hang": "error",
    "collective_lost": "warning",
    "collective_mismatch": "warning",
    "collective_outside": "info",
    "uneven_steps": "warning",
    "clocks_apart": "warning",
}
LISTED, GROUPS, COMPONENTS, NAME = 12, 8, 6, 96


def ranks_text(ranks: list[int]) -> str:
    """rank 3, or ranks 0,4-7."""
    parts: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in parts]
    more = ["..."] if len(texts) > LISTED else []
    return ("rank " if len(set(ranks)) == 1 else "ranks ") + ",".join(texts[:LISTED] + more)


def row(code: str, count: int, detail: str, first: int | None = None) -> dict:
    """A row, as quality.table() makes them."""
    return {
        "severity": SEVERITY[code],
        "code": code,
        "message": f"{code} {detail}",
        "detail": detail,
        "count": count,
        "first_offset": None,
        "first_ns": first,
    }


def numbers(text: object) -> set[int]:
    """The ranks in a list of a group."""
    try:
        listed = json.loads(text) if isinstance(text, str) and text else []
    except ValueError:
        return set()
    return {n for n in listed if isinstance(n, int) and n >= 0}


def world_of(traces: list[Trace]) -> int:
    """The largest `distributedInfo.world_size`."""
    infos = [t.members.get("distributedInfo") for t in traces]
    sizes = [exact.integer(i.get("world_size")) or 0 for i in infos if isinstance(i, dict)]
    return max([0, *sizes])


def of_span(
    run: list[Trace], traces: list[Trace], calls: dict[int, list[Call]], is_cut: bool
) -> list[tuple[dict, ...]]:
    """A row each about ranks without a file and about steps, or nothing, of a span."""
    ranks = {t.rank for t in traces}
    if len(ranks) < 2:
        return [(), ()]
    where = f" in span {traces[0].span}" if len({t.span for t in run}) > 1 else ""
    world = world_of(traces)
    wanted = set(range(world)) or set().union(
        *(numbers(c.group[1]) for t in traces for c in calls[id(t)])
    )
    absent = sorted(wanted - ranks)
    missing = (
        (
            row(
                "missing_rank",
                len(absent),
                ranks_text(absent) + (f" of {world}" if world else "") + where,
            ),
        )
        if absent
        else ()
    )
    if run[0].kept.get("names ranks"):
        missing = ()
    n_steps = {
        rank: max(
            sum(e.kind == "step" and e.is_range for e in t.events)
            for t in traces
            if t.rank == rank
        )
        for rank in ranks
    }
    most, least = max(n_steps.values()), min(n_steps.values())
    fewer = [rank for rank in ranks if n_steps[rank] < most]
    if not fewer or is_cut:
        return [missing, ()]
    said = (
        f"({least} at least, others {most})" if len(fewer) > 1 else f"({least}, others {most})"
    )
    return [missing, (row("uneven_steps", len(fewer), f"{ranks_text(fewer)} {said}{where}"),)]


class Recording:
    """When the recording of a rank ran, on the common clock, and its last collective of a
    group."""

    def __init__(self, traces: list[Trace], clocks: dict[int, Clock]):
        def end(trace: Trace) -> int:
            last = max(e.start if e.end is None else e.end for e in trace.events)
            return clocks[id(trace)].time(last - trace.origin)

        self.begin = min(
            clocks[id(t)].time(min(e.start for e in t.events) - t.origin) for t in traces
        )
        self.end = max(end(t) for t in traces)
        self.of = max(traces, key=end)


class Search:
    """The collectives of a run."""

    def __init__(
        self, run: list[Trace], calls: dict[int, list[Call]], clocks: dict[int, Clock]
    ):
        self.run, self.clocks = run, clocks
        self.matches = in_order(run, calls)
        self.calls = [c for t in run for c in calls[id(t)]]
        self.start = [min(clocks[id(c.trace)].time(c.start) for c in m) for m in self.matches]
        self.done = [
            start + min(c.end - c.start for c in m)
            for start, m in zip(self.start, self.matches)
        ]
        self.unnumbered = {self.of(c) for c in self.calls if c.number is None}
        self.recordings: dict[tuple, Recording] = {}

    @staticmethod
    def key(call: Call) -> tuple:
        """The group of CALL."""
        return call.trace.span, call.group

    @staticmethod
    def of(call: Call) -> tuple:
        """Group and operation."""
        return call.trace.span, call.group, call.operation or ("name", call.name)

    def recording(self, key: tuple, rank: int) -> Recording:
        """That of RANK in group KEY: of all its files if the list of the group names it, else of
        those with a collective of the group."""
        if (key, rank) not in self.recordings:
            own = [
                t
                for t in self.run
                if (t.span, t.rank) == (key[0], rank)
                and (
                    rank in numbers(key[1][1])
                    or any(self.key(c) == key and c.trace is t for c in self.calls)
                )
            ]
            self.recordings[key, rank] = Recording(own, self.clocks)
        return self.recordings[key, rank]

    def why(self, n: int, rank: int) -> str:
        """The code for the absence of RANK from match N."""
        key, first = self.key(self.matches[n][0]), self.matches[n][0].trace
        recording = self.recording(key, rank)
        comparable = self.clocks[id(first)].group == self.clocks[
            id(recording.of)
        ].group or first.members.get("host_name") == recording.of.members.get("host_name")
        later = any(
            self.start[k] > self.start[n]
            for k, m in enumerate(self.matches)
            if self.key(m[0]) == key and any(c.trace.rank == rank for c in m)
        )
        if comparable and recording.begin > self.done[n]:
            return "collective_outside"
        if later or not comparable:
            return "collective_lost"
        return "collective_outside" if recording.end < self.done[n] else "collective_hang"

    def absent(self, n: int) -> dict[str, list[int]]:
        """The ranks that lack match N, by code."""
        key = self.key(self.matches[n][0])
        expected = {c.trace.rank for c in self.calls if self.key(c) == key}
        expected |= {t.rank for t in self.run if t.span == key[0]} & numbers(key[1][1])
        found: dict[str, list[int]] = {}
        for rank in expected - {c.trace.rank for c in self.matches[n]}:
            found.setdefault(self.why(n, rank), []).append(rank)
        return found

    def unlike(self, n: int) -> list[int]:
        """The ranks that brought another message than the first one of match N."""
        members = self.matches[n]
        if members[0].operation not in EVEN or self.of(members[0]) in self.unnumbered:
            return []
        return [
            c.trace.rank
            for c in members[1:]
            if (c.elements, c.dtype) != (members[0].elements, members[0].dtype)
        ]

    def named(self, n: int) -> str:
        """Which collective match N is."""
        first = self.matches[n][0]
        name, ranks = first.group
        group = (
            f" of group {name[:NAME]}" if name else f" of the group {ranks}" if ranks else ""
        )
        order = sorted(
            (self.start[k], k)
            for k, m in enumerate(self.matches)
            if self.key(m[0]) == self.key(first)
        )
        number = (
            f"number {first.number}"
            if first.number is not None
            else f"number {order.index((self.start[n], n)) + 1} in order of start"
        )
        where = f" in span {first.trace.span}" if len({t.span for t in self.run}) > 1 else ""
        return f"{first.name}{group}, {number}{where}"

    def rows(
        self, code: str, found: dict[int, list[int]], more: Callable[[int], str] = lambda n: ""
    ) -> list[dict]:
        """The rows of CODE; FOUND has the ranks by match."""
        groups: dict[tuple, list[int]] = {}
        for n in found:
            groups.setdefault(self.key(self.matches[n][0]), []).append(n)
        firsts = sorted(
            (min((self.start[n], n) for n in own), len(own)) for own in groups.values()
        )
        rows = []
        for (_, n), count in firsts[:GROUPS]:
            first = self.matches[n][0]
            rows.append(
                row(
                    code,
                    count,
                    ("first " if count > 1 else "")
                    + self.named(n)
                    + ": "
                    + ranks_text(found[n])
                    + more(n),
                    first.start,
                )
            )
        if len(firsts) > GROUPS:
            rows.append(
                row(
                    code,
                    sum(count for _, count in firsts[GROUPS:]),
                    f"{len(firsts) - GROUPS} more groups",
                )
            )
        return rows


def of_collectives(search: Search) -> list[dict]:
    """The rows about collectives."""
    found: dict[str, dict[int, list[int]]] = {code: {} for code in SEVERITY}
    for n in range(len(search.matches)):
        for code, ranks in search.absent(n).items():
            found[code][n] = ranks
        if search.unlike(n):
            found["collective_mismatch"][n] = search.unlike(n)
    return [
        r
        for code in (
            "collective_hang",
            "collective_lost",
            "collective_mismatch",
            "collective_outside",
        )
        for r in search.rows(
            code,
            found[code],
            (lambda n: f" unlike rank {search.matches[n][0].trace.rank}")
            if code == "collective_mismatch"
            else lambda n: "",
        )
    ]


def of_clocks(run: list[Trace], clocks: dict[int, Clock], has_calls: bool) -> list[dict]:
    """A row if clocks of several hosts cannot be compared."""
    found: dict[int, list[int]] = {}
    for trace in run:
        found.setdefault(clocks[id(trace)].group, []).append(trace.rank)
    hosts = {t.members.get("host_name") for t in run} - {None, ""}
    if len(hosts) < 2 or len({t.rank for t in run}) < 2 or len(found) < 2 or not has_calls:
        return []
    texts = [ranks_text(found[group]) for group in sorted(found)]
    more = [f"and {len(texts) - COMPONENTS} more"] if len(texts) > COMPONENTS else []
    return [row("clocks_apart", len(found), "; ".join(texts[:COMPONENTS] + more))]


def is_cut(trace: Trace) -> bool:
    """Whether some of the file is missing or was not read: it may have had what is lacking."""
    return any(code in trace.findings for code in ("truncated", "corrupt", "unclosed_list"))


def rows(run: list[Trace]) -> list[dict]:
    """The rows about RUN."""
    if len(run) < 2:
        return []
    calls = match(run, False)
    search = Search(run, calls, clocks_of(run, in_order(run, calls)))
    lacks_some = any(
        t.is_part or (is_cut(t) and "opscope_version" not in t.members) for t in run
    )
    spans = [
        of_span(run, [t for t in run if t.span == span], calls, lacks_some)
        for span in sorted({t.span for t in run})
    ]
    return [
        *(r for found in spans for r in found[0]),
        *(r for found in spans for r in found[1]),
        *([] if lacks_some else of_collectives(search)),
        *of_clocks(run, search.clocks, bool(search.calls)),
    ]
