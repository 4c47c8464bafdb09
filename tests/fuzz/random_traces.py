#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write random traces whose events repeat their layouts, whole and damaged.

usage: random_traces.py DIR N SEED

The reader's fast path only reads events with the layout of an earlier one, and random bytes seldom
have one. Here each file has a few layouts of events, filled repeatedly with values of every type,
usual and unusual, and then a few bytes are changed. replay_chrome compares the paths of the reader.
"""

import os
import random
import sys

KEYS = ["External id", "correlation", "device", "stream", "Input Dims", "a", "name", "ts", "id"]
MEMBERS = ["ph", "cat", "name", "pid", "tid", "ts", "dur", "args"]
WORDS = ["true", "false", "null", "NaN", "N/A", "nul"]
TEXTS = [
    "aten::add",
    "",
    'a\\"b',
    "\\u00e9\\ud83d\\ude00",
    "\\ud800x",
    'x"y',
    'x", "y',
    "a\\q",
    "\x01",
    "\xe9",
    "\xff",
    "7",
    "a}, {b",
    "x" * 69,
    "unknown",
    "ProfilerStep#1",
    "a\nb",
    "a]",
    '{"',
    "true",
]
NUMBERS = [
    "0",
    "-0",
    "0.0",
    "007",
    "-",
    "1.",
    ".5",
    "1E5",
    "1e39",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
]
BYTES = b'[]{}",:\\ \n0ex\x00'


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.odd = 0.0  # how often a value is wrong

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, p):
        return self.random.random() < p

    def number(self):
        r = self.random
        return r.choice(
            [
                self.pick(NUMBERS),
                str(r.randrange(1000)),
                str(-r.randrange(1 << 34)),
                "%d.%03d" % (r.randrange(1000), r.randrange(1000)),
                "%d.%d" % (r.randrange(1000), r.randrange(10 ** r.randrange(1, 20))),
            ]
        )

    def text(self):
        return '"%s"' % (
            self.pick(TEXTS) if self.chance(0.4) else "v%d" % self.random.randrange(4)
        )

    def anything(self, depth=0):
        if depth > 4 or self.chance(0.3):
            return self.pick([self.number(), self.text(), self.pick(WORDS), "[]", "{}"])
        return self.nested(depth)

    def nested(self, depth=0):
        if depth == 0 and self.chance(0.05):
            levels = [1, 62, 63, 64, 65]  # around the limit of the fast path
            return "[" * self.pick(levels) + "]" * self.pick(levels)
        inner = [self.anything(depth + 1) for _ in range(self.random.randrange(4))]
        if self.chance(0.7):
            return "[" + self.pick([", ", ","]).join(inner) + "]"
        return "{" + ", ".join('"k": ' + value for value in inner) + "}"

    def layout(self):
        order = list(MEMBERS)
        if self.chance(0.3):
            self.random.shuffle(order)
        if self.chance(0.3):
            order.append(self.pick(["id", "bp", "x", "dur", "ts", "name", "args"]))
        if self.chance(0.2):
            order.pop(self.random.randrange(len(order)))
        return {
            "order": order,
            "ph": self.pick("XXXXXXBEbeinMstfCQ"),
            "cat": self.pick(["cpu_op", "kernel", "cuda_runtime", "", "c\\u0061t"]),
            "args": [
                (self.pick(KEYS), self.pick("nnttlw"), self.pick(WORDS[:3]))
                for _ in range(self.random.randrange(6))
            ],
            "between": self.pick([", ", ",", ",\n    ", " , "]),
            "colon": self.pick([":", ": ", " : "]),
            "ends": self.pick([("{", "}"), ("{ ", " }"), ("{\n  ", "\n}"), ("{", ",}")]),
            "quoted": self.chance(0.3),
        }

    def argument(self, sort, word):
        if self.chance(self.odd):
            return self.anything()
        if sort == "n":
            return self.number() if self.chance(0.5) else str(self.random.randrange(100))
        if sort == "l":
            return (
                self.nested() if self.chance(0.5) else "[[%d], []]" % self.random.randrange(9)
            )
        return self.text() if sort == "t" else word

    def value(self, layout, member, i):
        if member in ("ph", "cat"):
            return '"%s"' % layout[member]
        if self.chance(self.odd):
            return self.anything()
        if member == "name":
            return self.text()
        if member in ("pid", "tid"):
            return ('"%d"' if layout["quoted"] else "%d") % self.random.randrange(3)
        if member == "ts":
            return self.pick(["%d.%03d" % (i, self.random.randrange(1000)), str(i)])
        if member == "dur":
            return "%d.%03d" % (self.random.randrange(5), self.random.randrange(1000))
        if member == "args":
            return (
                "{"
                + layout["between"].join(
                    '"%s"%s%s' % (key, layout["colon"], self.argument(sort, word))
                    for key, sort, word in layout["args"]
                )
                + "}"
            )
        return self.number()

    def event(self, layout, i):
        start, end = layout["ends"]
        return (
            start
            + layout["between"].join(
                '"%s"%s%s' % (member, layout["colon"], self.value(layout, member, i))
                for member in layout["order"]
            )
            + end
        )

    def trace(self):
        layouts = [self.layout() for _ in range(self.random.randrange(1, 5))]
        self.odd = self.pick([0, 0.02, 0.1, 0.3])
        between = self.pick([", ", ",", ",\n  ", " ,\n"])
        events = between.join(
            self.event(self.pick(layouts), i) for i in range(self.random.randrange(2, 30))
        )
        if self.chance(0.05):
            wrong = self.pick([",,", ", null, ", " ", ", [1], ", "], "])
            events = events.replace(between, wrong, 1)
        return (
            self.pick(
                ['{"schemaVersion": 1, "traceEvents": [%s], "traceName": "x"}', "[%s]", "[%s"]
            )
            % events
        )

    def damage(self, text):
        for _ in range(self.pick([0, 0, 0, 1, 1, 2, 5])):
            at = self.random.randrange(len(text))
            how = self.random.randrange(5)
            if how == 0:
                del text[at : at + self.random.randrange(30)]
            elif how == 1:
                del text[at]
            elif how == 2:
                text[at] = self.pick(BYTES)
            elif how == 3:
                text.insert(at, self.pick(BYTES))
            else:
                other = self.random.randrange(len(text))
                text[at:at] = text[other : other + self.random.randrange(60)]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, n, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    maker = Maker(seed)
    for i in range(n):
        text = bytearray(maker.trace().encode("latin-1"))
        maker.damage(text)
        with open(os.path.join(folder, "%05d" % i), "wb") as f:
            f.write(text)


main()
