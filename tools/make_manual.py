#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a manual page with the list of tables, from their catalog.

    tools/make_manual.py TABLES.json PAGE > OUT

TABLES.json is the catalog of the build (tools/print_tables.c). PAGE has a comment TABLES where the
list belongs. Each table is an item with its help.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

MARK = '.\\" TABLES: '


def quoted(text: str) -> str:
    """TEXT as lines of mdoc: no line begins with a control character."""
    lines = text.replace("\\", "\\e").replace(". ", ".\n").split("\n")
    return "\n".join(("\\&" if line[:1] in ("'", ".") else "") + line for line in lines)


def items(path: str) -> str:
    """The list of the tables in the catalog at PATH."""
    catalog = json.loads(Path(path).read_text(encoding="utf-8"))
    tables = [f".It Cm {t['name']}\n{quoted(t['help'])}\n" for t in catalog["tables"]]
    return ".Bl -tag -width memory_events -compact\n" + "".join(tables) + ".El\n.Pp\n"


def main() -> None:
    """Write the page."""
    tables, page = sys.argv[1:]
    for line in Path(page).read_text(encoding="utf-8").splitlines(keepends=True):
        sys.stdout.write(items(tables) if line.startswith(MARK) else line)


if __name__ == "__main__":
    main()
