# SPDX-License-Identifier: Apache-2.0
"""torch-tb-profiler's answers (expected/tb), and rules for where they are wrong.

"The notes" come with the recorded answers in expected/tb. Operators of PyTorch 2.13 are compared
with the released package, everything else with the plugin's last source if that differs. All
numbers are requested with --compat tb.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

from peers import Item
from twin import devices, tables

NS_RESOLUTION = "hta_ns_resolution_trace"
GENERATION_B = ("hta_trace_diff_control", "hta_trace_filter/rank0", "hta_trace_filter/rank1")
GENERATION_B_RULE = "generation-B ids: no device time, calls not subtracted"
DROPPED_RULE = "ops dropped as overlapping"
DEVICE_ANNOTATIONS = ("hta_nccl_parser_config", NS_RESOLUTION)
# Case -> (file under data, whether operators come from the last source)
CASES = {
    "resnet50_num_workers_0_span1": (
        "tb_samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
        True,
    ),
    "resnet50_num_workers_4_span1": (
        "tb_samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
        True,
    ),
    "resnet_all": ("torch213/resnet_all/trace.json.gz", False),
    "resnet_infer": ("torch213/resnet_infer/trace.json.gz", False),
    "steps_loader": ("torch213/steps_loader/trace.json.gz", False),
    "transformer": ("torch213/transformer/trace.json.gz", False),
    "ddp2/rank0": ("torch213/ddp2_logdir/host_0.1760000000000000000.pt.trace.json.gz", False),
    "ddp2/rank1": ("torch213/ddp2_logdir/host_1.1760000000000000001.pt.trace.json.gz", False),
    "hta_nccl_parser_config": ("hta/nccl_parser_config/nccl_data.json.gz", True),
    NS_RESOLUTION: (
        "hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
        True,
    ),
    "hta_trace_diff_control": ("hta/trace_diff/control/control.json.gz", True),
    "hta_trace_filter/rank0": ("hta/trace_filter/sampled_rank-0.json.gz", True),
    "hta_trace_filter/rank1": ("hta/trace_filter/sampled_rank-1.json.gz", True),
}
# The error of the peer's doubles in a share if times have 16 digits: by the notes for the whole; in
# a bucket of 10 ms up to 0.25 us for each of its hundred kernels.
RATIO_SLACK = {
    (NS_RESOLUTION, "utilization_ratio"): 0.00005,
    (NS_RESOLUTION, "sm_efficiency_ratio"): 0.00005,
    (NS_RESOLUTION, "occupancy_ratio"): 0.00005,
    (NS_RESOLUTION, "buckets"): 0.0005,
}
# Rows of the plugin's text on a device -> our column, how it is compared.
SUMMARY = {
    "Name": ("name", "exact"),
    "Memory": ("memory_bytes", "gib"),
    "Compute Capability": ("compute_capability", "exact"),
    "GPU Utilization": ("utilization_ratio", "percent"),
    "Est. SM Efficiency": ("sm_efficiency_ratio", "percent"),
    "Est. Achieved Occupancy": ("occupancy_ratio", "percent"),
    "Kernel Time using Tensor Cores": ("tensor_core_ratio", "percent"),
}
# The right numbers of SM efficiency ranges of a device, by the notes; the peer has more.
RIGHT_RANGES = {
    "hta_nccl_parser_config": 2931,
    "hta_trace_diff_control": 11624,
    "hta_trace_filter/rank0": 1407,
}
RESIDUE = 1e-9  # an efficiency below this counts as none
COSTS = {
    "Kernel": "kernel",
    "Memcpy": "memcpy",
    "Memset": "memset",
    "Communication": "communication",
    "Runtime": "runtime",
    "DataLoader": "dataloader",
    "CpuOp": "cpu_exec",
    "Other": "other",
    "Total": "total",
}
OPERATOR_TIMES = {
    "device_self_duration": "device_self_ns",
    "device_total_duration": "device_total_ns",
    "host_self_duration": "host_self_ns",
    "host_total_duration": "host_total_ns",
}
MODULE_TIMES = {
    "host_duration": "host_total_ns",
    "self_host_duration": "host_self_ns",
    "device_duration": "device_total_ns",
    "self_device_duration": "device_self_ns",
}
KERNEL_COLUMNS = {
    "Calls": ("calls", "exact"),
    "Total Duration (us)": ("total_ns", "us"),
    "Mean Duration (us)": ("mean_ns", "us"),
    "Max Duration (us)": ("max_ns", "us"),
    "Min Duration (us)": ("min_ns", "us"),
    "Mean Blocks Per SM": ("mean_blocks_per_sm", "2digits"),
    "Mean Est. Achieved Occupancy (%)": ("mean_occupancy_ratio", "percent"),
}
# Vectors whose expected costs are wrong for a step that devices cover completely, by case and
# category.
COVERED_STEP = {
    ("TestDataPipe-test_datapipe-1", "Other"),
    ("TestDistributed-test_distributed_nccl-2", "CpuOp"),
    ("TestDistributed-test_distributed_nccl-2", "Other"),
}
# Operators with calls, children or launches that the peer dropped: the first line by the notes
# (also `aten::copy_`), the others for the same reason.
DROPPED = {
    "aten::slice",
    "detach",
    "aten::detach",
    "aten::result_type",
    "aten::narrow",
    "aten::as_strided",
    "aten::copy_",
    "aten::mul",
    "aten::view",
    "aten::_foreach_add_",
    "aten::_foreach_mul_",
    "aten::convolution_backward",
    "torch::distributed::reducer::mul_out",
}
# Numbers that the notes give as the right ones: case, table, key, column, us.
RIGHT = [
    ("hta_nccl_parser_config", "overview", "kernel", "avg_ns", 38551.9),
    ("hta_nccl_parser_config", "overview", "communication", "avg_ns", 13063.6),
    ("hta_nccl_parser_config", "overview", "cpu_exec", "avg_ns", 159492.7),
    (
        "hta_nccl_parser_config",
        "operators",
        "aten::cudnn_batch_norm_backward",
        "host_self_ns",
        22711,
    ),
    (NS_RESOLUTION, "operators", "aten::slice", "host_self_ns", 610.2),
    (NS_RESOLUTION, "operators", "aten::slice", "host_total_ns", 750.3),
    (NS_RESOLUTION, "operators", "detach", "host_self_ns", 675.8),
    (NS_RESOLUTION, "operators", "aten::detach", "host_self_ns", 469.8),
    (NS_RESOLUTION, "operators", "aten::detach", "host_total_ns", 1145.6),
    (NS_RESOLUTION, "operators", "aten::result_type", "host_self_ns", 136.2),
    (NS_RESOLUTION, "operators", "aten::narrow", "host_self_ns", 423.2),
    (NS_RESOLUTION, "operators", "aten::as_strided", "host_self_ns", 540.5),
    (NS_RESOLUTION, "operators", "aten::copy_", "device_self_ns", 3715),
    (NS_RESOLUTION, "operators", "aten::cudnn_convolution", "device_self_ns", 89867.4),
    (NS_RESOLUTION, "operators", "aten::convolution_backward", "device_self_ns", 211579),
]
for _case, _names in (
    (
        "hta_trace_diff_control",
        {
            "record_param_comms": 163535,
            "aten::copy_": 58771,
            "aten::mm": 42140,
            "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>": 58970,
        },
    ),
    (
        "hta_trace_filter/rank0",
        {
            "record_param_comms": 290059,
            "c10d::_allgather_base_": 106140,
            "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>": 62879,
        },
    ),
    (
        "hta_trace_filter/rank1",
        {
            "record_param_comms": 274146,
            "c10d::_allgather_base_": 104907,
            "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>": 106365,
        },
    ),
):
    RIGHT += [(_case, "operators", name, "device_self_ns", us) for name, us in _names.items()]
RIGHT += [
    ("hta_trace_diff_control", "operators", name, "host_self_ns", us)
    for name, us in (("aten::copy_", 2478), ("aten::mm", 28592))
]
# Not among them: aten::mm of trace_filter (38,486 and 37,591) and aten::_local_scalar_dense
# of control (2,092). There the notes used the outer of two ops that start together (aten::matmul
# and aten::mm: 2,470 and 2,137 us), but the innermost is right: 40,956, 39,728 and 134.


def load(folder: Path, name: str) -> object:
    """A recorded answer, plain or compressed; None if there is none."""
    for path in (folder / name, folder / (name + ".gz")):
        if path.exists():
            data = path.read_bytes()
            return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return None


def latest(folder: Path, case: str, name: str) -> object:
    """The last source's answer if it differs from the release's, else the release's."""
    parts = case.split("/")
    source = folder / parts[0] / "src_041e7ce" / "/".join(parts[1:])
    answer = load(source, name)
    return answer if answer is not None else load(folder / case, name)


def slack(case: str) -> float:
    """The error of the peer's doubles, in ns: 0.04 us by the notes; 0.25 us per event if times have
    16 digits."""
    return 13_000 if case == NS_RESOLUTION else 50


def cost_rule(case: str, category: str) -> str | None:
    """The rule by which the peer's cost of a step is wrong, or None."""
    if (case, category) in COVERED_STEP:
        return "covered-step"
    if case in DEVICE_ANNOTATIONS and category in (
        "Communication",
        "Runtime",
        "DataLoader",
        "CpuOp",
        "Other",
    ):
        return "device-annotations count as host time"
    return None


def step_items(
    group: str,
    case: str,
    path: Path,
    names: list[str],
    costs: list[dict],
    starts: list,
    average: dict,
) -> Iterator[Item]:
    """Costs of every kept step, and their means."""
    if names == ["0"] and costs and costs[0]["Total"] < 0:
        # -2^64 + 1: a trace without any step.
        yield Item(group, case, path, "no steps", 0, "rows", "steps", compat=True)
        return
    for number, (name, cost) in enumerate(zip(names, costs)):
        # The label is the peer's name; the first steps are the kept ones.
        key = (("step", number), ("label", name), ("kept", True))
        for category, value in cost.items():
            yield Item(
                group,
                case,
                path,
                "cost",
                value,
                "ns",
                "steps",
                None,
                True,
                key,
                f"{COSTS[category]}_ns",
                slack(case),
                cost_rule(case, category),
            )
        if starts:
            yield Item(
                group,
                case,
                path,
                "start after the first step's",
                starts[number][0] - starts[0][0],
                "after_first_ns",
                "steps",
                None,
                True,
                key,
                "start_ns",
                slack(case),
            )
    for category, value in average.items():
        name = "step" if category == "Total" else COSTS[category]
        yield Item(
            group,
            case,
            path,
            "average",
            value,
            "ns",
            "overview",
            None,
            True,
            (("category", name),),
            "avg_ns",
            slack(case),
            cost_rule(case, category),
        )


def operator_rule(case: str, name: str, field: str) -> str | None:
    """The rule by which the peer's number of an operator is wrong, or None."""
    device = field.startswith(("device", "tc_"))
    if case in GENERATION_B and (device or field == "host_self_duration"):
        return GENERATION_B_RULE
    if case == NS_RESOLUTION and name in DROPPED:
        return DROPPED_RULE
    if (
        case == "hta_nccl_parser_config"
        and field == "tc_eligible"
        and name.endswith(("aten::convolution_backward", "ConvolutionBackward0"))
    ):
        return "eligibility of the first call only"
    if (
        case == "hta_nccl_parser_config"
        and field == "host_self_duration"
        and name == "aten::cudnn_batch_norm_backward"
    ):
        return "a call with its own correlation as external id"
    return None


def operator_items(
    group: str, case: str, path: Path, table: dict, by_shape: bool
) -> Iterator[Item]:
    """Every number of the operator table."""
    grouping = "shape" if by_shape else None
    rows = table["data"]
    yield Item(group, case, path, "operators", len(rows), "rows", "operators", grouping, True)
    for row in rows:
        key: tuple = (("name", row["name"]),)
        if by_shape:
            key += (("input_shape", row["input_shape"]),)

        def item(field: str, column: str, expected: object, how: str) -> Item:
            return Item(
                group,
                case,
                path,
                "operators",
                expected,
                how,
                "operators",
                grouping,
                True,
                key,
                column,
                slack(case),
                operator_rule(case, row["name"], field),
            )

        yield item("calls", "calls", row["calls"], "exact")
        for field, column in OPERATOR_TIMES.items():
            yield item(field, column, row.get(field, 0), "us")
        yield item("tc_eligible", "tc_eligible", row["tc_eligible"] == "Yes", "exact")
        for field in ("tc_self_ratio", "tc_total_ratio"):
            percent = item(field, field, row[field], "percent")
            percent.slack_ns = 0
            yield percent
        yield item("has_call_stack", "has_call_stack", row["has_call_stack"], "exact")


def kernel_items(
    group: str, case: str, path: Path, table: dict | None, by_op: bool
) -> Iterator[Item]:
    """Every number of a kernel table."""
    if table is None:
        return
    titles = [column["name"] for column in table["data"]["columns"]]
    for row in table["data"]["rows"]:
        cells = dict(zip(titles, row))
        key: tuple = (("name", cells["Name"]),)
        rule = None
        if by_op:

            def missing(title: str) -> str | None:
                return None if cells[title] == "None" else cells[title]

            def whole(title: str) -> int:
                return int(cells[title])

            operator = cells["Operator"]
            if operator == "CallTreeRoot":
                operator = "(none)"
            key += (
                ("operator", operator),
                ("grid", missing("Grid")),
                ("block", missing("Block")),
                ("registers_per_thread", whole("Register Per Thread")),
                ("shared_memory_bytes", whole("Shared Memory")),
            )
            if cells["Operator"].startswith("ProfilerStep#"):
                rule = "a step is no operator"
            elif case in GENERATION_B:
                rule = GENERATION_B_RULE
            elif case == NS_RESOLUTION and operator == "aten::mul":
                rule = DROPPED_RULE
        for title, (column, how) in KERNEL_COLUMNS.items():
            if title in cells:
                yield Item(
                    group,
                    case,
                    path,
                    "kernels",
                    cells[title],
                    how,
                    "kernels",
                    "op" if by_op else None,
                    True,
                    key,
                    column,
                    0 if how == "percent" else slack(case),
                    rule,
                )
        uses = cells["Kernel Uses Tensor Cores" if by_op else "Tensor Cores Used"] == "Yes"
        yield Item(
            group,
            case,
            path,
            "kernels",
            uses,
            "exact",
            "kernels",
            "op" if by_op else None,
            True,
            key,
            "tensor_cores",
            rule=rule,
        )
        if by_op:
            eligible = cells["Op is Tensor Cores eligible"] == "Yes"
            yield Item(
                group,
                case,
                path,
                "kernels",
                eligible,
                "exact",
                "kernels",
                "op",
                True,
                key,
                "op_tc_eligible",
                rule=rule,
            )


def summary_items(
    group: str, case: str, path: Path, summary: list[dict] | None
) -> Iterator[Item]:
    """The plugin's text on each device: its properties, and shares with two digits."""
    devices_of: dict[str, dict[str, str]] = {}
    values: dict[str, str] = {}
    for entry in summary or []:
        title = entry["title"]
        if title.startswith("GPU ") and title.endswith(":"):
            values = devices_of.setdefault(title[4:-1], {})
        elif title in SUMMARY:
            values[title] = entry["value"]
    for number, texts in devices_of.items():
        for title, (column, how) in SUMMARY.items():
            text = texts.get(title)
            expected = text if text is None or how == "exact" else float(text.split()[0])
            rule = (
                GENERATION_B_RULE
                if column == "tensor_core_ratio" and case in GENERATION_B
                else None
            )
            yield Item(
                group,
                case,
                path,
                "text on a device",
                expected,
                how,
                "devices",
                None,
                True,
                (("device", f"cuda:{number}"),),
                column,
                100 * RATIO_SLACK.get((case, column), 0) if how == "percent" else 0,
                rule,
            )


def start_of_bucket(path: Path, ts: float) -> tuple[int, int] | None:
    """(start_ns of our bucket, start_ns of the peer's) for the bucket that the peer starts at TS;
    None if TS is the end of the last bucket, where the peer's value is always 0."""
    origin, buckets = times_of(path)
    at = round(Fraction(str(ts)) * 1000) - origin
    starts = [start - origin for start, _ in buckets]
    nearest = min(starts, key=lambda start: abs(start - at))
    return (nearest, at) if abs(nearest - at) < 500_000 else None


@cache
def times_of(path: Path) -> tuple[int, list[tuple[int, int]]]:
    """The origin of the trace of PATH, and its buckets."""
    trace = tables.load(path)
    return trace.origin, devices.buckets(trace)


def device_items(group: str, case: str, path: Path, metrics: dict) -> Iterator[Item]:
    """The plugin's numbers for every device that ran a kernel. METRICS: device -> its numbers by
    our names, with those of buckets in `buckets`."""
    for number, values in metrics.items():
        device = ("device", f"cuda:{number}")
        for column, value in values.items():
            if column in ("buckets", "sm_ranges", "sm_ranges_all"):
                continue
            yield Item(
                group,
                case,
                path,
                "device",
                value,
                "ratio",
                "devices",
                None,
                True,
                (device,),
                column,
                RATIO_SLACK.get((case, column), 1e-6),
                GENERATION_B_RULE
                if column == "tensor_core_ratio" and case in GENERATION_B
                else None,
            )
        for ts, value in values["buckets"][:-1]:
            found = start_of_bucket(path, ts)
            key = (device, ("start_ns", found[0] if found else None))
            yield Item(
                group,
                case,
                path,
                "bucket",
                Fraction(found[1], 1000) if found else ts,
                "ns",
                "utilization",
                None,
                False,
                key,
                "start_ns",
                250 if case == NS_RESOLUTION else 1,
            )
            yield Item(
                group,
                case,
                path,
                "bucket",
                value,
                "ratio",
                "utilization",
                None,
                False,
                key,
                "utilization_ratio",
                RATIO_SLACK.get((case, "buckets"), 1e-6),
            )
        yield Item(
            group,
            case,
            path,
            "buckets of a device",
            len(values["buckets"]) - 1,
            "rows",
            "utilization",
            key=(device,),
        )
        yield from efficiency_items(group, case, path, device, values)


def efficiency_items(
    group: str, case: str, path: Path, device: tuple, values: dict
) -> Iterator[Item]:
    """The mean efficiency of buckets for which all of the peer's ranges are known: all buckets, or
    those that end before the last of the first fifty ranges."""
    ranges = [
        (Fraction(str(start)) * 1000, Fraction(str(end)) * 1000, Fraction(value))
        for start, end, value in values["sm_ranges"]
        if value > RESIDUE
    ]
    origin, buckets = times_of(path)
    for start, end in buckets:
        if not values["sm_ranges_all"] and end > ranges[-1][1]:
            break
        mean = sum(max(0, min(e, end) - max(s, start)) * v for s, e, v in ranges)
        yield Item(
            group,
            case,
            path,
            "efficiency in a bucket",
            float(mean / (end - start)) if ranges else None,
            "ratio" if ranges else "absent",
            "utilization",
            None,
            False,
            (device, ("start_ns", start - origin)),
            "sm_efficiency_ratio",
            RATIO_SLACK.get((case, "buckets"), 1e-6),
        )


def known_ranges(shared: Path) -> Iterator[tuple[str, object, object]]:
    """(what, the twin's value, the right value) for every known efficiency range and for their
    number. No table shows ranges; the means of `utilization` come from them."""
    for case, (name, _) in CASES.items():
        answer = latest(shared / "expected/tb", case, "gpu_metrics.json")
        if not answer or case == NS_RESOLUTION:  # its times have the precision of doubles
            continue
        works = devices.work_of(tables.load(shared / "data" / name))
        for number in map(str, answer["gpu_ids"]):
            ours = devices.sm_ranges(devices.kernels_of(works[f"cuda:{number}"]))
            peers = [
                entry
                for entry in answer["sm_efficiency_ranges_first_50"][number]
                if entry[2] > RESIDUE
            ]
            for at, (mine, peer) in enumerate(zip(ours, peers)):
                # The end is a sum of doubles, so its last digit may differ.
                off = [abs(Fraction(str(peer[k])) * 1000 - mine[k]) for k in (0, 1)]
                yield (
                    f"{case} range {at}: {mine}, peer {peer}",
                    (max(off) <= 1, round(float(mine[2]), 6)),
                    (True, round(peer[2], 6)),
                )
            if case in RIGHT_RANGES:
                yield f"{case} ranges", len(ours), RIGHT_RANGES[case]


def metrics_of(answer: dict | None) -> dict:
    """The numbers of gpu_metrics.json by our names."""
    if not answer:
        return {}

    def of(name: str, number: str, scale: int = 1) -> float | None:
        value = answer[name].get(number)
        return None if value is None else value / scale

    return {
        number: {
            "utilization_ratio": of("gpu_utilization", number),
            "sm_efficiency_ratio": of("avg_sm_efficiency", number),
            "occupancy_ratio": of("avg_occupancy", number, 100),
            "tensor_core_ratio": of("tc_ratio", number),
            "buckets": answer["util_buckets"][number],
            "sm_ranges": answer["sm_efficiency_ranges_first_50"][number],
            "sm_ranges_all": answer["sm_efficiency_range_count"][number] <= 50,
        }
        for number in map(str, answer["gpu_ids"])
    }


def metrics_of_vector(answer: dict) -> dict:
    """The same for a vector."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else value / 100

    return {
        number: {
            "utilization_ratio": device.get("util"),
            "sm_efficiency_ratio": device.get("sm"),
            "occupancy_ratio": scaled(device.get("occ")),
            "tensor_core_ratio": device.get("tc"),
            "buckets": device["util_buckets"],
            "sm_ranges": device["sm_ranges"],
            "sm_ranges_all": True,
        }
        for number, device in (answer.get("gpu") or {}).items()
    }


def stack_items(group: str, case: str, path: Path, tables: dict | None) -> Iterator[Item]:
    """The call-stack sub-tables: one row per operator and stack."""
    for table in (tables or {}).values():
        for row in table["data"]:
            key = (("name", row["name"]), ("call_stack", row["call_stack"]))
            yield Item(
                group,
                case,
                path,
                "stacks",
                row["calls"],
                "exact",
                "operators",
                "stack",
                True,
                key,
                "calls",
            )
            for field, column in OPERATOR_TIMES.items():
                yield Item(
                    group,
                    case,
                    path,
                    "stacks",
                    row.get(field, 0),
                    "us",
                    "operators",
                    "stack",
                    True,
                    key,
                    column,
                    slack(case),
                )


# Sentences of recommendations -> our code, and the column and form of the number in them.
RECOMMENDATIONS = (
    (re.compile(r"([0-9.]+)% of the step time is in DataLoader"), "data_loading", "percent1"),
    (re.compile(r"use DataParallel|DataParallel instead"), "data_parallel", None),
    (re.compile(r"NCCL"), "backend", None),
    (
        re.compile(r"([0-9.]+)% of the step time is in communication"),
        "communication",
        "percent1",
    ),
    (re.compile(r"GPU ([0-9, and]+) ha(?:s|ve) low utilization"), "low_utilization", "devices"),
    (re.compile(r"Kernels with ([0-9]+)% time"), "tensor_cores", "percent0"),
    (re.compile(r"([0-9.]+)% of [0-9.]+ ?GB"), "memory_limit", "percent1"),
)


def advice_items(group: str, case: str, path: Path, answer: dict | None) -> Iterator[Item]:
    """Every recommendation, its number, and that there are no others."""
    texts = (answer or {}).get("recommendation_list")
    if texts is None:
        texts = (answer or {}).get("recommendations")
    if not isinstance(texts, list):
        if texts != "<ul><li>N/A</li></ul>":
            return
        texts = []
    texts = [text for text in texts if text != "N/A"]
    yield Item(group, case, path, "advice", len(texts), "rows", "advice", None, True)
    for text in texts:
        found = [
            (pattern.search(text), code, how)
            for pattern, code, how in RECOMMENDATIONS
            if pattern.search(text)
        ]
        if len(found) != 1:
            raise ValueError(f"{case}: a recommendation that no rule makes: {text}")
        match, code, how = found[0]
        expected: object = code
        column = "code"
        if how == "devices":
            numbers = re.findall("[0-9]+", match.group(1))
            expected, column, how = ", ".join(f"cuda:{n}" for n in numbers), "subject", None
        elif how:
            expected, column = float(match.group(1)), "ratio"
        yield Item(
            group,
            case,
            path,
            "advice",
            expected,
            how or "exact",
            "advice",
            None,
            True,
            (("code", code),),
            column,
        )


def module_items(group: str, case: str, path: Path, table: dict | None) -> Iterator[Item]:
    """Every number of the module table, which is a tree."""
    if table is None:
        return
    rest = [(row, ()) for row in reversed(table["data"])]
    number = 0
    while rest:
        row, above = rest.pop()
        names = (*above, row["name"])
        # Equal rows have equal numbers, wherever they are.
        key = (("path", "/".join(names)), ("depth", len(above)), ("module_id", row["id"]))

        def item(expected: object, how: str, column: str) -> Item:
            return Item(
                group,
                case,
                path,
                "modules",
                expected,
                how,
                "modules",
                None,
                True,
                key,
                column,
                slack(case),
            )

        yield item(row["occurences"], "exact", "calls")
        yield item(row["operators"], "exact", "operators")
        for field, column in MODULE_TIMES.items():
            yield item(row[field], "ns", column)
        rest += [(child, names) for child in reversed(row["children"])]
        number += 1
    yield Item(group, case, path, "modules", number, "rows", "modules", None, True)


def backward_items(
    group: str, case: str, path: Path, twins: list[dict] | None
) -> Iterator[Item]:
    """The host time of the backward operators of every module, from its `.backward` twin (in the
    last source): the twin's time minus the time that no operator covers."""
    sums: dict[tuple[str, ...], float] = {}
    names: list[str] = []
    for twin in twins or []:
        # The twins come in preorder, starting at depth 1.
        del names[twin["depth"] - 1 :]
        names.append(twin["name"].removeprefix("nn.Module: ").removesuffix(".backward"))
        span = twin["end"] - twin["start"]
        for depth in range(1, len(names) + 1):
            place = tuple(names[:depth])
            # Time that no operator covers in a module is not covered in the enclosing modules
            # either.
            sums[place] = (
                sums.get(place, 0) - twin["host_self"] + (span if depth == len(names) else 0)
            )
    for names_of, us in sums.items():
        key = (("path", "/".join(names_of)), ("depth", len(names_of) - 1))
        yield Item(
            group,
            case,
            path,
            "backward of modules",
            us,
            "ns",
            "modules",
            None,
            False,
            key,
            "backward_host_ns",
            100,
        )


def vector_items(shared: Path) -> Iterator[Item]:
    """The plugin's own 31 test traces."""
    folder = shared / "expected/tb/vectors"
    for path in sorted(folder.glob("*.input.json")):
        case = path.name.removesuffix(".input.json")
        answer = json.loads(path.with_name(f"{case}.expected.json").read_text())
        yield from advice_items("plugin vectors", case, path, answer)
        yield from step_items(
            "plugin vectors",
            case,
            path,
            answer["step_names"],
            answer["steps_costs"],
            [],
            answer["avg_costs"],
        )
        for name, by_shape in (("operators", False), ("operators_by_input_shape", True)):
            if answer.get(name):
                yield from operator_items("plugin vectors", case, path, answer[name], by_shape)
        for name, by_op in (("kernels", False), ("kernels_by_op", True)):
            if answer.get(name):
                yield from kernel_items("plugin vectors", case, path, answer[name], by_op)
        yield from module_items("plugin vectors", case, path, answer.get("module_view"))
        yield from device_items("plugin vectors", case, path, metrics_of_vector(answer))
        yield from summary_items("plugin vectors", case, path, answer["gpu_summary"])


def case_items(shared: Path, case: str, name: str, last_source: bool) -> Iterator[Item]:
    """All tables of one trace."""
    folder, path = shared / "expected/tb", shared / "data" / name
    kind = (
        "samples"
        if case.startswith("resnet50")
        else ("hta" if case.startswith("hta") else "torch 2.13")
    )
    yield from advice_items(
        f"plugin {kind}: advice", case, path, latest(folder, case, "overview.json")
    )
    steps = latest(folder, case, "steps_raw.json")
    yield from step_items(
        f"plugin {kind}: steps",
        case,
        path,
        steps["names"],
        steps["costs_per_step"],
        steps["steps"],
        steps["average"],
    )
    for file, by_shape in (("operators.json", False), ("operators_by_input_shape.json", True)):
        table = latest(folder, case, file) if last_source else load(folder / case, file)
        yield from operator_items(f"plugin {kind}: operators", case, path, table, by_shape)
    for file, by_op in (("kernels.json", False), ("kernels_by_op.json", True)):
        yield from kernel_items(
            f"plugin {kind}: kernels", case, path, latest(folder, case, file), by_op
        )
    yield from module_items(
        f"plugin {kind}: modules", case, path, load(folder / case, "modules.json")
    )
    yield from backward_items(
        f"plugin {kind}: backward of modules",
        case,
        path,
        load(folder / case / "src_041e7ce", "backward_modules.json"),
    )
    yield from device_items(
        f"plugin {kind}: devices",
        case,
        path,
        metrics_of(latest(folder, case, "gpu_metrics.json")),
    )
    yield from summary_items(
        f"plugin {kind}: devices",
        case,
        path,
        latest(folder, case, "overview.json")["gpu_summary"],
    )
    # They are right in the released package; the last source lost rows.
    if case in ("resnet_all", "transformer") or case.startswith("resnet50"):
        yield from stack_items(
            f"plugin {kind}: stacks", case, path, load(folder / case, "operator_stacks.json")
        )


def right_items(shared: Path) -> Iterator[Item]:
    """The right numbers of the notes, by the default rules."""
    for case, table, name, column, us in RIGHT:
        digits = 50 if isinstance(us, float) else 500
        yield Item(
            "plugin, corrected",
            case,
            shared / "data" / CASES[case][0],
            "notes",
            us,
            "ns",
            table,
            key=((("category" if table == "overview" else "name"), name),),
            column=column,
            slack_ns=digits + 1,
        )


def items(shared: Path) -> Iterator[Item]:
    """All the plugin's answers."""
    yield from vector_items(shared)
    yield from right_items(shared)
    for case, (name, last_source) in CASES.items():
        yield from case_items(shared, case, name, last_source)
