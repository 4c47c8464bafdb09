#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-processes
# with: {torch}
# args: --opscope {gcc}/opscope --quick
# full: --opscope {gcc}/opscope
# turn: 7
# needs: module
"""Check that `opscope run --torch` records every process of a program, and every profile in it.

    python3 tests/torch/processes.py --opscope COMMAND [--quick]

Needs torch. Forked and spawned workers, ranks of a distributed program, programs that profile
themselves with opscope: checks the files, and how often an operator was called in each. --quick
leaves out another way to start processes, and without a compiler another launcher and another
schedule. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Tests, bare

LOADER = """
import sys, torch
from torch.utils.data import DataLoader, Dataset

class Sines(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return torch.sin(torch.ones(3) * i)

if __name__ == "__main__":
    for batch in DataLoader(Sines(), 4, num_workers=2, multiprocessing_context=sys.argv[1]):
        torch.cos(batch)
"""
TRAINER = (
    LOADER.split("if __name__", maxsplit=1)[0]
    + """
if __name__ == "__main__":
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Sines(), 2, num_workers=2):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
)
FORKS = """
import os, subprocess, threading, torch
torch.cos(torch.ones(2))
with torch.profiler.record_function("around"):
    child = os.fork()
    if child == 0:
        thread = threading.Thread(target=lambda: torch.sin(torch.ones(4)))
        thread.start()
        thread.join()
        torch.sin(torch.ones(4))
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
subprocess.run(["true"])
child = os.fork()
if child == 0:
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
"""
RANKS = """
import os, sys, torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch.nn.parallel import DistributedDataParallel

def train(rank, place):
    if place:
        dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
    else:
        dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5 + dist.get_rank()):
        optimizer.zero_grad()
        model.module(torch.randn(2, 4)).sum().backward()
        optimizer.step()
    if place and os.fork() == 0:
        torch.cos(torch.ones(2))
        os._exit(0)
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    if "RANK" in os.environ:
        train(0, None)
    else:
        processes.spawn(train, (os.path.abspath("store"),), nprocs=2)
"""
PROFILES = """
import os, sys, torch
import opscope.torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(n):
    for _ in range(n):
        optimizer.zero_grad()
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()

train(3)
with opscope.torch.profile(record_shapes=True) as prof:
    train(2)
    with opscope.torch.profile():
        print("nested")
    child = os.fork()
    if child == 0:
        torch.cos(torch.ones(2))
        os._exit(0)
    os.waitpid(child, 0)
train(4)
print(*(f"{x.key} {x.count}" for x in prof.key_averages() if x.key == "aten::addmm"))
with opscope.torch.profiler_legacy.profile() as prof:
    train(1)
"""
PROFILED = """
import torch
from opscope.torch import profile, schedule
with profile(schedule=schedule(wait=2, warmup=1, active=3, repeat=1)) as p:
    for _ in range(8):
        x = torch.ones(3).sin()  # the last one is freed after the profile
        p.step()
"""
# The first two calls of the optimizer's step() make one step. The next step is ended by a profile
# of torch's, which marks four steps, and one more that is empty.
MARKED_STEPS = """
import torch
from torch.profiler import ProfilerActivity, profile, schedule
x = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1)
def train():
    x.sum().backward()
    optimizer.step()
train()
train()
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=3)) as p:
    for _ in range(4):
        train()
        p.step()
"""
STEPS = """
import torch

class Outer(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)

def train(optimizer, n):
    for _ in range(n):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()

model = torch.nn.Linear(4, 4)
torch.optim.SGD(model.parameters(), lr=0.1)
train(Outer(model.parameters(), lr=0.1), 3)
train(torch.optim.Adam(model.parameters()), 4)
"""


class ProcessTests(Tests):
    """Tests of programs with more than one process, or more than one profile."""

    def __init__(self, opscope: str, is_quick: bool) -> None:
        super().__init__(opscope)
        self.is_quick = is_quick
        self.mode = ""  # prefix of the name of each result
        self.variables: dict[str, str] = {}  # of the programs

    def check(self, name: str, is_good: bool, told: object = "") -> None:
        """Count one result of the mode."""
        super().check(self.mode + name, is_good, told)

    def table(self, path: Path, *words: str) -> list[dict[str, str]]:
        """The rows of a table of PATH."""
        text = subprocess.run(
            [self.opscope, "table", *words, "--format", "csv", "--limit", "0", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return list(csv.DictReader(text.splitlines()))

    def record(
        self, directory: str, program: str, *command: str, options: tuple[str, ...] = ()
    ) -> tuple[str, list[Path]]:
        """The output of PROGRAM, run as COMMAND with its file for "-", and its recordings."""
        place = Path(directory, "program.py")
        place.write_text(program, encoding="utf-8")
        words = [str(place) if x == "-" else x for x in command]
        env = {**os.environ, **self.package(), **self.variables}
        done = subprocess.run(
            [self.opscope, "run", "--torch", *options, "-o", "rec", "--", *words],
            cwd=directory,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.check(
            f"{' '.join(command)}: status",
            done.returncode == 0,
            (done.returncode, done.stderr[-500:]),
        )
        return done.stdout, sorted(Path(directory, "rec").iterdir())

    def calls(self, files: list[Path], operator: str) -> list[int]:
        """The number of calls of OPERATOR in each of FILES that has any, in ascending order."""
        found = []
        for path in files:
            rows = self.table(path, "operators", "--columns", "name,calls")
            found += [int(x["calls"]) for x in rows if x["name"] == operator]
        return sorted(found)

    def workers(self) -> None:
        """DataLoader."""
        for how in ("fork", "forkserver") if self.is_quick else ("fork", "spawn", "forkserver"):
            with tempfile.TemporaryDirectory() as d:
                _, files = self.record(d, LOADER, sys.executable, "-", how)
                self.check_equal(f"{how}: files", len(files), 3)
                self.check_equal(f"{how}: of the parent", self.calls(files, "aten::cos"), [4])
                self.check_equal(f"{how}: of workers", self.calls(files, "aten::sin"), [8, 8])

    def trainer(self) -> None:
        """Workers of a DataLoader belong to the window of their trainer, whose steps count.

        What was recorded of memory, operations and shapes is in its averages.
        """
        with tempfile.TemporaryDirectory() as d:
            self.record(d, TRAINER, sys.executable, "-")
            run = Path(d, "rec")
            rows = self.table(run, "steps")
            self.check_equal(
                "steps of the trainer", [x["step"] for x in rows], [str(i) for i in range(7)]
            )
            self.check("one span", "span" not in rows[0], rows[0])
            rows = self.table(run, "operators", "--columns", "name,calls")
            found = {x["name"]: x["calls"] for x in rows}
            self.check_equal(
                "operators of all",
                [found.get("aten::sin"), found.get("aten::addmm")],
                ["16", "8"],
            )
            found = {x["code"] for x in self.table(run, "quality")}
            self.check_equal("workers are not killed", found & {"killed", "no_steps"}, set())
            rows = self.table(run, "averages", "--group-by", "shape", "--sort", "flops")
            self.check(
                "memory, operations and shapes in averages",
                rows[0]["name"] == "aten::addmm"
                and float(rows[0]["flops"]) > 0
                and int(rows[0]["self_cpu_bytes"]) > 0
                and "[2, 3]" in rows[0]["input_shapes"],
                rows[0],
            )
            said = {x["key"]: x["value"] for x in self.table(run, "info")}
            self.check_equal(
                "switches",
                [
                    said[x]
                    for x in ("record_shapes", "profile_memory", "with_flops", "with_stack")
                ],
                ["true", "true", "true", "false"],
            )
            self.check(
                "nothing that was recorded is missed",
                not found & {"no_shapes", "no_memory", "no_flops"},
                found,
            )

    def profiled(self) -> None:
        """A process that profiles itself meanwhile is one span, whose steps are in order."""
        with tempfile.TemporaryDirectory() as d:
            _, files = self.record(d, PROFILED, sys.executable, "-")
            self.check_equal("before, within and after the profile: files", len(files), 3)
            run = Path(d, "rec")
            rows = self.table(run, "steps")
            self.check_equal(
                "steps in order of time",
                [(x["step"], x["label"]) for x in rows],
                [(str(i), str(i)) for i in range(9)],
            )
            self.check("one span, too", "span" not in rows[0], rows[0])
            rows = self.table(run, "steps", "--steps", "@3-@6")
            self.check_equal("steps by ordinal", [x["label"] for x in rows], list("3456"))
            found = {x["code"] for x in self.table(run, "quality")}
            self.check("no file too many", "same_rank" not in found, found)
            self.check_equal("one thread of one process", len(self.table(run, "threads")), 1)
            facts = {x["key"]: x["value"] for x in self.table(run, "info")}
            self.check_equal("counted once", (facts["threads"], facts["processes"]), ("1", "1"))
            steps = subprocess.run(
                [self.opscope, "table", "steps", run],
                capture_output=True,
                text=True,
                check=False,
            ).stdout
            self.check("steps of all files", "note: 1 of 9 steps are not kept" in steps, steps)
        with tempfile.TemporaryDirectory() as d:
            _, files = self.record(
                d, PROFILED.replace("range(8)", "range(4)"), sys.executable, "-"
            )
            found = {x["code"] for x in self.table(Path(d, "rec"), "quality")}
            self.check(
                "a profile until the end",
                len(files) == 3 and "source_missing" not in found,
                (files, found),
            )

    def forks(self) -> None:
        """os.fork."""
        with tempfile.TemporaryDirectory() as d:
            _, files = self.record(d, FORKS, sys.executable, "-")
            self.check_equal("a child that runs no operator leaves no file", len(files), 2)
            self.check_equal("a child with a thread", self.calls(files, "aten::sin"), [2])

    def ranks(self) -> None:
        """DDP with gloo, by torchrun and by processes that get their rank only by a call."""
        run = (
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            "2",
            "-",
        )
        for name, command, n_files in (
            ("torchrun", run, 2),
            ("spawn", (sys.executable, "-"), 4),
        ):
            if self.is_quick and self.mode and name == "torchrun":
                continue
            with tempfile.TemporaryDirectory() as d:
                _, files = self.record(d, RANKS, *command)
                self.check_equal(f"{name}: files", len(files), n_files)
                rows = self.table(Path(d, "rec"), "operators")
                found = sorted(
                    (x["rank"], x["calls"]) for x in rows if x["name"] == "aten::addmm"
                )
                self.check_equal(f"{name}: ranks", found, [("0", "5"), ("1", "6")])
                found = sorted(x["rank"] for x in rows if x["name"] == "aten::cos")
                self.check_equal(f"{name}: ranks of children", found, ["0", "1"][: n_files - 2])

    def profiles(self) -> None:
        """A program that profiles itself gets its profile, and everything around it is recorded."""
        with tempfile.TemporaryDirectory() as d:
            printed, files = self.record(d, PROFILES, sys.executable, "-")
            self.check_equal("its profile", printed, "nested\naten::addmm 2\n")
            self.check_equal("all of it", self.calls(files, "aten::addmm"), [1, 2, 3, 4])
            self.check_equal("its child", self.calls(files, "aten::cos"), [1])
            rows = self.table(Path(d, "rec"), "steps", "--columns", "step")
            found = [int(x["step"]) for x in rows]
            self.check(
                "each step of the process has a number of its own",
                len(found) > 3 and found == list(range(len(found))),
                found,
            )
        if self.is_quick and self.mode:
            return
        with tempfile.TemporaryDirectory() as d:
            printed, files = self.record(
                d,
                PROFILES,
                sys.executable,
                "-",
                options=("--schedule", "wait=1,active=1,repeat=1"),
            )
            self.check_equal(
                "the schedule is not that of its profile", printed, "nested\naten::addmm 2\n"
            )

    def steps(self) -> None:
        """super().step() does not make a step, and a deleted optimizer is replaced by another.

        The times before the first and after the last step of optimizers are not steps either.
        """
        marked = ("steps that a profile marks", MARKED_STEPS, "0 1 0 1 2 3 4")
        for name, program, labels in (
            ("steps", STEPS, "0 1 2 3 4 5"),
            *([] if self.mode else [marked]),
        ):  # it ends ITT
            with tempfile.TemporaryDirectory() as d:
                self.record(d, program, sys.executable, "-")
                rows = self.table(Path(d, "rec"), "steps", "--columns", "label")
                self.check_equal(name, " ".join(x["label"] for x in rows), labels)
                found = [x["code"] for x in self.table(Path(d, "rec"), "quality")]
                self.check_equal(f"{name}: quality", "source_failed" in found, bool(self.mode))

    def without_a_compiler(self) -> None:
        """ITT brings names and times, also of children; ranks and steps are recorded, too."""
        with tempfile.TemporaryDirectory() as d:
            self.mode, self.variables = "without a compiler, ", bare(d)
            os.symlink("/bin/true", os.path.join(self.variables["PATH"], "true"))
            self.ranks()
            self.steps()
            self.mode, self.variables = "", {}


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    tests = ProcessTests(arguments.opscope, arguments.quick)
    tests.workers()
    tests.trainer()
    tests.forks()
    tests.ranks()
    tests.profiles()
    tests.profiled()
    tests.steps()
    tests.without_a_compiler()
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
