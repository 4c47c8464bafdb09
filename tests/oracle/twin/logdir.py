# SPDX-License-Identifier: Apache-2.0
"""The runs of a log directory, from the rules of opscope(1), and from those of the TensorBoard
plugin."""

from __future__ import annotations

import datetime
import os
import re
import stat
import zlib
from pathlib import Path

from .runs import LOGDIR, rank_of_folder, rank_of_name

PLAIN = re.compile(r".*\.(?:json|osc)(?:\.gz|\.zst)?\Z", re.S)
RECORDING = re.compile(r"(.*?)(?:\.([0-9]+))?\.osc(?:\.gz|\.zst)?\Z", re.S)
PEEK_BYTES = 64 << 10
NAMES = 20  # Of each reason so many of what is left out are named, the others only counted.
# Of the plugin: the shortest worker, a number, the suffix.
PLUGIN_FILE = re.compile(r"(.*?)(?:\.(\d+))?\.pt\.trace\.json(?:\.gz)?\Z", re.S)


def begins_like_trace(path: Path) -> bool:
    """Whether a JSON file names trace events in its first 64 KiB; what is no JSON counts as one."""
    try:
        with open(path, "rb") as file:
            head = file.read(PEEK_BYTES)
    except OSError:
        return True
    if head[:2] == b"\x1f\x8b":
        inflater = zlib.decompressobj(31)
        try:
            head = inflater.decompress(head, PEEK_BYTES)
        except zlib.error:
            return True
        if not head:
            return True
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\n\v\f\r")
    if text[:1] not in (b"{", b"["):
        return True
    return (
        b'"traceEvents"' in head
        or b'"ph"' in head
        or (b'"schemaVersion"' in head and b'"deviceProperties"' in head)
    )


def number_of(text: str | None) -> tuple[bool, int]:
    """Numbers in order of their value; none comes first."""
    return (text is not None, int(text or 0))


def order_of(path: Path) -> tuple:
    """Files of a directory by worker, number and name."""
    name = LOGDIR.match(path.name) or RECORDING.match(path.name)
    worker, number = (name.group(1), name.group(2)) if name else ("", None)
    return (os.fsencode(worker), number_of(number), os.fsencode(path.name))


def stem_of(name: str) -> str:
    """The name without the suffixes for compression and format."""
    for suffix in (".gz", ".zst", ".json", ".osc"):
        name = name.removesuffix(suffix)
    return name


class Folder:
    """One directory."""

    def __init__(self, path: Path, above: Folder | None, left: list[tuple]):
        self.path, self.above = path, above
        self.rank = rank_of_folder(path) if above else None
        self.below: list[Path] = []
        named, plain = [], []
        self.is_run = False
        for name in sorted(os.listdir(path), key=os.fsencode):
            entry = path / name
            try:
                mode, size = entry.stat().st_mode, entry.stat().st_size
            except OSError:
                mode, size = stat.S_IFREG, None
            if stat.S_ISDIR(mode):
                self.below.append(entry)
            elif not stat.S_ISREG(mode):
                left.append((entry, "no file"))
            elif LOGDIR.match(name):
                self.is_run = True
                if size == 0:
                    left.append((entry, "empty"))
                else:
                    named.append(entry)
            elif not PLAIN.match(name) or name.startswith("."):
                left.append((entry, "not called like a trace"))
            elif size == 0 and not RECORDING.match(name):
                left.append((entry, "empty"))
            else:
                plain.append(entry)
        chosen = named
        plain.sort(key=order_of)  # of those left out, too, the first are named
        if self.is_run:
            left.extend((entry, "beside") for entry in plain)
        else:
            for entry in plain:
                if RECORDING.match(entry.name) or begins_like_trace(entry):
                    chosen.append(entry)
                else:
                    left.append((entry, "no trace events"))
            self.is_run = bool(chosen)
        self.files = []
        seen = set()
        for entry in sorted(chosen, key=order_of):
            if stem_of(entry.name) in seen:
                left.append((entry, "same trace"))
            else:
                self.files.append(entry)
            seen.add(stem_of(entry.name))


def find(root: Path) -> tuple[list[dict], list[tuple]]:
    """A row for each file of each run, and what is left out, as (path, why)."""
    left: list[tuple] = []
    folders = [Folder(root, None, left)]
    known = {(root.stat().st_dev, root.stat().st_ino)}
    for folder in folders:  # grows: breadth first
        for path in folder.below:
            node = (path.stat().st_dev, path.stat().st_ino)
            if node in known:
                left.append((path, "another name"))
                continue
            known.add(node)
            folders.append(Folder(path, folder, left))
    runs: dict[Path, list[Folder]] = {}
    owner: dict[Path, Path] = {}
    for folder in folders:
        own = folder.path
        if folder.rank is not None and folder.is_run:
            own = owner[folder.above.path]
        owner[folder.path] = own
        if folder.is_run:
            runs.setdefault(own, []).append(folder)
    rows = []
    for path in sorted(runs, key=os.fsencode):
        name = root.name if path == root else str(path.relative_to(root))
        parts = sorted(
            runs[path], key=lambda f: (-1 if f.rank is None else f.rank, os.fsencode(f.path))
        )
        rows += rows_of(name, [file for part in parts for file in part.files])
    return rows, left


def named(left: list[tuple]) -> list[tuple[str, str]]:
    """What the table says of LEFT, which is in the order of the search: (path, why)."""
    rows = []
    for reason in dict.fromkeys(why for _, why in left):
        paths = [str(path) for path, why in left if why == reason]
        rows += [(path, reason) for path in paths[:NAMES]]
        if len(paths) > NAMES:
            rows.append((f"({len(paths) - NAMES} more)", reason))
    return rows


def time_of(number: str | None) -> str | None:
    """A number of 10, 13, 16 or 19 digits is a time since 1970."""
    unit = {10: 10**9, 13: 10**6, 16: 10**3, 19: 1}.get(len(number or ""))
    if not unit or int(number) > 2**63 - 1:
        return None
    ns = int(number) * unit
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10**9)
    return f"{when:%Y-%m-%d %H:%M:%S}.{ns % 10**9 // 10**6:03d}"


def rows_of(run: str, files: list[Path]) -> list[dict]:
    """The rows of one run."""
    numbers: dict[tuple, set] = {}
    for path in files:
        name = LOGDIR.match(path.name)
        if name:
            numbers.setdefault((path.parent, name.group(1)), set()).add(
                number_of(name.group(2))
            )
    rows = []
    for path in files:
        name, recording = LOGDIR.match(path.name), RECORDING.match(path.name)
        span = None
        if name:
            windows = sorted(numbers[path.parent, name.group(1)])
            span = windows.index(number_of(name.group(2))) + 1
        worker = (
            (name or recording).group(1)
            if name or recording
            else path.name[: path.name.index(".json")]
        )
        digits = name.group(2).lstrip("0") or "0" if name and name.group(2) else None
        rows.append(
            {
                "run": run,
                "worker": worker,
                "rank": rank_of_name(path),
                "span": span,
                "time": time_of(digits),
                "file": str(path),
            }
        )
    return rows


def plugin(root: Path) -> dict[str, dict[str, dict[str, Path]]]:
    """What the plugin shows: runs, their workers, and of each its spans. The file that is loaded
    last wins a span; here the last by name. It follows links in circles until the system refuses;
    here a directory is not searched again below itself."""
    found: dict[str, dict[str, dict[str, Path]]] = {}
    for folder, below, names in os.walk(root, followlinks=True):
        above = {os.path.realpath(p) for p in (Path(folder), *Path(folder).parents)}
        below[:] = [
            name for name in below if os.path.realpath(Path(folder) / name) not in above
        ]
        matches = [(PLUGIN_FILE.match(name), Path(folder) / name) for name in sorted(names)]
        workers: dict[str, dict[str | None, Path]] = {}
        for match, path in matches:
            if match:
                workers.setdefault(match.group(1), {})[match.group(2)] = path
        if not workers:
            continue
        run = root.name if Path(folder) == root else str(Path(folder).relative_to(root))
        found[run] = {
            worker: {
                "default"
                if stamp is None
                else str(1 + sorted(s for s in spans if s is not None).index(stamp)): path
                for stamp, path in spans.items()
            }
            for worker, spans in workers.items()
        }
    return found
