# SPDX-License-Identifier: Apache-2.0
"""`profile`: torch's class, its schedule and its messages, with opscope's recorder inside."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import shutil
import socket
import tempfile
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any, Union

import torch
import torch.autograd.profiler
from torch.autograd import profiler_util
from torch.profiler import ProfilerAction, ProfilerActivity

from .. import _opscope, load
from . import collector, config, devices, installed, kineto, native, ranges
from .events import EventList, Timeline, events
from .tree import Results

if TYPE_CHECKING:
    from typing import Never

    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler.profiler import _ITraceObserver

# The arguments of key_averages() for which the command makes the same table as torch.
KEYS_OF_AVERAGES = {"group_by_input_shape", "group_by_stack_n", "include_python_functions"}
THEIRS = torch.profiler.profile  # also after it was replaced
THEIR_AVERAGES = torch.autograd.profiler.profile.key_averages  # likewise
UNFINISHED = "<unfinished torch.autograd.profile>"
AnyPath = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
FLAGS = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
# The types of ProfilerActivity.CPU that a program may name, and their categories in a trace.
CPU_TYPES = {
    "CPU_OP": ("cpu_op", "fwdbwd"),
    "CPU_INSTANT_EVENT": ("cpu_instant_event",),
    "USER_ANNOTATION": ("user_annotation",),
    "PYTHON_FUNCTION": ("python_function",),
    **dict.fromkeys(
        (
            "EXTERNAL_CORRELATION",
            "XPU_RUNTIME",
            "XPU_DRIVER",
            "CUDA_RUNTIME",
            "CUDA_DRIVER",
            "PRIVATEUSE1_RUNTIME",
            "PRIVATEUSE1_DRIVER",
        ),
        (),
    ),
}


def text_of(value: str) -> str:
    """The string that the JSON text VALUE encodes, or else VALUE itself."""
    parsed = json.loads(value)
    return parsed if isinstance(parsed, str) else value


told_unseen: set[str] = set()  # devices of which a warning has told what was not seen


def end(running: list[str]) -> None:
    """Stop recording and clear RUNNING; native.stop() then writes the recording."""
    recorded = list(running)
    running.clear()
    native.detach()
    ranges.remove()
    config.collections.end()
    collector.stop(recorded)


def close(directory: str, pid: int, running: list[str]) -> None:
    """Remove DIRECTORY in the process PID, which made it, but not in a child of a fork.

    If RUNNING is not empty, the recording was not ended, and nothing else can end it any more.
    """
    if os.getpid() != pid:
        return
    if running:
        end(running)
        native.stop()
    shutil.rmtree(directory, ignore_errors=True)


def new_path(directory: str) -> str:
    """The path of the next recording: in OPSCOPE_OUT, where it stays, or in DIRECTORY."""
    kept = os.environ.get("OPSCOPE_OUT", "")
    if kept and is_there(kept):
        name = f"torch.{socket.gethostname()}.{os.getpid()}.{time.time_ns()}.osc"
        return os.path.join(os.path.abspath(kept), name)
    return os.path.join(directory, f"{len(os.listdir(directory))}.osc")


def is_there(kept: str) -> bool:
    """Whether the directory KEPT exists now. It is made, but not that of a run, which was removed."""
    try:
        if "OPSCOPE_RUN_ID" not in os.environ:
            os.makedirs(kept, mode=0o700, exist_ok=True)
        os.stat(os.path.join(kept, ""))
    except OSError as e:
        warnings.warn(
            f"OPSCOPE_OUT: {kept}: {e.strerror}; the recording goes with its profile",
            stacklevel=2,
        )
        return False
    return True


class Recording:
    """Torch's inner profiler: one window of time and its results."""

    def __init__(self, owner: Any) -> None:  # a profile, or one of profiler_legacy
        self.owner = owner
        self.directory = tempfile.mkdtemp(prefix="opscope-")
        self.path = ""
        self.trace_id = ""
        self.running: list[str] = []  # while it records, the activities
        self.fields = config.fields(owner.experimental_config)
        self.flags = [x for x in FLAGS if getattr(owner, x)]  # the flags that are set
        self.window_ns = (0, 0)  # Unix time
        self.pid = 0
        self.cached_events: Any = None
        self.earlier_events: list[Any] = []  # events of earlier windows, with acc_events
        weakref.finalize(self, close, self.directory, os.getpid(), self.running)

    def __fspath__(self) -> str:
        if not self.path:
            raise ValueError("nothing was recorded yet: start this profile before it is loaded")
        return self.path

    def _repr_html_(self) -> str:
        """The averages, for notebooks."""
        return load(self)["averages"]._repr_html_() if self.path else escape(repr(self))

    @property
    def is_running(self) -> bool:
        """Whether it records."""
        return bool(self.running)

    def __repr__(self) -> str:
        return repr(self.function_events) if self.window_ns[1] else UNFINISHED

    def __str__(self) -> str:
        return self.table() if self.window_ns[1] else UNFINISHED

    def _prepare_trace(self) -> None:
        for name in self._named_types() or ():
            if name not in CPU_TYPES:
                raise RuntimeError(f"Unknown or non-member activity type name: '{name}'")
        if (getattr(self.owner, "post_processing_timeout_s", None) or 0) < 0:
            raise ValueError("post_processing_timeout_s must be non-negative")
        callback = self.owner.custom_trace_id_callback
        self.trace_id = callback() if callback else f"{uuid.uuid4().int:032X}"

    def _start_trace(self, metadata: dict[str, str]) -> None:
        o = self.owner
        path = new_path(self.directory)
        recorded = [a.name for a in o.activities if a.name not in o.absent]
        if not recorded or native.is_switched_off():
            return
        if self.path and getattr(o, "acc_events", False):
            self.earlier_events = list(self.function_events)
        try:
            native.start(path)
        except native.BusyError:
            native.warn_of_busy("this one records nothing")
            return
        failed = collector.start(recorded)  # what it tells of devices is in this recording
        recorded = [name for name in recorded if name not in failed]
        if not recorded:
            native.stop()
            os.unlink(path)
            devices.warn(failed, stacklevel=native.level_of_caller())
            return
        installed.untested.tell(stacklevel=native.level_of_caller())
        native.metadata("trace_id", str(self.trace_id))
        for flag in FLAGS:
            native.metadata(flag, str(int(flag in self.flags)))
        for key, value in metadata.items():
            native.metadata(key, text_of(value))
        for device, why in {**o.absent, **failed}.items():
            native.metadata(f"device_absent.{device}", why)
        self.path = path
        self.running += recorded
        self.window_ns = (time.time_ns(), 0)
        self.pid = os.getpid()
        self.cached_events = None
        devices.warn(failed, stacklevel=native.level_of_caller())
        torch.autograd.profiler._run_on_profiler_start()
        if "CPU" in recorded:
            self._record_operators()

    def _record_operators(self) -> None:
        """Record what the host does from now on."""
        o = self.owner
        ranges.install()
        if o.with_stack and self.fields["record_python_gc_info"]:
            config.collections.begin()
        # Last, so that few calls of this code are among the recorded Python calls.
        if not native.attach(
            all_threads=self.fields["profile_all_threads"],
            shapes=o.record_shapes or o.with_flops,
            memory=o.profile_memory,
            overloads=self.fields["capture_overload_names"],
            stacks=o.with_stack,
            modules=o.with_modules,
        ):
            warnings.warn(
                "opscope cannot see the allocations of this torch: no memory is recorded",
                stacklevel=native.level_of_caller(),
            )

    def __exit__(self, *_: object) -> None:
        if not self.is_running:
            return
        if self.owner.use_device:
            synchronize(self.owner.use_device)
        recorded = list(self.running)
        end(self.running)
        unseen = collector.unseen(recorded)
        for device, how in devices.unasked(self.owner.activities).items():
            native.metadata(f"device_unasked.{device}", how)
        self.cached_events = None  # may have been made while recording
        self.window_ns = (self.window_ns[0], time.time_ns())
        torch.autograd.profiler._run_on_profiler_stop()
        native.stop()
        new = {name: text for name, text in unseen.items() if name not in told_unseen}
        if new and torch.profiler.profile is THEIRS:  # as for all warnings of ours
            told_unseen.update(new)
            warnings.warn("; ".join(new.values()), stacklevel=native.level_of_caller())

    def _named_types(self) -> Any:
        """The types of host activity that the program names; None: all."""
        named = getattr(self.owner, "activity_filters", {}).get(ProfilerActivity.CPU)
        about = getattr(self.owner, "activity_configs", {}).get(ProfilerActivity.CPU)
        return about.activity_types if about is not None else named

    def _hidden(self) -> set[bytes]:
        """The categories that are left out of traces but not of tables, as in torch."""
        named = self._named_types()
        return (
            set()
            if named is None
            else {
                c.encode()
                for name, found in CPU_TYPES.items()
                if name not in named
                for c in found
            }
        )

    def _edits(self) -> list[kineto.Edit]:
        """The functions that change the line of each event of a trace."""
        device = self.owner.use_device
        return [kineto.named_by_overload] * self.fields["capture_overload_names"] + (
            [kineto.device_numbered(device)] if device else []
        )

    @property
    def function_events(self) -> Any:
        """All calls, as torch's `EventList`."""
        o = self.owner
        if self.cached_events is None or self.is_running:
            self.cached_events = events(
                self.path,
                o.use_device,
                o.profile_memory,
                o.with_flops,
                getattr(o, "post_processing_timeout_s", None),
            )
            if not self.has_stacks:
                for event in self.cached_events:
                    event.stack = []
            for event in self.earlier_events:
                self.cached_events.append(event)
        return self.cached_events

    @property
    def has_stacks(self) -> bool:
        """Whether events have the stacks that are recorded."""
        return bool(self.fields["verbose"])

    @property
    def kineto_results(self) -> Results:
        """What there is of torch's object: `experimental_event_tree()` and `events()`."""
        return Results(self.path, self.window_ns[0], self.owner.profile_memory)

    def key_averages(self, *args: Any, **options: Any) -> Any:
        """The averages by torch's keys; the arguments are those of the installed torch.

        Torch's own code makes them if opscope does not know an argument or the version.
        """
        bound = installed.arguments(THEIR_AVERAGES, *args, **options)

        def from_events() -> Any:
            return self.function_events.key_averages(*bound.args[1:], **bound.kwargs)

        if (
            installed.untested
            or self.earlier_events
            or not installed.changed(THEIR_AVERAGES, bound) <= KEYS_OF_AVERAGES
        ):
            return from_events()
        asked = bound.arguments
        keys = ["shape"] * bool(asked["group_by_input_shape"])
        if asked["group_by_stack_n"] > 0 and self.has_stacks:
            keys.append(f"stack:{asked['group_by_stack_n']}")
        words = ["--group-by", ",".join(keys)] if keys else []
        # Earlier versions have no such argument, and always include them.
        if not asked.get("include_python_functions", True):
            words.append("--no-python")
        return self._averages(words, from_events)

    def _averages(self, words: list[str], from_events: Callable[[], Any]) -> EventList:
        """The averages with the options WORDS of the command."""
        o = self.owner
        return EventList(
            self.path, words, o.use_device, o.profile_memory, o.with_flops, from_events
        )

    def table(self, *args: Any, **options: Any) -> str:
        """The calls as text, not averaged; the arguments of torch's `EventList.table()`."""
        return str(self.function_events.table(*args, **options))

    def total_average(self) -> Any:
        """The sum of all calls; nested calls count again."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Host time without children, of all calls, in microseconds."""
        averages = self._averages([], lambda: self.function_events)  # with Python functions
        return float(averages.self_cpu_time_total)

    def export_chrome_trace(
        self,
        path: AnyPath,
        metadata: dict[str, str] | None = None,
        use_python_export: bool = False,
        only: set[int] | None = None,
    ) -> None:
        """Write Kineto's JSON to PATH; it is valid JSON with any names.

        ONLY are the numbers of the operators and labels in it; None: all.
        """
        path = os.fsdecode(path)
        head = {
            "schemaVersion": 1,
            "deviceProperties": [],
            "trace_id": self.trace_id,
            "displayTimeUnit": "ms",
            "traceName": path,
            **{x: 1 for x in self.flags},
        }
        for key, value in (metadata or {}).items():
            if key not in kineto.OWN_MEMBERS:
                head[key] = json.loads(value, parse_constant=str)  # no reader accepts NaN
        if not self.path:
            with open(path, "w", encoding="utf-8") as f:
                json.dump({**head, "traceEvents": []}, f)
            return
        whole = os.path.join(self.directory, "export.json")
        # As in torch, whose config is needed for them: stacks are half of such a file.
        no_stacks = self.owner.experimental_config is None or not self.has_stacks
        native.run("export", self.path, "-f", "json", "-o", whole, *["--no-stacks"] * no_stacks)
        with open(whole, "rb") as f, open(path, "wb") as out:
            hidden = self._hidden()
            if not self.owner.profile_memory and kineto.has_memory(
                f
            ):  # a device told of its own
                hidden.add(kineto.MEMORY)
            edits = self._edits() if only is None else [kineto.only(only), *self._edits()]
            kineto.merge_head(f, out, head, self.window_ns, self.pid, hidden, edits)
        os.unlink(whole)

    def export_stacks(self, path: AnyPath, metric: str) -> Any:
        """Write stacks, the outermost call first, each with its METRIC in microseconds."""
        if not self.owner.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        if (
            not self.path
            or installed.untested
            or self.earlier_events
            or not self.has_stacks
            or metric not in profiler_util.EventList().supported_export_stacks_metrics()
        ):
            return self.function_events.export_stacks(os.fsdecode(path), metric)
        of = (
            "self_cpu_time_total" if metric == "self_cpu_time_total" else "self_cuda_time_total"
        )
        folded = os.path.join(self.directory, "export.folded")
        try:
            native.run(
                "export",
                self.path,
                "-f",
                "folded",
                "-o",
                folded,
                "--stack",
                "python",
                "--metric",
                of,
            )
        except RuntimeError:  # such as where no event has a stack
            return self.function_events.export_stacks(os.fsdecode(path), metric)
        with open(folded, "rb") as f, open(os.fsdecode(path), "wb") as out:
            shutil.copyfileobj(f, out)
        os.unlink(folded)
        return None

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:
        """Switch the recording of operators off or on."""
        if "CPU" in self.running and ProfilerActivity.CPU in set(activities):
            native.toggle(enable)


def synchronize(device: str) -> None:
    """Wait until the current device of that type has finished its work."""
    module = getattr(torch, device, None)
    if module is not None and hasattr(module, "synchronize") and module.is_available():
        module.synchronize()


def asked_for(activities: Any) -> list[ProfilerActivity]:
    """The ACTIVITIES that the argument of a profile names, as far as it is right."""
    if activities is None:
        return devices.default()
    if not isinstance(activities, (list, tuple, set, frozenset)):  # an iterator serves but once
        return []
    return [
        a
        for each in activities
        for a in (each if isinstance(each, dict) else (each,))
        if isinstance(a, ProfilerActivity)
    ]


class profile(torch.profiler.profile):
    """A context manager that records operators, with the arguments of `torch.profiler.profile`.

    - activities: `ProfilerActivity.CPU` is the host; for devices, one warning says what is
      missing. `{CPU: [...]}` names the types of events in the exported trace. None: the host, and
      the devices that torch finds
    - schedule: a function of the step number, such as `schedule()` returns; None: record all
    - on_trace_ready: called with this object when a window of the schedule has ended
    - record_shapes: sizes (elements), strides, types and scalar values of inputs
    - profile_memory: allocations and releases in bytes, of the recorded threads: of the host, and
      of devices whose allocator tells torch of them; with record_shapes and with_stack also what
      memory was for, such as parameters, gradients and activations, by the rules of torch: the
      column `category` of the table memory_events
    - with_stack: Python calls of the calling thread, including modules, and the stacks of
      operators; with `profile_all_threads`, of all threads that exist at the start; lines of
      TorchScript
    - with_flops: estimates of floating-point operations by torch's rules; needs nothing else
    - with_modules: in the trace, the modules of TorchScript around operators
    - experimental_config: the fields `verbose` (if it is false, no event has a stack; without a
      config, all have one, but not in the exported trace, where Python calls are events),
      `profile_all_threads`, `capture_overload_names` and, with with_stack,
      `record_python_gc_info` are used; one warning names others that matter on the host
    - execution_trace_observer: started and stopped with each window
    - acc_events: `events()` and `key_averages()` cover all windows instead of the last one
    - use_cuda, use_xpu: old names for activities
    - custom_trace_id_callback: its result is the id of each window
    - post_processing_timeout_s: `events()` has what can be made in that time, and logs a warning
      if that is not all; `key_averages()` has everything

    Any other argument is passed to torch's class, which accepts or rejects it.

    Results, while it runs and after it has ended, have times in microseconds and memory in bytes,
    as in torch: `key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)`,
    whose `table()` is torch's text; `events()`; `export_chrome_trace()`;
    `export_stacks(path, metric)`; `export_memory_timeline(path, device)`. `start()`, `stop()`,
    `step()`, `step_num`, `add_metadata()`, `add_metadata_json()`, `preset_metadata_json()` and
    `toggle_collection_dynamic(enable, activities)` are those of torch's class.

    Records go to a file at once, and readers find them even if the process is killed: in the
    directory OPSCOPE_OUT, where the file stays, or in one that is removed with this object.

    If there is no recorder for this torch and none can be built, this is torch's own class, and a
    warning says why.

    Inside another profile of opscope, or beside another recording of it, torch's own profiler
    records this one, and a warning says so.

    TypeError: an unknown argument, or one of another type. RuntimeError: it is started while it runs, or where
    nothing can be written.
    """

    itt = torch.profiler.itt  # the spelling in Intel's documentation
    profiler: Recording | None  # type: ignore[assignment]

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """An object of torch's class if there is no recorder for this torch."""
        if cls is profile and (
            native.leaves_it_to_torch()
            or devices.is_left_to_torch(asked_for(options.get("activities")))
        ):
            return THEIRS(*args, **options)
        return super().__new__(cls)

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]]
        | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        execution_trace_observer: _ITraceObserver | None = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        use_xpu: bool | None = None,
        **other: Never,
    ) -> None:
        if "record_shape" in other:
            raise TypeError("profile() has no argument 'record_shape': it is 'record_shapes'")
        for name, what, value in (
            (
                "schedule",
                "of the step number, such as schedule(wait=1, warmup=1, active=3) returns",
                schedule,
            ),
            (
                "on_trace_ready",
                "of the profile, such as tensorboard_trace_handler(DIR) returns",
                on_trace_ready,
            ),
            ("custom_trace_id_callback", "without arguments", custom_trace_id_callback),
        ):
            if value and not callable(value):
                raise TypeError(f"{name} must be a function {what}, not {type(value).__name__}")
        wanted = devices.default() if activities is None else list(activities)
        for name, is_used, activity in (
            ("use_cuda", use_cuda, ProfilerActivity.CUDA),
            ("use_xpu", use_xpu, ProfilerActivity.XPU),
        ):
            if is_used is not None:
                warnings.warn(
                    f"`{name}` is deprecated, use `activities` argument instead",
                    FutureWarning,
                    stacklevel=2,
                )
                wanted = [a for a in wanted if a != activity] + [activity] * bool(is_used)
        # An older torch lacks some of these; they are passed on only if the caller gives them.
        given: dict[str, Any] = {
            name: value
            for name, value in (
                ("acc_events", acc_events or None),
                ("custom_trace_id_callback", custom_trace_id_callback),
                ("post_processing_timeout_s", post_processing_timeout_s),
            )
            if value is not None
        }
        super().__init__(
            activities=wanted,
            schedule=schedule,
            on_trace_ready=on_trace_ready,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            **given,
            **other,
        )
        self.has_begun = False  # a window
        self.absent = devices.missing(self.activities)
        devices.warn(self.absent, stacklevel=2)
        if torch.profiler.profile is THEIRS:  # an unmodified program gets no warning of ours
            devices.warn_unasked(devices.unasked(self.activities), 2, self.absent)
        config.warn_of_unheeded(experimental_config, stacklevel=2)

    def prepare_trace(self) -> None:
        """Prepare a new window; the records of an earlier one are dropped."""
        if isinstance(self.profiler, Recording) and self.profiler.is_running:
            raise native.BusyError
        if native.gives_way_to_torch():
            self.profiler = None  # torch's code makes another one of its own class
            super().prepare_trace()
            return
        if self._is_theirs:
            self.profiler = None
        if self.profiler is not None and not self.acc_events:
            # Torch 2.6 warns each time.
            getattr(torch.profiler.profiler, "_warn_once", warnings.warn)(
                "Warning: Profiler clears events at the end of each cycle. "
                "Only events from the current cycle will be reported. "
                "To keep events across cycles, set acc_events=True."
            )
        self.profiler = (self.profiler if self.acc_events else None) or Recording(self)
        self._trace_metadata = {}
        self.profiler._prepare_trace()

    @property
    def _is_theirs(self) -> bool:
        """Whether torch's own profiler records this window, because another recording is running."""
        return self.profiler is not None and not isinstance(self.profiler, Recording)

    def start(self) -> None:
        """Begin, with the first step if there is a schedule."""
        super().start()
        if self.record_steps:
            native.whole.count_step()

    def step(self) -> None:
        """End a step and begin the next one."""
        super().step()
        if self.record_steps:
            native.whole.count_step()

    def stop(self) -> None:
        """End the profile; warns if its schedule never began to record."""
        super().stop()
        if not self.record_steps or self.has_begun or native.is_switched_off():
            return
        native.report_idle(self.step_num)
        # An unmodified program gets no warning of ours.
        if torch.profiler.profile is THEIRS:
            warnings.warn(
                "this profile recorded nothing: its schedule did not begin to record before the "
                f"profile ended, after {self.step_num} calls of step(). Call step() once a step",
                stacklevel=native.level_of_caller(),
            )

    def start_trace(self) -> None:
        """Begin to record the window."""
        # A profile that ends while it warms up begins, too.
        self.has_begun = self.has_begun or self.current_action in (
            ProfilerAction.RECORD,
            ProfilerAction.RECORD_AND_SAVE,
        )
        if self._is_theirs:
            super().start_trace()
            return
        if self.execution_trace_observer:
            self.execution_trace_observer.start()
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before starting trace")
        distributed = self._get_distributed_info()
        if distributed:
            self._trace_metadata["distributedInfo"] = json.dumps(distributed, default=int)
        self._trace_metadata.update(self.preset_metadata)
        self.profiler._start_trace(self._trace_metadata)

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the trace that is being recorded."""
        self._note(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value, as JSON text, to the trace that is being recorded."""
        json.loads(value)
        self._note(key, value)

    def _note(self, key: str, value: str) -> None:
        """Common code of both functions."""
        if self._is_theirs:
            super().add_metadata_json(key, value)
            return
        if self.profiler is None:
            warnings.warn(
                "Profiler is not initialized: skipping profiling metadata; "
                "preset_metadata_json() keeps it for the start",
                stacklevel=3,
            )
            return
        self._trace_metadata[key] = value
        if self.profiler.is_running:
            native.metadata(key, text_of(value))

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a value, as JSON text, to each trace that is recorded from now on."""
        json.loads(value)
        super().preset_metadata_json(key, value)

    def export_chrome_trace(
        self,
        path: AnyPath,  # type: ignore[override]
        *args: Any,
        **options: Any,
    ) -> None:
        """Write the last window as Kineto's JSON, whatever the end of the name, as torch does; `.gz`
        compresses. May be repeated.

        Further arguments of torch's method, which are about devices, are ignored.
        """
        installed.arguments(torch.profiler.profile.export_chrome_trace, path, *args, **options)
        path = os.fsdecode(path)
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before exporting chrome trace")
        if self._is_theirs:
            super().export_chrome_trace(path, *args, **options)
            return
        if not path.endswith(".gz"):
            self.profiler.export_chrome_trace(path, self._trace_metadata)
            return
        with tempfile.TemporaryDirectory(prefix="opscope-") as directory:
            text = os.path.join(directory, "trace.json")
            self.profiler.export_chrome_trace(text, self._trace_metadata)
            if not _opscope.gzip_file(text, path):
                with open(text, "rb") as f, gzip.open(path, "wb", compresslevel=6) as out:
                    shutil.copyfileobj(f, out, 1 << 20)

    def __fspath__(self) -> str:
        """The recording of the last window, for `opscope.load()`."""
        if self.profiler is None:
            raise ValueError("nothing was recorded yet: start this profile before it is loaded")
        if self._is_theirs:
            raise ValueError("torch's own profiler recorded this window: export its trace")
        return os.fspath(self.profiler)

    def _repr_html_(self) -> str:
        """The averages, for notebooks."""
        return (
            self.profiler._repr_html_()
            if isinstance(self.profiler, Recording)
            else escape(repr(self))
        )

    if TYPE_CHECKING:  # torch's declarations are too narrow

        def events(self) -> Any: ...
        def export_stacks(self, path: AnyPath, metric: str = "self_cpu_time_total") -> Any: ...

    def export(self, path: AnyPath) -> None:
        """The same as `export_chrome_trace`."""
        self.export_chrome_trace(path)

    def export_memory_timeline(self, path: AnyPath, device: str | None = None) -> None:
        """Write memory over time: `.html`, `.raw.json.gz`, or JSON, which `.gz` compresses."""
        super().export_memory_timeline(os.fsdecode(path), device)

    def _memory_profile(self) -> Any:
        """The data for `export_memory_timeline()`."""
        if self._is_theirs:
            return super()._memory_profile()
        missing = [
            f"{x}=True"
            for x in ("record_shapes", "profile_memory", "with_stack")
            if not getattr(self, x)
        ]
        if missing:
            raise ValueError(f"{', '.join(missing)} required for memory profiling.")
        if self.profiler is None or not (self.profiler.path or native.is_switched_off()):
            raise AssertionError("Profiler must be initialized for memory profiling")
        return Timeline(self.profiler.path)

    def get_trace_id(self) -> str | None:
        """Id of the window, or None before the first."""
        return self.profiler.trace_id if self.profiler is not None else None


# Programs inspect the signature to find out which arguments exist.
for function in (profile.__new__, profile.__init__):
    function.__signature__ = inspect.signature(THEIRS.__init__)
