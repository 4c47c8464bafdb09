#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the types of all tables and columns for the page, so that an unknown one does not compile.

    page_types.py TABLES.json OUT.ts COPY.ts

TABLES.json is the catalog. OUT.ts is written at each call, COPY.ts, where the sources of the page
look for it, only if it changes. The program does not need them: where the sources cannot be written, a
note says so.
"""

import json
import pathlib
import sys

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Written by tools/page_types.py from the catalog of tables; not to be changed by hand.

/** By table, the columns that it can have, and their types. */
export interface Tables {
"""


def types_of(catalog):
    """The interface with all tables; each of them can have the columns of ranks, too."""
    lines = []
    for table in catalog["tables"]:
        columns = {c["name"]: c["type"] for c in catalog["leading"] + table["columns"]}
        lines.append(f"  readonly {table['name']}: {{")
        lines += [f'    readonly {name}: "{kind}";' for name, kind in columns.items()]
        lines.append("  };")
    return HEAD + "\n".join(lines) + "\n}\n"


def main():
    catalog, out, copy = (pathlib.Path(path) for path in sys.argv[1:4])
    text = types_of(json.loads(catalog.read_text()))
    out.write_text(text)
    try:
        if not copy.is_file() or copy.read_text() != text:
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text)
    except OSError as error:
        print(f"note: the page's sources have no types of columns: {error}", file=sys.stderr)


main()
