#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check what opscope.torch records of memory: the same as torch.profiler, or as torch documents it.

    python3 tests/torch/memory.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`; exit status 1
on any failure.
"""
from __future__ import annotations

import gzip
import json
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.profiler

from opscope.torch import ProfilerActivity, profile, record_function
from support import both, exported, raises, run

CPU = [ProfilerActivity.CPU]
x = torch.randn(8, 8)


def exhaust() -> None:
    """Allocate more memory than there is."""
    try:
        torch.empty(1 << 58, dtype=torch.int8)
    except RuntimeError:
        pass


def failed_allocations_are_rows_as_torch_has_them() -> None:
    theirs, ours = both(exhaust, activities=CPU, profile_memory=True)
    a, b = ([(a.key, a.count, a.cpu_memory_usage) for a in p.key_averages()]
            for p in (theirs, ours))
    assert a == b and "[OutOfMemory]" in [key for key, *_ in b], (a, b)
    assert [e["args"]["Bytes"] for e in exported(ours)
            if e["name"] == "[OutOfMemory]"] == [1 << 58]


def records_of_memory_outside_of_calls_are_events() -> None:
    def work() -> None:
        y = torch.ones(100)
        del y
        exhaust()

    theirs, ours = both(work, activities=CPU, profile_memory=True)
    a, b = ([(e.name, e.trace_name, e.cpu_memory_usage, e.thread, e.time_range.elapsed_us() == 0,
              e.flops, e.overload_name)
             for e in p.events()] for p in (theirs, ours))
    assert a == b and ("[memory]", None, -400, 1, True, None, "") in b, (a, b)
    a, b = (p.key_averages().total_average().count for p in (theirs, ours))
    assert a == b, (a, b)


def memory_under_another_profiler_of_another_thread_is_not_ours() -> None:
    def work() -> None:
        with torch.profiler.profile(activities=CPU, profile_memory=True):
            torch.ones(1000)

    with profile(activities=CPU, profile_memory=True) as p:
        torch.ones(1)
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    sizes = p.profiler.function_events
    assert max(e.cpu_memory_usage for e in sizes) < 1000, [e.cpu_memory_usage for e in sizes]


def memory_is_recorded_while_operators_are_toggled_off() -> None:
    def told(make: type) -> Any:
        with make(activities=CPU, profile_memory=True) as prof, record_function("label"):
            kept = [torch.ones(100)]
            prof.toggle_collection_dynamic(False, CPU)
            kept.append(torch.ones(200))
            with record_function("left out"):
                kept.append(torch.ones(300))
            prof.toggle_collection_dynamic(True, CPU)
            kept.append(torch.ones(400))
            kept.clear()
        return ([e["args"]["Bytes"] for e in exported(prof) if e["name"] == "[memory]"],
                {a.key: (a.count, a.cpu_memory_usage, a.self_cpu_memory_usage)
                 for a in prof.key_averages()})

    theirs, ours = (told(make) for make in (torch.profiler.profile, profile))
    assert theirs == ours and len(ours[0]) == 8, (theirs, ours)


def memory_over_time_is_written_in_all_forms() -> None:
    with profile(activities=CPU, record_shapes=True, profile_memory=True,
                 with_stack=True) as prof:
        kept = torch.zeros(100)
        torch.zeros(50)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as d:
        warnings.simplefilter("ignore", FutureWarning)  # it is deprecated
        prof.export_memory_timeline(f"{d}/a.json", device="cpu")
        prof.export_memory_timeline(f"{d}/a.raw.json.gz", device="cpu")
        times, sizes = json.loads(Path(d, "a.json").read_text())
        raw = json.loads(gzip.decompress(Path(d, "a.raw.json.gz").read_bytes()))
    assert times == sorted(times) and sum(sizes[-1]) == 400 == kept.nbytes, sizes
    assert [(action, size) for _, action, size, _ in raw] == [(2, 400), (2, 200), (4, -200)]
    plain = profile(activities=CPU)
    assert raises(ValueError, "profile_memory=True", lambda: plain.export_memory_timeline("x"))


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
