# SPDX-License-Identifier: Apache-2.0
"""`advice`: its rules, by src/table/rules.md, the help of the table's columns and
DECISIONS.md. Without commands; told.py has sentences."""

from __future__ import annotations

import json
from fractions import Fraction

from . import (
    earlier,
    exact,
    findings,
    growth,
    idle,
    inventory,
    kinds,
    lacking,
    links,
    memory_tables,
    operators,
    split,
    steps,
)
from .devices import natural
from .events import Event, Trace, listed_devices
from .intervals import Interval, intersect, length, subtract, union

CODES = (
    "data_loading",
    "data_parallel",
    "backend",
    "communication",
    "low_utilization",
    "tensor_cores",
    "memory_limit",
    "synchronization",
    "pageable_copies",
    "launch_bound",
    "allocator",
    "slow_steps",
    *split.RULES,
    "memory_growth",
    "profiler_overhead",
    "optimizer",
    "python_idle",
    "unrecorded_idle",
    "handover",
    "slow_call",
    "late_start",
    "unaligned",
    "fp32_matmul",
    "device_copies",
    "device_kernels",
)
HALF = ("bf16", "bfloat16", "BFloat16", "__half", "::Half", "fp16", "f16")
SYNC_CALLS = set(
    """
cudaDeviceSynchronize cudaStreamSynchronize cudaEventSynchronize cudaThreadSynchronize
cudaMemcpy cudaMemcpy2D cudaMemcpy3D cudaMemcpyFromSymbol cudaMemcpyToSymbol
cuCtxSynchronize cuStreamSynchronize cuEventSynchronize cuMemcpyDtoH_v2 cuMemcpyHtoD_v2
hipDeviceSynchronize hipStreamSynchronize hipEventSynchronize hipMemcpy hipMemcpyWithStream
zeCommandListHostSynchronize zeCommandQueueSynchronize zeEventHostSynchronize
zeFenceHostSynchronize urEventWait urQueueFinish clFinish clWaitForEvents
aclrtSynchronizeDevice aclrtSynchronizeStream aclrtSynchronizeEvent aclrtMemcpy
aclrtSynchronizeDeviceWithTimeout aclrtSynchronizeStreamWithTimeout
aclrtSynchronizeEventWithTimeout synDeviceSynchronize synStreamSynchronize synEventSynchronize
""".split()
)
ALLOCATOR_CALLS = set(
    """
cudaMalloc cudaFree cuMemAlloc_v2 cuMemFree_v2 cuMemCreate cuMemRelease cuMemMap cuMemUnmap
cuMemSetAccess hipMalloc hipFree zeMemFree zeMemAllocDevice urUSMFree urUSMDeviceAlloc
aclrtMalloc aclrtFree aclrtMallocPhysical aclrtFreePhysical aclrtMapMem aclrtUnmapMem
synDeviceMalloc synDeviceFree
""".split()
)
GRAPH_CALLS = {"cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch", "aclmdlRIExecuteAsync"}


def devices_of_file(trace: Trace) -> list[dict]:
    """`deviceProperties`: id (or else the place in the list), memory, capability."""
    found = []
    for entry in listed_devices(trace):
        number = natural(entry.get("id"))
        found.append(
            {
                "id": len(found) if number is None else number,
                "memory": natural(entry.get("totalGlobalMem")),
                "major": natural(entry.get("computeMajor")),
                "minor": natural(entry.get("computeMinor")),
            }
        )
    return found


def lower_median(values: list[int]) -> int:
    """The middle value, or the smaller of two."""
    return sorted(values)[(len(values) - 1) // 2]


def largest(sums: dict[str, int]) -> str | None:
    """The name with the largest sum, the first of equals, without the nameless; None if no sum is
    above 0."""
    name = max(filter(None, sums), key=lambda key: sums[key], default=None)
    return name if name is not None and sums[name] > 0 else None


def has_odd_sizes(op: Event) -> bool:
    """Whether one of the last two sizes of an input of OP is no multiple of 8; of a list of
    tensors it is unknown."""
    shapes = next(
        (
            s
            for s in map(op.args.get, ("Input Dims", "Input dims"))
            if isinstance(s, (list, dict))
        ),
        [],
    )
    known = (
        shape
        for shape in (shapes if isinstance(shapes, list) else [])
        if isinstance(shape, list)
        and all(
            isinstance(n, int) and not isinstance(n, bool) and n in findings.INT64
            for n in shape
        )
    )
    return any(n % 8 != 0 for shape in known for n in shape[-2:])


def way_of(name: str) -> str:
    """Where a copy goes."""
    words = {
        "on": [
            *"DtoD D2D PtoP P2P DeviceToDevice Device_to_device".split(),
            "Device -> Device",
        ],
        "from": [*"DtoH D2H DeviceToHost Device_to_host".split(), "Device -> "],
        "to": [*"HtoD H2D HostToDevice Host_to_device".split(), " -> Device"],
    }
    for way, known in words.items():
        if any(word.lower() in name.lower() for word in known):
            return way
    return "unknown"


class Rules:
    """One trace."""

    def __init__(self, trace: Trace, compat: bool):
        self.trace, self.compat = trace, compat
        self.steps = steps.steps_of(trace, compat)
        self.kept_steps = [s for s in self.steps if s.kept]
        self.costs = [
            cost
            for s, cost in zip(self.steps, steps.costs(trace, self.steps, compat))
            if s.kept
        ]
        self.total = sum(s.end - s.start for s in self.kept_steps)
        last = None if compat else self.end_of_recording()
        self.kept = union(
            [
                (s.start, last if last is not None and s.start < last < s.end else s.end)
                for s in self.kept_steps
            ]
        )
        self.launch = links.launch_of_device_event(trace)
        self.op_of_call = operators.op_of_call(trace)
        self.ranges = [e for e in trace.events if e.is_range]
        self.work = [e for e in self.ranges if e.kind in kinds.DEVICE_WORK]
        self.device_communication = any(
            kinds.is_collective_kernel(e.name, e.args) for e in self.work if e.kind == "kernel"
        )
        self.unions = steps.unions(trace, False)
        # What devices do, also of other steps while a selected one runs.
        self.computing = self.unions["kernel"] + self.unions["memcpy"] + self.unions["memset"]
        self.device_kernels = self.unions["kernel"] + (
            self.unions["communication"] if steps.has_comm_kernels(trace) else []
        )
        self.busy = union(self.computing + self.device_kernels)
        self.earlier = (
            [] if compat or self.is_thinned() else earlier.waits_of(self.work, self.launch)
        )
        self.kept_before = self.kept  # with the time of earlier work
        self.kept = subtract(
            self.kept, subtract(union([wait.when for wait in self.earlier]), self.busy)
        )
        self.kept_ns = length(self.kept)
        self.kernels = [e for e in self.work if e.kind == "kernel"]
        self.calls = [e for e in self.ranges if e.kind in kinds.LAUNCHES]
        self.properties = devices_of_file(trace)
        self.step_of = inventory.step_of(trace)
        self.ordinal_of = [number for number, _ in steps.numbered(trace)]
        self.ordinals = {
            number for (number, _), s in zip(steps.numbered(trace), self.steps) if s.kept
        }
        self.found: dict[str, dict] = {}
        self.split: split.Split | None = None
        self.idle: idle.Idle | None = None
        if (
            not self.work
            and not self.calls
            and not compat
            and self.kept_steps
            and not self.is_thinned()
            and not inventory.foreign_devices(trace)
        ):
            self.make_split()

    def end_of_recording(self) -> int | None:
        """When the profiler says it ended."""
        return max(
            (
                e.end
                for e in self.trace.events
                if (e.category or "").lower() == "trace" and e.dur is not None
            ),
            default=None,
        )

    def make_split(self) -> None:
        """Split the time of steps by cause."""
        middle = exact.median([s.end - s.start for s in self.kept_steps]).__floor__()
        slow = {
            i: s.end - s.start - middle
            for i, (s, is_outlier) in enumerate(zip(self.steps, steps.outliers(self.steps)))
            if is_outlier and s.end - s.start > middle
        }
        self.split = split.split_of(
            self.trace,
            self.steps,
            steps.costs(self.trace, self.steps, False),
            slow,
            self.unions,
        )

    def is_kept(self, event: Event) -> bool:
        """Whether EVENT belongs to a kept step."""
        if any(s.annotation for s in self.steps):
            return self.step_of.get(event) in self.ordinals
        return any(s.start <= event.start < s.end for s in self.steps)

    def within(self, events: list[Event]) -> list[Interval]:
        """The intervals in kept steps in which any of EVENTS ran."""
        return intersect(union([(e.start, e.end) for e in events]), self.kept)

    def properties_of(self, number: int | None) -> dict | None:
        """The properties of a device."""
        return next((p for p in self.properties if p["id"] == number), None)

    def add(
        self,
        code: str,
        applies: bool,
        impact: int,
        part: int,
        whole: int,
        count: int,
        subject: str | None = None,
    ) -> None:
        """Add the result of a rule."""
        if applies:
            self.found[code] = {
                "impact_ns": impact,
                "part": part,
                "whole": whole,
                "count": count,
                "subject": subject or None,
                "grew": None,
                "kept_ns": self.kept_ns,
                "parts": 1,
            }

    def add_share(
        self, code: str, applies: bool, ns: int, count: int, subject: str | None = None
    ) -> None:
        """Add a rule whose share is its time at stake in the kept steps."""
        self.add(code, applies, ns, ns, self.kept_ns, count, subject)

    def add_cost(
        self,
        code: str,
        category: str,
        least: Fraction | None,
        applies: bool = True,
        count: int | None = None,
    ) -> None:
        """Add a rule about a category of time."""
        cost = sum(c[category] for c in self.costs)
        if count is None:
            count = sum(c[category] > 0 for c in self.costs)
        self.add(
            code,
            applies and (least is None or cost > least * self.total),
            cost,
            cost,
            self.total,
            count,
        )

    # --- torch-tb-profiler -----------------------------------------------------

    def devices(self) -> list[str]:
        """The devices that did any work, by number, followed by those without a number."""

        def order(name: str) -> tuple:
            number = self.number(name)
            return (number is None, number or 0, name.encode())

        return sorted({e.device for e in self.work}, key=order)

    @staticmethod
    def number(device: str) -> int | None:
        """N of `cuda:N`."""
        return natural(device.rpartition(":")[2]) if ":" in device else None

    def plugin(self) -> None:
        """The seven rules."""
        if not self.kept_steps:
            return
        names = [e.name for e in self.ranges if steps.host_type(e)]
        ddp = names.count("DistributedDataParallel.forward")
        if self.compat or not self.work:
            self.add_cost("data_loading", "dataloader", Fraction(1, 20), self.is_usual())
        self.data_parallel(names.count("DataParallel.forward"))
        if self.compat:
            has_nccl = any(
                n in kinds.PLUGIN_COLLECTIVES and n.startswith("nccl:") for n in names
            )
        else:
            has_nccl = self.device_communication or any(n.startswith("nccl:") for n in names)
        recent = any(
            ((p["major"] or 0), (-1 if p["minor"] is None else p["minor"])) >= (3, 5)
            for p in self.properties
        )
        capable = (recent and (self.compat or self.trace.family == "cuda")) or (
            bool(self.properties) and not self.compat and self.trace.family == "hip"
        )
        self.add_cost(
            "backend",
            "communication",
            None,
            ddp > 0 and not has_nccl and capable and (self.compat or bool(self.work)),
            ddp,
        )
        if self.compat:
            self.add_cost("communication", "communication", Fraction(1, 10))
        elif not self.work and not self.is_thinned():
            self.host_communication()
        if self.compat:
            self.low_utilization()
        self.tensor_cores()
        self.memory_limit()

    def host_communication(self) -> None:
        """Collectives of hosts, but for the time in which a thread computes meanwhile."""
        cost = sum(c["communication"] for c in self.costs)
        if 10 * cost <= self.total:
            return
        computing = []
        for track in {e.track for e in self.ranges if e.is_host}:
            own = [e for e in self.ranges if e.track == track and e.is_host]
            ours = [
                e for e in own if e.kind == "communication" or kinds.is_host_collective(e.name)
            ]
            computing += subtract(
                union(
                    [(e.start, e.end) for e in own if e.kind == "operator" and e not in ours]
                ),
                union([(e.start, e.end) for e in ours]),
            )
        hidden = intersect(intersect(self.unions["communication"], union(computing)), self.kept)
        ns = max(cost - length(hidden), 0)
        self.add(
            "communication",
            10 * ns > self.total,
            ns,
            ns,
            self.total,
            sum(c["communication"] > 0 for c in self.costs),
        )

    def is_usual(self) -> bool:
        """Whether steps wait for data also without the one that waits longest."""
        if not self.split or len(self.kept_steps) < 3:
            return True
        waits = [c["dataloader"] for c in self.costs]
        most = waits.index(max(waits))
        step = self.kept_steps[most]
        return sum(waits) - waits[most] > (self.total - (step.end - step.start)) // 20

    def data_parallel(self, count: int) -> None:
        """Not all devices run kernels."""
        devices = self.devices()
        common = self.kept
        for device in devices:
            common = intersect(
                common, union([(e.start, e.end) for e in self.kernels if e.device == device])
            )
        gaps = [] if self.compat else self.gaps()
        self.add_share(
            "data_parallel",
            count > 0 and len(devices) > 1,
            self.kept_ns - length(common) - length(gaps),
            count,
        )

    def low_utilization(self) -> None:
        """Devices below one half."""
        window = (min(s.start for s in self.kept_steps), max(s.end for s in self.kept_steps))
        low, part, impact = [], 0, 0
        for device in self.devices():
            own = union([(e.start, e.end) for e in self.kernels if e.device == device])
            busy = length(intersect(own, [window])) if window[0] < window[1] else 0
            if (
                any(e.device == device for e in self.kernels)
                and 2 * busy < window[1] - window[0]
            ):
                low.append(device)
                part += busy
                impact = max(impact, length(subtract(self.kept, own)))
        self.add(
            "low_utilization",
            bool(low),
            impact,
            part,
            len(low) * (window[1] - window[0]),
            len(low),
            ", ".join(low),
        )

    def tensor_cores(self) -> None:
        """Kernels of the innermost eligible operators, where none uses Tensor Cores."""

        def is_capable(found: dict | None) -> bool:
            return bool(found) and (found["major"] or 0) >= 7

        if self.compat:
            kernels = self.kernels if is_capable(next(iter(self.properties), None)) else []
        else:
            kernels = [
                e
                for e in self.kernels
                if self.trace.family == "cuda"
                and is_capable(self.properties_of(self.number(e.device)))
            ]
        if any(e.dur > 0 and kinds.kernel_uses_tc(e.name, self.compat) for e in kernels):
            return
        if not self.compat and self.uses_half():
            return
        nodes = [n for n in operators.build(self.trace) if not n.merged_into]
        of_call: dict[Event, list[Event]] = {}
        for kernel in kernels:
            if kernel in self.launch:
                of_call.setdefault(self.launch[kernel], []).append(kernel)
        below: dict[int, bool] = {}
        whole, eligible = 0, []
        for node in sorted(nodes, key=lambda n: n.event.order(), reverse=True):
            is_eligible = kinds.op_is_tc_eligible(node.event.name, self.compat)
            has_below = any(below[id(child)] for child in node.children)
            below[id(node)] = is_eligible or has_below
            own = [k for call in node.calls for k in of_call.get(call, [])]
            whole += sum(k.dur for k in own)
            if is_eligible and not has_below:
                eligible += own
        part = sum(k.dur for k in eligible)
        ns = length(self.within(eligible))
        self.add(
            "tensor_cores", part > 0, ns if self.compat else ns // 2, part, whole, len(eligible)
        )

    def uses_half(self) -> bool:
        """Whether kernels or inputs of operators are of 16 bits."""
        if any(
            word in e.name for e in self.trace.events if e.kind == "kernel" for word in HALF
        ):
            return True
        return any(
            word in json.dumps(e.args.get("Input type"))
            for e in self.trace.events
            if e.kind == "operator"
            for word in ("c10::Half", "c10::BFloat16")
        )

    def memory_limit(self) -> None:
        """The fullest of the devices that use more than nine tenths of their memory."""
        peaks: dict[int, list[int]] = {}
        names: dict[int, str] = {}  # from the first record with the largest total
        for event in self.trace.events:
            if event.kind not in ("alloc", "free"):
                continue
            kind, number, total = (
                event.integer(key) for key in ("Device Type", "Device Id", "Total Allocated")
            )
            if (
                None in (kind, number, total)
                or not 0 < kind < 128
                or not 0 <= number < 32767
                or total >= 2**63
            ):  # not a valid size
                continue
            own = self.properties_of(number)
            if own and own["memory"]:
                place = self.properties.index(own)
                if total > max(peaks.get(place, [-1])):
                    names[place] = memory_tables.device_of(event, self.trace.family)
                peaks.setdefault(place, []).append(total)
        near = {
            place: [t for t in totals if 10 * t > 9 * self.properties[place]["memory"]]
            for place, totals in sorted(peaks.items())
        }
        full = max(
            (place for place in near if near[place]),
            default=None,
            key=lambda p: Fraction(max(near[p]), self.properties[p]["memory"]),
        )
        if full is not None:
            own = self.properties[full]
            self.add(
                "memory_limit",
                True,
                length(self.within([c for c in self.calls if c.name in ALLOCATOR_CALLS])),
                max(near[full]),
                own["memory"],
                len(near[full]),
                names[full],
            )

    # --- our own -------------------------------------------------------------------------

    def caller(self, event: Event) -> str:
        """The operator that launched EVENT, or else, also of one without a name, its own name."""
        op = self.op_of_call.get(self.launch.get(event))
        return op.name if op and op.name else event.name

    def launched_in(self, event: Event) -> str | None:
        """The innermost annotation, scope or module around the call that launched EVENT, or else
        the outermost operator."""
        around, outermost = self.launch.get(event), None
        while around:
            if (idle.is_mark(around) or around.kind == "module") and around.name:
                return around.name
            if around.kind == "operator":
                outermost = around.name
            around = around.parent
        return outermost if outermost != self.caller(event) else None

    def own(self) -> None:
        """Rules of opscope's own about device and host."""
        if not self.kept_steps:
            return
        if self.work:
            self.device_rules()
        else:
            calls = [
                c
                for c in self.calls
                if c.name in ALLOCATOR_CALLS and self.is_kept(c) and c.dur < idle.SET_UP_NS
            ]
            ns = length(self.within(calls))
            self.add_share(
                "allocator",
                bool(calls) and 100 * ns > self.kept_ns,
                ns,
                len(calls),
                self.longest(calls),
            )
        self.slow_steps()
        if self.split:
            self.host_rules(self.split)
            self.memory_growth()
        if (
            self.work
            and not self.is_thinned()
            and not any(10 * row["impact_ns"] >= self.kept_ns for row in self.found.values())
        ):
            self.full()

    def host_rules(self, found: split.Split) -> None:
        """Rules for traces of the host alone."""
        parts = [
            (part, self.steps[i].end - self.steps[i].start) for i, part in found.parts.items()
        ]
        for code, (causes, name, counted) in split.RULES.items():
            n_fit = sum(split.fits(code, part, of) for part, of in parts)
            ns = sum(part.ns[cause] for part, _ in parts for cause in causes)
            count = sum(part.counts[counted] for part, _ in parts) if counted else n_fit
            sums = found.sums.get(name or "", {})
            if code == "unrecorded" and not (
                self.trace.is_torch or self.trace.producer == "opscope"
            ):
                continue
            is_named = bool(sums) or code in ("tiny_operators", "python", "unrecorded")
            self.add(
                code,
                is_named and 2 * n_fit > len(parts),
                ns,
                ns,
                self.total,
                count,
                largest(sums),
            )

    def memory_growth(self) -> None:
        """Steps that leave allocated memory, each but the last."""
        own = [self.ordinal_of[i] for i, s in enumerate(self.steps) if s.kept]
        if len(own) < 4 or not any(s.annotation for s in self.steps):
            return
        records = sorted(
            (
                e
                for e in self.trace.events
                if e.kind in ("alloc", "free") and e.integer("Bytes") is not None
            ),
            key=lambda e: (e.start, e.id),
        )
        live: dict[int, Event] = {}
        is_open = set()
        for event in records:
            address = memory_tables.address_of(event)
            if address is None:
                continue
            is_open.discard(live.pop(address, None))
            if event.integer("Bytes") > 0:
                live[address] = event
                is_open.add(event)
        nodes = operators.build(self.trace)
        bytes_of = {number: [0, 0] for number in own[:-1]}
        names: dict[str, int] = {}
        count = 0
        for event in records:
            size, step = event.integer("Bytes"), self.step_of.get(event)
            if size <= 0 or step not in bytes_of:
                continue
            bytes_of[step][0] += size
            if event in is_open:
                bytes_of[step][1] += size
                count += 1
                name = split.who_allocated(nodes, event)
                names[name] = names.get(name, 0) + size
        part, whole = (sum(b[k] for b in bytes_of.values()) for k in (1, 0))
        self.add(
            "memory_growth",
            bool(records) and all(stays > of // 100 for of, stays in bytes_of.values()),
            0,
            part,
            whole,
            count,
            largest(names),
        )

    @staticmethod
    def longest(calls: list[Event]) -> str | None:
        """The name with the most time."""
        sums: dict[str, int] = {}
        for call in calls:
            sums[call.name] = sums.get(call.name, 0) + call.dur
        return largest(sums)

    def is_thinned(self) -> bool:
        """Whether the file lacks many of the events of the recording."""
        return lacking.lacks_events(self.trace)

    def gaps(self) -> list[Interval]:
        """The kept time in which no device works."""
        return subtract(self.kept, self.busy)

    def device_rules(self) -> None:
        """Why devices have nothing to do, and copies."""
        gaps = self.gaps()
        ended = {}
        for event in reversed(self.work):
            ended[event.start] = event  # the first in the file wins
        for wait in self.earlier:
            ended.setdefault(wait.when[0], wait.work)
        waited = {
            self.launch[e]
            for e in self.work
            if e in self.launch and e.kind == "memcpy" and "(Device -> Pageable)" in e.name
        }
        syncs = {c for c in self.calls if c.name in SYNC_CALLS or c in waited}
        calls = {
            c: idle.cause_of_call(
                c, c in syncs, c.name in ALLOCATOR_CALLS, c.name in GRAPH_CALLS
            )
            for c in self.calls
        }
        launches = [self.launch.get(ended.get(end)) for _, end in gaps]
        drivers = {c.track for e, c in self.launch.items() if e.kind in kinds.DEVICE_WORK}
        if drivers:
            drivers |= {s.annotation.track for s in self.steps if s.annotation}
        if not any(
            e.track in drivers and e.is_host and e.dur > 0
            for e in self.ranges
            if e.kind not in kinds.LAUNCHES
        ):
            drivers = set()  # a runtime launches for other threads
        found = idle.split(
            self.trace.events,
            self.kept,
            self.computing,
            self.unions["communication"],
            [(g, c, c in syncs) for g, c in zip(gaps, launches)],
            drivers or None,
            calls,
            self.trace.dialect == "xla",
        )
        self.idle = found
        for cause, code in idle.CODES.items():
            ns = length(found.parts[cause])
            if self.is_thinned() or (
                cause == "unrecorded" and not any(e.is_host and e.dur > 0 for e in self.ranges)
            ):
                ns = 0
            if cause == "allocator" and "memory_limit" in self.found:
                self.found["memory_limit"]["impact_ns"] = ns
                continue
            if (
                ns > self.kept_ns // idle.MUCH
                and length(gaps) < self.kept_ns
                and not (cause == "communication" and "backend" in self.found)
            ):
                count, subject, grew = self.name(found, cause, gaps, ended, drivers or None)
                self.add_share(code, True, ns, count, subject)
                self.found[code]["grew"] = grew or None
        self.pageable_copies()
        if not self.is_thinned():
            self.device_copies()
        self.products()

    def name(
        self,
        found: idle.Idle,
        cause: str,
        gaps: list[Interval],
        ended: dict[int, Event],
        drivers: set | None,
    ) -> tuple[int, str | None, str | None]:
        """How many rows have the time of CAUSE, whose most of it is, and the caller."""
        if cause == "communication":
            sums: dict[str, int] = {}
            for kernel in self.kernels:
                if kinds.is_collective_kernel(kernel.name, kernel.args):
                    sums[kernel.name] = sums.get(kernel.name, 0) + found.of(cause, kernel)
            return sum(c["communication"] > 0 for c in self.costs), largest(sums), None
        if cause in ("launch", "unrecorded", "handover", "late"):
            sums, count, last = {}, 0, 0
            within: dict[tuple[str, str | None], int] = {}
            for start, end in gaps:
                ns = length(intersect(found.parts[cause], [(start, end)]))
                count += ns > 0
                if end not in ended:
                    last += ns
                if ns > 0 and end in ended:
                    name = self.caller(ended[end])
                    sums[name] = sums.get(name, 0) + ns
                    key = (name, self.launched_in(ended[end]))
                    within[key] = within.get(key, 0) + ns
            name = largest(sums)
            if cause == "unrecorded":
                return (
                    count,
                    None if last > sums.get(name, 0) else name,
                    idle.marked(found, self.ranges, drivers),
                )
            if last > sums.get(name, 0):
                return count, None, None
            around = max(
                (key for key in within if key[0] == name),
                default=None,
                key=lambda key: within[key],
            )
            if cause != "launch" or around is None or 2 * within[around] <= sums[name]:
                return count, name, None
            return count, name, around[1] and around[1].rsplit(" at 0x", 1)[0]
        if cause == "python":
            return *idle.name_functions(found), None
        return idle.name_ranges(found, cause)

    def pageable_copies(self) -> None:
        """Copies to the device that do not overlap with a kernel."""
        copies = [
            e for e in self.work if e.kind == "memcpy" and "(Pageable -> Device)" in e.name
        ]
        count = sum(map(self.is_kept, copies))
        ns = length(subtract(self.within(copies), union(self.device_kernels)))
        self.add_share("pageable_copies", count > 0 and 100 * ns > self.kept_ns, ns, count)

    def device_copies(self) -> None:
        """Other copies, while no kernel computes and no copy from pageable memory runs."""
        copies = [e for e in self.work if e.kind == "memcpy"]
        pageable = [e for e in copies if "(Pageable -> Device)" in e.name]
        free = subtract(
            intersect(self.unions["memcpy"], self.kept),
            union(self.unions["kernel"] + [(e.start, e.end) for e in pageable]),
        )
        ns = length(free)
        ours = [e for e in copies if e not in pageable]
        if 20 * ns <= self.kept_ns or not any(map(self.is_kept, ours)):
            return
        own = {e: length(intersect(free, union([(e.start, e.end)]))) for e in ours}
        sums = {
            way: sum(own[e] for e in ours if way_of(e.name) == way)
            for way in ("unknown", "to", "from", "on")
        }
        most = max(sums, key=lambda way: sums[way])
        pairs: dict[tuple[str | None, str | None], int] = {}
        for event in ours:
            if way_of(event.name) == most and own[event]:
                op = self.op_of_call.get(self.launch.get(event))
                key = (op.name or None if op else None, self.launched_in(event) or None)
                pairs[key] = pairs.get(key, 0) + own[event]
        top = max(pairs, key=lambda key: pairs[key], default=(None, None))
        self.add_share("device_copies", True, ns, sum(map(self.is_kept, ours)), top[0])
        self.found["device_copies"]["grew"] = top[1] and top[1].rsplit(" at 0x", 1)[0]

    def products(self) -> None:
        """Kernels of products of matrices, by what slows them down."""
        ours: dict[str, list[Event]] = {"unaligned": [], "fp32_matmul": []}
        for kernel in self.kernels:
            op = self.op_of_call.get(self.launch.get(kernel))
            if not op or op.name not in ("aten::mm", "aten::bmm", "aten::addmm"):
                continue
            types = op.args.get("Input type")
            first = types[0] if isinstance(types, list) and types else None
            if first in ("c10::Half", "c10::BFloat16") and has_odd_sizes(op):
                ours["unaligned"].append(kernel)
            elif first == "float" and self.is_plain(kernel):
                ours["fp32_matmul"].append(kernel)
        if "tensor_cores" in self.found:
            del ours["fp32_matmul"]
        for code, kernels in ours.items():
            sums: dict[str, int] = {}
            count = 0
            for kernel in kernels:
                own = length(self.within([kernel]))
                op = self.op_of_call[self.launch[kernel]]
                count += own > 0
                sums[op.name] = sums.get(op.name, 0) + own
            ns = length(self.within(kernels))
            self.add_share(code, 50 * ns > self.kept_ns, ns, count, largest(sums))

    def is_plain(self, kernel: Event) -> bool:
        """Whether KERNEL uses no Tensor Cores of a device that has TF32."""
        found = self.properties_of(self.number(kernel.device))
        return (
            self.trace.family == "cuda"
            and found is not None
            and (found["major"] or 0) >= 8
            and kinds.kernel_uses_tc(kernel.name, False) is False
        )

    def full(self) -> None:
        """What launches most kernels, where these leave hardly any time."""
        ns = length(intersect(self.unions["kernel"], self.kept))
        if ns <= self.kept_ns - self.kept_ns // 10:
            return
        own = {
            e: length(intersect(self.kept, union([(e.start, e.end)])))
            for e in self.kernels
            if not kinds.is_collective_kernel(e.name, e.args)
        }
        ours = [e for e, time in own.items() if time > 0 and self.caller(e)]
        sums: dict[str, int] = {}
        for event in ours:
            sums[self.caller(event)] = sums.get(self.caller(event), 0) + own[event]
        if sums:
            top = max(sums, key=lambda name: sums[name])
            self.add(
                "device_kernels",
                True,
                min(sums[top], ns),
                ns,
                self.kept_ns,
                sum(self.caller(e) == top for e in ours),
                top,
            )

    def slow_steps(self) -> None:
        """Outliers above the median."""
        rows = [
            row
            for row in growth.add(self.trace, steps.steps_table(self.trace, self.compat))
            if row["kept"]
        ]
        middle = exact.median([row["total_ns"] for row in rows]).__floor__()
        slow = [row for row in rows if row["outlier"] and row["total_ns"] > middle]
        excess = sum(row["total_ns"] - middle for row in slow)
        impact = excess
        if self.split:
            impact = excess = sum(part.ns["slow"] for part in self.split.parts.values())
        elif self.work:  # the rest has causes of its own
            impact = sum(
                min(row["total_ns"] - middle, row["kernel_ns"] + row["memset_ns"])
                for row in slow
            )
        if slow and 20 * excess > self.kept_ns:
            worst = max(slow, key=lambda row: row["total_ns"])
            labels = [step.label for step in steps.host_steps(self.trace, self.compat)]
            name = worst["label"] if labels.count(worst["label"]) == 1 else f"@{worst['step']}"
            self.add("slow_steps", True, impact, excess, self.kept_ns, len(slow), name)
            self.found["slow_steps"]["grew"] = worst.get("grew")


def rows_of(trace: Trace, compat: bool) -> dict[str, dict]:
    """The rules that apply to one trace, by code."""
    rules = Rules(trace, compat)
    rules.plugin()
    if not compat:
        rules.own()
    return {code: rules.found[code] for code in CODES if code in rules.found}


def table(traces: list[Trace], compat: bool = False) -> list[dict]:
    """`advice`, for one trace or several summed up."""
    merged: dict[str, dict] = {}
    for trace in traces:
        for code, row in rows_of(trace, compat).items():
            if code not in merged:
                merged[code] = dict(row)
                continue
            for column in ("impact_ns", "part", "whole", "count", "kept_ns", "parts"):
                merged[code][column] = exact.nearest(merged[code][column] + row[column])
    rows = []
    for code, row in merged.items():
        serious = (
            code in ("memory_limit", "memory_growth") or 10 * row["impact_ns"] >= row["kept_ns"]
        )
        rows.append(
            {
                "impact_ns": row["impact_ns"],
                "severity": "warning" if serious else "info",
                "code": code,
                "count": row["count"],
                "ratio": float(Fraction(row["part"], row["whole"])) if row["whole"] else None,
                "subject": row["subject"] if row["parts"] == 1 else None,
                "grew": row["grew"] if row["parts"] == 1 else None,
            }
        )
    return sorted(rows, key=lambda row: -row["impact_ns"])
