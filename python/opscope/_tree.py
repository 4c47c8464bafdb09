# SPDX-License-Identifier: Apache-2.0
"""The events of a trace as a tree of objects, as torch's profiler has it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Callable, overload

from ._table import Table

COLUMNS = (
    "id",
    "parent_id",
    "launch_id",
    "op_id",
    "kind",
    "name",
    "process",
    "thread",
    "device",
    "start_ns",
    "dur_ns",
    "depth",
    "correlation",
)
# Names of torch's `_EventType`; other kinds have none.
TAGS = {
    **dict.fromkeys(
        ("operator", "annotation", "step", "dataloader", "optimizer", "communication"),
        "TorchOp",
    ),
    **dict.fromkeys(("python", "module"), "PyCall"),
    **dict.fromkeys(("alloc", "free"), "Allocation"),
    "oom": "OutOfMemory",
    **dict.fromkeys(
        ("runtime", "driver", "kernel", "memcpy", "memset", "sync", "overhead"), "Kineto"
    ),
}
FRAME = re.compile(r"(.*?)\(([0-9]+)\): (.*)\Z", re.DOTALL)
MODULE = re.compile(r"nn\.Module: (.*?)(?:_[0-9]+)?\Z", re.DOTALL)


class Column:
    """A column of a table, without NumPy."""

    def __init__(self, table: Table, name: str) -> None:
        at = table._index(name)
        missing = table._frame.missing(at)
        self.values = memoryview(table._frame.values(at))
        self.gone = None if missing is None else memoryview(missing)
        self.words = table.words(name) if table.column(name).type == "string" else None

    def __getitem__(self, row: int) -> Any:
        """The cell in ROW; None if it is missing."""
        if self.gone is not None and self.gone[row]:
            return None
        value = self.values[row]
        return value if self.words is None else self.words[value] if value >= 0 else None

    def to_list(self) -> list[Any]:
        """All cells."""
        values = self.values.tolist()
        if self.words is not None:
            words = (*self.words, None)  # of the code -1
            return [words[code] for code in values]
        if self.gone is None:
            return values
        return [None if gone else value for value, gone in zip(values, self.gone.tolist())]


class Event:
    """An event of a tree, with the attributes of torch's ``_ProfilerEvent``.

    Times are nanoseconds: ``start_time_ns`` and ``end_time_ns`` of Unix, where the trace knows
    it, ``start_ns`` from the origin of the tables. A range that never ended has the duration 0.
    """

    __slots__ = ("_row", "_tree")

    def __init__(self, tree: EventTree, row: int) -> None:
        self._tree, self._row = tree, row

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Event) and self._row == other._row and self._tree is other._tree
        )

    def __hash__(self) -> int:
        return hash((id(self._tree), self._row))

    def __repr__(self) -> str:
        return f"<opscope.Event {self.id}: {self.name}>"

    def _cell(self, column: str) -> Any:
        return self._tree._columns[column][self._row]

    @property
    def id(self) -> int:
        """Its id in the table ``events``."""
        return int(self._cell("id"))

    @property
    def name(self) -> str:
        """Name as the file has it."""
        return str(self._cell("name") or "")

    @property
    def kind(self) -> str:
        """Kind in the vocabulary of the table ``events``."""
        return str(self._cell("kind"))

    @property
    def tag(self) -> Any:
        """What torch calls it: TorchOp, PyCall, PyCCall, Allocation, OutOfMemory, Kineto; None: torch
        has no such events. In profiles of opscope.torch it is torch's ``_EventType``."""
        word = self._tag
        return None if word is None else self._tree._words.get(word, word)

    @property
    def _tag(self) -> str | None:
        word = "Kineto" if self._cell("device") is not None else TAGS.get(self.kind)
        if word == "PyCall" and self.name.startswith("<built-in "):
            word = "PyCCall"
        return word

    @property
    def parent(self) -> Event | None:
        """What it is a child of: the innermost range of its thread around it; of device work the
        call that launched it, or else the operator."""
        parent = self._tree._parents[self._row]
        return None if parent < 0 else Event(self._tree, parent)

    @property
    def children(self) -> list[Event]:
        """What it is the parent of, by start."""
        return [Event(self._tree, row) for row in self._tree._children.get(self._row, ())]

    @property
    def start_ns(self) -> int:
        """Start, from the origin of the trace."""
        if (
            self._tree._words
        ):  # torch's code takes what has this name for another class of its own
            raise AttributeError("events of torch's trees have start_time_ns")
        return int(self._cell("start_ns"))

    @property
    def start_time_ns(self) -> int:
        """Start, in Unix time if the trace knows it, else from its origin."""
        return int(self._cell("start_ns")) + self._tree.origin_unix_ns

    @property
    def end_time_ns(self) -> int:
        """End, as the start."""
        return self.start_time_ns + self.duration_time_ns

    @property
    def duration_time_ns(self) -> int:
        """Duration; 0 for a moment, and for a range that never ended."""
        return int(self._cell("dur_ns") or 0)

    @property
    def start_tid(self) -> int | str:
        """Thread as the file names it, as a number if it is one; of device work the stream."""
        thread = str(self._cell("thread") or "")
        return int(thread) if thread.isascii() and thread.isdigit() else thread

    @property
    def correlation_id(self) -> int:
        """What launches and device work have in common; of an operator its external id; else 0."""
        found = self._cell("correlation")
        if found is None and self.kind == "operator":
            found = self.args.get("External id", self.args.get("external id"))
        return found if isinstance(found, int) else 0

    @property
    def args(self) -> dict[str, Any]:
        """All arguments. The first use reads those of all events."""
        text = self._tree._args()[self._row]
        return json.loads(text) if text else {}

    @property
    def extra_fields(self) -> Any:
        """What torch's object of its tag has, as far as it was recorded. Types are texts, in profiles
        of opscope.torch torch's; the line of a caller is the one where the function begins."""
        word = self._tag
        make = FIELDS.get(word or "")
        found = SimpleNamespace() if make is None else make(self)
        return found if word is None else self._tree._fields(word, found)

    @property
    def typed(self) -> tuple[Any, Any]:
        """Its tag and extra fields."""
        return self.tag, self.extra_fields


def frame_of(name: str) -> SimpleNamespace:
    """File, line and name of the function of Python called NAME."""
    found = FRAME.match(name)
    file, line, function = found.groups() if found else ("", "0", name)
    return SimpleNamespace(file_name=file, line_number=int(line), function_name=function)


def caller_of(event: Event) -> SimpleNamespace:
    """The function around a call of Python."""
    around = event.parent
    while around is not None and not FRAME.match(around.name):
        around = around.parent
    return frame_of(around.name if around else "")


def call_fields(event: Event) -> SimpleNamespace:
    """Of a call of Python."""
    module = MODULE.match(event.name)
    return SimpleNamespace(
        callsite=frame_of(event.name),
        caller=caller_of(event),
        optimizer=None,
        module=module and SimpleNamespace(cls_name=module[1]),
    )


def item(values: Any, at: int) -> Any:
    """Element AT of the list VALUES; None: there is none."""
    return values[at] if isinstance(values, list) and at < len(values) else None


def input_of(args: dict[str, Any], at: int, words: dict[str, Any]) -> Any:
    """Input AT of an operator: of a tensor sizes, strides and type, of a list of tensors a list of
    these, else the value; None: it was not recorded, or is none. WORDS has the types."""
    dtype, sizes = item(args.get("Input type"), at), item(args.get("Input Dims"), at)
    strides = item(args.get("Input Strides"), at)
    if dtype == "TensorList":
        return [
            SimpleNamespace(sizes=s, strides=item(strides, i), dtype=None)
            for i, s in enumerate(sizes if isinstance(sizes, list) else [])
        ]
    if isinstance(dtype, str) and dtype and dtype != "Scalar" and not dtype.endswith("List"):
        return SimpleNamespace(sizes=sizes, strides=strides, dtype=words.get(dtype, dtype))
    value = item(args.get("Concrete Inputs"), at)
    try:
        return ast.literal_eval(value) if isinstance(value, str) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value or None


def operator_fields(event: Event) -> SimpleNamespace:
    """Of an operator."""
    args = event.args
    types = args.get("Input type")
    return SimpleNamespace(
        name=event.name,
        sequence_number=args.get("Sequence number", -1),
        inputs=[
            input_of(args, i, event._tree._words)
            for i in range(len(types) if isinstance(types, list) else 0)
        ],
    )


def memory_fields(event: Event) -> SimpleNamespace:
    """Of an allocation or a release."""
    args = event.args
    return SimpleNamespace(
        ptr=args.get("Addr"),
        alloc_size=args.get("Bytes"),
        total_allocated=args.get("Total Allocated"),
        total_reserved=args.get("Total Reserved"),
    )


FIELDS: dict[str, Callable[[Event], SimpleNamespace]] = {
    "TorchOp": operator_fields,
    "PyCall": call_fields,
    "Allocation": memory_fields,
    "PyCCall": lambda event: SimpleNamespace(caller=caller_of(event)),
}


def first_rows(ids: list[int]) -> list[int]:
    """For each row of a table with the ids IDS the first row of its file."""
    firsts, first = [], 0
    for row, number in enumerate(ids):
        first = row if number == 0 else first
        if number != row - first:
            raise ValueError(
                "a tree needs all events of a trace: select them by rank=, steps=, "
                "from_= and the like, not by rows"
            )
        firsts.append(first)
    return firsts


class EventTree(Sequence[Event]):
    """The events of a trace that have no parent, by start; a tree in the manner of torch's
    ``experimental_event_tree()``. Made by :meth:`Trace.event_tree`.

    Events are made when they are asked for: the tree has only the columns of the table ``events``.
    Samples of counters are not in it. ``torch.profiler._utils.traverse_dfs(tree)`` walks through
    it as well.
    """

    def __init__(
        self,
        table: Table,
        origin_unix_ns: int,
        read_args: Callable[[], Table],
        words: dict[str, Any] | None = None,
        fields: Callable[[str, SimpleNamespace], Any] = lambda _, found: found,
    ) -> None:
        self.origin_unix_ns = origin_unix_ns
        self._columns = {name: Column(table, name) for name in COLUMNS}
        self._read_args = read_args
        self._words = words or {}  # objects of torch for the words of tags and types
        self._fields = fields  # makes the fields that torch has of what was found for a tag
        self._arguments: Column | None = None
        self._parents = [-1] * table.n_rows
        self._children: dict[int, list[int]] = {}
        self._roots: list[int] = []
        self._nest()

    def _nest(self) -> None:
        """Find the parent of each event."""
        lists = {name: self._columns[name].to_list() for name in COLUMNS if name != "name"}
        ids, starts, durs, depths = (lists[x] for x in ("id", "start_ns", "dur_ns", "depth"))
        kinds, around, devices = (lists[x] for x in ("kind", "parent_id", "device"))
        firsts = first_rows(ids)
        # Ranges stand before what they contain, and moments after ranges that start with them.
        order = [
            (start << 17) + (1 << 16 if depth is None else depth)
            for start, depth in zip(starts, depths)
        ]
        inner = [-1] * len(ids)  # the range around each range, on its thread
        open_ranges: dict[Any, int] = {}  # by thread: the last one that began
        for row in sorted(range(len(ids)), key=order.__getitem__):
            if kinds[row] == "counter":
                continue
            thread = (firsts[row], lists["process"][row], lists["thread"][row])
            parent = -1
            if depths[row] is not None:
                if around[row] is not None:
                    inner[row] = parent = firsts[row] + around[row]
                open_ranges[thread] = row
                if devices[row] is not None:
                    parent = self._launcher(row, firsts[row], parent)
            elif durs[row] is None and thread in open_ranges:
                parent = open_ranges[thread]
                while parent >= 0 and starts[parent] + durs[parent] < starts[row]:
                    parent = inner[parent]
                open_ranges[thread] = parent
            self._parents[row] = parent
            if parent < 0:
                self._roots.append(row)
            else:
                self._children.setdefault(parent, []).append(row)

    def _launcher(self, row: int, first: int, inner: int) -> int:
        """What launched the device work ROW; else INNER, the range around it."""
        device = self._columns["device"]
        for column in ("launch_id", "op_id"):
            found = self._columns[column][row]
            # What is on a device could be in the work itself.
            if found is not None and device[first + found] is None:
                return int(first + found)
        return inner

    def _args(self) -> Column:
        if self._arguments is None:
            self._arguments = Column(self._read_args(), "args")
        return self._arguments

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> list[Event]: ...

    def __getitem__(self, at: int | slice) -> Event | list[Event]:
        """Root AT."""
        if isinstance(at, slice):
            return [Event(self, row) for row in self._roots[at]]
        return Event(self, self._roots[at])

    def __len__(self) -> int:
        """Number of roots."""
        return len(self._roots)

    def __repr__(self) -> str:
        return f"<opscope.EventTree: {len(self._parents)} events, {len(self)} roots>"

    def walk(self) -> Iterator[Event]:
        """All events, each before its children: torch's ``traverse_dfs``."""
        todo = self._roots[::-1]
        while todo:
            row = todo.pop()
            yield Event(self, row)
            todo += reversed(self._children.get(row, ()))
