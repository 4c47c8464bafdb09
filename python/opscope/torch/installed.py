# SPDX-License-Identifier: Apache-2.0
"""The installed torch: whether it was tested, and which arguments its profiler takes."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

# The minor releases whose last patch passes tests/torch/versions.py.
TESTED = ("2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15")


def minor(version: str) -> str:
    """The minor release of a released VERSION, such as 2.13 of 2.13.0+cpu; "": not a release."""
    found = re.fullmatch(r"(\d+\.\d+)\.\d+(\+.*)?", version)
    return found[1] if found else ""


class Untested:
    """Whether the installed torch is one that nobody tested, and whether that was said."""

    is_told = False

    def __init__(self, version: str) -> None:
        self.text = (
            ""
            if minor(version) in TESTED
            else (
                f"opscope was not tested with torch {version}, but with {TESTED[0]} to {TESTED[-1]}"
            )
        )

    def __bool__(self) -> bool:
        return bool(self.text)

    def tell(self, stacklevel: int) -> None:
        """Warn once per process."""
        if self.text and not self.is_told:
            self.is_told = True
            warnings.warn(
                f"{self.text}: tables are made by torch's own code, which takes longer",
                stacklevel=stacklevel + 1,
            )


untested = Untested(torch.__version__)


def arguments(
    function: Callable[..., Any], *args: Any, **options: Any
) -> inspect.BoundArguments:
    """The arguments of a call of torch's method FUNCTION, with its defaults.

    TypeError: FUNCTION does not take them.
    """
    bound = inspect.signature(function).bind(None, *args, **options)
    bound.apply_defaults()
    return bound


def changed(function: Callable[..., Any], bound: inspect.BoundArguments) -> set[str]:
    """The names of arguments among BOUND that are not the defaults of FUNCTION."""
    defaults = inspect.signature(function).parameters
    return {
        name
        for name, value in bound.arguments.items()
        if name != "self"
        and value is not defaults[name].default
        and value != defaults[name].default
    }
