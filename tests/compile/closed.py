#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run PROGRAM with OPSCOPE_OUT, and check that it succeeds and leaves one recording.

usage: closed.py PROGRAM LIBRARY
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        environment = dict(os.environ, OPSCOPE_OUT=out)
        done = subprocess.run(
            sys.argv[1:],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        left = sorted(os.path.basename(p) for p in glob.glob(os.path.join(out, "*")))
        content = b"".join(p.read_bytes() for p in pathlib.Path(out).glob("*.osc"))
    if done.returncode != 0 or done.stdout or len(left) != 1 or not left[0].endswith(".osc"):
        sys.exit("exit %d, left %s, said:\n%s" % (done.returncode, left, done.stdout))
    for name in (b"before it is closed", b"after it was closed"):
        if name not in content:
            sys.exit("%r is not in the recording" % name)


main()
