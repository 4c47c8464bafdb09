#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: view-timeline
# args: --opscope {gcc}/opscope --random 8 --seed {seed}
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Compare what the server draws with what the rules say should be drawn.

usage: timeline.py [--opscope PATH] [--random N] [--seed S] [TRACE...]

Lanes and cells are made again from the table `events`, slowly, by the rules in src/timeline/lanes.h,
packing.h and cells.h, and how much of each device is used (usage.py), for the whole trace and for
random windows, exact and snapped. Every cell must be equal to the byte. The last line is "N passed, N failed" (cells, samples, and other values). Without TRACE:
those of the tree, and small ones of ../shared if it is there.
"""

import argparse
import collections
import csv
import http.client
import io
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import flame  # noqa: E402
import randomtrace  # noqa: E402
import sample  # noqa: E402
import usage  # noqa: E402

LANES_MAX = 256
DOMAINS = 64
QUEUES = 12  # more sparse ones are packed
SPARSE = 12  # a twelfth of the time
LARGEST = 150_000
NOT_DRAWN = ("alloc", "free", "counter")
COMMUNICATION = 255


class Server:
    """`opscope view` of one run."""

    def __init__(self, opscope, paths):
        self.process = subprocess.Popen(
            [opscope, "view", "--port", "0", *map(str, paths)], stderr=subprocess.PIPE
        )
        line = self.process.stderr.readline().decode()
        self.port = int(re.search(r":(\d+)/", line)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.process.stderr.close()

    def get(self, path, **query):
        """(status, body)"""
        self.connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(query)}")
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def json(self, path, **query):
        status, body = self.get(path, **query)
        assert status == 200, (path, status, body[:300])
        return json.loads(body)


# --- what is drawn, by the rules -------------------------------------------------------------

Event = collections.namedtuple("Event", "number start end kind name")


def read_table(opscope, table, path):
    """The rows of TABLE, each a dict of texts."""
    text = subprocess.run(
        [opscope, "table", table, "--format", "csv", str(path)], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    csv.field_size_limit(1 << 30)
    return list(csv.DictReader(io.StringIO(text)))


def group_of(row):
    """thread (also for queues), async or instants; None: not drawn."""
    if row["kind"] in NOT_DRAWN:
        return None
    if row["dur_ns"] == "":
        return "instants"
    return "ranges" if row.get("depth", "") != "" else "async"


def lay_out(events):
    """[[events of lane 0], ...], and whether the last one is crowded."""
    lanes, ends, is_crowded = [], [], False
    for event in sorted(events, key=lambda e: (e.start, -e.end, e.number)):
        around = [d for d, end in enumerate(ends) if end > event.start and end >= event.end]
        lane = around[-1] + 1 if around else 0
        while lane < len(ends) and ends[lane] > event.start:
            lane += 1
        end = event.end
        if lane == LANES_MAX:
            is_crowded = True
            lane -= 1
            end = max(end, ends[lane])
        if lane == len(ends):
            lanes.append([])
            ends.append(0)
        lanes[lane].append(event)
        ends[lane] = end
    return lanes, is_crowded


def lay_out_packed(events, kinds):
    """The same for packed queues, where each kind, in order of KINDS, has lanes of its own."""
    lanes, ends, is_crowded = [], [], False
    events = sorted(events, key=lambda e: (e.start, -e.end, e.number))
    for kind in kinds:
        base = min(len(lanes), LANES_MAX - 1)
        for event in (e for e in events if e.kind == kind):
            free = [k for k in range(base, len(ends)) if ends[k] <= event.start]
            lane = free[0] if free else len(ends)
            if lane == LANES_MAX:
                is_crowded, lane = True, LANES_MAX - 1
            if lane == len(ends):
                lanes.append([])
                ends.append(0)
            lanes[lane].append(event)
            ends[lane] = event.end
    for lane in lanes:
        lane.sort(key=lambda e: (e.start, -e.end, e.number))
    return lanes, is_crowded


def packed_queues(groups, queues):
    """{process: its packed queues}, of GROUPS of events, by process, thread and group."""
    busy = {
        key[:2]: sum(e.end - e.start for e in groups.get((*key[:2], "ranges"), ()))
        for key in groups
        if key[:2] in queues
    }
    found = {}
    for process in {p for p, _ in busy}:
        whole = sum(ns for (p, _), ns in busy.items() if p == process)
        sparse = {key for key, ns in busy.items() if key[0] == process and ns * SPARSE < whole}
        if len(sparse) > QUEUES:
            found[process] = sparse
    return found


def cells_of(lane, start, stop, buckets):
    """[(start, end, longest event, count, sum)] of a lane in [start, stop)."""
    found, last = [], None
    for event in lane:
        if event.start >= stop or (event.start < start and event.end <= start):
            continue
        bucket = (event.start - start) * buckets // (stop - start)
        is_long = (event.end - event.start) * buckets >= stop - start
        if event.start < start or is_long or bucket != last:
            found.append([event.start, event.end, event, 1, event.end - event.start])
            last = None if event.start < start or is_long else bucket
            continue
        cell = found[-1]
        if event.end - event.start > cell[2].end - cell[2].start:
            cell[2] = event
        cell[1] = event.end
        cell[3] += 1
        cell[4] += event.end - event.start
    return found


def arrows_of(rows, drawn, track_of):
    """[(from event, to event, their starts, their tracks, kind)] in order of the second one.
    DRAWN are the rows of `flows`."""
    found = []
    for row in drawn:
        source, to = row["from_id"], row["to_id"]
        if row["kind"] in ("launch", "fwdbwd") or "" in (source, to):
            continue
        source, to = int(source), int(to)
        if source in track_of and to in track_of:
            found.append(
                (
                    source,
                    to,
                    int(rows[source]["start_ns"]),
                    int(rows[to]["start_ns"]),
                    track_of[source],
                    track_of[to],
                    2,
                )
            )
    for number, row in enumerate(rows):
        launch, forward = row.get("launch_id") or "", row.get("fwd_id") or ""
        other = launch if launch != "" else forward
        if other == "" or number not in track_of or int(other) not in track_of:
            continue
        source = rows[int(other)]
        found.append(
            (
                int(other),
                number,
                int(source["start_ns"]),
                int(row["start_ns"]),
                track_of[int(other)],
                track_of[number],
                0 if launch != "" else 1,
            )
        )
    return sorted(found, key=lambda a: (a[1], a[6], a[0]))


# --- what is sent ----------------------------------------------------------------------------


def unpack(body, magic, lane_format, cell_format):
    """(head, lanes, cells)"""
    names = (
        "magic",
        "version",
        "flags",
        "t0",
        "unit_log2",
        "level",
        "zero",
        "n_lanes",
        "n_cells",
        "request",
        "width",
        "n_durations",
        "zero2",
    )
    head = dict(zip(names, struct.unpack_from("<4sHHqBBHIIIqII", body)))
    assert head["magic"] == magic and head["version"] == 1, head
    at = struct.calcsize("<4sHHqBBHIIIqII")
    size = struct.calcsize(lane_format)
    lanes = [
        struct.unpack_from(lane_format, body, at + i * size) for i in range(head["n_lanes"])
    ]
    at += head["n_lanes"] * size
    end = len(body) - 12 * head["n_durations"]
    cells = list(struct.iter_unpack(cell_format, body[at:end]))
    head["durations"] = dict(struct.iter_unpack("<IQ", body[end:]))
    assert len(cells) == head["n_cells"], (len(cells), head)
    return head, lanes, cells


class Check:
    """One run, and how many of its values were equal."""

    def __init__(self, opscope, path, source):
        self.opscope, self.path, self.source = opscope, path, source
        self.passed = self.failed = 0

    def equal(self, what, got, expected):
        if got == expected:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 5:
            print(f"FAILED {self.path.name}: {what}: {got}, not {expected}")

    unpack = staticmethod(unpack)

    def run(self):
        rows = read_table(self.opscope, "events", self.path)
        self.drawn = read_table(self.opscope, "flows", self.path)
        with Server(self.opscope, [self.path]) as server:
            self.server = server
            self.timeline = server.json("tracks")
            self.read_names()
            self.check_times(rows)
            self.make_lanes(rows)
            self.check_tracks()
            self.check_capacity()
            self.check_windows()
            self.check_flows(rows)
            self.check_event(rows)
            usage.UsageCheck(self, rows).run()
            flame.FlameCheck(self, self.opscope, self.path).run()

    def read_names(self):
        self.names = []
        while len(self.names) < self.timeline["names"]:
            page = self.server.json(f"names/{len(self.names) // 256}")
            assert page["first"] == len(self.names) and page["names"], page
            self.names += [full for full, _ in page["names"]]

    def check_times(self, rows):
        starts = [int(row["start_ns"]) for row in rows]
        ends = [int(row["start_ns"]) + int(row["dur_ns"] or 0) for row in rows]
        times = [min(starts), max(ends)] if rows else [None, None]
        for trace in self.timeline["traces"]:
            self.equal("times", [trace["from_ns"], trace["to_ns"]], times)

    def make_lanes(self, rows):
        groups = collections.defaultdict(list)
        queues = {(row["process"], row["thread"]) for row in rows if row.get("queue", "") != ""}
        for number, row in enumerate(rows):
            group = group_of(row)
            if group is None:
                continue
            start = int(row["start_ns"])
            event = Event(
                number,
                start,
                start + int(row["dur_ns"] or 0),
                row["kind"],
                row["name"] or "(no name)",
            )
            groups[row["process"], row["thread"], group].append(event)
        self.lanes = {key: lay_out(events) for key, events in groups.items()}
        self.framed = {
            key[:2]
            for key, events in groups.items()
            if key[2] == "ranges" and any(e.kind == "python" for e in events)
        }
        for key in self.framed:
            rest = [e for e in groups[(*key, "ranges")] if e.kind != "python"]
            if rest:
                self.lanes[(*key, "no_frames")] = lay_out(rest)
        self.lay_out_domains(rows)
        self.packed = packed_queues(groups, queues)
        for process, sparse in self.packed.items():
            all_of = [e for key in sparse for e in groups.get((*key, "ranges"), ())]
            if all_of:
                self.lanes[process, "", "packed"] = lay_out_packed(
                    all_of, self.timeline["kinds"]
                )

    def lay_out_domains(self, rows):
        """Tasks of the first domains of a recording, by process, whatever their threads."""
        domains = {}
        for number, row in enumerate(rows if self.path.suffix == ".osc" else ()):
            domain = json.loads(row["args"] or "{}").get("domain")
            if group_of(row) != "ranges" or not isinstance(domain, str) or domain == "":
                continue
            start = int(row["start_ns"])
            event = Event(
                number,
                start,
                start + int(row["dur_ns"]),
                row["kind"],
                row["name"] or "(no name)",
            )
            domains.setdefault((row["process"], "", f"domain {domain}"), []).append(event)
        for key in list(domains)[:DOMAINS]:
            self.lanes[key] = lay_out(domains[key])

    def key_of(self, track):
        if track["of"] == "domain":
            return track["process"], "", f"domain {track['domain']}"
        if track["of"] == "packed":
            return track["process"], "", "packed"
        group = track["sort"] if track["sort"] in ("async", "instants") else "ranges"
        return track["process"], track["thread"], group if track["of"] == "all" else track["of"]

    def check_tracks(self):
        self.equal(
            "tracks", sorted(map(self.key_of, self.timeline["tracks"])), sorted(self.lanes)
        )
        for track in self.timeline["tracks"]:
            lanes, _ = self.lanes[self.key_of(track)]
            self.equal("lanes", track["lanes"], len(lanes))
            self.equal("ranges", track["ranges"], sum(map(len, lanes)))
            self.equal("a domain", track["domain"] is not None, track["of"] == "domain")
            key = (track["process"], track["thread"])
            self.equal("frames", track["has_frames"], key in self.framed)
            self.equal("packed", track["is_packed"], key in self.packed.get(key[0], ()))

    def check_capacity(self):
        """Curves of memory say how much the device has, as memory_peaks does."""
        known = {
            row["device"]: row.get("capacity_bytes", "")
            for row in read_table(self.opscope, "memory_peaks", self.path)
        }
        for series in self.timeline["series"]:
            capacity = series["capacity_bytes"]
            if series["sort"] not in ("allocated", "reserved"):
                continue
            if (
                series["device"] in known
            ):  # else it has curves, but no record that could be a peak
                self.equal(
                    "capacity",
                    "" if capacity is None else str(capacity),
                    known[series["device"]],
                )

    def check_windows(self):
        first, last = self.timeline["from_ns"], self.timeline["to_ns"]
        whole = max(1, last - first)
        self.check_window(first, last + 1, 1000, True)
        for _ in range(12):
            width = max(1, whole >> self.source.randrange(20))
            start = first + self.source.randrange(-width, whole)
            self.check_window(
                start, start + width, self.source.randrange(1, 1500), self.source.random() < 0.5
            )

    def check_window(self, start, stop, pixels, is_exact):
        tracks = self.source.sample(self.timeline["tracks"], len(self.timeline["tracks"]))[:40]
        number = self.source.randrange(1 << 32)
        query = {
            "tracks": ",".join(f"{t['id']}:{t['lanes']}" for t in tracks),
            "from": start,
            "to": stop,
            "px": pixels,
            "n": number,
        }
        status, body = self.server.get("cells", **query, **({"exact": "1"} if is_exact else {}))
        assert status == 200, (status, body[:200])
        head, lanes, cells = unpack(body, b"OSCT", "<IHHII", "<iIIIHBB")
        level = max(0, ((stop - start) // pixels).bit_length() - 1)
        if not is_exact:
            start = start >> level << level
            stop = ((stop - 1) >> level) + 1 << level
            pixels = (stop - start) >> level
        unit = max(0, level - 8)
        self.equal(
            "head",
            [head[k] for k in ("flags", "t0", "unit_log2", "level", "request", "width")],
            [int(is_exact), start, unit, level, number, stop - start],
        )
        at = 0
        for track in tracks:
            expected, is_crowded = self.lanes[self.key_of(track)]
            for depth, lane in enumerate(expected):
                overlaps = is_crowded and depth + 1 == LANES_MAX
                got = cells[lanes[at][3] : lanes[at][3] + lanes[at][4]]
                self.equal("lane", lanes[at][:3], (track["id"], depth, int(overlaps)))
                at += 1
                if not overlaps:
                    self.check_cells(
                        got,
                        cells_of(lane, start, stop, pixels),
                        (start, stop, pixels, unit),
                        head["durations"],
                    )
        self.equal("lanes", len(lanes), at)

    def check_cells(self, got, expected, window, durations):
        start, stop, pixels, unit = window
        far = 1 << 30
        end_of_window = (stop - start >> unit) + far
        self.equal("number of cells", len(got), len(expected))
        for cell, (a, b, event, count, busy) in zip(got, expected):
            left = min(max(a - start >> unit, -far), end_of_window)
            right = min(max(b - start >> unit, -far), end_of_window)
            width = max(b - a, (stop - start) // pixels)
            share = 255 if count == 1 or busy >= width else busy * 255 // width
            self.equal(
                "cell",
                (*cell[:3], self.names[cell[3]], *cell[4:6]),
                (left, right - left, event.number, event.name, min(count, 65535), share),
            )
            kind = self.timeline["kinds"][cell[6]] if cell[6] != COMMUNICATION else "kernel"
            self.equal("kind", kind, event.kind)
            is_long = count == 1 and b - a >= 32 * ((stop - start) // pixels)
            self.equal("duration", durations.get(event.number), b - a if is_long else None)

    def check_flows(self, rows):
        """Arrows of random windows and tracks: each that the rules give, once."""
        self.check_arrows(rows, {"all"})
        self.check_arrows(rows, {"all", "no_frames", "packed"})

    def check_arrows(self, rows, variants):
        """Where a track has several sets of lanes, the last one of VARIANTS is asked for."""
        order = ["all", "no_frames", "packed", "domain"]
        track_of = {
            event.number: track["id"]
            for track in sorted(self.timeline["tracks"], key=lambda t: order.index(t["of"]))
            if track["of"] in variants
            for lane in self.lanes[self.key_of(track)][0]
            for event in lane
            if "no_frames" not in variants or event.kind != "python"
        }
        arrows = arrows_of(rows, self.drawn, track_of)
        ends = [at for arrow in arrows for at in arrow[2:4]]
        tracks = sorted(set(track_of.values()))
        for _ in range(6):
            if not tracks:
                return
            low, high = sorted(self.source.choices(ends or [0, 1000], k=2))
            asked = self.source.sample(tracks, self.source.randint(1, len(tracks)))
            query = {
                "from": low,
                "to": high + 1,
                "px": 1000,
                "exact": 1,
                "tracks": ",".join(map(str, asked)),
            }
            status, body = self.server.get("flows", **query)
            assert status == 200, (status, body[:300])
            head, _, bundles = unpack(body, b"OSCF", "<", "<IIiiIIHBB")
            wanted = [
                a
                for a in arrows
                if a[4] in asked
                and a[5] in asked
                and (low <= a[2] <= high or low <= a[3] <= high)
            ]
            unit, far = 1 << head["unit_log2"], 1 << 30
            if len(wanted) <= 500:
                got = [(b[0], b[1], b[4], b[5], b[6], b[7]) for b in bundles]
                self.equal("arrows", got, [(a[0], a[1], a[4], a[5], 1, a[6]) for a in wanted])
                self.equal(
                    "their times",
                    [(b[2], b[3]) for b in bundles],
                    [
                        tuple(
                            min(max((at - low) // unit, -far), (high + 1 - low) // unit + far)
                            for at in a[2:4]
                        )
                        for a in wanted
                    ],
                )
                continue
            sums = collections.Counter((a[4], a[5], a[6]) for a in wanted)
            found = collections.Counter()
            for b in bundles:
                found[(b[4], b[5], b[7])] += b[6]
            self.equal("number of bundles", 0 < len(bundles) <= 500, True)
            if not head["flags"] & 2:
                self.equal("arrows in bundles", found, sums)
            else:
                self.equal("no more arrows than there are", found <= sums, True)

    def check_event(self, rows):
        for number in self.source.sample(range(len(rows)), min(30, len(rows))):
            row, event = rows[number], self.server.json(f"event/{number}")
            self.equal(
                "event",
                [str(event[k]) for k in ("id", "kind", "category", "name", "start_ns")],
                [row[k] for k in ("id", "kind", "category", "name", "start_ns")],
            )
            self.equal(
                "duration", event["dur_ns"], int(row["dur_ns"]) if row["dur_ns"] else None
            )
            self.equal("args", event["args"], json.loads(row["args"]) if row["args"] else {})
            linked = {link["relation"]: link["event"] for link in event["links"]}
            for relation, column in (
                ("parent", "parent_id"),
                ("launched_by", "launch_id"),
                ("operator", "op_id"),
                ("forward", "fwd_id"),
            ):
                told = row.get(column, "")
                self.equal(relation, linked.get(relation), int(told) if told else None)
            others = [
                (link["relation"], link["event"])
                for link in event["links"]
                if link["relation"] in ("leads_to", "comes_from")
            ]
            told = []
            for arrow in self.drawn:
                if arrow["kind"] in ("launch", "fwdbwd") or "" in (
                    arrow["from_id"],
                    arrow["to_id"],
                ):
                    continue
                told += [("leads_to", int(arrow["to_id"]))] * (int(arrow["from_id"]) == number)
                told += [("comes_from", int(arrow["from_id"]))] * (
                    int(arrow["to_id"]) == number
                )
            if len(event["links"]) < 64:
                self.equal("other arrows", others, told)
        status, _ = self.server.get(f"event/{len(rows)}")
        self.equal("an event that does not exist", status, 404)


def many_queues(place, source):
    """A trace of graphs whose kernels lie on many queues, launched below Python frames."""
    events = []
    for step in range(40):
        at = 1000 * step
        events.append(
            {
                "ph": "X",
                "cat": "python_function",
                "name": f"train.py({step}): step",
                "pid": 1,
                "tid": 1,
                "ts": at,
                "dur": 900,
            }
        )
        events.append(
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "aten::mm",
                "pid": 1,
                "tid": 1,
                "ts": at + 10,
                "dur": 800,
            }
        )
        events.append(
            {
                "ph": "X",
                "cat": "python_function",
                "name": "ops.py(7): f",
                "pid": 1,
                "tid": 1,
                "ts": at + 20,
                "dur": 700,
            }
        )
        for k in range(20):
            number = 20 * step + k
            events.append(
                {
                    "ph": "X",
                    "cat": "cuda_runtime",
                    "name": "cudaLaunchKernel",
                    "pid": 1,
                    "tid": 1,
                    "ts": at + 30 + 20 * k,
                    "dur": 10,
                    "args": {"correlation": number},
                }
            )
            queue = 7 if k < 3 else 20 + source.randrange(40)
            cat = source.choice(["kernel", "kernel", "gpu_memcpy"])
            events.append(
                {
                    "ph": "X",
                    "cat": cat,
                    "name": f"{cat} {k % 5}",
                    "pid": 0,
                    "tid": queue,
                    "ts": at + 50 + 20 * k,
                    "dur": 300 if queue == 7 else 40,
                    "args": {"correlation": number, "stream": queue, "device": 0},
                }
            )
    path = Path(place) / "queues.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def recording_of_domains(place, opscope):
    """A recording of a program that calls ITT with several domains on two threads."""
    client, out = Path(place) / "client", Path(place) / "recordings"
    sources = ROOT / "tests" / "sources" / "client.c"
    subprocess.run(
        [
            "cc",
            "-O1",
            str(sources),
            "-o",
            str(client),
            f"-I{ROOT}/src",
            "-D_GNU_SOURCE",
            "-lpthread",
            "-ldl",
        ],
        check=True,
    )
    out.mkdir()
    collector = opscope.parent / "libopscope-collect.so"
    subprocess.run(
        [str(client), "domains"],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "INTEL_LIBITTNOTIFY64": str(collector), "OPSCOPE_OUT": str(out)},
    )
    return next(out.glob("*.osc"))


def traces(place, options):
    if options.traces:
        yield from options.traces
        return
    yield from sorted((ROOT / "tests" / "data").glob("*.json.gz"))
    if SHARED.is_dir():
        yield from sample.of(
            sorted(p for p in SHARED.rglob("*.json.gz") if p.stat().st_size <= LARGEST)
        )
    yield many_queues(place, random.Random(options.seed))
    yield recording_of_domains(place, options.opscope.resolve())
    for i in range(options.random):
        path = Path(place) / f"random-{i}.json"
        path.write_bytes(randomtrace.data(options.seed * 1_000_003 + i))
        yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default=ROOT / "build-gcc" / "opscope", type=Path)
    parser.add_argument("--random", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("traces", nargs="*", type=Path)
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as place:
        for path in traces(place, options):
            check = Check(options.opscope.resolve(), path, random.Random(path.name))
            try:
                check.run()
            except Exception:  # the other traces go on
                check.failed += 1
                print(f"FAILED {path.name}: {traceback.format_exc()[-800:]}")
            passed += check.passed
            failed += check.failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
