# SPDX-License-Identifier: Apache-2.0
"""A torch for which a recorder is compiled: where it lies, and what its binary interface is.

Nothing here imports torch, so that the build of a wheel can use it for a torch that this Python
cannot load.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).resolve().parent / "native"


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
        "no C++ compiler, which is needed once to build the recorder for this torch: install g++ 10 "
        "or later (Debian: apt install g++), set CXX, or use a wheel that was made for this torch"
    )
