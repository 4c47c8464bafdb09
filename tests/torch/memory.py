#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-memory
# with: {torch}
# env: PYTHONPATH={module}
# full-env: OPSCOPE_TEST_APART=1
# turn: 2
"""Check what opscope.torch records of memory: the same as torch.profiler, or as torch documents it.

    python3 tests/torch/memory.py

Needs torch, and the python/ of a build on PYTHONPATH. Ends with `N passed, N failed`; exit status 1
on any failure.
"""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import json
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.profiler
from support import both, exported, raises, run
from torch import nn
from torch.profiler._memory_profiler import Action, MemoryProfile, TensorKey

import opscope
from opscope.torch import ProfilerActivity, profile, record_function

CPU = [ProfilerActivity.CPU]
WITH_CATEGORIES: dict[str, Any] = {
    "activities": CPU,
    "record_shapes": True,
    "profile_memory": True,
    "with_stack": True,
}
WORDS = (
    "parameter",
    "gradient",
    "optimizer_state",
    "activation",
    "input",
    "temporary",
    "autograd_detail",
)
x = torch.randn(8, 8)


def exhaust() -> None:
    """Allocate more memory than there is."""
    with contextlib.suppress(RuntimeError):
        torch.empty(1 << 58, dtype=torch.int8)


def failed_allocations_are_rows_as_torch_has_them() -> None:
    theirs, ours = both(exhaust, activities=CPU, profile_memory=True)
    a, b = (
        [(a.key, a.count, a.cpu_memory_usage) for a in p.key_averages()] for p in (theirs, ours)
    )
    assert a == b and "[OutOfMemory]" in [key for key, *_ in b], (a, b)
    assert [e["args"]["Bytes"] for e in exported(ours) if e["name"] == "[OutOfMemory]"] == [
        1 << 58
    ]


# As libc10_cuda.so does, it tells torch of blocks of a device, by way of its own address table.
DEVICE_LIBRARY = """
#include <cstddef>
#include <cstdint>
namespace c10 {
struct Device { int8_t type, index; };
void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device);
}
static size_t total;
extern "C" void device_memory(uintptr_t at, int64_t bytes, int type, int index)
{
    const c10::Device device = {static_cast<int8_t>(type), static_cast<int8_t>(index)};
    total += bytes;
    c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(at), bytes, total, 1 << 24, device);
}
extern "C" void device_is_full(int64_t bytes, int type)
{
    c10::reportOutOfMemoryToProfiler(bytes, total, 1 << 24, {static_cast<int8_t>(type), 0});
}
"""


def memory_of_devices_is_recorded_as_torch_does() -> None:
    with profile(activities=CPU, profile_memory=True):  # looks at all libraries that there are
        torch.ones(1)
    libraries = Path(torch.__file__).parent / "lib"
    with tempfile.TemporaryDirectory() as directory:
        source, out = Path(directory) / "device.cpp", Path(directory) / "libdevice.so"
        source.write_text(DEVICE_LIBRARY)
        subprocess.run(
            [
                "c++",
                "-O1",
                "-shared",
                "-fPIC",
                source,
                "-o",
                out,
                f"-L{libraries}",
                "-lc10",
                f"-Wl,-rpath,{libraries}",
            ],
            check=True,
        )
        library = ctypes.CDLL(str(out))

    def work() -> None:
        for device in (1, 12):  # CUDA and XPU
            with record_function(f"on {device}"):
                for block in (1 << 20, 1 << 21):
                    library.device_memory(
                        ctypes.c_size_t(block), ctypes.c_int64(block), device, 0
                    )
                library.device_memory(
                    ctypes.c_size_t(1 << 20), ctypes.c_int64(-1 << 20), device, 0
                )
            library.device_memory(ctypes.c_size_t(1 << 21), ctypes.c_int64(-1 << 21), device, 0)
            library.device_is_full(ctypes.c_int64(1 << 40), device)

    theirs, ours = both(work, activities=CPU, profile_memory=True)
    a, b = (
        sorted(
            (a.key, a.count, a.cpu_memory_usage, a.device_memory_usage)
            for a in p.key_averages()
        )
        for p in (theirs, ours)
    )
    assert a == b and ("on 12", 1, 0, 1 << 21) in b, (a, b)
    keys = ("Device Type", "Device Id", "Bytes", "Total Allocated", "Total Reserved", "Addr")
    a, b = (
        [
            (e["name"], *[e["args"].get(key) for key in keys])
            for e in exported(p)
            if e.get("args", {}).get("Device Type", 0) != 0
        ]
        for p in (theirs, ours)
    )
    a, b = (
        [x for x in y if x[0] == "[memory]"] + [x for x in y if x[0] != "[memory]"]
        for y in (a, b)
    )
    assert a == b and len(b) == 10, (a, b)
    peaks = opscope.load(ours).table("memory_peaks")
    assert {(d, int(n)) for d, n in zip(peaks["device"], peaks["peak_bytes"])} >= {
        ("cuda:0", 3 << 20),
        ("xpu:0", 3 << 20),
    }, peaks


def records_of_memory_outside_of_calls_are_events() -> None:
    def work() -> None:
        y = torch.ones(100)
        del y
        exhaust()

    theirs, ours = both(work, activities=CPU, profile_memory=True)
    a, b = (
        [
            (
                e.name,
                e.trace_name,
                e.cpu_memory_usage,
                e.thread,
                e.time_range.elapsed_us() == 0,
                e.flops,
                e.overload_name,
            )
            for e in p.events()
        ]
        for p in (theirs, ours)
    )
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
        return (
            [e["args"]["Bytes"] for e in exported(prof) if e["name"] == "[memory]"],
            {
                a.key: (a.count, a.cpu_memory_usage, a.self_cpu_memory_usage)
                for a in prof.key_averages()
            },
        )

    theirs, ours = (told(make) for make in (torch.profiler.profile, profile))
    assert theirs == ours and len(ours[0]) == 8, (theirs, ours)


def trained_before() -> Callable[[], None]:
    """Two steps of training whose model, optimizer and inputs are older than the steps."""
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    batches = [
        (torch.randn(4, 8).t().contiguous().t(), torch.randint(0, 4, (4,))) for _ in range(3)
    ]

    def step(inputs: torch.Tensor, labels: torch.Tensor) -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    def work() -> None:
        for batch in batches[1:]:
            step(*batch)

    step(*batches[0])
    return work


def memory_over_time_has_what_torch_has() -> None:
    def told(timeline: Any) -> Counter[tuple[str, int, str]]:
        return Counter(
            (action.name, size, word(timeline._categories.get(key, version)))
            for _, action, (key, version), size in timeline.timeline
        )

    for work in trained_before(), convolutions, manual:
        work()
        with torch.profiler.profile(**WITH_CATEGORIES) as prof:
            work()
        a = told(MemoryProfile(prof.profiler.kineto_results))
        with profile(**WITH_CATEGORIES) as prof:
            work()
        b = told(prof._memory_profile())
        assert a == b, (a - b, b - a)
        if work not in (convolutions, manual):
            before = {
                (size, category) for action, size, category in b if action == "PREEXISTING"
            }
            assert {(512, "parameter"), (512, "optimizer_state"), (128, "input")} <= before, (
                before
            )


def memory_over_time_is_written_in_all_forms() -> None:
    with profile(
        activities=CPU, record_shapes=True, profile_memory=True, with_stack=True
    ) as prof:
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
    with profile(**WITH_CATEGORIES) as prof:
        manual()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as d:
        warnings.simplefilter("ignore", FutureWarning)
        prof.export_memory_timeline(f"{d}/a.raw.json.gz", device="cpu")
        raw = json.loads(gzip.decompress(Path(d, "a.raw.json.gz").read_bytes()))
    by_category = Counter(category for _, action, _, category in raw if action == 2)
    assert by_category[5] == 3 and by_category[4] == 12, by_category  # gradients, activations
    plain = profile(activities=CPU)
    assert raises(ValueError, "profile_memory=True", lambda: plain.export_memory_timeline("x"))


class Residual(nn.Module):
    """A block of a residual network, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(8) for _ in range(2))
        self.head = nn.Linear(8, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        kept = torch.relu(self.norms[0](self.first(images)))
        changed = torch.relu_(self.norms[1](self.second(kept)) + kept)
        return self.head(changed.mean((2, 3)))


def convolutions() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 7 * 7, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        images, labels = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()


def encoder() -> None:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(2, 8, 32)).pow(2).mean().backward()
        optimizer.step()


def residual() -> None:
    model = Residual()
    optimizer = torch.optim.Adam(model.parameters(), amsgrad=True)
    for _ in range(3):
        images, labels = torch.randn(4, 3, 8, 8), torch.randint(0, 10, (4,))
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()


def manual() -> None:
    """Without modules and optimizers: parameters are found by the data flow alone."""
    weight = torch.randn(8, 8, requires_grad=True)
    for _ in range(3):
        (torch.randn(4, 8) @ weight).relu().sum().backward()
        assert weight.grad is not None
        with torch.no_grad():
            weight -= 0.1 * weight.grad
        weight.grad = None


def lists() -> None:
    """Lists of more tensors than an argument holds, and gradients of two backward passes."""
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(120)))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(2):
        optimizer.zero_grad()
        for _ in range(2):
            model(torch.randn(2, 4)).sum().backward()
        optimizer.step()


def word(category: Any) -> str:
    return category.name.lower() if category else ""


def theirs(work: Callable[[], None]) -> tuple[list[tuple[int, str]], list[Counter[str]]]:
    """What torch says of the allocations of WORK, in their order: the size, and the first category
    that it gives. And the live bytes by category after each."""
    with torch.profiler.profile(**WITH_CATEGORIES) as prof:
        work()
    memory = MemoryProfile(prof.profiler.kineto_results)
    first: dict[Any, str] = {}
    for (key, _), category in memory._category_snapshot().items():  # in order of versions
        first[key] = first.get(key) or word(category)
    allocations = [
        (e.start_time_ns, e.typed[1])
        for e in memory._op_tree.dfs()
        if e.name == "[memory]" and e.typed[1].alloc_size > 0
    ]
    allocations.sort(key=lambda x: x[0])
    live: Counter[str] = Counter()
    moments: dict[int, Counter[str]] = {}
    for at, action, (key, version), size in memory.timeline:
        if at < 0:  # from before
            continue
        names = [word(memory._categories.get(key, v)) for v in (version, version + 1)]
        live[names[0]] += size if action == Action.CREATE else -size
        if action == Action.INCREMENT_VERSION:
            live[names[1]] += size
        moments[at] = Counter(live)
    return (
        [(a.alloc_size, first.get(TensorKey.from_allocation(a), "")) for _, a in allocations],
        [moments[at] for at, _ in allocations],
    )


def ours(prof: Any) -> tuple[list[tuple[int, str]], Any]:
    """The same of PROF, in order of time, and the table memory_peaks of it."""
    trace = opscope.load(prof)
    rows = trace.table("memory_events", where="alloc_ns IS NOT NULL")
    words = rows["category"] if "category" in rows else [None] * rows.n_rows
    return (
        [(int(size), category or "") for size, category in zip(rows["bytes"], words)],
        trace.table("memory_peaks"),
    )


def compare(work: Callable[[], None], *expected: str) -> None:
    """Check that allocations of WORK and live bytes at the peak have torch's categories, among
    them those EXPECTED."""
    work()
    a, moments = theirs(work)
    with profile(**WITH_CATEGORIES) as prof:
        work()
    b, peaks = ours(prof)
    assert a == b, [pair for pair in zip(a, b) if pair[0] != pair[1]][:9]
    assert set(expected) <= {category for _, category in b}, Counter(c for _, c in b)
    peak = max(moments, key=lambda m: sum(m.values()))
    held = {c: peaks[f"{c or 'uncategorized'}_bytes"][0] for c in (*WORDS, "")}
    assert held == {c: peak[c] for c in held}, (held, peak)
    assert sum(held.values()) == peaks["live_bytes"][0]


def memory_of_convolutions_has_the_categories_of_torch() -> None:
    compare(convolutions, *WORDS)


def memory_of_an_encoder_has_the_categories_of_torch() -> None:
    compare(encoder, *WORDS)


def memory_of_a_residual_network_has_the_categories_of_torch() -> None:
    compare(residual, *WORDS)


def memory_without_modules_and_optimizers_has_the_categories_of_torch() -> None:
    compare(manual, "gradient", "activation", "input", "temporary")


def memory_of_operators_on_many_tensors_has_the_categories_of_torch() -> None:
    compare(lists, *WORDS)


def memory_has_categories_only_with_all_that_they_need() -> None:
    for left_out in "record_shapes", "with_stack":
        with profile(**{**WITH_CATEGORIES, left_out: False}) as prof:
            manual()
        trace = opscope.load(prof)
        assert "category" not in trace["memory_events"], left_out
        assert "parameter_bytes" not in trace["memory_peaks"], left_out


if __name__ == "__main__":
    sys.exit(run(globals(), __name__))
