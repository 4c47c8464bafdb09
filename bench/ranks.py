#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the memory of a table of many ranks, compared with the same table of the two largest.

usage: ranks.py OPSCOPE SCRATCH TRACE...

Makes 64 ranks in the folder SCRATCH: alternating copies of the plain TRACEs, each with its own
rank. Makes every table but events as each of WAYS says, and prints samples of the peak memory of
whole processes, "TABLE/two BYTES" and "TABLE/many BYTES" (TABLE+merge with --merge, and so on).
The two ranks are copies of one TRACE, the one that needs more memory. "TABLE/seconds" is the
time of all ranks. The copies are removed at the end.
"""

import os
import re
import shutil
import subprocess
import sys
import time

SMOKE = "BENCH_SMOKE" in os.environ
RANKS = 4 if SMOKE else 64
HEAD_BYTES = 1 << 16  # the rank of a file is written before the events
# A time counts from the first event of all files. This one leaves out next to nothing.
WAYS = {"": [], "+merge": ["--merge"], "+merge+from": ["--merge", "--from", "1ms"]}


def make(trace, path, rank):
    """Copy TRACE as RANK to PATH."""
    with open(trace, "rb") as old, open(path, "wb") as new:
        head = old.read(HEAD_BYTES)
        new.write(re.sub(rb'("distributedInfo":[^\n]*?"rank": *)\d+', rb"\g<1>%d" % rank, head))
        shutil.copyfileobj(old, new, 1 << 20)


def make_all(folder, traces, n_ranks):
    """Make a folder with all ranks, and one for each of TRACES with its first two copies."""
    many = os.path.join(folder, "many")
    pairs = [os.path.join(folder, "two-%d" % k) for k in range(len(traces))]

    for name in [many, *pairs]:
        os.makedirs(name)
    for rank in range(n_ranks):
        name, kind = "rank%d.json" % rank, rank % len(traces)
        make(traces[kind], os.path.join(many, name), rank)
        if rank < 2 * len(traces):
            os.link(os.path.join(many, name), os.path.join(pairs[kind], name))
    return many, pairs


def ask(opscope, table, folder, way):
    """Returns the peak memory in bytes and the wall time in seconds."""
    command = [opscope, "table", table, folder, "--format", "csv", *WAYS[way]]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        said = child.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        sys.exit("%s failed: %s" % (" ".join(command), said))
    return used.ru_maxrss * 1024, time.perf_counter() - start


def main():
    opscope, folder, *traces = sys.argv[1:]
    folder = os.path.join(folder, "ranks")
    listed = subprocess.run(
        [opscope, "table", "--list"], check=True, capture_output=True, text=True
    ).stdout
    names = [line.split()[0] for line in listed.splitlines() if line[:1].isalpha()]
    names = ["operators", "steps"] if SMOKE else names
    try:
        many, pairs = make_all(folder, traces, RANKS)
        for name in names:
            for way in WAYS:
                if name == "events" or name.startswith("diff_"):  # of two runs
                    continue
                peak, seconds = ask(opscope, name, many, way)
                two = max(ask(opscope, name, pair, way)[0] for pair in pairs)
                for word, value in (("two", two), ("many", peak), ("seconds", seconds)):
                    print("%s%s/%s %.9g" % (name, way, word, value), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
