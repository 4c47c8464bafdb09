# SPDX-License-Identifier: Apache-2.0
"""Compare the stacks that the server draws with the file of `opscope export`, for timeline.py.

The answers are made again, slowly, from the lines of the file by the rules in src/api/flame.c:
totals, the frames that are wide enough, what is below one frame, who calls a name and whom it
calls, and how much matches a pattern. The values of lines are checked by tests/export/stacks.py.
"""

import base64
import collections
import gzip
import json
import re
import shlex
import struct
import subprocess
import tempfile
from pathlib import Path

WISHES = [
    ("op", "host_self_ns"),
    ("op", "device_self_ns"),
    ("op", "calls"),
    ("op", "self_alloc_bytes"),
    ("module", "host_self_ns"),
    ("module", "device_self_ns"),
    ("module", "calls"),
    ("python", "host_self_ns"),
    ("python", "calls"),
]
LINES_MAX = 3000
MOST_PIXELS = 100000  # few frames are narrower
LARGEST = 2**63 - 1  # sums stop there


def fold(opscope, path, stack, metric, *options):
    """{frames: value}; None: there are no such stacks."""
    done = subprocess.run(
        [
            opscope,
            "export",
            str(path),
            "--stack",
            stack,
            "--metric",
            metric,
            "--format",
            "folded",
            "-o",
            "-",
            *options,
        ],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        return {} if b"all stacks of the trace are 0" in done.stderr else None
    pairs = [line.rsplit(" ", 1) for line in done.stdout.decode().split("\n")[:-1]]
    return {tuple(frames.split(";")): int(value) for frames, value in pairs}


def totals(lines):
    """{frames: value of these and of all that begin so}."""
    found = collections.Counter()
    for frames, value in lines.items():
        for n in range(len(frames) + 1):
            found[frames[:n]] = min(LARGEST, found[frames[:n]] + value)
    return found


def callees(lines, name):
    found = collections.Counter()
    for frames, value in lines.items():
        if name in frames:
            below = frames[frames.index(name) :]
            found[below] = min(LARGEST, found[below] + value)
    return found


def callers(lines, name):
    found = collections.Counter()
    for frames, value in lines.items():
        if name in frames:
            above = tuple(reversed(frames[: frames.index(name) + 1]))
            found[above] = min(LARGEST, found[above] + value)
    return found


def in_file(name):
    """NAME as a file of stacks has it: there a blank would end the stack."""
    return name.replace(" ", "_")


def drawn(answer):
    """{frames: (self, total, whether it matches)} of an answer of the server."""
    paths, found = [], {}
    matches = answer.get("matches", [None] * len(answer["caller"]))
    for i, caller in enumerate(answer["caller"]):
        assert caller < i
        name = in_file(answer["names"][answer["name"][i]])
        paths.append((*(paths[caller] if caller >= 0 else ()), name))
        found[paths[i]] = answer["self"][i], answer["total_of"][i], matches[i]
    assert len(found) == len(paths)
    return found


def small(answer):
    """{frames around: (count, total)} of those that are left out of an answer."""
    paths = []
    for i, caller in enumerate(answer["caller"]):
        name = in_file(answer["names"][answer["name"][i]])
        paths.append((*(paths[caller] if caller >= 0 else ()), name))
    return {
        paths[caller] if caller >= 0 else (): (count, total)
        for caller, count, total in zip(
            answer["small_caller"], answer["small_count"], answer["small_total"]
        )
    }


def expected_small(lines, root, pixels, shown):
    """The same by the rules."""
    sums = totals(lines)
    found = {}
    cut = max(0, len(root) - 1)
    for frames, total in sums.items():
        if len(frames) <= len(root) or frames[: len(root)] != root or total <= 0:
            continue
        around = frames[cut:-1] if root else frames[:-1]
        if frames[cut:] in shown or (around and around not in shown):
            continue
        count, value = found.get(around, (0, 0))
        found[around] = count + 1, min(LARGEST, value + total)
    return {k: v for k, v in found.items() if v[1] >= sums[root] // pixels}


def expected(lines, root, pixels, finds):
    """The same by the rules, and the value of all stacks that match."""
    sums = totals(lines)
    shown, matched = {}, 0
    for frames, total in sums.items():
        if not frames or frames[: len(root)] != root or total <= 0:
            continue
        if total >= sums[root] // pixels:
            shown[frames[max(0, len(root) - 1) :]] = (
                lines.get(frames, 0),
                total,
                int(finds(frames[-1])) if finds else None,
            )
    for frames, value in lines.items():
        if finds and frames[: len(root)] == root:
            matched = min(
                LARGEST, matched + value * any(map(finds, frames[max(0, len(root) - 1) :]))
            )
    return shown, sums[root], matched if finds else None


def answers_of(page):
    """{question: answer} of a page that `opscope export` wrote (src/page/entries.h)."""
    data = re.search(rb'id="data">([A-Za-z0-9+/=]+)</script>', page)[1]
    data, at, found = gzip.decompress(base64.b64decode(data)), 0, {}
    while at < len(data):
        sizes = struct.unpack_from("<II", data, at)
        key, answer = at + 8, at + 8 + (sizes[0] + 7) // 8 * 8
        found[data[key : key + sizes[0]].decode()] = data[answer : answer + sizes[1]]
        at = answer + (sizes[1] + 7) // 8 * 8
    return found


class FlameCheck:
    """CHECK counts; SERVER has the run of PATH."""

    def __init__(self, check, opscope, path):
        self.check, self.opscope, self.path = check, opscope, path
        self.source = check.source
        self.real = {}  # by names in files: those with blanks

    def name(self, in_a_file):
        return self.real.get(in_a_file, in_a_file)

    def compare(self, what, lines, root=(), pixels=2000, finds=None, **query):
        if root:
            query["root"] = ";".join(map(self.name, root))
        answer = self.check.server.json("flame", px=pixels, **query)
        shown, total, matched = expected(lines, root, pixels, finds)
        self.check.equal(f"{what}: frames", drawn(answer), shown)
        self.check.equal(
            f"{what}: small", small(answer), expected_small(lines, root, pixels, shown)
        )
        self.check.equal(f"{what}: total", answer["total"], total)
        self.check.equal(f"{what}: matched", answer["matched"], matched)
        return answer

    def check_wish(self, stack, metric):
        lines = fold(self.opscope, self.path, stack, metric)
        wish = {"stack": stack, "metric": metric}
        if lines is None:
            status, _ = self.check.server.get("flame", **wish)
            self.check.equal("no stacks: status", status, 404)
            return
        if len(lines) > LINES_MAX:
            return
        whole = self.check.server.json("flame", px=MOST_PIXELS, **wish)
        # Frames too narrow to be drawn are searched, too: the timeline has the names of calls.
        self.real = {in_file(name): name for name in (*self.check.names, *whole["names"])}
        answer = self.compare(f"{stack} {metric}", lines, **wish)
        self.check.equal(
            "command",
            answer["command"].split()[3:],
            ["--stack", stack, "--metric", metric, "-o", "stacks.folded"],
        )
        # What has no name here cannot be asked for.
        known = sorted(line for line in lines if all(frame in self.real for frame in line))
        if not known:
            return
        frames = self.source.choice(known)
        root = frames[: self.source.randint(1, len(frames))]
        self.compare("root", lines, root=root, pixels=self.source.choice([1, 7, 100]), **wish)
        name = self.source.choice(frames)
        self.compare(
            "callees", callees(lines, name), name=self.name(name), way="callees", **wish
        )
        self.compare(
            "callers", callers(lines, name), name=self.name(name), way="callers", **wish
        )
        part = self.name(name)[: self.source.randint(1, len(name))]
        text = re.compile(re.escape(part), re.I | re.A)
        self.compare(
            "text", lines, q=part, finds=lambda f: text.search(self.name(f)) is not None, **wish
        )
        for pattern in ("^aten::(add|mm)_?$", "[a-c]+|rank", "\\bforward\\b"):
            found = re.compile(pattern, re.I | re.A)
            self.compare(
                pattern,
                lines,
                root=root,
                q=f"/{pattern}/",
                finds=lambda f, r=found: r.search(self.name(f)) is not None,
                **wish,
            )

    def check_page(self):
        """In the page of a part of the trace the command beside the stacks writes these stacks."""
        whole = self.check.server.json("tracks")
        middle = (whole["from_ns"] + whole["to_ns"]) // 2
        with tempfile.TemporaryDirectory() as place:
            page = Path(place) / "cut.html"
            done = subprocess.run(
                [
                    self.opscope,
                    "export",
                    str(self.path),
                    "--from",
                    str(middle),
                    "-o",
                    str(page),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                told = re.search("was built without|nothing was written", done.stderr)
                self.check.equal(f"page: {done.stderr}", bool(told), True)
                return
            answers = answers_of(page.read_bytes())
        for key, answer in answers.items():
            if not key.startswith("flame?"):
                continue
            answer = json.loads(answer)
            words = shlex.split(answer["command"])
            self.check.equal(
                "command of a page", [words[0], *words[-2:]], ["opscope", "-o", "stacks.folded"]
            )
            lines = subprocess.run(
                [self.opscope, *words[1:-1], "-", "--format", "folded"],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.splitlines()
            self.check.equal(
                f"{key} of a page",
                min(LARGEST, sum(int(line.rsplit(" ", 1)[1]) for line in lines)),
                answer["total"],
            )

    def run(self):
        for stack, metric in WISHES:
            self.check_wish(stack, metric)
        self.check_page()
        for query in (
            {"stack": "op", "metric": "self"},
            {"stack": "x"},
            {"px": "0"},
            {"way": "up"},
            {"q": "/(/"},
            {"root": "no such frame"},
            {"nonsense": "1"},
            {"metric": "self_cpu_time_total", "stack": "python"},
        ):
            status, body = self.check.server.get("flame", **query)
            self.check.equal(f"{query}: status", status, 404 if "root" in query else 400)
            self.check.equal("message", bool(json.loads(body)["message"]), True)
