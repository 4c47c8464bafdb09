#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of recordings, written from docs/format.md alone.

    reader.py FILE|DIRECTORY.osc.live prints the records and the events they give
    reader.py DIRECTORY                  the parts of one recording in it, as one

It is slow and simple. read() is for tests: its events must agree with `opscope table events`.
"""

import json
import os
import re
import struct
import sys

from chunks import UNKNOWN, File, Live, Recording, is_file_header, signed

TAKE_ARGS = {
    "BEGIN",
    "COMPLETE",
    "INSTANT",
    "ALLOC",
    "FREE",
    "ALLOC_TOTAL",
    "FREE_TOTAL",
    "ASYNC_BEGIN",
    "ASYNC_END",
    "WORK",
}


class Device:
    def __init__(self):
        self.type, self.index, self.pairs, self.hz = None, 0, [], 0
        self.line = None  # (x0, y0, dx, dy)

    def settle(self, ns):
        if not self.pairs:
            return
        pairs = sorted(self.pairs)
        half = len(pairs) - len(pairs) // 2
        first = min(pairs[:half], key=lambda p: p[2])
        last = min(reversed(pairs[half:]), key=lambda p: p[2]) if pairs[half:] else pairs[-1]
        (x0, y0, w0), (x1, y1, w1) = [
            (p[0], ns(p[1] + p[2] // 2), ns(p[1] + p[2]) - ns(p[1])) for p in (first, last)
        ]
        rises = x1 > x0 and y1 > y0
        if rises and ((y1 - y0) // 1000 >= w0 + w1 or not self.hz):
            self.line = (x0, y0, x1 - x0, y1 - y0)
        else:
            self.line = (x0, y0, self.hz or 10**9, 10**9)

    def ns(self, ticks, host_ns):
        if self.line is None:
            return host_ns(ticks)
        x0, y0, dx, dy = self.line
        return y0 + (ticks - x0) * dy // dx


# --- events ---------------------------------------------------------------------------


PYTHON = 9  # the kind of scopes for Python functions
MARKED = (2, 7, 8)  # those of annotations, loaders of data and optimizers
WAIT = 3  # the kind of work that is none
OF_SCOPES = ("Is asynchronous", "Sequence number", "Fwd thread id")


class Event:
    def __init__(self, name, process, thread, start, dur=None):
        self.name, self.process, self.thread = name, process, thread
        self.start, self.dur, self.args = start, dur, {}
        self.is_tentative = False  # counts as a step only if something ends it
        self.has_launched = False
        self.in_step = None  # the step in which it began
        self.token, self.has_ended = 0, False  # of scopes

    def key(self):
        return (
            self.name,
            self.process,
            self.thread,
            self.start,
            -1 if self.dur is None else self.dur,
            json.dumps(self.args, sort_keys=True),
        )


class Thread:
    def __init__(self, name):
        self.name, self.stack, self.target, self.step = name, [], None, None
        self.is_torch, self.functions = False, []  # Python functions that have not returned


class Maker:
    """Makes events from records, by their meaning in docs/format.md."""

    def __init__(self, rec):
        self.rec, self.events, self.threads = rec, [], {}
        self.pid = rec.facts.get("pid", "0")
        self.devices, self.queues, self.metadata = {}, {}, {}
        self.late = []  # memory, ranges, work: (ns, order, thread, record, args)
        self.n_flows = self.n_unmatched = 0
        self.n_marked, self.range_of = 0, {}  # ranges with launches; the range of a launch
        self.strays = []  # ends of scopes that are not on the stack of their thread
        self.thread_names = {}

    def thread(self, ordinal):
        if ordinal not in self.threads:
            raise KeyError(ordinal)
        return self.threads[ordinal]

    def know_threads(self):
        used = {}
        ordinals = set(self.rec.tids) | {s[0] for s in self.rec.segments}
        for ordinal in sorted(ordinals):
            tid = self.rec.tids.get(ordinal, 0)
            used[tid] = used.get(tid, 0) + 1
            name = (
                f"thread {ordinal}"
                if not tid
                else str(tid)
                if used[tid] == 1
                else f"{tid}.{used[tid]}"
            )
            self.threads[ordinal] = Thread(name)

    def event(self, t, name, start, dur=None):
        self.events.append(Event(name, self.pid, t.name, start, dur))
        return self.events[-1]

    def add_args(self, t, args, is_of_scope=False):
        if t.target is not None and not is_of_scope:
            t.target.update(args)
        elif t.stack:
            t.stack[-1].args.update(args)

    def take(self, t, r):
        rec = self.rec
        if r.name == "ARG_STACK":
            if r.words:
                frames = [rec.frame(a) for a in r.words] + ["..."] * (r.ident == 1)
                self.add_args(t, {"Call stack": ";".join(frames)})
            return
        if r.name == "ARG_I64" and rec.name(r.ident) == "torch thread":
            t.is_torch = True
            return
        if r.name == "ARG_I64" and rec.name(r.ident) == "Python returned":
            t.functions = t.functions[:-1]
            return
        if r.name.startswith("ARG_"):
            key = rec.name(r.ident)
            self.add_args(
                t,
                {key: self.arg(r)},
                t.is_torch and key in OF_SCOPES and r.name in ("ARG_I64", "ARG_BOOL"),
            )
            return
        if r.name == "ARGS":
            data = rec.bytes_of(r.value & 0xFFFFFFFF) or b""
            self.add_args(
                t,
                {
                    rec.name(key): self.json(rec.name(text))
                    for key, text in struct.iter_unpack("<II", data[: len(data) // 8 * 8])
                },
            )
            return
        if r.name == "LAUNCH":
            self.mark(t, r.words[0])
            is_first = t.stack and not t.stack[-1].has_launched
            if is_first:
                t.stack[-1].has_launched = True
                t.stack[-1].args["correlation"] = signed(r.words[0])
            if not is_first or t.stack[-1].scope not in (4, 5):
                e = self.event(t, "launch", rec.ns(r.ticks), 0)
                e.args["correlation"] = signed(r.words[0])
            return
        ns = rec.ns(r.ticks) if r.ticks is not None else None
        t.target = None
        if r.name == "BEGIN":
            t.stack.append(self.event(t, rec.name(r.ident), ns))
            t.stack[-1].scope, t.stack[-1].token = r.scope, r.ticks & 0xFFFFFFFF
            t.stack[-1].in_step = t.step
            if r.scope == PYTHON:
                if t.is_torch and t.functions:
                    t.stack[-1].args["Call stack"] = "".join(
                        f"{e.name};" for e in reversed(t.functions)
                    )
                t.functions = [*t.functions, t.stack[-1]]
        elif r.name == "END":
            if not t.stack:
                self.n_unmatched += 1
                return
            t.stack[-1].dur = max(ns - t.stack[-1].start, 0)
            self.pop(t)
        elif r.name == "END_OF":
            found = [e for e in t.stack if e.token == r.ident and not e.has_ended]
            if not found:
                self.strays.append((r.ident, ns))
            elif found[-1] is t.stack[-1]:
                found[-1].dur = max(ns - found[-1].start, 0)
                self.pop(t)
            else:
                self.end_early(found[-1], ns)
        elif r.name == "COMPLETE":
            e = self.event(t, rec.name(r.ident), ns, max(rec.ns(r.ticks + r.words[0]) - ns, 0))
            t.target = e.args
        elif r.name == "INSTANT":
            t.target = self.event(t, rec.name(r.ident), ns).args
        elif r.name in ("PAUSE", "RESUME"):
            self.event(t, f"recording {r.name.lower()}d", ns)
        elif r.name in ("COUNTER_I64", "COUNTER_F64"):
            self.event(t, rec.name(r.ident), ns).args["value"] = self.plain(r.words[0])
        elif r.name == "STEP_BEGIN":
            self.end_step(t, ns)
            t.step = self.event(t, f"ProfilerStep#{r.words[0]}", ns)
            t.step.is_tentative = r.words[1] == 1
        elif r.name == "STEP_END":
            self.end_step(t, ns)
        elif r.name in ("FLOW_BEGIN", "FLOW_END"):
            self.n_flows += 1
        elif r.name == "METADATA":
            if not rec.name(r.ident).startswith("device_limits."):
                self.metadata[rec.name(r.ident)] = rec.name(r.value)
        elif r.name == "THREAD_NAME":
            self.thread_names[t.name] = rec.name(r.ident)
        elif r.name == "DEVICE":
            d = self.devices.setdefault(r.words[0], Device())
            d.type, d.index, d.hz = rec.name(r.ident), r.words[1], r.words[3]
        elif r.name == "DEVICE_CLOCK":
            self.devices.setdefault(r.ident, Device()).pairs.append(
                (r.words[0], r.ticks, r.words[1])
            )
        elif r.name == "QUEUE":
            self.queues[r.words[0]] = r.words[1]
        elif r.name in TAKE_ARGS:
            args = {}
            t.target = args
            self.late.append((ns, len(self.late), t, r, args))

    def mark(self, t, correlation):
        """A launch in T: of the range that began last."""
        scopes = [e for e in t.stack if e.scope in MARKED and not e.has_ended]
        found = scopes[-1] if scopes else None
        if t.step and (not found or found.in_step is not t.step):
            found = t.step
        if found and "External id" not in found.args:
            self.n_marked += 1
            found.args["External id"] = 2**32 + self.n_marked
        self.range_of.setdefault(correlation, found)

    def add_copies(self, items):
        """The ranges again, on each queue over the work that was launched in them."""
        spans = {}
        for ns, _, _, r, _ in items:
            found = self.range_of.get(r.words[1]) if r.name == "WORK" and r.words[1] else None
            if (
                not found
                or r.words[0] >> 32 == WAIT
                or (found.is_tentative and found.dur is None)
            ):
                continue
            queue = r.words[0] & 0xFFFFFFFF
            d = self.devices.get(self.queues.get(queue, 0), Device())
            start, end = spans.get((found, queue), (ns, ns))
            spans[found, queue] = min(start, ns), max(end, d.ns(r.words[5], self.rec.ns))
        for (found, queue), (start, end) in spans.items():
            device = self.device_name(self.queues.get(queue, 0))
            family, _, index = device.partition(":")
            e = Event(found.name, device, str(queue), start, end - start)
            e.args = {
                "External id": found.args["External id"],
                "device": int(index or -1),
                "device family": family,
            }
            self.events.append(e)

    @staticmethod
    def end_step(t, ns):
        if t.step:
            t.step.dur = max(ns - t.step.start, 0)
        t.step = None

    @staticmethod
    def plain(v):
        if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
            return "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"
        return v

    @staticmethod
    def json(text):
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return value if isinstance(value, (list, dict)) or type(value) is int else text

    def arg(self, r):
        if r.name == "ARG_BOOL":
            return bool(r.value)
        if r.name == "ARG_NAME":
            return self.rec.name(r.value)
        if r.name == "ARG_I64S":
            return r.words
        if r.name == "ARG_TEXT":
            return r.data.decode(errors="replace")
        if r.name == "ARG_JSON":
            return self.json(r.data.decode(errors="replace"))
        return self.plain(r.value)

    @staticmethod
    def pop(t):
        """The innermost scope has ended, and with it those around it that had before."""
        e = t.stack.pop()
        if t.functions and t.functions[-1] is e:
            t.functions = t.functions[:-1]
        if t.stack and t.stack[-1].has_ended:
            Maker.pop(t)

    @staticmethod
    def end_early(e, ns):
        """A scope ended that is not the innermost of the thread that says so."""
        e.dur, e.has_ended = max(ns - e.start, 0), True

    def break_all(self):
        """Records are missing: open ranges stay open."""
        for t in self.threads.values():
            t.stack, t.target, t.functions = [], None, []

    # --- events by time, over all threads ------------------------------------------

    def device_name(self, number):
        d = self.devices.get(number)
        if not d or d.type is None:
            return "cpu" if number == 0 else f"device:{number}"
        return "cpu" if d.type == "cpu" else f"{d.type}:{d.index}"

    def finish(self):
        for token, ns in self.strays:
            for e in [
                e
                for t in self.threads.values()
                for e in t.stack
                if e.token == token and not e.has_ended
            ][:1]:
                self.end_early(e, ns)
        self.events = [e for e in self.events if e.dur is not None or not e.is_tentative]
        for d in self.devices.values():
            d.settle(self.rec.ns)
        items = []
        for ns, order, t, r, args in self.late:
            if r.name == "WORK":
                d = self.devices.get(self.queues.get(r.words[0] & 0xFFFFFFFF, 0), Device())
                ns = d.ns(r.words[4], self.rec.ns)
            items.append((ns, order, t, r, args))
        items.sort(key=lambda i: i[:2])
        self.add_copies(items)
        sums = self.first_sums(items)
        open_ranges = {}
        for ns, _, t, r, args in items:
            if r.name == "WORK":
                self.make_work(r, ns, args)
            elif r.name == "ASYNC_BEGIN":
                e = self.event(t, self.rec.name(r.ident), ns)
                e.args = args
                open_ranges.setdefault(tuple(r.words), []).append(e)
            elif r.name == "ASYNC_END":
                stack = open_ranges.get(tuple(r.words))
                if stack:
                    e = stack.pop()
                    e.dur = ns - e.start
                    e.args.update(args)
                else:
                    self.n_unmatched += 1
            else:
                self.make_memory(t, r, ns, args, sums)

    @staticmethod
    def change(r):
        return r.words[1] if r.name.startswith("ALLOC") else -r.words[1]

    def add_up(self, sums, r):
        known = len(r.words) > 2 and r.words[2] != UNKNOWN
        sums[r.ident] = r.words[2] if known else sums.get(r.ident, 0) + self.change(r)

    def first_sums(self, items):
        sums, least = {}, {}
        for _, _, _, r, _ in items:
            if r.name.startswith(("ALLOC", "FREE")):
                self.add_up(sums, r)
                least[r.ident] = min(least.get(r.ident, 0), sums[r.ident])
        return {k: -v for k, v in least.items()}

    def make_memory(self, t, r, ns, args, sums):
        self.add_up(sums, r)
        e = self.event(t, "[memory]", ns)
        e.args = {
            "device": self.device_name(r.ident),
            "Addr": r.words[0],
            "Bytes": self.change(r),
            "Total Allocated": sums[r.ident],
        }
        if len(r.words) > 2 and r.words[3] != UNKNOWN:
            e.args["Total Reserved"] = r.words[3]
        elif e.args["device"] == "cpu" and any(x.is_torch for x in self.threads.values()):
            e.args["Total Reserved"] = 0
        e.args.update(args)

    def make_work(self, r, ns, args):
        queue = r.words[0] & 0xFFFFFFFF
        number = self.queues.get(queue, 0)
        d = self.devices.get(number, Device())
        end = d.ns(r.words[5], self.rec.ns)
        device = self.device_name(number)
        e = Event(self.rec.name(r.ident), device, str(queue), ns, max(end - ns, 0))
        family, _, index = device.partition(":")
        e.args = {"device": int(index or -1), "device family": family, "stream": queue}
        for key, word in (("correlation", 1), ("bytes", 6)):
            if r.words[word]:
                e.args[key] = r.words[word]
        for key, word in (("ns since append", 2), ("ns since submit", 3)):
            if r.words[word]:
                e.args[key] = ns - d.ns(r.words[word], self.rec.ns)
        e.args.update(args)
        self.events.append(e)


def is_followed(path, file):
    """Whether another part follows the one at PATH, even if it is an empty file."""
    part = struct.unpack_from("<I", file.data, 32)[0]
    stem = path.removesuffix(".osc")
    if part > 1:
        stem = stem.removesuffix(f".{part}")
    try:
        with open(f"{stem}.{part + 1}.osc", "rb") as f:
            head = f.read(64)
    except FileNotFoundError:
        return False
    return not is_file_header(head) or head[16:32] == file.recording


def part_of(path):
    with open(path, "rb") as f:
        return struct.unpack_from("<I", f.read(64).ljust(64, b"\0"), 32)[0]


def read(path):
    """Read the recording at PATH, or its parts in the directory PATH. Returns it, and a Maker with
    its events."""
    rec, live, file, paths = Recording(), None, None, [path]
    if os.path.isdir(path):
        paths = sorted(
            (os.path.join(path, name) for name in os.listdir(path) if name.endswith(".osc")),
            key=part_of,
        )
    last = paths[-1] if paths else path
    beside = last + ".live" if paths else path
    if not os.path.isdir(beside):  # the path of a part
        beside = re.sub(r"\.\d+\.osc$", ".osc.live", last)
    if os.path.isdir(beside):
        live = Live(beside)
    for part in paths:
        if live and os.path.getsize(part) == 0:
            continue
        with open(part, "rb") as f:
            file = File(f.read())
        if live and part == last and live.state != 2 and live.recording == file.recording:
            file.forgive_torn()
        rec.add_file(file)
    # All parts of a directory are read. If an empty one follows, the live directory still belongs
    # to them.
    if (
        live
        and (not file or not file.recording or live.recording == file.recording)
        and (
            not rec.end
            or rec.end[0] == 1
            or (rec.end[0] == 2 and (os.path.isdir(path) or not is_followed(last, file)))
        )
    ):
        rec.add_live(live)
    rec.settle_clock()
    maker = Maker(rec)
    maker.know_threads()
    breaks = sorted(rec.breaks)
    for due, _, thread, _, records in rec.ordered():
        while breaks and breaks[0] <= due:
            breaks.pop(0)
            maker.break_all()
        for r in records:
            maker.take(maker.thread(thread), r)
    maker.finish()
    return rec, maker


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rec, maker = read(sys.argv[1])
    for _due, seq, thread, first, records in rec.ordered():
        print(f"thread {thread}, block {seq} from slot {first}:")
        for r in records:
            print(f"  {r}")
    for e in maker.events:
        print(*e.key())
    for cause, n in enumerate(rec.losses()):
        print(f"{n} records lost by cause {cause}")
    for start, end, n, first, last in rec.damage:
        print(f"damaged from {start} to {end}: {n} records lost, of {first} to {last} ticks")


if __name__ == "__main__":
    main()
