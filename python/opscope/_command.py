# SPDX-License-Identifier: Apache-2.0
"""The command `opscope` of a Python environment: hands over to the one of the package."""
import os
import sys

from ._place import COMMAND


def main() -> None:
    """Become the command; returns only by an exception."""
    os.execv(COMMAND, [sys.argv[0], *sys.argv[1:]])
