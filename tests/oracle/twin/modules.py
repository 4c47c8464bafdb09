# SPDX-License-Identifier: Apache-2.0
"""`modules`: work inside modules, by place in the hierarchy.

A scope is a range to group by: a module's call, or in traces without modules an annotation or a
Python line, from frames or else from `Call stack`. A place is the path of names (and module ids)
from the outermost scope. Only scopes and the nodes of the operator tree are subtracted from each
other's time.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from . import forest, forward, operators
from .events import Event, Trace

PREFIX = "nn.Module: "
LIGHTNING = "[pl][module]"
WRAPPER = "autograd::engine::evaluate_function: "
ACCUMULATE = WRAPPER + "torch::autograd::AccumulateGrad"
PATH_NAMES_MAX = 64
Step = tuple[str, "int | None"]  # a name and a module id
Path = tuple[Step, ...]  # from the outermost


@dataclass(eq=False)
class Entry:
    """A scope, an unmerged node of the operator tree, or both."""

    event: Event
    node: operators.Node | None
    shown: str | None  # the name of a scope
    parent: Entry | None = None
    children: list[Entry] = field(default_factory=list)
    place: Path = ()  # of a scope
    holder: Event | None = None  # for a module: the module that contains it

    @property
    def is_operator(self) -> bool:
        """Whether host calls can belong to it."""
        return (
            self.node is not None and self.node.is_operator_type and self.event.kind != "step"
        )

    def device(self) -> int:
        """Time of the device work that was launched in it."""
        own = self.node.device_self if self.node else 0
        return own + sum(c.device() for c in self.children)

    def around(self) -> list[Entry]:
        """Itself and its ancestors, the innermost first."""
        chain, entry = [], self
        while entry is not None:
            chain.append(entry)
            entry = entry.parent
        return chain


@dataclass
class Sums:
    """The numbers of a place."""

    calls: int = 0
    operators: int = 0
    host_total_ns: int = 0
    host_self_ns: int = 0
    device_total_ns: int = 0
    device_self_ns: int = 0
    backward_host_ns: int = 0
    backward_device_ns: int = 0

    def add(self, other: Sums) -> None:
        """Add all numbers of OTHER."""
        for name, number in vars(other).items():
            setattr(self, name, getattr(self, name) + number)


def lightning_name(name: str) -> str | None:
    """The dotted name of a module of Lightning."""
    _, colon, dotted = name.partition(": ")
    return dotted if name.startswith(LIGHTNING) and colon else None


def line_name(name: str) -> str | None:
    """File and line of a Python frame."""
    head, end, _ = name.partition("): ")
    return head + ")" if end and re.search(r"\([0-9]+\Z", head) else None


def stack_line(event: Event) -> str | None:
    """The innermost line in `Call stack`."""
    stack = event.args.get("Call stack")
    frames = stack.split(";") if isinstance(stack, str) else []
    return next((line for line in map(line_name, frames) if line), None)


def shown_name(event: Event, scopes: str) -> str | None:
    """The name of a scope; None if the event is not a scope."""
    name = event.name
    if not event.is_range or not event.is_host:
        return None
    if scopes == "module":
        shown = name.removeprefix(PREFIX) if event.kind == "module" else None
    elif scopes == "annotation":
        shown = name.removeprefix("[pl][profile]") if event.kind == "annotation" else None
    elif scopes == "line":
        is_frame = (
            event.category or ""
        ).lower() == "python_function" and event.kind != "module"
        shown = line_name(name) if is_frame else None
    else:
        shown = lightning_name(name)
    return None if shown == "" and name != "" and scopes != "module" else shown


def scopes_of(trace: Trace, group_by: str | None) -> str:
    """The kind of scopes: as asked, or modules, preferably those of Lightning."""
    if group_by:
        return group_by
    is_lightning = any(shown_name(e, "lightning") is not None for e in trace.events)
    return "lightning" if is_lightning else "module"


def holders(trace: Trace, entries: list[Entry]) -> None:
    """Set the module that contains each module: by the ids of callers, or else by enclosing
    ranges."""
    by_id: dict[tuple[str, int], Event] = {}
    for event in trace.events:
        number = event.integer("Python id")
        if number is not None and event.category == "python_function" and event.is_range:
            by_id.setdefault((event.process, number), event)

    def caller(event: Event) -> Event | None:
        number = event.integer("Python parent id")
        return None if number is None else by_id.get((event.process, number))

    has_callers = any(
        e.event.integer("Python parent id") is not None for e in entries if e.shown is not None
    )
    for entry in entries:
        if entry.shown is None:
            continue
        if not has_callers:
            outer = next((e for e in entry.around()[1:] if e.shown is not None), None)
            entry.holder = outer.event if outer else None
            continue
        seen, event = set(), caller(entry.event)
        while event is not None and event.kind != "module" and event not in seen:
            seen.add(event)
            event = caller(event)
        if event is not None and event.kind == "module" and event is not entry.event:
            entry.holder = event


def step_of(event: Event, shown: str, scopes: str) -> Step:
    """A name and a module id."""
    return (shown, event.integer("Python module id") if scopes == "module" else None)


def set_places(trace: Trace, entries: list[Entry], scopes: str) -> None:
    """The place of each scope, ENTRIES being in the order of their threads."""
    of: dict[Event, Path | None] = {}  # None while it is being determined
    known = {e.event: e for e in entries if e.shown is not None}
    dotted = {e.shown for e in known.values()}

    def module_place(event: Event) -> Path:
        if event not in of:
            of[event] = None
            above = known[event].holder if event in known else None
            place = () if above is None or of.get(above, ()) is None else module_place(above)
            shown = event.name.removeprefix(PREFIX)
            of[event] = (*place, step_of(event, shown, scopes))
        return of[event]

    if scopes == "module":
        holders(trace, entries)
    for entry in entries:
        if entry.shown is None:
            continue
        if scopes == "module":
            entry.place = module_place(entry.event)
            continue
        outer = next((e for e in entry.around()[1:] if e.shown is not None), None)
        own = (entry.shown, None)
        if scopes == "lightning":
            parts = entry.shown.split(".")
            names = [".".join(parts[:n]) for n in range(1, len(parts))]
            entry.place = (*tuple((n, None) for n in names if n in dotted), own)
        elif scopes == "line":
            entry.place = (own,)
        else:
            entry.place = (outer.place if outer else ()) + (own,)


def build(trace: Trace, scopes: str) -> tuple[list[Entry], list[operators.Node]]:
    """Scopes and nodes with parents and children, by thread in order of time, threads in order of
    their first event; and the merged nodes."""
    nodes = operators.filled(trace, False)
    by_event = {n.event: n for n in nodes if n.merged_into is None}
    entries: dict[Event, Entry] = {}
    for event in trace.events:
        shown = shown_name(event, scopes)
        if shown is not None or event in by_event:
            entries[event] = Entry(event, by_event.get(event), shown)

    def set_parent(event: Event, parent: Event | None) -> None:
        if parent is not None:
            entries[event].parent = entries[parent]
            entries[parent].children.append(entries[event])

    for ranges in forest.by_track(entries).values():
        forest.nest(ranges, set_parent)
    lines: dict[Event, Entry] = {}
    if scopes == "line" and all(e.shown is None for e in entries.values()):
        lines = add_lines(entries)
    first: dict[tuple[str, str], int] = {}
    for event in trace.events:
        first.setdefault(event.track, event.id)
    ordered = sorted(
        [*lines.values(), *entries.values()],
        key=lambda e: (first[e.event.track], e.event.order()),
    )
    return ordered, [n for n in nodes if n.merged_into is not None]


def add_lines(entries: dict[Event, Entry]) -> dict[Event, Entry]:
    """Add around each operator the line that called it, unless it is already the innermost scope
    there."""
    lines: dict[Event, Entry] = {}
    for entry in sorted(entries.values(), key=lambda e: e.event.order()):
        line = stack_line(entry.event) if entry.is_operator else None
        above = next((e.shown for e in entry.around()[1:] if e.shown is not None), None)
        if line is None or line == above:
            continue
        lines[entry.event] = Entry(entry.event, None, line, entry.parent, [entry])
        if entry.parent is not None:
            siblings = entry.parent.children
            siblings[siblings.index(entry)] = lines[entry.event]
        entry.parent = lines[entry.event]
    return lines


class Threads:
    """Entries by thread, each with the latest end up to it."""

    def __init__(self, entries: list[Entry]):
        self.of_track: dict[tuple, list[tuple[Entry, int]]] = {}
        for entry in entries:
            own = self.of_track.setdefault(entry.event.track, [])
            own.append((entry, max(entry.event.end, own[-1][1] if own else entry.event.end)))

    def innermost(self, event: Event) -> Entry | None:
        """The last entry of its thread that comes before EVENT and contains it."""
        own = self.of_track.get(event.track, [])
        at = bisect.bisect_left(own, event.order(), key=lambda pair: pair[0].event.order())
        for entry, latest in reversed(own[:at]):
            if latest < event.end:
                return None
            if entry.event.end > event.start and entry.event.end >= event.end:
                return entry
        return None


def backward(
    trace: Trace, entries: list[Entry], merged: list[operators.Node]
) -> dict[Path, tuple[int, int]]:
    """Host and device time of the backward work of each place's own operators."""
    links = forward.links(trace)
    group_of: dict[Entry, list[Entry]] = {}  # outermost backward operator -> its group
    groups: list[list[Entry]] = []
    last: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if not entry.is_operator or any(e.is_operator for e in entry.around()[1:]):
            continue
        name, track = entry.event.name, entry.event.track
        if not name.startswith(WRAPPER) and entry.event not in links:
            continue
        if name != ACCUMULATE or track not in last:
            last[track] = []
            groups.append(last[track])
        last[track].append(entry)
        group_of[entry] = last[track]
    held = [(e.event, e) for e in entries if e.is_operator]
    threads = Threads(entries)
    held += [(n.event, threads.innermost(n.event)) for n in merged]
    around = {event: entry.around() if entry else [] for event, entry in held}
    first: dict[tuple[str, str], int] = {}
    for event in trace.events:
        first.setdefault(event.track, event.id)
    leads: dict[int, Path] = {}
    for event, _ in sorted(held, key=lambda h: (first[h[0].track], h[0].order())):
        group = next((group_of[e] for e in around[event] if e in group_of), None)
        target = links.get(event)
        if group is None or target is None or id(group) in leads:
            continue
        scope = next((e for e in around.get(target, []) if e.shown is not None), None)
        if scope is not None:
            leads[id(group)] = scope.place
    result: dict[Path, tuple[int, int]] = {}
    for group in groups:
        place = leads.get(id(group))
        if place is not None:
            host, device = result.get(place, (0, 0))
            result[place] = (
                host + sum(e.event.dur for e in group),
                device + sum(e.device() for e in group),
            )
    return result


def sums(trace: Trace, entries: list[Entry], merged: list[operators.Node]) -> dict[Path, Sums]:
    """The numbers of each place; backward work also counts for all enclosing places."""
    result: dict[Path, Sums] = {}
    for entry in entries:
        if entry.shown is None:
            continue
        direct = [c for c in entry.children if c.is_operator]
        result.setdefault(entry.place, Sums()).add(
            Sums(
                calls=1,
                operators=len(direct),
                host_total_ns=entry.event.dur,
                host_self_ns=entry.event.dur - sum(c.event.dur for c in entry.children),
                device_total_ns=entry.device(),
                device_self_ns=sum(c.device() for c in direct),
            )
        )
    for place, (host, device) in backward(trace, entries, merged).items():
        for n in range(1, len(place) + 1):
            if place[:n] in result:
                result[place[:n]].add(Sums(backward_host_ns=host, backward_device_ns=device))
    return result


def in_order(entries: list[Entry], places: dict[Path, Sums]) -> list[Path]:
    """Places after those that contain them; siblings by their first call."""
    first: dict[Path, tuple[int, int]] = {}
    for entry in entries:
        if entry.shown is not None:
            key = (entry.event.start, entry.event.id)
            first[entry.place] = min(key, first.get(entry.place, key))
    return sorted(places, key=lambda p: [first[p[:n]] for n in range(1, len(p) + 1)])


def trees(entries: list[Entry], places: dict[Path, Sums]) -> list[tuple[Path, Sums]]:
    """The plugin's form: distinct trees of calls, with sums over equal names and ids."""
    by_step: dict[Step, Sums] = {}
    for place, numbers in places.items():
        by_step.setdefault(place[-1], Sums()).add(numbers)
    calls = sorted(
        (e for e in entries if e.shown is not None), key=lambda e: (e.event.start, e.event.id)
    )
    known = {e.event for e in calls}
    held: dict[Event | None, list[Entry]] = {}
    for entry in calls:
        held.setdefault(entry.holder if entry.holder in known else None, []).append(entry)

    def shape(entry: Entry) -> tuple:
        return (entry.place[-1], tuple(shape(c) for c in held.get(entry.event, [])))

    def listed(entry: Entry) -> list[tuple[Path, Sums]]:
        rows = [(entry.place, by_step[entry.place[-1]])]
        for child in held.get(entry.event, []):
            rows += listed(child)
        return rows

    roots: dict[tuple, Entry] = {}
    for entry in held.get(None, []):
        roots.setdefault(shape(entry), entry)
    rows = []
    for entry in sorted(roots.values(), key=lambda e: e.shown.encode("utf-8", "replace")):
        rows += listed(entry)
    return rows


def class_of(name: str) -> str:
    """NAME without the number of the instance, as of Linear_3."""
    found = re.fullmatch(r"(.+)_[0-9]+|(.*?)[0-9]+", name, re.S)
    return name if not found else found[1] if found[1] is not None else found[2]


def joined(rows: list[dict]) -> list[dict]:
    """One row for all of a class, in the order of first appearance. No trace of the tests has
    attributes of modules, so layers are classes, too."""
    result: dict[str, dict] = {}
    for row in rows:
        key = class_of(row["name"])
        sums = result.setdefault(
            key, {"path": key, "depth": None, "name": key, "module_id": None}
        )
        for column in row.keys() - {"path", "depth", "name", "module_id"}:
            sums[column] = sums.get(column, 0) + row[column]
    return list(result.values())


def one(trace: Trace, group_by: str | None, compat: bool) -> list[dict]:
    """The rows of one trace."""
    if group_by in ("class", "layer"):
        return joined(one(trace, None, compat))
    scopes = scopes_of(trace, group_by)
    entries, merged = build(trace, scopes)
    set_places(trace, entries, scopes)
    places = sums(trace, entries, merged)
    is_plain = not (compat and scopes == "module")
    has_backward = not compat and any(p.backward_host_ns for p in places.values())
    rows = (
        [(p, places[p]) for p in in_order(entries, places)]
        if is_plain
        else trees(entries, places)
    )
    result = []
    for place, numbers in rows:
        if scopes == "line" and numbers.operators == 0:
            continue
        names = [name for name, _ in place]
        cut = [] if len(names) <= PATH_NAMES_MAX else ["..."]
        result.append(
            {
                "path": "/".join(cut + names[-PATH_NAMES_MAX:]),
                "depth": len(place) - 1,
                "name": names[-1],
                "module_id": place[-1][1],
                **{
                    k: v
                    for k, v in vars(numbers).items()
                    if has_backward or not k.startswith("backward")
                },
            }
        )
    return result
