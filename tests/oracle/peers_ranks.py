# SPDX-License-Identifier: Apache-2.0
"""torch-tb-profiler's distributed views (expected/tb), and rules for where they are wrong.

Requested with --compat tb, of the directory of a case. Where the last source of the plugin gives
other answers than its release, those are taken.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from peers import Item

# Case -> its directory or file below data.
CASES = {
    "ddp2": "torch213/ddp2_logdir",
    "hta_nccl_parser_config": "hta/nccl_parser_config",
    "hta_ns_resolution_trace": "hta/ns_resolution_trace",
    "hta_trace_diff_control": "hta/trace_diff/control/control.json.gz",
    "hta_trace_filter": "hta/trace_filter",
}
GPU_ANNOTATIONS = "copies of annotations on the device overwrite the host ranges"
NOT_MATCHED = "collectives that run at once are compared in another order than they were called"
# By the notes, doubles of 16 digits are off by so much in the sum of a step.
DOUBLES_NS = {
    ("hta_ns_resolution_trace", "computation_ns"): 6100,
    ("hta_ns_resolution_trace", "other_ns"): 6100,
}
# The right numbers of the notes, by the default rules: case, table, key, column, us, and whether
# they are whole microseconds.
RIGHT = [
    ("ddp2", "collectives", {"rank": 0, "name": "gloo:broadcast"}, "data_transfer_ns", 1424.8),
    ("ddp2", "collectives", {"rank": 1, "name": "gloo:broadcast"}, "data_transfer_ns", 1404.8),
    *(
        ("hta_nccl_parser_config", "rank_overlap", {"rank": 0, "step": str(step)}, column, us)
        for step, k, c, both in (
            (4, 38506, 11989, 1825),
            (5, 38429, 12300, 1760),
            (6, 38720, 22587, 3731),
        )
        for column, us in (
            ("computation_ns", k - both),
            ("overlapping_ns", both),
            ("communication_ns", c - both),
        )
    ),
]
OVERLAP = ("computation_ns", "overlapping_ns", "communication_ns", "other_ns")
WAIT = ("data_transfer_ns", "synchronizing_ns")
# Columns of the plugin's table of operations -> ours and how they are compared.
OPERATIONS = {
    "Calls": ("calls", "exact"),
    "Total Size (bytes)": ("total_bytes", "exact"),
    "Total Latency (us)": ("total_latency_ns", "ns"),
    "Data Transfer Time (us)": ("data_transfer_ns", "ns"),
}


def rule_of(case: str, column: str, key: dict) -> str | None:
    """The rule that excludes a number."""
    if case == "hta_nccl_parser_config" and (
        column in OVERLAP or column in ("data_transfer_ns", "total_latency_ns")
    ):
        return GPU_ANNOTATIONS
    if (
        case == "ddp2"
        and column in WAIT
        and (key.get("step") in ("all", "2") or key.get("name") == "gloo:broadcast")
    ):
        return NOT_MATCHED
    return None


def rank_of(worker: str) -> int:
    """The rank of a worker of the recorded cases."""
    if worker == "host_3" or not worker.startswith(("host_", "worker")):
        return {"host_3": 3}.get(worker, 0)
    return int(worker[-1])


def step_items(
    case: str, path: Path, view: dict, table: str, columns: tuple[str, ...]
) -> Iterator[Item]:
    """Rows of `rank_overlap` or `rank_wait`."""
    for step, workers in view["data"].items():
        for worker, values in workers.items():
            key = (("rank", rank_of(worker)), ("step", step))
            for column, value in zip(columns, values):
                # The mean is cut to whole microseconds.
                yield Item(
                    "plugin: distributed",
                    case,
                    path,
                    table,
                    value,
                    "us_below" if step == "all" else "ns",
                    table,
                    compat=True,
                    key=key,
                    column=column,
                    slack_ns=510 + DOUBLES_NS.get((case, column), 0),
                    rule=rule_of(case, column, dict(key)),
                )


def operation_items(case: str, path: Path, view: dict) -> Iterator[Item]:
    """Rows of `collectives`."""
    for worker, table in view["data"].items():
        names = [column["name"] for column in table["columns"]]
        for row in table["rows"]:
            cells = dict(zip(names, row))
            key = (("rank", rank_of(worker)), ("name", cells["Name"]))
            for name, (column, how) in OPERATIONS.items():
                yield Item(
                    "plugin: distributed",
                    case,
                    path,
                    "collectives",
                    cells[name],
                    how,
                    "collectives",
                    compat=True,
                    key=key,
                    column=column,
                    slack_ns=510,
                    rule=rule_of(case, column, dict(key)),
                )


PLACE = tempfile.TemporaryDirectory()  # of the copies of vectors, until the program ends


def vector_folder(folder: Path, name: str) -> Path:
    """A directory with the workers of the unit test NAME as ranks 0 and 1."""
    place = Path(PLACE.name) / name
    place.mkdir(exist_ok=True)
    for number in (1, 2):
        shutil.copy(folder / f"{name}-{number}.input.json", place / f"rank{number - 1}.json")
    return place


def view_items(case: str, path: Path, view: dict) -> Iterator[Item]:
    """All views of a run."""
    yield from step_items(case, path, view["overlap"], "rank_overlap", OVERLAP)
    yield from step_items(case, path, view["wait"], "rank_wait", WAIT)
    yield from operation_items(case, path, view["comm_ops"])


def items(shared: Path) -> Iterator[Item]:
    """All of the plugin's distributed views."""
    for case, name in CASES.items():
        folder, path = shared / "expected/tb" / case, shared / "data" / name
        latest = folder / "src_041e7ce" / "distributed.json"
        if not latest.is_file():
            latest = folder / "distributed.json"
        if not latest.is_file():
            continue
        view = json.loads(latest.read_text())
        yield from view_items(case, path, view)
    for case, table, key, column, us in RIGHT:
        yield Item(
            "plugin: distributed, corrected",
            case,
            shared / "data" / CASES[case],
            "notes",
            us,
            "ns",
            table,
            key=tuple(key.items()),
            column=column,
            slack_ns=51 if isinstance(us, float) else 1001,
        )
    vectors = shared / "expected/tb/vectors"
    for answer in sorted(vectors.glob("*.distributed.json")):
        name = answer.name.removesuffix(".distributed.json")
        yield from view_items(
            name, vector_folder(vectors, name), json.loads(answer.read_text())
        )
