# SPDX-License-Identifier: Apache-2.0
"""Where in a file a record or one of its values stands: bytes from the start. Looked for only
when a finding asks, with the decoder of the standard library."""
from __future__ import annotations

import json
import re
from typing import Iterator

BLANK = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()
UNKNOWN = -1


class Places:
    """Offsets in TEXT, in front of which SKIPPED bytes stand in the file. ENTRIES: where the
    members of the list of events stand, of a text that is no JSON."""

    def __init__(self, text: str, skipped: int, entries: list[int]):
        self.text = text
        self.skipped = skipped
        self.entries = entries

    def bytes_before(self, at: int) -> int:
        """Bytes of the file before place AT of the text."""
        return self.skipped + len(self.text[:at].encode("utf-8", "surrogateescape"))

    def blank(self, at: int) -> int:
        """Behind the white space at AT."""
        return BLANK.match(self.text, at).end()

    def items(self, at: int) -> Iterator[tuple[object, int]]:
        """(key or None, place of the value) of the object or list at AT."""
        is_object = self.text[at] == "{"
        at = self.blank(at + 1)
        while self.text[at] not in "}]":
            key = None
            if is_object:
                key, at = DECODER.raw_decode(self.text, at)
                at = self.blank(self.blank(at) + 1)
            yield key, at
            at = self.blank(DECODER.raw_decode(self.text, at)[1])
            if self.text[at] == ",":
                at = self.blank(at + 1)

    def list_of_events(self) -> int:
        """Place of the list of events."""
        start = self.blank(0)
        if self.text[start] == "[":
            return start
        return next(at for key, at in self.items(start) if key == "traceEvents")

    def entry(self, index: int) -> int:
        """Offset of member INDEX of the list of events."""
        return self.bytes_before(self.entry_place(index))

    def entry_place(self, index: int) -> int:
        """The same as a place of the text."""
        if not self.entries:
            self.entries = [at for _, at in self.items(self.list_of_events())]
        return self.entries[index]

    def borders(self) -> list[int]:
        """Offsets of all members of the list of events, of JSON, and of its end."""
        end = DECODER.raw_decode(self.text, self.list_of_events())[1] - 1
        return [self.bytes_before(at) for _, at in self.items(self.list_of_events())] + [
            self.bytes_before(end)]

    def value(self, index: int, *keys: str) -> int:
        """Offset of the value at KEYS in the record that is member INDEX; of a text behind
        its quotation mark. UNKNOWN if the record is no JSON."""
        at = self.entry_place(index)
        try:
            for key in keys:
                at = next(place for name, place in self.items(at) if name == key)
        except ValueError:
            return UNKNOWN
        is_text = bool(keys) and self.text[at] == '"'
        return self.bytes_before(at + is_text)
