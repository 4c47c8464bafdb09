# SPDX-License-Identifier: Apache-2.0
"""Print the results of torch-tb-profiler and HolisticTraceAnalysis for traces, as JSON.

    python peer_tables.py TRACE...

Runs in an environment that has both (see peers.py), without torch and without opscope.
For each trace: their complaints, the plugin's views and its tables of operators, kernels, memory and
modules, and the other's operators, kernels, steps, annotations and calls.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import warnings
from typing import Any

from hta.common.trace_call_graph import CallGraph
from hta.trace_analysis import TraceAnalysis
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator


class Complaints(logging.Handler):
    """Stores messages logged as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging."""
        text = record.getMessage()
        if " seconds" not in text:  # one of the two logs its run time as a warning
            self.found.append(f"{record.name}: {text}")


def from_plugin(path: str, cache: str) -> dict[str, Any]:
    data = RunProfileData.parse("worker", 1, path, cache)
    profile = RunGenerator("worker", 1, data).generate_run_profile()
    tables = {
        "operators": profile.operation_table_by_name,
        "operators_by_shape": profile.operation_table_by_name_input,
    }
    result = {
        name: [
            [
                row["name"],
                str(row.get("input_shape", "")),
                row["calls"],
                row["host_self_duration"],
                row["host_total_duration"],
            ]
            for row in table["data"]
        ]
        for name, table in tables.items()
    }
    result["views"] = sorted(view.display_name for view in profile.views)
    result["modules"] = sorted(
        [m.name, m.occurences, m.operators] for m in profile.module_stats or []
    )
    result["kernels"] = (
        [[row[0], row[2]] for row in profile.kernel_table["data"]["rows"]]
        if profile.kernel_table
        else []
    )
    result["memory"] = profile.get_memory_stats()["rows"] if profile.memory_snapshot else {}
    return result


def from_hta(path: str) -> dict[str, Any]:
    analysis = TraceAnalysis(trace_files={0: path}, include_last_profiler_step=True)
    names = analysis.t.symbol_table.get_sym_table()
    events = analysis.t.get_trace(0)
    operators = events[events["cat"].map(lambda i: names[i]) == "cpu_op"]
    sums = operators.groupby("name")["dur"].agg(["count", "sum"])
    annotations = analysis.get_gpu_user_annotation_breakdown(
        use_gpu_annotation=False, visualize=False, num_kernels=1000
    )
    kernels = events[
        (events["stream"] >= 0) & (events["cat"].map(lambda i: names[i]) == "kernel")
    ]
    stacks = CallGraph(analysis.t).rank_to_stacks[0]
    return {
        "operators": sorted(
            [names[i], int(row["count"]), float(row["sum"])] for i, row in sums.iterrows()
        ),
        "steps": [int(step) for step in analysis.get_profiler_steps()],
        "kernels": [[names[i], int(n)] for i, n in kernels.groupby("name").size().items()],
        "annotations": sorted(str(x) for x in annotations["name"]),
        "calls": sum(len(stack.get_nodes()) for stack in stacks.values()),
    }


def main() -> None:
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    logging.getLogger("tensorboard").addHandler(complaints)
    warnings.simplefilter("ignore")  # from the peers' own dependencies
    result = []
    with tempfile.TemporaryDirectory() as cache:
        for path in sys.argv[1:]:
            complaints.found = []
            result.append(
                {
                    "plugin": from_plugin(path, cache),
                    "hta": from_hta(path),
                    "complaints": complaints.found,
                }
            )
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
