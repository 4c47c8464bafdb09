# SPDX-License-Identifier: Apache-2.0
"""opscope: a profiler for tensor programs.

Read traces::

    trace = opscope.load("run.osc")           # or any Chrome, Kineto or PyTorch trace
    operators = trace.table("operators", sort="calls", limit=10)
    operators["host_self_ns"]                 # a NumPy array
    operators.records()                       # a dict a row
    operators.to_pandas(), operators.to_polars(), operators.to_arrow()
    operators.to_parquet("operators.parquet")

Look at one in a notebook, or send it::

    opscope.view(trace)                       # the page of `opscope view`, in a frame
    opscope.view(trace).save("run.html")
    %load_ext opscope                         # then %%opscope records the rest of a cell

Compare runs::

    comparison = opscope.compare("before/", "after/")
    print(comparison)                         # what `opscope diff` prints
    comparison["diff_operators"]              # a table
    comparison.gate("step.total > 5% and significant").broken

Record programs::

    from opscope import record

    record.start(out="run.osc")
    with record.scope("load", batch=7):
        ...
    record.stop()

Times are integer nanoseconds in columns that end in ``_ns``, sizes bytes in ``_bytes``,
shares 0..1 in ``_ratio``. NumPy, pandas and pyarrow are imported when they are needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import record
    from ._comparison import Comparison, Verdict, compare
    from ._opscope import TraceError
    from ._opscope import version as __version__
    from ._table import Table
    from ._trace import Trace, get_include, get_library_dir, load, merge, tables
    from ._tree import Event, EventTree
    from ._view import View, view

__all__ = [
    "Comparison",
    "Event",
    "EventTree",
    "Table",
    "Trace",
    "TraceError",
    "Verdict",
    "View",
    "__version__",
    "compare",
    "get_include",
    "get_library_dir",
    "load",
    "merge",
    "record",
    "tables",
    "view",
]

# Imported on first use: the command and opscope.torch do not need them.
_WHERE = {
    "Table": "_table",
    "Event": "_tree",
    "EventTree": "_tree",
    "Trace": "_trace",
    "TraceError": "_opscope",
    "load": "_trace",
    "merge": "_trace",
    "Comparison": "_comparison",
    "compare": "_comparison",
    "Verdict": "_comparison",
    "__version__": "_opscope",
    "get_include": "_trace",
    "get_library_dir": "_trace",
    "tables": "_trace",
    "View": "_view",
    "view": "_view",
}


def __getattr__(name: str) -> Any:
    if name == "record":
        return importlib.import_module(".record", __name__)
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module("." + _WHERE[name], __name__)
    found = getattr(module, "version" if name == "__version__" else name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext opscope`` calls: define ``%%opscope``, which runs a cell under the recorder
    and shows a table of it. ``%opscope`` prints its options.
    """
    from ._magic import register

    register(shell)
