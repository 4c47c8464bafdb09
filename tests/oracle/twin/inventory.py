# SPDX-License-Identifier: Apache-2.0
"""`events`, `threads`, `tracks` and the counts of `info` (product.md 4)."""
from __future__ import annotations

from . import exact, forest, forward, links, memory, operators, steps
from .events import Event, Trace, text_of


def step_of(trace: Trace, launch: dict[Event, Event]) -> dict[Event, int]:
    """Ordinal of the step that holds an event's start, or for device work its launch's (AN
    1.8). Steps are the program's annotations, not extended by device work."""
    ranges = [(s.host[0], s.host[1], number)
              for number, s in enumerate(steps.host_steps(trace)) if s.annotation]
    result = {}
    for event in trace.events:
        at = event
        if not event.is_host:
            at = launch.get(event)
        if at is None:
            continue
        number = next((n for start, end, n in ranges if start <= at.start < end), None)
        if number is not None:
            result[event] = number
    return result


def events_table(trace: Trace) -> list[dict]:
    """One row per event, in the order of the file of the records that opened them."""
    launch = links.launch_of_device_event(trace.events)
    op_of_call = operators.op_of_call(trace)
    op_of_record = memory.op_of_record(trace)
    forward_of = forward.links(trace)
    step = step_of(trace, launch)
    rows = []
    for event in trace.events:
        call = launch.get(event)
        op = op_of_call.get(call if call else event) or op_of_record.get(event)
        forward_op = forward_of.get(event)
        size = event.integer("Bytes") if event.kind in ("alloc", "free", "oom") else (
            event.integer("bytes"))
        rows.append({
            "id": event.id,
            "parent_id": event.parent.id if event.parent else None,
            "kind": event.kind, "category": event.category, "name": event.name,
            "process": event.process, "thread": event.thread, "device": event.device,
            "queue": event.thread if event.device else None,
            "start_ns": event.start - trace.origin, "dur_ns": event.dur,
            "self_ns": forest.self_ns(event) if event.is_range else None,
            "depth": event.depth, "step": step.get(event),
            "launch_id": call.id if call else None, "op_id": op.id if op else None,
            "fwd_id": forward_op.id if forward_op else None,
            "correlation": event.integer("correlation"), "bytes": size,
            "value": None if event.value is None else float(exact.number(event.value))})
    return rows


def threads_table(trace: Trace) -> list[dict]:
    """Host threads that hold an event, in order of the first."""
    names = thread_names(trace)
    rows: dict[tuple, dict] = {}
    for event in trace.events:
        if event.is_host and event.track not in device_tracks(trace):
            row = rows.setdefault(event.track, {
                "process": event.process, "thread": event.thread,
                "name": names.get(event.track), "events": 0})
            row["events"] += 1
    return list(rows.values())


def device_tracks(trace: Trace) -> set[tuple]:
    """Tracks with device work or device-side annotations: queues, not threads."""
    if "device_tracks" not in trace.kept:
        trace.kept["device_tracks"] = {e.track for e in trace.events if not e.is_host}
    return trace.kept["device_tracks"]


def thread_names(trace: Trace) -> dict[tuple, str]:
    """The last `thread_name` of each thread."""
    return {(text_of(r.get("pid")), text_of(r.get("tid"))): text_of(r["args"].get("name"))
            for r in trace.records
            if r.get("ph") == "M" and r.get("name") == "thread_name"
            and isinstance(r.get("args"), dict)}


def tracks_table(trace: Trace) -> list[dict]:
    """Threads and device queues in order of the first event."""
    rows: dict[tuple, dict] = {}
    names = thread_names(trace)
    for event in trace.events:
        kind = "queue" if event.track in device_tracks(trace) else "thread"
        rows.setdefault(event.track, {"track": len(rows), "kind": kind,
                                      "name": names.get(event.track)})
    return list(rows.values())


def seen(trace: Trace) -> dict[str, bool]:
    """What a file without the profiler's flags shows to have been recorded: files before
    torch 1.13 have none (DECISIONS.md)."""
    def any_arg(*keys: str) -> bool:
        return any(key in e.args for e in trace.events for key in keys)
    kinds_seen = {e.kind for e in trace.events}
    return {"record_shapes": any_arg("Input Dims", "Input dims"),
            "profile_memory": bool(kinds_seen & {"alloc", "free"}),
            "with_stack": any_arg("Call stack") or bool(kinds_seen & {"python"}),
            "with_modules": any_arg("Module Hierarchy") or "module" in kinds_seen,
            "with_flops": False}


def info_table(trace: Trace) -> list[dict]:
    """The counts of `info`."""
    ends = [e.end if e.end is not None else e.start for e in trace.events]
    base = exact.integer(trace.members.get("baseTimeNanoseconds")) or 0
    threads = [t for t in threads_table(trace)
               if t["process"] not in (None, "", "Spans", "Traces")]
    counts = {
        "origin_unix_ns": trace.origin + base if trace.events else None,
        "duration_ns": max(ends) - trace.origin if ends else 0,
        "events": len(trace.events),
        "threads": len(threads),
        "processes": len({t["process"] for t in threads}),
        "devices": len({e.device for e in trace.events if e.device}),
        "steps": sum(e.kind == "step" and e.is_range for e in trace.events)}
    for flag, is_seen in seen(trace).items():
        counts[flag] = trace.flag(flag) if flag in trace.members else is_seen
    return [{"key": key, "value": value} for key, value in counts.items()]
