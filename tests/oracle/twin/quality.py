# SPDX-License-Identifier: Apache-2.0
"""`quality`: findings from reading, findings from the events, and what a trace of PyTorch could
have contained. Without messages."""

from __future__ import annotations

from . import devices, flows, forest, inventory, links, memory_tables, operators, rank_quality
from .events import Finding, Trace, merged_rank
from .kinds import DEVICE_WORK, LAUNCHES, always_launches
from .ranges import calls_of

# In the order of the codes of `opscope table --list --format md`, which is that of rows with the same severity.
SEVERITY = {
    "truncated": "error",
    "corrupt": "error",
    "not_utf8": "warning",
    "repaired_name": "warning",
    "repaired_list": "warning",
    "lost_name": "warning",
    "wrong_type": "warning",
    "out_of_range": "warning",
    "too_deep": "warning",
    "too_long": "warning",
    "unknown_phase": "info",
    "unclosed_list": "info",
    "call_samples": "info",
    "event_stacks": "info",
    "far_clock": "info",
    "unmatched_begin": "warning",
    "unmatched_end": "warning",
    "mismatched_end": "warning",
    "misplaced_end": "warning",
    "crossed_thread": "warning",
    "open_range": "warning",
    "no_duration": "warning",
    "partial_overlap": "warning",
    "queue_overlap": "info",
    "negative_duration": "warning",
    "negative_self": "info",
    "duplicate_id": "warning",
    "no_launch": "info",
    "no_operator": "info",
    "no_work": "info",
    "arrow_no_start": "info",
    "arrow_no_end": "info",
    "outside_span": "info",
    "bad_memory_record": "warning",
    "lost_release": "warning",
    "unpaired_release": "info",
    "memory_gap": "info",
    "crossed_call": "info",
    "out_of_memory": "warning",
    "device_unmatched": "info",
    "unaligned": "warning",
    "clock_step": "warning",
    "limit_reached": "error",
    "source_incomplete": "warning",
    "sampled": "info",
    "sample_unused": "info",
    "no_shapes": "info",
    "no_stacks": "info",
    "no_memory": "info",
    "no_modules": "info",
    "no_flops": "info",
    "no_steps": "info",
    "no_device_records": "warning",
    "no_operators": "info",
    "no_device": "info",
    "single_step": "info",
    "same_rank": "warning",
    **rank_quality.SEVERITY,
    "file_failed": "error",
    "file_empty": "info",
    "file_copy": "info",
    "file_other": "info",
    "folder_again": "info",
    "folder_limit": "warning",
}
ABSENT = {
    "no_shapes": "record_shapes",
    "no_stacks": "with_stack",
    "no_memory": "profile_memory",
    "no_modules": "with_modules",
}
# Dialects whose programs are not asked to record what torch's profiler can.
OF_OTHERS = (
    "xla",
    "tensorflow",
    "torch_legacy",
    "rocprof",
    "nsys",
    "paddle",
    "proton",
    "unitrace",
)
# Their counters say what they could not record.
SOURCES = ("cuda", "level-zero", "nvtx", "opencl", "sources")
# Findings about something that is missing.
MISSING = {
    "no_launch",
    "no_work",
    "no_operator",
    "unpaired_release",
    "lost_release",
    "memory_gap",
    "arrow_no_start",
    "arrow_no_end",
}


def of_starts(starts: list[int]) -> Finding:
    """A finding for each of STARTS, the earliest first."""
    return Finding(len(starts), None, min(starts, default=None))


def repeated_calls(trace: Trace) -> list[int]:
    """Start of the second call (in the file) of each correlation id except 0."""
    seen: dict[tuple, int] = {}
    starts = []
    for event in trace.events:
        key = merged_rank(event.process), event.correlation
        if event.kind in LAUNCHES and event.is_range and key[1]:
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 2:
                starts.append(event.start)
    return starts


def idle_calls(trace: Trace) -> list[int]:
    """Starts of launches with a correlation but without device work, if the trace has any device
    work."""
    launch = links.launch_of_device_event(trace)
    busy = set(launch.values())
    if not any(e.kind in DEVICE_WORK and e.is_range for e in trace.events):
        return []
    return [
        e.start
        for e in trace.events
        if e.kind in LAUNCHES
        and e.is_range
        and e not in busy
        and e.correlation is not None
        and always_launches(e.name)
    ]


def zero_times(trace: Trace) -> list[int]:
    """Events at 0, if all others start later than a second, and later than the time that they
    span."""
    others = [e for e in trace.events if e.start != 0]
    first = min((e.start for e in others), default=0)
    last = max((e.start if e.end is None else e.end for e in others), default=0)
    is_far = first > 10**9 and first > last - first
    return [0 for e in trace.events if e.start == 0 and is_far]


def outside_span(trace: Trace) -> list[int]:
    """Starts of ranges outside of the profiler's own span, if the file has it."""
    spans = [
        e
        for e in trace.events
        if e.is_range
        and e.kind == "scope"
        and e.category == "Trace"
        and e.name.startswith("PyTorch Profiler (")
    ]
    return [
        e.start
        for e in trace.events
        if spans
        and e.is_range
        and not min(s.start for s in spans) <= e.start <= max(s.end for s in spans)
    ]


def open_arrows(trace: Trace) -> dict[str, Finding]:
    """Arrows that only have starts, and arrows without a start, at their first records."""
    chains: dict[tuple, list[flows.Record]] = {}
    for record in flows.records_of(trace):
        chains.setdefault((record.category, record.key), []).append(record)
    n_starts = [(chain, sum(r.phase == "s" for r in chain)) for chain in chains.values()]
    return {
        "arrow_no_start": of_starts([chain[0].at for chain, n in n_starts if n == 0]),
        "arrow_no_end": of_starts([chain[0].at for chain, n in n_starts if n == len(chain)]),
    }


def derived(trace: Trace) -> dict[str, Finding]:
    """Findings from the events."""
    launch = links.launch_of_device_event(trace)
    op_of_call = operators.op_of_call(trace)
    work = [e for e in trace.events if e.kind in DEVICE_WORK and e.is_range]
    has_operators = any(e.kind == "operator" for e in trace.events)
    found = {
        "partial_overlap": of_starts(trace.kept["overlaps"]),
        "queue_overlap": of_starts(trace.kept[forest.OF_QUEUES]),
        "crossed_call": of_starts(trace.kept["crossed"]),
        "negative_self": of_starts(
            [e.start for e in trace.events if e.is_range and forest.self_ns(e) < 0]
        ),
        "duplicate_id": of_starts(repeated_calls(trace)),
        "no_work": of_starts(idle_calls(trace)),
        "no_duration": of_starts(
            [e.start for e in trace.events if e.phase == "X" and e.end is None]
        ),
        "clock_step": of_starts(zero_times(trace)),
        "outside_span": of_starts(outside_span(trace)),
        "no_launch": of_starts([e.start for e in work if e not in launch]),
        # A program without operators lacks none.
        "no_operator": of_starts(
            [
                e.start
                for e in work
                if e in launch and launch[e] not in op_of_call and has_operators
            ]
        ),
        **open_arrows(trace),
        **{code: of_starts(at) for code, at in memory_tables.findings(trace).items()},
    }
    # Events that a selection left out are not missing in the trace.
    return {
        code: finding
        for code, finding in found.items()
        if not trace.is_part or code not in MISSING
    }


def launches(trace: Trace) -> list[int]:
    """Starts of calls that always launch something."""
    return [
        e.start
        for e in trace.events
        if e.kind in LAUNCHES and e.is_range and always_launches(e.name)
    ]


def one_sided(trace: Trace) -> dict[str, Finding]:
    """Calls without any device work; and of PyTorch device work without anything on the host."""
    if trace.is_part or rank_quality.is_cut(trace):
        return {}
    seen = {e.kind for e in trace.events}
    if not seen & DEVICE_WORK:
        return {"no_device_records": of_starts(launches(trace))}
    is_alone = trace.producer == "kineto" and not seen & {"operator", "python"}
    return {"no_operators": Finding(1, None, None)} if is_alone else {}


def absent(trace: Trace) -> set[str]:
    """Codes of data that was not recorded. A part of a trace cannot show that, only the complete
    file."""
    kinds_seen = {e.kind for e in trace.events}
    if "operator" not in kinds_seen or trace.dialect in OF_OTHERS:
        return set()
    if trace.is_part:  # the rest may have it, so use only the file's own flags
        return {
            code
            for code, flag in (*ABSENT.items(), ("no_flops", "with_flops"))
            if trace.says_off(flag)
        }
    seen = inventory.seen(trace)
    codes = {code for code, flag in ABSENT.items() if not seen[flag]}
    if not trace.flag("with_flops"):
        codes.add("no_flops")
    has_device = bool(devices.properties(trace)) or kinds_seen & (LAUNCHES | {"sync"})
    if (
        has_device
        and not kinds_seen & DEVICE_WORK
        and (rank_quality.is_cut(trace) or not launches(trace))
    ):
        codes.add("no_device")
    steps = sum(e.kind == "step" and e.is_range for e in trace.events)
    return codes | {0: {"no_steps"}, 1: {"single_step"}}.get(steps, set())


def by_phase(found: dict[str, Finding]) -> list[tuple[str, Finding]]:
    """The parts of `unknown_phase`, by letter, and behind them that without a phase."""
    parts = sorted((code, f) for code, f in found.items() if code.startswith("phase "))
    n_rest = found["unknown_phase"].count - sum(f.count for _, f in parts)
    is_first = all(f.offset != found["unknown_phase"].offset for _, f in parts)
    rest = Finding(n_rest, found["unknown_phase"].offset if is_first else None, None)
    return [*parts, *([("no phase", rest)] if n_rest else [])]


def source_counts(trace: Trace) -> dict[str, Finding]:
    """What sources of a recording of ours counted, by the name of the counter: it grows in each
    process."""
    samples = [
        e
        for e in trace.events
        if e.kind == "counter"
        and trace.producer == "opscope"
        and e.name.split(": ")[0] in SOURCES
        and ": " in e.name
    ]
    counts: dict[str, Finding] = {}
    for name in dict.fromkeys(e.name for e in samples):
        of_name = [e for e in samples if e.name == name]
        n = sum(
            max(e.value for e in of_name if e.process == p)
            for p in {e.process for e in of_name}
        )
        counts[name] = Finding(n, None, min(e.start for e in of_name))
    return counts


def sampled(trace: Trace) -> list[tuple[str, Finding]]:
    """The calls that were not recorded of each name that was sampled, of twenty names and of the
    others together."""
    ranges = [e for e in trace.events if e.dur is not None]
    names = list(dict.fromkeys(e.name for e in ranges if calls_of(e) > 1))
    groups = [(name, [e for e in ranges if e.name == name]) for name in names[:20]]
    others = [e for e in ranges if e.name in names[20:] and calls_of(e) > 1]
    if others:
        groups.append(("other names", others))
    return [
        (
            name,
            Finding(
                sum(calls_of(e) - 1 for e in events),
                None,
                min(e.start for e in events if calls_of(e) > 1),
            ),
        )
        for name, events in groups
    ]


def table(trace: Trace) -> list[dict]:
    """`quality` of one trace, with only what was found."""
    counts = source_counts(trace)
    found = {
        **trace.findings,
        **derived(trace),
        **one_sided(trace),
        "source_incomplete": Finding(len(counts), None, None),
        "sampled": Finding(len(sampled(trace)), None, None),
    }
    if "clock_step" in trace.findings:  # what was left out, and what was not
        left_out = trace.findings["clock_step"]
        found["clock_step"] = Finding(
            left_out.count + len(zero_times(trace)), None, left_out.ns
        )
    found |= {code: Finding(1, None, None) for code in absent(trace)}
    rows = []
    for severity in ("error", "warning", "info"):
        for code, its_severity in SEVERITY.items():
            if its_severity != severity or not found.get(code) or not found[code].count:
                continue
            parts = (
                by_phase(found)
                if code == "unknown_phase"
                else list(counts.items())
                if code == "source_incomplete"
                else sampled(trace)
                if code == "sampled"
                else [(code, found[code])]
            )
            for message, finding in parts:
                rows.append(
                    {
                        "severity": severity,
                        "code": code,
                        "message": message,
                        "count": finding.count,
                        "first_offset": finding.offset,
                        "first_ns": None if finding.ns is None else finding.ns - trace.origin,
                    }
                )
    return rows


def of_files(trace: Trace) -> list[dict]:
    """Rows about the files of a run, which stand beside those of its first trace."""
    n = trace.kept.get("same_rank", 0)
    return (
        [
            {
                "severity": "warning",
                "code": "same_rank",
                "message": "same_rank",
                "count": n,
                "first_offset": None,
                "first_ns": None,
            }
        ]
        if n
        else []
    )
