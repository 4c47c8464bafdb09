# SPDX-License-Identifier: Apache-2.0
"""Tables in notebooks: the first rows, with the units of the command's text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._table import Column, Table

ROWS = 20


def show_time(ns: float) -> str:
    """512 ns, 1.500 us, 12.346 ms, 3.000 s."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns:g} ns"


def show_bytes(n: float) -> str:
    """512 B, 1.50 KB, 12.35 MB: in steps of 1024."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(n) >= size:
            return f"{n / size:.2f} {unit}"
    return f"{n:g} B"


def show(column: Column, value: Any) -> str:
    """A cell as text for people."""
    if value is None:
        return ""
    if column.type in ("string", "boolean"):
        return str(value)
    if column.unit == "ns":
        return show_time(value)
    if column.unit == "bytes":
        return show_bytes(value)
    if column.unit == "ratio":
        return f"{100 * value:.2f} %"
    return f"{value:,}" if column.type == "integer" else f"{value:.6g}"


def render(table: Table, rows: int = ROWS) -> str:
    """`table` as HTML: a heading with the meaning of each column, and its first rows."""
    n = min(rows, table.n_rows)
    head = "".join(f'<th title="{escape(c.help)}">{escape(c.name)}</th>' for c in table.columns)
    cells = [table._first(c.name, n) for c in table.columns]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align: {"left" if c.type == "string" else "right"}">'
            f"{escape(show(c, value))}</td>"
            for c, value in zip(table.columns, row)
        )
        + "</tr>"
        for row in zip(*cells)
    )
    more = f"{n} of {table.n_rows} rows" if n < table.n_rows else f"{n} rows"
    notes = "".join(f"<br>{escape(note)}" for note in table.notes)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(table.name)}: {more}{notes}</p>"
    )
