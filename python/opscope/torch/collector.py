# SPDX-License-Identifier: Apache-2.0
"""libopscope-collect, whose sources record devices that do not report by themselves."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch

from . import native


class Source(NamedTuple):
    """What records the activity of a device."""

    word: str  # in OPSCOPE_SOURCES
    is_built: Callable[[], bool]  # whether this torch has support for the device
    libraries: tuple[str, ...]  # a process that has one of these may use it without torch
    switch: str = ""  # a variable that has to be 1 when its runtime is initialised
    wish: str = ""  # a variable that programs set to 1 to be traced from the import on
    # Whether to start it at the import: of what is made before, nothing is known later.
    is_early: Callable[[], bool] = lambda: False


def is_traced_early() -> bool:
    """Whether Level Zero is traced from the import on, unless opscope is switched off."""
    return os.environ.get(TRACING) != "0" and (
        os.environ.get(IPEX) == "1" or bool(torch.xpu._is_compiled())
    )


# Level Zero reads TRACING when it is initialised. With IPEX, programs tell Intel's extension for
# PyTorch to trace.
TRACING, IPEX = "ZE_ENABLE_TRACING_LAYER", "IPEX_ZE_TRACING"
if os.environ.get(IPEX) == "1":
    os.environ.setdefault(TRACING, "1")

# What torch calls a device, and its source: a device of another runtime is one entry here.
SOURCES = {
    "CUDA": Source(
        "cuda",
        lambda: bool(torch.version.cuda),
        ("libcuda.so.1", "libcupti.so.13", "libcupti.so.12"),
    ),
    "XPU": Source(
        "level-zero",
        lambda: bool(torch.xpu._is_compiled()),
        ("libze_loader.so.1",),
        TRACING,
        IPEX,
        is_traced_early,
    ),
}


@functools.cache
def library() -> ctypes.CDLL | None:
    """The collector, which uses the libopscope of this process; None: it is not installed."""
    native.opscope()
    try:
        found = ctypes.CDLL(native.COLLECTOR)
        found.opscope_collect_why.restype = ctypes.c_char_p
        found.opscope_collect_unseen.restype = ctypes.c_uint64
    except (OSError, AttributeError):
        return None
    return found


def is_loaded(name: str) -> bool:
    """Whether the process has loaded the library NAME."""
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def has_source(activity: str) -> bool:
    """Whether there is a source for the device ACTIVITY, and such a device may be in use."""
    source = SOURCES.get(activity)
    if source is None or native.is_switched_off() or library() is None:
        return False
    if activity == "CUDA" and torch.version.hip:  # CUPTI knows no devices of ROCm
        return False
    return source.is_built() or any(map(is_loaded, source.libraries))


def trace_early() -> None:
    """Let the devices be traced from now on of which nothing is known later, such as lists and
    kernels of Level Zero that are made before the first profile."""
    for name, source in SOURCES.items():
        if native.is_switched_off() or not source.is_early():
            continue
        if os.environ.get(source.wish) == "1":
            try:
                ctypes.CDLL(source.libraries[0])  # from then on there is a source
            except OSError:
                continue
        start([name], is_early=True)
        stop([name])


def start(activities: Iterable[str], is_early: bool = False) -> dict[str, str]:
    """Start the sources of the devices ACTIVITIES that have one. Returns why some do not record.
    With IS_EARLY no profile is about to begin."""
    failed = {}
    found = library()
    for name in filter(has_source, activities):
        if not is_early:
            native.disarm()
        word, switch = SOURCES[name].word.encode(), SOURCES[name].switch
        is_set = not switch or switch in os.environ
        if not is_set:  # the source initialises its runtime if nothing has
            os.environ[switch] = "1"
        if found is not None and found.opscope_collect_start(word) != 0:
            failed[name] = found.opscope_collect_why(word).decode(errors="replace")
        if not is_set:  # children are not traced
            del os.environ[switch]
    return failed


def stop(activities: Iterable[str]) -> None:
    """Record what the devices have finished, and let go of their runtimes."""
    found = library()
    for name in filter(has_source, activities):
        if found is not None:
            found.opscope_collect_stop(SOURCES[name].word.encode())


def unseen(activities: Iterable[str]) -> dict[str, str]:
    """For each of the devices ACTIVITIES of which a source has not seen some work since it was
    started, how much, and what to do."""
    found = library()
    result = {}
    for name in filter(has_source, activities):
        source = SOURCES[name]
        n = found.opscope_collect_unseen(source.word.encode()) if found is not None else 0
        if n:
            do = (
                "import opscope.torch before the program first uses the device"
                if source.is_early() or not source.wish
                else f"set {source.wish}=1 for the program"
            )
            result[name] = (
                f"{n:,} command{'s' * (n > 1)} or lists of {name} cannot be seen, "
                "because what they belong to was made before the first profile: "
                f"{do}"
            )
    return result
