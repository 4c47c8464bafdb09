# SPDX-License-Identifier: Apache-2.0
"""The text of torch's table().

torch prints binary doubles; exact numbers differ from them in the last digit only at an exact tie.
So a cell is a tuple of its possible texts: one, or two at a tie. Rows with equal sort keys may come
in any order. `Text.differs_from` allows both; `str(text)` uses the first choice (half to even,
order of appearance).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from . import exact
from .averages import Row, key_averages
from .events import Trace

Cell = tuple[str, ...]
WIDTH = 12
UNITS = {"2.13": ("GB", "MB", "KB", "B"), "1.13": ("Gb", "Mb", "Kb", "b")}
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
FLOP_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


@dataclass
class Options:
    """Arguments of table(); None for no limit."""

    sort: str | None = None
    limit: int = 100
    header: str | None = None
    top_level: bool = False
    max_name_width: int | None = 55
    max_src_width: int | None = 75
    max_shapes_width: int | None = 80
    torch: str = "2.13"


def fixed(value: Fraction, digits: int, is_negative: bool | None = None) -> Cell:
    """VALUE with DIGITS decimals; both neighbours at an exact tie, the even one first. A
    negative value keeps its sign when it rounds to zero, as a double does; IS_NEGATIVE gives the
    sign of a zero."""
    scaled = value * 10**digits
    even = exact.half_even(scaled)
    choices = [even]
    if scaled.denominator == 2:
        choices.append(2 * scaled.__floor__() + 1 - even)
    sign = "-" if (value < 0 if is_negative is None else is_negative) else ""
    return tuple(sign + decimal_text(abs(n), digits) for n in choices)


def decimal_text(scaled: int, digits: int) -> str:
    """The nonnegative integer SCALED, with the decimal point DIGITS places from its end."""
    text = str(scaled).zfill(digits + 1)
    return f"{text[:-digits]}.{text[-digits:]}"


def with_unit(cell: Cell, unit: str) -> Cell:
    """UNIT after each choice."""
    return tuple(text + unit for text in cell)


@lru_cache(1 << 16)
def time_cell(ns: Fraction) -> Cell:
    """The unit is chosen on the value before rounding; negative values stay in us."""
    us = Fraction(ns) / 1000
    if us >= 1_000_000:
        return with_unit(fixed(us / 1_000_000, 3), "s")
    if us >= 1000:
        return with_unit(fixed(us / 1000, 3), "ms")
    return with_unit(fixed(us, 3), "us")


@lru_cache(1 << 16)
def share_cell(ns: int, total_ns: int) -> Cell:
    """Per cent of a total; NaN if the total is 0. 0 of a negative total is -0."""
    if total_ns == 0:
        return ("NaN",)
    return with_unit(fixed(Fraction(ns * 100, total_ns), 2, (ns < 0) != (total_ns < 0)), "%")


def memory_cell(size: int, torch: str) -> Cell:
    """Bytes by absolute value: 2 decimals and a unit, or the integer."""
    size = exact.nearest(size)
    for power, unit in zip((30, 20, 10), UNITS[torch]):
        if abs(size) >= 1 << power:
            # Also exact in a double, so there are never two choices.
            return (fixed(Fraction(size, 1 << power), 2)[0] + " " + unit,)
    return (f"{size} {UNITS[torch][3]}",)


def plain(text: str) -> str:
    """TEXT as printed without a terminal: bytes that are not UTF-8 as U+FFFD. If it contains a NUL,
    which would end it, control characters are \\xNN as on a terminal."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if "\0" not in text:
        return text
    return CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def short_name(name: str, limit: int | None) -> str:
    """The name, cut 3 characters below the limit."""
    if limit is not None and len(name) >= limit - 3:
        return name[: limit - 3] + "..."
    return name


def short_path(path: str, width: int) -> str:
    """The last WIDTH characters, with the first three replaced by dots."""
    if len(path) > width:
        path = path[len(path) - width :]
        if len(path) > 3:
            path = "..." + path[3:]
    return path


def sort_value(row: Row, key: str) -> object:
    """The value of torch's attribute KEY, exact."""
    key = key.replace("cuda", "device").replace("xpu", "device")
    key = key.replace("privateuse1", "device")
    if key in ("cpu_time", "device_time"):
        return Fraction(getattr(row, key.removesuffix("time") + "ns"), row.calls)
    if key.endswith("memory_usage"):
        return exact.nearest(getattr(row, key.replace("memory_usage", "bytes")))
    return getattr(
        row, {"count": "calls", "key": "name"}.get(key, key.replace("time_total", "ns"))
    )


@dataclass
class Column:
    """Title, width, alignment and the cell of a row."""

    title: str
    width: int
    align: str = ">"


@dataclass
class Text:
    """A rendered table: lines of (cells, columns) and plain lines."""

    head: list[str] = field(default_factory=list)
    blocks: list[tuple[object, list[Cell]]] = field(default_factory=list)  # key, line(s)
    limit: int = -1
    foot: list[list[Cell]] = field(default_factory=list)

    def shown(self) -> int:
        """Number of rows within the limit."""
        return len(self.blocks) if self.limit < 0 else min(self.limit, len(self.blocks))

    def __str__(self) -> str:
        if not self.head:
            return ""
        rows = [first(block) for _, block in self.blocks[: self.shown()]]
        return "\n".join(self.head + rows + [first(cells) for cells in self.foot]) + "\n"

    def differs_from(self, text: str) -> str | None:
        """None if TEXT is this table, else the difference. Notes may follow; a table without rows
        has only notes."""
        while text.endswith("\n") and text[:-1].rsplit("\n", maxsplit=1)[-1].startswith(
            "note: "
        ):
            text = text[: text[:-1].rfind("\n") + 1]
        if not self.head or not text:
            return None if not self.head and not text else "one of the two is empty"
        if not text.endswith("\n"):
            return "no line break at the end"
        lines = text[:-1].split("\n")
        for at, line in enumerate(self.head):
            if lines[at : at + 1] != [line]:
                return f"head, line {at + 1}: {lines[at : at + 1]} instead of {line!r}"
        at = len(self.head)
        waiting = list(range(len(self.blocks)))
        for _ in range(self.shown()):
            key = self.blocks[waiting[0]][0]
            for candidate in waiting:
                expected, block = self.blocks[candidate]
                if expected != key:
                    return (
                        f"row at line {at + 1}: {lines[at : at + 1]}, expected "
                        f"{first(self.blocks[waiting[0]][1])!r}"
                    )
                # A name may contain line breaks, which are kept.
                length = first(block).count("\n") + 1
                if is_one_of(block, "\n".join(lines[at : at + length])):
                    break
            else:
                return (
                    f"row at line {at + 1}: {lines[at : at + 1]}, expected "
                    f"{first(self.blocks[waiting[0]][1])!r}"
                )
            waiting.remove(candidate)
            at += length
        rest = lines[at:]
        if len(rest) != len(self.foot) or not all(map(is_one_of, self.foot, rest)):
            return f"foot: {rest[:4]} instead of {[first(cells) for cells in self.foot]}"
        return None


def columns_of(
    rows: list[Row], options: Options, device: str | None, flop_unit: str | None
) -> list[Column]:
    """The columns, in order of the titles."""

    def limited(longest: int, limit: int | None) -> int:
        return longest + 4 if limit is None else min(longest + 4, limit)

    name_width = limited(max(len(r.name) for r in rows), options.max_name_width)
    columns = [Column("Name", name_width)]
    titles = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    if any(r.self_device_ns > 0 for r in rows):
        titles += [
            f"Self {device}",
            f"Self {device} %",
            f"{device} total",
            f"{device} time avg",
        ]
    if any(r.has_bytes for r in rows):
        titles += ["CPU Mem", "Self CPU Mem"]
        if device and any(r.self_device_bytes > 0 for r in rows):
            titles += [f"{device} Mem", f"Self {device} Mem"]
    titles.append("# of Calls")
    columns += [Column(title, WIDTH) for title in titles]
    if any(r.input_shapes not in ("", "[]") for r in rows):
        columns.append(
            Column(
                "Input Shapes",
                limited(max(len(r.input_shapes) for r in rows), options.max_shapes_width),
            )
        )
    if any(r.input_dtypes for r in rows):
        columns.append(
            Column(
                "Input Dtypes",
                limited(max(len(r.input_dtypes or "") for r in rows), options.max_shapes_width),
            )
        )
    if any(r.stack for r in rows):
        longest = max(len(entry) for r in rows for entry in r.stack)
        columns.append(Column("Source Location", limited(longest, options.max_src_width), "<"))
    if flop_unit:
        columns.append(Column(f"Total {flop_unit}", WIDTH))
    return columns


def cells_of(
    row: Row,
    columns: list[Column],
    options: Options,
    cpu_total: int,
    device_total: int,
    flop_power: int,
) -> list[Cell]:
    """The cells of one row in the order in which torch emits them: FLOPs come before the source,
    unlike in the titles."""
    have = {c.title: c for c in columns}
    cells: list[Cell] = [
        (short_name(row.name, options.max_name_width),),
        share_cell(row.self_cpu_ns, cpu_total),
        time_cell(row.self_cpu_ns),
        ("0",) if row.is_async else share_cell(row.cpu_ns, cpu_total),
        time_cell(row.cpu_ns),
        time_cell(Fraction(row.cpu_ns, row.calls)),
    ]
    if any(t.endswith(" time avg") and t != "CPU time avg" for t in have):
        cells += [
            time_cell(row.self_device_ns),
            share_cell(row.self_device_ns, device_total),
            time_cell(row.device_ns),
            time_cell(Fraction(row.device_ns, row.calls)),
        ]
    if "CPU Mem" in have:
        cells += [
            memory_cell(row.cpu_bytes, options.torch),
            memory_cell(row.self_cpu_bytes, options.torch),
        ]
    if any(t.endswith(" Mem") and "CPU" not in t for t in have):
        cells += [
            memory_cell(row.device_bytes, options.torch),
            memory_cell(row.self_device_bytes, options.torch),
        ]
    cells.append((str(row.calls),))
    if "Input Shapes" in have:
        cells.append((row.input_shapes[: have["Input Shapes"].width],))
    if "Input Dtypes" in have:
        cells.append(((row.input_dtypes or "")[: have["Input Dtypes"].width],))
    if any(t.endswith("FLOPs") for t in have):
        cells.append(
            ("--",)
            if row.flops <= 0
            else tuple(f"{t:>8}" for t in fixed(Fraction(row.flops, 1000**flop_power), 3))
        )
    if "Source Location" in have:
        width = have["Source Location"].width
        cells.append((short_path(row.stack[0], width) if row.stack else "",))
    return cells


def line(cells: list[Cell], columns: list[Column]) -> list[Cell]:
    """The parts of a line: each cell padded, then two spaces."""
    return [
        tuple(f"{text:{c.align}{c.width}}  " for text in cell)
        for cell, c in zip(cells, columns)
    ]


def first(cells: list[Cell]) -> str:
    """The text of CELLS with the first choice of each."""
    return "".join(choices[0] for choices in cells)


def is_one_of(cells: list[Cell], text: str) -> bool:
    """Whether TEXT is the sequence of one choice of each of CELLS."""
    ends = {0}
    for choices in cells:
        ends = {
            at + len(choice) for at in ends for choice in choices if text.startswith(choice, at)
        }
    return len(text) in ends


def render(
    run: Trace | list[Trace],
    options: Options,
    by_shape: bool = False,
    stack_n: int = 0,
    python: bool = True,
    by_dtype: bool = False,
) -> Text:
    """The whole table of a trace, or of several merged."""
    traces = [run] if isinstance(run, Trace) else run
    rows = key_averages(traces, by_shape, stack_n, python, by_dtype)
    text = Text(limit=options.limit)
    if not rows:
        return text
    for row in rows:
        row.name, row.input_shapes = plain(row.name), plain(row.input_shapes)
        row.input_dtypes = plain(row.input_dtypes or "")
        row.stack = [plain(frame) for frame in row.stack]
    cpu_total = sum(r.self_cpu_ns for r in rows)
    device_total = sum(
        r.self_device_ns for r in rows if r.device_type != "CPU" and not r.is_user_annotation
    )
    device = next((trace.device_word for trace in traces if trace.device_word), None)
    positive = [r.flops for r in rows if r.flops > 0]
    flop_power = min((len(str(min(positive))) - 1) // 3, 5) if positive else 0
    unit = FLOP_UNITS[flop_power] if positive and any(r.has_flops for r in rows) else None
    columns = columns_of(rows, options, device, unit)
    text.head = head_of(columns, options)
    if options.sort:
        rows = sorted(rows, key=lambda r: sort_value(r, options.sort), reverse=True)
    has_stack = any(c.title == "Source Location" for c in columns)
    for number, row in enumerate(rows):
        if options.top_level and not row.is_top_level:
            continue
        lines = [cells_of(row, columns, options, cpu_total, device_total, flop_power)]
        if has_stack:
            width = next(c.width for c in columns if c.title == "Source Location")
            entries = row.stack[:5] if options.torch == "1.13" else row.stack
            blank: list[Cell] = [("",)] * (len(columns) - 1)
            lines += [[*blank, (short_path(entry, width),)] for entry in entries[1:]]
            lines.append([*blank, ("",)])
        block = [cell for cells in lines for cell in [("\n",), *line(cells, columns)]][1:]
        text.blocks.append((sort_value(row, options.sort) if options.sort else number, block))
    text.foot = foot_of(columns, cpu_total, device, device_total)
    return text


def head_of(columns: list[Column], options: Options) -> list[str]:
    """The lines above the rows."""
    length = sum(c.width for c in columns) + 2 * (len(columns) - 1)
    separator = "".join("-" * c.width + "  " for c in columns)
    head = []
    if options.header is not None:
        head += ["=" * length, options.header]
    if options.top_level:
        head += ["=" * length, "This report only display top-level ops statistics"]
    titles = "".join(f"{c.title:{c.align}{c.width}}  " for c in columns)
    return [*head, separator, titles, separator]


def foot_of(
    columns: list[Column], cpu_total: int, device: str | None, device_total: int
) -> list[list[Cell]]:
    """The lines below the rows."""
    separator = "".join("-" * c.width + "  " for c in columns)
    lines: list[list[Cell]] = [[(separator,)]]
    totals = [("CPU", cpu_total)]
    if any(c.title.endswith(" time avg") and c.title != "CPU time avg" for c in columns):
        totals.append((str(device), device_total))
    for word, total in totals:
        lines.append([(f"Self {word} time total: ",), time_cell(total)])
    return lines
