# SPDX-License-Identifier: Apache-2.0
# step: oracle-siblings
# args: {gcc}/opscope --random 8 --seed {seed} --largest 60000
# full: {gcc}/opscope --random 4000 --seed {seed} --largest 60000
"""Compare the table `siblings` with the twin's, for some names and events of each trace.

Usage: siblings.py OPSCOPE [--traces DIR] [--largest BYTES] [--random N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import randomtrace
import sample
from twin import explain, reader, runs, tables
from twin import ranges as ranges_of

HERE = Path(__file__).resolve()
EACH = 3  # names and events of a trace


def ask(opscope: str, path: Path, *more: str) -> list[dict]:
    """The rows of `siblings` for PATH."""
    done = subprocess.run(
        [opscope, "table", "siblings", str(path), "--limit", "0", "--format", "json", *more],
        capture_output=True,
        check=True,
        timeout=120,
    )
    answer = json.loads(done.stdout)
    names = [column["name"] for column in answer["columns"]]
    return [dict(zip(names, row)) for row in answer["rows"]]


def differs(mine: list[dict], twin: list[dict]) -> str:
    """Where MINE differs from TWIN; "": nowhere."""
    if len(mine) != len(twin):
        return f"{len(mine)} rows, twin {len(twin)}"
    for at, (one, other) in enumerate(zip(mine, twin)):
        for column, value in other.items():
            got = one.get(column)
            same = (
                abs(got - value) < 1e-12
                if column == "percentile_ratio"
                else str(got) == str(value)
            )
            if not same:
                return f"row {at}, {column}: {got!r}, twin {value!r}"
    return ""


def compare(opscope: str, path: Path, where: str) -> tuple[int, int]:
    """How many questions about PATH were asked, and how many answers were wrong."""
    source = random.Random(where)
    try:
        trace = tables.load(path)
    except reader.NotATrace:
        return 0, 0
    run = runs.assemble([trace], [path])
    ranges = [e for e in trace.events if e.dur is not None and e.name and e.name.isprintable()]
    n_wrong = n = 0
    for one in source.sample(ranges, min(EACH, len(ranges))):
        counted = ranges_of.name_of(trace, one)
        begin = one.name[: source.randrange(1, len(one.name) + 1)] + "*"
        for more, wanted in (
            (("--name", one.name), {"name": one.name}),
            (("--name", counted), {"name": counted}),
            (("--name", begin), {"name": begin}),
            (("--event", str(one.id)), {"event": one.id}),
        ):
            if "\ufffd" in one.name or any("\ud800" <= c <= "\udfff" for c in one.name):
                continue
            n += 1
            wrong = differs(ask(opscope, path, *more), explain.siblings(run, **wanted))
            if wrong:
                n_wrong += 1
                print(f"{where} {more}: {wrong}")
    return n, n_wrong


def main() -> int:
    """Compare all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opscope")
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--largest", type=int, default=3_000_000)
    parser.add_argument("--random", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    n = n_wrong = 0
    folder = options.traces or HERE.parents[3] / "shared" / "data"
    if not folder.is_dir():
        folder = HERE.parents[1] / "data"
    for path in sample.of(sorted(folder.rglob("*.json*"))):
        if path.is_file() and path.stat().st_size <= options.largest:
            asked, wrong = compare(options.opscope, path, path.name)
            n, n_wrong = n + asked, n_wrong + wrong
    with tempfile.TemporaryDirectory() as place:
        for number in range(options.random):
            seed = options.seed * 1_000_003 + number
            path = Path(place) / f"random-{seed}.json"
            path.write_bytes(randomtrace.data(seed))
            asked, wrong = compare(options.opscope, path, path.name)
            n, n_wrong = n + asked, n_wrong + wrong
    print(f"siblings: {n} answers, {n_wrong} wrong")
    return 1 if n_wrong or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
