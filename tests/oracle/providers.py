# SPDX-License-Identifier: Apache-2.0
"""Providers of tables: the twin and the opscope binary."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from twin import averages_text, tables
from twin.averages_text import Options
from twin.memory_tables import ALL, Selection


class TwinProvider:
    """The slow twin; keeps the last trace, because questions come file by file."""

    name = "twin"

    def __init__(self) -> None:
        self.path: Path | None = None
        self.trace = None
        self.kept: dict[tuple, list[dict]] = {}

    def load(self, path: Path):
        """The trace of PATH."""
        if path != self.path:
            self.trace, self.path, self.kept = tables.load(path), path, {}
        return self.trace

    def table(
        self,
        path: Path,
        name: str,
        group_by: str | None = None,
        compat: bool = False,
        python: bool = True,
        selection: Selection = ALL,
    ) -> list[dict]:
        """Rows of a table."""
        trace = self.load(path)
        key = (name, group_by, compat, python, selection)
        if key not in self.kept:
            self.kept[key] = tables.table(trace, name, group_by, compat, python, selection)
        return self.kept[key]

    def text_differs(
        self, path: Path, options: Options, grouping: dict, expected: str
    ) -> str | None:
        """None if EXPECTED is the text of averages, apart from ties; else the difference."""
        text = averages_text.render(self.load(path), options, **grouping)
        return text.differs_from(expected)


class OpscopeError(Exception):
    """The binary failed, or its output is not a table."""


class OpscopeProvider:
    """The binary, once per question."""

    name = "opscope"

    def __init__(self, binary: Path, timeout_s: float = 120):
        self.binary = binary
        os.environ["CATALOG"] = str(binary)  # see cells.py
        self.timeout_s = timeout_s
        self.twin = TwinProvider()
        self.kept: dict[tuple, list[dict]] = {}

    def run(self, arguments: list[str]) -> str:
        """Standard output of `opscope table …`."""
        command = [str(self.binary), "table", *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=self.timeout_s, check=False
            )
        except subprocess.TimeoutExpired as late:
            raise OpscopeError(f"no answer in {self.timeout_s} s: {command}") from late
        except OSError as missing:
            raise OpscopeError(f"cannot run {self.binary}: {missing.strerror}") from missing
        if done.returncode != 0:
            message = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise OpscopeError(f"exit {done.returncode}: {message[:1]} for {command[1:]}")
        return done.stdout.decode("utf-8", "replace")

    def document(self, arguments: list[str]) -> dict:
        """The JSON form of a table."""
        try:
            return json.loads(self.run([*arguments, "--format", "json"]))
        except ValueError as bad:
            raise OpscopeError(f"not JSON ({bad}): {arguments}") from bad

    def rows(
        self,
        name: str,
        operands: list[Path],
        group_by: str | None = None,
        compat: bool = False,
        python: bool = True,
        more: tuple[str, ...] = (),
    ) -> list[dict]:
        """Rows of a table of several files; MORE are further options."""
        arguments = [name, *map(str, operands), *more]
        if group_by:
            arguments += ["--group-by", group_by]
        if compat:
            arguments += ["--compat", "tb"]
        if not python:
            arguments.append("--no-python")
        document = self.document(arguments)
        names = [column["name"] for column in document["columns"]]
        rows = [dict(zip(names, row)) for row in document["rows"]]
        for row in rows:
            if row.get("stack") is not None:
                row["stack"] = json.loads(row["stack"])
        return rows

    def table(
        self,
        path: Path,
        name: str,
        group_by: str | None = None,
        compat: bool = False,
        python: bool = True,
        selection: Selection = ALL,
    ) -> list[dict]:
        """Rows of a table of one file."""
        key = (path, name, group_by, compat, python, selection)
        if key not in self.kept:
            if len(self.kept) > 16:
                self.kept.clear()
            self.kept[key] = self.rows(
                name, [path], group_by, compat, python, tuple(selection.arguments())
            )
        return self.kept[key]

    def text(
        self, operands: list[Path], options: Options, grouping: dict, more: tuple[str, ...] = ()
    ) -> str:
        """The text form of averages."""
        arguments = [
            "averages",
            *map(str, operands),
            "--format",
            "text",
            "--limit",
            str(max(options.limit, 0)),
            *more,
        ]
        parts = [key for key in ("shape", "dtype") if grouping.get(f"by_{key}")] + (
            [f"stack:{grouping['stack_n']}"] if grouping.get("stack_n") else []
        )
        if parts:
            arguments += ["--group-by", ",".join(parts)]
        for flag, value in (("--sort", options.sort), ("--header", options.header)):
            if value is not None:
                arguments += [flag, value]
        if options.top_level:
            arguments.append("--top-level")
        if not grouping.get("python", True):
            arguments.append("--no-python")
        if options.torch != "2.13":
            arguments += ["--torch", options.torch]
        default = Options()
        for flag, field in (
            ("--max-name-width", "max_name_width"),
            ("--max-src-width", "max_src_width"),
            ("--max-shapes-width", "max_shapes_width"),
        ):
            value = getattr(options, field)
            if value is not None and value != getattr(default, field):
                arguments += [flag, str(value)]
        return self.run(arguments)

    def text_differs(
        self, path: Path, options: Options, grouping: dict, expected: str
    ) -> str | None:
        """None if both EXPECTED and the binary's text are the table, apart from ties. Only the twin
        knows which texts torch's exact numbers allow."""
        allowed = averages_text.render(self.twin.load(path), options, **grouping)
        return allowed.differs_from(self.text([path], options, grouping))
