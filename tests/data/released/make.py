#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: released-make
# args: --build {gcc} --torch {torch} --traces {shared}/data --out {logs}/released
# needs: module
# mode: full
"""Make the files of a release that later releases must read, and the release's tables of them.

    make.py --build BUILD [--torch PYTHON] [--traces FOLDER] [--out FOLDER]

BUILD is the build folder of the release, PYTHON has torch and can run the package in BUILD, and the
FOLDER of traces contains torch213. Run it once, before the first change after the release. Leaves
recordings.tar.xz, columns.tar.xz and tables.xz in OUT (default: a folder next to this script, named
after the release); tests/format/released.py reads them. A part that cannot be made is an error,
because a release needs all of them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/format"))

import released  # noqa: E402

LONG = 1 << 15  # bytes of CSV; longer tables are kept as digests of their columns
# No process has this number, because it is above Linux's limit.
NO_PROCESS = 1 << 30
PID_AT = 24  # in the file `blocks` of a live directory, see docs/format.md

SCOPES = """
import os
import sys
from opscope import record

@record.scope
def work(batch):
    with record.scope("inner", kind="operator", batch=batch, weight=batch / 3, name="a"):
        record.counter("queue length", batch)
        record.instant("half way")

children = []
for rank in range(3):
    children.append(os.fork())
    if children[-1] == 0:
        record.process_name(f"rank {rank}")
        record.metadata("RANK", str(rank))
        break
for batch in range(4 + len(children)):
    record.step()
    work(batch)
if children[-1] != 0:
    for child in children:
        os.waitpid(child, 0)
"""

TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def train(profiler=None):
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.rand(2, 3, 8, 8)).sum().backward()
        optimizer.step()
        if profiler:
            profiler.step()
"""

PROFILED = (
    TRAINING
    + """
from opscope.torch import ProfilerActivity, profile, schedule
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
             with_stack=True, with_modules=True, with_flops=True,
             schedule=schedule(wait=0, warmup=0, active=3, repeat=1)) as profiler:
    train(profiler)
"""
)


def linked(source: str, to: str) -> None:
    """Copy SOURCE to TO, by a link if possible."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


class Kitchen:
    """A folder with copies of the programs that make recordings, deleted afterwards: names of
    functions are read from a program if it exists, and must not depend on where a recording is
    read."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder, self.out = options, folder, folder / "out"
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.out.mkdir()
        for name in ("opscope", "libopscope.so", "libopscope.so.0", "libopscope-collect.so"):
            shutil.copy(options.build / name, self.tools / name)
        shutil.copytree(options.build / "python", self.tools / "python", symlinks=False)
        self.opscope = self.tools / "opscope"
        self.python = options.torch
        if (options.torch.parents[1] / "pyvenv.cfg").exists():
            # Stacks and lists of libraries contain its paths.
            shutil.copytree(
                options.torch.parents[1],
                self.tools / "torch",
                symlinks=True,
                copy_function=linked,
            )
            self.python = self.tools / "torch/bin/python"
            self.python.unlink(missing_ok=True)
            shutil.copy2(options.torch.resolve(), self.python)

    def program(self, source: Path, *flags: str) -> list[str]:
        """The command of a C program, which runs with a copy of its C library."""
        program = self.tools / source.stem
        subprocess.run(
            [
                "cc",
                "-O1",
                "-g",
                "-fno-omit-frame-pointer",
                "-D_GNU_SOURCE",
                f"-I{ROOT}/include",
                f"-I{ROOT}/src",
                str(source),
                "-o",
                str(program),
                f"-L{self.tools}",
                *flags,
                "-lpthread",
                "-ldl",
            ],
            check=True,
        )
        libraries = self.tools / "libc"
        libraries.mkdir(exist_ok=True)
        listed = subprocess.run(
            ["ldd", str(program)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "LD_LIBRARY_PATH": str(self.tools)},
        ).stdout
        for path in (word for word in listed.split() if word.startswith("/")):
            shutil.copy(path, libraries / Path(path).name)
        loader = next(libraries.glob("ld-linux*"))
        return [str(loader), "--library-path", str(libraries), str(program)]

    def run(
        self, name: str, command: list[str], is_killed: bool = False, **variables: str
    ) -> Path:
        """Run COMMAND in the folder of fixture NAME, with only these VARIABLES."""
        folder = self.out / "recordings" / name
        folder.mkdir(parents=True)
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            command,
            cwd=folder,
            check=False,
            timeout=300,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **variables},
        )
        if done.returncode != (-signal.SIGKILL if is_killed else 0):
            raise SystemExit(f"{name}: {command} ended with {done.returncode}")
        return folder

    def record(self, name: str, command: list[str], *options: str, **variables: str) -> None:
        """Record COMMAND by `opscope run`."""
        self.run(
            name,
            [str(self.opscope), "run", "-o", ".", *options, "--", *command],
            PYTHONPATH=str(self.tools / "python"),
            **variables,
        )

    def export(self, name: str, traces: Path, operands: str, *options: str) -> None:
        """Export OPERANDS in the folder TRACES to a file of columns."""
        folder = self.out / "columns"
        folder.mkdir(exist_ok=True)
        subprocess.run(
            [
                str(self.opscope),
                "export",
                *operands.split(),
                *options,
                "-o",
                str(folder / f"{name}.osc"),
            ],
            cwd=traces,
            check=True,
        )


def make_recordings(kitchen: Kitchen) -> None:
    """Make recordings: complete, killed, in parts, dumps of a flight recorder, and runs."""
    record_all = kitchen.program(ROOT / "tests/format/record_all.c", "-lopscope")
    for name, mode in (
        ("whole", "end"),
        ("killed", "kill"),
        ("parts", "parts"),
        ("flight-killed", "flightkill"),
        ("flight-dump", "dumpkill"),
    ):
        kitchen.run(name, [*record_all, "a.osc", mode], mode.endswith("kill"))
    client = kitchen.program(ROOT / "tests/sources/client.c")
    for mode in ("nest", "kill", "fork", "parts"):
        kitchen.run(
            f"itt-{mode}",
            [*client, mode],
            mode == "kill",
            OPSCOPE_OUT=".",
            INTEL_LIBITTNOTIFY64=str(kitchen.tools / "libopscope-collect.so"),
        )
    (kitchen.folder / "scopes.py").write_text(SCOPES)
    kitchen.record("processes", [str(kitchen.python), str(kitchen.folder / "scopes.py")])
    for name, text, options in (
        ("torch", PROFILED, ()),
        ("torch-unchanged", TRAINING + "train()\n", ("--torch",)),
    ):
        script = kitchen.folder / f"train_{name}.py"
        script.write_text(text)
        kitchen.record(name, [str(kitchen.python), str(script)], *options)
    for blocks in kitchen.out.rglob("*.live/blocks"):
        with blocks.open("r+b") as f:
            f.seek(PID_AT)
            f.write(struct.pack("<I", NO_PROCESS))
    for socket in [p for p in kitchen.out.rglob("*") if p.is_socket()]:
        socket.unlink()


def make_columns(kitchen: Kitchen) -> None:
    """Make column files from a trace of torch, one of a GPU, a selection, several files, and a
    recording."""
    data, torch = ROOT / "tests/data", kitchen.options.traces / "torch213"
    recordings = kitchen.out / "recordings"
    kitchen.export("small", data, "small.json")
    kitchen.export("no-args", data, "small.json", "--no-args")
    kitchen.export("alexnet", data, "alexnet_a100.json.gz")
    kitchen.export(
        "alexnet-cut", data, "alexnet_a100.json.gz", "--from", "43370ms", "--to", "43420ms"
    )
    kitchen.export("demo-step", data, "demo.pt.trace.json.gz", "--steps", "@1")
    kitchen.export("labels", torch, "labels/trace.json.gz")
    kitchen.export("infer", torch, "resnet_infer/trace.json.gz")
    kitchen.export("ranks", torch, "ddp2_logdir", "--steps", "@1")
    kitchen.export("recording", recordings, "itt-nest")
    kitchen.export("recording-torch", recordings, "torch", "--steps", "@1")


def questions(opscope: Path) -> list[list[str]]:
    """Every table in every grouping, as arguments of `table`."""
    found: list[list[str]] = []
    listed = subprocess.run(
        [opscope, "table", "--list"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    ).stdout
    for line in listed.splitlines():
        words = line.split()
        if words and words[0].isidentifier() and not line[0].isspace():
            found.append([words[0]])
        elif words[:1] == ["--group-by:"]:
            found += [
                [found[-1][0], "--group-by", word.replace(":N", ":3")] for word in words[1:]
            ]
    return found


def answer(opscope: Path, folder: Path, operand: str, question: list[str]) -> object:
    """One table of one fixture: its CSV, or released.digest() of a long one."""
    done = subprocess.run(
        [opscope, "table", *question, operand, "--format", "csv"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout if len(done.stdout) <= LONG else released.digest(done.stdout)


def pack(folder: Path, to: Path) -> None:
    """Pack FOLDER into an archive without information about its maker."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(to, "w:xz", preset=9) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=f"{folder.name}/{path.name}", filter=plain)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument(
        "--torch", type=lambda p: Path(p).absolute(), default="build-torch/bin/python"
    )
    parser.add_argument(
        "--traces", type=lambda p: Path(p).resolve(), default=ROOT.parent / "shared/data"
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    version = subprocess.run(
        [options.build / "opscope", "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    to = options.out or HERE / version
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="opscope-released-") as place:
        kitchen = Kitchen(options, Path(place))
        make_recordings(kitchen)
        make_columns(kitchen)
        # Make the tables when the programs that made the recordings are gone.
        opscope = kitchen.folder / "opscope"
        shutil.move(kitchen.opscope, opscope)
        shutil.rmtree(kitchen.tools)
        expected: dict[str, dict[str, object]] = {}
        for family in ("recordings", "columns"):
            for fixture in sorted((kitchen.out / family).iterdir()):
                name = f"{family}/{fixture.name}"
                expected[name] = {
                    " ".join(q): answer(opscope, kitchen.out, name, q)
                    for q in questions(opscope)
                }
            pack(kitchen.out / family, to / f"{family}.tar.xz")
        text = json.dumps(expected, indent=0, ensure_ascii=True).encode()
        (to / "tables.xz").write_bytes(lzma.compress(text, preset=9))
    for path in sorted(to.iterdir()):
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
