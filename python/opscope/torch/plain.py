# SPDX-License-Identifier: Apache-2.0
"""The recorder for names and times, used if the full one cannot be built, as without a compiler.

It is part of the package (src/sources/torch/plain.c) and supports some versions of torch, whose
functions it calls by their symbols.
"""
from __future__ import annotations

import ctypes
import warnings
from pathlib import Path

import torch

from .. import _opscope
from . import build

# Versions whose ATen/record_function.h was checked; hook/sitecustomize.py lists them, too.
VERSIONS = ("2.13.",)


class Plain:
    """The reason why this recorder is used, if it is, and whether a warning was printed."""

    why = ""
    held = b""  # the same text, kept at an address that recordings read
    is_told = False

    def recorder(self, error: build.BuildError) -> ctypes.PyDLL:
        """The recorder for names and times; ERROR says why the other cannot be built.

        Raises BuildError if it does not support this torch either.
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
        """Warn once per process; ASKED are the options that have no effect."""
        if self.is_told:
            return
        self.is_told = True
        without = f", without {', '.join(asked)}" if asked else ""
        warnings.warn(f"opscope records only names and times of operators{without}: {self.why}",
                      stacklevel=stacklevel + 1)


plain = Plain()
