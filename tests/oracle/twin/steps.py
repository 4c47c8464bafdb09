# SPDX-License-Identifier: Apache-2.0
"""`steps` and `overview`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from . import exact, kinds, links
from .events import Event, Trace
from .intervals import Interval, intersect, length, subtract, union

CATEGORIES = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "runtime",
    "dataloader",
    "cpu_exec",
)


@dataclass(frozen=True)
class Rules:
    """How steps are measured: --priority, --step-length annotation, --all-steps."""

    priority: tuple[str, ...] = ()
    by_annotation: bool = False
    keeps_all: bool = False

    def arguments(self) -> tuple[str, ...]:
        """Words of the command line."""
        return (
            *([f"--priority={','.join(self.priority)}"] if self.priority else []),
            *(["--step-length=annotation"] if self.by_annotation else []),
            *(["--all-steps"] if self.keeps_all else []),
        )


USUAL = Rules()


@dataclass
class Step:
    """One step, as annotated by the program and including device work."""

    label: str
    annotation: Event | None
    host: Interval
    start: int = 0
    end: int = 0
    n_device: int = 0  # device events that its calls launched
    kept: bool = True
    tail: bool = False  # its device work was probably not recorded completely
    empty: bool = False  # the last one, which holds no operator


def host_type(event: Event) -> str | None:
    """The plugin's word for a range on the host, None if it has none."""
    return event.host_type if event.is_range else None


def host_steps(trace: Trace, compat: bool = False) -> list[Step]:
    """Every step annotation on the host in order of start; without any, one step `0` over all
    operators (annotations and calls do not extend it), or else over device work and calls. The
    plugin knows neither the last nor iterations."""
    of_all = [e for e in trace.events if e.kind == "step" and e.is_range]
    if compat and trace.has_iterations:
        of_all = []
    annotations = [e for e in of_all if e.is_host] or of_all
    if annotations:
        ordered = sorted(annotations, key=lambda e: (e.start, e.id))
        return [Step(label_of(trace, e, n), e, (e.start, e.end)) for n, e in enumerate(ordered)]
    work = [e for e in trace.events if host_type(e) in ("Operator", "Python")]
    if not compat:
        done = [e for e in trace.events if e.is_range and e.kind in kinds.DEVICE_WORK]
        called = [e for e in trace.events if e.is_range and e.kind in kinds.LAUNCHES]
        work += done + called if done else []
    if not work:
        return []
    return [Step("0", None, (min(e.start for e in work), max(e.end for e in work)))]


def are_of_device(trace: Trace) -> bool:
    """Whether steps are drawn on a device and none on the host."""
    of_all = [e for e in trace.events if e.kind == "step" and e.is_range]
    return bool(of_all) and not any(e.is_host for e in of_all)


def label_of(trace: Trace, event: Event, number: int) -> str:
    """The number that the program gave, or the name."""
    if trace.has_iterations:
        return str((trace.kept.get("ordinals") or range(number + 1))[number])
    given = event.integer("step_num")
    if given is not None and given >= 0:
        return str(given)
    told = kinds.STEP_NAME.match(event.name) or re.fullmatch(
        "(?:Iteration |ProfileStep#)([0-9]+)", event.name
    )
    return str(int(told.group(1))) if told else event.name


def belonging(steps: list, process: str, of=lambda step: step) -> list:
    """Those of STEPS (or of objects with a step OF(x)) that can contain events of PROCESS: its own,
    or all if it has none."""
    own = [s for s in steps if of(s).annotation and of(s).annotation.process == process]
    return own or steps


def numbered(trace: Trace, compat: bool = False) -> list[tuple[int, Step]]:
    """Steps in order of start with their ordinals, which a selection does not change."""
    steps = host_steps(trace, compat)
    ordinals = trace.kept.get("ordinals") or range(len(steps))
    return list(zip(ordinals, steps))


def steps_of(trace: Trace, compat: bool = False, rules: Rules = USUAL) -> list[Step]:
    """Steps with device work included, and the tail rule, unless RULES say otherwise."""
    steps = host_steps(trace, compat)
    for step in steps:
        step.start, step.end = step.host
    launch = links.launch_of_device_event(trace)
    work = [e for e in trace.events if e.kind in kinds.DEVICE_WORK and e.is_range]
    launched: dict[int, list[Event]] = {id(s): [] for s in steps}
    unmatched = []
    for event in work:
        call = event if are_of_device(trace) else launch.get(event)
        step = call and next(
            (
                s
                for s in belonging(steps, call.process)
                if s.host[0] <= call.start and call.end <= s.host[1]
            ),
            None,
        )
        (launched[id(step)] if step else unmatched).append(event)
    for process in {s.annotation.process if s.annotation else None for s in steps}:
        own = [s for s in steps if not s.annotation or s.annotation.process == process]
        chain(own, [launched[id(s)] for s in own], unmatched)
        if not any(launched[id(s)] for s in own) and not are_of_device(trace):
            others = {s.annotation.process for s in steps if s.annotation} - {process}
            mark_empty(
                own,
                [
                    e
                    for e in trace.events
                    if e.kind == "operator"
                    and e.is_range
                    and e.is_host
                    and e.process not in others
                ],
            )
    # Selected steps have the bounds of the selection without --steps.
    known = trace.kept.get("bounds", {})
    for ordinal, step in zip(trace.kept.get("ordinals") or range(len(steps)), steps):
        if step.annotation and ordinal in known:
            step.start, step.end, step.tail, step.empty = known[ordinal]
    for step in steps:
        if rules.by_annotation:
            step.start, step.end = step.host
        step.kept = rules.keeps_all or not (step.tail or (step.empty and not compat))
    return steps


def chain(steps: list[Step], launched: list[list[Event]], unmatched: list[Event]) -> None:
    """Extend the steps of a process by the device work that was LAUNCHED in each."""
    if not any(launched):
        return
    previous = steps[0].host[0]
    if launched[0]:
        first = min(e.start for e in launched[0])
        previous = max([previous] + [e.end for e in unmatched if e.end < first])
    for step, own in zip(steps, launched):
        step.n_device = len(own)
        step.start = max(previous, step.host[0])
        step.end = max([step.host[1], step.start] + [e.end for e in own])
        previous = step.end
    drop_tail(steps)


def drop_tail(steps: list[Step]) -> None:
    """Mark the last steps if their device work was probably not recorded completely."""
    if len(steps) < 2:
        return
    last = len(steps) - 1
    while steps[last].n_device == 0:
        steps[last].tail = True
        last -= 1
    # 0.8 * n[k-1] > n[k], in integers
    if last > 0 and 8 * steps[last - 1].n_device > 10 * steps[last].n_device:
        steps[last].tail = True


def mark_empty(steps: list[Step], operators: list[Event]) -> None:
    """Mark the last of STEPS, of a process without device work, if none of its OPERATORS runs in it or
    later, unlike in the one before."""
    ends = [e.end for e in operators]
    if len(steps) > 1 and ends:
        steps[-1].empty = steps[-2].host[0] < max(ends) <= steps[-1].host[0]


def category_of(
    event: Event, device_communication: bool, collective_ids: set[int] | None
) -> str | None:
    """Which category of time EVENT feeds. COLLECTIVE_IDS is given with --compat tb:
    external ids of the plugin's collectives."""
    compat = collective_ids is not None
    if not event.is_range:
        return None
    if event.kind == "kernel":
        if compat:
            collective = event.external_id in collective_ids
        else:
            collective = kinds.is_collective_kernel(event.name, event.args)
        return "communication" if collective else "kernel"
    if event.kind in ("memcpy", "memset"):
        return event.kind
    if event.kind in kinds.LAUNCHES:
        return "runtime"
    if host_type(event) is None or (
        event.kind == "step" and not (compat and event.is_iteration)
    ):
        return None  # to the plugin iterations are annotations like others
    if event.kind == "dataloader":
        return "dataloader"
    if compat:
        collective = event.name in kinds.PLUGIN_COLLECTIVES
    else:
        collective = not device_communication and kinds.is_host_collective(event.name)
    return "communication" if collective else "cpu_exec"


def has_comm_kernels(trace: Trace) -> bool:
    """Whether kernels are communication, in the selection without --steps."""
    return any(
        e.kind == "kernel" and e.is_range and kinds.is_collective_kernel(e.name, e.args)
        for e in trace.kept.get("rest", trace).events
    )


def windows(trace: Trace) -> list[Interval]:
    """When selected steps run, from the begin of each annotation. Where nothing selects steps,
    never."""
    known = trace.kept.get("bounds", {})
    return [
        (min(step.host[0], known[ordinal][0]), known[ordinal][1])
        for ordinal, step in numbered(trace)
        if step.annotation and ordinal in known
    ]


def unions(trace: Trace, compat: bool) -> dict[str, list[Interval]]:
    """U_k of every category, over the whole trace; inside selected steps that of the selection
    without --steps: what else runs in a step stays a part of its time."""
    is_of_plugin = compat and trace.has_iterations  # whose only step is no selected one
    rest = trace if is_of_plugin else trace.kept.get("rest", trace)
    device_communication = has_comm_kernels(trace)
    ids: set[int] | None = None
    if compat:
        ids = {
            e.external_id
            for e in rest.events
            if e.external_id and host_type(e) and e.name in kinds.PLUGIN_COLLECTIVES
        }
    found: dict[str, list[Interval]] = {name: [] for name in CATEGORIES}
    for event in trace.events:
        category = category_of(event, device_communication, ids)
        if category:
            found[category].append((event.start, event.end))
    for event in rest.events if rest is not trace else []:
        category = category_of(event, device_communication, ids)
        for start, end in windows(trace) if category else []:
            if max(event.start, start) < min(event.end, end):
                found[category].append((max(event.start, start), min(event.end, end)))
    return {name: union(intervals) for name, intervals in found.items()}


def inside(part: list[Interval], step: Step) -> int:
    """How much of PART lies in STEP."""
    return length(intersect(part, [(step.start, step.end)] if step.start < step.end else []))


def costs(
    trace: Trace, steps: list[Step], compat: bool, priority: tuple[str, ...] = ()
) -> list[dict[str, int]]:
    """Time of every category in every step: each takes what those before it have left."""
    free = union([(s.start, s.end) for s in steps])
    found = unions(trace, compat)
    shares = {}
    for name in (*priority, *(c for c in CATEGORIES if c not in priority)):
        shares[name] = intersect(found[name], free)
        free = subtract(free, found[name])
    shares["other"] = free
    return [{name: inside(shares[name], s) for name in (*CATEGORIES, "other")} for s in steps]


def gross(trace: Trace, compat: bool, rules: Rules) -> dict[str, int]:
    """How much of the kept steps every category covers, whatever else runs."""
    kept = [s for s in steps_of(trace, compat, rules) if s.kept]
    return {
        name: sum(inside(part, s) for s in kept) for name, part in unions(trace, compat).items()
    }


def two_kinds(totals: list[int]) -> tuple[list[int], list[int]] | None:
    """The shorter and the longer ones if a wide gap lies between them, with a third on each side."""
    order, n = sorted(totals), len(totals)
    gaps = [
        (order[i] - order[i - 1], -i) for i in range(1, n) if 3 * i >= n and 3 * (n - i) >= n
    ]
    if n < 8 or not gaps:
        return None
    gap, at = max(gaps)
    short, long = order[:-at], order[-at:]
    apart = exact.median(long) - exact.median(short)
    return (short, long) if 4 * gap > short[-1] and 2 * gap >= apart else None


def outliers(steps: list[Step]) -> list[bool]:
    """Of three kept steps or more: those whose length is beyond 8 MAD of the median of kept steps of
    their kind, and beyond a part of it."""
    totals = [s.end - s.start for s in steps if s.kept]
    both = two_kinds(totals)

    def is_far(length: int) -> bool:
        own = next((kind for kind in both if length in kind), []) if both else totals
        if len(own) < 3:
            return False
        middle = exact.median(own)
        # In halves of a nanosecond, so that everything stays an integer.
        mad = exact.median([int(abs(2 * t - 2 * middle)) for t in own])
        part = 4 if len(own) < 8 else 5 if len(own) < 20 else 10
        return abs(2 * length - 2 * middle) > max(8 * mad, 2 * middle / part)

    far = {length: is_far(length) for length in set(totals)}
    return [s.kept and far[s.end - s.start] for s in steps]


def steps_table(trace: Trace, compat: bool = False, rules: Rules = USUAL) -> list[dict]:
    """`steps`: all steps, kept or not."""
    from . import inventory  # which needs this module

    steps = steps_of(trace, compat, rules)
    is_several = len({s.annotation.process for s in steps if s.annotation}) > 1
    names, threads = inventory.process_names(trace), inventory.thread_names(trace)
    is_shared = trace.kept.get("steps beside") == "shared" and any(s.annotation for s in steps)
    rows = []
    for (number, _), step, cost, outlier in zip(
        numbered(trace, compat),
        steps,
        costs(trace, steps, compat, rules.priority),
        outliers(steps),
    ):
        rows.append(
            {
                "step": number,
                "label": step.label,
                **({"process": step.annotation.process} if is_several or is_shared else {}),
                **({"of_process": step.annotation.process} if is_shared else {}),
                **(
                    {"process_name": names.get(step.annotation.process)}
                    if is_several or is_shared
                    else {}
                ),
                "thread": step.annotation.thread if step.annotation else None,
                "thread_name": threads.get(step.annotation.track) if step.annotation else None,
                "start_ns": step.start - trace.origin,
                "total_ns": step.end - step.start,
                "annotation_ns": step.annotation.dur if step.annotation else None,
                "kept": step.kept,
                **{f"{name}_ns": ns for name, ns in cost.items()},
                "outlier": outlier,
            }
        )
    return rows


def overview_table(
    traces: list[Trace], compat: bool = False, rules: Rules = USUAL
) -> list[dict]:
    """`overview`: the mean over kept steps of each category, its share, and all of its time."""
    kept = [row for trace in traces for row in steps_table(trace, compat, rules) if row["kept"]]
    if not kept:
        return []
    total = sum(row["total_ns"] for row in kept)
    covered = [gross(trace, compat, rules) for trace in traces]
    whole = {"step": total, **{name: sum(of[name] for of in covered) for name in CATEGORIES}}
    rows = []
    for name in ("step", *CATEGORIES, "other"):
        ns = total if name == "step" else sum(row[f"{name}_ns"] for row in kept)
        rows.append(
            {
                "category": name,
                "avg_ns": float(Fraction(ns, len(kept))),
                "ratio": float(Fraction(ns, total)) if total else None,
                "avg_gross_ns": float(Fraction(whole[name], len(kept)))
                if name in whole
                else None,
            }
        )
    return rows
