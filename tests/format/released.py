#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: released
# args: --opscope {gcc}/opscope
# mode: fast
"""Check that files of a release give the same tables as with that release.

    released.py --opscope PATH [--data FOLDER]

Reads every fixture in FOLDER/VERSION (tests/data/released, made by make.py there) and
compares every table, cell by cell, with the release's own output, apart from the differences in
ALLOWED. Ends with "N passed, N failed" (tables).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Columns that may differ: (version, family or fixture, table) -> names. Each needs a
# sentence in the CHANGELOG.
SENTENCES = {"quality": {"message", "remedy"}, "advice": {"text"}}
ALLOWED: dict[tuple[str, str, str], set[str]] = {
    ("0.1.0", family, table): names
    for family in ("columns", "recordings")
    for table, names in SENTENCES.items()
}
# Categories are named by the kind; work on devices has the number, and the family apart.
ALLOWED["0.1.0", "recordings", "events"] = {"category", "args"}

# The version of torch was not told.
ALLOWED["0.1.0", "recordings/torch-unchanged", "info"] = {"value"}

# What stands out among steps, and what grew in them.
ALLOWED["0.1.0", "recordings", "steps"] = ALLOWED["0.1.0", "columns", "steps"] = {
    "outlier",
    "grew",
    "grew_on",
    "grew_by_ns",
    "grew_ratio",
}

# Recorded waits for data, steps of optimizers and collectives were in the class other.
for family in ("columns", "recordings"):
    ALLOWED["0.1.0", family, "steps"] |= {
        "communication_ns",
        "dataloader_ns",
        "cpu_exec_ns",
        "other_ns",
    }
    ALLOWED["0.1.0", family, "overview"] = {"avg_ns", "ratio"}
# The only step of a trace without steps has all work of devices, and what launches it.
for fixture in ("columns/alexnet.osc", "columns/alexnet-cut.osc"):
    ALLOWED["0.1.0", fixture, "steps"] = {
        "start_ns",
        "total_ns",
        "kernel_ns",
        "memcpy_ns",
        "memset_ns",
        "runtime_ns",
        "note",
    }
    ALLOWED["0.1.0", fixture, "devices"] = {
        "utilization_ratio",
        "sm_efficiency_ratio",
        "occupancy_ratio",
    }
# A share of Tensor Cores is missing where no rule knows a kernel.
for family in ("columns", "recordings"):
    ALLOWED["0.1.0", family, "operators"] = {"tc_self_ratio", "tc_total_ratio"}
    ALLOWED.setdefault(("0.1.0", family, "devices"), set()).add("tensor_core_ratio")
    ALLOWED["0.1.0", family, "kernels"] = {"tensor_cores"}
# Findings that follow other rules now, or are new: (version, table) -> codes of rows that are
# not compared.
OTHER_RULES = {
    ("0.1.0", "advice"): (
        "slow_steps",
        "python",
        "unrecorded",
        "low_utilization",
        "idle_device",
        "data_loading",
        "communication",
        "synchronization",
        "launch_bound",
        "allocator",
        "handover",
        "late_start",
        "slow_call",
        "profiler_overhead",
        "optimizer",
        "python_idle",
        "unrecorded_idle",
        "device_copies",
        "device_kernels",
        "straggler",
    ),
    ("0.1.0", "quality"): ("no_device", "partial_overlap", "unmatched_end"),
}

# Findings of `quality` that the release did not have.
NEWER = {"0.1.0": ("arrow_no_start", "arrow_no_end", "crossed_call", "queue_overlap")}


# Columns that the release did not have, by table: names beside every process and thread, how busy
# tracks were, and how long parts of steps were by themselves.
OF_PROCESS, OF_THREAD = {"process_name"}, {"thread_name"}
NEWER_COLUMNS: dict[str, dict[str, set[str]]] = {
    "0.1.0": {
        "events": OF_PROCESS | OF_THREAD,
        "threads": OF_PROCESS,
        "steps": OF_THREAD,
        "overview": {"gross_ns"},
        "ranges": {"self_ratio", "outer_ns"},
        "tracks": OF_PROCESS | {"thread", "process_labels", "events", "busy_ns", "busy_ratio"},
        "memory_events": OF_PROCESS,
        "memory_curve": OF_PROCESS,
        "memory_peaks": OF_PROCESS,
    }
}

# Work of devices had no stacks, and has those of its operators now: its rows are split.
SPLIT = {
    ("0.1.0", "recordings"): (
        "averages --group-by stack:3",
        "averages --group-by shape,stack:3",
    )
}

# Rows that the release did not have: (version, family, table) -> how they begin.
NEWER_ROWS = {
    ("0.1.0", "recordings", "flows"): "launch,",  # of osc_launch()
    ("0.1.0", "recordings", "quality"): "info,no_(stacks|modules|flops|steps),",
    ("0.1.0", "recordings", "info"): r"(\d+,\d+,)?dialect,",
    ("0.1.0", "columns", "info"): r"(\d+,\d+,)?dialect,",
}


def columns_of(text: str) -> dict[str, list[str]]:
    """The cells of a table in CSV by column, in order."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    return {name: [row[i] for row in rows] for i, name in enumerate(head)}


def short(text: str) -> str:
    """A short digest of TEXT."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def digest(text: str) -> dict[str, str]:
    """Digests of a table in CSV: of the whole table under the empty name, and of each column with
    its number of rows, to show what differs."""
    return {"": short(text)} | {
        name: f"{len(cells)} {short(chr(0).join(cells))}"
        for name, cells in columns_of(text).items()
    }


def renamed(text: str) -> str:
    """TEXT of a recording of no program of torch, whose steps the release called as torch does."""
    return text.replace("ProfilerStep*", "step")


def difference(text: str, expected: str | dict[str, str], allowed: set[str]) -> str | None:
    """The difference between a table in CSV and the expected one, or None."""
    is_whole = isinstance(expected, str)
    if is_whole and text in (expected, renamed(expected)):
        return None
    if not is_whole and short(text) == expected[""]:
        return None
    found = columns_of(text) if is_whole else digest(text)
    wanted = columns_of(expected) if is_whole else expected
    names = [
        [name for name in columns if name and name not in allowed]
        for columns in (found, wanted)
    ]
    if names[0] != names[1]:
        return f"columns {names[0]} instead of {names[1]}"
    for name in names[0]:
        if found[name] == wanted[name]:
            continue
        if not is_whole:
            return f"column {name}: rows and digest {found[name]} instead of {wanted[name]}"
        if len(found[name]) != len(wanted[name]):
            return f"{len(found[name])} rows instead of {len(wanted[name])}"
        row = next(i for i, (a, b) in enumerate(zip(found[name], wanted[name])) if a != b)
        return (
            f"column {name}, row {row}: {found[name][row]!r} instead of {wanted[name][row]!r}"
        )
    return None if allowed else "the same cells, written in another way"


def allowed_for(version: str, fixture: str, table: str) -> set[str]:
    """The columns that may differ in TABLE of FIXTURE, whose name begins with its family."""
    return set().union(
        *(
            ALLOWED.get((version, where, table), set())
            for where in (fixture.split("/", maxsplit=1)[0], fixture)
        )
    )


@lru_cache
def reading_version(opscope: Path) -> str:
    """The version of OPSCOPE."""
    return subprocess.run(
        [opscope, "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]


def by(opscope_version: str, text: str, version: str) -> str:
    """The table `info` in TEXT as printed by VERSION, because it names the reading version."""
    return re.sub(
        rf"(?m)((?:^|,)opscope_version),{re.escape(version)}$",
        rf"\g<1>,{opscope_version}",
        text,
    )


def without(codes: tuple[str, ...], text: object) -> object:
    """The table in TEXT, if it is one, without the rows of CODES."""
    if not isinstance(text, str) or not codes:
        return text
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    at = head.index("code") if "code" in head else None
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(
        [head, *(row for row in rows if at is None or row[at] not in codes)]
    )
    return out.getvalue()


def old_columns(text: str, newer: set[str]) -> str:
    """The table in TEXT without the columns NEWER."""
    if not newer:
        return text
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    kept = [i for i, name in enumerate(head) if name not in newer]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(
        [[row[i] for i in kept] for row in (head, *rows)]
    )
    return out.getvalue()


def compare(opscope: Path, folder: Path, job: tuple) -> str | None:
    """Compare one table of one fixture."""
    version, fixture, question, expected = job
    if question in SPLIT.get((version, fixture.split("/")[0]), ()):
        return None
    codes = OTHER_RULES.get((version, question.split()[0]), ())
    expected = without(codes, expected)
    if question == "info":
        expected = by(reading_version(opscope), expected, version)
    done = subprocess.run(
        [opscope, "table", *question.split(), fixture, "--format", "csv"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
    )
    if done.returncode != 0:
        wrong = f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"
    else:
        text = done.stdout.decode()
        if question.split()[0] == "quality":
            text = re.sub(rf"(?m)^\w+,({'|'.join(NEWER.get(version, ()))}),.*\n", "", text)
        text = old_columns(text, NEWER_COLUMNS.get(version, {}).get(question.split()[0], set()))
        newer = NEWER_ROWS.get((version, fixture.split("/")[0], question.split()[0]))
        if newer:
            text = re.sub(rf"(?m)^{newer}.*\n", "", text)
        wrong = difference(
            str(without(codes, text)),
            expected,
            allowed_for(version, fixture, question.split()[0]),
        )
    return wrong and f"FAILED {version} {fixture} {question}: {wrong}"


def compare_release(opscope: Path, release: Path) -> list[str | None]:
    """Compare every table of every fixture of one release."""
    answers = json.loads(lzma.decompress((release / "tables.xz").read_bytes()))
    jobs = [
        (release.name, fixture, question, expected)
        for fixture, tables in answers.items()
        for question, expected in tables.items()
    ]
    with tempfile.TemporaryDirectory(prefix="released-") as place:
        for archive in sorted(release.glob("*.tar.xz")):
            with tarfile.open(archive) as packed:
                packed.extractall(place)
        with ThreadPoolExecutor() as pool:
            return list(pool.map(partial(compare, opscope, Path(place)), jobs))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument("--data", type=Path, default=ROOT / "tests/data/released")
    options = parser.parse_args()
    releases = sorted(p.parent for p in options.data.glob("*/tables.xz"))
    outcomes = [o for release in releases for o in compare_release(options.opscope, release)]
    failed = [o for o in outcomes if o]
    print("\n".join([*failed, f"{len(outcomes) - len(failed)} passed, {len(failed)} failed"]))
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
