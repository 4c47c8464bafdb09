# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of exports: the command, a count of checks, traces of any bytes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

# Every byte, and sequences that may end a string, a line or a file too early.
NASTY = [bytes([b]) for b in range(256)] + [
    b'\\"',
    b"\\\\",
    b"\\n",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\u0000",
    b"\\x",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x80\xa8",
    b"</script>",
    b"},\n{",
    b"],",
    b"'",
]


def run(opscope: Path, *words: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(opscope), *map(str, words)], capture_output=True, check=False, timeout=600
    )


def nasty_trace(seed: int) -> bytes:
    """A trace whose names, categories, keys and values are any bytes, unescaped."""
    rng = random.Random(seed)

    def word() -> bytes:
        return b"".join(
            rng.choice(NASTY) if rng.random() < 0.5 else b"op"
            for _ in range(rng.randrange(1, 6))
        )

    def value() -> bytes:
        return rng.choice(
            (
                lambda: b'"' + word() + b'"',
                lambda: b'["' + word() + b'", [1, {"a": 2}]]',
                lambda: b"1e400",
                lambda: b"123456789012345678901234567890",
                lambda: b"-0.0",
                lambda: b"1.0",
                lambda: b"0.1",
                lambda: b"-9223372036854775808",
                lambda: b"NaN",
                lambda: b"null",
                lambda: b"true",
                lambda: b"[NaN]",
                lambda: b"{}",
            )
        )()

    def record(ts: int) -> bytes:
        ph = rng.choice("XXXXBEbeiICstfMn").encode()
        args = b", ".join(b'"' + word() + b'": ' + value() for _ in range(rng.randrange(4)))
        return (
            b'{"ph": "'
            + ph
            + b'", "cat": "'
            + word()
            + b'", "name": "'
            + word()
            + b'", "pid": '
            + rng.choice((b"1", b'"1"', b'"a\\"b"', b"-3", b'"007"', b"null"))
            + b', "tid": '
            + rng.choice((b"1", b"2", b'"x"', b"18446744073709551616"))
            + b', "ts": '
            + rng.choice((b"%d", b"%d.001", b"%d.9995", b"-%d.5")) % ts
            + b', "dur": '
            + rng.choice((b"5", b"0.0015", b"-1", b'"3"'))
            + b', "id": '
            + rng.choice((b"1", b'"1"', b'"\x80"'))
            + b', "args": {'
            + args
            + b"}}"
        )

    head = rng.choice(
        (b"[\n", b'{"schemaVersion": 1, "a\x01": "b\xff", "x": [NaN], "traceEvents": [\n')
    )
    tail = b"]}" if head[:1] == b"{" else b"]"
    records = [record(i) for i in range(rng.randrange(1, 60))]
    # A quote in a name breaks a record; of one without any that is whole nothing would be left.
    records.append(b'{"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": 99, "dur": 1}')
    return head + b",\n".join(records) + tail


class Tally:
    """Counts the checks of one trace."""

    def __init__(self) -> None:
        self.passed, self.failed, self.lines = 0, 0, []

    def expect(self, is_good: bool, *words: object) -> None:
        if is_good:
            self.passed += 1
        else:
            self.failed += 1
            self.lines.append("FAILED " + "  ".join(str(w)[:400] for w in words))
