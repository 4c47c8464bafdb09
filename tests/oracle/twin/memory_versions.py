# SPDX-License-Identifier: Apache-2.0
"""`memory_versions`, by the rule CATEGORIES of src/table/rules.md."""

from __future__ import annotations

import json

from . import calls, categories, exact, inventory, memory_tables
from .events import Event, Trace

NO_TENSORS = ("", "Scalar", "ScalarList")  # types of inputs


def list_at(event: Event, key: str) -> list:
    """A list among the arguments of EVENT; empty: there is none, or it is too long."""
    value = event.args.get(key)
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    return value if isinstance(value, list) and len(text.encode()) <= 1 << 16 else []


def extent(dims: object, strides: object, each: int) -> int | None:
    """Bytes from the first to the last of a tensor; None: unknown."""
    if not isinstance(dims, list) or not isinstance(strides, list):
        dims, strides = [], []
    sizes, steps = [exact.integer(x) for x in dims], [exact.integer(x) for x in strides]
    if len(steps) < len(sizes) or each == 0:
        return None
    lengths = []
    for size, step in zip(sizes, steps):
        if (
            size is None
            or step is None
            or not 0 <= size < 2**63
            or not 0 <= step < 2**63
            or size * step >= 2**63
        ):
            return None
        lengths.append(size * step)
    total = max(lengths, default=1) * each
    return total if total < 2**63 else None


def is_empty(dims: object, strides: object) -> bool:
    """Whether a tensor has no element, as far as its sizes can be read."""
    for size, step in zip(
        dims if isinstance(dims, list) else [], strides if isinstance(strides, list) else []
    ):
        number, other = exact.integer(size), exact.integer(step)
        if (
            number is None
            or other is None
            or not 0 <= number < 2**63
            or not 0 <= other < 2**63
            or number * other >= 2**63
        ):
            return False
        if number == 0:
            return True
    return False


def tensors(event: Event) -> list[tuple[int | None, bool]]:
    """The tensors with memory among the inputs of EVENT: their bytes, and whether they are empty."""
    dims, strides, types = (
        list_at(event, key) for key in ("Input Dims", "Input Strides", "Input type")
    )
    if len(dims) > min(len(strides), len(types)):
        return []
    found: list[tuple[int | None, bool]] = []
    for size, step, word in zip(dims, strides, types):
        if word == "TensorList":
            each = [
                (x, y, 0)
                for x, y in zip(
                    size if isinstance(size, list) else [],
                    step if isinstance(step, list) else [],
                )
            ]
        elif word in NO_TENSORS:
            continue
        else:
            each = [(size, step, calls.type_bytes(word))]
        for own, steps, number in each:
            if isinstance(own, list) and own and not (isinstance(steps, list) and steps):
                continue  # a sparse one
            found.append((extent(own, steps, number), is_empty(own, steps)))
    return found


def told(event: Event) -> list[tuple[int, int | None]]:
    """Addresses of memory, and bytes of what lies there, that EVENT tells."""
    storages: list[int] = []
    for key in categories.STORAGES:
        if not isinstance(event.args.get(key), list):
            break
        storages += categories.numbers(event, key)
    found = tensors(event)
    if len(found) != len(storages) - 1:
        found = [x for x in found if not x[1]]
    pairs = (
        [(abs(address), size) for address, (size, _) in zip(storages[1:], found)]
        if len(found) == len(storages) - 1
        else []
    )
    for key, sizes in (
        ("Parameters", "Parameters bytes"),
        ("Optimizer state", "Optimizer state bytes"),
    ):
        pairs += [
            (abs(address), size)
            for address, size in zip(
                categories.numbers(event, key), categories.numbers(event, sizes)
            )
            if 0 <= size < 2**63
        ]
    return pairs


def sizes_of(found: categories.Categories) -> dict[categories.Object, int]:
    """The bytes of memory without a record, as far as a tensor tells them."""
    result: dict[categories.Object, int] = {}
    for event, at in found.touched.items():
        for address, size in told(event) if event.is_range else ():
            target = at.get(address)
            if (
                target is not None
                and size is not None
                and not (target.allocated or target.released)
            ):
                result[target] = max(size, result.get(target, 0))
    return result


def devices_of(trace: Trace, found: categories.Categories) -> dict[categories.Object, str]:
    """Where the first call that took memory without a record had it, if calls tell that."""
    result: dict[categories.Object, str] = {}
    if trace.members.get("tensors_on_devices") != "told":
        return result
    for event in sorted(found.touched, key=lambda e: (e.start, e.id)):
        storages = [x for key in categories.STORAGES for x in categories.numbers(event, key)]
        devices = (
            categories.numbers(event, "Storage devices")
            if "Storage devices" in event.args
            else [0] * len(storages)
        )
        for address, device in zip(storages[1:], devices):
            target = found.touched[event].get(abs(address))
            if target is not None and not (target.allocated or target.released):
                result.setdefault(
                    target, memory_tables.named(device >> 8, device & 255, trace.family)
                )
    return result


def table(trace: Trace) -> list[dict]:
    """`memory_versions` of one trace."""
    records = memory_tables.records_of(trace)
    found = categories.of_trace(trace, records) if records else None
    rows = []
    if found is None:
        return rows
    sizes, told_devices = sizes_of(found), devices_of(trace, found)
    for number, target in enumerate(sorted(found.objects, key=lambda x: x.first), 1):
        record = target.allocated or target.released
        own = {
            device
            for process, device in trace.kept["memory devices"]
            if process == target.process
            and device != "unknown"
            and "tensors_on_devices" not in trace.members
        }
        device = (
            record.device
            if record
            else told_devices.get(target) or (own.pop() if len(own) == 1 else None)
        )
        place = {
            "process": target.process,
            "device": device,
            "process_name": inventory.process_names(trace).get(target.process),
        }
        starts = [target.allocated.event.start if target.allocated else None, *target.since]
        end = target.released.event.start if target.released else None
        makers = [
            memory_tables.label(target.allocated) if target.allocated else None,
            *target.made_by,
        ]
        for version, (start, next_start, maker) in enumerate(
            zip(starts, [*starts[1:], end], makers)
        ):
            rows.append(
                {
                    **(place if device else {}),
                    "object": number,
                    "version": version,
                    "operator": maker,
                    "bytes": abs(record.bytes) if record else sizes.get(target),
                    "start_ns": None if start is None else start - trace.origin,
                    "end_ns": None if next_start is None else next_start - trace.origin,
                    "category": target.category(version),
                }
            )
    return rows
