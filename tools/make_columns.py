#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the header with the names of columns that code reads from finished tables.

    tools/make_columns.py FILE... > table_columns.h

Takes what the FILEs of tables define as `const uint32_t osc_column_TABLE_NAME = INDEX`, where each
stands beside its column.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_columns.h - C names for columns that code reads from finished tables.
 *
 * Looking up a column by text would show a misspelt name only at run time. These constants are
 * defined beside their columns, so that an unknown name breaks the build:
 * osc_column_steps_total_ns is the index of total_ns in `steps`. Made by tools/make_columns.py.
 *
 * Threading: constants.
 */
#pragma once

#include <stdint.h>
"""
NAME = re.compile(r"\b(osc_column_\w+) =")


def main() -> None:
    """Write the header."""
    print(HEAD)
    for path in sys.argv[1:]:
        text = Path(path).read_text(encoding="utf-8")
        for definition in re.findall(r"^const uint32_t osc_column_[^;]*;", text, re.M):
            for name in NAME.findall(definition):
                print(f"extern const uint32_t {name};")


main()
