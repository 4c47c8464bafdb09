# SPDX-License-Identifier: Apache-2.0
"""The two libraries, which record, and the command, which makes tables of recordings."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import inspect
import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import torch
import torch.distributed
from torch.profiler import python_tracer

from .. import _place
from . import build

COLLECTOR = os.path.join(_place.LIBRARIES, "libopscope-collect.so")
LIBRARIES = ("libopscope.so", "libopscope.so.0")  # in a package, in a build
OK, BUSY, NO_MEMORY = range(3)  # enum osc_torch_result
INVALID = 6  # of enum osc_status_code: already recording
BUSY_TEXT = (
    "a recording is already running in this process: an opscope.torch.profile, or another "
    "one of opscope; end that one first"
)


class BusyError(RuntimeError):
    """Another recording is running, of which a process has one."""

    def __init__(self) -> None:
        super().__init__(BUSY_TEXT)


class StartOptions(ctypes.Structure):
    """The first members of struct osc_start_options."""

    _fields_ = [("size", ctypes.c_size_t), ("out", ctypes.c_char_p)]


class TorchOptions(ctypes.Structure):
    """struct osc_torch_options."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("is_all_threads", ctypes.c_int),
        ("has_shapes", ctypes.c_int),
        ("has_memory", ctypes.c_int),
        ("has_overloads", ctypes.c_int),
        ("has_stacks", ctypes.c_int),
        ("prefixes", ctypes.c_char_p),
        ("whole", ctypes.c_char_p),
        ("has_modules", ctypes.c_int),
        ("own", ctypes.c_char_p),
        ("has_places", ctypes.c_int),
    ]


class Value(ctypes.Structure):
    """struct osc_torch_value."""

    _fields_ = [
        ("kind", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("imaginary", ctypes.c_double),
        ("tensor", ctypes.c_void_p),
    ]


class Keyword(ctypes.Structure):
    """struct osc_torch_keyword."""

    _fields_ = [("key", ctypes.c_char_p), ("value", Value), ("text", ctypes.c_char_p)]


# enum osc_torch_kind
OTHER, TENSOR, INT, BOOL, FLOAT, COMPLEX, LIST = range(7)


LEFT_OUT = "left out: torch brings the same operators"
VERSION = torch.__version__.encode()  # the recorder keeps its address
PACKAGE = Path(__file__).resolve().parents[1]
# How the names of our files begin in Python's code, and those that wrap functions of the program.
HERE = os.path.dirname((lambda: None).__code__.co_filename)
OWN_FILES = "".join(
    f"{x}\n"
    for x in (
        os.path.join(os.path.dirname(HERE), ""),
        os.path.join(HERE, "unchanged.py"),
        os.path.join(os.path.dirname(HERE), "record.py"),
    )
).encode()


@functools.cache
def program() -> str:
    """The path of the command: in the package, in the build directory, or in the search path."""
    for place in (PACKAGE / "bin/opscope", PACKAGE.parents[1] / "opscope"):
        if os.access(place, os.X_OK) and place.is_file():
            return str(place)
    found = shutil.which("opscope")
    if not found:
        raise RuntimeError("the command opscope is not installed, or not on PATH")
    return found


@functools.cache
def opscope() -> ctypes.CDLL:
    """libopscope, which the package has loaded; the recorder finds it in the global scope."""
    from .. import _opscope  # noqa: F401 - loads the library

    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL | os.RTLD_NOLOAD)
        except OSError:
            continue
        library.osc_now.restype = ctypes.c_uint64
        library.osc_recording_path.restype = ctypes.c_char_p
        return library
    raise RuntimeError("libopscope is not where the package has it")


def load() -> ctypes.PyDLL:
    """Load the recorder for this torch: that of the package, or else one that is built here."""
    opscope()
    packaged = build.packaged()
    if packaged:
        try:
            return ctypes.PyDLL(str(packaged))
        except (
            OSError
        ):  # for example, the C++ library is older than that of the wheel's builder
            pass
    path = build.built()
    try:
        return ctypes.PyDLL(str(path))
    except OSError as e:  # the directory forbids execution, or this is another torch
        raise build.BuildError(
            f"the recorder cannot be loaded: {e}; set XDG_CACHE_HOME to another directory"
        ) from e


@functools.cache
def loaded() -> ctypes.PyDLL | build.BuildError:
    """The recorder, or why there is none; it is looked for once."""
    try:
        library = load()
    except build.BuildError as e:
        return e
    library.osc_torch_range_open.restype = ctypes.c_void_p
    library.osc_torch_range_open.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.POINTER(Value),
        ctypes.c_size_t,
        ctypes.POINTER(Keyword),
        ctypes.c_size_t,
    ]
    library.osc_torch_range_close.argtypes = [ctypes.c_void_p]
    # The first access to a function calls Python, which would be recorded.
    for name in ("detach", "is_recorded", "wants_inputs", "toggle"):
        getattr(library, f"osc_torch_{name}")
    return library


def recorder() -> ctypes.PyDLL:
    """The recorder for this torch. Calls of its functions keep the interpreter's lock.

    Raises BuildError if there is none, and none can be built or loaded.
    """
    found = loaded()
    if isinstance(found, build.BuildError):
        raise found
    return found


@functools.cache
def warn_of_theirs(why: str) -> None:
    """Warn, once, that torch's own profiler records."""
    warnings.warn(
        f"opscope has no recorder here, so torch's own profiler records: {why}",
        stacklevel=level_of_caller(),
    )


def leaves_it_to_torch() -> bool:
    """Whether torch's own profiler must record, because there is no recorder."""
    found = None if is_switched_off() else loaded()
    if isinstance(found, build.BuildError):
        warn_of_theirs(str(found))
        return True
    return False


def has_recording() -> bool:
    """Whether a profile or another recording of this process has begun and not ended."""
    return whole.is_on or whole.is_profiled or bool(opscope().osc_recording_path())


def blocks() -> bool:
    """Whether another recording is running that makes no way for a profile."""
    return has_recording() and not whole.is_on and not whole.is_automatic()


def is_busy() -> bool:
    """The same, after a profile that was not ended but is unreachable has ended."""
    if not blocks():
        return False
    gc.collect()
    return blocks()


@functools.cache
def warn_of_busy(who: str) -> None:
    """Warn, once, that WHO, because another recording is running."""
    warnings.warn(
        "a recording of opscope is already running in this process, such as the profile "
        f"around this one, so {who}",
        stacklevel=level_of_caller(),
    )


def gives_way_to_torch() -> bool:
    """Whether torch's own profiler must record, because another recording is running."""
    if is_switched_off() or not is_busy():
        return False
    warn_of_busy("torch's own profiler records this one")
    end_theirs_at_exit()
    return True


@functools.cache
def end_theirs_at_exit() -> None:
    """End torch's own profiler with the process. Torch crashes in one that ends while it records,
    and the profile around this one, which would have ended it, is ours."""
    atexit.register(
        lambda: torch.autograd._profiler_enabled() and torch.autograd._disable_profiler()
    )


def is_left_to_torch() -> bool:
    """Whether torch's own profiler must record, for one of these reasons."""
    return leaves_it_to_torch() or gives_way_to_torch()


def disarm() -> None:
    """Let only profiles record from now on, if OPSCOPE_OUT has begun no recording yet: sources that
    a profile starts would begin one. A run records all of a process."""
    if "OPSCOPE_RUN_ID" not in os.environ and not has_recording():
        opscope().osc_stop()


def prefixes() -> bytes:
    """The prefixes that are cut from file names, as in torch: the search path of modules."""
    return "".join(f"{x}\n" for x in python_tracer._prefix_regex()).encode()


def level_of_caller() -> int:
    """The stacklevel of a warning by the caller that names the code outside torch and opscope."""
    level, frame = 0, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").startswith(("torch.", "opscope.")):
        level, frame = level + 1, frame.f_back
    return level


def is_switched_off() -> bool:
    """Whether OPSCOPE=0 forbids all recording."""
    return os.environ.get("OPSCOPE") == "0"


def start_to(path: str) -> int:
    """Start the recorder, which writes to PATH. Returns its status."""
    # The caller's schedule applies, not that of `opscope run`.
    schedule = os.environ.pop("OPSCOPE_SCHEDULE", None)
    options = StartOptions(ctypes.sizeof(StartOptions), os.fsencode(path))
    result = int(opscope().osc_start(ctypes.byref(options)))
    if schedule is not None:
        os.environ["OPSCOPE_SCHEDULE"] = schedule
    return result


def tell_collector(function: str) -> None:
    """Call FUNCTION of the collector, if it is loaded."""
    with contextlib.suppress(OSError, AttributeError):  # it is not loaded, or older
        getattr(ctypes.CDLL(COLLECTOR, mode=os.RTLD_NOLOAD | os.RTLD_LAZY), function)()


def report_sources() -> None:
    """Record what sources are there, if the collector is: another recording has begun."""
    tell_collector("opscope_collect_report")
    for source in whole.left_out:
        metadata(f"source.{source}", LEFT_OUT)


def leave_out(source: str) -> None:
    """Record that SOURCE, a word of --sources, is used by the program, but not recorded."""
    whole.left_out.add(source)
    metadata(f"source.{source}", LEFT_OUT)


def start(path: str) -> None:
    """Begin to record to PATH; operators are recorded only after attach()."""
    recorder()
    has_made_way = whole.make_way()
    result = start_to(path)
    if result == INVALID and gc.collect():
        # A profile that was not ended but is unreachable: collecting it ended it.
        has_made_way = whole.make_way() or has_made_way
        result = start_to(path)
    if result != 0:
        if has_made_way:
            whole.come_back()
        if result == INVALID:
            raise BusyError
        raise RuntimeError(
            f"opscope cannot record here: {os.path.dirname(path)} cannot be written"
        )
    whole.is_profiled = True
    if has_made_way:
        whole.tell_piece()
    report_sources()
    report_torch()
    metadata("torch_version", torch.__version__)


def report_torch() -> None:
    """Record that torch is recorded, if `opscope run` was asked for it."""
    if "torch" in os.environ.get("OPSCOPE_SOURCES", ""):
        metadata("source.torch", torch.__version__)


def attach(
    *,
    all_threads: bool,
    shapes: bool,
    memory: bool,
    overloads: bool,
    stacks: bool,
    modules: bool = False,
    is_whole: bool = False,
) -> bool:
    """Record operators from now on. False: this torch does not report allocations."""
    options = TorchOptions(
        ctypes.sizeof(TorchOptions),
        all_threads,
        shapes,
        memory,
        overloads,
        stacks,
        prefixes() if stacks else None,
        VERSION if is_whole else None,
        modules,
        OWN_FILES,
        stacks and is_whole,
    )
    attached = recorder().osc_torch_attach(ctypes.byref(options))
    if attached == BUSY:
        raise BusyError
    return attached != NO_MEMORY


def metadata(key: str, value: str) -> None:
    """Store a fact about the running recording."""
    opscope().osc_metadata(*(x.encode(errors="replace") for x in (key, value)))


def report_idle(n_steps: int) -> None:
    """Tell `opscope run`, if it replaces torch's profilers, that a profile has ended after N_STEPS
    calls of step(), before its schedule began to record."""
    if "torch=replace" not in os.environ.get("OPSCOPE_SOURCES", ""):
        return
    with contextlib.suppress(KeyError, OSError):
        note = os.path.join(os.environ["OPSCOPE_OUT"], f".torch-idle.{os.getpid()}")
        with open(note, "w", encoding="utf-8") as f:
            f.write(
                f"PID {os.getpid()} ran a profile whose schedule had not begun to record when it "
                f"ended, after {n_steps} calls of prof.step(): call it once a step"
            )


def toggle(is_on: bool) -> None:
    """Switch the recording of operators off or on."""
    recorder().osc_torch_toggle(int(is_on))


def detach() -> None:
    """Stop recording; operators that still run end now, as in torch."""
    recorder().osc_torch_detach()
    metadata("open_scopes_end_ticks", str(opscope().osc_now()))


def stop() -> None:
    """End the recording and write all of it."""
    opscope().osc_stop()
    whole.is_profiled = False
    whole.come_back()


class Whole:
    """The recording of a whole process under `opscope run`, as the environment says.

    It stops while the program itself profiles, and continues in another file afterwards. With
    --torch it has operators; without, it may be on because sources of the collector are.
    """

    is_on = False  # with operators
    is_aside = False
    has_operators = False  # while it is aside
    is_profiled = False
    has_stacks = False
    is_by_itt = False  # without a recorder; is_on is then false
    left_out: set[str] = set()  # sources that would bring operators a second time
    n_steps = 0  # recorded, of profiles and those between calls of an optimizer
    has_step = False  # of an optimizer, which has not ended

    def begin(self, has_stacks: bool) -> None:
        """Record from the first operator on, or with stacks the first call of Python, which opens
        the recording."""
        recorder()
        self.has_stacks = has_stacks
        self.attach()
        self.is_on = True
        os.register_at_fork(after_in_child=self.begin_child)

    def attach(self) -> None:
        """Record the operators of all threads, and of child processes."""
        attach(
            all_threads=True,
            shapes=True,
            memory=True,
            overloads=False,
            stacks=self.has_stacks,
            modules=self.has_stacks,
            is_whole=True,
        )

    def make_way(self) -> bool:
        """Stop, because something else is going to record. False: it was not recording."""
        if not (self.is_on or self.is_automatic()):
            return False
        metadata("piece_of_process", "1")
        if self.is_on:
            report_torch()  # no operator may have run yet
            detach()
        tell_collector("opscope_collect_settle")
        opscope().osc_stop()
        self.has_step = False
        self.has_operators, self.is_on, self.is_aside = self.is_on, False, True
        return True

    def is_automatic(self) -> bool:
        """Whether a recording without operators is on, which began because OPSCOPE_OUT is set."""
        from .. import _opscope  # it loads the library

        kept = os.environ.get("OPSCOPE_OUT")
        if self.is_profiled or not kept or _opscope.is_started():
            return False
        path = os.fsdecode(opscope().osc_recording_path() or b"")
        return bool(path) and os.path.dirname(os.path.abspath(path)) == os.path.abspath(kept)

    def come_back(self) -> None:
        """Continue, because the other recording has ended or could not begin."""
        if not self.is_aside:
            return
        self.is_aside = False
        if opscope().osc_start(None) != 0:
            warnings.warn(
                "opscope run: what comes after this profile is not recorded, for its "
                "directory cannot be written",
                stacklevel=2,
            )
            return
        self.tell_piece()
        report_sources()
        if self.has_operators:
            report_torch()  # no operator may follow
            self.attach()
            self.is_on = True
            self.tell_rank()

    def tell_piece(self) -> None:
        """Store that the recording is not the first of this process, but is one with it."""
        metadata("piece_of_process", "1")
        metadata("steps_before", str(self.n_steps))

    def count_step(self) -> None:
        """Count a step of a profile, which has begun."""
        self.n_steps += self.is_on or self.is_profiled

    def begin_step(self) -> None:
        """Begin a step of an optimizer, which ends the one before; none if the program marks its
        own by opscope.record.step()."""
        from .. import _opscope  # it loads the library

        if _opscope.marks_steps():
            return
        opscope().osc_step_if_ended()
        self.n_steps += self.has_step
        self.has_step = True

    def end_step(self) -> None:
        """End the step of an optimizer, if there is one."""
        opscope().osc_step_end()
        self.n_steps += self.has_step
        self.has_step = False

    def forget_steps(self) -> None:
        """Count the steps of a child from 0."""
        self.n_steps, self.has_step = 0, False

    def begin_child(self) -> None:
        """Record in the child of a fork, even if its parent was profiling."""
        if self.is_aside and self.has_operators:
            self.attach()
            self.is_on, self.is_aside = True, False
        if self.is_on and "RANK" not in os.environ:
            self.tell_rank()

    def tell_rank(self) -> None:
        """Store the rank of this process in a distributed program, if it is known."""
        distributed = torch.distributed
        if (
            (self.is_on or self.is_by_itt)
            and distributed.is_available()
            and distributed.is_initialized()
        ):
            metadata(
                "distributedInfo",
                json.dumps(
                    {
                        "backend": distributed.get_backend(),
                        "rank": distributed.get_rank(),
                        "world_size": distributed.get_world_size(),
                    }
                ),
            )


whole = Whole()
os.register_at_fork(after_in_child=whole.forget_steps)


def run(*args: str) -> str:
    """The output of the command; if it fails, the error has its message."""
    done = subprocess.run(
        [program(), *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            done.stderr.strip().splitlines()[-1] if done.stderr else f"opscope {args[0]} failed"
        )
    return done.stdout
