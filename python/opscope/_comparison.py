# SPDX-License-Identifier: Apache-2.0
"""Two runs, and the tables that compare them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import _opscope
from ._table import Table, nearest
from ._tables import of_comparison
from ._trace import Path, Trace, load, speaking_python, to_options, to_text_options


class Verdict(NamedTuple):
    """What a gate says of two runs."""

    broken: bool
    """Whether something grew by more than the gate allows."""
    text: str
    """The verdict as ``opscope diff --fail-on`` prints it, with a line for each row that broke
    the gate: by how many ns, us, ms or s it grew, and by how many per cent."""

    def __bool__(self) -> bool:
        raise TypeError("a Verdict is neither true nor false: ask for .broken")


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

    @of_comparison
    def table(self, name: str, /, **options: object) -> Table:
        """Make the table `name`: diff_steps, diff_operators, diff_kernels, diff_tree or diff_inside.

        Takes those options of :meth:`Trace.table` that select what is counted (of both runs:
        ``rank="0"``, ``steps="5-7"``, ...) and which rows and columns there are: ``where``,
        ``sort``, ``columns``, ``limit`` and ``group_by="shape"``. A wrong name or option is a
        ValueError that names the nearest right one.
        """
        with speaking_python():
            return Table(
                _opscope.compare(self.base._traces, self.new._traces, name, to_options(options))
            )

    def text(self, name: str | None = None, /, **options: object) -> str:
        """What ``opscope diff`` prints, to the letter: sentences, what changed most first, and the
        tables that have rows; with `name`, what ``opscope diff --table NAME`` prints.

        Takes ``format`` ("text", "json", "md"; of one table also "csv" and "jsonl"), ``full_names=True``,
        ``limit`` (rows of each table; default: 10, of one table 100; 0: all) and the options of
        :meth:`table` that select what is counted; of one table, all of them.
        """
        with speaking_python():
            return _opscope.compare_text(
                self.base._traces, self.new._traces, name, to_text_options(options)
            )

    def gate(
        self,
        fail_on: str,
        /,
        *,
        report: Path | None = None,
        allow_different: bool = False,
        **options: object,
    ) -> Verdict:
        """Evaluate a gate, such as ``"step.total > 5% and significant"``: see opscope-diff(1).

        `report` is a file to write the verdict to, ``.xml`` as JUnit's or ``.md`` as Markdown; it
        is replaced when it is complete. `options` select what is counted, as in :meth:`table`.
        If the gate asks for significance and a run has too few steps to tell, nothing is
        significant, and a warning says so.

        ValueError: the gate is wrong, or names what neither run has. TraceError: the runs cannot
        be compared, because only one has steps or, unless `allow_different`, because their devices
        or machines differ. OSError: the report cannot be written.
        """
        suffix = None if report is None else os.path.splitext(os.fsdecode(report))[1]
        if suffix not in (None, ".xml", ".md"):
            raise ValueError(
                f"report={os.fsdecode(report or '')!r} ends in neither .xml nor .md"
            )
        names = [" ".join(side._paths) for side in (self.base, self.new)]
        with speaking_python():
            broken, knows, text, written = _opscope.gate(
                self.base._traces,
                self.new._traces,
                (fail_on, *names, suffix and suffix[1:], allow_different),
                to_options(options),
            )
        if not knows and "significant" in fail_on:
            warnings.warn("significance is not known: a run has too few steps", stacklevel=2)
        if report is not None:
            part = os.fsdecode(report) + ".part"
            with open(part, "w", encoding="utf-8", errors="replace") as file:
                file.write(written)
            os.replace(part, report)
        return Verdict(bool(broken), text)

    def __str__(self) -> str:
        """The same as `text()`."""
        return self.text()

    @of_comparison
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


def compare(
    base: Trace | Path | Iterable[Path], new: Trace | Path | Iterable[Path], **options: object
) -> Comparison:
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
