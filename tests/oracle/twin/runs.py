# SPDX-License-Identifier: Apache-2.0
"""Several files, one run (docs/numbers.md, opscope(1)): ranks, recording
windows (spans), one origin."""
from __future__ import annotations

import re
from pathlib import Path

from . import exact, selection
from .events import Trace, text_of

LOGDIR = re.compile(r"(.*?)(?:\.([0-9]+))?\.pt\.trace\.json(?:\.gz|\.zst)?\Z", re.S)
ANY_TRACE = re.compile(r"(.*)\.json(?:\.gz|\.zst)?\Z", re.S)
RANK_MEMBERS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
RANK_IN_NAME = re.compile(r"rank[-_]?([0-9]{1,9})(?![0-9])")
RANK_AT_END = re.compile(r"_([0-9]{1,3})\Z")
# Earlier times, before 1973, are not from a wall clock, but the time since a machine was started.
UNIX_LEAST_NS = 10 ** 17


def rank_of(trace: Trace, stem: str) -> int:
    """From the metadata, else from the name STEM, else 0."""
    info = trace.members.get("distributedInfo")
    said = [info.get("rank") if isinstance(info, dict) else None]
    if isinstance(said[0], str):
        said = []
    for value in said + [trace.members.get(key) for key in RANK_MEMBERS]:
        rank = exact.integer(value)
        if rank is not None and 0 <= rank < 2 ** 31:
            return rank
    found = RANK_IN_NAME.findall(stem) or RANK_AT_END.findall(stem)
    return int(found[-1]) if found else 0


def identify(traces: list[Trace], paths: list[Path]) -> None:
    """Set ranks and spans. Windows of a worker are numbered from 1 in the order of their numbers;
    files of a rank without a worker follow them in the given order."""
    windows: dict[str, set[tuple[bool, int]]] = {}
    names = [LOGDIR.match(path.name) for path in paths]
    numbers = [(name is not None and name.group(2) is not None,
                int(name.group(2) or 0) if name else 0) for name in names]
    for name, number in zip(names, numbers):
        if name:
            windows.setdefault(name.group(1), set()).add(number)
    last: dict[int, int] = {}
    for trace, path, name, number in zip(traces, paths, names, numbers):
        other = ANY_TRACE.match(path.name)
        stem = name.group(1) if name else other.group(1) if other else path.name
        trace.rank = rank_of(trace, stem)
        if name:
            trace.span = sorted(windows[name.group(1)]).index(number) + 1
            last[trace.rank] = max(last.get(trace.rank, 0), trace.span)
    for trace, name in zip(traces, names):
        if not name:
            trace.span = last[trace.rank] = last.get(trace.rank, 0) + 1


def tell_steps(traces: list[Trace]) -> None:
    """Whether other files of the rank and span of each file have steps: "theirs" if it has none
    itself, "shared" if it has some, too."""
    for trace in traces:
        has_steps = any(e.kind == "step" for e in trace.events)
        others = any(e.kind == "step" for other in traces for e in other.events
                     if other is not trace and (other.rank, other.span) == (trace.rank, trace.span))
        trace.kept["steps beside"] = ("shared" if has_steps else "theirs") if others else None


def align(traces: list[Trace]) -> None:
    """Set the origins. The smallest start by wall clock is time 0 for all; files without a wall
    clock share another time 0. A file of another host than the first is unaligned."""
    def base(trace: Trace) -> int:
        return exact.integer(trace.members.get("baseTimeNanoseconds")) or 0

    starts = {id(t): t.origin + base(t) for t in traces if t.events}
    for trace in traces:
        if trace.events:
            same_clock = [s for s in starts.values()
                          if (s >= UNIX_LEAST_NS) == (starts[id(trace)] >= UNIX_LEAST_NS)]
            trace.kept["origin"] = min(same_clock) - base(trace)
    hosts = [(t, text_of(t.members["host_name"])) for t in traces if "host_name" in t.members]
    for trace, host in hosts[1:]:
        if host != hosts[0][1]:
            trace.count("unaligned")


def listed(text: str | None, number: int) -> bool:
    """Whether a list such as `0,4-7` contains NUMBER; None contains all."""
    if text is None:
        return True
    ranges = [part.split("-") for part in text.split(",")]
    return any(int(r[0]) <= number <= int(r[-1]) for r in ranges)


def assemble(traces: list[Trace], paths: list[Path],
             selected: selection.Selection = selection.Selection(), ranks: str | None = None,
             spans: str | None = None) -> list[Trace]:
    """The run of the files in PATHS, or the selected part of it."""
    identify(traces, paths)
    tell_steps(traces)
    align(traces)
    left = []
    for trace in sorted(traces, key=lambda t: (t.rank, t.span)):
        if listed(ranks, trace.rank) and listed(spans, trace.span):
            try:
                left.append(selection.apply(trace, selected))
            except selection.NothingLeft:
                pass
    if not left:
        raise selection.NothingLeft
    return left


def blocks(run: list[Trace], merged: bool) -> list[list[Trace]]:
    """The blocks with their own rows: each rank and span, or all together."""
    if merged:
        return [run]
    found: dict[tuple[int, int], list[Trace]] = {}
    for trace in run:
        found.setdefault((trace.rank, trace.span), []).append(trace)
    return list(found.values())
