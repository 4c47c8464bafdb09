# SPDX-License-Identifier: Apache-2.0
"""What steps of ./check need: packages of Debian, Pythons with packages, tools, builds.

A step names them in {} or in `needs` (steps.py). What pip installs lies in build-NAME/, apart from the
system. ./check fast installs nothing.

Threading: not locked; the thread that starts steps asks.
"""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import roots
from builds import BUILDS

ROOT = Path(__file__).resolve().parents[2]
PIP = "--disable-pip-version-check"
PYTHONS = ("3.9", "3.10", "3.12", "3.13", "3.14")  # beside that of the system, for the wheel
CUPTI = ("nvidia-cuda-cupti-cu12==12.9.79", "nvidia-cuda-cupti==13.5.25")

# Packages of Debian by the shortest mode that needs them. A command that was installed in another
# way also counts.
PACKAGES = {
    "fast": """gcc clang clang-format meson ninja-build pkg-config libcmocka-dev libisal-dev
        libdeflate-dev zlib1g-dev libzstd-dev libxxhash-dev libsqlite3-dev libcurl4-openssl-dev
        libmicrohttpd-dev opencl-headers libze-dev python3 python3-dev""",
    "all": """clang-tidy libclang-rt-14-dev mandoc valgrind zsh fish bash-completion chromium libtbb-dev
        libomp-dev sqlite3 git openmpi-bin libopenmpi-dev g++ python3-numpy python3-pandas
        python3-ipython python3-venv ocl-icd-opencl-dev pocl-opencl-icd libze1 cmake librust-cc-dev
        strace shellcheck jq patch""",
    "full": """debhelper lintian mmdebstrap qemu-user-static gcc-aarch64-linux-gnu
        g++-aarch64-linux-gnu""",
    "bench": "libsimdjson-dev liblttng-ust-dev lttng-tools uftrace",
}


@dataclass
class Environment:
    """A Python with packages, in build-NAME/ unless one of OTHERS has them already."""

    packages: str
    test: str = ""  # a program that runs if it is whole
    program: str = "python"
    seconds: int = 900
    others: tuple[str, ...] = ()
    other_test: str = ""  # the same for OTHERS


ENVIRONMENTS = {
    # The version that the specification of its tables describes.
    "torch": Environment(
        "torch==2.13.0 numpy nvtx pyopencl",
        "import torch.profiler",
        others=(os.environ.get("CHECK_TORCH", ""), "python3"),
    ),
    # With the headers of NVTX, its package and pyopencl.
    "nvtx": Environment(
        "numpy nvtx nvidia-nvtx-cu12 nvidia-nvtx pyopencl",
        "import nvidia.cu13, pyopencl",
        others=("python3",),
        other_test="import numpy, nvtx, nvidia.nvtx, nvidia.cu13, pyopencl",
    ),
    # Other readers of its traces.
    "peers": Environment(
        "torch-tb-profiler==0.4.3 HolisticTraceAnalysis==0.5.0 'pandas<3' 'setuptools<80'"
        " pyarrow polars dask xmlschema junitparser",
        "import hta, torch_tb_profiler, pyarrow, polars, dask.bag, xmlschema, junitparser",
    ),
    "tensorboard": Environment(
        "'tensorboard==2.21.*' numpy 'setuptools<80'", "import tensorboard.main, numpy"
    ),
    # Lightning and Hugging Face's Trainer.
    "frameworks": Environment(
        "torch==2.13.0 numpy lightning transformers accelerate", seconds=1800
    ),
    # For the Python that the package is built for.
    "lab": Environment("jupyterlab numpy", program="jupyter-lab"),
    "recipes": Environment("duckdb numpy pandas", "import duckdb, pandas"),
    "site": Environment("markdown-it-py==4.*", "import markdown_it", others=("python3",)),
    "typed": Environment("mypy pyright", "import mypy, pyright"),
    "ruff": Environment("ruff==0.17.6", program="ruff"),
}
FOLDERS = {"tensorboard": "build-tb"}


class MissingError(Exception):
    """Why something that a step needs is not there."""


class Places:
    """What is there: each name is looked for, and if need be installed, once."""

    def __init__(self, mode: str, seed: int, logs: Path) -> None:
        self.mode = mode
        self.logs = logs
        self.built: set[str] = set()  # builds of this run; one of an earlier run does not count
        self.known: dict[str, list[str] | str] = {
            "": [],
            "seed": [str(seed)],
            "logs": [str(logs)],
            "python3": ["python3"],
        }

    def get(self, name: str) -> list[str]:
        """The words for NAME. Raises MissingError."""
        if "|" in name:
            for one in name.split("|"):
                try:
                    return self.get(one)
                except MissingError as why:
                    last = why
            raise last
        if name in BUILDS:
            if name not in self.built:
                raise MissingError(f"build-{name} failed")
            return [f"build-{name}"]
        if name not in self.known:
            try:
                self.known[name] = self.find(name)
            except MissingError as why:
                self.known[name] = str(why)
        known = self.known[name]
        if isinstance(known, str):
            raise MissingError(known)
        return known

    def find(self, name: str) -> list[str]:
        if name in ENVIRONMENTS:
            return [self.environment(name, ENVIRONMENTS[name])]
        if name in FINDERS:
            return FINDERS[name](self)
        if name in COMMANDS:
            path = shutil.which(name)
            if not path:
                raise MissingError(f"there is no {name}")
            return [path]
        raise KeyError(f"provide.py has nothing of the name {name!r}")

    def environment(self, name: str, wanted: Environment) -> str:
        """The path of its program."""
        for python in filter(None, wanted.others):
            if runs(python, wanted.other_test or wanted.test):
                return python
        if name == "ruff" and is_version("ruff", wanted.packages.partition("==")[2]):
            return "ruff"
        folder = Path(FOLDERS.get(name, f"build-{name}"))
        program = folder / "bin" / wanted.program
        is_whole = (
            runs(str(folder / "bin/python"), wanted.test) if wanted.test else program.exists()
        )
        if not is_whole:
            self.install(folder, wanted)
            if not program.exists() or (wanted.test and not runs(str(program), wanted.test)):
                raise MissingError(
                    f"{wanted.packages} cannot be installed: {self.logs}/install-{folder.name}.log"
                )
        return str(program)

    def install(self, folder: Path, wanted: Environment) -> None:
        if self.mode == "fast":
            raise MissingError(f"./check fast installs nothing: {wanted.packages}")
        print(f"installing into {folder}/: {wanted.packages}", flush=True)
        pip = [str(folder / "bin/pip"), "install", "-q", PIP, *shlex.split(wanted.packages)]
        with (self.logs / f"install-{folder.name}.log").open("wb") as log:
            for words in ([sys.executable, "-m", "venv", str(folder)], pip):
                try:
                    done = subprocess.run(
                        words,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        check=False,
                        timeout=wanted.seconds,
                    )
                except subprocess.TimeoutExpired:
                    done = None
                if done is None or done.returncode != 0:
                    shutil.rmtree(folder, ignore_errors=True)
                    return


def runs(python: str, program: str) -> bool:
    """Whether PYTHON exists and runs PROGRAM."""
    try:
        return (
            subprocess.run([python, "-c", program], capture_output=True, check=False).returncode
            == 0
        )
    except OSError:
        return False


def is_version(command: str, version: str) -> bool:
    """Whether COMMAND of the PATH says that it has this version."""
    if not shutil.which(command):
        return False
    said = subprocess.run([command, "--version"], stdout=subprocess.PIPE, check=False).stdout
    return version in said.decode(errors="replace").split()


def module(places: Places, kind: str = "gcc") -> list[str]:
    """The Python package in a build, absolute, for the Python for which it was built."""
    folder = Path(places.get(kind)[0]).absolute() / "python"
    if not list(folder.glob("opscope/_opscope.*.so")):
        raise MissingError("there is no Python.h")
    return [str(folder)]


def web(places: Places) -> list[str]:
    """web/ with what npm fetches."""
    if not (ROOT / "web/node_modules/.bin/tsc").exists():
        if places.mode == "fast" or not shutil.which("npm"):
            raise MissingError("there is no npm, or web/node_modules is not whole")
        with (places.logs / "install-web.log").open("wb") as log:
            words = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            done = subprocess.run(
                words, cwd=ROOT / "web", stdout=log, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode != 0:
            raise MissingError(f"npm ci failed: {places.logs}/install-web.log")
    return ["web"]


def browser(places: Places) -> list[str]:
    """Chromium, and what drives it."""
    places.get("web")
    if not shutil.which("chromium"):
        raise MissingError("there is no chromium")
    if not (ROOT / "web/node_modules/playwright-core").is_dir():
        raise MissingError("web/node_modules is not whole")
    return ["chromium"]


def cupti(places: Places) -> list[str]:
    """The folders of headers of two versions of CUPTI, in build-cupti/."""
    folder = Path("build-cupti")
    if not folder.exists() and places.mode != "fast":
        with (places.logs / "install-cupti.log").open("wb") as log:
            for package in CUPTI:
                place = folder / package
                words = [sys.executable, "-m", "pip", "download", "-q", PIP, "--no-deps", "-d"]
                done = subprocess.run(
                    [*words, str(place), package],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    check=False,
                    timeout=300,
                )
                if done.returncode != 0:
                    shutil.rmtree(folder, ignore_errors=True)
                    break
                for wheel in place.glob("*.whl"):
                    shutil.unpack_archive(str(wheel), str(place), "zip")
    found = sorted(str(p.parent) for p in folder.glob("**/cupti_activity.h"))
    if not found:
        raise MissingError("the headers of CUPTI cannot be downloaded")
    return found


def shared(_: Places) -> list[str]:
    """The traces of others that lie beside the project."""
    folder = ROOT.parent / "shared"
    if not (folder / "data/tb_samples").is_dir():
        raise MissingError("there is no ../shared/data")
    return [str(folder)]


def numpy(_: Places) -> list[str]:
    if not runs("python3", "import numpy"):
        raise MissingError("there is no numpy")
    return ["python3"]


def counts(places: Places) -> list[str]:
    """The programs whose instructions are counted."""
    program = Path(places.get("gcc")[0], "tests/instructions/load_once")
    if platform.machine() != "x86_64" or not program.exists():
        raise MissingError("counts are for x86-64 and build-gcc")
    return [str(program)]


def pythons(_: Places) -> list[str]:
    """Other Pythons that have pip: of the search path, or of pyenv, whose shims run one alone."""
    found = []
    for name in (f"python{v}" for v in PYTHONS):
        places = sorted(Path.home().glob(f".pyenv/versions/*/bin/{name}"))
        found += [x for x in (name, *map(str, places)) if runs(x, "import pip")][:1]
    return found


def runtimes(_: Places) -> list[str]:
    """What a program that is built without sanitizers must load before a library with them."""
    return [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], stdout=subprocess.PIPE, check=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]


def root(places: Places, name: str) -> list[str]:
    """The folder of a tree of Debian."""
    if places.mode == "fast" or not shutil.which("mmdebstrap"):
        raise MissingError("there is no mmdebstrap, or nothing is installed")
    log = places.logs / f"install-root-{name}.log"
    folder = roots.make(name, log)
    if folder is None:
        raise MissingError(f"mmdebstrap failed: {log}")
    return [str(folder)]


FINDERS = {
    **{f"root-{name}": functools.partial(root, name=name) for name in roots.ROOTS},
    "module": module,
    "asan-module": lambda places: module(places, "asan"),
    "asan-runtimes": runtimes,
    "asan-options": lambda _: [os.environ["ASAN_OPTIONS"]],
    "web": web,
    "browser": browser,
    "cupti": cupti,
    "shared": shared,
    "numpy": numpy,
    "counts": counts,
    "pythons": pythons,
}
COMMANDS = ("node", "clang-tidy", "clang-format", "mandoc", "lintian", "shellcheck")
BUILD_OF = {"module": "gcc", "counts": "gcc", "asan-module": "asan"}


def names() -> set[str]:
    """All that a step may name."""
    return {*BUILDS, *ENVIRONMENTS, *FINDERS, *COMMANDS, "seed", "logs", "python3", ""}


def missing_packages(mode: str) -> list[str]:
    """The packages of Debian that MODE needs and that are not there."""
    if not shutil.which("dpkg-query"):
        return []  # not Debian: the build will show
    modes = ["fast"] if mode == "fast" else dict.fromkeys(["fast", "all", mode])
    wanted = [package for m in modes for package in PACKAGES[m].split()]
    if not shutil.which("node"):
        wanted.append("nodejs")
    if mode != "fast" and not shutil.which("npm"):
        wanted.append("npm")
    return [p for p in wanted if not shutil.which(p) and not is_installed(p)]


def is_installed(package: str) -> bool:
    words = ["dpkg-query", "-W", "-f", "${Status}", package]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.endswith(" installed") or " installed\n" in done.stdout


def install_packages(mode: str, logs: Path) -> None:
    """Install what is missing, and list it before. Exits with 2 if MODE installs nothing."""
    missing = missing_packages(mode)
    if not missing:
        return
    words = " ".join(missing)
    if mode == "fast":
        print(
            f"./check fast installs nothing, and needs: apt-get install {words}",
            file=sys.stderr,
        )
        sys.exit(2)
    as_root = [] if os.getuid() == 0 else ["sudo"]
    if as_root and not shutil.which("sudo"):
        print(f"please install: {words}", flush=True)
        return
    print(f"installing packages: {words}", flush=True)
    get = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    log = logs / "packages.log"
    with log.open("wb") as out:
        update = [*as_root, "apt-get", "update", "-q"]
        install = [*get, "install", "-q", "-y", "--no-install-recommends", *missing]
        for command in (update, install):
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
            if done.returncode != 0:
                break
    if done.returncode != 0:
        print(f"apt-get failed; the end of {log}:")
        last = log.read_text(errors="replace").splitlines()[-5:]
        print("\n".join(last), flush=True)
