# SPDX-License-Identifier: Apache-2.0
"""`diff_steps`, `diff_operators`, `diff_kernels`, `diff_inside`, and the nodes of `diff_tree`, by the rules
"Comparing runs" and "Comparing trees" of src/table/rules.md. A side is a list of traces."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from . import exact, inventory, kinds, links, operators, ranges
from .events import Event, Trace
from .steps import CATEGORIES, costs, numbered, steps_of

LEVEL = Fraction(1, 100)
STEPS_LEAST = 3
SLOW_MOST = 8
NODES = {
    "operator",
    "annotation",
    "step",
    "module",
    "communication",
    "dataloader",
    "optimizer",
    "scope",
}
Key = tuple[int, int]  # span and ordinal of a step


@dataclass
class Side:
    """One run: its kept steps with what each process spent in them."""

    traces: list[Trace]
    steps: dict[Key, list[dict[str, int]]] = field(default_factory=dict)
    others: list[dict[str, int]] = field(default_factory=list)  # traces without steps
    slow: set[Key] = field(default_factory=set)

    @property
    def compared(self) -> list[Key]:
        """The steps of samples."""
        return [key for key in sorted(self.steps) if key not in self.slow]


def side(traces: list[Trace]) -> Side:
    """The steps of a run, and which of the first ones are slow."""
    found = Side(traces)
    for trace in traces:
        if trace.kept.get("steps beside") == "theirs":
            continue
        steps = steps_of(trace)
        for (ordinal, _), step, cost in zip(numbered(trace), steps, costs(trace, steps, False)):
            if not step.kept:
                continue
            values = {
                "total": step.end - step.start,
                **cost,
                "range": step.host[1] - step.host[0] if step.annotation else 0,
            }
            if step.annotation:
                found.steps.setdefault((trace.span, ordinal), []).append(values)
            else:
                found.others.append(values)
    lengths = {
        key: Fraction(sum(v["total"] for v in values), len(values))
        for key, values in found.steps.items()
    }
    middle = exact.median(list(lengths.values())) or 0
    usual = exact.median([abs(length - middle) for length in lengths.values()]) or 0
    for span in {key[0] for key in lengths}:
        for number, key in enumerate(sorted(k for k in lengths if k[0] == span)):
            apart = lengths[key] - middle
            if (
                number >= SLOW_MOST
                or apart <= 3 * usual
                or 10 * apart <= middle
                or 2 * (len(found.slow) + 1) > len(lengths)
            ):
                break
            found.slow.add(key)
    return found


# --- samples -------------------------------------------------------------------------


def mean_of(values: list[Fraction]) -> Fraction:
    """The mean, 0 of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def variance_of(values: list[Fraction]) -> Fraction:
    """The variance of a sample."""
    middle = mean_of(values)
    return sum(((v - middle) ** 2 for v in values), Fraction(0)) / (len(values) - 1)


def p_of(
    base: list[Fraction], new: list[Fraction], most: float = math.inf, least: tuple = (0, 0)
) -> float:
    """Welch's test, two-sided: by the integral of Student's density over its tail. MOST: degrees of
    freedom; LEAST: the least variances of both."""
    va = max(variance_of(base), least[0]) / len(base)
    vb = max(variance_of(new), least[1]) / len(new)
    delta = mean_of(new) - mean_of(base)
    if va + vb == 0:
        return 1.0 if delta == 0 else 0.0
    freedom = min(
        float((va + vb) ** 2 / (va * va / (len(base) - 1) + vb * vb / (len(new) - 1))), most
    )
    x = freedom / (freedom + float(delta * delta / (va + vb)))
    if x >= 1:
        return 1.0
    # The integral of u^(a - 1) (1 - u)^(-1/2) from 0 to x by u = x sin(s)^2 and Simpson's rule.
    a, n = freedom / 2, 4000
    half = math.pi / 2

    def at(k: int) -> float:
        s = half * k / n
        sine, cosine = math.sin(s), math.cos(s)
        return (0.0 if sine == 0 else sine ** (2 * a - 1)) * cosine / math.sqrt(1 - x * sine**2)

    total = at(0) + at(n) + sum((4 if k % 2 else 2) * at(k) for k in range(1, n))
    front = math.lgamma(a + 0.5) - math.lgamma(a) - math.lgamma(0.5) + a * math.log(x)
    return 2 * math.exp(front) * total * half / n / 3


def limit_of(ps: list[float]) -> tuple[float, bool]:
    """The largest p that is significant among PS, and whether rounding might decide."""
    limits = [(p, float(LEVEL) * (k + 1) / len(ps)) for k, p in enumerate(sorted(ps))]
    return (
        max((p for p, most in limits if p <= most), default=-1.0),
        any(abs(p - most) < 1e-3 * most for p, most in limits),
    )


def direction(pair: tuple) -> int:
    """1 if the mean grew, -1 if it fell."""
    delta = mean_of(pair[1]) - mean_of(pair[0])
    return (delta > 0) - (delta < 0)


def test_calls(samples: list[tuple], calls: list[tuple]) -> tuple[dict[int, float], bool]:
    """Of which of the pairs SAMPLES their CALLS say that they changed: the larger p of both tests;
    and whether rounding might decide."""
    whole = [all(v > 0 for values in pair for v in values) for pair in samples]
    logs = [
        tuple([Fraction(math.log(v)) for v in values] for values in pair) if is_whole else None
        for pair, is_whole in zip(samples, whole)
    ]
    ps = [p_of(*pair) if is_whole else 1.0 for pair, is_whole in zip(calls, whole)]
    limit, is_close = limit_of(ps)
    chosen = [k for k, p in enumerate(ps) if p <= limit]
    usual = tuple(
        exact.median([variance_of(logs[k][side]) for k in chosen]) if chosen else 0
        for side in range(2)
    )
    found = {}
    for k in chosen:
        if logs[k] is None:
            continue
        p = p_of(*logs[k], most=4, least=usual)
        is_close |= abs(p - LEVEL) < 1e-3 * LEVEL
        if p <= LEVEL and direction(calls[k]) == direction(logs[k]) == direction(samples[k]):
            found[k] = max(p, ps[k])
    return found, is_close


def test(
    samples: list[tuple[list[Fraction], list[Fraction]]], calls: list[tuple] | None = None
) -> list[dict]:
    """p_value and significant of each pair of samples, by their steps or by the logarithms of
    their CALLS; `close` if rounding might decide. Without CALLS the first is the whole step."""
    if not samples or min(len(s) for s in samples[0]) < STEPS_LEAST:
        return [{"p_value": None, "significant": None, "close": False} for _ in samples]
    ps = [p_of(*pair) for pair in samples]
    limit, at_edge = limit_of(ps)
    by_calls, is_close_too = test_calls(samples, calls) if calls else ({}, False)
    result = []
    for k, ((base, new), p) in enumerate(zip(samples, ps)):
        delta2 = (mean_of(new) - mean_of(base)) ** 2
        usual2 = (variance_of(base) + variance_of(new)) / 2
        is_close = at_edge or is_close_too or abs(delta2 - usual2) <= usual2 / 10**9
        by_steps = p <= limit
        significant = delta2 > usual2 and (by_steps or k in by_calls)
        p_value = by_calls[k] if significant and not by_steps else p
        # In each step of one side, in none of the other; or of the whole step, each of one side
        # longer than all of the other: of all ways to deal out the steps, two.
        if not (delta2 > usual2 and by_steps) and any(
            all(a) and not any(b) if calls else k == 0 and min(a) > max(b)
            for a, b in ((base, new), (new, base))
        ):
            by_presence = 2 / math.comb(len(base) + len(new), len(base))
            if by_presence <= LEVEL:
                significant, p_value, is_close = True, by_presence, False
        result.append({"p_value": p_value, "significant": significant, "close": is_close})
    return result


def ratio(
    has_steps: bool, base: list[Fraction], new: list[Fraction], base_ns: int, new_ns: int
) -> float | None:
    """The change / the base."""
    whole = mean_of(base) if has_steps else Fraction(base_ns)
    delta = mean_of(new) - mean_of(base) if has_steps else Fraction(new_ns - base_ns)
    return None if whole == 0 else float(delta / whole)


def means(has_steps: bool, name: str, base: list[Fraction], new: list[Fraction]) -> dict:
    """The columns of a time per step."""
    if not has_steps:
        return {f"mean_{which}_{name}": None for which in ("base", "new", "delta")}
    return {
        f"mean_base_{name}": float(mean_of(base)),
        f"mean_new_{name}": float(mean_of(new)),
        f"mean_delta_{name}": float(mean_of(new) - mean_of(base)),
    }


def is_cut(run: Side) -> bool:
    """Whether less than half of the ranges of steps remained after earlier work of devices."""
    values = [v for values in run.steps.values() for v in values] + run.others
    return 2 * sum(v["total"] for v in values) < sum(v["range"] for v in values)


def steps_rows(base: Side, new: Side) -> list[dict]:
    """`diff_steps`."""
    if any(not (s.steps or s.others) or is_cut(s) for s in (base, new)):
        return []
    has_steps = bool(base.compared and new.compared)
    rows, samples = [], []
    for name in ("total", *CATEGORIES, "other"):
        sums = [
            sum(v[name] for values in (*s.steps.values(), s.others) for v in values)
            for s in (base, new)
        ]
        if name != "total" and not any(sums):
            continue
        pair = tuple(
            [
                Fraction(sum(v[name] for v in s.steps[key]), len(s.steps[key]))
                for key in s.compared
            ]
            for s in (base, new)
        )
        calls = [sum(len(values) for values in s.steps.values()) for s in (base, new)]
        samples.append(pair)
        rows.append(
            {
                "name": name,
                "base_calls": calls[0],
                "new_calls": calls[1],
                "delta_calls": calls[1] - calls[0],
                "base_ns": sums[0],
                "new_ns": sums[1],
                "delta_ns": sums[1] - sums[0],
                **means(has_steps, "ns", *pair),
                "delta_ratio": ratio(has_steps, *pair, *sums),
            }
        )
    return [{**row, **outcome} for row, outcome in zip(rows, test(samples))]


def log_of(ns: int) -> Fraction:
    """The logarithm of the time of a call, in thousand and twenty-fourths."""
    return Fraction(math.floor(math.log(max(ns, 1)) * 1024 + 0.5))


def work_rows(
    base: Side, new: Side, calls_of, times: tuple[str, ...], pattern: str | None
) -> list[dict]:
    """A row for each name, or label by PATTERN. CALLS_OF yields (name, event, times) of each call of
    a trace."""
    names: dict[str, list] = {}
    calls_in: dict[tuple, list] = defaultdict(list)  # by name and side: times in steps compared
    for number, run in enumerate((base, new)):
        for trace in run.traces:
            step = inventory.step_of(trace)
            for name, event, values in calls_of(trace):
                name = ranges.label(name, pattern)
                sums = names.setdefault(
                    name,
                    [
                        ([0] * (1 + len(times)), defaultdict(lambda: [0] * (1 + len(times))))
                        for _ in range(2)
                    ],
                )[number]
                key = (trace.span, step.get(event))
                for k, value in enumerate((1, *values)):
                    sums[0][k] += value
                    sums[1][key][k] += value
                if key in run.steps and key not in run.slow:
                    calls_in[name, number].append(values)
    has_steps = bool(base.compared and new.compared)
    is_device = any(s[0][1] > 0 for both in names.values() for s in both)
    main = 1 if is_device or len(times) == 1 else 2
    rows, samples, calls_of_rows = [], [], []
    for name, both in names.items():

        def sample(k: int) -> tuple:
            return tuple(
                [
                    Fraction(s[1][key][k] if key in s[1] else 0, len(run.steps[key]))
                    for key in run.compared
                ]
                for s, run in zip(both, (base, new))
            )

        calls = [s[0][0] for s in both]
        row = {
            "name": name,
            "base_calls": calls[0],
            "new_calls": calls[1],
            "delta_calls": calls[1] - calls[0],
        }
        per_step = means(has_steps, "calls", *sample(0))
        row |= {k: v for k, v in per_step.items() if "delta" not in k}
        for k, time in enumerate(times, 1):
            ns = [s[0][k] for s in both]
            row |= {
                f"base_{time}": ns[0],
                f"new_{time}": ns[1],
                f"delta_{time}": ns[1] - ns[0],
                **means(has_steps, time, *sample(k)),
            }
        row["delta_ratio"] = ratio(has_steps, *sample(main), *(s[0][main] for s in both))
        rows.append(row)
        samples.append(sample(main))
        calls_of_rows.append(
            tuple(
                [log_of(values[main - 1]) for values in calls_in[name, number]]
                for number in range(2)
            )
        )
    return [{**row, **outcome} for row, outcome in zip(rows, test(samples, calls_of_rows))]


OPERATOR_TIMES = ("device_self_ns", "host_self_ns", "device_total_ns", "host_total_ns")


def operators_rows(base: Side, new: Side, pattern: str | None = None) -> list[dict]:
    """`diff_operators`."""

    def calls_of(trace: Trace):
        for node in operators.filled(trace, False) + operators.asynchronous(trace):
            if node.is_row:
                yield (
                    node.event.name,
                    node.event,
                    (node.device_self, node.host_self, node.device_total, node.event.dur),
                )

    return work_rows(base, new, calls_of, OPERATOR_TIMES, pattern)


def kernels_rows(base: Side, new: Side, pattern: str | None = None) -> list[dict]:
    """`diff_kernels`."""

    def calls_of(trace: Trace):
        for event in trace.events:
            if event.kind == "kernel" and event.is_range:
                yield event.name, event, (event.dur,)

    return work_rows(base, new, calls_of, ("total_ns",), pattern)


# --- trees ---------------------------------------------------------------------------


@dataclass
class Place:
    """A node of one side."""

    name: str
    depth: int
    calls: int = 0
    host_ns: int = 0
    device_ns: int = 0
    # By span and ordinal of the step in which its calls start: calls, host and device time.
    in_step: dict[Key, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0, 0])
    )


def places(traces: list[Trace]) -> dict[tuple, Place]:
    """All nodes by their path: (name, kind, which of the children of that name) from the top."""
    found: dict[tuple, Place] = {}
    for trace in traces:
        step_event = {n: s.annotation for n, s in numbered(trace) if s.annotation}
        step = inventory.step_of(trace)
        kept = {n for (n, _), s in zip(numbered(trace), steps_of(trace)) if s.kept}
        path_of: dict[Event, tuple] = {}
        key_of: dict[Event, Key] = {}
        counts: dict[tuple, int] = {}
        queues = {e.track for e in trace.events if not e.is_host}
        hosts = [
            e
            for e in trace.events
            if e.is_range
            and e.kind in NODES
            and e.track not in trace.summaries | queues
            and not is_of_trace(trace, e)
        ]
        for event in step_event.values():
            path_of[event] = (("step", event.kind, 0),)

        def add(event: Event) -> None:
            if event in path_of:
                return
            above = event.parent
            while above and above.kind not in NODES:
                above = above.parent
            if above is None and event in step and step[event] in step_event:
                above = step_event[step[event]]
            around = path_of.get(above, ()) if above else ()
            # Calls of a node are counted for each instance of it.
            key = (id(above) if above else None, event.name)
            path_of[event] = (*around, (event.name, event.kind, counts.get(key, 0)))
            counts[key] = counts.get(key, 0) + 1

        for event in in_order(hosts, trace):
            add(event)
        for event, path in path_of.items():
            place = found.setdefault(path, Place(path[-1][0], len(path) - 1))
            place.calls += 1
            place.host_ns += event.dur
            own = [n for n, annotation in step_event.items() if annotation is event]
            number = own[0] if own else step.get(event)
            if number not in kept:  # that of another rank may be
                number = None
            key_of[event] = (trace.span, number)
            for k, value in enumerate((1, event.dur)):
                place.in_step[trace.span, number][k] += value
        launch, op_of_call = links.launch_of_device_event(trace), operators.op_of_call(trace)
        for work, call in launch.items():
            if work.kind not in kinds.DEVICE_WORK:
                continue
            at = op_of_call.get(call, call)
            while at and at not in path_of:
                at = at.parent
            path = path_of.get(at, ()) if at else ()
            for n in range(len(path), 0, -1):
                found[path[:n]].device_ns += work.dur
                # The calls around it, of which the outermost may be the step.
                found[path[:n]].in_step[key_of[at]][2] += work.dur
                above = at.parent
                while above and above not in path_of:
                    above = above.parent
                at = above if above else step_event.get(key_of[at][1], at)
    return found


VALUES = ("calls", "host_ns", "host_self_ns", "device_ns", "device_self_ns")


def inside_rows(
    base: Side, new: Side, at: tuple[tuple | None, tuple | None] = ((), ())
) -> list[dict]:
    """`diff_inside` of the places AT of both sides; None: a side has none. (): all."""
    has_steps = bool(base.compared and new.compared)
    rows: dict[str, dict] = {}
    for which, run, top in zip(("base", "new"), (base, new), at):
        found = places(run.traces)
        compared = set(run.compared)
        n_steps = sum(len(run.steps[key]) for key in compared)

        def values_of(place: Place, is_compared: bool) -> list[int]:
            if not is_compared:
                return [place.calls, place.host_ns, place.device_ns]
            chosen = [v for key, v in place.in_step.items() if key in compared]
            return [sum(v[k] for v in chosen) for k in range(3)]

        children: dict[tuple, list[Place]] = defaultdict(list)
        for path, place in found.items():
            children[path[:-1]].append(place)
        for path, place in found.items():
            if top is None or path[: len(top)] != top or path[-1][1] != "operator":
                continue
            row = rows.setdefault(place.name, {})
            for is_compared in (False, True):
                calls, host, device = values_of(place, is_compared)
                inner = [values_of(child, is_compared) for child in children[path]]
                values = (
                    calls,
                    host,
                    host - sum(v[1] for v in inner),
                    device,
                    device - sum(v[2] for v in inner),
                )
                for name, value in zip(VALUES, values):
                    key = f"mean_{which}_{name}" if is_compared else f"{which}_{name}"
                    row[key] = row.get(key, 0) + (
                        Fraction(value, n_steps or 1) if is_compared else value
                    )
    for name, row in rows.items():
        row["name"] = name
        for prefix in ("", "mean_"):
            for value in VALUES:
                a, b = (
                    row.setdefault(f"{prefix}{which}_{value}", 0) for which in ("base", "new")
                )
                row[f"{prefix}delta_{value}"] = b - a
        for value in VALUES:
            base_value, delta = (
                row[f"{'mean_' if has_steps else ''}{which}_{value}"]
                for which in ("base", "delta")
            )
            row[f"delta_{value.removesuffix('_ns')}_ratio"] = (
                float(Fraction(delta) / Fraction(base_value)) if base_value else None
            )
        for key in [k for k in row if k.startswith("mean_")]:
            row[key] = float(row[key]) if has_steps else None
    return list(rows.values())


def is_of_trace(trace: Trace, event: Event) -> bool:
    """Whether EVENT is of a line that is no thread."""
    return trace.producer in ("kineto", "opscope") and event.process in ("", "Spans", "Traces")


def in_order(hosts: list[Event], trace: Trace) -> list[Event]:
    """Thread by thread in the order in which threads appear, each as its ranges nest."""
    tracks: dict[tuple, list[Event]] = {}
    for event in trace.events:
        tracks.setdefault(event.track, [])
    for event in hosts:
        tracks[event.track].append(event)
    return [event for ranges in tracks.values() for event in sorted(ranges, key=Event.order)]
