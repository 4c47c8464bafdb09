# SPDX-License-Identifier: Apache-2.0
"""Random questions about a random trace: matching selections, options of texts, damage."""

from __future__ import annotations

import random

from twin import inventory, memory_tables, steps
from twin.averages_text import Options
from twin.events import Trace
from twin.selection import Selection

GROUPINGS = {
    "averages": (
        None,
        "shape",
        "stack:2",
        "shape,stack:3",
        "dtype",
        "dtype,stack:1",
        "shape,dtype",
    ),
    "operators": (
        None,
        "shape",
        "stack",
        "shape,stack",
        "dtype",
        "stack,dtype",
        "shape,dtype,stack",
    ),
    "kernels": (None, "op"),
    "modules": (None, "annotation", "line", "class", "layer"),
    "memory_live": (None, "module", "size", "op,module,size"),
    "stragglers": (None, "step"),
    "ranges": (
        None,
        "process",
        "thread",
        "track",
        "category",
        "step",
        "kind",
        "thread,kind",
        "category,thread",
        "step,process,track",
        "name~aten::([a-z]+)",
        "name~(.)o([a-z]*)",
        "step,name~[0-9]+",
    ),
}
# Groupings that the plugin has not: --compat tb says nothing of them.
OWN_GROUPINGS = {"class", "layer"}
COMPAT = {
    "operators",
    "kernels",
    "steps",
    "overview",
    "devices",
    "modules",
    "advice",
    "rank_overlap",
    "rank_wait",
    "collectives",
}
RULED = (
    "steps",
    "overview",
    "devices",
    "ranks",
    "rank_stats",
)  # tables with --step-length and --all-steps
# Tables whose rows the twin does not merge: compared only if no two files share a row.
UNMERGED = {"devices", "utilization", "modules", "memory_versions", *memory_tables.TABLES}
AT_A_TIME = {"memory_events", "memory_peaks", "memory_live"}  # tables with --at
TEXTS = (
    Options(),
    Options(sort="self_cpu_time_total", limit=8),
    Options(sort="cpu_time_total", header="a title", top_level=True, max_name_width=30),
    Options(sort="count", limit=-1, max_shapes_width=20, max_src_width=20),
    Options(torch="1.13"),
    Options(sort="cuda_time", limit=12, torch="1.13"),
)
TEXT_GROUPINGS: tuple[dict, ...] = (
    {},
    {"by_shape": True},
    {"stack_n": 2},
    {"python": False},
    {"stack_n": 7},
    {"by_shape": True, "stack_n": 1},
    {"by_shape": True, "by_dtype": True},
    {"by_dtype": True, "stack_n": 2},
)


def selection(source: random.Random, trace: Trace) -> Selection:
    """A selection that usually leaves something of TRACE."""
    events = trace.events or [None]
    fields = source.sample(
        ("steps", "time", "thread", "process", "device"), source.choice((1, 1, 1, 2))
    )
    chosen: dict = {}
    event = source.choice(events)
    if "steps" in fields:
        chosen["steps"] = some_steps(source, trace)
    if "time" in fields and event is not None:
        start = event.start - trace.origin + source.choice((0, 0, 1, -1))
        chosen["from_ns"] = max(start, 0)
        if source.randrange(2):
            chosen["to_ns"] = chosen["from_ns"] + source.choice((1, 5_000, 30_000, 10**9))
        elif source.randrange(2):
            chosen["to_ns"] = chosen.pop("from_ns")
    host = source.choice(
        [e for e in trace.events if not e.device and e.track not in trace.summaries] or [None]
    )
    if "thread" in fields and host is not None:
        name = inventory.thread_names(trace).get(host.track)
        chosen["thread"] = source.choice((host.thread, name or host.thread, "nowhere"))
    if "process" in fields and host is not None:
        name = inventory.process_names(trace).get(host.process)
        chosen["process"] = source.choice((host.process, name or host.process))
    if "device" in fields:
        devices = sorted({e.device for e in trace.events if e.device})
        chosen["device"] = source.choice((*devices, *devices, "cpu", "cuda:9"))
    return Selection(**{k: v for k, v in chosen.items() if v != ""})


def rules(source: random.Random, name: str) -> steps.Rules:
    """Rules of steps for table NAME."""
    parts = source.sample(steps.CATEGORIES, source.choice((0, 1, 2, 7)))
    return steps.Rules(
        priority=() if name == "devices" else tuple(parts),
        by_annotation=source.randrange(2) == 0,
        keeps_all=source.randrange(2) == 0,
    )


def of_memory(source: random.Random, trace: Trace) -> list[memory_tables.Selection]:
    """Some selections for the tables of memory of TRACE."""
    records = memory_tables.records_of(trace)
    if not records:
        return []
    choice = memory_tables.Selection
    times = [r.event.start - trace.origin for r in records]
    third = len(times) // 3
    steps_seen = sorted(set(memory_tables.steps_of(trace).values()))
    result = [
        choice(first_ns=times[third], end_ns=times[2 * third] + 1),
        choice(end_ns=times[third]),
        choice(thread=records[0].event.thread),
        choice(device=records[-1].device),
        choice(at_ns=times[2 * third]),
        choice(at_ns=times[third] + 1, first_ns=times[0] + 1),
    ]
    result += [choice(step=step) for step in steps_seen[-1:]]
    return source.sample(result, 3)


def some_steps(source: random.Random, trace: Trace) -> str:
    """A range of steps by label or by ordinal."""
    found = steps.numbered(trace) or [(0, steps.Step("0", None, (0, 0)))]
    first, last = sorted(source.choice(found)[0] for _ in range(2))
    numbers = [int(step.label) for _, step in found if step.label.isdigit()]
    if source.randrange(2) or not numbers:
        return source.choice((f"@{first}", f"@{first}-@{last}", f"@{last + 1}"))
    labels = sorted(source.choice(numbers) for _ in range(2))
    return source.choice((f"{labels[0]}", f"{labels[0]}-{labels[1]}", f"{labels[1] + 9}"))
