# SPDX-License-Identifier: Apache-2.0
"""The script `opscope` of a Python environment: it runs the command of the package."""

import os
import sys

from ._place import COMMAND


def main() -> None:
    """Replace this process by the command; returns only by an exception."""
    os.execv(COMMAND, [sys.argv[0], *sys.argv[1:]])
