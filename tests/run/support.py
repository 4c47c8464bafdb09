# SPDX-License-Identifier: Apache-2.0
"""What the tests of `opscope run` share."""

from __future__ import annotations

import csv
import io
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path


def run_tests(tests: Iterable[Callable], arguments: Callable[[str], tuple]) -> int:
    """Run each of TESTS with the ARGUMENTS that an empty folder gives, which is removed after it,
    and print the trace of each that raises. Ends with "N passed, N failed"; returns the exit
    status.
    """
    passed = failed = 0
    for test in tests:
        try:
            with tempfile.TemporaryDirectory(prefix=f"{test.__name__}-") as place:
                test(*arguments(place))
            passed += 1
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {test.__name__}\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def rows(opscope: Path, name: str, path: Path, *words: str) -> list[dict[str, str]]:
    """The rows of the table NAME that the command OPSCOPE makes of PATH."""
    done = subprocess.run(
        [opscope, "table", name, path, "-f", "csv", "--limit", "0", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    return list(csv.DictReader(io.StringIO(done.stdout)))
