# SPDX-License-Identifier: Apache-2.0
"""`python -m opscope.torch build`: make the recorder for this torch ahead of time."""
from __future__ import annotations

import sys

from . import build

USAGE = "usage: python -m opscope.torch build"


def main(args: list[str]) -> int:
    """Exit status: 0 done, 1 it cannot be built, 2 misused."""
    if args in (["-h"], ["--help"]):
        print(USAGE + "\n\nBuilds the recorder against the torch of this Python, unless that\n"
              "is done, and prints where it lies.")
        return 0
    if args != ["build"]:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        print(build.recorder())
    except build.BuildError as e:
        print(f"opscope.torch build: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
