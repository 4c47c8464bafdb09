#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: manual
# mode: fast
"""Every call, struct and constant of the public headers has its place in a manual page.

    tools/check_manual.py [HEADERS MANUAL]

Looks in the directory HEADERS (include/opscope) for what programs may use, and in section 3 of
MANUAL (docs/man) for its name. Functions must be in the synopsis of a page, and the others anywhere.
Exit status 1 if something is missing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What only inline functions and macros of the headers themselves use; programs call those.
OWN = {
    "osc_scope_begin",
    "osc_scope_end",
    "osc_scope_complete",
    "osc_scope_instant",
    "osc_scope_begin_with",
    "osc_kind_known",
    "osc_stub",
    "osc_stub_begin",
    "osc_stub_fail",
    "osc_stub_find",
    "osc_stub_is_static",
    "osc_stub_present",
    "osc_stub_use",
    "osc_shared_",
}
FUNCTION = re.compile(r"^(?:OSC_API|OSC_INLINE|static inline)\s[^;{=]*?\b(osc_\w+)\(", re.M)
STRUCT = re.compile(r"^struct (osc_\w+) \{", re.M)
ENUM = re.compile(r"^enum \w+ \{(.*?)\}", re.M | re.S)


def declared(headers: Path) -> tuple[set[str], set[str]]:
    """The functions, and the structs and constants, that HEADERS declare for programs."""
    functions: set[str] = set()
    others: set[str] = set()
    for path in sorted(headers.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"[ \t]+$", "", text, flags=re.M)
        functions |= set(FUNCTION.findall(text)) - OWN
        others |= set(STRUCT.findall(text)) - OWN
        constants = set(re.findall(r"\bOSC_\w+\b(?!\()", "".join(ENUM.findall(text))))
        constants |= set(re.findall(r"^#define (OSC_\w+) [0-9]", text, re.M))
        constants |= set(re.findall(r"^    X\((OSC_\w+),", text, re.M))  # of OSC_STATUS_LIST
        others |= {x for x in constants if not x.endswith(("_COUNT", "_STATUS_ENUM"))}
    return functions, others


def missing(headers: Path, manual: Path) -> list[str]:
    """What is declared and not in the manual."""
    text = "\n".join(x.read_text(encoding="utf-8") for x in sorted(manual.glob("*.3")))
    synopsis = "".join(re.findall(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh", text, re.M | re.S))
    shown = set(re.findall(r"^\.F[no] (osc_\w+)", synopsis, re.M))
    functions, others = declared(headers)
    words = set(re.findall(r"\w+", text))
    return [
        *(f"{x}() is in no synopsis" for x in sorted(functions - shown)),
        *(f"{x} is in no page" for x in sorted(others - words)),
        *(f"{x}() of a synopsis is in no header" for x in sorted(shown - functions)),
    ]


def main(words: list[str]) -> int:
    """Exit status."""
    headers, manual = map(Path, words or (ROOT / "include/opscope", ROOT / "docs/man"))
    functions, others = declared(headers)
    found = missing(headers, manual)
    for line in found:
        print(line)
    print(f"{len(found)} of {len(functions) + len(others)} names are wrong")
    return 1 if found or not functions else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
