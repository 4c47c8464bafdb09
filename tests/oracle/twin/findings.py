# SPDX-License-Identifier: Apache-2.0
"""Errors in the members of one record of any phase."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from . import exact
from .tolerant import Word

INT64 = range(-(2**63), 2**63)
# Escaped halves of surrogate pairs. Bytes that are not UTF-8 are DC80 to DCFF.
HALF_PAIR = re.compile("[\ud800-\udbff\udc00-\udc7f\udd00-\udfff]")


def of_record(record: dict, since_us: int = 0) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Errors as (quality code, keys of the value), in the order of the record."""
    for key, value in record.items():
        if key == "ph":
            continue
        code = of_member(key, value, since_us if key == "ts" else 0)
        needs_no_time = record.get("ph") == "M" and since_us != 0 and key == "ts"
        if code and not (needs_no_time and code == "out_of_range"):
            yield code, (key,)
        if key == "args" and isinstance(value, dict):
            for name, argument in value.items():
                code = of_argument(argument)
                if code:
                    yield code, (key, name)


def of_member(key: str, value: object, since_us: int = 0) -> str | None:
    """The error in VALUE of member KEY, or None."""
    if key in ("name", "cat"):
        if not isinstance(value, str) or isinstance(value, Word):
            return "wrong_type"
        return of_text(value)
    if key in ("pid", "tid"):
        return "wrong_type" if value is None or isinstance(value, (list, dict)) else None
    if key in ("ts", "dur"):
        return of_time(value, since_us)
    if key == "args":
        return None if value is None or isinstance(value, dict) else "wrong_type"
    return of_argument(value)


def of_time(value: object, since_us: int = 0) -> str | None:
    """Times must be numbers, also as texts, of up to 64 bits of nanoseconds."""
    time = exact.number(value)
    if time is None:
        return "wrong_type"
    time -= since_us
    is_far = abs(time.numerator) * 1000 > INT64[-1] * time.denominator
    return "out_of_range" if is_far else None


def of_argument(value: object) -> str | None:
    """Arguments may be anything except bare words, and numbers have limits."""
    if isinstance(value, Word):
        return "wrong_type"
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if value in INT64 else "out_of_range"
    if isinstance(value, Decimal):
        return "out_of_range" if float(value) in (float("inf"), float("-inf")) else None
    return of_text(value) if isinstance(value, str) else None


def of_text(value: str) -> str | None:
    """Half a surrogate pair is not a valid text."""
    return "not_utf8" if HALF_PAIR.search(value) else None


def is_utf8(name: str) -> bool:
    """Whether the bytes that NAME came from are UTF-8 (half a pair became U+FFFD)."""
    return not re.search("[\udc80-\udcff]", name)
