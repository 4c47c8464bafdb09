# SPDX-License-Identifier: Apache-2.0
"""Names of tables and columns for type checkers.

The build writes `_tables.pyi` from the catalog (tools/python_types.py). There the decorators turn
a method that makes a table by its name into one that knows the columns of each table. They change
nothing when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def of_run(method: F) -> F:
    """`method` makes tables of one run."""
    return method


def of_comparison(method: F) -> F:
    """`method` makes tables that compare two runs."""
    return method
