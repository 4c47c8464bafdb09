#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-programs
# with: {torch}
# args: --quick --opscope {gcc}/opscope
# full: --opscope {gcc}/opscope
# turn: 6
# needs: module
"""Check that programs print the same with opscope: unchanged, and with a changed import.

    python3 tests/torch/programs.py --opscope COMMAND [--programs DIRECTORY] [--quick]

Needs torch. Each program of DIRECTORY (default: ../shared/programs; --quick: some) runs by itself
and under `opscope run --torch=replace`; their output must be equal except times and what depends on
them: shares, the order of rows, and rows beyond a limit. Then its import is changed, and every
profile in it records shapes, memory and FLOPs, and prints all its rows, which must be those of
torch. Then the other modes of `opscope run --torch` are tested with a loop of a few steps. Ends
with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import operator
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import Tests, bare

ROOT = Path(__file__).resolve().parents[2]
# Arguments; whether its rows are sorted by time and limited, so that different rows may appear.
PROGRAMS = {
    "basic.py": ([], False),
    "itt_sample.py": ([], False),
    "legacy.py": ([], False),
    "logdir.py": (["log"], False),
    "resnet_tables.py": ([], True),
    "scheduled.py": ([], True),
    "slow_conv.py": ([], False),
    "switchable.py": (["--profile"], False),
}
QUICK = ("basic.py", "legacy.py", "scheduled.py", "loops")
# Precedes a program: each of its windows prints all averages with all options on, without the
# profiler's own Python calls.
EVERYTHING = """
import os, re, sys, torch, torch.profiler
from torch.autograd import profiler_legacy

torch.manual_seed(0)
ASKED = {"record_shapes": True, "profile_memory": True, "with_flops": True}
# Before 2.11 torch counts some allocations in a neighbour of their call.
HAS_BYTES = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 11)

def is_of_program(name):
    return not re.search("profiler|^opscope/|^torch/distributed/|^<built-in ", name)

def tell(prof):
    text = [f"ROW {a.key} | {a.count} | {' < '.join(a.stack)}"
            for a in (prof.key_averages(group_by_stack_n=5) if prof.with_stack else ())
            if all(is_of_program(x) for x in (a.key, *a.stack) if not x.startswith("<built-in"))]
    rows = [[a for a in x if is_of_program(a.key)] for x in (
        prof.key_averages(), prof.key_averages(group_by_input_shape=True))]
    if not HAS_BYTES:
        rows = [[a for a in x if a.key != "[memory]"] for x in rows]
        for a in rows[0] + rows[1]:
            a.cpu_memory_usage = a.self_cpu_memory_usage = 0
    text += [f"ROW {a.key} | {a.count} | {a.input_shapes} | {a.flops} | {a.cpu_memory_usage} | "
             f"{a.self_cpu_memory_usage}" for x in rows for a in x]
    text.append(f"ALL {len(rows[0])} rows {len(rows[1])} by shape {sum(a.count for a in rows[0])} "
                f"calls {sum(a.self_cpu_memory_usage for a in rows[0])} bytes "
                f"{sum(a.flops for a in rows[0])} FLOPs "
                f"{sum(a.self_cpu_time_total for a in rows[0]) / 1e6:.6f}s")
    sys.stdout.flush()
    os.write(1, "".join(x + chr(10) for x in text).encode())

class Everything(torch.profiler.profile):
    def __init__(self, **options):
        super().__init__(**{**options, **ASKED})

    def stop_trace(self):
        super().stop_trace()
        tell(self)

class EverythingLegacy(profiler_legacy.profile):
    def __init__(self, enabled=True, **options):
        super().__init__(enabled, **{**options, **ASKED, "with_flops": False})  # torch fails

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.enabled:
            tell(self)

torch.profiler.profile = Everything
profiler_legacy.profile = EverythingLegacy
"""
OWN_STEPS = """
import torch
from opscope import record
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for _ in range(4):
    record.step()
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
print("done")
"""

OUR_STEPS = """
import torch
from opscope.torch import profile, schedule
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
with profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=1)) as prof:
    for _ in range(5):
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
        prof.step()
print("done")
"""

LOOP = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
print("done")
"""
# With torch's own profiler.
PROFILED = """
import torch
with torch.profiler.profile() as prof:
    torch.ones(2)
assert type(prof).__module__ == "torch.profiler.profiler", type(prof)
assert "aten::ones" in [a.key for a in prof.key_averages()]
print("done")
"""
UNBEGUN = """
import torch
with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=1)):
    torch.ones(2)
print("done")
"""
EMITS = """
import torch
with torch.autograd.profiler.emit_itt():
    torch.ones(2)
print("done")
"""

# Uses each class of torch that --torch=replace replaces.
REPLACED = """
import torch
import torch.autograd.profiler_legacy
for profile in (torch.profiler.profile, torch.profiler._KinetoProfile,
                torch.autograd.profiler.profile, torch.autograd.profiler_legacy.profile):
    prof = profile(record_shapes=True)
    prof.__enter__() if hasattr(prof, "__enter__") else prof.start()
    torch.ones(2)
    prof.__exit__(None, None, None) if hasattr(prof, "__exit__") else prof.stop()
    inner = getattr(prof, "profiler", prof)
    assert type(inner).__module__.startswith("opscope."), profile
    assert {a.key: a.count for a in prof.key_averages()}["aten::ones"] == 1, profile
    by_shape = prof.key_averages(group_by_input_shape=True)
    for averages in prof.key_averages(), by_shape:
        assert type(averages).__module__ == "opscope.torch.events", profile  # not from all events
    assert [a.input_shapes for a in by_shape if a.key == "aten::fill_"] == [[[2], []]], profile
print("done")
"""


def run(
    command: list[str], directory: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run COMMAND in DIRECTORY, with one thread, because more might have to wait for a core."""
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def cells(line: str) -> str:
    """A line of a table, with times and shares replaced by placeholders."""
    line = re.sub(r"-?\d+\.\d+(us|ms|s)\b", "TIME", line)
    line = re.sub(r"-?\d+\.\d+%", "SHARE", line)
    # Addresses differ between runs, and a module's number depends on which of equal ones took
    # longest.
    line = re.sub(r"0x[0-9a-f]+|(?<=nn.Module: Conv2d_)\d+", "N", line)
    # legacy.py: torch reports that None has no such attribute, and we that nothing was profiled.
    line = re.sub(r"^as expected: .*", "as expected", line)
    # For allocations outside of operators the legacy profiler has no shapes, and we have empty
    # ones.
    line = re.sub(r"(?<=^ROW \[memory\])(.*?)\| None", r"\1| []", line)
    # It includes allocations by any thread in the meantime.
    line = re.sub(r"(?<=^ROW gloo:all_reduce)(.*?)(\| -?\d+ ?){2}$", r"\1", line)
    return re.sub(r"(\s|--+)+", " ", line).strip()


def lines(text: str) -> list[str]:
    """The lines of an output to compare, in an order that times do not change."""
    return sorted(x for x in map(cells, text.splitlines()) if x)


def change_import(text: str) -> str:
    """The program TEXT with opscope.torch instead of torch.profiler."""
    text = re.sub(r"\btorch\.autograd\.profiler\.emit_itt\b", "opscope.torch.emit_itt", text)
    text = text.replace(
        "from torch.autograd import profiler_legacy",
        "from opscope.torch import profiler_legacy",
    )
    return "import opscope.torch; " + re.sub(r"\btorch\.profiler\b", "opscope.torch", text)


def plain(path: str) -> list[str]:
    """The command for the program at PATH."""
    return [sys.executable, path, *PROGRAMS[os.path.basename(path)][0]]


def together(
    name: str,
    commands: Sequence[list[str]],
    prepare: Iterable[Callable[[str], object]] = (),
    **variables: str,
) -> tuple[list[subprocess.CompletedProcess[str]], list[dict[str, str]]]:
    """Run COMMANDS at once, each in a directory that PREPARE has filled and with VARIABLES. Returns
    also what they leave there: the names of files, and the text of stacks.

    With torch, logdir.py sometimes aborts at its end, even without recording, so it has three
    tries.
    """
    prepare = list(prepare)
    for _ in range(3 if name == "logdir.py" else 1):
        with contextlib.ExitStack() as stack, ThreadPoolExecutor() as pool:
            places = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in commands]
            for fill, place in zip(prepare, places):
                fill(place)
            runs = [pool.submit(run, c, d, **variables) for c, d in zip(commands, places)]
            done = [x.result() for x in runs]
            files = [
                {
                    x.name: x.read_text(encoding="utf-8") if x.suffix == ".stacks" else ""
                    for x in Path(d).iterdir()
                    if x.name != "rec"
                }
                for d in places
            ]
        if not any(x.returncode for x in done):
            break
    return done, files


def common(a: list[str], b: list[str]) -> bool:
    """Whether rows of both outputs with the same name and shape are equal in at least one table."""

    def by_key(x: list[str]) -> dict[tuple[str, ...], set[str]]:
        found: dict[tuple[str, ...], set[str]] = {}
        for line in x:
            head, *shapes = line.split(" [[", 1)
            found.setdefault((line.split(" ")[0], *shapes), set()).add(head)
        return found

    one, other = by_key(a), by_key(b)
    keys = set(one) & set(other)
    return 2 * len(keys) > len(one) and all(one[k] & other[k] for k in keys)


def same_stacks(texts: Sequence[str]) -> bool:
    """Whether stacks that took some time in one of two files are in the other, with few exceptions:
    stacks of less than a microsecond are in neither.
    """
    found: list[dict[str, int]] = []
    for text in texts:
        pairs = (re.sub("0x[0-9a-f]+", "0x", x).rsplit(" ", 1) for x in text.splitlines())
        found.append({})
        for stack, us in pairs:
            found[-1][stack] = max(found[-1].get(stack, 0), int(us))
    shares = [
        [x in other for x, us in one.items() if us >= 5]
        for one, other in (found, reversed(found))
    ]
    return all(x and sum(x) >= 0.9 * len(x) for x in shares)


class ProgramTests(Tests):
    """Tests of the programs of a directory, and of a loop."""

    def __init__(self, opscope: str, programs: Path) -> None:
        super().__init__(opscope)
        self.programs = programs

    def replaced(self, name: str) -> list[str]:
        """The command for the program NAME of a directory, with torch's profilers replaced."""
        return [self.opscope, "run", "--torch=replace", "-o", "rec", "--", *plain(name)]

    def program(self, name: str) -> None:
        """Check that NAME prints the same with torch's profilers replaced, and leaves the same
        files."""
        path = str(self.programs / name)
        (a, b), files = together(name, (plain(path), self.replaced(path)))
        self.check(f"{name}: status", a.returncode == b.returncode, b.stderr[-500:])
        names = [sorted(x) for x in files]
        self.check(f"{name}: files", names[0] == names[1], names)
        for stacks in (x for x in names[0] if x.endswith(".stacks")):
            texts = [x.get(stacks, "") for x in files]
            self.check(
                f"{name}: {stacks}", same_stacks(texts), [len(x.splitlines()) for x in texts]
            )
        is_equal = common if PROGRAMS[name][1] else operator.eq
        self.check(name, is_equal(lines(a.stdout), lines(b.stdout)), difference(a, b))

    def everything(self, name: str) -> None:
        """Compare every row of every window of NAME: replaced, and with its import changed."""

        def prepare(change: Callable[[str], str], directory: str) -> None:
            for path in self.programs.glob("*.py"):
                text = path.read_text(encoding="utf-8")
                Path(directory, path.name).write_text(
                    change(EVERYTHING + text if path.name == name else text), encoding="utf-8"
                )

        found, _ = together(
            name,
            (plain(name), self.replaced(name), plain(name)),
            (functools.partial(prepare, x) for x in (str, str, change_import)),
            **self.package(),
        )
        rows = [
            Counter(
                x for x in map(cells, done.stdout.splitlines()) if x.startswith(("ROW", "ALL"))
            )
            for done in found
        ]
        for how, done, got in zip(("replaced", "import changed"), found[1:], rows[1:]):
            self.check(
                f"{name}, {how}: status",
                (found[0].returncode, done.returncode) == (0, 0),
                found[0].stderr[-500:] + done.stderr[-500:],
            )
            self.check(
                f"{name}, {how}",
                got == rows[0],
                "\n".join(
                    [*(f"- {x}" for x in rows[0] - got), *(f"+ {x}" for x in got - rows[0])]
                ),
            )
        for how, done in zip(("torch", "replaced", "import changed"), found):
            for line in done.stdout.splitlines():
                if line.startswith("ALL"):
                    print(f"{name:18} {how:15}{line[3:]}", flush=True)

    def loop(
        self,
        name: str,
        options: list[str],
        table: list[str],
        wanted: str,
        program: str = LOOP,
        **variables: str,
    ) -> None:
        """Check that a run of PROGRAM with OPTIONS has WANTED in TABLE, and prints that it is
        done."""
        with tempfile.TemporaryDirectory() as d:
            Path(d, "loop.py").write_text(program, encoding="utf-8")
            done = run(
                [self.opscope, "run", *options, "-o", "rec", "--", sys.executable, "loop.py"],
                d,
                **variables,
            )
            shown = run([self.opscope, *table, "rec"], d)
        self.check(f"{name}: output", (done.returncode, done.stdout) == (0, "done\n"), done)
        text = shown.stdout + shown.stderr + done.stderr
        self.check(name, re.search(wanted, text) is not None, text)

    def loops(self) -> None:
        """All modes of --torch except that of the programs."""
        calls = [
            "table",
            "operators",
            "--columns",
            "name,calls",
            "--format",
            "csv",
            "--limit",
            "0",
        ]
        steps = ["table", "steps", "--columns", "label", "--format", "csv"]
        self.loop("all is recorded", ["--torch"], calls, r"aten::addmm,10\n")
        self.loop(
            "a schedule",
            ["--torch", "--schedule", "wait=2,active=3,repeat=1"],
            calls,
            r"aten::addmm,3\n",
        )
        self.loop(
            "steps are from one of the optimizer's to its next",
            ["--torch"],
            steps,
            r"label\n0\n1\n2\n3\n4\n5\n6\n7\n8\n(?!\d)",
        )
        self.loop(
            "or those that the program marks",
            ["--torch"],
            steps,
            r"label\n0\n1\n2\n3\n(?!\d)",
            OWN_STEPS,
        )
        self.loop(
            "or those of a profile of ours",
            ["--torch"],
            steps,
            r"label\n0\n1\n2\n3\n4\n5\n(?!\d)",
            OUR_STEPS,
        )
        self.loop(
            "every profiler of torch is replaced",
            ["--torch=replace"],
            calls,
            r"(?s)\A(?!.*skipping profiling metadata).*(aten::ones,1\n.*){4}",
            REPLACED,
        )
        self.loop(
            "also where --sources names torch",
            ["--sources", "torch,api", "--torch=replace"],
            calls,
            r"(?s)(aten::ones,1\n.*){4}",
            REPLACED,
        )
        self.loop(
            "a schedule that never began is told alone",
            ["--torch=replace", "--summary"],
            ["table", "quality"],
            r"(?s)\A(?!.*(source_missing|no process|the program called)).*no_window"
            r".*\[torch\] recorded nothing: PID \d+ ran .* after 0 calls",
            UNBEGUN,
        )
        self.loop(
            "ITT that is left out was not missed",
            ["--torch", "--sources", "itt,torch"],
            ["table", "quality"],
            r"(?s)\A(?!.*(source_missing|\[itt\]))",
            EMITS,
        )
        with tempfile.TemporaryDirectory() as d:
            without = bare(d)
            self.loop(
                "without a compiler ITT tells names",
                ["--torch"],
                calls,
                r"aten::addmm,10\n",
                **without,
            )
            self.loop(
                "and quality says so",
                ["--torch"],
                ["table", "quality"],
                r"source_failed",
                **without,
            )
            self.loop(
                "and one line of run",
                ["--torch"],
                ["info"],
                r"\[torch\] PID \d+: no C\+\+ compiler.*ITT",
                **without,
            )
            self.loop(
                "but torch's own profiler is not replaced",
                ["--torch=replace"],
                ["info"],
                r"\[torch\] PID \d+: no C\+\+ compiler.*; torch's own profiler is used",
                PROFILED,
                **without,
            )


def difference(a: subprocess.CompletedProcess[str], b: subprocess.CompletedProcess[str]) -> str:
    """Lines that only one of the two has."""
    one, other = lines(a.stdout), lines(b.stdout)
    return "\n".join(
        [
            *(f"- {x}" for x in one if x not in other),
            *(f"+ {x}" for x in other if x not in one),
            b.stderr[-300:],
        ]
    )


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--programs", type=Path, default=ROOT.parent / "shared/programs")
    parser.add_argument("--only", help="one program, or 'loops'")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    wanted = (
        (options.only,) if options.only else QUICK if options.quick else (*PROGRAMS, "loops")
    )
    tests = ProgramTests(options.opscope, options.programs)
    for name in PROGRAMS:
        if name in wanted and (options.programs / name).is_file():
            tests.program(name)
            tests.everything(name)
    if "loops" in wanted:
        tests.loops()
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
