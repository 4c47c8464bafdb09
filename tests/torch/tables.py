#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-tables
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
"""The text of a table is that of the installed torch for the same calls.

    python3 tests/torch/tables.py

Some workloads of workloads.py are profiled with several options. Each table that the command prints
is compared with the one that torch's own code makes from the events of the same profile, for all
ways to group, and several ways to sort and to cut. Needs torch, and the python/ of a build on
PYTHONPATH. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import torch.profiler
import workloads

from opscope.torch import profile

WORKLOADS = (workloads.residual_training, workloads.lstm, workloads.labels)
MEASURED: dict[str, Any] = {"record_shapes": True, "profile_memory": True, "with_flops": True}
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    MEASURED,
    {"with_stack": True},
    {**MEASURED, "with_stack": True},
)
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"sort_by": "self_cpu_time_total"},
    {"sort_by": "cpu_memory_usage", "row_limit": 10},
    {"sort_by": "count", "max_name_column_width": 20, "max_src_column_width": 30},
    {"top_level_events_only": True},
    {"sort_by": "cpu_time_total", "row_limit": -1, "header": "H"},
)
TAKEN = inspect.signature(torch.profiler.profile.key_averages).parameters


def groups() -> Iterator[dict[str, Any]]:
    """The arguments of key_averages() of this torch, in several combinations."""
    values = {
        "group_by_input_shape": (False, True),
        "group_by_stack_n": (0, 3),
        "group_by_overload_name": (False, True),
        "include_python_functions": (False, True),
    }
    known = {name: found for name, found in values.items() if name in TAKEN}
    for chosen in itertools.product(*known.values()):
        yield dict(zip(known, chosen))


def first_difference(ours: str, theirs: str) -> str:
    """The first lines in which the texts differ; "": they are equal."""
    for a, b in itertools.zip_longest(ours.split("\n"), theirs.split("\n")):
        if a != b:
            return f"opscope {a!r}, torch {b!r}"
    return ""


def main() -> int:
    passed = failed = 0
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for make, options in itertools.product(WORKLOADS, OPTIONS):
        work = make()
        work()
        with profile(activities=[torch.profiler.ProfilerActivity.CPU], **options) as prof:
            work()
        for group in groups():
            averages = prof.key_averages(**group)
            events = prof.events().key_averages(*group.values())
            for arguments in TABLES:
                found = first_difference(averages.table(**arguments), events.table(**arguments))
                passed += not found
                failed += bool(found)
                if found:
                    print(f"DIFFERS {make.__name__}, {options}, {group}, {arguments}: {found}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
