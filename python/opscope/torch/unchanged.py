# SPDX-License-Identifier: Apache-2.0
"""What `opscope run --torch` does in a program that nobody changed, once torch is there."""
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

from . import build, native, profiler, profiler_legacy

# Held for as long as the process lives.
itt = contextlib.ExitStack()


def replace() -> None:
    """torch's profilers are ours from now on; all else of torch's modules stays."""
    torch.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.profiler.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.autograd.profiler_legacy.profile = profiler_legacy.profile  # type: ignore


class Steps:
    """Steps from one step of the first optimizer that makes any to its next, while it lives.

    What comes before the first one is none, as it has the making of the model; nor is what
    comes after the last one.
    """

    first: Callable[[], Any] = staticmethod(lambda: None)
    depth: int = 0  # of the first one's steps: one may call that of super()

    def watch(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """STEP of a class of optimizers, which is watched from now on."""
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
            if is_first and self.depth == 0 and native.whole.is_on:
                native.opscope().osc_step_if_ended()
            return result

        return watched

    def watch_all(self) -> None:
        """Watch every class of optimizers, from outside of the range that torch puts around."""
        hook = Optimizer.profile_hook_step
        Optimizer.profile_hook_step = staticmethod(  # type: ignore
            lambda step: self.watch(hook(step)))


def tell_rank_when_known() -> None:
    """A program may tell its rank to torch alone, and only after torch was imported."""
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


def record() -> None:
    """Record all threads until the process ends, as OPSCOPE_OUT and OPSCOPE_SCHEDULE say."""
    native.whole.begin()
    Steps().watch_all()
    tell_rank_when_known()


def give_way(module: Any, name: str) -> None:
    """MODULE's function NAME, which begins a profiler, ends ours first: a thread has but one."""
    enable = getattr(module, name)
    owner = threading.get_ident()

    def enable_another(*args: Any, **options: Any) -> Any:
        if threading.get_ident() == owner:
            itt.close()
        return enable(*args, **options)

    setattr(module, name, enable_another)


def record_by_itt() -> None:
    """Names and times, for want of a recorder: torch tells them, until the program profiles."""
    itt.enter_context(torch.autograd.profiler.emit_itt())
    atexit.register(itt.close)
    give_way(torch.autograd.profiler, "_enable_profiler")
    give_way(torch.autograd.profiler_legacy, "_enable_profiler_legacy")


def do_without(e: build.BuildError) -> tuple[str, bool]:
    """Record what can be had without a recorder, for E says why there is none."""
    try:
        native.recorder()
    except build.BuildError:
        if not os.environ.get("INTEL_LIBITTNOTIFY64"):
            return f"{e}; operators are not recorded", False
        record_by_itt()
        return (f"{e}; names and times of operators come by way of ITT, no shapes and no memory",
                False)
    record()
    return f"{e}; names and times of operators are recorded, no shapes and no memory", True


def begin(replaces: bool) -> tuple[str, bool]:
    """Record, or have torch's profilers replaced. What went wrong, and whether that is done."""
    try:
        native.built()
    except build.BuildError as e:
        if replaces:
            return f"{e}; torch's own profiler is used", False
        return do_without(e)
    if replaces:
        replace()
    else:
        record()
    return "", True
