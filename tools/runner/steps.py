# SPDX-License-Identifier: Apache-2.0
"""The steps of ./check. A file is a step, or several, because lines near its top say so:

    # step: view-timeline
    # args: --opscope {gcc}/opscope --random 8 --seed {seed}
    # full: --opscope {gcc}/opscope --random 4000

Nothing else lists it. In .mjs files the lines begin with //. The keys, of which only `step` must be:

    step    the name; a further `step` begins another step of the same file
    args    its arguments. {NAME} is what provide.py has of this name, or else the step is skipped;
            of {NAME|OTHER} it is the first that is there
    full    its arguments in ./check full, if they are others
    with    the program that runs it, such as {torch}: python3, node or bash if nothing is said
    env     variables, NAME=VALUE, and `full-env` those of ./check full
    needs   further names of provide.py, which it does not get as arguments
    mode    the shortest mode that has it: fast, all (if nothing is said), full or bench
    turn    0 to 7: ./check without names runs it at each eighth value of CHECK_SEED
    order   `first`: all others wait for it; `alone`: nothing runs beside it

A line that begins with more blanks continues the one above. What the step tests is the first sentence of
the file's comment or docstring, or `about`.

Threading: pure functions of files that nobody changes.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

MODES = ("fast", "all", "full", "bench")
FOLDERS = ("tests", "tools", "bench", "examples", "demo")
PROGRAMS = {".py": "python3", ".mjs": "node", ".sh": "bash", "": "bash"}
KEYS = (
    *("step", "about", "args", "full", "with", "env", "full-env", "needs"),
    *("mode", "turn", "order"),
)
LINE = re.compile(r"^(?:#|//) (\w[\w-]*):(?: +(\S.*))?$")
MORE = re.compile(r"^(?:#|//)   +(\S.*)$")
HEAD = re.compile(rf"!|SPDX|(?:{'|'.join(KEYS)}):(?: |$)")
NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
TURNS = 8
WIDTH = 110  # of a sentence in the list


class Misuse(Exception):
    """What somebody wrote that cannot be meant: a header, or a name at the command line."""


@dataclass
class Step:
    """One step, as its file says. All texts may hold {NAME}."""

    name: str
    path: str  # of its file, from the root of the tree
    about: str
    words: str  # the command: program, file, arguments
    full_words: str
    env: str = ""
    full_env: str = ""
    needs: list[str] = field(default_factory=list)
    mode: str = "all"
    turn: int | None = None
    order: str = ""

    def command(self, mode: str) -> str:
        return self.full_words if mode == "full" else self.words

    def variables(self, mode: str) -> str:
        return f"{self.env} {self.full_env}" if mode == "full" else self.env

    def is_in(self, mode: str) -> bool:
        """Whether MODE has it, at some turn."""
        if "bench" in (mode, self.mode):
            return mode == self.mode
        return MODES.index(self.mode) <= MODES.index(mode)

    def is_its_turn(self, mode: str, seed: int) -> bool:
        return mode != "all" or self.turn in (None, seed % TURNS)


def files(root: Path) -> list[Path]:
    """Every file that may say that it is a step."""
    found = []
    for top in FOLDERS:
        if (root / top).is_file():
            found.append(root / top)
        for folder, below, names in os.walk(root / top):
            below[:] = [n for n in below if n not in ("node_modules", "__pycache__", "corpus")]
            paths = [Path(folder, name) for name in names]
            found += [p for p in paths if p.suffix in (".py", ".mjs", ".sh")]
    return sorted(found)


def header(path: Path, name: str) -> list[dict[str, str]]:
    """What the lines of a file say, a dict for each `step`. NAME is how a Misuse calls it."""
    blocks: list[dict[str, str]] = []
    last = ""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in zip(range(60), file):
            more = MORE.match(line.rstrip())
            if last and more:
                blocks[-1][last] += " " + more[1]
                continue
            found = LINE.match(line.rstrip())
            last = ""
            if not found or (found[1] != "step" and not blocks):
                if blocks:
                    break
                continue
            last = found[1]
            if last not in KEYS:
                raise Misuse(f"{name}:{number + 1}: no key {last!r}; keys: {', '.join(KEYS)}")
            if last == "step":
                blocks.append({})
            blocks[-1][last] = found[2] or ""
    return blocks


def about(path: Path) -> str:
    """The first sentence of the comment or docstring of a file, in one line."""
    said: list[str] = []
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            text = line.strip()
            is_comment = text.startswith(("#", "//"))
            is_text = '"""' in text or (said and not is_comment)
            text = text.lstrip("#/").strip().replace('"""', "").lstrip("*").strip()
            is_head = is_comment and HEAD.match(text)
            if is_head or MORE.match(line):
                continue
            if not is_comment and not is_text:
                if said or text:
                    break
                continue
            if not text and said:
                break
            said += [text] if text else []
            if text.endswith(".") or '"""' in line[5:]:
                break
    sentence = re.split(r"(?<=[\w)`])\.(?: |$)", " ".join(said))[0].rstrip(".:")
    return (
        sentence
        if len(sentence) <= WIDTH
        else re.split("[:;] |, (?:that|and|in) ", sentence)[0]
    )


def made_of(root: Path, path: Path, block: dict[str, str]) -> Step:
    name = block["step"]
    where = path.relative_to(root).as_posix()
    if name in MODES or not NAME.fullmatch(name):
        raise Misuse(f"{where}: {name!r} is no name of a step")
    mode, order, turn = block.get("mode", "all"), block.get("order", ""), block.get("turn")
    if mode not in MODES or order not in ("", "first", "alone"):
        raise Misuse(f"{where}: {name}: no such mode or order: {mode} {order}")
    if turn is not None and turn not in map(str, range(TURNS)):
        raise Misuse(f"{where}: {name}: a turn is 0 to {TURNS - 1}, not {turn}")
    program = block.get("with", PROGRAMS[path.suffix])
    args = block.get("args", "")
    return Step(
        name,
        where,
        block.get("about") or about(path),
        f"{program} {where} {args}",
        f"{program} {where} {block.get('full', args)}",
        block.get("env", ""),
        block.get("full-env", ""),
        block.get("needs", "").split(),
        mode,
        None if turn is None else int(turn),
        order,
    )


def load(root: Path, more: list[Step]) -> list[Step]:
    """All steps of the tree at ROOT after those of MORE, sorted by name. Raises Misuse."""
    found = list(more)
    for path in files(root):
        name = path.relative_to(root).as_posix()
        found += [made_of(root, path, block) for block in header(path, name)]
    found.sort(key=lambda s: s.name)
    for one, other in zip(found, found[1:]):
        if one.name == other.name:
            raise Misuse(f"{one.path} and {other.path}: both are the step {one.name}")
    return found


def choose(steps: list[Step], mode: str, patterns: list[str]) -> list[Step]:
    """Those that MODE has, or that PATTERNS name: a name also one of another mode. Raises Misuse."""
    if not patterns:
        return [s for s in steps if s.is_in(mode)]
    chosen: dict[str, Step] = {}
    for pattern in patterns:
        found = [s for s in steps if s.name == pattern] or [
            s for s in steps if fnmatch.fnmatchcase(s.name, pattern) and s.is_in(mode)
        ]
        if not found:
            raise Misuse(f"no step is named {pattern}; ./check --list shows all")
        chosen.update({s.name: s for s in found})
    return list(chosen.values())


def names_in(text: str) -> list[str]:
    """What the {} of TEXT name: each may be several with | between."""
    return re.findall(r"\{([\w|-]+)\}", text)


def fill(text: str, values: dict[str, list[str]]) -> list[str]:
    """TEXT as words, with VALUES in its {}: one that is a whole word may become several."""
    words = []
    for word in shlex.split(text):
        alone = re.fullmatch(r"\{([\w|-]+)\}", word)
        if alone:
            words += values[alone[1]]
        else:
            words.append(re.sub(r"\{([\w|-]+)\}", lambda m: " ".join(values[m[1]]), word))
    return words
