#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: tidy
# needs: gcc clang-tidy
# full: --full
"""clang-tidy finds nothing in the code of src/: with --full in all files and to its depth, else in those
that the last commits changed and one in ten, another one at each commit.

The analyser takes 20 times as long as the rest. Without --full it does not look at tests, and stops at
10,000 states of each function, which takes a tenth of the time of its 225,000. A result is kept in
build-clang/tidy/ under a key, until the file, a header that gcc has seen in it, or an option changes.
"""

import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/runner"))

import builds  # noqa: E402

KEPT = Path("build-clang/tidy")
KEPT_S = 7 * 86400
SHARE = 26  # of 256
COMMITS = 40
DEPTH = [
    f"--extra-arg={word}"
    for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=10000")
]


def seen() -> dict[str, set[str]]:
    """The files of the tree that gcc has read for each file."""
    words = ["ninja", "-C", "build-gcc", "-t", "deps"]
    text = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout
    found: dict[str, set[str]] = {}
    for block in text.split("\n\n"):
        paths = re.findall(r"^    (?:\.\./)?((?:src|include)/\S+)$", block, flags=re.MULTILINE)
        if paths:
            found.setdefault(paths[0], set()).update(paths)
    return found


def wanted(is_full: bool) -> list[str]:
    """The files to look at."""
    commands = json.loads(Path("build-clang/compile_commands.json").read_text(encoding="utf-8"))
    files = {c["file"][3:] for c in commands if re.match(r"\.\./src/.*\.c$", c["file"])}
    if is_full:
        return sorted(files)
    words = ["git", "log", "-n", str(COMMITS), "--format=", "--name-only"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    recent, seed = set(done.stdout.split()), os.environ.get("CHECK_SEED", "")
    chosen = {f for f in files if hashlib.sha256(f"{seed}../{f}".encode()).digest()[0] < SHARE}
    return sorted(chosen | files & recent)


def keys(files: list[str], is_full: bool) -> dict[str, str]:
    """Each file, and under which key its result is kept."""
    texts: dict[str, bytes] = {}
    included = seen()
    mine = Path(__file__).read_bytes() + Path(".clang-tidy").read_bytes() + bytes([is_full])
    found = {}
    for file in files:
        key = hashlib.sha256(mine)
        for path in sorted(included.get(file, {file})):
            if path not in texts:
                texts[path] = Path(path).read_bytes() if os.path.exists(path) else b""
            key.update(texts[path])
        found[file] = key.hexdigest()[:32]
    return found


def look_at(file: str, is_full: bool) -> str:
    """What it finds in one file."""
    words = ["clang-tidy", "-p", "build-clang", "--quiet"]
    if not is_full:
        words += [*DEPTH, *(["--checks=-clang-analyzer-*"] if file.endswith("_test.c") else [])]
    done = subprocess.run([*words, file], capture_output=True, text=True, check=False)
    return (
        done.stdout if done.returncode == 0 else done.stdout or f"{file}: error: {done.stderr}"
    )


def made_headers() -> list[str]:
    """Those of src/ that the build makes."""
    words = ["ninja", "-C", "build-clang", "-t", "targets", "all"]
    listed = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"^(src/\S+\.h): CUSTOM_COMMAND$", listed, re.MULTILINE)


def main() -> int:
    is_full = "--full" in sys.argv
    builds.configure("clang")
    subprocess.run(["ninja", "-C", "build-clang", "build.ninja"], check=True)
    subprocess.run(["ninja", "-C", "build-clang", *made_headers()], check=True)
    KEPT.mkdir(exist_ok=True)
    for old in KEPT.iterdir():
        if old.stat().st_mtime < time.time() - KEPT_S:
            with contextlib.suppress(OSError):
                old.unlink()
    todo = {f: k for f, k in keys(wanted(is_full), is_full).items() if not (KEPT / k).exists()}
    status = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        looked = {pool.submit(look_at, file, is_full): file for file in todo}
        for done in concurrent.futures.as_completed(looked):
            file, found = looked[done], done.result()
            print(f"{file}\n{found}" if found else file, flush=True)
            if found:
                status = 1
            else:
                (KEPT / todo[file]).touch()
    return status


sys.exit(main())
