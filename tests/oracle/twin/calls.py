# SPDX-License-Identifier: Apache-2.0
"""The collectives of traces, and those of several ranks, matched."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from . import exact, kinds, links
from .events import Event, Trace
from .intervals import Interval

OPERATIONS = (
    "allreduce all_reduce",
    "crossdevicereduce all_reduce",
    "quickreduce all_reduce",
    "allgather all_gather",
    "reducescatter reduce_scatter",
    "alltoallv all_to_allv",
    "alltoall all_to_all",
    "sendrecv send_recv",
    "broadcast broadcast",
    "bcast broadcast",
    "barrier barrier",
    "scatter scatter",
    "gather gather",
    "reduce reduce",
    "send send",
    "recv recv",
)
EVEN = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "barrier")
JOINING = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_allv", "barrier")
TYPE_BYTES = {
    name: size
    for size, names in (
        (16, "complex<double>,complex128"),
        (
            8,
            "double,long,long int,int64,uint64,complex64,complexfloat,float64,complex<float>,long unsigned int",
        ),
        (4, "float,int,int32,uint32,float32,complex<c10::half>,qint32,unsigned int"),
        (2, "half,bfloat16,short,int16,uint16,float16,short int,short unsigned int"),
        (1, "char,unsigned char,signed char,byte,bool,int8,uint8,qint8,quint8"),
    )
    for name in names.split(",")
}
ABOVE = 64  # ranges around one that are looked at


def operation_of(name: str) -> str:
    """The operation in a name of any spelling; empty if there is none."""
    plain = name.replace("_", "").replace("-", "").lower()
    return next((op for word, op in map(str.split, OPERATIONS) if word in plain), "")


def type_bytes(name: object) -> int:
    """Bytes of an element; 0 if unknown."""
    plain = (name if isinstance(name, str) else "").removeprefix("c10::").lower()
    return 1 if plain.startswith("float8_") else TYPE_BYTES.get(plain, 0)


def input_bytes(event_args: dict) -> int | None:
    """Bytes of all input tensors; None if unknown."""
    dims, types = (event_args.get(key) for key in ("Input Dims", "Input type"))
    dims = dims if isinstance(dims, (list, str, dict)) else event_args.get("Input dims")
    if not isinstance(dims, list) or not isinstance(types, list) or len(types) < len(dims):
        return None
    total, is_any = 0, False
    for sizes, name in zip(dims, types):
        if type_bytes(name) == 0:
            if sizes not in ([], "") or not isinstance(sizes, list):
                return None
            continue
        product = type_bytes(name)
        for size in sizes if isinstance(sizes, list) else [None]:
            number = None if isinstance(size, bool) else exact.integer(size)
            if number is None or number < 0:
                return None
            product *= number
        total, is_any = total + product, True
    return total if is_any else None


@dataclass(eq=False)
class Call:
    """A collective on one rank. Times count from the origin of the run."""

    trace: Trace
    name: str
    operation: str
    ranges: list[Interval]
    host: Interval | None = None  # for --compat tb
    group: tuple = ()
    size: int = 0
    number: int | None = None
    dtype: str = ""
    elements: int | None = None
    in_bytes: int | None = None
    bytes: int | None = None
    place: tuple = ()
    label: Event | None = None
    kernel: Event | None = None
    members: list[Call] = field(default_factory=list)  # of its match, itself included

    @property
    def start(self) -> int:
        return min(start for start, _ in self.ranges)

    @property
    def end(self) -> int:
        return max(end for _, end in self.ranges)

    def real(self) -> list[Interval]:
        """The ends of its ranges in which data moved."""
        return [
            (
                end
                - min(
                    m.ranges[k][1] - m.ranges[k][0] for m in self.members if k < len(m.ranges)
                ),
                end,
            )
            for k, (_, end) in enumerate(self.ranges)
        ]


def is_collective(event: Event) -> bool:
    """Whether EVENT is the host range of a collective."""
    if not event.is_range or not event.is_host or event.kind in ("step", "dataloader"):
        return False
    if (event.category or "").lower() == "collective_comm":
        return True
    return event.host_type is not None and kinds.is_host_collective(event.name)


def is_label(event: Event) -> bool:
    """Whether it is called BACKEND:OPERATION."""
    _, colon, rest = event.name.partition(":")
    return bool(colon) and bool(rest) and not rest.startswith(":")


def chain(event: Event | None) -> list[Event]:
    """EVENT and the ranges around it."""
    found: list[Event] = []
    while event is not None and len(found) < ABOVE:
        found.append(event)
        event = event.parent
    return found


def label_around(launch: Event | None) -> Event | None:
    """The host range that names what LAUNCH started."""
    first = None
    for event in chain(launch):
        if first is not None and not is_collective(event):
            break
        if is_collective(event):
            if is_label(event):
                return event
            first = first or event
    return first


def found_ranges(trace: Trace, compat: bool) -> dict[object, tuple[Event | None, list[Event]]]:
    """The label and the ranges of each collective, by any key."""
    found: dict[object, tuple[Event | None, list[Event]]] = {}
    hosts = [e for e in trace.events if is_collective(e)]
    kernels = [e for e in trace.events if e.kind == "kernel" and e.is_range]
    if compat:
        ids = {}
        for event in sorted(
            (e for e in hosts if e.name in kinds.PLUGIN_COLLECTIVES),
            key=lambda e: (e.track != "", e.id),
        ):
            found[event] = (event, [event])
            if event.external_id:
                ids[event.external_id] = event
        for event in kernels:
            if event.external_id in ids:
                found[ids[event.external_id]][1].append(event)
        return found
    sent = [e for e in kernels if kinds.is_collective_kernel(e.name, e.args)]
    if sent:
        launch = links.launch_of_device_event(trace)
        for event in sent:
            label = label_around(launch.get(event))
            found.setdefault(label or event, (label, []))[1].append(event)
        return found
    labels = [e for e in hosts if is_label(e)] or hosts
    counted = set(map(id, labels))
    for event in labels:
        if not any(id(e) in counted for e in chain(event.parent)):
            found[event] = (event, [event])
    return found


def argument(about: list[Event], key: str, is_number: bool) -> object:
    """The first value of KEY among the arguments of ABOUT."""
    for event in about:
        value = event.integer(key) if is_number else event.args.get(key)
        if is_number and value is not None:
            return value
        if not is_number and value not in (None, "", []) and isinstance(value, (str, list)):
            return value
    return None


def one_group(trace: Trace) -> tuple:
    """Name, ranks and size of the only process group of the file; empty if it has several."""
    info = trace.members.get("distributedInfo")
    config = info.get("pg_config") if isinstance(info, dict) else None
    if not isinstance(config, list) or len(config) != 1 or not isinstance(config[0], dict):
        return "", "", 0
    name, ranks = config[0].get("pg_name"), config[0].get("ranks")
    size = exact.integer(config[0].get("pg_size")) or 0
    return (
        name if isinstance(name, str) else "",
        "" if ranks is None else json.dumps(ranks),
        size,
    )


def describe(call: Call, about: list[Event], compat: bool) -> None:
    """Set sizes and group of CALL from the arguments of ABOUT."""
    dtype = argument(about, "dtype", False)
    into, out = (argument(about, key, True) for key in ("In msg nelems", "Out msg nelems"))
    inputs = next(
        (
            e.args
            for e in about
            if isinstance(e.args.get("Input type"), list) and e.args["Input type"]
        ),
        {},
    )
    if into is not None and out is not None and into >= 0 and out >= 0 and not compat:
        call.elements = max(into, out)
        if type_bytes(dtype):
            call.in_bytes = into * type_bytes(dtype)
            call.bytes = call.elements * type_bytes(dtype)
    else:
        call.in_bytes = input_bytes(inputs)
        if call.operation not in ("all_gather", "gather"):
            call.bytes = call.in_bytes
    if not isinstance(dtype, str):
        dtype = next((name for name in inputs.get("Input type", ()) if type_bytes(name)), "")
    call.dtype = dtype
    if call.operation == "barrier":
        call.in_bytes = call.bytes = 0
    name, ranks = (
        argument(about, key, False) for key in ("Process Group Name", "Process Group Ranks")
    )
    size = argument(about, "Group size", True) or 0
    if not name and not ranks and not size:
        name, ranks, size = one_group(call.trace)
    ranks = ranks if isinstance(ranks, str) else json.dumps(ranks) if ranks else ""
    call.group, call.size = (name or "", ranks), max(size, 0)
    if call.bytes is None and call.in_bytes is not None and call.size and call.elements is None:
        call.bytes = call.in_bytes * call.size
    number = argument(about, "Seq", True)
    call.number = number if number is not None and number >= 0 else None


def calls_of(trace: Trace, compat: bool) -> list[Call]:
    """The collectives of a trace in order of start."""
    result = []
    for label, events in found_ranges(trace, compat).values():
        events = sorted(events, key=lambda e: (e is not label, e.start, -e.end, e.id))
        named = label or events[0]
        around = []
        for event in chain(label):
            if not is_collective(event):
                break
            around.append(event)
        about = ([events[0]] if events[0] is not label else []) + around
        said = argument(about, "Collective name", False)
        operation = (operation_of(said) if isinstance(said, str) else "") or operation_of(
            named.name
        )
        name = named.name
        if isinstance(said, str) and (label is None or not is_label(label)):
            name = said
        elif label is None and operation:
            name = operation
        call = Call(
            trace,
            name,
            operation,
            [(e.start - trace.origin, e.end - trace.origin) for e in events],
            label=label,
            kernel=events[0] if events[0] is not label else None,
        )
        if compat:
            call.host = call.ranges[0]
        describe(call, about, compat)
        start, end = call.host or (call.start, call.end)
        call.place = (start, -end, label.id if label else -1, events[0].id)
        result.append(call)
    return sorted(result, key=lambda c: c.place)


def match(run: list[Trace], compat: bool) -> dict[int, list[Call]]:
    """The calls of each trace of RUN (by its id), with their members."""
    calls = {id(trace): calls_of(trace, compat) for trace in run}
    together: dict[tuple, list[list[Call]]] = {}
    for trace in run:
        own: dict[tuple, list[Call]] = {}
        for call in calls[id(trace)]:
            own.setdefault(key_of(call), []).append(call)
        for key, found in own.items():
            together.setdefault(key, []).append(found)
    firsts = first_numbers(run, calls)
    for key, found in together.items():
        for members in matched(
            found, [firsts.get((id(own[0].trace), key), 0) for own in found]
        ):
            for call in members:
                call.members = members
    return calls


def signature(call: Call) -> tuple:
    """What a call sends, of operations in which all ranks send as much."""
    if call.operation not in EVEN:
        return ()
    return (call.elements if call.elements is not None else call.in_bytes, call.dtype)


def key_of(call: Call) -> tuple:
    """Span, group and operation."""
    return call.trace.span, call.group, call.operation or ("name", call.name)


def shift_of(reference: list, own: list) -> int:
    """By how much OWN lies behind in REFERENCE: as their longest run in common does."""
    best = (0, 0, 0)  # length, nearness to 0, whether it is positive
    for j in range(len(reference)):
        for i in range(len(own)):
            n = 0
            while (
                j + n < len(reference) and i + n < len(own) and reference[j + n] == own[i + n]
            ):
                n += 1
            best = max(best, (n, -abs(j - i), j - i)) if n else best
    return best[2]


def first_numbers(run: list[Trace], calls: dict[int, list[Call]]) -> dict[tuple, int]:
    """By trace and key of group and operation: the number of the first call, if the recording of
    the trace begins later or earlier than that with most calls of the group."""
    families: dict[tuple, list[list[Call]]] = {}
    for trace in run:
        own: dict[tuple, list[Call]] = {}
        for call in calls[id(trace)]:
            own.setdefault((trace.span, call.group), []).append(call)
        for family, found in own.items():
            families.setdefault(family, []).append(found)
    result: dict[tuple, int] = {}
    for found in families.values():
        if all(call.number is not None for own in found for call in own):
            continue
        most = max(found, key=len)
        words = [(key_of(call)[2], signature(call)) for call in most]
        for own in found:
            shift = (
                0
                if own is most
                else shift_of(words, [(key_of(call)[2], signature(call)) for call in own])
            )
            before = most[:shift] if shift > 0 else own[:-shift] if shift < 0 else []
            for call in before:
                key = (id(own[0].trace), key_of(call))
                result[key] = result.get(key, 0) + (1 if shift > 0 else -1)
    return result


def matched(found: list[list[Call]], firsts: list[int]) -> list[list[Call]]:
    """The matches of a group and operation, of which FOUND has the calls of each trace, whose
    first ones have the numbers FIRSTS."""
    with_numbers = all(call.number is not None for own in found for call in own)
    alike = len({frozenset(Counter(map(signature, own)).items()) for own in found}) == 1
    matches: dict[tuple, list[Call]] = {}
    for own, first in zip(found, firsts):
        seen: Counter = Counter({(): first}) if not with_numbers and not alike else Counter()
        for call in own:
            key = call.number if with_numbers else signature(call) if alike else ()
            matches.setdefault((key, seen[key]), []).append(call)
            seen[key] += 1
    return list(matches.values())


def step_of(kept: list, call: Call) -> int | None:
    """The kept step that contains CALL: the first that is not over before its end."""
    start, end = call.host or (call.start, call.end)
    for number, step in enumerate(kept):
        if step.end - call.trace.origin >= end:
            return number if step.start - call.trace.origin <= start else None
    return None


def in_order(run: list[Trace], calls: dict[int, list[Call]]) -> list[list[Call]]:
    """All matches by their first start; of equal ones in the order of their first members."""
    found = {id(call.members): call.members for trace in run for call in calls[id(trace)]}
    # Members are in the order of RUN, and so is this list.
    return sorted(found.values(), key=lambda members: min(c.start for c in members))
