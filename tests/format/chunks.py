# SPDX-License-Identifier: Apache-2.0
"""Parse the bytes of recordings by docs/format.md: chunks, records, live directories.

A Recording has the contents of files and a live directory by segment; reader.py makes events from
it.
"""

import os
import struct

from xxh64 import xxh64

FILE_MAGIC, CHUNK_MAGIC = b"\x89OSC\r\n\x1a\n", b"OSCk"
TRAILER_MAGIC, LIVE_MAGIC = b"\x89OSCkEnd", b"oslive01"
UNKNOWN = (1 << 64) - 1

# kind: name, is timed, has an id, words
KINDS = {
    0x01: ("END", True, False, 0),
    0x02: ("INSTANT", True, True, 0),
    0x03: ("COUNTER_I64", True, True, 2),
    0x04: ("COUNTER_F64", True, True, 2),
    0x05: ("ALLOC", True, True, 2),
    0x06: ("FREE", True, True, 2),
    0x07: ("ALLOC_TOTAL", True, True, 4),
    0x08: ("FREE_TOTAL", True, True, 4),
    0x09: ("STEP_BEGIN", True, False, 2),
    0x0A: ("STEP_END", True, False, 0),
    0x0B: ("FLOW_BEGIN", True, False, 2),
    0x0C: ("FLOW_END", True, False, 2),
    0x0D: ("ASYNC_BEGIN", True, True, 2),
    0x0E: ("ASYNC_END", True, True, 2),
    0x0F: ("WORK", True, True, 8),
    0x10: ("DEVICE_CLOCK", True, True, 2),
    0x11: ("LAUNCH", True, False, 2),
    0x12: ("THREAD_NAME", True, True, 0),
    0x13: ("PAUSE", True, False, 0),
    0x14: ("RESUME", True, False, 0),
    0x15: ("LOST", True, True, 0),
    0x16: ("DEVICE", True, True, 4),
    0x17: ("DEVICE_NAME", True, True, 2),
    0x18: ("QUEUE", True, True, 2),
    0x19: ("METADATA", False, True, 0),
    0x1A: ("PROCESS_NAME", True, True, 0),
    0x1B: ("END_OF", True, True, 0),
    0x20: ("ARG_I64", False, True, 0),
    0x21: ("ARG_F64", False, True, 0),
    0x22: ("ARG_BOOL", False, True, 0),
    0x23: ("ARG_NAME", False, True, 0),
    0x24: ("ARG_I64S", False, True, 0),
    0x25: ("ARG_TEXT", False, True, 0),
    0x26: ("ARG_JSON", False, True, 0),
    0x27: ("ARGS", False, False, 0),
    0x28: ("ARG_STACK", False, True, 0),
}
for s in range(11):
    KINDS[0x40 + s] = ("BEGIN", True, True, 0)
    KINDS[0x60 + s] = ("COMPLETE", True, True, 2)


class Nonsense(Exception):
    """Bytes that are not in the format."""


# --- the file -----------------------------------------------------------------------


class Chunk:
    def __init__(self, offset, head):
        self.offset, self.head = offset, head
        (
            _,
            self.kind,
            _,
            self.size,
            self.payload_hash,
            self.n_items,
            self.n_before,
            self.first,
            self.last,
            _,
        ) = struct.unpack("<4sHHQQQQQQQ", head)

    @property
    def end(self):
        return self.offset + 64 + (self.size + 63) // 64 * 64


def is_header(head):
    return (
        len(head) == 64
        and head[:4] == CHUNK_MAGIC
        and xxh64(head[:56]) == int.from_bytes(head[56:], "little")
    )


def is_file_header(data):
    return data[:8] == FILE_MAGIC and xxh64(data[:56]) == int.from_bytes(data[56:64], "little")


class File:
    """The chunks of a file, and its damaged ranges: (offset, end, records, first, last)."""

    def __init__(self, data):
        self.data, self.chunks, self.damage = data, [], []
        self.is_cut = False
        self.header_is_good = is_file_header(data)
        if self.header_is_good and struct.unpack_from("<I", data, 8)[0] != 1:
            raise Nonsense("another version")
        if not self.header_is_good:
            self.damage.append((0, 64, 0, 0, 0))
        self.recording = data[16:32] if self.header_is_good else None
        self.has_index = self.read_index()
        if not self.has_index:
            self.chunks = []
            self.walk()

    def payload(self, chunk):
        data = self.data[chunk.offset + 64 : chunk.offset + 64 + chunk.size]
        return data if xxh64(data) == chunk.payload_hash else None

    def read_index(self):
        if len(self.data) < 144 or self.data[-8:] != TRAILER_MAGIC:
            return False
        at = int.from_bytes(self.data[-16:-8], "little")
        head = self.data[at : at + 64]
        if not is_header(head):
            return False
        index = Chunk(at, head)
        entries = self.payload(index)
        if index.kind != 1 or entries is None or len(entries) % 72:
            return False
        expected = 64
        for i in range(0, len(entries), 72):
            head = CHUNK_MAGIC + entries[i + 12 : i + 72]
            if not is_header(head) or int.from_bytes(entries[i : i + 8], "little") != expected:
                return False
            self.chunks.append(Chunk(expected, head))
            expected = self.chunks[-1].end
        return expected == at

    def walk(self):
        at, size = 64, len(self.data)
        n_records = last = 0
        hole = None  # where the damage began
        while at < size:
            head = self.data[at : at + 64]
            if not is_header(head):
                if size - at == 16 and self.data[-8:] == TRAILER_MAGIC:
                    at = size
                    break
                hole = at if hole is None else hole
                at += 64
                continue
            chunk = Chunk(at, head)
            if hole is not None:
                n = max(chunk.n_before - n_records, 0)
                self.damage.append((hole, at, n, last if n else 0, self.first_behind(at)))
                hole = None
            if chunk.offset + 64 + chunk.size > size:
                self.is_cut = True
                n = chunk.n_items if chunk.kind == 6 else 0
                self.damage.append((at, size, n, chunk.first, chunk.last))
                break
            if chunk.kind == 6:
                n_records = chunk.n_before + chunk.n_items
                last = chunk.last or last
            if chunk.kind != 1:
                self.chunks.append(chunk)
            at = chunk.end
        if hole is not None:
            self.damage.append((hole, size, 0, 0, 0))

    def forgive_torn(self):
        """Ignore an incomplete last chunk: the live directory still has its records."""
        if (
            self.damage
            and self.damage[-1][1] == len(self.data)
            and (self.is_cut or len(self.data) - self.damage[-1][0] < 64)
        ):
            self.damage.pop()
            self.is_cut = False

    def first_behind(self, at):
        while at < len(self.data):
            if is_header(self.data[at : at + 64]):
                chunk = Chunk(at, self.data[at : at + 64])
                if chunk.first:
                    return chunk.first
                at = chunk.end
            else:
                at += 64
        return 0


# --- records ------------------------------------------------------------------------


class Record:
    def __init__(self, kind):
        self.kind = kind
        self.name = KINDS[kind][0]
        self.ticks = self.ident = self.value = None
        self.words, self.data = [], b""

    @property
    def scope(self):
        return self.kind & 0x1F

    def __str__(self):
        parts = [self.name]
        if self.ticks is not None:
            parts.append(f"at {self.ticks}")
        if self.ident is not None:
            parts.append(f"id {self.ident}")
        if self.value is not None:
            parts.append(f"value {self.value}")
        return " ".join(parts + [str(w) for w in self.words])


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def as_double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Packed:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        if self.at >= len(self.data):
            raise Nonsense("the segment ends within a record")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        v = shift = 0
        while True:
            b = self.byte()
            v |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                if v >> 64:
                    raise Nonsense("a varint of more than 64 bits")
                return v

    def zigzag(self):
        v = self.varint()
        return v >> 1 if not v & 1 else -(v >> 1) - 1

    def double(self):
        return as_double(int.from_bytes(self.bytes(8), "little"))

    def bytes(self, n):
        if n > len(self.data) - self.at:
            raise Nonsense("the segment ends within a text")
        self.at += n
        return self.data[self.at - n : self.at]


def unpack_frames(p, n, stack):
    """Read N addresses, the innermost first; STACK: those of the previous stack."""
    n_same = p.varint()
    if n > 128 or n_same > min(n, len(stack)):
        raise Nonsense("a stack that cannot be")
    frames, last = [], stack[0] if stack else 0
    for _ in range(n - n_same):
        last = (last + p.zigzag()) % (1 << 64)
        frames.append(last)
    return frames + stack[len(stack) - n_same :]


def unpack(data, ticks):
    """The records of a segment, up to the first invalid one."""
    p = Packed(data)
    records, stack = [], []
    try:
        while p.at < len(data):
            kind = p.byte()
            if kind not in KINDS:
                raise Nonsense(f"a record of kind {kind:#x}")
            r = Record(kind)
            name, timed, has_id, n_words = KINDS[kind]
            if timed:
                ticks = r.ticks = (ticks + p.zigzag()) % (1 << 64)
            if has_id:
                r.ident = p.varint()
            if timed:
                for i in range(n_words):
                    if i == 0 and name == "COUNTER_I64":
                        r.words.append(p.zigzag())
                    elif i == 0 and name == "COUNTER_F64":
                        r.words.append(p.double())
                    else:
                        r.words.append(p.varint())
            elif name == "ARG_I64":
                r.value = p.zigzag()
            elif name == "ARG_F64":
                r.value = p.double()
            else:
                r.value = p.varint()
                if name == "ARG_STACK":
                    r.words = stack = unpack_frames(p, r.value, stack)
                elif name == "ARG_I64S":
                    r.words = [p.zigzag() for _ in range(r.value)]
                elif name in ("ARG_TEXT", "ARG_JSON"):
                    r.data = p.bytes(r.value)
            records.append(r)
    except Nonsense:
        return records, False
    return records, True


def n_slots_of(kind, value):
    name, _, _, n_words = KINDS[kind]
    if name in ("ARG_TEXT", "ARG_JSON"):
        return 1 + (value + 15) // 16
    if name in ("ARG_I64S", "ARG_STACK"):
        return 1 + (value + 1) // 2
    return 1 + n_words // 2


STANDING = ("DEVICE", "DEVICE_NAME", "QUEUE", "THREAD_NAME", "PROCESS_NAME", "METADATA")


def from_block(block, first, begin=0):
    """The records of a live block from slot FIRST and BEGIN on, the number of unfinished slots, and
    the earlier records that apply to everything after them."""
    tag, state, used = struct.unpack_from("<HBxI", block, 12)
    slots = [struct.unpack_from("<QQ", block, 32 + 16 * i) for i in range(1022)]
    end = min(used, 1022) if state == 2 else 1022
    records, standing, n_unfinished, pending, i = [], [], 0, 0, 0
    has_begun = begin == 0
    while i < end:
        value, word = slots[i]
        kind, n = word >> 48 & 0xFF, word >> 56
        if (
            word >> 32 & 0xFFFF != tag
            or kind not in KINDS
            or n != n_slots_of(kind, value)
            or i + n > end
        ):
            pending += i >= first
            i += 1
            continue
        name, timed, has_id, n_words = KINDS[kind]
        if not has_begun:
            n_unfinished, pending = 0, 0
            has_begun = timed and value >= begin + (name in ("END", "END_OF", "STEP_END"))
        is_wanted = has_begun and i >= first
        if not is_wanted and name not in STANDING:
            i += n
            continue
        n_unfinished, pending = n_unfinished + (pending if is_wanted else 0), 0
        r = Record(kind)
        raw = block[32 + 16 * (i + 1) : 32 + 16 * (i + n)]
        words = list(struct.unpack(f"<{len(raw) // 8}Q", raw))
        if has_id:
            r.ident = word & 0xFFFFFFFF
        if timed:
            r.ticks, r.words = value, words[:n_words]
            if name == "COUNTER_I64":
                r.words[0] = signed(words[0])
            elif name == "COUNTER_F64":
                r.words[0] = as_double(words[0])
        elif name == "ARG_I64":
            r.value = signed(value)
        elif name == "ARG_F64":
            r.value = as_double(value)
        else:
            r.value = value
            if name == "ARG_STACK":
                r.words = words[:value]
                while r.words and r.words[-1] == 0:
                    r.words.pop()
            elif name == "ARG_I64S":
                r.words = [signed(w) for w in words[:value]]
            elif name in ("ARG_TEXT", "ARG_JSON"):
                r.data = raw[:value]
        (records if is_wanted else standing).append(r)
        i += n
    return records, n_unfinished + (pending if state == 2 else 0), standing


# --- a recording ----------------------------------------------------------------------


class Live:
    """The contents of a live directory."""

    def __init__(self, path):
        with open(os.path.join(path, "blocks"), "rb") as f:
            data = f.read()
        with open(os.path.join(path, "strings"), "rb") as f:
            log = f.read()
        if data[:8] != LIVE_MAGIC:
            raise Nonsense("nothing is there yet")
        (_, _, _, n_blocks, self.state, self.pid, n_threads) = struct.unpack_from(
            "<8sIIIIII", data
        )
        self.recording = data[32:48]
        *self.lost, n_anchors = struct.unpack_from("<5Q", data, 48)
        self.anchors = [
            struct.unpack_from("<QQqqqq", data, 88 + 48 * i) for i in range(min(n_anchors, 32))
        ]
        (self.window_begin,) = struct.unpack_from("<Q", data, 1624)
        self.lost_gone = struct.unpack_from("<4Q", data, 1640)
        self.lost_before = struct.unpack_from("<4Q", data, 1760)
        self.standing = b""
        if os.path.exists(os.path.join(path, "standing")):
            with open(os.path.join(path, "standing"), "rb") as f:
                standing = f.read()
            magic, used, _, *recording = struct.unpack_from(
                "<8sQQ8s8s", standing.ljust(64, b"\0")
            )
            if (
                magic == LIVE_MAGIC
                and b"".join(recording) == self.recording
                and 64 < used <= len(standing)
            ):
                self.standing = standing[64:used]
        self.threads = []
        for i in range(n_threads):
            state, tid, ordinal, *lost = struct.unpack_from("<IIQ4Q", data, 4096 + 64 * i)
            if state:
                self.threads.append((ordinal, tid, lost))
        self.blocks = []
        for i in range(n_blocks):
            block = data[(1 << 20) + 16384 * i : (1 << 20) + 16384 * (i + 1)]
            seq, thread, tag = struct.unpack_from("<QIH", block)
            if tag == seq & 0xFFFF and tag and block[14]:
                tid, written = struct.unpack_from("<II", block, 24)
                self.blocks.append((seq, thread, tid, written, block))
        self.log = log[: int.from_bytes(log[8:16], "little")]


class Recording:
    def __init__(self):
        self.facts, self.anchors, self.pieces, self.lost = {}, [], [], {}
        self.modules = []  # (start, end, offset in the file, name), in order
        self.tids = {}  # ordinal -> tid
        self.segments = []  # (thread, seq, first slot, n slots, chunk, records)
        self.end = None
        self.lost_no_thread, self.n_unfinished = [0] * 4, 0
        self.records_before, self.lost_before = 0, [0] * 4  # in parts that are missing
        self.lost_elsewhere = [0] * 4  # of what the live directory counts
        self.damage = []  # (offset, end, records, first ticks, last ticks)
        self.is_cut = False
        self.breaks = []  # chunks before which records are missing
        self.n_chunks = 0  # in the files so far

    def add_file(self, file):
        self.damage += file.damage
        self.is_cut = file.is_cut
        base, self.n_chunks = self.n_chunks, self.n_chunks + len(file.chunks)
        self.end = None
        for start, _, n, _, _ in file.damage:
            if n:
                self.breaks.append(base + sum(c.offset < start for c in file.chunks))
        for i, chunk in enumerate(file.chunks):
            data = file.payload(chunk)
            if data is None and 2 <= chunk.kind <= 9:
                n = chunk.n_items if chunk.kind == 6 else 0
                self.damage.append((chunk.offset, chunk.end, n, chunk.first, chunk.last))
                if n:
                    self.breaks.append(base + i + 1)
            elif chunk.kind == 2:
                self.add_facts(data)
            elif chunk.kind == 3:
                self.anchors += struct.iter_unpack("<QQqqqq", data)
            elif chunk.kind == 4:
                self.pieces.append((int.from_bytes(data[:8], "little"), data[8:]))
            elif chunk.kind == 5:
                for ordinal, tid, _, *lost in struct.iter_unpack("<QII4Q", data):
                    self.add_thread(ordinal, tid, lost)
            elif chunk.kind == 6:
                self.add_segments(data, base + i, has_copies=base == 0)
            elif chunk.kind == 7:
                self.end = struct.unpack_from("<I4xQ", data)
                self.lost_no_thread = [
                    max(a, b)
                    for a, b in zip(self.lost_no_thread, struct.unpack_from("<4Q", data, 16))
                ]
            elif chunk.kind == 8:
                self.add_modules(data)
            elif chunk.kind == 9 and base == 0:
                self.records_before, *self.lost_before = struct.unpack_from("<5Q", data)

    def add_modules(self, data):
        at = 0
        while at < len(data):
            start, end, offset, _, _, n, _ = struct.unpack_from("<QQQQqII", data, at)
            path = data[at + 48 : at + 48 + n].decode(errors="replace")
            self.modules.append((start, end, offset, path.rpartition("/")[2]))
            at += 48 + n + -n % 8

    def frame(self, address):
        """The name of the call that returns to ADDRESS, without symbols."""
        address -= 1
        for start, end, offset, name in reversed(self.modules):
            if start <= address < end:
                return f"{name}+{address - start + offset:#x}".replace(";", ",")
        return f"{address % (1 << 64):#x}"

    def add_facts(self, data):
        at = 0
        while at < len(data):
            k, v = struct.unpack_from("<II", data, at)
            key, value = data[at + 8 : at + 8 + k], data[at + 8 + k : at + 8 + k + v]
            self.facts[key.decode()] = value.decode(errors="replace")
            at += 8 + k + v

    def add_thread(self, ordinal, tid, lost):
        self.tids[ordinal & 0xFFFFFFFF] = tid
        known = self.lost.setdefault(ordinal, [0] * 4)
        self.lost[ordinal] = [max(a, b) for a, b in zip(known, lost)]

    def losses(self):
        """How many records were lost, by cause."""
        of_threads = [sum(lost[cause] for lost in self.lost.values()) for cause in range(4)]
        return [
            max(threads + others + before - elsewhere, 0)
            for threads, others, before, elsewhere in zip(
                of_threads, self.lost_no_thread, self.lost_before, self.lost_elsewhere
            )
        ]

    def add_segments(self, data, chunk, has_copies):
        at = 0
        while at < len(data):
            (seq, thread, first, n_slots, _, ticks, n_bytes, n_unfinished) = struct.unpack_from(
                "<QIIIIQII", data, at
            )
            records, _ = unpack(data[at + 40 : at + 40 + n_bytes], ticks)
            if n_slots or has_copies:
                self.segments.append((thread, seq, first, n_slots, chunk, records))
            self.n_unfinished += n_unfinished
            at += 40 + n_bytes

    def add_live(self, live):
        last = self.n_chunks + 1
        self.anchors += live.anchors
        self.pieces.append((64, live.log[64:]))
        for ordinal, tid, lost in live.threads:
            self.add_thread(ordinal, tid, lost)
        self.lost_no_thread = [max(a, b) for a, b in zip(self.lost_no_thread, live.lost)]
        self.facts.setdefault("pid", str(live.pid))
        self.lost_before = [a + b for a, b in zip(self.lost_before, live.lost_gone)]
        self.lost_elsewhere = live.lost_before
        is_all = not self.segments
        if is_all:
            self.add_segments(live.standing, 0, has_copies=True)
        for seq, thread, tid, written, block in live.blocks:
            first = max([written] + [s[2] + s[3] for s in self.segments if s[1] == seq])
            records, n, standing = from_block(block, first, live.window_begin)
            self.n_unfinished += n
            if is_all and standing:
                self.segments.append((thread, seq, 0, 0, 0, standing))
            self.tids.setdefault(thread, tid)
            self.segments.append((thread, seq, first, 1022, last, records))

    def name(self, number):
        data = self.bytes_of(number)
        return f"name {number}" if data is None else data.decode(errors="replace")

    def bytes_of(self, number):
        """The bytes of a name, or None if they are lost."""
        if number == 0:
            return b""
        for start, piece in sorted(self.pieces, key=lambda p: (p[0], len(p[1])), reverse=True):
            at = number * 8 - start
            if at < 0 or at + 8 > len(piece):
                continue
            length, low = struct.unpack_from("<II", piece, at)
            text = piece[at + 8 : at + 8 + length - 1]
            if length and len(text) == length - 1 and xxh64(text) & 0xFFFFFFFF == low:
                return text
        return None

    def ordered(self):
        """Every segment as (thread, records); those of a thread in the order of its calls."""
        due, latest, done = [], {}, {}
        for s in sorted(self.segments, key=lambda s: (s[0], s[1], s[2], s[4])):
            thread, seq, first, n_slots, chunk, records = s
            if first < done.get((thread, seq), 0):
                continue
            done[thread, seq] = first + n_slots
            latest[thread] = max(latest.get(thread, 0), chunk)
            due.append((latest[thread], seq, thread, first, records))
        due.sort(key=lambda d: d[:4])
        return due

    # --- time --------------------------------------------------------------------

    def settle_clock(self):
        kept = []
        for a in sorted(self.anchors, key=lambda a: a[0]):
            if a[2] >= 0 and (not kept or (a[0] != kept[-1][0] and a[2] >= kept[-1][2])):
                kept.append(a)
        self.anchors = kept

    def ns(self, ticks):
        kept = self.anchors
        if len(kept) < 2:
            hz = int(self.facts.get("ticks_hz", 10**9))
            start, base = (kept[0][0], kept[0][2]) if kept else (0, 0)
            return base + (ticks - start) * 10**9 // hz
        i = max([k for k in range(len(kept) - 1) if kept[k][0] <= ticks], default=0)
        a, b = kept[i], kept[i + 1]
        return a[2] + (ticks - a[0]) * (b[2] - a[2]) // (b[0] - a[0])
