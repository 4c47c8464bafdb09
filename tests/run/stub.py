#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: stub
# args: --opscope {gcc}/opscope
"""Run programs that have opscope/stub.h instead of a library, with and without one.

    python3 tests/run/stub.py --opscope COMMAND

Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support import rows, run_tests

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/run"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-O2")
# How each compiler takes the program, and as what.
LANGUAGES = [
    words
    for words in (
        ("gcc", "-std=c99"),
        ("gcc", "-std=gnu17"),
        ("clang", "-std=c11"),
        ("g++", "-std=c++17", "-xc++"),
        ("clang++", "-std=c++20", "-xc++"),
    )
    if shutil.which(words[0])
]
OFF = "0 0 0 \n"  # no error, nothing records, no library, no reason


class Stub:
    """Programs and recordings in a folder."""

    def __init__(self, opscope: Path, folder: Path) -> None:
        self.opscope, self.folder = opscope, folder
        self.library = opscope.parent / "libopscope.so.0"
        self.programs = {words: self.build(words) for words in LANGUAGES}

    def build(self, words: tuple[str, ...]) -> Path:
        """The program of two files, without a warning."""
        made, other = self.folder / "-".join(words), self.folder / "other.o"
        compiler = "clang" if words[0].startswith("clang") else "gcc"
        for command in (
            [
                compiler,
                *WARNINGS,
                f"-I{ROOT}/include",
                "-c",
                HERE / "stub_other.c",
                "-o",
                other,
            ],
            [
                *words,
                *WARNINGS,
                f"-I{ROOT}/include",
                HERE / "stub.c",
                "-o",
                made,
                *(["-xnone"] if "-xc++" in words else []),
                other,
            ],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return made

    def run(self, program: Path, *words: object, **env: str) -> str:
        """What the program prints; it must succeed and say nothing else."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("OPSCOPE") and k != "LD_LIBRARY_PATH"
        }
        done = subprocess.run(
            [program, *words],
            env=kept | env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=self.folder,
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def check(self, recording: Path, language: tuple[str, ...]) -> None:
        """All that the program says is there."""
        found = [
            tuple(x.values())
            for x in rows(self.opscope, "events", recording, "--columns", "kind,name,args")
        ]
        wanted = [
            ("operator", "in main", '{"number": 7}'),
            ("scope", "in another file", ""),
            ("counter", "level", '{"value": 0.5}'),
        ]
        if "-xc++" in language:
            wanted += [("scope", "early", ""), ("scope", "macro", '{"x": 5}')]
        assert found == wanted, found


def a_program_needs_no_library(stub: Stub) -> None:
    """It runs where there is none, records nothing and prints nothing, and its symbols are its
    own."""
    for program in stub.programs.values():
        assert stub.run(program) == OFF
        assert stub.run(program, OPSCOPE_OUT=str(stub.folder / "none")) in (
            OFF,
            "0 0 0 libopscope.so.0: cannot open shared object file: No such file or "
            "directory\n",
        )
        needed = subprocess.run(
            ["readelf", "-dW", program], capture_output=True, text=True, check=True
        ).stdout
        assert "libopscope" not in needed, needed
        exported = subprocess.run(
            ["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True
        ).stdout
        assert "osc_" not in exported, exported
    assert not (stub.folder / "none").exists()


def opscope_run_records_it(stub: Stub) -> None:
    """With the library of the command, wherever that is."""
    for language, program in stub.programs.items():
        out = stub.folder / f"run-{'-'.join(language)}"
        done = subprocess.run(
            [stub.opscope, "run", "-o", out, "--", program],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"},
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        assert re.fullmatch(r"0 1 \d+ \n", done.stdout), done.stdout
        stub.check(out, language)


def the_program_may_ask_for_it(stub: Stub) -> None:
    """By osc_start(), with the library that the environment names or the loader finds; what cannot
    be loaded has a reason."""
    for language, program in stub.programs.items():
        for env in (
            {"OPSCOPE_LIBRARY": str(stub.library)},
            {"LD_LIBRARY_PATH": str(stub.library.parent)},
        ):
            out = stub.folder / "asked.osc"
            assert re.fullmatch(r"0 1 \d+ \n", stub.run(program, "start", out, **env))
            if "-xc++" in language:  # its name was made when there was no library
                continue
            stub.check(out, language)
        assert re.match(
            r"7 0 0 .*libnone.so",
            stub.run(program, "start", "x.osc", OPSCOPE_LIBRARY="/libnone.so"),
        )
        assert "not libopscope" in stub.run(program, "load", "libm.so.6")
        assert re.fullmatch(r"0 0 \d+ \n", stub.run(program, "load", stub.library))
        assert (
            stub.run(program, OPSCOPE="0", OPSCOPE_OUT="off", OPSCOPE_LIBRARY=str(stub.library))
            == OFF
        )
    assert not (stub.folder / "off").exists() and not (stub.folder / "x.osc").exists()


JUDGED = """
#include <opscope/record.h>
#include <pthread.h>
static void *run(void *name)
{
    for (int i = 0; i < 20000; i++) {
        osc_scope_begin(OSC_SCOPE_OPERATOR, *(osc_name *)name);
        osc_arg_text(osc_name_c("text"), "hello", 5);
        osc_scope_end();
    }
    return 0;
}
int main(void)
{
    osc_name name = osc_name_c("work");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, run, &name);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


def a_race_detector_judges_the_program_alone(stub: Stub) -> None:
    """A program with ThreadSanitizer ends as it does without opscope."""
    (stub.folder / "judged.c").write_text(JUDGED)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        program = stub.folder / f"judged-{compiler}"
        if (
            subprocess.run(
                [
                    compiler,
                    "-fsanitize=thread",
                    f"-I{ROOT}/include",
                    stub.folder / "judged.c",
                    "-o",
                    program,
                    "-L",
                    stub.library.parent,
                    "-lopscope",
                    f"-Wl,-rpath,{stub.library.parent}",
                    "-lpthread",
                ],
                capture_output=True,
                check=False,
            ).returncode
            != 0
        ):
            print(f"skipped: {compiler} has no ThreadSanitizer")
            continue
        for _ in range(3):
            out = stub.folder / f"judged-{compiler}-out"
            shutil.rmtree(out, ignore_errors=True)
            done = subprocess.run(
                [stub.opscope, "run", "-o", out, "--", program],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, ""), done


def a_program_with_rights_of_another_user_loads_nothing(stub: Stub) -> None:
    """Its environment is not to be trusted."""
    if os.geteuid() != 0:
        print("skipped a_program_with_rights_of_another_user_loads_nothing: not root")
        return
    program = stub.folder / "raised"
    shutil.copy(stub.programs[LANGUAGES[0]], program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    for path in (stub.folder, *stub.folder.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o755)
    assert stub.run(
        program, OPSCOPE_OUT=str(stub.folder / "raised-out"), OPSCOPE_LIBRARY=str(stub.library)
    ).startswith("0 0 0 ")
    assert stub.run(program, "start", "y.osc", OPSCOPE_LIBRARY=str(stub.library)).startswith(
        "7 0 0 the program runs with privileges"
    )
    assert not (stub.folder / "raised-out").exists()


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stub = Stub(options.opscope, Path(folder))
        return run_tests(
            [
                a_program_needs_no_library,
                opscope_run_records_it,
                the_program_may_ask_for_it,
                a_race_detector_judges_the_program_alone,
                a_program_with_rights_of_another_user_loads_nothing,
            ],
            lambda place: (stub,),
        )


if __name__ == "__main__":
    sys.exit(main())
