# SPDX-License-Identifier: Apache-2.0
"""`stragglers`: which ranks let the others wait."""

from __future__ import annotations

import bisect

from . import advice, kinds, steps
from .calls import Call, in_order, match, step_of
from .clocks import clocks_of
from .events import Event, Trace
from .ranks_common import groups, is_comparable, lead, with_steps

KEPT = 8  # names of which the work before a collective is known
FRAMES = ("python_function",)


def is_work(event: Event) -> bool:
    """Whether a range of the host works, and does not wait for others."""
    if not event.is_range or not event.is_host or event.kind in ("step", "communication"):
        return False
    if (event.category or "").lower() in FRAMES:
        return True
    return not kinds.is_host_collective(event.name) and event.name not in advice.SYNC_CALLS


def work_before(trace: Trace, calls: list[Call]) -> dict[Call, dict[str, int]]:
    """By call and name: what took how long since the call before."""
    launched = sorted(
        (
            (call.label.start - trace.origin if call.label else call.start, n, call)
            for n, call in enumerate(calls)
        ),
        key=lambda entry: entry[:2],
    )
    started = sorted(
        ((call.start, n, call) for n, call in enumerate(calls)), key=lambda entry: entry[:2]
    )
    found: dict[Call, dict[str, int]] = {call: {} for call in calls}
    for event in trace.events:
        order, ns = launched, 0
        if is_work(event):
            ns = event.dur - sum(child.dur for child in event.children)
        elif (
            event.kind == "kernel"
            and event.is_range
            and not kinds.is_collective_kernel(event.name, event.args)
        ):
            order, ns = started, event.dur
        after = bisect.bisect_right(order, event.start - trace.origin, key=lambda e: e[0])
        if ns > 0 and after < len(order):
            own = found[order[after][2]]
            own[event.name] = own.get(event.name, 0) + ns
    return found


def work_of(work: dict[str, int], name: str) -> int:
    """How long NAME took; if it is not among the longest, as long as the shortest of these."""
    longest = sorted(
        work.items(), key=lambda entry: (-entry[1], entry[0].encode("utf-8", "surrogateescape"))
    )[:KEPT]
    return dict(longest).get(name, longest[-1][1] if len(longest) == KEPT else 0)


def lower_middle(values: list[int]) -> int:
    """The median, of an even number the lower of the middle two."""
    return sorted(values)[(len(values) - 1) // 2]


def charged(arrivals: list[int]) -> list[int]:
    """What each of the sorted ARRIVALS let the others wait."""
    result, own = [0], 0
    for k in range(1, len(arrivals)):
        own += (arrivals[k] - arrivals[k - 1]) * k // (len(arrivals) - k)
        result.append(own)
    return result


def stragglers(run: list[Trace], _compat: bool) -> list[dict]:
    """`stragglers`: each rank, that which caused the most waiting first."""
    calls = match(run, False)
    matches = in_order(run, calls)
    clocks = clocks_of(run, matches)
    work = {
        call: own for trace in run for call, own in work_before(trace, calls[id(trace)]).items()
    }
    place = {id(trace): n for n, group in enumerate(groups(run)) for trace in group}
    order = {id(trace): n for n, trace in enumerate(run)}
    rows = [
        {"caused": 0, "last": 0, "calls": 0, "waited": 0, "late": 0, "grown": {}}
        for _ in groups(run)
    ]
    kept = {id(t): [s for s in steps.steps_of(t) if s.kept] for t in run}
    by_step: dict[int, dict[int, int]] = {}
    compared = 0
    for members in matches:
        if len({place[id(c.trace)] for c in members}) < 2 or not is_comparable(clocks, members):
            continue
        compared += 1
        came = sorted(
            ((clocks[id(c.trace)].time(c.start), order[id(c.trace)], c) for c in members),
            key=lambda entry: entry[:2],
        )
        for (at, _, call), ns in zip(came, charged([at for at, _, _ in came])):
            row = rows[place[id(call.trace)]]
            row["caused"] += ns
            row["waited"] += came[-1][0] - at
            row["calls"] += 1
            step = step_of(kept[id(call.trace)], call)
            if step is not None and ns > 0:
                own = by_step.setdefault(step, {})
                own[place[id(call.trace)]] = own.get(place[id(call.trace)], 0) + ns
        if came[-1][0] > came[-2][0]:
            last = came[-1][2]
            row = rows[place[id(last.trace)]]
            late = came[-1][0] - came[(len(came) - 1) // 2][0]
            row["last"] += 1
            row["late"] += late
            for name in sorted(work[last], key=lambda n: (-work[last][n], n))[:KEPT]:
                more = work[last][name] - lower_middle(
                    [work_of(work[c], name) for _, _, c in came]
                )
                if more > 0:
                    row["grown"][name] = row["grown"].get(name, 0) + min(more, late)
    if not compared:
        return []
    total = sum(row["caused"] for row in rows)
    result = []
    for n, (group, row) in enumerate(zip(groups(run), rows)):
        since = since_step(by_step, n)
        label = next(
            (
                kept[id(t)][since].label
                for t in group
                if since is not None and since < len(kept[id(t)])
            ),
            None,
        )
        grown = min(
            row["grown"].items(), key=lambda entry: (-entry[1], entry[0]), default=(None, None)
        )
        if grown[0] is not None and grown[1] * 10 < row["late"]:
            grown = (None, None)
        clock = max((clocks[id(t)] for t in group), key=lambda c: c.anchors)
        result.append(
            {
                **lead(run, group[0]),
                "caused_wait_ns": row["caused"],
                "caused_ratio": row["caused"] / total if total else None,
                "times_last": row["last"],
                "collectives": row["calls"],
                "waited_ns": row["waited"],
                "since_step": label,
                "operator": grown[0],
                "operator_ns": grown[1],
                "clock_error_ns": clock.error if clock.anchors >= 3 else None,
            }
        )
    return sorted(result, key=lambda row: -row["caused_wait_ns"])


def by_step(run: list[Trace]) -> list[dict]:
    """`stragglers --group-by step`: each rank in each step."""
    calls = match(run, False)
    matches = in_order(run, calls)
    clocks = clocks_of(run, matches)
    place = {id(trace): n for n, group in enumerate(groups(run)) for trace in group}
    order = {id(trace): n for n, trace in enumerate(run)}
    kept = {id(t): [s for s in steps.steps_of(t) if s.kept] for t in run}
    sums: dict[tuple, list[int]] = {}
    for members in matches:
        if len({place[id(c.trace)] for c in members}) < 2 or not is_comparable(clocks, members):
            continue
        came = sorted(
            ((clocks[id(c.trace)].time(c.start), order[id(c.trace)], c) for c in members),
            key=lambda entry: entry[:2],
        )
        for k, ns in enumerate(charged([at for at, _, _ in came])):
            at, _, call = came[k]
            step = step_of(kept[id(call.trace)], call)
            label = None if step is None else kept[id(call.trace)][step].label
            own = sums.setdefault((place[id(call.trace)], label), [0, 0, 0, 0])
            is_last = k == len(came) - 1 and at > came[k - 1][0]
            for i, value in enumerate((ns, is_last, 1, came[-1][0] - at)):
                own[i] += value
    total = sum(own[0] for own in sums.values())
    rows = [
        {
            **lead(run, groups(run)[n][0]),
            "step": label,
            "caused_wait_ns": own[0],
            "caused_ratio": own[0] / total if total else None,
            "times_last": own[1],
            "collectives": own[2],
            "waited_ns": own[3],
        }
        for (n, label), own in sorted(
            sums.items(), key=lambda entry: (entry[0][0], entry[0][1] or "")
        )
    ]
    return sorted(rows, key=lambda row: -row["caused_wait_ns"])


def since_step(by_step: dict[int, dict[int, int]], row: int) -> int | None:
    """The first step in which ROW caused most waiting, and from which on in half of the steps."""
    numbers = sorted(by_step)
    tops = [min(by_step[n], key=lambda r: (-by_step[n][r], r)) for n in numbers]
    led = [by_step[n][row] for n, top in zip(numbers, tops) if top == row]
    counts = [
        top == row and by_step[n][row] * 10 >= sum(led) // len(led)
        for n, top in zip(numbers, tops)
    ]
    return next(
        (
            numbers[k]
            for k, is_led in enumerate(counts)
            if is_led and 2 * sum(counts[k:]) >= len(tops) - k
        ),
        None,
    )


def advice_row(run: list[Trace]) -> tuple[tuple[int, int], dict] | None:
    """Rank and span, and the row of `advice`, of the rank that lets the others wait."""
    rows = stragglers(run, False)
    if len(rows) < 2 or rows[0]["caused_wait_ns"] == 0:
        return None
    top, total = rows[0], sum(row["caused_wait_ns"] for row in rows)
    waited, last = top["caused_wait_ns"], top["times_last"]
    if (
        not last
        or 2 * waited * len(rows) <= 3 * total
        or waited <= 3 * (top["clock_error_ns"] or 0) * last
    ):
        return None
    place = (top["rank"], top.get("span", run[0].span))
    kept = sum(
        step.end - step.start
        for trace in with_steps(run)
        if trace.span == place[1] and trace.rank != place[0]
        for step in steps.steps_of(trace)
        if step.kept
    )
    waited = min(waited, kept) if kept else waited  # several may wait at the same time
    return place, {
        "impact_ns": waited,
        "severity": "warning" if 10 * waited >= kept else "info",
        "code": "straggler",
        "count": last,
        "ratio": waited / kept if kept else None,
        "subject": top["operator"] or None,
        "grew": None,
    }
