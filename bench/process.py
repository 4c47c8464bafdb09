#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures of whole processes: inflating, memory, kernel time, size, start.

usage: process.py BUILD_DIR DATA_DIR [REPETITIONS]

  gz       .json.gz on two cores against `zcat >/dev/null`, wall time
  memory   bytes a record of base and derived columns; the peak of anonymous
           memory while loading against the model
  kernel   kernel time of a fresh load by its user time
  linear   processor time a byte of 4 GB by that of 1 GB
  start    from start to exit of `opscope table` on 10 MB, wall time, by 50 ms

Prints lines as bench.h has them.
"""
import os
import statistics
import subprocess
import sys
import time

MIB = 1 << 20


def run(*command):
    """Wall, user and kernel seconds of a process, and the numbers that it printed."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = status
    if status != 0:
        sys.exit("process.py: %s failed" % " ".join(command))
    numbers = {}
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 2:
            numbers[words[0]] = words[1]
    return wall, used.ru_utime, used.ru_stime, numbers


def discard(*command):
    """Wall and processor seconds of a process whose output nobody reads."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = status
    if status != 0:
        sys.exit("process.py: %s failed" % " ".join(command))
    return wall, used.ru_utime + used.ru_stime


def report(name, ratio, limit, words):
    print("%-24s %8.3f %-7s # %s" % (name, ratio, limit, words), flush=True)


def gz(fresh, trace, n):
    pairs = [discard("zcat", trace) + run(fresh, trace, "2")[:3] for _ in range(n)]
    theirs, ours = [p[0] for p in pairs], [p[2] for p in pairs]
    a, b = statistics.median(theirs), statistics.median(ours)
    report("gz/zcat", a / b, ">=3.50", "zcat by ours, wall, medians: %.3f by %.3f s" % (a, b))
    report("gz/zcat-best", min(theirs) / min(ours), "-",
           "the same, shortest of %d: %.3f by %.3f s" % (n, min(theirs), min(ours)))
    a, b = (statistics.median(v) for v in ([p[1] for p in pairs], [p[3] + p[4] for p in pairs]))
    report("gz/processor", a / b, "-",
           "the same, processor time of all threads: %.3f by %.3f s" % (a, b))


def memory(fresh, name, trace, threads):
    used = {k: float(v) for k, v in run(fresh, trace, threads, "derive")[3].items()}
    model = used["page_bytes"] + used["string_bytes"]
    if threads == "1":
        report("memory/base" + name, used["page_bytes"] / used["records"] / 64, "<=1.00",
               "bytes a record by 64: %.1f, of which %.1f columns; strings apart: %.1f MB, %.1f a "
               "record" % (used["page_bytes"] / used["records"],
                           used["column_bytes"] / used["records"], used["string_bytes"] / 1e6,
                           used["string_bytes"] / used["records"]))
        report("memory/derived" + name, used["derived_bytes"] / used["records"] / 64, "-",
               "bytes of derived pages a record by 64: %.1f"
               % (used["derived_bytes"] / used["records"]))
    report("memory/peak%s-%s" % (name, threads), used["peak_bytes"] / (1.25 * model + 64 * MIB),
           "<=1.00", "peak while loading, %s threads, by 1.25 model + 64 MiB: %.0f MB, model %.0f MB"
           % (threads, used["peak_bytes"] / 1e6, model / 1e6))


def kernel(fresh, trace, n):
    """A guest whose host has to supply memory first pays up to ten times as much for it,
    which is none of our doing: the least of all runs is judged."""
    times = [run(fresh, trace, "1") for _ in range(2 * n)]
    user, system = (min(t[i] for t in times) for i in (1, 2))
    report("kernel/user", system / user, "<=0.15",
           "kernel by user time of a process, least of %d: %.3f by %.3f s" % (2 * n, system, user))
    user, system = (statistics.median(t[i] for t in times) for i in (1, 2))
    report("kernel/user-median", system / user, "-", "medians: %.3f by %.3f s" % (system, user))


def linear(fresh, data, n):
    cost = {}
    for name in ("1g.json", "4g.json") * n:
        path = os.path.join(data, name)
        cost.setdefault(name, []).append(sum(run(fresh, path, "1")[1:3]) / os.path.getsize(path))
    small, large = (statistics.median(cost[k]) * 1e9 for k in ("1g.json", "4g.json"))
    report("linear/4g", large / small, "<=1.05",
           "processor time a byte of 4 GB by that of 1 GB: %.3f by %.3f ns" % (large, small))


def start(opscope, trace, n):
    times = [discard(opscope, "table", "operators", trace)[0] for _ in range(n)]
    report("start/table", statistics.median(times) / 0.050, "<=1.00",
           "opscope table operators, %.0f MB, wall by 50 ms: %.1f ms, shortest %.1f"
           % (os.path.getsize(trace) / 1e6, statistics.median(times) * 1e3, min(times) * 1e3))


def main():
    build, data = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    fresh, opscope = os.path.join(build, "bench", "fresh"), os.path.join(build, "opscope")
    big = os.path.join(data, "1g.json")

    gz(fresh, big + ".gz", n)
    memory(fresh, "", big, "1")
    memory(fresh, "", big, "2")
    memory(fresh, "-gz", big + ".gz", "2")
    memory(fresh, "-names", os.path.join(data, "names.json"), "1")
    kernel(fresh, big, n)
    if os.path.exists(os.path.join(data, "4g.json")):
        linear(fresh, data, n)
    if os.path.exists(opscope):
        start(opscope, os.path.join(data, "10m.json"), 4 * n + 1)
    else:
        print("# there is no opscope: its start is not measured")


main()
