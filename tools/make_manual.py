#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a manual page with the lists of tables and of their options, from the catalog.

    tools/make_manual.py TABLES.json PAGE > OUT

TABLES.json is the catalog of the build (tools/print_tables.c). PAGE has the comments TABLES and
OPTIONS where the lists belong. Each table is an item with its help, and each option that a table
declares one with the tables that take it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLES = '.\\" TABLES: '
OPTIONS = '.\\" OPTIONS: '


def quoted(text: str) -> str:
    """TEXT as lines of mdoc: no line begins with a control character."""
    lines = text.replace("\\", "\\e").replace(". ", ".\n").split("\n")
    return "\n".join(("\\&" if line[:1] in ("'", ".") else "") + line for line in lines)


def items(catalog: dict[str, Any]) -> str:
    """The list of the tables."""
    tables = [f".It Cm {t['name']}\n{quoted(t['help'])}\n" for t in catalog["tables"]]
    return ".Bl -tag -width memory_events -compact\n" + "".join(tables) + ".El\n.Pp\n"


def option(declared: dict[str, Any], tables: list[str]) -> str:
    """The item of an option that TABLES declare."""
    words = declared["words"]
    value = f" Cm {words.replace(' ', ' | ')}" if words else ""
    if declared["argument"] and not words:
        value = f" Ar {declared['argument']}"
    first = " , ".join(tables[:-1])
    lists = f".Li {first}\nand\n.Li {tables[-1]} :\n" if first else f".Li {tables[-1]} :\n"
    return f".It Fl -{declared['name']}{value}\nIn\n{lists}{quoted(declared['help'])}.\n"


def options(catalog: dict[str, Any]) -> str:
    """The list of the options that tables declare."""
    found = []
    for declared in catalog["options"]:
        tables = [t["name"] for t in catalog["tables"] if declared["name"] in t["options"]]
        if "help" in declared and tables:
            found.append(option(declared, tables))
    return ".Bl -tag -width Ds\n" + "".join(found) + ".El\n.Pp\n"


def main() -> None:
    """Write the page."""
    tables, page = sys.argv[1:]
    catalog = json.loads(Path(tables).read_text(encoding="utf-8"))
    for line in Path(page).read_text(encoding="utf-8").splitlines(keepends=True):
        made = (
            items if line.startswith(TABLES) else options if line.startswith(OPTIONS) else None
        )
        sys.stdout.write(made(catalog) if made else line)


if __name__ == "__main__":
    main()
