#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: screen-judge
# args: --opscope {gcc}/opscope
"""Judge the one screen and the tables of traces that others have published.

usage: judge.py [--opscope PATH] [FILE...]

For each trace of ../shared/data and tests/data, and for a directory of ranks as one run:
- the screen has at most 40 lines, none wider than the terminal, than 120 columns, or than 80
  without a terminal (in a command, a word such as a path may be wider), and names who wrote the
  trace (PRODUCERS);
- it shows the five ranges on the host that took most time and are in no other list, or names of
  counters and instants if nothing has a duration, who worked, and three commands, each of which ends with status 0 and prints a row; modules have lines that
  no other list wants;
- rows of a list differ, and ranges have names that are in the file;
- shares are of the whole: rows of operators, with those of work that no operator launched, and
  kernels by name, by cause and by graph add up to what the events add up to, also where there are
  no operators; the head of OPERATORS says what part they own; advice gives no
  more idle time to causes than the steps have.
What is not judged has a named rule (EXEMPT). Ends with `N passed, N failed`.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "tests" / "screen")]
import counted_ranges  # noqa: E402
import sample  # noqa: E402
from evidence import oversold  # noqa: E402
from lines import alike, columns, on_terminal  # noqa: E402

SHARED = ROOT.parent / "shared" / "data"
LINES, COLUMNS, WIDEST = 40, 80, 120
ROWS = 5  # of a list, if there is room
# How the names of files begin -> how the second line begins. "Chrome trace": nothing in the file
# tells who wrote it.
PRODUCERS = {
    "rocm_": "PyTorch (Kineto)",
    "cuda_": "PyTorch (Kineto)",
    "alexnet": "PyTorch (Kineto)",
    "demo": "PyTorch",
    "small": "PyTorch",
    "torch_legacy": "PyTorch (autograd profiler)",
    "torch_compile": "torch.compile",
    "npu_torch": "PyTorch on Ascend (torch_npu)",
    "npu_msprof": "MindSpore on Ascend",
    "npu_mindspore": "MindSpore on Ascend",
    "jax": "JAX/XLA",
    "tf1": "TensorFlow",
    "triton_inst": "Triton",
    "viztracer": "VizTracer",
    "ray": "Ray",
    "horovod": "Horovod",
    "bazel": "Bazel",
    "clang": "clang",
    "spall": "spall",
    "chrome_flow": "Chrome,",
    "chrome_palette": "Chrome,",
    "chrome_nestable": "Chrome trace,",
    "v8": "V8",
    "aiu": "Chrome trace,",
    "cupti_own": "Chrome trace,",
    "windows": "Chrome trace,",
}
EXEMPT = {
    "nothing_busy": "who worked, where no range has a duration above 0",
    "no_operators": "the list of operators, where there are none",
    "no_file": "names of ranges of a directory",
}
WORK = ("kernel", "memcpy", "memset")
ELSEWHERE = (
    "operator",
    "step",
    "python",
    "module",
)  # kinds of ranges that have their own lists
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
ROW = re.compile(r"  (\S.*?)  +([\d,.]+(?: M)?)  +([\d.]+ [a-z]+)(?:  +(<?[\d.]+) %)?.*")


def nanoseconds(text: str) -> tuple[float, float]:
    """A time as text, and half of its last digit."""
    number, unit = text.split()
    digit = 10.0 ** -len(number.partition(".")[2])
    return float(number) * UNITS[unit], digit * UNITS[unit] / 2


def reads_as(text: str, part: float, whole: float, error: float = 0) -> bool:
    """Whether TEXT is the share of PART, known to ERROR, in percent of WHOLE. Only nothing reads
    as 0 and only the whole as 100."""
    if not whole:
        return False
    share, error = part / whole * 100, error / whole * 100
    if text.startswith("<"):
        return 0 < share < float(text[1:]) / 2 + error
    if text in ("0.0", "100.0"):
        return abs(share - float(text)) <= error
    rounding = 0.1 if text == "99.9" else 0.051
    return abs(share - float(text)) <= rounding + error


@dataclass
class Judge:
    """Asks the command about PATH, and counts what is right and wrong."""

    bin: Path
    path: Path
    passed: int = 0
    wrong: list[str] = field(default_factory=list)
    exempt: Counter = field(default_factory=Counter)

    def expect(self, is_good: bool, *what: object) -> None:
        """Count WHAT, which is right or wrong."""
        self.passed += is_good
        if not is_good:
            self.wrong.append(f"{self.path.name}: " + " ".join(map(str, what))[:500])

    def run(self, *words: object) -> str:
        """The output of opscope with WORDS."""
        done = subprocess.run([self.bin / "opscope", *words], capture_output=True, check=False)
        self.expect(done.returncode == 0, *words, "ends with", done.returncode, done.stderr)
        return done.stdout.decode("utf-8", "replace")

    def rows(self, *words: str) -> list[dict[str, str]]:
        """The rows of a table of the trace, with exact values."""
        text = self.run("table", *words, "--format", "csv", self.path)
        return list(csv.DictReader(io.StringIO(text.replace("\0", ""), newline="")))

    # --- the screen ---

    @cached_property
    def lines(self) -> list[str]:
        return self.run(self.path).splitlines()

    @cached_property
    def sections(self) -> dict[str, list[str]]:
        """Title in capitals -> its own line and those below."""
        found: dict[str, list[str]] = {}
        title = ""
        for line in self.lines:
            word = re.match(r"[A-Z]{2,}( [A-Z]+)*\b", line)
            title = word[0] if word else title
            found.setdefault(title, []).append(line)
        return found

    def list_of(self, title: str) -> list[re.Match]:
        """The rows of a list: name, calls, time, share."""
        return [m for line in self.sections.get(title, [])[1:] if (m := ROW.fullmatch(line))]

    def screen(self) -> None:
        """Judge form and contents."""
        lines = self.lines
        self.expect(0 < len(lines) <= LINES, len(lines), "lines")
        self.expect(not self.wide(lines, COLUMNS), "too wide:", self.wide(lines, COLUMNS))
        for width in (80, 100, 120, 200):
            shown = self.on_terminal(width)
            most = min(width, WIDEST)
            self.expect(not self.wide(shown, most), "at", width, self.wide(shown, most))
            self.expect(not alike(shown), "at", width, "alike:", alike(shown))
        self.expect(not alike(lines), "alike:", alike(lines))
        wanted = next((v for k, v in PRODUCERS.items() if self.path.name.startswith(k)), None)
        second = lines[1].strip() if len(lines) > 1 else ""
        self.expect(wanted is None or second.startswith(wanted), second, "is not by", wanted)
        titles = ("RANGES", "OPERATORS", "KERNELS", "EVENTS")
        names = [title for title in titles if self.list_of(title)]
        self.expect(bool(names), "shows no name")
        self.expect(("EVENTS" in names) == (not self.rows("ranges")), "shows", names)
        if "EVENTS" in names:
            self.exempt["nothing_busy"] += 1
        elif any(
            m[3].split()[0].strip("0.") for m in self.list_of("RANGES")
        ) or not self.list_of("RANGES"):
            busy = any(line.startswith("  busy: ") for line in lines)
            self.expect(
                busy or len(self.sections.get("WORKED", [])) > 2, "does not say who worked"
            )
        else:
            self.exempt["nothing_busy"] += 1

    def ranges(self) -> None:
        """Check which ranges are listed, and that modules take no lines from other lists."""
        found = [
            r
            for r in self.rows("ranges")
            if r.get("place", "host") == "host" and r["kind"] not in WORK
        ]
        profiler = {
            r["name"]
            for r in self.rows("ranges", "--group-by", "category")
            if r["category"] == "Trace"
        }
        alone = [
            int(r["outer_ns"])
            for r in found
            if r["kind"] not in ELSEWHERE and r["name"] not in profiler
        ]
        filling = [r for r in found if r["kind"] == "operator"]
        shown = self.list_of("RANGES")
        most = len(alone) + (len(filling) if len(self.lines) < LINES - 1 else 0)
        self.expect(
            len(shown) >= min(ROWS, most),
            "lists",
            len(shown),
            "of",
            len(alone),
            "+",
            len(filling),
            "ranges",
        )
        if len(alone) >= ROWS:
            least, half = nanoseconds(shown[-1][3])
            self.expect(
                least + half >= sorted(alone)[-ROWS],
                "lists",
                shown[-1][0],
                "but not what took",
                sorted(alone)[-ROWS],
            )
        if "MODULES" in self.sections:
            for title, table in (("OPERATORS", "operators"), ("KERNELS", "kernels")):
                n, listed = len(self.rows(table)), len(self.list_of(title))
                self.expect(
                    listed >= min(ROWS, n) or (not listed and title == "KERNELS" and not n),
                    "has MODULES, but of",
                    title,
                    listed,
                )

    def wide(self, lines: list[str], width: int) -> list[str]:
        """The LINES that are wider than WIDTH."""
        return [
            x for x in lines if columns(x) > width and len(x.removesuffix(" \\").split()) > 1
        ]

    def on_terminal(self, width: int) -> list[str]:
        """The screen on a terminal of WIDTH columns, but the first line, which is the path."""
        return on_terminal([self.bin / "opscope", self.path], width, subprocess.DEVNULL)[1:]

    def commands(self) -> None:
        """Type what the screen proposes."""
        text = "\n".join(self.sections.get("NEXT", [])[1:])
        found = [x.strip() for x in re.split(r"\n(?=  opscope)", text) if x.strip()]
        self.expect(len(found) == 3, "proposes", len(found), "commands")
        for command in found:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    ["bash", "-c", command],
                    capture_output=True,
                    check=False,
                    cwd=folder,
                    env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"},
                )
                written = b"".join(x.read_bytes() for x in Path(folder).iterdir())
            shown = (done.stdout + written).decode("utf-8", "replace").splitlines()
            self.expect(
                done.returncode == 0, command, "ends with", done.returncode, done.stderr
            )
            self.expect(len(shown) > 1 and shown[1] != "(no rows)", command, "prints no row")

    def names(self) -> None:
        """Check that ranges have names of the file; ... stands for any text, and scopes in front
        may be missing."""
        file = None if self.path.is_dir() else counted_ranges.read(self.path)
        if not file:
            self.exempt["no_file"] += 1
            return
        known = {
            re.sub(
                r"[\x00-\x1f\x7f]", lambda c: f"\\x{ord(c[0]):02x}", counted_ranges.name_of(e)
            )
            for e in file.events
        }
        for row in self.list_of("RANGES"):
            shown = re.compile(
                r"(?:\w+::)*" + ".*".join(map(re.escape, row[1].split("\u2026"))), re.DOTALL
            )
            self.expect(any(map(shown.fullmatch, known)), row[1], "is no name of the file")

    def quality(self) -> None:
        """Check that the last line of a table says what the screen says."""
        done = subprocess.run(
            [self.bin / "opscope", "table", "info", self.path], capture_output=True, check=False
        )
        told = re.findall(r"quality: (.*)", done.stderr.decode("utf-8", "replace"))
        self.expect(len(told) <= 1, "last lines of a table:", told)
        told = told or ["nothing"]  # what is told to terminals alone
        listed = {
            code.split()[0]
            for codes in re.findall(r"\(([^)]*)\)", told[0].split(";")[0])
            for code in codes.split(", ")
        }
        shown = " ".join(line.strip() for line in self.sections["QUALITY"]).strip()
        first, more = re.search(r"\((\w+)\)", shown), re.search(r"; (\d+) more$", shown)
        lacks = " ".join(self.sections.get("NOT RECORDED", [])).split(", ")
        n = bool(first) + int(more[1] if more else 0) + sum(map(bool, lacks))
        self.expect(
            len(listed) == n and (not first or first[1] in listed),
            "a table says",
            told[0],
            "but the screen",
            shown,
            lacks,
        )

    def step(self) -> None:
        """Check the shares of the parts of a step."""
        lines = self.sections.get("STEP", self.sections.get("ITERATION", []))
        whole = re.match(r"[A-Z]+  ([\d.]+ [a-z]+)", lines[0]) if lines else None
        for line in lines[1:]:
            part = re.match(r"  \w+ +([\d.]+ [a-z]+) +(<?[\d.]+) %", line)
            if not part or not whole:
                continue
            (ns, half), (of, rest) = nanoseconds(part[1]), nanoseconds(whole[1])
            self.expect(reads_as(part[2], ns, of, half + rest), lines[0], line)

    # --- sums ---

    @cached_property
    def work(self) -> dict[str, int]:
        """The time of all events on devices, by kind."""
        events = self.rows("events", "--columns", "kind,device,dur_ns")
        return {
            kind: sum(int(e["dur_ns"] or 0) for e in events if e["kind"] == kind)
            for kind in WORK
        }

    def shares(self, title: str, whole_ns: float) -> None:
        """Check that the shares of a list are those of WHOLE_NS."""
        for row in self.list_of(title):
            if row[4] is None:
                continue
            ns, half = nanoseconds(row[3])
            self.expect(reads_as(row[4], ns, whole_ns, half), title, row[0], "of", whole_ns)

    def sums(self) -> None:
        """Check that tables add up to the events."""
        kernels = [int(r["total_ns"]) for r in self.rows("kernels")]
        causes = self.rows("kernels", "--group-by", "cause")
        self.expect(sum(kernels) == self.work["kernel"], "kernels:", sum(kernels), self.work)
        self.shares("KERNELS", sum(kernels))
        sold = oversold(self.rows("advice"), self.rows("steps"))
        self.expect(sold is None, "advice:", sold)
        by_cause = {r["cause"]: 0 for r in causes}
        for row in causes:
            by_cause[row["cause"]] += int(row["total_ns"])
        self.expect(sum(by_cause.values()) == sum(kernels), "kernels by cause:", by_cause)
        graphs = sum(int(r["total_ns"]) for r in self.rows("kernels", "--group-by", "graph"))
        # Those that operators launched by graphs have the cause operator.
        self.expect(
            by_cause.get("graph", 0) <= graphs <= sum(kernels),
            "kernels by graph:",
            graphs,
            by_cause,
        )
        operators = self.rows("operators")
        device = sum(self.work.values())
        self.operators(device)
        if not operators:
            self.exempt["no_operators"] += 1
            return
        own, host = (
            sum(int(r[f"{side}_self_ns"]) for r in operators) for side in ("device", "host")
        )
        head = self.sections.get("OPERATORS", [""])[0]
        told = re.match(r"OPERATORS  own ([\d.]+) % of ([\d.]+ [a-z]+) on devices", head)
        self.expect((told is None) == (device == 0), head, "devices worked for", device)
        if told:
            # Only nothing and all have no digits behind the point.
            text = told[1] if "." in told[1] else f"{told[1]}.0"
            self.expect(reads_as(text, own, device), head, "but they own", own, "of", device)
            self.expect("." in told[1] or own in (0, device), head, "but they own", own, device)
        self.shares("OPERATORS", device or host)
        self.shares("ON THE HOST", host)
        self.expect(
            own > 0 or bool(self.list_of("ON THE HOST") or not device),
            "does not list operators by their host time",
        )

    def operators(self, device: int) -> None:
        """Check that rows of the text of operators add up to the work of DEVICE."""
        text = self.run(
            "table", "operators", "--limit", "0", "--columns", "calls,device_self_ns", self.path
        ).splitlines()
        times = [
            nanoseconds(m[0])
            for line in text[1:]
            if (m := re.search(r"[\d.]+ (ns|us|ms|s)\s*$", line))
        ]
        found, error = sum(t for t, _ in times), sum(e for _, e in times)
        self.expect(
            abs(found - device) <= error + 1, "operators:", found, "+-", error, "of", device
        )


def judge(bin_folder: Path, path: Path) -> Judge:
    """Judge the trace or run of PATH."""
    it = Judge(bin_folder, path)
    try:
        it.screen()
        it.ranges()
        it.commands()
        it.names()
        it.quality()
        it.step()
        it.sums()
    except (IndexError, KeyError, TypeError, ValueError) as failed:
        it.expect(False, repr(failed))
    return it


def traces() -> list[Path]:
    """The traces, and directories with several."""
    found = sorted(
        p
        for where in (SHARED, ROOT / "tests" / "data")
        for p in where.rglob("*.json*")
        if p.is_file()
    )
    runs = sorted({p.parent for p in found if p.parent.name.endswith("ranks")})
    return sample.of(found) + sample.of(runs)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, default=ROOT / "build-gcc" / "opscope")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    csv.field_size_limit(1 << 30)
    with tempfile.TemporaryDirectory(prefix="judge-") as place:
        (Path(place) / "opscope").symlink_to(args.opscope.resolve())
        with ThreadPoolExecutor(2) as pool:
            judged = list(pool.map(lambda p: judge(Path(place), p), args.files or traces()))
    for it in judged:
        for line in it.wrong:
            print(line)
    exempt: Counter = sum((it.exempt for it in judged), Counter())
    for rule, what in EXEMPT.items():
        print(f"not judged by rule {rule}: {exempt[rule]} ({what})")
    passed, failed = sum(it.passed for it in judged), sum(len(it.wrong) for it in judged)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
