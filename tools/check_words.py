#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: words
# mode: fast
"""Check that texts refer only to what is in the tree.

  - A Markdown file, a section of one (name, `#` and heading) and a link exist.
  - A source file named by its folder, such as `derive/links.h`, exists; tests may make up some.
    In Markdown one that is named alone exists somewhere; ARCHITECTURE names folders, too.
  - No section number stands for a document that is not named.
  - The product does not speak of one format or one family of devices where it means all: words
    of Chrome traces and of Kineto, and `cuda` as the only example, stand in the rooms of OWNERS.

Prints "PATH:LINE: what is wrong"; exits 1 if anything is.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE_UP = "tools/check_words_test.py"
# The folders from which a path in a text may start.
BASES = (
    "",
    "src/",
    "include/",
    "tests/",
    "docs/",
    "python/",
    "python/opscope/",
    "tests/oracle/",
    "python/opscope/torch/native/",
    "bench/",
)
MARKDOWN = re.compile(
    r"(?<![\w./:*~-])(\.\.?/)*([A-Za-z][\w.-]*/)*[A-Za-z][\w-]*\.md"
    r"(?:#([\w-]+))?(?![\w/])"
)
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")
SOURCE = re.compile(
    r"(?<![\w./:*<~{}$-])((?:[a-z_0-9]+/)+[a-z_0-9]+"
    r"\.(?:c|h|inc|py|sh|cpp|hpp))(?![\w*{<]|\.\w)"
)
BARE = re.compile(r"`([a-z_0-9]+\.(?:c|h|inc|py|sh|cpp))`")
SECTION = re.compile(r"\b(?:TB|TP|AN) [A-Z]?[0-9]|\bR-[0-9]+\.[0-9]|\[BUG\]")
# The first folders of files of other projects and of files that programs write.
FOREIGN = (
    "torch/",
    "autograd/",
    "aten/",
    "c10/",
    "sys/",
    "linux/",
    "asm/",
    "bits/",
    "arpa/",
    "level_zero/",
    "net/",
    "netinet/",
    "usr/",
    "tests/data/",
    "bench/data/",
    "build/",
    "generated/",
    "analysis/table_columns.h",  # the build makes it
    "analysis/table_list.h",  # the build makes it
    "isa-l/",
    "tbb/",
    "oneapi/",
    "arrow/",
    "pwd/",
)

# Words of Chrome traces and of Kineto.
KINETO = re.compile(
    r"chrome_ph\b|\bphases? [A-Za-z]\b|\bph [A-Za-z]\b|\[memory\]|\[OutOfMemory\]|"
    r"ProfilerStep#|cuda_runtime|cuda_driver|\bcpu_op\b|deviceProperties"
)
FAMILY = re.compile("cuda", re.I)
FAMILIES = re.compile(
    "xpu|hip|npu|hpu|privateuse1|opencl", re.I
)  # other families, to be named nearby
# Files that may contain them: the reader and the writer of that format, tables and calls with
# torch's words, and the one file of each list of names.
OWNERS = (
    "src/import/chrome/",
    "src/export/chrome_",
    "src/analysis/torch/",
    "src/sources/torch/",
    "src/sources/source_kinds.h",  # a list of all sources
    "src/sources/nvtx/",
    "src/sources/cuda/",
    "python/opscope/torch/",
    "src/model/known_names.",
    "src/export/redact",
    "src/analysis/stacks/folding.c",  # metrics of export_stacks() have torch's names
    "src/cli/command_options.c",  # the same, and `--sort`
    "src/table/row_sort.",  # torch's names of columns
    "src/model/form.",
    "src/import/build/builder.",  # keep the phase letters of Chrome traces
    "src/import/build/members.",  # `info` and exports have the members of Kineto
    "src/import/columns/columns_reader.c",
    "src/export/column_file_tables.c",
)
PRODUCT = re.compile(r"(?:src|include|python/opscope)/.*(?<!_test)\.(?:c|h|inc|py|cpp)$")


def anchors_of(text):
    """The anchors of the headings of TEXT in Markdown."""
    found, fenced = set(), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        m = re.match(r"#+ +(.*)", line)
        if m and not fenced:
            title = re.sub(r"[`*]|\[|\]\([^)]*\)", "", m.group(1)).strip().lower()
            found.add(re.sub(r"[^\w -]", "", title).replace(" ", "-"))
    return found


class Tree:
    """The files of the project by path, with the text of those in Markdown."""

    def __init__(self, texts):
        self.texts = texts
        self.folders = {str(p) for path in texts for p in pathlib.PurePosixPath(path).parents}
        self.names = {path.rsplit("/", 1)[-1] for path in texts}

    def find(self, name, source):
        """The path of the file that NAME refers to in file SOURCE, or None."""
        here = pathlib.PurePosixPath(source).parent
        for candidate in [str(here / name)] + [base + name for base in BASES]:
            parts = []
            for part in candidate.split("/"):
                if part == ".." and parts:
                    parts.pop()
                elif part not in (".", "", ".."):
                    parts.append(part)
            path = "/".join(parts)
            if path in self.texts or path in self.folders:
                return path
        return None

    def check_section(self, path, section):
        if section and path.endswith(".md") and section not in anchors_of(self.texts[path]):
            return f"{path} has no section #{section}"
        return None

    def check_line(self, source, line):
        """The errors in LINE of file SOURCE."""
        if SECTION.search(line):
            yield f"a section of a document that is not named: {SECTION.search(line).group(0)}"
        for m in MARKDOWN.finditer(line):
            name, section = m.group(0).split("#")[0], m.group(3)
            path = self.find(name, source)
            if name == "numbers.md":  # the build makes it
                continue
            if not path and ("/" in name or name not in self.names):
                yield f"no file {name}"
            elif path and section:
                wrong = self.check_section(path, section)
                if wrong:
                    yield wrong
        for m in LINK.finditer(line) if source.endswith(".md") else ():
            path = self.find(m.group(1), source) if m.group(1) else source
            wrong = (
                f"no file {m.group(1)}" if not path else self.check_section(path, m.group(2))
            )
            if wrong:
                yield wrong
        for m in BARE.finditer(line) if source.endswith(".md") else ():
            if source == "ARCHITECTURE.md":
                yield f"no folder: {m.group(1)}"
            elif m.group(1) not in self.names:
                yield f"no file {m.group(1)}"
        is_test = source.startswith("tests/") or "_test." in source
        for m in SOURCE.finditer(line) if not is_test else ():
            if not m.group(1).startswith(FOREIGN) and not self.find(m.group(1), source):
                yield f"no file {m.group(1)}"


def foreign_words(path, lines):
    """(line, error) for words of one format or family that file PATH must not contain."""
    if not PRODUCT.match(path) or path.startswith(OWNERS):
        return
    for n, line in enumerate(lines, 1):
        m = KINETO.search(line)
        if m:
            yield n, f"a word of Chrome traces: {m.group(0)}"
        elif FAMILY.search(line) and not FAMILIES.search("".join(lines[max(n - 2, 0) : n + 1])):
            yield n, f"one family for all: {FAMILY.search(line).group(0)}"


def read_tree():
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    texts = {}
    for name in filter(None, names):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            texts[name] = ""
            continue
        data = path.read_bytes()
        try:
            texts[name] = "" if b"\0" in data else data.decode()
        except UnicodeDecodeError:
            texts[name] = ""
    return texts


def check(texts):
    """Lines "FILE:LINE: error" for all errors in TEXTS, a dictionary by path."""
    tree = Tree(texts)
    for path, text in texts.items():
        is_data = path.startswith(("tests/data/", "tests/fuzz/corpus/"))
        if path == MADE_UP or (is_data and not path.endswith(".md")):
            continue
        for n, line in enumerate(text.splitlines(), 1):
            for what in dict.fromkeys(tree.check_line(path, line)):
                yield f"{path}:{n}: {what}"
        for n, what in foreign_words(path, text.splitlines()):
            yield f"{path}:{n}: {what}"


def main():
    wrong = list(check(read_tree()))
    print("\n".join([*wrong, f"{len(wrong)} lines are wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
