# SPDX-License-Identifier: Apache-2.0
"""Trace.partial() and opscope.merge(): the table of all ranks, from parts of any of them."""

import itertools
import json
import multiprocessing
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy
import support

import opscope


def write_rank(folder, rank, host="a"):
    """A trace of RANK: three operators, a kernel, two steps."""
    events = []
    for i in range(3):
        start = 100 + 20 * i + rank
        events += [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": f"aten::op{i % 2}",
                "pid": 1,
                "tid": 1,
                "ts": start,
                "dur": 9 + rank,
                "args": {"Input Dims": [[i]]},
            },
            {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "pid": 1,
                "tid": 1,
                "ts": start + 1,
                "dur": 1,
                "args": {"correlation": i + 1},
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": "k",
                "pid": 0,
                "tid": 7,
                "ts": start + 3,
                "dur": 4 + rank,
                "args": {"correlation": i + 1, "device": 0, "stream": 7},
            },
        ]
    events.append(
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": "ProfilerStep#3",
            "pid": 1,
            "tid": 1,
            "ts": 99,
            "dur": 70,
        }
    )
    path = pathlib.Path(folder, f"{host}{rank}.pt.trace.json")
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
    return str(path)


def part_of(work):
    """What a worker process does."""
    paths, name, options = work
    return opscope.load(paths).partial(name, **options)


def rows(table):
    columns = [numpy.ma.getdata(table[name]).tolist() for name in table]
    masks = [numpy.ma.getmaskarray(table[name]).tolist() for name in table]
    return list(table), [
        [None if gone else cell for cell, gone in zip(*pair)]
        for pair in zip(map(list, zip(*columns)), map(list, zip(*masks)))
    ]


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.files = [write_rank(self.folder, rank) for rank in range(5)]

    def test_any_split_gives_the_table_of_all(self):
        for name in opscope.tables():
            if name in ("events", "headlines"):  # they have no parts
                continue
            whole = opscope.load(self.files).table(name)
            for sizes in ((5,), (1, 4), (2, 2, 1), (1,) * 5):
                files = iter(self.files)
                parts = [
                    opscope.load(list(itertools.islice(files, n))).partial(name) for n in sizes
                ]
                with self.subTest(table=name, sizes=sizes):
                    merged = opscope.merge(parts)
                    self.assertEqual(rows(merged), rows(whole))
                    self.assertEqual(merged.notes, whole.notes)
                    self.assertEqual(merged.fingerprint, whole.fingerprint)

    def test_parts_of_one_trace_do_not_read_its_files_again(self):
        trace = opscope.load(self.files)
        whole = rows(trace.table("operators", merge=True))
        for file in self.files:
            pathlib.Path(file).unlink()
        self.assertEqual(rows(opscope.merge([trace.partial("operators", merge=True)])), whole)
        self.assertEqual(rows(trace.table("operators", merge=True)), whole)

    def test_options_choose_rows_and_events(self):
        for options in (
            {"group_by": "shape"},
            {"where": "calls > 1"},
            {"sort": "calls", "limit": 1},
            {"steps": "3-3"},
            {"rank": "1-2"},
            {"device": "cuda:0"},
        ):
            whole = opscope.load(self.files).table("operators", **options)
            parts = [opscope.load(f).partial("operators", **options) for f in self.files]
            with self.subTest(options=options):
                self.assertEqual(rows(opscope.merge(parts)), rows(whole))

    def test_parts_come_from_other_processes(self):
        work = [(f, "kernels", {"merge": True}) for f in self.files]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            parts = pool.map(part_of, work)
        whole = opscope.load(self.files).table("kernels", merge=True)
        self.assertEqual(rows(opscope.merge(parts)), rows(whole))
        self.assertEqual(
            rows(opscope.merge(iter(pickle.loads(pickle.dumps(parts))))), rows(whole)
        )

    def test_the_command_reads_them_and_python_reads_its(self):
        paths = []
        for i, file in enumerate(self.files):
            path = pathlib.Path(self.folder, f"{i}.part")
            path.write_bytes(opscope.load(file).partial("operators"))
            paths.append(path)
        self.assertEqual(
            support.run("merge", *paths),
            support.run("table", "operators", "--format", "csv", *self.files),
        )
        made = pathlib.Path(self.folder, "command.part")
        support.run(
            "table", "operators", *self.files, "--format", "csv", "--partial", "-o", made
        )
        self.assertEqual(
            rows(opscope.merge(made.read_bytes())),
            rows(opscope.load(self.files).table("operators")),
        )

    def test_wrong_parts_are_value_errors(self):
        trace = opscope.load(self.files[:1])
        part = trace.partial("operators")
        for parts, says in (
            ([], "no parts"),
            ([b""], "no file of parts"),
            ([part[:-1]], "cut"),
            ([part, part], "same traces"),
            ([part, trace.partial("kernels")], "parts of"),
            ([part[:-9] + bytes([part[-9] ^ 1]) + part[-8:]], "damaged"),
        ):
            with self.subTest(says=says), self.assertRaisesRegex(ValueError, says):
                opscope.merge(parts)
        with self.assertRaisesRegex(ValueError, "has no parts"):
            trace.partial("events")
        with self.assertRaisesRegex(ValueError, "did you mean"):
            trace.partial("operator")

    def test_the_example_of_dask_gives_the_table_of_all(self):
        try:
            import dask  # noqa: F401
        except ModuleNotFoundError:
            self.skipTest("there is no dask")
        example = support.ROOT / "examples/dask/table.py"
        script = (
            "import importlib.util, pickle, sys\n"
            "spec = importlib.util.spec_from_file_location('table', sys.argv[1])\n"
            "table = importlib.util.module_from_spec(spec)\n"
            "sys.modules['table'] = table\n"
            "spec.loader.exec_module(table)\n"
            "if __name__ == '__main__':\n"
            "    merged = table.merged('operators', sys.argv[2:])\n"
            "    sys.stdout.buffer.write(pickle.dumps(merged))\n"
        )
        path = pathlib.Path(self.folder, "run.py")
        path.write_text(script)
        done = subprocess.run(
            [sys.executable, path, example, *self.files], capture_output=True, check=True
        )
        self.assertEqual(
            rows(pickle.loads(done.stdout)),
            rows(opscope.load(self.files).table("operators", merge=True)),
        )


if __name__ == "__main__":
    unittest.main()
