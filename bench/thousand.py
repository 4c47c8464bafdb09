#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure tables of very many ranks, compared with loading them, and their memory.

usage: thousand.py OPSCOPE SCRATCH FOLDER [RANKS [REPEATS]]

Makes RANKS (1000) ranks in SCRATCH out of the traces of a run in FOLDER, in turn: each has the
events of its trace REPEATS (5) times, one after the other, with ids and steps of their own, so that
six traces of 1 MB make ranks of 6 MB. Prints samples of ROUNDS alternating rounds: "TABLE/seconds"
(wall), "TABLE/cpu", "TABLE/bytes" (peak memory of the process) with all ranks and "TABLE/quarter"
with a quarter of them; "load" is `threads`, which only reads. Then the ratios of medians, and of
the least. The ranks are removed at the end.
"""

import gzip
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import time

TABLES = ("ranks", "collectives", "stragglers")
ROUNDS = 1 if "BENCH_SMOKE" in os.environ else 3
IDS = ("External id", "correlation", "Ev Idx")
STEP = "ProfilerStep#"


def read(path):
    """The trace in the file PATH."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.load(file)


def ids_of(event):
    """Its ids, by which events are joined."""
    args = event.get("args") or {}
    return [i for i in [event.get("id"), *map(args.get, IDS)] if isinstance(i, int)]


def again(event, after, more):
    """EVENT once more, AFTER microseconds later, with ids that are MORE."""
    event = dict(event, ts=event["ts"] + after)
    if "id" in event:
        event["id"] += more
    if "args" in event:
        event["args"] = {
            k: v + more if k in IDS and isinstance(v, int) else v
            for k, v in event["args"].items()
        }
    return event


def enlarge(trace, repeats, length):
    """The text of TRACE with its events REPEATS times, each LENGTH after the one before, behind
    the text of its metadata."""
    timed = [e for e in trace["traceEvents"] if "ts" in e and e.get("ph") != "M"]
    events = [e for e in trace["traceEvents"] if e.get("ph") == "M"]
    stride = max((i for e in timed for i in ids_of(e)), default=0) + 1
    for number in range(repeats):
        for event in timed:
            event = again(event, number * length, number * stride)
            if event.get("name", "").startswith(STEP):
                event["name"] = STEP + str(int(event["name"][len(STEP) :]) + number)
            events.append(event)
    return ",\n".join(map(json.dumps, events))


def length_of(traces):
    """A time after which all traces are over."""
    times = [
        e["ts"] + e.get("dur", 0)
        for t in traces
        for e in t["traceEvents"]
        if "ts" in e and e.get("ph") != "M"
    ]
    return max(times) - min(times) + 1000


def make(folder, source, n_ranks, repeats):
    """Make the ranks, all in one folder and a quarter in another."""
    traces = [read(os.path.join(source, name)) for name in sorted(os.listdir(source))]
    length = length_of(traces)
    texts = [enlarge(t, repeats, length) for t in traces]
    places = [os.path.join(folder, name) for name in ("all", "quarter")]
    for place in places:
        os.makedirs(place)
    for rank in range(n_ranks):
        kind = rank % len(traces)
        head = {k: v for k, v in traces[kind].items() if k != "traceEvents"}
        head["distributedInfo"] = dict(
            head.get("distributedInfo") or {}, rank=rank, world_size=n_ranks
        )
        path = os.path.join(places[0], "rank%d.json" % rank)
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n' + texts[kind] + "]}\n")
        if rank < n_ranks // 4:
            os.link(path, os.path.join(places[1], "rank%d.json" % rank))
    return places


def ask(opscope, table, folder):
    """Returns wall time and processor time in seconds, and the peak memory in bytes."""
    command = [opscope, "table", table, folder, "--format", "csv"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        said = child.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        sys.exit("%s failed: %s" % (" ".join(command), said))
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def measure(opscope, everything, quarter):
    """Print samples, and how each table compares with loading."""
    samples = {}
    for table in TABLES:
        print("%s/quarter %d" % (table, ask(opscope, table, quarter)[2]), flush=True)
    for _ in range(ROUNDS):
        for name in ("load", *TABLES):
            found = ask(opscope, "threads" if name == "load" else name, everything)
            for what, value in zip(("seconds", "cpu", "bytes"), found):
                samples.setdefault((name, what), []).append(value)
                print("%s/%s %.9g" % (name, what, value), flush=True)
    for table in TABLES:
        print(
            "# %s: x loading: wall %.2f, least %.2f; processor %.2f, least %.2f"
            % (
                table,
                *(
                    how(samples[table, what]) / how(samples["load", what])
                    for what in ("seconds", "cpu")
                    for how in (statistics.median, min)
                ),
            ),
            flush=True,
        )


def main():
    opscope, folder, source = sys.argv[1:4]
    n_ranks, repeats = (list(map(int, sys.argv[4:6])) + [1000, 5][len(sys.argv) - 4 :])[:2]
    folder = os.path.join(folder, "thousand")
    try:
        # In another process: the peak of a child includes that of the process that started it.
        with multiprocessing.Pool(1) as pool:
            everything, quarter = pool.apply(make, (folder, source, n_ranks, repeats))
        size = os.path.getsize(os.path.join(everything, "rank0.json"))
        print("# %d ranks of %.1f MB" % (n_ranks, size / 1e6), flush=True)
        measure(opscope, everything, quarter)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
