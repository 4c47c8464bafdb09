#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: wheel-old
# args: --old {root-old} --debian11 {root-debian11} --debian12 {root-debian12} --pythons {pythons}
# mode: full
"""A wheel for older systems is built, and used in Debian 11 and 12, which have no compiler.

    python3 tests/port/old_wheel.py --old ROOT [--debian11 ROOT] [--debian12 ROOT] [--pythons PYTHON...]

`pip wheel . -C root=ROOT` builds it against Debian 11, for this Python and, if it is one of PYTHONS,
3.9, that of Debian 11. In each Debian the package is imported, records, reads traces and serves the
page, as in clean.py. Ends with `N passed, N failed`; skipped if a user must not mount directories.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))

import clean  # noqa: E402

GLIBC = (2, 28)  # at most; that of torch's wheels


def build(python: str, old: str, folder: Path) -> Path:
    """The wheel for PYTHON, in FOLDER."""
    words = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
    clean.run(*words, f"--config-settings=root={old}", "--config-settings=torch=none", ROOT)
    wheel = next(folder.glob("*.whl"))
    found = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)
    assert found and (int(found[1]), int(found[2])) <= GLIBC, wheel.name
    return wheel


def use(root: Path, python: str, wheel: Path, folder: Path) -> None:
    """Install WHEEL by PYTHON and use it in ROOT, whose Python has the same version."""
    site = folder / "site"
    clean.run(python, "-m", "pip", "install", "--quiet", "--target", site, wheel)
    (folder / "use.py").write_text(clean.USE)
    binds = {"/proc": "/proc", "/dev": "/dev", str(site): "/site", str(folder): "/use"}
    binds[str(ROOT / "tests/data")] = "/data"
    for place in binds.values():
        (root / place.lstrip("/")).mkdir(exist_ok=True)
    mounts = [f"mount --rbind '{a}' '{root}{b}'" for a, b in binds.items()]
    mounts += [f"mount -t tmpfs none '{root}/tmp'"]
    script = f"{' && '.join(mounts)} && exec chroot '{root}' python3 /use/use.py"
    environment = {
        "HOME": "/tmp",
        "PYTHONPATH": "/site",
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    }
    subprocess.run([*clean.UNSHARE, "sh", "-c", script], env=environment, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", required=True)
    parser.add_argument("--debian11")
    parser.add_argument("--debian12")
    parser.add_argument("--pythons", nargs="*", default=[])
    options = parser.parse_args()
    if subprocess.run([*clean.UNSHARE, "true"], check=False).returncode != 0:
        print("skipped: this user must not mount\n1 passed, 0 failed")
        return 0
    pythons = {(3, 11): sys.executable} if sys.version_info[:2] == (3, 11) else {}
    for python in options.pythons:
        if os.path.basename(python) == "python3.9":
            pythons[3, 9] = python
    n = 0
    with tempfile.TemporaryDirectory() as kept:
        for root, version in ((options.debian11, (3, 9)), (options.debian12, (3, 11))):
            if not root or version not in pythons:
                print(f"skipped: there is no Python {version} here", flush=True)
                continue
            folder = Path(kept, str(version[1]))
            folder.mkdir()
            wheel = build(pythons[version], str(Path(options.old).resolve()), folder)
            print(wheel.name, flush=True)
            use(Path(root).resolve(), pythons[version], wheel, folder)
            n += 1
    print(f"{n} passed, {int(n == 0)} failed")
    return int(n == 0)


if __name__ == "__main__":
    sys.exit(main())
