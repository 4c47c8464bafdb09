# SPDX-License-Identifier: Apache-2.0
"""What memory was for: torch's rules on the data flow, by sets of pairs of object and version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import exact, operators
from .events import Event, Trace

if TYPE_CHECKING:
    from .memory_tables import Record

STORAGES = ("Storages", *(f"Storages {i}" for i in range(2, 9)))
FITS, BACKWARD = 1, 2  # the first number of the first of them
COLUMNS = (
    "parameter",
    "gradient",
    "optimizer_state",
    "activation",
    "input",
    "temporary",
    "autograd_detail",
    "uncategorized",
)  # of memory_peaks, without _bytes


@dataclass(eq=False)
class Object:
    """Memory from its allocation to its release."""

    is_tensor: bool = False
    version: int = 0
    since: list[int] = field(default_factory=list)  # when versions 1 and up began
    made_by: list[str] = field(default_factory=list)  # the names of the calls that made them
    process: str | None = None
    first: tuple[int, int, int] = (0, 0, 0)  # time, id and address of its first touch
    allocated: Record | None = None
    released: Record | None = None
    of_all: str | None = None
    is_temporary: bool = False
    of_version: dict[int, str] = field(default_factory=dict)

    def category(self, version: int) -> str | None:
        """That of a VERSION."""
        return (
            self.of_all
            or ("temporary" if self.is_temporary else None)
            or self.of_version.get(version)
        )


@dataclass(eq=False)
class Use:
    """What a node does to an object."""

    is_allocated: bool = False
    is_freed: bool = False
    ways: set[str] = field(default_factory=set)  # read, written, unknown


@dataclass(eq=False)
class Flow:
    """A node of the data flow: what it finds and makes are pairs of object and version."""

    start: tuple[int, int]
    name: str
    is_backward: bool = False
    uses: dict[Object, Use] = field(default_factory=dict)
    found: set[tuple[Object, int]] = field(default_factory=set)
    made: set[tuple[Object, int]] = field(default_factory=set)


def numbers(event: Event, key: str) -> list[int]:
    """The integers in a list of EVENT."""
    value = event.args.get(key)
    found = [exact.integer(x) for x in value] if isinstance(value, list) else []
    return found if None not in found else []


def of_records(trace: Trace, records: list[Record]) -> dict[Record, Object]:
    """The object of each allocation, with its categories; none, if nothing tells the data flow."""
    found = of_trace(trace, records)
    return found.of_record if found else {}


def of_trace(trace: Trace, records: list[Record]) -> Categories | None:
    """The rules applied to TRACE; None: nothing tells the data flow of any object."""
    if "categories" not in trace.kept:
        has = any(e.is_range and numbers(e, "Storages") for e in trace.events)
        found = Categories(trace, records) if has else None
        trace.kept["categories"] = found if found and found.objects else None
    return trace.kept["categories"]


class Categories:
    """The rules, in their order."""

    def __init__(self, trace: Trace, records: list[Record]) -> None:
        self.of_record: dict[Record, Object] = {}
        self.objects: list[Object] = []
        self.told: dict[str, list[Object]] = {
            "parameter": [],
            "gradient": [],
            "optimizer_state": [],
        }
        self.there: dict[tuple, Object] = {}
        self.touched: dict[Event, dict[int, Object]] = {}  # by address
        self.flows: dict[object, Flow] = {}  # by operator or record
        self.units: dict[operators.Node, tuple[Event | None, bool]] = {}
        self.accumulating: set[Event] = set()
        self.find_units(trace)
        self.find_uses(trace, records)
        self.nodes = sorted(self.flows.values(), key=lambda n: n.start)
        for node in self.nodes:
            self.make_versions(node)
        self.apply()

    def find_units(self, trace: Trace) -> None:
        """The outermost call around each node that fits a schema or is a backward function, and
        whether the node is in a backward function."""
        nodes = operators.build(trace)
        above = {
            child: node for node in nodes if node.merged_into is None for child in node.children
        }
        for node in sorted(nodes, key=lambda n: n.event.order()):
            parent = node.merged_into or above.get(node)
            unit, is_backward = (
                self.units.get(parent, (None, False)) if parent else (None, False)
            )
            what = (numbers(node.event, "Storages") or [0])[0]
            if what in (FITS, BACKWARD) and unit is None:
                unit = node.event
            self.units[node] = unit, is_backward or what == BACKWARD
        for node in nodes:
            if (
                node.merged_into is None
                and node.children
                and node.event.name == "torch::autograd::AccumulateGrad"
                and node.children[0].event.name in ("aten::detach", "aten::add_")
            ):
                self.accumulating.add(node.children[0].event)

    def object_at(self, event: Event, address: int) -> Object:
        """What is at ADDRESS at EVENT; if nothing is known, it has been there before."""
        process = event.process
        if (process, address) not in self.there:
            self.there[process, address] = Object(
                process=process, first=(event.start, event.id, address)
            )
            self.objects.append(self.there[process, address])
        found = self.there[process, address]
        self.touched.setdefault(event, {})[address] = found
        return found

    def find_uses(self, trace: Trace, records: list[Record]) -> None:
        """Follow all memory in order of time."""
        nodes = {node.event: node for node in operators.build(trace)}
        of_event = {
            record.event: record
            for record in records
            if record.address is not None and record.device != "unknown"
        }
        later: list[tuple[Flow, Object, str]] = []
        backward_of = {node.event: is_backward for node, (_, is_backward) in self.units.items()}

        def use(key: object, start: Event, target: Object, way: str) -> None:
            flow = self.flows.setdefault(
                key, Flow((start.start, start.id), start.name, backward_of.get(start, False))
            )
            later.append((flow, target, way))

        for event in sorted(trace.events, key=lambda e: (e.start, e.id)):
            if event in of_event:
                record = of_event[event]
                if record.is_allocation:
                    self.there.pop((record.process, record.address), None)
                target = self.object_at(event, record.address)
                if record.is_allocation:
                    self.of_record[record] = target
                    target.allocated = record
                else:
                    target.released = record
                    del self.there[record.process, record.address]
                unit = self.units[record.node][0] if record.node else None
                use(
                    unit or record,
                    unit or event,
                    target,
                    "allocated" if record.is_allocation else "freed",
                )
            if event in nodes:
                self.use_inputs(event, self.units[nodes[event]][0], use)
            if event.is_range:
                pairs = numbers(event, "Parameters")
                for names, told in (
                    (("parameter", "gradient"), pairs),
                    (("optimizer_state",), numbers(event, "Optimizer state")),
                ):
                    for i, address in enumerate(told):
                        if address != 0:
                            target = self.object_at(event, abs(address))
                            target.is_tensor = True
                            self.told[names[i % len(names)]].append(target)
        for flow, target, way in later:
            if not target.is_tensor:
                continue
            done = flow.uses.setdefault(target, Use())
            done.is_allocated |= way == "allocated"
            done.is_freed |= way == "freed"
            done.ways |= {way} & {"read", "written", "unknown"}

    def use_inputs(self, event: Event, unit: Event | None, use: object) -> None:
        """Follow the tensors of a call."""
        values: list[int] = []
        for key in STORAGES:
            if not isinstance(event.args.get(key), list):
                break
            values += numbers(event, key)
        for i, address in enumerate(values[1:]):
            target = self.object_at(event, abs(address))
            target.is_tensor = True
            if i == 0 and event in self.accumulating:
                self.told["gradient"].append(target)
            if unit is not None:
                way = "unknown" if values[0] != FITS else "written" if address < 0 else "read"
                use(unit, unit, target, way)  # type: ignore[operator]

    @staticmethod
    def make_versions(node: Flow) -> None:
        """What NODE finds and makes."""
        for target, done in node.uses.items():
            changes = "written" in done.ways or done.ways == {"unknown"}
            if done.is_allocated:
                if done.is_freed:
                    target.is_temporary = True
                else:
                    node.made.add((target, 0))
                continue
            node.found.add((target, target.version))
            if changes and not done.is_freed:
                target.version += 1
                target.since.append(node.start[0])
                target.made_by.append(node.name)
                node.made.add((target, target.version))

    def apply(self) -> None:
        """All rules."""
        for target in self.told["gradient"]:
            target.of_all = "gradient"
        for target in self.told["parameter"]:
            target.of_all = "parameter"
        dependent = self.dependent()
        inputs = self.inputs(dependent)
        for target, version in inputs:
            target.of_version.setdefault(version, "input")
        self.find_parameters(dependent)
        for node in self.nodes:
            kinds = {target.category(version) for target, version in node.found}
            if (
                not node.is_backward
                and kinds & {"input", "activation"}
                and kinds <= {"input", "activation", "parameter", "temporary"}
            ):
                for target, version in node.made:
                    target.of_version.setdefault(version, "activation")
        for target in self.told["optimizer_state"]:
            target.of_all = "optimizer_state"
        for node in self.nodes:
            for target, version in node.made if node.is_backward else ():
                before = target.category(version - 1) if version else None
                if before in (None, "autograd_detail"):
                    target.of_version.setdefault(version, "autograd_detail")

    def dependent(self) -> set[Object]:
        """Objects of which some version depends on a gradient or a parameter."""
        result: set[Object] = set()
        while True:
            before = len(result)
            for node in self.nodes:
                from_ = {
                    target
                    for target, _ in node.found
                    if target.of_all in ("gradient", "parameter") or target in result
                }
                if from_:
                    result |= from_ | {target for target, _ in node.made}
            if len(result) == before:
                return result

    def inputs(self, dependent: set[Object]) -> set[tuple[Object, int]]:
        """What contributes to a gradient or a parameter and depends on none."""
        used: set[tuple[Object, int]] = set()
        for node in reversed(self.nodes):
            both = node.found | node.made
            if any(
                pair[0].of_all in ("gradient", "parameter") or pair in used for pair in both
            ):
                used |= both
        for node in self.nodes:
            if node.is_backward:
                used -= node.made
        return {pair for pair in used if pair[0] not in dependent}

    def find_parameters(self, dependent: set[Object]) -> None:
        """Parameters that nobody told."""

        def is_gradient(pair: tuple[Object, int]) -> bool:
            return pair[0].category(pair[1]) == "gradient"

        forward = {
            pair
            for node in self.nodes
            for pair in node.found | node.made
            if pair[0].category(pair[1]) == "input"
        }
        candidates: set[tuple[Object, int]] = set()
        for node in self.nodes:
            if (
                not node.is_backward
                and not any(map(is_gradient, node.found | node.made))
                and forward & node.found
            ):
                forward |= node.made
                candidates |= node.found - forward
        used: set[tuple[Object, int]] = set()
        for node in reversed(self.nodes):
            if any(is_gradient(pair) or pair in used for pair in node.made):
                used |= node.found
        for target, _ in candidates & used:
            if target in dependent:
                target.of_all = "parameter"


def first(target: Object | None) -> str | None:
    """The first category of the versions of an object."""
    if target is None:
        return None
    return next((c for c in map(target.category, range(target.version + 1)) if c), None)


def at(target: Object | None, time: int) -> str | None:
    """The category at TIME."""
    if target is None:
        return None
    return target.category(sum(since <= time for since in target.since))
