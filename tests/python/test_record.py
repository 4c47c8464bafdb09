# SPDX-License-Identifier: Apache-2.0
"""opscope.record: the recording contains what the program recorded."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support

import opscope


def record(code, folder, **environment):
    """Run CODE with OUT, a file to record into. Returns its process and its events."""
    out = os.path.join(folder, "run.osc")
    head = f"import asyncio, os, threading\nfrom opscope import record\nOUT = {out!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=folder,
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    events = []
    if os.path.exists(out):
        table = opscope.load(out)["events"]
        columns = {name: table[name].tolist() for name in table}
        events = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return done, events


def named(events, name):
    return [e for e in events if e["name"] == name]


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def test_scopes_nest_and_have_their_kinds_and_arguments(self):
        _, events = record(
            """
record.start(OUT)
with record.scope("outer", kind="module", a=1, b="text", c=[1, 2], d=2.5, e=True, f=2**80):
    with record.scope("inner", kind="operator"):
        record.args(late=7)
record.stop()
""",
            self.folder,
        )
        outer, inner = named(events, "outer")[0], named(events, "inner")[0]
        self.assertEqual((outer["kind"], inner["kind"]), ("module", "operator"))
        self.assertEqual(inner["parent_id"], outer["id"])
        self.assertGreaterEqual(inner["start_ns"], outer["start_ns"])
        self.assertEqual(
            json.loads(outer["args"]),
            {"a": 1, "b": "text", "c": [1, 2], "d": 2.5, "e": True, "f": str(2**80)},
        )
        self.assertEqual(json.loads(inner["args"]), {"late": 7})

    def test_categories_are_switched_while_the_program_runs(self):
        _, events = record(
            """
record.start(OUT)
io, detail = record.scope("read", category="io"), record.scope("block", category="io", level=2)
for i in range(6):
    if i == 2: record.enable("io:2")
    if i == 4: record.enable("-io")
    with io, detail, record.scope("plain", level=i):
        pass
record.enable("io")
with io:
    record.enable("-io")
with detail:
    record.enable("io:2")
with record.scope("after"):
    pass
record.stop()
""",
            self.folder,
        )
        self.assertEqual(
            [len(named(events, n)) for n in ("read", "block", "plain", "after")], [5, 2, 6, 1]
        )
        self.assertEqual({e["category"] for e in named(events, "read")}, {"io"})
        self.assertEqual(json.loads(named(events, "plain")[3]["args"]), {"level": 3})
        self.assertIsNone(named(events, "after")[0]["parent_id"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "run.osc.live")))

    def test_calls_of_hot_scopes_are_sampled(self):
        _, events = record(
            """
record.sample("hot=20")
record.start(OUT)
hot = record.scope("hot", a=1)
for i in range(20000):
    with hot:
        with record.scope("inside"): pass
record.stop()
""",
            self.folder,
        )
        calls = [json.loads(e["args"]).get("sampled calls", 1) for e in named(events, "hot")]
        self.assertTrue(900 < len(calls) < 1100, len(calls))
        self.assertTrue(19960 <= sum(calls) <= 20000, sum(calls))
        self.assertEqual(len(named(events, "inside")), 20000)

    def test_wrong_lists_and_levels_are_told(self):
        done, _ = record(
            """
for call in (lambda: record.enable("-"), lambda: record.sample("a"),
             lambda: record.scope("a", category="b", level=0),
             lambda: record.scope("a", category=5)):
    try:
        call()
    except (ValueError, TypeError) as e:
        print(e)
""",
            self.folder,
        )
        self.assertEqual(
            done.stdout.split("\n"),
            [
                "enable: '-' is no such list",
                "sample: 'a' is no such list",
                "scope: level must be from 1 to 127",
                "scope: category must be a str",
                "",
            ],
        )

    def test_scopes_of_known_kinds_feed_their_class_of_the_step(self):
        _, events = record(
            """
record.start(OUT)
for _ in range(3):
    record.step()
    for kind in ("dataloader", "optimizer", "communication", "plain"):
        with record.scope(kind, kind=kind):
            os.getpid()
record.stop()
""",
            self.folder,
        )
        steps = opscope.load(os.path.join(self.folder, "run.osc"))["steps"]
        self.assertEqual(len(steps["step"]), 3)
        for kind, column in (
            ("dataloader", "dataloader_ns"),
            ("optimizer", "cpu_exec_ns"),
            ("communication", "communication_ns"),
        ):
            self.assertEqual(
                sum(steps[column].tolist()), sum(e["dur_ns"] for e in named(events, kind))
            )

    def test_functions_generators_and_coroutines_are_decorated(self):
        done, events = record(
            """
record.start(OUT)
@record.scope
def plain(a, *, b=2):
    "its own text"
    return a + b
@record.scope("gen")
def numbers():
    with record.scope("within"):
        yield 1
    yield 2
@record.scope("async")
async def wait(n):
    await asyncio.sleep(0.001 * n)
    return n
class C:
    @record.scope("method")
    def f(self):
        return self
@record.scope("stream")
async def stream():
    yield await wait(1)
async def both():
    async for _ in stream():
        pass
    return await asyncio.gather(wait(2), wait(1))
c = C()
print(plain(1, b=3), plain.__name__, plain.__doc__, list(numbers()), c.f() is c,
      asyncio.run(both()))
record.stop()
""",
            self.folder,
        )
        self.assertEqual(done.stdout, "4 plain its own text [1, 2] True [2, 1]\n")
        for name, n in (
            ("plain", 1),
            ("gen", 1),
            ("within", 1),
            ("method", 1),
            ("async", 3),
            ("stream", 1),
        ):
            self.assertEqual(len(named(events, name)), n, name)
        for e in named(events, "async"):
            self.assertGreaterEqual(e["dur_ns"], 1000000)

    def test_asynchronous_generators_are_talked_to_as_without(self):
        done, events = record(
            """
record.start(OUT)
async def talk():
    try:
        while True:
            try:
                print("got", (yield 1))
            except ValueError as e:
                print("caught", e)
    finally:
        print("closed")
async def both():
    for function in (talk, record.scope("talk")(talk)):
        a = function()
        await a.asend(None)
        await a.asend(7)
        await a.athrow(ValueError("x"))
        await a.aclose()
        try:
            b = function()
            await b.asend(None)
            await b.athrow(KeyError("y"))
        except KeyError as e:
            print("passed", e)
asyncio.run(both())
record.stop()
""",
            self.folder,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(lines, ["got 7", "caught x", "closed", "closed", "passed 'y'"] * 2)
        self.assertEqual(len(named(events, "talk")), 2)

    def test_exceptions_pass_and_end_their_scopes(self):
        done, events = record(
            """
record.start(OUT)
try:
    with record.scope("fails"):
        raise KeyError("x")
except KeyError:
    print("passed")
with record.scope("after"):
    pass
record.stop()
""",
            self.folder,
        )
        self.assertEqual(done.stdout, "passed\n")
        self.assertIsNone(named(events, "after")[0].get("parent_id"))
        self.assertIsNotNone(named(events, "fails")[0]["dur_ns"])

    def test_counters_instants_steps_threads_and_facts(self):
        _, events = record(
            """
record.start(OUT)
record.process_name("trainer")
record.metadata("model", "small")
for i in range(3):
    assert record.step() == i
    record.counter("loss", 1.5 - i)
    record.counter("seen", 8 * i)
    record.instant("done", step=i)
record.step_end()
def work():
    record.thread_name("loader")
    with record.scope("on a thread"):
        pass
t = threading.Thread(target=work)
t.start()
t.join()
assert record.losses() == {"full": 0, "too_big": 0, "nested": 0, "late": 0}
record.stop()
""",
            self.folder,
        )
        self.assertEqual(len([e for e in events if e["kind"] == "step"]), 3)
        self.assertEqual(
            [json.loads(e["args"])["value"] for e in named(events, "loss")], [1.5, 0.5, -0.5]
        )
        self.assertEqual(
            [json.loads(e["args"])["value"] for e in named(events, "seen")], [0, 8, 16]
        )
        self.assertEqual(
            [json.loads(e["args"])["step"] for e in named(events, "done")], [0, 1, 2]
        )
        trace = opscope.load(os.path.join(self.folder, "run.osc"))
        self.assertIn("loader", trace["threads"]["name"].tolist())
        info = dict(zip(trace["info"]["key"], trace["info"]["value"]))
        self.assertEqual(info["meta.model"], "small")

    def test_losses_are_told_on_another_thread(self):
        done, _ = record(
            """
told = []
def tell(losses):
    told.append((losses, threading.get_ident()))
    raise KeyError("told")
assert record.path() is None
record.start(OUT, lost=tell)
assert record.path() == OUT, record.path()
record.instant("x" * (17 << 20))  # longer than a name may be
record.stop()
assert record.path() is None
assert told and told[-1][0] == {"full": 0, "too_big": 1, "nested": 0, "late": 0}, told
assert told[0][1] != threading.get_ident()
record.start(OUT)
record.stop()
n = len(told)
record.start(OUT, lost=tell)
record.instant("x" * (17 << 20))
""",
            self.folder,
        )
        self.assertIn("KeyError", done.stderr)  # as Python reports errors of such functions

    def test_the_function_for_losses_is_one(self):
        done, _ = record(
            """
try:
    record.start(OUT, lost=3)
except TypeError as e:
    print(e)
record.start(OUT, lost=print)  # nothing is lost, so it is not called
record.stop()
""",
            self.folder,
        )
        self.assertEqual(done.stdout, "start: lost must be a function, not int\n")

    def test_names_and_values_of_any_kind_never_raise(self):
        _, events = record(
            """
class Bad:
    def __str__(self):
        raise ValueError("no text")
record.start(OUT)
with record.scope("\\ud800 lone", x=Bad(), y="\\ud800", z=[1, "a"], w=[2**70], n=None):
    pass
with record.scope("", big=list(range(1000))):
    pass
with record.scope("x" * 100000):
    pass
record.instant("\\0")
for i in range(70000):
    record.instant(f"name {i}")
record.stop()
""",
            self.folder,
        )
        self.assertEqual(len(named(events, "x" * 100000)), 1)
        self.assertEqual(len(named(events, "name 69999")), 1)
        self.assertEqual(len(named(events, "\0")), 1)

    def test_misuse_of_the_interface_is_an_error(self):
        done, _ = record(
            """
open(OUT + ".file", "w").close()
for bad in (lambda: record.scope("x", kind="operater"), lambda: record.scope(3),
            lambda: record.counter(1, 2), lambda: record.counter("x", "3"),
            lambda: record.start(OUT + ".file/in.osc"), lambda: record.instant()):
    try:
        bad()
        print("no error")
    except (ValueError, TypeError, OSError) as e:
        print(type(e).__name__)
record.start(OUT)
try:
    record.start(OUT)
except RuntimeError as e:
    print(e)
record.stop()
""",
            self.folder,
        )
        self.assertEqual(
            done.stdout,
            "ValueError\nTypeError\nTypeError\nTypeError\nOSError\nTypeError\n"
            "start: opscope is already recording\n",
        )

    def test_misuse_is_told_alike_whether_or_not_something_records(self):
        done, _ = record(
            """
import numpy

def tell(f):
    try:
        return str(f())
    except Exception as e:
        return f"{type(e).__name__}: {e}"

def all_of_them():
    return [tell(f) for f in (
        lambda: record.counter("x", 1j), lambda: record.counter("x", None),
        lambda: record.counter("x", numpy.zeros(2)), lambda: record.counter("x", numpy.zeros(1)),
        lambda: record.counter("x", numpy.zeros((1, 2))), lambda: record.counter("x", [1]),
        lambda: record.counter("x", numpy.array(1.5)), lambda: record.counter("x", 1 << 80),
        lambda: record.instant(3), lambda: record.instant(chr(0xd800)), lambda: record.args(3),
        lambda: record.step(3), lambda: record.thread_name(3), lambda: record.metadata("a", 3),
        lambda: record.enable("io:x"), lambda: record.sample("x=y"),
        lambda: record.scope("x", kind="oprator"), lambda: record.scope("x", category="c", level=0),
        lambda: record.scope("x").__exit__(None, None, None))]

idle = all_of_them()
record.start(OUT)
for before, now in zip(idle, all_of_them()):
    print("same" if before == now else (before, now))
print(sum("Error" in text for text in idle), "errors")
record.stop()
""",
            self.folder,
        )
        self.assertEqual(done.stdout, "same\n" * 19 + "14 errors\n")

    def test_nonsense_at_the_start_is_named(self):
        done, _ = record(
            """
import signal
for bad in ({"wait": 1}, {"repeat": 2}, {"wait": -1, "active": 1}, {"buffer_bytes": -1},
            {"limit_bytes": 2**64}, {"flight_seconds": -1}, {"flight_seconds": float("nan")},
            {"slow_step": float("inf")}, {"dump_signal": 9999}, {"toggle_signal": signal.SIGKILL},
            {"dump_signal": signal.SIGUSR1, "toggle_signal": signal.SIGUSR1}):
    try:
        record.start(OUT, **bad)
        print("no error")
    except ValueError as e:
        print(e)
assert not record.is_on() and not os.path.exists(OUT)
record.start(os.fsencode(OUT), dump_signal=signal.SIGUSR1, toggle_signal=signal.SIGUSR2,
             flight_seconds=0.5)
record.stop()
""",
            self.folder,
        )
        self.assertEqual(
            done.stdout,
            """\
start: wait is 1, but no step is to be recorded: it needs active
start: repeat is 2, but no step is to be recorded: it needs active
start: wait must be a whole number from 0 to 2**64 - 1, not -1
start: buffer_bytes must be a whole number from 0 to 2**64 - 1, not -1
start: limit_bytes must be a whole number from 0 to 2**64 - 1, not 18446744073709551616
start: flight_seconds must be at least 0 and below 1e9, not -1
start: flight_seconds must be at least 0 and below 1e9, not nan
start: slow_step must be at least 0 and below 1e9, not inf
start: dump_signal must be 0 or a signal that a program can catch, not 9999
start: toggle_signal must be 0 or a signal that a program can catch, not 9
start: dump_signal and toggle_signal are the same signal
""",
        )

    def test_whatever_is_called_can_be_decorated_but_classes(self):
        done, events = record(
            """
import functools
def add(a, b):
    return a + b
class Adder:
    def __call__(self, a, b):
        return a + b
    @record.scope
    @staticmethod
    def static(a, b):
        return a + b
    @record.scope("of class")
    @classmethod
    def of_class(cls, a):
        return cls()(a, 1)
record.start(OUT)
adder = Adder()
for result in (record.scope(functools.partial(functools.partial(add, 1), b=2))(),
               record.scope(adder)(1, 2), Adder.static(1, 2), adder.static(1, 2),
               Adder.of_class(2), adder.of_class(2)):
    assert result == 3, result
record.stop()
for bad in (lambda: record.scope(Adder), lambda: record.scope("x")(Adder),
            lambda: record.scope("x")(3)):
    try:
        bad()
    except TypeError as e:
        print(e)
""",
            self.folder,
        )
        found = [e["name"] for e in events if e["kind"] == "scope"]
        self.assertEqual(found, ["add", "Adder"] + ["Adder.static"] * 2 + ["of class"] * 2)
        no = "scope() takes a name, or decorates a function, not "
        self.assertEqual(
            done.stdout.splitlines(),
            [no + "the class Adder: decorate its methods"] * 2 + [no + "int"],
        )

    def test_a_schedule_records_its_steps_alone(self):
        _, events = record(
            """
record.start(OUT, wait=1, active=2, repeat=1)
for i in range(6):
    record.step()
    record.instant(f"in {i}")
record.stop()
""",
            self.folder,
        )
        self.assertEqual(
            sorted({e["name"] for e in events if e["kind"] == "instant"}), ["in 1", "in 2"]
        )

    def test_a_program_under_opscope_run_needs_no_start(self):
        program = pathlib.Path(self.folder, "program.py")
        program.write_text(
            "from opscope import record\n"
            "with record.scope('found'):\n    pass\n"
            "assert record.is_on()\n"
        )
        support.run(
            "run", "-o", os.path.join(self.folder, "out"), "--", sys.executable, program
        )
        table = opscope.load(os.path.join(self.folder, "out"))["events"]
        self.assertIn("found", table["name"].tolist())

    def test_off_means_off(self):
        done, events = record(
            """
with record.scope("nobody records"):
    record.counter("x", 1)
record.start(OUT)
print(record.is_on())
record.stop()
""",
            self.folder,
            OPSCOPE="0",
        )
        self.assertEqual(done.stdout, "False\n")
        self.assertEqual(events, [])

    def test_pause_and_resume(self):
        _, events = record(
            """
record.start(OUT)
record.instant("before")
record.pause()
assert record.is_on()
record.instant("between")
record.resume()
record.instant("after")
record.stop()
""",
            self.folder,
        )
        found = {e["name"] for e in events if e["kind"] == "instant"}
        self.assertEqual(found & {"before", "between", "after"}, {"before", "after"})

    def test_what_a_killed_program_recorded_is_there(self):
        out = os.path.join(self.folder, "killed.osc")
        code = (
            f"from opscope import record\nimport os\nrecord.start({out!r})\n"
            "for i in range(1000):\n    with record.scope('kept'):\n        pass\n"
            "os.kill(os.getpid(), 9)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        self.assertEqual(done.returncode, -9)
        trace = opscope.load(self.folder)
        self.assertEqual(trace["events"]["name"].tolist().count("kept"), 1000)

    def test_the_end_of_the_program_writes_what_is_recorded(self):
        for end in (
            "",
            "sys.exit(0)",
            "threading.Thread(target=lambda: [record.instant('late') "
            "for i in range(100000)], daemon=True).start()",
        ):
            with tempfile.TemporaryDirectory() as folder:
                _, events = record(
                    "import sys\nrecord.start(OUT)\n"
                    "with record.scope('whole'):\n    pass\n"
                    "open_still = record.scope('open')\n"
                    f"open_still.__enter__()\n{end}\n",
                    folder,
                )
                self.assertEqual(len(named(events, "whole")), 1)
                self.assertEqual(len(named(events, "open")), 1)

    def test_children_record_into_files_of_their_own(self):
        record(
            """
import multiprocessing
record.start(OUT)
def work(i):
    with record.scope(f"child {i}"):
        return i
if __name__ == "__main__":
    with record.scope("parent"):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(4)) == [0, 1, 2, 3]
            pool.close()
            pool.join()
    record.stop()
""",
            self.folder,
        )
        names = opscope.load(self.folder)["events"]["name"].tolist()
        self.assertIn("parent", names)
        self.assertEqual(len([n for n in names if n.startswith("child ")]), 4)

    def test_many_threads_record_at_once(self):
        _, events = record(
            """
record.start(OUT)
shared = record.scope("shared")
def work(i):
    for k in range(500):
        with shared:
            with record.scope(f"of {i}", k=k):
                pass
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
record.stop()
""",
            self.folder,
        )
        self.assertEqual(len(named(events, "shared")), 4000)
        for i in range(8):
            own = named(events, f"of {i}")
            self.assertEqual([json.loads(e["args"])["k"] for e in own], list(range(500)))
            self.assertEqual(len({e["thread"] for e in own}), 1)

    def test_a_stop_of_nothing_warns(self):
        stops = "from opscope import record\nrecord.stop()\n"
        begins = f"record.start({os.path.join(self.folder, 'a.osc')!r})\nrecord.stop()\n"
        for code, variables, n in (
            (stops + begins + "record.stop()", {}, 2),
            (stops, {"OPSCOPE": "0"}, 0),
            (stops, {"OPSCOPE_OUT": self.folder}, 0),
        ):
            done = subprocess.run(
                [sys.executable, "-W", "always", "-c", code],
                capture_output=True,
                text=True,
                env={**os.environ, **variables},
                check=False,
            )
            self.assertEqual(
                done.stderr.count("RuntimeWarning: stop: opscope is not recording"), n, done
            )

    def test_neither_numpy_nor_torch_is_imported(self):
        code = (
            "import sys\nfrom opscope import record\n"
            "print([m for m in ('numpy', 'torch', 'pandas', 'pyarrow') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.stdout, "[]\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
