#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-vendor
# args: --opscope {gcc}/opscope --python {torch}
# turn: 3
# needs: module
"""Train the example of a vendor's device, and check what its tables and its trace say.

    python3 tests/run/vendor.py --opscope COMMAND --python PYTHON

PYTHON has torch; the device is PoCL. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/sources"))
import each_profile  # noqa: E402
import kineto_keys  # noqa: E402
import level_zero  # noqa: E402
import opencl  # noqa: E402
from place import Place  # noqa: E402

EXAMPLE = ROOT / "examples/vendor"
STEPS = 10
ERROR_NS = 20000  # of the clocks, on a loaded machine
# What one step launches: two layers with a bias, of which only the second has to pass a gradient
# on; a linear layer; the loss.
KERNELS = {
    "conv2d": 2,
    "conv2d_grad_input": 1,
    "conv2d_grad_weight": 2,
    "conv2d_grad_bias": 2,
    "relu": 2,
    "threshold_backward": 2,
    "mm": 3,
    "log_softmax": 1,
    "log_softmax_backward": 1,
    "nll_loss": 1,
    "nll_loss_backward": 1,
}
CALLS = {"tinyLaunchKernel": "kernel", "tinyMemcpy": "memcpy", "tinyMemset": "memset"}
# What the program did not ask to record.
HINTS = {"no_shapes", "no_stacks", "no_modules", "no_flops"}
# Trains under torch's profiler, for its table.
THEIRS = """
import torch, train
from torch.profiler import ProfilerActivity, profile
torch.manual_seed(1)
model, data = train.network(), train.batches({steps})
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
             profile_memory=True) as p:
    train.train(model, data, "tiny")
for a in p.key_averages():
    print(a.key, a.count, a.device_memory_usage, a.self_device_memory_usage, sep="\\t")
"""


# Compares clocks before the recording; the clock of the device is a thousand ticks ahead.
EARLY = """
import ctypes, sys
from opscope import record
library = ctypes.CDLL("libopscope.so.0")
library.osc_now.restype = ctypes.c_uint64
class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("rest", ctypes.c_uint64 * 16)]
class Work(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("name", ctypes.c_uint32), ("times", ctypes.c_uint64 * 6)]
device = library.osc_device_add(ctypes.byref(Device(b"late")))
queue = library.osc_queue_add(device, None)
now = library.osc_now()
library.osc_device_clock(device, *(ctypes.c_uint64(x) for x in (now, 10 ** 15, now + 2)))
record.start(out=sys.argv[1])
with record.scope("around"):
    library.osc_work(queue, ctypes.byref(Work(0, 0, (0, 0, 10 ** 15, 10 ** 15 + 5, 0, 0))))
record.stop()
"""


# A program that knows no profiler.
PLAIN = """
import tiny, torch
x = torch.nn.Linear(8, 4).to("tiny")(torch.ones(2, 8).to("tiny"))
print(x.relu().cpu().shape)
"""


# Two profiles of the host alone.
UNASKED = """
import opscope, opscope.torch, tiny, torch
from torch.profiler import ProfilerActivity
for _ in range(2):
    with opscope.torch.profile(activities=[ProfilerActivity.CPU]) as p:
        torch.ones(8).to("tiny").relu()
print("device_unasked" in list(opscope.load(p)["quality"]["code"]))
"""


# Profiles that did not ask for memory.
WITHOUT_MEMORY = """
import json, sys, tiny, torch
from opscope.torch import ProfilerActivity, autograd_profiler, profile
x = torch.ones(8).to("tiny")
CPU, DEVICE = ProfilerActivity.CPU, ProfilerActivity.PrivateUse1
for p in (profile(activities=[DEVICE]), profile(activities=[CPU, DEVICE]), profile(activities=[CPU]),
          autograd_profiler.profile()):
    with p:
        x.relu()
    inner = getattr(p, "profiler", p)
    assert not any("[memory]" in e.name or e.device_memory_usage for e in inner.function_events)
    if p is not inner:
        assert not any("[memory]" in e.name() for e in inner.kineto_results.events())
    p.export_chrome_trace(sys.argv[1])
    with open(sys.argv[1]) as f:
        assert not [e for e in json.load(f)["traceEvents"] if e.get("cat") == "cpu_instant_event"]
"""


# What a model, an optimizer and inputs had on the device before, by torch's profiler and by ours.
BEFORE = """
import json, sys, torch, train
import tiny, torch.profiler
from opscope.torch import profile, ProfilerActivity

def timeline(maker):
    torch.manual_seed(0)
    model = train.network().to("tiny")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = [(a.to("tiny"), b.to("tiny")) for a, b in train.batches(3)]
    def step(images, labels):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    step(*data[0])
    with maker(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
               with_stack=True) as prof:
        step(*data[1])
        y = torch.ones(8) + 1
        loss = model(data[2][0])
    found = []
    for device in "privateuseone:0", "cpu":
        prof.export_memory_timeline(sys.argv[1], device=device)
        with open(sys.argv[1]) as f:
            _, sizes = json.load(f)
        found.append((sizes[0], [max(of_category) for of_category in zip(*sizes)]))
    assert maker is not profile or all(not e.kwinputs for e in prof.events())
    return found

theirs, ours = timeline(torch.profiler.profile), timeline(profile)
assert theirs == ours and sum(theirs[0][0]) > 50000, (theirs, ours)
"""


# Sorts all tables by the words that they have, for profiles that ask for the device and not.
SORTED = """
import tiny, torch
from opscope.torch import ProfilerActivity, autograd_profiler, profile, profiler_legacy, schedule
x = torch.ones(8).to("tiny")
CPU, DEVICE = ProfilerActivity.CPU, ProfilerActivity.PrivateUse1

def check(what, prof):
    lists = {"averages": prof.key_averages(), "by stack": prof.key_averages(group_by_stack_n=2),
             "events": inner(prof).function_events,
             "averages of events": inner(prof).function_events.key_averages()}
    for name, found in lists.items():
        for word in "tiny", "device", "cuda", "xpu", "privateuse1":
            for key in f"self_{word}_time_total", f"{word}_time_total", f"{word}_time":
                text = found.table(sort_by=key, row_limit=-1)
                assert "Self TINY" in text and text == found.table(
                    sort_by=key.replace(word, "device"), row_limit=-1), (what, name, key, text)
                shown = found.table(sort_by=key, row_limit=1).splitlines()[3].split()[0]
                values = {e.key: getattr(e, key.replace(word, "device")) for e in found}
                assert values[shown] == max(values.values()) > 0 or name == "events", (what, name)
        for key in "nonsense", "self_bogus_time_total", "self_opencl_time_total":
            try:
                found.table(sort_by=key)
            except AttributeError as e:
                assert f"object has no attribute '{key}'" in str(e), e
                assert " self_device_time_total, " in str(e) and " or tiny" in str(e), e
            else:
                raise AssertionError((what, name, key))

def inner(prof):
    return getattr(prof, "profiler", prof)

def work():
    x.relu()
    torch.tiny.synchronize()

for words, which in ("CPU", [CPU]), ("DEVICE", [DEVICE]), ("both", [CPU, DEVICE]):
    with profile(activities=which) as prof:
        work()
    check(words, prof)
    for has_work in (True, True), (True, False), (False, True):
        plan = schedule(wait=0, warmup=0, active=1, repeat=2)
        with profile(activities=which, schedule=plan, acc_events=True) as prof:
            for has in has_work:
                work() if has else torch.ones(2)
                prof.step()
        check((words, has_work), prof)
for kind in autograd_profiler, profiler_legacy:
    with kind.profile() as prof:
        work()
    check(kind, prof)
"""


# Launches one kernel.
PREPARE = """
import tiny
ONES = torch.ones(8).to("tiny")
begin, wait = ONES.relu, torch.tiny.synchronize
"""


# Torch on the vendor's device, OpenCL by itself on a thread, Level Zero on another, NVTX, and two
# children, one of them a program of OpenCL in C. Arguments: how to end, a library, that program.
AT_ONCE = """
import ctypes, os, signal, subprocess, sys, threading
import nvtx, numpy, pyopencl, tiny, torch

def double_all():
    context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
    queue = pyopencl.CommandQueue(context)
    source = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }"
    x = numpy.arange(64, dtype=numpy.float32)
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    buffer = pyopencl.Buffer(context, flags, hostbuf=x)
    pyopencl.Program(context, source).build().twice(queue, x.shape, None, buffer)
    pyopencl.enqueue_copy(queue, x, buffer)
    queue.finish()
    print("doubled", x.tobytes().hex())

def add_all():
    library = ctypes.CDLL(sys.argv[2])
    library.run_kernel()
    library.finish_all()

torch.manual_seed(1)
CHILD = "import nvtx, os\\nwith nvtx.annotate('in child'): print('child', flush=True)\\nos._exit(3)"
with nvtx.annotate("all", domain="app"):
    threads = [threading.Thread(target=each) for each in (double_all, add_all)]
    for thread in threads:
        thread.start()
    y = torch.nn.Linear(8, 4).to("tiny")(torch.rand(2, 8).to("tiny")).relu().cpu()
    for thread in threads:
        thread.join()
print("relu", y.detach().numpy().tobytes().hex(), flush=True)
print(subprocess.run([sys.executable, "-c", CHILD]).returncode, flush=True)
print(subprocess.run([sys.argv[3], "plain"]).returncode, flush=True)
if sys.argv[1] == "_exit":
    os._exit(7)
os.kill(os.getpid(), signal.SIGTERM)
"""


class Run:
    """A run of the example, and what it left."""

    def __init__(self, opscope: Path, python: str, folder: str) -> None:
        self.opscope, self.python, self.folder = opscope, python, Path(folder)
        build = opscope.parent
        self.env = os.environ | {
            "PYTHONPATH": f"{build / 'python'}:{EXAMPLE}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCH_EXTENSIONS_DIR": str(self.folder / "extensions"),
            "POCL_CACHE_DIR": str(self.folder / "cache"),
            "CXX": os.environ.get("CXX", "c++"),
        }
        self.recording, self.trace = self.folder / "tiny.osc", self.folder / "tiny.json"
        self.text = self.run(
            "-W",
            "error::UserWarning:__main__",
            str(EXAMPLE / "train.py"),
            "--steps",
            str(STEPS),
            "--out",
            str(self.recording),
            "--trace",
            str(self.trace),
        )

    def run(self, *words: str) -> str:
        """What PYTHON prints."""
        done = subprocess.run(
            [self.python, *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
        return done.stdout

    def table(self, name: str, *words: str, of: Path | None = None) -> list[dict[str, str]]:
        """The rows of a table."""
        return rows(self.opscope, name, of or self.recording, *words)


def missing(python: str) -> str:
    """What the example lacks here; "": nothing."""
    if not os.path.isdir("/etc/OpenCL/vendors"):
        return "there is no OpenCL driver"
    if subprocess.run(["pkg-config", "--exists", "OpenCL"], check=False).returncode != 0:
        return "there are no headers of OpenCL"
    asked = (
        "import torch; torch._register_device_module; torch.utils.rename_privateuse1_backend"
    )
    done = subprocess.run([python, "-c", asked], capture_output=True, check=False)
    return "" if done.returncode == 0 else f"{python} has no torch"


# --- tests -----------------------------------------------------------------------------------


def it_learns_what_the_cpu_learns(run: Run) -> None:
    """train.py compares each loss; here, that it has fallen."""
    first, last = re.search(r"^loss: ([\d.]+) -> ([\d.]+),", run.text, re.M).groups()
    assert float(last) < 0.5 * float(first), run.text


def the_table_of_torch_has_its_columns(run: Run) -> None:
    """Times and memory under the backend's name, sorted by its own word; all three kinds of rows."""
    head = next(x for x in run.text.splitlines() if "Self CPU %" in x)
    for title in (
        "Self TINY",
        "Self TINY %",
        "TINY total",
        "TINY time avg",
        "TINY Mem",
        "Self TINY Mem",
    ):
        assert f"  {title}  " in head, head
    assert re.search(r"^Self TINY time total: [1-9]", run.text, re.M), run.text
    shown = re.findall(r"^ *(\S+) .*%.*%", run.text, re.M)
    assert "conv2d_grad_input" in shown[:6], run.text
    rows = {x["name"]: x for x in run.table("averages")}
    assert rows["tinyLaunchKernel"]["device_type"] == "CPU"
    assert rows["conv2d"]["device_type"] == "PrivateUse1"
    assert (
        rows["aten::convolution_overrideable"]["self_device_ns"] == rows["conv2d"]["device_ns"]
    )


def every_launch_has_its_work(run: Run) -> None:
    """As many kernels, copies and fills as calls, each linked to one."""
    events = run.table("events")
    by_id = {x["id"]: x for x in events}
    calls = Counter(CALLS[x["name"]] for x in events if x["name"] in CALLS)
    work = [x for x in events if x["kind"] in calls]
    assert calls == Counter(x["kind"] for x in work), calls
    assert calls["kernel"] > STEPS * sum(KERNELS.values())
    for x in work:
        assert CALLS[by_id[x["launch_id"]]["name"]] == x["kind"], x
        assert x["device"] == "tiny:0" and x["thread_name"] == "queue 0", x
        assert by_id[x["op_id"]]["kind"] == "operator", x
        # It starts after its call began, by the fitted clock.
        assert int(x["start_ns"]) >= int(by_id[x["launch_id"]]["start_ns"]) - ERROR_NS, x
    assert len({x["launch_id"] for x in work}) == len(work)


def kernels_are_counted(run: Run) -> None:
    """As many as the network needs."""
    found = {x["name"]: int(x["calls"]) for x in run.table("kernels")}
    assert {x: found[x] for x in KERNELS} == {x: n * STEPS for x, n in KERNELS.items()}, found


def the_device_is_told_of(run: Run) -> None:
    """Its model, and its memory by its allocator."""
    (device,) = run.table("devices")
    assert device["device"] == "tiny:0" and device["name"] and int(device["memory_bytes"]) > 0
    assert 0 < float(device["utilization_ratio"]) <= 1
    peak = {x["device"]: x for x in run.table("memory_peaks")}["tiny:0"]
    assert int(peak["peak_bytes"]) > 2 * 32 * 8 * 8 * 8 * 4, peak
    assert "aten::" in peak["at_peak"], peak
    info = run.table("info")
    clock = json.loads(next(x["value"] for x in info if x["key"] == "meta.device_clock.tiny:0"))
    assert clock["pairs"] >= 1 and clock["hz"] == 1000000000, clock


def nothing_is_wrong_with_it(run: Run) -> None:
    """No finding but what was not asked for."""
    found = {x["code"] for x in run.table("quality")}
    assert found <= HINTS, found


def the_trace_says_the_same(run: Run) -> None:
    """The exported trace has the words by which others know devices, and makes the same tables."""
    kineto_keys.check(run.trace)
    events = json.loads(run.trace.read_text(encoding="utf-8"))["traceEvents"]
    found = Counter((x.get("cat"), x["ph"]) for x in events)
    work = sum(found[x, "X"] for x in ("kernel", "gpu_memcpy", "gpu_memset"))
    assert found["ac2g", "s"] == found["ac2g", "f"] == work > 0, found
    assert found["privateuse1_runtime", "X"] >= work and not found["cuda_runtime", "X"], found
    called, worked = (
        {
            x["args"]["correlation"]
            for x in events
            if x.get("cat") in categories and "correlation" in x.get("args", {})
        }
        for categories in (("privateuse1_runtime",), ("kernel", "gpu_memcpy", "gpu_memset"))
    )
    assert called == worked and len(called) == work, (len(called), len(worked), work)
    for table in ("averages", "kernels", "devices", "memory", "memory_peaks", "operators"):
        # The window of the profile is an event of the trace, which begins earlier.
        ours, theirs = (
            [
                {k: v for k, v in x.items() if k not in ("process_name", "peak_ns")}
                for x in run.table(table, of=of)
            ]
            for of in (run.recording, run.trace)
        )
        assert ours == theirs, f"{table}\n{ours}\n{theirs}"


def torch_counts_the_same_memory(run: Run) -> None:
    """torch's own profiler, which has no times of this device, agrees on its memory and calls."""
    text = run.run("-c", "import tiny\n" + THEIRS.format(steps=STEPS))
    theirs = {
        x[0]: x[1:] for x in (line.split("\t") for line in text.splitlines()) if len(x) == 4
    }
    ours = {
        x["name"]: [x["calls"], x["device_bytes"], x["self_device_bytes"]]
        for x in run.table("averages")
    }
    for name in (
        "aten::empty",
        "aten::empty_strided",
        "aten::relu",
        "aten::conv2d",
        "aten::mm",
        "aten::convolution_backward_overrideable",
    ):
        assert ours[name] == theirs[name], f"{name}: {ours[name]}, torch: {theirs[name]}"


def each_table_is_sorted_by_its_own_words(run: Run) -> None:
    """Whether the device was asked for or not; other words are refused, and it is said which there
    are."""
    run.run("-c", SORTED)
    done = subprocess.run(
        [run.opscope, "table", "averages", "--sort", "self_bogus_time_total", run.recording],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "'self_device_time_total'" in done.stderr, done


def memory_that_was_not_asked_for_is_left_out(run: Run) -> None:
    """Of events and of exported traces."""
    run.run("-c", WITHOUT_MEMORY, str(run.folder / "without_memory.json"))


def memory_of_the_device_from_before_a_profile_has_its_category(run: Run) -> None:
    """As in torch's own timeline."""
    run.run("-c", BEFORE, str(run.folder / "timeline.json"))


def a_part_has_its_copies_of_ranges(run: Run) -> None:
    """Whatever it is cut out of, and however."""
    exported = [run.folder / name for name in ("whole.json", "whole.osc")]
    for path in exported:
        subprocess.run([run.opscope, "export", run.recording, "-o", path], check=True)
    for words in (["--steps", "2"], ["--steps", "1-3"]):
        parts = [run.folder / f"part{words[1]}{end}" for end in (".json", ".osc")]
        for path in parts:
            subprocess.run(
                [run.opscope, "export", run.recording, "-o", path, *words], check=True
            )

        def on_device(path: Path, *words: str) -> list[dict[str, str]]:
            return [
                row for row in run.table("ranges", *words, of=path) if row["place"] == "device"
            ]

        wanted = on_device(run.recording, *words)
        assert any(row["kind"] == "annotation" for row in wanted), words
        for path in exported:
            assert on_device(path, *words) == wanted, (words, path)
        for path in parts:
            assert on_device(path) == wanted, (words, path)


def a_device_that_was_not_asked_for_is_told(run: Run) -> None:
    """Once, for its work is recorded all the same."""
    done = subprocess.run(
        [run.python, "-c", UNASKED],
        env=run.env,
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    assert done.stdout == "True\n" and done.stderr.count("PrivateUse1 was used") == 1, done


def a_pair_from_before_the_recording_counts(run: Run) -> None:
    """So the ticks of a device are never taken as ours only because its runtime compared early."""
    out = run.folder / "early.osc"
    run.run("-c", EARLY, str(out))
    info = {x["key"]: x["value"] for x in run.table("info", of=out)}
    assert json.loads(info["meta.device_clock.late:0"])["pairs"] == 1, info
    start = {x["kind"]: int(x["start_ns"]) for x in run.table("events", of=out)}
    assert 0 <= start["scope"] - start["kernel"] < 10**10, start


def an_unmodified_program_is_recorded(run: Run) -> None:
    """With the columns of the device, and none of the work twice: OpenCL is recorded by default,
    but what the runtime asks of it is the vendor's."""
    out = run.folder / "plain"
    done = subprocess.run(
        [run.opscope, "run", "--torch", "-o", out, "--", run.python, "-c", PLAIN],
        env=run.env,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0 and "[2, 4]" in done.stdout, done.stdout + done.stderr
    assert [x["device"] for x in run.table("devices", of=out)] == ["tiny:0"]
    rows = {
        x["name"]: x for x in run.table("averages", "--sort", "self_tiny_time_total", of=out)
    }
    assert rows["aten::relu"]["self_device_ns"] == rows["relu"]["device_ns"] != "0", rows[
        "relu"
    ]


def titles_name_the_device_that_worked(run: Run) -> None:
    """Not OpenCL, which its runtime uses, and which comes first."""
    for options in ("--torch",), ("--sources", "torch,opencl"), ("--sources", "opencl,torch"):
        out = run.folder / "titles"
        subprocess.run(
            [run.opscope, "run", *options, "-o", out, "--", run.python, "-c", PLAIN],
            env=run.env,
            capture_output=True,
            timeout=400,
            check=True,
        )
        text = subprocess.run(
            [run.opscope, "table", "averages", out], capture_output=True, text=True, check=True
        ).stdout
        assert "Self TINY" in text and "OPENCL" not in text, (options, text)


def all_sources_are_recorded_at_once(run: Run) -> None:
    """Of one program and its child, which notice nothing, however they end."""
    program = run.folder / "at_once.py"
    program.write_text(AT_ONCE, encoding="utf-8")
    place = Place(run.opscope, run.python, run.folder)
    env = run.env | {"ZE_ENABLE_ALT_DRIVERS": level_zero.driver(place)}
    parts = [level_zero.library(place), opencl.program(place)]
    for how in ("_exit", "signal"):
        command, out = [run.python, program, how, *parts], run.folder / f"at-once-{how}"
        alone, done = (
            subprocess.run(
                [*before, *command],
                env=env,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            for before in ([], [run.opscope, "run", "--torch", "-o", out, "--"])
        )
        assert "doubled" in alone.stdout and "child" in alone.stdout, alone.stderr
        assert (done.returncode, done.stdout, done.stderr) == (
            alone.returncode,
            alone.stdout,
            alone.stderr,
        ), (done, alone)
        # Ids are those of one process, of which each has a file.
        events = [
            x | {"file": path.name}
            for path in sorted(out.iterdir())
            if path.suffix == ".osc"
            for x in run.table("events", of=path)
        ]
        by_id = {(x["file"], x["id"]): x for x in events}

        def linked(row: dict[str, str], key: str) -> dict[str, str]:
            return by_id[row["file"], row[key]]

        found = {(x["device"], x["name"]): x for x in events if x["kind"] == "kernel"}
        assert {x for x, _ in found} == {"tiny:0", "opencl:0", "xpu:0"}, set(found)
        launch = linked(found["xpu:0", "add"], "launch_id")
        assert launch["name"] == "zeCommandListAppendLaunchKernel", launch
        launch = linked(found["opencl:0", "add_one"], "launch_id")
        assert launch["name"] == "clEnqueueNDRangeKernel", launch
        in_c = launch["process"]
        launch = linked(found["opencl:0", "twice"], "launch_id")
        assert launch["name"] == "clEnqueueNDRangeKernel", launch
        launch = linked(found["tiny:0", "relu"], "launch_id")
        assert linked(launch, "op_id")["name"] == "aten::relu", launch
        ranges = {x["name"]: x["process"] for x in events if x["kind"] == "scope"}
        assert len({ranges["all"], ranges["in child"], in_c}) == 3, (ranges, in_c)
        assert ranges["all"] == launch["process"], ranges


def each_kind_of_profile_records_the_device(run: Run) -> None:
    """Whether it is asked for or not: its backend reports by itself."""
    each_profile.check(
        run.opscope,
        run.folder,
        run.python,
        run.env,
        PREPARE,
        " relu ",
        "PrivateUse1",
        is_always=True,
    )


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    lack = missing(options.python)
    if lack:
        print(f"skipped: {lack}\n0 passed, 0 failed")
        return 0
    tests: list[Callable[[Run], None]] = [
        it_learns_what_the_cpu_learns,
        the_table_of_torch_has_its_columns,
        every_launch_has_its_work,
        kernels_are_counted,
        the_device_is_told_of,
        nothing_is_wrong_with_it,
        the_trace_says_the_same,
        torch_counts_the_same_memory,
        each_table_is_sorted_by_its_own_words,
        memory_that_was_not_asked_for_is_left_out,
        memory_of_the_device_from_before_a_profile_has_its_category,
        a_part_has_its_copies_of_ranges,
        a_device_that_was_not_asked_for_is_told,
        a_pair_from_before_the_recording_counts,
        an_unmodified_program_is_recorded,
        titles_name_the_device_that_worked,
        each_kind_of_profile_records_the_device,
    ]
    if (
        subprocess.run(
            [options.python, "-c", "import nvtx, pyopencl"], capture_output=True, check=False
        ).returncode
        == 0
    ):
        tests.append(all_sources_are_recorded_at_once)
    else:
        print(
            f"skipped all_sources_are_recorded_at_once: {options.python} lacks nvtx or pyopencl"
        )
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options.opscope, options.python, folder)
        return run_tests(tests, lambda place: (run,))


if __name__ == "__main__":
    sys.exit(main())
