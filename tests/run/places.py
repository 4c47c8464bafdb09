#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: places
# args: --opscope {gcc}/opscope
"""Check where processes of a run record, and how they are found there.

    python3 tests/run/places.py --opscope COMMAND

Processes with another root directory, directories that are missing, and several runs in one
directory. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support import run_tests

RECORD = (
    "import ctypes, os, sys\nrecord = ctypes.CDLL(os.environ['LIBRARY']).osc_scope_instant\n"
)
# A child of a process that records gets another root directory.
JAILED = (
    RECORD
    + """
record(1)
if os.fork() == 0:
    os.mkdir("jail")
    os.chroot("jail")
    os.chdir("/")
    record(2)
    os._exit(0)
os.wait()
"""
)
# As JAILED, but the parent has not recorded yet.
JAILED_FIRST = JAILED.replace("record(1)", "")
REMOVED = (
    RECORD
    + """
os.rmdir(os.environ["OPSCOPE_OUT"])
record(1)
"""
)
# Says that it records, then waits for a line.
WAITS = (
    RECORD
    + """
record(1)
if sys.argv[1:] and os.fork() == 0:
    record(1)
os.write(1, b"x")
sys.stdin.readline()
"""
)
# Runs its arguments, below a filter that refuses clone3().
FILTER = """
import ctypes, os, struct, sys
code = b"".join(struct.pack("HBBI", *x) for x in (
    (0x20, 0, 0, 0), (0x15, 0, 1, 435), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)))
libc = ctypes.CDLL(None)
kept = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(kept))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
# Records events and starts recordings, in files of these names; a start of !NAME must fail.
STARTS = (
    RECORD
    + """
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("out", ctypes.c_char_p)]

library = ctypes.CDLL(os.environ["LIBRARY"])
for word in %r:
    if word == "record":
        record(1)
    else:
        out = word.strip("!").encode() or None
        failed = library.osc_start(ctypes.byref(Options(16, out))) != 0
        assert failed == word.startswith("!"), word
library.osc_stop()
"""
)
# A child ends a recording for which there is no room; its parent ends well.
FULL = (
    RECORD
    + """
import resource
library = ctypes.CDLL(os.environ["LIBRARY"])
if os.fork() == 0:
    record(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))
    for i in range(200000):
        record(1)
    library.osc_stop()
    os._exit(0)
os.wait()
"""
)
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]


class Place:
    """A directory for one test."""

    def __init__(self, opscope: Path, path: str):
        self.opscope = opscope
        self.path = Path(path)
        self.env = {
            "PATH": os.environ["PATH"],
            "LIBRARY": str(opscope.parent / "libopscope.so.0"),
        }

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            words,
            cwd=self.path,
            env=self.env | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def record(self, program: str, to: str = "rec", before: list[str] | None = None) -> str:
        """Record PROGRAM; returns what opscope says."""
        return self.run(
            *(before or []),
            str(self.opscope),
            "run",
            "--sources",
            "api",
            "-o",
            to,
            "--",
            sys.executable,
            "-c",
            program,
        ).stderr

    def table(self, *words: str) -> list[dict]:
        done = self.run(str(self.opscope), "table", *words, "--format", "csv")
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def codes(self, what: str = "rec") -> set[str]:
        return {row["code"] for row in self.table("quality", what)}


def jailed(place: Place) -> None:
    """A child below another root records nowhere, and the run says so."""
    said = place.record(JAILED, before=AS_ROOT)
    assert "could not be recorded: it has another root directory (chroot)" in said, said
    assert not list((place.path / "jail").iterdir())
    assert "source_failed" in place.codes()
    assert len(place.table("events", "rec")) == 1


def jailed_first(place: Place) -> None:
    """So does the first process that records."""
    said = place.record(JAILED_FIRST, before=AS_ROOT)
    assert "it has another root directory (chroot)" in said, said
    assert not list((place.path / "jail").iterdir())
    assert "source_failed" in place.codes()


def removed(place: Place) -> None:
    """The directory that opscope run made is not there."""
    said = place.record(REMOVED)
    assert "could not be recorded: No such file or directory; it was removed" in said, said


def filtered(place: Place) -> None:
    """A filter of system calls is named as what it is: another directory does not help."""
    said = place.record(RECORD + "record(1)", before=[sys.executable, "-c", FILTER])
    assert "could not be recorded: Operation not permitted; a filter of system calls" in said, (
        said
    )


def missing(place: Place) -> None:
    """Without a run, a directory that does not exist is made."""
    done = place.run(sys.executable, "-c", RECORD + "record(1)", OPSCOPE_OUT="a/b")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert len(place.table("events", "a/b")) == 1


def several(place: Place) -> None:
    """Runs into one directory are told apart, also those at the same time."""
    runs = [
        subprocess.Popen(
            [
                place.opscope,
                "run",
                "--sources",
                "api",
                "-o",
                "rec",
                "--",
                sys.executable,
                "-c",
                WAITS,
                "child",
            ],
            cwd=place.path,
            env=place.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for run in runs:
        assert run.stdout.read(2) == b"xx"
    for run in runs:
        run.communicate(b"\n\n", timeout=60)
    place.record(RECORD + "record(1)")
    runs = {
        (row["span"], row["value"])
        for row in place.table("info", "rec")
        if row["key"] == "meta.run_id"
    }
    assert len(runs) == len({run for _, run in runs}) == 3, runs
    assert {row["span"] for row in place.table("events", "rec")} == {"1", "2", "3"}
    said = place.run(str(place.opscope), "run", "--summary", "-o", "rec", "--", "true").stderr
    assert "nothing was recorded" in said, said
    said = place.run(
        str(place.opscope),
        "run",
        "--sources",
        "api",
        "--summary",
        "-o",
        "rec",
        "--",
        sys.executable,
        "-c",
        RECORD + "record(1)",
    ).stderr
    assert "1 recording, " in said and "beside 6 of other runs" in said, said


def lost(place: Place) -> None:
    """Losses are reported in one line; those of other runs are not."""
    long = RECORD + "ctypes.CDLL(os.environ['LIBRARY']).osc_arg_text(1, b'x' * 99999, 99999)\n"
    for _ in range(2):
        said = place.record(long + "record(1)")
        assert said == (
            "opscope run: 1 record was lost (1 too long); see 'opscope table quality rec'\n"
        ), said
    assert place.record(RECORD + "record(1)") == ""
    assert [
        row["count"]
        for row in place.table("quality", "rec")
        if row["code"] == "dropped_too_big"
    ] == ["1", "1"]


def full(place: Place) -> None:
    """Who ended the recording was not killed, though the file could not be written to its end."""
    said = place.record(FULL)
    assert "because a file could not be written: File too large" in said, said
    found = place.codes()
    assert "disk_full" in found and not found & {"ended_silently", "killed"}, found


def gone(place: Place) -> None:
    """The directory is removed by the program."""
    said = place.record("import shutil, os\nshutil.rmtree(os.environ['OPSCOPE_OUT'])")
    assert "rec: it was removed while the program ran" in said, said


def own(place: Place) -> None:
    """A program that starts a recording itself is not disturbed: in a file that it names it has all
    from then on, and the run says where; without a name the run has all."""
    for words, inside, elsewhere in (
        (("own.osc", "record"), 0, 1),
        (("record", "own.osc", "record", "record"), 1, 2),
        (("", "record"), 1, 0),
        (("record", "", "record"), 2, 0),
        (("record", "", "!own.osc", "!"), 1, 0),
        (("record", "!/proc/no/own.osc", "record"), 2, 0),
    ):
        said = place.record(STARTS % (words,))
        events = len(place.table("events", "rec")) if inside else (place.path / "rec").exists()
        assert events == inside, (words, said)
        own_file = place.path / "own.osc"
        assert own_file.exists() == (elsewhere > 0), (words, said)
        assert ("named a file of its own, and its recording is " in said) == (elsewhere > 0), (
            said
        )
        assert "nothing was recorded" not in said, said
        assert elsewhere or not said or "/proc/no/own.osc: process " in said, said
        if elsewhere:
            assert len(place.table("events", "own.osc")) == elsewhere
            own_file.unlink()
        if inside:
            shutil.rmtree(place.path / "rec")


def steered(place: Place) -> None:
    """opscope ctl takes the process of opscope run, for the processes of that run only."""
    runs = [
        subprocess.Popen(
            [
                place.opscope,
                "run",
                "--sources",
                "api",
                "-o",
                "rec",
                "--",
                sys.executable,
                "-c",
                WAITS,
                *words,
            ],
            cwd=place.path,
            env=place.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for words in (["child"], [])
    ]
    try:
        for run, n in zip(runs, (2, 1)):
            for _ in range(n):
                assert run.stdout.read(1) == b"x"
        for run, n in zip(runs, (2, 1)):
            done = place.run(str(place.opscope), "ctl", str(run.pid), "status")
            assert done.returncode == 0, done.stderr
            assert done.stdout.count("state=recording") == n, done.stdout
        done = place.run(str(place.opscope), "ctl", "rec", "status")
        assert done.stdout.count("state=recording") == 3, done.stdout
    finally:
        for run in runs:
            run.communicate(b"\n\n", timeout=60)
    done = place.run(str(place.opscope), "ctl", str(os.getpid()), "status")
    assert done.returncode == 1 and "no such process is recording" in done.stderr, done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=Path)
    opscope = parser.parse_args().opscope.resolve()
    tests = [own, removed, filtered, missing, several, lost, full, gone, steered]
    if subprocess.run([*AS_ROOT, "true"], capture_output=True, check=False).returncode == 0:
        tests += [jailed, jailed_first]
    else:
        print("skipped jailed: no other root directory can be set")
    return run_tests(tests, lambda place: (Place(opscope, place),))


if __name__ == "__main__":
    sys.exit(main())
