# SPDX-License-Identifier: Apache-2.0
"""Two runs, and the tables that compare them."""
from __future__ import annotations

from typing import Iterable, Iterator, Union

from . import _opscope
from ._table import Table, nearest
from ._trace import Path, Trace, load, speaking_python, to_options


class Comparison:
    """Two runs, each with all its ranks: a base, and a new run that is compared with it.

    Made by :func:`compare`. ``base`` and ``new`` are the two traces, which it keeps. Tables and
    texts are made on request and keep what they need, so they outlive it. Several threads may ask
    for them at the same time.

    Times are integer nanoseconds of the whole run (``_ns``). If both runs have steps, columns that
    begin with ``mean_`` have nanoseconds per step of one process, as floats, and ``significant`` is
    True if a change is larger than what steps differ by among themselves.
    """

    def __init__(self, base: Trace, new: Trace) -> None:
        self.base = base
        self.new = new

    def table(self, name: str, /, **options: object) -> Table:
        """Make the table `name`: diff_steps, diff_operators, diff_kernels or diff_tree.

        Takes those options of :meth:`Trace.table` that select what is counted (of both runs:
        ``rank="0"``, ``steps="5-7"``, ...) and which rows and columns there are: ``where``,
        ``sort``, ``columns``, ``limit`` and ``group_by="shape"``. A wrong name or option is a
        ValueError that names the nearest right one.
        """
        with speaking_python():
            return Table(_opscope.compare(self.base._traces, self.new._traces, name,
                                          to_options(options)))

    def text(self, name: str, /, **options: object) -> str:
        """Make the table `name` as text: what ``opscope diff --table NAME`` prints, to the letter.

        Takes ``format`` ("text", "csv", "json", "md") and all options of :meth:`table`. Text has
        100 rows by default (`limit=0`: all).
        """
        with speaking_python():
            return _opscope.compare_text(self.base._traces, self.new._traces, name,
                                         to_options(options))

    def __getitem__(self, name: str) -> Table:
        """The table `name` with all defaults."""
        names = dict(_opscope.comparisons())
        if name not in names:
            raise KeyError(f"there is no table {name!r} of two runs; {nearest(name, names)}")
        return self.table(name)

    def __iter__(self) -> Iterator[str]:
        """The names of all tables that compare two runs."""
        return (name for name, _ in _opscope.comparisons())

    def __contains__(self, name: object) -> bool:
        return name in dict(_opscope.comparisons())

    def __repr__(self) -> str:
        return f"<opscope.Comparison of {self.base!r} and {self.new!r}>"


def compare(base: Union[Trace, Path, Iterable[Path]], new: Union[Trace, Path, Iterable[Path]],
            **options: object) -> Comparison:
    """Compare two runs: what ``opscope diff`` does.

    `base` and `new` are traces that :func:`load` returned, or what it takes: a file, a directory
    (one run of several ranks), or several of them; these are loaded with `options`, which are
    those of :func:`load`. Both may be the same trace.

    Loading raises what :func:`load` raises; options without anything to load, TypeError.
    """
    if options and isinstance(base, Trace) and isinstance(new, Trace):
        raise TypeError("compare() takes options only for what it loads; both runs are loaded")
    sides = [side if isinstance(side, Trace) else load(side, **options) for side in (base, new)]
    return Comparison(*sides)
