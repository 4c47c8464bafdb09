# SPDX-License-Identifier: Apache-2.0
"""Find the offset of a record or one of its values in a file, in bytes. Only done when a finding
needs it, with the decoder of the standard library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

BLANK = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()
UNKNOWN = -1


class Places:
    """Offsets in TEXT, which follows SKIPPED bytes in the file. ENTRIES: the places of the members
    of the list of events, for a text that is not JSON."""

    def __init__(self, text: str, skipped: int, entries: list[int]):
        self.text = text
        self.skipped = skipped
        self.entries = entries

    def bytes_before(self, at: int) -> int:
        """Bytes of the file before position AT of the text."""
        return self.skipped + len(self.text[:at].encode("utf-8", "surrogateescape"))

    def blank(self, at: int) -> int:
        """The position after the white space at AT."""
        return BLANK.match(self.text, at).end()

    def items(self, at: int) -> Iterator[tuple[object, int]]:
        """(key or None, position of the value) for each member of the object or list at AT."""
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
        """Position of the list of events."""
        start = self.blank(0)
        if self.text[start] == "[":
            return start
        return next(at for key, at in self.items(start) if key == "traceEvents")

    def entry(self, index: int) -> int:
        """Offset of member INDEX of the list of events."""
        return self.bytes_before(self.entry_place(index))

    def entry_place(self, index: int) -> int:
        """The same as a position in the text."""
        if not self.entries:
            self.entries = [at for _, at in self.items(self.list_of_events())]
        return self.entries[index]

    def borders(self) -> list[int]:
        """Offsets of all members of the list of events, of JSON, and of its end."""
        end = DECODER.raw_decode(self.text, self.list_of_events())[1] - 1
        return [self.bytes_before(at) for _, at in self.items(self.list_of_events())] + [
            self.bytes_before(end)
        ]

    def value(self, index: int, *keys: str) -> int:
        """Offset of the value at KEYS in the record that is member INDEX; for a text, after its
        quotation mark. UNKNOWN if the record is not JSON."""
        at = self.entry_place(index)
        try:
            for key in keys:
                at = next(place for name, place in self.items(at) if name == key)
        except ValueError:
            return UNKNOWN
        is_text = bool(keys) and self.text[at] == '"'
        return self.bytes_before(at + is_text)
