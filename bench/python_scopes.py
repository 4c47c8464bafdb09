#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure a scope of opscope.record, in nanoseconds, compared with a context manager in C.

usage: PYTHONPATH=BUILD/python python3 bench/python_scopes.py

The time of the loop is subtracted. An uncontended lock is measured as an empty context manager
in C, and so is a scope while nothing records. The least of 500 short runs counts, because a
busy machine interrupts short runs less often.
"""

import os
import tempfile
import threading
import timeit

from opscope import record

LOOPS = 20 if "BENCH_SMOKE" in os.environ else 2000


def cost(statement, **names):
    """The nanoseconds of one STATEMENT."""

    def least(what):
        return min(timeit.repeat(what, number=LOOPS, repeat=500, globals=names))

    return (least(statement) - least("pass")) / LOOPS * 1e9


def show(what, ns, base=None):
    print(f"{what:44} {ns:7.1f} ns" + (f"  {ns / base:5.2f} x the lock" if base else ""))


def main():
    base = cost("with c: pass", c=threading.Lock())
    show("with lock", base)
    show("with scope, nothing records", cost("with c: pass", c=record.scope("a")), base)
    with tempfile.TemporaryDirectory() as folder:
        record.start(os.path.join(folder, "run.osc"))
        show("with scope", cost("with c: pass", c=record.scope("a")), base)
        show(
            "with record.scope(NAME), made each time",
            cost("with record.scope('a'): pass", record=record),
            base,
        )
        show(
            "with scope that has an integer argument",
            cost("with c: pass", c=record.scope("b", n=1)),
            base,
        )
        show(
            "decorated function, beyond the call",
            cost("f()", f=record.scope("c")(lambda: None)) - cost("f()", f=lambda: None),
            base,
        )
        show("counter", cost("counter('d', 1.5)", counter=record.counter), base)
        show("instant", cost("instant('e')", instant=record.instant), base)
        lost = {cause: n for cause, n in record.losses().items() if n}
        record.stop()
    if lost:
        print("lost:", lost)


main()
