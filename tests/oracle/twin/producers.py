# SPDX-License-Identifier: Apache-2.0
"""Which program wrote a file, told by what it alone writes, and the dialect of that program."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import kinds

DIALECTS = {
    "kineto": "kineto",
    "torch_legacy": "torch_legacy",
    "torch_npu": "ascend",
    "mindspore": "ascend",
    "msprof": "ascend",
    "jax": "xla",
    "xla": "xla",
    "rocprof": "rocprof",
    "nsys": "nsys",
    "opscope": "opscope",
    "proton": "proton",
    "paddle": "paddle",
    "rpd": "rocprof",
    "unitrace": "unitrace",
}
# Arguments that Kineto writes, for files where only some events are left.
ARGUMENTS = {
    "External id",
    "external id",
    "Fwd thread id",
    "Python id",
    "device",
    "correlation",
}
XLA_LINES = re.compile(r"XLA Ops|XLA Modules|Stream #[0-9]+\(")
# Words that others use as categories, too.
COMMON = {"kernel", "memcpy", "memset", "python", "runtime", "operator", "overhead"}


class Signs:
    """Everything in a file that tells its producer."""

    def __init__(
        self, members: dict, records: list[dict], processes: set[str], threads: set[str]
    ):
        self.members = members
        self.processes, self.threads = processes, threads
        opened = [r for r in records if r.get("ph") != "M"]
        self.categories = {r["cat"] for r in opened if isinstance(r.get("cat"), str)}
        self.names = {r["name"] for r in opened if isinstance(r.get("name"), str)}
        self.pids = {r["pid"] for r in opened if isinstance(r.get("pid"), str)}
        self.records = opened
        self.arguments = {
            key for r in opened if isinstance(r.get("args"), dict) for key in r["args"]
        }

    def process(self, pattern: str) -> bool:
        """Whether PATTERN matches the name of a process."""
        return any(re.match(pattern, name) for name in self.processes)

    def name(self, pattern: str) -> bool:
        """Whether PATTERN matches the name of an event."""
        return any(re.match(pattern, name) for name in self.names)

    def other(self, key: str, within: str) -> object:
        """Member KEY of member WITHIN of the file."""
        value = self.members.get(within)
        return value.get(key) if isinstance(value, dict) else None


def is_kineto(s: Signs) -> bool:
    """A category of Kineto alone; or a common one and a member of its files."""
    lower = {c.lower() for c in s.categories}
    known = lower & set(kinds.OF_CATEGORY)
    return bool(
        known - COMMON
        or "deviceProperties" in s.members
        or (known and ("schemaVersion" in s.members or s.arguments & ARGUMENTS))
    )


def ascend(s: Signs) -> str | None:
    """A process of Ascend; PyTorch's operators, or MindSpore's names."""
    drawn = {"Task Scheduler", "AI Core", "AI Core Op"} if "Task Type" in s.arguments else set()
    if "AI Core Op" in s.processes and (
        s.name("Default/") or s.processes & {"Host CPU Op", "Communication Op", "AI CPU Op"}
    ):
        drawn = {"AI Core Op"}
    if not s.processes & ({"Ascend Hardware", "CANN", "AscendCL"} | drawn):
        return None
    if "cpu_op" in s.categories:
        return "torch_npu"
    is_mindspore = s.name(r"Default/|Gradients/") or "Host CPU Op" in s.processes
    return "mindspore" if is_mindspore else "msprof"


def display(s: Signs) -> bool:
    """MindSpore's timeline has nothing but operators with full names, and runs of streams."""
    return "fullname" in s.arguments and s.name(r"stream_[0-9]+_parallel_[0-9]")


def xla(s: Signs) -> str | None:
    """Lines of XLA; and who called it."""
    if any(re.match(r".*/device:GPU:[0-9]+/(stream:|memcpy$)", name) for name in s.processes):
        return None
    if not (
        any(XLA_LINES.match(name) for name in s.threads)
        or "/host:CPU" in s.processes
        or s.process("/device:(GPU|TPU):[0-9]+$")
    ):
        return None
    if s.name(r"PjitFunction|\$jax|pjit|jit[_(]|py_xla"):
        return "jax"
    if any(name.startswith("TensorFlow ") for name in s.threads):
        return "tensorflow_xla"
    return "jax" if s.name(r"PjRt") else "xla"


RULES: tuple[tuple[str, Callable[[Signs], object]], ...] = (
    ("opscope", lambda s: "opscope_version" in s.members),
    ("viztracer", lambda s: "viztracer_metadata" in s.members),
    ("torch_legacy", lambda s: s.pids & {"CPU functions", "CUDA functions"}),
    ("paddle", lambda s: "span_indx" in s.members),
    (
        "unitrace",
        lambda s: (
            s.process(r"(RANK [0-9]+ )?(HOST<.*>$|DEVICE<.*>)")
            and s.categories & {"cpu_op", "gpu_op"}
        ),
    ),
    ("kineto", is_kineto),
    (
        "tensorflow",
        lambda s: (
            s.process(r".*[cgCG][pP][uU]:[0-9]+.* Compute$")
            or s.process(r".*/device:GPU:[0-9]+/(stream:|memcpy$)")
        ),
    ),
    ("rocprof", lambda s: s.process(r"[0-9]+ (CPU HIP API|CPU HSA API|GPU[0-9]+)$")),
    (
        "rpd",
        lambda s: (
            s.process("GPU")
            and ("api_op" in s.categories or any(name.startswith("Hip ") for name in s.threads))
        ),
    ),
    (
        "nsys",
        lambda s: (
            s.categories & {"cuda", "cuda_api"}
            and any(re.match("Device [0-9]+$", p) for p in s.pids)
        ),
    ),
    ("triton", lambda s: "Post Final Time (ns)" in s.arguments),
    ("proton", lambda s: "kernel" in s.categories and "call_stack" in s.arguments),
    ("tlparse", lambda s: "dynamo_timed" in s.categories),
    ("triton", lambda s: any(re.match("Line [0-9]+$", c) for c in s.categories)),
    (
        "ray",
        lambda s: any(c.startswith("task:") or c.startswith("task::") for c in s.categories),
    ),
    ("horovod", lambda s: s.name("NEGOTIATE_[A-Z]+$")),
    (
        "bazel",
        lambda s: "build phase marker" in s.categories or s.other("build_id", "otherData"),
    ),
    ("clang", lambda s: s.name("Total ExecuteCompiler") or "beginningOfTime" in s.members),
    (
        "perfetto",
        lambda s: (
            "controllerTraceDataKey" in s.members
            or "perfetto" in str(s.members.get("metadata"))
        ),
    ),
    (
        "chrome",
        lambda s: (
            s.other("source", "metadata") == "DevTools"
            or any(t.startswith("Cr") for t in s.threads)
        ),
    ),
    (
        "v8",
        lambda s: (
            (
                {"samples", "stackFrames"} <= set(s.members)
                and (s.processes | s.threads | s.names | s.categories) & {"hermes", "v8"}
            )
            or any(c == "v8" or c.endswith("v8") for c in s.categories)
        ),
    ),
    ("spall", lambda s: "otherData" in s.members and "function" in s.categories),
)


TORCH = ("kineto", "torch_npu", "torch_legacy")


def is_torch(producer: str | None, members: dict) -> bool:
    """Whether a trace with MEMBERS is of a program of PyTorch; recordings say it."""
    return producer in TORCH or (
        producer == "opscope" and ("source.torch" in members or "trace_id" in members)
    )


def find(signs: Signs) -> tuple[str | None, str]:
    """(producer, dialect)."""
    if "opscope_version" in signs.members:
        return "opscope", "opscope"
    for special in (ascend, xla):
        word = special(signs)
        if word == "tensorflow_xla":
            return "tensorflow", "xla"
        if word and not (special is xla and is_kineto(signs)):
            return word, DIALECTS[word]
    if display(signs):
        return "mindspore", "mindspore"
    for word, holds in RULES:
        if holds(signs):
            return word, "tensorflow" if word == "tensorflow" else DIALECTS.get(word, "chrome")
    return None, "chrome"
