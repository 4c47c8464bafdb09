# SPDX-License-Identifier: Apache-2.0
"""Make recordings: any records, in any order, and live directories.

    r = Recording()
    t = r.thread(tid=71)
    t.begin(OPERATOR, "conv2d", 1000)
    t.end(2000)
    r.write("a.osc")

It can also write recordings that the recorder would never write, which is its purpose.
"""

import os
import struct

from xxh64 import xxh64

(
    PLAIN,
    OPERATOR,
    ANNOTATION,
    MODULE,
    RUNTIME,
    DRIVER,
    COMMUNICATION,
    DATALOADER,
    OPTIMIZER,
    PYTHON,
    OVERHEAD,
) = range(11)

(
    END,
    INSTANT,
    COUNTER_I64,
    COUNTER_F64,
    ALLOC,
    FREE,
    ALLOC_TOTAL,
    FREE_TOTAL,
    STEP_BEGIN,
    STEP_END,
    FLOW_BEGIN,
    FLOW_END,
    ASYNC_BEGIN,
    ASYNC_END,
    WORK,
    DEVICE_CLOCK,
    LAUNCH,
    THREAD_NAME,
    PAUSE,
    RESUME,
    LOST,
    DEVICE,
    DEVICE_NAME,
    QUEUE,
    METADATA,
    PROCESS_NAME,
    END_OF,
) = range(1, 0x1C)
(ARG_I64, ARG_F64, ARG_BOOL, ARG_NAME, ARG_I64S, ARG_TEXT, ARG_JSON, ARGS, ARG_STACK) = range(
    0x20, 0x29
)
BEGIN, COMPLETE = 0x40, 0x60

M = (1 << 64) - 1
UNKNOWN = M
RECORDING = (0x1122334455667788, 0x99AABBCCDDEEFF00)
INDEX, PROCESS, CLOCK, STRINGS, THREADS, RECORDS, END_CHUNK, MODULES = range(1, 9)


def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def zigzag(v):
    v &= M
    return (v << 1 ^ -(v >> 63)) & M


def f64(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def packed_frames(frames, stack):
    """The bytes after the number of FRAMES; STACK is the previous stack."""
    n_same = 0
    while n_same < min(len(frames), len(stack)) and frames[-1 - n_same] == stack[-1 - n_same]:
        n_same += 1
    out, last = varint(n_same), stack[0] if stack else 0
    for address in frames[: len(frames) - n_same]:
        out += varint(zigzag(address - last))
        last = address
    return out


class Record:
    """The record of one call: KIND; TICKS if it is timed; ID; VALUE or WORDS; BYTES of a text."""

    def __init__(self, kind, ticks=None, ident=None, value=None, words=(), data=b""):
        self.kind, self.ticks, self.ident, self.value = kind, ticks, ident, value
        self.words, self.data = list(words), data

    def packed(self, before, stack=()):
        """BEFORE and STACK are the last time and frames in the segment."""
        out = bytes([self.kind])
        if self.ticks is not None:
            out += varint(zigzag(self.ticks - before))
        if self.ident is not None:
            out += varint(self.ident)
        words = [w & M for w in self.words]
        if self.ticks is None:
            value = self.value & M
            if self.kind == ARG_F64:
                return out + struct.pack("<Q", value)
            out += varint(zigzag(value) if self.kind == ARG_I64 else value)
            if self.kind == ARG_STACK:
                return out + packed_frames(words, stack)
            if self.kind == ARG_I64S:
                return out + b"".join(varint(zigzag(w)) for w in words)
            return out + self.data
        for i, word in enumerate(words):
            if i == 0 and self.kind == COUNTER_F64:
                out += struct.pack("<Q", word)
            else:
                out += varint(zigzag(word) if i == 0 and self.kind == COUNTER_I64 else word)
        return out

    def slots(self, tag):
        """Its slots in a block."""
        body = self.data
        if self.words:
            body = b"".join(struct.pack("<Q", w & M) for w in self.words)
        body += bytes(-len(body) % 16)
        n = 1 + len(body) // 16
        value = self.ticks if self.ticks is not None else self.value
        word = (self.ident or 0) | tag << 32 | self.kind << 48 | n << 56
        return struct.pack("<QQ", value & M, word) + body


def packed_module(start, end, offset, path):
    head = struct.pack("<QQQQqII", start, end, offset, 0, 0, len(path), 0)
    return head + path.encode() + bytes(-len(path) % 8)


class Thread:
    def __init__(self, recording, ordinal, tid):
        self.recording, self.ordinal, self.tid = recording, ordinal, tid
        self.records = []  # of the block being filled
        self.lost = [0, 0, 0, 0]

    def add(self, *args, **kwargs):
        self.records.append(Record(*args, **kwargs))

    def name(self, text):
        return self.recording.name(text)

    def begin(self, kind, name, ticks):
        self.add(BEGIN + kind, ticks, self.name(name))

    def end(self, ticks):
        self.add(END, ticks)

    def end_of(self, begun, ticks):
        """The scope that began at BEGUN, on any thread, ends."""
        self.add(END_OF, ticks, begun & 0xFFFFFFFF)

    def complete(self, kind, name, start, end):
        self.add(COMPLETE + kind, start, self.name(name), words=(end - start, 0))

    def instant(self, name, ticks):
        self.add(INSTANT, ticks, self.name(name))

    def arg(self, key, value):
        key = self.name(key)
        if isinstance(value, bool):
            self.add(ARG_BOOL, None, key, int(value))
        elif isinstance(value, int):
            self.add(ARG_I64, None, key, value)
        elif isinstance(value, float):
            self.add(ARG_F64, None, key, f64(value))
        elif isinstance(value, list):
            self.add(ARG_I64S, None, key, len(value), value)
        else:
            data = value.encode() if isinstance(value, str) else value
            self.add(ARG_TEXT, None, key, len(data), data=data)

    def json(self, key, text):
        self.add(ARG_JSON, None, self.name(key), len(text), data=text.encode())

    def args(self, pairs):
        names = [self.name(x) for pair in pairs for x in pair]
        self.add(ARGS, None, None, self.name(struct.pack(f"<{len(names)}I", *names)))

    def stack(self, frames, end=0):
        self.add(ARG_STACK, None, end, len(frames), frames)

    def arg_name(self, key, value):
        self.add(ARG_NAME, None, self.name(key), self.name(value))

    def flush(self, chunk=True):
        """Make a block of the records since the last flush, and a chunk with only this block."""
        segment = Segment(self, self.records)
        self.records = []
        if chunk:
            self.recording.chunks.append([segment])
        return segment


class Segment:
    def __init__(self, thread, records):
        recording = thread.recording
        recording.n_blocks += 1
        self.thread, self.records = thread, records
        self.seq = recording.n_blocks
        self.first, self.unfinished, self.is_copy = 0, 0, False

    def n_slots(self):
        return sum(len(r.slots(0)) // 16 for r in self.records)

    def heads(self):
        """The first slot of each record."""
        at, heads = 0, []
        for r in self.records:
            heads.append(at)
            at += len(r.slots(0)) // 16
        return heads

    def packed(self):
        timed = [r.ticks for r in self.records if r.ticks is not None]
        start = before = timed[0] if timed else 0
        out = b""
        stack = []
        for r in self.records:
            out += r.packed(before, stack)
            stack = r.words if r.kind == ARG_STACK else stack
            before = r.ticks if r.ticks is not None else before
        head = struct.pack(
            "<QIIIIQII",
            self.seq,
            self.thread.ordinal,
            self.first,
            0 if self.is_copy else self.n_slots(),
            len(self.records),
            start,
            len(out),
            self.unfinished,
        )
        return head + out

    def times(self):
        ends = [
            r.ticks + (r.words[0] if r.kind >= COMPLETE else 0)
            for r in self.records
            if r.ticks is not None
        ]
        starts = [r.ticks for r in self.records if r.ticks is not None]
        return (min(starts), max(ends)) if starts else None


class Recording:
    def __init__(self, pid=4242, recording=RECORDING, part=1):
        self.pid, self.recording, self.part = pid, recording, part
        self.log = bytearray(64)  # of names, with the header of its file
        self.names = {b"": 0}
        self.threads, self.chunks = [], []
        self.n_blocks = 0
        self.lost = [0, 0, 0, 0]  # by no thread
        self.anchors = []
        self.window_begin = 0  # of the live directory
        self.lost_before = [0, 0, 0, 0]
        self.modules = []  # lists of (start, end, offset in the file, path)
        self.facts = {
            "pid": str(pid),
            "host": "example",
            "opscope_version": "0.1.0",
            "boot_id": "11111111-2222-3333-4444-555555555555",
        }

    def name(self, text):
        data = text.encode() if isinstance(text, str) else text
        if data not in self.names:
            self.names[data] = len(self.log) // 8
            self.log += struct.pack("<II", len(data) + 1, xxh64(data) & 0xFFFFFFFF) + data
            self.log += bytes(-len(self.log) % 8)
        return self.names[data]

    def thread(self, tid):
        self.threads.append(Thread(self, len(self.threads) + 1, tid))
        return self.threads[-1]

    def anchor(self, ticks, monotonic_ns, realtime_ns=None, width=40):
        realtime_ns = (
            monotonic_ns + 1_700_000_000_000_000_000 if realtime_ns is None else realtime_ns
        )
        self.anchors.append(
            struct.pack(
                "<QQqqqq", ticks, width, monotonic_ns, monotonic_ns, realtime_ns, monotonic_ns
            )
        )

    # --- the file --------------------------------------------------------------

    def header(self, version=1):
        head = b"\x89OSC\r\n\x1a\n" + struct.pack(
            "<IIQQIIQQ", version, 64, *self.recording, self.part, 0, 0, 0
        )
        return head + struct.pack("<Q", xxh64(head))

    def chunk(self, kind, payload, n_items, n_before, times=None):
        first, last = times or (0, 0)
        head = struct.pack(
            "<IHHQQQQQQ",
            0x6B43534F,
            kind,
            0,
            len(payload),
            xxh64(payload),
            n_items,
            n_before,
            first,
            last,
        )
        head += struct.pack("<Q", xxh64(head))
        return head + payload + bytes(-len(payload) % 64)

    def content(self, index=True, end=1, strings_at=0, order=None):
        """The bytes of the file. ORDER is that of the chunks of records; END is a reason, or 0."""
        for t in self.threads:
            if t.records:
                t.flush()
        facts = b"".join(
            struct.pack("<II", len(k), len(v)) + k + v
            for k, v in ((k.encode(), v.encode()) for k, v in self.facts.items())
        )
        threads = b"".join(
            struct.pack("<QII4Q", t.ordinal, t.tid, 1, *t.lost) for t in self.threads
        )
        parts, n_before, last = [], 0, 0

        def add(kind, payload, n_items, times=None):
            parts.append(self.chunk(kind, payload, n_items, n_before, times))

        add(PROCESS, facts, len(self.facts))
        if self.anchors:
            add(CLOCK, b"".join(self.anchors), len(self.anchors))
        add(STRINGS, struct.pack("<Q", 64) + bytes(self.log[64:]), len(self.names) - 1)
        add(THREADS, threads, len(self.threads))
        for modules in self.modules:
            add(MODULES, b"".join(packed_module(*m) for m in modules), len(modules))
        for i in range(len(self.chunks)) if order is None else order:
            segments = self.chunks[i]
            n = sum(len(s.records) for s in segments)
            times = [s.times() for s in segments if s.times()]
            span = (min(a for a, _ in times), max(b for _, b in times)) if times else None
            add(RECORDS, b"".join(s.packed() for s in segments), n, span)
            n_before += n
            last = span[1] if span else last
        if end:
            add(END_CHUNK, struct.pack("<IIQ4Q", end, 0, last, *self.lost), 1, (last, last))
        out = self.header() + b"".join(parts)
        if index:
            entries, at = b"", 64
            for p in parts:
                entries += struct.pack("<Q", at) + bytes(4) + p[4:64]
                at += len(p)
            out += self.chunk(INDEX, entries, len(parts), n_before)
            out += struct.pack("<QQ", at, 0x646E456B43534F89)
        return out

    def write(self, path, **kwargs):
        with open(path, "wb") as f:
            f.write(self.content(**kwargs))

    # --- the live directory -----------------------------------------------------

    def live(self, blocks, state=1, pid=None, torn=()):
        """The files `blocks` and `strings`. BLOCKS: (segment, is_full); TORN: unfinished slots as
        (block, slot)."""
        header = struct.pack(
            "<QIIIIIIQQ4QQ",
            0x31306576696C736F,
            1,
            16384,
            len(blocks),
            state,
            self.pid if pid is None else pid,
            len(self.threads),
            *self.recording,
            *self.lost,
            len(self.anchors),
        )
        header += b"".join(self.anchors[:32])
        out = bytearray(header.ljust(1624, b"\0") + struct.pack("<Q", self.window_begin))
        out = out.ljust(1760, b"\0") + struct.pack("<4Q", *self.lost_before)
        out = out.ljust(4096, b"\0")
        for t in self.threads:
            out += struct.pack("<IIQ4QQQ", 1, t.tid, t.ordinal, *t.lost, 0, 0)
        out = bytearray(bytes(out).ljust(1 << 20, b"\0"))
        for i, (segment, is_full) in enumerate(blocks):
            tag = segment.seq & 0xFFFF
            slots = bytearray(b"".join(r.slots(tag) for r in segment.records))
            for block, slot in torn:
                if block == i:
                    struct.pack_into("<H", slots, slot * 16 + 12, 0)
            out += struct.pack(
                "<QIHBBIIII",
                segment.seq,
                segment.thread.ordinal,
                tag,
                2 if is_full else 1,
                0,
                len(slots) // 16 if is_full else 0,
                0,
                segment.thread.tid,
                0,
            )
            out += bytes(slots).ljust(1022 * 16, b"\0")
        head = struct.pack(
            "<QQQQQ", 0x31306576696C736F, len(self.log), len(self.log), *self.recording
        )
        return bytes(out), head.ljust(64, b"\0") + bytes(self.log[64:])

    def write_live(self, path, blocks, **kwargs):
        """Write the live directory of the recording at PATH, and return its path; arguments as for
        live()."""
        directory = path + ".live"
        os.mkdir(directory)
        for name, content in zip(("blocks", "strings"), self.live(blocks, **kwargs)):
            with open(os.path.join(directory, name), "wb") as f:
                f.write(content)
        return directory
