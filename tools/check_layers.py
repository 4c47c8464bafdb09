#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: layers
# mode: fast
"""Check rules of the code that a compiler does not know.

Reads src/LAYERS. The C code is formatted by clang-format, so a function begins
with "{" and ends with "}" in the first column, and four columns are one level.
Prints "FILE:LINE: what is wrong", then the number of such files. Rules about the whole tree
(circles of includes, full folders, unused lines of src/LAYERS, imports of the page by web/LAYERS)
are checked if no file is named.
"""

import argparse
import collections
import pathlib
import re
import sys

FUNCTION_LINES = 80
FILE_LINES = 800
NESTING = 4
PARAMETERS = 6
# Functions that stand in for those of an interface.
PRESCRIBED_NAMES = "cl_[A-Z]|ze_"  # OpenCL, Level Zero
PRESCRIBED = {"handle_request"}  # parameters that a library demands: libmicrohttpd
FOLDER_FILES = 45  # tests and build files are not counted
SPDX = "SPDX-License-Identifier: Apache-2.0"

ALLOCATORS = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|"
    r"aligned_alloc|posix_memalign|getline|open_memstream)\s*\("
)
SORTERS = re.compile(r"(?<![\w.>])(qsort(?:_r)?)\s*\(")
ATOMIC = re.compile(r"\b(_Atomic|atomic_\w+|stdatomic\.h|__atomic_\w+|__sync_\w+)\b")
ATOMIC_CALL = re.compile(r"\batomic_(?!flag\b|bool\b|u?int\b|u?long\b)\w+\s*\(")
# Of TypeScript, also where the list of names is on lines before.
IMPORT = re.compile(r'^(?:import|export|\}).*?"(\.[^"]+)";$')
CONTROL = re.compile(r"( +)(?:\} )?(?:else )?(?:if|for|while|do|switch)\b")
LISTED = re.compile(r" \*  +\S")  # a line of a list or a table in a comment
UNLISTED = re.compile(r" \* \S")
FREE_NAMES = {
    "main",
    "TEST",
    "TEST_WITH",  # static functions, by tests/support/unit.h
    "LLVMFuzzerTestOneInput",
    "LLVMFuzzerInitialize",
    "mprotect",  # a test replaces it, to watch the log of names grow
    "_ZN5torch8profiler8itt_markEPKc",
}
# Hosts look up functions of collectors by names of their own: those are declared so.
EXPORTED = re.compile(r"\bOSC_API\s[\w\s*]*?\b(\w+)\(")


class Layers:
    """The rules in src/LAYERS."""

    def __init__(self, path):
        self.path = path
        self.layers = {}  # folder -> (level, the folders that it may include; None: all lower ones)
        self.rooms = {}  # folder or sub-folder -> level within its folder
        self.atomic, self.circles, self.flat, self.half = set(), set(), set(), set()
        for n, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if words and not self.take(words):
                sys.exit(f"{path}:{n}: not understood")

    def take(self, words):
        kind, rest = words[0], words[1:]
        if kind == "layer" and len(rest) >= 2 and rest[2:3] in ([], ["only"]):
            self.layers[rest[0]] = (int(rest[1]), set(rest[3:]) if len(rest) > 2 else None)
        elif kind == "room" and len(rest) == 2:
            self.rooms[rest[0]] = int(rest[1])
        elif kind in ("atomic", "flat") and len(rest) == 1:
            getattr(self, kind).add(rest[0])
        elif kind == "half" and rest:
            self.half.update(rest)
        elif kind == "circle" and len(rest) >= 2:
            self.circles.add(tuple(sorted(rest)))
        else:
            return False
        return True

    def may_be_atomic(self, name):
        """The line of the file NAME, or of a folder above it; None: there is none."""
        above = [name, *map(str, pathlib.PurePath(name).parents)]
        return next((path for path in above if path in self.atomic), None)

    def room_level(self, name):
        """The level of the room NAME, by its own line or by that for all of its folder; None: it
        is no room."""
        any_room = f"{name.split('/')[0]}/*" if "/" in name else name
        return self.rooms.get(name, self.rooms.get(any_room))


def blank(text):
    """The code with comments and literals blanked out; the lines stay the same."""

    def spaces(match):
        s = match.group()
        keep = s[0] if s[0] in "\"'" else " "
        return keep + re.sub(r"[^\n]", " ", s[1:-1]) + (keep if len(s) > 1 else "")

    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        spaces,
        text,
        flags=re.S,
    )


def functions(lines):
    """For each function: (line of the signature, of "{", of "}", signature), from 0."""
    start = None
    for i, line in enumerate(lines):
        if line == "{" and i > 0:
            start = i
        elif line == "}" and start is not None:
            first = start - 1
            while (
                first > 0 and re.match(r"[\s]|[\w*]+\(", lines[first]) and lines[first].strip()
            ):
                first -= 1
            yield first, start, i, " ".join(lines[first:start])
            start = None


def parameters(signature):
    depth, n = 0, 0
    end = signature.rfind(")")
    begin, level = end, 0
    for i in range(end, -1, -1):
        level += {")": 1, "(": -1}.get(signature[i], 0)
        if level == 0:
            begin = i
            break
    inside = signature[begin + 1 : end]
    if inside.strip() in ("", "void"):
        return 0
    for c in inside:
        depth += {"(": 1, ")": -1}.get(c, 0)
        n += c == "," and depth == 0
    return n + 1


class Checker:
    def __init__(self, root, rules):
        self.root = root
        self.rules = rules
        self.faults = []
        self.modules = collections.defaultdict(set)  # x.h and x.c -> the modules they include
        self.files = collections.Counter()  # of the product, in each folder of src
        self.named = collections.defaultdict(set)  # (half, base name) -> modules of that name
        self.uses_atomics = set()
        self.listed = None

    def fault(self, line, text):
        self.faults.append(f"{self.name}:{line + 1}: {text}")

    def check(self, path):
        self.name = str(path.relative_to(self.root))
        text = path.read_text(errors="replace")
        before = len(self.faults)
        head = text.split("\n", 2)[:2]
        if path.suffix in (".c", ".h"):
            if head[0] != f"/* {SPDX} */":
                self.fault(0, f"the first line is not /* {SPDX} */")
            self.check_c(path, text)
        elif not any(SPDX in line for line in head):
            self.fault(0, f"no {SPDX} in the first two lines")
        return len(self.faults) == before

    def check_c(self, path, text):
        raw = text.split("\n")
        lines = blank(text).split("\n")
        is_src = self.name.startswith("src/")
        if len(lines) - 1 > FILE_LINES:
            self.fault(FILE_LINES, f"{len(lines) - 1} lines, more than {FILE_LINES}")
        for i, line in enumerate(lines):
            self.check_line(i, line, is_src)
        # clang-format cuts a line that is too long, and forgets the indent of what follows.
        for i, (line, below) in enumerate(zip(raw, raw[1:])):
            if len(line) > 80 and LISTED.match(line) and UNLISTED.match(below):
                self.fault(i + 1, "a list in a comment that goes on without its indent")
        if is_src:
            self.check_includes(path, raw)
            self.check_atomics(lines)
            if path.suffix == ".h":
                self.check_header(path, raw)
            else:
                self.check_listed(path)
        header = path.with_suffix(".h")
        declared = text + (header.read_text() if header.exists() else "")
        self.exported = set(EXPORTED.findall(declared))
        for first, start, end, signature in functions(lines):
            self.check_function(lines, first, start, end, signature, is_src)
        if path.suffix == ".c":
            self.check_prototypes(lines)

    def check_line(self, i, line, is_src):
        match = ALLOCATORS.search(line)
        if match and is_src and self.name != "src/base/mem.c":
            self.fault(i, f"{match[1]}() instead of what base/mem.h has")
        match = SORTERS.search(line)
        if (
            match
            and is_src
            and self.name != "src/base/sort.c"
            and not self.name.endswith("_test.c")
        ):
            self.fault(i, f"{match[1]}() instead of what base/sort.h has")
        if re.search(r"\balloca\s*\(", line):
            self.fault(i, "alloca()")
        match = re.search(r"\bgoto (?!out\b)(\w+)", line)
        if match:
            self.fault(i, f"goto {match[1]}: the one label is out")

    def check_includes(self, path, raw):
        includes = [
            (i, m)
            for i, line in enumerate(raw)
            if (m := re.match(r'#include (["<])([^">]+)[">]', line))
        ]
        stem = path.stem.removesuffix("_test")
        own = path.with_name(stem + ".h")
        if path.suffix == ".c" and own.exists() and includes:
            header = str(own.relative_to(self.root / "src"))
            if includes[0][1][2] != header:
                self.fault(includes[0][0], f"{header} is not included first")
        room = self.name.removeprefix("src/").rpartition("/")[0]
        folder = room.split("/")[0]
        if folder not in self.rules.layers:
            self.fault(0, f"the folder {folder} is not in src/LAYERS")
            return
        for i, m in includes:
            if m[1] == '"':
                self.check_include(i, room, m[2], path.stem.endswith("_test"))

    def check_include(self, i, room, included, is_test):
        """Check that a file of ROOM may include INCLUDED in line I; tests may use tests/support."""
        layers = self.rules.layers
        folder, there = room.split("/")[0], included.rpartition("/")[0]
        target = there.split("/")[0]
        if target == folder:
            if room != there and folder not in self.rules.flat:
                self.check_rooms(i, room, there)
        elif target not in layers:
            if target != "opscope" and not (is_test and target == "support"):
                self.fault(i, f'"{included}" does not begin with a folder of src/LAYERS')
        elif layers[folder][1] is not None and target not in layers[folder][1]:
            self.fault(
                i,
                f"{folder} includes {target}, but may only "
                f"{' '.join(sorted(layers[folder][1]))}",
            )
        elif layers[target][0] >= layers[folder][0]:
            self.fault(i, f"{folder} includes {target}, which is not below it")

    def check_rooms(self, i, room, there):
        level = self.rules.room_level
        for name in (room, there):
            if level(name) is None:
                self.fault(i, f"{room} includes {there}, but {name} is no room of src/LAYERS")
                return
        if level(there) >= level(room):
            self.fault(i, f"{room} includes {there}, which is not below it")

    def count_module(self, path, text):
        """Store the includes of PATH, to find circles, and count it for its folder."""
        if path.stem.endswith("_test"):
            return
        self.files[str(path.parent.relative_to(self.root))] += 1
        own = str(path.relative_to(self.root / "src").with_suffix(""))
        self.named[own.split("/", maxsplit=1)[0] in self.rules.half, path.stem].add(own)
        for included in re.findall(r'^#include "([^"]+)"', text, flags=re.M):
            module = str(pathlib.PurePath(included).with_suffix(""))
            if module != own:
                self.modules[own].add(module)

    def check_atomics(self, lines):
        for i, line in enumerate(lines):
            match = ATOMIC.search(line)
            if not match:
                continue
            permit = self.rules.may_be_atomic(self.name)
            self.uses_atomics.add(permit)
            if permit is None:
                self.fault(i, f"{match[1]}, but the file is not listed as atomic in src/LAYERS")
                return
            for call in ATOMIC_CALL.finditer(line):
                rest = " ".join(lines[i : i + 4])[call.start() :].split(";")[0]
                is_explicit = "_explicit" in call[0] or "_fence" in call[0]
                if not is_explicit or "memory_order_" not in rest:
                    self.fault(i, f"{call[0]}...) without an explicit memory_order")

    def check_header(self, path, raw):
        if "#pragma once" not in raw:
            self.fault(0, "no #pragma once")
        if not any("Threading:" in line for line in raw[:60]):
            self.fault(0, "no Threading: line in the opening comment")

    def in_lists(self):
        """The files that lists such as analysis/tables.list name, below src/, without suffix."""
        if self.listed is None:
            self.listed = {
                f"{path.parent.name}/{line.split()[0]}"
                for path in (self.root / "src").glob("*/*.list")
                for line in path.read_text().splitlines()
                if line and line[0] != "#"
            }
        return self.listed

    def check_listed(self, path):
        own = path.relative_to(self.root / "src").with_suffix("").as_posix()
        listing, above = path.with_name("meson.build"), path.parent.with_name("meson.build")
        names = (f"'{path.name}'", f"'{path.parent.name}/{path.name}'")
        if own.removesuffix("_test") in self.in_lists():
            return
        for where, name in zip((listing, above), names):
            if where.exists() and name in where.read_text():
                return
        self.fault(0, f"not listed in {listing.relative_to(self.root)}")

    def check_function(self, lines, first, start, end, signature, is_src):
        match = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", signature))
        name = match[1] if match else "?"
        if end - first + 1 > FUNCTION_LINES:
            self.fault(
                first, f"{name}() has {end - first + 1} lines, more than {FUNCTION_LINES}"
            )
        for i in range(start, end):
            match = CONTROL.match(lines[i])
            if match and len(match[1]) > 4 * NESTING and match[1].strip() == "":
                self.fault(i, f"{name}() nests deeper than {NESTING} levels")
                break
        is_prescribed = name in PRESCRIBED or re.match(PRESCRIBED_NAMES, name)
        if parameters(signature) > PARAMETERS and not is_prescribed:
            self.fault(
                first,
                f"{name}() has {parameters(signature)} parameters, more than {PARAMETERS}",
            )
        is_static = re.search(r"\bstatic\b", signature)
        is_free = name.startswith("osc_") or name in FREE_NAMES or name in self.exported
        if is_src and not is_static and not is_free:
            self.fault(first, f"{name}() is neither static nor named osc_")

    def check_prototypes(self, lines):
        for i, line in enumerate(lines):
            if not line.startswith("static ") or "=" in line:
                continue
            whole = line
            for more in lines[i + 1 : i + 6]:
                if ";" in whole or "{" in whole or more == "{":
                    break
                whole += " " + more.strip()
            if (
                re.search(r"\w\s*\([^()]*\)\s*(__attribute__.*)?;", whole)
                and "{" not in whole
                and "(*" not in whole
            ):
                self.fault(i, "a forward prototype; helpers come before their callers")

    def check_tree(self):
        """Check the rules that concern all files together."""
        self.name = "src/LAYERS"
        for path in sorted((self.root / "src").rglob("*")):
            if path.suffix in (".c", ".h", ".hpp", ".inc", ".cpp"):
                self.count_module(path, path.read_text(errors="replace"))
        rules, root = self.rules, self.root / "src"
        for name in sorted([*rules.layers, *rules.rooms]):
            if not (root / name.removesuffix("/*")).is_dir():
                self.fault(0, f"there is no folder src/{name}")
        for name in sorted(rules.atomic - self.uses_atomics):
            self.fault(0, f"atomic {name}: it uses none, or is not there")
        for name, n in sorted(self.files.items()):
            room = name.removeprefix("src/")
            is_flat = room.split("/")[0] in rules.flat
            if "/" in room and not is_flat and rules.room_level(room) is None:
                self.fault(0, f"{name} is no room of src/LAYERS")
            if n > FOLDER_FILES:
                self.fault(0, f"{name} has {n} files of the product, more than {FOLDER_FILES}")
        for modules in self.named.values():
            if len(modules) > 1:
                self.fault(0, f"one name for several modules: {' '.join(sorted(modules))}")
        self.check_circles()
        self.check_architecture()
        if (self.root / "web/LAYERS").exists():
            self.check_page()

    def check_page(self):
        """Check what the folders of the page import, by web/LAYERS."""
        layers, root = Layers(self.root / "web/LAYERS").layers, self.root / "web/src"
        edges = collections.defaultdict(set)
        for path in sorted(root.rglob("*.ts*")):
            self.name = str(path.relative_to(self.root))
            for i, line in enumerate(path.read_text().splitlines()):
                match = IMPORT.search(line)
                there = (path.parent / match[1]).resolve() if match else root
                if not match or not there.is_relative_to(root.resolve()):
                    continue
                there = there.relative_to(root.resolve())
                self.check_import(
                    i, layers, str(path.parent.relative_to(root)), str(there.parent)
                )
                edges[str(path.relative_to(root))].add(str(there))
        self.name = "web/LAYERS"
        for folder in sorted(layers):
            if not (root / folder).is_dir():
                self.fault(0, f"there is no folder web/src/{folder}")
        for circle in sorted(circles(edges)):
            way = " -> ".join(way_around(edges, circle))
            self.fault(0, f"modules import each other: {' '.join(circle)}; such as {way}")

    def check_import(self, i, layers, folder, there):
        for name in (folder, there):
            if name not in layers:
                self.fault(i, f"the folder web/src/{name} is not in web/LAYERS")
                return
        if there != folder and layers[there][0] >= layers[folder][0]:
            self.fault(i, f"{folder} imports {there}, which is not below it")

    def check_architecture(self):
        """Check that files are named by whole paths, from the root or from src, and exist."""
        path = self.root / "ARCHITECTURE.md"
        for n, line in enumerate(path.read_text().splitlines() if path.exists() else []):
            for name in re.findall(r"`([\w./*-]+\.(?:h|c|inc|py|md|build))`", line):
                if not re.match(
                    r"NAME|cmd_NAME|.*NAME_test|[xX]\.|meson\.build", name
                ) and not any(any(base.glob(name)) for base in (self.root, self.root / "src")):
                    self.faults.append(f"ARCHITECTURE.md:{n + 1}: there is no file {name}")

    def check_circles(self):
        found = set(circles(self.modules))
        for circle in sorted(found - self.rules.circles):
            way = " -> ".join(way_around(self.modules, circle))
            self.fault(0, f"modules include each other: {' '.join(circle)}; such as {way}")
        for circle in sorted(self.rules.circles - found):
            self.fault(0, f"circle {' '.join(circle)}: there is none of just these")


def circles(edges):
    """The sets of nodes of a graph that reach each other (Tarjan, without recursion)."""
    order, low, stack, on_stack = {}, {}, [], set()
    for root in sorted(edges):
        work = [(root, None)] if root not in order else []
        while work:
            node, rest = work.pop()
            if rest is None:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
                rest = iter(sorted(edges.get(node, ())))
            for other in rest:
                if other not in order:
                    work += [(node, rest), (other, None)]
                    break
                if other in on_stack:
                    low[node] = min(low[node], low[other])
            else:
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        yield tuple(sorted(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]


def way_around(edges, circle):
    """A shortest path from the first node of CIRCLE through others of it and back."""
    ways = collections.deque([[circle[0]]])
    seen = set()
    while ways:
        way = ways.popleft()
        for other in sorted(edges.get(way[-1], ())):
            if other == circle[0]:
                return [*way, other]
            if other in circle and other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def sources(root):
    for folder in ("src", "include", "tests", "bench", "tools", "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = path.name
            if (
                path.is_file()
                and (path.suffix in (".c", ".h", ".py", ".sh") or name == "meson.build")
                and "corpus" not in path.parts
            ):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="files to look at; all, if none is named")
    parser.add_argument(
        "--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent
    )
    args = parser.parse_args()
    checker = Checker(args.root, Layers(args.root / "src/LAYERS"))
    paths = [pathlib.Path(p).resolve() for p in args.paths] or list(sources(args.root))
    failed = sum(not checker.check(path) for path in paths)
    if not args.paths:
        before = len(checker.faults)
        checker.check_tree()
        failed += len(checker.faults) > before
    for fault in checker.faults:
        print(fault)
    print(f"{failed} of {len(paths)} files break a rule")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
