# SPDX-License-Identifier: Apache-2.0
"""What `opscope run --torch` does in a program that nobody changed, once torch is there."""
from __future__ import annotations

import atexit
import contextlib
import os
import threading
from typing import Any

import torch
import torch.autograd.profiler
import torch.autograd.profiler_legacy
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


class Steps:
    """Ends a step with each step of the first optimizer that makes one."""

    first: int = 0

    def __call__(self, optimizer: Any, *_: object) -> None:
        """As a hook of `torch.optim`."""
        self.first = self.first or id(optimizer)
        if id(optimizer) == self.first:
            native.opscope().osc_step()


def record() -> None:
    """Record all threads until the process ends, as OPSCOPE_OUT and OPSCOPE_SCHEDULE say."""
    native.start(None)
    native.attach(all_threads=True, shapes=True, memory=True, overloads=False, stacks=False)
    native.opscope().osc_step()
    register_optimizer_step_post_hook(Steps())


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
