#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure everything beside its limit, and judge nobody.

usage: run.py BUILD_DIR [--data DIR] [--large] [--only WORD]

Makes the traces (data.sh), runs every bench, and shows a line for each measure:
name, ratio, limit, ok or MISS, and what was measured. Writes nothing else. Where
BUILD_DIR was configured without -Dbench=true, build-bench takes its place.
--large adds a trace of 4 GB. --only runs the benches whose name has WORD in it.
Exits 1 only if a bench could not run.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def build(where):
    """A build that has the benches."""
    if os.path.exists(os.path.join(where, "bench", "fresh")):
        return where
    where = os.path.join(ROOT, "build-bench")
    for command in ([] if os.path.exists(os.path.join(where, "build.ninja")) else
                    [["meson", "setup", where, ROOT, "-Dbench=true", "-Dtests=false"]]) + \
            [["ninja", "-C", where]]:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit("run.py: %s failed:\n%s" % (" ".join(command), done.stdout[-3000:]))
    return where


def benches(where, data, recordings):
    """Name and command of each; RECORDINGS is an empty directory."""
    def program(name, *operands):
        return [os.path.join(where, "bench", name), *operands]

    def trace(name):
        return os.path.join(data, name)

    yield "load", program("load", trace("1g.json"), "load/1g", ">=1.70", "5")
    yield "load", program("load", trace("names.json"), "load/names", ">=1.50", "9")
    if os.path.exists(trace("r50.json")):
        yield "load", program("load", trace("r50.json"), "load/r50", ">=1.70", "15")
        yield "load", program("load", trace("r50.json"), "load/r50-plain", "-", "9", "plain")
    yield "threads", program("threads", trace("1g.json"), "7")
    yield "process", [sys.executable, os.path.join(HERE, "process.py"), where, data]
    yield "operators", program("operators", trace("1g.json"), "7")
    if os.path.exists(trace("memory.json")):
        yield "memory", program("memory_ranges", trace("memory.json"), "15")
    yield "tables", program("tables", trace("1g.json"), "tables", "<=0.15", "5")
    if os.path.exists(trace("plugin.json")):
        yield "views", [sys.executable, os.path.join(HERE, "plugin.py"), where, data]
    if os.path.exists(trace("modules.json")):
        yield "tables", program("tables", trace("modules.json"), "tables-modules", "-", "5")
    yield "record", program("record", "15")
    yield "recorders", [sys.executable, os.path.join(HERE, "recorders.py"), where, recordings]
    yield "export", program("export", trace("1g.json"), "5")
    yield "reopen", program("reopen", trace("1g.json"), "15")
    yield "flush", program("flush", "7")
    yield "itt", program("itt", os.path.join(os.path.abspath(where), "libopscope-collect.so"),
                         recordings)


def is_within(ratio, limit):
    if limit == "-":
        return True
    return ratio >= float(limit[2:]) if limit.startswith(">=") else ratio <= float(limit[2:])


def show(line, counts):
    words, _, meaning = line.partition("#")
    words = words.split()
    if len(words) != 3:
        print(line)
        return
    name, ratio, limit = words[0], float(words[1]), words[2]
    is_good = is_within(ratio, limit)
    verdict = "" if limit == "-" else "ok" if is_good else "MISS"
    counts[verdict] = counts.get(verdict, 0) + 1
    print("%-24s %8.3f %-7s %-4s %s" % (name, ratio, "" if limit == "-" else limit, verdict,
                                        meaning.strip()), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--data", default=os.environ.get("OPSCOPE_BENCH_DATA"))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    where = build(args.build)
    data = args.data or os.path.join(ROOT, "build-bench", "data")
    counts, failed = {}, 0

    subprocess.run([os.path.join(HERE, "data.sh"), os.path.abspath(data)], check=True,
                   env=dict(os.environ, OPSCOPE_BENCH_LARGE="1" if args.large else "0"))
    print("%-24s %8s %-7s" % ("measure", "ratio", "limit"))
    with tempfile.TemporaryDirectory(dir=data) as recordings:
        for name, command in benches(where, data, recordings):
            if args.only not in name:
                continue
            if not os.path.exists(command[0]):
                print("%s: not built here" % name)
                continue
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
                for line in child.stdout:
                    show(line.rstrip("\n"), counts)
            failed += child.returncode != 0
    print("%d within their limits, %d not, %d failed to run"
          % (counts.get("ok", 0), counts.get("MISS", 0), failed))
    sys.exit(failed > 0)


main()
