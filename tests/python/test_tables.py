# SPDX-License-Identifier: Apache-2.0
"""opscope.load(): the same numbers as the command, and memory that lives as long as it is used."""

import gc
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import numpy
import support

import opscope
from opscope import _opscope

READ = {
    "string": lambda s: s,
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.get,
}


def cells(table, name):
    """Column NAME as in CSV, except for the format of numbers; None for missing cells."""
    column = table[name]
    mask = numpy.ma.getmaskarray(column)
    return [
        None if gone else value
        for gone, value in zip(mask.tolist(), numpy.ma.getdata(column).tolist())
    ]


class Tables(unittest.TestCase):
    def compare(self, trace, names=None, **options):
        words = [
            f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}")
            for key, value in options.items()
        ]
        loaded = opscope.load(trace)
        for name in names or opscope.tables():
            header, rows = support.table(name, *words, trace)
            table = loaded.table(name, **options)
            with self.subTest(trace=str(trace), table=name):
                self.assertEqual(list(table), header)
                self.assertEqual(table.n_rows, len(rows))
                for i, column in enumerate(table.columns):
                    printed = [row[i] for row in rows]
                    ours = cells(table, column.name)
                    self.assertEqual(column.n_missing, sum(cell is None for cell in ours))
                    for text, value in zip(printed, ours):
                        if value is None:
                            self.assertEqual(text, "")
                        elif column.type == "string":
                            self.assertEqual(text, value.replace("\0", "\u2400"))
                        elif column.type == "number" and value != value:
                            self.assertEqual(text, "NaN")
                        else:
                            self.assertEqual(READ[column.type](text), value)

    def test_every_table_of_a_trace_is_what_the_command_prints(self):
        self.compare(support.DEMO)

    def test_every_table_of_a_gpu_trace_is_what_the_command_prints(self):
        self.compare(support.DATA / "alexnet_a100.json.gz")

    def test_every_table_of_several_ranks_is_what_the_command_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                text = (
                    '{"distributedInfo": {"rank": %d}, "traceEvents": ['
                    '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, '
                    '"ts": 1, "dur": %d}]}' % (rank, rank + 2)
                )
                pathlib.Path(folder, f"worker{rank}.pt.trace.json").write_text(text)
            self.compare(folder)
            self.compare(folder, ["operators", "averages"], merge=True)

    def test_options_mean_what_they_mean_to_the_command(self):
        self.compare(support.DEMO, ["operators"], sort="calls:asc", limit=7)
        self.compare(support.DEMO, ["operators"], columns="calls,name", where="calls > 9")
        self.compare(support.DEMO, ["operators", "averages"], group_by="shape")
        self.compare(support.DEMO, ["operators", "averages"], group_by="shape,dtype")
        self.assertIn(
            "float, float, Scalar",
            opscope.load(support.DEMO)
            .table("averages", group_by="dtype")["input_dtypes"]
            .tolist(),
        )
        self.compare(support.DEMO, ["averages"], no_python=True)
        self.compare(support.DEMO, ["events", "operators", "memory_curve"], steps="@0")
        thread = int(opscope.load(support.DEMO)["threads"]["thread"][0])
        self.compare(support.DEMO, ["events"], thread=thread)

    def test_a_selection_reads_no_file(self):
        asked = [
            (name, {option: value})
            for option, value in (
                ("steps", "@0"),
                ("from_", "1ms"),
                ("to", "2ms"),
                ("rank", "0"),
                ("span", "1"),
            )
            for name in ("operators", "memory_curve")
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace" + "".join(support.DEMO.suffixes))
            path.write_bytes(support.DEMO.read_bytes())
            loaded = opscope.load(path)
            expected = [
                support.table(name, "--%s=%s" % (key.rstrip("_"), value), path)
                for name, options in asked
                for key, value in options.items()
            ]
            path.unlink()
            for (name, options), (_, rows) in zip(asked, expected):
                with self.subTest(table=name, **options):
                    self.assertEqual(loaded.table(name, **options).n_rows, len(rows))

    def test_what_is_selected_at_load_is_selected_for_all_tables(self):
        loaded = opscope.load(support.DEMO, steps="@0")
        for name in ("events", "operators", "memory_curve"):
            _, rows = support.table(name, "--steps", "@0", support.DEMO)
            self.assertEqual(loaded[name].n_rows, len(rows))

    def test_text_is_what_the_command_prints(self):
        loaded = opscope.load(support.DEMO)
        self.assertEqual(
            loaded.text("averages", sort="self_cpu_time_total", limit=5),
            support.run(
                "table",
                "averages",
                "--sort",
                "self_cpu_time_total",
                "--limit",
                "5",
                support.DEMO,
            ),
        )
        for form in ("csv", "md"):
            self.assertEqual(
                loaded.text("operators", format=form),
                support.run("table", "operators", "--format", form, support.DEMO),
            )

    def test_a_device_that_is_nowhere_is_no_sort_key(self):
        loaded = opscope.load(support.DEMO)
        for table in ("averages", "operators"):
            for key in (
                "self_cuda_time_total",
                "xpu_time_total:asc",
                "-self_device_time_total",
            ):
                self.assertTrue(loaded.text(table, sort=key))
            with self.assertRaisesRegex(ValueError, "did you mean 'self_device_time_total'"):
                loaded.text(table, sort="self_bogus_time_total")
            done = subprocess.run(
                [
                    support.COMMAND,
                    "table",
                    table,
                    "--sort",
                    "self_bogus_time_total",
                    support.DEMO,
                ],
                capture_output=True,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_a_table_is_a_mapping_and_equal_to_itself_alone(self):
        trace = opscope.load(support.DEMO)
        table, same = trace["operators"], trace["operators"]
        self.assertEqual({table: 1}[table], 1)
        self.assertNotEqual(table, same)
        self.assertEqual(list(dict(table)), list(table.keys()))
        self.assertEqual(len(table), len(table.columns))
        self.assertEqual([x["calls"] for x in table.head(2)], table["calls"][:2].tolist())

    def test_records_are_the_lines_of_jsonl(self):
        trace = opscope.load(support.DEMO)
        for name in trace:
            table = trace[name]
            lines = trace.text(name, format="jsonl", limit=0).splitlines()
            self.assertEqual(table.records(), [json.loads(line) for line in lines])
            self.assertEqual(table.head(2), table.records()[:2])
            self.assertEqual(table.records(0), [])

    def test_what_tables_have_is_not_looked_for_in_vain_in_a_trace(self):
        trace = opscope.load(support.DEMO)
        for wrong, right in (
            ("head", r"each has head: trace\['operators'\].head"),
            ("to_pandas", r"trace\['operators'\].to_pandas"),
            ("operators", r"trace\['operators'\]"),
            ("tabel", "did you mean 'table'"),
        ):
            with self.assertRaisesRegex(AttributeError, right):
                getattr(trace, wrong)
        self.assertFalse(hasattr(trace, "__array__"))

    def test_a_word_for_a_column_is_told_its_name(self):
        table = opscope.load(support.DEMO)["operators"]
        for wrong, right in (
            ("time", "host_self_ns"),
            ("count", "calls"),
            ("host_slef_ns", "host_self_ns"),
            ("total_cpu_time", "host_total_ns"),
        ):
            with self.assertRaisesRegex(KeyError, f"did you mean '{right}'"):
                table[wrong]
        for wrong in ("a\0b", "\ud800", 3):
            with self.assertRaisesRegex(KeyError, "there are name,"):
                table[wrong]

    def test_names_of_any_bytes_become_str(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "names.json")
            names = [b"a\\u0000b", b"\xff\xfe", b"", "λ🙂".encode(), b'\\"x\\n']
            path.write_bytes(
                b'{"traceEvents": ['
                + b",".join(
                    b'{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, '
                    b'"dur": 1}' % (name, 10 * i)
                    for i, name in enumerate(names)
                )
                + b"]}"
            )
            self.compare(path)
            found = opscope.load(path)["events"]["name"].tolist()
        self.assertEqual(found, ["a\0b", "\ufffd\ufffd", "", "λ🙂", '"x\n'])


class Memory(unittest.TestCase):
    def test_arrays_share_memory_and_outlive_table_and_trace(self):
        table = opscope.load(support.DEMO)["operators"]
        first, second = table["calls"], table["calls"]
        self.assertTrue(numpy.shares_memory(first, second))
        self.assertFalse(first.flags.writeable)
        self.assertFalse(first.flags.owndata)
        expected = first.tolist()
        del table, second
        gc.collect()
        for _ in range(3):  # other tables in the memory that would have been freed
            opscope.load(support.DEMO)["events"]
        self.assertEqual(first.tolist(), expected)

    def test_what_is_collected_in_any_order_is_freed_once(self):
        for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            trace = opscope.load(support.DEMO)
            table = trace["operators"]
            held = [trace, table, table["host_self_ns"]]
            del trace, table
            for i in order:
                held[i] = None
                gc.collect()

    def test_tables_of_nothing_have_no_rows(self):
        table = opscope.load(support.DEMO).table("operators", where="calls < 0")
        self.assertEqual(table.n_rows, 0)
        for name in table:
            self.assertEqual(table[name].shape, (0,))
        self.assertTrue(table.notes)

    def test_sorting_by_what_no_row_has_is_told(self):
        trace = opscope.load(support.DEMO)
        self.assertEqual(
            trace.table("operators", sort="input_shape:asc").notes,
            ["not sorted by input_shape: no row has a value of input_shape"],
        )
        self.assertEqual(trace.table("operators", sort="calls").notes, [])

    def test_values_cannot_be_written(self):
        table = opscope.load(support.DEMO)["operators"]
        with self.assertRaises(ValueError):
            table["calls"][0] = 1
        with self.assertRaises(TypeError):
            memoryview(table._frame.values(1))[0] = 1

    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "it keeps what is freed")
    def test_it_does_not_leak(self):
        def grown():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        trace = opscope.load(support.DEMO)

        def work(n):
            for _ in range(n):
                table = trace["events"]
                [table[name] for name in table]
                table.__arrow_c_array__()
                table.__arrow_c_stream__()
            gc.collect()

        work(20)
        growth = []
        for _ in range(3):  # a leak grows every time; an allocator settles
            before = grown()
            work(40)
            growth.append(grown() - before)
        self.assertLess(min(growth), 8 << 20)


class Threads(unittest.TestCase):
    def test_threads_share_a_trace_and_load_their_own(self):
        trace = opscope.load(support.DEMO)
        expected = trace["operators"]["host_self_ns"].tolist()
        wrong = []

        def work(i):
            mine = opscope.load(support.DEMO) if i % 2 else trace
            for k in range(6):
                if mine["operators"]["host_self_ns"].tolist() != expected:
                    wrong.append(i)
                try:
                    mine.table("operators", sort=f"no_column_{i}_{k}")
                except ValueError as e:
                    if f"no_column_{i}_{k}" not in str(e):
                        wrong.append(str(e))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Errors(unittest.TestCase):
    def refuses(self, kind, part, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(part, str(caught.exception))

    def test_what_is_wrong_is_said_with_the_right_word(self):
        trace = opscope.load(support.DEMO)
        self.refuses(ValueError, "did you mean 'operators'", lambda: trace.table("operatrs"))
        self.refuses(ValueError, "did you mean 'sort='", lambda: trace.table(srt="calls"))
        self.refuses(ValueError, "'calls'", lambda: trace.table("operators", sort="cals"))
        self.refuses(ValueError, "where=", lambda: trace.table("operators", where="calls >"))
        self.refuses(ValueError, "format=", lambda: trace.table("operators", format="csv"))
        self.refuses(ValueError, "is no text", lambda: trace.text("operators", format="arrow"))
        self.refuses(ValueError, "list=", lambda: trace.table("operators", list=True))
        self.refuses(ValueError, "only in text", lambda: trace.table("averages", header="x"))
        self.refuses(ValueError, "steps=", lambda: trace.table("operators", steps="99"))
        self.refuses(ValueError, "table", lambda: opscope.load(support.DEMO, sort="calls"))
        self.refuses(KeyError, "operatrs", lambda: trace["operatrs"])
        self.refuses(KeyError, "cals", lambda: trace["operators"]["cals"])
        self.refuses(ValueError, "which trace", lambda: opscope.load([]))

    def test_what_cannot_be_read_is_an_exception_of_its_own(self):
        self.refuses(FileNotFoundError, "nowhere", lambda: opscope.load("nowhere.json"))
        self.refuses(
            opscope.TraceError,
            "meson.build",
            lambda: opscope.load(support.ROOT / "meson.build"),
        )
        with tempfile.TemporaryDirectory() as folder:
            self.refuses(
                opscope.TraceError, "it contains no traces", lambda: opscope.load(folder)
            )

    def test_paths_are_what_python_takes_for_paths(self):
        class Place:
            def __fspath__(self):
                return os.fsencode(support.DEMO)

        for path in (
            str(support.DEMO),
            support.DEMO,
            os.fsencode(support.DEMO),
            Place(),
            [Place()],
            iter((support.DEMO,)),
        ):
            self.assertIn("demo.pt", repr(opscope.load(path)))
        self.refuses(FileNotFoundError, "No such file", lambda: opscope.load(""))
        self.refuses(FileNotFoundError, "No such file", lambda: opscope.load(b""))
        self.refuses(ValueError, "which trace", lambda: opscope.load([]))
        for wrong in (3, None):
            self.refuses(TypeError, f"not {type(wrong).__name__}", lambda: opscope.load(wrong))
        with open(support.DEMO, "rb") as f:
            self.refuses(TypeError, "not BufferedReader", lambda: opscope.load(f))

    def test_who_lacks_a_package_is_told_which(self):
        table = opscope.load(support.DEMO)["overview"]
        with unittest.mock.patch.dict(sys.modules, {"pandas": None, "pyarrow": None}):
            self.refuses(ImportError, "pip install pandas", table.to_pandas)
            self.refuses(ImportError, "pip install pyarrow", table.to_arrow)
            self.refuses(
                ImportError, "pip install pyarrow", lambda: table.to_parquet("never.parquet")
            )
        with unittest.mock.patch.dict(sys.modules, {"polars": None}):
            self.refuses(ImportError, "pip install polars", table.to_polars)

    def test_within_a_limit_of_memory_all_tables_cover_what_was_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "long.json")
            with open(path, "w") as f:
                f.write('{"traceEvents":[\n')
                for i in range(200000):
                    f.write(
                        '{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":1,'
                        '"ts":%d,"dur":2,"args":{"External id":%d}},\n' % (i % 50, 3 * i, i)
                    )
            with self.assertWarnsRegex(UserWarning, "memory limit reached"):
                trace = opscope.load(path, max_memory="40M")
            self.assertGreater(trace["events"].n_rows, 0)
            self.assertLess(trace["events"].n_rows, 200000)
            self.assertEqual(trace["operators"]["calls"].sum(), trace["events"].n_rows)
            self.assertIn("limit_reached", trace["quality"]["code"].tolist())
            self.assertEqual(opscope.load(path)["events"].n_rows, 200000)

    def test_a_part_that_was_read_for_steps_is_measured_anew_for_another_selection(self):
        """Steps of which only one device is looked at begin and end elsewhere."""

        def event(name, pid, ts, dur, category, **args):
            return {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": pid,
                "tid": 7,
                "ts": ts,
                "dur": dur,
                "args": args,
            }

        events = []
        for n in range(4):
            events.append(event(f"ProfilerStep#{n}", 10, 100 * n, 100, "user_annotation"))
            for device, dur in enumerate((110, 10)):
                events += [
                    event(
                        "cudaLaunchKernel",
                        10,
                        100 * n + 10 + 5 * device,
                        2,
                        "cuda_runtime",
                        correlation=2 * n + device,
                    ),
                    event(
                        "k",
                        device,
                        100 * n + 30,
                        dur,
                        "kernel",
                        device=device,
                        stream=7,
                        correlation=2 * n + device,
                    ),
                ]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.json")
            with open(path, "w") as f:
                json.dump({"traceEvents": events}, f)
            whole = opscope.load(path)
            # With a limit of memory only a part is read, as of a large file.
            part = opscope.load(path, steps="2", max_memory="1G")
            for more in (
                {},
                {"device": "cuda:0"},
                {"device": "cuda:1"},
                {"steps": "3"},
                {"device": "cuda:1", "steps": "1-2"},
            ):
                with self.subTest(**more):
                    self.assertEqual(
                        part.text("steps", format="csv", **more),
                        whole.text("steps", format="csv", **{"steps": "2", **more}),
                    )
            self.assertNotEqual(
                part.table("steps")["start_ns"].tolist(),
                part.table("steps", device="cuda:1")["start_ns"].tolist(),
            )

    def test_files_one_by_one_give_the_same_tables(self):
        paths = [support.DEMO, support.ROOT / "tests/data/alexnet_a100.json.gz"]
        whole, each = opscope.load(paths), opscope.load(paths, one_by_one=True)
        for name in opscope.tables():
            for options in ({}, {"merge": True}, {"span": "2"}):
                with self.subTest(table=name, **options):
                    self.assertEqual(
                        each.text(name, format="csv", **options),
                        whole.text(name, format="csv", **options),
                    )
        self.refuses(
            opscope.TraceError,
            "no trace is left",
            lambda: opscope.load(paths, one_by_one=True, rank="7"),
        )

    def test_nothing_is_printed(self):
        code = (
            "import opscope, warnings; warnings.simplefilter('ignore')\n"
            f"t = opscope.load({str(support.DEMO)!r}); t['operators']\n"
            "for bad in (lambda: t.table('x'), lambda: opscope.load('/dev/null')):\n"
            "    try: bad()\n"
            "    except Exception: pass\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        self.assertEqual(done.stdout + done.stderr, b"")

    def test_hostile_traces_are_read_or_refused(self):
        corpus = sorted((support.ROOT / "tests/fuzz/corpus").glob("*/*"))
        read = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in corpus:
                try:
                    trace = opscope.load(path)
                except (opscope.TraceError, ValueError, MemoryError):
                    continue
                read += 1
                for name in trace:
                    table = trace[name]
                    for column in table:
                        self.assertEqual(table[column].shape, (table.n_rows,))
                    table.__arrow_c_stream__()
        self.assertGreater(read, 10)

    def test_errors_speak_python(self):
        trace = opscope.load(support.DEMO)
        for options, text in (
            ({"srt": "x"}, "unknown option 'srt='; did you mean 'sort='?"),
            ({"where": "totl_ns > 5"}, "where='totl_ns > 5': operators has no"),
            ({"columns": "zzzzz"}, "trace['operators'].columns are its"),
            (
                {"steps": "99"},
                "steps=: there is no '99' in the trace; trace['steps'] lists all",
            ),
            ({"rank": "9"}, "no trace is left by rank= and span="),
        ):
            with self.assertRaises((ValueError, opscope.TraceError)) as caught:
                trace.table("operators", **options)
            self.assertIn(text, str(caught.exception))
            self.assertNotIn("--", str(caught.exception))
        with self.assertRaisesRegex(
            KeyError, "operators has no column 'nam'; did you mean 'name'"
        ):
            trace["operators"]["nam"]
        with self.assertRaisesRegex(
            KeyError, "there is no table 'kernel'; did you mean 'kernels'"
        ):
            trace["kernel"]

    def test_tables_can_be_pickled(self):
        for name in ("operators", "steps", "averages", "quality"):
            table = opscope.load(support.DEMO)[name]
            again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(table))))
            self.assertEqual(
                (again.name, again.n_rows, again.notes, again.columns),
                (table.name, table.n_rows, table.notes, table.columns),
            )
            self.assertEqual(again.fingerprint, table.fingerprint)
            for column in table:
                self.assertEqual(again[column].tolist(), table[column].tolist())
            self.assertEqual(again._repr_html_(), table._repr_html_())

    def test_estimates_of_calls_take_any_name(self):
        flops = _opscope.flops
        args = '{"Input Dims": [[4, 8], [8, 16]]}'
        self.assertEqual(flops("aten::mm", args), 1024)
        self.assertEqual(flops("aten::mm\0", args), 0)
        self.assertEqual(flops("\U0001f600", args), 0)

    def test_the_interrupt_key_stops_reading(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "big.json")
            with open(path, "w") as f:  # no two alike, so that the fast path never applies
                f.write('{"traceEvents":[\n')
                for i in range(100000):
                    f.write(
                        '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"args":{"k%d":1}},\n' % i
                    )
            # A process started in the background ignores the interrupt key.
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            self.addCleanup(signal.signal, signal.SIGINT, before)
            timer = threading.Timer(0.0, lambda: os.kill(os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                for _ in range(200):
                    opscope.load(path, threads=1)
            timer.join()


if __name__ == "__main__":
    unittest.main()
