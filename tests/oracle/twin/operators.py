# SPDX-License-Identifier: Apache-2.0
"""`operators`: the plugin's tree as an overlay of the forest."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from . import exact, forest, kinds, links
from .events import Event, Trace
from .steps import host_type

# The number of frames in the text of a rebuilt stack.
FRAMES_MAX = 128


@dataclass(eq=False)
class Node:
    """One node of the operator tree; times in ns."""

    event: Event
    is_operator_type: bool
    stack: str | None = None
    children: list[Node] = field(default_factory=list)
    calls: list[Event] = field(default_factory=list)  # of the device runtime
    merged_into: Node | None = None  # its parent with the same name
    is_async: bool = False  # not in the tree, has no self time
    host_self: int = 0
    device_self: int = 0
    device_total: int = 0
    tc_self: int = 0
    tc_total: int = 0
    unknown_self: int = 0  # kernels of which no rule knows whether they use Tensor Cores
    unknown_total: int = 0
    tc_eligible: bool = False

    @property
    def is_row(self) -> bool:
        """Whether it counts as an operator in statistics."""
        name = self.event.name
        return (
            self.is_operator_type
            and self.merged_into is None
            and self.event.kind == "operator"
            and name not in ("DataParallel.forward", "DistributedDataParallel.forward")
            and not name.startswith("Optimizer.")
        )


def is_node(event: Event) -> bool:
    """Operators, steps, modules, `python`; annotations only of the classes
    DataLoader, Optimizer and (the plugin's) collectives."""
    kind = host_type(event)
    if kind == "Operator" and event.kind == "annotation":  # by its name
        return False
    if kind == "Annotation":
        return (
            event.kind in ("step", "dataloader")
            or event.name.startswith("Optimizer.step")
            or event.name in kinds.PLUGIN_COLLECTIVES
        )
    return kind is not None or (event.kind == "module" and event.is_range)


def op_of_call(trace: Trace) -> dict[Event, Event]:
    """Call of the runtime or driver -> the operator that made it. Steps, annotations, modules and
    `python` are not operators: a call that only they enclose belongs to none."""
    if "op of call" not in trace.kept:
        ops = [
            e
            for e in trace.events
            if host_type(e) == "Operator" and e.kind not in ("step", "annotation")
        ]
        calls = [e for e in trace.events if e.kind in kinds.LAUNCHES and e.is_range]
        links.launch_of_device_event(trace)
        near = links.op_of_call(calls, ops)
        far = trace.kept.get("operators by arrows", {})
        trace.kept["op of call"] = {**far, **near}
        trace.kept["calls elsewhere"] = far.keys() - near.keys()
    return trace.kept["op of call"]


def build(trace: Trace) -> list[Node]:
    """Nodes with children and calls, in file order."""
    if "operators" not in trace.kept:
        trace.kept["operators"] = made(trace)
    return trace.kept["operators"]


def asynchronous(trace: Trace) -> list[Node]:
    """Operators whose begin and end share an id: outside the tree."""
    return [
        Node(e, True, is_async=True, tc_eligible=kinds.op_is_tc_eligible(e.name, False))
        for e in trace.events
        if e.kind == "operator" and e.is_host and e.end is not None and not e.is_range
    ]


def made(trace: Trace) -> list[Node]:
    """The same, once per trace."""
    nodes = {e: Node(e, host_type(e) == "Operator") for e in trace.events if is_node(e)}
    tops: list[Node] = []

    def set_parent(event: Event, parent: Event | None) -> None:
        (nodes[parent].children if parent else tops).append(nodes[event])

    for ranges in forest.by_track(nodes).values():
        forest.nest(ranges, set_parent)
    for call, op in op_of_call(trace).items():
        nodes[op].calls.append(call)
    for node in nodes.values():
        node.children.sort(key=lambda n: n.event.order())
    merge_equal(tops)
    return list(nodes.values())


def merge_equal(tops: list[Node]) -> None:
    """From the top down: an operator whose only child is an operator with its name gets that
    child's children and calls and loses its own calls; repeated."""
    waiting = list(tops)
    while waiting:
        node = waiting.pop()
        while (
            len(node.children) == 1
            and node.is_operator_type
            and node.children[0].is_operator_type
            and node.children[0].event.name == node.event.name
        ):
            child = node.children[0]
            child.merged_into = node
            node.children, node.calls = child.children, child.calls
        waiting += node.children


def filled(trace: Trace, compat: bool) -> list[Node]:
    """Nodes with statistics; the next call may overwrite them by other rules."""
    nodes = build(trace)
    if trace.kept.get("filled") is not compat:
        fill(trace, nodes, compat)
        trace.kept["filled"] = compat
    return nodes


def fill(trace: Trace, nodes: list[Node], compat: bool) -> None:
    """Compute the statistics, children before parents."""
    work: dict[Event, list[Event]] = {}
    for event, call in links.launch_of_device_event(trace).items():
        if event.kind in kinds.DEVICE_WORK:
            work.setdefault(call, []).append(event)
    # A child does not start before its parent and, at equal starts, is not longer.
    for node in sorted(nodes, key=lambda n: n.event.order(), reverse=True):
        if node.merged_into:
            continue
        own = [w for call in node.calls for w in work.get(call, [])]
        node.host_self = (
            node.event.dur
            - sum(c.event.dur for c in node.children)
            - sum(call.dur for call in node.calls if call not in trace.kept["calls elsewhere"])
        )
        node.device_self = sum(w.dur for w in own)
        tc = [w.dur for w in own if w.kind == "kernel" and kinds.kernel_uses_tc(w.name, compat)]
        node.tc_self = sum(tc)
        node.device_total = node.device_self + sum(c.device_total for c in node.children)
        node.tc_total = node.tc_self + sum(c.tc_total for c in node.children)
        node.unknown_self = sum(
            w.dur
            for w in own
            if w.kind == "kernel" and kinds.kernel_uses_tc(w.name, compat) is None
        )
        node.unknown_total = node.unknown_self + sum(c.unknown_total for c in node.children)
        node.tc_eligible = kinds.op_is_tc_eligible(node.event.name, compat)
        if node.is_operator_type:
            node.tc_eligible |= sum(tc) > 0 or any(c.tc_eligible for c in node.children)


def stack_of(trace: Trace, event: Event, compat: bool) -> str | None:
    """`Call stack` as in the file; in a file without any, the Python frames around EVENT on its
    thread, innermost first (the plugin has none)."""
    if trace.has_call_stacks or compat:
        text = event.args.get("Call stack")
        return text if isinstance(text, str) and text else None
    frames = []
    above = event.parent
    while above:
        if (above.category or "").lower() == "python_function":
            frames.append(above.name)
        above = above.parent
    more = ["..."] if len(frames) > FRAMES_MAX else []
    return ";".join(frames[:FRAMES_MAX] + more) if frames else None


def shape_text(args: dict) -> str:
    """Text form of `Input Dims`, or else `Input dims`; [] if there is none."""
    dims = args.get("Input Dims")
    dims = args.get("Input dims") if dims is None else dims
    return str(dims) if isinstance(dims, list) else "[]"


def dtypes_text(args: dict) -> str | None:
    """The elements of `Input type` with commas between them, each but the first and empty ones
    after a blank; None if it has none."""
    types = args.get("Input type")
    if not isinstance(types, list) or not types:
        return None
    first, *others = map(str, types)
    return first + "".join(f", {x}" if x else "," for x in others)


def ratio(part: int, whole: int) -> float:
    """Share of a sum; 0 if the sum is 0."""
    return float(Fraction(part, whole)) if whole else 0.0


def table(traces: list[Trace], group_by: str | None = None, compat: bool = False) -> list[dict]:
    """`operators`: plain, by `shape`, `dtype`, `stack` or several of these."""
    by = (group_by or "").split(",")
    groups: dict[tuple, list[list[Node]]] = {}
    for number, trace in enumerate(traces):
        nodes = filled(trace, compat) + ([] if compat else asynchronous(trace))
        for node in sorted(nodes, key=lambda n: n.event.id):
            if node.is_row:
                node.stack = stack_of(trace, node.event, compat)
                key = (
                    node.event.name,
                    shape_text(node.event.args) if "shape" in by else None,
                    node.stack if "stack" in by else None,
                    dtypes_text(node.event.args) if "dtype" in by else None,
                )
                groups.setdefault(key, [[] for _ in traces])[number].append(node)
    rows = [row(key, parts, by) for key, parts in groups.items()]
    if all(t.producer not in TORCH for t in traces):
        for one in rows:  # no rule knows operators of others
            one |= {"tc_eligible": None, "tc_self_ratio": None, "tc_total_ratio": None}
    has_device = any(r["device_self_ns"] > 0 for r in rows)
    rows.sort(key=lambda r: -r["device_self_ns" if has_device else "host_self_ns"])
    return rows


TORCH = ("kineto", "torch_npu", "torch_legacy", "opscope")


def tc_ratio(part: int, whole: int, unknown: int) -> float | None:
    """The share of Tensor Cores; None if no rule knows more than 1 % of WHOLE, or if it is 0 only
    as no rule knows some kernels."""
    is_known = 100 * unknown <= whole and (part > 0 or unknown == 0)
    return ratio(part, whole) if is_known else None


def row(key: tuple, parts: list[list[Node]], by: list[str]) -> dict:
    """One row of the table; the ops of each trace in file order. Rows of several traces have no
    median."""
    group = [node for part in parts for node in part]
    is_whole = sum(bool(part) for part in parts) == 1
    cells: dict = {"name": key[0]}
    if "shape" in by:
        cells["input_shape"] = key[1]
    if "dtype" in by:
        cells["input_dtypes"] = key[3]
    if "stack" in by:
        cells["call_stack"] = key[2]
    device_self, device_total = (
        sum(getattr(n, f) for n in group) for f in ("device_self", "device_total")
    )
    cells |= {
        "calls": len(group),
        "device_self_ns": device_self,
        "device_total_ns": device_total,
        "host_self_ns": sum(n.host_self for n in group),
        "host_total_ns": sum(n.event.dur for n in group),
        "tc_eligible": any(n.tc_eligible for n in group),
        "tc_self_ratio": tc_ratio(
            sum(n.tc_self for n in group), device_self, sum(n.unknown_self for n in group)
        ),
        "tc_total_ratio": tc_ratio(
            sum(n.tc_total for n in group), device_total, sum(n.unknown_total for n in group)
        ),
        "has_call_stack": any(n.stack is not None for n in group),
    }
    for side in ("host", "device"):
        values = [getattr(n, f"{side}_self") for n in group if not n.is_async]
        has = bool(values)
        cells |= {
            f"mean_{side}_self_ns": float(Fraction(sum(values), len(values))) if has else None,
            f"median_{side}_self_ns": float(exact.median(values)) if has and is_whole else None,
            f"max_{side}_self_ns": max(values, default=None),
        }
    return cells
