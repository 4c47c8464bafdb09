#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that what programs are linked with is what src/recorder/opscope.abi says.

    abi.py --library FILE [--bless] -- CC...

The dump has each function with the version of its symbol, and the layout of each struct and the
values of each enumeration of the recorder's headers, as the compiler CC sees them. A line that is
new is added by --bless. A line that changed or is gone breaks programs: libopscope needs a new
soname then, and a symbol that is new in a later version a node of its own in opscope.map.
"""

import argparse
import pathlib
import re
import sys
import tempfile

from support import RECORDER, ROOT, functions, run, text_of

DUMP = ROOT / "src/recorder/opscope.abi"
STRUCT = re.compile(r"^struct (osc_\w+) \{(.*?)^\}", re.M | re.S)
ENUM = re.compile(r"^(?:typedef )?enum (osc_\w+) \{(.*?)\}", re.M | re.S)


def members(body):
    """The names of the members, also of two in one declaration and of pointers to functions."""
    names = []
    for line in re.sub(r"\s+", " ", body).split(";"):
        pointer = re.search(r"\(\*(\w+)\)", line)
        names += [pointer[1]] if pointer else re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", line)
    return names


def printed(cc, text):
    """What a program prints that measures the structs and enumerations of TEXT."""
    lines = [
        "#include <stddef.h>",
        "#include <stdio.h>",
        "#include <opscope/source.h>",
        "int main(void) {",
    ]
    for name, body in sorted(STRUCT.findall(text)):
        lines.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        lines += [
            f'printf("    {m} at %zu, %zu bytes\\n", offsetof(struct {name}, {m}), '
            f"sizeof(((struct {name} *)0)->{m}));"
            for m in members(body)
        ]
    for name, body in sorted(ENUM.findall(text)):
        if "#define" in body:
            body = " ".join(re.findall(r"^    X\((OSC_\w+),", text, re.M))
        values = [x for x in re.findall(r"\bOSC_\w+", body) if not x.endswith("_COUNT")]
        lines.append(f'printf("enum {name} %zu\\n", sizeof(enum {name}));')
        lines += [f'printf("    {x} %d\\n", (int){x});' for x in values]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "abi.c"), pathlib.Path(folder, "abi")
        source.write_text("\n".join([*lines, "return 0; }"]), encoding="utf-8")
        run(
            *cc,
            f"-I{ROOT}/include",
            source,
            "-o",
            program,
            "-Wl,--unresolved-symbols=ignore-all",
        )
        return run(program)


def dump(cc, library):
    text = "".join(text_of(ROOT / "include/opscope" / name) for name in RECORDER)
    declared = {name: f"{kind} {name}({words})" for kind, name, words in functions(text)}
    symbols = run("nm", "-D", "--defined-only", library)
    lines = []
    for symbol in sorted(re.findall(r"(\bosc_\w+@@\S+)", symbols)):
        name, version = symbol.split("@@")
        lines.append(f"{version}: {declared.get(name, name)}")
    return "\n".join(lines) + "\n" + printed(cc, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("cc", nargs="+")
    options = parser.parse_args()
    now = dump(options.cc, options.library)
    if options.bless:
        DUMP.write_text(now, encoding="utf-8")
    before, after = DUMP.read_text(encoding="utf-8").splitlines(), now.splitlines()
    gone, new = ([x for x in a if x not in b] for a, b in ((before, after), (after, before)))
    for sign, lines in (("-", gone), ("+", new)):
        for line in lines:
            print(sign, line)
    if gone:
        sys.exit("the library no longer has what programs are linked with")
    if new or before != after:
        sys.exit("the library has more than src/recorder/opscope.abi: run abi.py --bless")
    print(f"{len(after)} lines are the same")


main()
