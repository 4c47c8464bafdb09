# SPDX-License-Identifier: Apache-2.0
"""The split of the kept steps of a trace of the host alone by cause (src/table/rules.md, Advice):
slowly, moment by moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .events import Event, Trace
from .intervals import Interval, intersect, length, union

SYNCS = {
    "aten::item",
    "aten::_local_scalar_dense",
    "aten::is_nonzero",
    "aten::equal",
    "aten::nonzero",
}
COPIES = {"aten::copy_", "aten::clone", "aten::contiguous", "aten::_to_copy"}
NEW_COPIES = COPIES - {"aten::copy_"}
VIEWS = {
    "aten::" + name
    for name in """
view reshape permute transpose t select slice narrow unsqueeze squeeze expand chunk split unbind
flatten unflatten as_strided detach alias to _unsafe_view resolve_conj resolve_neg movedim
_reshape_alias swapaxes unsafe_chunk unsafe_split""".split()
}
SLOW_CONV = tuple(
    "aten::" + begin for begin in ("slow_conv", "_slow_conv", "thnn_conv", "_thnn_conv")
)
OPERATORS = ("sync", "copy", "double", "slow_conv", "operator")
OWN = (
    "optimizer",
    "sync",
    "copy",
    "double",
    "slow_conv",
    "tiny",
    "operator",
    "python",
    "noted",
    "other",
)
TINY_NS, GAP_NS = 50_000, 50_000
LOOP_CALLS, LOOP_TURN, LOOP_TURNS = 32, 12, 8


@dataclass
class Part:
    """What one kept step did."""

    ns: Counter = field(default_factory=Counter)
    counts: Counter = field(default_factory=Counter)
    functions: dict[str, int] = field(default_factory=dict)
    is_single: bool = False
    is_default: bool = False
    is_foreach: bool = False

    @property
    def longest(self) -> int:
        """Own time of the function that has most."""
        return max(
            (
                ns
                for name, ns in self.functions.items()
                if "built-in method run_backward " not in name
            ),
            default=0,
        )


@dataclass
class Split:
    """The parts by index of the step, and sums by name."""

    parts: dict[int, Part] = field(default_factory=dict)
    sums: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, what: str, name: str, value: int) -> None:
        """Add VALUE to a sum."""
        sums = self.sums.setdefault(what, {})
        sums[name] = sums.get(name, 0) + value


def has_double(args: dict) -> bool:
    """Whether an input is a tensor of doubles."""
    types = args.get("Input type")
    dims = args.get("Input Dims")
    if not isinstance(dims, list):
        dims = args.get("Input dims")
    if not isinstance(types, list) or not isinstance(dims, list):
        return False
    return any(
        kind == "double" and isinstance(dim, list) and dim for kind, dim in zip(types, dims)
    )


def class_of(event: Event) -> str | None:
    """What a range is for the split."""
    if not event.is_range or not event.is_host or event.dur <= 0:
        return None
    if event.kind in ("dataloader", "optimizer"):
        return event.kind
    if event.kind in ("python", "module", "frame"):
        return "python"
    if event.kind in ("annotation", "scope"):
        return "noted"
    if event.kind != "operator":
        return None
    if event.name in SYNCS:
        return "sync"
    if event.name in COPIES:
        return "copy"
    if has_double(event.args):
        return "double"
    return "slow_conv" if event.name.startswith(SLOW_CONV) else "operator"


def outermost(events: list[tuple[Event, str]]) -> list[Event]:
    """Operators that no other contains, outside of optimizers and of waits for data."""
    found, end, outside = [], None, None
    for event, kind in events:
        if kind in ("dataloader", "optimizer"):
            outside = event.end if outside is None else max(outside, event.end)
        if (
            kind in OPERATORS
            and (end is None or event.start >= end)
            and (outside is None or event.start >= outside)
        ):
            found.append(event)
            end = event.end
    return found


class Thread:
    """The walk over one thread with the WINDOWS of its steps, (start, end, index)."""

    def __init__(
        self, split: Split, events: list[tuple[Event, str]], windows: list[tuple[int, int, int]]
    ):
        self.split, self.events, self.windows = split, events, windows
        self.tops = [e for e in outermost(events) if self.window(e.start) is not None]
        self.tiny: set[Event] = set()
        self.gaps: list[Interval] = []
        self.in_loops: set[Event] = set()
        self.judge()

    def window(self, at: int) -> int | None:
        """The step that has the moment AT."""
        return next((step for start, end, step in self.windows if start <= at < end), None)

    def loops(self) -> set[Event]:
        """Operators in sequences of names that repeat."""
        found: set[Event] = set()
        for own in self.windows:
            tops = [e for e in self.tops if self.window(e.start) == own[2]]
            for turn in range(1, LOOP_TURN + 1):
                first = 0
                for at in range(turn, len(tops) + 1):
                    if at < len(tops) and tops[at].name == tops[at - turn].name:
                        continue
                    if at - first >= max(LOOP_CALLS, turn * LOOP_TURNS):
                        found.update(tops[first:at])
                    first = at - turn + 1
        return found

    def judge(self) -> None:
        """Mark what is tiny; count copies of copies."""
        self.in_loops = self.loops()
        before, last = None, None
        for event in self.tops:
            step = self.window(event.start)
            part = self.split.parts[step]
            part.counts["operators"] += 1
            if event.dur < TINY_NS and event in self.in_loops:
                self.tiny.add(event)
                part.counts["tiny"] += 1
                if not event.name.startswith("autograd::"):
                    self.split.add("tiny", event.name, 1)
                if (
                    last in self.tiny
                    and self.window(last.start) == step
                    and event.start - last.end <= GAP_NS
                ):
                    self.gaps.append((last.end, event.start))
            last = event
            if event.name in VIEWS:
                continue
            if (
                event.name in NEW_COPIES
                and before
                and before.name in NEW_COPIES
                and self.window(before.start) == step
            ):
                part.counts["chained"] += 1
            before = event

    def walk(self, blocked: list[Interval]) -> None:
        """Give every moment to its cause."""
        cuts = sorted(
            {at for e, _ in self.events for at in (e.start, e.end)}
            | {at for start, end, _ in self.windows for at in (start, end)}
        )
        active: list[tuple[Event, str]] = []
        ahead = 0
        for start, end in zip(cuts, cuts[1:] + cuts[-1:]):
            active = [a for a in active if a[0].end > start]
            while ahead < len(self.events) and self.events[ahead][0].start == start:
                self.begin(*self.events[ahead], [kind for _, kind in active])
                active.append(self.events[ahead])
                ahead += 1
            step = self.window(start)
            if step is None or start == end:
                continue
            ns = end - start - length(intersect(blocked, [(start, end)]))
            cause = self.cause(start, active)
            part = self.split.parts[step]
            part.ns[cause] += ns
            if cause == "python" and ns > 0:
                name = [e.name for e, kind in active if kind == "python"][-1]
                name = name.rsplit(" at 0x", 1)[0]
                part.functions[name] = part.functions.get(name, 0) + ns

    def cause(self, at: int, active: list[tuple[Event, str]]) -> str:
        """The cause of the moment AT."""
        running = {kind for _, kind in active}
        for kind in ("optimizer", "sync", "copy", "double", "slow_conv"):
            if kind in running:
                return kind
        if "operator" in running:
            return "tiny" if any(e.start <= at < e.end for e in self.tiny) else "operator"
        if any(start <= at < end for start, end in self.gaps):
            return "tiny"
        if "python" in running:
            return "python"
        return "noted" if "noted" in running else "other"

    def begin(self, event: Event, kind: str, running: list[str]) -> None:
        """Count EVENT, which begins while RUNNING do."""
        step = self.window(event.start)
        if step is None:
            return
        part = self.split.parts[step]
        if kind == "python":
            part.counts["frames"] += 1
            if "optimizer" in running:
                part.is_single |= ": _single_tensor_" in event.name
                part.is_default |= ": _default_to_fused_or_foreach" in event.name
        special = "sync" in running or "copy" in running
        if "dataloader" in running:
            return
        if "optimizer" in running:
            part.counts["updates"] += kind in OPERATORS
            part.is_foreach |= event.name.startswith(("aten::_foreach_", "aten::_fused_"))
        elif kind == "optimizer":
            self.split.add("optimizer", event.name, event.dur)
        elif kind == "sync" and "sync" not in running:
            part.counts["sync"] += 1
            part.counts["loops"] += any(e.start <= event.start < e.end for e in self.in_loops)
            self.split.add("sync", event.name, 1)
        elif (kind == "copy" and not special) or (
            kind in ("double", "slow_conv") and not special and kind not in running
        ):
            part.counts[kind] += 1
            self.split.add(kind, event.name, event.dur)


def main_track(trace: Trace, by_track: dict) -> tuple[str, str] | None:
    """The thread with the most time in outermost operators, the first of several."""
    first: dict[tuple[str, str], int] = {}
    for event in trace.events:
        first.setdefault(event.track, event.id)
    tracks = {e.track for e in trace.events if e.is_range}
    return min(
        tracks,
        default=None,
        key=lambda track: (
            -sum(e.dur for e in outermost(by_track.get(track, []))),
            first[track],
        ),
    )


def split_of(
    trace: Trace,
    steps: list,
    costs: list[dict[str, int]],
    slow: dict[int, int],
    unions: dict[str, list[Interval]],
) -> Split:
    """The split. COSTS is the breakdown of STEPS, SLOW what outliers take longer, by index."""
    split = Split({i: Part() for i, s in enumerate(steps) if s.kept})
    by_track: dict[tuple[str, str], list[tuple[Event, str]]] = {}
    for event in sorted((e for e in trace.events if e.is_range), key=Event.order):
        kind = class_of(event)
        if kind:
            by_track.setdefault(event.track, []).append((event, kind))
    windows: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for i in split.parts:
        step = steps[i]
        track = step.annotation.track if step.annotation else main_track(trace, by_track)
        own = windows.setdefault(track, [])
        start = max([step.start] + [w[1] for w in own])
        if start < step.end:
            own.append((start, step.end, i))
    blocked = union(unions["communication"] + unions["dataloader"])
    for track, own in windows.items():
        Thread(split, by_track.get(track, []), own).walk(blocked)
    for i, part in split.parts.items():
        for name, ns in part.functions.items():
            if "built-in method run_backward " not in name:
                split.add("function", name, ns)
        rest = (
            steps[i].end
            - steps[i].start
            - sum(costs[i][name] for name in ("communication", "dataloader"))
        )
        excess = min(slow.get(i, 0), rest)
        if excess > 0:
            for cause in OWN:
                part.ns[cause] = part.ns[cause] * (rest - excess) // rest
            part.ns["slow"] = excess
    return split


def who_allocated(nodes: list, record: Event) -> str:
    """The innermost module around RECORD, or else the innermost operator, among the node that began
    last before it and those above."""
    node = max(
        (n for n in nodes if n.event.track == record.track and n.event.start <= record.start),
        key=lambda n: n.event.order(),
        default=None,
    )
    parent = {id(child): n for n in nodes for child in n.children}
    around = []
    while node:
        if node.event.end > record.start:
            around.append(node)
        node = node.merged_into or parent.get(id(node))
    for node in around:
        if node.event.kind == "module":
            return node.event.name
    return next((n.event.name for n in around if n.is_row), "")


def is_above(ns: int, percent: int, of: int) -> bool:
    """Whether NS is more than PERCENT of OF."""
    return 100 * ns > percent * of


def fits(code: str, part: Part, of: int) -> bool:
    """Whether a step with PART, as long as OF, is one that the rule CODE is about."""
    ns, counts = part.ns, part.counts
    if code == "host_sync":
        return counts["loops"] >= 8 or is_above(ns["sync"], 5, of)
    if code == "copies":
        return is_above(ns["copy"], 20, of) or (
            counts["chained"] >= 4 and is_above(ns["copy"], 2, of)
        )
    if code == "float64":
        return is_above(ns["double"], 10, of)
    if code == "slow_convolution":
        return is_above(ns["slow_conv"], 10, of)
    if code == "tiny_operators":
        return is_above(ns["tiny"], 5, of)
    if code == "single_tensor":
        if part.is_single and not part.is_default:
            return is_above(ns["optimizer"], 5, of)
        return (
            not part.is_foreach
            and counts["updates"] >= 32
            and is_above(ns["optimizer"], 20, of)
        )
    if counts["operators"] < 8:
        return False
    if code == "python":
        python = ns["python"] + ns["noted"] + ns["other"]
        return counts["frames"] > 0 and (
            is_above(python, 30, of)
            or (is_above(python, 15, of) and is_above(part.longest, 8, of))
        )
    return counts["frames"] == 0 and is_above(ns["other"], 20, of)


# Code -> its causes, the sum by name, what is counted.
RULES = {
    "host_sync": (("sync",), "sync", "sync"),
    "copies": (("copy",), "copy", "copy"),
    "float64": (("double",), "double", "double"),
    "slow_convolution": (("slow_conv",), "slow_conv", "slow_conv"),
    "tiny_operators": (("tiny",), "tiny", "tiny"),
    "single_tensor": (("optimizer",), "optimizer", None),
    "python": (("python", "noted", "other"), "function", None),
    "unrecorded": (("other",), None, None),
}
