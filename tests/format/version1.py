#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: version1
# args: --opscope {gcc}/opscope
# mode: fast
"""Check that files of version 1 of the format stay readable (docs/format.md, Versions).

    version1.py [--opscope PATH] [--make]

tests/data/version1 has a recording with a record of every kind, the columns that opscope exported
of it, and what both say. --make writes them anew: only before the first release, since from then
on these bytes are those that users have. Ends with "N passed, N failed".
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import writer as w

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/version1"
FILES = ("recording.osc", "columns.osc")

# Columns that stay; later ones may be added beside them.
QUESTIONS = {
    "events": "kind,name,process,thread,device,queue,start_ns,dur_ns,self_ns,depth,args",
    "threads": "process,thread,name,events",
    "flows": "kind",
    "steps": "step,label,thread,start_ns,total_ns",
    "memory_curve": "device,time_ns,allocated_bytes,reserved_bytes",
    "quality": "severity,code,count",
}


def add_calls(t):
    """Scopes of all kinds with arguments of all kinds."""
    t.add(w.THREAD_NAME, 1000, t.name("main"))
    t.add(w.PROCESS_NAME, 1001, t.name("example"))
    t.add(w.METADATA, None, t.name("model"), t.name("tiny"))
    t.add(w.STEP_BEGIN, 1100, words=(7, 0))
    for kind in range(11):
        t.begin(kind, f"scope {kind}", 1200 + 100 * kind)
        t.arg("integer", -kind)
    t.arg("double", 0.5)
    t.arg("truth", True)
    t.arg("numbers", [1, -2, 1 << 40])
    t.arg("text", 'quoted "text"')
    t.arg_name("name", "a name")
    t.json("Input Dims", "[[8,3],[]]")
    t.args([("first", "17"), ("second", '"b"')])
    t.stack([0x10010, 0x10400], 0)
    for kind in range(11):
        t.end(3000 + 100 * kind)
    t.complete(w.OPERATOR, "complete", 4200, 4300)
    t.instant("instant", 4400)
    t.add(w.COUNTER_I64, 4500, t.name("integers"), words=(-3, 0))
    t.add(w.COUNTER_F64, 4600, t.name("doubles"), words=(w.f64(0.25), 0))
    t.begin(w.PLAIN, "ended elsewhere", 4700)
    t.add(w.FLOW_BEGIN, 4710, words=(1, 0))
    t.add(w.PAUSE, 4800)
    t.add(w.RESUME, 4900)
    t.add(w.LOST, 4950, 2)
    t.add(w.STEP_END, 4960)
    t.lost[2] = 5


def add_work(t):
    """Ranges, memory and work of a device, and an end of another thread's scope."""
    t.begin(w.RUNTIME, "copies", 5000)
    t.add(w.FLOW_END, 5001, words=(1, 0))
    t.add(w.DEVICE, 5002, t.name("cuda"), words=(1, 0, 1 << 34, 10**9))
    t.add(w.DEVICE_NAME, 5003, t.name("Example 100"), words=(1, 0))
    t.add(w.QUEUE, 5004, t.name("copies"), words=(1, 1))
    t.add(w.DEVICE_CLOCK, 5005, 1, words=(5000, 4))
    t.add(w.LAUNCH, 5100, words=(9, 0))
    t.end(5200)
    t.add(w.WORK, 5300, t.name("copy"), words=(1 | 1 << 32, 9, 5100, 5110, 5120, 5200, 64, 0))
    t.end_of(4700, 5400)
    t.add(w.ASYNC_BEGIN, 5500, t.name("request"), words=(3, w.PLAIN))
    t.add(w.ASYNC_END, 5700, t.name("request"), words=(3, w.PLAIN))
    t.add(w.ALLOC, 5800, 0, words=(0x1000, 64))
    t.add(w.ALLOC_TOTAL, 5900, 1, words=(0x2000, 128, 128, 256))
    t.add(w.FREE_TOTAL, 6000, 1, words=(0x2000, 128, 0, 256))
    t.add(w.FREE, 6100, 0, words=(0x1000, 64))


def recording():
    """The bytes of a recording with a record of every kind."""
    rec = w.Recording(pid=9)
    rec.anchor(0, 10**9)
    rec.anchor(10_000, 10**9 + 10_000)
    rec.modules.append([(0x10000, 0x20000, 0, "/no/such/libexample.so")])
    rec.lost[1] = 2
    first, second = rec.thread(9), rec.thread(10)
    add_calls(first)
    add_work(second)
    return rec.content()


def answers(opscope, folder, name):
    """What the tables say of the file NAME in FOLDER."""
    return "".join(
        f"--- {table}\n"
        + subprocess.run(
            [opscope, "table", table, name, "--format", "csv", "--columns", columns],
            cwd=folder,
            capture_output=True,
            check=True,
            text=True,
            timeout=120,
        ).stdout
        for table, columns in QUESTIONS.items()
    )


def make(opscope):
    """Write the files and what they say."""
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    (DATA / FILES[0]).write_bytes(recording())
    # By its name alone: the export holds the path that it was given.
    subprocess.run(
        [opscope, "export", FILES[0], "-o", FILES[1]], cwd=DATA, check=True, timeout=120
    )
    for name in FILES:
        (DATA / name).with_suffix(".txt").write_text(answers(opscope, DATA, name))


def difference(opscope, name):
    """What is not as the file NAME once said, or None."""
    wanted = (DATA / name).with_suffix(".txt").read_text().splitlines()
    got = answers(opscope, DATA, name).splitlines()
    for a, b in zip(wanted, got):
        if a != b:
            return f"{name}: {b!r} instead of {a!r}"
    return None if len(wanted) == len(got) else f"{name}: {len(got)} lines"


def refusal(opscope):
    """What is wrong where a file says another version, or None."""
    with tempfile.TemporaryDirectory(prefix="version-") as scratch:
        path = pathlib.Path(scratch, "a.osc")
        data = recording()
        path.write_bytes(w.Recording().header(version=2) + data[64:])
        done = subprocess.run(
            [opscope, "info", path], capture_output=True, check=False, timeout=120
        )
        if done.returncode == 1 and b"version 2" in done.stderr:
            return None
        return f"version 2: exit status {done.returncode}, {done.stderr!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", default=ROOT / "build-gcc/opscope", type=pathlib.Path)
    parser.add_argument("--make", action="store_true")
    args = parser.parse_args()
    opscope = args.opscope.resolve()
    if args.make:
        make(opscope)
    wrong = [difference(opscope, name) for name in FILES] + [refusal(opscope)]
    if (DATA / FILES[0]).read_bytes() != recording():
        wrong.append("the writer of the tests writes other bytes")
    else:
        wrong.append(None)
    failed = [f"FAILED {text}" for text in wrong if text]
    print("\n".join([*failed, f"{len(wrong) - len(failed)} passed, {len(failed)} failed"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
