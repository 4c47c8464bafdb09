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
import hashlib
import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch

from .target import NATIVE, BuildError, Target

WAIT_S = 600.0  # a build takes minutes if many processes of a busy machine begin at once
PACKAGED = Path(__file__).resolve().parent / "recorders"
ROOM_BYTES = 8 << 20  # several times the size of an object
# In a build folder the public headers are beside the sources.
INCLUDE = [NATIVE, NATIVE.parents[1] / "include"]


class Done:
    """What this process has built."""

    text = ""  # a sentence, or nothing
    is_told = False  # a line instead of a warning: under `opscope run`, or the user asked for it


def this_torch() -> Target:
    """The installed torch."""
    return Target(Path(torch.__file__).parent, torch.__version__, torch.version.git_version or "",
                  torch.compiled_with_cxx11_abi())


def key() -> str:
    """A key for everything that the object depends on: sources, torch, its ABI, the machine."""
    h = hashlib.sha256()
    headers = (x for directory in INCLUDE for x in sorted(directory.glob("opscope/*.h")))
    for path in (*sorted(NATIVE.glob("*.[ch]*")), *headers):
        h.update(path.name.encode() + b"\0" + path.read_bytes())
    for fact in (torch.__version__, torch.version.git_version,
                 str(torch.compiled_with_cxx11_abi()), platform.machine(),
                 str(Path(torch.__file__).parent)):
        h.update(fact.encode() + b"\0")
    return h.hexdigest()[:24]


def is_private(path: Path) -> bool:
    """Whether PATH is a directory that only this user and root can write."""
    try:
        st = path.lstat()
    except OSError:
        return False
    return (stat.S_ISDIR(st.st_mode) and st.st_uid in (0, os.getuid())
            and not st.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def cache_directories() -> list[Path]:
    """The possible directories for objects, the best one first."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [Path(home) / "opscope", Path(tempfile.gettempdir()) / f"opscope-{os.getuid()}"]


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


def is_whole(path: Path) -> bool:
    """Whether PATH is a complete object: one that was truncated by a full disk or a crash would
    crash the process that loads it."""
    try:
        with open(path, "rb") as f:
            head = f.read(64)
            size = os.fstat(f.fileno()).st_size
    except OSError:
        return False
    if len(head) < 64 or head[:4] != b"\x7fELF":
        return False
    at, entry_bytes, n = struct.unpack("<40xQ10xHH2x", head)
    return size >= at + entry_bytes * n  # the table of sections is at the end


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
    name = this_torch().name
    path = PACKAGED / name
    return path if name and path.is_file() else None


def recorder() -> Path:
    """The path of the object for this torch; builds it if it is missing."""
    return packaged() or built()


def built() -> Path:
    """The path of the object that is or was built on this machine.

    Raises BuildError if there is no compiler or no directory, or if it does not compile.
    """
    name = f"torch-{key()}.so"
    for path in cache_directories():
        if is_private(path) and is_whole(path / name):
            return path / name
    out = usable_cache() / name
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
