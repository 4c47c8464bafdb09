# SPDX-License-Identifier: Apache-2.0
"""`patterns`, by the rule PATTERNS of src/table/rules.md: as torch's classes do it, step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Callable

from . import advice, findings, kinds, links, operators
from .events import Event, Trace

FRAME = re.compile(r"(.*?)\(([0-9]+)\): (.*)\Z", re.DOTALL)
FILLS = ("aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_")
PRODUCTS = ("aten::mm", "aten::bmm", "aten::addmm")
LOADER = "torch/utils/data/dataloader.py"


class Matcher:
    """The threads of a trace, and what each pattern needs of them."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.roots: dict[tuple, list[Event]] = {}
        ranges = [
            e
            for e in trace.events
            if e.is_range and not e.device and e.track not in trace.summaries
        ]
        for event in sorted(ranges, key=Event.order):
            if not event.parent:
                self.roots.setdefault(event.track, []).append(event)
        self.ranges = ranges
        self.has_python = any(e.kind == "python" for e in ranges)
        self.products = products(trace)

    def siblings(self, event: Event) -> list[Event]:
        """EVENT and its siblings."""
        return event.parent.children if event.parent else self.roots[event.track]

    def beside(self, event: Event, distance: int) -> Event | None:
        """The sibling at DISTANCE from EVENT."""
        siblings = self.siblings(event)
        at = siblings.index(event) + distance
        return siblings[at] if 0 <= at < len(siblings) else None


def within(event: Event) -> Iterator[Event]:
    """EVENT and all that is in it, in order."""
    todo = [event]
    while todo:
        here = todo.pop()
        yield here
        todo += reversed(here.children)


def types(event: Event) -> list[str]:
    """The types of the inputs; "" for what is no tensor."""
    found = event.args.get("Input type")
    return [
        x if isinstance(x, str) and x != "Scalar" and not x.endswith("List") else ""
        for x in (found if isinstance(found, list) else [])
    ]


def type_at(event: Event, index: int) -> str:
    """The type of one of them."""
    found = types(event)
    return found[index] if index < len(found) else ""


def is_aligned(shape: object) -> bool:
    """Whether the last two sizes of SHAPE are multiples of 8; of a list of shapes, always."""
    if not isinstance(shape, list) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n in findings.INT64 for n in shape
    ):
        return True
    return all(n % 8 == 0 for n in shape[-2:])


def products(trace: Trace) -> dict[Event, set[bool]]:
    """For each operator: whether its kernels on devices that have TF32 use Tensor Cores."""
    devices = advice.devices_of_file(trace)
    launch, op_of_call = links.launch_of_device_event(trace), operators.op_of_call(trace)
    found: dict[Event, set[bool]] = {}
    for event in trace.events:
        family, _, number = (event.device or "").partition(":")
        if event.kind != "kernel" or not event.is_range or family != "cuda":
            continue
        device = next((d for d in devices if str(d["id"]) == number), None)
        uses = kinds.kernel_uses_tc(event.name, False)
        operator = op_of_call.get(launch.get(event))
        if device and (device["major"] or 0) >= 8 and uses is not None and operator:
            found.setdefault(operator, set()).add(uses)
    return found


def extra_copy(m: Matcher, event: Event) -> bool:
    """A tensor is filled and copied to another device."""
    copy = event
    for name in ("aten::_to_copy", "aten::copy_"):
        if not copy.children or copy.children[-1].name != name:
            return False
        copy = copy.children[-1]
    before = m.beside(event.parent, -1) if event.parent and m.has_python else None
    if before is None or type_at(copy, 0) in ("",) or type_at(copy, 0) != type_at(copy, 1):
        return False
    if not before.children:
        return before.name in FILLS
    while before.children:
        before = before.children[-1]
        if before.name in FILLS:
            return True
    return False


def fp32_matmul(m: Matcher, event: Event) -> bool:
    """A product whose kernels use no Tensor Cores though they could."""
    return m.products.get(event) == {False} and type_at(event, 0) == "float"


def dataloader(_m: Matcher, event: Event) -> bool:
    """The thread that waits for a batch makes it."""
    if not event.children or not event.children[0].children:
        return False
    get, first = event.children[0], event.children[0].children[0]
    return (
        get.name.startswith(LOADER)
        and get.name.endswith("_get_iterator")
        and not (
            first.name.startswith(LOADER)
            and first.name.endswith("check_worker_number_rationality")
        )
    )


def zero_grad(_m: Matcher, event: Event) -> bool:
    """Something in EVENT is set to 0, and was there before."""
    return any(
        e.name == "aten::zero_" and e.parent.name != "aten::zeros"
        for e in within(event)
        if e is not event
    )


def conv_bias(m: Matcher, event: Event) -> bool:
    """A convolution has a bias, and its module comes before one that normalizes."""
    around = event
    while around.parent and not around.name.startswith("nn.Module: Conv2d"):
        around = around.parent
    after = m.beside(around, 1)
    return (
        type_at(event, 2) != ""
        and after is not None
        and after.name.startswith("nn.Module: BatchNorm2d")
    )


def unaligned(_m: Matcher, event: Event) -> bool:
    """Sizes are no multiples of 8."""
    shapes = next(
        (
            s
            for s in map(event.args.get, ("Input Dims", "Input dims"))
            if isinstance(s, (list, dict))
        ),
        [],
    )
    return (
        type_at(event, 0) in ("c10::Half", "c10::BFloat16")
        and isinstance(shapes, list)
        and not all(map(is_aligned, shapes))
    )


def loops(siblings: list[Event]) -> Iterator[Event]:
    """The selects among SIBLINGS that begin a loop."""
    visited: set[Event] = set()
    names = [e.name for e in siblings]
    for at, event in enumerate(siblings):
        if (
            event.name != "aten::select"
            or event in visited
            or "aten::select" not in names[at + 1 :]
        ):
            continue
        length = names.index("aten::select", at + 1) - at
        repeats = 1
        while (
            names[at : at + length]
            == names[at + repeats * length : at + (repeats + 1) * length]
        ):
            visited.add(siblings[at + repeats * length])
            repeats += 1
        if repeats >= 10:
            yield event


# In the order of torch's report: the word, what names look like, and the rest of the rule.
PATTERNS: tuple[tuple[str, str, Callable[[Matcher, Event], bool]], ...] = (
    ("extra_copy", r"aten::to", extra_copy),
    ("fp32_matmul", r"aten::mm", fp32_matmul),
    ("single_tensor", r".*_single_tensor_(adam|sgd|adamw)", lambda m, e: True),
    ("dataloader", r"torch/utils/data/dataloader\.py.*__iter__", dataloader),
    ("zero_grad", r".*: zero_grad", zero_grad),
    ("conv_bias", r"aten::conv2d", conv_bias),
    ("unaligned", "|".join(PRODUCTS), unaligned),
)


def outside(frame: re.Match | None) -> bool:
    """Whether FRAME is a function of Python that is not torch's."""
    return frame is not None and not frame[1].startswith("torch/")


def caller(event: Event) -> re.Match | None:
    """The innermost such function around EVENT."""
    around = event.parent
    while around and not outside(FRAME.match(around.name)):
        around = around.parent
    return FRAME.match(around.name) if around else None


def in_stack(event: Event) -> re.Match | None:
    """The same from the stack of the first operator in EVENT, outside of EVENT."""
    inner = next(
        (e for e in within(event) if e.kind == "operator" and "Call stack" in e.args), None
    )
    stack = inner.args["Call stack"] if inner else None
    if not isinstance(stack, str):
        return None
    own = None if inner is event else FRAME.match(event.name)
    for frame in map(FRAME.match, stack.split(";")):
        if own is None and outside(frame):
            return frame
        if own and frame and (frame[1], frame[3]) == (own[1], own[3]):
            own = None
    return None


def matches(trace: Trace) -> list[tuple[str, Event]]:
    """What is found, by pattern, start and place in the file."""
    m = Matcher(trace)
    ranges = sorted(m.ranges, key=lambda e: (e.start, e.id))
    found = [
        (word, e)
        for word, names, is_match in PATTERNS
        for e in ranges
        if re.fullmatch(names, e.name, re.DOTALL) and is_match(m, e)
    ]
    lists = [*m.roots.values(), *(e.children for e in ranges)]
    in_loops = sorted(
        (e for siblings in lists for e in loops(siblings)), key=lambda e: (e.start, e.id)
    )
    return found + [("indexing", e) for e in in_loops]


def table(traces: list[Trace], group_by: str | None = None) -> list[dict]:
    """`patterns` of TRACES together."""
    groups: dict[tuple, tuple[Trace, list[Event]]] = {}
    for trace in traces:
        for word, event in matches(trace):
            function = caller(event)
            source = in_stack(event) or function
            key = (
                word,
                event.name,
                f"{source[1]}:{source[2]}" if source else None,
                function[0] if function else None,
                event if group_by else None,
            )
            groups.setdefault(key, (trace, []))[1].append(event)
    return [
        {
            "pattern": word,
            "name": name,
            "source": source,
            "function": function,
            "calls": len(events),
            "total_ns": sum(e.dur for e in events),
            "id": events[0].id,
            "start_ns": events[0].start - trace.origin,
            "is_reported": word != "indexing",
        }
        for (word, name, source, function, _), (trace, events) in groups.items()
    ]
