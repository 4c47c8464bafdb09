# SPDX-License-Identifier: Apache-2.0
"""The table `headlines`: a sentence for each view, made of rows of the twin's other tables.

Names of kernels are folded and cut in sentences; HOLE stands where one is. NOTE stands where the
note of a late rank may be, which the twin of `stragglers` leaves open.
"""

from __future__ import annotations

import re

from . import exact, tables
from . import steps as steps_of
from .events import Trace

HOLE = "\0"
NOTE = "\1"


def time(ns: int) -> str:
    """NS with three digits and a unit."""
    if ns < 1000:
        return f"{ns} ns"
    for limit, divisor, unit in (
        (999.5e3, 1e3, "us"),
        (999.5e6, 1e6, "ms"),
        (float("inf"), 1e9, "s"),
    ):
        if ns < limit:
            return f"{digits(ns / divisor)} {unit}"
    raise AssertionError


def digits(value: float) -> str:
    """VALUE, not negative, with three digits."""
    return (
        f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
    )


def size(n: int) -> str:
    """N bytes with a unit."""
    if n < 1024:
        return f"{n} bytes"
    for power, unit in enumerate(("KiB", "MiB", "GiB"), 1):
        if n < 1024 ** (power + 1) or unit == "GiB":
            return f"{digits(n / 1024**power)} {unit}"
    raise AssertionError


def share(ratio: float, places: int = 1) -> str:
    """A ratio in percent; only nothing is 0, only all is 100."""
    text, least = f"{ratio * 100:.{places}f}", 10**-places
    if float(text) == 0 and ratio > 0:
        return f"<{least:.{places}f} %"
    return f"{100 - least:.{places}f} %" if float(text) == 100 and ratio < 1 else f"{text} %"


def plural(n: int, word: str) -> str:
    """N WORDs."""
    return f"{n} {word}" if n == 1 else f"{n:,} {word}s"


def quoted(name: str) -> str:
    """NAME, in quotes where it would read as words of the sentence."""
    return f"'{name}'" if re.fullmatch("[A-Za-z -]*", name) else name


def most(rows: list[dict], column: str) -> dict:
    """The first row with the most in COLUMN."""
    return max(rows, key=lambda row: row[column] or 0)


def overview(rows: list[dict], steps: list[dict], is_one: bool) -> str:
    """The average step; STEPS are those of a single trace, or sums over ranks."""
    if not rows and steps:
        return (
            f"0 of {len(steps):,} selected steps are kept: the device work of the last steps "
            "may not all have been recorded, or they hold no operator."
        )
    if not rows:
        return "0 steps were measured."
    named = any(row["thread"] or row["step"] for row in steps)
    rest, part = rows[-1], max(rows[1:-1], key=lambda row: row["avg_ns"])
    assert rest["category"] == "other"
    said = [
        time(int(rows[0]["avg_ns"] + 0.5))
        + (" a step" if named else " count as one step, as there are no steps")
    ]
    much, what = share(part["ratio"] or 0), part["category"]
    if rest["avg_ns"] > part["avg_ns"]:
        said.append(
            f"no operator, runtime call or device work ran in {share(rest['ratio'] or 0)} of it"
            + (f", {much} is {what}" if part["avg_ns"] > 0 else "")
        )
    elif part["avg_ns"] > 0:
        said.append(f"{much} of it is {what}")
    text = "; ".join(said)
    if not is_one:
        return text + "."
    told = [row for row in steps if row["kept"] and row["annotation_ns"] is not None]
    measured, ranges = (
        sum(row[name] for row in told) for name in ("total_ns", "annotation_ns")
    )
    if 2 * measured < ranges:
        text += (
            f"; of the ranges of the kept steps, {time(ranges)}, only {time(measured)} remained "
            "after earlier steps and work of the device"
        )
    both = steps_of.two_kinds([row["total_ns"] for row in steps if row["kept"]])
    if both:
        text += "; two kinds of step: " + " and ".join(
            f"{len(kind):,} of {time(int(exact.median(kind)))}" for kind in both
        )
    odd = [row for row in steps if row["outlier"]]
    if odd:
        worst = most(odd, "total_ns")
        text += f"; step {worst['label']} stands out with {time(worst['total_ns'])}"
    return text + "."


def trace_view(rows: list[dict]) -> str:
    """The tracks, and the busiest of them."""
    text = (
        f"{plural(sum(row['events'] for row in rows), 'event')} on {plural(len(rows), 'track')}"
    )
    if rows and (most(rows, "busy_ns")["busy_ns"] or 0) > 0:
        top = most(rows, "busy_ns")
        name = top["name"] if top["name"] is not None else top["thread"]
        of = f" of {top['parent']}" if top["kind"] == "queue" else ""
        what = f"{top['kind']} " if re.fullmatch("-?[0-9]+", name) else ""
        text += f"; {what}{quoted(name)}{of} is busy for {time(top['busy_ns'])} ({share(top['busy_ratio'])})"
    return text + "."


def modules(rows: list[dict]) -> str:
    """The module with most time of its own, and what is backward."""
    text = own(rows, "modules", "0 modules were found.")
    outer = [row for row in rows if row["depth"] == 0]
    for all_of, part in (
        ("device_total_ns", "backward_device_ns"),
        ("host_total_ns", "backward_host_ns"),
    ):
        backward = sum(row.get(part) or 0 for row in outer)
        if backward > 0:
            return (
                f"{text[:-1]}; all of them {time(sum(row[all_of] for row in outer))} forward "
                f"and {time(backward)} backward."
            )
    return text


def own(rows: list[dict], what: str, none: str) -> str:
    """Who has most time of its own, on devices if there is any."""
    for column, where in (("device_self_ns", "device"), ("host_self_ns", "host")):
        whole = sum(row[column] for row in rows)
        if whole > 0:
            top = most(rows, column)
            return (
                f"{quoted(top['name'])} takes {share(top[column] / whole)} of the {where} time of "
                f"{what} by itself ({time(top[column])})."
            )
    return none


def kernels(rows: list[dict]) -> str:
    """The kernel that runs longest, and tensor cores."""
    if not rows:
        return "0 kernels were found."
    whole = sum(row["total_ns"] for row in rows)
    top = most(rows, "total_ns")
    using = sum(row["total_ns"] for row in rows if row["tensor_cores"])
    known = any(row["tensor_cores"] is not None for row in rows)
    unknown = sum(row["total_ns"] for row in rows if row["tensor_cores"] is None)
    cores = (
        f"{share(using / whole)} of kernel time uses tensor cores"
        if using
        else "no kernel is known to use tensor cores"
    )
    if unknown:
        cores += f", of {share(unknown / whole)} that is unknown"
    if not known:
        cores = "whether they use tensor cores is unknown"
    of = share(top["total_ns"] / whole if whole else 0)
    return f"Kernels run for {time(whole)}, {HOLE} for {of} of it; {cores}."


def memory(rows: list[dict]) -> str:
    """Where memory was highest."""
    if not rows:
        return "0 peaks of memory are known."
    top = most(rows, "peak_bytes")
    capacity = top.get("capacity_bytes")
    return (
        f"Peak {size(top['peak_bytes'])}{f' of {size(capacity)}' if capacity else ''} on "
        f"{top['device']} at {time(top['peak_ns'])}, with "
        f"{plural(top['live_count'] or 0, 'block')} alive."
    )


def distributed(rows: list[dict]) -> str:
    """Who lets the others wait."""
    if not rows:
        return "0 collectives of several ranks can be compared."
    top, total = most(rows, "caused_wait_ns"), sum(row["caused_wait_ns"] for row in rows)
    waited, last, error = top["caused_wait_ns"], top["times_last"], top["clock_error_ns"]
    if (
        len(rows) < 2
        or not last
        or 2 * waited * len(rows) <= 3 * total
        or waited <= 3 * (error or 0) * last
    ):
        return (
            f"Of {plural(len(rows), 'rank')} none lets the others wait by far most: rank "
            f"{top['rank']} for {time(waited)}."
        )
    text = (
        f"Rank {top['rank']} lets the others wait: {share(waited / total, 0)} of all waiting "
        f"in collectives ({time(waited)}), last in {last} of {top['collectives']}"
    )
    if top["since_step"] is not None:
        text += f" since step {top['since_step']}"
    if error is not None:
        text += f", clocks right to {time(error)}"
    if top["operator"]:
        return (
            text + f": {HOLE} took {time(top['operator_ns'])} longer than on the median rank."
        )
    return text + NOTE + "."


def quality(rows: list[dict]) -> str:
    """How many findings, and the worst."""
    if not rows:
        return "0 findings: nothing was skipped or is missing."
    order = ("info", "warning", "error")
    worst = max(rows, key=lambda row: order.index(row["severity"]))
    message = worst.get("message") or HOLE
    return f"{plural(len(rows), 'finding')}; the worst: {message}."


def rules_of(view: str, rules: steps_of.Rules) -> tuple[str, ...]:
    """The words of RULES that the command behind the sentence of VIEW has: only the table
    `overview` depends on them."""
    return rules.arguments() if view == "overview" else ()


def has_parts(rows: list[dict], steps: list[dict]) -> bool:
    """Whether the overview ROWS are more than one length of time."""
    named = any(row["thread"] or row["step"] for row in steps)
    return bool(rows) and (named or sum(row["avg_ns"] > 0 for row in rows[1:-1]) > 1)


def table(
    run: list[Trace], rules: steps_of.Rules = steps_of.USUAL
) -> dict[str, tuple[str, bool]]:
    """The sentence of each view, with steps measured by RULES, and whether it has data: without,
    a sentence begins with 0."""

    def rows(name: str) -> list[dict]:
        return tables.table(run, name, merged=True, rules=rules)

    text = {
        "overview": overview(rows("overview"), rows("steps"), len(run) == 1),
        "trace": trace_view(rows("tracks")),
        "operators": own(rows("operators"), "operators", "0 operators took any time."),
        "kernels": kernels(rows("kernels")),
        "modules": modules(rows("modules")),
        "memory": memory(rows("memory_peaks")),
        "distributed": distributed(rows("stragglers")),
        "quality": quality(rows("quality")),
    }
    has_data = {view: not said.startswith("0 ") for view, said in text.items()}
    has_data |= {"quality": True, "overview": has_parts(rows("overview"), rows("steps"))}
    return {view: (said, has_data[view]) for view, said in text.items()}
