# SPDX-License-Identifier: Apache-2.0
# step: oracle-logdirs
# args: --opscope {gcc}/opscope --random 8 --seed {seed}
# full: --opscope {gcc}/opscope --random 4000 --seed {seed}
"""Compare the runs, workers and spans of log directories with the twin and with the plugin.

    python3 tests/oracle/logdirs.py --opscope PATH [--random N] [--seed S] [--shared DIR]

N random trees of directories: nested, with links in circles, files of all kinds and odd names; and a
tree of the shared traces. Ends with `N passed, N failed`; exit status 1 on any difference.

The plugin is compared where both define the answer. Excluded by rule:
  ranks     directories called after ranks are runs of their own in the plugin
  order     the plugin numbers spans by their stamps as text; opscope by value
  once      the plugin searches a directory again under each of its names
  copies    of w.pt.trace.json and w.pt.trace.json.gz one wins; opscope takes the first by name
  empty     the plugin loads files without a byte, and fails
  value     numbers of equal value (5, 05) are one span
  zst       the plugin does not know .zst
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from twin import logdir
from twin.runs import LOGDIR

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "run",
    "a",
    "b c",
    "rank_0",
    "rank-1",
    "rank10",
    "attempt_0",
    "0",
    "1",
    "ü",
    "x\ny",
    ".git",
)
FILES = (
    "w0.5.pt.trace.json",
    "w0.17.pt.trace.json",
    "w0.pt.trace.json",
    "w0.5.pt.trace.json.gz",
    "w0.05.pt.trace.json",
    "host_1.1712000000000.pt.trace.json",
    "host_4711.1712000000000000000.pt.trace.json",
    ".pt.trace.json",
    "worker3.9.pt.trace.json",
    "fit-perf-2.1.pt.trace.json",
    "a.b.c.12.34.pt.trace.json",
    "w.pt.trace.json.zst",
    "w.pt.trace.json.bz2",
    "trace.json",
    "trace_rank7.json.gz",
    "config.json",
    ".hidden.json",
    "a.osc",
    "a.2.osc",
    "a.10.osc",
    "b.osc",
    "notes.txt",
    "README",
    "x;y&z.json",
    "é.json",
    "new\nline.5.pt.trace.json",
    "w.99999999999999999999.pt.trace.json",
)
TEXTS = (
    b'{"traceEvents": []}',
    b'[{"ph": "X", "name": "a"}]',
    b'{"lr": 1}',
    b"[1]",
    b"",
    b"x",
    b'{"schemaVersion": 1, "deviceProperties": [',
    b" \n{}",
)
WHY = {
    "it is empty": "empty",
    "it holds no trace events": "no trace events",
    "it is not called like a trace": "not called like a trace",
    "it is neither a file nor a directory": "no file",
}


def reason(text: str) -> str:
    """Our reason as the twin's."""
    for begin, why in (
        ("it is beside", "beside"),
        ("it is the same trace", "same trace"),
        ("it was searched", "another name"),
    ):
        if text.startswith(begin):
            return why
    return WHY.get(text, text)


def make_tree(source: random.Random, root: Path) -> None:
    """A random tree below ROOT."""
    folders = [root]
    for _ in range(source.randrange(12)):
        path = source.choice(folders) / source.choice(FOLDERS)
        if not path.exists():
            path.mkdir()
            folders.append(path)
    for folder in folders:
        for name in source.sample(FILES, source.randrange(8)):
            text = source.choice(TEXTS if source.random() < 0.5 else TEXTS[:2])
            if name.endswith(".gz") and text:
                text = gzip.compress(text)
            (folder / name).write_bytes(text)
    for _ in range(source.randrange(3)):
        at = source.choice(folders) / source.choice(("link", "rank_2", "w9.1.pt.trace.json"))
        if not at.is_symlink() and not at.exists():
            at.symlink_to(source.choice([*folders, root / "nowhere"]))
    if source.random() < 0.2 and not (folders[-1] / "pipe.json").exists():
        os.mkfifo(folders[-1] / "pipe.json")
    if source.random() < 0.1:  # more than are named
        for n in range(source.choice((20, 21, 40))):
            (source.choice(folders) / f"more{n}.txt").touch()


def ask(opscope: Path, root: Path) -> tuple[list[dict], list[tuple]]:
    """The rows of files, and what is left out, as `opscope info` lists them."""
    done = subprocess.run(
        [opscope, "info", "--logdir", root, "--format", "json", "--limit", "0"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    found = json.loads(done.stdout) if done.stdout else {"rows": [], "columns": []}
    if isinstance(found, list):
        found = found[-1]
    names = [column["name"] for column in found["columns"]]
    rows = [dict(zip(names, row)) for row in found["rows"]]
    files = [row for row in rows if not row.get("left_out")]
    left = [
        (row["file"], reason(row["left_out"]))
        for row in rows
        if row.get("left_out") and row["run"] is None
    ]
    return files, left


class Report:
    """Counts what is equal."""

    def __init__(self):
        self.passed = self.failed = 0
        self.excluded: Counter[str] = Counter()

    def equal(self, where: str, got: object, want: object) -> None:
        if got == want:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            print(f"{where}: got {got!r}, expected {want!r}")


def compare_twin(report: Report, opscope: Path, root: Path, where: str) -> None:
    """Every cell of every row, and what is left out."""
    files, left = ask(opscope, root)
    want, want_left = logdir.find(root)
    report.equal(
        f"{where}: files", [row["file"] for row in files], [row["file"] for row in want]
    )
    for got, row in zip(files, want):
        for column, cell in row.items():
            report.equal(f"{where}: {row['file']}: {column}", got.get(column), cell)
        report.equal(f"{where}: {row['file']}: bytes", got["bytes"], size_of(Path(row["file"])))
    # Without a run there is no table, but a message.
    if files or left:
        report.equal(f"{where}: left out", Counter(left), Counter(logdir.named(want_left)))


def size_of(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def rule_for(folder: Path, spans: list[Path]) -> str | None:
    """The rule that excludes a worker of FOLDER whose files are SPANS."""
    names = [path.name for path in folder.iterdir() if LOGDIR.match(path.name)]
    if any(name.endswith(".zst") for name in names):
        return "zst"
    if len({logdir.stem_of(name) for name in names}) < len(names):
        return "copies"
    values = [logdir.number_of(LOGDIR.match(path.name).group(2)) for path in spans]
    return "value" if len(set(values)) < len(values) else None


def compare_plugin(report: Report, opscope: Path, root: Path, where: str) -> None:
    """Runs, workers and spans of the plugin."""
    files, _ = ask(opscope, root)
    ours: dict[tuple[str, str], dict[int, Path]] = {}
    for row in files:
        path = Path(row["file"])
        if LOGDIR.match(path.name):
            folder = str(path.parent.relative_to(root)) if path.parent != root else root.name
            ours.setdefault((folder, row["worker"]), {})[row["span"]] = path
            if row["run"] != folder:
                report.excluded["ranks"] += 1
    searched = {os.path.realpath(Path(row["file"]).parent) for row in files}
    for run, workers in logdir.plugin(root).items():
        folder = root if run == root.name and not (root / run).is_dir() else root / run
        for worker, spans in workers.items():
            got = ours.get((run, worker))
            if got is None and (os.path.realpath(folder) in searched):
                report.excluded["once"] += 1
                continue
            named = [path for path in spans.values()]
            if any(path.exists() and path.stat().st_size == 0 for path in named):
                report.excluded["empty"] += 1
                continue
            rule = rule_for(folder, list(spans.values()))
            if rule:
                report.excluded[rule] += 1
                continue
            by_value = sorted(spans.values(), key=logdir.order_of)
            if (list(spans) != ["default"] and "default" in spans) or by_value != [
                spans[k]
                for k in sorted(
                    spans, key=lambda k: (k != "default", int(k) if k.isdigit() else 0)
                )
            ]:
                report.excluded["order"] += 1
                report.equal(
                    f"{where}: {run}: {worker}: files",
                    set((got or {}).values()),
                    set(spans.values()),
                )
                continue
            report.equal(
                f"{where}: {run}: {worker}",
                got,
                {(1 if span == "default" else int(span)): path for span, path in spans.items()},
            )


def views_of(opscope: Path, trace: Path) -> list[str]:
    """The plugin's views that have data, by our tables."""

    def has(name: str) -> bool:
        done = subprocess.run(
            [opscope, "table", name, trace, "--format", "csv", "--limit", "1"],
            capture_output=True,
            check=True,
            timeout=120,
        )
        return done.stdout.count(b"\n") > 1

    return [
        "Overview",
        "Operator",
        *(["Kernel"] if has("kernels") else []),
        "Trace",
        *(["Memory"] if has("memory") else []),
        *(["Module"] if has("modules") else []),
    ]


def compare_shared(report: Report, opscope: Path, shared: Path, scratch: Path) -> None:
    """The traces that the plugin was run on, in one tree of links; and the views of each."""
    from peers_plugin import CASES

    tree = scratch / "log"
    for case, (path, _) in CASES.items():
        trace = shared / "data" / path
        expected = shared / "expected/tb" / case / "views.json"
        if not trace.exists():
            continue
        if expected.exists():
            report.equal(
                f"{case}: views",
                views_of(opscope, trace),
                [v for v in json.loads(expected.read_text()) if v != "Distributed"],
            )
        folder = tree / path.rsplit("/", 1)[0]
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.is_symlink():
            folder.symlink_to(trace.parent)
    if tree.exists():
        compare_twin(report, opscope, tree, "shared")
        compare_plugin(report, opscope, tree, "shared")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--random", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options = parser.parse_args()
    opscope = options.opscope.resolve()
    report = Report()
    for n in range(options.random):
        with tempfile.TemporaryDirectory(prefix="logdirs-") as scratch:
            root = Path(scratch) / "log"
            root.mkdir()
            make_tree(random.Random(options.seed * 1_000_000 + n), root)
            compare_twin(report, opscope, root, f"tree {n}")
            compare_plugin(report, opscope, root, f"tree {n}")
    if options.shared.is_dir():
        with tempfile.TemporaryDirectory(prefix="logdirs-") as scratch:
            compare_shared(report, opscope, options.shared, Path(scratch))
    print("excluded of the plugin by rule:", dict(sorted(report.excluded.items())))
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
