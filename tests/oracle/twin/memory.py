# SPDX-License-Identifier: Apache-2.0
"""Which operator was running when memory was allocated or released."""

from __future__ import annotations

import bisect

from . import operators
from .events import Event, Trace


def op_of_record(trace: Trace) -> dict[Event, Event]:
    """Allocation or release -> its node, if that is an operator."""
    return {
        record: node.event
        for record, node in node_of_record(operators.build(trace), trace).items()
        if node.is_row
    }


def node_of_record(nodes: list[operators.Node], trace: Trace) -> dict[Event, operators.Node]:
    """Allocation or release -> the deepest of NODES on its thread that contains its time, start <=
    time < end; among partially overlapping nodes the one that started last. A merged node counts as
    its parent."""
    by_track: dict[tuple, list[tuple[operators.Node, int]]] = {}
    for node in sorted(nodes, key=lambda n: n.event.order()):
        track = by_track.setdefault(node.event.track, [])
        latest_end = max(node.event.end, track[-1][1] if track else node.event.end)
        track.append((node, latest_end))
    result: dict[Event, operators.Node] = {}
    for record in trace.events:
        if record.kind not in ("alloc", "free"):
            continue
        node = last_around(by_track.get(record.track, []), record.start)
        while node and node.merged_into:
            node = node.merged_into
        if node:
            result[record] = node
    return result


def last_around(nodes: list[tuple[operators.Node, int]], time: int) -> operators.Node | None:
    """The last of NODES (in order of the forest, each with the latest end up to it) that contains
    TIME."""
    first_after = bisect.bisect_right(nodes, time, key=lambda pair: pair[0].event.start)
    for at in range(first_after - 1, -1, -1):
        node, latest_end = nodes[at]
        if latest_end <= time:
            return None
        if node.event.end > time:
            return node
    return None
