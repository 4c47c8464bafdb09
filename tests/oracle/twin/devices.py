# SPDX-License-Identifier: Apache-2.0
"""`utilization` and `devices` (TB 3.4, 6.1; R-3.4; AN A21), from every kernel anew."""
from __future__ import annotations

from fractions import Fraction

from . import exact
from .events import Event, Trace
from .intervals import Interval, intersect, length, union
from .kinds import DEVICE_WORK

Range = tuple[int, int, Fraction]               # start, end, share of the multiprocessors


def number_of(device: str) -> int | None:
    """N of "cuda:N"."""
    digits = device.rpartition(":")[2] if ":" in device else ""
    return int(digits) if digits.isdigit() else None


def work_of(trace: Trace) -> dict[str, list[Event]]:
    """Device -> its kernels, copies and fills; by number, those without one last."""
    found: dict[str, list[Event]] = {}
    for event in trace.events:
        if event.kind in DEVICE_WORK and event.is_range:
            found.setdefault(event.device, []).append(event)

    def key(device: str) -> tuple:
        number = number_of(device)
        return (number is None, number or 0, device)
    return {device: found[device] for device in sorted(found, key=key)}


def kernels_of(work: list[Event]) -> list[Event]:
    """K_g."""
    return [e for e in work if e.kind == "kernel"]


def sm_ranges(kernels: list[Event]) -> list[Range]:
    """Between two neighbouring end points of kernels with blocks per SM: their sum over
    those that run all the while, at most 1; nothing where none runs."""
    blocks = []
    for kernel in kernels:
        value = exact.number(kernel.args.get("blocks per SM"))
        if value is not None and value > 0:
            blocks.append((kernel.start, kernel.end, value))
    points = sorted({at for start, end, _ in blocks for at in (start, end)})
    ranges = []
    running: list[tuple[int, int, Fraction]] = []
    waiting = sorted(blocks, key=lambda b: b[0], reverse=True)
    for start, end in zip(points, points[1:]):
        while waiting and waiting[-1][0] <= start:
            running.append(waiting.pop())
        running = [b for b in running if b[1] > start]
        if running:
            ranges.append((start, end, min(sum(b[2] for b in running), Fraction(1))))
    return ranges


def area(ranges: list[Range], window: Interval) -> Fraction:
    """Integral of RANGES over WINDOW."""
    return sum((value * max(0, min(end, window[1]) - max(start, window[0]))
                for start, end, value in ranges), Fraction(0))


def buckets(trace: Trace) -> list[Interval]:
    """The last span `PyTorch Profiler (0)`, or else all events, cut into at most 100."""
    spans = [e for e in trace.events if e.name == "PyTorch Profiler (0)" and e.end is not None
             and (e.category or "").lower() == "trace"]
    if spans:
        start, end = spans[-1].start, spans[-1].end
    else:
        start = trace.origin
        end = max((e.start if e.end is None else e.end for e in trace.events), default=start)
    if end <= start:
        return []
    size = 1000
    while end - start > 100 * size:
        size *= 10
    count = max(1, (end - start) // size)
    return [(start + i * size, start + (i + 1) * size if i < count - 1 else end)
            for i in range(count)]


def utilization_table(trace: Trace) -> list[dict]:
    """`utilization`: a row per bucket and device that ran a kernel."""
    rows = []
    cut = buckets(trace)
    for device, work in work_of(trace).items():
        kernels = kernels_of(work)
        busy, ranges = union([(e.start, e.end) for e in kernels]), sm_ranges(kernels)
        for bucket in cut if kernels else []:
            size = bucket[1] - bucket[0]
            rows.append({
                "device": device, "start_ns": bucket[0] - trace.origin, "dur_ns": size,
                "utilization_ratio": float(Fraction(length(intersect(busy, [bucket])), size)),
                "sm_efficiency_ratio":
                    float(area(ranges, bucket) / size) if ranges else None})
    return rows
