#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: examples
# args: --opscope {gcc}/opscope
"""Do what README, the pages of docs, the manual and `--help` show.

    python3 tests/run/examples.py --opscope COMMAND

Command lines are run by a shell where the files are that they name; C code is compiled and run.
Options and tables of the manual are those of the command. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "tests/data/demo.pt.trace.json.gz"
COMMANDS = ("run", "ctl", "info", "table", "diff", "merge", "export")
# What needs more than this machine: an image, torch's own time.
NOT_HERE = re.compile(r"\bdocker\b|(?!FILE)[A-Z]{4,}\b")
# Runs the words where files of the other machine are, as ssh does: joined, by a shell there.
SSH = """#!/bin/sh
shift
cd "$HOME/host" && exec sh -c "$*"
"""
# Records until it is killed.
SERVE = """
import ctypes, os, time
record = ctypes.CDLL(os.environ["LIBRARY"]).osc_scope_instant
while os.getppid() != 1:
    record(1)
    time.sleep(0.01)
"""
# What stands around the code of a page.
AROUND = {
    "opscope_record.3": ("", ""),
    "opscope_source.3": (
        "const uint64_t before = osc_now(), ticks = 10, start = 20, end = 30;\n",
        'osc_metadata("made_by", "an example");\n',
    ),
    "opscope_trace.3": ("", ""),
    "record.md": ("", ""),
}


class Place:
    """A directory with the files that examples name."""

    def __init__(self, opscope: Path, folder: str) -> None:
        self.opscope = opscope
        self.path = Path(folder)
        self.env = {
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "HOME": folder,
            "TERM": "dumb",
            "LIBRARY": str(opscope.parent / "libopscope.so.0"),
            "LD_LIBRARY_PATH": str(opscope.parent),
            "PKG_CONFIG_PATH": str(opscope.parent / "meson-uninstalled"),
        }
        for name in ("bin", "host", "runs/ddp"):
            (self.path / name).mkdir(parents=True)
        self.make_programs()
        self.make_traces()

    def make_programs(self) -> None:
        """The commands and programs that examples run."""
        (self.path / "bin/opscope").symlink_to(self.opscope)
        (self.path / "bin/python").symlink_to(sys.executable)
        self.make_script("bin/ssh", SSH)
        convnet = self.opscope.parent / "examples/convnet/convnet"
        for name in ("convnet", "program", "serve", "host/train"):
            self.make_script(name, f'#!/bin/sh\nexec "{convnet}" --steps 9 "$@"\n')
        (self.path / "train.py").write_text("print(sum(range(10)))\n", encoding="utf-8")

    def make_script(self, name: str, text: str) -> None:
        """An executable file."""
        script = self.path / name
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)

    def make_traces(self) -> None:
        """The traces and recordings that examples read."""
        text = gzip.decompress(DEMO.read_bytes())
        for name in ("t.json", "a.json", "before.json", "after.json"):
            (self.path / name).write_bytes(text)
        for run in ("before", "after"):
            (self.path / "runs" / run).mkdir()
            shutil.copy(DEMO, self.path / "runs" / run / "host_0.1.pt.trace.json.gz")
        for run in ("fast", "slow"):
            (self.path / "log" / run).mkdir(parents=True)
            shutil.copy(DEMO, self.path / "log" / run / "host_0.1.pt.trace.json.gz")
        for rank in range(4):
            shutil.copy(DEMO, self.path / f"runs/ddp/host_{rank}.1.pt.trace.json.gz")
        shutil.copy(DEMO, self.path / "trace.json.gz")
        labelled = text.replace(b"ProfilerStep#4", b"ProfilerStep#5")
        (self.path / "huge.json.gz").write_bytes(gzip.compress(labelled, 1))
        self.run("opscope run -o made ./convnet && cp made/*.osc run.osc")

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """What a shell makes of LINE."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.path,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def help(self, command: str) -> str:
        """The page of COMMAND, "" for all."""
        return self.run(f"opscope help {command}").stdout


# --- what the pages show ---------------------------------------------------------------------


def plain(roff: str) -> str:
    """A line of ROFF as a reader sees it."""
    return roff.replace("\\(dq", '"').replace("\\&", "").replace("\\e", "\\")


def lines_of_manual(path: Path) -> list[str]:
    """The command lines in a manual page."""
    text = path.read_text(encoding="utf-8")
    return [plain(x) for x in re.findall(r"^\.Dl (.*)$", text, re.M)]


def lines_of_page(text: str) -> list[str]:
    """The command lines in a page of Markdown, or in one of --help: indented, before two blanks."""
    return [re.split(r"\s{2,}", x.strip())[0] for x in re.findall(r"^ {2,4}\S.*$", text, re.M)]


def command_lines(place: Place) -> dict[str, set[str]]:
    """All command lines with opscope in them, by the page that shows them."""
    pages = {x.name: lines_of_manual(x) for x in sorted((ROOT / "docs/man").glob("*.1"))}
    for x in (ROOT / p for p in ("README.md", "docs/record.md", "docs/containers.md")):
        pages[x.name] = lines_of_page(x.read_text(encoding="utf-8"))
    for x in ("", *COMMANDS):
        shown = place.help(x).partition("\nexamples:\n")[2].partition("\n\n")[0]
        pages[f"opscope {x} --help"] = lines_of_page(shown)
    return {
        k: {
            x.replace("build/opscope", "opscope").replace("rec/FILE.osc", "'rec/*.osc'")
            for x in v
            if is_example(x)
        }
        for k, v in pages.items()
    }


def is_example(line: str) -> bool:
    """Whether LINE runs opscope on something that is here."""
    return bool(re.search(r"(^|[\s(/'|])opscope ", line)) and not NOT_HERE.search(line)


def code(path: Path) -> str:
    """The C code that a page shows, as a program."""
    text = path.read_text(encoding="utf-8")
    pattern = r"^```c\n(.*?)^```" if path.suffix == ".md" else r"^\.Bd -literal.*?\n(.*?)^\.Ed"
    shown = plain("".join(re.findall(pattern, text, re.M | re.S)))
    assert shown, path
    before, after = AROUND[path.name]
    body = re.sub(r"^#include.*\n|^\.\.\.$", "", shown, flags=re.M)
    headers = "".join(
        f"#include <{x}>\n" for x in ("err.h", "stdio.h", "opscope/source.h", "opscope/trace.h")
    )
    return f"{headers}int main(void)\n{{\n{before}{body}{after}return 0;\n}}\n"


# --- tests -----------------------------------------------------------------------------------


def run_lines(place: Place, lines: set[str]) -> int:
    """Every command line succeeds. Returns their number."""
    for line in sorted(
        lines, key=lambda x: (" ctl " in x, " merge " in x, "-o rec " not in x, x)
    ):
        if " ctl " in line:
            run_steered(place, line)
            continue
        if "opscope view " in line or "/api/v1/" in line:
            run_served(place, line)
            continue
        done = place.run(line)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
    return len(lines)


def run_served(place: Place, line: str) -> None:
    """LINE serves traces until it is interrupted, or asks such a server."""
    served = "opscope view trace.json.gz" if "/api/v1/" in line else line
    with subprocess.Popen(
        ["bash", "-c", f"exec {served}"],
        cwd=place.path,
        env=place.env,
        text=True,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as server:
        told = ""
        while "http://" not in told:
            said = server.stderr.readline()
            assert said, f"$ {line}\n{told}"
            told += said
        if served != line:
            address = re.search(r"http://\S+?:\d+", told)[0]
            done = place.run(line.replace("http://127.0.0.1:6006", address))
            assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0, f"$ {line}"


def run_steered(place: Place, line: str) -> None:
    """LINE asks the recording of process 4711 in rec, which is here another one."""
    with subprocess.Popen(
        [
            place.path / "bin/opscope",
            "run",
            "-o",
            "rec",
            "--",
            sys.executable,
            "-c",
            f"print('', flush=True)\n{SERVE}",
        ],
        cwd=place.path,
        env=place.env,
        stdout=subprocess.PIPE,
    ) as served:
        served.stdout.read(1)
        try:
            for _ in range(500):
                done = place.run(line.replace("4711", str(served.pid)))
                if done.returncode == 0:
                    break
            assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        finally:
            served.terminate()


def check_code(place: Place, path: Path) -> None:
    """The code of a page compiles without a warning, and runs."""
    source = place.path / "code.c"
    source.write_text(code(path), encoding="utf-8")
    cc = os.environ.get("CC", "cc")
    done = place.run(
        f"{cc} -std=gnu11 -Wall -Wextra -Werror code.c -o code "
        "$(pkg-config --cflags --libs opscope) "
        "$(pkg-config --cflags --libs --static opscope-trace) && "
        "opscope run --strict -o coded ./code"
    )
    assert done.returncode == 0, f"{path.name}: {done.stderr}"


def check_install(place: Place) -> None:
    """What is installed is enough to build a program and to record it, with pages and completions."""
    root = place.path / "root"
    done = place.run(
        f"meson install -C '{place.opscope.parent}' --no-rebuild --destdir '{root}'"
    )
    assert done.returncode == 0, done.stderr
    for page in (ROOT / "docs/man").glob("*.[1-8]"):
        assert list(root.glob(f"**/man{page.suffix[1]}/{page.name}")), page
    assert list(root.glob("**/completions/opscope")) and list(root.glob("**/_opscope"))
    config, command = next(root.glob("**/opscope.pc")).parent, next(root.glob("**/bin/opscope"))
    (place.path / "code.c").write_text(
        code(ROOT / "docs/record.md").replace("#include <opscope/trace.h>\n", ""),
        encoding="utf-8",
    )
    done = place.run(
        f"export PKG_CONFIG_PATH='{config}' PKG_CONFIG_SYSROOT_DIR='{root}' "
        f"LD_LIBRARY_PATH='{config.parent}'\n"
        "cc code.c -o code $(pkg-config --cflags --libs opscope) && "
        f"'{command}' run --strict -o installed ./code && "
        f"'{command}' run --strict --sources itt --print-env | grep -q '{root}' && "
        f"'{command}' table operators installed --columns name,calls --format csv"
    )
    assert "\nconv2d,1\n" in done.stdout, done.stdout + done.stderr


def check_screen(place: Place) -> None:
    """README shows lines that the command prints, in this order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command, _, shown = re.search(r"^```\n\$ ([^\n]*)(\n)(.*?)^```", text, re.M | re.S).groups()
    done = place.run(f"cd '{ROOT}' && {command.replace('build/opscope', 'opscope')}")
    printed = iter(done.stdout.splitlines())
    for line in shown.splitlines():
        assert line.strip() in ("", "...") or line in printed, f"not printed: {line}"


def options_in(page: str) -> set[str]:
    """The long options that lines of roff name."""
    lines = re.findall(r"\bFl (.*)$", page, re.M)
    return {x for line in lines for x in re.findall(r"(?:^| )-([a-z][a-z-]+)", line)}


def table_page(place: Place) -> str:
    """The page of `opscope table`, which is built."""
    return (place.opscope.parent / "docs/man/opscope-table.1").read_text(encoding="utf-8")


def check_options(place: Place) -> None:
    """The manual has the options of --help; those that `info` and `table` share are in one page."""
    table = table_page(place)
    for command in COMMANDS:
        page = (ROOT / f"docs/man/opscope-{command}.1").read_text(encoding="utf-8")
        page = table if command == "table" else page
        there = options_in(page)
        real = set(re.findall(r"^ .{0,6}--([a-z-]+)", place.help(command), re.M)) - {"help"}
        if command in ("info", "diff"):
            there |= real & options_in("\n".join(re.findall(r"^\.It .*$", table, re.M)))
        assert real <= there, f"{command}: not in the manual: {real - there}"
        assert there - {"help"} <= real, f"{command}: no such option: {there - real}"


def check_tables(place: Place) -> None:
    """The manual that is built names every table, in the order of --list."""
    lines = place.run("opscope table --list").stdout
    real = re.findall(r"^([a-z_]+) ", lines, re.M)
    page = table_page(place)
    listed = page.partition(".Bl")[2].partition(".El")[0]
    assert re.findall(r"^\.It Cm (\w+)", listed, re.M) == real, "opscope-table.1"


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True, type=lambda x: Path(x).resolve())
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(options.opscope, folder)
        tests = [
            (f"lines of {k}", lambda v=v: run_lines(place, v))
            for k, v in command_lines(place).items()
        ]
        pages = [*sorted((ROOT / "docs/man").glob("*.3")), ROOT / "docs/record.md"]
        tests += [(f"code of {x.name}", lambda x=x: check_code(place, x)) for x in pages]
        tests += [
            (x.__doc__, lambda x=x: x(place))
            for x in (check_install, check_screen, check_options, check_tables)
        ]
        for name, test in tests:
            try:
                print(f"{name}: {test() or ''}", flush=True)
                passed += 1
            except (AssertionError, subprocess.TimeoutExpired):
                traceback.print_exc()
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
