#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: parts
# args: --opscope {gcc}/opscope
# turn: 7
"""Check that a table of parts is, to the byte, the table that one process prints, however the
files are shared out and in whatever order the parts arrive; and that broken parts are refused.

usage: splits.py [--opscope PATH] [--mpi PATH] [--seed N]

The expected bytes are what `opscope table` prints. Runs: one of random ranks, of two spans, of one
rank in several processes and with a damaged file; the run of eight ranks in ../shared, if it is
there. With opscope-mpi, the same under mpirun with 1, 2, 3 and 7 processes.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "data" / "wild" / "cuda_v100_dlrm_8ranks"
FORMS = ("text", "csv", "json", "jsonl", "md")
SHARES = (1, 2, 3, 7)


def rank_events(rng: random.Random, rank: int) -> list[dict]:
    """Operators in two steps, calls, kernels and collectives of a rank, with decimals."""
    ts, events = rng.randrange(1000, 9000) + 0.125, []
    for step in range(2):
        begin = ts
        for i in range(rng.randrange(3, 9)):
            name = rng.choice(["aten::mm", "aten::add", "aten::conv2d", "nccl:all_reduce"])
            dur, corr = (
                rng.randrange(5, 60) + rng.choice([0, 0.25, 0.5]),
                rng.randrange(1, 10**6),
            )
            events += [
                {
                    "ph": "X",
                    "cat": "cpu_op",
                    "name": name,
                    "pid": 100 + rank,
                    "tid": 1,
                    "ts": ts,
                    "dur": dur,
                    "args": {"External id": corr, "Input Dims": [[i, 4]]},
                },
                {
                    "ph": "X",
                    "cat": "cuda_runtime",
                    "name": "cudaLaunchKernel",
                    "pid": 100 + rank,
                    "tid": 1,
                    "ts": ts + 1,
                    "dur": 2,
                    "args": {"correlation": corr},
                },
                {
                    "ph": "X",
                    "cat": "kernel",
                    "pid": 0,
                    "tid": 7,
                    "ts": ts + 4,
                    "dur": dur * 0.5,
                    "name": "ncclKernel_AllReduce" if "nccl" in name else f"kernel_{i % 3}",
                    "args": {
                        "correlation": corr,
                        "device": 0,
                        "stream": 7,
                        "External id": corr,
                    },
                },
            ]
            ts += dur + rng.randrange(1, 20)
        events.append(
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{step + 5}",
                "pid": 100 + rank,
                "tid": 1,
                "ts": begin,
                "dur": ts - begin - 0.5,
            }
        )
        ts += 3
    return events


def write_rank(path: Path, rng: random.Random, rank: int | None) -> None:
    text = {
        "schemaVersion": 1,
        "traceEvents": rank_events(rng, rank or 0),
        "deviceProperties": [
            {
                "id": 0,
                "name": "Device",
                "totalGlobalMem": 16 << 30,
                "numSms": 80,
                "maxThreadsPerMultiprocessor": 2048,
            }
        ],
    }
    if rank is not None:
        text["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 6}
    path.write_text(json.dumps(text))


def make_run(folder: Path, seed: int) -> list[str]:
    """A run of six ranks, one with two spans, one in two processes, and one that is cut."""
    rng = random.Random(seed)
    for rank in range(6):
        write_rank(folder / f"worker{rank}.{1000 + rank}.pt.trace.json", rng, rank)
    write_rank(folder / "worker2.2000.pt.trace.json", rng, 2)
    write_rank(folder / "other3.1003.pt.trace.json", rng, 3)
    cut = folder / "worker5.1005.pt.trace.json"
    cut.write_text(cut.read_text()[:-200])
    return sorted(str(p) for p in folder.iterdir())


class Tests:
    def __init__(self, opscope: str, mpi: str | None, scratch: Path):
        self.opscope, self.mpi, self.scratch = opscope, mpi, scratch
        self.passed = self.failed = 0

    def check(self, is_right: bool, what: str) -> None:
        self.passed += is_right
        self.failed += not is_right
        if not is_right:
            print(f"FAILED {what}")

    def run(self, *words: str) -> tuple[int, bytes, str]:
        p = subprocess.run(
            [str(w) for w in words], capture_output=True, timeout=120, check=False
        )
        said = p.stderr.decode("utf-8", "replace")
        return (
            p.returncode,
            p.stdout,
            re.sub(r"^opscope (table|merge):", "opscope:", said, flags=re.M),
        )

    def table(self, *words: str) -> tuple[int, bytes, str]:
        return self.run(self.opscope, "table", *words)

    def merge(self, *words: str) -> tuple[int, bytes, str]:
        return self.run(self.opscope, "merge", *words)

    def parts(self, words: list[str], n: int) -> list[Path]:
        """Files of parts for each of N shares; None if one fails."""
        made = []
        for k in range(1, n + 1):
            part = self.scratch / f"{k}-{n}.part"
            rc, out, said = self.table(*words, "--partial", "--share", f"{k}/{n}", "-o", part)
            self.check(
                rc in (0, 1) and out == b"" and part.exists(),
                f"{words} share {k}/{n}: {rc} {said}",
            )
            made.append(part)
        return made

    def same(self, words: list[str], n: int, rng: random.Random) -> None:
        """N shares, in any order, give what one process prints."""
        want = self.table(*words)
        parts = self.parts(words, n)
        rng.shuffle(parts)
        got = self.merge(*parts)
        self.check(got[:2] == want[:2], f"{words} in {n} shares: bytes differ from one process")
        self.check(
            sorted(got[2].splitlines()) == sorted(want[2].splitlines()),
            f"{words} in {n} shares: {got[2]!r} instead of {want[2]!r}",
        )

    def under_mpi(self, words: list[str], n: int) -> None:
        want = self.table(*words)
        got = self.run(
            "mpirun",
            "--allow-run-as-root",
            "--oversubscribe",
            "-q",
            "-n",
            n,
            self.mpi,
            "table",
            *words,
        )
        self.check(got[:2] == want[:2], f"{words} on {n} processes: bytes differ")
        said = [x for x in got[2].splitlines() if x.startswith("opscope")]
        self.check(
            sorted(said) == sorted(want[2].splitlines()),
            f"{words} on {n} processes: {said} instead of {want[2]!r}",
        )


def table_names(opscope: str) -> list[str]:
    """Those that have parts."""
    listed = subprocess.run(
        [opscope, "table", "--list"], capture_output=True, text=True, check=True
    ).stdout
    return [
        n
        for n in re.findall(r"^(\w+) ", listed, flags=re.M)
        if n not in ("events", "headlines") and not n.startswith("diff_")
    ]


def check_splits(t: Tests, runs: list[str], rng: random.Random) -> None:
    for i, name in enumerate(table_names(t.opscope)):
        for k, n in enumerate(SHARES):
            words = [name, runs[(i + k) % len(runs)], "--format", FORMS[(i + k) % len(FORMS)]]
            t.same(words + (["--merge"] if (i + k) % 3 == 0 else []), n, rng)
    for extra in (
        ["--rank", "1-3"],
        ["--span", "2"],
        ["--where", "calls > 1"],
        ["--sort", "calls", "--limit", "3"],
        ["--group-by", "shape"],
        ["--steps", "5-5"],
        ["--no-args"],
        ["--device", "cuda:0"],
    ):
        t.same(["operators", runs[0], *extra], 3, rng)


def check_threads(t: Tests, runs: list[str], files: list[str], rng: random.Random) -> None:
    """Files that are read at the same time give what one thread gives, with errors and notes."""
    for i, name in enumerate(table_names(t.opscope)):
        words = [name, runs[i % len(runs)], "--format", FORMS[i % len(FORMS)]]
        want = t.table(*words, "--threads", "1")
        for n in (2, 3, 5):
            t.check(t.table(*words, "--threads", n) == want, f"{words} on {n} threads differs")
    folder = t.scratch / "broken"
    folder.mkdir()
    for i, file in enumerate(files):
        text = Path(file).read_bytes()
        (folder / Path(file).name).write_bytes(text if i % 3 else text[: rng.randrange(20)])
    (folder / "worker9.1.pt.trace.json.gz").write_bytes(b"\x1f\x8bnot a gzip file at all")
    (folder / "worker8.1.pt.trace.json").write_bytes(b"")
    named = [*files[:3], str(t.scratch / "absent.json"), files[3], str(t.scratch / "gone.json")]
    for words in (
        ["quality", folder],
        ["operators", folder, "--format", "csv"],
        ["operators", *named],
        ["ranges", folder, "--from", "20us", "--to", "200us"],
        ["operators", folder, "--process", "103"],
        ["operators", folder, "--rank", "55"],
        ["operators", runs[0], "--max-memory", "3M"],
    ):
        words = [str(w) for w in words]
        want = t.table(*words, "--threads", "1")
        for n in (2, 3, 5):
            t.check(t.table(*words, "--threads", n) == want, f"{words} on {n} threads differs")
    for n in SHARES:
        t.same(["quality", str(folder)], n, rng)


def check_whole(t: Tests, files: list[str]) -> None:
    """Parts of files that are named one by one, joined in order, in trees and as one file."""
    parts = []
    for i, file in enumerate(files):
        part = t.scratch / f"whole{i}.part"
        t.table("operators", file, "--format", "csv", "--partial", "-o", part)
        parts.append(part)
    want = t.table("operators", *files, "--format", "csv")
    t.check(t.merge(*parts)[:2] == want[:2], "parts of single files differ from one process")
    joined = t.scratch / "joined.part"
    joined.write_bytes(b"".join(p.read_bytes() for p in parts))
    t.check(t.merge(joined)[:2] == want[:2], "concatenated parts differ from one process")
    timed = ["ranges", *files, "--from", "10us", "--to", "90us", "--format", "csv"]
    part = t.scratch / "timed.part"
    t.table(*timed, "--partial", "-o", part)
    t.check(t.merge(part)[:2] == t.table(*timed)[:2], "parts of a time differ from one process")


def check_refused(t: Tests, run: str, rng: random.Random) -> None:
    words = ["operators", run, "--format", "csv"]
    one, two, three = t.parts(words, 3)

    def fails(what: str, says: str, *operands: object) -> None:
        rc, out, said = t.merge(*operands)
        t.check(rc == 1 and out == b"" and says in said, f"{what}: {rc} {said!r}")

    rc, out, said = t.merge(one, three)
    t.check(
        rc == 1 and out.count(b"\n") > 1 and "share 2 of 3 is missing" in said,
        f"a missing share: {rc} {said!r}",
    )
    fails("a share twice", "parts of the same traces", one, two, three, two)
    other = t.parts(["kernels", run, "--format", "csv"], 1)[0]
    fails("another table", "parts of", one, other)
    other = t.parts([*words, "--limit", "2"], 1)[0]
    fails("other options", "asked for with other options", one, other)
    fails("no parts", "no file of parts", ROOT / "README.md")
    fails("no file", "No such file", t.scratch / "none.part")

    def left_out(what: str, says: str, *operands: object) -> None:
        rc, out, said = t.merge(*operands)
        t.check(rc == 1 and out == rest and says in said, f"{what}: {rc} {said!r}")

    rest = t.merge(two)[1]
    t.check(rest.count(b"\n") > 1, "one share alone has rows")
    whole, bad = one.read_bytes(), t.scratch / "bad.part"
    for _ in range(60):
        bad.write_bytes(whole[: rng.randrange(1, len(whole))])
        left_out("a cut part", "bad.part", two, bad)
        at = rng.randrange(len(whole))
        bad.write_bytes(
            whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
        )
        left_out("a changed byte", "bad.part", two, bad)
    bad.write_bytes(whole[:8] + b"\x63" + whole[9:])
    left_out("another version", "version 99", bad, two)
    fails("nothing else", "version 99", bad)
    quality = t.parts(["quality", run, "--format", "csv"], 2)[0]
    rc, out, _ = t.merge(quality, bad)
    t.check(rc == 1 and b"bad.part: parts in version 99" in out, f"quality of parts: {out!r}")
    for extra, says in (
        (["--partial"], "use -o"),
        (["--share", "1/2"], "is for --partial"),
        (["-o", t.scratch / "x"], "is for --partial"),
        (["--partial", "-o", t.scratch / "x", "--share", "3/2"], "not a share"),
        (["--partial", "-o", t.scratch / "x", "--share", "0/2"], "not a share"),
        (
            ["--partial", "-o", t.scratch / "x", "--share", "1/2", "--from", "1ms"],
            "a time counts from",
        ),
    ):
        rc, out, said = t.table("operators", run, *extra)
        t.check(rc == 2 and out == b"" and says in said, f"{extra}: {rc} {said!r}")
    rc, _, said = t.table("events", run, "--partial", "-o", t.scratch / "x")
    t.check(
        rc == 2 and "has no parts" in said and not (t.scratch / "x").exists(),
        f"events: {rc} {said!r}",
    )


def check_changed(t: Tests, files: list[str]) -> None:
    """Files that change between two shares are told."""
    folder = t.scratch / "changing"
    folder.mkdir()
    for file in files[:4]:
        shutil.copy(file, folder)
    words = ["operators", str(folder), "--format", "csv", "--partial"]
    t.table(*words, "--share", "1/2", "-o", t.scratch / "c1.part")
    shutil.copy(files[4], folder)
    t.table(*words, "--share", "2/2", "-o", t.scratch / "c2.part")
    rc, out, said = t.merge(t.scratch / "c1.part", t.scratch / "c2.part")
    t.check(
        rc == 1 and out == b"" and "changed between them" in said, f"changed: {rc} {said!r}"
    )


def check_mpi(t: Tests, runs: list[str], files: list[str]) -> None:
    names = [n for n in table_names(t.opscope)]
    for i, name in enumerate(names):
        t.under_mpi(
            [name, runs[i % len(runs)], "--format", FORMS[i % len(FORMS)]],
            SHARES[i % len(SHARES)],
        )
    for n in SHARES:
        t.under_mpi(["operators", *files], n)
        t.under_mpi(["ranges", runs[0], "--from", "10us", "--to", "90us"], n)
        t.under_mpi(["nosuchtable", runs[0]], n)
        t.under_mpi(["kernels", runs[0], "--rank", "77"], n)
    got = t.run(
        "mpirun",
        "--allow-run-as-root",
        "--oversubscribe",
        "-q",
        "-n",
        3,
        t.mpi,
        "table",
        "operators",
        *files[:4],
        str(t.scratch / "absent.json"),
        "--format",
        "csv",
    )
    t.check(
        got[0] == 1
        and got[1].count(b"\n") > 1
        and "absent.json" in got[2]
        and "process " in got[2],
        f"a file that one process cannot read: {got[0]} {got[2]!r}",
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default="build-gcc/opscope")
    parser.add_argument("--mpi")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    opscope = os.path.abspath(args.opscope)
    mpi = args.mpi or (opscope + "-mpi" if os.path.exists(opscope + "-mpi") else None)
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        folder.mkdir()
        files = make_run(folder, args.seed)
        runs = [str(folder)] + ([str(REAL)] if REAL.exists() else [])
        t = Tests(opscope, mpi, Path(scratch))
        check_splits(t, runs, rng)
        check_threads(t, runs, files, rng)
        check_whole(t, files)
        check_refused(t, runs[0], rng)
        check_changed(t, files)
        if mpi and shutil.which("mpirun"):
            check_mpi(t, runs, files)
    print(f"{t.passed} passed, {t.failed} failed")
    return t.failed > 0


if __name__ == "__main__":
    sys.exit(main())
