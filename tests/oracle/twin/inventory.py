# SPDX-License-Identifier: Apache-2.0
"""`events`, `threads`, `tracks` and the counts of `info`."""

from __future__ import annotations

import re

from . import busy, exact, forest, forward, kinds, links, memory, operators, steps
from .events import Event, Trace, text_of, who

PROFILER = "PyTorch Profiler (0)"
ANY = object()
YEAR_2000_NS, YEAR_2100_NS = 946684800 * 10**9, 4102444800 * 10**9


def step_of(trace: Trace) -> dict[Event, int]:
    """Ordinal of the step that contains an event's start, or for device work that of its launch.
    Steps are the program's annotations, not extended by device work."""
    if "steps of events" not in trace.kept:
        trace.kept["steps of events"] = find_steps(trace)
    return trace.kept["steps of events"]


def find_steps(trace: Trace) -> dict[Event, int]:
    """The same, once per trace."""
    launch = links.launch_of_device_event(trace)
    announced = [pair for pair in steps.numbered(trace) if pair[1].annotation]
    own: dict[str, list] = {}
    result = {}
    for event in trace.events:
        at = event
        if not event.is_host and not steps.are_of_device(trace):
            at = launch.get(event)
        if at is None:
            continue
        if at.process not in own:
            own[at.process] = steps.belonging(announced, at.process, lambda pair: pair[1])
        number = next(
            (n for n, s in own[at.process] if s.host[0] <= at.start < s.host[1]), None
        )
        if number is not None:
            result[event] = number
    return result


def events_table(trace: Trace) -> list[dict]:
    """One row per event, in file order of the records that opened them."""
    launch = links.launch_of_device_event(trace)
    op_of_call = operators.op_of_call(trace)
    op_of_record = memory.op_of_record(trace)
    forward_of = forward.links(trace)
    step = step_of(trace)
    processes, threads = process_names(trace), thread_names(trace)
    rows = []
    for event in trace.events:
        call = launch.get(event)
        op = op_of_call.get(call if call else event) or op_of_record.get(event)
        forward_op = forward_of.get(event)
        size = (
            event.integer("Bytes")
            if event.kind in ("alloc", "free", "oom")
            else (
                event.integer(
                    "size" if event.kind == "memcpy" and "bytes" not in event.args else "bytes"
                )
            )
        )
        rows.append(
            {
                "id": event.id,
                "parent_id": event.parent.id if event.parent else None,
                "kind": event.kind,
                "category": event.category,
                "name": event.name,
                "rank": trace.rank,
                "args": event.args if event.has_args else None,
                "process": event.process,
                "process_name": processes.get(event.process),
                "thread": event.thread,
                "thread_name": threads.get(event.track),
                "device": event.device,
                "queue": event.thread if event.device else None,
                "start_ns": event.start - trace.origin,
                "dur_ns": event.dur,
                "self_ns": forest.self_ns(event) if event.is_range else None,
                "depth": event.depth,
                "step": step.get(event),
                "launch_id": call.id if call and call.kind in kinds.LAUNCHES else None,
                "op_id": op.id if op and op is not event else None,
                "fwd_id": forward_op.id if forward_op else None,
                "correlation": event.correlation,
                "bytes": size,
                "value": exact.double(event.value),
            }
        )
    return rows


def threads_table(trace: Trace) -> list[dict]:
    """Host threads with events, in order of the first event."""
    names, processes = thread_names(trace), process_names(trace)
    rows: dict[tuple, dict] = {}
    for event in trace.events:
        if event.track not in device_tracks(trace) | trace.summaries:
            row = rows.setdefault(
                event.track,
                {
                    "process": event.process,
                    "process_name": processes.get(event.process),
                    "thread": event.thread,
                    "name": names.get(event.track),
                    "events": 0,
                },
            )
            row["events"] += 1
    return list(rows.values())


def device_tracks(trace: Trace) -> set[tuple]:
    """Tracks with device work or device-side annotations: queues, not threads."""
    if "device_tracks" not in trace.kept:
        trace.kept["device_tracks"] = {e.track for e in trace.events if e.device}
    return trace.kept["device_tracks"]


def thread_names(trace: Trace) -> dict[tuple, str | None]:
    """The last `thread_name` of each thread, without blanks at its end. An empty one is none."""
    return {
        who(r): (text_of(r["args"].get("name")) or "").rstrip(" ") or None
        for r in trace.records
        if r.get("ph") == "M"
        and r.get("name") == "thread_name"
        and isinstance(r.get("args"), dict)
    }


def process_names(trace: Trace) -> dict[str, str | None]:
    """The last `process_name` of each process, without blanks at its end. An empty one is none."""
    return {
        who(r)[0]: (text_of(r["args"].get("name")) or "").rstrip(" ") or None
        for r in trace.records
        if r.get("ph") == "M"
        and r.get("name") == "process_name"
        and isinstance(r.get("args"), dict)
    }


def process_labels(trace: Trace) -> dict[str, str | None]:
    """The last `process_labels` of each process."""
    return {
        who(r)[0]: (text_of(r["args"].get("labels")) or "").rstrip(" ") or None
        for r in trace.records
        if r.get("ph") == "M"
        and r.get("name") == "process_labels"
        and isinstance(r.get("args"), dict)
    }


def foreign_devices(trace: Trace) -> set[str]:
    """Processes with events that are devices by their names or labels."""
    names, labels = process_names(trace), process_labels(trace)

    def is_device(process: str) -> bool:
        before, mark, after = (names.get(process) or "").partition("/device:")
        return (
            re.match("(GPU|NPU|XPU|TPU|HPU)(?![A-Za-z])", labels.get(process) or "") is not None
            or before == "Ascend Hardware"
            or (mark != "" and not re.match("CPU(?![A-Za-z])", after))
        )

    return {p for p in {e.process for e in trace.events} if is_device(p)}


def tracks_table(trace: Trace) -> list[dict]:
    """Threads and device queues in order of the first event."""
    rows: dict[tuple, dict] = {}
    names, processes = thread_names(trace), process_names(trace)
    labels = process_labels(trace)
    works = busy.of_tracks(trace, device_tracks(trace))
    whole = max(
        (busy.until(trace, e.start if e.end is None else e.end) for e in trace.events),
        default=0,
    ) - min((e.start for e in trace.events), default=0)
    for event in trace.events:
        time = works.get(event.track)
        kind = (
            "queue"
            if event.track in device_tracks(trace)
            else ("summary" if event.track in trace.summaries else "thread")
        )
        rows.setdefault(
            event.track,
            {
                "track": len(rows),
                "kind": kind,
                "name": names.get(event.track),
                "parent": event.device or event.process or None,
                "process_name": processes.get(event.process),
                "thread": event.thread,
                "process_labels": labels.get(event.process),
                "events": 0,
                "busy_ns": time,
                "busy_ratio": time / whole if time is not None and whole else None,
            },
        )
        rows[event.track]["events"] += 1
    return list(rows.values())


def seen(trace: Trace) -> dict[str, bool]:
    """The options that were on, by the events of a file without the profiler's flags: files before
    torch 1.13 have no flags (DECISIONS.md)."""

    def any_arg(*keys: str) -> bool:
        return any(key in e.args for e in trace.events for key in keys)

    kinds_seen = {e.kind for e in trace.events}
    return {
        "record_shapes": any_arg("Input Dims", "Input dims"),
        "profile_memory": bool(kinds_seen & {"alloc", "free"}),
        "with_stack": any_arg("Call stack") or bool(kinds_seen & {"python"}),
        "with_modules": any_arg("Module Hierarchy") or "module" in kinds_seen,
        "with_flops": False,
    }


def of_trace(trace: Trace) -> set[str]:
    """Processes that stand for the trace itself in files of Kineto's kind."""
    return {"", "Spans", "Traces"} if trace.producer in ("kineto", "opscope") else set()


def info_table(traces: list[Trace]) -> list[dict]:
    """`info`: counts are summed; devices, ranks and spans are counted once, and so are threads and
    processes of several spans of a rank on a host; a switch is on if it is on anywhere; texts are
    those of the first. ANY: depends on the build of opscope."""

    def first(*keys: str) -> str | None:
        found = [text_of(traces[0].members[k]) for k in keys if k in traces[0].members]
        return found[0] if found else None

    def is_on(trace: Trace, flag: str) -> bool:
        return trace.flag(flag) if flag in trace.members else seen(trace)[flag]

    events = [e for t in traces for e in t.events]
    threads = {
        ((t.rank, text_of(t.members.get("host_name", ""))), row["process"], row["thread"])
        for t in traces
        for row in threads_table(t)
        if row["process"] not in of_trace(t)
    }
    lasts = [
        busy.until(t, e.start if e.end is None else e.end) - t.origin
        for t in traces
        for e in t.events
    ]
    starts = [e.start - t.origin for t in traces for e in t.events]
    origins = [
        t.origin + (exact.integer(t.members.get("baseTimeNanoseconds")) or 0)
        for t in traces
        if t.events
    ]
    origins = [ns for ns in origins if YEAR_2000_NS <= ns < YEAR_2100_NS]
    profilers = [
        next(e.start - t.origin for e in t.events if e.name == PROFILER)
        for t in traces
        if any(e.name == PROFILER for e in t.events)
    ]
    facts: dict[str, object] = {
        "format": "chrome",
        "producer": traces[0].producer,
        "dialect": traces[0].dialect,
        "producer_version": None,
        "torch_version": first("torch_version", "pytorch_version", "source.torch"),
        "opscope_version": ANY,
        "origin_unix_ns": min(origins, default=None),
        "profiler_start_ns": min(profilers, default=None),
        "duration_ns": max(lasts, default=0) - min(starts, default=0),
        "events": len(events),
        "threads": len(threads),
        "processes": len({(place, process) for place, process, _ in threads}),
        "devices": len({e.device for e in events if e.device}),
        "ranks": len({t.rank for t in traces}),
        "spans": len({t.span for t in traces}),
        "steps": sum(
            e.kind == "step" and e.is_range
            for t in traces
            for e in t.events
            if not t.has_iterations
        ),
    }
    if any(t.has_iterations for t in traces):
        facts["iterations"] = sum(
            e.kind == "step" and e.is_range
            for t in traces
            for e in t.events
            if t.has_iterations
        )
    for flag in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops"):
        facts[flag] = any(is_on(t, flag) for t in traces)
    for trace in traces:
        for key, value in trace.members.items():
            facts.setdefault(f"meta.{key}", "null" if value is None else value)
    return [{"key": key, "value": value} for key, value in facts.items()]
