# SPDX-License-Identifier: Apache-2.0
"""`memory`, `memory_events`, `memory_curve`, `memory_peaks`, `memory_live`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from . import categories, exact, inventory, memory, operators
from .events import Event, Trace, listed_devices, torch_word

TYPES = (
    "cpu",
    "cuda",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
    "meta",
    "hpu",
    "ve",
    "lazy",
    "ipu",
    "mtia",
    "privateuse1",
)  # c10::DeviceType
DEVICES_MAX = 4096
CODES = (
    "bad_memory_record",
    "lost_release",
    "unpaired_release",
    "memory_gap",
    "out_of_memory",
)  # codes of quality


@dataclass(frozen=True)
class Selection:
    """Which records to show; times from the origin, steps by ordinal."""

    first_ns: int | None = None  # --from
    end_ns: int | None = None  # --to
    thread: str | None = None
    device: str | None = None
    step: int | None = None  # --steps @N
    at_ns: int | None = None  # --at

    def arguments(self) -> list[str]:
        """As options of the command."""
        pairs = (
            ("--from", self.first_ns),
            ("--to", self.end_ns),
            ("--thread", self.thread),
            ("--device", self.device),
            ("--at", self.at_ns),
            ("--steps", None if self.step is None else f"@{self.step}"),
        )
        return [
            text for flag, value in pairs if value is not None for text in (flag, str(value))
        ]


ALL = Selection()


@dataclass(eq=False)
class Record:
    """An allocation or a release."""

    event: Event
    bytes: int
    process: str | None
    device: str
    address: int | None
    node: operators.Node | None  # the deepest node of its thread that contains it
    parents: dict[operators.Node, operators.Node]
    step: int | None  # ordinal
    release: Record | None = None  # of an allocation
    overwritten_by: Record | None = None  # for an allocation whose release was lost
    allocation: Record | None = None  # of a release

    @property
    def is_allocation(self) -> bool:
        """Whether it has more than 0 bytes."""
        return self.bytes > 0

    @property
    def op(self) -> str | None:
        """The operator that was running, if its node is one."""
        return self.node.event.name if self.node and self.node.is_row else None

    def total(self, key: str) -> int | None:
        """One of the two totals, if it fits in 64 bits."""
        value = self.event.integer(key)
        return value if value is not None and -(2**63) <= value < 2**63 else None


def device_of(event: Event, family: str | None) -> str:
    """The name of the record's device, or `unknown`; FAMILY is that of the trace's devices."""
    return named(event.integer("Device Type"), event.integer("Device Id"), family)


def named(kind: int | None, number: int | None, family: str | None) -> str:
    """The name of device NUMBER of type KIND, or `unknown`."""
    if kind is None or not 0 <= kind <= 127:
        return "unknown"
    name = TYPES[kind] if kind < len(TYPES) else f"type{kind}"
    if family and name == (torch_word(family) if torch_word(family) in TYPES else TYPES[-1]):
        name = family
    if kind == 0:
        return name
    if number is not None and not -1 <= number <= 32766:
        return "unknown"
    return name if number in (None, -1) else f"{name}:{number}"


def address_of(event: Event) -> int | None:
    """The address as 64 bits."""
    value = event.args.get("Addr")
    number = exact.integer(value)
    if number is None and isinstance(value, str) and re.fullmatch("[0-9]+", value):
        number = int(value)
    if number is None or not -(2**63) <= number < 2**64:
        return None
    return number % 2**64


def records_of(trace: Trace) -> list[Record]:
    """All usable records in order of time, paired."""
    if "memory" in trace.kept:
        return trace.kept["memory"]
    nodes = operators.build(trace)
    node_of = memory.node_of_record(nodes, trace)
    parents = {
        child: node for node in nodes if node.merged_into is None for child in node.children
    }
    trace.kept["nodes"] = nodes
    step_of = steps_of(trace)
    result: list[Record] = []
    for event in sorted(
        (e for e in trace.events if e.kind in ("alloc", "free")), key=lambda e: (e.start, e.id)
    ):
        size = event.integer("Bytes")
        if size is None or abs(size) >= 2**62:
            continue
        result.append(
            Record(
                event,
                size,
                event.process,
                device_of(event, trace.family),
                address_of(event),
                node_of.get(event),
                parents,
                step_of.get(event),
            )
        )
    known: list[tuple] = []
    for record in result:
        if (record.process, record.device) not in known:
            if len(known) >= DEVICES_MAX:
                record.device = "unknown"
            known.append((record.process, record.device))
    pair(result)
    trace.kept["memory"] = result
    trace.kept["memory devices"] = list(dict.fromkeys((r.process, r.device) for r in result))
    return result


def pair(records: list[Record]) -> None:
    """Pair records by process, device and address, except on unknown devices."""
    live: dict[tuple, Record] = {}
    for record in records:
        if record.address is None or record.device == "unknown":
            continue
        key = (record.process, record.device, record.address)
        before = live.pop(key, None)
        if record.is_allocation:
            live[key] = record
            if before:
                before.overwritten_by = record
        elif before:
            before.release, record.allocation = record, before


def gaps(records: list[Record]) -> list[Record]:
    """Records of one device whose total does not follow from that of the previous record."""
    result, last = [], None
    for record in records:
        total = record.total("Total Allocated")
        if total is not None and (
            total < 0 or (last is not None and total - last != record.bytes)
        ):
            result.append(record)
        last = total
    return result


def findings(trace: Trace) -> dict[str, list[int]]:
    """The times of inconsistent records by code of `quality`, ascending."""
    records = records_of(trace)
    usable = {record.event for record in records}
    known = [r for r in records if r.device != "unknown"]
    times = {
        "bad_memory_record": [
            e.start for e in trace.events if e.kind in ("alloc", "free") and e not in usable
        ]
        + [r.event.start for r in records if r.device == "unknown"],
        "lost_release": [r.overwritten_by.event.start for r in known if r.overwritten_by],
        "unpaired_release": [
            r.event.start
            for r in known
            if not r.is_allocation and r.address is not None and r.allocation is None
        ],
        "memory_gap": [
            r.event.start
            for device in trace.kept["memory devices"]
            for r in gaps([r for r in known if (r.process, r.device) == device])
        ],
        "out_of_memory": [e.start for e in trace.events if e.kind == "oom"],
    }
    return {code: sorted(at) for code, at in times.items() if at}


def steps_of(trace: Trace) -> dict[Event, int]:
    """Ordinal of the step in which an event of the host starts."""
    if "memory steps" not in trace.kept:
        trace.kept["memory steps"] = inventory.step_of(trace)
    return trace.kept["memory steps"]


def wants(trace: Trace, record: Record, selection: Selection) -> bool:
    """Whether RECORD is selected."""
    if selection.device is not None and record.device != selection.device:
        return False
    return wants_event(trace, record.event, selection)


def wants_event(trace: Trace, event: Event, selection: Selection) -> bool:
    """Whether EVENT starts in the selection."""
    at = event.start - trace.origin
    if selection.first_ns is not None and at < selection.first_ns:
        return False
    if selection.end_ns is not None and at >= selection.end_ns:
        return False
    if selection.thread is not None and event.thread != selection.thread:
        return False
    return selection.step is None or steps_of(trace).get(event) == selection.step


def chain_of(record: Record) -> list[Event]:
    """The operators around RECORD, the outermost first."""
    chain, at = [], record.node
    while at is not None:
        if at.is_row:
            chain.insert(0, at.event)
        at = record.parents.get(at)
    return chain


def memory_table(trace: Trace, selection: Selection = ALL) -> list[dict]:
    """`memory`: sums per operator and device."""
    chosen = [r for r in records_of(trace) if wants(trace, r, selection)]
    nodes = trace.kept["nodes"]
    touched: set[Event] = set()
    result = []
    for device in dict.fromkeys(device for _, device in trace.kept["memory devices"]):
        own = [r for r in chosen if r.device == device]
        groups: dict[str, list[int]] = {}
        first: dict[str, tuple] = {}
        none = [0] * 6
        for record in own:
            amount = [
                record.bytes,
                int(record.is_allocation),
                record.bytes if record.is_allocation else 0,
            ]
            if record.op is None:
                none = [a + b for a, b in zip(none, [*amount, *amount])]
                continue
            chain = chain_of(record)
            for depth, event in enumerate(chain):
                touched.add(event)
                sight = (record.event.start, record.event.id, depth)
                first[event.name] = min(first.get(event.name, sight), sight)
                sums = groups.setdefault(event.name, [0] * 6)
                for i, value in enumerate(amount):
                    sums[i] += value
                    sums[i + 3] += value if depth == len(chain) - 1 else 0
        for name in sorted(groups, key=lambda n: first[n]):
            result.append((device, name, groups[name]))
        result.append((device, None, none))
    calls: dict[str, int] = {}
    for node in nodes:
        if node.is_row and (node.event in touched or wants_event(trace, node.event, selection)):
            calls[node.event.name] = calls.get(node.event.name, 0) + 1
    table = [
        {
            "device": device,
            "name": "(none)" if name is None else name,
            "calls": None if name is None else calls[name],
            "increase_bytes": exact.nearest(sums[0]),
            "self_increase_bytes": exact.nearest(sums[3]),
            "alloc_count": sums[1],
            "self_alloc_count": sums[4],
            "alloc_bytes": exact.nearest(sums[2]),
            "self_alloc_bytes": exact.nearest(sums[5]),
        }
        for device, name, sums in result
        if any(sums)
    ]
    table.sort(key=lambda r: -r["self_increase_bytes"])
    return table


def label(record: Record) -> str:
    """The operator, preceded by its parent's name if it only allocates memory."""
    if not record.is_allocation or record.op is None:
        return "(none)"
    parent = record.parents.get(record.node)
    if record.op.startswith("aten::empty") and parent is not None:
        return f"{parent.event.name} ({record.op})"
    return record.op


def module(record: Record) -> str | None:
    """The innermost module around an allocation."""
    node = record.node if record.is_allocation else None
    while node is not None and node.event.kind != "module":
        node = record.parents.get(node)
    return None if node is None else node.event.name or None


def is_live(record: Record, at: tuple[int, int]) -> bool:
    """Whether an allocation is live after the record with (time, id) AT."""
    end = record.release or record.overwritten_by
    return (
        record.is_allocation
        and (record.event.start, record.event.id) <= at
        and (end is None or (end.event.start, end.event.id) > at)
    )


def events_table(trace: Trace, selection: Selection = ALL) -> list[dict]:
    """`memory_events`: an allocation is shown if either of its ends is selected."""
    rows = []
    has_addresses = any(
        r.address is not None and r.device != "unknown" for r in records_of(trace)
    )
    objects = categories.of_records(trace, records_of(trace))
    for record in records_of(trace):
        if record.allocation is not None:
            continue
        ends = [record] + ([record.release] if record.release else [])
        if selection.at_ns is not None:
            ends = [record]
            if not is_live(record, (trace.origin + selection.at_ns, 2**64)):
                continue
        if not any(wants(trace, end, selection) for end in ends):
            continue
        start = record if record.is_allocation else None
        free = record.release if record.is_allocation else record
        alloc_ns = start.event.start - trace.origin if start else None
        free_ns = free.event.start - trace.origin if free else None
        rows.append(
            {
                "process": record.process,
                "process_name": inventory.process_names(trace).get(record.process),
                "device": record.device,
                "operator": label(record),
                "module": module(record),
                "step": record.step,
                "bytes": abs(record.bytes),
                "alloc_ns": alloc_ns,
                "free_ns": free_ns,
                "dur_ns": free_ns - alloc_ns if start and free else None,
                "note": note(record) if has_addresses else None,
                "category": categories.first(objects.get(record))
                if selection.at_ns is None
                else categories.at(objects.get(record), trace.origin + selection.at_ns),
            }
        )
    return rows


def note(record: Record) -> str | None:
    """The inconsistency of the record, or None."""
    if record.device == "unknown":
        return "not paired: its device is unknown"
    if record.address is None:
        return "not paired: it has no address"
    if record.overwritten_by:
        return "its address was allocated again, its release is not recorded"
    if record.release and record.release.bytes != -record.bytes:
        return "its release says another size"
    return None


def curve_table(trace: Trace, selection: Selection = ALL) -> list[dict]:
    """`memory_curve`, device after device."""
    chosen = [r for r in records_of(trace) if wants(trace, r, selection)]
    return [
        {
            "process": process,
            "process_name": inventory.process_names(trace).get(process),
            "device": device,
            "time_ns": record.event.start - trace.origin,
            "allocated_bytes": record.total("Total Allocated"),
            "reserved_bytes": record.total("Total Reserved"),
        }
        for process, device in trace.kept["memory devices"]
        for record in chosen
        if (record.process, record.device) == (process, device)
        and record.total("Total Allocated") is not None
    ]


def capacity(trace: Trace, record: Record) -> int | None:
    """The memory of RECORD's device, by its id in `deviceProperties`."""
    number = record.event.integer("Device Id")
    if record.device in ("cpu", "unknown") or ":" not in record.device:
        return None
    for place, device in enumerate(listed_devices(trace)):
        own = exact.integer(device.get("id"))
        if number == (place if own is None or own < 0 else own):
            memory_bytes = exact.integer(device.get("totalGlobalMem"))
            return memory_bytes if memory_bytes is not None and memory_bytes >= 0 else None
    return None


def by_category(trace: Trace, live: list[Record], time: int) -> dict[str, int]:
    """The bytes of LIVE at TIME in each category, if anything tells the data flow."""
    if categories.of_trace(trace, records_of(trace)) is None:
        return {}
    objects = categories.of_records(trace, records_of(trace))
    sums = dict.fromkeys(categories.COLUMNS, 0)
    for record in live:
        sums[categories.at(objects.get(record), time) or "uncategorized"] += record.bytes
    return {f"{name}_bytes": exact.nearest(n) for name, n in sums.items()}


def peaks_table(trace: Trace, selection: Selection = ALL) -> list[dict]:
    """`memory_peaks`."""
    result = []
    records = records_of(trace)
    for process, device in trace.kept["memory devices"]:
        own = [r for r in records if (r.process, r.device) == (process, device)]
        chosen = [
            r
            for r in own
            if wants(trace, r, selection) and r.total("Total Allocated") is not None
        ]
        if selection.at_ns is not None:
            latest = trace.origin + selection.at_ns
            chosen = [r for r in chosen if r.event.start <= latest][-1:]
        if not chosen:
            continue
        peak = max(chosen, key=lambda r: r.total("Total Allocated"))  # the first of them
        live = [r for r in own if is_live(r, (peak.event.start, peak.event.id))]
        holders: dict[str, list[int]] = {}
        for record in live:
            held = holders.setdefault(label(record), [0, 0])
            held[0] += record.bytes
            held[1] += 1
        entries = [
            {"operator": name, "bytes": size, "count": count}
            for name, (size, count) in sorted(holders.items(), key=lambda item: -item[1][0])
        ]
        if len(entries) > 10:
            entries[10:] = [
                {
                    "operator": "(others)",
                    "bytes": sum(e["bytes"] for e in entries[10:]),
                    "count": sum(e["count"] for e in entries[10:]),
                }
            ]
        for entry in entries:
            entry["bytes"] = exact.nearest(entry["bytes"])
        result.append(
            {
                "process": process,
                "process_name": inventory.process_names(trace).get(process),
                "device": device,
                "peak_bytes": peak.total("Total Allocated"),
                "peak_ns": peak.event.start - trace.origin,
                "capacity_bytes": capacity(trace, peak),
                "reserved_bytes": peak.total("Total Reserved"),
                "live_bytes": exact.nearest(sum(r.bytes for r in live)),
                "live_count": len(live),
                "at_peak": json.dumps(entries, ensure_ascii=False),
                **by_category(trace, live, peak.event.start),
            }
        )
    return result


# Words of --group-by: the column that they ask for, and its value for an allocation.
HELD_BY = {
    "op": ("operator", label),
    "module": ("module", module),
    "size": ("block_bytes", lambda record: record.bytes),
}


def live_table(
    trace: Trace, selection: Selection = ALL, group_by: str | None = None
) -> list[dict]:
    """`memory_live`: at the first of the largest totals, or at the last record up to --at."""
    asked = [HELD_BY[word] for word in (group_by or "op").split(",")]
    records, rows = records_of(trace), []
    for process, device in trace.kept["memory devices"]:
        own = [r for r in records if (r.process, r.device) == (process, device)]
        moments = [r for r in own if wants(trace, r, selection)]
        if selection.at_ns is None:
            moments = [r for r in moments if r.total("Total Allocated") is not None]
            moments.sort(key=lambda r: -(r.total("Total Allocated") or 0))
        else:
            moments = [r for r in moments if r.event.start <= trace.origin + selection.at_ns][
                ::-1
            ]
        if not moments:
            continue
        at = moments[0].event
        live = [r for r in own if is_live(r, (at.start, at.id))]
        groups: dict[tuple, list[Record]] = {}
        for record in live:
            groups.setdefault(tuple(value(record) for _, value in asked), []).append(record)
        for values, members in sorted(
            groups.items(), key=lambda item: -sum(r.bytes for r in item[1])
        ):
            held = sum(r.bytes for r in members)
            rows.append(
                {
                    "process": process,
                    "device": device,
                    "process_name": inventory.process_names(trace).get(process),
                    "at_ns": at.start - trace.origin,
                    **{column: value for (column, _), value in zip(asked, values)},
                    "bytes": exact.nearest(held),
                    "ratio": held / sum(r.bytes for r in live),
                    "count": len(members),
                    "max_bytes": max(r.bytes for r in members),
                    "oldest_ns": min(r.event.start for r in members) - trace.origin,
                }
            )
    return sorted(rows, key=lambda row: -row["bytes"])


TABLES = {
    "memory": memory_table,
    "memory_events": events_table,
    "memory_curve": curve_table,
    "memory_peaks": peaks_table,
    "memory_live": live_table,
}
