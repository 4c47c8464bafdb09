#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: bench-smoke
# args: {gcc} --smoke --data {gcc}/bench/smoke
# about: Run every bench but that of torch once, on small traces
# step: bench-torch
# args: {gcc} --smoke --data {gcc}/bench/smoke-torch --only torch
# env: BENCH_TORCH={torch}
# needs: module
# mode: full
# about: Run the bench of torch once
# step: measures
# args: {bench}
# env: BENCH_TORCH={torch|}
# about: Run all benches and compare each measure with its limit
# mode: bench
# order: alone
"""Run all benches and compare each measure with its limit.

usage: run.py BUILD_DIR [--data DIR] [--large | --smoke] [--only WORD]

Makes the traces (data.sh), runs every bench, and prints a line for each measure:
name, ratio, limit, ok or MISS, and what was measured. If BUILD_DIR was configured
without -Dbench=true, build-bench is used instead.
--large adds a trace of 4 GB. --smoke only shows that the benches run, on traces of some MB, one
sample of each; nothing is downloaded. --only runs the benches whose names contain WORD. Exits 1
only if a bench could not run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import reading
import viewing
from measures import COUNTS, HERE, ROOT, SMOKE

import recording


def build(where):
    """Returns a build directory with the benches."""
    if os.path.exists(os.path.join(where, "bench", "questions")):
        return where
    where = os.path.join(ROOT, "build-bench")
    if not os.path.exists(os.path.join(where, "build.ninja")):
        subprocess.run(
            ["meson", "setup", where, ROOT, "-Dbench=true", "-Dtests=false"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    subprocess.run(["ninja", "--quiet", "-C", where], check=True)
    return where


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--data", default=os.environ.get("OPSCOPE_BENCH_DATA"))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    where = os.path.abspath(build(args.build))
    data = os.path.abspath(
        args.data or os.path.join(ROOT, "build-bench", "smoke" if SMOKE else "data")
    )
    failed = 0

    subprocess.run(
        [os.path.join(HERE, "data.sh"), data],
        check=True,
        env=dict(
            os.environ,
            OPSCOPE_BENCH_LARGE="1" if args.large else "0",
            OPSCOPE_BENCH_SMOKE="1" if SMOKE else "0",
        ),
    )
    if SMOKE:
        os.environ["BENCH_SMOKE"] = "1"
    print("%-24s %8s %-7s" % ("measure", "ratio", "limit"))
    for bench in (*reading.BENCHES, *viewing.BENCHES, *recording.BENCHES):
        if args.only not in bench.__name__:
            continue
        start, used = time.perf_counter(), sum(os.times()[:4])
        with tempfile.TemporaryDirectory(dir=data) as scratch:
            try:
                bench(
                    lambda name: os.path.join(where, "bench", name),
                    lambda name, s=scratch: (
                        s if name == "scratch" else os.path.join(data, name)
                    ),
                )
            except Exception as error:  # the other benches go on
                print("run.py: %s: %r" % (bench.__name__, error), file=sys.stderr)
                failed += 1
        if SMOKE:
            took = time.perf_counter() - start, sum(os.times()[:4]) - used
            print("# %s took %.1f s, %.1f s of processor" % (bench.__name__, *took), flush=True)
    print(
        "%d within their limits, %d not, %d failed to run"
        % (COUNTS["ok"], COUNTS["MISS"], failed)
    )
    sys.exit(failed > 0)


main()
