# SPDX-License-Identifier: Apache-2.0
"""Answers of torch 2.13: key_averages() and table() (expected/torch213)."""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from peers import Item
from twin.averages_text import Options

CASES = {
    "ddp2/rank0": "ddp2_logdir/host_0.1760000000000000000.pt.trace.json.gz",
    "ddp2/rank1": "ddp2_logdir/host_1.1760000000000000001.pt.trace.json.gz",
    "labels": "labels/trace.json.gz",
    "resnet_all": "resnet_all/trace.json.gz",
    "resnet_infer": "resnet_infer/trace.json.gz",
    "steps_loader": "steps_loader/trace.json.gz",
    "transformer": "transformer/trace.json.gz",
}
INTEGERS = {
    "count": "calls",
    "flops": "flops",
    "cpu_memory_usage": "cpu_bytes",
    "self_cpu_memory_usage": "self_cpu_bytes",
    "is_async": "is_async",
    "is_user_annotation": "is_user_annotation",
}
TIMES = {"cpu_time_total": "cpu_ns", "self_cpu_time_total": "self_cpu_ns"}
DEVICE_TIMES = {"device_time_total": "device_ns", "self_device_time_total": "self_device_ns"}
CALL = re.compile(r"key_averages\((.*)\)\.table\((.*)\)\Z")


def load(path: Path) -> object:
    """A recorded answer."""
    return json.loads(gzip.decompress(path.read_bytes()))


def arguments(text: str) -> dict:
    """`a=1, b='x'` as a dict."""
    call = ast.parse(f"f({text})", mode="eval").body
    return {k.arg: ast.literal_eval(k.value) for k in call.keywords}


def is_lost(name: str) -> bool:
    """Rule lost-names: the file contains another name than torch had."""
    return name == "unknown" or any(not " " <= c <= "~" or c == "\\" for c in name)


def group_option(grouping: dict) -> str | None:
    """torch's grouping as --group-by."""
    parts = []
    if grouping.get("group_by_input_shape"):
        parts.append("shape")
    if grouping.get("group_by_stack_n"):
        parts.append(f"stack:{grouping['group_by_stack_n']}")
    return ",".join(parts) or None


def numbers(shared: Path, case: str, path: Path) -> Iterator[Item]:
    """Every field of every row, and the number of rows."""
    group = "torch averages"
    for text, rows in load(shared / "expected/torch213" / case / "averages.json.gz").items():
        grouping = arguments(text)
        option = group_option(grouping)
        yield Item(
            group,
            case,
            path,
            f"rows ({text})",
            len(rows),
            "rows",
            "averages",
            option,
            rule="lost-names" if any(is_lost(r["key"]) for r in rows) else None,
        )
        for row in rows:
            key: tuple = (
                ("name", row["key"]),
                ("device_type", "CPU"),
                ("is_user_annotation", row["is_user_annotation"]),
            )
            if "shape" in (option or ""):
                key += (("input_shapes", str(row["input_shapes"])),)
            if "stack" in (option or ""):
                key += (("stack", row["stack"]),)
            rule = "lost-names" if is_lost(row["key"]) else None
            common = {"group_by": option, "key": key, "rule": rule, "table": "averages"}
            for field, column in INTEGERS.items():
                # Columns are absent if the file lacks their data; torch has 0.
                optional = column in ("cpu_bytes", "self_cpu_bytes", "flops") and not any(
                    r[field] for r in rows
                )
                yield Item(
                    group,
                    case,
                    path,
                    text,
                    row[field],
                    "absent_or_0" if optional else "exact",
                    column=column,
                    **common,
                )
            for field, column in TIMES.items():
                # A double in us; the error of sums of doubles is far below half a ns.
                yield Item(
                    group,
                    case,
                    path,
                    text,
                    row[field],
                    "ns",
                    column=column,
                    slack_ns=0.4,
                    **common,
                )
            for field, column in DEVICE_TIMES.items():
                yield Item(
                    group,
                    case,
                    path,
                    text,
                    row[field],
                    "ns",
                    column=column,
                    slack_ns=0,
                    **common,
                )


def texts(shared: Path, case: str, path: Path) -> Iterator[Item]:
    """Every recorded text of table()."""
    for answer in load(shared / "expected/torch213" / case / "tables.json.gz"):
        match = CALL.match(answer["call"])
        grouping, options = arguments(match.group(1)), arguments(match.group(2))
        yield Item(
            "torch texts",
            case,
            path,
            answer["call"],
            answer["text"],
            # Rows of `labels` whose names the file lost are other rows for us, which also changes
            # the shares and the order of the rest.
            rule="lost-names" if case == "labels" else None,
            options=Options(
                sort=options.get("sort_by"),
                limit=options.get("row_limit", 100),
                header=options.get("header"),
                top_level=options.get("top_level_events_only", False),
                max_name_width=options.get("max_name_column_width", 55),
                max_src_width=options.get("max_src_column_width", 75),
            ),
            grouping={
                "by_shape": grouping.get("group_by_input_shape", False),
                "stack_n": grouping.get("group_by_stack_n", 0),
            },
        )


def items(shared: Path) -> Iterator[Item]:
    """All of torch's answers."""
    for case, name in CASES.items():
        path = shared / "data/torch213" / name
        yield from numbers(shared, case, path)
        yield from texts(shared, case, path)
