# SPDX-License-Identifier: Apache-2.0
"""Read a file of trace events into Python values.

Numbers with a fraction become Decimal, so that no time passes through a double; bytes that
are not UTF-8 become lone surrogates, so that names stay apart. Most files are JSON. Some are not:
torch 2.13 does not escape quotation marks in names, others write N/A for a number, have an extra
comma or end early. Those are read by `tolerant.py`.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from .places import Places
from .tolerant import TolerantParser, Word


class NotATrace(Exception):
    """The file has no list of event records."""


@dataclass
class File:
    """The contents of a file: members besides the events, the members of its list of events, their
    places, and the errors found (quality code, offset)."""

    members: dict
    entries: list
    places: Places | None = None
    findings: list[tuple[str, int]] = field(default_factory=list)
    cut: dict = field(default_factory=dict)  # the rest of a truncated record


def parse(text: str) -> tuple[object, TolerantParser]:
    """TEXT parsed as JSON, or as much of it as can be read; and the parser with the errors."""
    parser = TolerantParser(text)
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=Word)
    except json.JSONDecodeError:
        return parser.parse(), parser
    if isinstance(value, dict) and "traceEvents" not in value and "ph" in value:
        return parser.parse(), parser  # one event without a list
    return value, parser


def of_bytes(data: bytes, name: str) -> File:
    """The file with the bytes DATA."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8", errors="surrogateescape")
    skipped = 1 if text.startswith("\ufeff") else 0
    text = text[skipped:]
    top, parser = parse(text)
    if isinstance(top, list):
        top = {"traceEvents": top}
    within = top.get("traceEvents") if isinstance(top, dict) else None
    if isinstance(within, dict) and next(iter(within), None) == "traceEvents":
        parser.findings.append(("repaired_list", text.find("{", text.find('"traceEvents"'))))
        top = {**top, **within}
    if not isinstance(top, dict) or not isinstance(top.get("traceEvents"), list):
        raise NotATrace(f"{name}: no list of events")
    entries = top["traceEvents"]
    places = Places(text, 3 * skipped, parser.entries)
    found = [(code, places.bytes_before(at)) for code, at in parser.findings]
    if not any(isinstance(entry, dict) for entry in entries) and (entries or found):
        raise NotATrace(f"{name}: the list holds no event records")
    return File(
        {k: v for k, v in top.items() if k != "traceEvents"}, entries, places, found, parser.cut
    )


def read(path: Path) -> File:
    """The file at PATH."""
    return of_bytes(path.read_bytes(), path.name)
