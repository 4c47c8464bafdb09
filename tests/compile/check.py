#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check what programs get: the public headers, and what the library exports.

usage: check.py --include DIR --library FILE --needed NAME,NAME -- CC...

Each public header compiles by itself as C99 and as C++11, without a warning. The library
exports exactly what the recorder's headers declare with OSC_API. It needs only the NAMED libraries,
binds its own symbols to itself, and is never unloaded.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import RECORDER, functions, text_of

HEADERS = list(RECORDER)
OTHERS = ["trace.h", "stub.h"]  # the analyser's, which is another library, and no library
CXX = ["scope.hpp"]  # of C++17 only
INLINE = {
    "osc_is_on",
    "osc_name_once",
    "osc_kind_known",
    "osc_begin",
    "osc_end",
    "osc_complete",
    "osc_instant",
    "osc_begin_with",
    "osc_wants",
    "osc_begin_in",
    "osc_end_if",
}  # compiled into programs
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-Wshadow",
    "-Wconversion",
    "-Wstrict-prototypes",
]
failed = []


def check(is_good, what):
    print(("ok    " if is_good else "FAILED"), what)
    if not is_good:
        failed.append(what)


def compiles(command, standard, include, source, suffix):
    warnings = [w for w in WARNINGS if suffix == ".c" or w != "-Wstrict-prototypes"]
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "user" + suffix)
        with open(path, "w") as f:
            f.write(source)
        done = subprocess.run(
            [*command, standard, "-I" + include, "-fsyntax-only", path, *warnings],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    sys.stderr.write(done.stderr)
    return done.returncode == 0


def check_headers(cc, include):
    cxx = shutil.which("c++")
    for header in HEADERS + OTHERS:
        user = (
            "#include <opscope/%s>\n#include <opscope/%s>\n"
            "int user(void);\nint user(void)\n{\n    return osc_version();\n}\n"
            % (header, header)
        )
        for standard in ("-std=c99", "-std=c11", "-std=gnu17"):
            check(compiles(cc, standard, include, user, ".c"), header + " as " + standard)
        for standard in ("-std=c++11", "-std=c++17") if cxx else ():
            check(compiles([cxx], standard, include, user, ".cpp"), header + " as " + standard)
    for header in CXX if cxx else ():
        user = "#include <opscope/%s>\n#include <opscope/%s>\n" % (header, header)
        for standard in ("-std=c++17", "-std=c++20", "-std=c++2b"):
            check(compiles([cxx], standard, include, user, ".cpp"), header + " as " + standard)


def declared(include):
    """The functions and variables of the recorder's headers."""
    names = set()
    for header in HEADERS:
        text = text_of(os.path.join(include, "opscope", header))
        names |= {name for _, name, _ in functions(text)}
        names |= set(re.findall(r"^extern OSC_API [^;(]*?(\bosc_\w+)(?:\[\w+\])?;", text, re.M))
    return names


def check_stub(include):
    """stub.h has each function, so that none is a hole in programs without a library."""
    text = "".join(text_of(os.path.join(include, "opscope", x)) for x in ("calls.h", "stub.h"))
    own = set(
        re.findall(
            r"\b[VR]\((?:[\w \*]+?,)?(osc_\w+),\(",
            re.sub(r",\s+", ",", text.replace("\\\n", "")),
        )
    )
    own |= {name for _, name, _ in functions(text)}
    wanted = {
        name
        for header in HEADERS
        for _, name, _ in functions(text_of(os.path.join(include, "opscope", header)))
    } - INLINE
    wanted.remove("osc_shared_")  # by which it finds what it is the stub of
    check(wanted <= own, "stub.h has all functions: " + " ".join(sorted(wanted - own)))


def lines_of(command):
    return subprocess.run(
        command, stdout=subprocess.PIPE, check=True, text=True
    ).stdout.splitlines()


def check_library(library, include, allowed):
    found = [line.split()[-1] for line in lines_of(["nm", "-D", "--defined-only", library])]
    exported = {name.split("@")[0] for name in found} - {"OPSCOPE_0.1"}
    check(
        all("@@OPSCOPE_0." in name for name in found if name.startswith("osc_")),
        "each function has a version",
    )
    wanted = declared(include)
    check(
        wanted <= exported,
        "all that is declared is exported: " + " ".join(sorted(wanted - exported)),
    )
    check(
        exported <= wanted, "nothing else is exported: " + " ".join(sorted(exported - wanted))
    )
    # A program that is linked with both must not call one for the other.
    shared = {"osc_status_text", "osc_schedule_action"}  # the same in both
    folder = os.path.dirname(library)
    for other in [
        os.path.join(folder, "opscope"),
        *glob.glob(os.path.join(folder, "python/opscope/_opscope*.so")),
    ]:
        lines = lines_of(["nm", "--defined-only", other]) if os.path.exists(other) else []
        both = {line.split()[-1] for line in lines if line.split()[1] in "TtDdBbRr"} & exported
        check(
            both <= shared,
            f"{os.path.basename(other)} has names of the library: "
            + " ".join(sorted(both - shared)),
        )
    dynamic = "\n".join(lines_of(["readelf", "-dW", library]))
    needed = set(re.findall(r"NEEDED.*\[(\S+)\]", dynamic))
    check(needed <= allowed, "needs no other library: " + " ".join(sorted(needed - allowed)))
    check("NODELETE" in dynamic, "is never unloaded")
    check(re.search(r"SONAME.*\[libopscope\.so\.\d+\]", dynamic) is not None, "has a soname")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--needed", required=True)
    parser.add_argument("cc", nargs="+")
    args = parser.parse_args()
    check_headers(args.cc, args.include)
    check_stub(args.include)
    check_library(args.library, args.include, set(args.needed.split(",")))
    sys.exit(len(failed) > 0)


main()
