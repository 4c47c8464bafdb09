#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: guests
# args: --opscope {gcc}/opscope
"""Check that real programs behave the same, recorded or not: output, errors, status, files.

Each runs alone, under `opscope run`, and under it with our libraries loaded into all of its
processes; each time with a new folder and home. Its output, status and files must be the same,
except caches, where drivers use random names. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = ("libopscope.so.0", "libopscope-collect.so")

FORKS = """
import multiprocessing, os, signal, subprocess, sys, threading

def square(n):
    return n * n

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(square, range(8)))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(square, range(8)))
    found = []
    threads = [threading.Thread(target=lambda: found.append(1)) for _ in range(50)]
    [t.start() for t in threads], [t.join() for t in threads]
    print(len(found), subprocess.run(["true"]).returncode)
    print(sorted(os.listdir("/proc/self/fd")))
    child = os.fork()
    if child == 0:
        os._exit(9)
    print(os.waitpid(child, 0)[1], file=sys.stderr)
"""

CLOSES = """
import os, signal
os.closerange(3, 1024)
signal.signal(signal.SIGSEGV, lambda *_: print("mine"))
os.kill(os.getpid(), signal.SIGSEGV)
print(os.listdir("/proc/self/fd"))
os._exit(5)
"""

# name, command of a shell
PROGRAMS = (
    ("cat", "seq 200000 | cat | tail -n 3"),
    ("sort", "seq 50000 | shuf --random-source=/bin/sh | sort -n --parallel=4 | md5sum"),
    ("ls", "mkdir d; touch d/a d/b; ls -1 d nowhere"),
    ("head", "seq 1000000 | head -n 2"),
    ("status", "exit 41"),
    ("signal", "kill -KILL $$"),
    ("segmentation", "kill -SEGV $$"),
    ("timeout", "timeout 0.2 sleep 9"),
    ("umask", "umask; ulimit -n; nice; ulimit -c"),
    ("trap", "trap 'echo bye' EXIT; trap '' TERM; kill -TERM $$; echo still here"),
    ("pipefail", "set -o pipefail; yes | head -n 1; echo ${PIPESTATUS[0]}"),
    ("jobs", "sleep 0.1 & wait $!; echo $?; (sleep 0.1; echo late) & wait"),
    ("exec", "exec env -i /bin/sh -c 'echo $OPSCOPE_OUT-'"),
    ("full disk", "echo x >/dev/full"),
    ("file sizes", "(ulimit -f 1; head -c 9000 /dev/zero >f) 2>/dev/null; echo $?; wc -c f"),
    ("no memory", "(ulimit -v 40000; sort /dev/null); echo $?"),
    ("no files", "(ulimit -n 4; cat /dev/null); echo $?"),
    ("python", "python3 forks.py"),
    ("python closes", "python3 closes.py"),
    ("python error", "python3 -c 'import sys; sys.exit(\"no\")'"),
    ("python recursion", "python3 -c 'f = lambda n: n and f(n - 1)\nprint(f(500))'"),
    (
        "sqlite3",
        "sqlite3 x.db 'create table t(a); with recursive n(i) as (select 1 union all "
        "select i + 1 from n where i < 20000) insert into t select i * 7 % 1000 from n; "
        "select count(*), sum(a), max(a) from t group by a % 3'",
    ),
    (
        "git",
        "export GIT_AUTHOR_DATE='1 Jan 2026 0:00Z' GIT_COMMITTER_DATE='1 Jan 2026 0:00Z' "
        "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b "
        "GIT_CONFIG_GLOBAL=/dev/null; git init -q -b main r && cd r && seq 3000 >f && "
        "git add f && git commit -qm one && seq 2 3000 >f && git commit -qam two && "
        "git log --stat --format=%H && git gc -q --no-prune && git fsck && git diff HEAD~1",
    ),
    ("compiler", "printf 'int main(void){return 6;}' >x.c; cc x.c -o x && ./x"),
    ("static", "printf 'int main(void){return 8;}' >x.c; cc -static x.c -o x && ./x"),
    (
        "mpi",
        'cp "$SOURCE/hello_mpi.c" . && mpicc hello_mpi.c -o hello && mpirun '
        "--allow-run-as-root --oversubscribe -n 3 ./hello 2>/dev/null | sort",
    ),
)

NEEDS = {"sqlite3": "sqlite3", "git": "git", "compiler": "cc", "static": "cc", "mpi": "mpicc"}


# Folders in the home that programs use. The contents of the last two do not count as behaviour.
HOMES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".run",
    "XDG_CACHE_HOME": ".cache",
    "TMPDIR": ".tmp",
}
NOT_COMPARED = ("home/.cache/", "home/.tmp/")
# What opscope itself says at the end of a Python program that recorded nothing.
OWN_LINE = r"^opscope run: nothing was recorded: .*--torch.*\n"


def files_below(folder: Path) -> dict[str, str]:
    """The files that the program left, without files of git and linkers that contain times."""
    left = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if (
            path.is_file()
            and ".git/" not in name
            and not name.startswith(NOT_COMPARED)
            and name not in ("work/x", "work/hello")
        ):
            left[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return left


def behave(command: str, before: list[str], more: dict[str, str]) -> tuple:
    """Output, errors, status and files of COMMAND, preceded by the words BEFORE."""
    with tempfile.TemporaryDirectory(prefix="guest-") as place:
        work, home = Path(place) / "work", Path(place) / "home"
        work.mkdir()
        (work / "forks.py").write_text(FORKS)
        (work / "closes.py").write_text(CLOSES)
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("OPSCOPE") and name != "POCL_CACHE_DIR"
        }
        env |= {"SOURCE": str(Path(__file__).parent), "HOME": str(home), **more}
        for name, folder in HOMES.items():
            (home / folder).mkdir(parents=True, mode=0o700)
            env[name] = str(home / folder)
        done = subprocess.run(
            [*before, "bash", "-c", command],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        texts = [
            text.decode(errors="replace").replace(place, "PLACE")
            for text in (done.stdout, done.stderr)
        ]
        texts[1] = re.sub(OWN_LINE, "", texts[1], flags=re.M)
        return (*texts, done.returncode, files_below(Path(place)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=Path)
    options = parser.parse_args()
    opscope = options.opscope.resolve()
    libraries = [opscope.parent / name for name in LIBRARIES]
    passed = failed = 0
    for name, command in PROGRAMS:
        if name in NEEDS and not shutil.which(NEEDS[name]):
            print(f"skipped {name}: there is no {NEEDS[name]}")
            continue
        alone = behave(command, [], {})
        with tempfile.TemporaryDirectory(prefix="recording-") as place:
            before = [str(opscope), "run", "-o", place, "--"]
            loaded = {"LD_PRELOAD": ":".join(map(str, libraries))}
            for way, more in (("run", {}), ("run, all loaded", loaded)):
                found = behave(command, before, more)
                if found == alone:
                    passed += 1
                    continue
                failed += 1
                print(f"FAILED {name} ({way})")
                for what, ours, theirs in zip(
                    ("output", "errors", "status", "files"), found, alone
                ):
                    if ours != theirs:
                        print(
                            f"    {what}: {str(ours)[-300:]!r}\n    alone: {str(theirs)[-300:]!r}"
                        )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
