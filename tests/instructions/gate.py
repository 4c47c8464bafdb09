#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: instructions
# args: --build {gcc}
# needs: counts
"""Count the instructions of loading, per byte of text, and of recording, per scope.

usage: gate.py --build DIR [--bless]

Unlike times, counts do not depend on other load. A trace is loaded twice under callgrind, the
second time with its events doubled; the difference is divided by the added bytes. A count passes up
to 1.03 times the one in expected.txt; --bless stores the current ones. The begin and the end of a
scope may take 70 together, including the caller's part and its loop.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected.txt")
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
ALLOWED = 1.03
MADE_BYTES = 4000000

# Real traces, measured only if they exist.
REAL = {
    "nccl": "data/hta/nccl_parser_config/nccl_data.json.gz",
    "r50": "data/tb_samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
}


def count(program, trace, kernel, scratch):
    done = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=" + os.path.join(scratch, "out"),
            program,
            trace,
            kernel,
        ],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit("gate.py: %s failed:\n%s" % (program, done.stderr))
    return int(found.group(1))


def made(copies, path):
    subprocess.run(
        [
            sys.executable,
            os.path.join(HERE, "make_trace.py"),
            path,
            str(MADE_BYTES),
            str(copies),
        ],
        check=True,
    )


def enlarged(source):
    tool = os.path.join(SHARED, "tools", "enlarge.py")

    def make(copies, path):
        subprocess.run(
            [sys.executable, tool, source, path, "--copies", str(copies)],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    return make


def measures():
    """Name, kernel, and a function that makes a trace with a number of copies."""
    yield "made-plain", "plain", made
    if platform.machine() == "x86_64" and "avx2" in pathlib.Path("/proc/cpuinfo").read_text():
        yield "made-avx2", "avx2", made
        for name, path in REAL.items():
            source = os.path.join(SHARED, path)
            if os.path.exists(source):
                yield name + "-avx2", "avx2", enlarged(source)


def per_byte(program, kernel, make, scratch):
    counts, sizes = [], []
    for n in (1, 2):
        path = os.path.join(scratch, "trace.json")
        make(n, path)
        sizes.append(os.path.getsize(path))
        counts.append(count(program, path, kernel, scratch))
    return (counts[1] - counts[0]) / (sizes[1] - sizes[0])


PAIR_LIMIT = 70


def per_pair(program, scratch):
    """Instructions of the program's own thread, without the flusher."""
    counts = []
    for n in (100000, 200000):
        out = os.path.join(scratch, "pairs.%d" % n)
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--separate-threads=yes",
                "--callgrind-out-file=" + out,
                program,
                out + ".osc",
                str(n),
            ],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit("gate.py: %s failed:\n%s" % (program, done.stderr))
        with open(out + "-01") as f:
            counts.append(int(re.search(r"^totals: (\d+)", f.read(), re.M).group(1)))
    return (counts[1] - counts[0]) / 100000


def read_expected():
    with open(EXPECTED) as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    return {row[0]: float(row[1]) for row in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--bless", action="store_true")
    args = parser.parse_args()
    program = os.path.join(args.build, "tests", "instructions", "load_once")
    expected = read_expected() if os.path.exists(EXPECTED) else {}
    passed, failed, reached = 0, 0, dict(expected)

    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind\n0 passed, 0 failed")
        return
    for name, kernel, make in measures():
        with tempfile.TemporaryDirectory() as scratch:
            figure = per_byte(program, kernel, make, scratch)
        limit = expected.get(name, 0) * ALLOWED
        is_good = figure <= limit or args.bless
        reached[name] = figure
        passed, failed = passed + is_good, failed + (not is_good)
        print(
            "%s %-11s %6.3f instructions a byte, at most %.3f"
            % ("ok    " if is_good else "FAILED", name, figure, limit),
            flush=True,
        )
    with tempfile.TemporaryDirectory() as scratch:
        figure = per_pair(
            os.path.join(args.build, "tests", "instructions", "record_pairs"), scratch
        )
    is_good = figure <= PAIR_LIMIT
    passed, failed = passed + is_good, failed + (not is_good)
    print(
        "%s %-11s %6.3f instructions a begin and end, at most %d"
        % ("ok    " if is_good else "FAILED", "record", figure, PAIR_LIMIT),
        flush=True,
    )
    if args.bless:
        with open(EXPECTED, "w") as f:
            f.write("# Instructions a byte of text; written by gate.py --bless.\n")
            f.writelines("%s %.3f\n" % item for item in sorted(reached.items()))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0)


main()
