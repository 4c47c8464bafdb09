# SPDX-License-Identifier: Apache-2.0
"""What the tests of the collector share: programs, recordings of them, and their tables."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = ("cuda", "level-zero", "nvtx", "opencl", "sources")


class Missing(Exception):
    """Something that a test needs is not installed."""


def sanitizers(build: Path) -> str:
    """Those of a build, such as "address,undefined"; "" if it has none."""
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    [found] = [row["value"] for row in options if row["name"] == "b_sanitize"]
    found = ",".join(found) if isinstance(found, list) else found
    return "" if found == "none" else found


class Place:
    """A folder with programs, and recordings of them. Programs, and libraries that they load, have
    the sanitizers of opscope's build."""

    def __init__(self, opscope: Path, python: str, folder: Path):
        self.opscope, self.python, self.folder = opscope, python, folder
        self.n_recordings = 0
        self.sanitizers = sanitizers(opscope.parent)
        if self.sanitizers:  # what they find goes to stderr, which is compared; drivers leak
            os.environ.update(
                {
                    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:"
                    "use_sigaltstack=0",  # LLVM has one, too
                    "UBSAN_OPTIONS": "print_stacktrace=1",
                    "TSAN_OPTIONS": "die_after_fork=0:ignore_noninstrumented_modules=1:"
                    f"suppressions={HERE}/tsan.supp",
                }
            )

    def options(self) -> list[str]:
        """Those of a compiler."""
        return ["-g", f"-fsanitize={self.sanitizers}"] if self.sanitizers else []

    def preloaded(self, *libraries: str) -> str:
        """LD_PRELOAD for LIBRARIES, after those of sanitizers, which have to be the first."""
        names = {"address": "asan", "undefined": "ubsan", "thread": "tsan"}
        runtimes = [
            subprocess.run(
                ["cc", f"-print-file-name=lib{names[name]}.so"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip()
            for name in self.sanitizers.split(",")
            if name
        ]
        return ":".join([*map(os.path.realpath, runtimes), *libraries])

    def build(self, compiler: str, source: str, *options: str) -> str:
        if not shutil.which(compiler):
            raise Missing(f"there is no {compiler}")
        program = self.folder / Path(source.replace("/", "-")).stem
        done = subprocess.run(
            [
                compiler,
                "-O1",
                str(HERE / source),
                "-o",
                str(program),
                *self.options(),
                *options,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Missing(f"{source} cannot be built: {done.stderr.strip().splitlines()[0]}")
        return str(program)

    def client(self) -> str:
        return self.build(
            "cc", "client.c", f"-I{ROOT}/src", "-D_GNU_SOURCE", "-lpthread", "-ldl"
        )

    def script(self, module: str, text: str) -> list[str]:
        found = subprocess.run(
            [self.python, "-c", f"import {module}"], capture_output=True, check=False
        )
        if found.returncode != 0:
            raise Missing(f"{self.python} has no {module}")
        path = self.folder / f"{module}_script.py"
        path.write_text(text)
        return [self.python, str(path)]

    def record(self, command: list[str], env: dict[str, str] | None = None):
        """Run COMMAND with the collector. Returns how it ended, and the folder of its
        recordings."""
        self.n_recordings += 1
        out = self.folder / f"recordings-{self.n_recordings}"
        out.mkdir()
        given = {
            name: value for name, value in os.environ.items() if not name.startswith("OPSCOPE")
        }
        collector = str(self.opscope.parent / "libopscope-collect.so")
        given |= {
            "INTEL_LIBITTNOTIFY64": collector,
            "NVTX_INJECTION64_PATH": collector,
            "OPENCL_LAYERS": collector,
            "OPSCOPE_OUT": str(out),
        } | (env or {})
        if self.sanitizers:
            given["LD_PRELOAD"] = self.preloaded(*filter(None, [given.get("LD_PRELOAD", "")]))
        done = subprocess.run(
            command, env=given, capture_output=True, text=True, timeout=120, check=False
        )
        return done, out

    def table(self, name: str, out: Path) -> list[dict]:
        done = subprocess.run(
            [str(self.opscope), "table", name, str(out), "--format", "json", "--limit", "0"],
            capture_output=True,
            text=True,
            check=True,
        )
        table = json.loads(done.stdout)
        return [
            dict(zip([column["name"] for column in table["columns"]], row))
            for row in table["rows"]
        ]

    def events(self, out: Path) -> list[dict]:
        rows = self.table("events", out)
        names = {row["id"]: row["name"] for row in rows}
        for row in rows:
            row["parent"] = names.get(row.get("parent_id"))
            row["args"] = json.loads(row["args"]) if row["args"] else {}
        return rows


def same(found, wanted) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")


def counted(place: Place, out: Path) -> dict[str, int]:
    """What sources could not record, as events and `quality` tell it."""
    found: Counter[str] = Counter()
    for row in place.events(out):
        if row["kind"] == "counter" and row["name"].split(":")[0] in SOURCES:
            found[row["name"]] = max(found[row["name"]], row["args"]["value"])
    same(
        {
            row["message"]: row["count"]
            for row in place.table("quality", out)
            if row["code"] == "source_incomplete"
        },
        dict(found),
    )
    return dict(found)


def lines(events: list[dict]) -> list[tuple]:
    return [(row["kind"], row["name"], row["parent"]) for row in events]


def run(doc: str, tests) -> int:
    """Run TESTS of the program that DOC describes, each with a place of its own."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=Path)
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="one that has torch, openvino, nvtx or pyopencl",
    )
    parser.add_argument("--only", default="", help="tests whose name has this in it")
    options = parser.parse_args()
    passed = failed = 0
    for test in tests:
        if options.only not in test.__name__:
            continue
        with tempfile.TemporaryDirectory(prefix="clients-") as folder:
            try:
                test(Place(options.opscope.resolve(), options.python, Path(folder)))
                passed += 1
            except Missing as why:
                print(f"skipped {test.__name__}: {why}")
            except (AssertionError, KeyError, IndexError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"FAILED {test.__name__}: {type(error).__name__} {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
