#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the types of all tables and columns for Python, so that checkers find an unknown column.

    python_types.py TABLES.json > _tables.pyi

TABLES.json is the catalog. python/opscope/_tables.py says how the types are used.
"""

import json
import pathlib
import sys

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_types.py from the catalog of tables; not to be changed by hand.
from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

import numpy

from ._table import Column, Table

C = TypeVar("C", bound=str)

class Of(Table, Generic[C]):
    def __iter__(self) -> Iterator[C]: ...
    def __getitem__(self, name: C) -> numpy.ndarray[Any, Any]: ...  # type: ignore[override]
    def column(self, name: C) -> Column: ...  # type: ignore[override]
    def raw(self, name: C) -> numpy.ndarray[Any, Any]: ...  # type: ignore[override]
    def missing(self, name: C) -> numpy.ndarray[Any, Any] | None: ...  # type: ignore[override]
    def words(self, name: C) -> tuple[str, ...]: ...  # type: ignore[override]
    def head(self, name: C, n: int = 5) -> list[Any]: ...  # type: ignore[override]
"""
CALL = """
    @overload
    def __call__(self, name: {name}, /, **options: object) -> {result}: ..."""


def calls(tables, leading):
    """A protocol's overloads, by which the name of a table gives its columns; any other text gives
    a table of which nothing is known."""
    text = ""
    for table in tables:
        columns = dict.fromkeys(c["name"] for c in [*leading, *table["columns"]])
        words = ", ".join(f'"{column}"' for column in columns)
        default = " = ..." if table["name"] == "averages" else ""
        name = f'Literal["{table["name"]}"]{default}'
        text += CALL.format(name=name, result=f"Of[Literal[{words}]]")
    return text + CALL.format(name="str", result="Table") + "\n"


def main():
    catalog = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(HEAD, end="")
    for what, compares in (("run", False), ("comparison", True)):
        tables = [table for table in catalog["tables"] if table["compares"] == compares]
        print(f"\nclass Of{what.title()}(Protocol):", end="")
        print(calls(tables, catalog["leading"]))
        print(f"def of_{what}(method: Callable[..., Table]) -> Of{what.title()}: ...")


main()
