# SPDX-License-Identifier: Apache-2.0
# step: oracle-compare
# args: --opscope {gcc}/opscope --random 4 --seed {seed} --largest 30000
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Compare every cell of opscope's tables with the slow twin's.

    python3 tests/oracle/compare.py --opscope PATH [--traces DIR] [--largest BYTES]
        [--random N] [--seed S]

Takes every trace below DIR (by default the shared data, if it is there) that is not larger
than BYTES (of these the part that sample.py says), and N random ones:
complete, selected from, truncated, damaged, and several as one run. Integers, texts and truth
values must be equal, doubles within 1e-12 of each other, rows in the same order. Ends with `N
passed, N failed` (cells); exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import asks
import damage
import devicetrace
import hosttrace
import producttrace
import randomtrace
import sample
from cells import Report, compare_table
from providers import OpscopeError, OpscopeProvider
from twin import averages_text, memory_tables, reader, runs, steps, tables
from twin.events import Trace
from twin.selection import NothingLeft, Selection

HERE = Path(__file__).resolve().parent


class Comparison:
    """Asks one binary and the twin, and compares the answers."""

    def __init__(self, binary: Path, is_thorough: bool):
        self.provider = OpscopeProvider(binary)
        self.is_thorough = is_thorough
        self.report = Report()

    def table(
        self,
        where: str,
        run: list[Trace],
        operands: list[Path],
        ask: tuple,
        more: tuple[str, ...] = (),
        rules: steps.Rules = steps.USUAL,
    ) -> None:
        """Compare one table: ASK is its name, its grouping, and whether --compat tb."""
        name, grouping, compat = ask
        if compat and grouping in asks.OWN_GROUPINGS:
            return
        more = (*more, *rules.arguments())
        blocks = runs.blocks(run, "--merge" in more)
        if name in asks.UNMERGED and any(len(block) > 1 for block in blocks):
            return
        label = f"{where}: {name}" + (f" by {grouping}" if grouping else "")
        label += " ".join(("", *(["--compat tb"] if compat else []), *more)) + ":"
        try:
            ours = self.provider.rows(name, operands, grouping, compat, more=more)
        except (OpscopeError, KeyError, TypeError) as failed:
            self.report.differ(label, failed)
            return
        twin = tables.table(run, name, grouping, compat, merged="--merge" in more, rules=rules)
        compare_table(self.report, label, name, ours, twin)

    def all_tables(self, where: str, run: list[Trace], operands: list[Path]) -> None:
        """Compare every table with every grouping."""
        for name in tables.NAMES:
            for grouping in asks.GROUPINGS.get(name, (None,)):
                for compat in (False, True) if name in asks.COMPAT else (False,):
                    self.table(where, run, operands, (name, grouping, compat))

    def some_tables(
        self,
        where: str,
        run: list[Trace],
        operands: list[Path],
        source: random.Random,
        more: tuple[str, ...] = (),
    ) -> None:
        """Compare every table with one grouping."""
        for name in tables.NAMES:
            if name in memory_tables.TABLES and more:  # see memory()
                continue
            grouping = source.choice(asks.GROUPINGS.get(name, (None,)))
            compat = name in asks.COMPAT and source.randrange(4) == 0
            self.table(where, run, operands, (name, grouping, compat), more)

    def ruled(
        self,
        where: str,
        run: list[Trace],
        operands: list[Path],
        source: random.Random,
        more: tuple[str, ...] = (),
    ) -> None:
        """Compare the tables of steps by other rules."""
        for name in asks.RULED:
            compat = name in asks.COMPAT and source.randrange(4) == 0
            self.table(
                where, run, operands, (name, None, compat), more, asks.rules(source, name)
            )

    def memory(self, where: str, trace: Trace, path: Path, source: random.Random) -> None:
        """Compare the tables of memory for parts of a trace; they select from all records."""
        for selection in asks.of_memory(source, trace):
            for name, table in memory_tables.TABLES.items():
                if selection.at_ns is not None and name not in asks.AT_A_TIME:
                    continue
                label = f"{where}: {name} {' '.join(selection.arguments())}:"
                try:
                    ours = self.provider.table(path, name, selection=selection)
                except (OpscopeError, KeyError, TypeError) as failed:
                    self.report.differ(label, failed)
                    continue
                compare_table(self.report, label, name, ours, table(trace, selection))

    def text(
        self,
        where: str,
        run: list[Trace],
        operands: list[Path],
        options: averages_text.Options,
        grouping: dict,
        more: tuple[str, ...] = (),
    ) -> None:
        """Compare the text of averages."""
        try:
            text = self.provider.text(operands, options, grouping, more)
        except OpscopeError as failed:
            self.report.differ(where, "text", failed)
            return
        wrong = averages_text.render(run, options, **grouping).differs_from(text)
        if wrong:
            self.report.differ(where, f"text {options} {grouping} {more}", wrong)
        else:
            self.report.passed += 1

    def texts(
        self, where: str, run: list[Trace], operands: list[Path], source: random.Random
    ) -> None:
        """Compare its text with many options, or with a few."""
        ways = [(o, g) for o in asks.TEXTS for g in asks.TEXT_GROUPINGS]
        for options, grouping in ways if self.is_thorough else source.sample(ways, 9):
            self.text(where, run, operands, options, grouping)

    def is_refused(self, where: str, operands: list[Path], more: tuple[str, ...] = ()) -> None:
        """Check that the command finds nothing to show."""
        try:
            self.provider.rows("info", operands, more=more)
        except OpscopeError as failed:
            if "exit 1" in str(failed) or "exit 2" in str(failed):
                self.report.passed += 1
            else:
                self.report.differ(where, failed)
            return
        self.report.differ(where, more, "something is left, the twin has nothing")

    def selected(
        self,
        where: str,
        traces: list[Trace],
        operands: list[Path],
        selection: Selection,
        source: random.Random,
        more: tuple[str, ...] = (),
    ) -> None:
        """Compare all tables and a text of what SELECTION and MORE leave."""
        options = dict(word.removeprefix("--").split("=") for word in more if "=" in word)
        words = (*selection.arguments(), *more)
        try:
            run = runs.assemble(
                traces, operands, selection, options.get("rank"), options.get("span")
            )
        except NothingLeft:
            self.is_refused(where, operands, words)
            return
        self.some_tables(where, run, operands, source, words)
        self.ruled(where, run, operands, source, words)
        if len(runs.blocks(run, "--merge" in more)) == 1:
            self.text(
                where,
                run,
                operands,
                source.choice(asks.TEXTS),
                source.choice(asks.TEXT_GROUPINGS),
                words,
            )


def compare_file(binary: Path, is_thorough: bool, path: Path, where: str) -> Report:
    """Compare all tables and many texts of a trace, complete and after a selection."""
    comparison = Comparison(binary, is_thorough)
    source = random.Random(where)
    try:
        trace = tables.load(path)
    except reader.NotATrace:
        return comparison.report
    run = runs.assemble([trace], [path])
    comparison.all_tables(where, run, [path])
    comparison.ruled(where, run, [path], source)
    comparison.texts(where, run, [path], source)
    comparison.memory(where, trace, path, source)
    comparison.selected(where, [trace], [path], asks.selection(source, trace), source)
    if steps.are_of_device(trace):
        comparison.selected(where, [trace], [path], Selection(steps="@0"), source)
    return comparison.report


def compare_cut(comparison: Comparison, where: str, path: Path, source: random.Random) -> None:
    """Compare what is left of a truncated file."""
    path.write_bytes(damage.cut(source, path.read_bytes()))
    try:
        trace = tables.load(path)
    except reader.NotATrace:
        comparison.is_refused(where, [path])
        return
    run = runs.assemble([trace], [path])
    for name in ("quality", "events", "info"):
        comparison.table(where, run, [path], (name, None, False))


def compare_flipped(
    comparison: Comparison, where: str, path: Path, source: random.Random
) -> None:
    """Check a file with a wrong byte."""
    file = reader.read(path)
    flipped = damage.flip(source, path.read_bytes(), file)
    if flipped is None:
        return
    path.write_bytes(flipped[0])
    try:
        found = {
            name: comparison.provider.rows(name, [path])
            for name in ("events", "info", "quality")
        }
    except OpscopeError as failed:
        comparison.report.differ(where, failed)
        return
    damage.compare_rest(comparison.report, where, tables.of_file(file), flipped[1], found)


def compare_run(comparison: Comparison, seed: int, place: Path) -> None:
    """Compare several files as one run: side by side, merged, and selected."""
    source = random.Random(f"run {seed}")
    paths = []
    for name, data in randomtrace.run(seed):
        paths.append(place / name)
        paths[-1].write_bytes(data)

    def load() -> list[Trace]:
        return [tables.load(path) for path in paths]

    try:
        traces = load()
    except reader.NotATrace:
        return
    where = f"run {seed}"
    comparison.selected(where, traces, paths, Selection(), source)
    comparison.selected(where, load(), paths, Selection(), source, ("--merge",))
    trace = source.choice(traces)
    more = source.choice(
        (
            (),
            ("--merge",),
            (f"--rank={trace.rank}",),
            ("--rank=0-1,9",),
            (f"--span={trace.span}",),
            ("--span=2-3", "--merge"),
        )
    )
    comparison.selected(where, load(), paths, asks.selection(source, trace), source, more)


def compare_random(binary: Path, is_thorough: bool, keep: Path | None, seed: int) -> Report:
    """Compare the random trace of SEED: complete, truncated and damaged; sometimes with others."""
    comparison = Comparison(binary, is_thorough)
    source = random.Random(f"damage {seed}")
    data = randomtrace.data(seed)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"random-{seed}.json"
        path.write_bytes(data)
        comparison.report = compare_file(binary, is_thorough, path, path.name)
        for change in (compare_cut, compare_flipped):
            path.write_bytes(data)
            failed = comparison.report.failed
            change(comparison, f"{path.name} {change.__name__}", path, source)
            if comparison.report.failed > failed and keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{change.__name__}-{seed}.json").write_bytes(path.read_bytes())
        if seed % 3 == 0:
            compare_run(comparison, seed, Path(place))
        if comparison.report.failed and keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / path.name).write_bytes(data)
    return comparison.report


def compare_advice(
    binary: Path, is_thorough: bool, keep: Path | None, has_devices: bool, seed: int
) -> Report:
    """Compare advice on traces with and without device work, of whose rules many apply. No time may
    count for two of the rules of hosts; evidence.py looks at those of devices."""
    comparison = Comparison(binary, is_thorough)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"{'device' if has_devices else 'host'}-{seed}.json"
        path.write_bytes((devicetrace if has_devices else hosttrace).data(seed))
        run = runs.assemble([tables.load(path)], [path])
        comparison.table(path.name, run, [path], ("advice", None, False))
        impact = sum(
            int(row["impact_ns"])
            for row in comparison.provider.rows("advice", [path], None, False)
        )
        total = sum(
            int(row["total_ns"])
            for row in comparison.provider.rows("steps", [path], None, False)
            if row["kept"]
        )
        if impact > total and not has_devices:
            comparison.report.differ(path.name, f"{impact} ns of {total} ns are at stake")
        comparison.report.passed += 1
        if comparison.report.failed and keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / path.name).write_bytes(path.read_bytes())
    return comparison.report


def compare_products(binary: Path, is_thorough: bool, keep: Path | None, seed: int) -> Report:
    """Compare what advice says of products of matrices."""
    comparison = Comparison(binary, is_thorough)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"products-{seed}.json"
        path.write_bytes(producttrace.data(seed))
        run = runs.assemble([tables.load(path)], [path])
        comparison.table(path.name, run, [path], ("advice", None, False))
        if comparison.report.failed and keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / path.name).write_bytes(path.read_bytes())
    return comparison.report


def traces_of(folder: Path) -> list[Path]:
    """Every file below FOLDER that may hold a trace."""
    return sorted(
        p
        for p in folder.rglob("*")
        if p.is_file() and p.name.endswith((".json", ".json.gz", ".gz"))
    )


def jobs(options: argparse.Namespace) -> Iterator[tuple]:
    """All comparisons, as functions and their last arguments."""
    folder = options.traces or HERE.parents[2] / "shared" / "data"
    if str(folder) != "-":
        if folder.is_dir():
            for path in sorted(sample.of(traces_of(folder)), key=lambda p: -p.stat().st_size):
                if options.largest and path.stat().st_size > options.largest:
                    print(f"{path.name}: left out, as it is larger than --largest")
                    continue
                yield (compare_file, path, str(path.relative_to(folder)))
        else:
            print(f"{folder} is not there: random traces only")
    for number in range(options.random):
        yield (compare_random, options.keep, options.seed * 1_000_003 + number)
        for part in range(4):
            yield (compare_products, options.keep, options.seed * 1_000_003 + 4 * number + part)
        for part in range(8):
            yield (
                compare_advice,
                options.keep,
                part % 2 == 1,
                options.seed * 1_000_003 + 4 * number + part // 2,
            )


def run_job(binary: Path, is_thorough: bool, job: tuple) -> Report:
    """The outcome of one job, also if the twin fails."""
    try:
        return job[0](binary, is_thorough, *job[1:])
    except Exception as failed:  # the other jobs continue
        report = Report()
        report.differ(job[1:], "the twin failed:", repr(failed), traceback.format_exc()[-600:])
        return report


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--traces", type=Path, help="folder with traces; - for none")
    parser.add_argument("--largest", type=int, metavar="BYTES", help="leave out larger traces")
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thorough", action="store_true", help="all texts of each trace")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--show", type=int, default=10, help="differences shown per trace")
    parser.add_argument("--keep", type=Path, help="folder for random traces that differ")
    options = parser.parse_args()
    passed = failed = 0
    with ProcessPoolExecutor(options.processes) as pool:
        for report in pool.map(
            partial(run_job, options.opscope, options.thorough), list(jobs(options))
        ):
            passed += report.passed
            failed += report.failed
            for line in report.lines[: options.show]:
                print(line, flush=True)
            if report.failed > options.show:
                print(f"  … and {report.failed - options.show} more")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
