#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: alive
"""Every script, test, bench, example and recipe is run by a step, by the build, or by what these run.

What nothing runs, rots. A file is alive if lines near its top make it a step of ./check
(tools/runner/steps.py), if it is one of ROOTS, or if a file that is alive

  - names it: by a path, as #include, import and meson.build do, or by its name where it also names
    the folder;
  - imports it, in Python;
  - searches its own folder, or one that it names, by a pattern with an ending, such as glob("*.sh").

Comments and docstrings do not count. Prints "PATH: error: nothing runs it"; exits 1 if there is one.
"""

from __future__ import annotations

import ast
import fnmatch
import posixpath
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "runner"))

import steps

ROOT = Path(__file__).resolve().parents[1]
# What people and machines begin with, and the folders in which all else is reached from there.
ROOTS = ("check", ".ci/run", "Makefile", "meson.build", "pyproject.toml", "web/package.json")
FOLDERS = (".ci/", "bench/", "demo", "docs/ci/", "examples/", "tests/", "tools/", "web/")
CODE = (".build", ".c", ".cl", ".cpp", ".h", ".hpp", ".mjs", ".py", ".rs", ".sh", ".yml")
OTHERS = (".toml", ".json", ".ts", ".tsx")  # they may name code: of cargo, npm, the page
# What a tool finds by itself: the page from its first file, inputs that a folder holds.
FOUND = ("web/src/*", "tests/fuzz/corpus/*")
WORD = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*")
PATTERN = re.compile(
    r"(?:\"(?P<folder>[\w/-]+)\"\)\.r?glob\(|glob\(|pattern=)\"(?P<name>[^\"\n]*\*[^\"\n]*)\""
)
MADE = re.compile(r"\}(\.\w+)[\"`']")  # the ending of a name that is made: f"{name}.cpp"
COPIED = re.compile(r"copytree\([^,\n]*\"([\w/]+)\"")
C_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)
COMMENT = re.compile(r"(?m)(?:^|\s)#(?!include).*$")


def tracked(root: Path) -> list[str]:
    """The files of the tree, with those that are new."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=root, stdout=subprocess.PIPE, check=True)
    return sorted(p for p in done.stdout.decode().split("\0") if p and (root / p).is_file())


def is_code(path: str) -> bool:
    return path.endswith(CODE) or "." not in posixpath.basename(path)


def is_judged(path: str) -> bool:
    """Whether something must run this file."""
    is_found = any(fnmatch.fnmatchcase(path, pattern) for pattern in FOUND)
    return path.startswith(FOLDERS) and not is_found and is_code(path)


def is_python(path: str, text: str) -> bool:
    return path.endswith(".py") or text.startswith("#!/usr/bin/env python3")


def plain(path: str, text: str) -> tuple[str, ast.Module | None]:
    """TEXT without comments, and of Python without docstrings, with its tree."""
    if not is_python(path, text):
        is_c = path.endswith((".c", ".cl", ".cpp", ".h", ".hpp", ".rs", ".mjs", ".ts", ".tsx"))
        return (C_COMMENT if is_c else COMMENT).sub("", text), None
    tree = ast.parse(text)
    lines = text.splitlines()
    for node in ast.walk(tree):
        kinds = (ast.Module, ast.FunctionDef, ast.ClassDef)
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            for row in range(said.lineno - 1, said.end_lineno or said.lineno):
                lines[row] = ""
    return COMMENT.sub("", "\n".join(lines)), tree


def modules(tree: ast.Module) -> list[str]:
    """What TREE imports, as paths without .py; the own folder is "." there."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name.replace(".", "/") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").replace(".", "/")
            up = "/".join([".", *[".."] * (node.level - 1)]) if node.level else ""
            base = posixpath.join(up, base) if up else base
            found += [base, *(posixpath.join(base, alias.name) for alias in node.names)]
    return found


class Tree:
    """The files of a tree, and which of them name which."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths = tracked(root)
        self.known = set(self.paths)
        self.by_name: dict[str, list[str]] = {}
        self.by_stem: dict[str, list[str]] = {}
        for path in self.paths:
            name = posixpath.basename(path)
            self.by_name.setdefault(name, []).append(path)
            self.by_stem.setdefault(posixpath.splitext(name)[0], []).append(path)
        self.folders = {posixpath.dirname(path) for path in self.paths}

    def named_in(self, path: str) -> set[str]:
        """The files that the file at PATH names."""
        text, tree = plain(
            path, (self.root / path).read_text(encoding="utf-8", errors="replace")
        )
        own = posixpath.dirname(path)
        words = set(WORD.findall(text))
        near = {own} | {f for f in self.folders if f in words} | self.parts_in(own, words)
        found: set[str] = set()
        for word in words:
            found |= self.of_word(word, own, near)
        for folder, name in PATTERN.findall(text):
            found |= {p for p in self.paths if matches(p, folder or own, name)}
        endings = set(MADE.findall(text))
        for word in words if endings else ():
            made = [p for p in self.by_stem.get(word, []) if posixpath.dirname(p) in near]
            found |= {p for p in made if posixpath.splitext(p)[1] in endings}
        for name in modules(tree) if tree else ():
            found |= self.of_module(name, own)
        for folder in COPIED.findall(text):
            found |= {p for p in self.paths if p.startswith(folder + "/")}
        return found - {path}

    def parts_in(self, own: str, words: set[str]) -> set[str]:
        """Folders beside OWN or above it that WORDS name by their last part."""
        up = posixpath.dirname(own)
        return {
            f
            for f in self.folders
            if posixpath.dirname(f) in (own, up) and words & {f.split("/")[-1]}
        }

    def of_word(self, word: str, own: str, near: set[str]) -> set[str]:
        """The files that WORD means in a file of the folder OWN."""
        name = posixpath.basename(word)
        below = posixpath.normpath(posixpath.join(own, word))
        found = {f"{below}/meson.build"} & self.known  # subdir()
        for path in self.by_name.get(name, []):
            rest = word.rpartition("../")[2]
            is_path = "/" in rest and (path == rest or path.endswith("/" + rest))
            if is_path or path == below or posixpath.dirname(path) in near:
                found.add(path)
        return found

    def of_module(self, name: str, own: str) -> set[str]:
        last = posixpath.basename(name)
        found = [*self.by_name.get(last + ".py", []), *self.by_name.get("__init__.py", [])]
        beside = posixpath.normpath(posixpath.join(own, name))
        exact = {p for p in found if p in (beside + ".py", beside + "/__init__.py")}
        if exact or name.startswith("."):
            return exact
        ends = (f"/{name}.py", f"/{name}/__init__.py")
        return {p for p in found if ("/" + p).endswith(ends)}

    def alive(self) -> set[str]:
        """The files that something runs."""
        made = [p for p in steps.files(self.root) if steps.header(p, p.name)]
        todo = [p.relative_to(self.root).as_posix() for p in made]
        todo += [p for p in self.paths if p in ROOTS]
        seen = set(todo)
        while todo:
            path = todo.pop()
            if is_code(path) or path.endswith(OTHERS):
                more = self.named_in(path) - seen
                seen |= more
                todo += more
        return seen


def matches(path: str, folder: str, pattern: str) -> bool:
    """Whether PATTERN, which must have an ending of code, finds PATH in FOLDER."""
    is_told = pattern.endswith(CODE) and "/" not in pattern
    return (
        is_told
        and posixpath.dirname(path) == folder
        and fnmatch.fnmatchcase(posixpath.basename(path), pattern)
    )


def dead(root: Path) -> list[str]:
    """The files of the tree at ROOT that nothing runs."""
    tree = Tree(root)
    alive = tree.alive()
    return [p for p in tree.paths if is_judged(p) and p not in alive]


def main() -> int:
    found = dead(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    for path in found:
        print(f"{path}: error: nothing runs it")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
