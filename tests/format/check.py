#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: records-format
# args: --opscope {gcc}/opscope --count 8 --flips
# full: --opscope {gcc}/opscope --count 4000 --flips
# turn: 5
"""Compare how opscope and the reader written from docs/format.md read recordings.

    check.py [--opscope PATH] [--recorder PATH] [--count N] [--seed N] [--flips] [FILE...]

Makes N random recordings with records of every kind, in files, live directories and
both, and compares the events of both readers; lets the recorder make some that end, are
killed, still run or come in parts, and compares those and the FILEs, too. --flips flips every byte
of a small file, one at a time: opscope must not fail, must read every other chunk, and must report
what was lost; info --verify must detect each flip. Ends with "N passed, N failed".
"""

import argparse
import concurrent.futures
import copy
import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import example
import reader
import writer as w

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

from twin import wild  # noqa: E402

# By the argument Device Type; 64 is the first number that torch does not use.
DEVICES = {0: "cpu", 1: "cuda", 12: "xpu"}


def run(opscope, *args):
    return subprocess.run(
        [opscope, *map(str, args)],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
        timeout=120,
    )


# --- random recordings -----------------------------------------------------------------


class Random:
    """A random recording, determined by the seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.rec = w.Recording(pid=self.rng.randrange(2, 1 << 22))
        self.now = self.rng.choice([0, 10**6, 10**15])
        self.hz = self.rng.choice([10**9, 24_000_000, 2_893_437_001, 3_000_000_000])
        self.start, self.begun = self.now, []
        self.next_step = self.rng.randrange(5)
        self.make()

    def tick(self):
        self.now += self.rng.choice([0, 1, 7, 100, 3000, 10**6])
        return self.now

    def name(self):
        return self.rng.choice(
            ["aten::mm", "f", "", "a\x00b", "\xe4\u4e2d", "conv2d", "x" * 300]
        )

    def frames(self):
        """Frames of a stack: outer ones that many stacks share, and inner ones of its own."""
        rng = self.rng
        outer = [0x7F1200000000 + 977 * i for i in range(rng.choice([0, 1, 5, 100]))]
        inner = [
            rng.choice([1, rng.randrange(1, 1 << 20), rng.randrange(1, 1 << 64)])
            for _ in range(rng.randrange(4))
        ]
        return inner + outer[::-1]

    def torch(self, t):
        """Arguments that PyTorch adds to threads and ranges."""
        rng = self.rng
        key = rng.choice(
            ["torch thread", "Python returned", "Sequence number", "Fwd thread id"]
        )
        if rng.random() < 0.3:
            t.arg("Is asynchronous", rng.random() < 0.5)
        else:
            t.arg(key, rng.randrange(1, 4))

    def args(self, t):
        rng = self.rng
        if rng.random() < 0.2:
            self.torch(t)
        while rng.random() < 0.4:
            key = rng.choice(["a", "b", "Input Dims", "c d"])
            pick = rng.randrange(9)
            if pick == 0:
                t.arg(key, rng.choice([0, -1, 1 << 40, -(1 << 63), (1 << 63) - 1]))
            elif pick == 1:
                t.arg(key, rng.choice([0.5, -1e300, float("nan"), float("inf"), 2.0**-1074]))
            elif pick == 2:
                t.arg(key, rng.random() < 0.5)
            elif pick == 3:
                t.arg_name(key, self.name())
            elif pick == 4:
                t.arg(key, [rng.randrange(-1 << 63, 1 << 63) for _ in range(rng.randrange(4))])
            elif pick == 5:
                t.arg(key, rng.choice(["", "text", 'quote"\\', "y" * 3072]))
            elif pick == 6:
                t.stack(self.frames(), rng.randrange(3))
            else:
                texts = ["[[8,3],[]]", '{"a": 1}', "17", "no json", "", "[1"]
                if rng.random() < 0.5:
                    t.json(key, rng.choice(texts))
                else:
                    t.args(
                        [(x, rng.choice(texts)) for x in rng.choice([(), (key,), ("a", "b")])]
                    )

    def call(self, t):
        rng, tick = self.rng, self.tick
        kind = rng.randrange(11)
        pick = rng.randrange(21)
        if pick < 6:
            t.begin(kind, self.name(), tick())
            self.begun.append(self.now)
        elif pick == 6 and self.begun and rng.random() < 0.5:
            begun = rng.choice(self.begun[-rng.choice([8, 600]) :])
            if self.begun.count(begun) == 1:
                t.end_of(begun, tick())
        elif pick < 12:
            t.end(tick())
        elif pick == 12:
            t.complete(kind, self.name(), self.now, tick())
        elif pick == 13:
            t.instant(self.name(), tick())
        elif pick == 14:
            t.add(w.COUNTER_I64, tick(), t.name("n"), words=(rng.randrange(-9, 9), 0))
            t.add(w.COUNTER_F64, tick(), t.name("d"), words=(w.f64(rng.random()), 0))
        elif pick == 15:
            words = [rng.randrange(1 << 48), rng.randrange(1 << 20)]
            if rng.random() < 0.5:
                t.add(rng.choice([w.ALLOC, w.FREE]), tick(), rng.randrange(3), words=words)
            else:
                words += [rng.choice([w.UNKNOWN, 5000]), rng.choice([w.UNKNOWN, 9000])]
                t.add(
                    rng.choice([w.ALLOC_TOTAL, w.FREE_TOTAL]),
                    tick(),
                    rng.randrange(3),
                    words=words,
                )
        elif pick == 16:
            t.add(w.STEP_BEGIN, tick(), words=(self.next_step, rng.randrange(2)))
            self.next_step += 1
            if rng.random() < 0.5:
                t.add(w.STEP_END, tick())
        elif pick == 17:
            t.add(rng.choice([w.FLOW_BEGIN, w.FLOW_END]), tick(), words=(rng.randrange(3), 0))
        elif pick == 18:
            t.add(
                rng.choice([w.ASYNC_BEGIN, w.ASYNC_BEGIN, w.ASYNC_END]),
                tick(),
                t.name(self.name()),
                words=(rng.choice([1, 2, (1 << 64) - 1]), kind),
            )
        elif pick == 19:
            at = [rng.randrange(1, 10**7) for _ in range(4)]
            t.add(
                w.WORK,
                tick(),
                t.name("kernel"),
                words=(
                    rng.randrange(3) | rng.randrange(3) << 32,
                    rng.randrange(4),
                    *sorted(at),
                    rng.randrange(2) * 64,
                    0,
                ),
            )
        else:
            t.add(rng.choice([w.LAUNCH, w.LOST, w.PAUSE, w.RESUME]), tick(), words=())
            r = t.records[-1]
            r.words = [rng.randrange(1, 4), 0] if r.kind == w.LAUNCH else []
            if r.kind == w.LOST:
                r.ident = rng.randrange(4)
                t.lost[r.ident] += rng.randrange(1, 4)
        self.args(t)

    def devices(self, t):
        rng = self.rng
        t.add(w.DEVICE, self.now, t.name("cuda"), words=(1, 0, 1 << 34, 0))
        t.add(w.DEVICE, self.now, t.name("xpu"), words=(2, 3, 0, rng.choice([0, 10**9])))
        t.add(w.QUEUE, self.now, t.name("first"), words=(1, 1))
        t.add(w.QUEUE, self.now, t.name(""), words=(2, 2))
        for _ in range(rng.randrange(5)):
            t.add(
                w.DEVICE_CLOCK,
                self.now + rng.randrange(10**7),
                rng.randrange(1, 3),
                words=(rng.randrange(10**9), rng.randrange(100)),
            )

    def make(self):
        rng, rec = self.rng, self.rec
        threads = [rec.thread(rng.choice([71, 72, 73])) for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.7:
            self.devices(threads[0])
        for _ in range(rng.randrange(80)):
            t = rng.choice(threads)
            self.call(t)
            if len(t.records) > 90 or rng.random() < 0.05:
                t.flush()
        for _ in range(rng.randrange(3)):
            rec.modules.append(
                [
                    (start, start + (1 << 16), rng.randrange(4) << 12, path)
                    for start, path in (
                        (1 << 16, "/no/such/liba.so"),
                        (1 << 19, "b;c"),
                        (0x7F1200000000, "/no/libtorch.so"),
                    )
                    if rng.random() < 0.7
                ]
            )
        threads[0].add(w.METADATA, None, rec.name("model"), rec.name("tiny"))
        for i in range(rng.randrange(6)):
            ticks = self.start + (self.now - self.start) * i // 4 + i
            rec.anchor(ticks, 10**9 + (ticks - self.start) * 10**9 // self.hz + i * 3)

    def write_parts(self, folder):
        """Write the recording as one file and in parts, which begin with copies of records that
        still apply. Returns the paths."""
        rng, rec = self.rng, self.rec
        for t in rec.threads:
            t.flush()
        whole, parts = os.path.join(folder, "whole.osc"), os.path.join(folder, "parts")
        rec.write(whole, index=rng.random() < 0.5)
        os.mkdir(parts)
        n, first = len(rec.chunks), rng.randrange(1, 4)
        cuts = sorted(rng.randrange(n + 1) for _ in range(rng.randrange(1, 12)))
        for i, (a, b) in enumerate(zip([0, *cuts], [*cuts, n])):
            rec.part, order = first + i, list(range(a, b))
            if a and rng.random() < 0.5:
                copies = [copy.copy(s) for s in rec.chunks[rng.randrange(a)]]
                for s in copies:
                    s.is_copy = True
                order.insert(0, len(rec.chunks))
                rec.chunks.append(copies)
            name = f"a.{rec.part}.osc" if rec.part > 1 else "a.osc"
            rec.write(
                os.path.join(parts, name),
                index=rng.random() < 0.5,
                order=order,
                end=1 if i == len(cuts) else 2,
            )
        return whole, parts

    def write(self, path):
        """Write a file, a live directory, or both. Returns the path for readers."""
        rng, rec = self.rng, self.rec
        form = rng.randrange(4)
        if form == 0:  # one file, in which delayed blocks follow later ones
            for t in rec.threads:
                t.flush()
            order = list(range(len(rec.chunks)))
            if rng.random() < 0.5:
                rng.shuffle(order)
            rec.write(path, index=rng.random() < 0.5, order=order)
            return path
        blocks = [
            (s, rng.random() < 0.5)
            for s in [t.flush(chunk=False) for t in rec.threads]
            if s.records
        ]
        torn = [
            (i, rng.choice(s.heads())) for i, (s, _) in enumerate(blocks) if rng.random() < 0.5
        ]
        ticks = [r.ticks for s, _ in blocks for r in s.records if r.ticks is not None]
        rec.window_begin = rng.choice([0, 0, 0, 2**64 - 1, *ticks[:20]])
        if rec.window_begin:
            rec.lost_before = [rng.randrange(4) for _ in range(4)]
        if form < 3:
            rec.write(path, index=False, end=0)
        if form > 1:
            live = rec.write_live(path, blocks, torn=torn)
            return live if form == 3 else path
        return path


# --- comparing both readers -----------------------------------------------------------------


def device_types(opscope, path):
    """Names of device types by number, including those that only the recording has."""
    prefix, names = "meta.device_type.", dict(DEVICES)
    done = run(opscope, "table", "info", path, "--format", "csv")
    for row in csv.DictReader(io.StringIO(done.stdout.decode())):
        if row["key"].startswith(prefix):
            names[int(row["key"][len(prefix) :])] = row["value"]
    return names


def as_args(row, types):
    args = json.loads(row["args"]) if row["args"] else {}
    if row["name"] == "[memory]" and "Device Type" in args:
        number, index = args.pop("Device Type"), args.pop("Device Id")
        args["device"] = types[number] + (f":{index}" if number else "")
        args["Addr"] = int(args["Addr"])
    return args


def theirs(opscope, path):
    done = run(opscope, "table", "events", path, "--format", "csv")
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode()[:300]}")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    keys, types = [], device_types(opscope, path)
    for row in rows:
        name = row["name"].replace("\u2400", "\0")  # the form that CSV uses
        e = reader.Event(
            name,
            row["process"],
            row["thread"],
            int(row["start_ns"]),
            int(row["dur_ns"]) if row["dur_ns"] else None,
        )
        e.args = as_args(row, types)
        keys.append(e.key())
    return sorted(keys)


class Time:
    """When EVENT runs."""

    def __init__(self, event):
        self.event, self.start = event, event.start
        self.end = None if event.dur is None else event.start + event.dur


class Timed:
    """Events of a recording as the twin of analysis takes them."""

    def __init__(self, events):
        self.records, self.kept, self.members = [], {}, {"opscope_version"}
        self.events = list(map(Time, events))

    def count(self, _code, ns):
        pass


CAUSES = ("dropped_full", "dropped_too_big", "dropped_nested", "dropped_late")


def their_losses(opscope, path):
    """How many records were lost, by cause, as the table `quality` has it."""
    done = run(opscope, "table", "quality", path, "--format", "csv")
    rows = csv.DictReader(io.StringIO(done.stdout.decode()))
    counts = {row["code"]: int(row["count"]) for row in rows}
    return [counts.get(code, 0) for code in CAUSES]


def ours(path):
    rec, maker = reader.read(path)
    timed = Timed(maker.events)
    wild.leave_out(timed)
    origin = min((t.start for t in timed.events), default=0)
    for t in timed.events:
        t.event.start -= origin
        t.event.dur = None if t.end is None else t.event.dur
    return sorted(t.event.key() for t in timed.events), rec.losses()


def without_times(keys):
    return sorted(k[:3] + k[5:] for k in keys)


def with_depths(keys):
    """Replace stacks by their number of frames, because opscope shows names if there are
    symbols."""
    return sorted(
        (
            *k[:5],
            re.sub(
                r'("Call stack": )"([^"]*)"', lambda m: m[1] + str(m[2].count(";") + 1), k[5]
            ),
        )
        for k in keys
    )


def compare(opscope, path, with_times=True, with_frames=True):
    """The difference, or None."""
    got, (want, losses) = theirs(opscope, path), ours(path)
    if not with_frames:
        got, want = with_depths(got), with_depths(want)
    if not with_times:
        got, want = without_times(got), without_times(want)
    if got == want and their_losses(opscope, path) != losses:
        return f"lost: opscope: {their_losses(opscope, path)}, reader: {losses}"
    if got == want:
        return None
    lines = [f"opscope: {k}" for k in sorted(set(got) - set(want))[:4]]
    lines += [f"reader:  {k}" for k in sorted(set(want) - set(got))[:4]]
    return "\n".join(line[:300] for line in lines) or f"{len(got)} and {len(want)} events"


def check_random(opscope, seed):
    with tempfile.TemporaryDirectory(prefix="format-") as scratch:
        path = Random(seed).write(os.path.join(scratch, "a.osc"))
        try:
            return compare(opscope, path)
        except Exception as e:  # pylint: disable=broad-except
            return f"{type(e).__name__}: {e}"


def check_parts(opscope, seed):
    """Check that parts are read like the same recording in one file."""
    with tempfile.TemporaryDirectory(prefix="format-") as scratch:
        whole, parts = Random(seed).write_parts(scratch)
        wrong = compare(opscope, parts)
        if wrong is None and theirs(opscope, parts) != theirs(opscope, whole):
            wrong = "the parts are not the whole"
        return wrong


# --- the recorder --------------------------------------------------------------------------


def record(recorder, mode, scratch):
    """Let the recorder make a recording; yields when it can be read."""
    path = os.path.join(scratch, f"{mode}.osc")
    with subprocess.Popen(
        [recorder, path, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        if mode == "wait":
            program.stdout.readline()
        else:
            program.wait()
        yield path
        program.communicate()
        if program.returncode != (-9 if mode.endswith("kill") else 0):
            raise RuntimeError(f"{mode}: exit {program.returncode}")


def codes(opscope, path):
    done = run(opscope, "table", "quality", path, "--format", "csv", "--columns", "code")
    return done.stdout.decode().split()


def check_recorder(opscope, recorder, mode):
    """Check how a recording of MODE is read. Returns the error, or None."""
    expected = "killed" if mode.endswith("kill") else {"wait": "still_recording"}.get(mode)
    with tempfile.TemporaryDirectory(prefix="record-") as scratch:
        for path in record(recorder, mode, scratch):
            parts = sorted(pathlib.Path(scratch).glob("*.osc"))
            for part in parts[-2:]:
                # While it records, anchors are added, and times become more exact.
                wrong = compare(
                    opscope, str(part), with_times=mode != "wait", with_frames=False
                )
                if wrong:
                    return f"{part.name}: {wrong}"
            if mode == "dumpkill":  # records after the dump are a separate span
                wrong = compare(opscope, f"{path}.live", with_frames=False)
                if wrong:
                    return f"the live directory: {wrong}"
            facts = run(opscope, "table", "info", scratch, "--format", "csv").stdout
            if not re.search(rb"\bmeta.model,none\r?\n", facts):
                return "there is no metadata"
            if mode.startswith("parts"):
                wrong = compare(opscope, scratch, with_frames=False)
                if wrong:
                    return f"all parts: {wrong}"
            found = set(codes(opscope, scratch))
            if found & {"killed", "still_recording"} != ({expected} if expected else set()):
                return f"quality has {sorted(found)}"
            if found & {"corrupt", "truncated", "lost_records", "lost_name"}:
                return f"quality has {sorted(found)}"
            if run(opscope, "info", "--verify", scratch).returncode != 0:
                return "info --verify is not content"
            if mode == "partskill":  # as if it had been killed when the last part began
                os.truncate(max(parts, key=reader.part_of), 0)
                wrong = compare(opscope, scratch, with_frames=False)
                if wrong:
                    return f"all parts, the last one empty: {wrong}"
            if mode.startswith("part") and [p.name for p in parts] == [f"{mode}.osc"]:
                return "there are no parts"
    return None


# --- parts of a killed recording ---------------------------------------------------------


def check_torn(opscope, n_cut):
    """Check a recorder that was killed N_CUT bytes before the end of a chunk. Returns the error, or
    None."""
    rec = w.Recording()
    rec.anchor(1, 10**9)
    t = rec.thread(71)
    for i in range(2):
        t.complete(w.PLAIN, f"chunk {i}", 100 * i + 10, 100 * i + 20)
        t.flush()
    with tempfile.TemporaryDirectory(prefix="torn-") as scratch:
        path = os.path.join(scratch, "a.osc")
        pathlib.Path(path).write_bytes(rec.content(index=False, end=0)[:-n_cut])
        rec.write_live(path, [(rec.chunks[1][0], True)])
        wrong = compare(opscope, path)
        if wrong:
            return wrong
        if {"truncated", "corrupt", "lost_records"} & set(codes(opscope, path)):
            return f"quality has {codes(opscope, path)}"
        if run(opscope, "info", "--verify", path).returncode != 0:
            return "info --verify is not content"
        shutil.rmtree(path + ".live")
        if not {"truncated", "corrupt"} & set(codes(opscope, path)):
            return f"without what lives, quality has {codes(opscope, path)}"
        if run(opscope, "info", "--verify", path).returncode == 0:
            return "info --verify is content without what lives"
    return None


def killed_between_parts(scratch, ended, follower):
    """Write part 1, which ended for the reason ENDED, its live directory, and FOLLOWER as part
    2."""
    rec = w.Recording()
    rec.anchor(1, 10**9)
    t = rec.thread(71)
    t.complete(w.PLAIN, "written", 10, 20)
    t.flush()
    path = os.path.join(scratch, "a.osc")
    rec.write(path, end=ended)
    t.complete(w.PLAIN, "alive", 30, 40)
    rec.write_live(path, [(t.flush(chunk=False), False)])
    if follower is not None:
        pathlib.Path(scratch, "a.2.osc").write_bytes(follower)
    return path


def check_between_parts(opscope, ended, follower, expected, is_killed):
    """Check a recorder that was killed after it had ended part 1. EXPECTED are the names of the
    events of each part, IS_KILLED is whether the end is reported as a kill. Returns the error, or
    None."""
    with tempfile.TemporaryDirectory(prefix="between-") as scratch:
        path = killed_between_parts(scratch, ended, follower)
        for part, names in zip((path, path.replace(".osc", ".2.osc")), expected):
            wrong = compare(opscope, part)
            if wrong:
                return f"{os.path.basename(part)}: {wrong}"
            found = run(
                opscope, "table", "events", part, "--format", "csv", "--columns", "name"
            )
            if found.stdout.decode().split()[1:] != names:
                return f"{os.path.basename(part)}: {found.stdout.decode()!r}"
        if ("killed" in codes(opscope, scratch)) != is_killed:
            return f"quality has {codes(opscope, scratch)}"
    return None


def between_parts(opscope):
    """Every such state as (name, check)."""
    other = w.Recording(recording=(1, 2), part=2)
    for ended, follower, expected, is_killed in (
        (2, None, [["written", "alive"]], True),
        (3, None, [["written"]], True),
        (4, None, [["written"]], True),
        (2, b"", [["written"], ["alive"]], True),
        (2, other.content(), [["written", "alive"]], True),
    ):
        what = {None: "none", b"": "an empty one"}.get(follower, "one of another recording")
        yield (
            f"part 1 ended for reason {ended}, behind it {what}",
            lambda a=(ended, follower, expected, is_killed): check_between_parts(opscope, *a),
        )


def check_launch(opscope, recorder):
    """Check that work which an operator launches itself is linked to it, without a call in
    between."""
    with tempfile.TemporaryDirectory(prefix="record-") as scratch:
        for path in record(recorder, "end", scratch):
            done = run(
                opscope,
                "table",
                "kernels",
                "--group-by",
                "op",
                path,
                "--format",
                "csv",
                "--columns",
                "name,operator,calls,total_ns",
            )
            rows = done.stdout.decode().split()[1:]
            if len(rows) != 1 or not rows[0].startswith("inner,aten::op,1,"):
                return f"kernels: {rows}"
            if n_found(opscope, path, "no_launch"):
                return "work has no launch"
    return None


def without_limit(opscope, path):
    """The tables without the values that depend on the time of recording."""
    out = [
        run(opscope, "table", *table, path, "--format", "csv", "--limit", "0").stdout
        for table in (
            ("events", "--columns", "name,kind,category,device,queue,bytes"),
            ("steps", "--columns", "step,label"),
        )
    ]
    return [sorted(text.splitlines()) for text in out]


def n_found(opscope, path, code):
    done = run(opscope, "table", "quality", path, "--format", "csv", "--columns", "code,count")
    return sum(
        int(row["count"])
        for row in csv.DictReader(io.StringIO(done.stdout.decode()))
        if row["code"] == code
    )


def check_limit(opscope, recorder):
    """Check that a limit changes no table, and that each part knows what is open at its begin."""
    with (
        tempfile.TemporaryDirectory(prefix="record-") as a,
        tempfile.TemporaryDirectory(prefix="record-") as b,
    ):
        for _ in record(recorder, "allparts", a):
            pass
        for _ in record(recorder, "whole", b):
            pass
        parts = sorted(pathlib.Path(a).glob("*.osc"))
        if len(parts) < 3:
            return f"{len(parts)} parts are too few"
        if without_limit(opscope, a) != without_limit(opscope, b):
            return "the tables differ"
        # A range that is split has an extra end in one part, and an extra begin in another. Of an
        # asynchronous one, of which there is one at a time, the end is not counted behind a pause.
        alone = [
            sum(n_found(opscope, str(p), code) for p in parts)
            for code in ("unmatched_end", "unmatched_begin")
        ]
        n_left_out = n_found(opscope, b, "unmatched_end") + alone[1] - alone[0]
        if not 0 <= n_left_out < len(parts):
            return f"{alone[0] - alone[1]} ends of scopes without a begin in the parts alone"
    return None


# --- flips --------------------------------------------------------------------------------


def small_file(index):
    """Chunks of records whose scopes show which chunks were read."""
    rec = w.Recording()
    rec.anchor(1, 10**9)
    rec.anchor(10**6, 10**9 + 10**6)
    t = rec.thread(71)
    for i in range(4):
        for k in range(3):
            t.complete(w.PLAIN, f"chunk {i}", 1000 * i + 10 * k + 1, 1000 * i + 10 * k + 6)
        t.flush()
    return rec.content(index=index)


def check_flip(opscope, data, at, scratch):
    """Returns (the error or None, the number of lost records)."""
    path = os.path.join(scratch, f"{at}.osc")
    flipped = bytearray(data)
    flipped[at] ^= 1 << at % 8
    with open(path, "wb") as f:
        f.write(flipped)
    if run(opscope, "info", "--verify", path).returncode != 1:
        return f"byte {at}: info --verify sees nothing", 0
    done = run(opscope, "info", path, "--format", "json")
    if done.returncode != 0:
        return f"byte {at}: exit {done.returncode}: {done.stderr.decode()[:200]}", 0
    info, quality = json.loads(done.stdout)
    facts = dict(info["rows"])
    names = [c["name"] for c in quality["columns"]]
    found = {row[names.index("code")]: dict(zip(names, row)) for row in quality["rows"]}
    lost = found.get("lost_records", {}).get("count", 0)
    chunk = chunk_of(data, at)
    is_payload = (
        chunk and chunk.kind == 6 and chunk.offset + 64 <= at < chunk.offset + 64 + chunk.size
    )
    is_header = chunk and chunk.kind == 6 and at < chunk.offset + 64
    may_lose = is_payload or (is_header and not reader.File(bytes(data)).has_index)
    expected = 3 if may_lose else 0
    os.unlink(path)
    if lost != expected:
        return f"byte {at}: {lost} records lost instead of {expected}", lost
    if int(facts["events"]) != 12 - expected:
        return f"byte {at}: {facts['events']} events are left", lost
    if may_lose:
        first, last = (found["lost_records"].get(k) for k in ("first_ns", "last_ns"))
        i = chunk.n_before // 3
        if first is None or last is None or last < first:
            return f"byte {at}: no range of time for chunk {i}", lost
    return None, lost


def chunk_of(data, at):
    for chunk in reader.File(bytes(data)).chunks:
        if chunk.offset <= at < chunk.end:
            return chunk
    return None


def check_flips(opscope):
    failures, n, n_lossy = [], 0, 0
    with (
        tempfile.TemporaryDirectory(prefix="flips-") as scratch,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        for index in (True, False):
            data = small_file(index)
            results = pool.map(
                lambda at, d=data: check_flip(opscope, d, at, scratch), range(len(data))
            )
            for failure, lost in results:
                n += 1
                n_lossy += lost > 0
                if failure:
                    failures.append(f"{'with' if index else 'without'} index: {failure}")
    print(
        f"{n} bytes flipped one at a time: {n_lossy} cost the records of their chunk, the "
        f"others none; {len(failures)} went wrong"
    )
    return n, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", default=str(ROOT / "build-gcc/opscope"))
    parser.add_argument("--recorder", default=str(ROOT / "build-gcc/tests/format/record_all"))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flips", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    passed = failed = 0
    checks = [
        (f"seed {s}", lambda s=s: check_random(args.opscope, s))
        for s in range(args.seed, args.seed + args.count)
    ]
    checks += [
        (f"parts, seed {s}", lambda s=s: check_parts(args.opscope, s))
        for s in range(args.seed, args.seed + args.count // 2)
    ]
    checks += [(f, lambda f=f: compare(args.opscope, f, with_frames=False)) for f in args.files]
    checks += [
        (f"recorder: {m}", lambda m=m: check_recorder(args.opscope, args.recorder, m))
        for m in ("end", "kill", "wait", "parts", "partskill", "flightkill", "dumpkill")
    ]
    checks += between_parts(args.opscope)
    checks += [
        (f"a chunk torn {n} bytes before its end", lambda n=n: check_torn(args.opscope, n))
        for n in (20, 60, 100)
    ]
    checks.append(("recorder: launch", lambda: check_launch(args.opscope, args.recorder)))
    checks.append(("recorder: limit", lambda: check_limit(args.opscope, args.recorder)))
    checks.append(("the dump in docs/format.md", example.differs))
    for name, check in checks:
        wrong = check()
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong is not None:
            print(f"FAILED {name}: {wrong}")
    if args.flips:
        n, failures = check_flips(args.opscope)
        passed, failed = passed + n - len(failures), failed + len(failures)
        print("\n".join(failures[:20]))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
