#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: cxx
# args: --opscope {gcc}/opscope
# turn: 6
"""Compile programs that use scope.hpp, by all compilers and standards at hand, and read what they
record.

    python3 tests/run/cxx.py --opscope COMMAND

Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/cxx"
COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
STANDARDS = ("c++17", "c++20", "c++2b")
WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"),
    *("-Wold-style-cast", "-Wredundant-decls", "-Wextra-semi", "-Werror"),
)
# Names that programs give macros, such as #define N 10, and the headers must not use.
SHORT = sorted(
    {*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", *"abcdefghijklmnopqrstuvwxyz", "on", "len", "IN"}
)
# What scopes.cpp records of each value, written from its source.
VALUES = {
    "bool": True,
    "int": -5,
    "unsigned": 4294967295,
    "huge": 18446744073709551615,
    "float": 0.5,
    "double": 1e300,
    "enum": 7,
    "text": 'a "text"',
    "literal": "x",
    "view": "yz",
    "time": 3000000,
    "shorts": [-1, 0, 1],
    "longs": [1, 2**63 - 1],
    "where": "file.cpp:42",
}
DISCARDED = """
#include <opscope/scope.hpp>
void f() { %s; }
"""


class Cxx:
    """A folder for programs and recordings."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.opscope, self.folder = opscope, folder
        self.env = os.environ | {"LD_LIBRARY_PATH": str(opscope.parent)}

    def build(self, source: Path, compiler: str, standard: str, *options: str) -> Path:
        """The program or object that COMPILER makes of SOURCE, without a warning."""
        made = self.folder / f"{source.stem}-{compiler}-{standard}{''.join(options)}"
        libraries = [] if "-c" in options else [f"-L{self.opscope.parent}", "-lopscope"]
        done = subprocess.run(
            [
                compiler,
                f"-std={standard}",
                "-O1",
                *WARNINGS,
                *options,
                f"-I{ROOT}/include",
                source,
                "-o",
                made,
                *libraries,
                "-pthread",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{compiler} -std={standard}: {done.stderr}"
        return made

    def example(self, name: str, standard: str) -> tuple[Path, str]:
        """The recording of an example, and what it printed."""
        program, out = self.build(EXAMPLES / f"{name}.cpp", "g++", standard), self.folder / name
        done = subprocess.run(
            [self.opscope, "run", "-o", out, "--", program],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return out, done.stdout

    def table(self, name: str, path: Path, *words: str) -> list[dict[str, str]]:
        """The rows of a table."""
        return rows(self.opscope, name, path, *words)

    def calls(self, path: Path) -> dict[str, int]:
        """How often each range was recorded."""
        return {x["name"]: int(x["calls"]) for x in self.table("ranges", path)}


def records_what_the_program_says(cxx: Cxx) -> None:
    """Every kind of scope, argument and range, whatever compiles it."""
    for compiler in COMPILERS:
        for standard in STANDARDS:
            program = cxx.build(ROOT / "tests/run/scopes.cpp", compiler, standard)
            out = cxx.folder / "scopes.osc"
            done = subprocess.run(
                [program, out], env=cxx.env, capture_output=True, text=True, check=True
            )
            assert done.stdout == "evaluated 0\nevaluated 10\n", done.stdout
            events = cxx.table("events", out)
            assert not cxx.table("quality", out, "--where", "severity = 'warning'")
            found = Counter((x["kind"], x["name"]) for x in events if x["kind"] != "step")
            functions = {name for kind, name in found if "::" in name}
            assert {x: n for x, n in found.items() if x[1] not in functions} == {
                ("operator", "outer"): 2,
                ("scope", "first"): 2,
                ("scope", "second"): 2,
                ("instant", "caught"): 2,
                ("counter", "level"): 2,
                ("counter", "count"): 2,
                ("scope", "values"): 2,
                ("annotation", "made up"): 2,
                ("scope", "known"): 2,
                ("scope", "sender"): 1,
                ("scope", "receiver"): 1,
                ("communication", "request"): 1,
                ("scope", "first range"): 1,
                ("scope", "second range"): 1,
            }, found
            assert {x["category"] for x in events if x["name"] == "first"} == {"tests"}
            args = {x["name"]: json.loads(x["args"] or "{}") for x in events}
            assert args["second"] == {"x": 1, "late": 2, "later": 3}, args["second"]
            assert args["known"] == {"made up": 5}, args["known"]
            assert args["values"] | {"huge": int(args["values"]["huge"])} == VALUES, args[
                "values"
            ]
            inner = {
                re.sub(r"\{anonymous\}|\(anonymous namespace\)", "?", x).replace("<int>", "<T>")
                for x in functions
            }
            assert inner - {x for x in inner if "lambda" in x or "class" in x} == {
                "?::box<T>::get",
                "?::box<T>::operator()",
                "?::box<T>::operator bool",
                "?::pointers",
                "outer::inner::functions",
            }, inner
            assert len(inner) == 6, inner
            (arrow,) = cxx.table("flows", out)
            ends = {x["id"]: x for x in events}
            assert (ends[arrow["from_id"]]["name"], ends[arrow["to_id"]]["name"]) == (
                "sender",
                "receiver",
            ), arrow
            assert ends[arrow["to_id"]]["thread_name"] == "receiver"


def leaves_nothing_where_it_is_disabled(cxx: Cxx) -> None:
    """No symbol, and no value of a macro is evaluated; those of a function are."""
    source = ROOT / "tests/run/scopes.cpp"
    for compiler in COMPILERS:
        for standard in STANDARDS:
            made = cxx.build(source, compiler, standard, "-DOPSCOPE_DISABLE", "-c")
            names = subprocess.run(
                ["nm", "-C", made], capture_output=True, text=True, check=True
            ).stdout
            assert "main" in names and not re.findall(r" (?:osc_|opscope::)", names), names
            linked = cxx.folder / "alone"
            subprocess.run([compiler, made, "-o", linked, "-pthread"], check=True)
            done = subprocess.run([linked], capture_output=True, text=True, check=True)
            assert done.stdout == "evaluated 0\nevaluated 2\n", done.stdout


CALLS = """
#include <opscope/%s>
#include <opscope/source.h>
int main(void)
{
    static osc_name n;
    struct osc_start_options options;
    options.size = sizeof options;
    osc_name_once(&n, "x");
    osc_begin(OSC_SCOPE_PLAIN, n);
    osc_arg_i64(n, 1);
    osc_end();
    if (osc_begin_in(osc_category_of("io"), 1, OSC_SCOPE_PLAIN, n))
        osc_end();
    osc_work(osc_queue_add(0, "q"), 0);
    (void)osc_step();
    if (osc_start(&options) != OSC_OK || osc_is_on() || osc_start_reason()[0])
        return 1;
    return osc_dump() != OSC_OK || osc_stop() != OSC_OK || osc_version() != 0;
}
"""


def calls_of_c_need_no_library_where_they_are_disabled(cxx: Cxx) -> None:
    """Functions do nothing, as macros of C++ do."""
    source, program = cxx.folder / "calls.c", cxx.folder / "calls"
    for compiler in filter(shutil.which, ("gcc", "clang", *COMPILERS)):
        for header in ("opscope.h", "record.h", "source.h", "stub.h"):
            source.write_text(CALLS % header, encoding="utf-8")
            language = ["-xc++", "-std=c++17"] if "++" in compiler else ["-std=c99"]
            words = [
                *language,
                "-Wall",
                "-Wextra",
                "-Wconversion",
                "-Werror",
                "-DOPSCOPE_DISABLE",
            ]
            done = subprocess.run(
                [compiler, "-O2", *words, f"-I{ROOT}/include", source, "-o", program],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            subprocess.run([program], check=True)


def objects_that_end_at_once_are_warned_of(cxx: Cxx) -> None:
    """A scope without a name would last no time."""
    source = cxx.folder / "discarded.cpp"
    for compiler in COMPILERS:
        for made in (
            'opscope::scope("x")',
            'opscope::async("x")',
            "opscope::arrow::from_here()",
        ):
            source.write_text(DISCARDED % made, encoding="utf-8")
            done = subprocess.run(
                [compiler, "-std=c++17", "-Wall", f"-I{ROOT}/include", "-fsyntax-only", source],
                capture_output=True,
                text=True,
                check=True,
            )
            assert "nodiscard" in done.stderr, f"{compiler} {made}: {done.stderr}"


def what_is_no_literal_and_what_cannot_be_recorded_is_refused(cxx: Cxx) -> None:
    """A name that changes would be recorded as what it was first."""
    source = cxx.folder / "refused.cpp"
    for compiler in COMPILERS:
        for code, said in (
            ('const char *n = "x"; OPSCOPE_SCOPE(n)', "are string literals"),
            ('OPSCOPE_INSTANT(rand() ? "a" : "b")', "are string literals"),
            ('char n[] = "x"; OPSCOPE_COUNTER(n, 1)', "are string literals"),
            ('std::string n = "x"; OPSCOPE_SCOPE(n)', "are string literals"),
            ('const char *k = "x"; OPSCOPE_SCOPE("x", k, 1)', "keys of arguments"),
            ('OPSCOPE_SCOPE("x", "key")', "has a value"),
            ('const char *n = "x"; OPSCOPE_SCOPE_IN("c", 1, n)', "are string literals"),
            ('if (rand()) OPSCOPE_SCOPE("x")', "write braces around it"),
            ('OPSCOPE_SCOPE("a"); while (rand()) OPSCOPE_FUNCTION()', "write braces around it"),
            ('for (;;) OPSCOPE_SCOPE_IN("io", 1, "x")', "write braces around it"),
            ('OPSCOPE_SCOPE("x", "y", source())', "cannot record a value of this type"),
            ('OPSCOPE_COUNTER("x", "y")', "a counter is a number"),
        ):
            source.write_text(
                "#include <cstdlib>\n#include <string>\n#include <opscope/scope.hpp>\nstruct source {};\n"
                "void f() { %s; }\n" % code,
                encoding="utf-8",
            )
            done = subprocess.run(
                [compiler, "-std=c++17", f"-I{ROOT}/include", "-fsyntax-only", source],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode != 0, f"{compiler} takes {code}"
            (error,) = (x for x in done.stderr.splitlines() if "error:" in x)
            assert said in error, f"{compiler}, {code}: {error}"


def macros_of_the_program_do_no_harm(cxx: Cxx) -> None:
    """The headers compile with macros of short names, whichever the program defines before."""
    source = cxx.folder / "macros.cpp"
    first = "".join(
        f"#include <{x}>\n"
        for x in (
            *("charconv", "chrono", "iterator", "string_view", "type_traits", "utility"),
            *("version", "dlfcn.h", "errno.h", "link.h", "stdlib.h", "string.h", "sys/auxv.h"),
        )
    )
    macros = "".join(f"#define {x} 10\n" for x in SHORT)
    for header in ("scope.hpp", "source.h", "stub.h"):
        source.write_text(f"{first}{macros}#include <opscope/{header}>\n", encoding="utf-8")
        for compiler in COMPILERS:
            cxx.build(source, compiler, "c++20", "-c")


def a_pool_shows_who_queued_what(cxx: Cxx) -> None:
    """Each task waits once, runs on a worker, and has an arrow from what queued it."""
    out, printed = cxx.example("pool", "c++17")
    assert printed == f"{sum(10000 + 100 * i for i in range(100))}\n"
    assert cxx.calls(out) == {"pool::add": 100, "in queue": 100, "task": 100, "sum": 100}
    ends = {x["id"]: x for x in cxx.table("events", out)}
    arrows = [(ends[x["from_id"]], ends[x["to_id"]]) for x in cxx.table("flows", out)]
    assert {(a["name"], b["name"]) for a, b in arrows} == {("pool::add", "task")}
    assert len({b["id"] for _, b in arrows}) == 100
    assert {b["thread_name"] for _, b in arrows} <= {f"worker {i}" for i in range(3)}
    points = cxx.table("points", out)
    assert {x["name"] for x in points} == {"waiting tasks"}, points
    assert min(float(x["min_value"]) for x in points) == 0, points
    assert sum(int(x["events"]) for x in points) == 200, points
    assert not cxx.table("quality", out, "--where", "severity = 'warning'")


def a_coroutine_is_a_range_across_its_breaks(cxx: Cxx) -> None:
    """The ranges overlap, and the scopes between breaks nest in what resumes them."""
    out, printed = cxx.example("coroutines", "c++20")
    assert printed == "10000 bytes\n"
    calls = cxx.calls(out)
    assert calls == {
        "download a": 1,
        "download b": 1,
        "download c": 1,
        "part": 10,
        "resume": 10,
    }, calls
    events = cxx.table("events", out)
    spans = {
        x["name"]: (int(x["start_ns"]), int(x["start_ns"]) + int(x["dur_ns"]))
        for x in events
        if x["name"].startswith("download ")
    }
    assert max(a for a, _ in spans.values()) < min(b for _, b in spans.values()), spans
    parts = [json.loads(x["args"]) for x in events if x["name"] == "part"]
    assert Counter(x["of"] for x in parts) == {"a": 3, "b": 5, "c": 2}
    assert all(re.search(r"coroutines\.cpp:\d+$", x["where"]) for x in parts), parts
    depths = Counter(x["depth"] for x in events if x["name"] == "part")
    assert depths == {"0": 3, "1": 7}, depths


def a_server_has_a_range_for_each_request(cxx: Cxx) -> None:
    """With the request, on the thread of its client."""
    out, _ = cxx.example("server", "c++17")
    calls = cxx.calls(out)
    assert (calls["request"], calls["handle"], calls["ask"], calls["collatz"]) == (
        100,
        100,
        100,
        100,
    ), calls
    events = cxx.table("events", out)
    asked = sorted(json.loads(x["args"])["request"] for x in events if x["name"] == "handle")
    assert asked == sorted(str(1000 * i + k) for i in range(4) for k in range(1, 26)), asked
    assert {x["thread_name"] for x in events if x["name"] == "handle"} == {"server"}
    assert {x["thread_name"] for x in events if x["name"] == "ask"} == {"client"}


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    options = parser.parse_args()
    if "g++" not in COMPILERS:
        print("skipped: there is no g++\n0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        cxx = Cxx(options.opscope, Path(folder))
        return run_tests(
            [
                records_what_the_program_says,
                leaves_nothing_where_it_is_disabled,
                calls_of_c_need_no_library_where_they_are_disabled,
                objects_that_end_at_once_are_warned_of,
                what_is_no_literal_and_what_cannot_be_recorded_is_refused,
                macros_of_the_program_do_no_harm,
                a_pool_shows_who_queued_what,
                a_coroutine_is_a_range_across_its_breaks,
                a_server_has_a_range_for_each_request,
            ],
            lambda place: (cxx,),
        )


if __name__ == "__main__":
    sys.exit(main())
