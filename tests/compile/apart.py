#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that a program contains nothing from a library that it must not link.

usage: apart.py PROGRAM LIBRARY.a

The command reads and writes recordings, but does not record itself: it links the code that writes
the files, but not the recorder.
"""

import os
import subprocess
import sys


def defined(path):
    """The functions and objects with linkage across files that PATH defines."""
    text = subprocess.run(
        [os.environ.get("NM", "nm"), "--defined-only", path],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    words = (line.split() for line in text.splitlines())
    # Hidden symbols are local in a program, so ours are found by their prefix.
    return {w[2] for w in words if len(w) == 3 and w[2].startswith("osc_")}


def main():
    program, library = sys.argv[1:]
    ours, theirs = defined(program), defined(library)
    both = sorted(ours & theirs)
    if not ours or not theirs:
        sys.exit("no symbols: " + (library if ours else program))
    if both:
        sys.exit("%s has %s of %s" % (program, ", ".join(both[:10]), library))


main()
