# SPDX-License-Identifier: Apache-2.0
"""Traces follow changes of their files, and views open no file."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import support

import opscope


def write(path, rank, at=1000, n=30):
    """A trace of RANK: N operators in three steps, two threads, from AT microseconds on."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": f"op{i % 5}",
            "pid": 7,
            "tid": 1 + i % 2,
            "ts": at + 10 * i,
            "dur": 5,
        }
        for i in range(n)
    ]
    events += [
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": f"ProfilerStep#{i + 1}",
            "pid": 7,
            "tid": 1,
            "ts": at + i * 10 * n // 3,
            "dur": 10 * n // 3,
        }
        for i in range(3)
    ]
    events += [
        {
            "ph": "X",
            "cat": "kernel",
            "name": "k",
            "pid": 0,
            "tid": 7,
            "ts": at + 20,
            "dur": 3,
            "args": {"device": 0, "stream": 7, "correlation": 1},
        }
    ]
    path.write_text(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))


SELECTIONS = [
    {"steps": "2"},
    {"steps": "@0-@1"},
    {"rank": "1"},
    {"span": "1"},
    {"from_": "50us"},
    {"to": "200us"},
    {"process": 7},
    {"thread": 2},
    {"device": "cuda:0"},
    {"rank": 0, "steps": "3", "from_": "20us", "to": "1ms"},
]


class Views(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.paths = [pathlib.Path(self.folder.name, f"rank{i}.json") for i in range(3)]
        for i, path in enumerate(self.paths):
            write(path, i, 1000 + i)

    def expect(self, selections, *words):
        """The command's output for each of SELECTIONS."""
        return [
            support.table(
                name,
                *words,
                *[f"--{key.rstrip('_')}={value}" for key, value in options.items()],
                self.folder.name,
            )[1]
            for options in selections
            for name in ("operators", "events")
        ]

    def compare(self, loaded, selections, expected):
        asked = [(name, options) for options in selections for name in ("operators", "events")]
        for (name, options), rows in zip(asked, expected):
            with self.subTest(table=name, **options):
                self.assertEqual(loaded.table(name, **options).n_rows, len(rows))

    def test_ten_selections_of_several_ranks_open_no_file(self):
        loaded = opscope.load(self.folder.name)
        expected = self.expect(SELECTIONS)
        for path in self.paths:
            path.unlink()
        self.compare(loaded, SELECTIONS, expected)

    def test_what_was_loaded_for_some_ranks_or_steps_answers_for_others_of_them(self):
        some = [options for options in SELECTIONS if "rank" not in options] + [{"rank": "0"}]
        ranks = opscope.load(self.folder.name, rank="0-1")
        steps = opscope.load(self.folder.name, steps="1")
        expected = self.expect(some[:-1], "--rank=0-1") + self.expect(some[-1:])
        of_steps = self.expect([{"steps": "2"}, {"steps": "1", "thread": 2}])
        for path in self.paths:
            path.unlink()
        self.compare(ranks, some, expected)
        self.compare(steps, [{"steps": "2"}, {"thread": 2}], of_steps)
        with self.assertRaises(opscope.TraceError):  # it was not kept
            ranks.table("operators", rank="2")

    @unittest.skipIf(
        "asan" in os.environ.get("LD_PRELOAD", ""), "it would be loaded into strace"
    )
    def test_system_calls_of_selections_name_no_trace(self):
        if (
            subprocess.run(
                ["sh", "-c", "strace -V"], capture_output=True, check=False
            ).returncode
            != 0
        ):
            self.skipTest("there is no strace")
        code = (
            "import opscope, sys\n"
            "t = opscope.load(sys.argv[1]); t['operators']\n"
            "open('/dev/null').close()\n"
            f"for s in {SELECTIONS!r}: t.table('operators', **s)\n"
        )
        done = subprocess.run(
            [
                "strace",
                "-f",
                "-e",
                "trace=open,openat,stat,newfstatat,statx",
                sys.executable,
                "-c",
                code,
                self.folder.name,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 and "ptrace" in done.stderr:
            self.skipTest("strace is not allowed")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        before, _, after = done.stderr.partition("/dev/null")
        self.assertIn("rank0.json", before)
        self.assertEqual([line for line in after.splitlines() if "rank" in line], [])


class Refresh(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write(self.folder / "rank0.json", 0)

    def spoil(self, name):
        """Change the content of a file without changing its size or times."""
        path = self.folder / name
        info = path.stat()
        with open(path, "r+b") as f:
            f.write(b"x" * info.st_size)
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))

    def test_what_has_not_changed_is_not_read(self):
        trace = opscope.load(self.folder)
        before = trace["operators"]
        self.spoil("rank0.json")
        self.assertFalse(trace.refresh())
        write(self.folder / "rank1.json", 1, at=500)
        self.assertTrue(trace.refresh())
        after = trace["operators"]
        self.assertEqual(before["calls"].sum(), 30)
        self.assertEqual(after["calls"].sum(), 60)
        self.assertEqual(trace.table("steps", rank=0)["start_ns"][0], 500_000)
        self.assertNotEqual(before.fingerprint, after.fingerprint)

    def test_fingerprints_are_the_same_in_any_process(self):
        code = "import opscope, sys; print(opscope.load(sys.argv[1])['events'].fingerprint)"
        other = subprocess.run(
            [sys.executable, "-c", code, str(self.folder)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        trace = opscope.load(self.folder)
        self.assertEqual(trace["operators"].fingerprint, other)
        self.assertEqual(trace.table("operators", steps="2").fingerprint, other)
        self.assertRegex(other, "^[0-9a-f]{32}$")
        write(self.folder / "rank0.json", 0)
        trace.refresh()
        self.assertNotEqual(trace["operators"].fingerprint, other)

    def test_what_goes_wrong_is_told_and_changes_nothing(self):
        path = self.folder / "rank0.json"
        trace = opscope.load(path)
        before = trace["operators"].fingerprint
        path.unlink()
        with self.assertRaises(FileNotFoundError):
            trace.refresh()
        path.write_text("no trace")
        with self.assertRaises(opscope.TraceError):
            trace.refresh()
        self.assertEqual(trace["operators"].fingerprint, before)

    def test_a_file_that_cannot_be_read_any_more_is_a_warning(self):
        write(self.folder / "rank1.json", 1)
        trace = opscope.load(self.folder)
        (self.folder / "rank1.json").write_text("no trace")
        with self.assertWarnsRegex(UserWarning, "rank1.json"):
            self.assertTrue(trace.refresh())
        self.assertEqual(trace["operators"]["calls"].sum(), 30)

    def test_a_recording_that_runs_grows(self):
        code = (
            "import sys\nfrom opscope import record\n"
            "record.start(out=sys.argv[1])\n"
            "for line in sys.stdin:\n"
            "    with record.scope(line.strip()): pass\n"
            "    print('done', flush=True)\n"
        )
        out = self.folder / "run.osc"
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(out)],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(child.stdout.close)

        def say(line):
            child.stdin.write(line + "\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "done\n")

        say("first")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = opscope.load(self.folder / "run.osc")
            first = trace["events"]
            say("second")
            self.assertTrue(trace.refresh())
            second = trace["events"]
            child.stdin.close()
            self.assertEqual(child.wait(), 0)
            self.assertTrue(trace.refresh())
            last = trace["events"]
            self.assertFalse(trace.refresh())
        self.assertIn("first", first["name"].tolist())
        self.assertNotIn("second", first["name"].tolist())
        self.assertIn("second", second["name"].tolist())
        self.assertEqual(len({first.fingerprint, second.fingerprint, last.fingerprint}), 3)
        self.assertNotIn("still_recording", trace["quality"]["code"].tolist())

    def test_a_recording_that_was_killed_is_not_read_twice(self):
        code = (
            "import os, signal, sys\nfrom opscope import record\n"
            "record.start(out=sys.argv[1])\n"
            "with record.scope('last'): pass\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        out = self.folder / "run.osc"
        subprocess.run([sys.executable, "-c", code, str(out)], check=False)
        trace = opscope.load(out)
        before = trace["events"]
        self.assertIn("last", before["name"].tolist())
        self.assertFalse(trace.refresh())
        self.assertEqual(trace["events"].fingerprint, before.fingerprint)


if __name__ == "__main__":
    unittest.main()
