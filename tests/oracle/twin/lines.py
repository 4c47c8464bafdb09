# SPDX-License-Identifier: Apache-2.0
"""Device work of traces that have no categories for it: what a line of the picture holds is told
by the names of its process and thread, as its producer writes them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from . import kinds

if TYPE_CHECKING:
    from .events import Event, Trace

NETWORK = re.compile("HCCL|Communication")
# Where the same tasks are drawn more than once, the first of these has them.
TASKS = (
    "Ascend Hardware",
    "Task Scheduler",
    ("AI Core", "AI CPU"),
    ("AI Core Op", "AI CPU Op"),
)
ANALYSIS = "Overlap Analysis"
DEVICE = re.compile(r"(.*)/device:([A-Za-z]+):([0-9]+)(?: .*)?$")
STREAM = re.compile(r"Stream #[0-9]+\(")
TF_PROCESS = re.compile(
    r"(.*/)?(?:device:)?([CGTX]PU):([0-9]+)(.*?)( Compute)?$", re.IGNORECASE
)
COLLECTIVE = re.compile(r"all-|reduce-scatter|collective|send|recv|ragged")


@dataclass
class Fit:
    """What a row becomes. A device that is None is the host; a summary is on no queue."""

    kind: str
    device: str | None = None
    is_summary: bool = False


@dataclass
class Place:
    """A row's place in the picture."""

    process: str
    thread: str
    label: str


def work_kind(name: str) -> str:
    """Kernels, copies and fills by name."""
    low = name.lower()
    if low.startswith("memset") or "[memset]" in low:
        return "memset"
    is_copy = (
        low.startswith("memcpy")
        or re.match("copy-(start|done)", low)
        or (low.startswith("copy") and "to" in low)
    )
    return "memcpy" if is_copy else "kernel"


def call_kind(name: str) -> str | None:
    """Calls of runtimes and drivers, by their prefixes."""
    if re.match(r"(cuda|hip|aclrt)[A-Z]", name):
        return "runtime"
    return "driver" if re.match(r"cu[A-Z]", name) else None


def host_order(name: str) -> tuple[int, str]:
    """Hosts as people number them."""
    return len(name), name


def first_numbers(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The number of the first device of each host, from (host, number there): each host counts
    its own from 0."""
    highest: dict[str, int] = {}
    for host, number in found:
        highest[host] = max(number, highest.get(host, 0))
    first, numbers = 0, {}
    for host in sorted(highest, key=host_order):
        numbers[host] = first
        first += highest[host] + 1
    return numbers


def drawn_over(events: list[Event]) -> set[int]:
    """ids of operations that repeat others on their line. One that is mostly covered by those
    in it was drawn over them; otherwise those in it are its parts."""
    repeats: set[int] = set()

    def inside(inner: Event, outer: Event) -> bool:
        if inner is outer or inner.start < outer.start or inner.end > outer.end:
            return False
        return (inner.start, inner.end) != (outer.start, outer.end) or inner.id > outer.id

    ordered = sorted(events, key=lambda e: (e.start, -e.end, e.id))
    starts = [e.start for e in ordered]
    wholes: list[Event] = []
    for event in ordered:
        wholes = [e for e in wholes if e.end > event.start]
        if any(inside(event, whole) for whole in wholes):
            repeats.add(event.id)
            continue
        near = ordered[bisect_left(starts, event.start) : bisect_left(starts, event.end)]
        within = [e for e in near if inside(e, event)]
        direct = [e for e in within if not any(inside(e, other) for other in within)]
        if not within:
            continue
        if 2 * sum(e.dur for e in direct) >= event.dur:
            repeats.add(event.id)
        else:
            wholes.append(event)
    return repeats


def step_lines(events: Iterable[Event]) -> list[tuple]:
    """The tracks whose EVENTS are steps: each that begins after those before it in time ended."""
    lines: dict[tuple, list[Event]] = {}
    for event in events:
        if event.phase in ("X", "B"):
            lines.setdefault(event.track, []).append(event)
    chosen: list[tuple] = []
    end = 0
    for track, own in sorted(lines.items(), key=lambda line: min(e.start for e in line[1])):
        if not chosen or min(e.start for e in own) >= end:
            chosen.append(track)
            end = max(e.start if e.end is None else e.end for e in own)
    return chosen


def xla(trace: Trace, place: Callable[[Event], Place]) -> Callable[[Event], Fit | None]:
    """Streams hold kernels, and where none is, operations do; the rest is drawn over them."""
    places = [place(e) for e in trace.events]
    streams = {p.process for p in places if STREAM.match(p.thread)}
    steps = step_lines(
        e
        for e, p in zip(trace.events, places)
        if p.thread == "Steps" and DEVICE.match(p.process)
    )
    of_device = [
        (m[1], int(m[3])) for p in places if (m := DEVICE.match(p.process)) and m[2] != "CPU"
    ]
    first = first_numbers(of_device)
    lines: dict[tuple[str, str], list[Event]] = {}
    for event, at in zip(trace.events, places):
        if (
            at.thread in ("XLA Ops", "Sparse Core Ops")
            and DEVICE.match(at.process)
            and at.process not in streams
            and event.phase == "X"
            and event.dur > 0
        ):
            lines.setdefault((at.process, at.thread), []).append(event)
    repeats = {i for line in lines.values() for i in drawn_over(line)}
    families = {
        family
        for e in trace.events
        for family, call in (("hip", "hip[A-Z]"), ("cuda", "cu(da)?[A-Z]"))
        if re.match(call, e.name)
    }
    family = max(families, default="gpu")  # "hip" before "cuda"

    def fit(event: Event) -> Fit | None:
        at = place(event)
        device = DEVICE.match(at.process)
        if not device or device[2] == "CPU":
            if event.name.startswith("$"):
                return Fit("python")
            kind = call_kind(event.name)
            if kind is None and not steps and event.args.get("step_num") is not None:
                kind = "step"
            return Fit(kind) if kind else None
        if device[2] not in ("GPU", "TPU"):
            return None
        name = (
            f"{family if device[2] == 'GPU' else device[2].lower()}"
            f":{first[device[1]] + int(device[3])}"
        )
        if STREAM.match(at.thread):
            return Fit(work_kind(event.name), name)
        if at.thread == "Async XLA Ops" and at.process not in streams:
            return Fit("kernel" if COLLECTIVE.match(event.name) else "memcpy", name)
        if event.id in repeats:
            return Fit("annotation", name)
        if at.thread in ("XLA Ops", "Sparse Core Ops") and at.process not in streams:
            return Fit(work_kind(event.name), name)
        if at.thread == "Steps" and event.track in steps:
            return Fit("step", name)
        return Fit("annotation", name)

    return fit


def tensorflow(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """A process a stream; a process of all streams repeats those of single ones."""
    single = {
        (m[1] or "", m[3])
        for e in trace.events
        if (m := TF_PROCESS.match(place(e).process)) and re.search(r"stream:[0-9]+$", m[4])
    }
    matches = (TF_PROCESS.match(place(e).process) for e in trace.events)
    first = first_numbers(
        (m[1] or "", int(m[3])) for m in matches if m and re.search("stream:|memcpy", m[4])
    )

    def fit(event: Event) -> Fit | None:
        process = place(event).process
        found = TF_PROCESS.match(process)
        if process == "/host:CPU":
            return Fit("operator")
        if not found:
            return None
        is_work = "stream:" in found[4] or "memcpy" in found[4]
        if not is_work:
            return Fit("operator") if found[5] else None
        device = f"{found[2].lower()}:{first[found[1] or ''] + int(found[3])}"
        if (found[1] or "", found[3]) in single and not re.search(r"stream:[0-9]+$", found[4]):
            return Fit("annotation", device, True)
        return Fit(work_kind(event.name), device)

    return fit


def task_kind(event: Event) -> str:
    """What a task of Ascend is."""
    task = str(event.args.get("Task Type") or "Other").upper()
    if task == "OTHER":  # of newer tools, for all kinds of tasks
        task = (
            event.name.upper()
            if re.match("(?i)(event|notify|memcpy|sdma)_", event.name)
            else ""
        )
    if "WAIT" in task or "EVENT" in task or "NOTIFY" in task:
        return "sync"
    return "memcpy" if "SDMA" in task or "MEMCPY" in task else "kernel"


def ascend(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Tasks on streams, collectives on a line of their own over their parts."""
    processes = {place(e).process for e in trace.events}
    drawn = [t for t in TASKS if processes & ({t} if isinstance(t, str) else set(t))][:1]
    real = {name for t in drawn for name in ([t] if isinstance(t, str) else t)}
    others = {
        "Ascend Hardware",
        "Task Scheduler",
        "AI Core",
        "AI CPU",
        "AI Core Op",
        "AI CPU Op",
    } - real
    network = {name for name in processes if NETWORK.match(name)}
    neural = real | others | network
    of_collectives = {
        e.integer("stream id") for e in trace.events if place(e).process in network
    }
    places = [place(e) for e in trace.events]
    whole = any(p.process in network and not p.thread.startswith("Plane") for p in places)
    repeated = any(p.process in real for p in places)
    alone = not whole and not repeated
    for process in {e.process for e in trace.events if place(e).process in neural}:
        label = next(place(e).label for e in trace.events if e.process == process)
        if not re.search("[0-9]", label):
            trace.kept["unmatched"] = True

    steps = step_lines(
        e
        for e, p in zip(trace.events, places)
        if p.thread.startswith("Step Trace")
        and p.process in neural
        and e.category == "Iteration Time"
    )

    def fit(event: Event) -> Fit | None:
        at = place(event)
        if at.process == ANALYSIS:
            return Fit("annotation", "", True)
        if at.process in ("CANN", "AscendCL"):
            return Fit("runtime")
        if at.process not in neural:
            kind = call_kind(event.name) if event.kind == "scope" else None
            return Fit(kind) if kind else None
        number = re.search("[0-9]+", at.label)
        device = f"npu:{number[0] if number else 0}"
        if at.process in network and (alone or not at.thread.startswith("Plane")):
            return Fit("kernel", device)
        if at.process in network:
            return Fit("annotation", device, repeated)
        if at.thread.startswith("Step Trace"):
            is_step = event.category == "Iteration Time" and event.track in steps
            return Fit("step" if is_step else "annotation", device)
        if at.process in others:
            return Fit("annotation", device, True)
        kind = task_kind(event)
        if (
            kind != "sync"
            and whole
            and event.thread.isdigit()
            and int(event.thread) in of_collectives
        ):
            return Fit("annotation", device)
        return Fit(kind, device)

    return fit


def display(trace: Trace, _: Callable) -> Callable[[Event], Fit | None]:
    """Threads of operators with full names are streams; how long streams ran repeats them."""
    work = {e.track for e in trace.events if "fullname" in e.args}
    runs = {
        e.track for e in trace.events if re.match(r"stream_[0-9]+_parallel_[0-9]", e.name)
    } - work
    trace.kept["unmatched"] = bool(work)

    def fit(event: Event) -> Fit | None:
        if event.track in work:
            return Fit(work_kind(event.name), "npu:0")
        return Fit("annotation", "", True) if event.track in runs else None

    return fit


def torch_legacy(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Two processes; operators have namespaces, or end as backward functions do."""
    named = any("::" in e.name for e in trace.events)

    def fit(event: Event) -> Fit | None:
        if event.process == "CPU functions":
            is_operator = (
                not named or "::" in event.name or re.search(r"Backward[0-9]*$", event.name)
            )
            if kinds.STEP_NAME.match(event.name):
                return Fit("step")
            if kinds.is_dataloader(event.name):
                return Fit("dataloader")
            return Fit("operator" if is_operator else "annotation")
        if event.process == "CUDA functions":
            return Fit(work_kind(event.name), f"cuda:{event.thread}")
        return None

    return fit


def rocprof(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Numbered processes."""

    def fit(event: Event) -> Fit | None:
        name = place(event).process
        device = re.search(r"(?:^| )GPU([0-9]+)$", name)
        if device and str(event.args.get("desc", "")).startswith("UserMarker frame: "):
            return Fit("annotation", f"hip:{device[1]}")
        if device:
            return Fit(work_kind(event.name), f"hip:{device[1]}")
        if name.endswith(" COPY"):
            return Fit("memcpy", "hip:0")
        if name.endswith(" API"):
            return Fit("runtime")
        if name.endswith("Markers and Ranges"):
            return Fit("annotation")
        kind = call_kind(event.name)
        return Fit(kind) if kind else None

    return fit


def nsys(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Devices are processes, and categories tell the rest."""

    def fit(event: Event) -> Fit | None:
        device = re.match("Device ([0-9]+)$", event.process)
        if device and event.category == "cuda":
            return Fit(work_kind(event.name), f"cuda:{device[1]}")
        kind = {"cuda_api": "runtime", "nvtx": "annotation"}.get(event.category)
        return Fit(kind) if kind else None

    return fit


PADDLE = {
    "Operator": "operator",
    "OperatorInner": "operator",
    "PythonOp": "operator",
    "CudaRuntime": "runtime",
    "ProfileStep": "step",
    "Dataloader": "dataloader",
}


def paddle(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Devices are processes; names end with the duration, which is none of them."""
    for event in trace.events:
        event.name = re.sub(r"(.)\[[0-9][^\[]*s\]$", r"\1", event.name)

    def fit(event: Event) -> Fit | None:
        if place(event).process.endswith("(GPU)"):
            return Fit(work_kind(event.name), f"cuda:{event.process}")
        return Fit(PADDLE.get(event.category, "annotation"))

    return fit


def proton(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Kernels of a device that no record names; scopes of threads, and of graphs over kernels."""
    trace.kept["unmatched"] = True

    def fit(event: Event) -> Fit | None:
        if place(event).thread.startswith("CPU Thread "):
            return None
        if place(event).thread.startswith("Graph: "):
            return Fit("annotation", "gpu:0")
        if event.category != "kernel":
            return Fit("scope")
        return Fit(work_kind(event.name), "gpu:0")

    return fit


COMMANDS = (
    ("memset", "Fill"),
    ("memcpy", "Copy|Memcpy|Read|Write|Map|Migrate"),
    ("sync", "Barrier|Event|Marker"),
)


def unitrace(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Devices are processes with a number; commands have the names of their calls, kernels their
    own."""

    def device_of(event: Event) -> tuple[str, int] | None:
        found = re.match("(?:RANK [0-9]+ )?(DEVICE<.*>)(?:.*#([0-9]+))?", place(event).process)
        return (found[1], int(found[2] or -1)) if found else None

    devices = [d for e in trace.events if (d := device_of(e))]
    if any(number < 0 for _, number in devices):
        trace.kept["unmatched"] = True
    first = first_numbers(d for d in devices if d[1] >= 0)

    def fit(event: Event) -> Fit | None:
        device = device_of(event)
        if not device:
            if re.match("(ze[st]?|cl|ur|pi)[A-Z]", event.name):
                return Fit("runtime")
            return Fit("annotation")
        name = re.sub("^Tile #[^:]*: ", "", event.name)
        kind = "kernel"
        if re.match("zeCommandListAppend|clEnqueue", name):
            kind = next((k for k, parts in COMMANDS if re.search(parts, name)), "kernel")
        return Fit(kind, f"xpu:{first[device[0]] + device[1] if device[1] >= 0 else 0}")

    return fit


def plain(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Categories of others mean nothing."""

    def fit(event: Event) -> Fit | None:
        return Fit("scope")

    return fit


def sums(trace: Trace, place: Callable) -> Callable[[Event], Fit | None]:
    """Threads that repeat the time of others: clang's totals, Bazel's critical path."""
    others = {e.track for e in trace.events if not e.name.startswith("Total ")}

    def fit(event: Event) -> Fit | None:
        is_sum = (
            event.track not in others
            if trace.producer == "clang"
            else place(event).thread == "Critical Path"
        )
        return Fit("scope", None, is_sum)

    return fit


FITS = {
    "xla": xla,
    "tensorflow": tensorflow,
    "ascend": ascend,
    "torch_legacy": torch_legacy,
    "rocprof": rocprof,
    "nsys": nsys,
    "mindspore": display,
    "paddle": paddle,
    "proton": proton,
    "unitrace": unitrace,
    "chrome": plain,
}


def fit_all(trace: Trace, dialect: str, place: Callable[[Event], Place]) -> None:
    """Give rows of lines their kinds, and mark queues and summaries."""
    fits = sums if trace.producer in ("clang", "bazel") else FITS.get(dialect)
    if fits is None:
        return
    fit = fits(trace, place)
    found: Iterable = [(e, fit(e)) for e in trace.events if e.phase in ("X", "B", "b", "S")]
    for event, what in found:
        if what is None:
            continue
        if what.is_summary and what.device is None:
            trace.summaries.add(event.track)
            continue
        event.kind, event.is_fitted = what.kind, True
        event.on_device = what.device is not None
        if what.is_summary:
            trace.summaries.add(event.track)
        elif what.device is not None:
            trace.devices.setdefault(event.track, what.device)
