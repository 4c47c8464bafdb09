#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build a program of C and C++ with what is installed, by pkg-config and by CMake, and record it.

    packaged.py --build BUILD

The installed folder is moved before, as packages are. Ends with status 0 if all of it works.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile

from support import find, run

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(user C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(opscope 0.1 REQUIRED)
if(NOT opscope_COMMAND)
  message(FATAL_ERROR "the command is not found")
endif()
add_executable(shared main.cpp other.c)
target_link_libraries(shared opscope::opscope)
add_executable(static main.cpp other.c)
target_link_libraries(static opscope::static)
add_executable(stub main.cpp other.c)
target_compile_definitions(stub PRIVATE WITH_STUB)
target_link_libraries(stub opscope::stub)
add_executable(off main.cpp other.c)
target_compile_definitions(off PRIVATE OPSCOPE_DISABLE)
target_link_libraries(off opscope::stub)
"""
TOO_NEW = """
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(opscope %s)
if(opscope_FOUND)
  message(FATAL_ERROR "it is taken as %s")
endif()
"""
MAIN = """
#ifdef WITH_STUB
#include <opscope/stub.h>
#endif
#include <opscope/scope.hpp>
extern "C" void in_c(void);
int main()
{
    OPSCOPE_SCOPE("in C++", "x", 1);
    in_c();
}
"""
OTHER = """
#ifdef WITH_STUB
#include <opscope/stub.h>
#else
#include <opscope/record.h>
#endif
void in_c(void);
void in_c(void)
{
#ifndef OPSCOPE_DISABLE
    static osc_name name;

    osc_name_once(&name, "in C");
    osc_begin(OSC_SCOPE_PLAIN, name);
    osc_end();
#endif
}
"""


def recorded(command, program, out, env):
    """The names that PROGRAM records."""
    run(command, "run", "-o", out, "--", program, env=env)
    text = run(command, "table", "events", out, "--format", "json", "--columns", "name")
    return [row[0] for row in json.loads(text)["rows"]]


def check(command, program, env, wanted):
    with tempfile.TemporaryDirectory() as out:
        found = recorded(command, program, pathlib.Path(out, "out"), env)
    if found != wanted:
        sys.exit(f"{program} recorded {found} instead of {wanted}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    if not shutil.which("c++") or not shutil.which("cmake"):
        print("skipped: there is no C++ compiler or no cmake")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        first, place = pathlib.Path(scratch, "first"), pathlib.Path(scratch, "moved")
        run(
            "meson",
            "install",
            "-C",
            options.build,
            "--no-rebuild",
            "--quiet",
            "--destdir",
            first,
        )
        prefix = find(first, "opscopeConfig.cmake")
        while not (prefix / "bin").is_dir():
            prefix = prefix.parent
        prefix.rename(place)
        command, libraries = (
            find(place / "bin", "opscope"),
            find(place, "libopscope.so.0").parent,
        )
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OPSCOPE", "LD_LIB"))}
        source = pathlib.Path(scratch, "source")
        source.mkdir()
        for name, text in (("CMakeLists.txt", PROJECT), ("main.cpp", MAIN), ("other.c", OTHER)):
            (source / name).write_text(text, encoding="utf-8")
        built = pathlib.Path(scratch, "built")
        run("cmake", "-S", source, "-B", built, f"-DCMAKE_PREFIX_PATH={place}", env=env)
        run("cmake", "--build", built, env=env)
        both = ["in C++", "in C"]
        for name, wanted in (("shared", both), ("static", both), ("stub", both), ("off", [])):
            check(command, built / name, env, wanted)
        for wrong in ("0.2", "1.0", "0.0.1"):
            (source / "CMakeLists.txt").write_text(TOO_NEW % (wrong, wrong), encoding="utf-8")
            run(
                "cmake",
                "-S",
                source,
                "-B",
                pathlib.Path(scratch, "wrong" + wrong),
                f"-DCMAKE_PREFIX_PATH={place}",
                env=env,
            )
        flags = run(
            "pkg-config",
            f"--define-variable=prefix={place}",
            "--cflags",
            "--libs",
            "opscope",
            env=env | {"PKG_CONFIG_PATH": str(find(place, "opscope.pc").parent)},
        )
        program = pathlib.Path(scratch, "program")
        objects = []
        for name in ("main.cpp", "other.c"):
            objects.append(pathlib.Path(scratch, name + ".o"))
            run(
                "cc" if name.endswith(".c") else "c++",
                "-c",
                source / name,
                "-o",
                objects[-1],
                *flags.split(),
                *([] if name.endswith(".c") else ["-std=c++17"]),
            )
        run("c++", *objects, "-o", program, *flags.split())
        check(command, program, env | {"LD_LIBRARY_PATH": str(libraries)}, both)
    print("by CMake: shared, static, stub, off; by pkg-config: shared")


main()
