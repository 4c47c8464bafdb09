# SPDX-License-Identifier: Apache-2.0
"""``%%opscope``: run a cell of IPython or Jupyter under the recorder, and show what it did."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ._trace import Trace

USAGE = """%%opscope [--table NAME] [--sort COLUMN] [--limit N] [--view] [-o FILE] [--shapes]
          [--stack] [--memory] [--flops]

Runs the cell and shows a table of it: averages if the notebook has imported torch, which
opscope.torch then profiles, else the ranges that opscope.record has recorded. --view shows the
page of the viewer, and -o keeps the recording."""


class Parser(argparse.ArgumentParser):
    """Raises its errors as IPython shows them: without a traceback."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%%opscope: {message}\n\n{USAGE}")


def parser() -> Parser:
    """The options of the magic."""
    made = Parser(prog="%%opscope", add_help=False, allow_abbrev=False)
    made.add_argument("--table")
    made.add_argument("--sort")
    made.add_argument("--limit", type=int, default=10)
    made.add_argument("--view", action="store_true")
    made.add_argument("-o", "--out")
    for name in ("shapes", "stack", "memory", "flops"):
        made.add_argument(f"--{name}", action="store_true")
    return made


def profiled(options: argparse.Namespace, out: str) -> Any:
    """What records torch while it is entered, to the file OUT when it is left."""
    from .torch import profile

    stack = ExitStack()
    prof = profile(
        record_shapes=options.shapes,
        profile_memory=options.memory,
        with_stack=options.stack,
        with_flops=options.flops,
    )
    stack.callback(lambda: shutil.copy(prof, out))
    stack.enter_context(prof)
    return stack


def recorded(out: str) -> Any:
    """What records opscope.record while it is entered."""
    from . import record

    stack = ExitStack()
    record.start(out=out)
    stack.callback(record.stop)
    stack.enter_context(record.scope("cell", kind="annotation"))
    return stack


def shown(trace: Trace, options: argparse.Namespace, has_torch: bool) -> Any:
    """What the cell shows."""
    if options.view:
        from ._view import view

        return view(trace)
    words = {"sort": options.sort} if options.sort else {}
    return trace.table(
        options.table or ("averages" if has_torch else "ranges"), limit=options.limit, **words
    )


def run_cell(shell: Any, line: str, cell: str | None) -> Any:
    """The magic: run CELL in SHELL, IPython's, with the options of LINE."""
    from ._trace import load

    if cell is None or line.strip() in ("-h", "--help"):
        print(USAGE)
        return None
    options = parser().parse_args(line.split())
    has_torch = "torch" in sys.modules
    if has_torch:
        from . import torch  # noqa: F401 - before the recording, of which it is no part
    with tempfile.TemporaryDirectory(prefix="opscope-") as folder:
        out = os.path.join(folder, "cell.osc")
        with profiled(options, out) if has_torch else recorded(out):
            is_done = shell.run_cell(cell).success  # an error of the cell was shown
        if options.out:
            shutil.copy(out, options.out)
        return shown(load(out), options, has_torch) if is_done else None


def register(shell: Any) -> None:
    """Make ``%opscope`` and ``%%opscope`` known to SHELL."""

    def opscope(line: str, cell: str | None = None) -> Any:
        return run_cell(shell, line, cell)

    opscope.__doc__ = USAGE
    shell.register_magic_function(opscope, "line_cell", "opscope")
