#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: view-server
# args: --opscope {gcc}/opscope
"""Ask the viewer's server as browsers and programs do, and as attackers do.

usage: server.py [--opscope PATH] [NAME...]

Every table of the catalog in every form must be, to the byte, what the command prints; typed arrays
must have the values of JSON. NAME chooses tests. The last line is "N passed, N failed". The traces
are those of the tree, and of ../shared if it is there.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import server_answers
import server_guards
import server_life
import serving


def tests(names):
    """The tests called NAMES, or all."""
    for module in (server_answers, server_guards, server_life):
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and (not names or name[5:] in names):
                yield name[5:], test


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default=serving.ROOT / "build-gcc" / "opscope", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    serving.OPSCOPE = args.opscope.resolve()
    passed = failed = 0
    if subprocess.run(
        [serving.OPSCOPE, "view", "--help"], capture_output=True, check=False
    ).returncode:
        print("this opscope was built without the server")
        return 1
    with tempfile.TemporaryDirectory(prefix="view-") as scratch:
        serving.TEMP = Path(scratch)
        for name, test in tests(args.names):
            begun, n = time.time(), 0
            try:
                for _ in test():
                    n += 1
                print(f"ok {name} ({n} checks, {time.time() - begun:.1f} s)", flush=True)
            except Exception:  # the other tests shall run
                failed += 1
                print(f"FAILED {name} after {n} checks\n{traceback.format_exc()}", flush=True)
            passed += n
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
