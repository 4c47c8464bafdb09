#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: python-clean
# args: --torch {torch} --pythons {pythons}
# mode: full
"""Use the wheel where nothing is installed: no compiler, no headers, no library that it brings.

    python3 tests/python/clean.py [--torch PYTHON] [--pythons PYTHON...]

Builds the wheel, and enters a root directory that has only this Python, the C and C++ libraries and
what Python itself needs. There the package is imported, records, and reads traces. With a PYTHON of
the same version that has torch, the wheel gets a recorder for it: it is used there, then hidden, so
that ITT remains. Each of PYTHONS builds or takes a wheel and uses it the same way, without torch.
Ends with `N passed, N failed`; skipped if a user must not mount directories.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the wheel must bring itself, though modules of Python may use it, too.
BROUGHT = (
    "libsqlite3",
    "libzstd",
    "libisal",
    "libdeflate",
    "libxxhash",
    "libmicrohttpd",
    "libgnutls",
    "libp11-kit",
    "libidn2",
    "libunistring",
    "libtasn1",
    "libnettle",
    "libhogweed",
    "libgmp",
)
# In every wheel. What libmicrohttpd needs besides, distributions choose.
LIBRARIES = {"libsqlite3", "libzstd", "libisal", "libdeflate", "libmicrohttpd"}
# What every system has on which wheels can be installed (PEP 600).
SYSTEM = (
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libz.so.1",
)
FACTS = """
import json, os, sys, sysconfig
print(json.dumps({"program": os.path.realpath(sys.executable), "version": sys.version_info[:2],
                  "stdlib": sysconfig.get_path("stdlib")}))
"""
USE = """
import os, shutil, socket, subprocess, sys
assert not any(map(shutil.which, ("cc", "c++", "gcc", "g++", "clang", "clang++")))
assert not os.path.exists("/usr/include/stdio.h")
import opscope
from opscope import record
assert opscope.__file__.startswith("/site/"), opscope.__file__
with record.scope("seen", size=3):
    pass
def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
if os.environ.get("OPSCOPE_OUT"):
    sys.exit()
command = os.path.join(opscope.__path__[0], "bin/opscope")
run(command, "run", "--strict", "-o", "/tmp/out", "--", sys.executable, *sys.argv)
assert ",seen," in run(command, "table", "events", "--format", "csv", "/tmp/out")
run(command, "export", "/tmp/out", "-f", "json", "-o", "/tmp/out.json")
for path in "/tmp/out", "/tmp/out.json", "/data/demo.pt.trace.json.gz":
    trace = opscope.load(path)
    names = trace.table("events", where="dur_ns >= 0", limit=5)["name"].tolist()
    assert names, path
    print(path, len(trace["operators"]), names[0])
assert "aten::" in run(command, "table", "operators", "/data/demo.pt.trace.json.gz")
assert run(sys.executable, "/site/bin/opscope", "--version") == run(command, "--version")
server = subprocess.Popen([command, "view", "/data/demo.pt.trace.json.gz", "--socket=/tmp/socket",
                           "--until-eof"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
assert b"unix:/tmp/socket" in server.stderr.readline()
with socket.socket(socket.AF_UNIX) as c:
    c.connect("/tmp/socket")
    c.sendall(b"GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
    answer = c.makefile(newline="").read()
assert " 200 OK" in answer and '<div id="page">' in answer, answer
server.stdin.close()
assert server.wait(20) == 0
"""
TRAIN = """
import sys, torch, opscope.torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
with opscope.torch.profile(record_shapes=True) as prof:
    model(torch.randn(2, 4))
found = {a.key: a.count for a in prof.key_averages(group_by_input_shape=True)}
print(type(prof).__module__, found["aten::addmm"])
"""


UNSHARE = (
    ["unshare", "--mount"]
    if os.getuid() == 0
    else ["unshare", "--user", "--map-root-user", "--mount"]
)


def run(*words: object) -> str:
    """The output of WORDS, which must succeed."""
    print("$", *words, flush=True)
    return subprocess.run(
        [str(x) for x in words], check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def libraries(files: list[Path]) -> set[str]:
    """The libraries of this machine that FILES need, but for those that the wheel brings."""
    found = subprocess.run(
        ["ldd", *map(str, files)], capture_output=True, text=True, check=False
    )
    paths = set(re.findall(r"(/\S+) \(0x", found.stdout))
    return {x for x in paths if not Path(x).name.startswith(BROUGHT) and "site" not in x}


class Clean:
    """A root directory for one Python, with the wheel installed in /site."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.facts = json.loads(run(python, "-c", FACTS))
        self.root = folder / "root"
        self.site = folder / "site"
        self.binds = {
            "/proc": "/proc",
            "/dev": "/dev",
            str(self.site): "/site",
            str(ROOT / "tests/data"): "/data",
            self.facts["stdlib"]: self.facts["stdlib"],
        }
        # What the package index needs to be reached is not for programs there.
        self.environment = {"HOME": "/tmp", "PYTHONPATH": "/site", "PATH": os.environ["PATH"]}

    def make(self, python: str, wheel: Path) -> None:
        """Install WHEEL and numpy, and copy the interpreter and the libraries that it needs."""
        run(python, "-m", "pip", "install", "--quiet", "--target", self.site, wheel)
        program = Path(self.facts["program"])
        modules = Path(self.facts["stdlib"], "lib-dynload").glob("*.so")
        needed = libraries([program, *modules]) | of_system()
        for path in {str(program), *needed}:
            place = Path(f"{self.root}{path}")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        (self.folder / "empty").mkdir()
        (self.root / "tmp").mkdir(parents=True)

    def check_licences(self, has_recorders: bool) -> None:
        """Every library in the wheel, what is compiled in, and opscope itself have their licence."""
        info = next(self.site.glob("opscope-*.dist-info"))
        texts = {x.name: x.read_text(encoding="utf-8") for x in (info / "licenses").glob("*")}
        metadata = (info / "METADATA").read_text(encoding="utf-8").partition("\n\n")[0]
        assert set(re.findall(r"^License-File: (.*)$", metadata, re.M)) == set(texts), metadata
        libraries_there = [x.name for x in self.site.glob("opscope.libs/*")]
        assert {x.split("-")[0] for x in libraries_there} >= LIBRARIES, libraries_there
        for name in (
            "LICENSE",
            "libxxhash",
            *["torch"] * has_recorders,
            *(re.match(r"\w+", x)[0] for x in libraries_there),
        ):
            found = [x for x in texts if x.startswith(name)]
            assert len(found) == 1 and "opyright" in texts[found[0]], (name, list(texts))

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter there with WORDS, which must succeed."""
        for path in self.binds.values():
            Path(f"{self.root}{path}").mkdir(parents=True, exist_ok=True)
        mounts = [f"mount --rbind '{a}' '{self.root}{b}'" for a, b in self.binds.items()]
        hidden = Path(self.facts["stdlib"], "site-packages")  # of this machine's Python
        if hidden.is_dir():
            mounts.append(f"mount --bind '{self.folder}/empty' '{self.root}{hidden}'")
        script = (
            f"{' && '.join(mounts)} && PATH=$PATH:/usr/sbin && exec chroot '{self.root}' \"$@\""
        )
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", script, "sh", self.facts["program"], *words],
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        print("there:", done.stdout, done.stderr, sep="\n", flush=True)
        assert done.returncode == 0, words
        return done


def of_system() -> set[str]:
    """The C and C++ libraries, where this machine's loader finds them."""
    maps = run(
        sys.executable,
        "-c",
        "import ctypes; ctypes.CDLL('libstdc++.so.6')\nprint(open('/proc/self/maps').read())",
    )
    places = re.findall(r"(/\S*)/lib(?:stdc\+\+|c)[.-]\S*", maps)
    return {
        f"{place}/{x}" for place in places for x in SYSTEM if os.path.exists(f"{place}/{x}")
    }


# --- tests -----------------------------------------------------------------------------------


def build(python: str, folder: Path, torch: str | None) -> None:
    """Build the wheel for PYTHON in FOLDER, with a recorder for the torch in the directory TORCH."""
    folder.mkdir()
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    words = [
        python,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        f"--config-settings=torch={torch or 'none'}",
        str(ROOT),
    ]
    print("$", *words, flush=True)
    done = subprocess.run(words, check=True, env=env, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    # pip shows none of the output of what it runs, but must not be silent of that.
    name = next(folder.glob("*.whl")).name
    assert f"-{1 if torch else 0}torch" in name, name
    has = "a recorder for torch 2." if torch else "no recorder for torch."
    assert f"opscope: the wheel has {has}" in done.stderr, done.stderr
    assert "-C torch=" in done.stderr, done.stderr


def with_torch(clean: Clean, place: str) -> None:
    """Record the torch of the directory PLACE by the wheel's recorder, and without it by ITT."""
    clean.binds[place] = "/torch"
    clean.environment["PYTHONPATH"] = "/site:/torch"
    program = clean.root / "tmp/train.py"
    program.write_text(TRAIN)
    words = ("/site/bin/opscope", "run", "--torch", "-o")
    columns = ("--columns", "name,calls,flops", "--format", "csv")
    done = clean.run(*words, "/tmp/with", "--", clean.facts["program"], "/tmp/train.py")
    assert done.stdout == "opscope.torch.profiler 1\n", done.stdout
    assert "[torch]" not in done.stderr, done.stderr
    done = clean.run("/site/bin/opscope", "table", "averages", *columns, "/tmp/with")
    assert re.search(r"^aten::addmm,5,[1-9]", done.stdout, re.M), done.stdout
    recorders = clean.site / "opscope/torch/recorders"
    recorders.rename(clean.folder / "hidden")
    done = clean.run(*words, "/tmp/without", "--", clean.facts["program"], "/tmp/train.py")
    assert done.stdout == "torch.profiler.profiler 1\n", done.stdout
    said = [x for x in done.stderr.splitlines() if "[torch]" in x]
    assert len(said) == 1 and "no C++ compiler" in said[0] and "ITT" in said[0], done.stderr
    assert done.stderr.count("torch's own profiler records") == 1, done.stderr
    done = clean.run("/site/bin/opscope", "table", "averages", *columns, "/tmp/without")
    assert re.search(r"^aten::addmm,5,$", done.stdout, re.M), done.stdout
    done = clean.run("/site/bin/opscope", "table", "steps", "--format", "csv", "/tmp/without")
    assert done.stdout.count("\n") == 5, done.stdout


def package_of(python: str) -> tuple[str, str]:
    """The version of PYTHON, and the directory in which it has torch."""
    place = run(
        python,
        "-c",
        "import torch, os\nprint(os.path.dirname(os.path.dirname(torch.__file__)))",
    )
    version = run(python, "-c", "import sys; print(list(sys.version_info[:2]))")
    return version.strip(), place.strip()


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch")
    parser.add_argument("--pythons", nargs="*", default=[])
    options = parser.parse_args()
    if subprocess.run([*UNSHARE, "true"], check=False).returncode != 0:
        print("skipped: this user must not mount\n1 passed, 0 failed")
        return 0
    passed = 0
    version, place = package_of(options.torch) if options.torch else ("", "")
    with tempfile.TemporaryDirectory() as kept:
        for python in [sys.executable, *options.pythons]:
            folder = Path(kept, str(passed))
            folder.mkdir()
            clean = Clean(folder, python)
            is_same = version == str(clean.facts["version"])
            kind = "abi3" if clean.facts["version"] >= [3, 11] else str(clean.facts["version"])
            wheel = Path(kept, kind)
            if not wheel.exists():  # one that uses the stable interface is for all of them
                build(python, wheel, f"{place}/torch" if is_same else None)
            clean.make(python, next(wheel.glob("*.whl")))
            clean.check_licences(is_same)
            (clean.root / "tmp/use.py").write_text(USE)
            clean.run("/tmp/use.py")
            if is_same:
                with_torch(clean, place)
            passed += 1 + is_same
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
