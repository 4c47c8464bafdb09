# SPDX-License-Identifier: Apache-2.0
"""Compare how much of each device is used, as the server draws it, with the rule, for timeline.py.

Both values are made again, slowly, from the kernels of the table `events`: utilization is 1 while one
of them runs; SM efficiency is, between two end points, the sum of `blocks per SM` of those that run,
at most 1, in units of 2^-62 (src/derive/loads.h). Each bucket of a window has the least, the greatest
and the mean of its time; one that goes on as the bucket before it ended is left out if neither
changes (src/timeline/usage.h).
"""

import bisect
import json
import struct
from fractions import Fraction

ONE = 1 << 62
BLOCKS = "blocks per SM"
WORK = ("kernel", "memcpy", "memset")


def fill_of(args):
    """`blocks per SM` in units of 2^-62, at most 1; None: it is missing or unusable."""
    # As texts, so that a number is read as its digits say.
    value = json.loads(args or "{}", parse_int=str, parse_float=str, parse_constant=str).get(
        BLOCKS
    )
    try:
        blocks = float(value) if isinstance(value, str) else -1.0
    except ValueError:
        return None
    if not 0 < blocks <= 2.0**64:
        return None
    return max(1, min(ONE, int(Fraction(blocks) * ONE)))


def steps_of(kernels, is_efficiency):
    """[(start, end, share)] where the share of KERNELS, (start, end, fill), is not 0, in order."""
    changes = {}
    for start, end, fill in kernels:
        fill = fill if is_efficiency else ONE
        if fill is not None and end > start:
            changes[start] = changes.get(start, 0) + fill
            changes[end] = changes.get(end, 0) - fill
    steps, total, times = [], 0, sorted(changes)
    for start, end in zip(times, times[1:]):
        total += changes[start]
        if total > 0:
            steps.append((start, end, min(total, ONE)))
    return steps


def cells_of(steps, start, stop, buckets):
    """[(at, least, most, mean)] of [START, STOP)."""
    ends = [step[1] for step in steps]
    found, held = [], None
    for k in range(buckets):
        low, high = (start - (-(k + i) * (stop - start) // buckets) for i in (0, 1))
        if low == high:
            continue
        values, area, covered = set(), 0, 0
        for i in range(bisect.bisect_right(ends, low), len(steps)):
            a, b = max(low, steps[i][0]), min(high, steps[i][1])
            if a >= b:
                break
            values.add(steps[i][2])
            area += steps[i][2] * (b - a)
            covered += b - a
        if covered < high - low:
            values.add(0)
        if values != held:
            found.append((low, min(values), max(values), Fraction(area, ONE * (high - low))))
        held = values if len(values) == 1 else None
    return found


def as_single(share):
    return struct.unpack("<f", struct.pack("<f", float(Fraction(share, ONE))))[0]


class UsageCheck:
    """The use of all devices of the run of CHECK."""

    def __init__(self, check, rows):
        self.check, self.rows = check, rows

    def run(self):
        self.find_kernels()
        self.check_list()
        series = [
            s
            for s in self.check.timeline["series"]
            if s["sort"] in ("utilization", "sm_efficiency")
        ]
        steps = {
            s["id"]: steps_of(self.kernels[s["device"]], s["sort"] == "sm_efficiency")
            for s in series
            if s["device"] in self.kernels
        }
        first, last = self.check.timeline["from_ns"], self.check.timeline["to_ns"]
        whole, source = max(1, last - first), self.check.source
        if not steps:
            return
        self.check_window(steps, first, last + 1, 1000, True)
        for _ in range(12):
            width = max(1, whole >> source.randrange(20))
            start = first + source.randrange(-width, whole)
            self.check_window(
                steps, start, start + width, source.randrange(1, 1500), source.random() < 0.5
            )

    def find_kernels(self):
        """{device: [(start, end, fill)]}, and {device: process of its first queue that worked}."""
        self.kernels, order, queues = {}, {}, {}
        for row in self.rows:
            track = (row["process"], row["thread"])
            order.setdefault(track, len(order))
            if row["kind"] not in WORK or row["dur_ns"] == "" or row.get("device", "") == "":
                continue
            queues.setdefault(row["device"], set()).add(track)
            if row["kind"] == "kernel":
                start = int(row["start_ns"])
                self.kernels.setdefault(row["device"], []).append(
                    (start, start + int(row["dur_ns"]), fill_of(row["args"]))
                )
        self.process = {
            device: min(tracks, key=order.get)[0] for device, tracks in queues.items()
        }

    def check_list(self):
        told = sorted(
            (s["device"], s["sort"], s["process"], s["capacity_bytes"])
            for s in self.check.timeline["series"]
            if s["sort"] in ("utilization", "sm_efficiency")
        )
        wanted = [(d, "utilization", self.process[d], None) for d in self.kernels]
        wanted += [
            (d, "sm_efficiency", self.process[d], None)
            for d in self.kernels
            if steps_of(self.kernels[d], True)
        ]
        self.check.equal("use of devices", told, sorted(wanted))

    def check_window(self, steps, start, stop, pixels, is_exact):
        asked = self.check.source.sample(sorted(steps), len(steps))[:8]
        status, body = self.check.server.get(
            "values",
            series=",".join(map(str, asked)),
            px=pixels,
            to=stop,
            **{"from": start},
            **({"exact": "1"} if is_exact else {}),
        )
        assert status == 200, (status, body[:200])
        head, series, cells = self.check.unpack(body, b"OSCV", "<IIII", "<ifff")
        level = max(0, ((stop - start) // pixels).bit_length() - 1)
        if not is_exact:
            start = start >> level << level
            stop = ((stop - 1) >> level) + 1 << level
            pixels = (stop - start) >> level
        self.check.equal("start of values", head["t0"], start)
        for (number, _, first, count), wanted in zip(series, asked, strict=True):
            self.check.equal("series", number, wanted)
            self.check_cells(
                cells[first : first + count],
                cells_of(steps[number], start, stop, pixels),
                start,
                head["unit_log2"],
            )

    def check_cells(self, got, expected, start, unit):
        self.check.equal("number of values", len(got), len(expected))
        for (at, least, most, mean), (low, least_is, most_is, mean_is) in zip(got, expected):
            self.check.equal(
                "value",
                (at, least, most),
                (low - start >> unit, as_single(least_is), as_single(most_is)),
            )
            # A single has 24 bits.
            is_near = abs(Fraction(mean) - mean_is) <= mean_is / 2**23
            self.check.equal("mean", mean if not is_near else None, None)
