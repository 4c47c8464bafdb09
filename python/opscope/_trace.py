# SPDX-License-Identifier: Apache-2.0
"""Traces, and the tables that are made from them."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Union

from . import _opscope, _place
from ._table import Table, nearest
from ._tables import of_run
from ._tree import COLUMNS, EventTree

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def tables() -> dict[str, str]:
    """Names and descriptions of all tables, in the order of ``opscope table --list``."""
    return dict(_opscope.catalog())


def get_include() -> str:
    """The folder of the C headers, for ``#include <opscope/record.h>``."""
    return _place.INCLUDE


def get_library_dir() -> str:
    """The folder of libopscope.so (for linkers; for the loader libopscope.so.0) and
    libopscope-collect.so."""
    return _place.LIBRARIES


def to_options(options: dict[str, object]) -> list[tuple[str, str | None]]:
    """Keyword arguments as options of the command: ``group_by="shape"`` is group-by with a value,
    True a name without a value, a list its items joined by commas; None is left out."""
    pairs: list[tuple[str, str | None]] = []
    for key, value in options.items():
        name = key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(str(item) for item in value)
        pairs.append((name, None if value is True else str(value)))
    return pairs


def to_text_options(options: dict[str, object]) -> list[tuple[str, str | None]]:
    """The same for texts: ValueError, if bytes are asked for."""
    if options.get("format") == "arrow":
        raise ValueError(
            "format='arrow' is no text: a Table is an Arrow stream itself, and "
            "'opscope table --format arrow' writes one"
        )
    return to_options(options)


# Not within a path; some texts have --from/--to.
OPTION = re.compile(r"(?:(?<![^\s'(])|(?<=--from/))--([a-z][a-z-]*)(?:=| (?='))?")
LISTING = re.compile(r"'opscope table (\w+) --list' names its columns")
TABLE = re.compile(r"'opscope table (\w+)' lists all")


def in_python(text: str) -> str:
    """TEXT of C with its options as arguments, such as sort= for --sort."""
    text = TABLE.sub(
        r"trace['\1'] lists all", LISTING.sub(r"trace['\1'].columns are its columns", text)
    )
    return OPTION.sub(lambda x: x[1].replace("-", "_") + "_" * (x[1] == "from") + "=", text)


@contextlib.contextmanager
def speaking_python() -> Iterator[None]:
    """Around a call of C: its errors name what Python has."""
    try:
        yield
    except (ValueError, MemoryError, _opscope.TraceError) as e:
        raise type(e)(in_python(str(e))) from None


class Trace:
    """Traces that were loaded together: the files of one run, its ranks, its spans.

    Made by :func:`load`. Tables are made on request and keep what they need, so they outlive the
    trace. Several threads may ask for tables at the same time.
    """

    def __init__(self, paths: list[str], options: dict[str, object]) -> None:
        self._paths, self._options = paths, options
        with speaking_python():
            self._traces = _opscope.Traces(paths, to_options(options))
        self._held: object = None  # what removes the files when it is gone
        self._warn(stacklevel=4)

    def _warn(self, stacklevel: int) -> None:
        for line in self._traces.said.splitlines():
            warnings.warn(in_python(line), stacklevel=stacklevel)

    @of_run
    def table(self, name: str = "averages", /, **options: object) -> Table:
        """Make the table `name`.

        `options` are those of ``opscope table`` with ``_`` for ``-``: ``sort="calls"``,
        ``limit=10`` (rows; default: all), ``columns=["name", "calls"]``,
        ``where="total_ns > us(10)"`` (an SQLite expression over the columns),
        ``group_by="shape"``, ``merge=True`` (all ranks and spans as one), ``no_python=True``,
        ``compat="tb"``, ``at="1.5ms"``, ``name="aten::mm"`` (tables ``durations`` and ``siblings``), ``event=39`` (``siblings``). Options that select what is counted (``rank``, ``span``,
        ``process``, ``thread``, ``device``, ``steps="5-7"``, ``from_="10ms"``, ``to``) make a view
        of what is loaded. No file is read again, unless they name ranks or spans that :func:`load`
        left out, or :func:`load` selected steps or times of a file above 64 MB; ``no_args`` and
        ``max_memory`` always read again.

        If no row has a value of the column in ``sort``, a note of the table says so. A wrong name
        or option is a ValueError that names the nearest right one.
        """
        with speaking_python():
            return Table(self._traces.table(name, to_options(options)))

    def text(self, name: str = "averages", **options: object) -> str:
        """Make the table `name` as text: what ``opscope table`` prints, to the letter.

        Takes ``format`` ("text", "csv", "json", "jsonl", "md"), all options of :meth:`table`, and those of
        text: ``header``, ``max_name_width``, ``torch="1.13"``, ``full_names=True``. Text has 100
        rows by default (`limit=0`: all).
        """
        with speaking_python():
            return self._traces.text(name, to_text_options(options))

    def partial(self, name: str = "averages", /, **options: object) -> bytes:
        """Make this trace's part of the table `name`, for :func:`merge` in another process.

        Takes the options of :meth:`table`, but for ``max_memory`` and ``no_args``, which
        :func:`load` takes. The bytes can be pickled, stored in a file, and read by ``opscope
        merge``. The table ``events`` has no parts: ValueError.
        """
        with speaking_python():
            return self._traces.part(name, to_options(options))

    def event_tree(self, **options: object) -> EventTree:
        """Its events as a tree of objects: what ``experimental_event_tree()`` of torch's profiler
        returns, for any trace.

        Takes those options of :meth:`table` that select what is counted. An event is a child of
        the innermost range of its thread that contains it, device work of the call that launched
        it::

            for event in trace.event_tree().walk():
                print(event.name, event.duration_time_ns, [x.name for x in event.children])
        """
        return self._event_tree(options)

    def _event_tree(self, options: dict[str, object], *torch: Any) -> EventTree:
        """The tree with the objects TORCH of torch in it."""

        def of(columns: Iterable[str]) -> Table:
            return self.table("events", columns=list(columns), **options)

        said = self.table("info", columns=["key", "value"], where="key = 'origin_unix_ns'")
        origin = next((x for x in said.words("value")), None) if said.n_rows else None
        return EventTree(of(COLUMNS), int(origin or 0), lambda: of(["args"]), *torch)

    def refresh(self) -> bool:
        """Read what has changed since the files were read, and say whether anything has.

        A file whose path, size, time of change and inode are the same is unchanged and not opened.
        New files in a directory are added, deleted ones are left out, and ranks, spans and the
        origin of times are computed again. Tables that were made before stay as they are, and so
        does the trace if this fails: a missing file that was given by name raises
        FileNotFoundError, a file that is no longer a trace TraceError.
        """
        for path in self._paths:
            if path != "-":
                os.stat(path)
        _, read, gone = self._traces.refresh()
        if read or gone:
            self._warn(stacklevel=3)
        return bool(read or gone)

    def __getattr__(self, name: str) -> Any:
        """An error that says where what a reader of tables looks for is."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in tables():
            raise AttributeError(f"a trace has its tables as items: trace[{name!r}]")
        if hasattr(Table, name):
            raise AttributeError(
                f"a trace is many tables, of which each has {name}: trace['operators'].{name}; "
                "opscope.tables() lists them"
            )
        known = [x for x in dir(type(self)) if not x.startswith("_")]
        raise AttributeError(f"a trace has no {name!r}; {nearest(name, known)}")

    @of_run
    def __getitem__(self, name: str) -> Table:
        """The table `name` with all defaults."""
        if name not in tables():
            raise KeyError(f"there is no table {name!r}; {nearest(name, tables())}")
        return self.table(name)

    def __iter__(self) -> Iterator[str]:
        """The names of all tables."""
        return iter(tables())

    def __contains__(self, name: object) -> bool:
        return name in tables()

    def __repr__(self) -> str:
        return f"<opscope.Trace {', '.join(self._paths)}>"

    def _repr_html_(self) -> str:
        """What it is, for notebooks."""
        return self["info"]._repr_html_()


def merge(parts: Iterable[bytes]) -> Table:
    """Make one table of the `parts` that :meth:`Trace.partial` made, in any process.

    The table is the same, to the byte, as that of one trace that was loaded from the paths of all
    parts, in their order. All must be of the same table and have the same options; otherwise, and
    if one is damaged or there twice, it raises ValueError. Bytes that were joined, and files that
    ``opscope table --partial --format csv`` wrote, are parts, too.
    """
    if isinstance(parts, (bytes, bytearray, memoryview)):
        parts = [bytes(parts)]
    with speaking_python():
        return Table(_opscope.merge(tuple(bytes(part) for part in parts)))


def load(trace: Path | Iterable[Path], **options: object) -> Trace:
    """Read a trace: any format that opscope knows, a directory (one run), or several of them; or a
    profile of :mod:`opscope.torch`, also while it records.

    `options` are those of ``opscope table`` that say what to read, with ``_`` for ``-``:
    ``rank="0,4-7"``, ``span``, ``process``, ``thread``, ``device="xpu:0"``, ``steps="5-7"``
    (labels; "@0-@2": numbers), ``from_="10ms"``, ``to="2s"`` (from the first event),
    ``max_memory="8G"``, ``threads=2``, ``no_args=True``.

    With ``one_by_one=True``, several files are not kept in memory: each table reads them again, one
    after the other, so that many ranks need only the memory of the largest. With ``from_``, ``to``
    or ``at`` it reads them twice. The table ``events`` still needs all of them at once.

    A missing file raises FileNotFoundError, a file that is not a trace TraceError, a wrong option
    ValueError. Everything that is still readable in a damaged file is read: ``trace["quality"]``
    says what was left out.
    """
    held = trace
    if isinstance(trace, (str, bytes, os.PathLike)):
        trace = [trace]
    elif not isinstance(trace, Iterable) or hasattr(trace, "read"):
        raise TypeError(f"load() takes a path or several of them, not {type(trace).__name__}")
    paths = [os.fsdecode(path) for path in trace]
    for path in paths:
        if path != "-":
            os.stat(path)
    loaded = Trace(paths, options)
    loaded._held = held
    return loaded
