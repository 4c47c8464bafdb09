# SPDX-License-Identifier: Apache-2.0
"""%%opscope in a shell of IPython, where nothing imports torch."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

import opscope

try:
    from IPython.core.interactiveshell import InteractiveShell
except ImportError:
    InteractiveShell = None

WORK = "from opscope import record\nwith record.scope('inner', n=3):\n    done = 5\n"


@unittest.skipUnless(InteractiveShell, "there is no IPython")
class Magic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shell = InteractiveShell.instance()
        cls.run_cell("%load_ext opscope")

    @classmethod
    def run_cell(cls, cell):
        """How a cell ended, what it gave, and what it printed."""
        number = cls.shell.execution_count
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            done = cls.shell.run_cell(cell, store_history=True)
        return done, cls.shell.user_ns["Out"].get(number), printed.getvalue()

    def setUp(self):
        self.assertNotIn("torch", sys.modules)

    def test_a_cell_runs_in_the_notebook_and_is_shown(self):
        _, table, printed = self.run_cell("%%opscope\n" + WORK)
        self.assertEqual(dict(zip(table["name"], table["calls"])), {"cell": 1, "inner": 1})
        self.assertIn("ranges: 2 rows", printed)
        self.assertEqual(self.run_cell("done")[1], 5)

    def test_options_choose_what_is_shown(self):
        _, table, _ = self.run_cell("%%opscope --limit 1 --sort dur_ns --table events\n" + WORK)
        self.assertEqual(list(table["name"]), ["cell"])
        _, page, _ = self.run_cell("%%opscope --view\n" + WORK)
        self.assertIsInstance(page, opscope.View)

    def test_the_recording_is_kept_on_request(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "cell.osc")
            self.run_cell(f"%%opscope -o {out}\n{WORK}")
            self.assertIn("inner", list(opscope.load(out)["events"]["name"]))

    def test_an_error_of_the_cell_is_shown_and_ends_the_recording(self):
        _, table, printed = self.run_cell("%%opscope\n1 / 0")
        self.assertIsNone(table)
        self.assertIn("ZeroDivisionError", printed)
        self.assertEqual(len(self.run_cell("%%opscope\n" + WORK)[1]["name"]), 2)

    def test_wrong_options_are_told_without_a_traceback(self):
        done, _, printed = self.run_cell("%%opscope --limt 3\nwrong = 1")
        self.assertEqual(type(done.error_in_exec).__name__, "UsageError")
        self.assertNotIn("Traceback", printed)
        self.assertNotIn("wrong", self.shell.user_ns)
        self.assertIn("--view", self.run_cell("%opscope")[2])
