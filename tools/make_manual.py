#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a manual page with the list of tables, from the catalog of the command.

    tools/make_manual.py OPSCOPE PAGE > OUT

PAGE has a comment TABLES where the list belongs. Each table is an item with its help.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MARK = '.\\" TABLES: '


def quoted(text: str) -> str:
    """TEXT as lines of mdoc: no line begins with a control character."""
    lines = text.replace("\\", "\\e").replace(". ", ".\n").split("\n")
    return "\n".join(("\\&" if line[:1] in ("'", ".") else "") + line for line in lines)


def items(opscope: str) -> str:
    """The list of tables."""
    command = [opscope, "table", "--list", "--format", "json"]
    catalog = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    tables = [f".It Cm {t['name']}\n{quoted(t['help'])}\n" for t in catalog["tables"]]
    return ".Bl -tag -width memory_events -compact\n" + "".join(tables) + ".El\n.Pp\n"


def main() -> None:
    """Write the page."""
    opscope, page = sys.argv[1:]
    for line in Path(page).read_text(encoding="utf-8").splitlines(keepends=True):
        sys.stdout.write(items(opscope) if line.startswith(MARK) else line)


if __name__ == "__main__":
    main()
