# SPDX-License-Identifier: Apache-2.0
# step: oracle-evidence
# args: --opscope {gcc}/opscope --random 8 --seed {seed} --largest 200000
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Run the commands that `advice` gives as evidence, and check the rows they print.

    python3 tests/oracle/evidence.py --opscope PATH [--traces DIR] [--largest BYTES]
        [--random N] [--seed S]

For every trace below DIR (by default the shared data, if it is there) that is not larger than
BYTES, N random ones, runs of three of these, merged and not, and N of devices that wait: each
command must run in a shell and print rows. If these are the rows that the advice sums up, their
number must match, and their times must add up. Ends with `N passed, N failed`.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import devicetrace
import randomtrace
import sample

HERE = Path(__file__).resolve().parent
# Code -> the column whose sum is the time at stake.
SUMS = {"communication": "communication_ns"}
# Codes whose count is the number of rows. Calls of several copies have several rows.
COUNTED = {
    "data_parallel",
    "backend",
    "communication",
    "low_utilization",
    "pageable_copies",
    "slow_steps",
    "device_copies",
}
# Codes whose rows have at least those that are counted, by name.
NAMED = {
    "synchronization",
    "allocator",
    "slow_call",
    "profiler_overhead",
    "optimizer",
    "python_idle",
}
# Selections before the rules apply: two of these in turn, besides none and --compat tb.
SELECTIONS = (
    " --steps @1-@2",
    " --from 1ms",
    " --thread 102",
    " --from 10us --steps @0-@3",
    " --device cuda:0",
    " --process 200 --to 60us",
    " --steps 4-5",
)
RANKS = 3  # of a run
# The causes of idle time, which exclude each other where devices worked.
IDLE = NAMED | {
    "communication",
    "data_loading",
    "launch_bound",
    "unrecorded_idle",
    "handover",
    "late_start",
}
# Rules that share the time in which devices copy and do not compute.
COPIES = {"device_copies", "pageable_copies"}
# A name that needs quotation marks in the shell, and one that looks like an option.
NAMES = ("plain.json", "two words, $HOME and 'quotes'.json", "-o.json", "tab\there.json")


def shell(command: str, folder: Path, bin_folder: Path) -> subprocess.CompletedProcess:
    """COMMAND as typed in FOLDER."""
    env = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def rows_of(done: subprocess.CompletedProcess) -> list[dict]:
    """The rows of a table as CSV."""
    return list(csv.DictReader(io.StringIO(done.stdout)))


def overlap(steps: list[dict]) -> bool:
    """Whether any two of STEPS run at the same time."""
    times = sorted((int(s["start_ns"]), int(s["start_ns"]) + int(s["total_ns"])) for s in steps)
    return any(a[1] > b[0] for a, b in zip(times, times[1:]))


def outlasts(steps: list[dict], recordings: list[dict]) -> bool:
    """Whether one of STEPS lasts longer than one of RECORDINGS in which it began."""
    return any(
        int(s["start_ns"])
        < int(r["start_ns"]) + int(r["dur_ns"])
        < int(s["start_ns"]) + int(s["total_ns"])
        for s in steps
        for r in recordings
    )


def wrong(advice: dict, rows: list[dict], recordings: list[dict]) -> str | None:
    """The error in ROWS as the evidence of ADVICE, or None. RECORDINGS: when they were made."""
    code = advice["code"]
    if not rows:
        return "no rows"
    if code in COUNTED and len(rows) != int(advice["count"]):
        return f"{len(rows)} rows instead of {advice['count']}"
    if code in NAMED and len(rows) < int(advice["count"]):
        return f"{len(rows)} rows instead of {advice['count']}"
    total = sum(int(r[SUMS[code]]) for r in rows) if code in SUMS else 0
    # What steps of several processes have at the same time is at stake once. What hosts do beside
    # their collectives, while a device is busy with work from before the recording, or after the
    # recording is not at stake. Where hosts communicate, the advice names no kernel.
    is_part = code in SUMS and (
        overlap(rows) or outlasts(rows, recordings) or not advice["subject"]
    )
    if code in SUMS and (
        total < int(advice["impact_ns"]) or (total > int(advice["impact_ns"]) and not is_part)
    ):
        return f"times do not add up to {advice['impact_ns']}"
    return None


def oversold(rows: list[dict], steps: list[dict]) -> str | None:
    """The error if causes of idle time have more than the kept STEPS have without computation, or
    rules about copies more than they have of these."""
    own = {r["code"]: int(r["impact_ns"]) for r in rows}
    kept = [r for r in steps if r["kept"] == "true"]

    def spent(*kinds: str) -> int:
        return sum(int(r[f"{kind}_ns"]) for r in kept for kind in kinds)

    limits = [(COPIES, spent("memcpy"))]
    if own.keys() & (IDLE - {"communication", "data_loading", "allocator"}):
        limits.append((IDLE, spent("total") - spent("kernel", "memcpy", "memset")))
    for codes, free in limits:
        sold = sum(ns for code, ns in own.items() if code in codes)
        if sold > free:
            return f"{sold} ns are sold of {free} ns"
    return None


def check(folder: Path, name: str, number: int, bin_folder: Path) -> tuple[int, list[str]]:
    """(The number of right commands, the errors of the others) for trace or run NUMBER."""
    passed, lines = 0, []
    recordings = rows_of(
        shell(
            "opscope table events --format csv --where \"lower(category) = 'trace' "
            'and dur_ns is not null" '
            + quoted(name if (folder / name).is_dir() else f"./{name}"),
            folder,
            bin_folder,
        )
    )
    selections = [SELECTIONS[(2 * number + n) % len(SELECTIONS)] for n in (0, 1)]
    options = ["", " --compat tb", *selections]
    if (folder / name).is_dir():
        selections = [
            " --rank 0-1",
            " --merge --rank 0-1",
            selections[0],
            " --merge" + selections[1],
        ]
        options = [" --merge", " --merge --compat tb", *selections]
    for option in options:
        path = f"./{name}" if name.startswith("-") else name
        command = f"opscope table advice{option} --format csv " + quoted(path)
        done = shell(command, folder, bin_folder)
        if done.returncode != 0 and option in selections and ": there is no " in done.stderr:
            continue
        if done.returncode != 0:
            return passed, [*lines, f"{command}: {done.stderr.strip()[:200]}"]
        if option == "":
            failed = oversold(
                rows_of(done),
                rows_of(
                    shell(
                        "opscope table steps --format csv " + quoted(path), folder, bin_folder
                    )
                ),
            )
            lines += [f"{name}: {failed}"] if failed else []
            passed += not failed
        for advice in rows_of(done):
            shown = shell(advice["evidence"] + " --format csv", folder, bin_folder)
            if shown.returncode != 0:
                failed: str | None = f"exit {shown.returncode}: {shown.stderr.strip()[:200]}"
            else:
                failed = wrong(advice, rows_of(shown), recordings)
            if failed:
                lines.append(f"{name}: {advice['code']}: {failed}: {advice['evidence']}")
            else:
                passed += 1
    return passed, lines


def quoted(text: str) -> str:
    """TEXT as a word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--traces", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument(
        "--largest",
        type=int,
        default=sys.maxsize,
        metavar="BYTES",
        help="leave out larger traces",
    )
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    jobs: list[tuple[Path, str]] = []
    if options.traces.is_dir():
        jobs += [
            (options.traces, str(p.relative_to(options.traces)))
            for p in sample.of(sorted(options.traces.rglob("*.json*")))
            if p.is_file() and p.stat().st_size <= options.largest
        ]
    with tempfile.TemporaryDirectory(prefix="evidence-") as place:
        bin_folder = Path(place) / "bin"
        bin_folder.mkdir()
        (bin_folder / "opscope").symlink_to(options.opscope.resolve())
        for number in range(options.random):
            seed = options.seed * 1_000_003 + number
            folder = Path(place) / str(number)
            folder.mkdir()
            name = NAMES[number % len(NAMES)]
            (folder / name).write_bytes(randomtrace.data(seed))
            jobs.append((folder, name))
            waiting = folder / "waiting.json"
            waiting.write_bytes(devicetrace.data(seed))
            jobs.append((folder, waiting.name))
            # The names of files state their ranks.
            run = folder.parent / f"run {number // RANKS}"
            run.mkdir(exist_ok=True)
            of_run = waiting if number // RANKS % 2 else folder / name
            (run / f"rank{number % RANKS}, {name}").write_bytes(of_run.read_bytes())
            if number % RANKS == 0:
                jobs.append((folder.parent, run.name))
        passed = failed = 0
        with ThreadPoolExecutor(2) as pool:
            for right, lines in pool.map(
                lambda n: check(*jobs[n], n, bin_folder), range(len(jobs))
            ):
                passed += right
                failed += len(lines)
                for line in lines:
                    print(line)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
