#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-patterns
# with: {torch}
# args: --opscope {gcc}/opscope
# env: PYTHONPATH={module}
# turn: 0
"""Run torch's own pattern matcher on opscope's event tree, and compare both trees.

    python3 tests/torch/patterns.py --opscope PATH

A program with every habit that a build for the CPU can show is recorded by torch.profiler and by
opscope.torch; torch's classes must find the same in both. Needs torch, and the python/ of the build on PYTHONPATH. Ends
with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch._dynamo  # imported by optimizers, so that it is not recorded
import torch.profiler
from support import Tests
from torch.profiler import _pattern_matcher as matcher
from torch.profiler._utils import traverse_bfs, traverse_dfs

import opscope
import opscope.torch
from opscope.torch.tree import Results

OPTIONS: Any = {
    "activities": [torch.profiler.ProfilerActivity.CPU],
    "with_stack": True,
    "record_shapes": True,
}
WORDS = {
    "extra_copy": matcher.ExtraCUDACopyPattern,
    "fp32_matmul": matcher.FP32MatMulPattern,
    "single_tensor": matcher.OptimizerSingleTensorPattern,
    "dataloader": matcher.SynchronizedDataLoaderPattern,
    "zero_grad": matcher.GradNotSetToNonePattern,
    "conv_bias": matcher.Conv2dBiasFollowedByBatchNorm2dPattern,
    "unaligned": matcher.MatMulDimInFP16Pattern,
    "indexing": matcher.ForLoopIndexingPattern,
}
PROGRAM = '''
import torch
from torch import nn


class Read(nn.Module):
    """The norm is an attribute that is read between both: torch does not see that it follows."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y)


# Torch gives a module at the address of a dead one the name of that, whatever its class.
MODULES = (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)),
           nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8)),
           nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()), Read())


def copies():
    torch.zeros(64).to(torch.float32, copy=True)
    torch.empty(64).uniform_().to(torch.float32, copy=True)
    torch.zeros(64).to(torch.float64)
    full = torch.zeros(64)
    torch.add(full, 1)
    full.to(torch.float32, copy=True)


def optimizers():
    layer = nn.Linear(4, 4)
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        for foreach in (False, True):
            one = kind(layer.parameters(), lr=0.1, foreach=foreach)
            layer(torch.ones(2, 4)).sum().backward()
            one.step()
            one.zero_grad()


def gradients():
    layer = nn.Linear(4, 4)
    one = torch.optim.SGD(layer.parameters(), lr=0.1)
    for none in (True, False, False):
        layer(torch.ones(2, 4)).sum().backward()
        one.zero_grad(set_to_none=none)
    layer(torch.ones(2, 4)).sum().backward()
    layer.zero_grad(set_to_none=False)


def loaders():
    data = torch.utils.data.TensorDataset(torch.ones(6, 2))
    for _ in range(2):
        for batch in torch.utils.data.DataLoader(data, batch_size=3):
            len(batch)
    for batch in torch.utils.data.DataLoader(data, batch_size=3, num_workers=1):
        len(batch)


def convolutions():
    x = torch.ones(1, 3, 8, 8)
    for module in MODULES:
        module(x)


def products():
    for kind in (torch.half, torch.bfloat16, torch.float32):
        a, b = torch.ones(16, 8, dtype=kind), torch.ones(8, 7, dtype=kind)
        torch.mm(a, b)
        torch.mm(a, a.t())
        torch.bmm(a.unsqueeze(0), b.unsqueeze(0))
        torch.addmm(torch.ones(7, dtype=kind), a, b)


def loops():
    t = torch.empty(30)
    for i in range(12):
        t[i] = i
    for i in range(9):
        t[i] = i


def work():
    copies()
    optimizers()
    gradients()
    loaders()
    convolutions()
    products()
    loops()
'''


def location(event: Any) -> tuple[str, str]:
    """The file and line, and the file and function of torch's source of EVENT."""
    while event:
        caller = getattr(event.extra_fields, "caller", None)
        if caller is not None and not caller.file_name.startswith("torch/"):
            return (
                f"{caller.file_name}:{caller.line_number}",
                f"{caller.file_name}: {caller.function_name}",
            )
        event = event.parent
    return "", ""


def found_by_torch(prof: Any) -> dict[str, list[Any]]:
    """The events of PROF that each class of torch finds."""
    return {word: pattern(prof).matched_events() for word, pattern in WORDS.items()}


def profile_of(path: Path) -> Any:
    """What torch's classes need of a profile, for the trace at PATH."""
    recording = SimpleNamespace(kineto_results=Results(str(path)))
    return SimpleNamespace(profiler=recording, **OPTIONS)


def names_of(found: dict[str, list[Any]]) -> dict[str, list[str]]:
    """Names of what was FOUND, by pattern."""
    return {word: [e.name for e in found[word]] for word in found}


class Patterns(Tests):
    """The program, and what torch finds in it."""

    def __init__(self, opscope_path: str, place: Path) -> None:
        super().__init__(opscope_path)
        self.place = place
        (place / "habits.py").write_text(PROGRAM)
        sys.path.insert(0, str(place))
        self.work = importlib.import_module("habits").work
        self.work()
        with torch.profiler.profile(**OPTIONS) as self.theirs:
            self.work()
        self.found = found_by_torch(self.theirs)

    def each_habit_is_there(self) -> None:
        """The program would be no test of what torch does not find."""
        for word in WORDS:
            self.check(f"torch finds {word}", len(self.found[word]) > 0)

    def in_the_trace_of_torch(self) -> None:
        """Each event, by name and start, and the function that caused it."""
        path = self.place / "theirs.json"
        self.theirs.export_chrome_trace(str(path))
        found = found_by_torch(profile_of(path))
        self.check_equal(
            "events of the trace of torch",
            {
                word: sorted((e.name, e.start_time_ns, e.duration_time_ns) for e in events)
                for word, events in found.items()
            },
            {
                word: sorted((e.name, e.start_time_ns, e.duration_time_ns) for e in events)
                for word, events in self.found.items()
            },
        )
        self.check_equal(
            "who caused them",
            {word: sorted(location(e)[1] for e in found[word]) for word in found},
            {word: sorted(location(e)[1] for e in self.found[word]) for word in found},
        )
        self.trees_are_equal(path)

    def trees_are_equal(self, path: Path) -> None:
        """The tree of torch's trace is that of torch."""

        def lines(tree: Any, depth: int = 0) -> list[tuple[int, str, int]]:
            return [
                line
                for e in tree
                for line in ((depth, e.name, e.duration_time_ns), *lines(e.children, depth + 1))
            ]

        def of_function(tree: Any, name: str) -> Any:
            return [e for e in traverse_dfs(tree) if e.name.endswith(f"): {name}")]

        theirs = self.theirs.profiler.kineto_results.experimental_event_tree()
        ours = opscope.load(path).event_tree()
        # Others have labels that calls begin and end: in torch these end with the first call.
        for name in ("copies", "convolutions", "products", "loops"):
            wanted, got = lines(of_function(theirs, name)), lines(of_function(ours, name))
            self.check(
                f"the trees of {name} are equal",
                wanted == got and len(got) > 20,
                next(((a, b) for a, b in zip(wanted, got) if a != b), (len(wanted), len(got))),
            )
        self.check_equal("walk() is traverse_dfs", list(ours.walk()), list(traverse_dfs(ours)))
        self.check_equal(
            "traverse_bfs finds as many", len(list(traverse_bfs(ours))), len(list(ours.walk()))
        )

    def in_a_profile_of_opscope(self) -> None:
        """Names and numbers by torch's classes, which run on our tree."""
        with opscope.torch.profile(**OPTIONS) as ours:
            self.work()
        of_torch = found_by_torch(ours)
        self.check_equal(
            "torch's classes on our tree", names_of(of_torch), names_of(self.found)
        )
        self.check_equal(
            "who caused them in our tree",
            {word: [location(e)[1] for e in events] for word, events in of_torch.items()},
            {word: [location(e)[1] for e in events] for word, events in self.found.items()},
        )
        for event in ours.profiler.kineto_results.experimental_event_tree().walk():
            read = [getattr(event.extra_fields, name) for name in dir(event.extra_fields)]
            if not read or type(event.tag) is not type(self.found["indexing"][0].tag):
                self.check("attributes can be read", False, event)
        for make in (self.theirs, ours):
            matcher.report_all_anti_patterns(
                make, print_enable=False, json_report_dir=str(self.place)
            )


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", required=True)
    with tempfile.TemporaryDirectory() as place:
        tests = Patterns(parser.parse_args().opscope, Path(place))
        tests.each_habit_is_there()
        tests.in_the_trace_of_torch()
        tests.in_a_profile_of_opscope()
        return tests.end()


if __name__ == "__main__":
    sys.exit(main())
