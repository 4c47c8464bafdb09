#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build examples/ask against the installed files, with pkg-config only, and run it.

    installed.py --build BUILD --opscope COMMAND -- COMPILER...

The library, its header, its manual page, which has every function, and its pkg-config file must
be there, and the three answers must be those of the command.
"""

import argparse
import csv
import io
import os
import pathlib
import re
import sys
import tempfile

from support import ROOT, find, functions, run, text_of

TRACE = ROOT / "tests/data/demo.pt.trace.json.gz"


def rows(opscope, *words):
    return list(
        csv.DictReader(io.StringIO(run(opscope, "table", *words, "--format", "csv", TRACE)))
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--opscope", required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch, "root")
        run(
            "meson",
            "install",
            "-C",
            options.build,
            "--no-rebuild",
            "--quiet",
            "--destdir",
            place,
        )
        for name in ("trace.h", "libopscope-trace.a", "opscope_trace.3"):
            find(place, name)
        for _, function, _ in functions(text_of(find(place, "trace.h"))):
            if not re.search(
                rf"^\.F[no] {function}\b",
                find(place, "opscope_trace.3").read_text(encoding="utf-8"),
                re.MULTILINE,
            ):
                sys.exit(f"the manual lacks {function}()")
        description = find(place, "opscope-trace.pc")
        text = description.read_text(encoding="utf-8")
        prefix = re.search("^prefix=(.*)$", text, re.MULTILINE).group(1)
        description.write_text(
            text.replace(f"prefix={prefix}\n", f"prefix={place}{prefix}\n"), encoding="utf-8"
        )
        env = dict(os.environ, PKG_CONFIG_PATH=str(description.parent))
        flags = run(
            "pkg-config", "--static", "--cflags", "--libs", "opscope-trace", env=env
        ).split()
        program = pathlib.Path(scratch, "ask")
        run(
            *options.compiler,
            "-std=c11",
            "-D_GNU_SOURCE",
            "-Wall",
            "-Wextra",
            "-Werror",
            ROOT / "examples/ask/main.c",
            "-o",
            program,
            *flags,
            "-pthread",
        )
        printed = run(program, TRACE)
    operators = rows(options.opscope, "operators")
    steps = rows(options.opscope, "steps", "--sort", "total_ns")
    first = rows(options.opscope, "operators", "--steps", "@0", "--sort", "host_total_ns")
    wanted = (
        f"operators: {sum(int(row['host_self_ns']) for row in operators)} ns\n"
        f"longest step: {steps[0]['total_ns'] if steps else 0} ns\n"
        f"most of the first step: {first[0]['name']}\n"
    )
    if printed != wanted:
        sys.exit(f"it printed\n{printed}but should have\n{wanted}")
    print(printed, end="")


main()
