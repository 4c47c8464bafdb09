# SPDX-License-Identifier: Apache-2.0
"""Exact time: decimal microseconds to integer nanoseconds.

Start and end are each rounded half up to a nanosecond; the duration is their difference, so
that nesting survives. Nothing here ever passes through a binary double.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

NUMBER_TEXT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")


def number(value: object) -> Fraction | None:
    """The exact value of a JSON number, or of a text with one; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, str) and NUMBER_TEXT.match(value):
        return Fraction(Decimal(value))
    return None


def double(value: object) -> float | None:
    """The double nearest to the number VALUE; None if it is not a number or beyond the range of
    doubles."""
    exact = number(value)
    try:
        return None if exact is None else float(exact)
    except OverflowError:
        return None


def integer(value: object) -> int | None:
    """VALUE if it is an integer (also as text or with a zero fraction), else None."""
    if value is None or type(value) is int:
        return value
    exact = number(value)
    if exact is None or exact.denominator != 1:
        return None
    return int(exact)


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, halves towards plus infinity."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def half_even(value: Fraction) -> int:
    """Round to the nearest integer, halves to the even one (Python's and printf's rule)."""
    return round(value)


def us_to_ns(microseconds: Fraction) -> int:
    """Exact microseconds to nanoseconds, half up."""
    n, d = microseconds.numerator, microseconds.denominator
    return (2000 * n + d) // (2 * d)


def span_ns(ts: Fraction, dur: Fraction) -> tuple[int, int]:
    """(start, end) in nanoseconds of `ts` and `dur` in microseconds, each rounded half up."""
    return us_to_ns(ts), us_to_ns(ts + dur)


def median(values: list[int]) -> Fraction | None:
    """The middle value, or the mean of the two middle ones."""
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return Fraction(ordered[middle])
    return Fraction(ordered[middle - 1] + ordered[middle], 2)


def nearest(value: int) -> int:
    """VALUE limited to 64 bits."""
    return max(-(2**63), min(2**63 - 1, value))
