# SPDX-License-Identifier: Apache-2.0
"""Print the times of communication that HolisticTraceAnalysis 0.5 finds in runs, as JSON.

    python holistic_tables.py DIRECTORY...

Runs in an environment that has it, without opscope (see holistic.py). For each directory, without and
with its last step: of each rank the share of communication that overlaps with computation in per
cent (null: there is none), and times in microseconds; of all ranks the times of each kind of
kernels and of each overlap; or what it raised.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import warnings
from typing import Any

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # otherwise it cuts times to microseconds
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

# pylint: disable-next=wrong-import-position
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def tables(directory: str, with_last: bool) -> dict[str, Any]:
    """What it says of the run in DIRECTORY."""
    analysis = TraceAnalysis(trace_dir=directory, include_last_profiler_step=with_last)
    shares = analysis.get_comm_comp_overlap(visualize=False)
    times = analysis.get_temporal_breakdown(visualize=False)
    kinds, _ = analysis.get_gpu_kernel_breakdown(visualize=False)
    ranks: dict[int, dict[str, float | None]] = {}
    for row in shares.itertuples(index=False):
        share = float(row.comp_comm_overlap_pctg)
        ranks.setdefault(int(row.rank), {})["share"] = None if math.isnan(share) else share
    for row in times.to_dict("records"):
        for name in ("compute_time(us)", "non_compute_time(us)"):
            ranks.setdefault(int(row["rank"]), {})[name.split("(")[0]] = float(row[name])
    return {
        "ranks": ranks,
        "kinds": {row["kernel_type"]: float(row["sum"]) for row in kinds.to_dict("records")},
    }


def answer(directory: str, with_last: bool) -> dict[str, Any]:
    try:
        return tables(directory, with_last)
    except Exception as error:  # pylint: disable=broad-except
        return {"raised": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    print(
        json.dumps(
            [
                [answer(directory, with_last) for with_last in (False, True)]
                for directory in sys.argv[1:]
            ]
        )
    )
