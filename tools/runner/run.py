# SPDX-License-Identifier: Apache-2.0
"""Run steps beside each other, and say what came of each.

A step prints one line when it ends; its output is in build-check/NAME.log. Its count is what its last
line "N passed, N failed" says; without one it counts as one test.

Threading: the thread that made a Runner starts steps; each runs in a thread of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import provide
from builds import BUILDS
from steps import Step, fill, names_in

COUNT = re.compile(rb"^(\d+) passed, (\d+) failed$", re.MULTILINE)
TELLING = re.compile(r"(error|warning): |^(FAILED|DIFFERS|not ok)|ERROR:")
TIMES = "steps.tsv"  # NAME PASSED FAILED SECONDS SECONDS-OF-PROCESSOR
SHOWN, WIDTH = 15, 300  # lines and columns of the log of a failed step


@dataclass
class Result:
    name: str
    passed: int
    failed: int
    wall_s: float
    processor_s: float


class Runner:
    """One run of ./check."""

    def __init__(self, mode: str, places: provide.Places, logs: Path, lanes: int) -> None:
        self.mode = mode
        self.places = places
        self.logs = logs
        self.results: list[Result] = []
        self.lock = threading.Lock()  # of results and of what is printed
        self.lanes = threading.Semaphore(lanes)
        self.threads: list[threading.Thread] = []

    def run(self, steps: list[Step]) -> None:
        """Run STEPS in their order, as many beside each other as there are lanes."""
        for step in steps:
            try:
                words, env = self.prepared(step)
            except provide.MissingError as why:
                print(f"skipped {step.name}: {why}", flush=True)
                continue
            if step.order == "alone":
                self.wait()
            if step.order:
                self.one(step, words, env)
            else:
                self.lanes.acquire()
                thread = threading.Thread(target=self.in_lane, args=(step, words, env))
                self.threads.append(thread)
                thread.start()
        self.wait()

    def prepared(self, step: Step) -> tuple[list[str], dict[str, str]]:
        """The command of STEP and its variables. Raises MissingError."""
        if step.name.startswith("build-") and self.mode != "fast":
            with contextlib.suppress(provide.MissingError):
                self.places.get("web")  # builds take the page
        for name in step.needs:
            self.places.get(name)
        command, variables = step.command(self.mode), step.variables(self.mode)
        values = {name: self.places.get(name) for name in names_in(command + variables)}
        env = dict(os.environ)
        for word in fill(variables, values):
            name, _, value = word.partition("=")
            env[name] = value
        return fill(command, values), env

    def wait(self) -> None:
        for thread in self.threads:
            thread.join()
        self.threads.clear()

    def in_lane(self, step: Step, words: list[str], env: dict[str, str]) -> None:
        try:
            self.one(step, words, env)
        finally:
            self.lanes.release()

    def one(self, step: Step, words: list[str], env: dict[str, str]) -> None:
        """Run it, and print what came of it."""
        log = self.logs / f"{step.name}.log"
        is_shown = step.mode == "bench" and not step.name.startswith("build-")
        start = time.monotonic()
        with log.open("wb") as out:
            try:
                child = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=None if is_shown else out,
                    stderr=subprocess.STDOUT if not is_shown else None,
                    env=env,
                )
                status, used = waited(child)
            except OSError as error:
                out.write(f"FAILED {error}\n".encode())
                status, used = 127, resource.struct_rusage([0.0] * 16)
        wall = time.monotonic() - start
        result = counted(step.name, log, status, wall, used.ru_utime + used.ru_stime)
        if status == 0 and step.name.startswith("build-"):
            self.places.built.add(step.name[len("build-") :])
        self.say(result, log)

    def say(self, result: Result, log: Path) -> None:
        took = f"{result.wall_s:.0f} s, {result.processor_s:.0f} s of processor"
        if result.failed == 0:
            text = f"ok {result.name} ({result.passed} passed, {took})"
        else:
            counts = f"{result.passed} passed, {result.failed} failed"
            text = f"FAILED {result.name} ({counts}, {took}); from {log}:\n{excerpt(log)}"
        with self.lock:
            self.results.append(result)
            print(text, flush=True)

    def finish(self) -> None:
        """Write the times of all steps, by which the next run orders them."""
        lines = [
            f"{r.name}\t{r.passed}\t{r.failed}\t{r.wall_s:.1f}\t{r.processor_s:.1f}\n"
            for r in self.results
        ]
        (self.logs / TIMES).write_text("".join(sorted(lines)))


def waited(child: subprocess.Popen[bytes]) -> tuple[int, resource.struct_rusage]:
    """The status of CHILD, and what it used with all its own that it waited for."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used


def counted(name: str, log: Path, status: int, wall: float, processor: float) -> Result:
    """What the last line of LOG says, or one test."""
    said = COUNT.findall(log.read_bytes())
    passed, failed = map(int, said[-1]) if said else (int(status == 0), int(status != 0))
    if status != 0 and failed == 0:
        failed = 1
    return Result(name, passed, failed, wall, processor)


def excerpt(log: Path) -> str:
    """The lines of LOG that tell why, or its last ones."""
    lines = log.read_text(errors="replace").splitlines()
    chosen = [line for line in lines if TELLING.search(line)][:SHOWN] or lines[-SHOWN:]
    return "\n".join("    " + line[:WIDTH] for line in chosen)


def last_times(logs: Path) -> dict[str, float]:
    """Seconds of each step in the last run."""
    try:
        lines = (logs / TIMES).read_text().splitlines()
    except OSError:
        return {}
    return {name: float(wall) for name, _, _, wall, _ in (line.split("\t") for line in lines)}


def with_builds(steps: list[Step], chosen: list[Step], mode: str) -> list[Step]:
    """CHOSEN and the builds that they need."""
    wanted = {step.name: step for step in chosen}
    by_name = {step.name: step for step in steps}
    for step in chosen:
        names = step.needs + names_in(step.command(mode) + step.variables(mode))
        for name in (provide.BUILD_OF.get(n, n) for n in names):
            if name in BUILDS:
                wanted[f"build-{name}"] = by_name[f"build-{name}"]
    return list(wanted.values())


def ordered(steps: list[Step], times: dict[str, float]) -> list[Step]:
    """First gcc with what is fast, then the other builds, and the longest of the rest first.
    The larger file is taken to be the longer step where none has run yet."""

    def key(step: Step) -> tuple[float, ...]:
        kind = step.name.partition("-")[2]
        if step.path.startswith("tools/runner/builds.py") and kind in BUILDS:
            is_gcc = kind == "gcc"
            return (1 if is_gcc else 3, list(BUILDS).index(kind), step.order == "alone")
        if step.mode == "fast":
            return (2,)
        seconds = times.get(step.name) or os.path.getsize(provide.ROOT / step.path) / 300
        return (5 if step.order == "alone" else 4, -seconds)

    return sorted(steps, key=key)
