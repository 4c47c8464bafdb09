# SPDX-License-Identifier: Apache-2.0
# step: oracle-selftest
"""Check the twin on hand-written traces with literal expected numbers.

    python3 tests/oracle/selftest.py

Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import peers_plugin
from twin import (
    averages,
    averages_text,
    events,
    exact,
    flops,
    forest,
    intervals,
    reader,
    selection,
    tables,
    tolerant,
)
from twin.averages_text import Options


class Tally:
    """Counts checks that held and prints those that failed."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def equal(self, what: str, got: object, want: object) -> None:
        """One check."""
        if got == want:
            self.passed += 1
            return
        self.failed += 1
        print(f"{what}:\n  got  {got!r}\n  want {want!r}")


def x(
    name: str,
    ts: object,
    dur: object,
    category: str = "cpu_op",
    pid: object = 1,
    tid: object = 1,
    **args: object,
) -> dict:
    """An X record; underscores in names of arguments become blanks."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "ts": ts,
        "dur": dur,
        "pid": pid,
        "tid": tid,
        "args": {k.replace("_", " "): v for k, v in args.items()},
    }


def trace(records: list[dict], **members: object) -> events.Trace:
    """A trace with its forest."""
    return tables.of_file(reader.File(members, records))


def column(rows: list[dict], key: str, value: str) -> dict:
    """KEY -> VALUE of the rows."""
    return {row[key]: row[value] for row in rows}


def test_time(t: Tally) -> None:
    """Exact decimal microseconds, start and end rounded half up."""
    t.equal("half a ns up", exact.us_to_ns(exact.number(Decimal("0.0005"))), 1)
    t.equal("just below", exact.us_to_ns(exact.number(Decimal("0.00049"))), 0)
    t.equal("negative half", exact.us_to_ns(exact.number(Decimal("-0.0005"))), 0)
    t.equal(
        "16 digits",
        exact.us_to_ns(exact.number(Decimal("1712195495891788.751"))),
        1712195495891788751,
    )
    t.equal("as text", exact.number("1.5"), exact.number(Decimal("1.5")))
    t.equal(
        "end less start",
        exact.span_ns(exact.number(Decimal("0.0004")), exact.number(Decimal("0.0004"))),
        (0, 1),
    )
    t.equal("no number", exact.number("0x10"), None)
    t.equal("no truth value", exact.number(True), None)


def parsed(text: str) -> object:
    """TEXT, parsed tolerantly."""
    return tolerant.TolerantParser(text).parse()


def test_reader(t: Tally) -> None:
    """Bare quotation marks; N/A; an extra comma; a truncated end."""
    t.equal(
        "bare quotation marks",
        parsed('[{\n"name": "a "quoted" label",\n"ts": 1.50\n},]'),
        [{"name": 'a "quoted" label', "ts": Decimal("1.50")}],
    )
    t.equal(
        "only a mark",
        parsed('[{\n"name": """,\n"ts": N/A}]'),
        [{"name": '"', "ts": tolerant.Word("N/A")}],
    )
    t.equal(
        "looks like a member",
        parsed('[{\n"name": "a": "b",\n"ts": 1}]'),
        [{"name": 'a": "b', "ts": 1}],
    )
    t.equal(
        "cut end",
        parsed('{"traceEvents": [{"x": 1}, {"x": 2}, {"x'),
        {"traceEvents": [{"x": 1}, {"x": 2}]},
    )


def test_forest(t: Tally) -> None:
    """Touching and overlapping ranges are siblings, the longer is outside."""
    tr = trace(
        [
            x("a", 0, 10),
            x("b", 10, 5),
            x("in a", 0, 4),
            x("over", 8, 4),
            x("empty", 10, 0),
            x("same", 0, 10),
        ]
    )
    parents = {e.name: e.parent.name if e.parent else None for e in tr.events}
    t.equal(
        "parents",
        parents,
        {"a": None, "same": "a", "in a": "same", "over": None, "b": None, "empty": "b"},
    )
    selves = {e.name: forest.self_ns(e) for e in tr.events}
    t.equal(
        "self",
        selves,
        {"a": 0, "same": 6000, "in a": 4000, "over": 4000, "b": 5000, "empty": 0},
    )


def test_pairs(t: Tally) -> None:
    """Which records become rows of events, and which are only counted."""
    base = {"pid": 1, "tid": 1}
    tr = trace(
        [
            {**base, "ph": "B", "ts": 1, "name": "outer"},
            {**base, "ph": "B", "ts": 2, "name": "inner"},
            {**base, "ph": "E", "ts": 3},
            {**base, "ph": "E", "ts": 5},
            {**base, "ph": "E", "ts": 6},
            {**base, "ph": "B", "ts": 7, "name": "open"},
            {**base, "ph": "X", "ts": 8, "name": "no dur"},
            {**base, "ph": "X", "ts": None, "dur": 1, "name": "no ts"},
            {**base, "ph": "X", "ts": 9, "dur": -1, "name": "negative"},
            {**base, "ph": "C", "ts": 9, "name": "c", "args": {"a": 1, "b": 2}},
            {**base, "ph": "s", "ts": 9, "id": 1},
            {**base, "ph": "?", "ts": 9},
        ]
    )
    t.equal(
        "events",
        [(r["name"], r["start_ns"], r["dur_ns"]) for r in tables.table(tr, "events")],
        [
            ("outer", 0, 4000),
            ("inner", 1000, 1000),
            ("open", 6000, None),
            ("no dur", 7000, None),
            ("negative", 8000, 0),
            ("c", 8000, None),
            ("c", 8000, None),
        ],
    )
    counts = {code: finding.count for code, finding in tr.findings.items()}
    t.equal(
        "counts",
        counts,
        {
            "unmatched_end": 1,
            "wrong_type": 1,
            "open_range": 1,
            "negative_duration": 1,
            "unknown_phase": 1,
            "phase ?": 1,
        },
    )


# Name, self CPU % and time, CPU total % and time, average, self XPU, %, total, average, calls
EXAMPLE_A = """
infer 40.00% 400.000us 100.00% 1.000ms 1.000ms 0.000us 0.00% 900.000us 900.000us 1
aten::linear 15.00% 150.000us 60.00% 600.000us 300.000us 0.000us 0.00% 900.000us 450.000us 2
aten::addmm 25.00% 250.000us 45.00% 450.000us 225.000us 900.000us 100.00% 900.000us 450.000us 2
urEnqueueKernelLaunch 20.00% 200.000us 20.00% 200.000us 100.000us 0.000us \
0.00% 0.000us 0.000us 2
gemm_kernel 0.00% 0.000us 0.00% 0.000us 0.000us 900.000us 100.00% 900.000us 450.000us 2
"""
COLUMN_WIDTHS = [25] + 10 * [12]


def test_example_a(t: Tally) -> None:
    """A region, two linears, each with addmm, call and kernel, on XPU."""
    records = [x("infer", 0, 1000, "user_annotation")]
    for number, at in enumerate((100, 500)):
        records += [
            x("aten::linear", at, 300),
            x("aten::addmm", at + 10, 225),
            x("urEnqueueKernelLaunch", at + 20, 100, "xpu_runtime", correlation=number),
            x("gemm_kernel", at + 200, 450, "kernel", 0, 7, correlation=number, device=0),
        ]
    text = str(averages_text.render(trace(records), Options()))
    lines = [line.rstrip() for line in text.split("\n")]
    t.equal(
        "rows",
        [line.split() for line in lines[3:8]],
        [line.split() for line in EXAMPLE_A.strip().split("\n")],
    )
    t.equal(
        "line",
        lines[3],
        " " * 20 + "infer" + "".join(f"  {cell:>12}" for cell in EXAMPLE_A.split()[1:11]),
    )
    t.equal("geometry", [len(part) for part in lines[0].split()], COLUMN_WIDTHS)
    t.equal("titles", lines[1].split("  ")[-1].strip(), "# of Calls")
    t.equal("Self XPU", "Self XPU %" in lines[1] and "XPU time avg" in lines[1], True)
    t.equal(
        "foot", lines[9:11], ["Self CPU time total: 1.000ms", "Self XPU time total: 900.000us"]
    )


def test_example_b(t: Tally) -> None:
    """Memory and FLOPs on a CPU, and a free that nothing encloses."""
    dims = [[16], [4, 8], [8, 16]]

    def memory(ts: int, size: int) -> dict:
        return {
            "ph": "i",
            "name": "[memory]",
            "ts": ts,
            "pid": 1,
            "tid": 1,
            "args": {"Device Type": 0, "Bytes": size},
        }

    tr = trace(
        [
            x("step", 0, 1000, "user_annotation"),
            x("aten::linear", 100, 600),
            x("aten::addmm", 150, 500, Input_Dims=dims),
            x("aten::addmm", 800, 100, Input_Dims=dims),
            memory(200, 1024),
            memory(120, 512),
            memory(750, 512),
            memory(1500, -512),
        ],
        profile_memory=1,
        with_flops=1,
    )
    rows = averages.table([tr])
    t.equal(
        "self cpu",
        column(rows, "name", "self_cpu_ns"),
        {"step": 300000, "aten::linear": 100000, "aten::addmm": 600000, "[memory]": 0},
    )
    t.equal(
        "memory",
        column(rows, "name", "cpu_bytes"),
        {"step": 2048, "aten::linear": 1536, "aten::addmm": 1024, "[memory]": -512},
    )
    t.equal(
        "self memory",
        column(rows, "name", "self_cpu_bytes"),
        {"step": 512, "aten::linear": 512, "aten::addmm": 1024, "[memory]": -512},
    )
    lines = str(averages_text.render(tr, Options())).split("\n")
    t.equal(
        "row",
        lines[5].split(),
        [
            "aten::addmm",
            "60.00%",
            "600.000us",
            "60.00%",
            "600.000us",
            "300.000us",
            "1.00",
            "KB",
            "1.00",
            "KB",
            "2",
            "2.048",
        ],
    )
    t.equal("title", lines[1].split()[-2:], ["Total", "KFLOPs"])
    t.equal(
        "older units", "1.00 Kb" in str(averages_text.render(tr, Options(torch="1.13"))), True
    )


def test_example_c(t: Tally) -> None:
    """By shape and two stack entries, sorted."""
    conv = "torch/nn/modules/conv.py(454): _conv_forward;nn.Module: Conv2d_0;more;"
    dims = [[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]
    records = [
        x(
            "aten::relu",
            at,
            120,
            Call_stack="<built-in function relu>;nn.Module: ReLU_0;",
            Input_Dims=[[1, 4, 6, 6]],
        )
        for at in (2000, 2200, 2400)
    ]
    records += [
        x("aten::conv2d", 0, 640, Call_stack=conv, Input_Dims=dims),
        x("aten::convolution", 10, 600, Call_stack=conv, Input_Dims=[*dims, [], []]),
    ]
    text = averages_text.render(trace(records), Options(sort="cpu_time_total"), True, 2)
    lines = [line.rstrip() for line in str(text).split("\n")]
    t.equal(
        "conv2d",
        lines[3].endswith(
            "640.000us             1              [[1, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [],"
            " []]  torch/nn/modules/conv.py(454): _conv_forward"
        ),
        True,
    )
    t.equal("second entry", lines[4].strip(), "nn.Module: Conv2d_0")
    t.equal("blank line", lines[5], "")
    t.equal(
        "relu",
        lines[9].split()[:7],
        ["aten::relu", "36.00%", "360.000us", "36.00%", "360.000us", "120.000us", "3"],
    )
    t.equal("widths", [len(part) for part in lines[0].split()][-2:], [61, 48])


def test_names_of_tracks(t: Tally) -> None:
    """The last name counts; an empty one counts as none."""

    def named(what: str, thread: int, name: str) -> dict:
        return {"ph": "M", "name": what, "pid": 1, "tid": thread, "args": {"name": name}}

    tr = trace(
        [
            named("thread_name", 1, "main"),
            named("thread_name", 2, "gone"),
            named("thread_name", 2, ""),
            named("process_name", 1, ""),
            x("a", 0, 1, tid=1),
            x("b", 0, 1, tid=2),
        ]
    )
    t.equal("threads", [row["name"] for row in tables.table(tr, "threads")], ["main", None])
    t.equal("tracks", [row["name"] for row in tables.table(tr, "tracks")], ["main", None])


def test_text_cells(t: Tally) -> None:
    """Units by the unrounded value, negative values in us, both ends of a tie."""
    t.equal("just below 1 ms", averages_text.time_cell(999_999), ("999.999us",))
    t.equal("1 ms", averages_text.time_cell(1_000_000), ("1.000ms",))
    t.equal("1000 ms", averages_text.time_cell(999_999_900), ("1000.000ms",))
    t.equal("negative", averages_text.time_cell(-247_365_000), ("-247365.000us",))
    # The same with Python's doubles, as in torch: f"{-2.15 * 100.0 / 88885.0:.2f}%".
    t.equal("negative share", averages_text.share_cell(-2150, 88_885_000), ("-0.00%",))
    t.equal("of a negative total", averages_text.share_cell(0, -1000), ("-0.00%",))
    t.equal("both negative", averages_text.share_cell(-1, -1_000_000), ("0.00%",))
    t.equal("negative tie", averages_text.share_cell(-5, 100_000), ("-0.00%", "-0.01%"))
    t.equal(
        "negative mean", averages_text.time_cell(exact.number(Decimal(-1)) / 3), ("-0.000us",)
    )
    t.equal(
        "tie", averages_text.fixed(exact.number(Decimal("2.5")) / 1000, 3), ("0.002", "0.003")
    )
    t.equal("kilobytes", averages_text.memory_cell(1048571, "1.13"), ("1024.00 Kb",))
    t.equal("name", averages_text.short_name("n" * 52, 55), "n" * 52 + "...")


def test_tensor_cores(t: Tally) -> None:
    """Only kernels of devices that are known to have Tensor Cores count."""
    tr = trace(
        [
            x("aten::mm", 0, 20),
            x("cudaLaunchKernel", 5, 1, "cuda_runtime", correlation=1),
            x("sgemm", 10, 30, "kernel", 0, 7, correlation=1, device=0),
            x("volta_s884gemm", 50, 30, "kernel", 0, 8, device=1),
        ],
        deviceProperties=[{"id": 0, "computeMajor": 7, "computeMinor": 0}],
    )
    found = {row["code"]: row["impact_ns"] for row in tables.table(tr, "advice")}
    t.equal("another device has them", found.get("tensor_cores"), 15000)  # half of 30


def test_flops(t: Tally) -> None:
    """A convolution worked out by hand, and a matrix product."""
    args = {
        "Input Dims": [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []],
        "Concrete Inputs": ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"],
    }
    t.equal("conv2d", flops.of("aten::conv2d", args), 15552)
    t.equal("mm", flops.of("aten::mm", {"Input Dims": [[4, 8], [8, 16]]}), 1024)
    t.equal("add_", flops.of("aten::add_", {"Input Dims": [[4, 8], [4, 8]]}), 0)


def test_priority(t: Tally) -> None:
    """The example of src/table/rules.md, and the step that one kernel covers."""
    t.equal(
        "union", intervals.union([(4, 6), (1, 2), (2, 3), (5, 9), (7, 7)]), [(1, 3), (4, 9)]
    )
    tr = trace(
        [
            x("ProfilerStep#1", 0, 10, "user_annotation"),
            x("op", 1, 2),
            x("k", 2, 5, "kernel", 0, 7),
            x("m", 4, 2, "gpu_memcpy", 0, 8),
        ]
    )
    row = tables.table(tr, "steps")[0]
    t.equal(
        "example",
        [row[f"{c}_ns"] for c in ("kernel", "memcpy", "cpu_exec", "other")],
        [5000, 0, 1000, 4000],
    )
    tr = trace(
        [
            x("ProfilerStep#1", 0, 100, "user_annotation"),
            x("op", 0, 25),
            x("call", 5, 5, "cuda_runtime"),
            x("k", 0, 100, "kernel", 0, 7),
        ]
    )
    row = tables.table(tr, "steps")[0]
    t.equal(
        "covered",
        [row[f"{c}_ns"] for c in ("kernel", "runtime", "cpu_exec", "other")],
        [100000, 0, 0, 0],
    )


def test_steps(t: Tally) -> None:
    """Device work extends a step, and the next one starts later; device copies of the annotation
    are not steps."""
    records = []
    for number, (call, kernel) in enumerate(((50, (60, 90)), (150, (160, 80)))):
        records += [
            x(f"ProfilerStep#{number}", 100 * number, 100, "user_annotation"),
            x("launch", call, 2, "cuda_runtime", correlation=number),
            x("k", kernel[0], kernel[1], "kernel", 0, 7, correlation=number),
            x(f"ProfilerStep#{number}", kernel[0], kernel[1], "gpu_user_annotation", 0, 7),
        ]
    rows = tables.table(trace(records), "steps")
    t.equal(
        "steps",
        [(r["label"], r["start_ns"], r["total_ns"], r["annotation_ns"]) for r in rows],
        [("0", 0, 150000, 100000), ("1", 150000, 90000, 100000)],
    )


def test_operators(t: Tally) -> None:
    """Calls are not self time; a chain of equal names is one operator; a driver call counts."""
    tr = trace(
        [
            x("aten::mm", 0, 100),
            x("aten::mm", 10, 80),
            x("inner", 20, 10),
            x("cuLaunchKernel", 60, 5, "cuda_driver", correlation=1),
            x("h884 gemm", 70, 30, "kernel", 0, 7, correlation=1),
            x("Memset", 200, 10, "gpu_memset", 0, 7, correlation=1),
        ]
    )
    rows = tables.table(tr, "operators")
    t.equal(
        "rows",
        [
            (
                r["name"],
                r["calls"],
                r["device_self_ns"],
                r["host_self_ns"],
                r["host_total_ns"],
                r["tc_self_ratio"],
                r["tc_eligible"],
            )
            for r in rows
        ],
        [
            ("aten::mm", 1, 40000, 85000, 100000, 0.75, True),
            ("inner", 1, 0, 10000, 10000, 0.0, False),
        ],
    )
    t.equal(
        "kernels by op",
        [(r["operator"], r["total_ns"]) for r in tables.table(tr, "kernels", "op")],
        [("aten::mm", 30000)],
    )


def test_forward(t: Tally) -> None:
    """By the arrow, which also identifies the thread; else by the number, the last one to start;
    none if two threads run forward and there is no arrow."""
    forward = {"Sequence_number": 5, "Fwd_thread_id": 0}
    backward = {"Sequence_number": 5, "Fwd_thread_id": 1}
    records = [
        x("mm", 0, 9, **forward),
        x("add", 1, 3, **forward),
        x("mul", 2, 1, tid=3, **forward),
        x("MmBackward0", 20, 9, tid=2, **backward),
        x("AddBackward0", 30, 9, tid=2, **backward),
    ]
    arrow = {"cat": "fwdbwd", "id": 7, "pid": 1}

    def links(*more: dict) -> list[object]:
        return [row["fwd_id"] for row in tables.table(trace(records + list(more)), "events")]

    t.equal("two threads", links(), [None] * 5)
    t.equal(
        "arrow",
        links(
            {**arrow, "ph": "f", "tid": 2, "ts": 20}, {**arrow, "ph": "s", "tid": 1, "ts": 0}
        ),
        [None, None, None, 0, 1],
    )


def test_memory(t: Tally) -> None:
    """The deepest node that contains the time, if it is an operator; records of a merged node
    belong to its parent."""

    def memory(ts: int) -> dict:
        return {
            "ph": "i",
            "name": "[memory]",
            "ts": ts,
            "pid": 1,
            "tid": 1,
            "args": {"Bytes": 8},
        }

    tr = trace(
        [
            x("a", 0, 10),
            x("b", 2, 3),
            x("c", 20, 9),
            x("c", 21, 5),
            x("ProfilerStep#1", 40, 9, "user_annotation"),
            *(memory(ts) for ts in (1, 2, 5, 10, 22, 45)),
        ]
    )
    t.equal(
        "operators",
        [row["op_id"] for row in tables.table(tr, "events")][5:],
        [0, 1, 0, None, 2, None],
    )


def test_ranges(t: Tally) -> None:
    """The plugin's ranges of SM efficiency without its residues."""
    shared = Path(__file__).resolve().parents[2].parent / "shared"
    if not (shared / "expected").is_dir():
        print(f"no recorded answers in {shared}: ranges are not compared")
        return
    for what, got, want in peers_plugin.known_ranges(shared):
        t.equal(what, got, want)


def test_advice(t: Tally) -> None:
    """Thresholds, time at stake, and the owner of a gap."""

    def stakes(*records: dict, **members: object) -> dict:
        rows = tables.table(
            trace([x("ProfilerStep#1", 0, 1000, "user_annotation"), *records], **members),
            "advice",
        )
        return column(rows, "code", "impact_ns")

    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    t.equal("data, above", stakes(x(loader, 0, 51, "user_annotation")), {"data_loading": 51000})
    t.equal("data, at", stakes(x(loader, 0, 50, "user_annotation")), {})
    t.equal("collectives", stakes(x("gloo:all_reduce", 0, 101)), {"communication": 101000})
    waits = stakes(
        x("cudaLaunchKernel", 0, 10, "cuda_runtime", correlation=1),
        x("cudaStreamSynchronize", 100, 200, "cuda_runtime"),
        x("cudaLaunchKernel", 350, 10, "cuda_runtime", correlation=2),
        x("k", 10, 290, "kernel", 0, 7, correlation=1, device=0),
        x("j", 360, 640, "kernel", 0, 7, correlation=2, device=0),
    )
    t.equal(
        "a call that ends where the gap begins",
        waits,
        {"device_kernels": 640000, "unrecorded_idle": 50000},
    )
    short = stakes(
        x("cudaLaunchKernel", 0, 30, "cuda_runtime", correlation=1),
        x("cudaLaunchKernel", 400, 30, "cuda_runtime", correlation=2),
        x("k", 30, 370, "kernel", 0, 7, correlation=1, device=0),
        x("j", 430, 29, "kernel", 0, 7, correlation=2, device=0),
        x("l", 459, 541, "memcpy", 0, 8, device=0),
    )
    t.equal("launches", short, {"launch_bound": 60000})
    for call, want in (
        ("hipLaunchKernel", False),
        ("cudaLaunchKernel", True),
        ("aclrtLaunchKernel", False),
    ):
        matmul = stakes(
            x("aten::mm", 5, 20),
            x(call, 6, 1, "cuda_runtime", correlation=2),
            x("Cijk_MI16x16", 30, 20, "kernel", 0, 7, correlation=2, device=0),
            deviceProperties=[{"id": 0, "computeMajor": 9, "computeMinor": 0}],
        )
        t.equal(f"{call} of an unknown kernel", "tensor_cores" in matmul, want)
    full = stakes(
        x("aten::empty", 0, 9),
        {
            "ph": "i",
            "name": "[memory]",
            "ts": 5,
            "pid": 1,
            "tid": 1,
            "args": {"Device Type": 1, "Device Id": 0, "Bytes": 9, "Total Allocated": 901},
        },
        deviceProperties=[{"totalGlobalMem": 1000}],
    )
    t.equal("memory", full, {"memory_limit": 0})


def test_unmatched_devices(t: Tally) -> None:
    """Which model a device is, is not known if its number may be another one's and models differ,
    also of one number."""

    def names(*models: str) -> list:
        rows = tables.table(
            [
                trace(
                    [
                        x("hipLaunchKernel", 1, 1, "cuda_runtime"),
                        x("k", 2, 1, "kernel", 0, 7, device=0),
                        x("k", 3, 1, "kernel", 1, 7, device=1),
                    ],
                    deviceProperties=[{"id": 0, "name": name} for name in models],
                )
            ],
            "devices",
            None,
            False,
        )
        return [row["name"] for row in rows]

    t.equal("two models of one number", names("A", "B"), [None, None])
    t.equal("one model", names("A", "A"), ["A", None])


def test_devices_that_are_no_list(t: Tally) -> None:
    """Records of memory are called after the devices of a trace only where it has some."""

    def names(**members: object) -> list:
        records = [
            {
                "ph": "i",
                "name": "[memory]",
                "ts": 5,
                "pid": 1,
                "tid": 1,
                "args": {"Device Type": kind, "Device Id": 1, "Bytes": 9},
            }
            for kind in (events.CUDA_TYPE, events.HIP_TYPE)
        ]
        found = tables.table([trace(records, **members)], "memory_events", None, False)
        return [row["device"] for row in found]

    t.equal("no devices", names(), ["cuda:1", "hip:1"])
    t.equal("a list", names(deviceProperties=[{"id": 0}]), ["hip:1", "hip:1"])
    t.equal("an object", names(deviceProperties={"id": 0}), ["cuda:1", "hip:1"])
    t.equal("a word", names(deviceProperties="none"), ["cuda:1", "hip:1"])


def test_wild_arrows(t: Tally) -> None:
    """What is at a wild time is in no table, so it cannot take an arrow out of a selection."""

    def arrow(phase: str, ts: int, number: int, pid: int = 1) -> dict:
        return {
            "ph": phase,
            "cat": "ac2g",
            "name": "ac2g",
            "id": number,
            "ts": ts,
            "pid": pid,
            "tid": 1,
            "bp": "e",
        }

    year = 366 * 24 * 3600 * 10**6
    whole = trace(
        [
            x("a", 0, 10),
            x("b", 20, 10),
            x("c", 5, 1, pid=2),
            arrow("s", 5, 1),
            arrow("f", 25, 1),
            arrow("f", 2 * year, 1, 2),
            arrow("s", 3, 2, 2),
            arrow("f", 25, 2),
        ]
    )
    part = selection.apply(whole, selection.Selection(process="1"))
    t.equal(
        "arrows with a wild end",
        [(row["from_id"], row["to_id"]) for row in tables.table([part], "flows", None, False)],
        [(0, 1)],
    )


def main() -> int:
    """All tests."""
    tally = Tally()
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(tally)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
