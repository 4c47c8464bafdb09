# SPDX-License-Identifier: Apache-2.0
"""The two libraries and the command: what records, and what makes tables of it."""
from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import build

LIBRARY = "libopscope.so.0"
OK, BUSY, NO_MEMORY = range(3)  # enum osc_torch_result


class StartOptions(ctypes.Structure):
    """The first members of struct osc_start_options."""

    _fields_ = [("size", ctypes.c_size_t), ("out", ctypes.c_char_p)]


class TorchOptions(ctypes.Structure):
    """struct osc_torch_options."""

    _fields_ = [("size", ctypes.c_size_t), ("is_all_threads", ctypes.c_int),
                ("has_shapes", ctypes.c_int), ("has_memory", ctypes.c_int),
                ("has_overloads", ctypes.c_int)]


@functools.cache
def program() -> str:
    """The command opscope: beside this Python, or else on the search path."""
    beside = shutil.which("opscope", path=os.path.dirname(sys.executable))
    found = beside or shutil.which("opscope")
    if not found:
        raise RuntimeError("the command opscope is not installed, or not on PATH")
    return found


def library_places() -> list[str]:
    """Where libopscope may lie: beside the command, where that is installed, anywhere."""
    home = Path(program()).resolve().parent
    lib = home.parent / "lib"
    return [str(home / LIBRARY), str(lib / LIBRARY),
            *(str(p) for p in sorted(lib.glob(f"*/{LIBRARY}"))), LIBRARY]


@functools.cache
def opscope() -> ctypes.CDLL:
    """libopscope, which the recorder finds through the global scope."""
    for place in library_places():
        try:
            return ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise RuntimeError(f"{LIBRARY} is not installed, or not where the loader looks")


@functools.cache
def recorder() -> ctypes.CDLL:
    """The recorder for this torch, built if need be."""
    opscope()
    return ctypes.CDLL(str(build.recorder()))


def is_switched_off() -> bool:
    """Whether OPSCOPE=0 forbids all recording."""
    return os.environ.get("OPSCOPE") == "0"


def start(path: str, *, all_threads: bool, shapes: bool, memory: bool, overloads: bool) -> bool:
    """Record to PATH from now on. False: allocations cannot be seen in this torch."""
    options = TorchOptions(ctypes.sizeof(TorchOptions), all_threads, shapes, memory, overloads)
    recorder()
    result = opscope().osc_start(
        ctypes.byref(StartOptions(ctypes.sizeof(StartOptions), os.fsencode(path))))
    if result != 0:
        raise RuntimeError(
            "opscope cannot record here: a recording runs already in this process, or "
            f"{os.path.dirname(path)} cannot be written")
    attached = recorder().osc_torch_attach(ctypes.byref(options))
    if attached == BUSY:
        raise RuntimeError("opscope.torch.profile is running already in this process")
    return attached != NO_MEMORY


def metadata(key: str, value: str) -> None:
    """A fact about the recording that runs."""
    opscope().osc_metadata(os.fsencode(key), os.fsencode(value))


def toggle(is_on: bool) -> None:
    """Switch the recording of operators off or on."""
    recorder().osc_torch_toggle(int(is_on))


def stop() -> None:
    """End the recording and write all of it."""
    recorder().osc_torch_detach()
    opscope().osc_stop()


def run(*args: str) -> str:
    """What the command prints; its message is the error."""
    done = subprocess.run([program(), *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else
                           f"opscope {args[0]} failed")
    return done.stdout
