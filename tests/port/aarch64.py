#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: aarch64
# args: --root {root-aarch64} --opscope {gcc}/opscope --shared {shared}
# mode: full
"""opscope for AArch64 is built, passes its unit tests, records, and reads traces as on this machine.

    python3 tests/port/aarch64.py --root ROOT --opscope COMMAND --shared SHARED [BUILD]

Debian's cross compiler builds all for ROOT, in BUILD (default: build-aarch64). The programs run in
ROOT, by QEMU's emulation of Linux, in a namespace of their own in which the kernel knows it. A
program is recorded by `opscope run`. All tables of that recording and of the TRACES, and the page,
must equal those that COMMAND of this machine makes, byte for byte.
Ends with `N passed, N failed`; skipped if namespaces are forbidden.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = "/usr/lib/binfmt.d/qemu-aarch64.conf"
# Tests of what the emulator does in another way than Linux: what /proc says of a process and its
# libraries, children that share memory, set-uid programs, and how long SQLite may take.
EMULATED = {
    *("base/pid", "recorder/faults", "recorder/session", "recorder/thread/stack", "sql/texts")
}
TRACES = (
    *("tests/data/demo.pt.trace.json.gz", "tests/data/alexnet_a100.json.gz"),
    *("tests/data/small.json", "shared/data/wild/bazel_local.json.gz"),
    *("shared/data/wild/chrome_flow.json.gz", "shared/data/wild/clang_time_trace.json.gz"),
    *(
        "shared/data/wild/cuda_fsdp_annotated1.json.gz",
        "shared/data/wild/cuda_v100_dlrm_8ranks",
    ),
    *("shared/data/wild/cuda_particle.json.gz", "shared/data/wild/jax_mi300_attention.json.gz"),
    *("shared/data/wild/chrome_nestable_async.json.gz",),
)
PROGRAM = """
import opscope
from opscope import record
for i in range(3):
    record.step()
    with record.scope("in a step", size=i, share=i / 3):
        pass
"""
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
BINFMT = "/proc/sys/fs/binfmt_misc"


class There:
    """The tree for AArch64."""

    def __init__(self, root: Path, shared: Path) -> None:
        self.root = root
        self.binds = {"/proc": "/proc", "/dev": "/dev", str(ROOT): str(ROOT)}
        self.binds[str(shared)] = str(shared)

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run WORDS there."""
        for place in self.binds.values():
            Path(f"{self.root}{place}").mkdir(parents=True, exist_ok=True)
        script = [f"mount -t binfmt_misc none {BINFMT}", f"cat {EMULATOR} >{BINFMT}/register"]
        script += [f"mount --rbind '{a}' '{self.root}{b}'" for a, b in self.binds.items()]
        script += [f"exec chroot '{self.root}' /bin/sh -c {shlex.quote(shlex.join(words))}"]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **variables}
        return subprocess.run(
            [*UNSHARE, "sh", "-c", " && ".join(script)],
            env=environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )


def build(root: Path, folder: Path) -> None:
    """Configure and build FOLDER for ROOT."""
    if not (folder / "build.ninja").exists():
        cross = folder.with_suffix(".ini")
        flags = [f"--sysroot={root}"]
        libraries = root / "usr/lib/aarch64-linux-gnu/pkgconfig"
        cross.write_text(
            "[binaries]\n"
            "c = 'aarch64-linux-gnu-gcc'\ncpp = 'aarch64-linux-gnu-g++'\n"
            "ar = 'aarch64-linux-gnu-ar'\nstrip = 'aarch64-linux-gnu-strip'\n"
            "pkgconfig = 'pkg-config'\n"
            f"exe_wrapper = ['qemu-aarch64-static', '-L', '{root}']\n"
            "[built-in options]\n"
            + "".join(f"{x}_args = {flags}\n" for x in ("c", "c_link", "cpp", "cpp_link"))
            + f"[properties]\nsys_root = '{root}'\nneeds_exe_wrapper = true\n"
            f"pkg_config_libdir = '{libraries}:{root}/usr/share/pkgconfig'\n"
            "[host_machine]\nsystem = 'linux'\ncpu_family = 'aarch64'\ncpu = 'aarch64'\n"
            "endian = 'little'\n"
        )
        words = ["meson", "setup", str(folder), "--cross-file", str(cross), "-Dwerror=true"]
        subprocess.run(words, check=True)
    subprocess.run(["ninja", "-C", str(folder)], check=True)


class Tests:
    """What passed and failed."""

    def __init__(self) -> None:
        self.n = {True: 0, False: 0}

    def check(self, name: str, is_good: bool, said: str = "") -> None:
        self.n[is_good] += 1
        if not is_good:
            print(f"FAILED {name}\n{said[-3000:]}", flush=True)


def unit_tests(tests: Tests, there: There, folder: Path) -> None:
    listed = subprocess.run(
        ["meson", "introspect", str(folder), "--tests"], stdout=subprocess.PIPE, check=True
    ).stdout
    programs = {
        t["name"]: t["cmd"][-1]
        for t in json.loads(listed)
        if t["protocol"] == "tap" and t["name"] not in EMULATED
    }

    def one(name: str) -> subprocess.CompletedProcess[str]:
        return there.run(programs[name], CMOCKA_MESSAGE_OUTPUT="TAP")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, done in zip(programs, list(pool.map(one, programs))):
            if (
                done.returncode != 0
            ):  # some tell what is slow: once more, with nothing beside it
                done = one(name)
            n_good = len(re.findall("^ok ", done.stdout, re.M))
            tests.n[True] += n_good
            bad = re.findall("^not ok .*", done.stdout, re.M)
            if bad or n_good == 0 or done.returncode != 0:
                tests.check(name, False, "\n".join([*bad, done.stderr]))


def recording(tests: Tests, there: There, folder: Path) -> str:
    """Record a Python program and its scopes there; returns the path."""
    place = str(folder / "recorded")
    subprocess.run(["rm", "-rf", place], check=True)
    package = folder / "python/opscope"
    if not (package / "_opscope.so").exists():  # it is named as for the Python of this machine
        (package / "_opscope.so").symlink_to(next(package.glob("_opscope.cpython-*.so")).name)
    words = (
        str(folder / "opscope"),
        "run",
        "--strict",
        "-o",
        place,
        "--",
        "/usr/bin/python3.11",
    )
    done = there.run(*words, "-c", PROGRAM, PYTHONPATH=str(folder / "python"))
    tests.check("opscope run", done.returncode == 0, done.stdout + done.stderr)
    done = there.run(str(folder / "opscope"), "info", place)
    tests.check("its clock", "cntvct" in done.stdout, done.stdout + done.stderr)
    return place


def tables(command: str) -> list[str]:
    listed = subprocess.run([command, "table", "--list"], stdout=subprocess.PIPE, check=True)
    names = re.findall(r"^(\w+) ", listed.stdout.decode(), re.M)
    return [x for x in names if not x.startswith("diff_") and x != "siblings"]


def compare(tests: Tests, there: There, ours: str, theirs: str, trace: str) -> None:
    """All tables of TRACE, and its page."""
    script = 'for t in $3; do echo "== $t"; "$1" table "$t" "$2" -f json 2>&1; echo $?; done'
    names = " ".join(tables(ours))
    said = [
        subprocess.run(
            ["sh", "-c", script, "sh", ours, trace, names],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        ).stdout,
        there.run("sh", "-c", script, "sh", theirs, trace, names).stdout,
    ]
    parts = [re.split("^== ", x, flags=re.M)[1:] for x in said]
    tests.check(f"{trace}: tables", len(parts[0]) == len(parts[1]) > 30, said[1])
    for a, b in zip(*parts):
        tests.check(f"{trace}: {a.split()[0]}", a == b, f"{a[:600]}\n--- there:\n{b[:600]}")
    pages = [str(ROOT / f"build-aarch64/{x}.html") for x in ("here", "there")]
    subprocess.run([ours, "export", trace, "-o", pages[0]], check=False, capture_output=True)
    there.run(theirs, "export", trace, "-o", pages[1])
    texts = [Path(x).read_bytes() if Path(x).exists() else b"" for x in pages]
    tests.check(f"{trace}: page", texts[0] == texts[1] != b"")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", required=True)
    parser.add_argument("--opscope", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("build", nargs="?", default="build-aarch64")
    options = parser.parse_args()
    shared, folder = Path(options.shared).resolve(), Path(options.build).resolve()
    there, tests = There(Path(options.root).resolve(), shared), Tests()
    if there.run("true").returncode != 0:
        print("skipped: no namespace in which the kernel runs the emulator\n1 passed, 0 failed")
        return 0
    build(there.root, folder)
    unit_tests(tests, there, folder)
    ours, theirs = str(Path(options.opscope).resolve()), str(folder / "opscope")
    traces = [recording(tests, there, folder)]
    traces += [str(shared.parent / x if x.startswith("shared") else ROOT / x) for x in TRACES]
    for trace in traces:
        compare(tests, there, ours, theirs, trace)
        print(trace, tests.n, flush=True)
    print(f"{tests.n[True]} passed, {tests.n[False]} failed")
    return tests.n[False] > 0


if __name__ == "__main__":
    sys.exit(main())
