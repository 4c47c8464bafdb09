# SPDX-License-Identifier: Apache-2.0
"""Parse the faulty JSON of torch and others: bare quotation marks in names, words such as N/A,
extra or missing commas, a missing end."""

from __future__ import annotations

import contextlib
import re
from decimal import Decimal


class Word(str):
    """A word in the place of a value that is not a valid one: N/A, NaN, inf."""


class Broken(Exception):
    """The parser met the end of what it can read."""


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
CUT_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*\Z")
BARE_WORD = re.compile(r"[A-Za-z+-][A-Za-z0-9_/.+-]*")
TOKEN = re.compile(r'[^ \t\r\n,}\]:"{\[]+')
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
# A message such as `[W1124 a.cpp] words`: no list, whose bracket is followed by a delimiter.
MESSAGE = re.compile(r'\[[ \t\r]*[^ \t\r\n{\[\]"][^\n\]]*(?:\n|\][ \t\r]*[^ \t\r\n,\]}])')
BLANK = re.compile(r"[ \t\r\n]*")
# The end of a text that is the last on its line: quotation mark, optional comma, line break.
END_ON_LINE = re.compile(r'"[ \t]*,?[ \t]*\r?(?:\n|\Z)')
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
WORDS = {"true": True, "false": False, "null": None}


class TolerantParser:
    """Recursive descent over TEXT; objects and arrays are filled in place, so that the values
    before a break are kept. A break is a truncated token, or the end."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.findings: list[tuple[str, int]] = []  # code, place in TEXT
        self.entries: list[int] = []  # places of members of the list
        self.cut: dict = {}  # the rest of a truncated record
        self.is_between = False  # the break is behind a whole event

    def parse(self) -> object:
        """The value in TEXT, or as much of it as there is."""
        slot: list = []
        try:
            is_behind_text = self.skip_strange()
            is_bare = self.blank() == "," or self.is_event()
            if is_behind_text or is_bare:
                self.findings.append(("repaired_list", self.at))
            if is_bare:
                self.array(slot, True, False)
            elif self.blank() == "[":
                self.array(slot, True)
            elif self.blank() == "{":
                self.object(slot, "traceEvents", True)
            else:
                self.value(slot)
        except Broken:
            is_whole = (
                self.text.lstrip("\ufeff \t\r\n")[:1] == "["
                and not self.blank()
                and not self.cut
            )
            self.findings.append(
                ("unclosed_list" if is_whole and self.is_between else "truncated", self.at)
            )
        return slot[0] if slot else None

    def skip_strange(self) -> bool:
        """Skip text before a document, line by line. False: there is none."""
        char = self.blank()
        if char in ("{", ",", "") or (char == "[" and not MESSAGE.match(self.text, self.at)):
            return False
        document = re.compile(r"\n[ \t\r\n]*(?=\[[ \t\r\n]*\{|\{[ \t\r\n]*\")").search(
            self.text, self.at
        )
        if document:
            self.at = document.end()
        return document is not None

    def is_event(self) -> bool:
        """Whether the object at this position is an event, and no list is around it."""
        if self.blank() != "{":
            return False
        one, slot = TolerantParser(self.text[self.at :]), []
        with contextlib.suppress(Broken, RecursionError):
            one.object(slot)
        first = slot[0] if slot else {}
        return len(str(first.get("ph", ""))) == 1 and "traceEvents" not in first

    def is_message(self) -> bool:
        """Skip a message between events, up to the end of its line or an event in it. False:
        none is here."""
        char = self.blank()
        value = (TEXT if char == '"' else TOKEN).match(self.text, self.at)
        if char == "[":
            is_text = MESSAGE.match(self.text, self.at) is not None
        else:
            follows = BLANK.match(self.text, value.end()).end() if value else len(self.text)
            is_text = self.text[follows : follows + 1] not in (
                "",
                ",",
                "]",
                *((":",) if char == '"' else ()),
            )
        if is_text:
            self.findings.append(("corrupt", self.at))
            begin = value.end() if value else self.at
            end = re.compile(r'\n|\{(?=")|\Z').search(self.text, begin)
            self.at = end.start()
        return is_text

    def blank(self) -> str:
        """Skip white space; the next character, or '' at the end."""
        self.at = BLANK.match(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def string(self, is_name: bool) -> str:
        """Parse a text. A NAME ends at the end of its line: bare quotation marks inside belong to
        it."""
        start = self.at + 1
        if is_name:
            end_of_line = self.text.find("\n", start)
            end_of_line = len(self.text) if end_of_line < 0 else end_of_line + 1
            line = self.text[start:end_of_line]
            ends = [
                m.start() for m in re.finditer('"', line) if END_ON_LINE.match(line, m.start())
            ]
            if ends and "\\" not in line:
                if '"' in line[: ends[-1]]:
                    self.findings.append(("repaired_name", start))
                self.at = start + ends[-1] + 1
                return line[: ends[-1]]
        out = []
        at = start
        is_wrong = False
        while True:
            if at >= len(self.text):
                raise Broken("a text without an end")
            char = self.text[at]
            if char == '"':
                if is_wrong:
                    self.findings.append(("repaired_name", start))
                self.at = at + 1
                return "".join(out)
            if char == "\\":
                code = self.text[at + 1 : at + 2]
                if code == "u":
                    digits = self.text[at + 2 : at + 6]
                    if len(digits) < 4:
                        raise Broken("a text without an end")
                    out.append(chr(int(digits, 16)))
                    at += 6
                    if PAIR.match("".join(out[-2:])):
                        high, low = map(ord, out[-2:])
                        out[-2:] = [chr(0x10000 + (high - 0xD800 << 10) + low - 0xDC00)]
                    continue
                is_wrong |= code not in ESCAPES
                out.append(ESCAPES.get(code, "\\" + code))
                at += 2
                continue
            out.append(char)
            at += 1

    def value(self, into: list, is_name: bool = False) -> None:
        """Append the value at this position to INTO. A list or object is one token: if it is
        truncated, the break is at its begin."""
        char = self.blank()
        before = self.at
        try:
            if char == "{":
                self.object(into)
            elif char == "[":
                self.array(into)
            elif char == '"':
                into.append(self.string(is_name))
            else:
                self.scalar(into)
        except Broken:
            self.at = before if char in ("{", "[") else self.at
            raise

    def object(self, into: list, opened: str = "", is_counted: bool = False) -> None:
        """Parse an object; a trailing comma is allowed. Its member OPENED, if it is an object, is
        not a token: everything before a break is kept. Missing commas are counted in events and
        their args."""
        result: dict = {}
        into.append(result)
        self.at += 1
        while True:
            before = self.at
            if self.blank() == ",":
                self.at += 1
                before = self.at
            elif result and self.blank() == '"' and is_counted:
                self.findings.append(("repaired_list", self.at))
            char = self.blank()
            has_own_line = "\n" in self.text[before : self.at]
            if char == "}":
                self.at += 1
                return
            if char != '"':
                raise Broken("a member without a name")
            key = self.string(False)
            if self.blank() != ":":
                raise Broken("a member without a colon")
            self.at += 1
            slot: list = []
            try:
                char = self.blank() if key == opened else ""
                if key == "args" and char == "{":
                    self.object(slot, is_counted=is_counted)
                elif key == "traceEvents" and char == "[":
                    self.array(slot, True)
                else:
                    self.value(slot, key == "name" and has_own_line)
            finally:
                if slot and key == opened and (key != "args" or isinstance(slot[0], dict)):
                    result[key] = slot[0]
            result[key] = slot[0]

    def array(
        self, into: list, is_list_of_events: bool = False, has_bracket: bool = True
    ) -> None:
        """Parse an array; a trailing comma is allowed."""
        result: list = []
        into.append(result)
        self.at += has_bracket
        while True:
            char = self.blank()
            if char == "]":
                self.at += 1
                return
            if char == ",":
                self.at += 1
                continue
            if char == "" and not has_bracket:
                return
            if is_list_of_events and char not in ("", "{") and self.is_message():
                continue
            if char == "":
                self.is_between = is_list_of_events
                raise Broken("an array without an end")
            length = len(result)
            if is_list_of_events:
                self.entries.append(self.at)
            try:
                if is_list_of_events and char == "{":
                    self.object(result, "args", True)
                    if has_bracket and self.blank() == "{":
                        self.findings.append(("repaired_list", self.at))
                else:
                    self.value(result)
            except Broken:
                # A truncated element does not count.
                if is_list_of_events and isinstance(result[-1], dict):
                    self.cut = result[-1]
                del result[length:]
                raise

    def scalar(self, into: list) -> None:
        """Parse a number or a word. At the end of the text it may be incomplete, so it counts as
        truncated."""
        match = NUMBER.match(self.text, self.at) or BARE_WORD.match(self.text, self.at)
        if not match or CUT_NUMBER.match(self.text, self.at) or match.end() == len(self.text):
            raise Broken("neither a value nor an end")
        self.at = match.end()
        text = match.group()
        if match.re is BARE_WORD:
            into.append(WORDS[text] if text in WORDS else Word(text))
        else:
            into.append(Decimal(text) if match.group(1) or match.group(2) else int(text))
