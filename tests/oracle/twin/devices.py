# SPDX-License-Identifier: Apache-2.0
"""`utilization` and `devices`, computed from all kernels."""

from __future__ import annotations

from fractions import Fraction

from . import exact, kinds, links, operators, steps
from .events import Event, Trace, listed_devices
from .intervals import Interval, intersect, length, union
from .kernels import BLOCKS, OCCUPANCY, usable
from .kinds import DEVICE_WORK

Range = tuple[int, int, Fraction]  # start, end, share of the multiprocessors

# The numbers that tell models apart.
LIMITS = (
    "totalGlobalMem",
    "numSms",
    "computeMajor",
    "computeMinor",
    "maxThreadsPerBlock",
    "maxThreadsPerMultiprocessor",
    "regsPerMultiprocessor",
    "sharedMemPerBlock",
    "sharedMemPerMultiprocessor",
    "warpSize",
)


def number_of(device: str) -> int | None:
    """N of "cuda:N"."""
    digits = device.rpartition(":")[2] if ":" in device else ""
    return int(digits) if digits.isdigit() else None


def work_of(trace: Trace) -> dict[str, list[Event]]:
    """Device -> its kernels, copies and fills; sorted by number, devices without one last."""
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
    """For each interval between neighbouring end points of kernels with blocks per SM: the sum over
    the kernels that run in it, at most 1; nothing if none runs."""
    blocks = []
    for kernel in kernels:
        value = usable(kernel, BLOCKS)
        if value is not None:
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
    return sum(
        (
            value * max(0, min(end, window[1]) - max(start, window[0]))
            for start, end, value in ranges
        ),
        Fraction(0),
    )


def buckets(trace: Trace) -> list[Interval]:
    """The last span `PyTorch Profiler (0)`, or else all events, cut into at most 100."""
    spans = [
        e
        for e in trace.events
        if e.name == "PyTorch Profiler (0)"
        and e.end is not None
        and (e.category or "").lower() == "trace"
    ]
    if spans:
        start, end = spans[-1].start, spans[-1].end
    else:
        start = min((e.start for e in trace.events), default=0)
        end = max((e.start if e.end is None else e.end for e in trace.events), default=start)
    if end <= start:
        return []
    size = 1000
    while end - start > 100 * size:
        size *= 10
    count = max(1, (end - start) // size)
    return [
        (start + i * size, start + (i + 1) * size if i < count - 1 else end)
        for i in range(count)
    ]


def utilization_table(trace: Trace) -> list[dict]:
    """`utilization`: a row per bucket and device that ran a kernel."""
    rows = []
    cut = buckets(trace)
    of_device = {d: kernels_of(work) for d, work in work_of(trace).items() if kernels_of(work)}
    for device, kernels in list(of_device.items())[:1024]:
        busy, ranges = union([(e.start, e.end) for e in kernels]), sm_ranges(kernels)
        for bucket in cut:
            size = bucket[1] - bucket[0]
            rows.append(
                {
                    "device": device,
                    "start_ns": bucket[0] - trace.origin,
                    "dur_ns": size,
                    "utilization_ratio": float(
                        Fraction(length(intersect(busy, [bucket])), size)
                    ),
                    "sm_efficiency_ratio": float(area(ranges, bucket) / size)
                    if ranges
                    else None,
                }
            )
    return rows


def properties(trace: Trace) -> dict[int, dict]:
    """Device number -> its entry in `deviceProperties`: by member `id`, else by place; the first of
    several."""
    result: dict[int, dict] = {}
    for place, entry in enumerate(listed_devices(trace)):
        number = natural(entry.get("id"))
        result.setdefault(place if number is None else number, entry)
    return result


def are_alike(trace: Trace) -> bool:
    """Whether all devices that the file lists, also those of one number, are the same model."""
    return (
        len(
            {
                (identity(entry)["name"], *(natural(entry.get(key)) for key in LIMITS))
                for entry in listed_devices(trace)
            }
        )
        <= 1
    )


def natural(value: object) -> int | None:
    """A nonnegative integer, also as text; else None."""
    number = exact.integer(value)
    return number if number is not None and number >= 0 else None


def identity(entry: dict) -> dict:
    """The columns that `deviceProperties` fills."""
    major, minor = natural(entry.get("computeMajor")), natural(entry.get("computeMinor"))
    name, memory = entry.get("name"), natural(entry.get("totalGlobalMem"))
    name = name if isinstance(name, str) and name else None
    if (
        name is None
        and memory is not None
        and ((major, minor, natural(entry.get("numSms"))) == (9, 4, 304))
    ):
        name = f"AMD Instinct {'MI300X' if memory < 224 << 30 else 'MI325X'} (derived)"
    return {
        "name": name,
        "memory_bytes": memory,
        "compute_capability": None if major is None or minor is None else f"{major}.{minor}",
        "sm_count": natural(entry.get("numSms")),
    }


def window_of(
    trace: Trace, compat: bool = False, rules: steps.Rules = steps.USUAL
) -> Interval | None:
    """W: from the first kept step to the last; None if it is empty."""
    kept = [s for s in steps.steps_of(trace, compat, rules) if s.kept]
    window = (min(s.start for s in kept), max(s.end for s in kept)) if kept else (0, 0)
    return window if window[0] < window[1] else None


def shares(kernels: list[Event], window: Interval | None) -> dict:
    """Utilisation, efficiency and occupancy of a device in WINDOW."""
    result: dict = {
        "utilization_ratio": None,
        "sm_efficiency_ratio": None,
        "occupancy_ratio": None,
    }
    if window is None:
        return result
    size = window[1] - window[0]
    busy = intersect(union([(e.start, e.end) for e in kernels]), [window])
    result["utilization_ratio"] = float(Fraction(length(busy), size))
    filled = area(sm_ranges(kernels), window)
    if filled > 0:
        result["sm_efficiency_ratio"] = float(filled / size)
    occupied, of = Fraction(0), 0
    for kernel in kernels:
        percent = usable(kernel, OCCUPANCY)
        inside = min(kernel.end, window[1]) - max(kernel.start, window[0])
        if percent is not None and inside > 0:
            occupied += percent * inside
            of += inside
    if of > 0:
        result["occupancy_ratio"] = float(occupied / of / 100)
    return result


def devices_table(
    trace: Trace, compat: bool = False, rules: steps.Rules = steps.USUAL
) -> list[dict]:
    """`devices`: the devices that did any work."""
    launch = links.launch_of_device_event(trace)
    op_of_call = operators.op_of_call(trace)
    props, window = properties(trace), window_of(trace, compat, rules)
    work = work_of(trace)
    # Attributed to an operator.
    of_op = {
        device: [k for k in kernels_of(events) if op_of_call.get(launch.get(k))]
        for device, events in work.items()
    }
    rows = []
    for device, events in work.items():
        kernels = kernels_of(events)
        whole = sum(k.dur for k in of_op[device])
        tensor = sum(k.dur for k in of_op[device] if kinds.kernel_uses_tc(k.name, compat))
        ratio = float(Fraction(tensor, whole)) if whole else None
        if (
            tensor == 0
            and not compat
            and any(
                k.dur > 0 and kinds.kernel_uses_tc(k.name, False) is not False for k in kernels
            )
        ):
            ratio = None
        unknown = sum(
            k.dur for k in of_op[device] if kinds.kernel_uses_tc(k.name, False) is None
        )
        if not compat and 100 * unknown > whole:
            ratio = None
        if compat and ratio is None and kernels and any(of_op.values()):
            ratio = 0.0
        number = number_of(device)
        is_guess = "device_unmatched" in trace.findings and not are_alike(trace)
        rows.append(
            {
                "device": device,
                **identity({} if is_guess else props.get(number, {})),
                **shares(kernels, window),
                "tensor_core_ratio": ratio,
            }
        )
    return rows
