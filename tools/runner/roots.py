# SPDX-License-Identifier: Apache-2.0
"""Trees of other Debians, for which is built, or in which is tested: build-roots/NAME.

mmdebstrap makes each in less than a minute. One that is only unpacked runs no program: a compiler of
this machine takes its headers and libraries (--sysroot).

Threading: not locked; the thread that starts steps asks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

# SQLite in one file, as a package of npm has it: Debian 11 has 3.34, and 3.38 is needed.
SQLITE, SQLITE_VERSION = "better-sqlite3@11.8.1", "3.48.0"
SQLITE_OPTIONS = (
    *("-DSQLITE_ENABLE_MATH_FUNCTIONS", "-DSQLITE_ENABLE_COLUMN_METADATA"),
    *("-DSQLITE_THREADSAFE=1", "-DSQLITE_SECURE_DELETE", "-DSQLITE_ENABLE_UNLOCK_NOTIFY"),
)
# Debian 11 has newer ones of these functions than the systems before it.
OLD_FUNCTIONS = "".join(
    f'__asm__(".symver {x},{x}@GLIBC_2.2.5");\n' for x in ("exp", "log", "log2", "pow")
)

LIBRARIES = (
    "libc6-dev linux-libc-dev libisal-dev libdeflate-dev zlib1g-dev libzstd-dev libxxhash-dev"
    " libsqlite3-dev libmicrohttpd-dev opencl-headers"
)


@dataclass
class Root:
    """One tree."""

    release: str
    architecture: str
    packages: str
    is_unpacked: bool = False
    has_own_sqlite: bool = False


ROOTS = {
    # Wheels are built for it, so that they run on older systems.
    "old": Root(
        "bullseye",
        "amd64",
        f"{LIBRARIES} libgcc-10-dev libstdc++-10-dev",
        is_unpacked=True,
        has_own_sqlite=True,
    ),
    # The wheel is used in them.
    "debian11": Root("bullseye", "amd64", "python3-venv python3-pip ca-certificates"),
    "debian12": Root("bookworm", "amd64", "python3-venv python3-pip ca-certificates"),
    # Programs for AArch64 are built for it, and run in it by an emulator.
    "aarch64": Root(
        "bookworm",
        "arm64",
        f"{LIBRARIES} libstdc++-12-dev libcurl4-openssl-dev libcmocka-dev ocl-icd-libopencl1"
        " ocl-icd-opencl-dev python3-dev python3-numpy dash coreutils",
        is_unpacked=True,
    ),
}


def lead_inside(folder: Path) -> None:
    """Make the absolute links to libraries in the tree FOLDER lead into it."""
    for top in ("lib", "lib64", "usr/lib", "usr/lib64"):
        for link in [x for x in (folder / top).rglob("*") if x.is_symlink()]:
            target = os.readlink(link)
            if target.startswith("/"):
                link.unlink()
                link.symlink_to(os.path.relpath(f"{folder}{target}", link.parent))


def add_sqlite(folder: Path) -> None:
    """Replace the SQLite of the tree FOLDER, which is for x86-64."""
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    with tempfile.TemporaryDirectory() as name:
        there = Path(name)
        subprocess.run(["npm", "pack", "--silent", SQLITE], cwd=there, check=True)
        shutil.unpack_archive(str(next(there.glob("*.tgz"))), name)
        source = there / "package/deps/sqlite3"
        old = folder / "usr/include/opscope_old.h"  # wheel_backend.py includes it, too
        old.write_text(OLD_FUNCTIONS)
        out = libraries / "libsqlite3.so.0.8.6"
        words = ["gcc", f"--sysroot={folder}", "-O2", "-fPIC", "-shared", *SQLITE_OPTIONS]
        words += [f"-B{libraries}/", f"-L{libraries}", f"-L{folder}/lib/x86_64-linux-gnu"]
        words += ["-include", str(old), "-Wl,-soname,libsqlite3.so.0"]
        words += [str(source / "sqlite3.c"), "-o", str(out), "-lm", "-ldl", "-lpthread"]
        subprocess.run(words, check=True)
        shutil.copy(source / "sqlite3.h", folder / "usr/include/sqlite3.h")
    about = libraries / "pkgconfig/sqlite3.pc"
    lines = about.read_text().splitlines()
    lines = [f"Version: {SQLITE_VERSION}" if x.startswith("Version:") else x for x in lines]
    about.write_text("\n".join(lines) + "\n")


def make(name: str, log: Path) -> Path | None:
    """The folder of the tree NAME, which is made if it is not there; None: LOG says why not."""
    root, folder = ROOTS[name], Path("build-roots", name).absolute()
    note = folder.with_suffix(".packages")
    if folder.exists() and note.exists() and note.read_text() == str(root):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    words = [
        *("mmdebstrap", f"--variant={'extract' if root.is_unpacked else 'minbase'}"),
        *(
            f"--architectures={root.architecture}",
            f"--include={','.join(root.packages.split())}",
        ),
        *(root.release, str(folder)),
    ]
    with log.open("wb") as out:
        done = subprocess.run(words, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    if root.is_unpacked:
        lead_inside(folder)
    if root.has_own_sqlite:
        add_sqlite(folder)
    note.write_text(str(root))
    return folder
