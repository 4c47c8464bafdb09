# SPDX-License-Identifier: Apache-2.0
"""The log directory of a TensorBoard: whether there are traces, without reading them."""

from __future__ import annotations

import gzip
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

# As src/ask/folders knows them. Other JSON in a log directory need not be a trace.
SURE = re.compile(r"\.osc$|\.osc\.live$|\.pt\.trace\.json(\.gz|\.zst)?$")
PERHAPS = re.compile(r"\.json(\.gz|\.zst)?$")
LOOKED_AT = 4096
FOLDERS_MAX = 10_000  # as many as the server looks at
KEPT_S = 10.0
_seen: dict[Any, tuple[float, bool]] = {}


class Logdir(NamedTuple):
    """What --logdir and --logdir_spec of TensorBoard say."""

    logdir: str
    spec: str

    @classmethod
    def of(cls, context: Any) -> Logdir:
        """That of TensorBoard's CONTEXT."""
        flags = context.flags
        logdir = context.logdir or getattr(flags, "logdir", "") or ""
        return cls(os.path.expanduser(logdir), getattr(flags, "logdir_spec", "") or "")

    def words(self) -> list[str]:
        """The options of `opscope view` for it."""
        if self.logdir:
            return [f"--logdir={self.logdir}"]
        return [f"--logdir_spec={self.spec}"]

    def roots(self) -> list[str]:
        """The directories."""
        if self.logdir:
            return [self.logdir]
        found = []
        for part in filter(None, self.spec.split(",")):
            name, colon, path = part.partition(":")
            is_named = colon and "/" not in name and not path.startswith("//")
            found.append(path if is_named else part)
        return found

    def has_traces(self) -> bool:
        """Whether there is a file that looks like a trace; the answer is kept for some seconds. Of
        a directory on another machine only its server knows."""
        now = time.monotonic()
        at, has = _seen.get(self, (-KEPT_S, False))
        if now - at >= KEPT_S:
            has = any("://" in root for root in self.roots()) or any(
                SURE.search(name) or begins_as_trace(os.path.join(folder, name))
                for folder, names in self.find()
                for name in names
            )
            _seen[self] = (now, has)
        return has

    def folders(self) -> frozenset[str]:
        """The directories that may have traces."""
        return frozenset(folder for folder, _ in self.find())

    def find(self) -> Iterator[tuple[str, list[str]]]:
        """The directories that may have traces, and the names of those. Links are followed, each
        directory is looked at once, and only so many are."""
        seen: set[tuple[int, int]] = set()
        for root in self.roots():
            for path, folders, files in os.walk(root, followlinks=True):
                try:
                    info = os.stat(path)
                except OSError:
                    folders.clear()
                    continue
                if (info.st_dev, info.st_ino) in seen or len(seen) >= FOLDERS_MAX:
                    folders.clear()
                    continue
                seen.add((info.st_dev, info.st_ino))
                names = [x for x in (*files, *folders) if SURE.search(x) or PERHAPS.search(x)]
                if names:
                    yield path, names


def begins_as_trace(path: str) -> bool:
    """Whether the file PATH begins like trace events in JSON. One that is compressed by zstd is
    taken for one. A pipe is none: who opens one waits for somebody who writes."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        if path.endswith(".zst"):
            return True
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            with gzip.open(file) if path.endswith(".gz") else file as f:
                text = f.read(LOOKED_AT)
    except (OSError, EOFError, zlib.error):
        return False
    return b'"traceEvents"' in text or b'"ph"' in text
