#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record from a language that can only call C functions: no header, no compiler.

    opscope run -- python3 record.py

The library is the one of `opscope run`, or the one that the loader finds; without it the program
runs all the same. (Python programs have the package `opscope`, which does more and costs less.)
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

PLAIN, OPERATOR = 0, 1  # of enum osc_scope_kind


def load() -> ctypes.CDLL | None:
    """libopscope; None: it is not there."""
    try:
        library = ctypes.CDLL(os.environ.get("OPSCOPE_LIBRARY", "libopscope.so.0"))
    except OSError:
        return None
    library.osc_name_of.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.osc_name_of.restype = ctypes.c_uint32
    library.osc_begin.argtypes = [ctypes.c_int, ctypes.c_uint32]
    library.osc_arg_i64.argtypes = [ctypes.c_uint32, ctypes.c_int64]
    library.osc_counter_f64.argtypes = [ctypes.c_uint32, ctypes.c_double]
    return library


opscope = load()


def name(text: str) -> int:
    """The number of a name; keep it where it is used often."""
    data = text.encode()
    return opscope.osc_name_of(data, len(data)) if opscope else 0


@contextmanager
def scope(text: str, kind: int = PLAIN, **arguments: int) -> Iterator[None]:
    """A scope with arguments that are integers."""
    if not opscope:
        yield
        return
    opscope.osc_begin(kind, name(text))
    for key, value in arguments.items():
        opscope.osc_arg_i64(name(key), value)
    try:
        yield
    finally:
        opscope.osc_end()


def main() -> None:
    """Sum squares."""
    total = 0
    for n in (1000, 2000, 3000):
        with scope("sum of squares", OPERATOR, n=n):
            total += sum(i * i for i in range(n))
        if opscope:
            opscope.osc_counter_f64(name("total"), float(total))
    print(total)


if __name__ == "__main__":
    main()
