# SPDX-License-Identifier: Apache-2.0
"""Random small traces with every phase of the Chrome Trace Event Format."""

from __future__ import annotations

import json
import random

NAMES = ("load", "parse", "draw", "a", "\u00fc\u4e2d", 'x"y', "")
CATEGORIES = ("net", "gfx", "net,gfx", None)


def event(source: random.Random, phase: str, time: float) -> dict:
    """An event of PHASE at TIME."""
    made = {
        "ph": phase,
        "name": source.choice(NAMES),
        "pid": source.choice((1, 2, "gpu")),
        "tid": source.choice((1, 2, 30)),
        "ts": time,
    }
    category = source.choice(CATEGORIES)
    if category is not None:
        made["cat"] = category
    if source.randrange(20) == 0:
        made["ts"] = str(time)
    if phase == "X" and source.randrange(12):
        made["dur"] = round(source.random() * 50, source.randrange(5))
    if phase in "beSFTpnstf":
        made.update(identity(source, phase))
    if phase == "C":
        made["args"] = {name: source.randrange(100) for name in ("low", "high")}
    if phase in "Ee" and source.randrange(2 if phase == "E" else 8) == 0:
        del made["name"]
    if phase == "f" and source.randrange(2):
        made["bp"] = "e"
    return made


def identity(source: random.Random, phase: str) -> dict:
    """The members that tell pairs and arrows apart."""
    number = source.randrange(4)
    ways = [{"id": number}, {"id": hex(number)}, {"id": f"at {number}"}]
    if phase in "be":
        ways += [
            {"id2": {"local": hex(number)}},
            {"id2": {"global": hex(number)}},
            {"id": hex(number), "scope": "tab"},
        ]
    return source.choice(ways)


def data(seed: int) -> bytes:
    """The file of SEED; one of four is cut."""
    source = random.Random(f"phases {seed}")
    time, events = 1000.0, []
    for _ in range(source.randrange(5, 120)):
        phase = source.choice("XXXXXBBBEEEbbeeSSFFTpninIRPCMNDOstf")
        events.append(event(source, phase, round(time, source.randrange(5))))
        time += source.choice((0, 0, 0.5, 1, 3.1415, 40))
    if source.randrange(3) == 0:
        source.shuffle(events)
    whole = events if source.randrange(2) else {"traceEvents": events, "displayTimeUnit": "ns"}
    text = json.dumps(whole, indent=source.choice((None, 1))).encode()
    return text[: source.randrange(60, len(text))] if source.randrange(4) == 0 else text
