#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: export-roundtrip
# args: --opscope {gcc}/opscope --random 2 --seed {seed} --largest 60000
# full: --opscope {gcc}/opscope --random 800 --seed {seed}
# turn: 1
"""Export traces and read them back: every table must be the same.

    python3 tests/export/roundtrip.py --opscope PATH [--traces DIR] [--random N] [--seed S]

Takes every trace below DIR (by default the shared data, if it is there), those of
tests/data (with --largest BYTES, only those that are not larger), N random ones and N whose names
contain any bytes. Each is written to .json.gz and to .osc and read back: all tables but info and
quality must be the same, as CSV, which Python's csv must read. It is written to .json as well, from
what was read and from the .osc, which must be the same: Python's json and, if it is installed,
node's JSON.parse must read both forms with the same result. A selection (--steps) must give the
same tables in either form, and --redact the same JSON through .osc. The first steps are exported
one by one: their rows of the table steps must be those of --steps and of the whole, and arrows
must be complete. A log directory of several ranks becomes one .osc with the same tables, also merged. Ends with `N
passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import csv
import gzip
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests/oracle"), str(HERE)]

import randomtrace  # noqa: E402
import sample  # noqa: E402
from support import Tally, nasty_trace, run  # noqa: E402

# ranks names the file, which is another one; headlines counts the rows of quality
NOT_COMPARED = {"info", "quality", "ranks", "headlines"}
BY_NAME = {
    "ranges",
    "durations",
    "points",
    "flows",
}  # sums of each name; arrows of each category and id
# Other columns contain the name of the file.
COLUMNS = {"advice": "impact_ns,severity,code,title,text,ratio,count,subject"}
NODE = shutil.which("node") or shutil.which("nodejs")
# A string of over 2^29 characters is more than node holds.
NODE_BYTES_MAX = 1 << 28


def first_difference(a: bytes, b: bytes) -> str:
    for n, (x, y) in enumerate(zip(a.split(b"\n"), b.split(b"\n"))):
        if x != y:
            return f"line {n}: {x!r} became {y!r}"
    return f"{len(a)} bytes became {len(b)}"


def parse(tally: Tally, where: str, plain: Path, packed: Path) -> list[dict]:
    """Check that all readers of JSON read the file. Returns its events."""
    text = plain.read_bytes()
    tally.expect(gzip.decompress(packed.read_bytes()) == text, where, ".json.gz is not .json")
    try:
        events = json.loads(text)["traceEvents"]
    except (ValueError, KeyError) as e:
        tally.expect(False, where, "Python's json:", e)
        return []
    tally.expect(all(e["ph"] for e in events), where, "an event without a phase")
    if not NODE or len(text) > NODE_BYTES_MAX:
        return events
    done = subprocess.run(
        [
            NODE,
            "-e",
            "const fs = require('fs'), zlib = require('zlib');"
            "const read = (b) => JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(b))"
            ".traceEvents.length;"
            "console.log(read(fs.readFileSync(process.argv[1])),"
            "read(zlib.gunzipSync(fs.readFileSync(process.argv[2]))))",
            str(plain),
            str(packed),
        ],
        capture_output=True,
        check=False,
    )
    tally.expect(
        done.stdout.split() == [str(len(events)).encode()] * 2,
        where,
        "node:",
        done.stdout,
        done.stderr,
    )
    return events


def arrows(events: list[dict]) -> collections.Counter:
    """The number of records of each arrow."""
    return collections.Counter(
        (e.get("cat"), str(e.get("id"))) for e in events if e["ph"] in ("s", "t", "f")
    )


def check_steps(
    tally: Tally,
    opscope: Path,
    path: Path,
    where: str,
    scratch: Path,
    whole: collections.Counter,
) -> None:
    """Check that an exported step has the same row as in the whole and when it is selected, and
    complete arrows."""

    def steps(p: Path, *selection: str) -> list[dict]:
        done = run(opscope, "table", "steps", p, *selection, "--format", "csv")
        # The exported file cannot know which step it is and when it began.
        return [
            {k: v for k, v in row.items() if k not in ("step", "start_ns")}
            for row in csv.DictReader(done.stdout.decode().split("\n"))
        ]

    def alone(row: dict) -> dict:
        # Without what it is beside the other steps of the selection. Work that a step launched
        # while the one before was not over belongs to that one, unless it is alone.
        note = row["note"].replace(
            "no device work was recorded", "device work at the end is probably missing"
        )
        return {
            k: v
            for k, v in row.items()
            if k not in ("process", "process_name", "outlier") and not k.startswith("grew")
        } | {"note": note}

    all_steps = steps(path)
    for n in range(min(3, len(all_steps))):
        cut = scratch / "cut.json"
        done = run(opscope, "export", path, "--steps", f"@{n}", "-o", cut)
        tally.expect(done.returncode == 0, where, "export --steps", done.stderr)
        before, after = steps(path, "--steps", f"@{n}"), steps(cut)
        tally.expect(before == after, where, f"step @{n}", before, after)
        tally.expect(
            [alone(row) for row in before] == [alone(all_steps[n])],
            where,
            f"step @{n} of all",
            all_steps[n],
            before,
        )
        got = arrows(json.loads(cut.read_bytes())["traceEvents"])
        tally.expect(
            all(whole[k] == n for k, n in got.items()),
            where,
            "arrows in halves",
            [k for k, n in got.items() if whole[k] != n][:3],
        )


def compare(
    tally: Tally, opscope: Path, tables: list[str], where: str, one: Path, *others: Path
) -> bytes:
    """Check that all tables of ONE are those of OTHERS, too. Returns its events."""
    events = b""
    for table in tables:
        columns = ["--columns", COLUMNS[table]] if table in COLUMNS else []
        before, *found = (
            run(opscope, "table", table, p, "--format", "csv", *columns) for p in (one, *others)
        )
        for other, after in zip(others, found):
            tally.expect(
                before.returncode == after.returncode == 0 and before.stdout == after.stdout,
                where,
                other.suffix,
                table,
                first_difference(before.stdout, after.stdout),
                after.stderr,
            )
        if table == "events":
            events = before.stdout
    return events


def check_changed(
    tally: Tally, opscope: Path, tables: list[str], path: Path, where: str, scratch: Path
) -> None:
    """Check that selected and redacted exports are the same as .osc and as JSON."""
    text, own, again = (scratch / f"changed.{name}" for name in ("json", "osc", "osc.json"))
    for source, out, option in (
        (path, text, "--redact"),
        (path, own, "--redact"),
        (own, again, ""),
    ):
        done = run(opscope, "export", source, "-o", out, *filter(None, [option]))
        tally.expect(done.returncode == 0, where, "export", option, done.stderr)
    tally.expect(
        text.read_bytes() == again.read_bytes(),
        where,
        "--redact by way of .osc",
        first_difference(text.read_bytes(), again.read_bytes()),
    )
    for out in (text, own):
        done = run(opscope, "export", path, "--steps", "@0", "-o", out)
        if done.returncode != 0:
            return  # there is no step
    # JSON does not state which step it was.
    compare(tally, opscope, [t for t in tables if t != "steps"], f"{where} --steps", text, own)


def check_csv(tally: Tally, opscope: Path, path: Path, where: str, text: bytes) -> None:
    """Check that Python's csv reads from TEXT, the events of PATH, the same values as from JSON.
    Older versions of csv fail at a NUL."""
    found = json.loads(run(opscope, "table", "events", path, "--format", "json").stdout)
    names = [c["name"] for c in found["columns"]]
    texts = [k for k, c in enumerate(found["columns"]) if c["type"] == "string"]
    expected = [
        [(row[k] or "").replace("\0", "\u2400") for k in texts] for row in found["rows"]
    ]
    try:
        rows = list(csv.reader(io.StringIO(text.decode(), newline=""), strict=True))
        got = [[row[k] for k in texts] for row in rows[1:]]
    except (ValueError, IndexError, csv.Error) as e:
        tally.expect(False, where, "Python's csv:", e)
        return
    tally.expect(
        b"\0" not in text and rows[0] == names and got == expected,
        where,
        "Python's csv finds something else",
    )


def is_text(path: Path) -> bool:
    """Whether the trace is UTF-8."""
    data = path.read_bytes()
    try:
        (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    except (ValueError, OSError, EOFError):
        return False
    return True


def check_trace(opscope: Path, tables: list[str], path: Path, where: str) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="roundtrip-") as scratch:
        packed, plain, own, again = (
            Path(scratch) / f"{name}"
            for name in ("again.json.gz", "again.json", "again.osc", "osc.json")
        )
        for source, out in ((path, packed), (path, plain), (path, own), (own, again)):
            done = run(opscope, "export", source, "-o", out)
            tally.expect(done.returncode == 0, where, "export:", done.stderr)
        if tally.failed:
            return tally
        events = parse(tally, where, plain, packed)
        check_steps(tally, opscope, path, where, Path(scratch), arrows(events))
        tally.expect(
            again.read_bytes() == plain.read_bytes(),
            where,
            ".json by way of .osc",
            first_difference(plain.read_bytes(), again.read_bytes()),
        )
        rows = compare(tally, opscope, tables, where, path, own)
        # Names of different bytes that are no UTF-8 are one name in JSON.
        compare(
            tally,
            opscope,
            [t for t in tables if t not in BY_NAME or is_text(path)],
            where,
            path,
            packed,
        )
        check_changed(tally, opscope, tables, path, where, Path(scratch))
        check_csv(tally, opscope, path, where, rows)
    return tally


def check_run(opscope: Path, tables: list[str], folder: Path) -> Tally:
    """Check the export of the ranks in a folder to one file."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="roundtrip-") as scratch:
        own = Path(scratch) / "run.osc"
        done = run(opscope, "export", folder, "-o", own)
        tally.expect(done.returncode == 0, str(folder), "export:", done.stderr)
        if not tally.failed:
            compare(tally, opscope, tables, str(folder), folder, own)
            for table in ("operators", "steps", "kernels"):
                before, after = (
                    run(opscope, "table", table, p, "--merge", "--format", "csv")
                    for p in (folder, own)
                )
                tally.expect(
                    before.stdout == after.stdout,
                    str(folder),
                    table,
                    "--merge",
                    first_difference(before.stdout, after.stdout),
                    after.stderr,
                )
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--largest", type=int, metavar="BYTES", help="leave out larger traces")
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    csv.field_size_limit(1 << 30)  # a name may have a million characters
    opscope = args.opscope / "opscope" if args.opscope.is_dir() else args.opscope

    listed = run(opscope, "table", "--list").stdout.decode()
    tables = [
        line.split()[0]
        for line in listed.split("\n")
        if line[:1].isalpha()
        and not line.startswith("diff_")
        and line.split()[0] not in NOT_COMPARED
    ]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="roundtrip-") as scratch:
        jobs = [
            (p, str(p))
            for folder in (args.traces, ROOT / "tests/data")
            for p in sample.of(sorted(folder.rglob("*.json*")))
            if p.is_file() and p.stat().st_size <= (args.largest or math.inf)
        ]
        for seed in range(args.seed, args.seed + args.random):
            for kind, text in (
                ("random", randomtrace.data(seed)),
                ("nasty", nasty_trace(seed)),
            ):
                p = Path(scratch) / f"{kind}-{seed}.json"
                p.write_bytes(text)
                jobs.append((p, f"{kind} {seed}"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = sorted(
                {
                    p.parent
                    for p in args.traces.rglob("*.pt.trace.json*")
                    if len(list(p.parent.glob("*.pt.trace.json*"))) > 1
                }
            )
            tallies = list(pool.map(lambda j: check_trace(opscope, tables, *j), jobs))
            tallies += pool.map(lambda folder: check_run(opscope, tables, folder), runs)
            for tally in tallies:
                passed += tally.passed
                failed += tally.failed
                for line in tally.lines:
                    print(line)
    print(f"{len(jobs)} traces, {len(tables)} tables each")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not tables else 0


if __name__ == "__main__":
    sys.exit(main())
