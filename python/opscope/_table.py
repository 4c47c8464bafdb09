# SPDX-License-Identifier: Apache-2.0
"""Tables: named columns as NumPy arrays, pandas and Arrow."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _opscope

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow


@contextlib.contextmanager
def needing(name: str) -> Iterator[None]:
    """Around an import of the package `name`: if it is missing, the error says what to do."""
    try:
        yield
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        raise ModuleNotFoundError(
            f"this needs {name}, which is not installed: pip install {name}", name=name
        ) from None


def nearest(word: object, words: Iterable[str]) -> str:
    """The end of an error about `word`: which of `words` was perhaps meant, or which there are."""
    known = list(words)
    found = difflib.get_close_matches(str(word), known, 1, 0.5)
    return f"did you mean {found[0]!r}?" if found else f"there are {', '.join(known)}"


class Copy:
    """A table that was pickled, with the members of a Frame that :class:`Table` uses."""

    def __init__(self, frame: Any) -> None:
        self.name, self.notes = frame.name, frame.notes
        self.fingerprint, self.n_rows = frame.fingerprint, frame.n_rows
        self.n_columns = frame.n_columns
        self.parts: list[Any] = []
        for i in range(frame.n_columns):
            column = frame.column(i)
            values, missing = frame.values(i), frame.missing(i)
            self.parts.append(
                (
                    column,
                    memoryview(values).format,
                    bytes(memoryview(values)),
                    None if missing is None else bytes(memoryview(missing)),
                    frame.words(i) if column[1] == "string" else (),
                )
            )

    def column(self, i: int) -> tuple[str, str, str | None, str, int]:
        """The description of column I."""
        column: tuple[str, str, str | None, str, int] = self.parts[i][0]
        return column

    def values(self, i: int) -> memoryview:
        """The values of column I."""
        return memoryview(self.parts[i][2]).cast(self.parts[i][1])

    def missing(self, i: int) -> memoryview | None:
        """Which of them are missing."""
        missing = self.parts[i][3]
        return None if missing is None else memoryview(missing).cast("?")

    def words(self, i: int) -> tuple[str, ...]:
        """The strings of column I."""
        words: tuple[str, ...] = self.parts[i][4]
        return words

    def to_arrow(self) -> Any:
        """The columns as pyarrow's RecordBatch."""
        with needing("pyarrow"):
            import numpy
            import pyarrow

        arrays, fields = [], []
        for i in range(self.n_columns):
            name, kind, unit, meaning, _ = self.column(i)
            missing = self.missing(i)
            values = pyarrow.array(
                numpy.asarray(self.values(i)),
                mask=None if missing is None else numpy.asarray(missing),
            )
            if kind == "string":
                values = pyarrow.DictionaryArray.from_arrays(values, list(self.words(i)))
            metadata = {"help": meaning, **({"unit": unit} if unit else {})}
            fields.append(pyarrow.field(name, values.type, metadata=metadata))
            arrays.append(values)
        return pyarrow.record_batch(arrays, schema=pyarrow.schema(fields))


class Column(NamedTuple):
    """Description of a column."""

    name: str
    type: str
    """string, integer, number or boolean"""
    unit: str | None
    """ns, bytes, ratio, ... or None"""
    help: str
    """What it means, its formula, its source."""
    n_missing: int
    """Number of rows without a value."""


class Table(Mapping[str, Any]):
    """A finished table: a mapping from column names to arrays of shape (n_rows,).

    Integers are int64, numbers float64, booleans bool, strings objects. An array with missing
    cells is a masked array. Arrays share the memory of the analyser and keep it alive; they
    are read-only. Only strings are copied, to str. A table can be pickled and copied: the result
    holds its own memory.
    """

    def __init__(self, frame: _opscope.Frame | Copy) -> None:
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

    def __reduce__(self) -> tuple[type[Table], tuple[Copy]]:
        return Table, (self._frame if isinstance(self._frame, Copy) else Copy(self._frame),)

    def _index(self, name: str) -> int:
        """The position of column `name`; else a KeyError that names the nearest one."""
        if name not in self._columns:
            is_word = isinstance(name, str) and name.isascii() and name.isprintable()
            meant = _opscope.nearest_column(self.name, name) if is_word else None
            found = f"did you mean {meant!r}?" if meant in self._columns else None
            raise KeyError(
                f"{self.name} has no column {name!r}; {found or nearest(name, self._columns)}"
            )
        return self._columns[name][0]

    def column(self, name: str) -> Column:
        """Description of column `name`."""
        self._index(name)
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

        return numpy.asarray(memoryview(self._frame.values(self._index(name))))

    def missing(self, name: str) -> numpy.ndarray[Any, Any] | None:
        """Which cells of column `name` are missing: bool of shape (n_rows,), or None if none
        are."""
        import numpy

        missing = self._frame.missing(self._index(name))
        return None if missing is None else numpy.asarray(memoryview(missing))

    def words(self, name: str) -> tuple[str, ...]:
        """The distinct strings that the codes of column `name` stand for."""
        if name not in self._words:
            self._words[name] = self._frame.words(self._index(name))
        return self._words[name]

    def _first(self, name: str, n: int | None) -> list[Any]:
        """The first `n` values of column `name` as Python objects; None for missing ones."""
        values: list[Any] = memoryview(self._frame.values(self._index(name)))[:n].tolist()
        missing = self._frame.missing(self._index(name))
        if self._columns[name][1].type == "string":
            words = self.words(name)
            values = [words[code] if code >= 0 else None for code in values]
        elif missing is not None:
            gone = memoryview(missing)[:n].tolist()
            values = [None if no else value for value, no in zip(values, gone)]
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

    # --- rows -------------------------------------------------------------------------------

    def records(self, n: int | None = None) -> list[dict[str, Any]]:
        """The first `n` rows, or all, as Python objects: a dict a row, None for missing cells.
        Needs no NumPy."""
        names = list(self._columns)
        rows = zip(*(self._first(name, n) for name in names))
        return [dict(zip(names, row)) for row in rows]

    def head(self, n: int = 5) -> list[dict[str, Any]]:
        """The first `n` rows: :meth:`records` of them."""
        return self.records(n)

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
                data[name] = pandas.Categorical.from_codes(
                    values, pandas.Index(self.words(name))
                )
            elif missing is None:
                data[name] = values
            else:
                kind = {
                    "integer": pandas.arrays.IntegerArray,
                    "number": pandas.arrays.FloatingArray,
                    "boolean": pandas.arrays.BooleanArray,
                }[column.type]
                data[name] = kind(values, missing)
        return pandas.DataFrame(data, copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table that shares memory; unit and help are metadata of its fields."""
        with needing("pyarrow"):
            import pyarrow

        if isinstance(self._frame, Copy):
            return pyarrow.Table.from_batches([self._frame.to_arrow()])
        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """A polars DataFrame, by way of Arrow."""
        with needing("polars"):
            import polars

        frame: polars.DataFrame = polars.DataFrame(self)
        return frame

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file of the rows, by pyarrow; unit and help are metadata of its fields."""
        with needing("pyarrow"):
            from pyarrow import parquet

        parquet.write_table(self.to_arrow(), path)

    def _shared(self) -> Any:
        """What has Arrow's interface; that of a pickled table needs pyarrow."""
        return self.to_arrow() if isinstance(self._frame, Copy) else self._frame

    def __arrow_c_schema__(self) -> object:
        shared = self._shared()
        return getattr(shared, "schema", shared).__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        frame: Any = self._frame
        if isinstance(frame, Copy):
            frame = frame.to_arrow()
        found: tuple[object, object] = frame.__arrow_c_array__(requested_schema)
        return found

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._shared().__arrow_c_stream__(requested_schema)
