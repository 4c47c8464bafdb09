# SPDX-License-Identifier: Apache-2.0
"""The command `opscope` of a Python environment: hands over to the one in the package."""
import os
import sys


def main() -> None:
    """Become the command; returns only by an exception."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "opscope")
    os.execv(command, [sys.argv[0], *sys.argv[1:]])
