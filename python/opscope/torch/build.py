# SPDX-License-Identifier: Apache-2.0
"""Find the recorder for the installed torch, or build it, once for all programs of a user.

The C++ interface of torch differs from version to version. A wheel contains recorders for some of
them; for others the recorder is compiled on this machine, which takes some seconds. The object is in a cache directory that only its owner can
write, under a name made of everything that it depends on. One process builds while others
wait; an incomplete object is never visible.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import torch

from . import target
from .target import INCLUDE, NATIVE, BuildError, Target, cache_directories, is_private, is_whole

WAIT_S = 600.0  # a build takes minutes if many processes of a busy machine begin at once
ROOM_BYTES = 8 << 20  # several times the size of an object


class Done:
    """What this process has built."""

    text = ""  # a sentence, or nothing
    is_told = False  # a line instead of a warning: under `opscope run`, or the user asked for it


def this_torch() -> Target:
    """The installed torch."""
    return Target(Path(torch.__file__).parent, torch.__version__, torch.version.git_version or "",
                  torch.compiled_with_cxx11_abi())


def usable_cache() -> Path:
    """The first usable cache directory; created if necessary."""
    for path in cache_directories():
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if (is_private(path) and os.access(path, os.W_OK)
                and shutil.disk_usage(path).free >= ROOM_BYTES):
            return path
    raise BuildError("no directory with room for the recorder, neither "
                     f"{' nor '.join(map(str, cache_directories()))}: set XDG_CACHE_HOME to a "
                     "directory of yours")


def compile_to(out: Path) -> None:
    """Compile to OUT, which appears only when complete; errors contain the compiler's output."""
    part = out.with_name(f".{out.name}.{os.getpid()}")
    start = time.monotonic()
    words = this_torch().command(part, NATIVE, INCLUDE)
    told = (f"opscope builds its recorder for torch {torch.__version__}, which takes up to a minute, "
            f"once; it is kept in {out.parent}")
    if not Done.is_told:
        warnings.warn(told, stacklevel=2)
    elif sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # it is closed
            print(told, file=sys.stderr, flush=True)
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", check=False)
        if done.returncode != 0:
            lines = [x for x in done.stderr.splitlines() if "error" in x] or [done.stderr]
            what = lines[0].strip() or f"{words[0]} ended with {done.returncode}"
            raise BuildError(f"the recorder for torch {torch.__version__} cannot be compiled: "
                             f"{what}")
        os.chmod(part, 0o500)
        os.replace(part, out)
        Done.text = (f"the recorder for torch {torch.__version__} was built in "
                     f"{time.monotonic() - start:.0f} s, once; it is kept in {out.parent}")
    except OSError as e:
        raise BuildError(f"{out.parent}: {e.strerror}") from e
    finally:
        part.unlink(missing_ok=True)


def lock(path: Path) -> int:
    """Lock PATH and return the descriptor that holds the lock; waits at most WAIT_S seconds."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    end = time.monotonic() + WAIT_S
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return fd
            except BlockingIOError as e:
                if time.monotonic() > end:
                    raise BuildError(f"{path}: another process has been building for "
                                     f"{WAIT_S:.0f} seconds and does not finish") from e
                time.sleep(0.05)
    except BaseException:
        os.close(fd)
        raise


def packaged() -> Path | None:
    """The object of this package for this torch, if it has one."""
    return target.packaged(this_torch())


def recorder() -> Path:
    """The path of the object for this torch; builds it if it is missing."""
    return packaged() or built()


def built() -> Path:
    """The path of the object that is or was built on this machine.

    Raises BuildError if there is no compiler or no directory, or if it does not compile.
    """
    kept = target.cached(this_torch())
    if kept:
        return kept
    out = usable_cache() / f"torch-{target.key(this_torch())}.so"
    try:
        fd = lock(out.with_suffix(".lock"))
    except OSError as e:
        raise BuildError(f"{out.parent} cannot be locked ({e.strerror}): set XDG_CACHE_HOME to "
                         "another directory") from e
    try:
        if not is_whole(out):
            for part in out.parent.glob(f".{out.name}.*"):  # left by processes that were killed
                part.unlink(missing_ok=True)
            compile_to(out)
    finally:
        os.close(fd)
    return out
