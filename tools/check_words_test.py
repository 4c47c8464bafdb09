#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: words-test
# mode: fast
"""Check that check_words.py finds broken references and foreign words, and reports nothing
else."""

import sys

import check_words

TREE = {
    "README.md": "# Start\n\n[it](docs/how.md#what-is-it), [this](#start), [that](https://a.b/c.md)\n",
    "docs/how.md": "# How\n\n## What *is* it?\n\n```\n# no heading\n```\n[back](../README.md)\n",
    "src/low/a.h": "/* See docs/how.md#how, low/b.h and README.md; torch/nn/x.py is not ours. */\n",
    "src/low/b.h": "/* A list of 2021 (R-2 is no section), TB as such. */\n",
    "src/low/b_test.c": '/* A made-up path: some/where.py. */\nload("ProfilerStep#1", "cuda:0");\n',
    "src/import/chrome/c.c": '{"cuda_runtime", OSC_KIND_RUNTIME}, /* phase B */\n',
    "src/low/d.c": "/* Such as cuda:0,\n * xpu:0 and others; a phase of the program. */\n",
}
# Changes of the tree, and the error that each causes.
CASES = (
    [
        ({}, None),
        ({"src/low/b.h": "/* See docs/why.md. */\n"}, "src/low/b.h:1: no file docs/why.md"),
        (
            {"src/low/b.h": "/* See how.md. */\n", "docs/how.md": None},
            "src/low/b.h:1: no file how.md",
        ),
        ({"src/low/b.h": "/* See docs/how.md#why. */\n"}, "docs/how.md has no section #why"),
        ({"src/low/b.h": "/* See docs/how.md#no-heading. */\n"}, "has no section #no-heading"),
        ({"src/low/b.h": "/* See low/gone.h. */\n"}, "src/low/b.h:1: no file low/gone.h"),
        (
            {"docs/how.md": "[it](gone/)\n## What is it\n# How\n"},
            "docs/how.md:1: no file gone/",
        ),
        ({"docs/how.md": "# What is it\nSee `b.h` and `c.h`.\n"}, "docs/how.md:2: no file c.h"),
        (
            {"ARCHITECTURE.md": "See `low/a.h` and `b.h`.\n"},
            "ARCHITECTURE.md:1: no folder: b.h",
        ),
        ({"README.md": "# Start\n[it](#end)\n"}, "README.md:2: README.md has no section #end"),
    ]
    + [
        ({"src/low/b.h": f"/* The rule ({cited}). */\n"}, "not named: " + cited[:4])
        for cited in ("TB 3.2", "AN A24", "TP 4", "R-2.3", "[BUG]")
    ]
    + [
        ({path: f"/* {word}. */\n"}, f"{path}:1: {what}")
        for path in ("src/low/d.c", "include/opscope/a.h", "python/opscope/b.py")
        for word, what in (
            ("Such as cuda:0", "one family for all: cuda"),
            ("CUDA graphs", "one family for all: CUDA"),
            ("phase s", "a word of Chrome traces: phase s"),
            ("named [memory]", "a word of Chrome traces: [memory]"),
            ("ProfilerStep#5", "a word of Chrome traces: ProfilerStep#"),
            ("xpu or cuda_runtime", "a word of Chrome traces: cuda_runtime"),
        )
    ]
)


def main():
    n_failed = 0
    for changes, expected in CASES:
        texts = {k: v for k, v in {**TREE, **changes}.items() if v is not None}
        wrong = list(check_words.check(texts))
        is_right = any(expected in line for line in wrong) if expected else not wrong
        if not is_right:
            print(f"FAILED: expected {expected!r}, got {wrong}")
            n_failed += 1
    print(f"{len(CASES) - n_failed} passed, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
