#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: layers-test
# mode: fast
"""Check that check_layers.py finds made-up violations, and reports nothing in a correct tree.

Each case is a small correct tree with some files changed.
"""

import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).with_name("check_layers.py")
SPDX = "SPDX-License-Identifier: Apache-2.0"

LAYERS = f"""# {SPDX}
layer low 0
layer high 1
layer apart 2 only low
room high 1
room high/left 0
room high/right 0
"""


def header(name, *includes):
    lines = "".join(f'#include "{x}.h"\n' for x in includes)
    return f"/* {SPDX} */\n/*\n * Threading: pure.\n */\n#pragma once\n{lines}"


def code(*includes):
    return f"/* {SPDX} */\n" + "".join(f'#include "{x}.h"\n' for x in includes)


def listing(*names):
    return f"# {SPDX}\n" + "".join(f"'{name}'\n" for name in names)


TREE = {
    "src/LAYERS": LAYERS,
    "src/low/a.h": header("low/a"),
    "src/low/a.c": code("low/a"),
    "src/low/a_test.c": code("low/a"),
    "src/low/meson.build": listing("a.c", "a_test.c"),
    "src/high/b.h": header("high/b", "high/left/l", "low/a"),
    "src/high/left/l.h": header("high/left/l", "low/a"),
    "src/high/right/r.h": header("high/right/r"),
    "src/apart/c.h": header("apart/c", "low/a"),
}

# A page beside it.
PAGE = {
    "web/LAYERS": "layer low 0\nlayer high 1\nlayer . 2\n",
    "web/src/main.ts": 'import { a } from "./high/b.ts";\n',
    "web/src/low/a.ts": 'import type { G } from "../../gen/g.ts";\nimport { x } from "preact";\n',
    "web/src/high/b.ts": 'import {\n  a,\n} from "../low/a.ts";\n',
}

# name, changed files, the output of the tool (None: no output)
CASES = [
    ("a tree that keeps all rules", {}, None),
    (
        "up",
        {"src/low/a.h": header("low/a", "high/b")},
        "low includes high, which is not below it",
    ),
    (
        "not among those named",
        {"src/apart/c.h": header("apart/c", "high/b")},
        "apart includes high, but may only low",
    ),
    (
        "sideways between rooms",
        {"src/high/left/l.h": header("high/left/l", "high/right/r")},
        "high/left includes high/right, which is not below it",
    ),
    (
        "up from a room",
        {
            "src/high/b.h": header("high/b"),
            "src/high/left/l.h": header("high/left/l", "high/b"),
        },
        "high/left includes high, which is not below it",
    ),
    (
        "a test, up from a room",
        {
            "src/high/left/l_test.c": code("high/left/l", "high/b"),
            "src/high/left/meson.build": listing("l_test.c"),
        },
        "high/left includes high, which is not below it",
    ),
    (
        "a folder that is not listed",
        {"src/new/n.h": header("new/n")},
        "the folder new is not in src/LAYERS",
    ),
    (
        "a room that is not listed",
        {"src/high/new/n.h": header("high/new/n")},
        "src/high/new is no room",
    ),
    (
        "a room that is listed with all of its folder",
        {
            "src/LAYERS": LAYERS + "room high/* 0\n",
            "src/high/new/n.h": header("high/new/n", "low/a"),
        },
        None,
    ),
    (
        "sideways between rooms of which one is listed with all",
        {
            "src/LAYERS": LAYERS + "room high/* 0\n",
            "src/high/new/n.h": header("high/new/n", "high/left/l"),
        },
        "high/new includes high/left, which is not below it",
    ),
    (
        "a layer without a folder",
        {"src/LAYERS": LAYERS + "layer gone 3\n"},
        "there is no folder src/gone",
    ),
    (
        "a room without a folder",
        {"src/LAYERS": LAYERS + "room high/gone 0\n"},
        "there is no folder src/high/gone",
    ),
    ("a word that is not known", {"src/LAYERS": LAYERS + "also low high\n"}, "not understood"),
    (
        "two headers that include each other",
        {"src/low/a.h": header("low/a", "low/d"), "src/low/d.h": header("low/d", "low/a")},
        "modules include each other: low/a low/d; such as low/a -> low/d -> low/a",
    ),
    (
        "a circle by way of a .c file",
        {"src/low/a.c": code("low/a", "low/d"), "src/low/d.h": header("low/d", "low/a")},
        "modules include each other: low/a low/d",
    ),
    (
        "a circle of three",
        {
            "src/low/a.c": code("low/a", "low/d"),
            "src/low/d.h": header("low/d", "low/e"),
            "src/low/e.h": header("low/e", "low/a"),
        },
        "such as low/a -> low/d -> low/e -> low/a",
    ),
    (
        "a test, which closes no circle",
        {"src/low/a_test.c": code("low/a", "low/d"), "src/low/d.h": header("low/d", "low/a")},
        None,
    ),
    (
        "a circle that is listed",
        {
            "src/LAYERS": LAYERS + "circle low/d low/a\n",
            "src/low/a.h": header("low/a", "low/d"),
            "src/low/d.h": header("low/d", "low/a"),
        },
        None,
    ),
    (
        "a circle that is larger than it is listed",
        {
            "src/LAYERS": LAYERS + "circle low/a low/d\n",
            "src/low/a.h": header("low/a", "low/d"),
            "src/low/d.h": header("low/d", "low/e"),
            "src/low/e.h": header("low/e", "low/a"),
        },
        "modules include each other: low/a low/d low/e",
    ),
    (
        "a circle that is gone",
        {"src/LAYERS": LAYERS + "circle low/a low/d\n"},
        "circle low/a low/d: there is none of just these",
    ),
    (
        "a full folder",
        {f"src/low/x{i}.h": header(f"low/x{i}") for i in range(44)},
        "src/low has 46 files of the product, more than 45",
    ),
    (
        "one name in two folders",
        {"src/high/left/a.h": header("high/left/a")},
        "one name for several modules: high/left/a low/a",
    ),
    (
        "one name in each half",
        {"src/LAYERS": LAYERS + "half apart\n", "src/apart/a.h": header("apart/a")},
        None,
    ),
    (
        "atomics that are not listed",
        {"src/low/a.c": code("low/a") + "_Atomic int n;\n"},
        "_Atomic, but the file is not listed",
    ),
    (
        "atomics that are gone",
        {"src/LAYERS": LAYERS + "atomic src/low/a.c\n"},
        "atomic src/low/a.c: it uses none",
    ),
    (
        "atomics that are listed by the folder",
        {
            "src/LAYERS": LAYERS + "atomic src/high\n",
            "src/high/left/l.h": header("high/left/l") + "extern _Atomic int n;\n",
        },
        None,
    ),
    (
        "atomics of another folder",
        {
            "src/LAYERS": LAYERS + "atomic src/high\n",
            "src/high/left/l.h": header("high/left/l") + "extern _Atomic int n;\n",
            "src/low/a.c": code("low/a") + "_Atomic int n;\n",
        },
        "src/low/a.c:3: _Atomic, but the file is not listed",
    ),
    (
        "a list in a comment that goes on without its indent",
        {"src/low/a.c": code("low/a") + "/*\n *   - " + "x" * 80 + "\n * y\n */\n"},
        "a list in a comment that goes on without its indent",
    ),
    (
        "an order that is not said",
        {
            "src/LAYERS": LAYERS + "atomic src/low/a.c\n",
            "src/low/a.c": code("low/a") + "int n = atomic_load(&m);\n",
        },
        "without an explicit memory_order",
    ),
    (
        "a file that ARCHITECTURE names and is there",
        {"ARCHITECTURE.md": "Read `low/a.h`, `src/low/*.c` and `NAME.c`.\n"},
        None,
    ),
    (
        "a file that ARCHITECTURE names by half its path",
        {"ARCHITECTURE.md": "Read `a.h`.\n"},
        "ARCHITECTURE.md:1: there is no file a.h",
    ),
    (
        "a file that is listed in the folder above",
        {"src/high/left/l.c": code("high/left/l"), "src/high/meson.build": listing("left/l.c")},
        None,
    ),
    (
        "a file that is listed nowhere",
        {"src/high/left/l.c": code("high/left/l"), "src/high/meson.build": listing("l.c")},
        "src/high/left/l.c:1: not listed in src/high/left/meson.build",
    ),
    (
        "a function of whatever name",
        {"src/low/a.c": code("low/a") + "void begin(void)\n{\n}\n"},
        "begin() is neither static nor named osc_",
    ),
    (
        "a function that a host looks up",
        {
            "src/low/a.c": code("low/a")
            + "OSC_API void begin(void);\n\nvoid begin(void)\n{\n}\n"
        },
        None,
    ),
    (
        "no guard",
        {"src/low/a.h": header("low/a").replace("#pragma once\n", "")},
        "src/low/a.h:1: no #pragma once",
    ),
    (
        "a file that only a list names",
        {"src/low/meson.build": listing("a_test.c"), "src/low/parts.list": "# all\na\n"},
        None,
    ),
    ("a file that is not built", {"src/low/meson.build": listing("a_test.c")}, "not listed in"),
    (
        "a long function",
        {"src/low/a.c": code("low/a") + "void osc_a(void)\n{\n" + "\n" * 80 + "}\n"},
        "osc_a() has 83 lines, more than 80",
    ),
    ("a page that keeps its rules", PAGE, None),
    (
        "an import up in the page",
        PAGE | {"web/src/low/a.ts": 'import type {\n  B,\n} from "../high/b.ts";\n'},
        "web/src/low/a.ts:3: low imports high, which is not below it",
    ),
    (
        "a folder of the page that is not listed",
        PAGE | {"web/src/new/n.ts": 'import "../low/a.ts";\n'},
        "the folder web/src/new is not in web/LAYERS",
    ),
    (
        "a layer of the page without a folder",
        PAGE | {"web/LAYERS": PAGE["web/LAYERS"] + "layer gone 1\n"},
        "there is no folder web/src/gone",
    ),
    (
        "two modules of the page that import each other",
        PAGE
        | {
            "web/src/low/a.ts": 'import { c } from "./c.ts";\n',
            "web/src/low/c.ts": 'export { a } from "./a.ts";\n',
        },
        "modules import each other: low/a.ts low/c.ts",
    ),
    (
        "a name without a prefix",
        {"src/low/a.c": code("low/a") + "void a(void)\n{\n}\n"},
        "a() is neither static nor named osc_",
    ),
]


def said(changes):
    """The output of the tool for the tree with CHANGES, and its exit status."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in (TREE | changes).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        done = subprocess.run(
            [sys.executable, TOOL, "--root", root],
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.stdout, done.returncode


def main():
    failed = 0
    for name, changes, expected in CASES:
        output, status = said(changes)
        is_found = expected is not None and expected in output
        if (status == 0) != (expected is None) or is_found != (expected is not None):
            failed += 1
            print(f"FAILED {name}: not {expected!r}, but status {status} and\n{output}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
