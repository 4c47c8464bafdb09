# SPDX-License-Identifier: Apache-2.0
"""Record an unchanged program under `opscope run --torch`, after it has imported torch."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.autograd.profiler
import torch.autograd.profiler_legacy
import torch.distributed
import torch.profiler
from torch.optim import Optimizer

from . import autograd_profiler, build, installed, native, profiler, profiler_legacy

# Kept as long as the process lives.
itt = contextlib.ExitStack()


def replace() -> None:
    """Replace torch's profilers by opscope's; everything else in torch's modules stays."""
    torch.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.profiler.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.autograd.profiler.profile = autograd_profiler.profile  # type: ignore[misc]
    torch.autograd.profiler_legacy.profile = profiler_legacy.profile  # type: ignore
    tell_only_torchs_profiler()


def tell_only_torchs_profiler() -> None:
    """Let metadata go to torch's own profiler only while it is active: it prints a warning
    otherwise. The class _KinetoProfile, which is not replaced, passes it on in any case."""
    add = torch.autograd._add_metadata_json
    is_active = torch.autograd._profiler_enabled

    @functools.wraps(add)
    def add_if_active(key: str, value: str) -> None:
        if is_active():
            add(key, value)

    torch.autograd._add_metadata_json = add_if_active


class Steps:
    """Steps of the program: each lasts from one step() of the first optimizer that makes one to its
    next.

    The time before its first step, in which the model is made, and the time after its last are
    not steps. While a profile, of torch or of ours, marks steps, those are used instead.
    """

    marking: weakref.WeakSet[Any] = weakref.WeakSet()  # running profiles
    first: Callable[[], Any] = staticmethod(lambda: None)
    depth: int = 0  # of nested calls of its step(), which may call super().step()

    def watch(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap STEP, a method of a class of optimizers, to watch its calls."""

        @functools.wraps(step)
        def watched(optimizer: Any, *args: Any, **options: Any) -> Any:
            if torch.compiler.is_compiling():
                return step(optimizer, *args, **options)
            if self.first() is None:
                self.first = weakref.ref(optimizer)
            is_first = self.first() is optimizer
            self.depth += is_first
            try:
                result = step(optimizer, *args, **options)
            finally:
                self.depth -= is_first
            if (
                is_first
                and self.depth == 0
                and not self.marking
                and (native.whole.is_on or native.whole.is_by_itt)
            ):
                native.whole.begin_step()
            return result

        return watched

    def watch_all(self) -> None:
        """Watch every class of optimizers, outside of the range with which torch wraps step()."""
        hook = Optimizer.profile_hook_step
        Optimizer.profile_hook_step = staticmethod(  # type: ignore
            lambda step: self.watch(hook(step))
        )

    def watch_profiles(self) -> None:
        """Keep track of profiles that mark steps; ours count theirs themselves."""
        theirs = torch.profiler.profile
        start, step, stop = theirs.start, theirs.step, theirs.stop

        def is_counted(profile: Any) -> bool:
            return profile.record_steps and type(profile).__module__.startswith("torch.")

        @functools.wraps(start)
        def watched_start(profile: Any) -> None:
            if profile.record_steps:
                self.marking.add(profile)
                native.whole.end_step()
            start(profile)
            if is_counted(profile):
                native.whole.count_step()

        @functools.wraps(step)
        def watched_step(profile: Any) -> None:
            step(profile)
            if is_counted(profile):
                native.whole.count_step()

        @functools.wraps(stop)
        def watched_stop(profile: Any) -> None:
            try:
                stop(profile)
            finally:
                self.marking.discard(profile)

        theirs.start, theirs.step = watched_start, watched_step  # type: ignore
        theirs.stop = watched_stop  # type: ignore


def tell_rank_when_known() -> None:
    """Store the rank when torch learns it, which may be only after torch was imported."""
    if not torch.distributed.is_available():
        return
    begin_group = torch.distributed.init_process_group

    @functools.wraps(begin_group)
    def init_process_group(*args: Any, **options: Any) -> Any:
        result = begin_group(*args, **options)
        native.whole.tell_rank()
        return result

    torch.distributed.init_process_group = init_process_group
    torch.distributed.distributed_c10d.init_process_group = init_process_group


def tell_of_threads() -> None:
    """Tell the recorder what threads of Python begin, and their names: the system has no names of
    them before Python 3.14."""
    began = native.recorder().osc_torch_thread_begins
    renamed = native.recorder().osc_torch_thread_renamed
    thread = threading.Thread
    set_number, name = thread._set_native_id, thread.name  # type: ignore[attr-defined]

    def set_native_id(self: Any) -> None:
        set_number(self)  # by Python, in the new thread, before anything of the program
        # multiprocessing calls it for the main thread, which has the name of its process.
        if not isinstance(self, threading._DummyThread) and (  # type: ignore[attr-defined]
            self is not threading.main_thread()
        ):
            began(self.native_id, os.fsencode(self.name))

    def set_name(self: Any, text: Any) -> None:
        name.fset(self, text)
        if self.native_id is not None:
            renamed(self.native_id, os.fsencode(self.name))

    thread._set_native_id = set_native_id  # type: ignore[attr-defined]
    thread.name = property(name.fget, set_name, name.fdel, name.__doc__)  # type: ignore
    for one in threading.enumerate():
        if one is not threading.main_thread() and one.native_id is not None:
            renamed(one.native_id, os.fsencode(one.name))


def record_calls_again() -> None:
    """Record calls of Python again after a profile of torch, which takes the interpreter's slot."""
    disable = torch.autograd.profiler._disable_profiler
    again = native.recorder().osc_torch_record_calls

    @functools.wraps(disable)
    def disable_and_record() -> Any:
        try:
            return disable()
        finally:
            again()

    torch.autograd.profiler._disable_profiler = disable_and_record


def record(has_stacks: bool) -> None:
    """Record all threads until the process ends, as OPSCOPE_OUT and OPSCOPE_SCHEDULE say."""
    native.recorder()
    if has_stacks:
        record_calls_again()
    tell_of_threads()
    native.whole.begin(has_stacks)
    watch()


def watch() -> None:
    """Record steps and the rank."""
    steps = Steps()
    steps.watch_all()
    steps.watch_profiles()
    tell_rank_when_known()


def give_way(module: Any, name: str) -> None:
    """Make MODULE's function NAME, which begins a profiler, end opscope's first: a thread can have
    only one."""
    enable = getattr(module, name)
    owner = threading.get_ident()

    def enable_another(*args: Any, **options: Any) -> Any:
        if threading.get_ident() == owner:
            itt.close()
        return enable(*args, **options)

    setattr(module, name, enable_another)


def record_by_itt() -> None:
    """Without a recorder, record the names and times that torch reports to ITT, until the program
    starts a profiler."""
    itt.enter_context(torch.autograd.profiler.emit_itt())
    itt.callback(setattr, native.whole, "is_by_itt", False)
    native.whole.is_by_itt = True
    atexit.register(itt.close)
    watch()
    give_way(torch.autograd.profiler, "_enable_profiler")
    give_way(torch.autograd.profiler_legacy, "_enable_profiler_legacy")


def do_without(e: build.BuildError, lacking: str) -> str:
    """Record what is possible without a recorder; E says why there is none, and LACKING what cannot
    be recorded. Returns what is to be reported."""
    if not os.environ.get("INTEL_LIBITTNOTIFY64"):
        return f"{e}; operators are not recorded"
    record_by_itt()
    return f"{e}; names and times of operators come by way of ITT, {lacking}"


def emit_once(emitter: Any, source: str, variable: str) -> None:
    """Let EMITTER, one of torch's classes that report operators to another library, that of SOURCE,
    report nothing while they are recorded and the collector is that library, as VARIABLE says: each
    would be there twice."""
    enter, leave = emitter.__enter__, emitter.__exit__

    def is_twice() -> bool:
        collector = os.path.basename(os.environ.get(variable, ""))
        return collector == os.path.basename(native.COLLECTOR) and (
            native.whole.is_on or native.whole.is_profiled
        )

    @functools.wraps(enter)
    def begin_to_emit(self: Any) -> Any:
        if not self.enabled or self.entered or not is_twice():
            return enter(self)
        if source == "nvtx":
            torch.cuda.synchronize()  # as torch does, which may fail
        native.leave_out(source)
        self.entered = self.is_mute = True
        return self

    @functools.wraps(leave)
    def end(self: Any, *error: Any) -> Any:
        return False if vars(self).pop("is_mute", False) else leave(self, *error)

    emitter.__enter__, emitter.__exit__ = begin_to_emit, end


def begin(how: str) -> tuple[str, bool]:
    """Begin to record, with stacks if HOW is "stack", or if it is "replace", replace torch's
    profilers. Returns what is to be reported at the end of the run, and whether it worked."""
    build.Done.is_told = True
    try:
        native.recorder()
    except build.BuildError as e:
        if how == "replace":
            return f"{e}; torch's own profiler is used", False
        return do_without(
            e,
            "no shapes, no memory and no stacks"
            if how == "stack"
            else "no shapes and no memory",
        ), False
    emit_once(torch.autograd.profiler.emit_itt, "itt", "INTEL_LIBITTNOTIFY64")
    emit_once(torch.autograd.profiler.emit_nvtx, "nvtx", "NVTX_INJECTION64_PATH")
    if how == "replace":
        replace()
    else:
        record(has_stacks=how == "stack")
    installed.untested.is_told = True
    return "; ".join(x for x in (build.Done.text, installed.untested.text) if x), True
