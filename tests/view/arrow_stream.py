# SPDX-License-Identifier: Apache-2.0
"""Read an Arrow IPC stream, by the text of the format: no library is needed.

FlatBuffers: flatbuffers.dev/internals; messages: Schema.fbs and Message.fbs of Arrow.
"""

import struct


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def place(self, field):
        """Where FIELD is; None: it is left out."""
        vtable = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        (size,) = struct.unpack_from("<H", self.data, vtable)
        at = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, vtable + at)[0] if at < size else 0
        return self.at + offset if offset else None

    def number(self, field, code, otherwise=0):
        at = self.place(field)
        if at is None:
            return otherwise
        assert at % struct.calcsize(code) == 0, (field, at)
        return struct.unpack_from("<" + code, self.data, at)[0]

    def follow(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        return Table(self.data, self.follow(self.place(field)))

    def text(self, field):
        at = self.follow(self.place(field))
        (n,) = struct.unpack_from("<I", self.data, at)
        assert self.data[at + 4 + n] == 0
        return self.data[at + 4 : at + 4 + n].decode()

    def tables(self, field):
        at = self.follow(self.place(field))
        (n,) = struct.unpack_from("<I", self.data, at)
        return [Table(self.data, self.follow(at + 4 + 4 * i)) for i in range(n)]

    def pairs(self, field):
        at = self.follow(self.place(field))
        (n,) = struct.unpack_from("<I", self.data, at)
        assert (at + 4) % 8 == 0
        return [struct.unpack_from("<qq", self.data, at + 4 + 16 * i) for i in range(n)]

    def words(self, field):
        return {pair.text(0): pair.text(1) for pair in self.tables(field)}


def messages(data):
    """(the Message, its body) until the end of the stream, after which nothing may be."""
    at = 0
    while True:
        mark, n = struct.unpack_from("<II", data, at)
        assert mark == 0xFFFFFFFF and n % 8 == 0, at
        at += 8
        if n == 0:
            assert at == len(data)
            return
        message = Table(data[at : at + n], struct.unpack_from("<I", data, at)[0])
        assert message.number(0, "h") == 4  # version 5
        size = message.number(3, "q")
        assert size % 8 == 0
        yield message, data[at + n : at + n + size]
        at += n + size


def type_of(field):
    number, kind = field.number(2, "B"), field.table(3)
    if number == 2:
        assert kind.number(0, "i") == 64 and kind.number(1, "B") == 1
        return "integer"
    if number == 3:
        assert kind.number(0, "h") == 2
        return "number"
    return {5: "string", 6: "boolean"}[number]


def bits(data, n):
    assert len(data) == (n + 7) // 8
    return [data[i // 8] >> i % 8 & 1 for i in range(n)]


def values_of(kind, n, n_missing, buffers):
    """The N values of a column of type KIND out of its BUFFERS."""
    valid = next(buffers)
    if kind == "string":
        ends, blob = struct.unpack(f"<{n + 1}i", next(buffers)), next(buffers)
        assert ends[0] == 0 and ends[-1] == len(blob)
        values = [blob[a:b].decode() for a, b in zip(ends, ends[1:])]
    elif kind == "boolean":
        values = [bool(b) for b in bits(next(buffers), n)]
    else:
        values = list(struct.unpack(f"<{n}{'q' if kind == 'integer' else 'd'}", next(buffers)))
    if not n_missing:
        assert valid == b""
        return values
    there = bits(valid, n)
    assert there.count(0) == n_missing
    return [v if b else None for v, b in zip(values, there)]


def decode(data):
    """(what the schema says, [(name, type, unit, help)], rows, sizes of batches) of a stream."""
    found = messages(data)
    message, body = next(found)
    assert message.number(1, "B") == 1 and body == b""
    schema = message.table(2)
    assert schema.number(0, "h") == 0
    columns, rows, sizes = [], [], []
    for field in schema.tables(1):
        assert field.number(1, "B") == 1 and field.tables(5) == []
        said = field.words(6)
        columns.append((field.text(0), type_of(field), said.get("unit"), said["help"]))
    for message, body in found:
        assert message.number(1, "B") == 3
        batch = message.table(2)
        nodes, places = batch.pairs(1), batch.pairs(2)
        assert all(at % 8 == 0 and at + n <= len(body) for at, n in places)
        buffers = iter([body[at : at + n] for at, n in places])
        n = batch.number(0, "q")
        assert n > 0 and len(nodes) == len(columns)
        own = []
        for column, (length, n_missing) in zip(columns, nodes):
            assert length == n
            own.append(values_of(column[1], n, n_missing, buffers))
        assert next(buffers, None) is None
        rows += [list(row) for row in zip(*own)]
        sizes.append(n)
    return schema.words(2), columns, rows, sizes
