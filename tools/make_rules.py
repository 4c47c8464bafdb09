#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convert src/table/rules.md to C: make_rules.py FILE > rules_text.c"""

import re
import sys


def literal(text):
    """TEXT as string literals, one per line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(f'"{line}\\n"' for line in escaped.rstrip("\n").split("\n"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sections = re.split(r"^## ", file.read(), flags=re.M)[1:]
    print(
        '#include "table/rules.h"\n\n#include <stddef.h>\n\nconst struct osc_rule_text osc_rules[] = {'
    )
    for section in sections:
        head, rest = section.split("\n\n", 1)
        name, title = head.split(": ")
        text, source = rest.split("\n\nSource: ")
        for line in text.split("\n"):
            if len(line) > 78:
                sys.exit(f"rule {name}: longer than 78 characters: {line}")
        source = " ".join(source.split())
        print(f'{{OSC_RULE_{name}, "{title}",\n{literal(text)},\n"{source}"}},')
    print("{0, NULL, NULL, NULL},\n};")


if __name__ == "__main__":
    main()
