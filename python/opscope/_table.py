# SPDX-License-Identifier: Apache-2.0
"""Tables: named columns as NumPy arrays, pandas and Arrow."""
from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional

from . import _opscope

if TYPE_CHECKING:
    import numpy
    import pandas
    import pyarrow


@contextlib.contextmanager
def needing(name: str) -> Iterator[None]:
    """Around an import of the package `name`: if it is missing, the error says what to do."""
    try:
        yield
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        raise ModuleNotFoundError(f"this needs {name}, which is not installed: "
                                  f"pip install {name}", name=name) from None


class Column(NamedTuple):
    """Description of a column."""

    name: str
    type: str
    """string, integer, number or boolean"""
    unit: Optional[str]
    """ns, bytes, ratio, ... or None"""
    help: str
    """What it means, its formula, its source."""
    n_missing: int
    """Number of rows without a value."""


class Table(Mapping[str, Any]):
    """A finished table: a mapping from column names to arrays of shape (n_rows,).

    Integers are int64, numbers float64, booleans bool, strings objects. An array with missing
    cells is a masked array. Arrays share the memory of the analyser and keep it alive; they
    are read-only. Only strings are copied, to str.
    """

    def __init__(self, frame: _opscope.Frame) -> None:
        self._frame = frame
        self._words: dict[str, tuple[str, ...]] = {}
        self._columns: dict[str, tuple[int, Column]] = {}
        for i in range(frame.n_columns):
            column = Column(*frame.column(i))
            self._columns[column.name] = (i, column)

    # --- description ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._frame.name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._frame.n_rows

    @property
    def columns(self) -> tuple[Column, ...]:
        """Description of each column: name, type, unit, help."""
        return tuple(column for _, column in self._columns.values())

    @property
    def notes(self) -> list[str]:
        """Remarks about the table, such as why it is empty."""
        return self._frame.notes.splitlines()

    @property
    def fingerprint(self) -> str:
        """Identifies the traces from which the table was made, as 32 hexadecimal digits. It covers
        each file's path, size, time of change and inode (for a recording that has not ended, its
        content so far), how much was read, and the rank, span and origin of times. Tables of the
        same traces have the same fingerprint in any process, until a file changes."""
        return self._frame.fingerprint

    def column(self, name: str) -> Column:
        """Description of column `name`."""
        return self._columns[name][1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns; :attr:`n_rows` is the number of rows."""
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    # Not Mapping's versions, which would compare arrays: a table is only equal to itself.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<opscope.Table {self.name}: {self.n_rows} rows, {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        from ._html import render

        return render(self)

    # --- NumPy ------------------------------------------------------------------------------

    def raw(self, name: str) -> numpy.ndarray[Any, Any]:
        """Values of column `name` as they are in memory, of shape (n_rows,): int64, float64, bool,
        or int32 codes for strings (see :meth:`words`; -1 means missing). Other missing cells are
        0."""
        import numpy

        return numpy.asarray(memoryview(self._frame.values(self._columns[name][0])))

    def missing(self, name: str) -> Optional[numpy.ndarray[Any, Any]]:
        """Which cells of column `name` are missing: bool of shape (n_rows,), or None if none
        are."""
        import numpy

        missing = self._frame.missing(self._columns[name][0])
        return None if missing is None else numpy.asarray(memoryview(missing))

    def words(self, name: str) -> tuple[str, ...]:
        """The distinct strings that the codes of column `name` stand for."""
        if name not in self._words:
            self._words[name] = self._frame.words(self._columns[name][0])
        return self._words[name]

    def head(self, name: str, n: int = 5) -> list[Any]:
        """The first `n` values of column `name` as Python objects; None for missing ones."""
        values: list[Any] = self.raw(name)[:n].tolist()
        missing = self.missing(name)
        if self._columns[name][1].type == "string":
            values = [self.words(name)[code] if code >= 0 else None for code in values]
        elif missing is not None:
            values = [None if gone else v for v, gone in zip(values, missing[:n].tolist())]
        return values

    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]:
        """Column `name` as an array of shape (n_rows,), masked if cells are missing."""
        import numpy

        values = self.raw(name)
        missing = self.missing(name)
        if self._columns[name][1].type == "string":
            words = numpy.array((*self.words(name), ""), object)  # "" for the code -1
            values = words[values]
        return values if missing is None else numpy.ma.MaskedArray(values, missing, copy=False)

    # --- others -----------------------------------------------------------------------------

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame. Strings are categories. In columns with missing cells, integers and booleans
        have pandas' nullable types, and numbers are NaN or masked. Memory is shared if pandas
        can share it; such columns are read-only, but a `.copy()` is not."""
        with needing("pandas"):
            import pandas

        data: dict[str, Any] = {}
        for name, (_, column) in self._columns.items():
            values, missing = self.raw(name), self.missing(name)
            if column.type == "string":
                data[name] = pandas.Categorical.from_codes(values, pandas.Index(self.words(name)))
            elif missing is None:
                data[name] = values
            else:
                kind = {"integer": pandas.arrays.IntegerArray,
                        "number": pandas.arrays.FloatingArray,
                        "boolean": pandas.arrays.BooleanArray}[column.type]
                data[name] = kind(values, missing)
        return pandas.DataFrame(data, copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table that shares memory; unit and help are metadata of its fields."""
        with needing("pyarrow"):
            import pyarrow

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        return self._frame.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._frame.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)
