#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure questions about runs of several ranks, and comparisons of two runs.

usage: runs.py OPSCOPE SCRATCH WHAT TRACE...

WHAT is one of
    threads   16 ranks, copies of the TRACEs in turn: a table with one thread and with two, and
              its memory beside that of the two largest ranks
    diff      `opscope diff` of two TRACEs, and loading each of them
    mpi       the same ranks with one process, and with two of opscope-mpi beside OPSCOPE, each
              with one thread
    hta       8 ranks: overlap of communication by us, and by HolisticTraceAnalysis 0.5, whose
              Python is in the environment variable HTA_PYTHON

Prints samples, "NAME NUMBER": wall and processor seconds and peak memory in bytes, one a run, of
alternating runs. Memory is ru_maxrss of the largest process; of hta, whose processes share little,
also the sum over all of the peaks of what each has alone (Pss). The copies are removed at the end.
"""

import os
import resource
import shutil
import subprocess
import sys
import threading
import time

import ranks

TABLES = ("ranks", "collectives", "operators")
RUNS = 1 if "BENCH_SMOKE" in os.environ else 5

# Load the run and answer what `rank_overlap` and `ranks` answer.
HTA = """
import logging, sys, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
run = TraceAnalysis(trace_dir=sys.argv[1])
assert len(run.get_comm_comp_overlap(visualize=False)) == int(sys.argv[2])
assert len(run.get_temporal_breakdown(visualize=False)) == int(sys.argv[2])
"""


def tree_bytes(pid):
    """Memory that the process PID and its children have, shared pages in equal parts."""
    total, todo = 0, [pid]
    while todo:
        pid = todo.pop()
        try:
            with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
                total += sum(
                    int(line.split()[1]) << 10 for line in file if line.startswith("Pss:")
                )
            for task in os.listdir("/proc/%d/task" % pid):
                with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                    todo += map(int, file.read().split())
        except OSError:  # it has ended
            pass
    return total


class Watch(threading.Thread):
    """Finds the largest tree_bytes() of a process while it runs."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.05):
            self.most = max(self.most, tree_bytes(self.pid))

    def end(self):
        self.over.set()
        self.join()
        return self.most


def run(name, command, watched=False):
    """Run COMMAND and print what it took as samples of NAME."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as child:
        watch = Watch(child.pid) if watched else None
        said = child.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        seconds = time.perf_counter() - start
        tree = watch.end() if watch else 0
    if status != 0:
        sys.exit("%s failed: %s" % (" ".join(map(str, command)), said[-2000:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    samples = [
        ("wall", seconds),
        ("cpu", after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime),
        ("rss", used.ru_maxrss * 1024),
    ]
    for what, value in samples + [("tree", tree)] * bool(watch):
        print("%s/%s %.9g" % (name, what, value), flush=True)


def measure_threads(opscope, folder, traces):
    many, pairs = ranks.make_all(folder, traces, 16)
    for table in TABLES:
        command = [opscope, "table", table, "--format", "csv"]
        for _ in range(RUNS):
            for n in (1, 2):
                run("%s/%d" % (table, n), [*command, "--threads", n, many])
        for pair in pairs:
            run(table + "/two", [*command, "--threads", 2, pair])


def measure_diff(opscope, _, traces):
    base, new = traces
    for _ in range(3 * RUNS):
        run("diff", [opscope, "diff", base, new])
        run("base", [opscope, "table", "threads", base])
        run("new", [opscope, "table", "threads", new])


def measure_mpi(opscope, folder, traces):
    many, _ = ranks.make_all(folder, traces, 16)
    table = ["table", "collectives", "--format", "csv", "--threads", 1, many]
    start = ["mpirun", "-n", 2, "--bind-to", "none", "--oversubscribe"]
    if os.geteuid() == 0:
        start.append("--allow-run-as-root")
    for _ in range(RUNS):
        run("one", [opscope, *table])
        run("two", [*start, os.path.join(os.path.dirname(opscope), "opscope-mpi"), *table])
        run("start", [*start, "true"])


def measure_hta(opscope, folder, traces):
    many, _ = ranks.make_all(folder, traces, 8)
    for _ in range(2):
        for _ in range(RUNS):
            run("ours", [opscope, "table", "rank_overlap", many, "--format", "csv"], True)
        run("hta", [os.environ["HTA_PYTHON"], "-c", HTA, many, 8], True)


def main():
    opscope, folder, what, *traces = sys.argv[1:]
    folder = os.path.join(folder, "runs")
    try:
        {
            "threads": measure_threads,
            "diff": measure_diff,
            "mpi": measure_mpi,
            "hta": measure_hta,
        }[what](opscope, folder, traces)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
