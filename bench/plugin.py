#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that TensorBoard's plugin shows of one trace: the plugin, and we.

usage: plugin.py BUILD_DIR DATA_DIR [REPETITIONS]

  views/plugin         wall time of the plugin by ours, for its own sample enlarged
                       20 times: reading, analysis, all tables of its views
  views/plugin-memory  our peak of memory by the plugin's

The plugin (torch-tb-profiler of PyPI) is installed into DATA_DIR/plugin first. It runs
once, for most of a minute; ours runs before and after it.

Prints lines as bench.h has them.
"""
import os
import statistics
import subprocess
import sys
import time
import venv

# What its loader does for one file, in one process and without the browser.
PEER = """
import sys
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
data = RunProfileData.parse("worker", None, sys.argv[1], sys.argv[2])
data.process()
data.analyze()
profile = RunGenerator("worker", None, data).generate_run_profile()
assert profile.operation_table_by_name
print("rows", len(profile.operation_table_by_name["data"]))
"""


def run(*command):
    """Wall seconds and peak bytes of a process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = status
    if status != 0:
        sys.exit("plugin.py: %s failed: %s" % (command[0], said.decode()[-300:]))
    return wall, used.ru_maxrss * 1024


def install(where):
    """A Python that has the plugin."""
    python = os.path.join(where, "bin", "python")
    if not os.path.exists(os.path.join(where, "done")):
        venv.create(where, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", "torch-tb-profiler",
                               "setuptools<80"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print("plugin.py: no torch-tb-profiler, no comparison: %s" % done.stdout[-300:],
                  file=sys.stderr)
            return None
        with open(os.path.join(where, "done"), "w", encoding="ascii"):
            pass
    return python


def main():
    build, data = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    views, trace = os.path.join(build, "bench", "views"), os.path.join(data, "plugin.json")
    python = install(os.path.join(data, "plugin"))

    if not python:
        return
    ours = [run(views, trace, "2") for _ in range(n)]
    theirs = run(python, "-c", PEER, trace, data)
    ours += [run(views, trace, "2") for _ in range(n)]
    wall, peak = statistics.median(t[0] for t in ours), max(t[1] for t in ours)
    megabytes = os.path.getsize(trace) / 1e6
    print("%-24s %8.3f %-7s # plugin by ours, %.0f MB, wall, median of %d: %.1f by %.3f s"
          % ("views/plugin", theirs[0] / wall, ">=60.0", megabytes, 2 * n, theirs[0], wall))
    print("%-24s %8.3f %-7s # peak of ours by the plugin's: %.0f by %.0f MB"
          % ("views/plugin-memory", peak / theirs[1], "<=0.05", peak / 1e6, theirs[1] / 1e6))


main()
