# SPDX-License-Identifier: Apache-2.0
"""Several files, one run (src/table/rules.md, opscope(1)): ranks, recording
windows (spans), one origin."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from . import exact, selection
from .events import Trace, text_of

LOGDIR = re.compile(r"(.*?)(?:\.([0-9]+))?\.pt\.trace\.json(?:\.gz|\.zst)?\Z", re.S)
ANY_TRACE = re.compile(r"(.*)\.json(?:\.gz|\.zst)?\Z", re.S)
RANK_MEMBERS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
RANK_IN_NAME = re.compile(r"rank[-_]?([0-9]{1,9})(?![0-9])")
RANK_AT_END = re.compile(r"_([0-9]{1,3})\Z")
RANK_OF_WORKER = re.compile(
    r"worker([0-9]{1,9})(?![0-9])|"
    r"(?:fit|test|validate|predict)-.*-([0-9]{1,9})\Z",
    re.S,
)
RANK_OF_FOLDER = re.compile(r"rank[-_]?([0-9]{1,9})\Z")
PID_OF_WORKER = re.compile(r".*_([0-9]{1,18})\Z", re.S)
# Earlier times, before 1973, are not from a wall clock, but the time since a machine was started.
UNIX_LEAST_NS = 10**17


def rank_of_folder(folder: Path) -> int | None:
    """The rank after which a directory is called: rank_3, or 3 below attempt_0 (torchrun)."""
    found = RANK_OF_FOLDER.match(folder.name)
    if found:
        return int(found.group(1))
    is_attempt = re.fullmatch(r"attempt_[0-9]{1,9}", folder.parent.name)
    return int(folder.name) if is_attempt and re.fullmatch("[0-9]{1,9}", folder.name) else None


def rank_of_name(path: Path) -> int | None:
    """From the names of the file, its directory and its worker, the plainest first."""
    name, other = LOGDIR.match(path.name), ANY_TRACE.match(path.name)
    stem = name.group(1) if name else other.group(1) if other else path.name
    found = RANK_IN_NAME.findall(stem)
    if found or rank_of_folder(path.parent) is not None:
        return int(found[-1]) if found else rank_of_folder(path.parent)
    worker = RANK_OF_WORKER.match(stem) if name else None
    found = [n for n in worker.groups() if n] if worker else RANK_AT_END.findall(stem)
    return int(found[-1]) if found else None


def rank_of(trace: Trace, path: Path) -> int | None:
    """From the metadata, else from names."""
    info = trace.members.get("distributedInfo")
    said = [info.get("rank") if isinstance(info, dict) else None]
    if isinstance(said[0], str):
        said = []
    for value in said + [trace.members.get(key) for key in RANK_MEMBERS]:
        rank = exact.integer(value)
        if rank is not None and 0 <= rank < 2**31:
            return rank
    return rank_of_name(path)


RANK_WORDS = ("tp", "dp", "ep", "pp", "cp")
RANK_WORD = re.compile(
    r"(?<![A-Za-z0-9])(tp|dp|ep|pp|cp)([-_]?)([0-9]{1,6})(?![A-Za-z0-9])", re.I
)


def place_of_name(path: Path) -> tuple[int, ...] | None:
    """The place of a process by each of the words, -1 where the name has none."""
    found: dict[str, int] = {}
    is_certain = False
    for word, sep, digits in RANK_WORD.findall(path.name):
        if word.lower() not in found:
            found[word.lower()] = int(digits)
            is_certain |= sep == "-" and word[0].isupper()
    return tuple(found.get(w, -1) for w in RANK_WORDS) if len(found) > 1 or is_certain else None


def ranks_of(traces: list[Trace], paths: list[Path]) -> list[int]:
    """The ranks of the files, by what each says and by the words of all."""
    ranks = [rank_of(trace, path) for trace, path in zip(traces, paths)]
    places = [place_of_name(path) if rank is None else None for rank, path in zip(ranks, paths)]
    known = sorted({place for place in places if place}, key=lambda place: place[::-1])
    word = next(
        (
            w
            for w in range(len(RANK_WORDS))
            if known
            and all(p[w] >= 0 for p in known)
            and len({p[w] for p in known}) == len(known)
        ),
        None,
    )
    return [
        rank
        if rank is not None
        else 0
        if place is None
        else known.index(place)
        if word is None
        else place[word]
        for rank, place in zip(ranks, places)
    ]


def identify(traces: list[Trace], paths: list[Path]) -> None:
    """Set ranks and spans. Windows of a worker of a rank are numbered from 1 in the order of their
    numbers; files of a rank without a worker follow them in the given order."""
    windows: dict[tuple[int, str], set[tuple[bool, int]]] = {}
    names = [LOGDIR.match(path.name) for path in paths]
    numbers = [
        (name is not None and name.group(2) is not None, int(name.group(2) or 0) if name else 0)
        for name in names
    ]
    for trace, rank, name, number in zip(traces, ranks_of(traces, paths), names, numbers):
        trace.rank = rank
        if name:
            windows.setdefault((trace.rank, name.group(1)), set()).add(number)
    last: dict[int, int] = {}
    for trace, name, number in zip(traces, names, numbers):
        if name:
            trace.span = sorted(windows[trace.rank, name.group(1)]).index(number) + 1
            last[trace.rank] = max(last.get(trace.rank, 0), trace.span)
    for trace, name in zip(traces, names):
        if not name:
            trace.span = last[trace.rank] = last.get(trace.rank, 0) + 1


def process_of(trace: Trace, path: Path) -> int | None:
    """The process that wrote a file: by its metadata, else by the name of its worker."""
    pid = exact.integer(trace.members.get("pid"))
    if pid is not None and 0 < pid < 2**63:
        return pid
    name = LOGDIR.match(path.name)
    found = PID_OF_WORKER.match(name.group(1)) if name else None
    return -1 - int(found.group(1)) if found else None


def same_ranks(left: list[tuple[Trace, Path]]) -> int:
    """How many files are of a rank and span that has one already, and not known to be of another
    process of the rank."""
    n = 0
    seen: dict[tuple[int, int], list] = {}
    for trace, path in left:
        others = seen.setdefault((trace.rank, trace.span), [])
        pid = process_of(trace, path)
        host = text_of(trace.members["host_name"]) if "host_name" in trace.members else ""
        n += bool(others) and (pid is None or (host, pid) in others)
        others.append((host, pid))
    return n


def tell_steps(traces: list[Trace]) -> None:
    """Whether other files of the rank and span of each file have steps: "theirs" if it has none
    itself, "shared" if it has some, too."""
    for trace in traces:
        has_steps = any(e.kind == "step" for e in trace.events)
        others = any(
            e.kind == "step"
            for other in traces
            for e in other.events
            if other is not trace and (other.rank, other.span) == (trace.rank, trace.span)
        )
        trace.kept["steps beside"] = ("shared" if has_steps else "theirs") if others else None


def align(traces: list[Trace]) -> None:
    """Set the origins. The smallest start by wall clock is time 0 for all; files without a wall
    clock share another time 0. A file of another host than the first is unaligned."""

    def base(trace: Trace) -> int:
        return exact.integer(trace.members.get("baseTimeNanoseconds")) or 0

    starts = {id(t): t.origin + base(t) for t in traces if t.events}
    for trace in traces:
        if trace.events:
            same_clock = [
                s
                for s in starts.values()
                if (s >= UNIX_LEAST_NS) == (starts[id(trace)] >= UNIX_LEAST_NS)
            ]
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


def assemble(
    traces: list[Trace],
    paths: list[Path],
    selected: selection.Selection | None = None,
    ranks: str | None = None,
    spans: str | None = None,
) -> list[Trace]:
    """The run of the files in PATHS, or the selected part of it."""
    identify(traces, paths)
    tell_steps(traces)
    align(traces)
    left = []
    for trace, path in sorted(
        zip(traces, paths), key=lambda pair: (pair[0].rank, pair[0].span)
    ):
        if listed(ranks, trace.rank) and listed(spans, trace.span):
            with contextlib.suppress(selection.NothingLeft):
                left.append((selection.apply(trace, selected or selection.Selection()), path))
    if not left:
        raise selection.NothingLeft
    left[0][0].kept["same_rank"] = same_ranks(left)
    left[0][0].kept["names ranks"] = ranks is not None or spans is not None
    return [trace for trace, _ in left]


def blocks(run: list[Trace], merged: bool) -> list[list[Trace]]:
    """The blocks with their own rows: each rank and span, or all together."""
    if merged:
        return [run]
    found: dict[tuple[int, int], list[Trace]] = {}
    for trace in run:
        found.setdefault((trace.rank, trace.span), []).append(trace)
    return list(found.values())
