# SPDX-License-Identifier: Apache-2.0
"""A torch for which a recorder is compiled: where it lies, what its binary interface is, and which
recorder there is for it.

Nothing here imports torch, so that the build of a wheel can use it for a torch that this Python
cannot load. `opscope run --list-sources` runs this file, so that it and `python -m opscope.torch
build` say the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).resolve().parent / "native"
PACKAGED = Path(__file__).resolve().parent / "recorders"
# In a build folder the public headers are beside the sources.
INCLUDE = [NATIVE, NATIVE.parents[1] / "include"]


class BuildError(RuntimeError):
    """The recorder cannot be built; the message says what is missing."""


@dataclass(frozen=True)
class Target:
    """One torch."""

    home: Path  # the directory of the package
    version: str
    commit: str  # from which it was built, if that is known
    has_cxx11_abi: bool

    @property
    def name(self) -> str:
        """The file name of a recorder for all builds of this torch that have the same interface;
        "" if its commit is not known, for then it may have any."""
        if not re.fullmatch("[0-9a-f]{40}", self.commit):
            return ""
        abi = "cxx11" if self.has_cxx11_abi else "cxx98"
        return f"torch-{self.version.partition('+')[0]}-{self.commit[:16]}-{abi}.so"

    def command(self, out: Path, native: Path, include: list[Path]) -> list[str]:
        """The command that compiles the sources in NATIVE to OUT."""
        return [
            compiler(),
            "-O2",
            "-std=c++20",
            "-DNDEBUG",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
            "-fno-plt",
            "-falign-functions=64",  # together they save a tenth of an operator's cost
            f"-D_GLIBCXX_USE_CXX11_ABI={int(self.has_cxx11_abi)}",
            "-isystem",
            str(self.home / "include"),
            *(f"-I{x}" for x in include),
            *(str(x) for x in sorted(native.glob("*.cpp"))),
            "-o",
            str(out),
            "-L",
            str(self.home / "lib"),
            "-lc10",
            "-ltorch_cpu",
        ]


def find(home: Path) -> Target:
    """The torch whose package is the directory HOME. Raises BuildError if there is none."""
    try:
        text = (home / "version.py").read_text(encoding="utf-8")
        library = (home / "lib/libc10.so").read_bytes()
    except OSError as e:
        raise BuildError(f"{home} is not a package of torch: {e.strerror}: {e.filename}") from e

    def value(name: str) -> str:
        found = re.search(rf"^{name}(?:: [^=]*)? = '([^']*)'", text, re.MULTILINE)
        return found[1] if found else ""

    # c10::Error::Error(c10::SourceLocation, std::string) tells which std::string it takes.
    return Target(
        home,
        value("__version__"),
        value("git_version"),
        b"_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx11" in library,
    )


def compiler() -> str:
    """The C++ compiler: `$CXX`, or else `c++`, `g++` or `clang++` of the search path."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise BuildError(
        "there is no C++ compiler to build a recorder: install g++ 10 or later (Debian: apt install g++), set "
        "CXX, or use a wheel that has one (pip wheel . -C torch=VERSION)"
    )


# --- which recorders there are ---------------------------------------------------------------


def key(torch: Target) -> str:
    """A key for everything that a recorder depends on: sources, torch, its ABI, the machine."""
    h = hashlib.sha256()
    headers = (x for directory in INCLUDE for x in sorted(directory.glob("opscope/*.h")))
    for path in (*sorted(NATIVE.glob("*.[ch]*")), *headers):
        h.update(path.name.encode() + b"\0" + path.read_bytes())
    for fact in (
        torch.version,
        torch.commit,
        str(torch.has_cxx11_abi),
        platform.machine(),
        str(torch.home),
    ):
        h.update(fact.encode() + b"\0")
    return h.hexdigest()[:24]


def is_private(path: Path) -> bool:
    """Whether PATH is a directory that only this user and root can write."""
    try:
        st = path.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(st.st_mode)
        and st.st_uid in (0, os.getuid())
        and not st.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def cache_directories() -> list[Path]:
    """The possible directories for recorders that are built here, the best one first."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [Path(home) / "opscope", Path(tempfile.gettempdir()) / f"opscope-{os.getuid()}"]


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
    return bool(size >= at + entry_bytes * n)  # the table of sections is at the end


def packaged(torch: Target) -> Path | None:
    """The recorder that the package has for TORCH, if it has one."""
    path = PACKAGED / torch.name
    return path if torch.name and path.is_file() else None


def cached(torch: Target) -> Path | None:
    """The recorder for TORCH that was built on this machine before, if it is there."""
    name = f"torch-{key(torch)}.so"
    return next(
        (x / name for x in cache_directories() if is_private(x) and is_whole(x / name)), None
    )


def versions(names: Iterable[str]) -> list[str]:
    """The versions of torch for which the files called NAMES are recorders, the oldest first."""
    found = {m[1] for m in map(re.compile(r"torch-(\d[\w.]*)-[0-9a-f]{16}-").match, names) if m}
    return sorted(found, key=lambda x: [int(y) for y in re.findall(r"\d+", x)])


def recorders_of(what: str, names: Iterable[str]) -> str:
    """WHAT has the recorders called NAMES, as a clause."""
    found = versions(names)
    if not found:
        return f"{what} has no recorder for torch"
    listed = " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
    return f"{what} has {'recorders' if found[1:] else 'a recorder'} for torch {listed}"


def package_has() -> str:
    """Which recorders the package has, as a clause."""
    return recorders_of("the package", (x.name for x in PACKAGED.glob("*.so")))


def state(torch: Target) -> tuple[bool, str]:
    """Whether TORCH can be recorded, and a clause that says by which recorder or what is missing."""
    if packaged(torch):
        return True, f"the package has the recorder for torch {torch.version}"
    kept = cached(torch)
    if kept:
        return True, f"the recorder for torch {torch.version} was built before: {kept}"
    has = f"{package_has()} and none for torch {torch.version}"
    if not versions(x.name for x in PACKAGED.glob("*.so")):
        has = f"{package_has()} {torch.version}"
    try:
        return (
            True,
            f"{has}, so its recorder is compiled by {compiler()} at first use, in up to a minute",
        )
    except BuildError as e:
        return False, f"{has}, and {e}"


def state_here() -> tuple[bool, str]:
    """The same for the torch of this Python, which may have none."""
    try:
        spec = importlib.util.find_spec("torch")
        if spec is None or not spec.origin:
            return True, f"{package_has()}; {sys.executable} has no torch"
        return state(find(Path(spec.origin).parent))
    except BuildError as e:
        return False, str(e)


if __name__ == "__main__":
    sys.path.pop(0)  # modules of this folder have names of their own, and hide no others
    is_ready, clause = state_here()
    print(f"{'ready' if is_ready else 'missing'}\n{clause}")
