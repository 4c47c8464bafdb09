#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: export-redact
# args: --opscope {gcc}/opscope --random 2 --seed {seed}
# full: --opscope {gcc}/opscope --random 800 --seed {seed}
"""Check that the output of --redact contains no text of a program, in any format.

usage: redact.py [--opscope PATH] [--random N] [--seed N]

Makes traces in which every text that can come from a program or a host contains a different secret:
names, categories, ids, arguments and their keys, counters, metadata, members of the file, names of
files. Some follow text that is kept, such as "nn.Module: ". Writes each trace in every format and
as every table, with and without --redact, and searches all bytes for each secret: with --redact
there must be none. Without it the secrets that the format can hold must be there; otherwise the
search would prove nothing. A page is written with a file beside it, which a signal must not leave.
"""

import argparse
import base64
import contextlib
import gzip
import json
import os
import random
import re
import signal
import string
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHAPES = [
    "{}",
    "/home/{}/train.py(3): f",
    "nn.Module: {}_0",
    "aten::add {}",
    "{}::add",
    "void at::native::kernel<{}>(int)",
    "https://{}@host/x?{}",
    "Optimizer.step#{}.step",
    "autograd::engine::evaluate_function: {}Backward",
    "GPU 0 {}",
    "ProfilerStep#{}",
    "torch/{}.py",
    "C:\\{}\\x",
    "{}Backward",
    "nccl:{}",
    "[{}]",
    "\u00e9{}",
    "name {}",
]
FORMS = ["out.json", "out.json.gz", "out.osc", "out.csv", "out.folded"]


class Maker:
    """Makes texts with secrets, and remembers the secrets."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.secrets: list[str] = []

    def secret(self) -> str:
        self.secrets.append("zq" + "".join(self.r.choices(string.ascii_lowercase, k=8)))
        return self.secrets[-1]

    def text(self) -> str:
        return self.r.choice(SHAPES).replace("{}", self.secret())

    def value(self) -> object:
        return self.r.choice([self.text(), [self.text(), 1], {self.text(): self.text()}, 5])

    def event(self, ts: int) -> dict[str, object]:
        r = self.r
        ph = r.choice("XXXXXXibeCMsf")
        e: dict[str, object] = {
            "ph": ph,
            "name": self.text(),
            "ts": ts,
            "pid": r.choice([1, 2]),
            "tid": r.choice([1, 2, self.text()]),
            "cat": r.choice(
                ["cpu_op", "kernel", "python_function", "user_annotation", self.text()]
            ),
        }
        if ph == "X":
            e["dur"] = r.randint(1, 50)
        if ph == "M":
            e["name"] = r.choice(["process_name", "thread_name", "process_labels", self.text()])
        if ph in "besf":
            e["id"] = r.choice([7, self.text()])
        e["args"] = {
            key: r.randint(0, 9) if ph == "C" else self.value()
            for key in {
                "name",
                "labels",
                self.text(),
                r.choice(
                    [
                        "grid",
                        "block",
                        "stream",
                        "Collective name",
                        "Input Dims",
                        "Call stack",
                        "correlation",
                    ]
                ),
            }
        }
        e[self.text()] = self.value()
        return e

    def trace(self) -> dict[str, object]:
        keys = [
            "schemaVersion",
            "record_shapes",
            "torch_version",
            "host_name",
            "displayTimeUnit",
            "trace_name",
            self.text(),
        ]
        return {
            **{k: self.value() for k in keys},
            "deviceProperties": [{"id": 0, "name": self.text(), "uuid": self.text()}],
            "distributedInfo": {"rank": 0, "backend": self.text(), "x": [self.text()]},
            "traceEvents": [self.event(10 * i) for i in range(60)],
        }


def run(opscope: str, *arguments: object) -> None:
    done = subprocess.run([opscope, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit("redact.py: %s: %s" % (arguments, done.stderr.decode(errors="replace")))


def found(path: Path, secrets: list[str]) -> list[str]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    if path.suffix == ".html":
        packed = re.search(rb'id="data">([A-Za-z0-9+/=]+)</script>', data)
        assert packed
        data += gzip.decompress(base64.b64decode(packed[1]))
    return [s for s in secrets if s.encode() in data]


def has_page(opscope: str) -> bool:
    """Whether this build can write pages."""
    with tempfile.TemporaryDirectory() as where:
        path = Path(where, "t.json")
        path.write_text('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]}')
        done = subprocess.run(
            [opscope, "export", path, "-o", Path(where, "out.html")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0 and "was built without" not in done.stderr:
        sys.exit("redact.py: %s" % done.stderr)
    return done.returncode == 0


def leaves(opscope: str, number: signal.Signals) -> list[str]:
    """What is left where --redact was ended by a signal as soon as its file was there."""
    with tempfile.TemporaryDirectory() as where:
        path, scratch = Path(where, "t.json"), Path(where, "scratch")
        scratch.mkdir()
        events = [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "f%d" % (i % 9),
                "pid": 1,
                "tid": 1,
                "ts": i,
                "dur": 1,
            }
            for i in range(20000)
        ]
        path.write_text(json.dumps({"traceEvents": events}))
        env = {**os.environ, "TMPDIR": str(scratch)}
        with subprocess.Popen(
            [opscope, "export", path, "--redact", "-o", Path(where, "out.html")],
            env=env,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509
        ) as process:
            while process.poll() is None:
                with contextlib.suppress(FileNotFoundError):  # its folder went while we looked
                    if list(scratch.glob("*/*")):
                        break
            process.send_signal(number)
        if process.returncode not in (0, -number):
            sys.exit("redact.py: status %d after a signal" % process.returncode)
        return [p.name for p in scratch.rglob("*")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default=str(ROOT / "build-gcc" / "opscope"))
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    n_failed, n_looked = 0, 0
    forms = FORMS + (["out.html"] if has_page(args.opscope) else [])

    for n in range(args.random):
        make = Maker(random.Random(args.seed * 1000 + n))
        with tempfile.TemporaryDirectory() as where:
            path = Path(where, make.secret() + ".json")
            path.write_text(json.dumps(make.trace()))
            # Workers of the same rank and span, which `quality` names.
            workers = [Path(where, make.secret() + ".pt.trace.json") for _ in range(2)]
            for worker in workers:
                worker.write_text(path.read_text())
            listed = subprocess.run(
                [args.opscope, "table", "--list"], capture_output=True, text=True, check=True
            ).stdout
            tables = [
                line.split()[0]
                for line in listed.splitlines()
                if line[:1].islower() and not line.startswith("diff_")
            ]
            jobs = [(name, []) for name in forms]
            jobs += [("out.csv", ["--table", t]) for t in tables]
            for name, options in jobs:
                out = Path(where, name)
                operands = workers if "quality" in options else [path]
                if name != "out.folded":  # contains few of the texts
                    run(args.opscope, "export", *operands, "-o", out, *options)
                    n_open = len(found(out, make.secrets))
                    if not options and n_open < 30:
                        sys.exit("redact.py: only %d secrets in %s" % (n_open, name))
                    n_looked += n_open
                run(args.opscope, "export", *operands, "-o", out, "--redact", *options)
                left = found(out, make.secrets)
                if left:
                    n_failed += 1
                    print(
                        "seed %d, %s %s: %d left: %s" % (n, name, options, len(left), left[:3])
                    )
    if "out.html" in forms:
        left = [leaves(args.opscope, n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
        if any(left):
            n_failed += 1
            print("left by signals: %s" % left)
    print(
        "redact: %d traces, %d secrets found without --redact, %d files with one"
        % (args.random, n_looked, n_failed)
    )
    return 1 if n_failed or not n_looked else 0


if __name__ == "__main__":
    sys.exit(main())
