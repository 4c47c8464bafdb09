# SPDX-License-Identifier: Apache-2.0
"""`python -m opscope.torch build`: build the recorder for this torch ahead of time."""

from __future__ import annotations

import sys

from . import build, target

USAGE = "usage: python -m opscope.torch build"


def main(args: list[str]) -> int:
    """Returns the exit status: 0 built, 1 it cannot be built, 2 wrong arguments."""
    if args in (["-h"], ["--help"]):
        print(
            USAGE + "\n\nBuilds the recorder against the torch of this Python, unless that\n"
            "is done, and prints where it lies. Says first whether the package has it."
        )
        return 0
    if args != ["build"]:
        print(USAGE, file=sys.stderr)
        return 2
    build.Done.is_told = True
    is_ready, clause = target.state(build.this_torch())
    if not is_ready:
        print(f"opscope.torch build: {clause}", file=sys.stderr)
        return 1
    print(f"opscope.torch build: {clause}", file=sys.stderr, flush=True)
    try:
        print(build.recorder())
    except build.BuildError as e:
        print(f"opscope.torch build: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
