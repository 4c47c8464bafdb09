#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the rules of the house style that a compiler does not know.

Reads src/LAYERS. The C code is formatted by clang-format, so a function begins
with "{" and ends with "}" in the first column, and four columns are one level.
Prints "FILE:LINE: what is wrong", then how many files that is about.
"""
import argparse
import pathlib
import re
import sys

FUNCTION_LINES = 80
FILE_LINES = 800
NESTING = 4
PARAMETERS = 6
SPDX = "SPDX-License-Identifier: Apache-2.0"

ALLOCATORS = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|"
    r"aligned_alloc|posix_memalign|getline|open_memstream)\s*\(")
SORTERS = re.compile(r"(?<![\w.>])(qsort(?:_r)?)\s*\(")
ATOMIC = re.compile(r"\b(_Atomic|atomic_\w+|stdatomic\.h|__atomic_\w+|__sync_\w+)\b")
ATOMIC_CALL = re.compile(r"\batomic_(?!flag\b|bool\b|u?int\b|u?long\b)\w+\s*\(")
IMPURE = re.compile(r"(?<![\w.>])(osc_malloc|osc_calloc|osc_realloc|osc_free|osc_pages_\w+|osc_arena_\w+|"
                    r"f?printf|fopen|fread|fwrite|read|write|open|mmap)\s*\(")
CONTROL = re.compile(r"( +)(?:\} )?(?:else )?(?:if|for|while|do|switch)\b")
FREE_NAMES = {"main", "LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize",
              "mprotect",  # tests take its place, to see that the log of names gets room
              "__itt_api_init", "__itt_api_fini", "__itt_api_version", "_ZN5torch8profiler8itt_markEPKc"}


def read_layers(path):
    layers, also, hot, atomic = {}, set(), set(), set()
    for n, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "layer" and len(words) >= 3:
            only = set(words[4:]) if words[3:4] == ["only"] else None
            layers[words[1]] = (int(words[2]), only)
        elif words[0] == "also" and len(words) == 3:
            also.add((words[1], words[2]))
        elif words[0] == "hot" and len(words) == 2:
            hot.add(words[1])
        elif words[0] == "atomic" and len(words) == 2:
            atomic.add(words[1])
        else:
            sys.exit(f"{path}:{n}: not understood")
    return layers, also, hot, atomic


def blank(text):
    """The code with comments and literals blanked out, line by line the same."""
    def spaces(match):
        s = match.group()
        keep = s[0] if s[0] in "\"'" else " "
        return keep + re.sub(r"[^\n]", " ", s[1:-1]) + (keep if len(s) > 1 else "")
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text,
                  flags=re.S)


def functions(lines):
    """(line of the signature, line of "{", line of "}", signature), counted from 0."""
    start = None
    for i, line in enumerate(lines):
        if line == "{" and i > 0:
            start = i
        elif line == "}" and start is not None:
            first = start - 1
            while first > 0 and re.match(r"[\s]|[\w*]+\(", lines[first]) and lines[first].strip():
                first -= 1
            yield first, start, i, " ".join(lines[first:start])
            start = None


def parameters(signature):
    depth, n, opened = 0, 0, False
    end = signature.rfind(")")
    begin, level = end, 0
    for i in range(end, -1, -1):
        level += {")": 1, "(": -1}.get(signature[i], 0)
        if level == 0:
            begin = i
            break
    inside = signature[begin + 1:end]
    if inside.strip() in ("", "void"):
        return 0
    for c in inside:
        depth += {"(": 1, ")": -1}.get(c, 0)
        n += c == "," and depth == 0
    return n + 1


class Checker:
    def __init__(self, root, rules):
        self.root = root
        self.layers, self.also, self.hot, self.atomic = rules
        self.faults = []

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
        is_hot = self.name in self.hot
        if len(lines) - 1 > FILE_LINES and not is_hot:
            self.fault(FILE_LINES, f"{len(lines) - 1} lines, more than {FILE_LINES}")
        for i, line in enumerate(lines):
            self.check_line(i, line, is_src, is_hot)
        if is_src:
            self.check_includes(path, raw)
            self.check_atomics(lines)
            if path.suffix == ".h":
                self.check_header(path, raw)
            else:
                self.check_listed(path)
        for first, start, end, signature in functions(lines):
            self.check_function(lines, first, start, end, signature, is_hot, is_src)
        if path.suffix == ".c":
            self.check_prototypes(lines)

    def check_line(self, i, line, is_src, is_hot):
        match = ALLOCATORS.search(line)
        if match and is_src and self.name != "src/base/mem.c":
            self.fault(i, f"{match[1]}() instead of what base/mem.h has")
        match = SORTERS.search(line)
        if match and is_src and self.name != "src/base/sort.c" and not self.name.endswith("_test.c"):
            self.fault(i, f"{match[1]}() instead of what base/sort.h has")
        if re.search(r"\balloca\s*\(", line):
            self.fault(i, "alloca()")
        match = re.search(r"\bgoto (?!out\b)(\w+)", line)
        if match:
            self.fault(i, f"goto {match[1]}: the one label is out")
        match = IMPURE.search(line)
        if match and is_hot:
            self.fault(i, f"{match[1]}() in a hot file, which has to be pure")

    def check_includes(self, path, raw):
        folder = self.name.split("/")[1] if self.name.count("/") > 1 else None
        includes = [(i, m) for i, line in enumerate(raw)
                    if (m := re.match(r'#include (["<])([^">]+)[">]', line))]
        is_test = path.stem.endswith("_test") # may use tests/support
        stem = path.stem.removesuffix("_test")
        own = path.with_name(stem + ".h")
        if path.suffix == ".c" and own.exists() and includes:
            header = str(own.relative_to(self.root / "src"))
            if includes[0][1][2] != header:
                self.fault(includes[0][0], f"{header} is not included first")
        if folder not in self.layers:
            self.fault(0, f"the folder {folder} is not in src/LAYERS")
            return
        level, only = self.layers[folder]
        for i, m in includes:
            target = m[2].split("/")[0]
            if m[1] == "<" or target == folder or (folder, target) in self.also:
                continue
            if "/" not in m[2] or target not in self.layers:
                if target != "opscope" and not (is_test and target == "support"):
                    self.fault(i, f'"{m[2]}" does not begin with a folder of src/LAYERS')
            elif only is not None and target not in only:
                self.fault(i, f"{folder} includes {target}, but may only {' '.join(sorted(only))}")
            elif self.layers[target][0] >= level:
                self.fault(i, f"{folder} includes {target}, which is not below it")

    def check_atomics(self, lines):
        for i, line in enumerate(lines):
            match = ATOMIC.search(line)
            if not match:
                continue
            if self.name not in self.atomic:
                self.fault(i, f"{match[1]}, but the file is not listed as atomic in src/LAYERS")
                return
            for call in ATOMIC_CALL.finditer(line):
                rest = " ".join(lines[i:i + 4])[call.start():].split(";")[0]
                is_explicit = "_explicit" in call[0] or "_fence" in call[0]
                if not is_explicit or "memory_order_" not in rest:
                    self.fault(i, f"{call[0]}...) without an explicit memory_order")

    def check_header(self, path, raw):
        guard = "OSC_" + re.sub(r"\W", "_", self.name.removeprefix("src/")).upper()
        if f"#ifndef {guard}" not in raw:
            self.fault(0, f"no guard {guard}")
        if not any("Threading:" in line for line in raw[:60]):
            self.fault(0, "no Threading: line in the opening comment")

    def check_listed(self, path):
        listing = path.with_name("meson.build")
        if not listing.exists() or f"'{path.name}'" not in listing.read_text():
            self.fault(0, f"not listed in {listing.relative_to(self.root)}")

    def check_function(self, lines, first, start, end, signature, is_hot, is_src):
        match = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", signature))
        name = match[1] if match else "?"
        if not is_hot:
            if end - first + 1 > FUNCTION_LINES:
                self.fault(first, f"{name}() has {end - first + 1} lines, "
                                  f"more than {FUNCTION_LINES}")
            for i in range(start, end):
                match = CONTROL.match(lines[i])
                if match and len(match[1]) > 4 * NESTING and match[1].strip() == "":
                    self.fault(i, f"{name}() nests deeper than {NESTING} levels")
                    break
        if parameters(signature) > PARAMETERS:
            self.fault(first, f"{name}() has {parameters(signature)} parameters, "
                              f"more than {PARAMETERS}")
        is_static = re.search(r"\bstatic\b", signature)
        if is_src and not is_static and not name.startswith("osc_") and name not in FREE_NAMES:
            self.fault(first, f"{name}() is neither static nor named osc_")

    def check_prototypes(self, lines):
        for i, line in enumerate(lines):
            if not line.startswith("static ") or "=" in line:
                continue
            whole = line
            for more in lines[i + 1:i + 6]:
                if ";" in whole or "{" in whole or more == "{":
                    break
                whole += " " + more.strip()
            if re.search(r"\w\s*\([^()]*\)\s*(__attribute__.*)?;", whole) and "{" not in whole \
                    and "(*" not in whole:
                self.fault(i, "a forward prototype; helpers come before their callers")


def sources(root):
    for folder in ("src", "include", "tests", "bench", "tools", "examples"):
        for path in sorted((root / folder).rglob("*")):
            name = path.name
            if path.is_file() and (path.suffix in (".c", ".h", ".py", ".sh")
                                   or name == "meson.build") and "corpus" not in path.parts:
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="files to look at; all, if none is named")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    checker = Checker(args.root, read_layers(args.root / "src/LAYERS"))
    paths = [pathlib.Path(p).resolve() for p in args.paths] or list(sources(args.root))
    failed = sum(not checker.check(path) for path in paths)
    for fault in checker.faults:
        print(fault)
    print(f"{failed} of {len(paths)} files break a rule")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
