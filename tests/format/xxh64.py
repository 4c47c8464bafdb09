# SPDX-License-Identifier: Apache-2.0
"""XXH64 with seed 0, written from its specification: slow, but nothing to install."""

import struct

M = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & M


def step(acc, lane):
    return rotate((acc + lane * P2) & M, 31) * P1 & M


def xxh64(data):
    n, at = len(data), 0
    if n >= 32:
        a, b, c, d = (P1 + P2) & M, P2, 0, -P1 & M
        for w, x, y, z in struct.iter_unpack("<4Q", data[: n // 32 * 32]):
            a, b, c, d = step(a, w), step(b, x), step(c, y), step(d, z)
        at = n // 32 * 32
        h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) & M
        for v in (a, b, c, d):
            h = ((h ^ step(0, v)) * P1 + P4) & M
    else:
        h = P5
    h = (h + n) & M
    while at + 8 <= n:
        h = (rotate(h ^ step(0, int.from_bytes(data[at : at + 8], "little")), 27) * P1 + P4) & M
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ int.from_bytes(data[at : at + 4], "little") * P1 & M, 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32
