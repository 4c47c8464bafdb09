#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: golden-gcc
# args: --opscope {gcc}/opscope
# env: CHECK_SHARE=100
# mode: fast
# step: golden-asan
# args: --opscope {asan}/opscope
# turn: 7
"""Run the command as users do, and compare its output with the expected one.

Each NAME.sh of this folder (or one below) runs under bash in an empty folder,
with
    OPSCOPE   the command
    DATA      tests/data
    SHARED ../shared, if it exists; a script that needs it exits with 77 ("skipped") if it does not
Its output is compared with NAME.stdout and NAME.stderr, its status with NAME.exit;
if a file is missing, no output and 0 are expected. Scripts make times and ids the same in every
run. --bless rewrites the files.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracle"))

import sample  # noqa: E402

ROOT = HERE.parent.parent
SKIPPED = 77
TIMEOUT_S = 300


def run(script, opscope):
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("OPSCOPE", "LC_", "LANG")) and k not in ("COLUMNS", "NO_COLOR")
    }
    shared = ROOT.parent / "shared"
    env.update(
        OPSCOPE=str(opscope),
        DATA=str(ROOT / "tests/data"),
        LC_ALL="C.UTF-8",
        TZ="UTC",
        SHARED=str(shared) if shared.is_dir() else "",
    )
    # Python itself is built without sanitizers, but loads a library that is built with them.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        env["HOME"] = scratch
        try:
            done = subprocess.run(
                ["bash", str(script)],
                cwd=scratch,
                env=env,
                timeout=TIMEOUT_S,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired as e:
            return {".stdout": e.stdout or b"", ".stderr": b"(timed out)\n", ".exit": b"124\n"}
    return {
        ".stdout": done.stdout,
        ".stderr": done.stderr,
        ".exit": b"" if done.returncode == 0 else b"%d\n" % done.returncode,
    }


def expected(script):
    files = {suffix: script.with_suffix(suffix) for suffix in (".stdout", ".stderr", ".exit")}
    found = {
        suffix: path.read_bytes() if path.exists() else b"" for suffix, path in files.items()
    }
    if found[".exit"].strip() in (b"0", b""):
        found[".exit"] = b""
    return found


def bless(script, got):
    for suffix, text in got.items():
        path = script.with_suffix(suffix)
        if text or suffix == ".stdout":
            path.write_bytes(text)
        else:
            path.unlink(missing_ok=True)


def show(name, got, want):
    for suffix in (".stdout", ".stderr", ".exit"):
        if got[suffix] != want[suffix]:
            old, new = (
                t.decode(errors="backslashreplace").splitlines()
                for t in (want[suffix], got[suffix])
            )
            lines = list(difflib.unified_diff(old, new, name + suffix, "now", lineterm=""))
            if not lines:
                lines = [f"{name}{suffix}: only the line ends differ"]
            print("\n".join(lines[:60]))
            if len(lines) > 60:
                print(f"... {len(lines) - 60} more lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of tests; all, if none is given")
    parser.add_argument("--bless", action="store_true", help="write what is printed now")
    parser.add_argument(
        "--opscope",
        type=pathlib.Path,
        default=os.environ.get("OPSCOPE", ROOT / "build-gcc/opscope"),
    )
    args = parser.parse_args()
    opscope = args.opscope.resolve()
    if not opscope.exists():
        sys.exit(f"{opscope} is not there; build it first")
    scripts = sample.of(sorted(HERE.rglob("*.sh")))
    if args.names:
        wanted = {n.removesuffix(".sh") for n in args.names}
        scripts = [
            s
            for s in scripts
            if s.stem in wanted or str(s.relative_to(HERE).with_suffix("")) in wanted
        ]
        if not scripts:
            sys.exit("no such test")

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for script, got in zip(scripts, pool.map(lambda s: run(s, opscope), scripts)):
            name = str(script.relative_to(HERE).with_suffix(""))
            if got[".exit"] == b"%d\n" % SKIPPED:
                print(f"skipped {name}: {got['.stderr'].decode(errors='replace').strip()}")
                continue
            if args.bless:
                bless(script, got)
            want = expected(script)
            if got == want:
                passed += 1
                print(f"ok {name}")
            else:
                failed += 1
                print(f"FAILED {name}")
                show(name, got, want)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
