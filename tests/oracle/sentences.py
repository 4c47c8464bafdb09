# SPDX-License-Identifier: Apache-2.0
# step: oracle-sentences
# args: --opscope {gcc}/opscope --random 8 --seed {seed} --largest 60000
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Compare the sentences of `advice` about communication and the allocator, and its notes about
missing events and work from before the recording, with what the twin says by the rules.

    python3 tests/oracle/sentences.py --opscope PATH [--traces DIR] [--largest BYTES]
        [--random N] [--seed S] [--keep DIR]

For every trace below DIR (by default the shared data, if it is there) that is not larger than
BYTES (of these the part that sample.py says) and every folder of them as a run, and for random
ones: N of devices that wait, 8 N near the borders of the rules, N of hosts, N runs of ranks, and
N of windows of one rank; each complete and selected from. Ends with how often each was said, and
`N passed, N failed`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import asks
import devicetrace
import hosttrace
import rankstrace
import saidtrace
import sample
from cells import Report
from providers import OpscopeError, OpscopeProvider
from twin import reader, runs, tables, told
from twin.events import Trace
from twin.headlines import HOLE
from twin.selection import NothingLeft, Selection

HERE = Path(__file__).resolve().parent
# What is counted, so that a run shows that each was there.
SAID = {
    "lacks events": "the file lacks many",
    "earlier work": told.BUSY,
    "a call waited": " waited for ",
    "waiting": " is waiting for ranks",
    "ranks first": "Even out the work",
    "one waits": "none like it an eighth",
    "not known": "asked of the files of all ranks",
    "hidden": "is hidden already",
    "few": "Split what is sent",
    "beside": "Let it run beside",
    "half": "in training accumulated",
    "allocator off": "Steps have 100",
    "allocator grows": "while it grows",
    "allocator": "Keep memory instead",
}


def is_alike(mine: str, twin: str) -> bool:
    """Whether MINE is TWIN, whose holes stand for any name."""
    return bool(re.fullmatch(re.escape(twin).replace(re.escape(HOLE), ".*"), mine, re.DOTALL))


class Comparison:
    """What one binary says and the twin."""

    def __init__(self, binary: Path):
        self.provider = OpscopeProvider(binary)
        self.report = Report()
        self.said: Counter = Counter()

    def ask(self, paths: list[Path], words: list[str]) -> tuple[list[str], list[dict]] | None:
        """The notes and the rows for PATHS with the options WORDS."""
        try:
            found = self.provider.document(["advice", *words, *map(str, paths)])
        except OpscopeError as failed:
            self.report.differ(paths[0].name, failed)
            return None
        names = [column["name"] for column in found["columns"]]
        return found["notes"], [dict(zip(names, row)) for row in found["rows"]]

    def same(self, where: str, mine: list[str], twin: list[str]) -> None:
        """Compare sentences in any order."""
        left = list(mine)
        for text in twin:
            match = next((one for one in left if is_alike(one, text)), None)
            if match is None:
                self.report.differ(where, f"twin {text!r}", f"of {mine!r}")
                continue
            left.remove(match)
            self.report.passed += 1
            self.said.update(word for word, part in SAID.items() if part in match)
        for text in left:
            self.report.differ(where, f"opscope {text!r}", f"twin {twin!r}")
        self.report.passed += not mine and not twin

    def compare(self, where: str, paths: list[Path]) -> None:
        """Compare what is said of PATHS together, and of a part of what they have."""
        try:
            traces = [tables.load(path) for path in paths]
        except reader.NotATrace:
            return
        self.compare_part(where, paths, traces, Selection())
        source = random.Random(where)
        selected = asks.selection(source, source.choice(traces))
        self.compare_part(
            f"{where} {' '.join(selected.arguments())}",
            paths,
            [tables.load(path) for path in paths],
            selected,
        )

    def compare_part(
        self, where: str, paths: list[Path], traces: list[Trace], selected: Selection
    ) -> None:
        """Compare what is said of what SELECTED leaves of TRACES, which are in PATHS."""
        try:
            run = runs.assemble(traces, paths, selected)
        except NothingLeft:
            return
        found = self.ask(paths, list(selected.arguments()))
        if found is None:
            return
        notes, rows = found
        blocks = runs.blocks(run, False)
        for block in blocks:
            own = [t for t in block if t.kept.get("steps beside") != "theirs"]
            if len(own) != 1:  # its rows are sums
                continue
            rules = told.rules_of(own[0])
            place = {"rank": own[0].rank, "span": own[0].span}
            lead = f"rank {own[0].rank}, span {own[0].span}: " if len(blocks) > 1 else ""
            of_block = [note.removeprefix(lead) for note in notes if note.startswith(lead)]
            self.same(
                f"{where} {lead}notes", list(filter(told.is_ours, of_block)), told.notes(rules)
            )
            twin = told.texts(rules, told.waiting(run, own[0]))
            for code in ("communication", "allocator"):
                self.same(
                    f"{where} {lead}{code}",
                    [
                        row["text"]
                        for row in rows
                        if row["code"] == code
                        and (len(blocks) == 1 or place.items() <= row.items())
                    ],
                    [twin[code]] if code in twin else [],
                )


def compare(binary: Path, keep: Path | None, job: tuple) -> Comparison:
    """Compare one job: where it is, and its paths, or the names and bytes of its files."""
    where, files = job
    comparison = Comparison(binary)
    if isinstance(files[0], Path):
        comparison.compare(where, files)
        return comparison
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for name, data in files:
            paths.append(Path(place) / name)
            paths[-1].write_bytes(data)
        comparison.compare(where, paths)
        if comparison.report.failed and keep:
            (keep / where).mkdir(parents=True, exist_ok=True)
            for path in paths:
                (keep / where / path.name).write_bytes(path.read_bytes())
    return comparison


def real(folder: Path, largest: int) -> list[tuple]:
    """The jobs of traces below FOLDER, and of each folder that may be a run."""
    files = [
        path
        for path in sample.of(sorted(folder.rglob("*.json*")))
        if path.is_file() and path.stat().st_size <= largest
    ]
    found = [(str(path.relative_to(folder)), [path]) for path in files]
    for place in dict.fromkeys(path.parent for path in files):
        own = sorted(path for path in place.glob("*.json*") if path.is_file())
        if 1 < len(own) <= 8 and all(path.stat().st_size <= largest for path in own):
            found.append((f"{place.relative_to(folder)}/", own))
    return found


def random_jobs(seed: int) -> list[tuple]:
    """The random jobs of SEED."""
    found = [
        (f"device {seed}", [("trace.json", devicetrace.data(seed))]),
        (f"host {seed}", [("trace.json", hosttrace.data(seed))]),
    ]
    found += [
        (f"said {8 * seed + part}", [("trace.json", saidtrace.data(8 * seed + part))])
        for part in range(8)
    ]
    ranks = [(name, text.encode()) for name, text in rankstrace.run(seed)]
    found.append((f"ranks {seed}", ranks))
    found.append(
        (
            f"windows {seed}",
            [  # of one rank, after another
                (f"worker0.{n}.pt.trace.json", ranks[0][1]) for n in range(1, 2 + seed % 2)
            ],
        )
    )
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--traces", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--largest", type=int, default=sys.maxsize, metavar="BYTES")
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for random traces that differ")
    options = parser.parse_args()
    jobs = real(options.traces, options.largest) if options.traces.is_dir() else []
    for number in range(options.random):
        jobs += random_jobs(options.seed * 1_000_003 + number)
    passed, failed, said = 0, 0, Counter()
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(partial(compare, options.opscope, options.keep), jobs, chunksize=4):
            passed += one.report.passed
            failed += one.report.failed
            said += one.said
            for line in one.report.lines[:4]:
                print(line, flush=True)
    print("said: " + ", ".join(f"{word} {said[word]}" for word in SAID))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
