#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: plugins
# args: --opscope {gcc}/opscope
# full: --opscope {gcc}/opscope --full
"""Record plugins that have opscope/stub.h alone, in hosts of every kind.

    python3 tests/run/plugins.py --opscope COMMAND [--full] [--more OPTIONS]...

A host is compiled and linked in every way that decides where its variables and functions are, and
so is a plugin. All that both record must be there, and in one file if the host has the shared
library. Prints a table of the ways; with --full, each host is tried with each plugin. With OPTIONS, such as -B of a
folder that has an older `ld`, hosts are compiled once more.

Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from support import rows

ROOT = Path(__file__).resolve().parents[2]
HOST = """
#include <dlfcn.h>
#include <stdio.h>
%s
int main(int argc, char **argv)
{
    static osc_name n;
    osc_name_once(&n, "host");
    osc_begin(OSC_SCOPE_PLAIN, n);
    for (int i = 1; i < argc; i++) {
        void *const plugin = dlopen(argv[i], RTLD_NOW);
        void (*run)(void);
        if (!plugin) {
            puts(dlerror());
            return 1;
        }
        *(void **)&run = dlsym(plugin, "run");
        run();
    }
    osc_end();
    return 0;
}
"""
# As the host, but it records by a program's own call, behind what loads the plugin.
STARTS = """
#include <dlfcn.h>
#include <opscope/record.h>
int main(int argc, char **argv)
{
    const struct osc_start_options options = {.size = sizeof options, .out = argv[2]};
    void (*run)(void);
    *(void **)&run = dlsym(dlopen(argv[1], RTLD_NOW), "run");
    run();
    if (argc != 3 || osc_start(&options) != OSC_OK)
        return 1;
    run();
    return osc_stop() != OSC_OK;
}
"""
PLUGIN = """
#include <opscope/stub.h>
__attribute__((visibility("default"))) void run(void);
void run(void)
{
    static osc_name n;
    if (osc_wants(osc_category_of("io"), 2)) {
        osc_name_once(&n, "plugin");
        osc_begin(OSC_SCOPE_PLAIN, n);
        osc_end();
    }
}
"""
CXX_PLUGIN = """
#include <opscope/stub.h>
#include <opscope/scope.hpp>
extern "C" __attribute__((visibility("default"))) void run(void);
void run(void) { OPSCOPE_SCOPE_IN("io", 2, "plugin"); }
"""
RECORD, STUB = "#include <opscope/record.h>", "#include <opscope/stub.h>"
# What decides how a host reaches a variable of a library, on the compiler's side.
COMPILED = {
    "gcc": [
        "",
        "-fno-pic -no-pie",
        "-fPIE -pie",
        "-fPIC",
        "-O2 -fno-plt",
        "-O2 -flto",
        "-fno-pic -no-pie -flto",
        "-mno-direct-extern-access",
        "-fPIC -Wl,-z,nocopyreloc",
        "-fno-pic -no-pie -Wl,-z,noextern-protected-data",
        "-fno-pic -no-pie -Wl,-z,norelro,--hash-style=sysv,-z,lazy,--disable-new-dtags",
        "-Wl,-z,now,-z,relro,--as-needed,--hash-style=gnu",
        "-fno-pic -no-pie -rdynamic",
    ],
    "clang": [
        "",
        "-fno-pic -no-pie",
        "-fPIE -pie",
        "-fPIC",
        "-O2 -fno-plt",
        "-fdirect-access-external-data",
        "-fno-direct-access-external-data",
        "-fPIC -Wl,-z,nocopyreloc",
    ],
}
NAMES = {True: "host alone", False: "host and plugins"}
LINKERS = [
    x for x in ("bfd", "gold", "lld", "mold") if shutil.which(f"ld.{x}") or shutil.which(x)
]
for by_linker in LINKERS:
    COMPILED["gcc"] += [f"-fno-pic -no-pie -fuse-ld={by_linker}", f"-fPIC -fuse-ld={by_linker}"]
if "lld" in LINKERS:
    COMPILED["clang"] += ["-fno-pic -no-pie -fuse-ld=lld", "-O2 -flto -fuse-ld=lld"]
PLUGINS = [
    ("gcc", ""),
    ("gcc", "-O2 -flto -fno-plt"),
    ("gcc", "-Wl,-Bsymbolic,-z,now"),
    ("gcc", "-mno-direct-extern-access"),
    ("clang", "-O2"),
    ("clang", "-fno-direct-access-external-data"),
    ("g++", "-std=c++17"),
    ("clang++", "-std=c++17 -O2 -fvisibility=hidden"),
]


@dataclass
class Way:
    """How a host has the library, and what it takes."""

    name: str
    words: list[str | Path]
    libraries: list[str | Path]
    include: str = RECORD
    n_files: int = 1
    is_alone: bool = False  # its plugins cannot record
    compilers: dict[str, list[str]] = field(default_factory=lambda: COMPILED)


class Plugins:
    """Programs, plugins and recordings in a folder."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.opscope, self.folder = opscope, folder
        self.library = opscope.parent / "libopscope.so.0"
        self.env = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("OPSCOPE") and k != "LD_LIBRARY_PATH"
        }
        self.n_made = 0
        self.plugins = {
            (compiler, options): self.plugin(compiler, options)
            for compiler, options in PLUGINS
            if shutil.which(compiler)
        }

    def compile(self, compiler: str, text: str, *words: str | Path) -> Path:
        """What COMPILER makes of TEXT."""
        self.n_made += 1
        made = self.folder / f"made{self.n_made}"
        source = made.with_suffix(".cpp" if "++" in compiler else ".c")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [compiler, f"-I{ROOT}/include", source, "-o", made, *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.partition("\n")[0]
        return made

    def plugin(self, compiler: str, options: str) -> Path:
        """A plugin that needs no library of ours."""
        text = CXX_PLUGIN if "++" in compiler else PLUGIN
        made = self.compile(compiler, text, "-shared", "-fPIC", *options.split())
        needed = subprocess.run(
            ["readelf", "-dW", made], capture_output=True, text=True, check=True
        ).stdout
        assert "libopscope" not in needed, needed
        return made

    def ways(self) -> list[Way]:
        """All kinds of hosts. A second copy of the library lies in a folder of its own."""
        build = self.opscope.parent
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(self.library, other)
        linked: list[str | Path] = [f"-L{build}", "-lopscope", "-ldl"]
        static: list[str | Path] = [build / "libopscope.a", "-pthread", "-ldl"]
        few = {c: [o for o in COMPILED[c] if "fuse-ld" not in o][:6] for c in COMPILED}
        default = {c: [""] for c in COMPILED}
        return [
            Way("shared", [], [*linked, f"-Wl,-rpath,{build}"]),
            Way("shared, a copy", [], [*linked, f"-Wl,-rpath,{other}"], compilers=few),
            Way("static", [], static, n_files=2, compilers=few),
            Way("static, exported", ["-rdynamic"], static, n_files=2, compilers=few),
            Way("stub", [], ["-ldl"], STUB, compilers=few),
            Way("stub, exported", ["-rdynamic"], ["-ldl"], STUB, compilers=default),
            Way("-static", ["-static"], static, is_alone=True, compilers=default),
        ]

    def record(self, program: Path, *plugins: Path) -> tuple[list[str], int]:
        """The names that PROGRAM and its PLUGINS record, and the number of files."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run(
            [self.opscope, "run", "--enable", "io:2", "-o", out, "--", program, *plugins],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = f"status {done.returncode} {done.stdout}{done.stderr}"
        assert said == "status 0 ", said
        names = [x["name"] for x in rows(self.opscope, "events", out, "--columns", "name")]
        quality = rows(self.opscope, "quality", out)
        assert not quality, quality
        return names, len(list(out.glob("*.osc")))

    def check(self, way: Way, compiler: str, options: str, plugins: list[Path]) -> str:
        """Why not all of it was recorded; "": it was."""
        try:
            program = self.compile(
                compiler, HOST % way.include, *options.split(), *way.words, *way.libraries
            )
            names, n_files = self.record(program, *plugins)
        except (AssertionError, subprocess.SubprocessError) as why:
            return str(why)
        wanted = ["host"] if way.is_alone else ["host"] + ["plugin"] * len(plugins)
        return "" if (names, n_files) == (wanted, way.n_files) else f"{n_files} files: {names}"

    def started(self, compiler: str, options: str, plugin: Path) -> str:
        """The same for a program that begins to record by itself, without `opscope run`."""
        build, out = self.opscope.parent, self.folder / "started.osc"
        libraries = [f"-L{build}", "-lopscope", f"-Wl,-rpath,{build}", "-ldl"]
        try:
            program = self.compile(compiler, STARTS, *options.split(), *libraries)
            done = subprocess.run(
                [program, plugin, out], env=self.env | {"OPSCOPE_ENABLE": "io:2"}, check=False
            )
        except (AssertionError, subprocess.SubprocessError) as why:
            return str(why)
        if done.returncode != 0:
            return f"status {done.returncode}"
        names = [x["name"] for x in rows(self.opscope, "events", out, "--columns", "name")]
        return "" if names == ["plugin"] else str(names)


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    parser.add_argument("--more", action="append", default=[])
    parser.add_argument("--full", action="store_true", help="each host with each plugin alone")
    options = parser.parse_args()
    n = n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        here = Plugins(options.opscope, Path(folder))
        everything = list(here.plugins.values())
        several = [[x] for x in everything] if options.full else [everything]
        table: list[tuple[str, str, str, str, str]] = []
        for way in here.ways():
            for compiler, all_options in way.compilers.items():
                again = [f"{x} {o}" for x in options.more for o in all_options[:6]]
                for how in all_options + again if shutil.which(compiler) else ():
                    said = [here.check(way, compiler, how, x) for x in several]
                    table.append((way.name, compiler, how, "".join(said), NAMES[way.is_alone]))
        for compiler, how in (("gcc", ""), ("gcc", "-fno-pic -no-pie"), ("clang", "")):
            if shutil.which(compiler):
                said = [here.started(compiler, how, x) for x in everything]
                table.append(("osc_start()", compiler, how, "".join(said), "plugin"))
        print(f"plugins: {', '.join(' '.join(x).strip() for x in here.plugins)}")
        print("| library of the host | compiler | its options | recorded |\n|---|---|---|---|")
        for name, compiler, how, why, all_of_it in table:
            print(f"| {name} | {compiler} | {how or 'none'} | {why or all_of_it} |")
            n, n_failed = n + 1, n_failed + bool(why)
    print(f"{n - n_failed} passed, {n_failed} failed")
    return 1 if n_failed or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
