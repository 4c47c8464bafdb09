# SPDX-License-Identifier: Apache-2.0
"""opscope: a profiler for tensor programs.

Read traces::

    trace = opscope.load("run.osc")           # or any Chrome, Kineto or PyTorch trace
    operators = trace.table("operators", sort="calls", limit=10)
    operators["host_self_ns"]                 # a NumPy array
    operators.to_pandas(), operators.to_arrow()

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

from ._opscope import TraceError
from ._opscope import version as __version__
from ._table import Table
from ._trace import Trace, get_include, get_library_dir, load, tables
from . import record

__all__ = ["Table", "Trace", "TraceError", "__version__", "get_include", "get_library_dir",
           "load", "record", "tables"]
