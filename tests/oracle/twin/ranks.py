# SPDX-License-Identifier: Apache-2.0
"""The tables that compare ranks: one block of rows for all traces of a run."""
from __future__ import annotations

import bisect
import json
from collections import Counter
from dataclasses import dataclass, field

from . import advice, exact, kinds, links, steps
from .events import Event, Trace, text_of
from .intervals import Interval, intersect, length, union


def groups(run: list[Trace]) -> list[list[Trace]]:
    """The traces of each rank and span, in order."""
    found: dict[tuple, list[Trace]] = {}
    for trace in run:
        found.setdefault((trace.rank, trace.span), []).append(trace)
    return list(found.values())


def lead(run: list[Trace], trace: Trace) -> dict:
    """The columns rank and, if there are several in RUN, span."""
    several = len({t.span for t in run}) > 1
    return {"rank": trace.rank, **({"span": trace.span} if several else {})}


def with_steps(traces: list[Trace]) -> list[Trace]:
    """Those of TRACES that have the steps of their rank and span."""
    return [t for t in traces if t.kept.get("steps beside") != "theirs"]


# --- rank_overlap ------------------------------------------------------------------------

def computing(trace: Trace, compat: bool) -> list:
    """K: when kernels ran; or else operators that are no collectives; or else anything of the
    host."""
    found = steps.unions(trace, compat)
    if found["kernel"]:
        return found["kernel"]
    operators = [] if compat else union([
        (e.start, e.end) for e in trace.events if e.is_range and e.kind == "operator"
        and e.is_host and not kinds.is_host_collective(e.name)])
    return operators or found["cpu_exec"]


def overlap_rows(trace: Trace, compat: bool) -> list[dict]:
    """The kept steps of one trace."""
    k, c = computing(trace, compat), steps.unions(trace, compat)["communication"]
    rows = []
    for step in steps.steps_of(trace, compat):
        if not step.kept:
            continue
        inside = [(step.start, step.end)] if step.start < step.end else []
        both = length(intersect(intersect(k, c), inside))
        in_k, in_c = length(intersect(k, inside)), length(intersect(c, inside))
        rows.append({"step": step.label, "computation_ns": in_k - both,
                     "overlapping_ns": both, "communication_ns": in_c - both,
                     "other_ns": step.end - step.start - in_k - in_c + both})
    return rows


def rank_overlap(run: list[Trace], compat: bool) -> list[dict]:
    """`rank_overlap`: the mean of each rank, then its steps."""
    kept = [[row for trace in with_steps(group) for row in overlap_rows(trace, compat)]
            for group in groups(run)]
    shown = [group[0] for group, rows in zip(groups(run), kept) if rows]
    result = []
    for group, rows in zip(groups(run), kept):
        if rows:
            mean = {c: sum(row[c] for row in rows) // len(rows) for c in rows[0] if c != "step"}
            result += [{**lead(shown, group[0]), **row}
                       for row in ({"step": "all", **mean}, *rows)]
    return result


# --- collectives -------------------------------------------------------------------------

OPERATIONS = ("allreduce all_reduce", "crossdevicereduce all_reduce", "quickreduce all_reduce",
              "allgather all_gather", "reducescatter reduce_scatter", "alltoallv all_to_allv",
              "alltoall all_to_all", "sendrecv send_recv", "broadcast broadcast",
              "bcast broadcast", "barrier barrier", "scatter scatter", "gather gather",
              "reduce reduce", "send send", "recv recv")
EVEN = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "barrier")
JOINING = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_allv", "barrier")
TYPE_BYTES = {name: size for size, names in (
    (8, "double,long,long int,int64,uint64,complex64,complexfloat,float64"),
    (4, "float,int,int32,uint32,float32"), (2, "half,bfloat16,short,int16,uint16,float16"),
    (1, "char,unsigned char,signed char,byte,bool,int8,uint8")) for name in names.split(",")}
ABOVE = 64                      # ranges around one that are looked at


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
    dims = event_args.get("Input dims") if dims in (None, []) else dims
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
    host: Interval | None = None    # for --compat tb
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
    members: list["Call"] = field(default_factory=list)     # of its match, itself included

    @property
    def start(self) -> int:
        return min(start for start, _ in self.ranges)

    @property
    def end(self) -> int:
        return max(end for _, end in self.ranges)

    def real(self) -> list[Interval]:
        """The ends of its ranges in which data moved."""
        return [(end - min(m.ranges[k][1] - m.ranges[k][0] for m in self.members
                           if k < len(m.ranges)), end)
                for k, (_, end) in enumerate(self.ranges)]


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
        for event in sorted((e for e in hosts if e.name in kinds.PLUGIN_COLLECTIVES),
                            key=lambda e: (e.track != "", e.id)):
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
    return (name if isinstance(name, str) else "",
            "" if ranks is None else json.dumps(ranks), size)


def describe(call: Call, about: list[Event], compat: bool) -> None:
    """Set sizes and group of CALL from the arguments of ABOUT."""
    dtype = argument(about, "dtype", False)
    into, out = (argument(about, key, True) for key in ("In msg nelems", "Out msg nelems"))
    inputs = {key: argument(about, key, False)
              for key in ("Input Dims", "Input dims", "Input type")}
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
        types = inputs["Input type"] if isinstance(inputs["Input type"], list) else []
        dtype = next((name for name in types if type_bytes(name)), "")
    call.dtype = dtype
    if call.operation == "barrier":
        call.in_bytes = call.bytes = 0
    name, ranks = (argument(about, key, False)
                   for key in ("Process Group Name", "Process Group Ranks"))
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
            named.name)
        name = named.name
        if isinstance(said, str) and (label is None or not is_label(label)):
            name = said
        elif label is None and operation:
            name = operation
        call = Call(trace, name, operation,
                    [(e.start - trace.origin, e.end - trace.origin) for e in events],
                    label=label, kernel=events[0] if events[0] is not label else None)
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
            key = (trace.span, call.group, call.operation or ("name", call.name))
            own.setdefault(key, []).append(call)
        for key, found in own.items():
            together.setdefault(key, []).append(found)
    for found in together.values():
        for members in matched(found):
            for call in members:
                call.members = members
    return calls


def signature(call: Call) -> tuple:
    """What a call sends, of operations in which all ranks send as much."""
    if call.operation not in EVEN:
        return ()
    return (call.elements if call.elements is not None else call.in_bytes, call.dtype)


def matched(found: list[list[Call]]) -> list[list[Call]]:
    """The matches of a group and operation, of which FOUND has the calls of each trace."""
    with_numbers = all(call.number is not None for own in found for call in own)
    alike = len({frozenset(Counter(map(signature, own)).items()) for own in found}) == 1
    matches: dict[tuple, list[Call]] = {}
    for own in found:
        seen: Counter = Counter()
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


def waits(calls: list[Call]) -> dict | None:
    """How long data moved in CALLS, and how long they waited."""
    real = length(union([i for call in calls for i in call.real()]))
    ranges = length(union([i for call in calls for i in call.ranges]))
    return {"data_transfer_ns": real, "synchronizing_ns": ranges - real} if calls else None


def wait_rows(trace: Trace, calls: list[Call], compat: bool, has_steps: bool) -> list[dict]:
    """The rows of one trace, that of no step last."""
    kept = [s for s in steps.steps_of(trace, compat) if s.kept] if has_steps else []
    by_step: dict[int | None, list[Call]] = {}
    for call in calls:
        by_step.setdefault(step_of(kept, call), []).append(call)
    rows = [{"step": kept[n].label, **waits(by_step[n])} for n in range(len(kept))
            if n in by_step]
    return rows + ([{"step": None, **waits(by_step[None])}] if None in by_step else [])


def rank_wait(run: list[Trace], compat: bool) -> list[dict]:
    """`rank_wait`: the mean of each rank, then its steps."""
    calls, result = match(run, compat), []
    for group in groups(run):
        if not any(calls[id(trace)] for trace in group):
            continue
        rows = [row for trace in group for row in wait_rows(
            trace, calls[id(trace)], compat, trace.kept.get("steps beside") != "theirs")]
        counted = [row for row in rows if row["step"] is not None]
        mean = {c: sum(row[c] for row in counted) // len(counted) if counted else None
                for c in ("data_transfer_ns", "synchronizing_ns")}
        result += [{**lead(run, group[0]), **row} for row in ({"step": "all", **mean}, *rows)]
    return result


def collectives(run: list[Trace], compat: bool) -> list[dict]:
    """`collectives`: each rank and name, in order of the first call."""
    calls, result = match(run, compat), []
    for group in groups(run):
        by_name: dict[str, list[Call]] = {}
        for trace in group:
            for call in calls[id(trace)]:
                by_name.setdefault(call.name, []).append(call)
        for name, own in by_name.items():
            sizes = [0 if compat and call.in_bytes is None else call.in_bytes for call in own]
            total = None if None in sizes else sum(sizes)
            latency = length(union([i for call in own for i in call.ranges]))
            moved = length(union([i for call in own for i in call.real()]))
            result.append({
                **lead(run, group[0]), "name": name, "calls": len(own), "total_bytes": total,
                "total_latency_ns": latency, "data_transfer_ns": moved,
                "mean_bytes": None if total is None else total / len(own),
                "mean_latency_ns": latency / len(own), "mean_data_transfer_ns": moved / len(own)})
    return result


# --- the common clock --------------------------------------------------------------------

def middle(values: list[int]) -> int:
    """The median, of an even number the mean of the middle two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def towards_zero(a: int, b: int) -> int:
    """A / B without the fraction, as C divides."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


@dataclass
class Clock:
    """How a clock differs from the median clock."""
    group: int | None = None
    offset: int = 0
    drift: int = 0                  # 10^-9
    zero: int = 0
    error: int = 0
    anchors: int = 0
    applied: bool = False

    def ahead(self, at: int) -> int:
        """How much it is ahead at AT."""
        since, second = at - self.zero, 10 ** 9
        whole = towards_zero(since, second)
        return self.offset + whole * self.drift + towards_zero(
            (since - whole * second) * self.drift, second)

    def time(self, at: int) -> int:
        """AT on the common clock."""
        return at - self.ahead(at) if self.applied else at


def in_order(run: list[Trace], calls: dict[int, list[Call]]) -> list[list[Call]]:
    """All matches by their first start; of equal ones in the order of their first members."""
    found = {id(call.members): call.members for trace in run for call in calls[id(trace)]}
    # Members are in the order of RUN, and so is this list.
    return sorted(found.values(), key=lambda members: min(c.start for c in members))


def clocks_of(run: list[Trace], matches: list[list[Call]]) -> dict[int, Clock]:
    """The clock of each trace (by its id)."""
    anchors = [m for m in matches if len(m) > 1 and m[0].operation in JOINING
               and len({id(c.trace) for c in m}) == len(m)]
    ends = [{id(c.trace): c.end for c in m} for m in anchors]
    zero = ends[0][id(anchors[0][0].trace)] if anchors else 0
    clocks = {id(t): Clock(zero=zero, anchors=sum(id(t) in e for e in ends)) for t in run}
    placed: set[int] = set()
    moments: dict[int, int] = {}
    groups_seen = 0
    for trace in run:
        if clocks[id(trace)].group is None:
            reach(id(trace), groups_seen, clocks, ends, placed, moments)
            groups_seen += 1
    alternate(clocks, ends, moments)
    for key, clock in clocks.items():
        find_drift(clock, key, ends, moments)
    alternate(clocks, ends, moments)
    for group in range(groups_seen):
        own = [c for c in clocks.values() if c.group == group]
        drift, offset = middle([c.drift for c in own]), middle([c.offset for c in own])
        for clock in own:
            clock.drift -= drift
            clock.offset -= offset
    find_moments(clocks, ends, moments)
    for key, clock in clocks.items():
        clock.error = error(clock, key, ends, moments)
        clock.applied = clock.anchors > 0 and (abs(clock.offset) > 3 * clock.error
                                               or clock.drift != 0)
    return clocks


def reach(first: int, group: int, clocks: dict[int, Clock], ends: list[dict[int, int]],
          placed: set[int], moments: dict[int, int]) -> None:
    """Give first offsets to all clocks that can be compared with FIRST."""
    queue = [first]
    placed.add(first)
    clocks[first].group = group
    for at in queue:
        new = []
        for n, own in enumerate(ends):
            if at not in own or n in moments:
                continue
            moments[n] = middle([end - clocks[key].ahead(end) for key, end in own.items()
                                 if key in placed])
            for key in own:
                if clocks[key].group is None:
                    clocks[key].group = group
                    new.append(key)
        for key in new:
            clocks[key].offset = middle([own[key] - moments[n] for n, own in enumerate(ends)
                                         if key in own and n in moments])
            placed.add(key)
        queue += new


def find_moments(clocks: dict[int, Clock], ends: list[dict[int, int]],
                 moments: dict[int, int]) -> None:
    """The moment of each collective."""
    for n, own in enumerate(ends):
        moments[n] = middle([end - clocks[key].ahead(end) for key, end in own.items()])


def residues(clock: Clock, key: int, ends: list[dict[int, int]],
             moments: dict[int, int]) -> list[int]:
    """How far the ends of a clock are from their moments, its drift aside."""
    return [own[key] - moments[n] - (clock.ahead(own[key]) - clock.offset)
            for n, own in enumerate(ends) if key in own]


def alternate(clocks: dict[int, Clock], ends: list[dict[int, int]],
              moments: dict[int, int]) -> None:
    """Moments and offsets in turn."""
    for _ in range(20):
        find_moments(clocks, ends, moments)
        change = 0
        for key, clock in clocks.items():
            found = residues(clock, key, ends, moments)
            if found:
                change = max(change, abs(middle(found) - clock.offset))
                clock.offset = middle(found)
        if change < 100:
            return


def error(clock: Clock, key: int, ends: list[dict[int, int]], moments: dict[int, int]) -> int:
    """The median distance of its ends from their moments."""
    found = [abs(r - clock.offset) for r in residues(clock, key, ends, moments)]
    return middle(found) if found else 0


def find_drift(clock: Clock, key: int, ends: list[dict[int, int]],
               moments: dict[int, int]) -> None:
    """The median slope through the ends of a clock."""
    noise = error(clock, key, ends, moments)
    points = [(moments[n], own[key]) for n, own in enumerate(ends) if key in own]
    if len(points) < 16:
        return
    points = points[::len(points) // 96 + 1]
    slopes, lasts = [], 0
    for i, (x, a) in enumerate(points):
        for y, b in points[i + 1:]:
            if y > x:
                lasts = max(lasts, y - x)
                slopes.append(towards_zero((b - a - (y - x)) * 10 ** 9, y - x))
    drift = middle(slopes) if slopes else 0
    if (lasts > 10 ** 10 or abs(drift) * lasts // 10 ** 9 > 3 * noise) and abs(drift) <= 10 ** 6:
        clock.drift = drift


# --- ranks -------------------------------------------------------------------------------

def device_of(trace: Trace) -> str | None:
    """The device of the first event on a queue of a device."""
    return next((e.device for e in trace.events if e.device), None)


def ranks_table(run: list[Trace], _compat: bool) -> list[dict]:
    """`ranks`: the numbers of steps and clocks."""
    calls = match(run, False)
    clocks = clocks_of(run, in_order(run, calls))
    is_several = len({c.group for c in clocks.values()}) > 1 and any(
        c.anchors for c in clocks.values())
    result = []
    for group in groups(run):
        rows = [row for trace in with_steps(group) for row in steps.steps_table(trace)
                if row["kept"]]
        clock = max((clocks[id(t)] for t in group), key=lambda c: c.anchors)
        mean = {f"{c}_ns": sum(row[f"{c}_ns"] for row in rows) / len(rows) if rows else None
                for c in (*steps.CATEGORIES, "other")}
        host = next((text_of(t.members["host_name"]) for t in group
                     if isinstance(t.members.get("host_name"), str)), None)
        has = clock.anchors > 0
        result.append({
            **lead(run, group[0]), "host": host or None,
            "device": next((device_of(t) for t in group if device_of(t)), None),
            "steps": len(rows),
            "avg_step_ns": sum(r["total_ns"] for r in rows) / len(rows) if rows else None,
            **mean, "collectives": sum(len(calls[id(t)]) for t in group),
            "clock_offset_ns": clock.offset if has else None,
            "clock_error_ns": clock.error if clock.anchors >= 3 else None,
            "clock_drift_ppm": clock.drift / 1000 if has else None,
            "clock_anchors": clock.anchors if has else None,
            **({"clock_group": clock.group} if is_several else {})})
    return result


# --- collective_calls --------------------------------------------------------------------

BUS = {"all_reduce": lambda n: 2 * (n - 1) / n, **{op: lambda n: (n - 1) / n for op in (
    "all_gather", "reduce_scatter", "all_to_all", "all_to_allv", "gather", "scatter")},
    **{op: lambda n: 1.0 for op in ("broadcast", "reduce", "send", "recv", "send_recv")}}


def world_size(trace: Trace) -> int:
    """`distributedInfo.world_size`; 0 if it is not there."""
    info = trace.members.get("distributedInfo")
    size = exact.integer(info.get("world_size")) if isinstance(info, dict) else None
    return size if size is not None and size > 0 else 0


def missing(run: list[Trace], matches: list[list[Call]], members: list[Call]) -> list[int]:
    """The ranks of the group of MEMBERS that were read and do not have the collective."""
    first = members[0]
    key = (first.trace.span, first.group)
    ranks = {c.trace.rank for m in matches for c in m if (c.trace.span, c.group) == key}
    try:
        listed = json.loads(first.group[1]) if first.group[1] else []
    except ValueError:
        listed = []
    ranks |= {t.rank for t in run if t.span == first.trace.span and t.rank in listed}
    return sorted(ranks - {c.trace.rank for c in members})


def ranges_of(ranks: list[int]) -> str:
    """RANKS as 0,4-7."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][-1] == rank - 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def is_comparable(clocks: dict[int, Clock], members: list[Call]) -> bool:
    """Whether the clocks of MEMBERS can be compared."""
    return (len({clocks[id(c.trace)].group for c in members}) == 1
            or len({c.trace.members.get("host_name") for c in members}) == 1)


def one_call(run: list[Trace], matches: list[list[Call]], clocks: dict[int, Clock],
             members: list[Call]) -> dict:
    """A row of `collective_calls`."""
    first, n_ranks = members[0], len({c.trace.rank for c in members})
    world = world_size(first.trace)
    size = first.size or (world if world == n_ranks else 0)
    starts = [clocks[id(c.trace)].time(c.start) for c in members]
    ends = [clocks[id(c.trace)].time(c.end) for c in members]
    shortest = min(c.end - c.start for c in members)
    sizes = [c.bytes for c in members if c.bytes is not None]
    comparable = is_comparable(clocks, members)
    transfer = max(ends) - max(starts) if comparable else 0
    transfer = transfer if transfer > 0 else shortest
    row = {"name": first.name, "group": first.group[0] or None, "size": size or None,
           "sequence": first.number, "dtype": first.dtype or None,
           "bytes": max(sizes, default=None), "participants": n_ranks,
           "start_ns": min(starts), "transfer_ns": transfer, "shortest_ns": shortest,
           "skew_ns": max(starts) - min(starts) if comparable else None,
           "end_skew_ns": max(ends) - min(ends) if comparable else None,
           "last_rank": members[starts.index(max(starts))].trace.rank
           if comparable and n_ranks > 1 else None}
    if row["bytes"] and transfer > 0:
        row["algbw_bytes_per_s"] = row["bytes"] * 1e9 / transfer
        factor = BUS[first.operation](size or 1) if first.operation in BUS else 0
        if factor > 0:
            row["busbw_bytes_per_s"] = row["algbw_bytes_per_s"] * factor
    absent = missing(run, matches, members)
    if absent and len(absent) <= 12:
        row["missing_ranks"] = ranges_of(absent)
    return row


CALL_COLUMNS = ("name", "group", "size", "sequence", "dtype", "bytes", "participants",
                "missing_ranks", "start_ns", "skew_ns", "last_rank", "transfer_ns", "shortest_ns",
                "end_skew_ns", "algbw_bytes_per_s", "busbw_bytes_per_s")


def collective_calls(run: list[Trace], _compat: bool) -> list[dict]:
    """`collective_calls`: each match."""
    calls = match(run, False)
    matches = in_order(run, calls)
    clocks = clocks_of(run, matches)
    several = len({t.span for t in run}) > 1
    return [{**{c: row.get(c) for c in CALL_COLUMNS},
             **({"span": members[0].trace.span} if several else {})}
            for members in matches
            for row in [one_call(run, matches, clocks, members)]]


# --- stragglers --------------------------------------------------------------------------

KEPT = 8                        # names of which the work before a collective is known
FRAMES = ("python_function",)


def is_work(event: Event) -> bool:
    """Whether a range of the host works, and does not wait for others."""
    if not event.is_range or not event.is_host or event.kind in ("step", "communication"):
        return False
    if (event.category or "").lower() in FRAMES:
        return True
    return not kinds.is_host_collective(event.name) and event.name not in advice.SYNC_CALLS


def work_before(trace: Trace, calls: list[Call]) -> dict[Call, dict[str, int]]:
    """By call and name: what took how long since the call before."""
    launched = sorted(((call.label.start - trace.origin if call.label else call.start, n, call)
                       for n, call in enumerate(calls)), key=lambda entry: entry[:2])
    started = sorted(((call.start, n, call) for n, call in enumerate(calls)),
                     key=lambda entry: entry[:2])
    found: dict[Call, dict[str, int]] = {call: {} for call in calls}
    for event in trace.events:
        order, ns = launched, 0
        if is_work(event):
            ns = event.dur - sum(child.dur for child in event.children)
        elif event.kind == "kernel" and event.is_range and not kinds.is_collective_kernel(
                event.name, event.args):
            order, ns = started, event.dur
        after = bisect.bisect_right(order, event.start - trace.origin, key=lambda e: e[0])
        if ns > 0 and after < len(order):
            own = found[order[after][2]]
            own[event.name] = own.get(event.name, 0) + ns
    return found


def work_of(work: dict[str, int], name: str) -> int:
    """How long NAME took; if it is not among the longest, as long as the shortest of these."""
    longest = sorted(work.items(), key=lambda entry: (-entry[1], entry[0].encode(
        "utf-8", "surrogateescape")))[:KEPT]
    return dict(longest).get(name, longest[-1][1] if len(longest) == KEPT else 0)


def lower_middle(values: list[int]) -> int:
    """The median, of an even number the lower of the middle two."""
    return sorted(values)[(len(values) - 1) // 2]


def charged(arrivals: list[int]) -> list[int]:
    """What each of the sorted ARRIVALS let the others wait."""
    result, own = [0], 0
    for k in range(1, len(arrivals)):
        own += (arrivals[k] - arrivals[k - 1]) * k // (len(arrivals) - k)
        result.append(own)
    return result


def stragglers(run: list[Trace], _compat: bool) -> list[dict]:
    """`stragglers`: each rank, that which caused the most waiting first."""
    calls = match(run, False)
    matches = in_order(run, calls)
    clocks = clocks_of(run, matches)
    work = {call: own for trace in run
            for call, own in work_before(trace, calls[id(trace)]).items()}
    place = {id(trace): n for n, group in enumerate(groups(run)) for trace in group}
    order = {id(trace): n for n, trace in enumerate(run)}
    rows = [{"caused": 0, "last": 0, "calls": 0, "waited": 0, "late": 0, "grown": {}}
            for _ in groups(run)]
    kept = {id(t): [s for s in steps.steps_of(t) if s.kept] for t in run}
    by_step: dict[int, dict[int, int]] = {}
    compared = 0
    for members in matches:
        if len({place[id(c.trace)] for c in members}) < 2 or not is_comparable(clocks, members):
            continue
        compared += 1
        came = sorted(((clocks[id(c.trace)].time(c.start), order[id(c.trace)], c)
                       for c in members), key=lambda entry: entry[:2])
        for (at, _, call), ns in zip(came, charged([at for at, _, _ in came])):
            row = rows[place[id(call.trace)]]
            row["caused"] += ns
            row["waited"] += came[-1][0] - at
            row["calls"] += 1
            step = step_of(kept[id(call.trace)], call)
            if step is not None and ns > 0:
                own = by_step.setdefault(step, {})
                own[place[id(call.trace)]] = own.get(place[id(call.trace)], 0) + ns
        if came[-1][0] > came[-2][0]:
            last = came[-1][2]
            row = rows[place[id(last.trace)]]
            late = came[-1][0] - came[(len(came) - 1) // 2][0]
            row["last"] += 1
            row["late"] += late
            for name in sorted(work[last], key=lambda n: (-work[last][n], n))[:KEPT]:
                more = work[last][name] - lower_middle(
                    [work_of(work[c], name) for _, _, c in came])
                if more > 0:
                    row["grown"][name] = row["grown"].get(name, 0) + min(more, late)
    if not compared:
        return []
    total = sum(row["caused"] for row in rows)
    result = []
    for n, (group, row) in enumerate(zip(groups(run), rows)):
        since = since_step(by_step, n)
        label = next((kept[id(t)][since].label for t in group if since is not None
                      and since < len(kept[id(t)])), None)
        grown = min(row["grown"].items(), key=lambda entry: (-entry[1], entry[0]),
                    default=(None, None))
        if grown[0] is not None and grown[1] * 10 < row["late"]:
            grown = (None, None)
        clock = max((clocks[id(t)] for t in group), key=lambda c: c.anchors)
        result.append({
            **lead(run, group[0]), "caused_wait_ns": row["caused"],
            "caused_ratio": row["caused"] / total if total else None,
            "times_last": row["last"], "collectives": row["calls"], "waited_ns": row["waited"],
            "since_step": label, "operator": grown[0], "operator_ns": grown[1],
            "clock_error_ns": clock.error if clock.anchors >= 3 else None})
    return sorted(result, key=lambda row: -row["caused_wait_ns"])


def since_step(by_step: dict[int, dict[int, int]], row: int) -> int | None:
    """The first step in which ROW caused most waiting, and from which on in half of the steps."""
    tops = [min(own, key=lambda r: (-own[r], r)) for _, own in sorted(by_step.items())]
    numbers = sorted(by_step)
    return next((numbers[k] for k, top in enumerate(tops)
                 if top == row and 2 * tops[k:].count(row) >= len(tops) - k), None)


TABLES = {"rank_overlap": rank_overlap, "rank_wait": rank_wait, "collectives": collectives,
          "ranks": ranks_table, "collective_calls": collective_calls,
          "stragglers": stragglers}
