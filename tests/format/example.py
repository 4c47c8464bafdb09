#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The file that docs/format.md explains byte by byte.

example.py prints it as in the page
example.py FILE     writes it
"""

import pathlib
import re
import sys

import writer as w

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/format.md"


def content():
    rec = w.Recording(pid=9)
    rec.facts = {"pid": "9"}
    rec.anchor(1000, 5000)
    rec.anchor(4000, 6000)
    t = rec.thread(9)
    t.begin(w.OPERATOR, "conv2d", 1300)
    t.json("Input Dims", "[[8,3]]")
    t.end(3100)
    return rec.content()


def lines():
    data = content()
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        if any(row) or at == 0:
            yield f"{at:04x}  {row[:8].hex(' ')}  {row[8:].hex(' ')}"


def differs():
    """The difference between the dump in the page and the file, or None."""
    text = PAGE.read_text()
    shown = [
        line.split("  |")[0].strip()
        for line in text.splitlines()
        if re.match(r"^ *[0-9a-f]{4}  [0-9a-f]{2} ", line)
    ]
    want = list(lines())
    wrong = [f"page: {a}\nfile: {b}" for a, b in zip(shown, want) if a != b]
    if wrong:
        return wrong[0]
    return None if len(shown) == len(want) else f"{len(shown)} lines instead of {len(want)}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_bytes(content())
    else:
        print("\n".join(lines()))
