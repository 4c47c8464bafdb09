# SPDX-License-Identifier: Apache-2.0
"""Where the recorder cannot be built, as without a compiler: names and times alone.

What records then is part of the package (src/sources/torch/plain.c). It knows how the
functions of some versions of torch are called.
"""
from __future__ import annotations

import ctypes
import warnings
from pathlib import Path

import torch

from .. import _opscope
from . import build

# Whose ATen/record_function.h it was compared with; hook/sitecustomize.py has them, too.
VERSIONS = ("2.13.",)


class Plain:
    """Why there is no other recorder, if that is so, and what was said of it."""

    why = ""
    held = b""  # the same, at an address that recordings are told from
    is_told = False

    def recorder(self, error: build.BuildError) -> ctypes.PyDLL:
        """The one for names and times, for ERROR says why there is no other.

        Raises BuildError where it does not know this torch either.
        """
        library = ctypes.PyDLL(_opscope.__file__)
        library.osc_torch_plain_find.restype = ctypes.c_char_p
        missing: str = f"torch {VERSIONS[0]}*"
        self.held = str(error).encode(errors="replace")
        if torch.__version__.startswith(VERSIONS):
            path = Path(torch.__file__).parent / "lib/libtorch_cpu.so"
            missing = (library.osc_torch_plain_find(bytes(path), self.held) or b"").decode()
        if missing:
            raise build.BuildError(
                f"{error}; or run `python -m opscope.torch build` where it can be built, with this "
                "torch and cache directory. `opscope run --torch` records names and times "
                f"without it, which this would do for {missing}") from error
        self.why = str(error)
        return library

    def tell(self, asked: list[str], stacklevel: int) -> None:
        """One warning a process; ASKED are options that cannot be honoured."""
        if self.is_told:
            return
        self.is_told = True
        without = f", without {', '.join(asked)}" if asked else ""
        warnings.warn(f"opscope records only names and times of operators{without}: {self.why}",
                      stacklevel=stacklevel + 1)


plain = Plain()
