#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: kills
# args: --opscope {gcc}/opscope --count 2
# full: --opscope {gcc}/opscope --count 800
"""Check after kill -9 at random times that every finished record is read.

    kills.py [--opscope PATH] [--recorder PATH] [--count N] [--seed N]

Each run records with one to four threads and is killed after up to a second. The
program counts in shared memory which calls have returned; opscope must read as many instants of
each thread, or one more, for the call that the kill interrupted. Dropped records must be counted.
Ends with "N passed, N failed".
"""

import argparse
import csv
import io
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def table(opscope, *args):
    done = subprocess.run(
        [opscope, "table", *args, "--format", "csv"],
        capture_output=True,
        check=False,
        timeout=300,
        env={"PATH": os.environ["PATH"]},
    )
    if done.returncode != 0:
        raise RuntimeError(f"unreadable: {done.stderr.decode()[:200]}")
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def kill_one(opscope, recorder, rng, scratch):
    """Returns (the number of calls that returned, the error or None)."""
    path, counts = os.path.join(scratch, "a.osc"), os.path.join(scratch, "counts")
    n_threads = rng.randrange(1, 5)
    with subprocess.Popen([recorder, path, counts, str(n_threads)]) as program:
        # Also before the first call.
        time.sleep(rng.choice([0.02, 0.1, 1]) * rng.random())
        program.send_signal(signal.SIGKILL)
        program.wait()
    if not os.path.exists(counts) or os.path.getsize(counts) != 8 * n_threads:
        return 0, None
    with open(counts, "rb") as f:
        returned = struct.unpack(f"<{n_threads}Q", f.read())
    if sum(returned) == 0 and not os.path.exists(path):
        return 0, None
    names = [row["name"] for row in table(opscope, "events", path, "--columns", "name")]
    quality = {row["code"]: int(row["count"]) for row in table(opscope, "quality", path)}
    n_dropped = sum(n for code, n in quality.items() if code.startswith("dropped"))
    n_lost = sum(max(n - names.count(f"t{k}"), 0) for k, n in enumerate(returned))
    n_extra = [names.count(f"t{k}") - n for k, n in enumerate(returned)]
    if n_lost > n_dropped:
        return sum(returned), f"{n_lost} of {sum(returned)} lost, {n_dropped} counted"
    if max(n_extra) > 1:
        return sum(returned), f"{max(n_extra)} more than were recorded"
    if "killed" not in quality or {"corrupt", "lost_records", "lost_name"} & set(quality):
        return sum(returned), f"quality has {quality}"
    return sum(returned), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", default=str(ROOT / "build-gcc/opscope"))
    parser.add_argument("--recorder", default=str(ROOT / "build-gcc/tests/format/record_count"))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    passed = failed = n_all = 0
    for i in range(args.count):
        with tempfile.TemporaryDirectory(prefix="kills-") as scratch:
            try:
                n, wrong = kill_one(args.opscope, args.recorder, rng, scratch)
            except RuntimeError as e:
                n, wrong = 0, str(e)
        n_all += n
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong:
            print(f"FAILED kill {i}: {wrong}")
    print(f"{args.count} times killed, {n_all} calls had returned")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
