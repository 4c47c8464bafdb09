# SPDX-License-Identifier: Apache-2.0
"""What `opscope run --torch` does in a program that nobody changed, once torch is there."""
from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.autograd.profiler
import torch.autograd.profiler_legacy
import torch.distributed
import torch.profiler
from torch.optim.optimizer import register_optimizer_step_post_hook

from . import build, native, profiler, profiler_legacy

# Held for as long as the process lives.
itt = contextlib.ExitStack()


def replace() -> None:
    """torch's profilers are ours from now on; all else of torch's modules stays."""
    torch.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.profiler.profiler.profile = profiler.profile  # type: ignore[misc]
    torch.autograd.profiler_legacy.profile = profiler_legacy.profile  # type: ignore[misc]


def is_inside(frame: FrameType) -> bool:
    """Whether FRAME, a step of an optimizer, was called by a step of the same one: super()."""
    outer = frame.f_back
    while outer is not None:
        if (outer.f_code is frame.f_code
                and outer.f_locals.get("self") is frame.f_locals.get("self")):
            return True
        outer = outer.f_back
    return False


class Steps:
    """Ends a step with each step of the first optimizer that makes one, while it lives."""

    first: Callable[[], Any] = staticmethod(lambda: None)

    def __call__(self, optimizer: Any, *_: object) -> None:
        """As a hook of `torch.optim`, called by what it wraps around each `step()`."""
        if self.first() is None:
            self.first = weakref.ref(optimizer)
        if (self.first() is optimizer and native.whole.is_on
                and not is_inside(sys._getframe(1))):
            native.opscope().osc_step()


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
    register_optimizer_step_post_hook(Steps())
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


def begin(replaces: bool) -> str:
    """Record, or have torch's profilers replaced. What went wrong, or nothing."""
    try:
        native.recorder()
    except build.BuildError as e:
        if replaces:
            return f"{e}; torch's own profiler is used"
        if not os.environ.get("INTEL_LIBITTNOTIFY64"):
            return f"{e}; operators are not recorded"
        record_by_itt()
        return f"{e}; names and times of operators come by way of ITT, no shapes and no memory"
    if replaces:
        replace()
    else:
        record()
    return ""
