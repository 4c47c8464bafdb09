# SPDX-License-Identifier: Apache-2.0
"""A file of trace events to Python values (product.md 5; torch213.md 5; TB 14.3 note).

Numbers with a fraction become Decimal, so that no time passes through a double. Most files
are JSON. Some are not: torch 2.13 leaves quotation marks in names bare, others write N/A for
a number, leave a comma too many or end early. Those go through `TolerantParser`, which keeps
what it read up to the first place it cannot make sense of.
"""
from __future__ import annotations

import gzip
import json
import re
from decimal import Decimal
from pathlib import Path


class NotATrace(Exception):
    """The file holds no list of event records."""


class Broken(Exception):
    """The tolerant parser met the end of what it can read."""


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
BARE_WORD = re.compile(r"[A-Za-z+-][A-Za-z0-9_/.+-]*")
BLANK = re.compile(r"[ \t\r\n]*")
# The end of a text that stands last on its line: quotation mark, perhaps a comma, line break.
END_ON_LINE = re.compile(r'"[ \t]*,?[ \t]*\r?(?:\n|\Z)')
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r",
           "t": "\t"}
WORDS = {"true": True, "false": False, "null": None}


class TolerantParser:
    """Recursive descent over TEXT; objects and arrays are filled in place, so that what was
    read before a break is kept."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0

    def blank(self) -> str:
        """Skip white space; the next character, or '' at the end."""
        self.at = BLANK.match(self.text, self.at).end()
        return self.text[self.at:self.at + 1]

    def string(self, is_name: bool) -> str:
        """A text. A NAME ends where its line does: bare quotation marks inside belong to it
        (torch213.md 5)."""
        start = self.at + 1
        if is_name:
            end_of_line = self.text.find("\n", start)
            end_of_line = len(self.text) if end_of_line < 0 else end_of_line + 1
            line = self.text[start:end_of_line]
            ends = [m.start() for m in re.finditer('"', line)
                    if END_ON_LINE.match(line, m.start())]
            if ends and "\\" not in line:
                self.at = start + ends[-1] + 1
                return line[:ends[-1]]
        out = []
        at = start
        while True:
            if at >= len(self.text):
                raise Broken("a text without an end")
            char = self.text[at]
            if char == '"':
                self.at = at + 1
                return "".join(out)
            if char == "\\":
                code = self.text[at + 1:at + 2]
                if code == "u":
                    out.append(chr(int(self.text[at + 2:at + 6], 16)))
                    at += 6
                    continue
                out.append(ESCAPES.get(code, code))
                at += 2
                continue
            out.append(char)
            at += 1

    def value(self, into: list, is_name: bool = False) -> None:
        """Append the value that stands here to INTO (first, so that a break keeps parts)."""
        char = self.blank()
        if char == "{":
            self.object(into)
        elif char == "[":
            self.array(into)
        elif char == '"':
            into.append(self.string(is_name))
        else:
            self.scalar(into)

    def object(self, into: list) -> None:
        """An object; a trailing comma is allowed."""
        result: dict = {}
        into.append(result)
        self.at += 1
        while True:
            char = self.blank()
            if char == "}":
                self.at += 1
                return
            if char == ",":
                self.at += 1
                continue
            if char != '"':
                raise Broken("a member without a name")
            key = self.string(False)
            if self.blank() != ":":
                raise Broken("a member without a colon")
            self.at += 1
            slot: list = []
            try:
                self.value(slot, key == "name")
            finally:
                if slot:
                    result[key] = slot[0]

    def array(self, into: list) -> None:
        """An array; a trailing comma is allowed."""
        result: list = []
        into.append(result)
        self.at += 1
        while True:
            char = self.blank()
            if char == "]":
                self.at += 1
                return
            if char == ",":
                self.at += 1
                continue
            if char == "":
                raise Broken("an array without an end")
            before = self.at
            length = len(result)
            try:
                self.value(result)
            except Broken:
                # An element that was cut is not an element.
                del result[length:]
                self.at = before
                raise

    def scalar(self, into: list) -> None:
        """A number or a word; an unknown word such as N/A is missing (null)."""
        match = NUMBER.match(self.text, self.at)
        if match:
            self.at = match.end()
            text = match.group()
            into.append(Decimal(text) if match.group(1) or match.group(2) else int(text))
            return
        match = BARE_WORD.match(self.text, self.at)
        if not match:
            raise Broken("neither a value nor an end")
        self.at = match.end()
        into.append(WORDS.get(match.group()))


def parse(text: str) -> object:
    """TEXT as JSON if it is, else as much of it as can be read."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=lambda word: None)
    except json.JSONDecodeError:
        pass
    slot: list = []
    try:
        TolerantParser(text).value(slot)
    except Broken:
        pass
    return slot[0] if slot else None


def read(path: Path) -> tuple[dict, list[dict]]:
    """(members of the file other than its events, event records in the order of the file)."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = parse(data.decode("utf-8", errors="replace"))
    if isinstance(top, list):
        top = {"traceEvents": top}
    if not isinstance(top, dict) or not isinstance(top.get("traceEvents"), list):
        raise NotATrace(f"{path.name}: no list of events")
    records = [r for r in top["traceEvents"] if isinstance(r, dict)]
    if top["traceEvents"] and not records:
        raise NotATrace(f"{path.name}: the list holds no event records")
    return {k: v for k, v in top.items() if k != "traceEvents"}, records
