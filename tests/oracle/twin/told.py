# SPDX-License-Identifier: Apache-2.0
"""What the sentences of `advice` say about communication and the allocator, and its notes about
events that a file lacks and work from before the recording (src/table/rules.md, Advice, Idle time by
cause, Files that lack events). HOLE stands for a name, which sentences fold and cut."""

from __future__ import annotations

from . import earlier, kinds, ranks
from .advice import HALF, Rules
from .events import Event, Trace
from .headlines import HOLE, plural, share, time
from .intervals import Interval, intersect, length, subtract, union

FEW = 4  # collectives of a step and device that do not send small messages
LITTLE = 50  # less than 1 / LITTLE of waiting is not told
ALONE, LIKE = 8, 2  # a kernel that waits takes ALONE times as long as LIKE others
MANY, GIVEN_BACK = 100, 4
LATE = "; less traffic shortens only the rest."
LACKS = "the file lacks many of the events that were recorded: what the devices waited for is not known"
BUSY = " was probably busy with work from before the recording for "


def rules_of(trace: Trace) -> Rules:
    """The rules, applied."""
    rules = Rules(trace, False)
    rules.plugin()
    rules.own()
    return rules


# --- notes -----------------------------------------------------------------------------------


def notes(rules: Rules) -> list[str]:
    """The notes about what is not there, in any order."""
    told = [LACKS] if rules.is_thinned() else []
    for note in earlier.notes(
        rules.earlier,
        rules.kept_before,
        rules.busy,
        rules.devices(),
        [c for c in rules.trace.events if earlier.is_call(c)],
    ):
        text = (
            f"{note.device}{BUSY}{time(note.ns)} "
            f"({share(note.ns / note.of_ns)} of the step time): not counted"
        )
        told.append(
            text + (f"; {HOLE} waited for {time(note.call_ns)}" if note.call_ns else "")
        )
    return told


def is_ours(note: str) -> bool:
    """Whether NOTE is one of them."""
    return note == LACKS or BUSY in note


# --- communication ---------------------------------------------------------------------------


class Kernels:
    """The kernels of communication of a trace and what of them nothing hides."""

    def __init__(self, rules: Rules):
        self.rules = rules
        self.own = [k for k in rules.kernels if kinds.is_collective_kernel(k.name, k.args)]
        free = subtract(rules.kept, union(rules.computing))
        self.stake = intersect(free, rules.unions["communication"])
        self.of = {k: self.bare([k]) for k in self.own}

    def bare(self, kernels: list[Event]) -> int:
        """The time at stake in which any of KERNELS ran."""
        return length(intersect(self.stake, union([(k.start, k.end) for k in kernels])))

    def hidden(self) -> Interval:
        """How much of communication something hides, and all of it."""
        everything = length(intersect(self.rules.unions["communication"], self.rules.kept))
        return everything - length(self.stake), everything

    def sends_half(self) -> bool:
        """Whether most of the time at stake has values of 16 bits."""

        def is_half(word: object) -> bool:
            return isinstance(word, str) and (word == "Half" or any(h in word for h in HALF))

        half = [k for k in self.own if is_half(k.name) or is_half(k.args.get("dtype"))]
        return 2 * self.bare(half) > length(self.stake)

    def counts(self) -> tuple[int, int]:
        """The number of kernels in kept steps, and of kept steps of all devices."""
        return (
            sum(map(self.rules.is_kept, self.own)),
            len(self.rules.kept_steps) * len(self.rules.devices()),
        )

    def likes(self, kernel: Event) -> list[Event]:
        """The others called like KERNEL with as large a message."""
        least = kernel.integer("In msg nelems")
        return [
            o
            for o in self.rules.work
            if o is not kernel
            and o.name == kernel.name
            and (least is None or (o.integer("In msg nelems") or -1) >= least)
        ]

    def alone(self) -> Event | None:
        """The kernel that has more than half and takes far longer than others like it."""
        for kernel in self.own:
            likes = self.likes(kernel)
            if (
                2 * self.of[kernel] > length(self.stake)
                and len(likes) >= LIKE
                and all(ALONE * o.dur < kernel.dur for o in likes)
            ):
                return kernel
        return None


def waiting(run: list[Trace], trace: Trace) -> tuple[int, int] | None:
    """(How long collectives of the rank and span of TRACE waited in kept steps, how long they took)
    by rank_wait; None if no other rank is there."""
    group = [t for t in run if (t.rank, t.span) == (trace.rank, trace.span)]
    if len({t.rank for t in run if t.span == trace.span}) < 2:
        return None
    calls = ranks.match(run, False)
    rows = [
        row
        for t in group
        for row in ranks.wait_rows(
            t, calls[id(t)], False, t.kept.get("steps beside") != "theirs"
        )
        if row["step"] is not None
    ]
    waited = sum(row["synchronizing_ns"] for row in rows)
    return waited, waited + sum(row["data_transfer_ns"] for row in rows)


def of_waiting(waited: tuple[int, int] | None, alone: str) -> tuple[str, bool]:
    """What is said of WAITED, or else ALONE, and whether less traffic then hardly helps."""
    if waited is None:
        return alone, bool(alone)
    ns, of_ns = waited
    if ns == 0 or LITTLE * ns < of_ns:
        return "", False
    text = (
        f" Of the time in collectives, {share(ns / of_ns, 0)} is waiting for ranks that come "
        "late: `opscope table stragglers` names them."
    )
    if 2 * ns <= of_ns:
        return text, False
    return text + " Even out the work of the ranks first" + LATE, True


def of_traffic(is_torch: bool, is_few: bool, is_hidden: bool, is_half: bool) -> str:
    """What shortens communication."""
    if is_hidden:
        text = " Send less"
    elif not is_few:
        text = " Let it run beside computation, send less"
    elif is_torch:
        text = (
            " Split what is sent, so that the first part starts while the backward pass still "
            "runs (smaller buckets: bucket_cap_mb), send less"
        )
    else:
        text = (
            " Split what is sent, so that the first part starts while computation still runs, "
            "send less"
        )
    text += ", or compute more between two calls: "
    if not is_torch:
        return text + (
            "larger batches." if is_few else "larger messages less often, or larger batches."
        )
    return (
        text
        + "in training "
        + ("" if is_few else "larger buckets, ")
        + ("" if is_half else "compressed or ")
        + "accumulated gradients or larger batches (the last two change the effective batch "
        "size); in inference fewer devices a model."
    )


def communication(rules: Rules, row: dict, waited: tuple[int, int] | None) -> str:
    """The sentence; ROW is that of the twin."""
    own = Kernels(rules)
    text = (
        f"{share(row['part'] / row['whole'])} of the step time ({time(row['impact_ns'])}) passes "
        "in communication that nothing hides"
    )
    alone, is_few, is_hidden, is_half = "", False, False, False
    count, turns = own.counts()
    if row["subject"] is not None:
        ns = sum(own.of[k] for k in own.own if k.name == row["subject"])
        text += f", above all {HOLE} ({time(min(ns, row['impact_ns']))})"
    if rules.work:
        each = (2 * count + turns) // (2 * turns) if turns else 0
        text += f"; a step has {plural(each, 'collective')}" if each else ""
        is_few, is_half = 0 < count <= FEW * turns, own.sends_half()
        hidden, everything = own.hidden()
        is_hidden = 2 * hidden > everything
        longest = own.alone()
        if longest:
            alone = (
                f" One of {plural(count, 'collective')} has {time(own.of[longest])} of that, and "
                "none like it an eighth of it: it waits, most likely, and less traffic does "
                "not help."
            )
    text += "."
    if is_hidden:
        text += f" {share(hidden / everything, 0)} of all communication is hidden already."
    said, is_enough = of_waiting(waited, alone)
    text += said
    if not is_enough:
        text += of_traffic(rules.trace.is_torch, is_few, is_hidden, is_half)
    if waited is None:
        text += (
            " Part of it may be waiting for ranks that come late: `opscope table stragglers`, "
            "asked of the files of all ranks, names them."
        )
    return text


# --- the allocator ---------------------------------------------------------------------------


def gives_back(name: str) -> bool:
    """Whether a call of NAME gives memory back."""
    return any(word in name for word in ("Free", "Release", "Unmap"))


def is_off(rules: Rules) -> bool:
    """Whether most of the kept steps have so many calls that nothing seems to be kept."""
    calls: dict[object, list[Event]] = {}
    for event, cause, _ in rules.idle.ranges if rules.idle else ():
        if cause == "allocator" and rules.is_kept(event):
            calls.setdefault(rules.step_of.get(event), []).append(event)
    n = sum(
        len(own) >= MANY and GIVEN_BACK * sum(gives_back(c.name) for c in own) >= len(own)
        for own in calls.values()
    )
    return 2 * n > len(rules.kept_steps)


def allocator(rules: Rules, row: dict) -> str:
    """The sentence; ROW is that of the twin."""
    devices = rules.devices()
    text = plural(row["count"], "call") + (f", above all {HOLE}," if row["subject"] else "")
    text += (
        " takes device memory or gives it back"
        if row["count"] == 1
        else " take device memory or give it back"
    ) + " within steps: "
    much = f"{share(row['part'] / row['whole'])} of the step time"
    if rules.work:
        who = (
            f"{devices[0]} has no work"
            if len(devices) == 1 and ":" in devices[0]
            else "no device works"
        )
        text += f"{time(row['impact_ns'])} of the {time(length(rules.gaps()))} in which {who} ({much})"
    else:
        text += f"{much} ({time(row['impact_ns'])})"
    if not rules.trace.is_torch:
        return text + ". Keep memory instead of returning it."
    if is_off(rules):
        return text + (
            ". Steps have 100 such calls or more, as where the caching allocator is "
            "switched off (unset PYTORCH_NO_CUDA_MEMORY_CACHING), or memory is short at "
            "every step (smaller batches)."
        )
    return text + (
        ". The caching allocator does that while it grows, and again and again where memory "
        "is short or fragmented; a program that switched it off for each tensor. Keep "
        f"shapes the same, do not call {HOLE}empty_cache() in steps, or set "
        "PYTORCH_ALLOC_CONF=expandable_segments:True."
    )


def texts(rules: Rules, waited: tuple[int, int] | None) -> dict[str, str]:
    """The sentences by code."""
    found = {}
    if "communication" in rules.found:
        found["communication"] = communication(rules, rules.found["communication"], waited)
    if "allocator" in rules.found:
        found["allocator"] = allocator(rules, rules.found["allocator"])
    return found
