# SPDX-License-Identifier: Apache-2.0
"""opscope.compare(): what `opscope diff` says, of traces that are loaded once."""

import csv
import gc
import io
import json
import pathlib
import pickle
import subprocess
import tempfile
import threading
import unittest

import numpy
import support

import opscope
from opscope import _opscope

TABLES = [
    t["name"]
    for t in json.loads(support.run("table", "--list", "--format", "json"))["tables"]
    if t["compares"]
]


def write_run(path, slow, n_steps=8, rank=0):
    """A trace of RANK: steps with a convolution, one way or another, and a kernel."""
    events, at = [], 1000.0

    def add(cat, name, start, dur, **more):
        events.append(
            {
                "ph": "X",
                "cat": cat,
                "name": name,
                "pid": 7,
                "tid": 1,
                "ts": start,
                "dur": dur,
                **more,
            }
        )

    for step in range(n_steps):
        conv = (900 if slow else 100) + step * 7 % 5 * 3
        add("user_annotation", f"ProfilerStep#{step}", at, conv + 120)
        add(
            "cpu_op",
            "aten::conv2d",
            at + 5,
            conv + 20,
            args={"Input Dims": [[8, 3 + step % 2]]},
        )
        add(
            "cpu_op",
            "aten::_slow_conv2d" if slow else "aten::mkldnn_convolution",
            at + 10,
            conv + 8,
        )
        add("cuda_runtime", "cudaLaunchKernel", at + 12, 3, args={"correlation": step + 1})
        add(
            "kernel",
            "sgemm<float, 4>(int)",
            at + 20,
            conv / 2,
            pid=0,
            tid=3,
            args={"correlation": step + 1, "device": 0, "stream": 3},
        )
        at += conv + 130
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
    return path


def diff(name, *words):
    """The header and the rows that the command prints as CSV."""
    text = support.run("diff", "--table", name, "--format", "csv", *words)
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


def printed(column, values):
    """VALUES of COLUMN as the command prints them as CSV."""
    mask = numpy.ma.getmaskarray(values).tolist()
    show = {"string": str, "integer": str, "boolean": lambda x: str(x).lower(), "number": float}
    return [
        "" if gone else show[column.type](value)
        for gone, value in zip(mask, numpy.ma.getdata(values).tolist())
    ]


class Comparisons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        place = pathlib.Path(folder.name)
        cls.fast, cls.slow = (
            write_run(place / "fast.json", 0),
            write_run(place / "slow.json", 1, 6),
        )
        cls.runs = []
        for slow, name in enumerate(("before", "after")):
            (place / name).mkdir()
            for rank in range(2):
                write_run(place / name / f"rank{rank}.json", slow, 5, rank)
            cls.runs.append(place / name)

    def same(self, comparison, base, new, name, **options):
        words = [
            f"--{key.rstrip('_').replace('_', '-')}={value}" for key, value in options.items()
        ]
        header, rows = diff(name, *words, base, new)
        table = comparison.table(name, **options)
        with self.subTest(table=name, **options):
            self.assertEqual(list(table), header)
            self.assertEqual(table.n_rows, len(rows))
            for i, column in enumerate(table.columns):
                cells = [row[i] for row in rows]
                if column.type == "number":
                    cells = [cell and float(cell) for cell in cells]
                self.assertEqual(printed(column, table[column.name]), cells)
        return table

    def test_every_table_is_what_the_command_prints(self):
        comparison = opscope.compare(self.fast, self.slow)
        for name in TABLES:
            self.assertGreater(self.same(comparison, self.fast, self.slow, name).n_rows, 0)

    def test_runs_of_several_ranks_compare(self):
        for how in ({}, {"one_by_one": True}):
            comparison = opscope.compare(*self.runs, **how)
            for name in TABLES:
                self.same(comparison, *self.runs, name)
            self.same(comparison, *self.runs, "diff_operators", rank="1")

    def test_options_mean_what_they_mean_to_the_command(self):
        comparison = opscope.compare(self.fast, self.slow)
        for options in (
            {"where": "significant"},
            {"sort": "name:asc", "limit": 2},
            {"columns": "name,delta_calls"},
            {"group_by": "shape"},
            {"steps": "2-4"},
            {"from_": "1ms"},
        ):
            self.same(comparison, self.fast, self.slow, "diff_operators", **options)

    def test_text_is_what_the_command_prints(self):
        comparison = opscope.compare(self.fast, self.slow)
        for name in TABLES:
            for form in ("text", "csv", "json", "md"):
                self.assertEqual(
                    comparison.text(name, format=form),
                    support.run(
                        "diff", "--table", name, "--format", form, self.fast, self.slow
                    ),
                )

    def test_all_of_it_is_what_the_command_prints(self):
        comparison = opscope.compare(self.fast, self.slow)
        for form in ("text", "json", "md"):
            self.assertEqual(
                comparison.text(format=form),
                support.run("diff", "--format", form, self.fast, self.slow),
            )
        self.assertEqual(str(comparison), support.run("diff", self.fast, self.slow))
        self.assertEqual(
            comparison.text(limit=1), support.run("diff", "--limit", "1", self.fast, self.slow)
        )
        for wrong in ({"format": "csv"}, {"sort": "name"}, {"where": "significant"}):
            with self.subTest(**wrong), self.assertRaises(ValueError):
                comparison.text(**wrong)

    def command_gate(self, gate, *words):
        """The exit status of the command, and what it prints about the gate."""
        done = subprocess.run(
            [support.COMMAND, "diff", "--fail-on", gate, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
        )
        at = done.stdout.find("the gate ")
        return done.returncode, done.stdout[at:] if at >= 0 else ""

    def test_a_gate_says_what_the_command_says(self):
        comparison = opscope.compare(self.fast, self.slow)
        for gate in (
            "step.total > 5% and significant",
            "step.total > 1s",
            "significant",
            "not significant",
            "kernel('sgemm<float, 4>(int)') > 1%",
            "operator('aten::conv2d').self > 500us",
        ):
            status, said = self.command_gate(gate, self.fast, self.slow)
            with self.subTest(gate=gate):
                verdict = comparison.gate(gate)
                self.assertEqual(verdict.broken, {0: False, 3: True}[status])
                self.assertEqual(verdict.text, said)
                self.assertRaises(TypeError, bool, verdict)

    def test_reports_are_those_of_the_command(self):
        gate = "step.total > 5% and significant"
        comparison = opscope.compare(self.fast, self.slow)
        with tempfile.TemporaryDirectory() as folder:
            for suffix in ("xml", "md"):
                ours, theirs = (pathlib.Path(folder, name + suffix) for name in ("a.", "b."))
                comparison.gate(gate, report=ours)
                self.command_gate(gate, "--report", theirs, self.fast, self.slow)
                self.assertEqual(ours.read_text(), theirs.read_text())
            self.assertEqual(len(list(pathlib.Path(folder).iterdir())), 4)
            self.assertRaises(
                FileNotFoundError,
                comparison.gate,
                gate,
                report=pathlib.Path(folder, "missing", "a.xml"),
            )

    def test_gates_that_cannot_be_evaluated_raise(self):
        comparison = opscope.compare(self.fast, self.slow)
        for gate, words in (
            ("", "expected"),
            ("step.total > 1", "unit"),
            ("step.totl > 1%", "total"),
            ("kernel('sgem') > 1%", "sgem"),
        ):
            with self.subTest(gate=gate), self.assertRaises(ValueError) as raised:
                comparison.gate(gate)
            self.assertIn(words, str(raised.exception))
        self.assertRaises(ValueError, comparison.gate, "significant", report="a.txt")
        self.assertRaises(ValueError, comparison.gate, "significant", sort="name")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "empty.json")
            path.write_text('{"traceEvents": []}')
            with self.assertRaises(opscope.TraceError) as raised:
                opscope.compare(self.fast, path).gate("significant")
            self.assertIn("not comparable", str(raised.exception))
            few = write_run(pathlib.Path(folder, "few.json"), 1, 2)
            with self.assertWarns(UserWarning):
                self.assertFalse(opscope.compare(self.fast, few).gate("significant").broken)
            there = pathlib.Path(folder, "there.json")
            for file, old, host in ((path, self.fast, "a"), (there, self.slow, "b")):
                file.write_text(json.dumps({**json.loads(old.read_text()), "host_name": host}))
            other = opscope.compare(path, there)
            with self.assertRaises(opscope.TraceError) as raised:
                other.gate("step.total > 5%")
            self.assertIn("allow_different=", str(raised.exception))
            self.assertTrue(other.gate("step.total > 5%", allow_different=True).broken)

    def test_loaded_traces_compare_and_are_not_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fast.json")
            path.write_bytes(self.fast.read_bytes())
            base, new = opscope.load(path), opscope.load(self.slow)
            path.unlink()
        table = opscope.compare(base, new)["diff_steps"]
        del base, new
        gc.collect()
        _, rows = diff("diff_steps", self.fast, self.slow)
        self.assertEqual(table["name"].tolist(), [row[0] for row in rows])
        self.assertEqual(
            pickle.loads(pickle.dumps(table))["name"].tolist(), table["name"].tolist()
        )

    def test_a_run_does_not_differ_from_itself(self):
        trace = opscope.load(self.fast)
        comparison = opscope.compare(trace, trace)
        for name in TABLES[1:]:
            table = comparison[name]
            for column in table.columns:
                if column.name.startswith("delta_") and column.type == "integer":
                    self.assertEqual(
                        set(numpy.ma.getdata(table[column.name]).tolist()), {0}, column.name
                    )

    def test_threads_ask_at_the_same_time(self):
        comparison, found = opscope.compare(self.fast, self.slow), []
        threads = [
            threading.Thread(
                target=lambda name=name: found.append((name, comparison[name].n_rows))
            )
            for name in TABLES * 4
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(
            sorted(found), sorted((name, comparison[name].n_rows) for name in TABLES * 4)
        )

    def test_it_names_the_tables_that_the_command_has(self):
        comparison = opscope.compare(self.fast, self.fast)
        listed = [
            line.split()[0]
            for line in support.run("table", "--list").splitlines()
            if line.startswith("diff_")
        ]
        self.assertEqual(list(comparison), listed)
        self.assertGreaterEqual(len(listed), 5)
        self.assertFalse(set(listed) & set(opscope.tables()))
        self.assertIn("diff_tree", comparison)
        self.assertNotIn("operators", comparison)
        self.assertIn("fast.json", repr(comparison))

    def test_errors_say_what_is_wrong(self):
        trace = opscope.load(self.fast)
        comparison = opscope.compare(trace, self.slow)
        for wrong, error, words in (
            (lambda: comparison.table("operators"), ValueError, "of one run, not of two"),
            (lambda: comparison.table("diff_stepz"), ValueError, "diff_steps"),
            (lambda: comparison["diff_stepz"], KeyError, "diff_steps"),
            (lambda: comparison.table("diff_steps", sort="nmae"), ValueError, "name"),
            (lambda: comparison.table("diff_steps", no_args=True), ValueError, "no_args"),
            (lambda: comparison.table("diff_steps", format="csv"), ValueError, "format"),
            (lambda: comparison.text("diff_steps", format="cvs"), ValueError, "csv"),
            (lambda: opscope.compare(trace, trace, rank="0"), TypeError, "options"),
            (lambda: opscope.compare(trace, 7), TypeError, "int"),
            (lambda: opscope.compare(trace, "missing.json"), FileNotFoundError, "missing"),
            (
                lambda: opscope.compare(trace, support.ROOT / "meson.build"),
                opscope.TraceError,
                "meson.build",
            ),
            (lambda: _opscope.compare(trace, trace, "diff_steps", []), TypeError, "Traces"),
            (lambda: _opscope.compare_text(None, None, "diff_steps", []), TypeError, "Traces"),
        ):
            with self.subTest(words=words), self.assertRaises(error) as raised:
                wrong()
            self.assertIn(words, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
