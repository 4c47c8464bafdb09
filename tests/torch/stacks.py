#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-stacks
# with: {torch}
# args: --opscope {gcc}/opscope
# turn: 7
# needs: module
"""Check `opscope run --torch=stack`: calls of Python, lines, modules and names of threads.

    python3 tests/torch/stacks.py --opscope COMMAND

Needs torch and a C++ compiler, or the recorder that an earlier test built. Small programs, which
are not changed, are recorded; checks their tables, and that they print what they print without
opscope. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Tests

MODEL = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x):
        y = self.q(x)
        z = torch.cos(y)
        return (z +
                x) @ x  # LINE: matmul

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Attention()
        self.mlp = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return self.mlp(self.attn(x))

class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Block(), Block()])
        self.twin = self.h[0].attn.q  # reached by two paths: the first counts

    def forward(self, x):
        for block in self.h:
            x = block(x)
        return self.twin(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = Decoder()

    def forward(self, x):
        return self.transformer(x)
"""
PATHS = (
    MODEL
    + """
net = Net()
for _ in range(3):
    net(torch.ones(4, 4)).sum().backward()
net.transformer.h.append(Block())  # a change is seen
net(torch.ones(4, 4))
nn.Sequential(net)(torch.ones(4, 4))  # another root
for _ in range(50):  # modules that live for one call
    nn.Tanh()(torch.ones(2))
"""
)
# What can happen to the bookkeeping of calls. Each operator has its own name, and its line.
LINES = """
import sys, torch
one = torch.ones(2)

def numbers():
    for i in range(3):
        yield i
        torch.sin(one)  # LINE: sin

def fail(n):
    if n == 0:
        raise ValueError
    fail(n - 1)

def recurse(n):
    if n == 0:
        return torch.cos(one)  # LINE: cos
    return recurse(
        n - 1)

closed = numbers()
next(closed)
closed.close()
list(numbers())
try:
    fail(20)
except ValueError:
    torch.tan(one)  # LINE: tan
recurse(5)
[torch.exp(one) for _ in range(2)]  # LINE: exp
list(map(lambda x: torch.log(x), [one]))  # LINE: log
one.__class__.__rsub__(one, 1)
one / 2  # LINE: div
sys.setrecursionlimit(20000)
def deep(n):
    return deep(n - 1) if n else torch.sqrt(one)
deep(6000)
one - 3  # LINE: sub
"""
THREADS = """
import concurrent.futures, threading, torch
one = torch.ones(2)
waits, goes = threading.Event(), threading.Event()

def work(operator):
    getattr(torch, operator)(one)

def renamed():
    torch.sin(one)
    waits.set()
    goes.wait()
    torch.cos(one)

threading.Thread(target=work, args=("exp",), name="first").start()
thread = threading.Thread(target=renamed, name="before")
thread.start()
waits.wait()
thread.name = "after"
goes.set()
thread.join()
class Own(threading.Thread):
    def run(self):
        self.name = "itself"
        torch.tan(one)
own = Own()
own.start()
own.join()
with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
    pool.submit(work, "log").result()
"""
# A profile function of the program replaces ours in its thread: what it records then is its own.
OWN_PROFILE = """
import sys, threading, torch
one = torch.ones(2)
events = []

def watch(frame, event, argument):
    events.append(frame.f_code.co_name)

def inside():
    torch.cos(one)

def outside():
    torch.sin(one)
    print(sys.getprofile(), threading._profile_hook)
    sys.setprofile(watch)
    inside()

outside()
torch.tan(one)
sys.setprofile(None)
inside()
threading.setprofile(watch)
thread = threading.Thread(target=inside)
thread.start()
thread.join()
print(events.count("inside"), "opscope" in repr(events))
"""
FORKS = """
import os, torch
one = torch.ones(2)

def child():
    torch.sin(one)  # LINE: sin

def parent():
    if os.fork() == 0:
        child()
        os._exit(0)
    os.wait()
    torch.cos(one)  # LINE: cos

parent()
"""
LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Sines(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.sin(torch.ones(3) * i)  # LINE: sin

if __name__ == "__main__":
    for batch in DataLoader(Sines(), 2, num_workers=2):
        torch.cos(batch)  # LINE: cos
"""
# DDP on two ranks, started by multiprocessing; each prints what torch calls the modules.
RANKS = """
import os, sys, tempfile, threading, torch
import torch.distributed as dist
from torch import nn

def work(rank, place):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(
        nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh())))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(4):
        feeder = threading.Thread(target=torch.cos, args=(torch.ones(2),), name=f"feeder {rank}")
        feeder.start()
        feeder.join()
        optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()
    if rank == 0:
        print(" ".join(sorted(x for x, _ in net.named_modules())), flush=True)

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, (os.path.abspath("place"),), 2)
"""
PROFILES = (
    MODEL
    + """
import opscope.torch
net = Net()
net(torch.ones(4, 4))
with opscope.torch.profile(with_stack=True) as prof:
    torch.exp(torch.ones(2))
print([x.count for x in prof.key_averages() if x.key == "aten::exp"])
with torch.profiler.profile(with_stack=True) as prof:
    torch.exp(torch.ones(2))
print([x.count for x in prof.key_averages() if x.key == "aten::exp"])
net(torch.ones(4, 4))
"""
)
# Steps 2 and 3 are recorded; everything runs inside of calls that began before.
WINDOW = (
    MODEL
    + """
def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(6):
        net(torch.ones(4, 4)).sum().backward()
        torch.cos(torch.ones(2))  # LINE: window
        optimizer.step()

main()
"""
)


def line_of(program: str, name: str) -> int:
    """The number of the line of PROGRAM that is marked with NAME."""
    lines = program.splitlines()
    return 1 + next(i for i, x in enumerate(lines) if x.endswith(f"# LINE: {name}"))


class StackTests(Tests):
    """Tests of programs that are recorded with stacks."""

    def run(self, name: str, directory: str, *options: str) -> str:
        """What `program.py` of DIRECTORY prints while it is recorded into rec."""
        words = [
            self.opscope,
            "run",
            "--torch=stack",
            *options,
            "-o",
            "rec",
            "--",
            sys.executable,
            "program.py",
        ]
        done = subprocess.run(
            words,
            cwd=directory,
            env={**os.environ, **self.package()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.check(
            f"{name}: status", done.returncode == 0, (done.returncode, done.stderr[-800:])
        )
        return done.stdout

    def table(self, directory: str, *words: str) -> list[dict[str, str]]:
        """The rows of a table of what was recorded in DIRECTORY."""
        done = subprocess.run(
            [self.opscope, "table", *words, "--format", "csv", "--limit", "0", "rec"],
            cwd=directory,
            capture_output=True,
            text=True,
            check=True,
        )
        return list(csv.DictReader(done.stdout.splitlines()))

    def stacks(self, directory: str) -> dict[str, set[tuple[str, ...]]]:
        """The stacks of each operator, without what is outside of the program."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for row in self.table(directory, "operators", "--group-by", "stack"):
            frames = tuple(
                x
                for x in row["call_stack"].split(";")
                if x.startswith(("program.py", "nn.Module"))
            )
            found.setdefault(row["name"].removeprefix("aten::"), set()).add(frames)
        return found

    def paths(self) -> None:
        """Modules have the attributes that lead to them from the module that is called."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(PATHS, encoding="utf-8")
            self.run("paths", d)
            rows = self.table(d, "modules")
            found = {x["path"]: x["attribute_path"] for x in rows}
            inside = "transformer.h."
            wanted = {
                "Net_0": "",
                "Net_0/Decoder_0": "transformer",
                "Net_0/Decoder_0/Linear_0": f"{inside}0.attn.q",
            }
            for i, (q, first, relu) in enumerate(((0, 1, 0), (2, 3, 1), (4, 5, 2))):
                block = f"Net_0/Decoder_0/Block_{i}"
                wanted |= {
                    block: f"{inside}{i}",
                    f"{block}/Attention_{i}": f"{inside}{i}.attn",
                    f"{block}/Attention_{i}/Linear_{q}": f"{inside}{i}.attn.q",
                    f"{block}/Sequential_{i}": f"{inside}{i}.mlp",
                    f"{block}/Sequential_{i}/Linear_{first}": f"{inside}{i}.mlp.0",
                    f"{block}/Sequential_{i}/ReLU_{relu}": f"{inside}{i}.mlp.1",
                }
            self.check_equal("paths", {k: found.get(k) for k in wanted}, wanted)
            self.check_equal(
                "paths below another root",
                {v for k, v in found.items() if k.startswith("Sequential_3/")},
                {f"0.{x}" if x else "0" for x in wanted.values()},
            )
            n = [int(x["calls"]) for x in rows if x["name"].startswith("Tanh")]
            self.check("modules of one call", sum(n) == 50, n)
            said = {x["key"]: x["value"] for x in self.table(d, "info")}
            self.check_equal(
                "switches", [said[x] for x in ("with_stack", "with_modules")], ["true", "true"]
            )
            codes = {x["code"] for x in self.table(d, "quality")}
            self.check_equal(
                "nothing is missed",
                codes & {"no_stacks", "no_modules", "source_missing"},
                set(),
            )
            found_lines = self.stacks(d)["matmul"]
            line = line_of(PATHS, "matmul")
            self.check(
                "lines in modules",
                found_lines
                and all(
                    x[0] in (f"program.py({line - 1}): forward", f"program.py({line}): forward")
                    and x[1].startswith("nn.Module: Attention_")
                    for x in found_lines
                ),
                found_lines,
            )

    def lines(self) -> None:
        """Generators, exceptions, recursion, deep stacks: each operator has the line that runs."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(LINES, encoding="utf-8")
            self.run("lines", d)
            found = self.stacks(d)
            for name in re.findall("# LINE: (.*)", LINES):
                self.check(
                    f"line of {name}",
                    any(
                        x and x[0].startswith(f"program.py({line_of(LINES, name)}): ")
                        for x in found.get(name, ())
                    ),
                    found.get(name),
                )
            outermost = {x[-1].partition(": ")[2] for x in found["sub"] | found["div"] if x}
            self.check_equal("all calls that have returned are closed", outermost, {"<module>"})
            self.check_equal("depth after it", {len(x) for x in found["div"]}, {1})
            line = line_of(LINES, "cos")
            frames = [x for x in found["cos"] if len(x) == 7]
            self.check(
                "recursion",
                [x[1] for x in frames] == [f"program.py({line + 1}): recurse"],
                found["cos"],
            )

    def threads(self) -> None:
        """Threads have Python's names, and stacks."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(THREADS, encoding="utf-8")
            self.run("threads", d)
            names = {x["name"] for x in self.table(d, "threads")}
            wanted = {"first", "after", "itself", "pool_0"}
            self.check("names of threads", wanted <= names and "before" not in names, names)
            found = self.stacks(d)
            self.check_equal(
                "stacks of threads",
                {x: {len(y) for y in found[x]} for x in ("exp", "sin", "tan", "log")},
                {"exp": {1}, "sin": {1}, "tan": {1}, "log": {1}},
            )

    def own_profile(self) -> None:
        """A program's own profile function gets what it gets without opscope."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(OWN_PROFILE, encoding="utf-8")
            printed = self.run("own profile function", d)
            alone = subprocess.run(
                [sys.executable, "program.py"],
                cwd=d,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.check_equal("it prints the same", printed, alone)
            found = self.stacks(d)
            self.check("before it there are stacks", any(found["sin"]), found["sin"])
            self.check_equal(
                "under it there are none, rather than wrong ones", found["cos"], {()}
            )
            self.check_equal("after it neither", found["tan"], {()})

    def processes(self) -> None:
        """Children of a fork, and workers of a DataLoader."""
        for name, program, n_files in (("fork", FORKS, 2), ("workers", LOADER, 3)):
            with tempfile.TemporaryDirectory() as d:
                Path(d, "program.py").write_text(program, encoding="utf-8")
                self.run(name, d)
                self.check_equal(f"{name}: files", len(list(Path(d, "rec").iterdir())), n_files)
                found = self.stacks(d)
                for operator in ("sin", "cos"):
                    self.check_equal(
                        f"{name}: line of {operator}",
                        {x[0].partition(":")[0] for x in found[operator]},
                        {f"program.py({line_of(program, operator)})"},
                    )

    def ranks(self) -> None:
        """Two ranks of DDP have the paths that torch says, one span, and end as they should."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(RANKS, encoding="utf-8")
            names = self.run("ranks", d).split()
            rows = self.table(d, "modules")
            for rank in "0", "1":
                calls = {x["attribute_path"]: x["calls"] for x in rows if x["rank"] == rank}
                self.check_equal(f"paths of rank {rank}", calls, {x: "4" for x in ["", *names]})
            self.check_equal("spans", {x["span"] for x in rows}, {"1"})
            threads = {x["name"] for x in self.table(d, "threads")}
            self.check("threads of ranks", {"feeder 0", "feeder 1"} <= threads, threads)
            self.check(
                "main threads have the names of their processes",
                "MainThread" not in threads,
                threads,
            )
            codes = {x["code"] for x in self.table(d, "quality")}
            self.check_equal(
                "no rank was killed, nothing is lost",
                codes & {"killed", "ended_silently", "dropped_full", "source_missing"},
                set(),
            )

    def profiles(self) -> None:
        """Profiles in the program work, and the recording continues after them."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(PROFILES, encoding="utf-8")
            self.check_equal("profiles", self.run("profiles", d), "[1]\n[1]\n")
            files = sorted(Path(d, "rec").iterdir())
            self.check_equal("profiles: files", len(files), 3)
            calls = [
                x
                for x in self.table(d, "modules")
                if x["attribute_path"] == "transformer.h.1.attn.q"
            ]
            self.check_equal(
                "modules before and after the first, in one span",
                [x["calls"] for x in calls],
                ["2"],
            )

    def window(self) -> None:
        """In a window of a schedule, what began before it is in the stacks."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "program.py").write_text(WINDOW, encoding="utf-8")
            self.run("window", d, "--schedule", "skip_first=1,wait=1,active=2,repeat=1")
            line = line_of(WINDOW, "window")
            found = [x for x in self.stacks(d)["cos"] if not x[1].startswith("nn.Module")]
            self.check_equal(
                "stack in a window", [x[0] for x in found], [f"program.py({line}): main"]
            )
            calls = {x["attribute_path"]: x["calls"] for x in self.table(d, "modules")}
            self.check_equal("modules in a window", calls.get("transformer.h.1.attn"), "2")

    def usage(self) -> None:
        """What cannot be combined is refused; without a recorder there are no stacks."""
        for words, told in (
            (["--torch=replace,stack"], "use one of them"),
            (["--torch=stacks"], "neither 'stack' nor 'replace'"),
            (["--sources", "torch=stack", "--torch=replace"], "cannot be combined"),
        ):
            done = subprocess.run(
                [self.opscope, "run", *words, "true"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.check(
                f"{words} is refused", done.returncode == 2 and told in done.stderr, done
            )


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    tests = StackTests(parser.parse_args().opscope)
    tests.usage()
    tests.paths()
    tests.lines()
    tests.threads()
    tests.own_profile()
    tests.processes()
    tests.ranks()
    tests.profiles()
    tests.window()
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
